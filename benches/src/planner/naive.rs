//! The planner as one writes it in five minutes: lines as text, two look-ups each, three counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use clockwise::{Member, Placement};
use xxhash_rust::xxh3::xxh3_64;

/// Owners of keys, as plain arrays of nodes by number.
pub(super) enum Owners {
    /// Tokens in ascending order.
    Ring(Vec<(u64, usize)>),
    Slots(Vec<usize>),
}

/// What was counted.
pub(super) struct Counted {
    pub(super) keys: u64,
    pub(super) moved: u64,
}

impl Owners {
    /// The arrays of a placement; `numbers` has the nodes.
    pub(super) fn new(placement: &Placement, numbers: &BTreeMap<String, usize>) -> Self {
        let number = |member: &Member| numbers[member.id().as_str()];
        match placement.slot_owners() {
            Some(slots) => {
                let member = |&slot: &u32| number(&placement.members()[slot as usize]);
                Self::Slots(slots.iter().map(member).collect())
            }
            None => {
                let tokens = placement.tokens();
                Self::Ring(tokens.map(|(token, m)| (token.0, number(m))).collect())
            }
        }
    }

    fn owner(&self, token: u64) -> usize {
        match self {
            Self::Ring(tokens) => {
                let place = match tokens.binary_search_by_key(&token, |(token, _)| *token) {
                    Ok(place) | Err(place) => place,
                };
                tokens[place % tokens.len()].1
            }
            Self::Slots(slots) => slots[((u128::from(token) * slots.len() as u128) >> 64) as usize],
        }
    }
}

/// Counts owners before and after, and keys that move.
pub(super) fn count(path: &Path, nodes: usize, before: &Owners, after: &Owners) -> Result<Counted> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut old_keys = vec![0_u64; nodes];
    let mut new_keys = vec![0_u64; nodes];
    let mut moved = 0;
    for line in BufReader::new(file).lines() {
        let key = line?;
        let token = xxh3_64(key.as_bytes());
        let (old, new) = (before.owner(token), after.owner(token));
        old_keys[old] += 1;
        new_keys[new] += 1;
        if old != new {
            moved += 1;
        }
    }
    std::hint::black_box(&old_keys);
    Ok(Counted {
        keys: new_keys.iter().sum(),
        moved,
    })
}
