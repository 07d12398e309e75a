//! JumpBack hashing over buckets numbered from 0.
//!
//! What it is: the bucket of a key from a few random words, without any table. What it promises: from n to n + 1
//! buckets a key stays or goes to bucket n; even shares; integers only; 5/3 random words on average or fewer. What it
//! does not: lose a middle bucket; see [`crate::jump`] for what renumbering costs. Cost: no memory, constant expected
//! time. Source: Ertl, "JumpBackHash: Say Goodbye to the Modulo Operation to Distribute Keys Uniformly to Buckets",
//! 2024, over SplitMix64; written from its description.

use core::num::NonZeroU32;

use crate::hash::Rng;

/// Most buckets, 2^31.
pub(crate) const MAX_BUCKETS: u32 = 1 << 31;

/// The bucket of `key` among `buckets`, counted from 0. More than 2^31 buckets count as 2^31.
///
/// ```
/// use std::num::NonZeroU32;
/// let buckets = NonZeroU32::new(10).unwrap();
/// assert_eq!(clockwise::jumpback(0xbdd7_3226_2feb_6e95, buckets), 4);
/// ```
#[must_use]
pub fn jumpback(key: u64, buckets: NonZeroU32) -> u32 {
    let buckets = buckets.get().min(MAX_BUCKETS);
    draw(&mut Rng::new(key), buckets)
}

/// Draws a bucket below `buckets` from the words of `rng`.
fn draw(rng: &mut Rng, buckets: u32) -> u32 {
    if buckets == 1 {
        return 0;
    }
    let first = halves(rng.next_u64());
    let bits = u32::BITS - (buckets - 1).leading_zeros();
    // Each set bit is a doubling of the range in which the key moved; the highest one decides first.
    let mut moves = (first.low ^ first.high) & mask(bits);
    while moves != 0 {
        let range = 1 << moves.ilog2();
        let half = if moves.count_ones() % 2 == 1 {
            first.high
        } else {
            first.low
        };
        let candidate = range + (half & (range - 1));
        if candidate < buckets {
            return candidate;
        }
        if let Some(candidate) = draw_within(rng, range, buckets) {
            return candidate;
        }
        moves ^= range;
    }
    0
}

/// Draws numbers below twice `range` until one is below `buckets`; `None` once one falls below `range`, where the key
/// has not moved.
fn draw_within(rng: &mut Rng, range: u32, buckets: u32) -> Option<u32> {
    loop {
        let word = halves(rng.next_u64());
        for half in [word.low, word.high] {
            let candidate = half & (range | (range - 1));
            if candidate < range {
                return None;
            }
            if candidate < buckets {
                return Some(candidate);
            }
        }
    }
}

struct Halves {
    low: u32,
    high: u32,
}

const fn halves(word: u64) -> Halves {
    Halves {
        low: word as u32,
        high: (word >> 32) as u32,
    }
}

/// The lowest `bits` bits, 1 to 31 of them.
const fn mask(bits: u32) -> u32 {
    u32::MAX >> (u32::BITS - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(key: u64, buckets: u32) -> u32 {
        jumpback(key, NonZeroU32::new(buckets).unwrap())
    }

    #[test]
    fn a_changed_answer_is_always_the_newest_bucket() {
        let mut rng = Rng::new(11);
        for number in 0..20_000_u64 {
            let key = if number % 2 == 0 {
                number
            } else {
                rng.next_u64()
            };
            let mut before = 0;
            for buckets in 2..=300 {
                let now = bucket(key, buckets);
                assert!(
                    now == before || now == buckets - 1,
                    "key {key} from {} to {buckets}",
                    buckets - 1
                );
                before = now;
            }
        }
    }

    #[test]
    fn the_greatest_number_of_buckets_works() {
        for key in 0..1000 {
            assert!(bucket(key, MAX_BUCKETS) < MAX_BUCKETS);
            assert_eq!(bucket(key, u32::MAX), bucket(key, MAX_BUCKETS));
            assert_eq!(bucket(key, 1), 0);
        }
    }
}
