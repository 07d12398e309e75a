//! The member of each token of a ring, in two bytes as long as numbers fit.
//!
//! What it is: a list of members' numbers. What it promises: the numbers that it was made of, whichever width holds
//! them. What it does not: change. Cost: 2 bytes a token, 4 when there is a number above 65,535. Source: none.

use alloc::vec::Vec;
use core::ops::Range;

use super::lanes;

/// Members by token. Equal lists have one form: one of the two is empty, so that its bound tells which holds them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Owners {
    narrow: Vec<u16>,
    wide: Vec<u32>,
}

impl Owners {
    pub(super) fn new(owners: Vec<u32>) -> Self {
        if owners.iter().all(|&owner| owner <= u32::from(u16::MAX)) {
            Self {
                narrow: owners.iter().map(|&owner| owner as u16).collect(),
                wide: Vec::new(),
            }
        } else {
            Self {
                narrow: Vec::new(),
                wide: owners,
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<u32> {
        match self.narrow.get(index) {
            Some(&owner) => Some(u32::from(owner)),
            None => self.wide.get(index).copied(),
        }
    }

    /// Asks for what [`get`](Self::get) will read.
    #[inline]
    pub(super) fn prefetch(&self, index: usize) {
        if self.wide.is_empty() {
            lanes::prefetch(&self.narrow, index);
        } else {
            lanes::prefetch(&self.wide, index);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.range(0..usize::MAX)
    }

    /// Those of a range of indices, as far as it goes.
    pub(super) fn range(&self, range: Range<usize>) -> impl Iterator<Item = u32> {
        let narrow = within(&self.narrow, range.clone());
        let wide = within(&self.wide, range);
        let narrow = narrow.iter().copied().map(u32::from);
        narrow.chain(wide.iter().copied())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.narrow.capacity() * size_of::<u16>() + self.wide.capacity() * size_of::<u32>()
    }
}

fn within<T>(list: &[T], range: Range<usize>) -> &[T] {
    let end = range.end.min(list.len());
    &list[range.start.min(end)..end]
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn both_widths_give_back_what_they_were_made_of() {
        for owners in [
            vec![],
            vec![0, 65_535, 7],
            vec![0, 65_536, 7],
            vec![u32::MAX],
        ] {
            let held = Owners::new(owners.clone());
            assert!(held.iter().eq(owners.iter().copied()));
            assert!(held.range(1..2).eq(owners.iter().copied().skip(1).take(1)));
            for index in 0..5 {
                assert_eq!(held.get(index), owners.get(index).copied());
                held.prefetch(index);
            }
            let width = if owners.iter().any(|&owner| owner > 65_535) {
                4
            } else {
                2
            };
            assert_eq!(held.memory_bytes(), width * owners.len());
        }
    }
}
