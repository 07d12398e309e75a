//! What the rows of a table say of a column, or of two columns together.
//!
//! What it is: one pass over all rows, with each value placed on shards by the real scheme. What it promises: rows and bytes
//! on each shard are exact; different values are exact up to the bound of [`Distinct`], beyond it estimated; the largest
//! value is counted within 1/1024 of the rows. What it does not: keep rows. Memory: some 8 MiB a column at most.
//! Cost: a hash and a look-up for each value. Source: heavy hitters after Misra and Gries, 1982.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use clockwise::Placement;
use clockwise::hash::xxh3_64;

use crate::census::{Distinct, Hashed};

/// What is known of a column so far.
pub(super) struct ColumnCount {
    /// The columns' places in a row: one, or two.
    pub(super) places: Vec<usize>,
    pub(super) rows: u64,
    pub(super) nulls: u64,
    pub(super) shard_rows: Vec<u64>,
    pub(super) shard_bytes: Vec<u64>,
    distinct: Distinct,
    heavy: HashMap<u64, Heavy, BuildHasherDefault<Hashed>>,
    pub(super) order: Order,
    /// The value of the row, two with their lengths between.
    scratch: Vec<u8>,
}

/// A value that may be one of the largest.
struct Heavy {
    /// Rows counted, at most the number there are.
    rows: u64,
    bytes: u64,
    text: Vec<u8>,
    owner: usize,
}

/// The largest value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Giant {
    pub(super) text: Vec<u8>,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) owner: usize,
}

/// Whether values rise from row to row, and whether they are numbers or times.
#[derive(Debug, Default)]
pub(super) struct Order {
    last: Option<f64>,
    pub(super) values: u64,
    pub(super) rising: u64,
    pub(super) numbers: u64,
    pub(super) times: u64,
    /// Steps of exactly one.
    pub(super) ones: u64,
}

impl ColumnCount {
    pub(super) fn new(places: Vec<usize>, shards: usize) -> Self {
        Self {
            places,
            rows: 0,
            nulls: 0,
            shard_rows: vec![0; shards],
            shard_bytes: vec![0; shards],
            distinct: Distinct::default(),
            heavy: HashMap::default(),
            order: Order::default(),
            scratch: Vec::new(),
        }
    }

    /// Counts a row of `bytes` in all.
    pub(super) fn add<'a>(
        &mut self,
        placement: &Placement,
        field: impl Fn(usize) -> Option<&'a [u8]>,
        bytes: u64,
    ) {
        let mut values = self
            .places
            .iter()
            .map(|&place| field(place).unwrap_or_default());
        self.scratch.clear();
        let mut is_null = false;
        if let [place] = self.places[..] {
            let value = field(place).unwrap_or_default();
            is_null = is_nothing(value);
            self.order.add(value);
            self.scratch.extend_from_slice(value);
        } else {
            for value in values.by_ref() {
                is_null |= is_nothing(value);
                // Lengths keep (a, bc) and (ab, c) apart.
                self.scratch
                    .extend_from_slice(&(value.len() as u64).to_le_bytes());
                self.scratch.extend_from_slice(value);
            }
        }
        drop(values);
        self.rows += 1;
        self.nulls += u64::from(is_null);
        let owner = placement
            .owner_index(&placement.hash(&self.scratch))
            .unwrap_or(0);
        self.shard_rows[owner] += 1;
        self.shard_bytes[owner] += bytes;
        if is_null {
            return;
        }
        let hash = xxh3_64(&self.scratch);
        self.distinct.add_hash(hash);
        self.add_heavy(hash, bytes, owner);
    }

    fn add_heavy(&mut self, hash: u64, bytes: u64, owner: usize) {
        if let Some(heavy) = self.heavy.get_mut(&hash) {
            heavy.rows += 1;
            heavy.bytes += bytes;
        } else if self.heavy.len() < HEAVY {
            let length = self.scratch.len().min(MOST_SHOWN);
            let heavy = Heavy {
                rows: 1,
                bytes,
                text: self.scratch[..length].to_vec(),
                owner,
            };
            self.heavy.insert(hash, heavy);
        } else {
            self.heavy.retain(|_, heavy| {
                // The mean of what its rows have.
                heavy.bytes -= heavy.bytes / heavy.rows;
                heavy.rows -= 1;
                heavy.rows > 0
            });
        }
    }

    /// Different values, and whether that is exact.
    pub(super) fn distinct(&mut self) -> (u64, bool) {
        self.distinct.count()
    }

    /// The value with most rows, counted from below; `None` where there is none, or the columns are two.
    pub(super) fn giant(&self) -> Option<Giant> {
        #[expect(
            clippy::iter_over_hash_type,
            reason = "the greatest of a total order does not depend on the order"
        )]
        let most = self
            .heavy
            .values()
            .max_by(|a, b| (a.rows, &b.text).cmp(&(b.rows, &a.text)))?;
        Some(Giant {
            text: most.text.clone(),
            rows: most.rows,
            bytes: most.bytes,
            owner: most.owner,
        })
    }
}

impl Order {
    fn add(&mut self, value: &[u8]) {
        if is_nothing(value) {
            return;
        }
        self.values += 1;
        let Ok(text) = std::str::from_utf8(value) else {
            return;
        };
        let text = text.trim();
        let time = time_of(text);
        self.times += u64::from(time.is_some());
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        self.numbers += u64::from(number.is_some());
        let Some(number) = time.or(number) else {
            return;
        };
        if let Some(last) = self.last {
            self.rising += u64::from(number >= last);
            self.ones += u64::from(number == last + 1.0);
        }
        self.last = Some(number);
    }
}

/// A date or a time of the form 2026-12-01, with what may follow, as a number that rises with it.
fn time_of(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| -> Option<f64> {
        let text = text.get(range)?;
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok()).flatten()
    };
    if bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    if !(1.0..=12.0).contains(&month) || !(1.0..=31.0).contains(&day) {
        return None;
    }
    let days = (year * 12.0 + month) * 31.0 + day;
    let clock = [11..13, 14..16, 17..19].map(|range| digits(range).unwrap_or(0.0));
    Some(days * 86400.0 + clock[0] * 3600.0 + clock[1] * 60.0 + clock[2])
}

/// What tables write for no value.
fn is_nothing(value: &[u8]) -> bool {
    value.is_empty() || value == b"\\N" || value.eq_ignore_ascii_case(b"null")
}

/// Values followed as candidates for the largest: its count falls short by less than 1/1024 of the rows.
const HEAVY: usize = 1023;
/// Bytes of a value that are kept to be shown.
const MOST_SHOWN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_rise_with_the_clock_and_other_texts_are_none() {
        let times = [
            "2025-12-31",
            "2026-01-01T00:00:01Z",
            "2026-01-01 00:01:00",
            "2026-02-01",
        ]
        .map(|text| time_of(text).unwrap());
        assert!(times.is_sorted());
        for text in [
            "",
            "2026-13-01",
            "2026-1-1",
            "20260101",
            "aaaa-bb-cc",
            "é026-01-01",
        ] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
