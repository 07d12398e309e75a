//! The exponential race: an order of nodes for a key in which weight decides how often a node comes first.
//!
//! What it is: for a number k every node gets the cost floor((L2(mix(k ^ node_hash)) << 32) / weight) and the least
//! cost wins; the order by cost is the ranking. What it promises: the ranking depends on the set of members only;
//! leaving out a node leaves the others' order as it was; a changed weight moves keys to or from that node alone.
//! Equal costs go to the smaller node hash, then the smaller id. What it does not: cap anyone's load. Cost: O(nodes)
//! a step, no allocation. Source: weighted rendezvous hashing (Thaler and Ravishankar, 1998; weights as the minimum
//! of exponential variables), with the integer logarithm of [`crate::neg_log2`].

use alloc::vec::Vec;

use crate::hash::mix;
use crate::neg_log2;

/// The runners: members with weight, in the order that breaks ties.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    runners: Vec<Runner>,
}

#[derive(Clone, Debug)]
pub(crate) struct Runner {
    pub(crate) node_hash: u64,
    /// Thousandths, never 0.
    pub(crate) milli: u32,
    /// Index of the member, ascending by id.
    pub(crate) node: u32,
}

/// A runner's place for one key: places compare as they rank.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) cost: u128,
    runner: u32,
}

impl Race {
    /// A race between these runners; those without weight stay out.
    pub(crate) fn new(mut runners: Vec<Runner>) -> Self {
        runners.retain(|runner| runner.milli > 0);
        runners.sort_unstable_by_key(|runner| (runner.node_hash, runner.node));
        runners.shrink_to_fit();
        Self { runners }
    }

    /// The first place for `k`; `None` without runners.
    #[inline]
    pub(crate) fn first(&self, k: u64) -> Option<Place> {
        self.least(k, None)
    }

    /// The place right behind `place` for `k`.
    pub(crate) fn after(&self, k: u64, place: Place) -> Option<Place> {
        self.least(k, Some(place))
    }

    /// The member that holds a place.
    #[inline]
    pub(crate) fn node(&self, place: Place) -> u32 {
        self.runners[place.runner as usize].node
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.runners.capacity() * size_of::<Runner>()
    }

    /// The least place for `k` that is greater than `floor`.
    ///
    /// Most runners are passed over by a bound that needs no logarithm.
    #[inline]
    fn least(&self, k: u64, floor: Option<Place>) -> Option<Place> {
        let mut best: Option<Place> = None;
        for (index, runner) in (0..).zip(&self.runners) {
            let score = mix(k ^ runner.node_hash);
            if let Some(best) = best
                && u128::from(least_log(score)) << 32 >= (best.cost + 1) * u128::from(runner.milli)
            {
                continue;
            }
            let place = Place {
                cost: cost(score, runner.milli),
                runner: index,
            };
            if floor.is_none_or(|floor| place > floor) && best.is_none_or(|best| place < best) {
                best = Some(place);
            }
        }
        best
    }
}

/// A number that L2(score) is never below: -log2(u) is at least (1 - u) / ln 2, and 23/16 is just under 1 / ln 2. The
/// last term covers the error of the logarithm.
#[inline]
const fn least_log(score: u64) -> u64 {
    let short = !score;
    let bound = (short >> 8) + (short >> 10) + (short >> 11) + (short >> 12);
    bound.saturating_sub(1 << 35)
}

/// floor((L2(score) << 32) / milli) by two divisions of 64 bits: the quotient, then the remainder with the low half.
#[inline]
fn cost(score: u64, milli: u32) -> u128 {
    let (log, milli) = (neg_log2(score), u64::from(milli));
    // milli is at most 10^9 < 2^30, so the remainder shifted by 32 fits 64 bits.
    let low = ((log % milli) << 32) / milli;
    (u128::from(log / milli) << 32) + u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Rng;

    #[test]
    fn the_two_step_division_is_the_whole_division() {
        let mut rng = Rng::new(3);
        for _ in 0..100_000 {
            let (score, milli) = (
                rng.next_u64() >> rng.uniform(64),
                rng.uniform(1_000_000_000) + 1,
            );
            assert_eq!(
                cost(score, milli),
                (u128::from(neg_log2(score)) << 32) / u128::from(milli)
            );
        }
    }

    #[test]
    fn the_bound_is_never_above_the_logarithm() {
        let mut rng = Rng::new(8);
        let near_the_ends = (0..200_000_u64).flat_map(|i| [i, u64::MAX - i]);
        let powers = (0..64).flat_map(|bit| [1_u64 << bit, !(1_u64 << bit), (1 << bit) - 1]);
        for score in near_the_ends
            .chain(powers)
            .chain((0..400_000).map(|_| rng.next_u64()))
        {
            assert!(least_log(score) <= neg_log2(score), "{score}");
        }
    }

    #[test]
    fn equal_costs_go_to_the_smaller_node_hash_and_then_the_smaller_id() {
        let runner = |node_hash, node| Runner {
            node_hash,
            milli: 1000,
            node,
        };
        let race = Race::new(alloc::vec![runner(9, 0), runner(5, 2), runner(5, 1)]);
        let place = |runner| Place { cost: 7, runner };
        assert!(place(0) < place(1) && place(1) < place(2));
        assert_eq!([0, 1, 2].map(|runner| race.node(place(runner))), [1, 2, 0]);
    }
}
