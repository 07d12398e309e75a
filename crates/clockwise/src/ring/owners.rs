//! The member of each token of a ring, in two bytes as long as numbers fit.
//!
//! What it is: a list of members' numbers. What it promises: the numbers that it was made of, whichever width holds
//! them. What it does not: change. Cost: 2 bytes a token, 4 when there is a number above 65,535. Source: none.

use alloc::vec::Vec;
use core::ops::Range;

use super::index::Around;

/// Members by token. Equal lists have one form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Owners {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Owners {
    /// Those of a list, which has to give the same ones each time.
    pub(super) fn new(owners: impl Iterator<Item = u32> + Clone) -> Self {
        let most = owners.clone().max().unwrap_or_default();
        let mut list = Self::with_room(owners.size_hint().0, most);
        list.extend(owners);
        list
    }

    /// An empty list for so many numbers, none above `most`, which one of them is.
    pub(super) fn with_room(count: usize, most: u32) -> Self {
        if most <= u32::from(u16::MAX) {
            Self::Narrow(Vec::with_capacity(count))
        } else {
            Self::Wide(Vec::with_capacity(count))
        }
    }

    /// Adds numbers that the list has room for.
    pub(super) fn extend(&mut self, more: impl Iterator<Item = u32>) {
        match self {
            Self::Narrow(owners) => owners.extend(more.map(|owner| owner as u16)),
            Self::Wide(owners) => owners.extend(more),
        }
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<u32> {
        match self {
            Self::Narrow(owners) => owners.get(index).copied().map(u32::from),
            Self::Wide(owners) => owners.get(index).copied(),
        }
    }

    /// For an index: none where they are wide.
    pub(super) fn around(&self) -> Around<'_> {
        match self {
            Self::Narrow(owners) => Around::new(owners),
            Self::Wide(_) => Around::new(&[]),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + Clone {
        self.range(0..usize::MAX)
    }

    /// Those of a range of indices, as far as it goes.
    pub(super) fn range(&self, range: Range<usize>) -> impl Iterator<Item = u32> + Clone {
        let (narrow, wide): (&[u16], &[u32]) = match self {
            Self::Narrow(owners) => (within(owners, range), &[]),
            Self::Wide(owners) => (&[], within(owners, range)),
        };
        let narrow = narrow.iter().copied().map(u32::from);
        narrow.chain(wide.iter().copied())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(owners) => owners.len(),
            Self::Wide(owners) => owners.len(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Narrow(owners) => owners.capacity() * size_of::<u16>(),
            Self::Wide(owners) => owners.capacity() * size_of::<u32>(),
        }
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
            let held = Owners::new(owners.iter().copied());
            assert!(held.iter().eq(owners.iter().copied()));
            assert!(held.range(1..2).eq(owners.iter().copied().skip(1).take(1)));
            for index in 0..5 {
                assert_eq!(held.get(index), owners.get(index).copied());
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
