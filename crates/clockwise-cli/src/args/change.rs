//! A change of membership, as arguments.

use clap::Args;

/// The membership of today, and tomorrow's or what changes.
#[derive(Args, Debug)]
pub(crate) struct ChangeArgs {
    /// The membership of today.
    #[arg(long, required = true, num_args = 1.., value_name = "MEMBERSHIP")]
    pub(crate) from: Vec<String>,
    /// The membership of tomorrow.
    #[arg(long, num_args = 1.., value_name = "MEMBERSHIP", conflicts_with_all = ["add", "remove", "weight"])]
    pub(crate) to: Vec<String>,
    /// Add nodes to the membership of today; repeatable.
    #[arg(long, value_name = "ID[=W]", num_args = 1..)]
    pub(crate) add: Vec<String>,
    /// Remove nodes; repeatable.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub(crate) remove: Vec<String>,
    /// Give a node another weight; repeatable.
    #[arg(long, value_name = "ID=W", allow_hyphen_values = true)]
    pub(crate) weight: Vec<String>,
}
