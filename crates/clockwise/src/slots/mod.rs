//! Fixed slots: the key space cut into equal parts, and a table that says whose each part is.
//!
//! What it is: slot = the top bits of the key hash; a table of 2^b entries names the owner. Two allocators fill the
//! table: [`stateless()`] from the members alone, [`least_movement()`] from a previous table. What it promises: every
//! node holds its share of the slots exactly (largest remainder); one array load a lookup; replicas in an order that
//! depends on the slot and the members only. What it does not: finer weights than one slot; a node whose share is
//! less than one slot is refused by name. Cost: 4 bytes a slot; lookups O(1), replicas O(nodes) each. Source: Redis
//! Cluster's and Dynamo's fixed partitions; deferred acceptance after Gale and Shapley, 1962.

mod least_movement;
mod stateless;

use alloc::vec;
use alloc::vec::Vec;

pub(crate) use least_movement::least_movement;
pub(crate) use stateless::stateless;

use crate::hash::splitmix64;
use crate::{Share, Slot, Token};

/// A filled table; empty when no member has weight.
#[derive(Clone, Debug)]
pub(crate) struct SlotTable {
    owners: Vec<u32>,
}

impl SlotTable {
    /// A table of these owners, one a slot.
    pub(crate) fn new(owners: Vec<u32>) -> Self {
        Self { owners }
    }

    #[inline]
    pub(crate) fn owner(&self, slot: Slot) -> Option<u32> {
        self.owners.get(slot.0 as usize).copied()
    }

    /// The owner of each slot in slot order.
    pub(crate) fn owners(&self) -> &[u32] {
        &self.owners
    }

    /// Slots of each of `nodes` members out of `count`.
    pub(crate) fn space_shares(&self, nodes: usize, count: u32) -> Vec<Share> {
        let mut shares = vec![
            Share {
                part: 0,
                whole: u128::from(count)
            };
            nodes
        ];
        for &owner in &self.owners {
            shares[owner as usize].part += 1;
        }
        shares
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.owners.capacity() * size_of::<u32>()
    }
}

/// The slot of a token: its top log2(`count`) bits. `count` is a power of two.
#[inline]
pub(crate) const fn slot_of_token(token: Token, count: u32) -> Slot {
    // A 128-bit product keeps a count of 1 legal, where a shift by 64 would not be.
    Slot(((token.0 as u128 * count as u128) >> 64) as u32)
}

/// The number that stands for a slot in the race between nodes.
#[inline]
pub(crate) const fn slot_key(slot: Slot) -> u64 {
    splitmix64(slot.0 as u64)
}

/// How many slots each member is due: floor(count x weight / all weights), the rest one each to the largest
/// remainders, ties to the smaller id. All zero when no member has weight.
///
/// # Errors
/// The index of the first member whose weight is above 0 and whose due is 0.
pub(crate) fn targets(milli: &[u32], count: u32) -> Result<Vec<u32>, usize> {
    let total: u64 = milli.iter().map(|&weight| u64::from(weight)).sum();
    if total == 0 {
        return Ok(vec![0; milli.len()]);
    }
    let parts = milli
        .iter()
        .map(|&weight| u128::from(count) * u128::from(weight));
    let (mut due, remainders): (Vec<u32>, Vec<u64>) = parts
        .map(|part| {
            (
                (part / u128::from(total)) as u32,
                (part % u128::from(total)) as u64,
            )
        })
        .unzip();
    let missing = count - due.iter().sum::<u32>();
    let mut order: Vec<usize> = (0..milli.len()).collect();
    order.sort_by_key(|&node| core::cmp::Reverse(remainders[node]));
    for &node in order.iter().take(missing as usize) {
        due[node] += 1;
    }
    match (0..milli.len()).find(|&node| milli[node] > 0 && due[node] == 0) {
        Some(node) => Err(node),
        None => Ok(due),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dues_are_exact_and_ties_go_to_the_smaller_id() {
        assert_eq!(targets(&[1000; 3], 64), Ok(vec![22, 21, 21]));
        assert_eq!(targets(&[1000, 2000, 1000], 64), Ok(vec![16, 32, 16]));
        assert_eq!(targets(&[0, 0], 64), Ok(vec![0, 0]));
        assert_eq!(targets(&[0, 5], 64), Ok(vec![0, 64]));
        assert_eq!(targets(&[], 64), Ok(vec![]));
    }

    #[test]
    fn a_weight_too_small_for_one_slot_is_named() {
        assert_eq!(targets(&[1_000_000, 1], 64), Err(1));
        assert_eq!(targets(&[1, 1, 1], 2), Err(2));
    }

    #[test]
    fn the_top_bits_are_the_slot_for_every_power_of_two() {
        for bits in 0..=24 {
            let count = 1 << bits;
            assert_eq!(slot_of_token(Token(u64::MAX), count), Slot(count - 1));
            assert_eq!(slot_of_token(Token(0), count), Slot(0));
            if bits > 0 {
                assert_eq!(
                    slot_of_token(Token(0xbdd7_3226_2feb_6e95), count).0,
                    (0xbdd7_3226_2feb_6e95_u64 >> (64 - bits)) as u32
                );
            }
        }
    }
}
