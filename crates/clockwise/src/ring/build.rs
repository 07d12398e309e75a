//! Tokens in order: of a whole ring, and of a ring after one member changed.
//!
//! What it is: the sort of all tokens, and the merge of one member's into a ring that stands. What it promises: a ring
//! that was changed equals the ring built anew from the same tokens, index and memory included. What it does not:
//! touch the ring that it starts from. Cost: a sort of one `u64` a token; a change copies, and sorts and indexes only
//! the tokens of its member. Source: the order of (token, member) pairs in [`super`].

use alloc::vec::Vec;

use super::owners::Owners;
use super::{Ring, back_to_same};

/// The one member that differs between two rings. Those behind a new one move up by a number, those behind one that is
/// gone move down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NodeChange {
    /// It is new, with this number.
    Added(u32),
    /// It had this number, and its tokens go.
    Removed(u32),
    /// It keeps its number, and has other tokens.
    Changed(u32),
}

impl Ring {
    /// The ring after a change of one member, which then holds `tokens`, in any order; none for one that is gone.
    pub(crate) fn changed(&self, change: NodeChange, mut added: Vec<u64>) -> Self {
        added.sort_unstable();
        let node = match change {
            NodeChange::Added(node) | NodeChange::Removed(node) | NodeChange::Changed(node) => node,
        };
        let renumbered = |owner: u32| match change {
            NodeChange::Added(_) => owner + u32::from(owner >= node),
            NodeChange::Removed(_) => owner - u32::from(owner > node),
            NodeChange::Changed(_) => owner,
        };
        let mut gone = Vec::new();
        if !matches!(change, NodeChange::Added(_)) {
            let places = (0..).zip(self.owners.iter());
            gone.extend(places.filter(|&(_, owner)| owner == node).map(|(at, _)| at));
        }

        let count = self.len() - gone.len() + added.len();
        let stays = |&owner: &u32| matches!(change, NodeChange::Added(_)) || owner != node;
        let staying = self.owners.iter().filter(stays).map(renumbered);
        let most = staying.chain((!added.is_empty()).then_some(node)).max();
        let mut tokens = Vec::with_capacity(count);
        let mut owners = Owners::with_room(count, most.unwrap_or_default());
        let mut copied = 0;
        let mut due = gone.iter().copied().peekable();
        let mut copy_up_to = |at: usize, tokens: &mut Vec<u64>, owners: &mut Owners| {
            while copied < at {
                let end = due.peek().map_or(at, |&gone| at.min(gone));
                tokens.extend_from_slice(&self.tokens[copied..end]);
                owners.extend(self.owners.range(copied..end).map(renumbered));
                copied = end + usize::from(due.next_if_eq(&end).is_some());
            }
        };
        for &token in &added {
            // Behind equal tokens of smaller numbers.
            let first = self.index.successor(&self.tokens, token);
            let smaller = self.tokens[first..]
                .iter()
                .zip(self.owners.range(first..self.len()));
            let smaller =
                smaller.take_while(|&(&other, owner)| other == token && renumbered(owner) < node);
            copy_up_to(first + smaller.count(), &mut tokens, &mut owners);
            tokens.push(token);
            owners.extend(core::iter::once(node));
        }
        copy_up_to(self.len(), &mut tokens, &mut owners);

        let gone: Vec<u64> = gone.into_iter().map(|at| self.tokens[at]).collect();
        let back_to_same = back_to_same(&owners);
        let index = self
            .index
            .changed_with_owners(&tokens, &added, &gone, &owners.around());
        Self {
            back_to_same,
            index,
            tokens,
            owners,
            ..*self
        }
    }
}

/// Tokens and members in the order of the pairs.
pub(super) fn sorted(pairs: &[(u64, u32)]) -> (Vec<u64>, Vec<u32>) {
    // The leading bits of each token in use, with the number of its pair in place of the rest: a sort of plain numbers
    // takes half the time of a sort of pairs.
    let unused = pairs.iter().fold(0, |seen, &(token, _)| seen | token);
    let unused = unused.leading_zeros().min(u64::BITS - 1);
    let place_bits = usize::BITS - pairs.len().leading_zeros();
    let places = (1_u64 << place_bits) - 1;
    let mut order: Vec<u64> = (0..)
        .zip(pairs)
        .map(|(place, &(token, _))| token << unused & !places | place)
        .collect();
    order.sort_unstable();
    let pair = |packed: u64| pairs[(packed & places) as usize];
    for run in order.chunk_by_mut(|a, b| a & !places == b & !places) {
        if run.len() > 1 {
            run.sort_unstable_by_key(|&packed| pair(packed));
        }
    }
    let tokens = order.iter().map(|&packed| pair(packed).0).collect();
    let owners = order.iter().map(|&packed| pair(packed).1).collect();
    (tokens, owners)
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;
    use crate::hash::Rng;
    use crate::ring::Edge;

    fn tokens(rng: &mut Rng, bits: u32, most: u32) -> Vec<u64> {
        (0..rng.uniform(most + 1))
            .map(|_| rng.next_u64() >> (64 - bits))
            .collect()
    }

    fn build(nodes: &[Vec<u64>], bits: u32) -> Ring {
        let pairs = (0..)
            .zip(nodes)
            .flat_map(|(node, tokens)| tokens.iter().map(move |&token| (token, node)));
        Ring::new(pairs.collect(), Edge::AtOrAfter, bits)
    }

    fn assert_same(changed: &Ring, built: &Ring) {
        assert_eq!(changed.tokens, built.tokens);
        assert_eq!(changed.owners, built.owners);
        assert_eq!(changed.back_to_same, built.back_to_same);
        assert_eq!(changed.index, built.index);
        assert_eq!(changed.memory_bytes(), built.memory_bytes());
        assert_eq!((changed.edge, changed.bits), (built.edge, built.bits));
    }

    #[test]
    fn a_changed_ring_equals_the_one_built_anew_through_thousands_of_changes() {
        let mut rng = Rng::new(1997);
        for (bits, most, rounds) in [
            (4, 6, 2000),
            (6, 30, 500),
            (32, 100, 300),
            (64, 1, 500),
            (64, 300, 300),
        ] {
            let mut nodes: Vec<Vec<u64>> = vec![];
            let mut ring = build(&nodes, bits);
            for _ in 0..rounds {
                let count = nodes.len() as u32;
                let node = rng.uniform(count + 1);
                let fresh = tokens(&mut rng, bits, most);
                let change = match rng.uniform(3) {
                    0 if node < count => {
                        nodes.remove(node as usize);
                        NodeChange::Removed(node)
                    }
                    1 if node < count => {
                        nodes[node as usize] = fresh.clone();
                        NodeChange::Changed(node)
                    }
                    _ if count < 40 => {
                        nodes.insert(node as usize, fresh.clone());
                        NodeChange::Added(node)
                    }
                    _ => continue,
                };
                let fresh = if matches!(change, NodeChange::Removed(_)) {
                    vec![]
                } else {
                    fresh
                };
                ring = ring.changed(change, fresh);
                assert_same(&ring, &build(&nodes, bits));
            }
        }
    }

    #[test]
    fn one_node_of_many_reuses_the_records_of_the_others() {
        let mut rng = Rng::new(160);
        let mut nodes: Vec<Vec<u64>> = (0..400)
            .map(|_| (0..160).map(|_| rng.next_u64()).collect())
            .collect();
        let ring = build(&nodes, 64);
        let gone = nodes.remove(7);
        let without = ring.changed(NodeChange::Removed(7), vec![]);
        assert_same(&without, &build(&nodes, 64));
        assert_same(&without.changed(NodeChange::Added(7), gone), &ring);
    }

    #[test]
    fn a_member_whose_number_needs_more_than_two_bytes_widens_the_ring() {
        let nodes: Vec<Vec<u64>> = (0..65_536)
            .map(|node| vec![crate::hash::splitmix64(node)])
            .collect();
        let narrow = build(&nodes, 64);
        let last = crate::hash::splitmix64(65_536);
        let wide = narrow.changed(NodeChange::Added(9), vec![last]);
        let mut more = nodes.clone();
        more.insert(9, vec![last]);
        assert_same(&wide, &build(&more, 64));
        assert_eq!(wide.owner(nodes[65_535][0]), Some(65_536));
        assert_same(&wide.changed(NodeChange::Removed(9), vec![]), &narrow);
        assert!(wide.memory_bytes() > narrow.memory_bytes() + 2 * 65_536);
    }

    #[test]
    fn tokens_that_share_their_leading_bits_are_sorted_by_the_others_and_by_member() {
        let mut rng = Rng::new(48);
        for count in [0, 1, 2, 3, 100, 5000] {
            for (width, spread) in [(0, 2), (3, 60), (20, 4), (40, 24), (64, 0)] {
                let start = rng.next_u64() << spread;
                let mut pairs: Vec<(u64, u32)> = (0..count)
                    .map(|_| {
                        let low = rng.next_u64().unbounded_shr(64 - width);
                        (start.wrapping_add(low), rng.uniform(4))
                    })
                    .collect();
                let got = sorted(&pairs);
                pairs.sort_unstable();
                assert_eq!(got, pairs.into_iter().unzip());
            }
        }
    }
}
