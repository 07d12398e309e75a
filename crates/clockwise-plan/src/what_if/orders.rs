//! The order of several steps that moves least in all.
//!
//! Every set of steps that may be done is built once, every key is looked up in each, and the cheapest way from nothing
//! done to all done is found by dynamic programming. Cost: 2^steps placements and look-ups a token.

use std::collections::BTreeMap;

use clockwise::{HashedKey, Placement};
use serde::Serialize;

use super::part;
use crate::Basis;
use crate::census::{Change, Edit, Stakes};

/// The steps of a change in two orders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Orders {
    /// How sure the figures are.
    pub basis: Basis,
    /// Orders compared: all there are.
    pub count: usize,
    /// The order of the plan's steps.
    pub listed: Order,
    /// The one that moves least in all.
    pub least: Order,
}

/// Steps one after the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Order {
    /// `add ID` or `remove ID`.
    pub steps: Vec<String>,
    /// Share of all keys that moves, summed over the steps.
    pub moved_share: f64,
    /// The most that moves at one step.
    pub largest_step: f64,
}

/// `None` for fewer than two steps, for more than four, and where a step on the way cannot be built or takes too long.
pub(crate) fn orders(change: &Change, stakes: &Stakes, basis: Basis) -> Option<Orders> {
    let count = change.steps.len();
    if !(2..=MOST_STEPS).contains(&count) || too_long(change, stakes) {
        return None;
    }
    let states = states(change)?;
    // What moves when a step is done on top of a set of steps.
    let mut moved = vec![[0.0; MOST_STEPS]; states.len()];
    let mut owners = vec![0; states.len()];
    for stake in &stakes.list {
        let key = HashedKey::of_token(stake.new);
        for (owner, (placement, nodes)) in owners.iter_mut().zip(&states) {
            *owner = placement
                .owner_index(&key)
                .map_or(u32::MAX, |member| nodes[member]);
        }
        for (done, next) in moved.iter_mut().enumerate() {
            for (step, sum) in next.iter_mut().enumerate().take(count) {
                if done & (1 << step) == 0 && owners[done] != owners[done | (1 << step)] {
                    *sum += stake.keys;
                }
            }
        }
    }
    let all: f64 = stakes.list.iter().map(|stake| stake.keys).sum();
    let order = |steps: &[usize]| {
        let mut done = 0;
        let shares = steps.iter().map(|&step| {
            let share = part(moved[done][step], all);
            done |= 1 << step;
            share
        });
        let shares: Vec<f64> = shares.collect();
        Order {
            steps: steps
                .iter()
                .map(|&step| change.steps[step].text.clone())
                .collect(),
            moved_share: shares.iter().sum(),
            largest_step: shares.iter().copied().fold(0.0, f64::max),
        }
    };
    let listed: Vec<usize> = (0..count).collect();
    Some(Orders {
        basis,
        count: (1..=count).product(),
        listed: order(&listed),
        least: order(&cheapest(&moved, count)),
    })
}

/// The steps of the cheapest way; among equals the one that does earlier steps first.
fn cheapest(moved: &[[f64; MOST_STEPS]], count: usize) -> Vec<usize> {
    // From each set to the end, filled from the full set down.
    let mut left = vec![(0.0, None); 1 << count];
    for done in (0..(1_usize << count) - 1).rev() {
        let steps = (0..count).filter(|step| done & (1 << step) == 0);
        let ways = steps.map(|step| (moved[done][step] + left[done | (1 << step)].0, Some(step)));
        left[done] = ways
            .reduce(|best, way| if way.0 < best.0 { way } else { best })
            .unwrap_or_default();
    }
    let mut done = 0;
    let mut steps = Vec::new();
    while let Some(step) = left[done].1 {
        steps.push(step);
        done |= 1 << step;
    }
    steps
}

/// The placement after each set of steps, by the bits of their numbers, with the number of each member's node.
fn states(change: &Change) -> Option<Vec<(Placement, Vec<u32>)>> {
    let places: BTreeMap<&str, u32> = change
        .nodes
        .iter()
        .map(|node| node.id.as_str())
        .zip(0..)
        .collect();
    let mut placements = vec![change.from().clone()];
    for done in 1..1_usize << change.steps.len() {
        let last = done.ilog2() as usize;
        let before = &placements[done & !(1 << last)];
        placements.push(match &change.steps[last].edit {
            Edit::Add(member) => before.with_member(member.clone()).ok()?,
            Edit::Remove(id) => before.without_member(id).ok()?,
        });
    }
    let numbered = placements.into_iter().map(|placement| {
        let ids = placement
            .members()
            .iter()
            .map(|member| member.id().as_str());
        let nodes = ids
            .map(|id| places.get(id).copied())
            .collect::<Option<Vec<u32>>>()?;
        Some((placement, nodes))
    });
    numbered.collect()
}

/// Whether building and looking up would take more than about a second.
fn too_long(change: &Change, stakes: &Stakes) -> bool {
    let members = change.nodes.len() as u64;
    let states = 1_u64 << change.steps.len();
    let slots = u64::from(change.to().scheme().slot_count().unwrap_or(0));
    let is_race = !stakes.exact || slots > 0;
    let looked_up = if is_race {
        stakes.list.len() as u64 * members
    } else {
        0
    };
    let tokens = change.to().token_count().max(change.from().token_count()) as u64;
    states * tokens > MOST_TOKENS || states * (slots * members).max(looked_up) > MOST_WORK
}

/// Up to here every order is compared: 24 of them.
const MOST_STEPS: usize = 4;
/// Tokens of all rings on the way: some 64 MiB.
const MOST_TOKENS: u64 = 2_000_000;
/// Comparisons of a slot or key with a node.
const MOST_WORK: u64 = 100_000_000;
