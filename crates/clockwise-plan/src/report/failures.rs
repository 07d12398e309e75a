//! What happens when any one node of the new membership fails: who takes its keys, and who is heaviest then.

use clockwise::{Algorithm, Placement};
use serde::Serialize;

use super::{Load, read_share, share};
use crate::Growth;
use crate::census::{Amount, Change, Counts};

/// The failure of one node, by the scheme's ranked answer: each of its keys goes to the next node behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// The node that fails.
    pub node: String,
    /// Keys that it owned.
    pub owned: u64,
    /// Who takes them, most first.
    pub receivers: Vec<Receiver>,
    /// Share of them that the first receiver takes, 0 to 1.
    pub largest_receiver_share: f64,
    /// The heaviest node then; `None` where nobody takes over.
    pub heaviest_after: Option<Heaviest>,
    /// The heaviest node then in requests, where they were told.
    pub heaviest_requests_after: Option<Heaviest>,
    /// The node whose load grows most, in requests where they were told, else in keys; `None` where none grows.
    pub grows_most: Option<Growth>,
    /// Queries per second that reach the database at the first moment, where the traffic was told; predicted.
    pub origin_queries: Option<f64>,
    /// For schemes that number their nodes: what it costs to renumber instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renumbered: Option<Renumbering>,
}

/// A node that takes keys of a failed one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Receiver {
    /// The node.
    pub id: String,
    /// Keys that it takes.
    pub keys: u64,
    /// Of the failed node's keys.
    pub share: f64,
}

/// The node that carries most against its fair share once another has failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heaviest {
    /// The node.
    pub id: String,
    /// Its keys over its fair share among those left.
    pub max_over_mean: f64,
}

/// The share of all keys that moves when the nodes behind a failed one are renumbered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Renumbering {
    /// Share of all keys, 0 to 1.
    pub moved_share: f64,
    /// Always `predicted`.
    pub basis: &'static str,
}

/// One entry for each node of the new membership that has weight, in the order of the change.
pub(super) fn failures(load: Load, change: &Change, counts: &Counts) -> Vec<Failure> {
    let weight = |node: usize| {
        change.nodes[node]
            .to
            .map_or(0, |member| change.to.members()[member].weight().milli())
    };
    let nodes: Vec<usize> = (0..change.nodes.len())
        .filter(|&node| weight(node) > 0)
        .collect();
    let total_weight: u64 = nodes.iter().map(|&node| u64::from(weight(node))).sum();
    let mut received: Vec<Vec<(usize, Amount)>> = vec![Vec::new(); change.nodes.len()];
    for (failed, taker, amount) in counts.placed.seconds.iter() {
        if failed < change.nodes.len() && taker < change.nodes.len() {
            received[failed].push((taker, amount));
        }
    }
    let ranked = change.to.scheme().has_ranking();
    let id = |node: usize| change.nodes[node].id.clone();
    let has_requests = counts.requests.is_some();
    nodes
        .iter()
        .map(|&failed| {
            let owned = counts.placed.after[failed];
            let takers = &mut received[failed];
            takers.sort_by(|a, b| b.1.keys.cmp(&a.1.keys).then(a.0.cmp(&b.0)));
            let receivers: Vec<Receiver> = takers
                .iter()
                .map(|&(node, taken)| Receiver {
                    id: id(node),
                    keys: taken.keys,
                    share: share(taken.keys, owned.keys),
                })
                .collect();
            let weight_left = total_weight - u64::from(weight(failed));
            let then = |node: usize| {
                let taken = takers.iter().find(|taker| taker.0 == node);
                counts.placed.after[node] + taken.map_or(Amount::default(), |taker| taker.1)
            };
            let heaviest = |of: fn(Amount) -> u64| {
                let all: u64 = nodes
                    .iter()
                    .map(|&node| of(counts.placed.after[node]))
                    .sum();
                let up = nodes
                    .iter()
                    .filter(|&&node| node != failed && ranked && all > 0);
                let ratios = up.map(|&node| {
                    let fair = all as f64 * f64::from(weight(node)) / weight_left as f64;
                    (of(then(node)) as f64 / fair, node)
                });
                let most = ratios.reduce(|most, other| if other.0 > most.0 { other } else { most });
                most.map(|(max_over_mean, node)| Heaviest {
                    id: id(node),
                    max_over_mean,
                })
            };
            let reads = |amount: Amount| {
                if has_requests {
                    amount.requests
                } else {
                    amount.keys
                }
            };
            let growing = takers
                .iter()
                .map(|taker| taker.0)
                .filter(|&node| reads(counts.placed.after[node]) > 0);
            let growth = growing.map(|node| {
                (
                    share(reads(then(node)), reads(counts.placed.after[node])),
                    node,
                )
            });
            let growth = growth.reduce(|most, other| if other.0 > most.0 { other } else { most });
            Failure {
                node: id(failed),
                owned: owned.keys,
                largest_receiver_share: receivers.first().map_or(0.0, |receiver| receiver.share),
                receivers,
                heaviest_after: heaviest(|amount| amount.keys),
                heaviest_requests_after: has_requests
                    .then(|| heaviest(|amount| amount.requests))
                    .flatten(),
                grows_most: growth.map(|(times, node)| Growth {
                    id: id(node),
                    times,
                }),
                origin_queries: load.queries(read_share(owned, counts)),
                renumbered: change.nodes[failed]
                    .to
                    .and_then(|member| renumbering(&change.to, member)),
            }
        })
        .collect()
}

/// The predicted cost of closing the gap that a failed node leaves in the numbering.
///
/// Of n buckets, taking out number b leaves a key where it was with the chance (b + 1/(n - 1)) / n under jump, and 1/n
/// under modulo, whose remainders by n and n - 1 are independent.
fn renumbering(placement: &Placement, failed: usize) -> Option<Renumbering> {
    let buckets = placement.buckets()?;
    let bucket = buckets.iter().position(|&node| node as usize == failed)? as f64;
    let count = buckets.len() as f64;
    let stay = match placement.scheme().algorithm() {
        Algorithm::Modulo => 1.0 / count,
        Algorithm::Jump | Algorithm::JumpBack if count > 1.0 => {
            (bucket + 1.0 / (count - 1.0)) / count
        }
        _ => return None,
    };
    let moved_share = if count > 1.0 { 1.0 - stay } else { 1.0 };
    Some(Renumbering {
        moved_share,
        basis: "predicted",
    })
}
