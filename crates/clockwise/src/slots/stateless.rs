//! The table that follows from the members alone.
//!
//! Slots propose to nodes down their own ranking; a node keeps the slots it ranks best, as many as it is due, and
//! turns the rest away. Whichever slot proposes next, the stable table is the same; no history enters it, and it moves
//! a little more than the least when a member comes or goes. Cost: O(slots x nodes) for each round of proposals.
//! Source: deferred acceptance, Gale and Shapley, 1962.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;

use super::slot_key;
use crate::Slot;
use crate::race::{Place, Race};

/// The owner of each slot, in slot order. `due` holds how many slots each member gets and sums to the slot count,
/// with at least one for everyone in the race.
pub(crate) fn stateless(race: &Race, due: &[u32]) -> Vec<u32> {
    let count: u32 = due.iter().sum();
    let mut proposals: Vec<Option<Place>> = vec![None; count as usize];
    // Each node's slots, the one that it likes least on top.
    let mut held: Vec<BinaryHeap<(u128, u32)>> = vec![BinaryHeap::new(); due.len()];
    for newcomer in 0..count {
        let mut slot = newcomer;
        loop {
            let key = slot_key(Slot(slot));
            let place = match proposals[slot as usize] {
                None => race.first(key),
                Some(refused) => race.after(key, refused),
            };
            proposals[slot as usize] = place;
            // Dues sum to the count, so a node with room remains on the list of every slot that is not held.
            let Some(place) = place else { break };
            let node = race.node(place) as usize;
            held[node].push((place.cost, slot));
            if held[node].len() <= due[node] as usize {
                break;
            }
            let Some((_, refused)) = held[node].pop() else {
                break;
            };
            slot = refused;
        }
    }
    proposals
        .into_iter()
        .flatten()
        .map(|place| race.node(place))
        .collect()
}
