//! The five steps in their order, and what each would leave of what saturates.

use serde::Serialize;

use super::{Judged, ROOMY, ShardWish, Sign};
use crate::number::{decimal, duration, percent};

/// A step with what it does for the load that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Which step.
    pub name: StepName,
    /// Whether it still helps; `None` where a number is missing that would tell.
    pub helps: Option<bool>,
    /// Why, by numbers.
    pub text: String,
    /// Share of the database's load that it takes away; `None` where unknown, or where it adds room instead.
    pub takes_away: Option<f64>,
}

/// The steps, cheapest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepName {
    /// Better queries and indexes.
    QueryIndex,
    /// A cache, or a better one.
    Cache,
    /// Reads from replicas.
    ReadReplica,
    /// A larger machine for the primary.
    BiggerPrimary,
    /// Several primaries.
    Shard,
}

impl StepName {
    /// The step in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::QueryIndex => "mending queries and indexes",
            Self::Cache => "a cache, or a better one",
            Self::ReadReplica => "reading from replicas",
            Self::BiggerPrimary => "a bigger primary",
            Self::Shard => "sharding",
        }
    }
}

/// Judges the steps, and notes with each sign what every step would leave of it.
pub(super) fn steps(wish: &ShardWish, signs: &mut [Sign]) -> Vec<Step> {
    let mut steps = vec![
        query_index(wish),
        cache(wish),
        read_replica(wish),
        bigger(wish),
    ];
    for sign in signs.iter_mut() {
        sign.after = steps
            .iter()
            .map(|step| after(wish, sign, step.name))
            .collect();
    }
    for (place, step) in steps.iter_mut().enumerate() {
        step.helps = helps_saturated(signs, place).unwrap_or(step.helps);
    }
    steps.push(sharding(signs));
    steps
}

/// Whether a step lowers anything that saturates by a part that counts; `None` outside where nothing does, inside where a
/// number is missing.
fn helps_saturated(signs: &[Sign], place: usize) -> Option<Option<bool>> {
    let saturated: Vec<&Sign> = signs.iter().filter(|sign| sign.saturated).collect();
    if saturated.is_empty() {
        return None;
    }
    let left = |sign: &Sign| {
        let before = match place.checked_sub(1) {
            Some(before) => sign.after[before]?,
            None => sign.used,
        };
        Some(sign.after[place]? <= before * (1.0 - WORTH_A_STEP))
    };
    let found: Vec<Option<bool>> = saturated.into_iter().map(left).collect();
    Some(if found.contains(&Some(true)) {
        Some(true)
    } else if found.contains(&None) {
        None
    } else {
        Some(false)
    })
}

/// What the numbers come to. A number that is missing may hide that an early step is enough, and is taken as no help when
/// it is asked which step surely is.
pub(super) fn judge(wish: &ShardWish, signs: &[Sign]) -> Judged {
    if signs.is_empty() {
        return Judged::Unmeasured;
    }
    let saturated: Vec<&Sign> = signs.iter().filter(|sign| sign.saturated).collect();
    if saturated.is_empty() {
        return Judged::NotSaturated;
    }
    let without_help = ShardWish {
        slow_queries_share: wish.slow_queries_share.or(Some(0.0)),
        cache_hit_rate: wish.cache_hit_rate.or(Some(1.0)),
        read_share: wish.read_share.or(Some(0.0)),
        bigger: wish.bigger.or(Some(1.0)),
        ..wish.clone()
    };
    let first = |wish: &ShardWish| {
        EARLIER.into_iter().find(|&step| {
            let left = |sign: &&Sign| after(wish, sign, step);
            let mut saturated = saturated.iter();
            saturated.all(|sign| left(sign).is_none_or(|left| left < super::SATURATED))
        })
    };
    match (first(wish), first(&without_help)) {
        (maybe, Some(enough)) => Judged::Enough {
            enough,
            maybe: maybe.filter(|maybe| *maybe != enough),
        },
        (Some(maybe), None) => Judged::Maybe(maybe),
        (None, None) => Judged::Shard,
    }
}

/// How many times as large a primary would be enough; `None` where it does not help, or a number is missing.
pub(super) fn large_enough(wish: &ShardWish, signs: &[Sign]) -> Option<f64> {
    let saturated = signs.iter().filter(|sign| sign.saturated);
    let needed = saturated.map(|sign| {
        let left = after(wish, sign, StepName::ReadReplica)?;
        (sign.code != "backup").then_some(left / super::SATURATED)
    });
    needed
        .collect::<Option<Vec<f64>>>()?
        .into_iter()
        .reduce(f64::max)
}

/// What is left of a limit once this step and all before it are taken; `None` where a number is missing.
fn after(wish: &ShardWish, sign: &Sign, step: StepName) -> Option<f64> {
    // Slow queries write and read as the rest does.
    let mended = || wish.slow_queries_share.map(|slow| 1.0 - slow);
    let left = match (sign.code, step) {
        ("cpu", StepName::QueryIndex) => mended()?,
        ("cpu", StepName::Cache) => mended()? * (1.0 - cached(wish)?),
        // Reads leave the primary, whether a cache answers them or a replica.
        ("cpu", StepName::ReadReplica) if lags(wish) => mended()? * (1.0 - cached(wish)?),
        ("cpu", StepName::ReadReplica) => mended()? * (1.0 - wish.read_share?),
        ("write-iops", StepName::QueryIndex | StepName::Cache | StepName::ReadReplica) => mended()?,
        ("backup", _) => 1.0,
        (_, StepName::BiggerPrimary) => {
            let before = after(wish, sign, StepName::ReadReplica)? / sign.used;
            before / wish.bigger?.max(1.0)
        }
        _ => 1.0,
    };
    Some(sign.used * left)
}

/// Share of the load that a good cache takes away beyond what today's does.
fn cached(wish: &ShardWish) -> Option<f64> {
    // What reaches the database are the misses.
    let misses = (1.0 - wish.cache_hit_rate?).max(1.0 - GOOD_HIT_RATE);
    Some(wish.read_share? * (1.0 - (1.0 - GOOD_HIT_RATE) / misses))
}

fn lags(wish: &ShardWish) -> bool {
    wish.replica_lag_s.is_some_and(|lag| lag > MOST_LAG_S)
}

fn query_index(wish: &ShardWish) -> Step {
    let (helps, text) = match wish.slow_queries_share {
        None => (
            None,
            "not known: what share of the load do the slowest queries cause?".to_owned(),
        ),
        Some(share) => {
            let text = format!(
                "{} of the load comes from slow queries; without it {} are left, of writes too if they write as the rest does (predicted)",
                percent(share),
                percent(1.0 - share)
            );
            (Some(share >= WORTH_A_STEP), text)
        }
    };
    Step {
        name: StepName::QueryIndex,
        helps,
        text,
        takes_away: wish.slow_queries_share,
    }
}

fn cache(wish: &ShardWish) -> Step {
    let takes_away = cached(wish);
    let (helps, text) = match (takes_away, wish.cache_hit_rate) {
        (Some(share), Some(hits)) => (
            Some(share >= WORTH_A_STEP),
            format!(
                "a hit rate of {} instead of {} takes away {} of the load (predicted); writes, disk and backups stay",
                percent(GOOD_HIT_RATE.max(hits)),
                percent(hits),
                percent(share)
            ),
        ),
        _ => (
            None,
            "not known: what share of the load is reads, and how many does a cache answer?"
                .to_owned(),
        ),
    };
    Step {
        name: StepName::Cache,
        helps,
        text,
        takes_away,
    }
}

fn read_replica(wish: &ShardWish) -> Step {
    let lags = lags(wish);
    let takes_away = if lags { Some(0.0) } else { wish.read_share };
    let (helps, text) = match (wish.read_share, wish.replica_lag_s) {
        (_, Some(lag)) if lags => (
            Some(false),
            format!(
                "replicas lag by {}, more than {}: they do not keep up with the writes as it is",
                duration(lag),
                duration(MOST_LAG_S)
            ),
        ),
        (Some(reads), _) => (
            Some(reads >= WORTH_A_STEP),
            format!(
                "reads are {} of the load and can go to replicas, but for those that must see the last write (predicted); writes and disk stay, each replica holds everything",
                percent(reads)
            ),
        ),
        (None, _) => (
            None,
            "not known: what share of the load is reads?".to_owned(),
        ),
    };
    Step {
        name: StepName::ReadReplica,
        helps,
        text,
        takes_away,
    }
}

fn bigger(wish: &ShardWish) -> Step {
    let (helps, text) = match wish.bigger {
        None => (
            None,
            "not known: how many times as large a machine can be had?".to_owned(),
        ),
        Some(bigger) if bigger <= 1.0 => (
            Some(false),
            "the primary is the largest machine that can be had (as given)".to_owned(),
        ),
        Some(bigger) => (
            Some(true),
            format!(
                "a machine {} times as large is to be had (as given); a backup does not get shorter by it",
                decimal(bigger, 1)
            ),
        ),
    };
    Step {
        name: StepName::BiggerPrimary,
        helps,
        text,
        takes_away: None,
    }
}

fn sharding(signs: &[Sign]) -> Step {
    let worst = signs.iter().map(|sign| sign.used).fold(0.0, f64::max);
    let text = if signs.is_empty() {
        "not known: nothing that one machine runs out of was measured".to_owned()
    } else {
        format!(
            "writes, data and backups are parted; two shards use {} of the fullest limit each, if they are even (predicted)",
            percent(worst / 2.0)
        )
    };
    Step {
        name: StepName::Shard,
        helps: (!signs.is_empty()).then_some(worst > ROOMY),
        text,
        takes_away: None,
    }
}

/// The steps before sharding.
const EARLIER: [StepName; 4] = [
    StepName::QueryIndex,
    StepName::Cache,
    StepName::ReadReplica,
    StepName::BiggerPrimary,
];
/// A step that takes less away is not worth its work as a cure.
const WORTH_A_STEP: f64 = 0.1;
/// What a cache of keys that are read often reaches.
const GOOD_HIT_RATE: f64 = 0.95;
/// A replica further behind does not keep up.
const MOST_LAG_S: f64 = 10.0;
