//! What changes its owner between two placements, as ranges of tokens or as slots, with the exact share.
//!
//! What it is: both placements read as ranges of the token space and laid over each other. What it promises: a key
//! moves if and only if its token lies in a listed range (or its slot is listed); the share is a fraction of
//! integers. What it does not: compare placements that hash keys differently, or schemes that have neither ranges nor
//! slots. Cost: O(tokens or slots of both), and the moved ranges in memory. Source: the definitions of the schemes.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use crate::common_ranges::slot_end;
use crate::{Algorithm, Member, Placement, Share, Slot, Token};

/// What moves between two placements.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff<'p> {
    moves: Moves<'p>,
    share: Share,
}

/// The moved parts, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Moves<'p> {
    /// Ranges of tokens.
    Tokens(Vec<TokenMove<'p>>),
    /// Slots, or entries of a Maglev table, that both placements have.
    Slots(Vec<SlotMove<'p>>),
}

/// A range of tokens, both ends included, and its owners; `None` stands for no owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenMove<'p> {
    /// The first token that moves.
    pub first: Token,
    /// The last token that moves.
    pub last: Token,
    /// The owner before.
    pub from: Option<&'p Member>,
    /// The owner after.
    pub to: Option<&'p Member>,
}

/// A slot and its owners; `None` stands for no owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotMove<'p> {
    /// The slot that moves.
    pub slot: Slot,
    /// The owner before.
    pub from: Option<&'p Member>,
    /// The owner after.
    pub to: Option<&'p Member>,
}

impl<'p> Diff<'p> {
    /// What moves from `before` to `after`. Owners are compared by id.
    ///
    /// # Errors
    /// [`DiffError`] when the placements hash keys differently, or when one of them has neither ranges nor slots.
    pub fn new(before: &'p Placement, after: &'p Placement) -> Result<Self, DiffError> {
        if !before.hashes_like(after) {
            return Err(DiffError::OtherHash {
                before: before.scheme().to_string(),
                after: after.scheme().to_string(),
            });
        }
        let same_slots = before.scheme().algorithm() == after.scheme().algorithm()
            && before.scheme().slot_count() == after.scheme().slot_count();
        if let (true, Some(count)) = (same_slots, before.scheme().slot_count()) {
            return Ok(Self::of_slots(before, after, count));
        }
        let no_ranges = |placement: &Placement| DiffError::NoRanges {
            scheme: placement.scheme().to_string(),
        };
        let old = ranges(before).ok_or_else(|| no_ranges(before))?;
        let new = ranges(after).ok_or_else(|| no_ranges(after))?;
        Ok(Self::of_ranges(&old, &new, before.scheme().token_bits()))
    }

    /// The moved parts.
    #[must_use]
    pub fn moves(&self) -> &Moves<'p> {
        &self.moves
    }

    /// How much of the space moves: tokens, or slots.
    #[must_use]
    pub fn share(&self) -> Share {
        self.share
    }

    fn of_slots(before: &'p Placement, after: &'p Placement, count: u32) -> Self {
        let moves: Vec<SlotMove<'p>> = (0..count)
            .map(Slot)
            .map(|slot| SlotMove {
                slot,
                from: before.owner_of_slot(slot),
                to: after.owner_of_slot(slot),
            })
            .filter(|moved| moved.from.map(Member::id) != moved.to.map(Member::id))
            .collect();
        let share = Share {
            part: moves.len() as u128,
            whole: u128::from(count),
        };
        Self {
            moves: Moves::Slots(moves),
            share,
        }
    }

    fn of_ranges(old: &[Range<'p>], new: &[Range<'p>], bits: u32) -> Self {
        let mut moves: Vec<TokenMove<'p>> = Vec::new();
        let mut part = 0;
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        let mut first = 0;
        while let (Some(a), Some(b)) = (old.peek(), new.peek()) {
            let last = a.last.min(b.last);
            if a.owner.map(Member::id) != b.owner.map(Member::id) {
                part += u128::from(last - first) + 1;
                let (from, to) = (a.owner, b.owner);
                match moves.last_mut() {
                    Some(before)
                        if before.last.0.checked_add(1) == Some(first)
                            && (before.from, before.to) == (from, to) =>
                    {
                        before.last = Token(last);
                    }
                    _ => moves.push(TokenMove {
                        first: Token(first),
                        last: Token(last),
                        from,
                        to,
                    }),
                }
            }
            old.next_if(|range| range.last == last);
            new.next_if(|range| range.last == last);
            // Both lists end at the last token of the space.
            let Some(next) = last.checked_add(1) else {
                break;
            };
            first = next;
        }
        Self {
            moves: Moves::Tokens(moves),
            share: Share {
                part,
                whole: 1 << bits,
            },
        }
    }
}

/// From the end of the range before up to `last`, included.
pub(crate) struct Range<'p> {
    pub(crate) last: u64,
    pub(crate) owner: Option<&'p Member>,
}

/// The whole token space as ranges, ascending; `None` for schemes without.
fn ranges(placement: &Placement) -> Option<Vec<Range<'_>>> {
    if placement
        .members()
        .iter()
        .all(|member| member.weight().milli() == 0)
    {
        return Some(alloc::vec![Range {
            last: last_token(placement),
            owner: None
        }]);
    }
    if let Some(ring) = placement.ring() {
        let range = |(last, node): (u64, u32)| Range {
            last,
            owner: Some(&placement.members()[node as usize]),
        };
        return Some(ring.ranges().map(range).collect());
    }
    let count = placement
        .scheme()
        .slot_count()
        .filter(|_| placement.scheme().algorithm() == Algorithm::Slots)?;
    Some(
        (0..count)
            .map(|slot| Range {
                last: slot_end(slot, count),
                owner: placement.owner_of_slot(Slot(slot)),
            })
            .collect(),
    )
}

fn last_token(placement: &Placement) -> u64 {
    u64::MAX >> (u64::BITS - placement.scheme().token_bits())
}

/// Why two placements have no diff.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// The placements do not give a key the same token.
    #[error(
        "{before} and {after} give keys other tokens, so ranges of one mean nothing to the other"
    )]
    OtherHash {
        /// The scheme before.
        before: String,
        /// The scheme after.
        after: String,
    },
    /// A scheme without ranges or slots.
    #[error("{scheme} has neither token ranges nor slots: its changes can only be counted on keys")]
    NoRanges {
        /// The scheme.
        scheme: String,
    },
}
