//! The owner of a key and the node behind it, which takes the key when the owner fails.
//!
//! Schemes with slots rank by slot, so the second of each slot is worked out once; rings and races are asked for each
//! key. A scheme without a ranking has no second: its keys wait.

use clockwise::{Algorithm, HashedKey, Placement, Slot, Token};

use super::owner_and_next;

#[derive(Debug)]
pub(super) enum Seconds {
    BySlot(Vec<Option<u32>>),
    ByKey,
    None,
}

impl Seconds {
    pub(super) fn new(placement: &Placement) -> Self {
        let scheme = placement.scheme();
        match (scheme.algorithm(), scheme.slot_count()) {
            _ if !scheme.has_ranking() => Self::None,
            (Algorithm::Slots, Some(count)) => {
                // Any token of a slot stands for it; its first one is the slot's number in the top bits.
                let first =
                    |slot: u32| Token(((u128::from(slot) << 64) / u128::from(count)) as u64);
                let second = |slot| owner_and_next(placement, &HashedKey::of_token(first(slot))).1;
                Self::BySlot(
                    (0..count)
                        .map(|slot| second(slot).map(|node| node as u32))
                        .collect(),
                )
            }
            _ => Self::ByKey,
        }
    }

    #[inline]
    pub(super) fn owner_and_second(
        &self,
        placement: &Placement,
        key: &HashedKey<'_>,
    ) -> (Option<usize>, Option<usize>) {
        match self {
            Self::ByKey => owner_and_next(placement, key),
            Self::None => (placement.owner_index(key), None),
            Self::BySlot(seconds) => {
                let slot = placement.slot_of_token(key.token()).unwrap_or(Slot(0));
                let second = seconds.get(slot.0 as usize).copied().flatten();
                (placement.owner_index(key), second.map(|node| node as usize))
            }
        }
    }
}
