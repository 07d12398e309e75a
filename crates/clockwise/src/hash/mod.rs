//! Hash functions, each a pure function from bytes to an unsigned integer.
//!
//! What it is: the functions that schemes name, and [`KeyHash`], the closed list of those a scheme may use for keys.
//! What it promises: the same bytes give the same number in every version, on every machine; all arithmetic is
//! unsigned and wraps; digests are read big-endian. What it does not: none but SipHash is keyed, so none but SipHash
//! withstands someone who chooses keys; MD5 and SHA-1 only mix bits here and protect nothing.
//! Cost: linear in the length; no allocation. Source: each function's own module or line; every function is pinned
//! by the vectors of `vectors/hash_functions.json` and `vectors/hash_mixers.json`.

mod fnv;
mod mix;
mod murmur3;

use core::fmt;
use core::hash::Hasher as _;
use core::str::FromStr;

use md5::Digest as _;
use siphasher::sip::{SipHasher13, SipHasher24};

pub use fnv::{fnv1_32, fnv1_64, fnv1a_32, fnv1a_32_utf16, fnv1a_64, fnv1a_64_utf16};
pub use mix::{GOLDEN_GAMMA, Rng, fmix32, fmix64, mix, splitmix64};
pub use murmur3::{murmur3_x64_128, murmur3_x86_32};

/// XXH3-64 with seed 0 (Yann Collet, 2020), the default key hash.
#[inline]
#[must_use]
pub fn xxh3_64(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// XXH64 (Yann Collet, 2014).
#[inline]
#[must_use]
pub fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh64::xxh64(bytes, seed)
}

/// SipHash-1-3 (Aumasson and Bernstein, 2012) with a 16-byte key.
#[must_use]
pub fn siphash_1_3(key: &[u8; 16], bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_key(key);
    hasher.write(bytes);
    hasher.finish()
}

/// SipHash-2-4 (Aumasson and Bernstein, 2012) with a 16-byte key: for keys that clients choose.
#[must_use]
pub fn siphash_2_4(key: &[u8; 16], bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_key(key);
    hasher.write(bytes);
    hasher.finish()
}

/// MD5 (RFC 1321), all 16 bytes. Mixes bits; protects nothing.
#[must_use]
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    md5::Md5::digest(bytes).into()
}

/// The first 8 bytes of MD5 as a big-endian number.
#[must_use]
pub fn md5_be64(bytes: &[u8]) -> u64 {
    first_be64(&md5(bytes))
}

/// SHA-1 (FIPS 180-4), all 20 bytes. Mixes bits; protects nothing.
#[must_use]
pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    sha1::Sha1::digest(bytes).into()
}

/// The first 8 bytes of SHA-1 as a big-endian number.
#[must_use]
pub fn sha1_be64(bytes: &[u8]) -> u64 {
    first_be64(&sha1(bytes))
}

/// CRC-16/XMODEM: polynomial 1021, start 0, no reflection, no final xor; what Redis Cluster uses for slots.
#[must_use]
pub fn crc16(bytes: &[u8]) -> u16 {
    CRC16.checksum(bytes)
}

/// CRC-32 of IEEE 802.3, as in zlib.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The hash that turns a key into its token: a part of a scheme, fixed by name.
///
/// Process-random and unspecified hashes (`DefaultHasher`, Python's `hash`) have no name here on purpose.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyHash {
    /// CRC-16/XMODEM, 16 bits.
    Crc16,
    /// CRC-32 of IEEE 802.3, 32 bits.
    Crc32,
    /// FNV-1a over bytes, 32 bits.
    Fnv1a32,
    /// FNV-1a over bytes, then MurmurHash3's 32-bit finaliser.
    Fnv1a32Fmix32,
    /// FNV-1a over UTF-16 code units, 32 bits.
    Fnv1a32Utf16,
    /// FNV-1a over UTF-16 code units, then MurmurHash3's 32-bit finaliser.
    Fnv1a32Utf16Fmix32,
    /// FNV-1a over bytes, 64 bits. Mixes its last bytes poorly: labels that differ in the last digit clump.
    Fnv1a64,
    /// The first 8 bytes of MD5, big-endian.
    Md5Be64,
    /// The first word of MurmurHash3 x64_128 with seed 0.
    Murmur3X64,
    /// MurmurHash3 x86_32 with seed 0.
    Murmur3X86,
    /// The first 8 bytes of SHA-1, big-endian.
    Sha1Be64,
    /// SipHash-1-3 with a secret key.
    SipHash13,
    /// SipHash-2-4 with a secret key.
    SipHash24,
    /// XXH3-64 with seed 0: the default.
    Xxh3,
    /// XXH64 with seed 0.
    Xxh64,
}

impl KeyHash {
    /// Every hash that has a name.
    pub const ALL: [Self; 15] = [
        Self::Xxh3,
        Self::Xxh64,
        Self::SipHash24,
        Self::SipHash13,
        Self::Murmur3X64,
        Self::Murmur3X86,
        Self::Fnv1a64,
        Self::Fnv1a32,
        Self::Fnv1a32Utf16,
        Self::Fnv1a32Fmix32,
        Self::Fnv1a32Utf16Fmix32,
        Self::Md5Be64,
        Self::Sha1Be64,
        Self::Crc32,
        Self::Crc16,
    ];

    /// The name in a scheme's written form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crc16 => "crc-16",
            Self::Crc32 => "crc-32",
            Self::Fnv1a32 => "fnv-1a-32",
            Self::Fnv1a32Fmix32 => "fnv-1a-32-fmix32",
            Self::Fnv1a32Utf16 => "fnv-1a-32-utf16",
            Self::Fnv1a32Utf16Fmix32 => "fnv-1a-32-utf16-fmix32",
            Self::Fnv1a64 => "fnv-1a-64",
            Self::Md5Be64 => "md5-be64",
            Self::Murmur3X64 => "murmur3-x64",
            Self::Murmur3X86 => "murmur3-x86-32",
            Self::Sha1Be64 => "sha1-be64",
            Self::SipHash13 => "siphash-1-3",
            Self::SipHash24 => "siphash-2-4",
            Self::Xxh3 => "xxh3-64",
            Self::Xxh64 => "xxh64",
        }
    }

    /// Width of the result in bits: 16, 32 or 64.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Crc16 => 16,
            Self::Crc32
            | Self::Fnv1a32
            | Self::Fnv1a32Fmix32
            | Self::Fnv1a32Utf16
            | Self::Fnv1a32Utf16Fmix32
            | Self::Murmur3X86 => 32,
            _ => 64,
        }
    }

    /// Whether the hash needs a secret key before it can hash anything.
    #[must_use]
    pub const fn is_keyed(self) -> bool {
        matches!(self, Self::SipHash13 | Self::SipHash24)
    }

    /// Whether inputs that differ only in their last byte spread over the top bits.
    ///
    /// False for raw FNV-1a and the CRCs: schemes that place by the top bits see such keys in clumps.
    #[must_use]
    pub const fn mixes_well(self) -> bool {
        !matches!(
            self,
            Self::Fnv1a32 | Self::Fnv1a64 | Self::Fnv1a32Utf16 | Self::Crc16 | Self::Crc32
        )
    }

    /// The hash of `bytes` as an unsigned number of [`bits`](Self::bits) bits. `secret` is read by keyed hashes only.
    #[inline]
    #[must_use]
    pub fn hash(self, secret: &[u8; 16], bytes: &[u8]) -> u64 {
        match self {
            Self::Xxh3 => xxh3_64(bytes),
            Self::Xxh64 => xxh64(bytes, 0),
            Self::SipHash13 => siphash_1_3(secret, bytes),
            Self::SipHash24 => siphash_2_4(secret, bytes),
            Self::Murmur3X64 => murmur3_x64_128(bytes, 0).0,
            Self::Murmur3X86 => u64::from(murmur3_x86_32(bytes, 0)),
            Self::Fnv1a64 => fnv1a_64(bytes),
            Self::Fnv1a32 => u64::from(fnv1a_32(bytes)),
            Self::Fnv1a32Utf16 => u64::from(fnv1a_32_utf16(bytes)),
            Self::Fnv1a32Fmix32 => u64::from(fmix32(fnv1a_32(bytes))),
            Self::Fnv1a32Utf16Fmix32 => u64::from(fmix32(fnv1a_32_utf16(bytes))),
            Self::Md5Be64 => md5_be64(bytes),
            Self::Sha1Be64 => sha1_be64(bytes),
            Self::Crc32 => u64::from(crc32(bytes)),
            Self::Crc16 => u64::from(crc16(bytes)),
        }
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no hash.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown hash {name:?}")]
pub struct UnknownHash {
    /// The text as given.
    pub name: alloc::string::String,
}

impl FromStr for KeyHash {
    type Err = UnknownHash;

    fn from_str(text: &str) -> Result<Self, UnknownHash> {
        Self::ALL
            .into_iter()
            .find(|hash| hash.name() == text)
            .ok_or_else(|| UnknownHash { name: text.into() })
    }
}

fn first_be64(digest: &[u8]) -> u64 {
    digest
        .iter()
        .take(8)
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

const CRC16: crc::Crc<u16, crc::Table<1>> =
    crc::Crc::<u16, crc::Table<1>>::new(&crc::CRC_16_XMODEM);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_found_by_its_own_name() {
        for hash in KeyHash::ALL {
            assert_eq!(hash.name().parse(), Ok(hash));
        }
        assert_eq!(
            "DefaultHasher".parse::<KeyHash>(),
            Err(UnknownHash {
                name: "DefaultHasher".into()
            })
        );
    }

    #[test]
    fn every_hash_stays_within_its_bits() {
        for hash in KeyHash::ALL {
            let all = (0_u32..2000).fold(0, |seen, i| seen | hash.hash(&[7; 16], &i.to_le_bytes()));
            assert_eq!(64 - all.leading_zeros(), hash.bits(), "{hash}");
        }
    }

    #[test]
    fn the_secret_changes_keyed_hashes_and_no_others() {
        for hash in KeyHash::ALL {
            let differs = hash.hash(&[0; 16], b"cart:1") != hash.hash(&[1; 16], b"cart:1");
            assert_eq!(differs, hash.is_keyed(), "{hash}");
        }
    }
}
