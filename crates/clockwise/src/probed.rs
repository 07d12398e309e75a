//! Probed slots: numbered slots that may each be full, partly open or closed.
//!
//! What it is: JumpBack names a candidate slot; a threshold of 0 to 65536 says how often the slot takes the key; a
//! key that is turned away probes again, up to 64 times, and then goes by a race over the open slots. What it
//! promises: closing a slot moves only its keys, opening it again brings back exactly those; a raised threshold moves
//! keys only to the slot, a lowered one only away; a full slot appended at the end moves keys only to it; nothing
//! depends on the order of past changes. With all slots full it equals JumpBack. What it does not: a *partly open*
//! slot appended at the end shifts some (1 - t/65536)/a of the keys between old slots too; cutting closed slots off
//! the end moves keys; and continuing the probes gives replicas of which an appended slot can change several. Cost: on
//! average a x 65536 / (sum of thresholds) probes, O(slots) in the rare last resort. Source: our own composition;
//! near relatives are DxHash (2021) and JumpBackHash (2024).

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::hash::{GOLDEN_GAMMA, mix, splitmix64};
use crate::{jumpback, neg_log2};

/// Slots with their thresholds.
///
/// ```
/// use clockwise::ProbedSlots;
/// let mut slots = ProbedSlots::full(10);
/// let key = 0x4752_6757_130f_9f52;
/// assert_eq!(slots.slot(key), Some(3));
/// slots.set_threshold(3, 0);
/// assert_eq!(slots.slot(key), Some(5));
/// slots.set_threshold(3, ProbedSlots::FULL);
/// assert_eq!(slots.slot(key), Some(3));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ProbedSlots {
    thresholds: Vec<u32>,
    open: u32,
}

impl ProbedSlots {
    /// The threshold of a slot that takes every key it is asked for.
    pub const FULL: u32 = 1 << 16;
    /// Probes before the race over all open slots.
    pub const PROBES: u32 = 64;

    /// This many slots, all full; at most 2^31.
    #[must_use]
    pub fn full(slots: u32) -> Self {
        Self::with_thresholds((0..slots).map(|_| Self::FULL))
    }

    /// Slots with these thresholds; values above [`FULL`](Self::FULL) count as full.
    #[must_use]
    pub fn with_thresholds(thresholds: impl IntoIterator<Item = u32>) -> Self {
        let thresholds: Vec<u32> = thresholds
            .into_iter()
            .map(|threshold| threshold.min(Self::FULL))
            .collect();
        let open = thresholds
            .iter()
            .filter(|&&threshold| threshold > 0)
            .count() as u32;
        Self { thresholds, open }
    }

    /// Number of slots, open or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.thresholds.len()
    }

    /// Whether there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.thresholds.is_empty()
    }

    /// Whether a slot takes any key.
    #[must_use]
    pub fn is_open(&self, slot: u32) -> bool {
        self.thresholds
            .get(slot as usize)
            .is_some_and(|&threshold| threshold > 0)
    }

    /// Sets a slot's threshold, 0 for closed to [`FULL`](Self::FULL); a slot that does not exist is left alone.
    pub fn set_threshold(&mut self, slot: usize, threshold: u32) {
        if let Some(old) = self.thresholds.get_mut(slot) {
            let new = threshold.min(Self::FULL);
            self.open = self.open - u32::from(*old > 0) + u32::from(new > 0);
            *old = new;
        }
    }

    /// Adds a slot at the end.
    pub fn push(&mut self, threshold: u32) {
        self.thresholds.push(0);
        self.set_threshold(self.thresholds.len() - 1, threshold);
    }

    /// The slot of a key hash; `None` when no slot is open.
    #[must_use]
    pub fn slot(&self, key: u64) -> Option<u32> {
        (0..Self::PROBES)
            .find_map(|probe| self.probe(key, probe))
            .or_else(|| self.after(key, None).map(|p| p.slot))
    }

    /// The slot that a probe names, if it takes the key.
    #[inline]
    pub(crate) fn probe(&self, key: u64, probe: u32) -> Option<u32> {
        if self.open == 0 {
            return None;
        }
        let slots = NonZeroU32::new(self.thresholds.len() as u32)?;
        let draw = match probe {
            0 => key,
            _ => mix((key ^ PROBE_SALT).wrapping_add(u64::from(probe).wrapping_mul(GOLDEN_GAMMA))),
        };
        let slot = jumpback(draw, slots);
        let threshold = self.thresholds[slot as usize];
        if threshold == Self::FULL {
            return Some(slot);
        }
        let chance = mix(draw ^ mix(u64::from(slot) + SLOT_SALT)) >> 48;
        (threshold > 0 && chance < u64::from(threshold)).then_some(slot)
    }

    /// The open slot behind `place` in the race that decides when all probes failed; the first one without `place`.
    pub(crate) fn after(&self, key: u64, place: Option<ProbedPlace>) -> Option<ProbedPlace> {
        (0..self.thresholds.len() as u32)
            .filter_map(|slot| self.place(key, slot))
            .filter(|&other| place.is_none_or(|place| other > place))
            .min()
    }

    /// The place of an open slot in that race.
    pub(crate) fn place(&self, key: u64, slot: u32) -> Option<ProbedPlace> {
        let threshold = self.thresholds[slot as usize];
        let score = mix(key ^ splitmix64(u64::from(slot)));
        (threshold > 0).then(|| ProbedPlace {
            cost: (u128::from(neg_log2(score)) << 32) / u128::from(threshold),
            slot,
        })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.thresholds.capacity() * size_of::<u32>()
    }
}

/// A slot's place in the last resort: places compare as they rank.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct ProbedPlace {
    cost: u128,
    pub(crate) slot: u32,
}

/// Parts later probes from the first: the first 64 bits of the square root of 2, less 1.
const PROBE_SALT: u64 = 0x6a09_e667_f3bc_c908;
/// Parts a slot's chance from its number.
const SLOT_SALT: u64 = 0x5bd1_e995;
