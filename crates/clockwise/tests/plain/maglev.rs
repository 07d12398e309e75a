//! Maglev in whole numbers by the scheme definitions, every node's order of the entries written out.

use std::cmp::Reverse;

use xxhash_rust::xxh64::xxh64;

use super::{Node, Refused};

/// What a node brings to the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taker {
    pub(crate) offset: u64,
    pub(crate) skip: u64,
    /// In any unit, not 0.
    pub(crate) weight: u64,
}

/// The taker of each of `size` entries, a prime; takers stand in the order of their turns.
pub(crate) fn fill(takers: &[Taker], size: u64) -> Vec<usize> {
    let orders: Vec<Vec<u64>> = takers
        .iter()
        .map(|t| (0..size).map(|m| (t.offset + m * t.skip) % size).collect())
        .collect();
    let most = takers.iter().map(|t| t.weight).max().unwrap_or(0);
    let mut due = vec![0; takers.len()];
    let mut table: Vec<Option<usize>> = vec![None; size as usize];
    let mut round = 0;
    while table.contains(&None) {
        round += 1;
        for (i, taker) in takers.iter().enumerate() {
            if round * taker.weight < due[i] || !table.contains(&None) {
                continue;
            }
            due[i] += most;
            let free = orders[i].iter().find(|&&e| table[e as usize].is_none());
            table[*free.expect("the table is not full") as usize] = Some(i);
        }
    }
    table.into_iter().flatten().collect()
}

/// The table of the own scheme, entry to index in the listing; empty when no node has weight.
pub(crate) fn table(nodes: &[Node], size: u32) -> Result<Vec<usize>, Refused> {
    let mut live: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].milli > 0).collect();
    live.sort_by_key(|&i| Reverse(nodes[i].id.as_bytes()));
    live.reverse();
    if live.is_empty() {
        return Ok(Vec::new());
    }
    let size = u64::from(size);
    let takers: Vec<Taker> = live
        .iter()
        .map(|&i| Taker {
            offset: xxh64(nodes[i].id.as_bytes(), 0) % size,
            skip: xxh64(nodes[i].id.as_bytes(), 1) % (size - 1) + 1,
            weight: u64::from(nodes[i].milli),
        })
        .collect();
    let table: Vec<usize> = fill(&takers, size).into_iter().map(|t| live[t]).collect();
    match live.iter().find(|node| !table.contains(node)) {
        Some(&starved) => Err(Refused::NoSlotFor(nodes[starved].id.clone())),
        None => Ok(table),
    }
}
