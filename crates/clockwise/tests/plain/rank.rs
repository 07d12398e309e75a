//! Permutation rank by the scheme definitions, the whole permutation written out layer by layer.

use super::hash::{G, mix};

/// A layer: where it sends the number `x` of 4^(j+1).
pub(crate) fn layer(key: u64, j: u32, x: u64) -> u64 {
    let h = j + 1;
    let m = (1 << h) - 1;
    let rounds = if h <= 2 {
        12
    } else if h == 3 {
        10
    } else if h == 4 {
        6
    } else {
        4
    };
    let kj = mix(key.wrapping_add(u64::from(j + 1).wrapping_mul(G)));
    let (mut l, mut r) = (x >> h, x & m);
    for t in 0..rounds {
        let f = mix(kj ^ (((t + 1) << 32) | r)) >> (64 - h);
        (l, r) = (r, l ^ f);
    }
    (l << h) | r
}

/// A permutation of all 4^(j+1) numbers: a number of the layer that the smaller permutation has too gives its place to
/// the smaller one's next.
fn permutation(key: u64, j: u32) -> Vec<u64> {
    let mine = (0..4_u64.pow(j + 1)).map(|x| layer(key, j, x));
    if j == 0 {
        return mine.collect();
    }
    let mut smaller = permutation(key, j - 1).into_iter();
    mine.map(|y| {
        if y < 4_u64.pow(j) {
            smaller.next().expect("as many small numbers as places")
        } else {
            y
        }
    })
    .collect()
}

/// All of `n` slots in a key's order.
pub(crate) fn rank(key: u64, n: usize) -> Vec<usize> {
    let mut top = 0;
    while 4_u64.pow(top + 1) < n as u64 {
        top += 1;
    }
    permutation(key, top)
        .into_iter()
        .filter(|&y| y < n as u64)
        .map(|y| y as usize)
        .collect()
}
