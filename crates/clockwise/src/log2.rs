//! The negative binary logarithm of a 64-bit score, in integers.
//!
//! What it is: L2(h) = -log2(h / 2^64) with 56 fraction bits, the one logarithm that placement uses. What it
//! promises: the same integer on every machine and in every language; never increasing in h; never 0; within 1.72e-7
//! of the real value. What it does not: it is no general logarithm. Cost: one table look-up and one multiplication;
//! the table is 8 KiB, computed at compile time. Source: the shift-and-square method (Knuth, The Art of Computer
//! Programming 1, 1.2.2) with linear interpolation over 1024 intervals. Schemes store no value of it, but every
//! weighted owner depends on it: a changed digit is a new scheme version.

/// L2(h), between 11822 for the largest score and 2^62 for 0 and 1.
#[inline]
#[must_use]
pub fn neg_log2(h: u64) -> u64 {
    let score = h | 1;
    let zeros = score.leading_zeros();
    let fraction = (score << zeros) << 1;
    let index = (fraction >> 54) as usize;
    let (low, high) = (TABLE[index], TABLE[index + 1]);
    let between = fraction >> 22 & 0xffff_ffff;
    let step = ((u128::from(high - low) * u128::from(between)) >> 32) as u64;
    (u64::from(zeros + 1) << 56) - (low + step)
}

/// `TABLE[i]` = log2(1 + i/1024) with 56 fraction bits, rounded down.
static TABLE: [u64; 1025] = table();

const fn table() -> [u64; 1025] {
    let mut table = [1 << 56; 1025];
    let mut i = 0;
    while i < 1024 {
        table[i] = log2_bits(1024 + i as u64);
        i += 1;
    }
    table
}

/// log2(mantissa / 1024) for 1024 <= mantissa < 2048: each squaring doubles the logarithm and yields its next bit.
const fn log2_bits(mantissa: u64) -> u64 {
    let mut x = (mantissa as u128) << 53;
    let mut bits = 0;
    let mut bit = 56;
    while bit > 0 {
        bit -= 1;
        x = (x * x) >> 63;
        if x >> 64 != 0 {
            x >>= 1;
            bits |= 1 << bit;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN_GAMMA, Rng};

    #[test]
    fn the_table_and_the_logarithm_have_their_written_values() {
        assert_eq!(TABLE[1], 101_471_099_883_473);
        assert_eq!(TABLE[512], 42_150_990_404_376_199);
        assert_eq!(TABLE[1023], 72_006_821_322_107_002);
        for (h, value) in [
            (0, 4_611_686_018_427_387_904),
            (1, 4_611_686_018_427_387_904),
            (3, 4_497_477_433_985_083_769),
            (1 << 63, 72_057_594_037_927_936),
            (u64::MAX, 11_822),
            (GOLDEN_GAMMA, 50_025_408_318_582_630),
        ] {
            assert_eq!(neg_log2(h), value, "L2({h})");
        }
    }

    #[test]
    fn it_never_increases_and_is_never_zero() {
        let mut scores: alloc::vec::Vec<u64> =
            (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1]).collect();
        let mut rng = Rng::new(7);
        for _ in 0..200_000 {
            let score = rng.next_u64();
            scores.extend([score, score.saturating_add(1), score >> rng.uniform(64)]);
        }
        scores.sort_unstable();
        for pair in scores.windows(2) {
            assert!(neg_log2(pair[0]) >= neg_log2(pair[1]), "{pair:?}");
        }
        assert!(neg_log2(u64::MAX) > 0);
    }

    #[test]
    fn it_stays_within_its_stated_error() {
        let mut rng = Rng::new(9);
        for _ in 0..200_000 {
            let score = rng.next_u64() | 1;
            let real = 64.0 - (score as f64).log2();
            let ours = neg_log2(score) as f64 / (1_u64 << 56) as f64;
            assert!(
                (ours - real).abs() < 1.73e-7,
                "{score}: {ours} against {real}"
            );
        }
    }
}
