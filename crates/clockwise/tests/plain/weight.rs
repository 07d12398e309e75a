//! The logarithm and the cost of the weighted race by the scheme definitions, in whole numbers.

use std::sync::OnceLock;

/// `T[i]`: log2(1 + i/1024) with 56 fraction bits, one bit at a time by squaring.
fn table() -> &'static [u64; 1025] {
    static TABLE: OnceLock<[u64; 1025]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut t = [0; 1025];
        for (i, entry) in t.iter_mut().enumerate() {
            *entry = table_entry(i as u64);
        }
        t
    })
}

/// One value of `T`, `i` from 0 to 1024.
pub(crate) fn table_entry(i: u64) -> u64 {
    if i == 1024 {
        return 1 << 56;
    }
    let mut x = u128::from(1024 + i) << 53;
    let mut r = 0;
    for b in (0..=55).rev() {
        x = (x * x) >> 63;
        if x >= 1 << 64 {
            x >>= 1;
            r |= 1 << b;
        }
    }
    r
}

/// -log2(h / 2^64) with 56 fraction bits.
pub(crate) fn l2(h: u64) -> u64 {
    let t = table();
    let u = h | 1;
    let z = u.leading_zeros();
    // The leading one falls off at the top.
    let f = (u << z) << 1;
    let i = (f >> 54) as usize;
    let q = (f >> 22) & 0xFFFF_FFFF;
    let step = (u128::from(t[i + 1] - t[i]) * u128::from(q)) >> 32;
    let log = u128::from(t[i]) + step;
    let whole = u128::from(z + 1) << 56;
    u64::try_from(whole - log).expect("at most 64 << 56")
}

/// floor((L2(score) << 32) / weight in thousandths); the least wins. The weight is not 0.
pub(crate) fn cost(score: u64, milli: u32) -> u128 {
    (u128::from(l2(score)) << 32) / u128::from(milli)
}
