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

use crate::{Algorithm, NodeId};

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
    /// The cost of taking the node at `place` out of nodes that hold so many buckets each, `true` for open ones.
    pub(crate) fn new(
        algorithm: Algorithm,
        holds: impl Iterator<Item = (u32, bool)>,
        place: usize,
        node: NodeId,
    ) -> Self {
        let buckets: Vec<(u32, bool)> = (0..)
            .zip(holds)
            .flat_map(|(node, (held, open))| core::iter::repeat_n((node, open), held as usize))
            .collect();
        let gone = place as u32;
        let open = |rest: &dyn Fn(u32) -> bool| -> Vec<Option<u32>> {
            let kept = buckets.iter().filter(|(node, _)| rest(*node));
            kept.map(|&(node, open)| open.then_some(node)).collect()
        };
        let (before, after) = (open(&|_| true), open(&|node| node != gone));
        let owned = before.iter().filter(|owner| **owner == Some(gone)).count();
        let takers = before.iter().flatten().count().max(1);
        Self {
            node,
            bucket: buckets.partition_point(|(other, _)| *other < gone) as u32,
            buckets: buckets.len() as u32,
            moved_share: 1.0 - stay_share(algorithm, &before, &after),
            owned_share: owned as f64 / takers as f64,
        }
    }
}

/// Expected share of keys that keep their node when one list of buckets becomes another under jump, jumpback, probed
/// or rank, 0 to 1; each bucket with its node, `None` for a closed one.
///
/// Every key has its own order of the buckets of the longer list, and the shorter list is that order without the
/// buckets it lacks; the first open bucket owns. If the first bucket that is open on either side is open on both, the
/// key stays when its node is the same; else the other side goes on to any of its open buckets, evenly. Probed differs
/// in one case: where the longer list's bucket is closed and the shorter list lacks it, the same probe names any bucket
/// of the shorter list, so that its answer and the longer list's next one have nothing to do with each other.
#[must_use]
pub fn stay_share<N: Copy + Ord>(
    algorithm: Algorithm,
    before: &[Option<N>],
    after: &[Option<N>],
) -> f64 {
    let open = |side: &[Option<N>]| side.iter().flatten().count() as f64;
    let (open_before, open_after) = (open(before), open(after));
    if open_before == 0.0 || open_after == 0.0 {
        return if open_before == open_after { 1.0 } else { 0.0 };
    }
    let held = |side: &[Option<N>]| {
        let mut held = BTreeMap::new();
        for &node in side.iter().flatten() {
            *held.entry(node).or_insert(0.0) += 1.0;
        }
        held
    };
    let (held_before, held_after) = (held(before), held(after));
    let chance_before = |node| {
        held_before
            .get(&node)
            .map_or(0.0, |held| held / open_before)
    };
    let chance_after = |node| held_after.get(&node).map_or(0.0, |held| held / open_after);
    let by_chance: f64 = held_before
        .keys()
        .map(|&node| chance_before(node) * chance_after(node))
        .sum();
    let shorter = before.len().min(after.len());
    let open_in_shorter = if before.len() < after.len() {
        open_before
    } else {
        open_after
    };
    let (mut stay, mut decided) = (0.0, 0.0);
    for bucket in 0..before.len().max(after.len()) {
        let at = |side: &[Option<N>]| side.get(bucket).copied().flatten();
        let (share, stays) = match (at(before), at(after)) {
            (None, None) if algorithm == Algorithm::Probed && bucket >= shorter => {
                (open_in_shorter / shorter as f64, by_chance)
            }
            (None, None) => continue,
            (Some(old), Some(new)) => (1.0, f64::from(u8::from(old == new))),
            (Some(old), None) => (1.0, chance_after(old)),
            (None, Some(new)) => (1.0, chance_before(new)),
        };
        stay += share * stays;
        decided += share;
    }
    stay / decided
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
