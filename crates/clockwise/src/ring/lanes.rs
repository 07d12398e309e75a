//! One record of a token index: which of its lanes lie below a number. The only module with `unsafe`.
//!
//! What it is: the compare of 14 lanes at once and the hint to fetch a record early, by SSE2 on x86-64 under the
//! feature `simd`, else by plain code; alone in half a cache line, or with what is beside the lanes in a whole one. What
//! it promises: both forms give the same answer for every record that [`Record::new`] makes and every number; a hint
//! changes nothing. What it does not: know tokens. Cost: a dozen instructions. Source: Intel's intrinsics for SSE2,
//! which every x86-64 has.

/// A stretch of a sorted list in half a cache line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Record {
    /// Where the tokens of the stretch stand in it, ascending; `u16::MAX` in the lanes left over.
    lanes: [u16; LANES],
    /// How many tokens of the list come before the stretch, or this and [`OVERFULL`].
    base: u32,
}

/// Lanes of a record: what is left of 32 bytes beside the base.
const LANES: usize = 14;
/// Tokens that a record takes: the last lane stays `u16::MAX`, so that one is always at or above any number.
pub(super) const CAPACITY: usize = LANES - 1;
/// The bit of a base that says that the lanes are not told. A list is shorter, so no index has it.
const OVERFULL: u32 = 1 << 31;

impl Record {
    /// The record of a stretch behind `base` tokens whose tokens stand at `places`, ascending. More than [`CAPACITY`]
    /// are not kept: the record then answers nothing.
    pub(super) fn new(base: u32, places: impl IntoIterator<Item = u16>) -> Self {
        let mut lanes = [u16::MAX; LANES];
        for (lane, place) in places.into_iter().enumerate() {
            if lane == CAPACITY {
                return Self {
                    lanes: [u16::MAX; LANES],
                    base: base | OVERFULL,
                };
            }
            lanes[lane] = place;
        }
        Self { lanes, base }
    }

    /// How many tokens of the list come before the stretch.
    #[inline]
    pub(super) fn base(&self) -> usize {
        (self.base & !OVERFULL) as usize
    }

    /// The same stretch with `by` more tokens before it, or fewer.
    pub(super) fn shifted(self, by: i32) -> Self {
        Self {
            base: self.base.wrapping_add_signed(by),
            ..self
        }
    }

    /// How many tokens of the list come before `place` of this stretch. `None` when a lane is equal, so that the
    /// place does not tell; at least 2^31 when the record does not tell.
    #[inline]
    pub(super) fn rank(&self, place: u16) -> Option<usize> {
        let below = self.below(place);
        (self.lanes[below] != place).then_some(self.base as usize + below)
    }

    /// How many lanes are below `place`: at most [`CAPACITY`].
    #[inline]
    fn below(&self, place: u16) -> usize {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        return self.below_sse2(place);
        #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
        return self.below_plain(place);
    }

    /// As `below`, by plain code.
    #[cfg(any(test, not(all(feature = "simd", target_arch = "x86_64"))))]
    #[inline]
    fn below_plain(&self, place: u16) -> usize {
        // A sum over all lanes, since a search that stops early would be mispredicted as often as not.
        let below: u16 = self.lanes.iter().map(|&lane| u16::from(lane < place)).sum();
        usize::from(below).min(CAPACITY)
    }

    /// As `below`, by vectors.
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    #[expect(unsafe_code, reason = "loads of two vectors; SSE2 is part of x86-64")]
    #[inline]
    fn below_sse2(&self, place: u16) -> usize {
        use core::arch::x86_64::{
            __m128i, _mm_cmpeq_epi8, _mm_load_si128, _mm_movemask_epi8, _mm_packs_epi16,
            _mm_set1_epi16, _mm_setzero_si128, _mm_subs_epu16,
        };
        let halves = core::ptr::from_ref(self).cast::<__m128i>();
        // SAFETY: a record is 32 bytes, all of them initialised, and aligned to 32: two aligned vectors of 16 bytes.
        // The target has SSE2, as every x86-64.
        let at_or_above = unsafe {
            let place = _mm_set1_epi16(place.cast_signed());
            // Zero unless the lane is below, and so after the saturation to eight bits.
            let short_by = |half| _mm_subs_epu16(place, _mm_load_si128(half));
            let short_by = _mm_packs_epi16(short_by(halves), short_by(halves.add(1)));
            _mm_movemask_epi8(_mm_cmpeq_epi8(short_by, _mm_setzero_si128()))
        };
        // The last lane is at or above any place; the bits behind it are those of the base.
        (at_or_above as u32 | 1 << CAPACITY).trailing_zeros() as usize
    }
}

/// What an index holds for each stretch.
pub(crate) trait Stretch: Copy + Eq {
    /// Most numbers that a stretch holds on average, in quarters: more would overfill too many.
    const QUARTERS: u32;

    fn record(&self) -> &Record;
}

impl Stretch for Record {
    const QUARTERS: u32 = 17;

    #[inline]
    fn record(&self) -> &Record {
        self
    }
}

/// A record with the owner of each of its tokens, and of the first one behind them: a cache line that answers alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Owned {
    record: Record,
    owners: [u16; LANES],
}

impl Stretch for Owned {
    const QUARTERS: u32 = 20;

    #[inline]
    fn record(&self) -> &Record {
        &self.record
    }
}

impl Owned {
    /// An owner whose number is this one has to be looked for in the list.
    const UNTOLD: u16 = u16::MAX;

    /// The stretch whose tokens have the first of these owners, with those of the tokens behind it; without owners it
    /// tells nothing.
    #[inline]
    pub(super) fn new(record: Record, owners: Option<&[u16; OWNERS]>) -> Self {
        let owners = owners.filter(|_| record.base & OVERFULL == 0);
        Self {
            record,
            owners: *owners.unwrap_or(&[Self::UNTOLD; OWNERS]),
        }
    }

    /// The owner at `place` of the stretch; `None` where the record does not tell.
    #[inline]
    pub(super) fn owner(&self, place: u16) -> Option<u16> {
        let below = self.record.below(place);
        let owner = self.owners[below];
        let tells = (self.record.lanes[below] != place) & (owner != Self::UNTOLD);
        tells.then_some(owner)
    }
}

/// How many owners a stretch takes.
pub(super) const OWNERS: usize = LANES;

/// Asks for a record to be brought near, if there is such a one.
#[inline]
pub(super) fn prefetch<T>(list: &[T], index: usize) {
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    #[expect(unsafe_code, reason = "a hint to the cache")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = list.as_ptr().wrapping_add(index).cast::<i8>();
        // SAFETY: a prefetch may be given any address; it reads nothing into the program and never faults. The target
        // has SSE, as every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
    let _ = (list, index);
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::hash::Rng;

    /// Calls every form and checks that they agree with the definition.
    fn assert_below(lanes: &[u16], place: u16) {
        let record = Record::new(7, lanes.iter().copied());
        let wanted = lanes.iter().filter(|&&lane| lane < place).count();
        assert_eq!(record.below_plain(place), wanted, "{lanes:?}, {place}");
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        assert_eq!(record.below_sse2(place), wanted, "{lanes:?}, {place}");
        let told = !lanes.contains(&place) && place != u16::MAX;
        assert_eq!(
            record.rank(place),
            told.then_some(7 + wanted),
            "{lanes:?}, {place}"
        );
    }

    #[test]
    fn both_forms_agree_on_every_pattern_of_lanes_below_equal_and_above() {
        // A place, and for each record how many lanes lie below it, at it and above it.
        for place in [1, 2, 0x7fff, 0x8000, 0x8001, u16::MAX - 1] {
            for below in 0..=CAPACITY {
                for equal in 0..=CAPACITY - below {
                    for above in 0..=CAPACITY - below - equal {
                        let parts = [(place - 1, below), (place, equal), (place + 1, above)];
                        let lanes: Vec<u16> = parts
                            .iter()
                            .flat_map(|&(lane, count)| std::iter::repeat_n(lane, count))
                            .collect();
                        assert_below(&lanes, place);
                        assert_below(&lanes, 0);
                        assert_below(&lanes, u16::MAX);
                    }
                }
            }
        }
    }

    #[test]
    fn both_forms_agree_on_random_lanes_and_every_place() {
        let mut rng = Rng::new(14);
        for count in (0..=CAPACITY).cycle().take(60) {
            let mut lanes: Vec<u16> = (0..count).map(|_| rng.next_u64() as u16).collect();
            lanes.sort_unstable();
            for place in 0..=u16::MAX {
                assert_below(&lanes, place);
            }
        }
    }

    #[test]
    fn a_base_of_any_bits_is_never_taken_for_a_lane() {
        for base in [0, 1, 0xffff, 0x8000_7fff & !OVERFULL, OVERFULL - 1] {
            let full = Record::new(base, [5; CAPACITY]);
            for place in [0, 5, 6, u16::MAX - 1] {
                let below = if place > 5 { CAPACITY } else { 0 };
                assert_eq!(full.below_plain(place), below);
                #[cfg(all(feature = "simd", target_arch = "x86_64"))]
                assert_eq!(full.below_sse2(place), below);
            }
        }
    }

    #[test]
    fn an_owned_stretch_names_the_owner_of_the_first_token_at_or_after() {
        let mut rng = Rng::new(64);
        assert_eq!(size_of::<Owned>(), 64);
        for count in (0..=CAPACITY + 2).cycle().take(600) {
            let mut lanes: Vec<u16> = (0..count).map(|_| rng.next_u64() as u16).collect();
            lanes.sort_unstable();
            let owners: Vec<u16> = (0..OWNERS).map(|_| rng.next_u64() as u16).collect();
            let record = Record::new(7, lanes.iter().copied());
            assert_eq!(Owned::new(record, None).owner(5), None);
            let owned = Owned::new(record, owners.first_chunk());
            for place in (0..100).map(|_| rng.next_u64() as u16).chain(lanes.clone()) {
                let first = lanes.iter().filter(|&&lane| lane < place).count();
                let told = count <= CAPACITY && !lanes.contains(&place) && place != u16::MAX;
                let owner = owners.get(first).copied();
                let owner = owner.filter(|&owner| told && owner != Owned::UNTOLD);
                assert_eq!(owned.owner(place), owner, "{lanes:?}, {place}");
            }
        }
    }

    #[test]
    fn an_overfull_record_tells_nothing_but_its_base() {
        let record = Record::new(9, [3; CAPACITY + 1]);
        assert_eq!(record.base(), 9);
        assert_eq!(record.shifted(-2).base(), 7);
        for place in 0..u16::MAX {
            assert!(record.rank(place).is_none_or(|rank| rank >= 1 << 31));
        }
        assert_eq!(record.rank(u16::MAX), None);
    }
}
