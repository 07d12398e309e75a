//! What-ifs that sums over nodes cannot answer: nodes that fail together, failures that set off others, the order of
//! several steps, and copies of keys that have replicas.
//!
//! Each is worked out on the tokens that stand for all keys: exactly where keys were counted by range, otherwise on a
//! weighed sample of them. Follows the scheme's ranked answer, as a client does that skips nodes which are down.

mod cascades;
mod copies;
mod orders;
mod outages;

use crate::Basis;
use crate::census::{Change, Stake, Stakes};
use clockwise::HashedKey;

pub use cascades::{Cascade, Cascades, OverNode};
pub use copies::{Copies, NodeCopies};
pub use orders::{Order, Orders};
pub use outages::{Growth, Outage, OutageReceiver, Outages};

pub(crate) use cascades::cascades;
pub(crate) use copies::copies;
pub(crate) use orders::orders;
pub(crate) use outages::outages;

/// How sure a what-if is: never surer than the counts of its plan.
pub(crate) fn basis(counted: Basis, stakes: &Stakes) -> Basis {
    match counted {
        Basis::Exact if !stakes.exact => Basis::Sampled,
        _ => counted,
    }
}

/// The nodes that a key goes to under the new placement, best first, along the nodes of the change.
struct Ranking<'p> {
    change: &'p Change,
    members: clockwise::Replicas<'p, 'static>,
}

impl<'p> Ranking<'p> {
    fn of(change: &'p Change, stake: &Stake) -> Self {
        Self {
            change,
            members: change
                .to()
                .ranked(&HashedKey::of_token(stake.new), usize::MAX),
        }
    }
}

impl Iterator for Ranking<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.members
            .next_index()
            .map(|member| self.change.node_after(member))
    }
}

/// Weight of each node of the change under the new placement, in thousandths.
fn weights(change: &Change) -> Vec<u32> {
    let members = change.to().members();
    let weight = |member: usize| members[member].weight().milli();
    change
        .nodes
        .iter()
        .map(|node| node.to.map_or(0, weight))
        .collect()
}

fn part(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
