//! Arguments of `locate`.

use std::ffi::OsString;

use clap::Args;

use super::{KeyArgs, ReplicationArgs, SchemeArgs};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise locate --cluster cache-{1..4} --keys keys.txt --json
  clockwise locate --cluster clockwise.toml --replicas 3 --domains zone=1 --down cache-2 user:1

A membership is one cluster file, or nodes: id[@host:port][=weight], with commas or spaces between.
What follows a file or a list with commas is a key; after nodes with spaces, put -- before the keys.
Prints key, tab, owner (then further replicas); keys are escaped, - stands for no owner.
Exit codes: 0 done, 2 wrong usage or bad input, 3 a server is out of reach, 130 stopped by Ctrl-C.")]
pub(crate) struct LocateArgs {
    /// The membership.
    #[arg(long, required = true, num_args = 1.., value_name = "MEMBERSHIP")]
    pub(crate) cluster: Vec<OsString>,
    /// Keys to locate.
    #[arg(value_name = "KEY")]
    pub(crate) key: Vec<OsString>,
    #[command(flatten)]
    pub(crate) scheme: SchemeArgs,
    /// Tokens of a ring's node of weight 1.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) tokens: Option<String>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    pub(crate) replication: ReplicationArgs,
    /// Nodes that are down and to be passed over, with commas between; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) down: Vec<String>,
    /// Print one JSON object a key.
    #[arg(long)]
    pub(crate) json: bool,
}
