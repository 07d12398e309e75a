//! What a candidate does at a number of nodes: placements are built and compared.
//!
//! What it is: balance, movement, memory and cost of look-ups of one scheme. What it promises: exact shares where a scheme
//! has any, else its law; copies of replicas counted on pseudo-random keys of a fixed seed. What it does not: time
//! anything; costs of look-ups are ratios of operations. Cost: some placements of so many nodes. Source:
//! [`theory`](crate::theory), [`SkewLaw`].

use clockwise::hash::Rng;
use clockwise::{Algorithm, HashedKey, Member, Membership, Placement, Scheme, Token, Weight};
use serde::Serialize;

use crate::advise::skew_law::SkewLaw;
use crate::theory::expected_move;

/// What was found about a scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The heaviest of equal nodes over its fair share: exact, or for a ring what it keeps for 99 % of the lists of names.
    pub heaviest: f64,
    /// Share of the keys that moves when a node joins at the end of the list.
    pub join_moved: f64,
    /// Share that moves when a node in the middle of the list goes.
    pub leave_any_moved: f64,
    /// Share that moves when the last node of the list goes.
    pub leave_last_moved: f64,
    /// Share that moves when the same nodes are listed in reverse.
    pub reorder_moved: f64,
    /// Memory of the placement in a router.
    pub memory_bytes: u64,
    /// Cost of a look-up of the owner among equal nodes, as a multiple of a look-up in a table.
    pub owner_cost: f64,
    /// The same where weights differ.
    pub weighted_owner_cost: f64,
    /// Cost of naming all replicas, likewise; `None` where the scheme names none.
    pub replicas_cost: Option<f64>,
    /// Copies that have to be made when a node joins, over the fewest possible; sampled. `None` for one copy a key, where
    /// the scheme names no replicas, or where too few keys would be hit.
    pub copies_over_least: Option<f64>,
    /// The node furthest above its share when weights are 1, 2, 0.5 and 1.5 in turn; `None` where the scheme refuses.
    pub weighted_heaviest: Option<f64>,
}

/// Measures a scheme; an error in words where it cannot place so many nodes.
pub(super) fn measure(scheme: &Scheme, nodes: u32, replicas: u32) -> Result<Measured, String> {
    if scheme.algorithm() == Algorithm::Slots && nodes > MOST_SLOT_NODES {
        return Err(format!(
            "Fewer than {} slots a node share too unevenly to be worth a look.",
            scheme.slot_count().unwrap_or(0) / MOST_SLOT_NODES
        ));
    }
    let ids: Vec<u32> = (1..=nodes).collect();
    let build = |ids: &[u32]| equal(ids).and_then(|list| place(scheme, &list));
    let today = build(&ids)?;
    let after = |list: Membership| match scheme.algorithm() {
        // A running Redis Cluster keeps its table.
        Algorithm::RedisCluster => today
            .least_movement(&list)
            .map_err(|error| error.to_string()),
        _ => place(scheme, &list),
    };
    let moved = |list: Membership| Ok::<_, String>(expected_move(&today, &after(list)?, 0.0).share);
    let joined = after(equal(&(1..=nodes + 1).collect::<Vec<_>>())?)?;
    let middle = (nodes / 2) as usize;
    let mut reversed = ids.clone();
    reversed.reverse();
    Ok(Measured {
        heaviest: heaviest(&today),
        join_moved: expected_move(&today, &joined, 0.0).share,
        leave_any_moved: moved(without(scheme, &ids, middle)?)?,
        leave_last_moved: moved(without(scheme, &ids, ids.len() - 1)?)?,
        reorder_moved: reorder_moved(&today, &build(&reversed)?),
        memory_bytes: today.memory_bytes() as u64,
        owner_cost: owner_cost(scheme.algorithm(), nodes, EQUAL_RACE),
        weighted_owner_cost: owner_cost(scheme.algorithm(), nodes, WEIGHTED_RACE),
        replicas_cost: replicas_cost(scheme, nodes, replicas),
        copies_over_least: copies(&today, &joined, replicas),
        weighted_heaviest: weighted_heaviest(scheme, nodes),
    })
}

/// Nothing, exactly, where both lists give one placement.
fn reorder_moved(today: &Placement, reversed: &Placement) -> f64 {
    if today.placement_checksum() == reversed.placement_checksum() {
        return 0.0;
    }
    expected_move(today, reversed, 0.0).share
}

fn place(scheme: &Scheme, list: &Membership) -> Result<Placement, String> {
    Placement::build(scheme, list).map_err(|error| error.to_string())
}

fn node(number: u32, weight: Weight) -> Result<Member, String> {
    let id = format!("node-{number}").parse();
    let id: clockwise::NodeId = id.map_err(|error: clockwise::NodeIdError| error.to_string())?;
    Ok(Member::new(id).with_weight(weight))
}

fn equal(ids: &[u32]) -> Result<Membership, String> {
    let members: Result<Vec<Member>, String> =
        ids.iter().map(|&id| node(id, Weight::ONE)).collect();
    Membership::new(members?).map_err(|error| error.to_string())
}

/// The list after the node at this place is gone. Probed and rank keep it listed, without weight.
fn without(scheme: &Scheme, ids: &[u32], place: usize) -> Result<Membership, String> {
    let keeps_place = matches!(scheme.algorithm(), Algorithm::Probed | Algorithm::Rank);
    let gone = ids.get(place).copied();
    let rest = ids.iter().filter(|id| keeps_place || Some(**id) != gone);
    let members: Result<Vec<Member>, String> = rest
        .map(|&id| {
            node(
                id,
                if Some(id) == gone {
                    Weight::ZERO
                } else {
                    Weight::ONE
                },
            )
        })
        .collect();
    Membership::new(members?).map_err(|error| error.to_string())
}

/// The heaviest of the nodes with weight over its fair share.
fn heaviest(placement: &Placement) -> f64 {
    let nodes = placement.members().len() as u64;
    if let (Algorithm::Ring, Some(tokens)) =
        (placement.scheme().algorithm(), placement.scheme().tokens())
    {
        // The names are not known yet.
        return SkewLaw { nodes }.skew_of(tokens, CONFIDENCE);
    }
    largest_over_fair(placement)
}

/// By exact shares; 1 for schemes without, which follow the weights but for chance in the keys.
fn largest_over_fair(placement: &Placement) -> f64 {
    let weights: Vec<f64> = placement
        .members()
        .iter()
        .map(|member| f64::from(member.weight().milli()))
        .collect();
    let all: f64 = weights.iter().sum();
    let Some(shares) = placement.space_shares() else {
        return 1.0;
    };
    let over = |(share, weight): (&clockwise::Share, &f64)| share.as_f64() * all / weight;
    shares.iter().zip(&weights).map(over).fold(0.0, f64::max)
}

fn weighted_heaviest(scheme: &Scheme, nodes: u32) -> Option<f64> {
    let weights = [1000, 2000, 500, 1500].map(Weight::from_milli);
    let members: Option<Vec<Member>> = (1..=nodes)
        .map(|id| node(id, weights[id as usize % 4]?).ok())
        .collect();
    let list = Membership::new(members?).ok()?;
    Some(largest_over_fair(&place(scheme, &list).ok()?))
}

/// Cost of finding the owner in units of [`NS_PER_UNIT`]; for the race and for jump it grows with the nodes.
fn owner_cost(algorithm: Algorithm, nodes: u32, race: Race) -> f64 {
    let harmonic: f64 = (1..=nodes).map(|i| 1.0 / f64::from(i)).sum();
    match algorithm {
        Algorithm::Slots => 1.0,
        Algorithm::Ring | Algorithm::Maglev | Algorithm::Modulo => 2.0,
        Algorithm::JumpBack | Algorithm::Probed => 4.0,
        Algorithm::RedisCluster => 6.0,
        Algorithm::Jump => 3.0 + 3.0 * harmonic,
        Algorithm::Rank => 25.0,
        _ => race.of(nodes),
    }
}

/// Cost of naming all replicas: the race goes over all nodes again, a ring and probed slots go on from where they are.
fn replicas_cost(scheme: &Scheme, nodes: u32, replicas: u32) -> Option<f64> {
    if !scheme.has_ranking() {
        return None;
    }
    let further = match scheme.algorithm() {
        Algorithm::Ring => 8.0,
        Algorithm::Probed => 10.0,
        Algorithm::Rank => 20.0,
        Algorithm::Slots | Algorithm::Rendezvous => RANKED_RACE.of(nodes),
        _ => TOKEN_RACE.of(nodes),
    };
    let owner = owner_cost(scheme.algorithm(), nodes, EQUAL_RACE);
    Some(owner + further * f64::from(replicas.saturating_sub(1)))
}

/// Cost of a race: some for the start, and some for each node.
#[derive(Clone, Copy, Debug)]
struct Race {
    start: f64,
    node: f64,
}

impl Race {
    fn of(self, nodes: u32) -> f64 {
        self.start + self.node * f64::from(nodes)
    }
}

/// Copies that a node that joins causes, over the fewest: each key's new set less its old one.
fn copies(today: &Placement, joined: &Placement, replicas: u32) -> Option<f64> {
    let nodes = today.members().len() as u64;
    if replicas < 2 || u64::from(replicas) > nodes || !today.scheme().has_ranking() {
        return None;
    }
    let wanted = WANTED_COPIES * (nodes + 1) / u64::from(replicas);
    let keys = wanted.min(MOST_RANKED / nodes);
    let least = keys as f64 * f64::from(replicas) / (nodes + 1) as f64;
    if least < LEAST_COPIES {
        return None;
    }
    let mut rng = Rng::new(SEED);
    let mut copies = 0_u64;
    let count = replicas as usize;
    for _ in 0..keys {
        let key = HashedKey::of_token(Token(rng.next_u64()));
        let before: Vec<_> = today.ranked(&key, count).map(Member::id).collect();
        let after = joined.ranked(&key, count);
        copies += after
            .filter(|member| !before.contains(&member.id()))
            .count() as u64;
    }
    Some(copies as f64 / least)
}

/// What a look-up in a table takes on one core, in nanoseconds. This and the costs in units of it were measured on a core of
/// an AMD EPYC in 2026 with 4 to 1,024 nodes and keys in the caches, and rounded: ratios carry over to other machines.
pub(super) const NS_PER_UNIT: f64 = 2.0;
/// The race for the owner among nodes of one weight.
const EQUAL_RACE: Race = Race {
    start: 6.0,
    node: 0.65,
};
/// The same where weights differ.
const WEIGHTED_RACE: Race = Race {
    start: 15.0,
    node: 1.1,
};
/// A further node in the order of the race.
const RANKED_RACE: Race = Race {
    start: 30.0,
    node: 1.4,
};
/// The same behind an owner that was found otherwise.
const TOKEN_RACE: Race = Race {
    start: 25.0,
    node: 0.85,
};
/// With this share of the lists of names a ring's heaviest node is no heavier.
const CONFIDENCE: f64 = 0.99;
/// Slots become too few, and dealing them out takes seconds.
const MOST_SLOT_NODES: u32 = 4096;
/// Bring the error of the ratio to some 4 %.
const WANTED_COPIES: u64 = 600;
/// Fewer copies say nothing.
const LEAST_COPIES: f64 = 100.0;
/// Turns in the race for one candidate: some tenths of a second.
const MOST_RANKED: u64 = 1 << 24;
/// Any fixed number: the same figures each time.
const SEED: u64 = 42;
