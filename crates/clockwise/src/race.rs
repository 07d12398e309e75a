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
    /// Whether all have one weight, so that scores compare as costs do, the other way round.
    is_even: bool,
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

impl Place {
    /// A logarithm from which on a runner of this weight costs more; the greatest number where there is none so small.
    #[inline]
    fn most_log(&self, milli: u32) -> u64 {
        // The cost is below this number times 2^32.
        let above = (self.cost >> 32) as u64 + 1;
        above.saturating_mul(u64::from(milli))
    }
}

impl Race {
    /// A race between these runners; those without weight stay out.
    pub(crate) fn new(mut runners: Vec<Runner>) -> Self {
        runners.retain(|runner| runner.milli > 0);
        runners.sort_unstable_by_key(|runner| (runner.node_hash, runner.node));
        runners.shrink_to_fit();
        let is_even = runners
            .windows(2)
            .all(|pair| pair[0].milli == pair[1].milli);
        Self { runners, is_even }
    }

    /// The first place for `k`; `None` without runners.
    #[inline]
    pub(crate) fn first(&self, k: u64) -> Option<Place> {
        if self.is_even
            && let Some(place) = self.greatest_score(k)
        {
            return Some(place);
        }
        self.least(k, None)
    }

    /// The first place for `k` by scores alone; `None` without runners, or when another score is so near the greatest
    /// that both may cost the same.
    #[inline]
    fn greatest_score(&self, k: u64) -> Option<Place> {
        let (mut greatest, mut second, mut winner) = (0, 0, None);
        for (index, runner) in (0..).zip(&self.runners) {
            let score = mix(k ^ runner.node_hash);
            second = second.max(score.min(greatest));
            if score >= greatest {
                (greatest, winner) = (score, Some((index, runner.milli)));
            }
        }
        let (runner, milli) = winner.filter(|_| greatest - second >= NEAR)?;
        Some(Place {
            cost: cost(greatest, milli),
            runner,
        })
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
                && least_log(score) >= best.most_log(runner.milli)
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

/// Scores that lie further apart than this differ in the bits that [`neg_log2`] reads, and so in their logarithms and,
/// for weights below 2^32, in their costs.
const NEAR: u64 = 1 << 23;

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
    fn scores_that_are_not_near_cost_differently() {
        let mut rng = Rng::new(23);
        for round in 0..400_000 {
            let score = rng.next_u64() >> rng.uniform(42);
            let more = NEAR << rng.uniform(20) | u64::from(rng.uniform(1 << 23)) & !(NEAR - 1);
            let Some(greater) = score.checked_add([NEAR, more][round % 2]) else {
                continue;
            };
            let milli = [1, 1000, 1_000_000_000][round % 3];
            assert!(
                cost(greater, milli) < cost(score, milli),
                "{score} and {greater} at {milli}"
            );
        }
    }

    #[test]
    fn short_cuts_name_who_costs_least() {
        let mut rng = Rng::new(1998);
        for round in 0..3000 {
            // Few different weights, so that many races are even; equal hashes, so that some tie.
            let count = rng.uniform(20);
            let runners: Vec<Runner> = (0..count)
                .map(|node| Runner {
                    node_hash: rng.next_u64() >> [0, 62][round % 2],
                    milli: [1000, 1, 999, 1_000_000_000][rng.uniform(4) as usize * (round % 3) / 2],
                    node,
                })
                .collect();
            let race = Race::new(runners);
            for _ in 0..100 {
                let k = rng.next_u64();
                let places = (0..).zip(&race.runners).map(|(runner, entry)| Place {
                    cost: cost(mix(k ^ entry.node_hash), entry.milli),
                    runner,
                });
                let mut sorted: Vec<Place> = places.collect();
                sorted.sort();
                let mut walk = Vec::new();
                let mut place = race.first(k);
                while let Some(here) = place {
                    walk.push(here);
                    place = race.after(k, here);
                }
                assert_eq!(walk, sorted);
            }
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
