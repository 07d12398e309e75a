//! How well a key hash mixes: what the test asserts and `examples/hash_quality.rs` prints.
//!
//! Avalanche: of random texts of 12 ASCII characters one bit is flipped (84 bits; the eighth of a byte is left alone, so
//! that the text stays UTF-8 for hashes that read it as such), and each output bit should then flip in half of all
//! cases. With 4,000 texts the error of a share is 0.8 %; the worst of 84 x 64 stays below five of those, 4 %.
//!
//! Clumping: names are hashed and counted in cells by the top bits of the hash, ten or so names a cell; chi-square tells
//! how far the counts are from those of random positions, as z = (chi2 - d) / sqrt(2 d). Above 5 the names clump, below
//! -5 they are spread more evenly than chance could: no fault by itself, but a hash with a pattern.

use clockwise::hash::{KeyHash, Rng};

/// What was measured for a hash.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    /// The greatest distance of a share of flips from one half.
    pub(crate) worst_flip: f64,
    /// z of each family, in the order of [`FAMILIES`].
    pub(crate) clumping: [f64; FAMILIES.len()],
}

/// A list of names.
pub(crate) struct Family {
    /// What the names look like.
    pub(crate) name: &'static str,
    /// How many there are.
    pub(crate) count: u32,
    /// Bits that say the cell.
    pub(crate) bits: u32,
    /// One of them, from its number.
    pub(crate) text: fn(u32) -> String,
}

/// Names that keys and vnodes have in the field.
pub(crate) const FAMILIES: [Family; 6] = [
    Family {
        name: "node-3#0 …",
        count: 10_000,
        bits: 10,
        text: |i| format!("node-3#{i}"),
    },
    Family {
        name: "node-0#0 … node-99#99",
        count: 10_000,
        bits: 10,
        text: |i| format!("node-{}#{}", i / 100, i % 100),
    },
    Family {
        name: "0, 1, 2 …",
        count: 100_000,
        bits: 13,
        text: |i| i.to_string(),
    },
    Family {
        name: "user:0 …",
        count: 100_000,
        bits: 13,
        text: |i| format!("user:{i}"),
    },
    Family {
        name: "1998-01-01 …",
        count: 10_000,
        bits: 10,
        text: iso_date,
    },
    Family {
        name: "AAA … ZZZ",
        count: 26 * 26 * 26,
        bits: 10,
        text: ticker,
    },
];

impl Quality {
    /// Measures a hash; keyed ones get a key of their own.
    pub(crate) fn of(hash: KeyHash) -> Self {
        Self {
            worst_flip: worst_flip(hash),
            clumping: core::array::from_fn(|i| clumping(hash, &FAMILIES[i])),
        }
    }

    /// Whether every bit flips in 40 to 60 % of all cases and no family is out of the ordinary.
    pub(crate) fn mixes_well(&self) -> bool {
        self.worst_flip <= 0.1 && self.clumping.iter().all(|z| z.abs() < 5.0)
    }
}

fn worst_flip(hash: KeyHash) -> f64 {
    let bits = hash.bits() as usize;
    let mut flips = vec![0_u32; BYTES * 7 * bits];
    let mut rng = Rng::new(0xa7a1);
    for _ in 0..TEXTS {
        let mut text: [u8; BYTES] = core::array::from_fn(|_| rng.uniform(128) as u8);
        let before = hash.hash(&SECRET, &text);
        for (place, flips) in flips.chunks_mut(bits).enumerate() {
            let bit = 1 << (place % 7);
            text[place / 7] ^= bit;
            let changed = before ^ hash.hash(&SECRET, &text);
            text[place / 7] ^= bit;
            for (bit, flips) in flips.iter_mut().enumerate() {
                *flips += (changed >> bit & 1) as u32;
            }
        }
    }
    let off = |&flips: &u32| (f64::from(flips) / f64::from(TEXTS) - 0.5).abs();
    flips.iter().map(off).fold(0.0, f64::max)
}

fn clumping(hash: KeyHash, family: &Family) -> f64 {
    let mut cells = vec![0_u32; 1 << family.bits];
    for i in 0..family.count {
        let token = hash.hash(&SECRET, (family.text)(i).as_bytes());
        cells[(token >> (hash.bits() - family.bits)) as usize] += 1;
    }
    let expected = f64::from(family.count) / cells.len() as f64;
    let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
    let chi2: f64 = cells.iter().map(square).sum();
    let freedom = (cells.len() - 1) as f64;
    (chi2 - freedom) / (2.0 * freedom).sqrt()
}

/// The day so many days after 1998-01-01.
fn iso_date(mut day: u32) -> String {
    let leap = |year: u32| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1998;
    while day >= 365 + u32::from(leap(year)) {
        day -= 365 + u32::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u32::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

fn ticker(i: u32) -> String {
    [i / 676, i / 26 % 26, i % 26]
        .map(|letter| char::from(b'A' + letter as u8))
        .iter()
        .collect()
}

const BYTES: usize = 12;
const TEXTS: u32 = 4000;
const SECRET: [u8; 16] = *b"quality of a key";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_distinct_and_as_they_are_named() {
        for family in &FAMILIES {
            let names: std::collections::BTreeSet<String> =
                (0..family.count).map(family.text).collect();
            assert_eq!(names.len(), family.count as usize, "{}", family.name);
        }
        assert_eq!(
            [0, 58, 59, 789, 790, 9999].map(iso_date),
            [
                "1998-01-01",
                "1998-02-28",
                "1998-03-01",
                "2000-02-29",
                "2000-03-01",
                "2025-05-18",
            ]
        );
        assert_eq!([0, 27, 17575].map(ticker), ["AAA", "ABB", "ZZZ"]);
    }
}
