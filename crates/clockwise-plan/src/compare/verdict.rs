//! Which scheme to take, by fixed rules: of those that stay even, the one that moves least; what is near it, what is not.

use std::cmp::Reverse;

use super::form::{Compared, Row};
use crate::number::{capital, decimal, percent};
use crate::{Basis, Warning};

/// How a scheme stands among the others.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Standing {
    /// Moves least of the even ones.
    Best,
    /// Even, and moves about as little.
    Near,
    /// Even, but moves more.
    More,
    /// Uneven.
    Uneven,
    /// Moves far too much, or is far from even.
    Avoid,
    /// Cannot make the change, or should not.
    Unfit,
}

/// The standing of each row.
pub(super) fn standings(compared: &Compared) -> Vec<Standing> {
    let needed = |row: &Row| {
        row.moved_share
            .unwrap_or(f64::INFINITY)
            .max(compared.least_moved_share)
    };
    let is_fit = |row: &Row| row.reason.is_none() && row.moved_share.is_some();
    let chance = |row: &Row| chance(row, compared.nodes_after);
    let is_even = |row: &Row| {
        row.max_over_mean
            .is_some_and(|heaviest| heaviest <= EVEN + chance(row))
    };
    let even: Vec<&Row> = compared
        .rows
        .iter()
        .filter(|row| is_fit(row) && is_even(row))
        .collect();
    let least = even.iter().map(|row| needed(row)).reduce(f64::min);
    let within = |row: &Row, factor: f64| {
        least.is_some_and(|least| needed(row) <= least * factor + noise(row, needed(row)))
    };
    let tied = (0..compared.rows.len()).filter(|&place| {
        let row = &compared.rows[place];
        is_fit(row) && is_even(row) && within(row, AS_LITTLE)
    });
    // The nearest to ideal, to a thousandth; then what is best off when any node leaves, then what is surest, then the
    // first.
    let quality = |&place: &usize| {
        let row = &compared.rows[place];
        let thousandths = |value: f64| (value * 1000.0).round() as u64;
        (
            thousandths(distance(compared, row)),
            thousandths(row.remove_any_moved_share.unwrap_or(1.0)),
            Reverse(row.keys.unwrap_or(u64::MAX)),
            place,
        )
    };
    let best = tied.min_by_key(quality);
    let far = least.unwrap_or(compared.least_moved_share);
    let standing = |(place, row): (usize, &Row)| {
        let heaviest = row.max_over_mean.unwrap_or(f64::INFINITY);
        match row {
            _ if !is_fit(row) => Standing::Unfit,
            _ if best == Some(place) => Standing::Best,
            _ if needed(row) > MUCH_MORE * far + noise(row, needed(row))
                || heaviest > FAR_FROM_EVEN + chance(row) =>
            {
                Standing::Avoid
            }
            _ if !is_even(row) => Standing::Uneven,
            _ if within(row, NEARLY_AS_LITTLE) => Standing::Near,
            _ => Standing::More,
        }
    };
    compared.rows.iter().enumerate().map(standing).collect()
}

/// What chance in the keys may add to a share: three standard deviations.
fn noise(row: &Row, share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    let keys = row.keys.unwrap_or(u64::MAX).max(1);
    3.0 * (share * (1.0 - share) / keys as f64).sqrt()
}

/// How far a row is from the ideal beyond chance: what moves over the least possible, plus what the heaviest node gets beyond its
/// fair share.
pub(super) fn distance(compared: &Compared, row: &Row) -> f64 {
    let least = compared.least_moved_share;
    let moved = row.moved_share.unwrap_or(f64::INFINITY);
    let moved = (moved - noise(row, moved)).max(least);
    let beyond = row.max_over_mean.unwrap_or(f64::INFINITY) - chance(row, compared.nodes_after);
    let times = if least > 0.0 {
        moved / least
    } else {
        1.0 + moved
    };
    times + (beyond - 1.0).max(0.0)
}

/// How far above its fair share the heaviest of so many nodes gets by chance, where keys were counted: each node's number
/// scatters by itself, and the largest of N such deviations lies near the square root of 2 ln N of them.
fn chance(row: &Row, nodes: usize) -> f64 {
    let nodes = nodes.max(1) as f64;
    match row.keys {
        None | Some(0) => 0.0,
        Some(keys) => ((nodes - 1.0) / keys as f64 * 2.0 * nodes.ln()).sqrt(),
    }
}

/// The answer, one sentence a line.
pub(super) fn lead(compared: &Compared) -> Vec<String> {
    let standings = standings(compared);
    let of = |wanted: Standing| -> Vec<&Row> {
        let rows = compared.rows.iter().zip(&standings);
        let mut rows: Vec<&Row> = rows
            .filter(|(_, standing)| **standing == wanted)
            .map(|(row, _)| row)
            .collect();
        rows.sort_by(|a, b| distance(compared, a).total_cmp(&distance(compared, b)));
        rows
    };
    let sure = match compared.basis {
        _ if compared.keys == 0 => "predicted: no keys were given",
        Basis::Exact => "exact",
        Basis::Sampled if compared.rows.iter().all(|row| row.basis == Basis::Exact) => {
            "exact, further changes in part on a sample"
        }
        Basis::Sampled => "some figures on a sample",
        Basis::Predicted => "predicted",
    };
    let on = match compared.keys {
        0 => String::new(),
        keys => format!(" on {} keys", crate::grouped(keys)),
    };
    let mut lines = Vec::new();
    if compared.partial {
        lines.push("PARTIAL: stopped; the figures cover what was read until then.".to_owned());
    }
    lines.push(format!(
        "{}: from {} to {} nodes under {} schemes{on} ({sure}).",
        capital(&compared.change),
        compared.nodes_before,
        compared.nodes_after,
        compared.rows.len()
    ));
    if compared.nodes_after == 0 {
        lines.push(
            "No node is left: every key loses its owner, whatever the scheme. Add a node first."
                .to_owned(),
        );
        return lines;
    }
    match of(Standing::Best).first() {
        Some(best) => {
            lines.push(format!(
                "{} moves least and stays even: {}, where {} is the least possible; the heaviest node gets {} times its fair share{}.",
                best.label,
                moves(best),
                percent(compared.least_moved_share),
                ratio(best.max_over_mean),
                by_chance(best, compared.nodes_after)
            ));
            lines.extend(without_a_table(best, &of(Standing::Near)));
        }
        None => lines.push(format!(
            "No scheme stays even, with at most {} times a fair share on a node.",
            decimal(EVEN, 1)
        )),
    }
    lines.extend(names(
        "Near it (share that moves, heaviest node)",
        &of(Standing::Near),
        moves_and_heaviest,
    ));
    lines.extend(names(
        "Even, but moves more",
        &of(Standing::More),
        moves_and_heaviest,
    ));
    lines.extend(names("Uneven", &of(Standing::Uneven), moves_and_heaviest));
    lines.extend(names("Avoid", &of(Standing::Avoid), moves_and_heaviest));
    lines.extend(names(
        "Cannot do it, or only at a price",
        &of(Standing::Unfit),
        |row| {
            row.moved_share
                .map_or_else(|| "not built".to_owned(), |_| moves(row))
        },
    ));
    lines.extend(removal_warning(compared, &standings));
    if let Some(today) = compared.rows.iter().find(|row| row.today) {
        lines.push(format!(
            "Today's scheme is {} ({}).",
            today.label,
            moves_and_heaviest(today)
        ));
    }
    lines
}

/// That chance does as much, where it does much.
fn by_chance(row: &Row, nodes: usize) -> String {
    let chance = chance(row, nodes);
    let keys = row.keys.map_or_else(String::new, crate::grouped);
    match row.max_over_mean {
        Some(heaviest) if chance >= NOTABLE_CHANCE && heaviest <= 1.0 + chance => {
            format!(", no more than chance does with {keys} keys")
        }
        _ => String::new(),
    }
}

/// Where the best scheme rests on what has to be published, the best one that rests on a list of nodes.
fn without_a_table(best: &Row, near: &[&Row]) -> Option<String> {
    let plain = near.iter().find(|row| row.rests_on == PLAIN)?;
    (best.rests_on != PLAIN).then(|| {
        format!(
            "It rests on {} that all clients share; from {PLAIN} alone {} comes nearest: {} moves, heaviest {}.",
            best.rests_on,
            plain.label,
            plain.moved_share.map_or_else(String::new, percent),
            ratio(plain.max_over_mean)
        )
    })
}

/// Schemes that are good at this change and bad at losing a node.
fn removal_warning(compared: &Compared, standings: &[Standing]) -> Option<String> {
    let is_bad = |row: &Row| {
        row.remove_any_extra_moved_share
            .is_some_and(|extra| extra > NEEDLESS)
    };
    let rows = compared.rows.iter().zip(standings);
    let bad: Vec<&Row> = rows
        .filter(|(row, standing)| **standing < Standing::Uneven && is_bad(row))
        .map(|(row, _)| row)
        .collect();
    names("But when a node in the middle leaves", &bad, |row| {
        let worst = row.remove_any_worst_moved_share;
        format!("up to {} moves", worst.map_or_else(String::new, percent))
    })
}

fn names(what: &str, rows: &[&Row], figures: impl Fn(&Row) -> String) -> Option<String> {
    let name = |row: &&Row| format!("{} ({})", row.label, figures(row));
    let shown: Vec<String> = rows.iter().take(SHOWN).map(name).collect();
    let more = match rows.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{what}: {}{more}.", shown.join(", ")))
}

fn moves_and_heaviest(row: &Row) -> String {
    let moved = row
        .moved_share
        .map_or_else(|| "unknown".to_owned(), percent);
    format!("{moved}, {}", ratio(row.max_over_mean))
}

fn moves(row: &Row) -> String {
    row.moved_share.map_or_else(
        || "unknown".to_owned(),
        |share| format!("{} moves", percent(share)),
    )
}

/// Times something, or a dash.
pub(super) fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| decimal(value, 3))
}

/// Adds what the figures themselves give reason to warn about.
pub(super) fn warn(compared: &mut Compared) {
    let missing: Vec<&str> = compared
        .rows
        .iter()
        .filter(|row| row.moved_share.is_none())
        .map(|row| row.label.as_str())
        .collect();
    if !missing.is_empty() {
        let text = format!(
            "there is no placement under {}: see the reasons in their rows",
            missing.join(", ")
        );
        compared
            .warnings
            .push(Warning::new("scheme-not-built", text));
    }
    let scattered: Vec<&Row> = compared
        .rows
        .iter()
        .filter(|row| {
            row.moved_share.is_some() && chance(row, compared.nodes_after) >= NOTABLE_CHANCE
        })
        .collect();
    let most = scattered
        .iter()
        .map(|row| chance(row, compared.nodes_after))
        .fold(0.0, f64::max);
    if !scattered.is_empty() {
        let labels: Vec<&str> = scattered.iter().map(|row| row.label.as_str()).collect();
        let labels = if scattered.len() + missing.len() == compared.rows.len() {
            "every scheme".to_owned()
        } else {
            labels.join(", ")
        };
        let text = format!(
            "few keys for {} nodes: chance alone makes the heaviest node up to {} times as heavy as the mean under {}",
            compared.nodes_after,
            decimal(1.0 + most, 2),
            labels
        );
        compared
            .warnings
            .push(Warning::new("few-keys-to-compare", text));
    }
    if compared.remove_any_tried < compared.remove_any_of {
        let text = format!(
            "the removal of any node was tried for {} of {} nodes, spread over the list",
            compared.remove_any_tried, compared.remove_any_of
        );
        compared
            .warnings
            .push(Warning::new("removals-sampled", text));
    }
}

const PLAIN: &str = "a list of ids";
/// The heaviest node of an even scheme over its fair share, the limit that examples of `plan --limit imbalance` take.
const EVEN: f64 = 1.1;
/// What chance does to the heaviest node that a reader should know of.
const NOTABLE_CHANCE: f64 = 0.05;
/// A node with half as much again as its share.
const FAR_FROM_EVEN: f64 = 1.5;
/// Moves as little as the least: what slots round.
const AS_LITTLE: f64 = 1.02;
/// Moves nearly as little.
const NEARLY_AS_LITTLE: f64 = 1.15;
/// Moves far more than it has to.
const MUCH_MORE: f64 = 2.0;
/// What a removal moves needlessly that a reader should know of: more than slots or Maglev do.
const NEEDLESS: f64 = 0.02;
/// Schemes named in a sentence.
const SHOWN: usize = 8;
