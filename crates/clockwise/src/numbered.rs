//! Slots that nodes hold by number: what the schemes `probed` and `rank` share.
//!
//! What it is: each node holds as many consecutive slots as its weight says, in listing order; a node without weight
//! keeps one slot, closed, so that those behind it keep their numbers. What it promises: ranked answers that name each
//! open node once, without allocation. What it does not: forgive a change of the list in the middle; taking a node's
//! weight away instead moves its own keys only. Cost: 4 bytes a slot for the node and 4 for the threshold; the first
//! members of a ranking are remembered, later ones looked for in the key's sequence again.

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
        while walk.probe < ProbedSlots::PROBES {
            let slot = self.probed.probe(key, walk.probe);
            walk.probe += 1;
            let Some(node) = slot.map(|slot| self.nodes[slot as usize]) else {
                continue;
            };
            let named = walk.named.holds(node);
            if !named.unwrap_or_else(|| self.is_probed(key, node, walk.probe - 1)) {
                walk.named.add(node);
                return Some(node);
            }
        }
        // A node's place is that of its least slot; the next one is the least behind the last.
        let least_slot = |&(first, held): &(u32, u32)| {
            (first..first + held)
                .filter_map(|slot| self.probed.place(key, slot))
                .min()
        };
        let by_probes = |node: u32| {
            let named = walk.named.holds(node);
            named.unwrap_or_else(|| self.is_probed(key, node, ProbedSlots::PROBES))
        };
        let (place, node) = (0..)
            .zip(&self.ranges)
            .filter_map(|(node, range)| Some((least_slot(range)?, node)))
            .filter(|(place, node)| {
                walk.place.is_none_or(|before| *place > before) && !by_probes(*node)
            })
            .min()?;
        walk.place = Some(place);
        Some(node)
    }

    /// Whether one of the first `probes` probes names the member.
    fn is_probed(&self, key: u64, node: u32, probes: u32) -> bool {
        (0..probes)
            .filter_map(|probe| self.probed.probe(key, probe))
            .any(|slot| self.nodes[slot as usize] == node)
    }

    /// The next member in permutation order.
    pub(crate) fn next_ranked(&self, key: u64, walk: &mut RankWalk) -> Option<u32> {
        loop {
            let slot = walk.order.next()?;
            let Some(node) = self.node(slot) else {
                continue;
            };
            if self.ranges[node as usize].1 == 1 {
                return Some(node);
            }
            let came_before = walk.named.holds(node).unwrap_or_else(|| {
                PermutationRank::new(key, self.len())
                    .take_while(|&other| other != slot)
                    .any(|other| self.nodes[other as usize] == node)
            });
            if !came_before {
                walk.named.add(node);
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
    named: Named,
}

/// How far a ranking in permutation order is.
#[derive(Clone, Debug)]
pub(crate) struct RankWalk {
    order: PermutationRank,
    named: Named,
}

impl RankWalk {
    pub(crate) fn new(key: u64, slots: u32) -> Self {
        Self {
            order: PermutationRank::new(key, slots),
            named: Named::default(),
        }
    }
}

/// The first members that a walk named; those beyond have to be looked for in the key's sequence.
#[derive(Clone, Debug, Default)]
struct Named {
    nodes: [u32; REMEMBERED],
    count: usize,
}

impl Named {
    fn add(&mut self, node: u32) {
        if let Some(place) = self.nodes.get_mut(self.count) {
            *place = node;
        }
        self.count += 1;
    }

    /// Whether the member was named; `None` when more were named than are remembered.
    fn holds(&self, node: u32) -> Option<bool> {
        let remembered = self.nodes[..self.count.min(REMEMBERED)].contains(&node);
        (remembered || self.count <= REMEMBERED).then_some(remembered)
    }
}

/// More than any number of replicas in use.
const REMEMBERED: usize = 16;
