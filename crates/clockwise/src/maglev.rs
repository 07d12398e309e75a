//! Maglev: a large table that nodes fill in turns.
//!
//! What it is: every node has its own order of the table's entries, and nodes take free entries in turns until the
//! table is full; weights skip turns. What it promises: shares within one entry of the weights' for equal weights and
//! close to it otherwise; one array load a lookup; the same table for the same members in any order; integers only.
//! What it does not: move the least. Removing one of n nodes moves other keys too, the more the fewer entries a node
//! has. Ranked answers go by the race on the key hash. Cost: 4 bytes an entry, build about M ln M steps. Source:
//! Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer", 2016; the weighted turns after
//! Envoy's, in integers.

use alloc::vec;
use alloc::vec::Vec;

use crate::hash::xxh64;

/// The owner of each of `size` entries (a prime) for members in ascending id order, each with its id and weight;
/// nothing when no member has weight.
pub(crate) fn fill<'a>(members: impl Iterator<Item = (&'a str, u32)>, size: u32) -> Vec<u32> {
    let mut turns: Vec<Turns> = (0..)
        .zip(members)
        .filter(|(_, (_, milli))| *milli > 0)
        .map(|(node, (id, milli))| Turns::new(node, id, milli, size))
        .collect();
    let most = turns.iter().map(|turns| turns.milli).max().unwrap_or(0);
    if most == 0 {
        return Vec::new();
    }
    let mut owners = vec![FREE; size as usize];
    let mut filled = 0;
    for round in 1_u64.. {
        for turns in &mut turns {
            if round * u64::from(turns.milli) < turns.target {
                continue;
            }
            turns.target += u64::from(most);
            let entry = turns.next_free(&owners, size);
            owners[entry as usize] = turns.node;
            filled += 1;
            if filled == size {
                return owners;
            }
        }
    }
    owners
}

/// A node's order of the entries and how far it is.
struct Turns {
    node: u32,
    milli: u32,
    entry: u32,
    step: u32,
    target: u64,
}

impl Turns {
    fn new(node: u32, id: &str, milli: u32, size: u32) -> Self {
        let prime = u64::from(size);
        let start = xxh64(id.as_bytes(), 0) % prime;
        let step = xxh64(id.as_bytes(), 1) % (prime - 1) + 1;
        Self {
            node,
            milli,
            entry: start as u32,
            step: step as u32,
            target: 0,
        }
    }

    /// The next free entry in this node's order; one is left while the table is not full.
    fn next_free(&mut self, owners: &[u32], size: u32) -> u32 {
        loop {
            let entry = self.entry;
            // Sizes stay below 2^24, so the sum fits.
            self.entry = (entry + self.step) % size;
            if owners[entry as usize] == FREE {
                return entry;
            }
        }
    }
}

/// Whether a table of this size lets every node reach every entry.
pub(crate) const fn is_prime(number: u32) -> bool {
    if number < 2 {
        return false;
    }
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

const FREE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_recognised() {
        let primes: Vec<u32> = (0..40).filter(|&number| is_prime(number)).collect();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]);
        assert!(is_prime(65_537) && !is_prime(65_536) && is_prime(655_373));
    }

    #[test]
    fn small_published_tables_are_met() {
        let table = |ids: &[(&'static str, u32)], size| fill(ids.iter().copied(), size);
        let six = [
            "127.0.0.1:90",
            "127.0.0.1:91",
            "127.0.0.1:92",
            "127.0.0.1:93",
            "127.0.0.1:94",
            "127.0.0.1:95",
        ];
        assert_eq!(table(&six.map(|id| (id, 1000)), 7), [2, 4, 0, 1, 5, 0, 3]);
        assert_eq!(
            table(
                &["90", "91", "92", "93", "94", "95"].map(|id| (id, 1000)),
                7
            ),
            [2, 5, 0, 3, 4, 1, 0]
        );
    }
}
