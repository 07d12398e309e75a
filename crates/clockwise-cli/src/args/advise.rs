//! The arguments of `clockwise advise`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::{number, positive, size};
use crate::form::FormArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum AdviseCommand {
    /// Which scheme to take.
    Scheme(SchemeAdviceArgs),
    /// How many tokens a ring's nodes should have.
    Tokens(TokensArgs),
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise advise scheme --nodes 8
  clockwise advise scheme --nodes 200 --lookups 5000000 --replicas 3 --weights --metadata-budget 1MiB --json

Every candidate is built at that number of nodes and measured; the price that decides is printed with its parts.
Exit codes: 0 done, 1 no candidate meets every need, 2 wrong usage or bad input, 130 stopped by Ctrl-C.")]
pub(crate) struct SchemeAdviceArgs {
    /// Nodes today.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), allow_negative_numbers = true)]
    pub(crate) nodes: u32,
    /// Look-ups per second in one router or client.
    #[arg(long, value_name = "RATE", default_value = "10000", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) lookups: f64,
    /// Copies of each key.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=100), allow_negative_numbers = true)]
    pub(crate) replicas: u32,
    /// Name further nodes behind the owner, even for one copy.
    #[arg(long)]
    pub(crate) ranking: bool,
    /// The most memory that tables may take in a router.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size)]
    pub(crate) metadata_budget: u64,
    /// Place keys as something else does: redis, ketama, nginx, haproxy, or a scheme by its name.
    #[arg(long, value_name = "PEER")]
    pub(crate) compatible_with: Option<String>,
    /// How the list of nodes changes.
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = ListOrder::Any)]
    pub(crate) order: ListOrder,
    /// Which nodes can go.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Failing::Arbitrary)]
    pub(crate) failures: Failing,
    /// Nodes have weights that differ.
    #[arg(long)]
    pub(crate) weights: bool,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

/// How the list of nodes changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ListOrder {
    /// Numbers hold: new nodes go to the end.
    Appended,
    /// Any way; only names count.
    Any,
}

/// Which nodes can go.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Failing {
    /// Any of them.
    Arbitrary,
    /// Only the last of the list.
    Last,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise advise tokens --nodes 16
  clockwise advise tokens --nodes 100 --skew 1.15 --metadata-budget 1MiB --max-tokens 256 --json

Exit codes: 0 done, 1 no number of tokens keeps the skew within budget and tool, 2 wrong usage or bad input.")]
pub(crate) struct TokensArgs {
    /// Nodes of equal weight.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_negative_numbers = true)]
    pub(crate) nodes: u32,
    /// The most that the heaviest node may have, as a multiple of its fair share.
    #[arg(long, value_name = "X", default_value = "1.1", value_parser = skew, allow_negative_numbers = true)]
    pub(crate) skew: f64,
    /// Share of all lists of names that have to keep it.
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = confidence, allow_negative_numbers = true)]
    pub(crate) confidence: f64,
    /// The most memory that the ring may take in a router, such as 4MiB.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) metadata_budget: Option<u64>,
    /// The most tokens that your tool takes for a node.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24), allow_negative_numbers = true)]
    pub(crate) max_tokens: Option<u32>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

fn skew(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|skew| (1.001..=1000.0).contains(skew))
        .ok_or_else(|| "must be 1.001 to 1000: 1.1 allows a tenth above the fair share".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|share| (0.5..=0.999_999).contains(share))
        .ok_or_else(|| "must be 0.5 to 0.999999: 99 % is 0.99".to_owned())
}
