//! Jump consistent hash over buckets numbered from 0.
//!
//! What it is: a loop that finds the bucket of a key without any table. What it promises: from n to n + 1 buckets a
//! key stays or goes to bucket n; even shares; fewer than ln(n) + 1 rounds on average. What it does not: lose a
//! middle bucket. Removing one renumbers those behind it, so that most of their keys move; [`RenumberingCost`] says
//! how many. Fit for numbered shards that have replicas and do not vanish; not for caches whose machines die. Cost:
//! no memory, one floating division a round. Source: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash
//! Algorithm", 2014; IEEE doubles as printed there.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::NodeId;

/// The bucket of `key` among `buckets`, counted from 0.
///
/// ```
/// use std::num::NonZeroU32;
/// let buckets = NonZeroU32::new(1024).unwrap();
/// assert_eq!(clockwise::jump(256, buckets), 520);
/// ```
#[must_use]
pub fn jump(mut key: u64, buckets: NonZeroU32) -> u32 {
    let buckets = i64::from(buckets.get());
    let mut bucket = 0;
    let mut next = 0;
    while next < buckets {
        bucket = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let divisor = ((key >> 33) + 1) as f64;
        next = ((bucket + 1) as f64 * (f64::from(1_u32 << 31) / divisor)) as i64;
    }
    bucket as u32
}

/// What it costs to take a node's buckets out of the middle: the buckets behind them are renumbered.
#[derive(Clone, Debug, PartialEq)]
pub struct RenumberingCost {
    /// The node that was to go.
    pub node: NodeId,
    /// Its first bucket, counted from 0.
    pub bucket: u32,
    /// Buckets before the removal.
    pub buckets: u32,
    /// Expected share of all keys that would move, 0 to 1.
    pub moved_share: f64,
    /// The share that the node holds, which is what would move if it were last.
    pub owned_share: f64,
}

impl RenumberingCost {
    /// The cost of taking the node at `place` out of nodes that hold so many buckets each.
    pub(crate) fn new(holds: impl Iterator<Item = u32>, place: usize, node: NodeId) -> Self {
        let nodes: Vec<u32> = (0..)
            .zip(holds)
            .flat_map(|(node, held)| core::iter::repeat_n(node, held as usize))
            .collect();
        let gone = place as u32;
        let rest: Vec<u32> = nodes.iter().copied().filter(|&node| node != gone).collect();
        let owned = (nodes.len() - rest.len()) as f64 / nodes.len().max(1) as f64;
        Self {
            node,
            bucket: nodes.partition_point(|&other| other < gone) as u32,
            buckets: nodes.len() as u32,
            moved_share: 1.0 - stay_share(&nodes, &rest),
            owned_share: owned,
        }
    }
}

/// Expected share of keys that keep their node when one list of buckets becomes another, each bucket with its node,
/// under jump, jumpback, probed or rank: 0 to 1.
///
/// With the longer list a key is in any of its buckets evenly. If that bucket is in the shorter list too, it is where
/// the key was; else the key was in any bucket of the shorter one evenly.
#[must_use]
pub fn stay_share<N: Copy + Ord>(before: &[N], after: &[N]) -> f64 {
    let (long, short) = if before.len() >= after.len() {
        (before, after)
    } else {
        (after, before)
    };
    if short.is_empty() {
        return if long.is_empty() { 1.0 } else { 0.0 };
    }
    let mut held = BTreeMap::new();
    for &node in short {
        *held.entry(node).or_insert(0_u32) += 1;
    }
    let same = long.iter().zip(short).filter(|(a, b)| a == b).count() as f64;
    let drawn: u64 = long[short.len()..]
        .iter()
        .filter_map(|node| held.get(node))
        .map(|&n| u64::from(n))
        .sum();
    (same + drawn as f64 / short.len() as f64) / long.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_are_met() {
        for (key, buckets, bucket) in [
            (1, 1, 0),
            (42, 57, 43),
            (3_735_883_980, 1, 0),
            (3_735_883_980, 666, 361),
            (256, 1024, 520),
            (16_045_690_984_833_335_023, 255, 237),
            (10_863_919_174_838_991, 11, 6),
            (2_016_238_256_797_177_309, 11, 3),
            (1_673_758_223_894_951_030, 11, 5),
            (0, 10, 0),
            (u64::MAX, 10, 9),
        ] {
            assert_eq!(
                jump(key, NonZeroU32::new(buckets).unwrap()),
                bucket,
                "jump({key}, {buckets})"
            );
        }
    }

    #[test]
    fn a_changed_answer_is_always_the_newest_bucket() {
        let mut rng = crate::hash::Rng::new(5);
        for _ in 0..200 {
            let key = rng.next_u64();
            let mut before = 0;
            for buckets in 2..2000 {
                let now = jump(key, NonZeroU32::new(buckets).unwrap());
                assert!(
                    now == before || now == buckets - 1,
                    "key {key} from {} to {buckets}",
                    buckets - 1
                );
                before = now;
            }
        }
    }
}
