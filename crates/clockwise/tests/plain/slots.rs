//! The own scheme `slots` by the scheme definitions: targets, the stateless table, the least-movement table, replicas.
//!
//! The stateless table makes one proposal at a time over preference lists written out in full: time and memory are
//! slots x nodes, fine to some hundred nodes.

use std::cmp::Reverse;

use super::{
    Node, Refused,
    hash::{G, mix, node_hash},
    weight::cost,
};

/// The slot of a key hash: `count` equal parts of the space; the top bits where `count` is a power of two.
pub(crate) fn slot_of(hash: u64, count: u32) -> usize {
    let slot = (u128::from(hash) * u128::from(count) / (1 << 64)) as usize;
    if count.is_power_of_two() {
        assert_eq!(slot as u128, u128::from(hash) >> (64 - count.ilog2()));
    }
    slot
}

/// How many slots each node holds, in listing order; all 0 when no node has weight.
pub(crate) fn targets(nodes: &[Node], count: u32) -> Result<Vec<usize>, Refused> {
    let total: u128 = nodes.iter().map(|node| u128::from(node.milli)).sum();
    if total == 0 {
        return Ok(vec![0; nodes.len()]);
    }
    let product = |i: usize| u128::from(count) * u128::from(nodes[i].milli);
    let mut target: Vec<usize> = (0..nodes.len())
        .map(|i| (product(i) / total) as usize)
        .collect();
    let rest = count as usize - target.iter().sum::<usize>();
    let mut by_remainder: Vec<usize> = in_id_order(nodes);
    // A stable sort: equal remainders stay in id order.
    by_remainder.sort_by_key(|&i| Reverse(product(i) % total));
    for &i in &by_remainder[..rest] {
        target[i] += 1;
    }
    for i in in_id_order(nodes) {
        if nodes[i].milli > 0 && target[i] == 0 {
            return Err(Refused::NoSlotFor(nodes[i].id.clone()));
        }
    }
    Ok(target)
}

/// What a node asks for a slot; the node has weight.
pub(crate) fn slot_cost(slot: usize, node: &Node) -> u128 {
    let k = mix((slot as u64).wrapping_add(G));
    cost(mix(k ^ node_hash(&node.id)), node.milli)
}

/// The nodes with weight in the order a slot prefers them: (cost, node hash, id), least first.
pub(crate) fn slot_preference(slot: usize, nodes: &[Node]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].milli > 0).collect();
    order.sort_by_cached_key(|&i| {
        let node = &nodes[i];
        (slot_cost(slot, node), node_hash(&node.id), node.id.clone())
    });
    order
}

/// The stateless table, slot to index in the listing, by deferred acceptance; empty when no node has weight.
pub(crate) fn slots_table(nodes: &[Node], count: u32) -> Result<Vec<usize>, Refused> {
    let target = targets(nodes, count)?;
    if target.iter().all(|&t| t == 0) {
        return Ok(Vec::new());
    }
    let slots = count as usize;
    let preference: Vec<Vec<usize>> = (0..slots).map(|s| slot_preference(s, nodes)).collect();
    // How far down its list each slot has proposed.
    let mut asked = vec![0; slots];
    // What each node holds now: (cost, slot), in no order.
    let mut held: Vec<Vec<(u128, usize)>> = vec![Vec::new(); nodes.len()];
    let mut free: Vec<usize> = (0..slots).collect();
    while let Some(slot) = free.pop() {
        let node = preference[slot][asked[slot]];
        asked[slot] += 1;
        held[node].push((slot_cost(slot, &nodes[node]), slot));
        if held[node].len() > target[node] {
            let worst = *held[node].iter().max().expect("it holds one too many");
            held[node].retain(|&proposal| proposal != worst);
            free.push(worst.1);
        }
    }
    let mut table = vec![usize::MAX; slots];
    for (node, proposals) in held.iter().enumerate() {
        for &(_, slot) in proposals {
            table[slot] = node;
        }
    }
    assert!(table.iter().all(|&node| node < nodes.len()));
    Ok(table)
}

/// The least-movement table from a previous one, given as indices into the new listing with `None` for a removed node;
/// empty when no node has weight.
///
/// # Panics
///
/// When the targets are refused; ask `targets` first where that can be.
pub(crate) fn least_movement(prev: &[Option<usize>], nodes: &[Node], count: u32) -> Vec<usize> {
    assert_eq!(prev.len(), count as usize);
    let target = targets(nodes, count).expect("every node with weight gets a slot");
    if target.iter().all(|&t| t == 0) {
        return Vec::new();
    }
    let mut table: Vec<Option<usize>> = prev.to_vec();
    // Give: each node its lowest-numbered slots, as many as it has above its target.
    for (node, &wanted) in target.iter().enumerate() {
        let have = held_by(&table, node);
        let surplus = have.len().saturating_sub(wanted);
        for &slot in &have[..surplus] {
            table[slot] = None;
        }
    }
    // Take: the free slots in ascending order, node after node by id, each until it has its due.
    for node in in_id_order(nodes) {
        while held_by(&table, node).len() < target[node] {
            let slot = table
                .iter()
                .position(Option::is_none)
                .expect("the targets sum to the slots");
            table[slot] = Some(node);
        }
    }
    table
        .into_iter()
        .map(|node| node.expect("the targets sum to the slots"))
        .collect()
}

/// The ranking of a key hash under any table of this scheme: the table's owner, then the other nodes with weight as the
/// slot prefers them.
pub(crate) fn ranked_in(table: &[usize], nodes: &[Node], count: u32, hash: u64) -> Vec<usize> {
    let slot = slot_of(hash, count);
    let owner = table[slot];
    let mut order = vec![owner];
    order.extend(
        slot_preference(slot, nodes)
            .into_iter()
            .filter(|&i| i != owner),
    );
    order
}

/// The slots of a node, ascending.
fn held_by(table: &[Option<usize>], node: usize) -> Vec<usize> {
    (0..table.len())
        .filter(|&slot| table[slot] == Some(node))
        .collect()
}

/// Indices of the listing, sorted by id bytes.
fn in_id_order(nodes: &[Node]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_cached_key(|&i| nodes[i].id.clone().into_bytes());
    order
}
