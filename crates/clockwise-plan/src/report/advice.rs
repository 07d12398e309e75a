//! What would keep a limit that is broken.
//!
//! Promises a figure where a law or a fixed simulation gives one, and says which it is. Does not search other schemes.
//! Cost: some milliseconds for each number of tokens that is tried. Source: the laws of [`theory`](crate::theory) and
//! simulated lists of names.

use clockwise::Placement;

use super::formulas::is_ring;
use super::tokens::{tokens_for, weights};
use super::warnings::{TOKENS_CLUMP, token_clumping};
use super::{Load, Plan};
use crate::LimitResult;
use crate::census::Change;
use crate::limits::Measure;
use crate::number::{decimal, grouped, percent};
use crate::ring_spread::MOST_NODES;

/// What would bring the value to the limit or below.
pub(super) fn advice(
    measure: Measure,
    result: &LimitResult,
    (plan, change, load): (&Plan, &Change, Load),
) -> String {
    match measure {
        Measure::Moved => moved(plan, result.limit, is_ring(&change.to)),
        Measure::Imbalance => even(plan, &change.to, Evenness::now(result, &change.to)),
        Measure::Failure => failure(plan, change, result),
        Measure::Origin => origin(plan, load, result.limit),
        Measure::Hot => hot(plan, result),
    }
}

fn moved(plan: &Plan, limit: f64, by_names: bool) -> String {
    let theory = &plan.theory;
    let least = theory.least_moved_share;
    if limit < least {
        let steps = parts(least, limit).map_or(String::new(), |steps| {
            format!(", or get there in {steps} smaller changes, as by raising weights in steps")
        });
        return format!(
            "by weight at least {} of the space must move: set the limit at that or above{steps}",
            percent(least)
        );
    }
    if let Some(slots) = plan.slots
        && super::share(slots.moved_least, slots.slots) <= limit
        && plan.space_moved_share.is_some_and(|share| share > limit)
        && plan.scheme.to.starts_with("slots/")
    {
        return format!(
            "a table that follows from today's moves {} of {} slots, not {}",
            grouped(slots.moved_least),
            grouped(slots.slots),
            grouped(slots.moved)
        );
    }
    if theory.moved_share > limit && plan.scheme.from != plan.scheme.to {
        return format!(
            "a change of scheme or of its parameters moves {} by itself: keep it as it is, or treat the new one as a cache of its own beside the old",
            percent(theory.moved_share)
        );
    }
    if theory.moved_share > limit {
        return format!(
            "this scheme moves {} by its law, a placement that moves the least {}: compare slots, ring and rendezvous",
            percent(theory.moved_share),
            percent(least)
        );
    }
    let (what, remedy) = if by_names {
        (
            "names and keys",
            "; other names of the new nodes may do too",
        )
    } else {
        ("the keys", "")
    };
    format!(
        "chance in {what}: the law expects {} and leaves {} of deviation, so a limit of {} would hold{remedy}",
        percent(theory.moved_share),
        percent(theory.moved_share_sd),
        percent((theory.moved_share + 3.0 * theory.moved_share_sd).min(1.0))
    )
}

/// A limit on the heaviest node over its fair share.
#[derive(Debug)]
struct Evenness {
    value: f64,
    limit: f64,
    /// Weights of the nodes that share the keys.
    weights: Vec<f64>,
    /// Share of all lists of names that keep the limit with the number of tokens advised.
    share: f64,
}

impl Evenness {
    fn now(result: &LimitResult, placement: &Placement) -> Self {
        Self {
            value: result.value,
            limit: result.limit,
            weights: weights(placement),
            share: MOST_NAMES,
        }
    }
}

fn even(plan: &Plan, placement: &Placement, wish: Evenness) -> String {
    let room = wish.limit - 1.0;
    if room <= 0.0 {
        return "1 is perfectly even: set the limit above it".to_owned();
    }
    let chance = plan.balance.after.sampling_sd_over_mean;
    if DEVIATIONS * chance > room {
        let keys = plan.keys as f64 * (DEVIATIONS * chance / room).powi(2);
        return format!(
            "chance in {} keys alone reaches it, whatever the scheme: take about {} such keys",
            grouped(plan.keys),
            grouped(keys.ceil() as u64)
        );
    }
    if token_clumping(placement).is_some_and(|clumping| clumping > TOKENS_CLUMP) {
        return "the tokens clump under this hash, so more of them do not help: take a scheme that mixes, such as slots or ring".to_owned();
    }
    if is_ring(placement) {
        if wish.weights.len() > MOST_NODES {
            return "more tokens, or slots and rendezvous, which do without".to_owned();
        }
        let most = 1.0 + (room.powi(2) - (DEVIATIONS * chance).powi(2)).sqrt();
        let now = placement.scheme().tokens().unwrap_or(1);
        return match tokens_for(&wish.weights, most, wish.share) {
            Some(tokens) if tokens > now => format!(
                "{} tokens a node keep it for 9 of 10 lists of names, {} do not (simulated); slots and rendezvous do without tokens",
                grouped(u64::from(tokens)),
                grouped(u64::from(now))
            ),
            Some(tokens) => format!(
                "these names are an unlucky draw: {} tokens a node keep it for 9 of 10 lists of names (simulated); take other names, more tokens, or slots",
                grouped(u64::from(tokens))
            ),
            None => "no number of tokens that a ring takes keeps it for 9 of 10 lists of names (simulated): take slots or rendezvous".to_owned(),
        };
    }
    if plan.effective_keys < plan.keys - plan.keys / 10 {
        return "the keys clump, by the hash or by equal tags: see clumped-keys".to_owned();
    }
    match placement.scheme().slot_count() {
        Some(slots) if heaviest_space(plan) > wish.limit => format!(
            "{} slots are too few to share them so evenly: take more",
            grouped(u64::from(slots))
        ),
        _ => format!(
            "at {} the keys themselves are uneven: look for equal hash tags, or take a scheme that follows weights (slots, rendezvous)",
            decimal(wish.value, 3)
        ),
    }
}

/// The node with most of the space against what its weight asks for.
fn heaviest_space(plan: &Plan) -> f64 {
    let ratios = plan.nodes.iter().filter_map(|node| {
        let after = &node.sides.after;
        (after.wanted_share > 0.0).then_some(after.space_share? / after.wanted_share)
    });
    ratios.fold(0.0, f64::max)
}

fn failure(plan: &Plan, change: &Change, result: &LimitResult) -> String {
    let nodes = plan.failures.len();
    let load = |failure: &&super::Failure| {
        let heaviest = failure.heaviest_after.as_ref();
        heaviest.map_or(0.0, |heaviest| heaviest.max_over_mean)
    };
    let worst = plan
        .failures
        .iter()
        .max_by(|a, b| load(a).total_cmp(&load(b)));
    if let Some(worst) = worst.filter(|_| !is_ring(&change.to))
        && worst.largest_receiver_share > 2.0 / (nodes as f64 - 1.0)
        && let Some(receiver) = worst.receivers.first()
    {
        return format!(
            "{} takes {} of the keys of {}: slots, rendezvous and rings of many tokens spread them over all",
            receiver.id,
            percent(worst.largest_receiver_share),
            worst.node
        );
    }
    // The nodes that are left are a ring of one node less, with as many tries as nodes can fail; a few of them already
    // stand for many, since they share most of their tokens.
    let tries = nodes.clamp(1, 10) as f64;
    let mut wish = Evenness::now(result, &change.to);
    wish.weights.pop();
    wish.share = MOST_NAMES.powf(1.0 / tries);
    even(plan, &change.to, wish)
}

fn origin(plan: &Plan, load: Load, limit: f64) -> String {
    let (Some(hit_rate), Some(origin)) = (load.hit_rate, plan.origin) else {
        return String::new();
    };
    let room = limit - 1.0;
    if room < 0.0 {
        return "the load of today is 1: no change stays below a limit under that".to_owned();
    }
    if room == 0.0 {
        return "copy what moves before the switch: any key that is missed takes the load above that of today".to_owned();
    }
    // factor = 1 + moved h / (1 - h), for the moved share of the reads and the hit rate h.
    let per_share = hit_rate / (1.0 - hit_rate);
    let moved = (origin.factor - 1.0) / per_share;
    let most = room / per_share;
    let steps = parts(moved, most).map_or(String::new(), |steps| {
        format!(": {steps} steps, with the cache filled again between them")
    });
    let warm = room / moved;
    format!(
        "at a hit rate of {} at most {} of the reads may move at once{steps}; or copy what moves first. A move of {} keeps the limit only below a hit rate of {}",
        percent(hit_rate),
        percent(most),
        percent(moved),
        percent(warm / (1.0 + warm))
    )
}

fn hot(plan: &Plan, result: &LimitResult) -> String {
    let Some(hottest) = &plan.hottest else {
        return String::new();
    };
    if result.limit <= 0.0 {
        return "a hottest key always has some requests".to_owned();
    }
    let part = result.limit / result.value;
    format!(
        "no placement, number of tokens or further node helps: answer {} of the requests to {} before they reach its node, as by a cache near the clients, or spread them over {} copies",
        percent(1.0 - part),
        hottest.key,
        grouped((1.0 / part).ceil() as u64)
    )
}

/// Equal parts of `whole` that are at most `most` each; `None` where no number of them is.
fn parts(whole: f64, most: f64) -> Option<String> {
    let count = (whole / most - 1e-9).ceil();
    (count.is_finite() && count >= 2.0).then(|| decimal(count, 0))
}

/// Share of the lists of names that keep the limit with the number of tokens advised.
const MOST_NAMES: f64 = 0.9;
/// The heaviest of a handful of nodes lies about so many standard deviations above the mean in nine of ten draws.
const DEVIATIONS: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_is_cut_into_the_fewest_parts_that_are_small_enough() {
        assert_eq!(parts(0.2, 0.05).as_deref(), Some("4"));
        assert_eq!(parts(0.2, 0.049).as_deref(), Some("5"));
        assert_eq!(parts(0.2, 0.2), None);
        assert_eq!(parts(0.2, 0.0), None);
    }
}
