//! The three scores of a column, and its pitfalls.

use super::columns::{ColumnCount, Giant};
use super::queries::Queries;
use super::{Flag, KeyRow, Largest};
use crate::keys::Escaped;
use crate::number::{decimal, grouped, percent};

/// Rates a column, or two.
pub(super) fn rate(count: &mut ColumnCount, names: &[String], queries: Option<&Queries>) -> KeyRow {
    let own: Vec<String> = count
        .places
        .iter()
        .map(|&place| names[place].clone())
        .collect();
    let shards = count.shard_rows.len() as f64;
    let (values, values_exact) = count.distinct();
    let rows = max_over_mean(&count.shard_rows);
    let bytes = max_over_mean(&count.shard_bytes);
    let queries_of =
        |hits: u64| queries.map(|queries| hits as f64 / queries.count_of_queries().max(1) as f64);
    let named = |queries: &Queries| match &own[..] {
        [one, other] => (
            queries.both(one, other),
            0,
            0,
            queries.named(one).changed + queries.named(other).changed,
        ),
        _ => {
            let named = queries.named(&own[0]);
            (named.one, named.few, named.joined, named.changed)
        }
    };
    let (one, few, joined, changed) = queries.map_or((0, 0, 0, 0), named);
    let cardinality = (values as f64 / (ENOUGH_VALUES * shards)).min(1.0);
    let spread = 1.0 / rows.max(bytes);
    let null_share = count.nulls as f64 / count.rows.max(1) as f64;
    let largest = count
        .giant()
        .filter(|_| own.len() == 1)
        .map(|giant| largest(count, &giant));
    let matching = queries_of(one);
    let mut flags = flags(count, values, null_share, largest.as_ref());
    if changed > 0 {
        flags.push(Flag {
            code: "updated",
            text: format!(
                "{} statements change it, and each moves a row to another shard",
                grouped(changed)
            ),
            number: changed as f64,
        });
    }
    let lacking = queries.map_or_else(Vec::new, |queries| queries.unique_without(&own));
    if let Some(first) = lacking.first() {
        flags.push(Flag {
            code: "not-in-unique",
            text: format!(
                "the unique key ({}) is without it, so that no shard can keep it alone",
                first.join(", ")
            ),
            number: lacking.len() as f64,
        });
    }
    KeyRow {
        column: own.join(" + "),
        values,
        values_exact,
        cardinality,
        spread,
        max_over_mean_rows: rows,
        max_over_mean_bytes: bytes,
        matching,
        some_shards: queries_of(few),
        joined: queries_of(joined),
        null_share,
        largest,
        total: cardinality * spread * matching.unwrap_or(1.0) * 0.5_f64.powi(flags.len() as i32),
        flags,
    }
}

fn max_over_mean(loads: &[u64]) -> f64 {
    let all: u64 = loads.iter().sum();
    let most = loads.iter().max().copied().unwrap_or(0);
    if all == 0 {
        return 1.0;
    }
    most as f64 * loads.len() as f64 / all as f64
}

fn largest(count: &ColumnCount, giant: &Giant) -> Largest {
    let share = giant.rows as f64 / count.rows.max(1) as f64;
    let mut rest = count.shard_rows.clone();
    rest[giant.owner] = rest[giant.owner].saturating_sub(giant.rows);
    Largest {
        value: Escaped(&giant.text).to_string(),
        share,
        shards_worth: share * rest.len() as f64,
        max_over_mean_without: max_over_mean(&rest),
    }
}

fn flags(
    count: &ColumnCount,
    values: u64,
    null_share: f64,
    largest: Option<&Largest>,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut flag = |code, text: String, number| flags.push(Flag { code, text, number });
    let shards = count.shard_rows.len() as f64;
    let order = &count.order;
    let of_values = |part: u64| part as f64 / order.values.max(1) as f64;
    let rising = order.rising as f64 / order.values.saturating_sub(1).max(1) as f64;
    let ones = order.ones as f64 / order.values.saturating_sub(1).max(1) as f64;
    if order.values > 1 && of_values(order.times) > MOSTLY {
        flag(
            "time",
            format!(
                "{} of its values are times: what is new has the newest values, and by range all of it goes to one shard",
                percent(of_values(order.times))
            ),
            of_values(order.times),
        );
    } else if order.values >= LEAST_IN_ORDER
        && of_values(order.numbers) > MOSTLY
        && rising > MOSTLY
        && ones > MOSTLY / 2.0
    {
        flag(
            "auto-increment",
            format!(
                "it counts up, {} of the steps by one: by range the newest rows all go to one shard, and several shards need ids that do not meet",
                percent(ones)
            ),
            ones,
        );
    } else if order.values >= LEAST_IN_ORDER
        && of_values(order.numbers) > MOSTLY
        && rising > MOSTLY
        && values as f64 > MOSTLY * order.values as f64
    {
        flag(
            "auto-increment",
            format!(
                "it rises from row to row in {} of the rows: by range the newest rows all go to one shard",
                percent(rising)
            ),
            rising,
        );
    }
    if let Some(largest) = largest.filter(|largest| largest.shards_worth > GIANT) {
        flag(
            "giant",
            format!(
                "{} has at least {} of the rows, {} shards' worth: give it {}",
                largest.value,
                percent(largest.share),
                decimal(largest.shards_worth, 1),
                match largest.shards_worth.ceil() as u64 {
                    1 => "a shard of its own".to_owned(),
                    shards => format!("{shards} shards of its own, parted by a second column"),
                }
            ),
            largest.shards_worth,
        );
    }
    if (values as f64) < ENOUGH_VALUES * shards / 10.0 {
        flag(
            "low-cardinality",
            format!(
                "{} values are too few for {} shards: they cannot be spread, nor moved in parts",
                grouped(values),
                shards
            ),
            values as f64,
        );
    }
    if null_share > MANY_NULLS {
        flag(
            "nulls",
            format!(
                "{} of the rows have no value, and all of these go to one shard",
                percent(null_share)
            ),
            null_share,
        );
    }
    flags
}

/// Values for each shard with which chance leaves a tenth of deviation: one over the root of it.
const ENOUGH_VALUES: f64 = 100.0;
/// What holds for so many is a rule.
const MOSTLY: f64 = 0.9;
/// Fewer values can rise by chance.
const LEAST_IN_ORDER: u64 = 10;
/// A value with more than half a shard's rows leaves no room beside it.
const GIANT: f64 = 0.5;
/// Rows without a value that count.
const MANY_NULLS: f64 = 0.05;
