//! The arguments of `clockwise advise`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::number::{number, positive, share, size};
use crate::form::FormArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum AdviseCommand {
    /// Which scheme to take.
    Scheme(SchemeAdviceArgs),
    /// How many tokens a ring's nodes should have.
    Tokens(TokensArgs),
    /// Which weights nodes should have, from what they have and what the workload takes.
    Weights(WeightsArgs),
    /// Which column to shard a table by.
    ShardKey(ShardKeyArgs),
    /// Whether it is time to shard, and what pages across shards cost.
    Shard(ShardArgs),
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

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise advise shard --write-iops-used 0.92 --data 4TiB --disk 8TiB --slow-queries-share 0.05 --bigger 1
  clockwise advise shard --shards 8 --rows 20 --pages 1,2,10,100 --json

Give what you have measured at the peak; what is missing is asked for.
Exit codes: 0 it is time to shard, or only pages were asked about; 1 not yet, or measure first;
2 wrong usage or bad input.")]
pub(crate) struct ShardArgs {
    /// Share of the primary's write operations per second that is used.
    #[arg(long, value_name = "SHARE", value_parser = used, allow_negative_numbers = true)]
    pub(crate) write_iops_used: Option<f64>,
    /// Share of the primary's processors that is used.
    #[arg(long, value_name = "SHARE", value_parser = used, allow_negative_numbers = true)]
    pub(crate) cpu: Option<f64>,
    /// What is stored, such as 4TiB.
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "disk")]
    pub(crate) data: Option<u64>,
    /// What the primary's disk holds.
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "data")]
    pub(crate) disk: Option<u64>,
    /// How long a backup takes, or a restore where that is longer, such as 9h.
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "window")]
    pub(crate) backup: Option<f64>,
    /// How long it may take.
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "backup")]
    pub(crate) window: Option<f64>,
    /// Share of the load that the slowest queries cause.
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub(crate) slow_queries_share: Option<f64>,
    /// Share of reads that a cache answers; 0 without one.
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub(crate) cache_hit_rate: Option<f64>,
    /// Share of the database's load that is reads.
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub(crate) read_share: Option<f64>,
    /// How far replicas lag behind, such as 200ms; 0s without any.
    #[arg(long, value_name = "TIME", value_parser = seconds_or_none)]
    pub(crate) replica_lag: Option<f64>,
    /// How many times as large a machine can be had; 1 for none.
    #[arg(long, value_name = "TIMES", value_parser = times, allow_negative_numbers = true)]
    pub(crate) bigger: Option<f64>,
    /// Shards, for the cost of pages.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), allow_negative_numbers = true, requires = "rows")]
    pub(crate) shards: Option<u64>,
    /// Rows of a page.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), allow_negative_numbers = true, requires = "shards")]
    pub(crate) rows: Option<u64>,
    /// Numbers of pages, with commas between; A..B is all from A to B.
    #[arg(long, value_name = "PAGES", value_delimiter = ',', value_parser = page_range, default_value = "1,2,3,10,100", requires = "shards")]
    pub(crate) pages: Vec<PageRange>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise advise weights --node cache-1,ram=64GiB --node cache-2,ram=128GiB --stored-bytes 120GiB
  clockwise advise weights --node nodes.toml --stored-bytes 2TiB --requests 40000 --object-size 4KiB --read-share 0.9 \
--read-iops 1 --write-iops 3 --read-cpu 60us --write-cpu 200us --json

A node is ID,RESOURCE=AMOUNT,…: ram=64GiB, iops=20000, network=10Gbit, cpu=16 (cores).
A value with a / in it, or spelt like a file that is there, is a file: TOML with [[node]] tables, or CSV with a header
id,ram,iops,network,cpu.
Exit codes: 0 done, 1 the nodes cannot carry the workload, 2 wrong usage or bad input.")]
pub(crate) struct WeightsArgs {
    /// A node with what it has, or a file of nodes; repeatable.
    #[arg(long, required = true, value_name = "NODE")]
    pub(crate) node: Vec<String>,
    /// Bytes stored on all nodes together, with all copies.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) stored_bytes: Option<u64>,
    /// Requests per second to all nodes together.
    #[arg(long, value_name = "RATE", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) requests: Option<f64>,
    /// Mean size of what a request reads or writes.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) object_size: Option<u64>,
    /// Share of the requests that read.
    #[arg(long, value_name = "SHARE", default_value = "0.9", value_parser = share, allow_negative_numbers = true)]
    pub(crate) read_share: f64,
    /// Operations of the disk for a read.
    #[arg(long, value_name = "N", value_parser = none_or_more, allow_negative_numbers = true)]
    pub(crate) read_iops: Option<f64>,
    /// Operations of the disk for a write.
    #[arg(long, value_name = "N", value_parser = none_or_more, allow_negative_numbers = true)]
    pub(crate) write_iops: Option<f64>,
    /// Time of a core for a read, such as 60us.
    #[arg(long, value_name = "TIME", value_parser = seconds_or_none)]
    pub(crate) read_cpu: Option<f64>,
    /// Time of a core for a write.
    #[arg(long, value_name = "TIME", value_parser = seconds_or_none)]
    pub(crate) write_cpu: Option<f64>,
    /// The scheme that places the keys.
    #[arg(long, value_name = "SCHEME", default_value = "slots")]
    pub(crate) scheme: String,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  clockwise advise shard-key --rows orders.csv --query-log queries.sql --table orders --shards 8
  clockwise advise shard-key --rows orders.tsv.gz --json

Rows are CSV or TSV with a header, plain, .gz or .zst, such as COPY orders TO STDOUT WITH CSV HEADER.
The log holds SQL statements parted by semicolons, or one a line; CREATE TABLE and CREATE UNIQUE INDEX in it tell the
unique keys.
Exit codes: 0 done, 1 no column will do, 2 wrong usage or bad input, 130 stopped by Ctrl-C.")]
pub(crate) struct ShardKeyArgs {
    /// Rows of the table; - for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: String,
    /// Statements that the database is asked.
    #[arg(long, value_name = "FILE")]
    pub(crate) query_log: Option<String>,
    /// The table; statements about others then do not count.
    #[arg(long, value_name = "NAME", requires = "query_log")]
    pub(crate) table: Option<String>,
    /// Shards to spread over.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(2..=1024), allow_negative_numbers = true)]
    pub(crate) shards: u32,
    /// Share of bad rows, and of statements that do not parse, above which the command fails, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.001", value_parser = share, allow_negative_numbers = true)]
    pub(crate) max_bad: f64,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

fn none_or_more(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| (0.0..=1e9).contains(number))
        .ok_or_else(|| "must be a number from 0".to_owned())
}

/// Pages from the first to the last, both counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

fn page_range(text: &str) -> Result<PageRange, String> {
    let page = |text: &str| text.parse().ok().filter(|&page: &u64| page > 0);
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (page(first), page(last)) {
        (Some(first), Some(last)) if first <= last => Ok(PageRange { first, last }),
        _ => Err("must be numbers from 1, such as 1,2,100 or 1..5".to_owned()),
    }
}

fn used(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|share| (0.0..=100.0).contains(share))
        .ok_or_else(|| "must be 0 to 100: 90 % of the limit is 0.9".to_owned())
}

fn times(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|times| (1.0..=1e6).contains(times))
        .ok_or_else(|| "must be 1 to 1000000: a machine twice as large is 2".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    seconds_or_none(text)
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .ok_or_else(|| "must be a time above 0, such as 30s, 90min, 8h or 2d".to_owned())
}

fn seconds_or_none(text: &str) -> Result<f64, String> {
    let units = [
        ("us", 1e-6),
        ("ms", 1e-3),
        ("min", 60.0),
        ("m", 60.0),
        ("s", 1.0),
        ("h", 3600.0),
        ("d", 86400.0),
    ];
    let found = units.iter().find_map(|(unit, seconds)| {
        let digits = text.strip_suffix(unit)?;
        let is_plain = digits.starts_with(|c: char| c.is_ascii_digit());
        number(digits)
            .filter(|_| is_plain)
            .map(|number| number * seconds)
    });
    found
        .filter(|seconds| (0.0..=1e9).contains(seconds))
        .ok_or_else(|| {
            "must be a time with its unit, such as 200ms, 30s, 90min, 8h or 2d".to_owned()
        })
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
