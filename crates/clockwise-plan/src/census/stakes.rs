//! What is at stake under each token: a list of tokens that stand for all keys, each with what it carries, for
//! questions that are asked after counting.
//!
//! Where keys are counted by range, a token stands for its range and the list is exact. Elsewhere keys are added up by
//! token as long as there are at most 2^18 of them. Beyond, a token is taken in with a chance in proportion to the
//! requests that come with it, is counted in full from then on, and stays by its priority, its requests over a random
//! number of 0 to 1: hot keys are sure to stay, however often they come, and the others weigh as much as their chance is
//! small. In the end the weights of the others are scaled so that each owner has what was counted for it. A part of an
//! owner's keys has a relative error of about 1 / sqrt(entries in that part); a hot key may lack a 2^17th of all requests.
//! Sources: sample and hold, Estan and Varghese, 2002; priority sampling, Duffield, Lund and Thorup, 2007.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use clockwise::Token;
use clockwise::hash::splitmix64;

use super::Amount;
use super::hashed::Hashed;

/// Tokens that stand for all keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stakes {
    pub(crate) list: Vec<Stake>,
    /// Whether they stand for every key that was counted, each exactly.
    pub(crate) exact: bool,
}

/// A token, by the hash of either side, with what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stake {
    pub(crate) old: Token,
    pub(crate) new: Token,
    pub(crate) keys: f64,
    pub(crate) requests: f64,
    pub(crate) bytes: f64,
}

impl Stake {
    pub(super) fn of_range(token: Token, amount: Amount) -> Self {
        Self::weighed(token, token, amount, 1.0)
    }

    fn weighed(old: Token, new: Token, amount: Amount, weight: f64) -> Self {
        Self {
            old,
            new,
            keys: amount.keys as f64 * weight,
            requests: amount.requests as f64 * weight,
            bytes: amount.bytes as f64 * weight,
        }
    }
}

/// Tokens as they come, of which the sample is drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Draw {
    /// By the tokens of both sides.
    held: HashMap<(u64, u64), Held, BuildHasherDefault<Hashed>>,
    /// Every token with a higher priority is held.
    floor: f64,
    arrivals: u64,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    amount: Amount,
    /// A random number of 0 to 1.
    unit: f64,
}

impl Held {
    fn priority(&self) -> f64 {
        weight(self.amount) / self.unit
    }
}

impl Draw {
    #[inline]
    pub(super) fn add(&mut self, old: Token, new: Token, amount: Amount) {
        self.arrivals += 1;
        if let Some(held) = self.held.get_mut(&(old.0, new.0)) {
            held.amount += amount;
            return;
        }
        // A fixed sequence: equal input gives equal samples.
        let unit = ((splitmix64(self.arrivals) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let held = Held { amount, unit };
        if held.priority() > self.floor {
            self.held.insert((old.0, new.0), held);
            if self.held.len() >= 2 * KEPT {
                self.shrink();
            }
        }
    }

    /// The sample, each entry with its weight. `owners` tells the place of a token's owner in `counted`, which has what
    /// each owner has in all.
    pub(super) fn finish(mut self, counted: &[Amount], owner: impl Fn(Token) -> usize) -> Stakes {
        if self.floor > 0.0 && self.held.len() > KEPT {
            self.shrink();
        }
        let floor = self.floor;
        let mut entries: Vec<_> = self.held.into_iter().collect();
        entries.sort_unstable_by_key(|&(tokens, _)| tokens);
        // The sure ones, and the others, of each owner.
        let mut sure = vec![[0.0; 3]; counted.len()];
        let mut others = sure.clone();
        let mut list: Vec<(Stake, usize, bool)> = Vec::with_capacity(entries.len());
        for ((old, new), held) in entries {
            let (old, new) = (Token(old), Token(new));
            let is_sure = weight(held.amount) >= floor;
            let stake = Stake::weighed(
                old,
                new,
                held.amount,
                floor.max(weight(held.amount)) / weight(held.amount),
            );
            let owner = owner(new);
            let sums = if is_sure { &mut sure } else { &mut others };
            for (sum, part) in sums[owner]
                .iter_mut()
                .zip([stake.keys, stake.requests, stake.bytes])
            {
                *sum += part;
            }
            list.push((stake, owner, is_sure));
        }
        let scaled = |(mut stake, owner, is_sure): (Stake, usize, bool)| {
            let all = [
                counted[owner].keys,
                counted[owner].requests,
                counted[owner].bytes,
            ];
            let parts = [&mut stake.keys, &mut stake.requests, &mut stake.bytes];
            for (kind, part) in parts.into_iter().enumerate() {
                let (all, sure, others) =
                    (all[kind] as f64, sure[owner][kind], others[owner][kind]);
                if others > 0.0 && all >= sure {
                    *part *= if is_sure { 1.0 } else { (all - sure) / others };
                } else if sure + others > 0.0 {
                    *part *= all / (sure + others);
                }
            }
            stake
        };
        Stakes {
            list: list.into_iter().map(scaled).collect(),
            exact: floor == 0.0,
        }
    }

    fn shrink(&mut self) {
        let mut priorities: Vec<f64> = self.held.values().map(Held::priority).collect();
        let (_, &mut floor, _) = priorities.select_nth_unstable_by(KEPT, |a, b| b.total_cmp(a));
        self.floor = self.floor.max(floor);
        let floor = self.floor;
        self.held.retain(|_, held| held.priority() > floor);
    }
}

/// A key without requests weighs as one that is asked for once.
fn weight(amount: Amount) -> f64 {
    amount.requests.max(amount.keys) as f64
}

/// Keys that a sample holds.
const KEPT: usize = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys with requests, all of one owner.
    fn drawn(keys: impl Iterator<Item = (u64, u64)>) -> Stakes {
        let mut draw = Draw::default();
        let mut all = Amount::default();
        for (token, requests) in keys {
            let amount = Amount {
                keys: 1,
                requests,
                bytes: 10,
            };
            all += amount;
            draw.add(Token(token), Token(token), amount);
        }
        draw.finish(&[all], |_| 0)
    }

    fn sum(stakes: &Stakes, of: fn(&Stake) -> f64, which: impl Fn(u64) -> bool) -> f64 {
        stakes
            .list
            .iter()
            .filter(|stake| which(stake.old.0))
            .map(of)
            .sum()
    }

    #[test]
    fn few_keys_stand_for_themselves_and_repeats_add_up() {
        let stakes = drawn((0..1000).chain(0..500).map(|key| (key, key)));
        assert!(stakes.exact);
        assert_eq!(stakes.list.len(), 1000);
        assert_eq!(sum(&stakes, |stake| stake.keys, |_| true), 1500.0);
        assert_eq!(sum(&stakes, |stake| stake.requests, |key| key == 7), 14.0);
    }

    #[test]
    fn of_many_keys_every_hot_one_stays_and_sums_come_out_within_five_standard_errors() {
        // One key in a thousand has half of the requests.
        let requests = |key: u64| if key.is_multiple_of(1000) { 1000 } else { 1 };
        let stakes = drawn((0..2_000_000).map(|key| (key, requests(key))));
        assert!(!stakes.exact && stakes.list.len() <= KEPT);
        let hot = stakes
            .list
            .iter()
            .filter(|stake| stake.old.0.is_multiple_of(1000));
        assert_eq!(hot.clone().count(), 2000);
        assert!(hot.clone().all(|stake| stake.requests == 1000.0));
        // Each owner has what was counted for it.
        assert!((sum(&stakes, |stake| stake.keys, |_| true) / 2e6 - 1.0).abs() < 1e-9);
        assert!((sum(&stakes, |stake| stake.bytes, |_| true) / 2e7 - 1.0).abs() < 1e-9);
        // A part of the keys: those with odd numbers, about half of the entries.
        let error = 5.0 / (KEPT as f64 / 2.0).sqrt();
        let odd = sum(&stakes, |stake| stake.keys, |key| key % 2 == 1);
        assert!((odd / 1e6 - 1.0).abs() < error, "{odd}");
    }

    #[test]
    fn a_key_on_every_other_line_has_half_of_all_wherever_it_begins() {
        for begins in [0, 500_000_u64] {
            let keys = (0..2_000_000_u64).map(|line| {
                let hot = line >= begins && line.is_multiple_of(2);
                (if hot { u64::MAX } else { line }, 1)
            });
            let stakes = drawn(keys);
            let expected = (2_000_000 - begins) as f64 / 2.0;
            let hot = sum(&stakes, |stake| stake.keys, |key| key == u64::MAX);
            assert!(
                (hot / expected - 1.0).abs() < 0.001,
                "{hot}, not {expected}"
            );
        }
    }
}
