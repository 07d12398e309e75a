//! The table of schemes: one row says everything that decides an owner.
//!
//! A row changes only together with its version. The `articles/` rows are the programs of the founding articles with
//! all the fields of their contracts: hash, token label, edge rule, width and tie rule (equal tokens: the smaller id).
//! `articles/002-ring` is that article's ring in a form that keeps every token and takes a specified hash.

use crate::KeyRule;
use crate::hash::KeyHash;
use crate::ring::Edge;

/// The kind of placement behind a scheme.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// Fixed slots with a table.
    Slots,
    /// A hash ring with vnodes.
    Ring,
    /// Rendezvous hashing: every node scores every key.
    Rendezvous,
    /// Jump consistent hash over numbered buckets.
    Jump,
    /// JumpBack hashing over numbered buckets.
    JumpBack,
    /// A Maglev table.
    Maglev,
    /// The key hash modulo the number of nodes: a baseline.
    Modulo,
    /// Probed slots: numbered slots of which any may be closed.
    Probed,
    /// Permutation rank over numbered slots.
    Rank,
    /// Redis Cluster's slots in contiguous ranges.
    RedisCluster,
}

/// How a ring scheme places its tokens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RingForm {
    pub(crate) label: PointLabel,
    pub(crate) edge: Edge,
    pub(crate) bits: u32,
}

/// How the token of a node's vnode `j` is made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PointLabel {
    /// mix(XXH3-64(id) ^ splitmix64(j)): no text, so no two ids can run together.
    Mixed,
    /// A hash of the text `id#j`, then a whole SplitMix64 step if `stepped`.
    Text { hash: KeyHash, stepped: bool },
}

/// A row of the table.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Contract {
    pub(super) name: &'static str,
    pub(super) version: u32,
    pub(super) kind: Kind,
    pub(super) hash: HashChoice,
    /// The rule that belongs to the scheme; `None` where its user chooses.
    pub(super) key_rule: Option<KeyRule>,
}

/// The algorithm with what the scheme fixes about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Slots,
    /// `tokens` is the default for a weight of 1.
    Ring {
        form: RingForm,
        tokens: u32,
    },
    /// The weighted race.
    Rendezvous,
    /// The hash of `node|key` is the score.
    RendezvousOverText,
    Jump,
    JumpBack,
    Maglev,
    Modulo,
    Probed,
    Rank,
    RedisCluster,
}

/// Which key hashes a scheme may take; the first named is the default.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum HashChoice {
    /// Any of 64 bits, since the scheme reads the top ones.
    Wide(KeyHash),
    /// Any.
    Any(KeyHash),
    /// This one.
    Fixed(KeyHash),
}

impl Contract {
    pub(super) const fn algorithm(&self) -> Algorithm {
        match self.kind {
            Kind::Slots => Algorithm::Slots,
            Kind::Ring { .. } => Algorithm::Ring,
            Kind::Rendezvous | Kind::RendezvousOverText => Algorithm::Rendezvous,
            Kind::Jump => Algorithm::Jump,
            Kind::JumpBack => Algorithm::JumpBack,
            Kind::Maglev => Algorithm::Maglev,
            Kind::Modulo => Algorithm::Modulo,
            Kind::Probed => Algorithm::Probed,
            Kind::Rank => Algorithm::Rank,
            Kind::RedisCluster => Algorithm::RedisCluster,
        }
    }

    pub(super) const fn default_hash(&self) -> KeyHash {
        match self.hash {
            HashChoice::Wide(hash) | HashChoice::Any(hash) | HashChoice::Fixed(hash) => hash,
        }
    }

    pub(super) const fn is_hash_fixed(&self) -> bool {
        matches!(self.hash, HashChoice::Fixed(_))
    }

    pub(super) fn allows(&self, hash: KeyHash) -> bool {
        match self.hash {
            HashChoice::Wide(_) => hash.bits() == 64,
            HashChoice::Any(_) => true,
            HashChoice::Fixed(fixed) => hash == fixed,
        }
    }
}

/// Slots of the scheme `slots` unless its text says otherwise: Redis Cluster's number, enough for 1000 nodes to
/// differ by no more than a sixteenth.
pub(super) const DEFAULT_SLOTS: u32 = 16384;

/// Entries of a Maglev table unless its text says otherwise: the paper's small size, good for some hundred nodes.
pub(super) const DEFAULT_ENTRIES: u32 = 65_537;

pub(super) static CONTRACTS: [Contract; 21] = [
    own("slots", Kind::Slots, HashChoice::Wide(KeyHash::Xxh3)),
    own(
        "ring",
        ring(PointLabel::Mixed, Edge::AtOrAfter, 64, 160),
        HashChoice::Wide(KeyHash::Xxh3),
    ),
    own(
        "rendezvous",
        Kind::Rendezvous,
        HashChoice::Wide(KeyHash::Xxh3),
    ),
    own("jumpback", Kind::JumpBack, HashChoice::Any(KeyHash::Xxh3)),
    own("jump", Kind::Jump, HashChoice::Any(KeyHash::Xxh3)),
    own("maglev", Kind::Maglev, HashChoice::Wide(KeyHash::Xxh3)),
    own("probed", Kind::Probed, HashChoice::Wide(KeyHash::Xxh3)),
    own("rank", Kind::Rank, HashChoice::Wide(KeyHash::Xxh3)),
    own("modulo", Kind::Modulo, HashChoice::Any(KeyHash::Xxh3)),
    Contract {
        name: "redis-cluster",
        version: 1,
        kind: Kind::RedisCluster,
        hash: HashChoice::Fixed(KeyHash::Crc16),
        key_rule: Some(KeyRule::RedisTag),
    },
    article(
        "articles/000-ring",
        ring(text(KeyHash::Md5Be64), Edge::After, 64, 100),
        KeyHash::Md5Be64,
    ),
    article(
        "articles/000-rendezvous",
        Kind::RendezvousOverText,
        KeyHash::Md5Be64,
    ),
    article("articles/000-jump", Kind::Jump, KeyHash::Md5Be64),
    article("articles/000-modulo", Kind::Modulo, KeyHash::Md5Be64),
    article(
        "articles/002-ring",
        ring(text(KeyHash::Fnv1a32Fmix32), Edge::AtOrAfter, 32, 160),
        KeyHash::Fnv1a32Fmix32,
    ),
    article(
        "articles/003-ring",
        ring(
            PointLabel::Text {
                hash: KeyHash::Fnv1a64,
                stepped: true,
            },
            Edge::AtOrAfter,
            64,
            100,
        ),
        KeyHash::Fnv1a64,
    ),
    article(
        "articles/003-ring-raw",
        ring(text(KeyHash::Fnv1a64), Edge::AtOrAfter, 64, 100),
        KeyHash::Fnv1a64,
    ),
    article("articles/003-jump", Kind::Jump, KeyHash::Fnv1a64),
    article("articles/003-modulo", Kind::Modulo, KeyHash::Fnv1a64),
    article(
        "articles/004-ring",
        ring(text(KeyHash::Fnv1a32Utf16Fmix32), Edge::AtOrAfter, 32, 150),
        KeyHash::Fnv1a32Utf16Fmix32,
    ),
    article(
        "articles/004-modulo",
        Kind::Modulo,
        KeyHash::Fnv1a32Utf16Fmix32,
    ),
];

const fn own(name: &'static str, kind: Kind, hash: HashChoice) -> Contract {
    Contract {
        name,
        version: 1,
        kind,
        hash,
        key_rule: None,
    }
}

const fn article(name: &'static str, kind: Kind, hash: KeyHash) -> Contract {
    Contract {
        name,
        version: 1,
        kind,
        hash: HashChoice::Fixed(hash),
        key_rule: Some(KeyRule::Whole),
    }
}

const fn ring(label: PointLabel, edge: Edge, bits: u32, tokens: u32) -> Kind {
    Kind::Ring {
        form: RingForm { label, edge, bits },
        tokens,
    }
}

const fn text(hash: KeyHash) -> PointLabel {
    PointLabel::Text {
        hash,
        stepped: false,
    }
}
