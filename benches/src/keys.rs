//! The keys of all benchmarks.

use std::ops::Range;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 20;

/// Key `number` of fewer than 2^33 different ones of one length.
pub(crate) fn key(number: u64) -> String {
    // An odd factor: as many different numbers, out of order, of ten digits at most.
    let number = number.wrapping_mul(2_654_435_761) % (1 << 33);
    format!("user:{number:010}:cart")
}

/// One of [`Keys`]. They are never freed, since there are crates that would borrow them as long as they live.
pub(crate) type Key = &'static [u8];

/// Keys back to back in memory.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    bytes: &'static [u8],
    /// Where each key ends. All have the same length, but no loop over them may be compiled for that.
    ends: &'static [u32],
}

impl Keys {
    /// The first `count` keys.
    pub(crate) fn new(count: usize) -> Self {
        let mut bytes = Vec::with_capacity(count * KEY_BYTES);
        let mut ends = Vec::with_capacity(count);
        for number in 0..count as u64 {
            bytes.extend_from_slice(key(number).as_bytes());
            ends.push(bytes.len() as u32);
        }
        Self {
            bytes: bytes.leak(),
            ends: ends.leak(),
        }
    }

    pub(crate) fn len(self) -> usize {
        self.ends.len()
    }

    /// Keys by number.
    #[inline]
    pub(crate) fn range(self, range: Range<usize>) -> impl Iterator<Item = Key> + Clone {
        let mut start = range.start * KEY_BYTES;
        self.ends[range].iter().map(move |&end| {
            let key = &self.bytes[start..end as usize];
            start = end as usize;
            key
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_are_distinct_and_of_one_length() {
        let keys = Keys::new(100_000);
        let distinct: BTreeSet<&[u8]> = keys.range(0..keys.len()).collect();
        assert_eq!(distinct.len(), 100_000);
        assert!(distinct.iter().all(|key| key.len() == KEY_BYTES));
    }
}
