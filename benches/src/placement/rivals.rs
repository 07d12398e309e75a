//! Other crates, each behind the same two functions.
//!
//! What it promises: each is used as its documentation shows, with the hasher it ships, and gives a node or its
//! number for a key. What it does not: make them agree; each has a scheme of its own.

use std::sync::LazyLock;

use hash_rings::{consistent, jump, maglev as filled, rendezvous, weighted_rendezvous};
use maglev::ConsistentHasher as _;

use super::TOKENS;
use crate::keys::Key;

/// Something that finds nodes for keys.
pub(super) trait Rival: Sized {
    /// Builds it for so many nodes.
    fn build(nodes: usize) -> Self;

    /// A number that depends on the key's node.
    fn locate(&self, key: Key) -> usize;

    /// The sum over many keys. Those that have a function for many keys use it here.
    #[inline]
    fn locate_all(&self, keys: impl Iterator<Item = Key>) -> usize {
        keys.fold(0, |sum, key| sum.wrapping_add(self.locate(key)))
    }
}

/// Something that takes another node, and gives it back.
pub(super) trait Grows: Rival {
    /// Adds node number `nodes`.
    fn add(&mut self);

    /// Removes it again.
    fn remove(&mut self);
}

/// Crates and versions, in the words of the report. `Cargo.toml` pins them.
pub(super) const VERSIONS: &str = "anchorhash 0.2.2, conhash 0.5.1, consistent_hash_ring 0.8.0, hash-rings 1.1.0, \
     hashring 0.3.6, hrw-hash 2.0.3, jumpch 2.0.0, jumphash 0.1.9, maglev 0.2.1, pingora-ketama 0.9.1, \
     rendezvous_hash 0.3.0";

/// Numbers that outlive every crate that borrows its nodes.
static NUMBERS: LazyLock<Vec<u32>> = LazyLock::new(|| (0..=10_001).collect());

/// Relative weights, as whole numbers.
pub(super) fn weight(node: usize) -> u32 {
    1 + node as u32 % 4
}

/// pingora-ketama, form v1: 160 tokens a node of weight 1. Its function gives the token's index, the least that it can
/// be asked.
pub(super) struct PingoraKetama(pingora_ketama::Continuum);

impl Rival for PingoraKetama {
    fn build(nodes: usize) -> Self {
        let bucket = |node: usize| {
            let [.., high, middle, low] = (node as u32).to_be_bytes();
            pingora_ketama::Bucket::new(([10, high, middle, low], 6379).into(), 1)
        };
        let buckets: Vec<_> = (0..nodes).map(bucket).collect();
        Self(pingora_ketama::Continuum::new(&buckets))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.node_idx(key)
    }
}

/// hashring: each token is an item of its own.
pub(super) struct HashRing {
    ring: hashring::HashRing<(u32, u32)>,
    nodes: u32,
}

impl HashRing {
    fn items(node: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..TOKENS as u32).map(move |token| (node, token))
    }
}

impl Rival for HashRing {
    fn build(nodes: usize) -> Self {
        let nodes = nodes as u32;
        let mut ring = hashring::HashRing::new();
        ring.batch_add((0..nodes).flat_map(Self::items).collect());
        Self { ring, nodes }
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.ring.get(&key).map_or(0, |item| item.0 as usize)
    }
}

impl Grows for HashRing {
    fn add(&mut self) {
        self.ring.batch_add(Self::items(self.nodes).collect());
    }

    fn remove(&mut self) {
        for item in Self::items(self.nodes) {
            self.ring.remove(&item);
        }
    }
}

/// consistent_hash_ring.
pub(super) struct ConsistentHashRing {
    ring: consistent_hash_ring::Ring<u32>,
    nodes: u32,
}

impl Rival for ConsistentHashRing {
    fn build(nodes: usize) -> Self {
        let nodes = nodes as u32;
        let builder = consistent_hash_ring::RingBuilder::default().vnodes(TOKENS);
        Self {
            ring: builder.nodes_iter(0..nodes).build(),
            nodes,
        }
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        *self.ring.get(key) as usize
    }
}

impl Grows for ConsistentHashRing {
    fn add(&mut self) {
        self.ring.insert(self.nodes);
    }

    fn remove(&mut self) {
        self.ring.remove(&self.nodes);
    }
}

/// The ring of hash-rings.
pub(super) struct HashRings {
    ring: consistent::Ring<'static, u32>,
    nodes: usize,
}

impl Rival for HashRings {
    fn build(nodes: usize) -> Self {
        let mut ring = consistent::Ring::new();
        for node in &NUMBERS[..nodes] {
            ring.insert_node(node, TOKENS);
        }
        Self { ring, nodes }
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        *self.ring.get_node(&key) as usize
    }
}

impl Grows for HashRings {
    fn add(&mut self) {
        self.ring.insert_node(&NUMBERS[self.nodes], TOKENS);
    }

    fn remove(&mut self) {
        self.ring.remove_node(&NUMBERS[self.nodes]);
    }
}

/// conhash.
pub(super) struct ConHash {
    ring: conhash::ConsistentHash<Named>,
    nodes: usize,
}

#[derive(Clone)]
struct Named(u32);

impl conhash::Node for Named {
    fn name(&self) -> String {
        super::node(self.0 as usize)
    }
}

impl Rival for ConHash {
    fn build(nodes: usize) -> Self {
        let mut ring = conhash::ConsistentHash::new();
        for node in 0..nodes as u32 {
            ring.add(&Named(node), TOKENS);
        }
        Self { ring, nodes }
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.ring.get(key).map_or(0, |node| node.0 as usize)
    }
}

impl Grows for ConHash {
    fn add(&mut self) {
        self.ring.add(&Named(self.nodes as u32), TOKENS);
    }

    fn remove(&mut self) {
        self.ring.remove(&Named(self.nodes as u32));
    }
}

/// anchorhash, with room for as many nodes again.
#[expect(
    clippy::disallowed_types,
    reason = "the hasher that the crate takes by itself"
)]
pub(super) struct AnchorHash(
    anchorhash::AnchorHash<Key, u32, std::collections::hash_map::RandomState>,
);

impl Rival for AnchorHash {
    fn build(nodes: usize) -> Self {
        let builder = anchorhash::Builder::default().with_resources(0..nodes as u32);
        Self(builder.build(2 * nodes as u16))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.get_resource(key).map_or(0, |&node| node as usize)
    }
}

/// jumphash.
pub(super) struct JumpHash {
    hasher: jumphash::JumpHasher,
    nodes: u32,
}

impl Rival for JumpHash {
    fn build(nodes: usize) -> Self {
        Self {
            hasher: jumphash::JumpHasher::new(),
            nodes: nodes as u32,
        }
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.hasher.slot(&key, self.nodes) as usize
    }
}

/// jumpch as a hasher, which hashes with the standard library's.
pub(super) struct JumpCh(u32);

impl Rival for JumpCh {
    fn build(nodes: usize) -> Self {
        Self(nodes as u32)
    }

    #[expect(
        clippy::disallowed_types,
        reason = "the hasher that the crate's documentation takes"
    )]
    #[inline]
    fn locate(&self, key: Key) -> usize {
        use std::hash::Hasher as _;
        let mut hasher = jumpch::JumpHasher::<std::hash::DefaultHasher>::new(self.0);
        hasher.write(key);
        hasher.finish() as usize
    }
}

/// The jump hash of hash-rings.
pub(super) struct HashRingsJump(jump::Ring);

impl Rival for HashRingsJump {
    fn build(nodes: usize) -> Self {
        Self(jump::Ring::new(nodes as u32))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.get_node(&key) as usize
    }
}

/// The weighted rendezvous hashing of hash-rings.
pub(super) struct HashRingsWeighted(weighted_rendezvous::Ring<'static, u32>);

impl Rival for HashRingsWeighted {
    fn build(nodes: usize) -> Self {
        let mut ring = weighted_rendezvous::Ring::new();
        for node in &NUMBERS[..nodes] {
            ring.insert_node(node, weight(*node as usize).into());
        }
        Self(ring)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        *self.0.get_node(&key) as usize
    }
}

/// The rendezvous hashing of hash-rings, without weights.
pub(super) struct HashRingsRendezvous(rendezvous::Ring<'static, u32>);

impl Rival for HashRingsRendezvous {
    fn build(nodes: usize) -> Self {
        let mut ring = rendezvous::Ring::new();
        for node in &NUMBERS[..nodes] {
            ring.insert_node(node, 1);
        }
        Self(ring)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        *self.0.get_node(&key) as usize
    }
}

/// hrw-hash, which is always weighted; `EQUAL` gives all nodes the weight 1.
pub(super) struct HrwHash<const EQUAL: bool>(hrw_hash::HrwNodes<Heavy<EQUAL>>);

#[derive(Eq, Hash, PartialEq)]
struct Heavy<const EQUAL: bool>(u32);

impl<const EQUAL: bool> hrw_hash::HrwNode for Heavy<EQUAL> {
    fn capacity(&self) -> usize {
        if EQUAL {
            1
        } else {
            weight(self.0 as usize) as usize
        }
    }
}

impl<const EQUAL: bool> Rival for HrwHash<EQUAL> {
    fn build(nodes: usize) -> Self {
        Self(hrw_hash::HrwNodes::new((0..nodes as u32).map(Heavy)))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.sorted(&key).next().map_or(0, |node| node.0 as usize)
    }
}

/// rendezvous_hash, without weights.
pub(super) struct RendezvousHash(
    rendezvous_hash::RendezvousNodes<
        rendezvous_hash::IdNode<u32>,
        rendezvous_hash::DefaultNodeHasher,
    >,
);

impl Rival for RendezvousHash {
    fn build(nodes: usize) -> Self {
        let mut ring = rendezvous_hash::RendezvousNodes::default();
        for node in 0..nodes as u32 {
            ring.insert(rendezvous_hash::IdNode::new(node));
        }
        Self(ring)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        let first = self.0.calc_candidates(&key).next();
        first.map_or(0, |node| **node as usize)
    }
}

/// rendezvous_hash with weights.
pub(super) struct RendezvousHashWeighted(
    rendezvous_hash::RendezvousNodes<
        rendezvous_hash::WeightedNode<rendezvous_hash::IdNode<u32>>,
        rendezvous_hash::DefaultNodeHasher,
    >,
);

impl Rival for RendezvousHashWeighted {
    fn build(nodes: usize) -> Self {
        let mut ring = rendezvous_hash::RendezvousNodes::default();
        for node in 0..nodes {
            let id = rendezvous_hash::IdNode::new(node as u32);
            // Weights are 1 to 4.
            let capacity = rendezvous_hash::Capacity::new(weight(node).into())
                .expect("a normal, positive number");
            ring.insert(rendezvous_hash::WeightedNode::new(id, capacity));
        }
        Self(ring)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        let first = self.0.calc_candidates(&key).next();
        first.map_or(0, |node| *node.node as usize)
    }
}

/// maglev, with a table as large as ours.
pub(super) struct Maglev(maglev::Maglev<u32>);

impl Rival for Maglev {
    fn build(nodes: usize) -> Self {
        Self(maglev::Maglev::with_capacity(0..nodes as u32, MAGLEV_SIZE))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.get(&key).map_or(0, |&node| node as usize)
    }
}

/// The Maglev table of hash-rings, as large as ours.
pub(super) struct HashRingsMaglev(filled::Ring<'static, u32>);

impl Rival for HashRingsMaglev {
    fn build(nodes: usize) -> Self {
        let nodes = NUMBERS[..nodes].iter().collect();
        Self(filled::Ring::with_capacity_hint(nodes, MAGLEV_SIZE))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        *self.0.get_node(&key) as usize
    }
}

/// Entries of our Maglev tables by default.
const MAGLEV_SIZE: usize = 65_537;
