//! How many numbers of a sorted list come before another one, at once.
//!
//! What it is: the space cut into equal stretches, four or five numbers each on average, with one [`Record`] a stretch:
//! how many numbers come before it, and the next 16 bits of the place of each number in it. What it promises: the
//! answer of a binary search, for every sorted list and every number; equal numbers, one number and none included.
//! What it does not: keep the list; it has to be given the one it was made of. Cost: O(n) to make, 8 bytes a number
//! (32 at least), 13 with owners; a look-up is a multiplication, a record and a compare, wherever numbers are spread
//! evenly. It searches within a stretch that is overfull (13 are kept), which even numbers make of one in 10,000, with
//! owners of one in 1,500, or when the 16 bits are equal. In a list that clumps it is a binary search within a stretch.
//! Source: interpolation by the position itself (W. W. Peterson, 1957), in records that fit a cache line.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::lanes::{CAPACITY, OWNERS, Owned, Record, Stretch, prefetch};

/// The index of a sorted list of positions; the same for the same list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SuccessorIndex<S = Record> {
    /// One a stretch, and one behind the last, whose base is the length of the list.
    stretches: Box<[S]>,
    /// What a position is multiplied by for its stretch, above 2^64, and its place in it, below.
    factor: u64,
}

/// An index that knows the owners of tokens as well.
pub(super) type OwnerIndex = SuccessorIndex<Owned>;

/// The owners of a sorted list of tokens, for an index: empty where they do not fit.
pub(super) struct Around<'o> {
    owners: &'o [u16],
    /// The last ones, and behind them the first ones, which follow.
    end: [u16; 2 * OWNERS],
}

impl<'o> Around<'o> {
    pub(super) fn new(owners: &'o [u16]) -> Self {
        let mut end = [0; 2 * OWNERS];
        let start = owners.len().saturating_sub(OWNERS);
        let around = owners[start..].iter().chain(owners.iter().cycle());
        end.iter_mut()
            .zip(around)
            .for_each(|(to, owner)| *to = *owner);
        Self { owners, end }
    }

    /// The owners from a token on.
    #[inline]
    fn from(&self, first: usize) -> Option<&[u16; OWNERS]> {
        let inside = self.owners.get(first..).and_then(<[u16]>::first_chunk);
        inside.or_else(|| {
            let start = self.owners.len().saturating_sub(OWNERS);
            let of_end = self.end.get(first.checked_sub(start)?..)?;
            of_end.first_chunk().filter(|_| !self.owners.is_empty())
        })
    }
}

impl OwnerIndex {
    /// The index of tokens in ascending order with their owners.
    pub(super) fn with_owners(sorted: &[u64], owners: &Around<'_>) -> Self {
        Self::made(sorted, |record| owned(record, owners))
    }

    /// As [`SuccessorIndex::changed`], with the owners of the new list.
    pub(super) fn changed_with_owners(
        &self,
        sorted: &[u64],
        added: &[u64],
        gone: &[u64],
        owners: &Around<'_>,
    ) -> Self {
        self.changed(sorted, added, gone, |record| owned(record, owners))
    }

    /// The owner of the first token at or above `token`, around the ring, which is also the first above it; `None` where
    /// only the list can tell.
    #[inline]
    pub(super) fn owner(&self, token: u64) -> Option<u16> {
        let (stretch, place) = place(self.factor, token);
        self.stretches
            .get(usize::try_from(stretch).ok()?)?
            .owner(place)
    }
}

fn owned(record: Record, owners: &Around<'_>) -> Owned {
    Owned::new(record, owners.from(record.base()))
}

impl SuccessorIndex {
    /// The index of positions in ascending order, equal ones allowed. The space is the smallest power of two that
    /// holds them all.
    pub(crate) fn new(sorted: &[u64]) -> Self {
        Self::made(sorted, |record| record)
    }
}

impl<S: Stretch> SuccessorIndex<S> {
    /// The index whose stretches are made of their records.
    fn made(sorted: &[u64], stretch_of: impl Fn(Record) -> S) -> Self {
        debug_assert!(sorted.is_sorted());
        let Some(shape) = Shape::of(sorted, S::QUARTERS) else {
            return Self::without_records();
        };
        let mut records = Vec::with_capacity(shape.stretches as usize + 1);
        let mut start = 0;
        for stretch in 0..u64::from(shape.stretches) {
            let rest = &sorted[start..];
            let count = rest
                .iter()
                .take_while(|&&token| shape.place(token).0 == stretch)
                .count();
            records.push(stretch_of(shape.record(start, &rest[..count])));
            start += count;
        }
        records.push(stretch_of(Record::new(start as u32, [])));
        Self {
            stretches: records.into_boxed_slice(),
            factor: shape.factor,
        }
    }

    /// The index of `sorted`, which is the list of this one with `added` and without `gone`, both ascending. Equal to
    /// a new one; copies the records of all stretches without a change, if the stretches are still the same.
    fn changed(
        &self,
        sorted: &[u64],
        added: &[u64],
        gone: &[u64],
        stretch_of: impl Fn(Record) -> S,
    ) -> Self {
        let same = Shape::of(sorted, S::QUARTERS).filter(|shape| {
            (shape.factor, shape.stretches as usize + 1) == (self.factor, self.stretches.len())
        });
        let Some(shape) = same else {
            return Self::made(sorted, stretch_of);
        };
        let mut records: Vec<S> = Vec::with_capacity(self.stretches.len());
        let base = |stretch: usize, by| self.stretches[stretch].record().shifted(by).base();
        let mut by = 0;
        let (mut added, mut gone) = (added.iter().peekable(), gone.iter().peekable());
        loop {
            let next = [added.peek(), gone.peek()].into_iter().flatten().min();
            let stretch = next.map(|&&token| shape.place(token).0);
            let until = stretch.map_or(self.stretches.len(), |stretch| stretch as usize);
            let untouched = &self.stretches[records.len()..until];
            records.extend(
                untouched
                    .iter()
                    .map(|stretch| stretch_of(stretch.record().shifted(by))),
            );
            let Some(stretch) = stretch else {
                break;
            };
            let start = base(until, by);
            while added
                .next_if(|&&token| shape.place(token).0 == stretch)
                .is_some()
            {
                by += 1;
            }
            while gone
                .next_if(|&&token| shape.place(token).0 == stretch)
                .is_some()
            {
                by -= 1;
            }
            let end = base(until + 1, by);
            records.push(stretch_of(shape.record(start, &sorted[start..end])));
        }
        Self {
            stretches: records.into_boxed_slice(),
            factor: self.factor,
        }
    }

    /// An index that leaves every look-up to the list.
    fn without_records() -> Self {
        Self {
            stretches: Box::default(),
            factor: 0,
        }
    }

    /// How many of `sorted`, the list that this is the index of, are below `token`: the index of the first at or above
    /// it.
    #[inline]
    pub(crate) fn successor(&self, sorted: &[u64], token: u64) -> usize {
        match self.rank(token) {
            Some(index) if index <= sorted.len() => index,
            _ => self.search(sorted, token, |other| other < token),
        }
    }

    /// How many of `sorted` are at or below `token`: the index of the first above it.
    #[inline]
    pub(crate) fn successor_after(&self, sorted: &[u64], token: u64) -> usize {
        match self.rank(token) {
            Some(index) if index <= sorted.len() => index,
            _ => self.search(sorted, token, |other| other <= token),
        }
    }

    /// The index of the first number at or above `token`, which is also the first above it; `None` or a number beyond
    /// any list where only the list itself can tell.
    #[inline]
    pub(super) fn rank(&self, token: u64) -> Option<usize> {
        let (stretch, place) = place(self.factor, token);
        self.stretches
            .get(usize::try_from(stretch).ok()?)?
            .record()
            .rank(place)
    }

    /// How many of `sorted` are `before` the `token`, by a search of its stretch.
    #[cold]
    #[inline(never)]
    fn search(&self, sorted: &[u64], token: u64, before: impl Fn(u64) -> bool) -> usize {
        let stretch = usize::try_from(place(self.factor, token).0).unwrap_or(usize::MAX);
        let base = |stretch: usize| {
            let stretch = self.stretches.get(stretch);
            stretch.map_or(sorted.len(), |stretch| stretch.record().base())
        };
        let range = if self.stretches.is_empty() {
            0..sorted.len()
        } else {
            base(stretch)..base(stretch.saturating_add(1))
        };
        let within = sorted.get(range.clone()).unwrap_or_default();
        range.start + within.partition_point(|&other| before(other))
    }

    /// Asks for what [`successor`](Self::successor) of `token` will read.
    #[inline]
    pub(crate) fn prefetch(&self, token: u64) {
        prefetch(&self.stretches, place(self.factor, token).0 as usize);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val::<[S]>(&self.stretches)
    }
}

/// How an index of a list cuts the space.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Shape {
    stretches: u32,
    factor: u64,
}

impl Shape {
    /// `None` for a list too long for the indices of a record.
    fn of(sorted: &[u64], quarters: u32) -> Option<Self> {
        let count = u32::try_from(sorted.len()).ok()?;
        let stretches = (count < MOST).then(|| stretches(count, quarters))?;
        let unused = sorted.last().map_or(0, |last| last.leading_zeros());
        let stretches_64 = u64::from(stretches);
        // More stretches than positions would push the factor out of 64 bits; then the upper stretches stay empty.
        let shift = unused.min(stretches_64.leading_zeros()).min(63);
        Some(Self {
            stretches,
            factor: stretches_64 << shift,
        })
    }

    fn place(self, token: u64) -> (u64, u16) {
        place(self.factor, token)
    }

    fn record(self, base: usize, tokens: &[u64]) -> Record {
        let places = tokens.iter().map(|&token| self.place(token).1);
        Record::new(base as u32, places)
    }
}

/// The stretch of a position and its place in it; both never fall as positions rise.
#[inline]
fn place(factor: u64, token: u64) -> (u64, u16) {
    let product = u128::from(token) * u128::from(factor);
    ((product >> 64) as u64, (product as u64 >> 48) as u16)
}

/// Stretches for so many positions: as few as hold at most so many quarters each on average, of those numbers that have
/// five bits and then zeros. So they change seldom as nodes come and go, and depend on nothing else.
fn stretches(count: u32, quarters: u32) -> u32 {
    let least = (u64::from(count) * 4).div_ceil(u64::from(quarters));
    let low_bits = (u64::BITS - least.leading_zeros()).saturating_sub(5);
    (least.div_ceil(1 << low_bits) << low_bits) as u32
}

/// Indices of a list this long could not be told from the mark of an overfull record.
const MOST: u32 = (1 << 31) - CAPACITY as u32;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::hash::Rng;

    /// Compares the index of a list with a search of it, at every edge, around every number and at random.
    fn assert_searches(mut list: Vec<u64>, rng: &mut Rng, random: usize) {
        list.sort_unstable();
        let index = <SuccessorIndex>::new(&list);
        let around = |&token: &u64| [token.wrapping_sub(1), token, token.wrapping_add(1)];
        let ends = [
            0,
            1,
            0xffff_ffff,
            0x1_0000_0000,
            1 << 63,
            u64::MAX - 1,
            u64::MAX,
        ];
        let tokens: Vec<u64> = list.iter().flat_map(around).chain(ends).collect();
        let unused = list.last().map_or(0, |last| last.leading_zeros()).min(63);
        let random = (0..random).map(|i| rng.next_u64() >> [unused, 0][usize::from(i % 8 == 0)]);
        for token in tokens.into_iter().chain(random) {
            assert_eq!(
                index.successor(&list, token),
                list.partition_point(|&other| other < token),
                "{token:016x} in {} numbers",
                list.len()
            );
            assert_eq!(
                index.successor_after(&list, token),
                list.partition_point(|&other| other <= token),
                "{token:016x} in {} numbers",
                list.len()
            );
            index.prefetch(token);
        }
    }

    #[test]
    fn a_million_random_numbers_are_found_in_lists_of_every_size() {
        let mut rng = Rng::new(1957);
        for (count, random) in [
            (5 * 160, 1_000_000),
            (16_000, 1_000_000),
            (160_000, 1_000_000),
        ] {
            let list = (0..count).map(|_| rng.next_u64()).collect();
            assert_searches(list, &mut rng, random);
        }
        for count in 0..300 {
            let list = (0..count).map(|_| rng.next_u64()).collect();
            assert_searches(list, &mut rng, 1000);
        }
    }

    #[test]
    fn positions_of_fewer_bits_are_spread_over_the_stretches_as_well() {
        let mut rng = Rng::new(32);
        for bits in [1, 4, 6, 16, 20, 31, 32, 33, 48, 63] {
            for count in [1, 2, 30, 3000] {
                let list = (0..count).map(|_| rng.next_u64() >> (64 - bits)).collect();
                assert_searches(list, &mut rng, 2000);
            }
        }
        let list: Vec<u64> = (0..16_000).map(|_| rng.next_u64() >> 32).collect();
        let index = {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            <SuccessorIndex>::new(&sorted)
        };
        let told = (0..100_000)
            .filter_map(|_| index.rank(rng.next_u64() >> 32))
            .filter(|rank| rank >> 31 == 0);
        assert!(told.count() > 99_900);
    }

    #[test]
    fn the_ends_of_the_space_equal_numbers_and_none_are_found() {
        let mut rng = Rng::new(0);
        for list in [
            vec![],
            vec![0],
            vec![1],
            vec![u64::MAX],
            vec![0, u64::MAX],
            vec![0; 5],
            vec![u64::MAX; 40],
            vec![1 << 63; 13],
            vec![1 << 63; 14],
            [vec![0; 20], vec![7; 3], vec![u64::MAX; 20]].concat(),
        ] {
            assert_searches(list, &mut rng, 1000);
        }
    }

    #[test]
    fn crowded_stretches_are_searched() {
        let mut rng = Rng::new(100);
        for crowd in [7, 8, 12, 13, 14, 15, 100, 5000] {
            for width in [3, 40, 60] {
                let start = rng.next_u64() >> 1;
                let crowd = (0..crowd).map(|_| start + (rng.next_u64() >> (64 - width)));
                let list: Vec<u64> = crowd.collect();
                let spread = (0..1000).map(|_| rng.next_u64()).collect();
                assert_searches([list, spread].concat(), &mut rng, 1000);
            }
        }
    }

    #[test]
    fn numbers_that_differ_below_16_bits_of_their_place_are_told_apart() {
        let mut rng = Rng::new(16);
        let list: Vec<u64> = (0..200)
            .flat_map(|_| {
                let start = rng.next_u64();
                (0..4).map(move |step| start.wrapping_add(step * 3))
            })
            .collect();
        assert_searches(list, &mut rng, 10_000);
    }

    #[test]
    fn an_index_without_records_searches_the_list() {
        let index = <SuccessorIndex>::without_records();
        let list = [3, 3, 9];
        for token in [0, 3, 4, 9, 10, u64::MAX] {
            let (below, not_above) = (
                list.partition_point(|&other| other < token),
                list.partition_point(|&other| other <= token),
            );
            assert_eq!(index.successor(&list, token), below);
            assert_eq!(index.successor_after(&list, token), not_above);
        }
    }

    #[test]
    fn stretches_hold_four_numbers_and_a_quarter_at_most() {
        let mut before = 0;
        for count in (0..200_000).chain([1 << 24, MOST - 1]) {
            let stretches = stretches(count, Record::QUARTERS);
            let (four, exact) = (u64::from(stretches) * 4, u64::from(stretches) * 17);
            assert!(exact >= u64::from(count) * 4, "{count}: {stretches}");
            // At least four each: 8 bytes a number, and a record at either end.
            assert!(four <= u64::from(count) + 8, "{count}: {stretches}");
            assert!(stretches >= before);
            before = stretches;
        }
    }
}
