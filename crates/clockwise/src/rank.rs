//! Permutation rank: a random order of n slots for each key, in which a slot more changes nothing else.
//!
//! What it is: the numbers below a power of four in an order that a small Feistel network makes from the key, laid
//! over each other in layers, read with the numbers of n and above left out. What it promises: each slot once; the
//! order for n is the order for n + 1 without slot n; so the first k slots change by at most one when a slot comes
//! or goes. What it does not: weights other than whole numbers of slots. Cost: no memory, a few mixes a step. Source:
//! the idea of consistent choose-k (2026); constants and rounds are ours, the rounds being the fewest that passed a
//! test of uniform pairs.

use crate::hash::{GOLDEN_GAMMA, mix};

/// The order of slots for a key: yields each slot below `slots` once.
///
/// ```
/// use clockwise::PermutationRank;
/// let order: Vec<u32> = PermutationRank::new(0xbdd7_3226_2feb_6e95, 10).collect();
/// assert_eq!(order, [1, 3, 2, 4, 0, 7, 9, 8, 5, 6]);
/// ```
#[derive(Clone, Debug)]
pub struct PermutationRank {
    key: u64,
    slots: u32,
    top: u32,
    /// How far each layer is; the top layer has 4^16 numbers for 2^32 slots.
    counters: [u64; LAYERS],
}

impl PermutationRank {
    /// The order of `slots` slots for a key hash.
    #[must_use]
    pub const fn new(key: u64, slots: u32) -> Self {
        let top = if slots <= 1 {
            0
        } else {
            (slots - 1).ilog2() / 2
        };
        Self {
            key,
            slots,
            top,
            counters: [0; LAYERS],
        }
    }
}

impl Iterator for PermutationRank {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut layer = self.top;
        loop {
            let counter = &mut self.counters[layer as usize];
            if layer == self.top && *counter == 1 << (2 * (layer + 1)) {
                return None;
            }
            let value = permute(self.key, layer, *counter);
            *counter += 1;
            // A number that the layer below has too stands for the next one of that layer.
            if value >> (2 * layer) == 0 && layer > 0 {
                layer -= 1;
            } else if value < u64::from(self.slots) {
                return Some(value as u32);
            } else {
                // Only the top layer overshoots, so it is where the search goes on.
                layer = self.top;
            }
        }
    }
}

/// A permutation of the numbers below 4^(layer + 1), drawn by the key.
fn permute(key: u64, layer: u32, number: u64) -> u64 {
    let half = layer + 1;
    let mask = (1 << half) - 1;
    let rounds = match half {
        0..=2 => 12,
        3 => 10,
        4 => 6,
        _ => 4,
    };
    let layer_key = mix(key.wrapping_add(u64::from(half).wrapping_mul(GOLDEN_GAMMA)));
    let (mut left, mut right) = (number >> half, number & mask);
    for round in 1..=rounds {
        let word = mix(layer_key ^ (round << 32 | right)) >> (u64::BITS - half);
        (left, right) = (right, left ^ word);
    }
    left << half | right
}

const LAYERS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn each_slot_comes_once_and_a_slot_more_changes_nothing_else() {
        for key in 0..300 {
            let mut before: Vec<u32> = Vec::new();
            for slots in 1..=300 {
                let mut order: Vec<u32> = PermutationRank::new(key, slots).collect();
                assert_eq!(order.len(), slots as usize);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(
                    sorted.iter().copied().eq(0..slots),
                    "key {key}, {slots} slots"
                );
                let all = order.clone();
                order.retain(|&slot| slot != slots - 1);
                assert_eq!(order, before, "key {key}, {slots} slots");
                before = all;
            }
        }
    }

    #[test]
    fn no_slots_and_very_many_are_fine() {
        assert_eq!(PermutationRank::new(1, 0).next(), None);
        assert!(
            PermutationRank::new(1, u32::MAX)
                .take(100)
                .all(|slot| slot < u32::MAX)
        );
    }
}
