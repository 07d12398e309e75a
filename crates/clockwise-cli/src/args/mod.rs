//! The arguments of every command.

mod advise;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use clockwise::DomainLevel;
use clockwise_plan::OutageKind;

pub(crate) use advise::{
    AdviseCommand, Failing, ListOrder, PageRange, SchemeAdviceArgs, ShardArgs, ShardKeyArgs,
    TokensArgs, WeightsArgs,
};

use crate::form::FormArgs;

/// Consistent hashing for sharded caches and databases: know what a change does, before you make it.
#[derive(Debug, Parser)]
#[command(
    name = "clockwise",
    version,
    max_term_width = 100,
    propagate_version = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what a change of membership does to your keys.
    Plan(Box<PlanArgs>),
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
}

#[derive(ClapArgs, Debug)]
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

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise locate --cluster cache-{1..4} --keys keys.txt --json
  clockwise locate --cluster clockwise.toml --replicas 3 --domains zone=1 --down cache-2 user:1

A membership is one cluster file, or nodes: id[@host:port][=weight], with commas or spaces between.
What follows a file or a list with commas is a key; after nodes with spaces, put -- before the keys.
Prints key, tab, owner (then further replicas); keys are escaped, - stands for no owner.")]
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

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise inspect --cluster cache-{1..4} --scheme ring
  clockwise inspect --cluster clockwise.toml --replicas 3 --domains zone=1 --json

A membership is one cluster file, or nodes: id[@host:port][=weight], with commas or spaces between.")]
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

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise tables
  clockwise tables --json

A figure is named by its JSON pointer into vectors/articles.json. Takes a few seconds.
Exit codes: 0 all figures agree, 1 one differs.")]
pub(crate) struct TablesArgs {
    /// Print every figure, not only those that differ.
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Print JSON, with every figure.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise selftest
  clockwise selftest --json

Exit codes: 0 all checks hold, 1 one does not.")]
pub(crate) struct SelftestArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What turns a key into an owner.
#[derive(ClapArgs, Debug)]
pub(crate) struct SchemeArgs {
    /// NAME[/HASH][/vN][,param=value]…, such as ring,tokens=160; slots unless a file says otherwise.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Option<String>,
    /// Which bytes are the key: whole, redis-tag or between:XY.
    #[arg(long, value_name = "RULE")]
    pub(crate) key_rule: Option<String>,
    /// Where the secret of a keyed hash is: env:NAME or file:PATH, 32 hexadecimal digits.
    #[arg(long, value_name = "REF")]
    pub(crate) hash_key: Option<String>,
}

/// How many nodes hold a key and how they spread.
#[derive(ClapArgs, Debug)]
pub(crate) struct ReplicationArgs {
    /// Nodes for each key, owner first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replicas: Option<u32>,
    /// Most replicas of a key in a region, zone, rack or host: zone=1,rack=1:preferred.
    #[arg(long, value_name = "RULES")]
    pub(crate) domains: Option<String>,
    /// Leave the position of a node that is down empty instead of moving the others up.
    #[arg(long)]
    pub(crate) indep: bool,
}

/// Where keys come from and how they are written.
#[derive(ClapArgs, Debug)]
pub(crate) struct KeyArgs {
    /// A file (plain, .gz or .zst), - for stdin, articles/000, 000-alternatives, 003 or 004, gen:user:{0..999},
    /// popularity:FILE#WORKLOAD, or a live server: redis://[[user]:password@]host:port[/db], rediss:// for TLS,
    /// memcached://host:port.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) keys: Option<String>,
    /// lines, csv, tsv, jsonl, monitor, metadump, kvcache, twitter or access-log; recognised from the first lines if
    /// left out.
    #[arg(long, value_name = "FORMAT", requires = "keys")]
    pub(crate) keys_format: Option<String>,
    /// Column of the key: a name, or a number from 1.
    #[arg(long, value_name = "COLUMN", requires = "keys")]
    pub(crate) key_column: Option<String>,
    /// Column of the requests to a key.
    #[arg(long, value_name = "COLUMN", requires = "keys")]
    pub(crate) requests_column: Option<String>,
    /// Column of the bytes stored under a key.
    #[arg(long, value_name = "COLUMN", requires = "keys")]
    pub(crate) bytes_column: Option<String>,
    /// Add up equal keys of a list or table, with a request for each row that tells no number of them; logs and traces
    /// always are.
    #[arg(long, requires = "keys")]
    pub(crate) merge: bool,
    /// Read \n \r \t \\ and \xHH in keys as the bytes they name.
    #[arg(long, requires = "keys")]
    pub(crate) escaped: bool,
    /// Share of bad lines above which the command fails, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.001", value_parser = share, allow_negative_numbers = true)]
    pub(crate) max_bad: f64,
    /// Most keys a second that are read from a live Redis [default: 50000].
    #[arg(long, value_name = "KEYS_PER_S", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, requires = "keys")]
    pub(crate) scan_rate: Option<u64>,
    /// PEM file with the certificates to trust for rediss:// instead of the system's.
    #[arg(long, value_name = "FILE", requires = "keys")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Print names made by a keyed hash instead of keys.
    #[arg(long)]
    pub(crate) anonymise: bool,
    /// Where the secret of these names is: env:NAME or file:PATH, 32 hexadecimal digits.
    #[arg(long, value_name = "REF", requires = "anonymise")]
    pub(crate) anonymise_key: Option<String>,
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

pub(crate) fn size(text: &str) -> Result<u64, String> {
    let size: Option<bytesize::ByteSize> = text.parse().ok();
    size.map(|size| size.as_u64())
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "must be a size above 0, such as 64MiB or 10GB".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| *number > 0.0 && *number <= 1e15)
        .ok_or_else(|| "must be a number above 0, and at most 10^15".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "must be 0 to 1: 5 % is 0.05".to_owned())
}

fn hit_rate(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| (0.0..1.0).contains(number))
        .ok_or_else(|| "must be 0 to below 1: 95 % is 0.95".to_owned())
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
