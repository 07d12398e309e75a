//! Whether to shard a database at all: sharding is the last of five steps, and each that still helps comes before it.
//!
//! What it is: what is measured of a database, held against its limits, and for each step what it would leave. What it
//! promises: a step is judged by numbers only; what was not measured is asked for, never assumed. What it does not: look
//! at the database. Cost: none. Source: founding article 004, 8.1 and 8.5.

mod document;
mod steps;

use serde::Serialize;

pub use document::document;
pub use steps::{Step, StepName};
use steps::{judge, large_enough, steps};

use super::pages::PageCost;
use super::print::bytes;
use super::{Advice, KIND, Reason};
use crate::number::{capital, decimal, duration, grouped, percent};

/// What was measured; nothing is required.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShardWish {
    /// Share of the primary's write operations per second that is used.
    pub write_iops_used: Option<f64>,
    /// Share of the primary's processors that is used.
    pub cpu: Option<f64>,
    /// Bytes stored.
    pub data: Option<u64>,
    /// Bytes that the primary's disk holds.
    pub disk: Option<u64>,
    /// Seconds that a backup, or a restore where that is longer, takes.
    pub backup_s: Option<f64>,
    /// Seconds that it may take.
    pub window_s: Option<f64>,
    /// Share of the load that slow queries cause, which an index or another query would take away.
    pub slow_queries_share: Option<f64>,
    /// Share of the reads that a cache answers; 0 where there is none.
    pub cache_hit_rate: Option<f64>,
    /// Share of the database's load that is reads.
    pub read_share: Option<f64>,
    /// Seconds that replicas lag behind; 0 where there are none yet.
    pub replica_lag_s: Option<f64>,
    /// How many times as large a machine the primary could still become; 1 where it is the largest.
    pub bigger: Option<f64>,
    /// Shards and rows a page, with the pages asked for.
    pub pages: Option<Pages>,
}

/// The question after the cost of pages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pages {
    /// Shards.
    pub shards: u64,
    /// Rows of a page.
    pub rows: u64,
    /// Numbers of pages, from 1.
    pub pages: Vec<u64>,
}

/// The advice.
pub type ShardAdvice = Advice<Step, ShardMore>;

/// What belongs to this question alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShardMore {
    /// What saturates, or is near it.
    pub signs: Vec<Sign>,
    /// Numbers that nobody gave, each as a question.
    pub unknown: Vec<Reason>,
    /// Shards that the signs ask for at least; `None` where there is no sign.
    pub least_shards: Option<u64>,
    /// What sharding costs, and what takes the place of each loss.
    pub costs: Vec<Cost>,
    /// What pages cost.
    pub pages: Vec<PageCost>,
}

/// A limit of one machine with how much of it is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sign {
    /// A stable name for programs: `write-iops`, `disk`, `backup` or `cpu`.
    pub code: &'static str,
    /// How much of the limit is used: 1 is all of it.
    pub used: f64,
    /// Whether that is too much.
    pub saturated: bool,
    /// The same for people.
    pub text: String,
    /// What is left of it once each step and all before it are taken, without sharding; `None` where a number is missing
    /// that would tell.
    pub after: Vec<Option<f64>>,
}

/// Something that sharding takes away.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Cost {
    /// A stable name for programs.
    pub code: &'static str,
    /// What is lost.
    pub lost: &'static str,
    /// What takes its place.
    pub replacement: &'static str,
}

/// Advises on sharding; `None` for pages whose cost is beyond what a number holds.
#[must_use]
pub fn shard(wish: &ShardWish) -> Option<ShardAdvice> {
    let pages = match &wish.pages {
        Some(asked) => asked
            .pages
            .iter()
            .map(|&page| PageCost::new(asked.shards, asked.rows, page))
            .collect::<Option<Vec<_>>>()?,
        None => Vec::new(),
    };
    let asks_for_pages_only = wish.pages.is_some() && is_unmeasured(wish);
    let mut signs = signs(wish);
    let table = steps(wish, &mut signs);
    let unknown = unknown(wish);
    let judged = judge(wish, &signs);
    let (answer, ok) = match judged {
        _ if asks_for_pages_only => ("page-cost", true),
        Judged::Unmeasured => ("measure first", false),
        Judged::NotSaturated | Judged::Enough { .. } | Judged::Maybe(_) => ("not yet", false),
        Judged::Shard => ("shard", true),
    };
    let least_shards = least_shards(&signs);
    let (verdict, reasons) = if asks_for_pages_only {
        pages_verdict(&pages, wish.pages.as_ref())
    } else {
        (
            verdict(&judged, &signs, least_shards),
            reasons(&signs, &judged),
        )
    };
    let is_bare = asks_for_pages_only;
    Some(Advice {
        kind: KIND,
        question: "shard",
        answer: answer.to_owned(),
        ok,
        verdict,
        reasons,
        changes: if is_bare {
            Vec::new()
        } else {
            changes(wish, &signs, &judged)
        },
        table: if is_bare { Vec::new() } else { table },
        more: ShardMore {
            signs: if is_bare { Vec::new() } else { signs },
            unknown: if is_bare { Vec::new() } else { unknown },
            least_shards: if is_bare { None } else { least_shards },
            costs: COSTS.to_vec(),
            pages,
        },
    })
}

/// What the numbers come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Judged {
    /// No limit was measured.
    Unmeasured,
    /// Something was measured, and it has room.
    NotSaturated,
    /// A step relieves all that saturates, and perhaps an earlier one does.
    Enough {
        /// The step.
        enough: StepName,
        /// The earlier one.
        maybe: Option<StepName>,
    },
    /// Perhaps this step does.
    Maybe(StepName),
    /// No earlier step does.
    Shard,
}

fn is_unmeasured(wish: &ShardWish) -> bool {
    ShardWish {
        pages: None,
        ..wish.clone()
    } == ShardWish::default()
}

/// Limits of which both sides are known.
fn signs(wish: &ShardWish) -> Vec<Sign> {
    let sign = |code, used: f64, text: String| Sign {
        code,
        used,
        saturated: used >= SATURATED,
        text,
        after: Vec::new(),
    };
    let mut signs = Vec::new();
    if let Some(used) = wish.write_iops_used {
        let text = format!(
            "{} of the write operations per second are used",
            percent(used)
        );
        signs.push(sign("write-iops", used, text));
    }
    if let (Some(data), Some(disk)) = (wish.data, wish.disk) {
        let text = format!(
            "{} of data on a disk of {}",
            bytes(data as f64),
            bytes(disk as f64)
        );
        signs.push(sign("disk", data as f64 / disk as f64, text));
    }
    if let (Some(backup), Some(window)) = (wish.backup_s, wish.window_s) {
        let text = format!(
            "a backup takes {} and may take {}",
            duration(backup),
            duration(window)
        );
        signs.push(sign("backup", backup / window, text));
    }
    if let Some(used) = wish.cpu {
        let text = format!("{} of the processors are used", percent(used));
        signs.push(sign("cpu", used, text));
    }
    signs
}

/// Shards with which the fullest limit has the room that one machine should have.
fn least_shards(signs: &[Sign]) -> Option<u64> {
    let saturated = signs.iter().filter(|sign| sign.saturated);
    let shards = saturated.map(|sign| (sign.used / ROOMY).ceil().max(2.0) as u64);
    shards.max()
}

fn verdict(judged: &Judged, signs: &[Sign], shards: Option<u64>) -> String {
    let fullest = signs.iter().max_by(|a, b| a.used.total_cmp(&b.used));
    match (judged, fullest) {
        (
            Judged::Enough {
                enough,
                maybe: None,
            },
            _,
        ) => {
            format!(
                "Not yet: {} comes first, and is enough by these numbers.",
                enough.text()
            )
        }
        (
            Judged::Enough {
                enough,
                maybe: Some(maybe),
            },
            _,
        ) => format!(
            "Not yet: {} is enough by these numbers, and whether {} is enough already is not known.",
            enough.text(),
            maybe.text()
        ),
        (Judged::Maybe(step), _) => format!(
            "Not yet: whether {} is enough is not known, and it comes first.",
            step.text()
        ),
        (Judged::NotSaturated, Some(fullest)) => format!(
            "Not yet: nothing that was measured saturates; the fullest limit is used to {} ({}).",
            percent(fullest.used),
            fullest.text
        ),
        (Judged::Shard, _) => format!(
            "Shard: no earlier step relieves what saturates. At least {} shards bring it below {}.",
            grouped(shards.unwrap_or(2)),
            percent(ROOMY)
        ),
        _ => "Measure first: have you measured what saturates? No limit of the primary was given."
            .to_owned(),
    }
}

fn reasons(signs: &[Sign], judged: &Judged) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = signs
        .iter()
        .map(|sign| {
            let verdict = if sign.saturated {
                "saturated"
            } else {
                "has room"
            };
            Reason::new(
                sign.code,
                format!(
                    "{}: {} of the limit, {verdict} (as given; {} is where it saturates).",
                    capital(&sign.text),
                    percent(sign.used),
                    percent(SATURATED)
                ),
            )
            .with(sign.used)
        })
        .collect();
    if *judged == Judged::Unmeasured {
        reasons.push(Reason::new(
            "unmeasured",
            "Write operations per second, data against the disk, and the time of a backup or restore against its window are the signs that one machine is too small.",
        ));
    }
    reasons
}

fn pages_verdict(pages: &[PageCost], asked: Option<&Pages>) -> (String, Vec<Reason>) {
    let Some((last, asked)) = pages.last().zip(asked) else {
        return (String::new(), Vec::new());
    };
    let text = format!(
        "Page {} by offset takes {} rows from {} shards to show {}; by keyset {}.",
        grouped(last.page),
        grouped(last.offset_rows),
        grouped(asked.shards),
        grouped(asked.rows),
        grouped(last.keyset_rows)
    );
    let reason = Reason::new(
        "offset",
        format!(
            "By offset each shard has to send all rows up to the page, {} of them: shards x page x rows (exact).",
            grouped(last.offset_rows_each)
        ),
    );
    let jump = Reason::new(
        "keyset",
        "By keyset each shard sends the rows behind the last one seen: shards x rows (exact). Nobody can jump to page 100 any more, which is a change of the product.",
    );
    (
        text,
        vec![
            reason.with(last.offset_rows as f64),
            jump.with(last.keyset_rows as f64),
        ],
    )
}

/// Each limit with the value at which the answer turns.
fn changes(wish: &ShardWish, signs: &[Sign], judged: &Judged) -> Vec<Reason> {
    let mut changes: Vec<Reason> = signs
        .iter()
        .filter(|sign| !sign.saturated && *judged != Judged::Shard)
        .map(|sign| {
            let growth = SATURATED / sign.used.max(1e-9);
            Reason::new(
                sign.code,
                format!(
                    "At {} times today's load or data, {} saturates (predicted).",
                    decimal(growth, 2),
                    sign.code
                ),
            )
            .with(growth)
        })
        .collect();
    let large_enough = large_enough(wish, signs).filter(|_| *judged == Judged::Shard);
    if let Some(times) = large_enough {
        changes.push(
            Reason::new(
                "bigger",
                format!(
                    "A primary {} times as large would be enough (predicted).",
                    decimal(times, 2)
                ),
            )
            .with(times),
        );
    }
    changes
}

fn unknown(wish: &ShardWish) -> Vec<Reason> {
    let asked: [(&'static str, bool, &str); 9] = [
        (
            "write-iops",
            wish.write_iops_used.is_none(),
            "--write-iops-used: what share of the primary's write operations per second is used at the peak?",
        ),
        (
            "disk",
            wish.data.is_none() || wish.disk.is_none(),
            "--data and --disk: how much is stored, and how much does the disk hold?",
        ),
        (
            "backup",
            wish.backup_s.is_none() || wish.window_s.is_none(),
            "--backup and --window: how long does a backup or restore take, and how long may it?",
        ),
        (
            "cpu",
            wish.cpu.is_none(),
            "--cpu: what share of the primary's processors is used at the peak?",
        ),
        (
            "slow-queries",
            wish.slow_queries_share.is_none(),
            "--slow-queries-share: what share of the load comes from the slowest queries?",
        ),
        (
            "cache",
            wish.cache_hit_rate.is_none(),
            "--cache-hit-rate: what share of the reads does a cache answer (0 without one)?",
        ),
        (
            "read-share",
            wish.read_share.is_none(),
            "--read-share: what share of the database's load is reads?",
        ),
        (
            "replica-lag",
            wish.replica_lag_s.is_none(),
            "--replica-lag: how far behind are replicas at the peak (0s without any)?",
        ),
        (
            "bigger",
            wish.bigger.is_none(),
            "--bigger: how many times as large a machine can be had (1 for none)?",
        ),
    ];
    let missing = asked.into_iter().filter(|(_, missing, _)| *missing);
    missing
        .map(|(code, _, text)| Reason::new(code, text))
        .collect()
}

/// From here on a limit has no room for a peak.
pub const SATURATED: f64 = 0.8;
/// What a limit should be used to after a step: it leaves room to grow by half again and to lose a third.
pub const ROOMY: f64 = 0.6;

/// What is taken for granted on one database, and what takes its place.
const COSTS: [Cost; 6] = [
    Cost {
        code: "transactions",
        lost: "transactions across shards",
        replacement: "keep what changes together on one shard; else a saga with steps that undo",
    },
    Cost {
        code: "joins",
        lost: "JOIN across shards",
        replacement: "shard both tables by one key; copy small tables to every shard",
    },
    Cost {
        code: "ids",
        lost: "one sequence of ids for all rows",
        replacement: "UUIDs, Snowflake ids, or the shard's number within the id",
    },
    Cost {
        code: "scatter",
        lost: "queries without the shard key, which now ask every shard",
        replacement: "a global secondary index, or the shard key in the query; clockwise advise shard-key counts them",
    },
    Cost {
        code: "pages",
        lost: "pages by offset",
        replacement: "keyset pages: rows behind the last one seen, without a jump to page 100",
    },
    Cost {
        code: "unique",
        lost: "unique keys without the shard key in them",
        replacement: "the shard key within the unique key, or a table that hands names out",
    },
];
