//! The arguments of every command: a file for each command, and one for each group that several share.

mod advise;
mod change;
mod compare;
mod completions;
mod inspect;
mod keys;
mod locate;
mod man;
mod number;
mod plan;
mod scheme;
mod selftest;
mod tables;

use clap::{Parser, Subcommand};

pub(crate) use advise::{
    AdviseCommand, Failing, ListOrder, PageRange, SchemeAdviceArgs, ShardArgs, ShardKeyArgs,
    TokensArgs, WeightsArgs,
};
pub(crate) use change::ChangeArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use inspect::InspectArgs;
pub(crate) use keys::KeyArgs;
pub(crate) use locate::LocateArgs;
pub(crate) use man::ManArgs;
pub(crate) use number::size;
pub(crate) use plan::PlanArgs;
pub(crate) use scheme::{ReplicationArgs, RuleArgs, SchemeArgs};
pub(crate) use selftest::SelftestArgs;
pub(crate) use tables::TablesArgs;

/// Consistent hashing for sharded caches and databases: know what a change does, before you make it.
#[derive(Debug, Parser)]
#[command(
    name = "clockwise",
    version,
    max_term_width = 100,
    propagate_version = true,
    after_help = "\
Exit codes: 0 done, 1 the answer is no, 2 wrong usage or bad input, 3 a server is out of reach,
130 stopped by Ctrl-C."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what a change of membership does to your keys.
    Plan(Box<PlanArgs>),
    /// Put one change under every scheme, side by side.
    Compare(Box<CompareArgs>),
    /// Print who owns keys.
    Locate(Box<LocateArgs>),
    /// Print shares, tokens and checksum of a membership.
    Inspect(InspectArgs),
    /// Help to choose a scheme, tokens, weights or a shard key, or whether to shard at all.
    #[command(subcommand)]
    Advise(AdviseCommand),
    /// Recompute every published figure of the founding articles and compare.
    Tables(TablesArgs),
    /// Check in seconds that this build places keys as it must.
    Selftest(SelftestArgs),
    /// Print a script that completes commands and options in your shell.
    Completions(CompletionsArgs),
    /// Print the man page, or write one for each command.
    Man(ManArgs),
}
