//! JumpBack by the scheme definitions.

use super::{Node, hash::Rng, numbered::owner_then_others};

/// The bucket of a key among `n`, 1 to 2^31.
pub(crate) fn jumpback(key: u64, n: usize) -> usize {
    jumpback_words(key, n).0
}

/// As `jumpback`, with how many random words were drawn.
pub(crate) fn jumpback_words(key: u64, n: usize) -> (usize, u32) {
    let n = n as u64;
    if n == 1 {
        return (0, 0);
    }
    let mut rng = Rng::new(key);
    let first = rng.next();
    let mut words = 1;
    let (low, high) = (first % (1 << 32), first >> 32);
    let mut power = 1;
    while power < n {
        power *= 2;
    }
    let mut x = (low ^ high) % power;
    while x != 0 {
        let mut top = 1;
        while top * 2 <= x {
            top *= 2;
        }
        let half = if x.count_ones() % 2 == 1 { high } else { low };
        let c = top + half % top;
        if c < n {
            return (c as usize, words);
        }
        'inner: loop {
            let word = rng.next();
            words += 1;
            for v in [word % (1 << 32), word >> 32] {
                let c = v % (2 * top);
                if c < top {
                    break 'inner;
                }
                if c < n {
                    return (c as usize, words);
                }
            }
        }
        x -= top;
    }
    (0, words)
}

/// JumpBack's owner, then the others.
pub(crate) fn ranked_jumpback(nodes: &[Node], hash: u64) -> Vec<usize> {
    owner_then_others(jumpback(hash, nodes.len()), nodes, hash)
}
