//! MurmurHash3, the x86 32-bit and x64 128-bit forms (Appleby, 2011).
//!
//! Promises the reference values on every machine: blocks are read little-endian, tail bytes as unsigned. Does not
//! resist chosen keys. Cost: linear, no allocation. Source: the public-domain reference implementation's definition;
//! the `murmur3` crates on the registry read from `std::io` only, which this crate cannot use.

use super::mix::{fmix32, fmix64};

/// MurmurHash3 x86_32.
#[must_use]
pub fn murmur3_x86_32(bytes: &[u8], seed: u32) -> u32 {
    let scramble = |k: u32| {
        k.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for block in blocks {
        hash = (hash ^ scramble(u32::from_le_bytes(*block))).rotate_left(13);
        hash = hash.wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let rest = tail
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u32::from(byte));
    fmix32(hash ^ scramble(rest) ^ bytes.len() as u32)
}

/// MurmurHash3 x64_128 as its two 64-bit words in order.
#[must_use]
pub fn murmur3_x64_128(bytes: &[u8], seed: u32) -> (u64, u64) {
    let scramble_low = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let scramble_high = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut low, mut high) = (u64::from(seed), u64::from(seed));
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let both = u128::from_le_bytes(*block);
        low = (low ^ scramble_low(both as u64))
            .rotate_left(27)
            .wrapping_add(high);
        low = low.wrapping_mul(5).wrapping_add(0x52dc_e729);
        high = (high ^ scramble_high((both >> 64) as u64))
            .rotate_left(31)
            .wrapping_add(low);
        high = high.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let rest = tail
        .iter()
        .rev()
        .fold(0_u128, |word, &byte| word << 8 | u128::from(byte));
    high ^= scramble_high((rest >> 64) as u64);
    low ^= scramble_low(rest as u64);

    let length = bytes.len() as u64;
    low ^= length;
    high ^= length;
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    low = fmix64(low);
    high = fmix64(high);
    low = low.wrapping_add(high);
    (low, high.wrapping_add(low))
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;
