//! A placement: members and a scheme, built into the thing that answers "who owns this key".
//!
//! What it is: one immutable value over any scheme. What it promises: every answer is a function of scheme, key rule
//! and members alone; the order of the list does not matter unless the scheme is numbered; a look-up allocates
//! nothing and never panics; no members, or none with weight, answer `None`. What it does not: copy data, notice
//! failures or keep replicas equal. Cost: see each scheme; [`Placement::memory_bytes`] counts what a placement holds.
//! Source: the schemes' modules.

mod batch;
mod build;
mod change;
mod checksum;
mod replicas;

use alloc::vec::Vec;
use core::num::NonZeroU32;

pub use build::BuildError;
pub use checksum::PlacementChecksum;
pub use replicas::Replicas;

use crate::hash::xxh3_64;
use crate::numbered::NumberedSlots;
use crate::race::Race;
use crate::redis_cluster::slot_of_crc;
use crate::rendezvous::JoinedText;
use crate::ring::Ring;
use crate::slots::{SlotTable, slot_of_token};
use crate::{Algorithm, KeyRule, Member, Scheme, SecretKey, Share, Slot, Token, jump, jumpback};

/// Who owns which key. Members are numbered in ascending order of their ids.
#[derive(Clone, Debug)]
pub struct Placement {
    scheme: Scheme,
    /// Zeroes where the hash has none; a type of its own, so that `Debug` does not print it.
    secret: SecretKey,
    keys: Keys,
    members: Vec<Member>,
    engine: Engine,
}

/// How keys are cut and hashed.
#[derive(Clone, Copy, Debug)]
struct Keys {
    rule: KeyRule,
    /// Whether a token is XXH3 of all bytes, so that nothing has to be decided for each key.
    is_plain: bool,
}

impl Keys {
    fn new(rule: KeyRule, scheme: &Scheme) -> Self {
        Self {
            rule,
            is_plain: rule == KeyRule::Whole && scheme.is_plain_xxh3(),
        }
    }
}

// The tag stands in a byte of its own, which a look-up reads at once.
#[derive(Clone, Debug)]
#[repr(u8)]
enum Engine {
    Slots {
        table: SlotTable,
        race: Race,
    },
    Ring(Ring),
    Rendezvous(Race),
    JoinedText(JoinedText),
    /// Jump, jumpback and modulo: members by bucket, empty when none has weight.
    Numbered {
        by_bucket: Vec<u32>,
        race: Race,
    },
    Maglev {
        table: SlotTable,
        race: Race,
    },
    Probed(NumberedSlots),
    Rank(NumberedSlots),
    RedisCluster {
        table: SlotTable,
        listed: Vec<u32>,
    },
}

/// A key after the key rule and the hash: what look-ups work on. Two placements with the same key rule and the same
/// hash share it.
#[derive(Clone, Copy, Debug)]
pub struct HashedKey<'k> {
    key: &'k [u8],
    token: Token,
}

impl HashedKey<'_> {
    /// A token that was hashed elsewhere, without the key's bytes: enough for every scheme but `articles/000-rendezvous`.
    #[must_use]
    pub fn of_token(token: Token) -> Self {
        Self { key: &[], token }
    }

    /// The position of the key.
    #[must_use]
    pub fn token(&self) -> Token {
        self.token
    }

    /// The bytes of the key, after the key rule; empty for a token that was hashed elsewhere.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.key
    }
}

impl Placement {
    /// The scheme, with its parameters.
    #[must_use]
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Which bytes of what is asked for are the key.
    #[must_use]
    pub fn key_rule(&self) -> KeyRule {
        self.keys.rule
    }

    /// The members in ascending order of their ids; indices elsewhere count along this list.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The key cut out of `bytes`, with its token.
    #[inline]
    #[must_use]
    pub fn hash<'k>(&self, bytes: &'k [u8]) -> HashedKey<'k> {
        if self.keys.is_plain {
            HashedKey {
                key: bytes,
                token: Token(xxh3_64(bytes)),
            }
        } else {
            self.hash_by_rule(bytes)
        }
    }

    /// As [`hash`](Self::hash), kept out of the caller's loop.
    #[inline(never)]
    fn hash_by_rule<'k>(&self, bytes: &'k [u8]) -> HashedKey<'k> {
        let key = self.keys.rule.key(bytes);
        HashedKey {
            key,
            token: Token(self.scheme.token(self.secret.bytes(), key)),
        }
    }

    /// Whether [`hash`](Self::hash) of both gives the same for every key.
    #[must_use]
    pub fn hashes_like(&self, other: &Self) -> bool {
        self.keys.rule == other.keys.rule && self.tokens_like(other)
    }

    /// Whether both give the same token to what is the key, whatever their key rules cut out.
    #[must_use]
    pub fn tokens_like(&self, other: &Self) -> bool {
        self.scheme.hash() == other.scheme.hash()
            && self.scheme.layer() == other.scheme.layer()
            && self.secret == other.secret
    }

    /// The token of the key in `bytes`.
    #[must_use]
    pub fn token(&self, bytes: &[u8]) -> Token {
        self.hash(bytes).token
    }

    /// The slot of a token; `None` where the scheme has no slots.
    #[must_use]
    pub fn slot_of_token(&self, token: Token) -> Option<Slot> {
        match self.scheme.algorithm() {
            Algorithm::Slots => self
                .scheme
                .slot_count()
                .map(|count| slot_of_token(token, count)),
            Algorithm::RedisCluster => Some(slot_of_crc(token.0)),
            Algorithm::Maglev => Some(Slot(
                (token.0 % u64::from(self.scheme.slot_count()?)) as u32,
            )),
            _ => None,
        }
    }

    /// The owner of the key in `bytes`; `None` when no member has weight.
    #[inline]
    #[must_use]
    pub fn owner(&self, bytes: &[u8]) -> Option<&Member> {
        self.owner_index(&self.hash(bytes))
            .map(|node| &self.members[node])
    }

    /// The owner of what the key rule has cut out already; `None` when no member has weight.
    #[must_use]
    pub fn owner_of_key(&self, key: &[u8]) -> Option<&Member> {
        let token = Token(self.scheme.token(self.secret.bytes(), key));
        self.owner_index(&HashedKey { key, token })
            .map(|node| &self.members[node])
    }

    /// The owner of a token that was hashed elsewhere by the scheme's key hash.
    ///
    /// `None` when no member has weight, and for `articles/000-rendezvous`, whose scores need the key's bytes.
    #[must_use]
    pub fn owner_of_token(&self, token: Token) -> Option<&Member> {
        match self.engine {
            Engine::JoinedText(_) => None,
            _ => self
                .owner_index(&HashedKey { key: &[], token })
                .map(|node| &self.members[node]),
        }
    }

    /// The owner of a slot; `None` where the scheme has no slots, or not this one.
    #[must_use]
    pub fn owner_of_slot(&self, slot: Slot) -> Option<&Member> {
        self.slot_table()?
            .owner(slot)
            .map(|node| &self.members[node as usize])
    }

    /// The index of the key's owner in [`members`](Self::members).
    #[inline]
    #[must_use]
    pub fn owner_index(&self, key: &HashedKey<'_>) -> Option<usize> {
        let told = match &self.engine {
            Engine::Ring(ring) => ring.told_owner(key.token.0),
            Engine::Slots { table, .. } => {
                table.owner(slot_of_token(key.token, table.owners().len() as u32))
            }
            _ => None,
        };
        let node = match told {
            Some(node) => node,
            None => self.computed_owner(key.token, key.key),
        };
        (node != NOBODY).then_some(node as usize)
    }

    /// The owner where that takes more than a few instructions, which are kept out of the caller's loop, or [`NOBODY`].
    /// The parts of the key and the answer are such as go in registers.
    #[inline(never)]
    fn computed_owner(&self, token: Token, key: &[u8]) -> u32 {
        let node = match &self.engine {
            Engine::Slots { table, .. } => {
                table.owner(slot_of_token(token, table.owners().len() as u32))
            }
            Engine::Ring(ring) => ring.owner(token.0),
            Engine::Rendezvous(race) => race.first(token.0).map(|place| race.node(place)),
            Engine::JoinedText(text) => text.first(key).map(|place| place.node()),
            Engine::Numbered { by_bucket, .. } => {
                self.bucket(token).map(|bucket| by_bucket[bucket as usize])
            }
            Engine::Maglev { table, .. } => table.owner(table.entry(token)),
            Engine::Probed(slots) => slots.probed_owner(token.0),
            Engine::Rank(slots) => slots.ranked_owner(token.0),
            Engine::RedisCluster { table, .. } => table.owner(slot_of_crc(token.0)),
        };
        node.unwrap_or(NOBODY)
    }

    /// The exact part of the token space of each member, by index; `None` where the scheme has no ranges or slots
    /// that could be counted.
    #[must_use]
    pub fn space_shares(&self) -> Option<Vec<Share>> {
        let nodes = self.members.len();
        match &self.engine {
            Engine::Ring(ring) => Some(ring.space_shares(nodes)),
            _ => {
                let count = self.scheme.slot_count()?;
                Some(self.slot_table()?.space_shares(nodes, count))
            }
        }
    }

    /// The tokens of a ring, ascending, with their members; nothing for other schemes.
    pub fn tokens(&self) -> impl Iterator<Item = (Token, &Member)> {
        self.ring()
            .into_iter()
            .flat_map(Ring::tokens)
            .map(|(token, node)| (token, &self.members[node as usize]))
    }

    /// How many tokens the ring holds; 0 for other schemes.
    #[must_use]
    pub fn token_count(&self) -> usize {
        self.ring().map_or(0, Ring::len)
    }

    /// The owner of each slot by index, in slot order; `None` where the scheme has no slots.
    #[must_use]
    pub fn slot_owners(&self) -> Option<&[u32]> {
        self.slot_table().map(SlotTable::owners)
    }

    /// Members by bucket number for numbered schemes, by index, a node of several buckets once for each; `None` for
    /// others.
    #[must_use]
    pub fn buckets(&self) -> Option<&[u32]> {
        match &self.engine {
            Engine::Numbered { by_bucket, .. } => Some(by_bucket),
            Engine::Probed(slots) | Engine::Rank(slots) => Some(slots.nodes()),
            _ => None,
        }
    }

    /// Bytes of memory that the tables of the placement take, the members' texts left out.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match &self.engine {
            Engine::Slots { table, race } | Engine::Maglev { table, race } => {
                table.memory_bytes() + race.memory_bytes()
            }
            Engine::Probed(slots) | Engine::Rank(slots) => slots.memory_bytes(),
            Engine::Ring(ring) => ring.memory_bytes(),
            Engine::Rendezvous(race) => race.memory_bytes(),
            Engine::JoinedText(text) => text.memory_bytes(),
            Engine::Numbered { by_bucket, race } => {
                by_bucket.capacity() * size_of::<u32>() + race.memory_bytes()
            }
            Engine::RedisCluster { table, listed } => {
                table.memory_bytes() + listed.capacity() * size_of::<u32>()
            }
        }
    }

    pub(crate) fn ring(&self) -> Option<&Ring> {
        match &self.engine {
            Engine::Ring(ring) => Some(ring),
            _ => None,
        }
    }

    fn slot_table(&self) -> Option<&SlotTable> {
        match &self.engine {
            Engine::Slots { table, .. }
            | Engine::Maglev { table, .. }
            | Engine::RedisCluster { table, .. } => Some(table),
            _ => None,
        }
    }

    /// The bucket of a token under jump, jumpback or modulo; `None` without buckets.
    fn bucket(&self, token: Token) -> Option<u32> {
        let Engine::Numbered { by_bucket, .. } = &self.engine else {
            return None;
        };
        let buckets = NonZeroU32::new(by_bucket.len() as u32)?;
        Some(match self.scheme.algorithm() {
            Algorithm::Modulo => (token.0 % u64::from(buckets.get())) as u32,
            Algorithm::JumpBack => jumpback(token.0, buckets),
            _ => jump(token.0, buckets),
        })
    }
}

/// No member's index: a membership has fewer.
const NOBODY: u32 = u32::MAX;
