//! The hash of the planner's own tables: fixed, so that equal input gives equal output in every run.

use std::hash::Hasher;

use clockwise::hash::{splitmix64, xxh3_64};

/// XXH3-64 of bytes; numbers are mixed, since tokens of a weak hash differ in few of their bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = splitmix64(self.0 ^ number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
