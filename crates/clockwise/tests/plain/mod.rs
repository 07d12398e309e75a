//! A second, plain implementation of the placement schemes: the oracle the library is tested against.
//!
//! It promises to be obviously right, not fast: the scheme definitions word for word, with full sorts, linear scans and
//! `u128` where a product could be large.
//! It does not refuse what the library must refuse, but for the slot targets: ids are taken to be distinct, the token limit is
//! not checked, and a numbered scheme with unequal weights is a mistake in the test (it panics).
//! It does not apply a key rule: the caller passes the part that is hashed (see `redis_tag`).
//!
//! Cost: `ranked` builds everything again for every key; `build` once and `Plain::ranked` does not.

#![allow(
    dead_code,
    reason = "each test file that takes this module in uses its own part of it"
)]

pub(crate) mod articles;
pub(crate) mod bounded;
pub(crate) mod hash;
pub(crate) mod jumpback;
pub(crate) mod maglev;
pub(crate) mod numbered;
pub(crate) mod probed;
pub(crate) mod rank;
pub(crate) mod redis;
pub(crate) mod rendezvous;
pub(crate) mod replication;
pub(crate) mod ring;
pub(crate) mod slots;
pub(crate) mod weight;

#[allow(
    unused_imports,
    reason = "the names a test is likely to reach for, in one place; none uses them all"
)]
pub(crate) use self::{
    hash::{G, Rng, key_hash, mix, node_hash},
    redis::{redis_slot, redis_tag},
    slots::{least_movement, slots_table},
    weight::{cost, l2},
};

use self::ring::{Hit, Point};

/// A node as the operator lists it; the place in the listing is its index in every answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// Weight in thousandths; 0 is listed and takes nothing.
    pub(crate) milli: u32,
}

impl Node {
    pub(crate) fn new(id: &str, milli: u32) -> Self {
        Self {
            id: id.to_owned(),
            milli,
        }
    }
}

/// A scheme with its parameters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spec {
    Slots { count: u32 },
    Ring { tokens: u32 },
    Rendezvous,
    Jump,
    JumpBack,
    Modulo,
    Maglev { size: u32 },
    Probed,
    Rank,
    Article000Ring { tokens: u32 },
    Article000Rendezvous,
    Article000Jump,
    Article000Modulo,
    Article002Ring { tokens: u32 },
    Article003Ring { tokens: u32 },
    Article003RingRaw { tokens: u32 },
    Article003Jump,
    Article003Modulo,
    Article004Ring { tokens: u32 },
    Article004Modulo,
}

/// Why the plain version will not build.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Refused {
    /// This node has weight, but its share of the slots or entries is none at all (the first such node in id order).
    NoSlotFor(String),
}

/// A scheme over a listing, with its table or points made.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    spec: Spec,
    nodes: Vec<Node>,
    /// Slot or entry to node; only of `slots` and `maglev`, and empty when no node has weight.
    pub(crate) table: Vec<usize>,
    /// Sorted points; only of rings.
    pub(crate) points: Vec<Point>,
}

/// Makes the table or the points of a scheme.
pub(crate) fn build(spec: &Spec, nodes: &[Node]) -> Result<Plain, Refused> {
    let table = match *spec {
        Spec::Slots { count } => slots::slots_table(nodes, count)?,
        Spec::Maglev { size } => maglev::table(nodes, size)?,
        _ => Vec::new(),
    };
    let points = match *spec {
        Spec::Ring { tokens } => ring::points(nodes, tokens, ring::own_point),
        Spec::Article000Ring { tokens } => ring::points(nodes, tokens, articles::token_000),
        Spec::Article002Ring { tokens } => ring::points(nodes, tokens, articles::token_002),
        Spec::Article003Ring { tokens } => ring::points(nodes, tokens, articles::token_003),
        Spec::Article003RingRaw { tokens } => ring::points(nodes, tokens, articles::token_003_raw),
        Spec::Article004Ring { tokens } => ring::points(nodes, tokens, articles::token_004),
        _ => Vec::new(),
    };
    Ok(Plain {
        spec: *spec,
        nodes: nodes.to_vec(),
        table,
        points,
    })
}

/// All nodes with weight in rank order for a key, owner first; empty when no node has weight.
pub(crate) fn ranked(spec: &Spec, nodes: &[Node], key: &[u8]) -> Vec<usize> {
    build(spec, nodes)
        .expect("the test lists nodes the scheme takes")
        .ranked(key)
}

impl Plain {
    /// All nodes with weight in rank order for a key, owner first; empty when no node has weight.
    pub(crate) fn ranked(&self, key: &[u8]) -> Vec<usize> {
        match self.spec {
            Spec::Article000Rendezvous => articles::rendezvous_000(&self.nodes, key),
            _ => self.ranked_hash(self.key_hash(key)),
        }
    }

    /// The first of `ranked`.
    pub(crate) fn owner(&self, key: &[u8]) -> Option<usize> {
        self.ranked(key).first().copied()
    }

    /// What the scheme makes of a key before it places it; hashes of 32 bits are zero-extended.
    pub(crate) fn key_hash(&self, key: &[u8]) -> u64 {
        match self.spec {
            Spec::Slots { .. }
            | Spec::Ring { .. }
            | Spec::Rendezvous
            | Spec::Jump
            | Spec::JumpBack
            | Spec::Maglev { .. }
            | Spec::Probed
            | Spec::Rank
            | Spec::Modulo => hash::key_hash(key),
            Spec::Article000Ring { .. }
            | Spec::Article000Rendezvous
            | Spec::Article000Jump
            | Spec::Article000Modulo => articles::key_000(key),
            Spec::Article002Ring { .. } => articles::key_002(key),
            Spec::Article003Ring { .. }
            | Spec::Article003RingRaw { .. }
            | Spec::Article003Jump
            | Spec::Article003Modulo => articles::key_003(key),
            Spec::Article004Ring { .. } | Spec::Article004Modulo => articles::key_004(key),
        }
    }

    /// As `ranked`, from the key's hash.
    ///
    /// # Panics
    ///
    /// With article 000's rendezvous, which hashes the key anew for every node.
    pub(crate) fn ranked_hash(&self, hash: u64) -> Vec<usize> {
        if !self.nodes.iter().any(|node| node.milli > 0) {
            return Vec::new();
        }
        match self.spec {
            Spec::Slots { count } => slots::ranked_in(&self.table, &self.nodes, count, hash),
            Spec::Rendezvous => rendezvous::weighted_order(&self.nodes, hash),
            Spec::Jump | Spec::Article000Jump | Spec::Article003Jump => {
                numbered::ranked_jump(&self.nodes, hash)
            }
            Spec::JumpBack => jumpback::ranked_jumpback(&self.nodes, hash),
            Spec::Maglev { size } => {
                let owner = self.table[(hash % u64::from(size)) as usize];
                numbered::owner_then_others(owner, &self.nodes, hash)
            }
            Spec::Probed => {
                let (held_by, thresholds) = numbered::slots_held(&self.nodes);
                numbered::each_once(&held_by, &probed::sequence(hash, &thresholds))
            }
            Spec::Rank => {
                let (held_by, thresholds) = numbered::slots_held(&self.nodes);
                let mut order = rank::rank(hash, held_by.len());
                order.retain(|&slot| thresholds[slot] > 0);
                numbered::each_once(&held_by, &order)
            }
            Spec::Modulo
            | Spec::Article000Modulo
            | Spec::Article003Modulo
            | Spec::Article004Modulo => numbered::ranked_modulo(&self.nodes, hash),
            Spec::Article000Ring { .. } => ring::walk(&self.points, hash, Hit::Above),
            Spec::Ring { .. }
            | Spec::Article002Ring { .. }
            | Spec::Article003Ring { .. }
            | Spec::Article003RingRaw { .. }
            | Spec::Article004Ring { .. } => ring::walk(&self.points, hash, Hit::AtOrAbove),
            Spec::Article000Rendezvous => panic!("article 000's rendezvous needs the key itself"),
        }
    }
}
