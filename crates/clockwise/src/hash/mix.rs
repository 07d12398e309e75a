//! Integer mixers and the generator that schemes draw from.
//!
//! Promises bijections on 32 or 64 bits: no two inputs share an output. Does not hash bytes. Cost: a few
//! multiplications. Source: MurmurHash3's finalisers (Appleby, 2011); SplitMix64 (Steele, Lea and Flood, 2014).

/// The step of SplitMix64: 2^64 divided by the golden ratio, made odd.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// MurmurHash3's 32-bit finaliser.
#[must_use]
pub const fn fmix32(mut z: u32) -> u32 {
    z = (z ^ z >> 16).wrapping_mul(0x85eb_ca6b);
    z = (z ^ z >> 13).wrapping_mul(0xc2b2_ae35);
    z ^ z >> 16
}

/// MurmurHash3's 64-bit finaliser.
#[must_use]
pub const fn fmix64(mut z: u64) -> u64 {
    z = (z ^ z >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ z >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ z >> 33
}

/// SplitMix64's finaliser, without its step.
#[inline]
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// One whole step of SplitMix64: the golden gamma is added first, then [`mix`].
#[inline]
#[must_use]
pub const fn splitmix64(z: u64) -> u64 {
    mix(z.wrapping_add(GOLDEN_GAMMA))
}

/// SplitMix64 as a generator: the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator that starts at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        mix(self.0)
    }

    /// The next integer below `bound` without bias (Lemire, 2019); 0 when `bound` is 0.
    pub fn uniform(&mut self, bound: u32) -> u32 {
        if bound == 0 {
            return 0;
        }
        let reject_below = bound.wrapping_neg() % bound;
        loop {
            let product = (self.next_u64() & 0xffff_ffff) * u64::from(bound);
            if product as u32 >= reject_below {
                return (product >> 32) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_written_first_numbers() {
        let mut rng = Rng::new(42);
        let first: [u64; 5] = core::array::from_fn(|_| rng.next_u64());
        assert_eq!(
            first,
            [
                0xbdd7_3226_2feb_6e95,
                0x28ef_e333_b266_f103,
                0x4752_6757_130f_9f52,
                0x581c_e1ff_0e4a_e394,
                0x09bc_585a_2448_23f2
            ]
        );
        assert_eq!((mix(0), mix(1)), (0, 0x5692_161d_100b_05e5));
    }

    #[test]
    fn uniform_reaches_every_value_below_its_bound_and_no_other() {
        let mut rng = Rng::new(1);
        for bound in [1, 2, 3, 7, 10] {
            let mut seen = [0_u32; 10];
            for _ in 0..1000 {
                seen[rng.uniform(bound) as usize] += 1;
            }
            assert!(
                seen.iter()
                    .enumerate()
                    .all(|(i, &n)| (n > 0) == (i < bound as usize)),
                "{bound}: {seen:?}"
            );
        }
        assert_eq!(rng.uniform(0), 0);
    }
}
