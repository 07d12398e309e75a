//! Counts between pairs of nodes, dense where they fit and sparse where they do not.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign};

/// Keys with their requests and bytes; the latter two are 0 where unknown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Amount {
    /// Number of keys.
    pub keys: u64,
    /// Requests to them.
    pub requests: u64,
    /// Bytes stored under them.
    pub bytes: u64,
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            keys: self.keys.saturating_add(other.keys),
            requests: self.requests.saturating_add(other.requests),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl AddAssign for Amount {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Amounts by row and column.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    places: u32,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    Dense(Vec<Amount>),
    Sparse(BTreeMap<(u32, u32), Amount>),
}

impl Pairs {
    /// No amounts between `places` rows and as many columns.
    pub(crate) fn new(places: usize) -> Self {
        let cells = if places * places <= DENSE_CELLS {
            Cells::Dense(vec![Amount::default(); places * places])
        } else {
            Cells::Sparse(BTreeMap::new())
        };
        Self {
            places: places as u32,
            cells,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, row: u32, column: u32, amount: Amount) {
        match &mut self.cells {
            Cells::Dense(cells) => cells[(row * self.places + column) as usize] += amount,
            Cells::Sparse(cells) => *cells.entry((row, column)).or_default() += amount,
        }
    }

    /// All pairs with keys, by row and then column.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, Amount)> {
        let places = self.places as usize;
        let (dense, sparse) = match &self.cells {
            Cells::Dense(cells) => (Some(cells), None),
            Cells::Sparse(cells) => (None, Some(cells)),
        };
        let dense = dense
            .into_iter()
            .flatten()
            .enumerate()
            .map(move |(i, &a)| (i / places, i % places, a));
        let sparse = sparse
            .into_iter()
            .flatten()
            .map(|(&(row, column), &a)| (row as usize, column as usize, a));
        dense.chain(sparse).filter(|(_, _, amount)| amount.keys > 0)
    }
}

/// Up to here a table of all pairs is kept: 24 MB for about a thousand nodes.
const DENSE_CELLS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_tables_agree() {
        let places = 7;
        let mut dense = Pairs::new(places);
        let mut sparse = Pairs {
            places: places as u32,
            cells: Cells::Sparse(BTreeMap::new()),
        };
        for i in 0..1000_u32 {
            let (row, column) = (i * 7919 % 7, i * 104_729 % 6);
            let amount = Amount {
                keys: 1,
                requests: u64::from(i),
                bytes: 2,
            };
            dense.add(row, column, amount);
            sparse.add(row, column, amount);
        }
        assert!(dense.iter().eq(sparse.iter()));
        assert_eq!(
            dense.iter().map(|(_, _, amount)| amount.keys).sum::<u64>(),
            1000
        );
    }
}
