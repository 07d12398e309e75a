//! Arguments of `plan`.

use clap::Args;
use clockwise::DomainLevel;
use clockwise_plan::OutageKind;

use super::number::{hit_rate, positive, size};
use super::{ChangeArgs, KeyArgs, ReplicationArgs, SchemeArgs};
use crate::form::FormArgs;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise plan --from cache-{1..4} --add cache-5 --keys keys.txt
  clockwise plan --from clockwise.toml --add cache-5=0.25 --keys paths.tsv --rate 2000 --hit-rate 0.95 --capacity 300
  clockwise plan --from clockwise.toml --failures pairs,zone --keys paths.tsv --rate 2000 --hit-rate 0.95 --node-rate 900
  clockwise plan --from cache-{1..4} --scheme ring --to cache-{1..4} --to-scheme slots --keys access.log
  clockwise plan --from clockwise.toml --weight cache-2=0.5 --keys dump.csv.gz --limit moved=0.25 --json
  clockwise plan --from cache-{1..4} --add cache-5 --keys keys.txt --out report.html

A membership is one cluster file, or nodes: id[@host:port][=weight], with commas or spaces between.
A value with a / in it, or spelt like a file that is there, is a file; ./x always is.
Without --keys the figures are predicted from pseudo-random keys.
Exit codes: 0 done, 1 a limit is broken, 2 wrong usage or bad input, 3 a server is out of reach,
130 stopped by Ctrl-C.")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// A membership that some client believes in, as one file or a list with commas; repeatable. Says how many owners a
    /// key has among these clients.
    #[arg(long, value_name = "MEMBERSHIP")]
    pub(crate) view: Vec<String>,
    #[command(flatten)]
    pub(crate) scheme: SchemeArgs,
    /// Tokens of a ring's node of weight 1.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) tokens: Option<String>,
    /// The scheme of tomorrow, if it changes as well.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) to_scheme: Option<String>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// Requests per second.
    #[arg(long, value_name = "R", value_parser = positive, allow_negative_numbers = true, requires = "hit_rate")]
    pub(crate) rate: Option<f64>,
    /// Keys that one request reads.
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true, requires = "rate")]
    pub(crate) keys_per_request: Option<f64>,
    /// Share of reads that the cache answers today, 0 to below 1.
    #[arg(long, value_name = "SHARE", value_parser = hit_rate, allow_negative_numbers = true)]
    pub(crate) hit_rate: Option<f64>,
    /// Queries per second that the database can serve.
    #[arg(long, value_name = "Q", value_parser = positive, allow_negative_numbers = true, requires_all = ["rate", "hit_rate"])]
    pub(crate) capacity: Option<f64>,
    /// Bytes per second at which data is copied between nodes, such as 100MiB; for keys with bytes.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) copy_rate: Option<u64>,
    /// What a node of weight 1 can hold, such as 64GiB; for keys with bytes.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) node_memory: Option<u64>,
    /// Reads per second that a node of weight 1 can serve: says whether one failure sets off others.
    #[arg(long, value_name = "R", value_parser = positive, allow_negative_numbers = true, requires = "rate")]
    pub(crate) node_rate: Option<f64>,
    /// Nodes that fail together besides each alone: pairs, or all of one region, zone, rack or host; with commas,
    /// repeatable.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = outage)]
    pub(crate) failures: Vec<OutageKind>,
    #[command(flatten)]
    pub(crate) replication: ReplicationArgs,
    /// Fail with exit code 1 above this: moved, imbalance, origin, failure or hot, with commas between; repeatable.
    #[arg(long, value_name = "NAME=MAX", allow_hyphen_values = true)]
    pub(crate) limit: Vec<String>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

fn outage(text: &str) -> Result<OutageKind, String> {
    let level = DomainLevel::ALL
        .into_iter()
        .find(|level| level.to_string() == text);
    match (text, level) {
        ("pairs", _) => Ok(OutageKind::Pairs),
        (_, Some(level)) => Ok(OutageKind::Domain(level)),
        _ => Err("must be pairs, region, zone, rack or host".to_owned()),
    }
}
