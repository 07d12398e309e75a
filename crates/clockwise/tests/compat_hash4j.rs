//! JumpBack against hash4j, the Java library of the algorithm's authors (Apache-2.0).
//!
//! Its test (`consistent/AbstractConsistentBucketHasherTest.java`) draws a million pairs of a number of buckets and a
//! hash from Java's `SplittableRandom`, writes the answers as 32-bit little-endian numbers and compares one checksum of
//! them, Komihash 5.0 with seed 0. The test is done again here; the checksum is the one that hash4j's file states.

use std::num::NonZeroU32;

use clockwise::hash::{GOLDEN_GAMMA, mix};
use clockwise::jumpback;

#[test]
fn a_million_answers_have_the_checksum_of_hash4js_own_test() {
    let mut random = SplittableRandom(0x0a55_871a_9d91_03b7);
    let mut answers = Vec::with_capacity(4_000_000);
    for _ in 0..1_000_000 {
        let bits = random.next_int() >> 1;
        let buckets = bits >> (random.next_int() & 31);
        let buckets = NonZeroU32::new(buckets.max(1)).expect("at least 1");
        answers.extend(jumpback(random.next_long(), buckets).to_le_bytes());
    }
    assert_eq!(komihash(&answers), 0x23d7_a0d2_88cd_67e7);
}

/// Java's `java.util.SplittableRandom`: SplitMix64, with a mixer of its own for 32 bits.
struct SplittableRandom(u64);

impl SplittableRandom {
    fn next_long(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        mix(self.0)
    }

    fn next_int(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        let z = (self.0 ^ self.0 >> 33).wrapping_mul(0x62a9_d9ed_7997_05f5);
        ((z ^ z >> 28).wrapping_mul(0xcb24_d0a5_c88c_35b3) >> 32) as u32
    }
}

/// Komihash 5.0 with seed 0 over whole blocks of 64 bytes, from its published description.
fn komihash(bytes: &[u8]) -> u64 {
    let (blocks, tail) = bytes.as_chunks::<64>();
    assert!(tail.is_empty());
    let mut low = PI[0];
    let mut high = PI[4];
    round(&mut low, &mut high);
    let mut lanes: [(u64, u64); 4] =
        core::array::from_fn(|i| (low ^ LANES[i].0, high ^ LANES[i].1));
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        let word = |i: usize| u64::from_le_bytes(words[i]);
        let mut carried = [0; 4];
        for (i, (low, high)) in lanes.iter_mut().enumerate() {
            let product = u128::from(*low ^ word(i)) * u128::from(*high ^ word(i + 4));
            *low = product as u64;
            *high = high.wrapping_add((product >> 64) as u64);
            carried[i] = *high;
        }
        for (i, (low, _)) in lanes.iter_mut().enumerate() {
            *low ^= carried[(i + 3) % 4];
        }
    }
    low = lanes.iter().fold(0, |all, lane| all ^ lane.0);
    high = lanes.iter().fold(0, |all, lane| all ^ lane.1);
    // The end of the message is a bit of its own.
    let product = u128::from(low ^ 1) * u128::from(high);
    high = high.wrapping_add((product >> 64) as u64);
    low = product as u64 ^ high;
    round(&mut low, &mut high);
    low
}

fn round(low: &mut u64, high: &mut u64) {
    let product = u128::from(*low) * u128::from(*high);
    *high = high.wrapping_add((product >> 64) as u64);
    *low = product as u64 ^ *high;
}

/// Fractional digits of pi.
const PI: [u64; 8] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
];

/// What each lane starts from, beside the first round's state.
const LANES: [(u64, u64); 4] = [(0, 0), (PI[1], PI[5]), (PI[2], PI[6]), (PI[3], PI[7])];
