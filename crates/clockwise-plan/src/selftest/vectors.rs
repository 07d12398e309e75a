//! Hashes, mixers, jump and Redis slots against answers recorded from other programs.

use std::num::NonZeroU32;

use clockwise::hash::{self, KeyHash};
use clockwise::{Token, jump, redis_slot};
use serde_json::Value;

use super::{Check, check};

pub(super) fn checks() -> Vec<Check> {
    let mut checks = hashes(&file(HASH_FUNCTIONS));
    let mixers = file(HASH_MIXERS);
    checks.push(check("SplitMix64 and finalisers", mixed(&mixers)));
    checks.push(check("jump: 1,708 buckets", jumped(&file(JUMP))));
    checks.push(check(
        "redis-cluster: 797 slots",
        slotted(&file(REDIS_SLOTS)),
    ));
    checks
}

/// One check for each hash that a scheme may use for keys and for which the file has a column.
fn hashes(file: &Value) -> Vec<Check> {
    let columns = [
        ("fnv1a_32", KeyHash::Fnv1a32),
        ("fnv1a_64", KeyHash::Fnv1a64),
        ("md5_be8", KeyHash::Md5Be64),
        ("crc16_xmodem", KeyHash::Crc16),
        ("crc32", KeyHash::Crc32),
        ("murmur3_32_seed0", KeyHash::Murmur3X86),
        ("murmur3_x64_128_seed0", KeyHash::Murmur3X64),
        ("sha1", KeyHash::Sha1Be64),
        ("xxh64_seed0", KeyHash::Xxh64),
        ("xxh3_64", KeyHash::Xxh3),
        ("siphash13_k0", KeyHash::SipHash13),
        ("siphash24_k0", KeyHash::SipHash24),
    ];
    let checks = columns.map(|(column, hash)| {
        check(
            format!("hash {hash}: 167 inputs"),
            is_hash(file, column, hash),
        )
    });
    checks.into()
}

fn is_hash(file: &Value, column: &str, hash: KeyHash) -> Option<bool> {
    let names = file["columns"].as_array()?;
    let place = names.iter().position(|name| name == column)?;
    let rows = file["vectors"].as_array()?;
    let mut good = 0;
    for row in rows {
        let ours = Token(hash.hash(&[0; 16], &bytes(&row[0])?)).to_hex(hash.bits());
        // Longer results begin with what the token is made of.
        good += usize::from(row[place].as_str()?.starts_with(&ours));
    }
    Some(good == rows.len() && good == 167)
}

fn mixed(file: &Value) -> Option<bool> {
    let mut good = true;
    for row in file["fmix32"].as_array()? {
        let mixed = hash::fmix32(u32::try_from(hex(&row[0])?).ok()?);
        good &= u64::from(mixed) == hex(&row[1])?;
    }
    for row in file["fmix64"].as_array()? {
        good &= hash::fmix64(hex(&row[0])?) == hex(&row[1])?;
    }
    for row in file["splitmix64"].as_array()? {
        let mut random = hash::Rng::new(hex(&row[0])?);
        for output in row[1].as_array()? {
            good &= random.next_u64() == hex(output)?;
        }
    }
    Some(good)
}

fn jumped(file: &Value) -> Option<bool> {
    let buckets = file["buckets"].as_array()?;
    let mut good = 0;
    for row in file["keys"].as_array()? {
        let key = hex(&row[0])?;
        for (buckets, bucket) in buckets.iter().zip(row[1].as_array()?) {
            let buckets = NonZeroU32::new(u32::try_from(buckets.as_u64()?).ok()?)?;
            good += u32::from(u64::from(jump(key, buckets)) == bucket.as_u64()?);
        }
    }
    Some(good == 1708)
}

fn slotted(file: &Value) -> Option<bool> {
    let mut good = 0;
    for row in file["keys"].as_array()? {
        let slot = redis_slot(row[0].as_str()?.as_bytes());
        good += u32::from(u64::from(slot.0) == row[1].as_u64()?);
    }
    for row in file["keys_hex"].as_array()? {
        good += u32::from(u64::from(redis_slot(&bytes(&row[0])?).0) == row[1].as_u64()?);
    }
    Some(good == 797)
}

/// A file of vectors; nothing, so that its checks fail, where it is no JSON.
pub(super) fn file(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// A number from its hexadecimal digits.
pub(super) fn hex(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?, 16).ok()
}

/// Bytes from their hexadecimal digits.
pub(super) fn bytes(value: &Value) -> Option<Vec<u8>> {
    let digits = value.as_str()?;
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect()
}

const HASH_FUNCTIONS: &str = include_str!("../../../../vectors/hash_functions.json");
const HASH_MIXERS: &str = include_str!("../../../../vectors/hash_mixers.json");
const JUMP: &str = include_str!("../../../../vectors/jump.json");
const REDIS_SLOTS: &str = include_str!("../../../../vectors/redis_slots.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_answer_fails_its_check_and_no_other() {
        let mut functions = file(HASH_FUNCTIONS);
        assert!(hashes(&functions).iter().all(|check| check.ok));
        let columns = functions["columns"].as_array().unwrap();
        let place = columns.iter().position(|name| name == "crc32").unwrap();
        functions["vectors"][7][place] = "00000001".into();
        let failed: Vec<Check> = hashes(&functions).into_iter().filter(|c| !c.ok).collect();
        assert_eq!(failed.len(), 1);
        assert!(failed[0].name.contains("crc-32"), "{failed:?}");

        let mut buckets = file(JUMP);
        buckets["keys"][3][1][0] = 1.into();
        assert_eq!(jumped(&buckets), Some(false));
        let mut slots = file(REDIS_SLOTS);
        slots["keys"][0][1] = 1.into();
        assert_eq!(slotted(&slots), Some(false));
        let mut mixers = file(HASH_MIXERS);
        mixers["fmix32"][0][1] = "1".into();
        assert_eq!(mixed(&mixers), Some(false));
    }

    #[test]
    fn a_file_without_its_parts_fails_and_does_not_panic() {
        for text in ["", "{}", "[1]", r#"{"keys": [[1]], "vectors": 3}"#] {
            let file = file(text);
            assert!(hashes(&file).iter().all(|check| !check.ok));
            for answer in [mixed(&file), jumped(&file), slotted(&file)] {
                assert_ne!(answer, Some(true), "{text}");
            }
        }
    }
}
