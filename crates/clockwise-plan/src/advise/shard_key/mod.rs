//! Which column to shard a table by.
//!
//! What it is: for each column, and for pairs that queries name together, three scores of 0 to 1: enough different values,
//! an even spread over the shards, and queries that name it. What it promises: the total is their product, halved for each
//! pitfall; rows and bytes on each shard come from placing every value with the real scheme; a statement counts for a
//! column only where it binds it to one value. What it does not: guess at queries that are not in the log. Cost: one pass
//! over the log and one over the rows; memory by columns, not by rows. Source: founding article 004, 8.2.

mod columns;
mod document;
mod queries;
mod score;
mod sql;

use serde::Serialize;

use clockwise::{Member, Membership, Placement, Scheme};
use columns::ColumnCount;
pub use document::document;
pub use queries::{BadStatement, Queries, TooManyBad, read_queries};
use score::rate;

use super::{Advice, KIND, Reason};
use crate::keys::TableRow;
use crate::number::{decimal, grouped, percent};

/// The advice.
pub type ShardKeyAdvice = Advice<KeyRow, ShardKeyMore>;

/// What belongs to this question alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShardKeyMore {
    /// Shards.
    pub shards: u32,
    /// The scheme that placed the values.
    pub scheme: String,
    /// Rows read.
    pub rows: u64,
    /// Rows that could not be read.
    pub bad_rows: u64,
    /// Statements of the log; `None` without one.
    pub statements: Option<Statements>,
}

/// What the log held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statements {
    /// Statements that were parsed.
    pub parsed: u64,
    /// Of these, statements that look for or change rows of the table.
    pub queries: u64,
    /// Statements that add rows.
    pub inserts: u64,
    /// Statements that could not be parsed.
    pub bad: u64,
    /// The first of them.
    pub first_bad: Vec<BadStatement>,
}

/// A column, or two, with scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyRow {
    /// Its name; two names with ` + ` between.
    pub column: String,
    /// Different values.
    pub values: u64,
    /// Whether that is exact.
    pub values_exact: bool,
    /// 1 with a hundred values for each shard, or more.
    pub cardinality: f64,
    /// The mean shard over the fullest, in rows or in bytes, whichever is worse.
    pub spread: f64,
    /// The fullest shard over the mean, in rows.
    pub max_over_mean_rows: f64,
    /// The same in bytes.
    pub max_over_mean_bytes: f64,
    /// Share of the queries that bind it to one value and so ask one shard; `None` without a log.
    pub matching: Option<f64>,
    /// Share of the queries that bind it to several values.
    pub some_shards: Option<f64>,
    /// Share of the queries that join by it.
    pub joined: Option<f64>,
    /// Share of rows without a value.
    pub null_share: f64,
    /// The largest value.
    pub largest: Option<Largest>,
    /// Pitfalls.
    pub flags: Vec<Flag>,
    /// The product of the scores, halved for each pitfall.
    pub total: f64,
}

/// The value with most rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Largest {
    /// The value, escaped.
    pub value: String,
    /// Share of all rows, at least.
    pub share: f64,
    /// How many shards' fair shares that is.
    pub shards_worth: f64,
    /// The fullest shard over the mean once this value has shards of its own.
    pub max_over_mean_without: f64,
}

/// A pitfall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flag {
    /// A stable name for programs: `time`, `auto-increment`, `giant`, `low-cardinality`, `nulls`, `updated` or
    /// `not-in-unique`.
    pub code: &'static str,
    /// The pitfall for people.
    pub text: String,
    /// The number that it rests on.
    pub number: f64,
}

/// Counts rows of a table; columns are known with the first.
pub struct ShardKeyCount {
    placement: Placement,
    shards: u32,
    columns: Vec<String>,
    singles: Vec<ColumnCount>,
    pairs: Vec<ColumnCount>,
    queries: Option<Queries>,
    rows: u64,
}

impl ShardKeyCount {
    /// Starts to count for so many shards, from 2 to [`MOST_SHARDS`]; `None` where the scheme cannot place them.
    #[must_use]
    pub fn new(shards: u32, queries: Option<Queries>) -> Option<Self> {
        let scheme: Scheme = "slots".parse().ok()?;
        // Numbers are padded, so that members in order of ids are shards in order of numbers.
        let ids = (1..=shards).map(|number| format!("shard-{number:04}").parse().map(Member::new));
        let members = Membership::new(ids.collect::<Result<Vec<_>, _>>().ok()?).ok()?;
        Some(Self {
            placement: Placement::build(&scheme, &members).ok()?,
            shards,
            columns: Vec::new(),
            singles: Vec::new(),
            pairs: Vec::new(),
            queries,
            rows: 0,
        })
    }

    /// Counts a row.
    pub fn add(&mut self, columns: &[String], row: TableRow<'_>) {
        if self.rows == 0 {
            self.begin(columns);
        }
        self.rows += 1;
        let fields =
            (0..row.len()).map(|place| row.field(place).unwrap_or_default().len() as u64 + 1);
        let bytes: u64 = fields.sum();
        for column in self.singles.iter_mut().chain(&mut self.pairs) {
            column.add(&self.placement, |place| row.field(place), bytes);
        }
    }

    fn begin(&mut self, columns: &[String]) {
        self.columns = columns.to_vec();
        let shards = self.shards as usize;
        self.singles = (0..columns.len().min(MOST_COLUMNS))
            .map(|place| ColumnCount::new(vec![place], shards))
            .collect();
        let place = |name: &str| {
            columns
                .iter()
                .position(|column| column.to_lowercase() == name)
        };
        let named = self.queries.iter().flat_map(Queries::pairs);
        let pairs = named.filter_map(|(one, other)| Some(vec![place(&one)?, place(&other)?]));
        self.pairs = pairs
            .take(MOST_PAIRS)
            .map(|places| ColumnCount::new(places, shards))
            .collect();
    }

    /// Rows counted.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Columns left out because there are too many.
    #[must_use]
    pub fn columns_left_out(&self) -> usize {
        self.columns.len() - self.singles.len()
    }

    /// The advice after the last row.
    #[must_use]
    pub fn advice(mut self, bad_rows: u64) -> ShardKeyAdvice {
        let queries = self.queries.take();
        let mut table = Vec::new();
        for count in self.singles.iter_mut().chain(&mut self.pairs) {
            table.push(rate(count, &self.columns, queries.as_ref()));
        }
        // Two columns are worth it only where they do better than each alone; equal totals go to the earlier column.
        table.sort_by(|a, b| b.total.total_cmp(&a.total));
        let best = table.first().filter(|best| best.total > 0.0);
        let more = ShardKeyMore {
            shards: self.shards,
            scheme: self.placement.scheme().to_string(),
            rows: self.rows,
            bad_rows,
            statements: queries.as_ref().map(Queries::statements),
        };
        Advice {
            kind: KIND,
            question: "shard-key",
            answer: best.map_or("none", |best| &best.column).to_owned(),
            ok: best.is_some(),
            verdict: verdict(best, &more),
            reasons: best.map_or_else(Vec::new, |best| reasons(best, &more)),
            changes: changes(&table, &more),
            table,
            more,
        }
    }
}

fn verdict(best: Option<&KeyRow>, more: &ShardKeyMore) -> String {
    let Some(best) = best else {
        return "None: no column has different values, an even spread and queries that name it."
            .to_owned();
    };
    let pitfalls = match best.flags.len() {
        0 => "no pitfall".to_owned(),
        1 => "one pitfall".to_owned(),
        flags => format!("{flags} pitfalls"),
    };
    let matching = match best.matching {
        Some(share) => format!("{} of the queries ask one shard", percent(share)),
        None => {
            "no queries are known: give --query-log, the most forgotten of the three".to_owned()
        }
    };
    format!(
        "Shard by {}: {} values over {} shards, the fullest with {} times its fair share; {matching}; {pitfalls}.",
        best.column,
        grouped(best.values),
        more.shards,
        decimal(best.max_over_mean_rows.max(best.max_over_mean_bytes), 3),
    )
}

fn reasons(best: &KeyRow, more: &ShardKeyMore) -> Vec<Reason> {
    let mut reasons = vec![
        Reason::new(
            "cardinality",
            format!(
                "Cardinality {}: {} different values ({}), {} for each shard.",
                decimal(best.cardinality, 2),
                grouped(best.values),
                if best.values_exact { "exact" } else { "sampled by hash" },
                decimal(best.values as f64 / f64::from(more.shards), 1),
            ),
        )
        .with(best.cardinality),
        Reason::new(
            "spread",
            format!(
                "Spread {}: the fullest shard has {} times its share of rows and {} of bytes (exact, {} rows).",
                decimal(best.spread, 2),
                decimal(best.max_over_mean_rows, 3),
                decimal(best.max_over_mean_bytes, 3),
                grouped(more.rows),
            ),
        )
        .with(best.spread),
    ];
    if let (Some(matching), Some(some), Some(statements)) =
        (best.matching, best.some_shards, &more.statements)
    {
        reasons.push(
            Reason::new(
                "matching",
                format!(
                    "Matching {}: of {} queries {} ask one shard, {} some, and the rest every shard (exact).",
                    decimal(matching, 2),
                    grouped(statements.queries),
                    percent(matching),
                    percent(some),
                ),
            )
            .with(matching),
        );
    }
    reasons.extend(
        best.flags
            .iter()
            .map(|flag| Reason::new(flag.code, format!("{}.", flag.text)).with(flag.number)),
    );
    reasons
}

/// What would change the answer: the column that does best in each score, where it is another.
fn changes(table: &[KeyRow], more: &ShardKeyMore) -> Vec<Reason> {
    let mut changes = Vec::new();
    if more.statements.is_none() {
        changes.push(Reason::new(
            "query-log",
            "Queries that name another column: give --query-log.",
        ));
    }
    let Some(best) = table.first() else {
        return changes;
    };
    let matched = table.iter().max_by(|a, b| {
        a.matching
            .unwrap_or(0.0)
            .total_cmp(&b.matching.unwrap_or(0.0))
    });
    if let Some(other) = matched.filter(|other| other.matching > best.matching) {
        changes.push(
            Reason::new(
                "matching",
                format!(
                    "More queries name {} ({}): it falls back by cardinality {}, spread {} or {} pitfalls.",
                    other.column,
                    percent(other.matching.unwrap_or(0.0)),
                    decimal(other.cardinality, 2),
                    decimal(other.spread, 2),
                    other.flags.len(),
                ),
            )
            .with(other.matching.unwrap_or(0.0)),
        );
    }
    if let Some(largest) = best
        .largest
        .as_ref()
        .filter(|_| best.flags.iter().any(|flag| flag.code == "giant"))
    {
        changes.push(
            Reason::new(
                "giant",
                format!(
                    "With {} on shards of its own, the fullest of the others has {} times its share (exact).",
                    largest.value,
                    decimal(largest.max_over_mean_without, 3)
                ),
            )
            .with(largest.max_over_mean_without),
        );
    }
    changes
}

/// More shards are more than slots are good for.
pub const MOST_SHARDS: u32 = 1024;
/// Columns that are counted; each takes some memory.
const MOST_COLUMNS: usize = 64;
/// Pairs of columns that are counted.
const MOST_PAIRS: usize = 16;
