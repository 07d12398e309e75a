//! Arguments of `inspect`.

use clap::Args;

use super::{ReplicationArgs, SchemeArgs};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise inspect --cluster cache-{1..4} --scheme ring
  clockwise inspect --cluster clockwise.toml --replicas 3 --domains zone=1 --json

A membership is one cluster file, or nodes: id[@host:port][=weight], with commas or spaces between.
Exit codes: 0 done, 2 wrong usage or bad input.")]
pub(crate) struct InspectArgs {
    /// The membership.
    #[arg(long, required = true, num_args = 1.., value_name = "MEMBERSHIP")]
    pub(crate) cluster: Vec<String>,
    #[command(flatten)]
    pub(crate) scheme: SchemeArgs,
    /// List the ring's tokens, one a line with its node; with a number, set the tokens of a node of weight 1 instead.
    #[arg(long, value_name = "N", num_args = 0..=1, allow_negative_numbers = true)]
    pub(crate) tokens: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) replication: ReplicationArgs,
    /// Print weights with which replicas, too, spread by the weights given.
    #[arg(long)]
    pub(crate) calibrate: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
