//! Clients that know different parts of the nodes: how many owners one key has among them.
//!
//! Source: the partial views of Karger et al., 1997, which bound how many servers a key is spread over. Cost: one
//! look-up for each view and key.

use std::collections::BTreeMap;

use clockwise::{HashedKey, Placement};

/// What several clients believe, each with a placement of the nodes that it knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views {
    placements: Vec<(Placement, Vec<u32>)>,
}

impl Views {
    pub(crate) fn new(placements: Vec<Placement>) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let placements = placements.into_iter().map(|placement| {
            let number = |member: &clockwise::Member| {
                let next = numbers.len() as u32;
                *numbers.entry(member.id().to_string()).or_insert(next)
            };
            let nodes = placement.members().iter().map(number).collect();
            (placement, nodes)
        });
        Self {
            placements: placements.collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.placements.len()
    }

    pub(crate) fn placements(&self) -> impl Iterator<Item = &Placement> {
        self.placements.iter().map(|(placement, _)| placement)
    }

    /// How many different owners the views give the key, those that know no node left out.
    pub(crate) fn owners(&self, key: &HashedKey<'_>, seen: &mut Vec<u32>) -> usize {
        seen.clear();
        for (placement, nodes) in &self.placements {
            if let Some(member) = placement.owner_index(key)
                && !seen.contains(&nodes[member])
            {
                seen.push(nodes[member]);
            }
        }
        seen.len()
    }
}
