//! Nodes that fail together: any two, or all of a failure domain.
//!
//! Keys of the failed nodes go to the next node of their ranking that is up. Cost: the ranking of each token once, then
//! a table of additions; for pairs in proportion to nodes x tokens and to nodes cubed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::{DomainLevel, Member};
use serde::Serialize;

use super::{Ranking, part, weights};
use crate::Basis;
use crate::census::{Change, OutageKind, Stakes};
use crate::{Heaviest, replica_shares::qualified_name};

/// All outages of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outages {
    /// `pair`, `region`, `zone`, `rack` or `host`.
    pub kind: String,
    /// How many there are of this kind.
    pub total: usize,
    /// How sure the figures are.
    pub basis: Basis,
    /// Nodes without a label of this kind: they fail in none of these outages.
    pub unlabelled: usize,
    /// Those with the heaviest node afterwards first, at most 1,000.
    pub worst: Vec<Outage>,
}

/// Nodes that fail together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// The failure domain, with those around it; `None` for a pair.
    pub name: Option<String>,
    /// The nodes that fail.
    pub nodes: Vec<String>,
    /// Share of all keys that they owned, 0 to 1.
    pub owned_share: f64,
    /// The node that takes most of these keys.
    pub largest_receiver: Option<OutageReceiver>,
    /// The node with most keys against its fair share then; `None` where nobody is left.
    pub heaviest_after: Option<Heaviest>,
    /// The same in requests, where they were told.
    pub heaviest_requests_after: Option<Heaviest>,
    /// The node whose load grows most, in requests where they were told, else in keys; `None` where none grows.
    pub grows_most: Option<Growth>,
    /// Share of all reads that they answered: of requests where they were told, else of keys, 0 to 1.
    pub read_share: f64,
    /// Queries per second that reach the database at the first moment, where the traffic was told; predicted.
    pub origin_queries: Option<f64>,
    /// Share of all keys that have no node left, 0 to 1.
    pub unserved_share: f64,
}

/// A node that takes keys of failed ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutageReceiver {
    /// The node.
    pub id: String,
    /// Of the keys of the failed nodes, 0 to 1.
    pub share: f64,
}

/// A node's load over what it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The node.
    pub id: String,
    /// Its load after the failure over that before.
    pub times: f64,
}

/// The outages that were asked for; nothing where the scheme names no further node.
pub(crate) fn outages(
    change: &Change,
    stakes: &Stakes,
    basis: Basis,
    has_requests: bool,
    stop: &AtomicBool,
) -> Vec<Outages> {
    if !change.to().scheme().has_ranking() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for &kind in &change.questions.outages {
        let loads = Loads::new(change, stakes, has_requests);
        let mut worst: Vec<Outage> = match kind {
            OutageKind::Pairs => pairs(&loads, stop),
            OutageKind::Domain(level) => {
                // By all labels down to the level: a name made of them could be that of two domains.
                let mut domains: BTreeMap<Vec<Option<&str>>, (String, Vec<usize>)> =
                    BTreeMap::new();
                for (place, node) in change.nodes.iter().enumerate() {
                    let member: Option<&Member> =
                        node.to.map(|member| &change.to().members()[member]);
                    let Some((member, name)) =
                        member.and_then(|member| Some((member, qualified_name(member, level)?)))
                    else {
                        continue;
                    };
                    let levels = DomainLevel::ALL.into_iter().filter(|&of| of <= level);
                    let labels = levels.map(|of| of.label(member.domains())).collect();
                    let domain = domains.entry(labels).or_insert_with(|| (name, Vec::new()));
                    domain.1.push(place);
                }
                let outage = |(name, nodes): (String, Vec<usize>)| loads.domain(name, &nodes);
                domains.into_values().map(outage).collect()
            }
        };
        let total = worst.len();
        let unlabelled = match kind {
            OutageKind::Pairs => 0,
            OutageKind::Domain(level) => {
                let members = change.to().members().iter();
                members
                    .filter(|member| level.label(member.domains()).is_none())
                    .count()
            }
        };
        let load = |outage: &Outage| {
            let heaviest = outage
                .heaviest_requests_after
                .as_ref()
                .or(outage.heaviest_after.as_ref());
            heaviest.map_or(f64::MAX, |heaviest| heaviest.max_over_mean)
        };
        worst.sort_by(|a, b| load(b).total_cmp(&load(a)));
        worst.truncate(MOST_LISTED);
        all.push(Outages {
            kind: match kind {
                OutageKind::Pairs => "pair".to_owned(),
                OutageKind::Domain(level) => level.to_string(),
            },
            total,
            basis,
            unlabelled,
            worst,
        });
    }
    all
}

/// What each node carries, with every token in the list of its owner.
struct Loads<'c> {
    change: &'c Change,
    stakes: &'c Stakes,
    has_requests: bool,
    weights: Vec<u32>,
    keys: Vec<f64>,
    requests: Vec<f64>,
    /// Indices into the stakes by owner.
    owned: Vec<Vec<u32>>,
}

impl<'c> Loads<'c> {
    fn new(change: &'c Change, stakes: &'c Stakes, has_requests: bool) -> Self {
        let nodes = change.nodes.len();
        let mut loads = Self {
            change,
            stakes,
            has_requests,
            weights: weights(change),
            keys: vec![0.0; nodes],
            requests: vec![0.0; nodes],
            owned: vec![Vec::new(); nodes],
        };
        for (index, stake) in (0..).zip(&stakes.list) {
            if let Some(owner) = Ranking::of(change, stake).next() {
                loads.keys[owner] += stake.keys;
                loads.requests[owner] += stake.requests;
                loads.owned[owner].push(index);
            }
        }
        loads
    }

    fn domain(&self, name: String, nodes: &[usize]) -> Outage {
        let (mut keys, mut requests) = (vec![0.0; self.keys.len()], vec![0.0; self.keys.len()]);
        for &failed in nodes {
            for &index in &self.owned[failed] {
                let stake = &self.stakes.list[index as usize];
                if let Some(taker) =
                    Ranking::of(self.change, stake).find(|node| !nodes.contains(node))
                {
                    keys[taker] += stake.keys;
                    requests[taker] += stake.requests;
                }
            }
        }
        self.outage(Some(name), nodes, (&keys, &requests))
    }

    /// What follows when `nodes` fail and each other node takes so many keys and requests.
    fn outage(&self, name: Option<String>, nodes: &[usize], taken: (&[f64], &[f64])) -> Outage {
        let id = |node: usize| self.change.nodes[node].id.clone();
        let owned: f64 = nodes.iter().map(|&node| self.keys[node]).sum();
        let all: f64 = self.keys.iter().sum();
        let taken_keys: f64 = taken.0.iter().sum();
        let largest = (0..taken.0.len()).reduce(|most, node| {
            if taken.0[node] > taken.0[most] {
                node
            } else {
                most
            }
        });
        let largest = largest.filter(|&node| taken.0[node] > 0.0);
        Outage {
            name,
            nodes: nodes.iter().map(|&node| id(node)).collect(),
            owned_share: part(owned, all),
            largest_receiver: largest.map(|node| OutageReceiver {
                id: id(node),
                share: part(taken.0[node], owned),
            }),
            heaviest_after: self.heaviest(nodes, &self.keys, taken.0),
            heaviest_requests_after: if self.has_requests {
                self.heaviest(nodes, &self.requests, taken.1)
            } else {
                None
            },
            grows_most: self.grows_most(nodes, taken),
            read_share: self.read_share(nodes),
            origin_queries: None,
            unserved_share: part((owned - taken_keys).max(0.0), all),
        }
    }

    /// Reads as requests tell them, else as keys do.
    fn reads(&self) -> &[f64] {
        if self.has_requests {
            &self.requests
        } else {
            &self.keys
        }
    }

    fn read_share(&self, nodes: &[usize]) -> f64 {
        let reads = self.reads();
        part(
            nodes.iter().map(|&node| reads[node]).sum(),
            reads.iter().sum(),
        )
    }

    fn grows_most(&self, failed: &[usize], taken: (&[f64], &[f64])) -> Option<Growth> {
        let (reads, taken) = (
            self.reads(),
            if self.has_requests { taken.1 } else { taken.0 },
        );
        let growing = (0..reads.len())
            .filter(|node| !failed.contains(node) && taken[*node] > 0.0 && reads[*node] > 0.0);
        let times = |node: usize| (reads[node] + taken[node]) / reads[node];
        let most = growing.reduce(|most, node| {
            if times(node) > times(most) {
                node
            } else {
                most
            }
        })?;
        Some(Growth {
            id: self.change.nodes[most].id.clone(),
            times: times(most),
        })
    }

    fn heaviest(&self, failed: &[usize], loads: &[f64], taken: &[f64]) -> Option<Heaviest> {
        let up =
            || (0..loads.len()).filter(|node| self.weights[*node] > 0 && !failed.contains(node));
        let weight: f64 = up().map(|node| f64::from(self.weights[node])).sum();
        let all: f64 = up().map(|node| loads[node] + taken[node]).sum();
        let ratio = |node: usize| {
            part(
                (loads[node] + taken[node]) * weight,
                all * f64::from(self.weights[node]),
            )
        };
        let most = up().reduce(|most, node| {
            if ratio(node) > ratio(most) {
                node
            } else {
                most
            }
        })?;
        Some(Heaviest {
            id: self.change.nodes[most].id.clone(),
            max_over_mean: ratio(most),
        })
    }
}

fn pairs(loads: &Loads<'_>, stop: &AtomicBool) -> Vec<Outage> {
    let nodes = loads.keys.len();
    // The two behind the owner settle where a key goes when any pair fails.
    let behind: Vec<[Option<usize>; 2]> = loads
        .stakes
        .list
        .iter()
        .map(|stake| {
            let mut ranking = Ranking::of(loads.change, stake).skip(1);
            [ranking.next(), ranking.next()]
        })
        .collect();
    let with_weight: Vec<usize> = (0..nodes).filter(|&node| loads.weights[node] > 0).collect();
    let mut all = Vec::new();
    for (place, &a) in with_weight.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        for &b in &with_weight[place + 1..] {
            let (mut keys, mut requests) = (vec![0.0; nodes], vec![0.0; nodes]);
            for (failed, other) in [(a, b), (b, a)] {
                for &index in &loads.owned[failed] {
                    let [second, third] = behind[index as usize];
                    let taker = if second == Some(other) { third } else { second };
                    if let Some(taker) = taker {
                        let stake = &loads.stakes.list[index as usize];
                        keys[taker] += stake.keys;
                        requests[taker] += stake.requests;
                    }
                }
            }
            all.push(loads.outage(None, &[a, b], (&keys, &requests)));
        }
    }
    all
}

/// Outages listed of each kind.
const MOST_LISTED: usize = 1000;
