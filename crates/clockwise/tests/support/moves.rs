//! Owners of many keys, and who gave how many keys to whom between two placements.

use std::collections::BTreeMap;

use clockwise::{HashedKey, Placement, Token};

/// The owner of each of a list of keys.
pub(crate) struct Assignment {
    ids: Vec<String>,
    owners: Vec<u32>,
}

impl Assignment {
    pub(crate) fn of(placement: &Placement, tokens: &[Token]) -> Self {
        let index = |token: &Token| {
            let key = HashedKey::of_token(*token);
            placement.owner_index(&key).unwrap() as u32
        };
        Self {
            ids: ids(placement),
            owners: tokens.iter().map(index).collect(),
        }
    }

    pub(crate) fn of_keys(placement: &Placement, keys: &[String]) -> Self {
        let index = |key: &String| {
            placement
                .owner_index(&placement.hash(key.as_bytes()))
                .unwrap() as u32
        };
        Self {
            ids: ids(placement),
            owners: keys.iter().map(index).collect(),
        }
    }

    /// Indices of the owners, in the order of the keys.
    pub(crate) fn owners(&self) -> &[u32] {
        &self.owners
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = vec![0; self.ids.len()];
        for &owner in &self.owners {
            counts[owner as usize] += 1;
        }
        self.ids.iter().cloned().zip(counts).collect()
    }

    pub(crate) fn count(&self, id: &str) -> u64 {
        self.counts()[id]
    }

    pub(crate) fn moves_to(&self, after: &Self) -> Moves {
        let mut pairs = vec![vec![0; after.ids.len()]; self.ids.len()];
        for (&from, &to) in self.owners.iter().zip(&after.owners) {
            pairs[from as usize][to as usize] += 1;
        }
        let mut moves = BTreeMap::new();
        for (from, row) in self.ids.iter().zip(pairs) {
            for (to, keys) in after
                .ids
                .iter()
                .zip(row)
                .filter(|(to, keys)| *keys > 0 && *to != from)
            {
                moves.insert((from.clone(), to.clone()), keys);
            }
        }
        Moves(moves)
    }
}

/// How many keys went from whom to whom.
pub(crate) struct Moves(BTreeMap<(String, String), u64>);

impl Moves {
    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub(crate) fn given_by(&self, id: &str) -> u64 {
        self.receivers(id).values().sum()
    }

    /// Keys that went to another node than the new one.
    pub(crate) fn to_others_than(&self, new: &str) -> u64 {
        self.total() - self.donors(new).values().sum::<u64>()
    }

    pub(crate) fn donors(&self, to: &str) -> BTreeMap<String, u64> {
        self.0
            .iter()
            .filter(|((_, id), _)| id == to)
            .map(|((id, _), &n)| (id.clone(), n))
            .collect()
    }

    pub(crate) fn receivers(&self, from: &str) -> BTreeMap<String, u64> {
        self.0
            .iter()
            .filter(|((id, _), _)| id == from)
            .map(|((_, id), &n)| (id.clone(), n))
            .collect()
    }
}

fn ids(placement: &Placement) -> Vec<String> {
    placement
        .members()
        .iter()
        .map(|m| m.id().as_str().to_owned())
        .collect()
}
