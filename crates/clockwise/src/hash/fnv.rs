//! FNV-1 and FNV-1a (Fowler, Noll and Vo, 1991), over bytes or over UTF-16 code units.
//!
//! Promises the standard values, bytes read as unsigned. Does not mix well: the last byte reaches the low bits and a
//! few others only. Cost: one multiplication a byte or unit. Source: the authors' page and draft; the UTF-16 form is
//! what a JavaScript loop over `charCodeAt` computes.

/// FNV-1, 32 bits, over bytes.
#[must_use]
pub fn fnv1_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(BASIS_32, |hash, &byte| {
        hash.wrapping_mul(PRIME_32) ^ u32::from(byte)
    })
}

/// FNV-1, 64 bits, over bytes.
#[must_use]
pub fn fnv1_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(BASIS_64, |hash, &byte| {
        hash.wrapping_mul(PRIME_64) ^ u64::from(byte)
    })
}

/// FNV-1a, 32 bits, over bytes.
#[must_use]
pub fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(BASIS_32, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(PRIME_32)
    })
}

/// FNV-1a, 64 bits, over bytes.
#[must_use]
pub fn fnv1a_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(BASIS_64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME_64)
    })
}

/// FNV-1a, 32 bits, over the UTF-16 code units of the text; the whole unit is folded in at once.
///
/// Bytes that are not UTF-8 count as U+FFFD, one for each invalid piece, as a lossy decoder gives.
#[must_use]
pub fn fnv1a_32_utf16(bytes: &[u8]) -> u32 {
    fold_utf16(bytes, BASIS_32, |hash, unit| {
        (hash ^ u32::from(unit)).wrapping_mul(PRIME_32)
    })
}

/// FNV-1a, 64 bits, over the UTF-16 code units of the text; the rest as [`fnv1a_32_utf16`].
#[must_use]
pub fn fnv1a_64_utf16(bytes: &[u8]) -> u64 {
    fold_utf16(bytes, BASIS_64, |hash, unit| {
        (hash ^ u64::from(unit)).wrapping_mul(PRIME_64)
    })
}

fn fold_utf16<H>(bytes: &[u8], start: H, mut fold: impl FnMut(H, u16) -> H) -> H {
    let mut hash = start;
    for chunk in bytes.utf8_chunks() {
        for unit in chunk.valid().encode_utf16() {
            hash = fold(hash, unit);
        }
        if !chunk.invalid().is_empty() {
            hash = fold(hash, REPLACEMENT);
        }
    }
    hash
}

const BASIS_32: u32 = 0x811c_9dc5;
const PRIME_32: u32 = 0x0100_0193;
const BASIS_64: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME_64: u64 = 0x0000_0100_0000_01b3;
const REPLACEMENT: u16 = 0xfffd;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_text_hashes_alike_as_bytes_and_as_code_units() {
        assert_eq!(fnv1a_32_utf16(b"key:0"), fnv1a_32(b"key:0"));
        assert_eq!(fnv1a_64_utf16(b"key:0"), fnv1a_64(b"key:0"));
    }

    #[test]
    fn code_units_and_bytes_part_ways_outside_ascii() {
        let key = "giỏ-hàng:1".as_bytes();
        assert_eq!(super::super::fmix32(fnv1a_32_utf16(key)), 0xa28f_49f6);
        assert_eq!(super::super::fmix32(fnv1a_32(key)), 0x56e5_2f42);
        assert_ne!(fnv1a_64_utf16(key), fnv1a_64(key));
    }

    #[test]
    fn invalid_utf8_hashes_as_the_lossy_text() {
        let bytes = b"a\xff\xfe\xe1\xbbz";
        let lossy = alloc::string::String::from_utf8_lossy(bytes);
        assert_eq!(fnv1a_32_utf16(bytes), fnv1a_32_utf16(lossy.as_bytes()));
    }

    #[test]
    fn a_character_outside_the_basic_plane_counts_as_two_units() {
        let units = [0xd83d_u16, 0xde00];
        let by_hand = units.iter().fold(BASIS_32, |hash, &unit| {
            (hash ^ u32::from(unit)).wrapping_mul(PRIME_32)
        });
        assert_eq!(fnv1a_32_utf16("😀".as_bytes()), by_hand);
    }
}
