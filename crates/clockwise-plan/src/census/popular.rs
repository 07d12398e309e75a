//! Who is asked for most: the hottest keys, and how requests spread over all of them.
//!
//! Keeps the ten keys with most requests and, for powers of two, how many keys have about so many requests and how many
//! of those move. Exact for keys that come once each. Memory: ten keys and 64 buckets. Cost: one comparison and two
//! additions a key.

use std::cmp::Reverse;

/// The popularity of counted keys.
#[derive(Clone, Debug)]
pub(crate) struct Popular {
    /// Most requests first.
    hottest: Vec<HotKey>,
    buckets: [Bucket; 64],
}

/// A key with its requests and the node that will own it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HotKey {
    pub(crate) requests: u64,
    pub(crate) key: Vec<u8>,
    /// Index along the nodes of the change.
    pub(crate) node: u32,
}

/// Keys whose number of requests has the same highest bit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Bucket {
    pub(crate) keys: u64,
    pub(crate) requests: u64,
    pub(crate) moved_keys: u64,
    pub(crate) moved_requests: u64,
}

impl Default for Popular {
    fn default() -> Self {
        Self {
            hottest: Vec::new(),
            buckets: [Bucket::default(); 64],
        }
    }
}

impl Popular {
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8], requests: u64, node: u32, moved: bool) {
        let Some(bit) = requests.checked_ilog2() else {
            return;
        };
        let bucket = &mut self.buckets[bit as usize];
        bucket.keys += 1;
        bucket.requests = bucket.requests.saturating_add(requests);
        if moved {
            bucket.moved_keys += 1;
            bucket.moved_requests = bucket.moved_requests.saturating_add(requests);
        }
        if self.is_among_the_hottest(requests) {
            let key = key.to_vec();
            self.insert(HotKey {
                requests,
                key,
                node,
            });
        }
    }

    fn is_among_the_hottest(&self, requests: u64) -> bool {
        let least = self.hottest.last();
        self.hottest.len() < KEPT || least.is_some_and(|least| least.requests < requests)
    }

    fn insert(&mut self, hot: HotKey) {
        let place = self
            .hottest
            .partition_point(|other| Reverse(other.requests) <= Reverse(hot.requests));
        self.hottest.insert(place, hot);
        self.hottest.truncate(KEPT);
    }

    /// Puts names in the place of the keys that are kept.
    pub(crate) fn rename(&mut self, name: &impl Fn(&[u8]) -> Vec<u8>) {
        for hot in &mut self.hottest {
            hot.key = name(&hot.key);
        }
    }

    /// The hottest keys, most requests first; the one seen first where they are equal.
    pub(crate) fn hottest(&self) -> &[HotKey] {
        &self.hottest
    }

    /// Buckets with keys, hottest last.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.buckets
            .iter()
            .copied()
            .filter(|bucket| bucket.keys > 0)
    }
}

/// Hottest keys kept.
const KEPT: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_hottest_keys_stay_in_order_and_the_first_wins_a_tie() {
        let mut popular = Popular::default();
        let mut all: Vec<(u64, u64)> = (0..200).map(|i| (i * 7919 % 97, i)).collect();
        for (requests, number) in &all {
            popular.add(&number.to_le_bytes(), *requests, 0, number % 3 == 0);
        }
        all.sort_by_key(|&(requests, number)| (Reverse(requests), number));
        let kept: Vec<(u64, Vec<u8>)> = popular
            .hottest()
            .iter()
            .map(|hot| (hot.requests, hot.key.clone()))
            .collect();
        let wanted: Vec<(u64, Vec<u8>)> = all
            .iter()
            .take(10)
            .map(|(requests, number)| (*requests, number.to_le_bytes().to_vec()))
            .collect();
        assert_eq!(kept, wanted);
        let sums = popular.buckets().fold((0, 0, 0), |sum, b| {
            (sum.0 + b.keys, sum.1 + b.requests, sum.2 + b.moved_keys)
        });
        let asked = all.iter().filter(|(requests, _)| *requests > 0);
        let moved = asked.clone().filter(|(_, number)| number % 3 == 0).count() as u64;
        assert_eq!(
            sums,
            (
                asked.clone().count() as u64,
                all.iter().map(|(r, _)| r).sum(),
                moved
            )
        );
    }
}
