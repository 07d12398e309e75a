//! A hash ring with any number of vnodes a node.
//!
//! What it is: tokens in ascending order, each owned by a node; a key belongs to the node of the first token at or
//! after its own (or strictly after, for schemes that say so), and past the last token to the first. What it
//! promises: adding a token takes only the range from the token before it; removing one gives that range to the next;
//! the listing order of members makes no difference. Equal tokens are all kept and the smaller id wins. What it does
//! not: even shares; with v tokens a node the relative deviation is sqrt((N-1)/(Nv+1)). Cost: build O(T log T);
//! look-up a multiplication and one cache line by way of [`OwnerIndex`], at most ceil(log2(T+1)) comparisons where tokens
//! clump; 27 bytes a token, 29 above 65,536 nodes. Source: Karger et al., 1997; vnodes as in Dynamo, 2007.

mod build;
mod index;
mod lanes;
mod owners;

use alloc::vec;
use alloc::vec::Vec;

pub(crate) use build::NodeChange;
pub(crate) use index::SuccessorIndex;

use index::OwnerIndex;
use owners::Owners;

use crate::{Share, Token};

/// Which token owns a key that stands exactly on one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Edge {
    /// The first token >= key: the one it stands on.
    AtOrAfter,
    /// The first token > key: the next one.
    After,
}

/// Keys that are looked up together: enough for all waits for memory that a core can have open, few enough to stay in
/// its first cache.
pub(crate) const BLOCK: usize = 32;

/// Tokens from which on look-ups in blocks gain: 13 bytes of the index each, for a second cache of 512 KiB.
const LARGE: usize = 40_000;

/// An immutable ring over members numbered in ascending id order.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    tokens: Vec<u64>,
    owners: Owners,
    /// How many tokens back, around the ring, the same owner's token before this one stands.
    back_to_same: Vec<u32>,
    /// Of `tokens` and `owners`.
    index: OwnerIndex,
    edge: Edge,
    bits: u32,
}

impl Ring {
    /// A ring of these (token, member) pairs; at most 2^24 of them.
    pub(crate) fn new(pairs: Vec<(u64, u32)>, edge: Edge, bits: u32) -> Self {
        let (tokens, owners) = build::sorted(&pairs);
        let owners = Owners::new(owners.into_iter());
        let back_to_same = back_to_same(&owners);
        let index = OwnerIndex::with_owners(&tokens, &owners.around());
        Self {
            tokens,
            owners,
            back_to_same,
            index,
            edge,
            bits,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The member that owns `token`; `None` on an empty ring.
    pub(crate) fn owner(&self, token: u64) -> Option<u32> {
        self.told_owner(token)
            .or_else(|| self.owners.get(self.successor(token)))
    }

    /// The member that owns `token`, where the index alone tells: for almost all tokens.
    #[inline]
    pub(crate) fn told_owner(&self, token: u64) -> Option<u32> {
        self.index.owner(token).map(u32::from)
    }

    /// Writes the owner of each of up to [`BLOCK`] tokens, waiting for memory once for all of them. An empty ring
    /// writes nothing.
    pub(crate) fn owners(&self, tokens: &[u64], owners: &mut [u32]) {
        for &token in tokens {
            self.index.prefetch(token);
        }
        for (owner, &token) in owners.iter_mut().zip(tokens) {
            match self.told_owner(token) {
                Some(node) => *owner = node,
                None => *owner = self.owner(token).unwrap_or(*owner),
            }
        }
    }

    /// Whether look-ups wait for memory: when the tables outgrow what a core has near.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.len() >= LARGE
    }

    /// The index of the token that a key at `token` belongs to; 0 past the end.
    #[inline]
    pub(crate) fn successor(&self, token: u64) -> usize {
        match self.index.rank(token) {
            Some(at) if at < self.len() => at,
            _ => self.search(token),
        }
    }

    /// As [`successor`](Self::successor), where the index alone does not tell.
    #[cold]
    fn search(&self, token: u64) -> usize {
        let index = match self.edge {
            Edge::AtOrAfter => self.index.successor(&self.tokens, token),
            Edge::After => self.index.successor_after(&self.tokens, token),
        };
        if index == self.len() { 0 } else { index }
    }

    /// The member whose token stands `steps` after index `start`, if that member has no token in between.
    pub(crate) fn first_visit(&self, start: usize, steps: usize) -> Option<u32> {
        // Both are below the length. A division would take longer than all the rest.
        let past_end = (start + steps).checked_sub(self.len());
        let index = past_end.unwrap_or(start + steps);
        if self.back_to_same[index] as usize > steps {
            self.owners.get(index)
        } else {
            None
        }
    }

    /// A member that owns nothing although it has tokens, since each of them is also a smaller id's, with the owner of
    /// the first of them.
    pub(crate) fn shadowed(&self, nodes: usize) -> Option<(u32, u32)> {
        if self.tokens.windows(2).all(|pair| pair[0] < pair[1]) {
            return None;
        }
        let mut owns = vec![false; nodes];
        let mut taken_by = vec![None; nodes];
        let mut winner = None;
        for (&token, owner) in self.tokens.iter().zip(self.owners.iter()) {
            match winner {
                Some((at, by)) if at == token => {
                    taken_by[owner as usize].get_or_insert(by);
                }
                _ => {
                    winner = Some((token, owner));
                    owns[owner as usize] = true;
                }
            }
        }
        (0..)
            .zip(taken_by)
            .zip(owns)
            .find_map(|((node, by), owns)| by.filter(|_| !owns).map(|by| (node, by)))
    }

    /// The whole space as ranges, ascending: the last token of each, and its member. Ranges may be one token long, and
    /// neighbours may have one member.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u32)> {
        let last_of = |token: u64| match self.edge {
            Edge::AtOrAfter => Some(token),
            Edge::After => token.checked_sub(1),
        };
        let mut before = None;
        let inner =
            self.tokens
                .iter()
                .zip(self.owners.iter())
                .filter_map(move |(&token, owner)| {
                    let last =
                        last_of(token).filter(|&last| before.is_none_or(|before| last > before))?;
                    before = Some(last);
                    Some((last, owner))
                });
        let space_end = u64::MAX >> (u64::BITS - self.bits);
        let open_end = self
            .tokens
            .last()
            .is_some_and(|&token| last_of(token) != Some(space_end));
        let wrapped = self
            .owners
            .get(0)
            .filter(|_| open_end)
            .map(|owner| (space_end, owner));
        inner.chain(wrapped)
    }

    /// Tokens ascending with their members.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (Token, u32)> {
        self.tokens
            .iter()
            .map(|&token| Token(token))
            .zip(self.owners.iter())
    }

    /// The exact share of each of `nodes` members: the ranges that end at its tokens.
    pub(crate) fn space_shares(&self, nodes: usize) -> Vec<Share> {
        let whole = 1_u128 << self.bits;
        let mut shares = vec![Share { part: 0, whole }; nodes];
        let Some(&last) = self.tokens.last() else {
            return shares;
        };
        // Where every token is the same the wrapped range is the whole space, not nothing.
        let mut before = u128::from(last);
        let mut wrapped = whole;
        for (&token, owner) in self.tokens.iter().zip(self.owners.iter()) {
            let end = u128::from(token) + wrapped;
            shares[owner as usize].part += end - before;
            (before, wrapped) = (u128::from(token), 0);
        }
        shares
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.tokens.capacity() * size_of::<u64>()
            + self.owners.memory_bytes()
            + self.back_to_same.capacity() * size_of::<u32>()
            + self.index.memory_bytes()
    }
}

fn back_to_same(owners: &Owners) -> Vec<u32> {
    let count = owners.len();
    let nodes = owners.iter().max().map_or(0, |node| node as usize + 1);
    let mut last_seen = vec![None; nodes];
    let mut firsts = Vec::with_capacity(nodes);
    let mut back = Vec::with_capacity(count);
    for (index, owner) in (0_u32..).zip(owners.iter()) {
        let before = last_seen[owner as usize].replace(index);
        if before.is_none() {
            firsts.push((index, owner));
        }
        back.push(index - before.unwrap_or_default());
    }
    // Before a member's first token stands, around the ring, its last one.
    for (index, owner) in firsts {
        let last = last_seen[owner as usize].unwrap_or_default();
        back[index as usize] = index + count as u32 - last;
    }
    back
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(pairs: &[(u64, u32)], edge: Edge) -> Ring {
        Ring::new(pairs.to_vec(), edge, 64)
    }

    #[test]
    fn a_key_on_a_token_belongs_to_it_or_to_the_next_as_the_edge_says() {
        let pairs = [(10, 0), (20, 1), (30, 2)];
        let (at, after) = (ring(&pairs, Edge::AtOrAfter), ring(&pairs, Edge::After));
        for (token, at_or_after, strictly_after) in [
            (9, 0, 0),
            (10, 0, 1),
            (11, 1, 1),
            (20, 1, 2),
            (30, 2, 0),
            (31, 0, 0),
            (0, 0, 0),
            (u64::MAX, 0, 0),
        ] {
            assert_eq!(at.owner(token), Some(at_or_after), "{token}");
            assert_eq!(after.owner(token), Some(strictly_after), "{token}");
        }
    }

    #[test]
    fn equal_tokens_are_all_kept_and_the_smaller_id_wins_in_any_order() {
        for pairs in [[(5, 1), (5, 0), (9, 1)], [(9, 1), (5, 0), (5, 1)]] {
            let ring = ring(&pairs, Edge::AtOrAfter);
            assert_eq!(
                (ring.len(), ring.owner(5), ring.owner(3)),
                (3, Some(0), Some(0))
            );
        }
    }

    #[test]
    fn a_walk_visits_each_member_once() {
        let ring = ring(
            &[(1, 0), (2, 0), (3, 1), (4, 0), (5, 2), (6, 1)],
            Edge::AtOrAfter,
        );
        for (start, visits) in [
            (0, [0, 1, 2]),
            (2, [1, 0, 2]),
            (5, [1, 0, 2]),
            (4, [2, 1, 0]),
            (3, [0, 2, 1]),
        ] {
            let seen: Vec<u32> = (0..ring.len())
                .filter_map(|steps| ring.first_visit(start, steps))
                .collect();
            assert_eq!(seen, visits, "from {start}");
        }
    }

    #[test]
    fn shares_sum_to_the_whole_space_with_one_token_and_with_equal_ones() {
        for pairs in [
            &[(7, 0)][..],
            &[(7, 0), (7, 1)],
            &[(0, 0), (u64::MAX, 1)],
            &[(3, 1), (1 << 63, 0), (9, 1)],
        ] {
            let shares = ring(pairs, Edge::AtOrAfter).space_shares(2);
            assert_eq!(
                shares.iter().map(|share| share.part).sum::<u128>(),
                1 << 64,
                "{pairs:?}"
            );
        }
        let shares = ring(&[(0, 0), (1 << 62, 1)], Edge::AtOrAfter).space_shares(2);
        assert_eq!(shares[1].part, 1 << 62);
    }

    /// A ring of 6-bit tokens, so that most of them are shared.
    fn tiny(nodes: &[(u32, u64)]) -> Ring {
        let tokens = |&(node, seed): &(u32, u64)| {
            let mut rng = crate::hash::Rng::new(seed);
            (0..20).map(move |_| (rng.next_u64() >> 58, node))
        };
        Ring::new(nodes.iter().flat_map(tokens).collect(), Edge::AtOrAfter, 6)
    }

    #[test]
    fn each_node_keeps_its_20_tokens_in_a_space_of_64_in_any_order_of_adding() {
        let owners = |ring: &Ring| (0..64).map(|t| ring.owner(t)).collect::<Vec<_>>();
        for order in 0..24 {
            // The digits of `order` in the mixed base 4, 3, 2, 1 pick one permutation each.
            let mut pool = vec![(0, 11), (1, 22), (2, 33), (3, 44)];
            let mut added = vec![];
            for (place, base) in [(6, 4), (2, 3), (1, 2), (1, 1)] {
                added.push(pool.remove(order / place % base));
                let ring = tiny(&added);
                let mut sorted = added.clone();
                sorted.sort_unstable();
                assert_eq!(owners(&ring), owners(&tiny(&sorted)), "{added:?}");
                for &(node, _) in &added {
                    assert_eq!(
                        ring.tokens().filter(|&(_, owner)| owner == node).count(),
                        20
                    );
                }
                let whole: u128 = ring.space_shares(4).iter().map(|share| share.part).sum();
                assert_eq!(whole, 64);
            }
        }
    }

    #[test]
    fn removing_a_node_from_a_crowded_ring_moves_its_own_range_only() {
        let (all, without) = (
            tiny(&[(0, 11), (1, 22), (2, 33)]),
            tiny(&[(0, 11), (2, 33)]),
        );
        for token in 0..64 {
            let owner = all.owner(token);
            assert!(owner == Some(1) || owner == without.owner(token), "{token}");
        }
    }

    #[test]
    fn a_node_whose_every_token_is_a_smaller_ids_is_found() {
        let shadowed =
            |pairs: &[(u64, u32)]| Ring::new(pairs.to_vec(), Edge::After, 64).shadowed(3);
        assert_eq!(shadowed(&[(5, 0), (9, 2), (5, 1), (7, 1)]), None);
        assert_eq!(shadowed(&[(5, 0), (9, 0), (9, 2), (5, 2)]), Some((2, 0)));
        assert_eq!(shadowed(&[(5, 0), (5, 0), (7, 1)]), None);
        assert_eq!(shadowed(&[]), None);
    }

    #[test]
    fn ranges_cover_a_whole_small_space_as_its_owners_do() {
        let mut rng = crate::hash::Rng::new(16);
        for round in 0..20_000 {
            // Up to six tokens of four bits, the ends of the space among them.
            let count = 1 + rng.uniform(6);
            let pairs: Vec<(u64, u32)> = (0..count)
                .map(|_| {
                    let token = [0, 15, u64::from(rng.uniform(16))][rng.uniform(3) as usize];
                    (token, rng.uniform(4))
                })
                .collect();
            let edge = [Edge::AtOrAfter, Edge::After][round % 2];
            let ring = Ring::new(pairs.clone(), edge, 4);
            let mut covered = Vec::new();
            for (last, owner) in ring.ranges() {
                assert!(last >= covered.len() as u64, "{edge:?}, {pairs:?}");
                covered.resize(last as usize + 1, Some(owner));
            }
            let owners: Vec<_> = (0..16).map(|token| ring.owner(token)).collect();
            assert_eq!(covered, owners, "{edge:?}, {pairs:?}");
            let shares = ring.space_shares(4);
            for node in 0..4 {
                let owned = owners.iter().filter(|owner| **owner == Some(node)).count();
                assert_eq!(
                    shares[node as usize].part, owned as u128,
                    "{edge:?}, {pairs:?}"
                );
            }
        }
    }

    #[test]
    fn an_empty_ring_has_no_owner() {
        assert_eq!(ring(&[], Edge::AtOrAfter).owner(1), None);
    }
}
