//! The hash of the planner's own tables: fixed, so that equal input gives equal output in every run.

use std::hash::Hasher;

use clockwise::hash::xxh3_64;

/// XXH3-64 of bytes; a number is taken for a hash already and only turned, so that the bits which tell numbers with
/// equal low bits apart are those that a table looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash.rotate_right(32);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
