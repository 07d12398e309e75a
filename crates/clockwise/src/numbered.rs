//! Slots that nodes hold by number: what the schemes `probed` and `rank` share.
//!
//! What it is: each node holds as many consecutive slots as its weight says, in listing order; a node without weight
//! keeps one slot, closed, so that those behind it keep their numbers. What it promises: ranked answers that name each
//! open node once, without allocation. What it does not: forgive a change of the list in the middle; taking a node's
//! weight away instead moves its own keys only. Cost: 4 bytes a slot for the node and 4 for the threshold; further
//! nodes of a ranking re-read the key's sequence so far instead of remembering it.

use alloc::vec::Vec;

use crate::PermutationRank;
use crate::probed::{ProbedPlace, ProbedSlots};

/// Slots with their nodes, by member index.
#[derive(Clone, Debug)]
pub(crate) struct NumberedSlots {
    nodes: Vec<u32>,
    /// First slot of each member and how many it holds.
    ranges: Vec<(u32, u32)>,
    probed: ProbedSlots,
}

impl NumberedSlots {
    /// Slots of `listed` members, each with its number of open slots.
    pub(crate) fn new(listed: &[(u32, u32)]) -> Self {
        let mut nodes = Vec::new();
        let mut ranges = alloc::vec![(0, 0); listed.len()];
        let mut thresholds = Vec::new();
        for &(node, open) in listed {
            let held = open.max(1);
            ranges[node as usize] = (nodes.len() as u32, held);
            let threshold = if open > 0 { ProbedSlots::FULL } else { 0 };
            nodes.extend(core::iter::repeat_n(node, held as usize));
            thresholds.extend(core::iter::repeat_n(threshold, held as usize));
        }
        Self {
            nodes,
            ranges,
            probed: ProbedSlots::with_thresholds(thresholds),
        }
    }

    /// Number of slots, closed ones included.
    pub(crate) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The member that holds each slot.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The member of an open slot.
    #[inline]
    pub(crate) fn node(&self, slot: u32) -> Option<u32> {
        self.probed.is_open(slot).then(|| self.nodes[slot as usize])
    }

    /// The owner of a key by probing.
    #[inline]
    pub(crate) fn probed_owner(&self, key: u64) -> Option<u32> {
        self.probed.slot(key).map(|slot| self.nodes[slot as usize])
    }

    /// The owner of a key by permutation rank.
    #[inline]
    pub(crate) fn ranked_owner(&self, key: u64) -> Option<u32> {
        PermutationRank::new(key, self.len()).find_map(|slot| self.node(slot))
    }

    /// The next member that probing names: first by probes, then by the race over open slots.
    pub(crate) fn next_probed(&self, key: u64, walk: &mut ProbedWalk) -> Option<u32> {
        let named = |probe| {
            self.probed
                .probe(key, probe)
                .map(|slot| self.nodes[slot as usize])
        };
        while walk.probe < ProbedSlots::PROBES {
            let probe = walk.probe;
            walk.probe += 1;
            let node = named(probe);
            if node.is_some() && !(0..probe).any(|earlier| named(earlier) == node) {
                return node;
            }
        }
        loop {
            let place = self.probed.after(key, walk.place)?;
            walk.place = Some(place);
            let node = self.nodes[place.slot as usize];
            let (first, held) = self.ranges[node as usize];
            let mut own = (first..first + held).filter_map(|slot| self.probed.place(key, slot));
            let came_before = own.any(|other| other < place)
                || (0..ProbedSlots::PROBES).any(|probe| named(probe) == Some(node));
            if !came_before {
                return Some(node);
            }
        }
    }

    /// The next member in permutation order.
    pub(crate) fn next_ranked(&self, key: u64, order: &mut PermutationRank) -> Option<u32> {
        loop {
            let slot = order.next()?;
            let Some(node) = self.node(slot) else {
                continue;
            };
            let holds_more = self.ranges[node as usize].1 > 1;
            let mut earlier =
                PermutationRank::new(key, self.len()).take_while(|&other| other != slot);
            if !holds_more || !earlier.any(|other| self.nodes[other as usize] == node) {
                return Some(node);
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<u32>()
            + self.ranges.capacity() * size_of::<(u32, u32)>()
            + self.probed.memory_bytes()
    }
}

/// How far a ranking by probes is.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProbedWalk {
    probe: u32,
    place: Option<ProbedPlace>,
}
