//! The ranked answer: distinct members for a key, owner first.
//!
//! Rings walk on to members not yet met; races go by cost; slots take the owner, then the race on the slot's number;
//! jump, jumpback, modulo and maglev take the owner, then the race on the key hash; probed and rank go on in their own
//! sequences. Redis Cluster names the owner only. No member
//! repeats, members without weight never appear, and the walk allocates nothing. Cost: O(tokens walked) on a ring,
//! O(members) a step elsewhere.

use super::{Engine, HashedKey, Placement};
use crate::Member;
use crate::numbered::{ProbedWalk, RankWalk};
use crate::race::{Place, Race};
use crate::rendezvous::TextPlace;
use crate::slots::{slot_key, slot_of_token};

impl Placement {
    /// The first `count` members for the key in `bytes`, owner first, each once; fewer when fewer have weight.
    #[must_use]
    pub fn replicas<'p, 'k>(&'p self, bytes: &'k [u8], count: usize) -> Replicas<'p, 'k> {
        self.ranked(&self.hash(bytes), count)
    }

    /// As [`replicas`](Self::replicas) for a key that is hashed already.
    #[must_use]
    pub fn ranked<'p, 'k>(&'p self, key: &HashedKey<'k>, count: usize) -> Replicas<'p, 'k> {
        // A ring finds its owner on the walk; the others need it first.
        let owner = match &self.engine {
            Engine::Ring(_)
            | Engine::Rendezvous(_)
            | Engine::JoinedText(_)
            | Engine::Probed(_)
            | Engine::Rank(_) => None,
            _ => self.owner_index(key).map(|node| node as u32),
        };
        let race_behind_owner = |k| Walk::Race {
            k,
            owner,
            before: None,
        };
        let walk = match &self.engine {
            Engine::Ring(ring) => Walk::Ring {
                start: ring.successor(key.token.0),
                steps: 0,
            },
            Engine::Rendezvous(_) => Walk::Race {
                k: key.token.0,
                owner: None,
                before: None,
            },
            Engine::Slots { table, .. } => race_behind_owner(slot_key(slot_of_token(
                key.token,
                table.owners().len() as u32,
            ))),
            Engine::Numbered { .. } => race_behind_owner(key.token.0),
            Engine::JoinedText(_) => Walk::Text {
                key: key.key,
                before: None,
            },
            Engine::Maglev { .. } => race_behind_owner(key.token.0),
            Engine::Probed(_) => Walk::Probed {
                key: key.token.0,
                walk: ProbedWalk::default(),
            },
            Engine::Rank(slots) => Walk::Rank {
                key: key.token.0,
                walk: RankWalk::new(key.token.0, slots.len()),
            },
            Engine::RedisCluster { .. } => Walk::Owner,
        };
        Replicas {
            placement: self,
            walk,
            owner_due: owner,
            left: count,
        }
    }
}

/// Members in rank order; see [`Placement::replicas`].
#[derive(Clone, Debug)]
pub struct Replicas<'p, 'k> {
    placement: &'p Placement,
    walk: Walk<'k>,
    /// The owner until it has been given out.
    owner_due: Option<u32>,
    left: usize,
}

#[derive(Clone, Debug)]
enum Walk<'k> {
    Ring {
        start: usize,
        steps: usize,
    },
    /// A race, without `owner` if it comes first for another reason.
    Race {
        k: u64,
        owner: Option<u32>,
        before: Option<Place>,
    },
    Text {
        key: &'k [u8],
        before: Option<TextPlace>,
    },
    Probed {
        key: u64,
        walk: ProbedWalk,
    },
    Rank {
        key: u64,
        walk: RankWalk,
    },
    Owner,
}

impl Replicas<'_, '_> {
    /// The next member's index in [`Placement::members`].
    pub fn next_index(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let node = match (&mut self.walk, &self.placement.engine) {
            (Walk::Ring { start, steps }, Engine::Ring(ring)) => loop {
                if *steps == ring.len() {
                    return None;
                }
                let visit = ring.first_visit(*start, *steps);
                *steps += 1;
                if visit.is_some() {
                    break visit;
                }
            },
            (
                Walk::Race {
                    k,
                    owner: None,
                    before,
                },
                Engine::Rendezvous(race),
            ) => next_in_race(race, *k, before),
            (
                Walk::Race { k, owner, before },
                Engine::Slots { race, .. }
                | Engine::Numbered { race, .. }
                | Engine::Maglev { race, .. },
            ) => match self.owner_due.take() {
                Some(owner) => Some(owner),
                None => loop {
                    let next = next_in_race(race, *k, before);
                    if next.is_none() || next != *owner {
                        break next;
                    }
                },
            },
            (Walk::Text { key, before }, Engine::JoinedText(text)) => {
                *before = match *before {
                    None => text.first(key),
                    Some(place) => text.after(key, place),
                };
                before.map(TextPlace::node)
            }
            (Walk::Probed { key, walk }, Engine::Probed(slots)) => slots.next_probed(*key, walk),
            (Walk::Rank { key, walk }, Engine::Rank(slots)) => slots.next_ranked(*key, walk),
            _ => self.owner_due.take(),
        };
        if node.is_none() {
            self.left = 0;
        }
        node.map(|node| node as usize)
    }
}

impl<'p> Iterator for Replicas<'p, '_> {
    type Item = &'p Member;

    fn next(&mut self) -> Option<&'p Member> {
        let placement = self.placement;
        self.next_index().map(|node| &placement.members[node])
    }
}

impl core::iter::FusedIterator for Replicas<'_, '_> {}

fn next_in_race(race: &Race, k: u64, before: &mut Option<Place>) -> Option<u32> {
    let next = match *before {
        None => race.first(k),
        Some(place) => race.after(k, place),
    };
    // Past the end the last place stays, so that a further call ends too.
    *before = next.or(*before);
    next.map(|place| race.node(place))
}
