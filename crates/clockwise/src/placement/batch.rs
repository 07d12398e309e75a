//! The owners of many keys, with waits for memory that overlap.
//!
//! What it is: look-ups in blocks of 32 keys: hash all, ask for what each will read, then read. What it promises: the
//! answers of the same look-ups one by one, without allocation. What it does not: gain where a placement has no large
//! table, so other schemes than rings go one by one. Cost: from some 100,000 tokens on a half of single look-ups or
//! less, and about the same below. Source: group prefetching (Chen, Ailamaki, Gibbons and Mowry, 2004).

use alloc::vec::Vec;
use core::iter::Fuse;

use super::{HashedKey, Placement};
use crate::Member;
use crate::ring::{BLOCK, Ring};

impl Placement {
    /// The indices of the owners of keys that are hashed already: as [`owner_index`](Self::owner_index) of each, but
    /// together. Stops with the shorter slice.
    ///
    /// ```
    /// # use clockwise::{Member, Membership, Placement, Scheme};
    /// # let ids = ["cache-1", "cache-2", "cache-3"];
    /// # let members = ids.map(|id| Member::new(id.parse().expect("a plain name is an id")));
    /// # let placement = Placement::build(&"ring".parse::<Scheme>()?, &Membership::new(members)?)?;
    /// let keys = [&b"user:1"[..], b"user:2", b"user:3"].map(|key| placement.hash(key));
    /// let mut owners = [None; 3];
    /// placement.owner_indices(&keys, &mut owners);
    /// assert_eq!(owners, keys.map(|key| placement.owner_index(&key)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn owner_indices(&self, keys: &[HashedKey<'_>], owners: &mut [Option<usize>]) {
        let Some(ring) = self.large_ring() else {
            for (key, owner) in keys.iter().zip(owners) {
                *owner = self.owner_index(key);
            }
            return;
        };
        for (keys, owners) in keys.chunks(BLOCK).zip(owners.chunks_mut(BLOCK)) {
            let (mut tokens, mut nodes) = ([0; BLOCK], [0; BLOCK]);
            for (token, key) in tokens.iter_mut().zip(keys) {
                *token = key.token.0;
            }
            ring.owners(&tokens[..keys.len()], &mut nodes);
            for (owner, &node) in owners.iter_mut().zip(&nodes[..keys.len()]) {
                *owner = Some(node as usize);
            }
        }
    }

    /// The owners of many keys in order: the batch form of [`owner`](Self::owner). Reads up to 31 keys ahead.
    pub fn owners<'p, 'k, K>(&'p self, keys: K) -> impl Iterator<Item = Option<&'p Member>>
    where
        K: IntoIterator<Item = &'k [u8]>,
    {
        self.indices(keys)
            .map(|node| node.map(|node| &self.members[node]))
    }

    /// How many of `keys` each member owns, by index; all 0 when no member has weight.
    #[must_use]
    pub fn count_by_owner<'k>(&self, keys: impl IntoIterator<Item = &'k [u8]>) -> Vec<u64> {
        let mut counts = alloc::vec![0; self.members.len()];
        let Some(ring) = self.large_ring() else {
            for key in keys {
                if let Some(node) = self.owner_index(&self.hash(key)) {
                    counts[node] += 1;
                }
            }
            return counts;
        };
        let mut indices = self.indices(keys);
        while indices.refill(ring).is_some() {
            for &node in &indices.nodes[..indices.end] {
                counts[node as usize] += 1;
            }
        }
        counts
    }

    fn indices<'p, 'k, K>(&'p self, keys: K) -> Indices<'p, K::IntoIter>
    where
        K: IntoIterator<Item = &'k [u8]>,
    {
        Indices {
            placement: self,
            ring: self.large_ring(),
            keys: keys.into_iter().fuse(),
            nodes: [0; BLOCK],
            next: 0,
            end: 0,
        }
    }

    /// The ring, where looking up in blocks is worth it.
    fn large_ring(&self) -> Option<&Ring> {
        self.ring().filter(|ring| ring.is_large())
    }
}

/// Owners' indices of keys, a block at a time where that is worth it.
struct Indices<'p, K> {
    placement: &'p Placement,
    ring: Option<&'p Ring>,
    keys: Fuse<K>,
    nodes: [u32; BLOCK],
    /// Those of `nodes` that are still to give out.
    next: usize,
    end: usize,
}

impl<'k, K: Iterator<Item = &'k [u8]>> Indices<'_, K> {
    /// Looks a block of keys up; `None` at their end.
    fn refill(&mut self, ring: &Ring) -> Option<()> {
        let mut tokens = [0; BLOCK];
        (self.next, self.end) = (0, 0);
        // The slot comes first, so that no key is taken that has none.
        for (token, key) in tokens.iter_mut().zip(&mut self.keys) {
            *token = self.placement.hash(key).token.0;
            self.end += 1;
        }
        ring.owners(&tokens[..self.end], &mut self.nodes);
        (self.end > 0).then_some(())
    }
}

impl<'k, K: Iterator<Item = &'k [u8]>> Iterator for Indices<'_, K> {
    type Item = Option<usize>;

    #[inline]
    fn next(&mut self) -> Option<Option<usize>> {
        let Some(ring) = self.ring else {
            let key = self.placement.hash(self.keys.next()?);
            return Some(self.placement.owner_index(&key));
        };
        if self.next == self.end {
            self.refill(ring)?;
        }
        let node = self.nodes[self.next % BLOCK];
        self.next += 1;
        Some(Some(node as usize))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let due = self.end - self.next;
        let (least, most) = self.keys.size_hint();
        let most = most.and_then(|most| most.checked_add(due));
        (least.saturating_add(due), most)
    }
}
