//! Building a placement from a scheme and a membership.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Engine, Keys, Placement};
use crate::maglev;
use crate::numbered::NumberedSlots;
use crate::race::{Race, Runner};
use crate::redis_cluster::created_ranges;
use crate::rendezvous::JoinedText;
use crate::ring::{NodeChange, Ring};
use crate::scheme::{Kind, MAX_TOKENS, PointLabel, RingForm};
use crate::slots::{self, SlotTable};
use crate::{
    KeyRule, Member, Membership, NodeId, RenumberingCost, Scheme, Weight, hash, node_hash,
};

impl Placement {
    /// Builds the placement of a membership under a scheme. Its key rule is the scheme's own, else
    /// [`KeyRule::Whole`].
    ///
    /// # Errors
    /// [`BuildError`] names the node or the parameter that the scheme cannot work with.
    pub fn build(scheme: &Scheme, membership: &Membership) -> Result<Self, BuildError> {
        Self::build_after(scheme, membership, None)
    }

    /// The same placement with another key rule.
    ///
    /// # Errors
    /// [`BuildError::FixedKeyRule`] when the scheme brings its own.
    pub fn with_key_rule(self, key_rule: KeyRule) -> Result<Self, BuildError> {
        match self.scheme.own_key_rule() {
            Some(own) if own != key_rule => Err(BuildError::FixedKeyRule {
                scheme: self.scheme.name(),
                own,
                asked: key_rule,
            }),
            _ => Ok(Self {
                keys: Keys::new(key_rule, &self.scheme),
                ..self
            }),
        }
    }

    /// As [`build`](Self::build); where the scheme has slots and there is a `previous` table, from that one with the
    /// fewest moves.
    pub(super) fn build_after(
        scheme: &Scheme,
        membership: &Membership,
        previous: Option<&Self>,
    ) -> Result<Self, BuildError> {
        if scheme.lacks_secret() {
            return Err(BuildError::NoSecret {
                scheme: scheme.name(),
                hash: scheme.hash(),
            });
        }
        let mut members = membership.members().to_vec();
        members.sort_by(|a, b| a.id().cmp(b.id()));
        let engine = build_engine(scheme, membership, &members, previous)?;
        Ok(Self {
            scheme: scheme.clone(),
            secret: scheme.secret(),
            keys: Keys::new(scheme.own_key_rule().unwrap_or_default(), scheme),
            members,
            engine,
        })
    }
}

/// The table that follows a previous one, if there was one with owners.
fn next_table(
    previous: Option<&Placement>,
    scheme: &Scheme,
    members: &[Member],
) -> Result<Option<SlotTable>, BuildError> {
    let Some((placement, owners)) =
        previous.and_then(|placement| Some((placement, placement.slot_owners()?)))
    else {
        return Ok(None);
    };
    if owners.is_empty() {
        return Ok(None);
    }
    let place = |old: &Member| {
        members
            .binary_search_by(|member| member.id().cmp(old.id()))
            .ok()
            .map(|node| node as u32)
    };
    let now: Vec<Option<u32>> = placement.members().iter().map(place).collect();
    let owners: Vec<Option<u32>> = owners.iter().map(|&owner| now[owner as usize]).collect();
    let due = slot_dues(scheme, members)?;
    Ok(Some(SlotTable::new(slots::least_movement(&owners, &due))))
}

fn build_engine(
    scheme: &Scheme,
    membership: &Membership,
    members: &[Member],
    previous: Option<&Placement>,
) -> Result<Engine, BuildError> {
    Ok(match scheme.kind() {
        Kind::Slots => {
            let race = race(members)?;
            let table = match next_table(previous, scheme, members)? {
                Some(table) => table,
                None => {
                    let due = slot_dues(scheme, members)?;
                    table_is_feasible(scheme, members)?;
                    SlotTable::new(slots::stateless(&race, &due))
                }
            };
            Engine::Slots { table, race }
        }
        Kind::Ring { form, .. } => Engine::Ring(ring(scheme, form, members)?),
        Kind::RendezvousOverText => {
            equal_weights(scheme, membership)?;
            let running = (0..)
                .zip(members)
                .filter(|(_, member)| member.weight() > Weight::ZERO);
            Engine::JoinedText(JoinedText::new(
                running.map(|(node, member)| (node, member.id().as_str())),
            ))
        }
        Kind::Rendezvous => Engine::Rendezvous(race(members)?),
        Kind::Jump | Kind::JumpBack | Kind::Modulo => {
            equal_weights(scheme, membership)?;
            Engine::Numbered {
                by_bucket: in_listing_order(membership, members),
                race: race(members)?,
            }
        }
        Kind::Maglev => Engine::Maglev {
            table: maglev_table(scheme, members)?,
            race: race(members)?,
        },
        Kind::Probed => Engine::Probed(numbered_slots(scheme, membership, members)?),
        Kind::Rank => Engine::Rank(numbered_slots(scheme, membership, members)?),
        Kind::RedisCluster => {
            equal_weights(scheme, membership)?;
            let listed = in_listing_order(membership, members);
            let table = match next_table(previous, scheme, members)? {
                Some(table) => table,
                None => SlotTable::new(created_ranges(&listed)),
            };
            everyone_has_a_slot(members, table.owners())?;
            Engine::RedisCluster { table, listed }
        }
    })
}

fn table_is_feasible(scheme: &Scheme, members: &[Member]) -> Result<(), BuildError> {
    let slots = scheme.slot_count().unwrap_or_default();
    if u64::from(slots) * members.len() as u64 > MAX_TABLE_PAIRS {
        return Err(BuildError::TableTooLarge {
            slots,
            members: members.len(),
        });
    }
    Ok(())
}

/// The race of members with weight.
///
/// # Errors
/// Two members with one node hash: their order would be the same for every key.
fn race(members: &[Member]) -> Result<Race, BuildError> {
    Ok(Race::new(
        node_hashes(members)?
            .into_iter()
            .map(|(node_hash, node)| Runner {
                node_hash,
                milli: members[node as usize].weight().milli(),
                node,
            })
            .collect(),
    ))
}

/// Node hashes, ascending, with their members.
///
/// # Errors
/// Two members with one node hash.
fn node_hashes(members: &[Member]) -> Result<Vec<(u64, u32)>, BuildError> {
    let mut hashes: Vec<(u64, u32)> = (0..)
        .zip(members)
        .map(|(node, m)| (node_hash(m.id()), node))
        .collect();
    hashes.sort_unstable();
    match hashes.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(hashes),
        Some(pair) => {
            let id = |place: usize| members[pair[place].1 as usize].id().clone();
            Err(BuildError::SameNodeHash {
                id: id(0),
                other: id(1),
            })
        }
    }
}

/// How many slots each member is due.
fn slot_dues(scheme: &Scheme, members: &[Member]) -> Result<Vec<u32>, BuildError> {
    let count = scheme.slot_count().unwrap_or_default();
    let milli: Vec<u32> = members
        .iter()
        .map(|member| member.weight().milli())
        .collect();
    slots::targets(&milli, count).map_err(|node| BuildError::WeightVanishes {
        id: members[node].id().clone(),
        weight: members[node].weight(),
        slots: count,
    })
}

fn ring(scheme: &Scheme, form: RingForm, members: &[Member]) -> Result<Ring, BuildError> {
    let counts = vnode_counts(scheme, form, members)?;
    let mut pairs = Vec::with_capacity(counts.iter().sum::<u64>() as usize);
    for ((node, member), &count) in (0..).zip(members).zip(&counts) {
        pairs.extend(tokens(form, member, count).map(|token| (token, node)));
    }
    everyone_has_a_token(Ring::new(pairs, form.edge, form.bits), members)
}

/// The ring of `members`, of whom only one differs from those of `previous`.
pub(super) fn ring_after(
    previous: &Ring,
    scheme: &Scheme,
    form: RingForm,
    members: &[Member],
    change: NodeChange,
) -> Result<Ring, BuildError> {
    let counts = vnode_counts(scheme, form, members)?;
    let tokens = match change {
        NodeChange::Removed(_) => Vec::new(),
        NodeChange::Added(node) | NodeChange::Changed(node) => {
            let node = node as usize;
            tokens(form, &members[node], counts[node]).collect()
        }
    };
    everyone_has_a_token(previous.changed(change, tokens), members)
}

/// How many vnodes each member of a ring has.
fn vnode_counts(
    scheme: &Scheme,
    form: RingForm,
    members: &[Member],
) -> Result<Vec<u64>, BuildError> {
    let per_weight = scheme.tokens().unwrap_or_default();
    let counts: Vec<u64> = members
        .iter()
        .map(|member| vnodes(per_weight, member.weight()))
        .collect();
    let total: u64 = counts.iter().sum();
    if total > u64::from(MAX_TOKENS) {
        let most = (0..members.len())
            .max_by_key(|&node| (counts[node], core::cmp::Reverse(node)))
            .unwrap_or_default();
        return Err(BuildError::TooManyTokens {
            total,
            most: u64::from(MAX_TOKENS),
            id: members[most].id().clone(),
            tokens: counts[most],
        });
    }
    if form.label == PointLabel::Mixed {
        // Tokens come from the hash of the id, so two ids with one hash would share them all.
        node_hashes(members)?;
    }
    Ok(counts)
}

/// The tokens of a member's first `count` vnodes.
fn tokens(form: RingForm, member: &Member, count: u64) -> impl Iterator<Item = u64> {
    let id_hash = hash::xxh3_64(member.id().as_str().as_bytes());
    let mut label = String::new();
    (0..count).map(move |vnode| match form.label {
        PointLabel::Mixed => hash::mix(id_hash ^ hash::splitmix64(vnode)),
        PointLabel::Text { hash, stepped } => {
            use core::fmt::Write as _;
            label.clear();
            // Writing to a String cannot fail.
            let _ = write!(label, "{}#{vnode}", member.id());
            let token = hash.hash(&[0; 16], label.as_bytes());
            if stepped {
                hash::splitmix64(token)
            } else {
                token
            }
        }
    })
}

fn everyone_has_a_token(ring: Ring, members: &[Member]) -> Result<Ring, BuildError> {
    match ring.shadowed(members.len()) {
        None => Ok(ring),
        Some((node, by)) => Err(BuildError::TokensTaken {
            id: members[node as usize].id().clone(),
            other: members[by as usize].id().clone(),
        }),
    }
}

fn maglev_table(scheme: &Scheme, members: &[Member]) -> Result<SlotTable, BuildError> {
    let weighed = members
        .iter()
        .map(|member| (member.id().as_str(), member.weight().milli()));
    let owners = maglev::fill(weighed, scheme.slot_count().unwrap_or_default());
    everyone_has_a_slot(members, &owners)?;
    Ok(SlotTable::new(owners))
}

/// As many consecutive slots for each listed member as its weight, a whole number, says.
fn numbered_slots(
    scheme: &Scheme,
    membership: &Membership,
    members: &[Member],
) -> Result<NumberedSlots, BuildError> {
    node_hashes(members)?;
    let mut listed = Vec::with_capacity(members.len());
    let mut total = 0_u64;
    for (node, member) in listed_members(membership, members) {
        let milli = member.weight().milli();
        if !milli.is_multiple_of(1000) {
            return Err(BuildError::BrokenWeight {
                scheme: scheme.name(),
                id: member.id().clone(),
                weight: member.weight(),
            });
        }
        total += u64::from(milli / 1000).max(1);
        listed.push((node, milli / 1000));
    }
    if total > MAX_NUMBERED_SLOTS {
        let most = listed.iter().max_by_key(|(_, slots)| *slots);
        let (node, slots) = most.copied().unwrap_or_default();
        return Err(BuildError::TooManyTokens {
            total,
            most: MAX_NUMBERED_SLOTS,
            id: members[node as usize].id().clone(),
            tokens: u64::from(slots),
        });
    }
    Ok(NumberedSlots::new(&listed))
}

/// A member with weight must own something: thousands of masters can share a border, and a table can be too small.
fn everyone_has_a_slot(members: &[Member], table: &[u32]) -> Result<(), BuildError> {
    let mut slots = alloc::vec![0_u32; members.len()];
    for &owner in table {
        slots[owner as usize] += 1;
    }
    let without = members
        .iter()
        .zip(&slots)
        .find(|(member, slots)| member.weight() > Weight::ZERO && **slots == 0);
    match without {
        None => Ok(()),
        Some((member, _)) => Err(BuildError::WeightVanishes {
            id: member.id().clone(),
            weight: member.weight(),
            slots: table.len() as u32,
        }),
    }
}

/// Tokens of a member: in proportion to its weight, rounded half up, at least 1 for any weight above 0.
fn vnodes(per_weight: u32, weight: Weight) -> u64 {
    match u64::from(weight.milli()) {
        0 => 0,
        milli => ((u64::from(per_weight) * milli + 500) / 1000).max(1),
    }
}

fn equal_weights(scheme: &Scheme, membership: &Membership) -> Result<(), BuildError> {
    let mut members = membership.members().iter();
    let Some(first) = members.next() else {
        return Ok(());
    };
    match members.find(|member| member.weight() != first.weight()) {
        None => Ok(()),
        Some(other) => Err(BuildError::UnequalWeights {
            scheme: scheme.name(),
            id: other.id().clone(),
            weight: other.weight(),
            other: first.id().clone(),
            other_weight: first.weight(),
        }),
    }
}

/// Members with weight as indices in id order, arranged as they were listed.
fn in_listing_order(membership: &Membership, members: &[Member]) -> Vec<u32> {
    listed_members(membership, members)
        .filter(|(_, member)| member.weight() > Weight::ZERO)
        .map(|(node, _)| node)
        .collect()
}

/// All members in listing order with their index in id order.
fn listed_members<'m>(
    membership: &'m Membership,
    members: &'m [Member],
) -> impl Iterator<Item = (u32, &'m Member)> {
    membership.members().iter().filter_map(|member| {
        let place = members.binary_search_by(|other| other.id().cmp(member.id()));
        place.ok().map(|node| (node as u32, member))
    })
}

/// Most slots of `probed` and `rank`: further nodes of a ranking cost time in proportion to them.
const MAX_NUMBERED_SLOTS: u64 = 1 << 16;

/// Most slots times members of a table that is filled slot by slot: some ten seconds' work.
const MAX_TABLE_PAIRS: u64 = 1 << 31;

/// Why a placement cannot be built or changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two ids have one node hash, so that no key could tell them apart.
    #[error("nodes {id} and {other} have the same node hash: rename one")]
    SameNodeHash {
        /// The smaller id.
        id: NodeId,
        /// The other id.
        other: NodeId,
    },
    /// Every token of a node stands on a token of a node with a smaller id.
    #[error(
        "every token of node {id} is taken, one by node {other}: it would own nothing, rename it"
    )]
    TokensTaken {
        /// The node that would own nothing.
        id: NodeId,
        /// A node that its first token belongs to.
        other: NodeId,
    },
    /// A weight above 0 that is less than one slot.
    #[error("weight {weight} of node {id} is less than one of {slots} slots: it would own nothing")]
    WeightVanishes {
        /// The node.
        id: NodeId,
        /// Its weight.
        weight: Weight,
        /// Slots of the scheme.
        slots: u32,
    },
    /// The scheme has no weights, and the members' differ.
    #[error(
        "scheme {scheme} has no weights: node {id} has weight {weight}, node {other} has {other_weight}"
    )]
    UnequalWeights {
        /// The scheme's name.
        scheme: &'static str,
        /// A node whose weight differs from the first one's.
        id: NodeId,
        /// Its weight.
        weight: Weight,
        /// The node listed first.
        other: NodeId,
        /// Its weight.
        other_weight: Weight,
    },
    /// A weight that is no whole number, where each unit is a slot.
    #[error("scheme {scheme} takes whole weights, a slot for each 1: node {id} has {weight}")]
    BrokenWeight {
        /// The scheme's name.
        scheme: &'static str,
        /// The node.
        id: NodeId,
        /// Its weight.
        weight: Weight,
    },
    /// More tokens or numbered slots in all than the scheme takes.
    #[error("{total} tokens or slots are more than {most}: node {id} alone has {tokens}")]
    TooManyTokens {
        /// Tokens or slots in all.
        total: u64,
        /// The most that the scheme takes.
        most: u64,
        /// The node with most of them.
        id: NodeId,
        /// Its tokens.
        tokens: u64,
    },
    /// The scheme's hash is keyed and has no key.
    #[error("scheme {scheme}: the hash {hash} needs a key")]
    NoSecret {
        /// The scheme's name.
        scheme: &'static str,
        /// Its hash.
        hash: hash::KeyHash,
    },
    /// The scheme brings another key rule.
    #[error("scheme {scheme} has the key rule {own}: it cannot take {asked}")]
    FixedKeyRule {
        /// The scheme's name.
        scheme: &'static str,
        /// The scheme's own rule.
        own: KeyRule,
        /// The rule that was asked for.
        asked: KeyRule,
    },
    /// Slots times members are more than a table is filled for.
    #[error(
        "{slots} slots for {members} nodes are too large a table: their product must not pass 2147483648"
    )]
    TableTooLarge {
        /// Slots of the scheme.
        slots: u32,
        /// Members of the list.
        members: usize,
    },
    /// A scheme of numbered buckets cannot lose one that is not the last.
    #[error(
        "scheme {scheme} can only drop its last bucket: removing node {} (bucket {} of {}) renumbers those behind it \
         and moves {:.1} % of all keys instead of {:.1} %",
        cost.node, cost.bucket, cost.buckets, 100.0 * cost.moved_share, 100.0 * cost.owned_share
    )]
    MiddleBucket {
        /// The scheme's name.
        scheme: &'static str,
        /// What the removal would cost.
        cost: RenumberingCost,
    },
    /// The edit of the membership itself is refused.
    #[error(transparent)]
    Membership(#[from] crate::MembershipError),
}
