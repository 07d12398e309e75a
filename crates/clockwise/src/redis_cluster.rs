//! The slots of Redis Cluster and the first table that `redis-cli --cluster create` deals out.
//!
//! What it is: slot = CRC-16 of the key's hash tag mod 16384, and contiguous slot ranges for nodes in listing order.
//! What it promises: the slot that a real Redis answers for any bytes; the ranges that redis-cli 7.0 creates for
//! masters without replicas. What it does not: know a running cluster's table (its operators move slots), nor name a
//! next node: a lost master's slots wait for its own replica. Cost: one CRC and one load. Source: the Redis Cluster
//! specification; `redis-cli.c` of Redis 7.0 for the single-precision range borders.

use alloc::vec::Vec;

use crate::hash::crc16;
use crate::{KeyRule, Slot};

/// Slots of every Redis Cluster.
pub(crate) const SLOTS: u32 = 16384;

/// The slot of a key as it was sent: its hash tag is found here.
///
/// ```
/// assert_eq!(clockwise::redis_slot(b"{user1000}.following").0, 3443);
/// ```
#[must_use]
pub fn redis_slot(key: &[u8]) -> Slot {
    slot_of_crc(u64::from(crc16(KeyRule::RedisTag.key(key))))
}

/// The slot of a CRC-16.
pub(crate) const fn slot_of_crc(crc: u64) -> Slot {
    Slot(crc as u32 % SLOTS)
}

/// Owner of each slot: `nodes` take contiguous ranges in the order given.
pub(crate) fn created_ranges(nodes: &[u32]) -> Vec<u32> {
    let mut table = Vec::with_capacity(SLOTS as usize);
    let per_node = SLOTS as f32 / nodes.len() as f32;
    let mut cursor = 0.0_f32;
    for (place, &node) in nodes.iter().enumerate() {
        let last = if place + 1 == nodes.len() {
            SLOTS - 1
        } else {
            round_half_up(cursor + per_node - 1.0)
        };
        while table.len() <= last.min(SLOTS - 1) as usize {
            table.push(node);
        }
        cursor += per_node;
    }
    table
}

/// `lround` for a value that is not negative.
fn round_half_up(value: f32) -> u32 {
    (f64::from(value) + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_masters_get_the_ranges_that_redis_cli_prints() {
        let table = created_ranges(&[2, 0, 1]);
        let starts: Vec<(usize, u32)> = (0..table.len())
            .filter(|&s| s == 0 || table[s] != table[s - 1])
            .map(|s| (s, table[s]))
            .collect();
        assert_eq!(
            (table.len(), starts),
            (16384, alloc::vec![(0, 2), (5461, 0), (10923, 1)])
        );
    }

    #[test]
    fn every_slot_is_dealt_out_for_any_number_of_masters() {
        for masters in 1..=1000_u32 {
            let table = created_ranges(&(0..masters).collect::<Vec<_>>());
            assert_eq!(table.len(), 16384, "{masters}");
            assert!(table.is_sorted());
            let mut counts = alloc::vec![0_u32; masters as usize];
            for &node in &table {
                counts[node as usize] += 1;
            }
            let even = SLOTS / masters;
            assert!(
                counts.iter().all(|&count| count.abs_diff(even) <= 1),
                "{masters}: {counts:?}"
            );
        }
    }
}
