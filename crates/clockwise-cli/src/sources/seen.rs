//! Which keys a scan gave already: SCAN may give a key twice.
//!
//! What it is: a set of 64-bit hashes. What it promises: up to [`Seen::LIMIT`] different keys each is new once, but
//! for two that share a hash (at the limit a chance of 1 in 1.5 million); later ones are not remembered, so that
//! memory stays below 150 MiB. What it does not: keep keys. Cost: one hash and one look-up a key.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use clockwise::hash::xxh3_64;

/// The keys so far.
#[derive(Debug)]
pub(crate) struct Seen {
    hashes: HashSet<u64, BuildHasherDefault<AsItIs>>,
    limit: usize,
    repeats: u64,
    forgotten: u64,
}

impl Seen {
    /// Different keys that are remembered.
    pub(crate) const LIMIT: usize = 5_000_000;

    pub(crate) fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    fn with_limit(limit: usize) -> Self {
        Self {
            hashes: HashSet::default(),
            limit,
            repeats: 0,
            forgotten: 0,
        }
    }

    /// Whether the key is new, as far as is remembered.
    pub(crate) fn is_new(&mut self, key: &[u8]) -> bool {
        let hash = xxh3_64(key);
        let new = if self.hashes.len() < self.limit {
            self.hashes.insert(hash)
        } else {
            let new = !self.hashes.contains(&hash);
            self.forgotten += u64::from(new);
            new
        };
        self.repeats += u64::from(!new);
        new
    }

    /// Keys that came again and were left out.
    pub(crate) fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Keys that could not be remembered: each may have been counted more than once.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

/// Passes a hash on as it is.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once() {
        let mut seen = Seen::new();
        let answers = [&b"a"[..], b"", b"a", b"", b"b"].map(|key| seen.is_new(key));
        assert_eq!(answers, [true, true, false, false, true]);
        assert_eq!((seen.repeats(), seen.forgotten()), (2, 0));
    }

    #[test]
    fn beyond_the_limit_old_keys_are_known_and_new_ones_counted_as_forgotten() {
        let mut seen = Seen::with_limit(2);
        let answers = [b"a", b"b", b"c", b"a", b"c"].map(|key| seen.is_new(key));
        assert_eq!(answers, [true, true, true, false, true]);
        assert_eq!((seen.repeats(), seen.forgotten()), (1, 2));
    }
}
