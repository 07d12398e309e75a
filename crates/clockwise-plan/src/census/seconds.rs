//! The owner of a key and the node behind it, which takes the key when the owner fails.
//!
//! Schemes that rank by range of tokens or by slot are asked once a range; races are asked for each key. A scheme
//! without a ranking has no second: its keys wait.

use clockwise::{CommonRanges, HashedKey, Placement};

use super::placed::owner_and_next;

#[derive(Debug)]
pub(super) enum Seconds {
    ByRange(CommonRanges, Vec<Option<u32>>),
    ByKey,
    None,
}

impl Seconds {
    pub(super) fn new(placement: &Placement) -> Self {
        if !placement.scheme().has_ranking() {
            return Self::None;
        }
        let Some(ranges) = CommonRanges::of(&[placement]) else {
            return Self::ByKey;
        };
        let second = |range| {
            let key = HashedKey::of_token(ranges.token(range));
            owner_and_next(placement, &key).1.map(|node| node as u32)
        };
        let seconds = (0..ranges.count()).map(second).collect();
        Self::ByRange(ranges, seconds)
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
            Self::ByRange(ranges, seconds) => {
                let second = seconds[ranges.range_of(key.token())];
                (placement.owner_index(key), second.map(|node| node as usize))
            }
        }
    }
}
