//! What is at stake under each token: a list of tokens that stand for all keys, each with what it carries, for
//! questions that are asked after counting.
//!
//! Where keys are counted by range, a token stands for its range and the list is exact. Elsewhere it is a sample of at
//! most 2^17 keys in which a key with many requests is sure to be: each key gets the priority requests / u, with u in
//! 0 to 1 made from its token, the highest stay, and the others weigh as much as their chance to stay is small. Sums
//! over any part of the keys are unbiased, with a relative error of about 1 / sqrt(entries in that part). Source:
//! priority sampling, Duffield, Lund and Thorup, 2007.

use clockwise::Token;
use clockwise::hash::splitmix64;

use super::Amount;

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

/// Keys one by one, of which the sample is drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Draw {
    entries: Vec<Entry>,
    /// Every key with a higher priority is among the entries.
    floor: f64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    priority: f64,
    old: Token,
    new: Token,
    amount: Amount,
}

impl Draw {
    #[inline]
    pub(super) fn add(&mut self, old: Token, new: Token, amount: Amount) {
        let unit = (splitmix64(new.0) >> 11) as f64 + 0.5;
        let priority = weight(amount) / (unit / (1_u64 << 53) as f64);
        if priority > self.floor {
            self.entries.push(Entry {
                priority,
                old,
                new,
                amount,
            });
            if self.entries.len() >= 2 * KEPT {
                self.shrink();
            }
        }
    }

    /// The sample, each entry with its weight.
    pub(super) fn finish(mut self) -> Stakes {
        if self.entries.len() > KEPT {
            self.shrink();
        }
        let stake = |entry: &Entry| {
            let chance = weight(entry.amount) / self.floor.max(weight(entry.amount));
            Stake::weighed(entry.old, entry.new, entry.amount, 1.0 / chance)
        };
        Stakes {
            list: self.entries.iter().map(stake).collect(),
            exact: self.floor == 0.0,
        }
    }

    fn shrink(&mut self) {
        let by_priority = |a: &Entry, b: &Entry| b.priority.total_cmp(&a.priority);
        let (_, next, _) = self.entries.select_nth_unstable_by(KEPT, by_priority);
        self.floor = next.priority;
        // Entries of equal priority are the same key again: they stay or go together.
        let floor = self.floor;
        self.entries.truncate(KEPT);
        self.entries.retain(|entry| entry.priority > floor);
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

    fn drawn(keys: impl Iterator<Item = (u64, u64)>) -> Stakes {
        let mut draw = Draw::default();
        for (token, requests) in keys {
            let amount = Amount {
                keys: 1,
                requests,
                bytes: 10,
            };
            draw.add(Token(token), Token(token), amount);
        }
        draw.finish()
    }

    #[test]
    fn few_keys_stand_for_themselves() {
        let stakes = drawn((0..1000).map(|key| (key, key)));
        assert!(stakes.exact);
        assert_eq!(stakes.list.len(), 1000);
        assert!(stakes.list.iter().all(|stake| stake.keys == 1.0));
        assert_eq!(
            stakes.list.iter().map(|stake| stake.requests).sum::<f64>(),
            499_500.0
        );
    }

    #[test]
    fn of_many_keys_every_hot_one_stays_and_sums_come_out_within_five_standard_errors() {
        // One key in a thousand has half of the requests.
        let requests = |key: u64| if key.is_multiple_of(1000) { 1000 } else { 1 };
        let stakes = drawn((0..2_000_000).map(|key| (key, requests(key))));
        assert!(!stakes.exact);
        assert!(stakes.list.len() <= KEPT);
        let hot = stakes
            .list
            .iter()
            .filter(|stake| stake.old.0.is_multiple_of(1000));
        assert_eq!(hot.clone().count(), 2000);
        assert!(hot.clone().all(|stake| stake.requests == 1000.0));
        let error = 5.0 / (KEPT as f64).sqrt();
        for (name, sum, expected) in [
            ("keys", stakes.list.iter().map(|s| s.keys).sum::<f64>(), 2e6),
            (
                "requests",
                stakes.list.iter().map(|s| s.requests).sum(),
                1_998_000.0 + 2e6,
            ),
            ("bytes", stakes.list.iter().map(|s| s.bytes).sum(), 2e7),
        ] {
            assert!(
                (sum / expected - 1.0).abs() < error,
                "{name}: {sum}, not {expected}"
            );
        }
        // A part of the keys, too: those with odd numbers.
        let odd: f64 = stakes
            .list
            .iter()
            .filter(|s| s.old.0 % 2 == 1)
            .map(|s| s.keys)
            .sum();
        assert!((odd / 1e6 - 1.0).abs() < error * 2.0_f64.sqrt(), "{odd}");
    }
}
