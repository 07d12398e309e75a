//! The arguments of `clockwise advise`.

use clap::{Args as ClapArgs, Subcommand};

use super::{number, size};
use crate::form::FormArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum AdviseCommand {
    /// How many tokens a ring's nodes should have.
    Tokens(TokensArgs),
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
