//! Ranges of tokens, or slots, on which several placements all give one ranked answer.
//!
//! What it is: the ends of all ranges of several placements laid over each other, or the slots that they share. What
//! it promises: two tokens of one range have the same owner and the same ranking in each of the placements, so that
//! keys can be counted by range and every question be asked once a range. What it does not: merge neighbours that
//! happen to agree, or serve schemes whose ranking differs from key to key. Cost: build O(T log T) for T ends;
//! finding a range one search of a ring. Source: the definitions of the schemes.

use alloc::vec::Vec;

use crate::redis_cluster::slot_of_crc;
use crate::ring::SuccessorIndex;
use crate::slots::slot_of_token;
use crate::{Algorithm, Placement, Slot, Token};

/// Ranges of tokens, or slots, numbered from 0, that several placements treat alike throughout.
#[derive(Clone, Debug)]
pub struct CommonRanges {
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// Equal parts of the space.
    Slots(u32),
    /// The slots of Redis Cluster.
    RedisSlots(u32),
    /// The last token of each range, ascending, and where it is found.
    Ends {
        ends: Vec<u64>,
        index: SuccessorIndex,
    },
}

impl CommonRanges {
    /// The ranges of these placements; `None` when they hash keys differently, or when the ranking of one is not
    /// settled by ranges or slots.
    #[must_use]
    pub fn of(placements: &[&Placement]) -> Option<Self> {
        let first = placements.first()?;
        if placements.iter().any(|other| !first.hashes_like(other)) {
            return None;
        }
        let algorithm = first.scheme().algorithm();
        let same_slots = placements.iter().all(|other| {
            other.scheme().algorithm() == algorithm
                && other.scheme().slot_count() == first.scheme().slot_count()
        });
        let form = match (algorithm, first.scheme().slot_count()) {
            (Algorithm::Slots, Some(count)) if same_slots => Form::Slots(count),
            (Algorithm::RedisCluster, Some(count)) if same_slots => Form::RedisSlots(count),
            _ => {
                let mut ends = Vec::new();
                for placement in placements {
                    push_ends(placement, &mut ends)?;
                }
                ends.push(u64::MAX >> (u64::BITS - first.scheme().token_bits()));
                ends.sort_unstable();
                ends.dedup();
                let index = SuccessorIndex::new(&ends);
                Form::Ends { ends, index }
            }
        };
        Some(Self { form })
    }

    /// How many ranges there are; at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.form {
            Form::Slots(count) | Form::RedisSlots(count) => *count as usize,
            Form::Ends { ends, .. } => ends.len(),
        }
    }

    /// The range of a token, below [`count`](Self::count).
    #[inline]
    #[must_use]
    pub fn range_of(&self, token: Token) -> usize {
        match &self.form {
            Form::Slots(count) => slot_of_token(token, *count).0 as usize,
            Form::RedisSlots(_) => slot_of_crc(token.0).0 as usize,
            // A token beyond the space of the scheme's hash counts to the last range.
            Form::Ends { ends, index } => index.successor(ends, token.0).min(ends.len() - 1),
        }
    }

    /// A token of the range, which stands for all of them.
    ///
    /// # Panics
    /// When there is no such range.
    #[must_use]
    pub fn token(&self, range: usize) -> Token {
        assert!(range < self.count(), "range {range} of {}", self.count());
        match &self.form {
            Form::Slots(count) => Token(slot_end(range as u32, *count)),
            // CRC-16 modulo 16,384: every slot is also a token.
            Form::RedisSlots(_) => Token(range as u64),
            Form::Ends { ends, .. } => Token(ends[range]),
        }
    }

    /// The slot that a range is, where ranges are slots.
    #[must_use]
    pub fn slot(&self, range: usize) -> Option<Slot> {
        match &self.form {
            Form::Slots(_) | Form::RedisSlots(_) => Some(Slot(range as u32)),
            Form::Ends { .. } => None,
        }
    }
}

/// Adds the last token of each range of a ring or a slot table; `None` for other schemes.
fn push_ends(placement: &Placement, ends: &mut Vec<u64>) -> Option<()> {
    match (placement.ring(), placement.scheme().slot_count()) {
        (Some(ring), _) => ends.extend(ring.ranges().map(|(last, _)| last)),
        (None, Some(count)) if placement.scheme().algorithm() == Algorithm::Slots => {
            ends.extend((0..count).map(|slot| slot_end(slot, count)));
        }
        _ => return None,
    }
    Some(())
}

/// The last token of a slot: right before the first of the next one, which is (slot + 1) x 2^64 / count, rounded up.
pub(crate) const fn slot_end(slot: u32, count: u32) -> u64 {
    (((slot as u128 + 1) << 64).div_ceil(count as u128) - 1) as u64
}
