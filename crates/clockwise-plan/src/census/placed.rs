//! What placing keys adds up to: per node before and after, between nodes, at each step and under each view.
//!
//! Keys come one by one or as all those of a range at once; they are placed in the same way. Cost: one look-up a side,
//! a step and a view, and the next node behind the owner.

use clockwise::{HashedKey, Placement};

use super::seconds::Seconds;
use super::{Amount, Change, Pairs, steps};

/// Every index goes along the nodes of the change; one more stands for "no owner".
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) before: Vec<Amount>,
    pub(crate) after: Vec<Amount>,
    /// Moves from the row to the column.
    pub(crate) flows: Pairs,
    /// Keys of the row that the column takes when the row fails, under the new placement.
    pub(crate) seconds: Pairs,
    /// Keys, requests and bytes that move at each step of the change.
    pub(crate) steps: Vec<Amount>,
    /// Keys by how many owners the views give them, from none on.
    pub(crate) owners_per_key: Vec<u64>,
}

/// Who owns a key before and after, along the nodes of the change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owners {
    pub(super) before: u32,
    pub(super) after: u32,
}

impl Placed {
    pub(super) fn new(change: &Change) -> Self {
        let places = change.nodes.len() + 1;
        Self {
            before: vec![Amount::default(); places],
            after: vec![Amount::default(); places],
            flows: Pairs::new(places),
            seconds: Pairs::new(places),
            steps: vec![Amount::default(); change.steps.len()],
            owners_per_key: vec![0; change.views.len() + 1],
        }
    }

    /// Adds keys that are all placed as `old` by the old placement and as `new` by the new one.
    pub(super) fn add(
        &mut self,
        change: &Change,
        seconds: &Seconds,
        (old, new): (&HashedKey<'_>, &HashedKey<'_>),
        amount: Amount,
        seen: &mut Vec<u32>,
    ) -> Owners {
        let (after, second) = seconds.owner_and_second(&change.to, new);
        let nobody = change.nobody();
        let to_node =
            |member: Option<usize>| member.map_or(nobody, |member| change.to_nodes[member]);
        let owners = Owners {
            before: change.owner_before(old),
            after: to_node(after),
        };
        self.before[owners.before as usize] += amount;
        self.after[owners.after as usize] += amount;
        if owners.before != owners.after {
            self.flows.add(owners.before, owners.after, amount);
        }
        self.seconds.add(owners.after, to_node(second), amount);
        if change.views.len() > 0 {
            self.owners_per_key[change.views.owners(new, seen)] += amount.keys;
        }
        let mut last = owners.before;
        for (step, moved) in change.steps.iter().zip(&mut self.steps) {
            let owner = steps::owner(step, new, nobody);
            if owner != last {
                *moved += amount;
            }
            last = owner;
        }
        owners
    }
}

/// The owner and the next node of a key by the ranked answer.
pub(super) fn owner_and_next(
    placement: &Placement,
    key: &HashedKey<'_>,
) -> (Option<usize>, Option<usize>) {
    let mut ranked = placement.ranked(key, 2);
    let owner = ranked.next_index();
    (owner, ranked.next_index())
}
