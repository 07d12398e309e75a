//! Hash functions and the generator, by the scheme definitions.
//!
//! XXH3 and MD5 come from crates; the rest is written out, one step of the definition a line. Arithmetic wraps.

use md5::{Digest, Md5};
use xxhash_rust::xxh3::xxh3_64;

/// The golden gamma of SplitMix64.
pub(crate) const G: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finalizer of SplitMix64, without the addition of `G`.
pub(crate) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(G);
        mix(self.0)
    }

    /// An unbiased number below `m`, which is not 0.
    pub(crate) fn uniform(&mut self, m: u32) -> u32 {
        loop {
            let p = (self.next() & 0xFFFF_FFFF) * u64::from(m);
            if p & 0xFFFF_FFFF >= (1_u64 << 32) % u64::from(m) {
                return (p >> 32) as u32;
            }
        }
    }
}

/// The key hash of our own schemes.
pub(crate) fn key_hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The hash that stands for a node in scores and breaks ties between them.
pub(crate) fn node_hash(id: &str) -> u64 {
    mix(xxh3_64(id.as_bytes()).wrapping_add(G))
}

/// The first 8 bytes of MD5, big-endian.
pub(crate) fn md5_be64(bytes: &[u8]) -> u64 {
    let digest = Md5::digest(bytes);
    let mut value = 0;
    for &byte in &digest[..8] {
        value = (value << 8) | u64::from(byte);
    }
    value
}

/// FNV-1a, 32 bits, over bytes.
pub(crate) fn fnv1a_32(bytes: &[u8]) -> u32 {
    let mut h: u32 = 0x811C_9DC5;
    for &byte in bytes {
        h ^= u32::from(byte);
        h = h.wrapping_mul(0x0100_0193);
    }
    h
}

/// FNV-1a, 32 bits, over UTF-16 code units, each taken in whole. Bytes that are not UTF-8 become U+FFFD as
/// `String::from_utf8_lossy` has it.
pub(crate) fn fnv1a_32_utf16(bytes: &[u8]) -> u32 {
    let mut h: u32 = 0x811C_9DC5;
    for unit in String::from_utf8_lossy(bytes).encode_utf16() {
        h ^= u32::from(unit);
        h = h.wrapping_mul(0x0100_0193);
    }
    h
}

/// FNV-1a, 64 bits, over bytes.
pub(crate) fn fnv1a_64(bytes: &[u8]) -> u64 {
    let mut h: u64 = 0xCBF2_9CE4_8422_2325;
    for &byte in bytes {
        h ^= u64::from(byte);
        h = h.wrapping_mul(0x0000_0100_0000_01B3);
    }
    h
}

/// The finalizer of MurmurHash3, 32 bits.
pub(crate) fn fmix32(h: u32) -> u32 {
    let h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    let h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

/// MurmurHash3, x86, 32 bits.
pub(crate) fn murmur3_x86_32(bytes: &[u8], seed: u32) -> u32 {
    let scramble = |k: u32| {
        k.wrapping_mul(0xCC9E_2D51)
            .rotate_left(15)
            .wrapping_mul(0x1B87_3593)
    };
    let mut h = seed;
    for block in bytes.chunks(4) {
        let mut k = 0;
        for (i, &byte) in block.iter().enumerate() {
            k |= u32::from(byte) << (8 * i);
        }
        h ^= scramble(k);
        if block.len() == 4 {
            h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
        }
    }
    fmix32(h ^ bytes.len() as u32)
}

/// CRC-16/XMODEM: polynomial 0x1021, start 0, no reflection, no final xor, a bit at a time.
pub(crate) fn crc16_xmodem(bytes: &[u8]) -> u16 {
    let mut crc: u16 = 0;
    for &byte in bytes {
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
        }
    }
    crc
}
