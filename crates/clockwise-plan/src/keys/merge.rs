//! Equal keys of a log or trace, added up.
//!
//! Promises: exact up to [`MAX_KEYS`] distinct keys and [`MAX_BYTES`] of their bytes. The first key past either bound
//! closes the map: keys that are in it are counted on, and requests to all others are counted as left out. The merged
//! keys come back in the order in which they were first seen, whatever the hash does.
//! Does not: choose which keys to keep by how hot they are; those that come first stay.
//! Cost: one hash and mostly one comparison a request. Memory: the keys' bytes in chunks of 4 MiB, and up to 48 bytes a
//! key: at most 176 MiB, see [`Merge::memory_bytes`].

use std::sync::atomic::{AtomicBool, Ordering};

use self::seeded::Seeded;
use super::Record;

/// How much of a log or trace the merged keys stand for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Merged {
    /// All of it.
    Exact {
        /// Requests to all keys.
        requests: u64,
    },
    /// There were more distinct keys than are kept.
    Sampled {
        /// Requests to the keys that were kept.
        requests: u64,
        /// Requests to keys that were not kept.
        left_out: u64,
    },
}

/// The map.
pub(super) struct Merge {
    seeded: Seeded,
    bounds: Bounds,
    entries: Vec<Entry>,
    /// Open addressing: 0 is free, else the number of an entry, plus 1. Its length is a power of two.
    slots: Vec<u32>,
    chunks: Vec<Vec<u8>>,
    full: bool,
    requests: u64,
    left_out: u64,
}

/// What the map may hold.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) keys: usize,
    pub(super) chunks: usize,
    pub(super) chunk_bytes: usize,
}

struct Entry {
    /// The upper half of the key's hash; most other keys in the slot differ in it.
    tag: u32,
    chunk: u32,
    start: u32,
    length: u32,
    requests: u64,
    bytes: Option<u64>,
    line: u64,
}

impl Merge {
    pub(super) fn new() -> Self {
        Self::within(Bounds {
            keys: MAX_KEYS,
            chunks: MAX_BYTES / CHUNK_BYTES,
            chunk_bytes: CHUNK_BYTES,
        })
    }

    pub(super) fn within(bounds: Bounds) -> Self {
        Self {
            seeded: Seeded::new(),
            bounds,
            entries: Vec::new(),
            slots: vec![0; 1024],
            chunks: Vec::new(),
            full: false,
            requests: 0,
            left_out: 0,
        }
    }

    /// Adds a key's requests; of its sizes the largest counts.
    pub(super) fn add(&mut self, record: Record<'_>) {
        let requests = record.requests.unwrap_or(1);
        let hash = self.seeded.hash(record.key);
        let tag = (hash >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(number) = self.slots[slot].checked_sub(1) {
            let entry = &self.entries[number as usize];
            if entry.tag == tag && key(&self.chunks, entry) == record.key {
                let entry = &mut self.entries[number as usize];
                entry.requests = entry.requests.saturating_add(requests);
                entry.bytes = entry.bytes.max(record.bytes);
                self.requests = self.requests.saturating_add(requests);
                return;
            }
            slot = (slot + 1) & mask;
        }
        if !self.has_room(record.key.len()) {
            self.full = true;
            self.left_out = self.left_out.saturating_add(requests);
            return;
        }
        // `has_room` saw to it that there is a chunk with room.
        let Some(chunk) = self.chunks.last_mut() else {
            return;
        };
        let start = chunk.len() as u32;
        chunk.extend_from_slice(record.key);
        self.entries.push(Entry {
            tag,
            chunk: self.chunks.len() as u32 - 1,
            start,
            length: record.key.len() as u32,
            requests,
            bytes: record.bytes,
            line: record.line,
        });
        self.requests = self.requests.saturating_add(requests);
        self.slots[slot] = self.entries.len() as u32;
        if self.entries.len() * 2 > self.slots.len() {
            self.widen();
        }
    }

    /// Hands the keys over, in the order in which they were first seen, with how many there were. Ends early when
    /// `stop` is set meanwhile; one that was set before is why the keys are wanted now.
    pub(super) fn hand_over(&self, stop: &AtomicBool, each: &mut impl FnMut(Record<'_>)) -> u64 {
        let stopped_before = stop.load(Ordering::Relaxed);
        let mut done = 0_u64;
        for entry in &self.entries {
            if !stopped_before && done.is_multiple_of(KEYS_PER_LOOK) && stop.load(Ordering::Relaxed)
            {
                break;
            }
            each(Record {
                key: key(&self.chunks, entry),
                requests: Some(entry.requests),
                bytes: entry.bytes,
                line: entry.line,
            });
            done += 1;
        }
        done
    }

    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(super) fn merged(&self) -> Merged {
        match (self.requests, self.left_out) {
            (requests, 0) if !self.full => Merged::Exact { requests },
            (requests, left_out) => Merged::Sampled { requests, left_out },
        }
    }

    /// Memory that the map has asked for.
    #[cfg(test)]
    fn memory_bytes(&self) -> usize {
        self.chunks.iter().map(Vec::capacity).sum::<usize>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.slots.capacity() * size_of::<u32>()
    }

    /// Whether one more key of so many bytes may be kept; makes the chunk that it goes into.
    fn has_room(&mut self, length: usize) -> bool {
        if self.full || self.entries.len() >= self.bounds.keys {
            return false;
        }
        let room = |chunk: &Vec<u8>| chunk.capacity() - chunk.len();
        if self
            .chunks
            .last()
            .is_some_and(|chunk| room(chunk) >= length)
        {
            return true;
        }
        if self.chunks.len() >= self.bounds.chunks || length > self.bounds.chunk_bytes {
            return false;
        }
        self.chunks
            .push(Vec::with_capacity(self.bounds.chunk_bytes));
        true
    }

    fn widen(&mut self) {
        let mut slots = vec![0_u32; self.slots.len() * 2];
        let mask = slots.len() - 1;
        for (number, entry) in (1..).zip(&self.entries) {
            let mut slot = self.seeded.hash(key(&self.chunks, entry)) as usize & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = number;
        }
        self.slots = slots;
    }
}

fn key<'a>(chunks: &'a [Vec<u8>], entry: &Entry) -> &'a [u8] {
    let start = entry.start as usize;
    &chunks[entry.chunk as usize][start..start + entry.length as usize]
}

/// The hash behind the slots.
mod seeded {
    #![expect(
        clippy::disallowed_types,
        reason = "whoever chooses the keys of a log must not choose their slots; no result depends on it"
    )]

    use std::hash::{BuildHasher as _, RandomState};

    pub(super) struct Seeded(RandomState);

    impl Seeded {
        pub(super) fn new() -> Self {
            Self(RandomState::new())
        }

        pub(super) fn hash(&self, key: &[u8]) -> u64 {
            self.0.hash_one(key)
        }
    }
}

/// A million keys show any share to 0.1 %.
pub(super) const MAX_KEYS: usize = 1_000_000;

/// So that a million keys of the 250 bytes that memcached allows have room.
pub(super) const MAX_BYTES: usize = 112 << 20;

/// Room for the longest key, and little enough to leave the end of one unused.
const CHUNK_BYTES: usize = 4 << 20;

/// A callback takes a microsecond or so.
const KEYS_PER_LOOK: u64 = 1024;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn record(key: &[u8], requests: u64, bytes: Option<u64>, line: u64) -> Record<'_> {
        Record {
            key,
            requests: Some(requests),
            bytes,
            line,
        }
    }

    type Kept = (Vec<u8>, u64, Option<u64>, u64);

    fn kept(merge: &Merge) -> Vec<Kept> {
        let mut kept = Vec::new();
        let done = merge.hand_over(&AtomicBool::new(false), &mut |r| {
            kept.push((r.key.to_vec(), r.requests.unwrap(), r.bytes, r.line));
        });
        assert_eq!(done, kept.len() as u64);
        kept
    }

    #[test]
    fn equal_keys_become_one_in_the_order_in_which_they_came() {
        let mut merge = Merge::new();
        for (key, requests, bytes, line) in [
            ("b", 1, None, 1),
            ("a", 2, Some(7), 2),
            ("b", 3, Some(5), 3),
            ("", 1, None, 4),
            ("b", 1, Some(4), 5),
        ] {
            merge.add(record(key.as_bytes(), requests, bytes, line));
        }
        assert_eq!(
            kept(&merge),
            [
                (b"b".to_vec(), 5, Some(5), 1),
                (b"a".to_vec(), 2, Some(7), 2),
                (Vec::new(), 1, None, 4)
            ]
        );
        assert_eq!(merge.merged(), Merged::Exact { requests: 8 });
    }

    #[test]
    fn past_the_bound_kept_keys_count_on_and_all_others_are_left_out() {
        let small = Bounds {
            keys: 3,
            chunks: 2,
            chunk_bytes: 8,
        };
        let mut merge = Merge::within(small);
        for key in ["a", "b", "c", "d", "a", "e", "d"] {
            merge.add(record(key.as_bytes(), 1, None, 1));
        }
        let keys: Vec<(Vec<u8>, u64)> = kept(&merge).into_iter().map(|k| (k.0, k.1)).collect();
        assert_eq!(
            keys,
            [(b"a".to_vec(), 2), (b"b".to_vec(), 1), (b"c".to_vec(), 1)]
        );
        let all = Merged::Sampled {
            requests: 4,
            left_out: 3,
        };
        assert_eq!(merge.merged(), all);

        // By bytes: two keys of 5 need two chunks of 8, and then even a short one is too much, so that what is kept
        // does not lean to short keys.
        let mut merge = Merge::within(Bounds { keys: 100, ..small });
        for key in ["12345", "abcde", "ABCDE", "x"] {
            merge.add(record(key.as_bytes(), 1, None, 1));
        }
        assert_eq!(merge.len(), 2);
        assert!(merge.memory_bytes() >= 16);
    }

    #[test]
    fn a_million_keys_of_100_bytes_stay_within_176_mib() {
        let mut merge = Merge::new();
        let mut key = [b'x'; 100];
        for n in 0..1_100_000_u64 {
            key[..8].copy_from_slice(&n.to_le_bytes());
            merge.add(record(&key, 1, None, n));
        }
        assert_eq!(merge.len(), 1_000_000);
        assert!(
            merge.memory_bytes() <= 176 << 20,
            "{}",
            merge.memory_bytes()
        );
        let all = Merged::Sampled {
            requests: 1_000_000,
            left_out: 100_000,
        };
        assert_eq!(merge.merged(), all);
    }

    #[test]
    fn a_stop_that_comes_while_keys_are_handed_over_ends_it_and_an_earlier_one_does_not() {
        let mut merge = Merge::new();
        for n in 0..5000_u64 {
            merge.add(record(&n.to_le_bytes(), 1, None, n));
        }
        let stop = AtomicBool::new(false);
        let done = merge.hand_over(&stop, &mut |_| stop.store(true, Ordering::Relaxed));
        assert_eq!(done, KEYS_PER_LOOK);
        assert_eq!(merge.hand_over(&stop, &mut |_| {}), 5000);
    }

    proptest! {
        #[test]
        fn any_requests_add_up_as_in_a_plain_map(
            requests in proptest::collection::vec((proptest::collection::vec(0_u8..3, 0..5), 0_u64..9), 0..300),
        ) {
            let mut merge = Merge::new();
            let mut plain: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for (key, requests) in &requests {
                merge.add(record(key, *requests, None, 1));
                *plain.entry(key.clone()).or_default() += requests;
            }
            let found: BTreeMap<Vec<u8>, u64> = kept(&merge).into_iter().map(|k| (k.0, k.1)).collect();
            prop_assert_eq!(merge.len(), plain.len() as u64);
            prop_assert_eq!(found, plain);
        }
    }
}
