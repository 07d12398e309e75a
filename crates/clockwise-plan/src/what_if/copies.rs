//! Replicas: which copies must be made, and what each node holds of them before and after.
//!
//! A copy is made where a node holds a key after the change that did not before. Cost: a replica set a side and token.

use clockwise::{HashedKey, ReplicaSet, ReplicaSets};
use serde::Serialize;

use super::part;
use crate::Basis;
use crate::Sides;
use crate::census::{Change, Stakes};

/// A change as all copies of keys see it, and not their owners alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Copies {
    /// Copies of a key that are asked for.
    pub replicas: Sides<u32>,
    /// How sure the figures are.
    pub basis: Basis,
    /// Copies that are held.
    pub held: Sides<u64>,
    /// Copies that must be made.
    pub made: u64,
    /// Of all copies held afterwards, 0 to 1.
    pub made_share: f64,
    /// Bytes of them, if told.
    pub made_bytes: Option<u64>,
    /// Keys that have fewer copies than asked for.
    pub short_keys: Sides<u64>,
    /// The node that holds most against its fair share, as that multiple.
    pub max_over_mean: Sides<f64>,
    /// Each node of the change.
    pub nodes: Vec<NodeCopies>,
}

/// The copies of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NodeCopies {
    /// The node.
    pub id: String,
    /// Copies held.
    #[serde(flatten)]
    pub held: Sides<u64>,
    /// Copies that must be made on it.
    pub received: u64,
}

/// `None` where no replicas were asked about.
pub(crate) fn copies(
    change: &Change,
    stakes: &Stakes,
    basis: Basis,
    has_bytes: bool,
) -> Option<Copies> {
    let policies = change.questions.replication.as_ref()?;
    // Both were tried when the question was put.
    let before = ReplicaSets::new(change.from(), policies.before.clone()).ok()?;
    let after = ReplicaSets::new(change.to(), policies.after.clone()).ok()?;
    let count = change.nodes.len();
    let mut held = Sides {
        before: vec![0.0; count],
        after: vec![0.0; count],
    };
    let mut received = vec![0.0; count];
    let mut short = Sides::<f64>::default();
    let mut bytes = 0.0;
    let (mut old, mut new) = (ReplicaSet::default(), ReplicaSet::default());
    for stake in &stakes.list {
        before.select_into(&HashedKey::of_token(stake.old), |_| true, &mut old);
        after.select_into(&HashedKey::of_token(stake.new), |_| true, &mut new);
        let had = old
            .nodes
            .iter()
            .flatten()
            .map(|&member| change.node_before(member));
        for node in had.clone() {
            held.before[node] += stake.keys;
        }
        for node in new
            .nodes
            .iter()
            .flatten()
            .map(|&member| change.node_after(member))
        {
            held.after[node] += stake.keys;
            if !had.clone().any(|before| before == node) {
                received[node] += stake.keys;
                bytes += stake.bytes;
            }
        }
        short.before += if old.deficit.is_some() {
            stake.keys
        } else {
            0.0
        };
        short.after += if new.deficit.is_some() {
            stake.keys
        } else {
            0.0
        };
    }
    let whole = |sum: f64| sum.round() as u64;
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let heaviest = |placement: &clockwise::Placement,
                    held: &[f64],
                    member: fn(&crate::census::ChangeNode) -> Option<usize>| {
        let weight = |node: &crate::census::ChangeNode| {
            member(node).map_or(0.0, |member| {
                f64::from(placement.members()[member].weight().milli())
            })
        };
        let total: f64 = change.nodes.iter().map(weight).sum();
        let ratio = |(node, &held_here): (&crate::census::ChangeNode, &f64)| {
            part(held_here * total, sum(held) * weight(node))
        };
        change.nodes.iter().zip(held).map(ratio).fold(0.0, f64::max)
    };
    Some(Copies {
        replicas: Sides {
            before: policies.before.factor().get(),
            after: policies.after.factor().get(),
        },
        basis,
        held: Sides {
            before: whole(sum(&held.before)),
            after: whole(sum(&held.after)),
        },
        made: whole(sum(&received)),
        made_share: part(sum(&received), sum(&held.after)),
        made_bytes: has_bytes.then(|| whole(bytes)),
        short_keys: Sides {
            before: whole(short.before),
            after: whole(short.after),
        },
        max_over_mean: Sides {
            before: heaviest(change.from(), &held.before, |node| node.from),
            after: heaviest(change.to(), &held.after, |node| node.to),
        },
        nodes: change
            .nodes
            .iter()
            .enumerate()
            .map(|(place, node)| NodeCopies {
                id: node.id.clone(),
                held: Sides {
                    before: whole(held.before[place]),
                    after: whole(held.after[place]),
                },
                received: whole(received[place]),
            })
            .collect(),
    })
}
