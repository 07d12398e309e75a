//! Failures that set off others: a node that gets more than it can serve fails too, and its keys go on.
//!
//! Ends when every node that is up can serve its load, and stops counting when a wave leaves half of the weight or less. Cost: a walk of the ranking for each token of a failed node.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::{Ranking, part, weights};
use crate::Basis;
use crate::census::{Change, Stakes};

/// What each single failure leads to when nodes can only serve so much.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cascades {
    /// Requests per second that a node of weight 1 can serve.
    pub node_rate: f64,
    /// How sure the figures are.
    pub basis: Basis,
    /// Nodes that have more than they can serve before any failure, after the change.
    pub over_before: Vec<String>,
    /// What they have, in the same order.
    pub over: Vec<OverNode>,
    /// Each node lost in turn, in the order of the plan; nothing where some have too much already.
    pub failures: Vec<Cascade>,
}

/// A node that has more than it can serve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverNode {
    /// The node.
    pub id: String,
    /// Reads per second that it gets.
    pub reads_per_s: f64,
    /// Reads per second that it can serve.
    pub can_serve_per_s: f64,
}

/// What the failure of one node leads to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cascade {
    /// The node that fails first.
    pub node: String,
    /// The nodes that fail after it, wave by wave.
    pub waves: Vec<Vec<String>>,
    /// Whether it went on until half of the weight or less was left, where counting stops.
    pub collapses: bool,
    /// Nodes that are up in the end.
    pub left: usize,
    /// The fullest of them.
    pub fullest: Option<String>,
    /// Its load over what it can serve.
    pub filled: Option<f64>,
}

/// The cascades at so many reads per second over all nodes.
pub(crate) fn cascades(
    change: &Change,
    stakes: &Stakes,
    basis: Basis,
    has_requests: bool,
    (reads, node_rate): (f64, f64),
    stop: &AtomicBool,
) -> Cascades {
    let weights = weights(change);
    let load = |stake: &crate::census::Stake| {
        if has_requests {
            stake.requests
        } else {
            stake.keys
        }
    };
    let all: f64 = stakes.list.iter().map(load).sum();
    let mut base = Loads {
        rates: vec![0.0; weights.len()],
        tokens: vec![Vec::new(); weights.len()],
    };
    for (index, stake) in (0..).zip(&stakes.list) {
        if let Some(owner) = Ranking::of(change, stake).next() {
            base.rates[owner] += part(load(stake), all) * reads;
            base.tokens[owner].push(index);
        }
    }
    let can_serve = |node: usize| node_rate * f64::from(weights[node]) / 1000.0;
    let id = |node: usize| change.nodes[node].id.clone();
    let nodes = || (0..weights.len()).filter(|&node| weights[node] > 0);
    let over: Vec<OverNode> = nodes()
        .filter(|&node| base.rates[node] > can_serve(node))
        .map(|node| OverNode {
            id: id(node),
            reads_per_s: base.rates[node],
            can_serve_per_s: can_serve(node),
        })
        .collect();
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let cascade = |first: usize| {
        let mut down = vec![false; weights.len()];
        let mut rates = base.rates.clone();
        // Tokens that a node took over from others.
        let mut taken: Vec<Vec<u32>> = vec![Vec::new(); weights.len()];
        let (mut failing, mut waves) = (vec![first], Vec::new());
        let mut collapses = false;
        loop {
            failing.iter().for_each(|&node| down[node] = true);
            if collapses {
                break;
            }
            for &node in &failing {
                let passed_on = std::mem::take(&mut taken[node]);
                for &index in base.tokens[node].iter().chain(&passed_on) {
                    let stake = &stakes.list[index as usize];
                    if let Some(taker) = Ranking::of(change, stake).find(|&node| !down[node]) {
                        rates[taker] += part(load(stake), all) * reads;
                        taken[taker].push(index);
                    }
                }
                rates[node] = 0.0;
            }
            let up = || nodes().filter(|&node| !down[node]);
            failing = up().filter(|&node| rates[node] > can_serve(node)).collect();
            if failing.is_empty() {
                collapses = up().next().is_none();
                break;
            }
            waves.push(failing.iter().map(|&node| id(node)).collect());
            let weight = |node: usize| f64::from(weights[node]);
            let left: f64 = up().map(weight).sum::<f64>()
                - failing.iter().map(|&node| weight(node)).sum::<f64>();
            collapses = 2.0 * left <= total;
        }
        let up: Vec<usize> = nodes().filter(|&node| !down[node]).collect();
        let filled = |node: usize| rates[node] / can_serve(node);
        let fullest = up.iter().copied().reduce(|most, node| {
            if filled(node) > filled(most) {
                node
            } else {
                most
            }
        });
        let fullest = fullest.filter(|_| !collapses);
        Cascade {
            node: id(first),
            waves,
            collapses,
            left: up.len(),
            fullest: fullest.map(id),
            filled: fullest.map(filled),
        }
    };
    let failures = if over.is_empty() && change.to().scheme().has_ranking() {
        nodes()
            .take_while(|_| !stop.load(Ordering::Relaxed))
            .map(cascade)
            .collect()
    } else {
        Vec::new()
    };
    Cascades {
        node_rate,
        basis,
        over_before: over.iter().map(|node| node.id.clone()).collect(),
        over,
        failures,
    }
}

struct Loads {
    rates: Vec<f64>,
    tokens: Vec<Vec<u32>>,
}
