//! Weights from what nodes have and what the workload takes of each resource.
//!
//! What it is: for each node the share of the workload that each of its resources could carry alone; the least of these
//! is what the node can carry, and its weight. What it promises: stored bytes, request rate, object size and cost of each
//! kind of operation are kept apart; weights depend on ratios only, so that the same factor on everything changes none;
//! forecasts use the exact shares of a placement with these weights. What it does not: know keys whose popularity or size
//! differs. Cost: two placements. Source: founding article 001, 4.

mod document;
mod model;

use clockwise::{Member, Membership, NodeId, Placement, Scheme, Weight};
use serde::Serialize;

pub use document::document;
use model::{Capacity, capacities};
pub use model::{NodeResources, Resource, Workload};

use super::{Advice, KIND, Reason};
use crate::number::{decimal, percent};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightsWish {
    /// Nodes, with ids that differ.
    pub nodes: Vec<(NodeId, NodeResources)>,
    /// What they have to carry together.
    pub workload: Workload,
    /// How keys are placed.
    pub scheme: Scheme,
}

/// The advice.
pub type WeightsAdvice = Advice<NodeRow, WeightsMore>;

/// What belongs to this question alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightsMore {
    /// The scheme that places the keys.
    pub scheme: String,
    /// What the workload takes of each resource in all.
    pub demand: Vec<Demand>,
    /// The resource of which a tenth more on every node adds most.
    pub binding: &'static str,
    /// How many times the workload the nodes carry with perfect weights.
    pub carries: f64,
    /// How many times the workload they carry under these weights before the first resource is used up.
    pub grows_to: f64,
    /// The same with equal weights; `None` where the scheme cannot place them.
    pub equal_grows_to: Option<f64>,
    /// What is used up first as the workload grows.
    pub fails_first: Failing,
    /// The first node whose memory is full as stored data grows; `None` where memory is not among the resources.
    pub evicts_first: Option<Failing>,
    /// The options for `clockwise plan`.
    pub options: String,
}

/// What a workload takes of a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Demand {
    /// The resource.
    pub resource: &'static str,
    /// In the resource's own unit: bytes, operations per second, bits per second, cores.
    pub takes: f64,
    /// What all nodes have of it.
    pub have: f64,
}

/// A resource of a node that is used up at some multiple of the workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failing {
    /// The node.
    pub node: String,
    /// Its resource.
    pub resource: &'static str,
    /// At so many times the workload.
    pub at: f64,
}

/// A node with what it can carry and what it will.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRow {
    /// The node.
    pub node: String,
    /// Share of the workload that each resource could carry alone, in the order of `demand`.
    pub could_carry: Vec<f64>,
    /// The resource that allows the least.
    pub binding: &'static str,
    /// The weight advised.
    pub weight: String,
    /// Share of the keys under the weights advised.
    pub share: f64,
    /// How much of each resource is used then, in the order of `demand`.
    pub used: Vec<f64>,
    /// Bytes stored on it then.
    pub bytes: f64,
    /// How much of its binding resource would be used with equal weights; `None` where the scheme cannot place them.
    pub used_with_equal_weights: Option<f64>,
}

/// What cannot be advised on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// No node, or none with anything that the workload takes.
    #[error("no node has a resource that the workload takes")]
    NothingToCarry,
    /// A node says less than the others.
    #[error("node {node} has no {resource}, and others have: give it for all nodes or for none")]
    Missing {
        /// The node.
        node: String,
        /// What it does not say.
        resource: &'static str,
    },
    /// Nodes say what they have of a resource, and nothing says what the workload takes of it.
    #[error("nodes have {resource}, and nothing says what the workload takes of it: {needs}")]
    NoDemand {
        /// The resource.
        resource: &'static str,
        /// What would say it.
        needs: &'static str,
    },
    /// Nodes differ by more than weights can.
    #[error("node {node} can carry {times:.0} times what the least can: weights reach to 1000000")]
    TooFar {
        /// The node.
        node: String,
        /// How much more.
        times: f64,
    },
    /// The scheme refuses these weights.
    #[error("{text}")]
    Unplaceable {
        /// Why.
        text: String,
    },
}

/// Advises on weights.
///
/// # Errors
/// [`WeightsError`] where resources or demands are missing, or where the scheme refuses the weights.
pub fn weights(wish: &WeightsWish) -> Result<WeightsAdvice, WeightsError> {
    let capacity = capacities(wish)?;
    let milli = milli(wish, &capacity)?;
    let shares = shares(wish, &milli).map_err(|text| WeightsError::Unplaceable { text })?;
    let equal = shares_of(wish, &vec![1000; wish.nodes.len()]);
    let table = rows(wish, &capacity, (&milli, &shares), equal.as_deref());
    let fails_first = first(&table, &capacity, |_| true).ok_or(WeightsError::NothingToCarry)?;
    let more = WeightsMore {
        scheme: wish.scheme.to_string(),
        demand: capacity.demand(wish),
        binding: capacity.binding().name(),
        carries: capacity.carries(),
        grows_to: fails_first.at,
        equal_grows_to: equal.map(|equal| grows_to(&capacity, &equal)),
        evicts_first: first(&table, &capacity, |resource| resource == Resource::Ram),
        fails_first,
        options: options(wish, &milli),
    };
    let ok = more.grows_to >= 1.0;
    Ok(Advice {
        kind: KIND,
        question: "weights",
        answer: if ok {
            more.options.clone()
        } else {
            "none".to_owned()
        },
        ok,
        verdict: verdict(&more),
        reasons: reasons(&more, &table),
        changes: changes(&capacity, &more),
        table,
        more,
    })
}

/// Weights in thousandths, the least node's being 1.
fn milli(wish: &WeightsWish, capacity: &Capacity) -> Result<Vec<u32>, WeightsError> {
    let carries: Vec<f64> = capacity.nodes.iter().map(|node| node.least().1).collect();
    let least = carries.iter().copied().fold(f64::INFINITY, f64::min);
    let ratio = |(place, carries): (usize, &f64)| {
        let times = carries / least;
        if times > f64::from(Weight::MAX.milli()) / 1000.0 {
            let node = wish.nodes[place].0.to_string();
            return Err(WeightsError::TooFar { node, times });
        }
        // Below the greatest weight, so that it fits.
        Ok((times * 1000.0).round() as u32)
    };
    carries.iter().enumerate().map(ratio).collect()
}

/// Share of the keys of each node under these weights, in the order of the nodes.
fn shares(wish: &WeightsWish, milli: &[u32]) -> Result<Vec<f64>, String> {
    let members = wish.nodes.iter().zip(milli).map(|((id, _), &milli)| {
        Member::new(id.clone()).with_weight(Weight::from_milli(milli).unwrap_or(Weight::MAX))
    });
    let list = Membership::new(members).map_err(|error| error.to_string())?;
    let placement = Placement::build(&wish.scheme, &list).map_err(|error| error.to_string())?;
    let all: f64 = milli.iter().map(|&milli| f64::from(milli)).sum();
    let exact = placement.space_shares();
    let share_of = |(id, milli): (&NodeId, u32)| {
        let place = placement
            .members()
            .iter()
            .position(|member| member.id() == id);
        match (&exact, place) {
            (Some(shares), Some(place)) => shares[place].as_f64(),
            // Schemes without ranges or slots follow the weights.
            _ => f64::from(milli) / all,
        }
    };
    let ids = wish.nodes.iter().map(|(id, _)| id);
    Ok(ids.zip(milli.iter().copied()).map(share_of).collect())
}

fn shares_of(wish: &WeightsWish, milli: &[u32]) -> Option<Vec<f64>> {
    shares(wish, milli).ok()
}

fn rows(
    wish: &WeightsWish,
    capacity: &Capacity,
    (milli, shares): (&[u32], &[f64]),
    equal: Option<&[f64]>,
) -> Vec<NodeRow> {
    let row = |place: usize| {
        let node = &capacity.nodes[place];
        let (binding, least) = node.least();
        NodeRow {
            node: wish.nodes[place].0.to_string(),
            could_carry: node.carries.clone(),
            binding: capacity.resources[binding].name(),
            weight: Weight::from_milli(milli[place])
                .unwrap_or(Weight::MAX)
                .to_string(),
            share: shares[place],
            used: node
                .carries
                .iter()
                .map(|carries| shares[place] / carries)
                .collect(),
            bytes: shares[place] * wish.workload.stored_bytes.unwrap_or(0.0),
            used_with_equal_weights: equal.map(|equal| equal[place] / least),
        }
    };
    (0..capacity.nodes.len()).map(row).collect()
}

/// What is used up first, of the resources asked about.
fn first(table: &[NodeRow], capacity: &Capacity, of: impl Fn(Resource) -> bool) -> Option<Failing> {
    let uses = table.iter().flat_map(|row| {
        let used = row.used.iter().zip(&capacity.resources);
        used.map(move |(used, resource)| (row, *used, *resource))
    });
    let worst = uses
        .filter(|(_, _, resource)| of(*resource))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Failing {
        node: worst.0.node.clone(),
        resource: worst.2.name(),
        at: 1.0 / worst.1,
    })
}

fn grows_to(capacity: &Capacity, shares: &[f64]) -> f64 {
    let nodes = capacity.nodes.iter().zip(shares);
    let at = nodes.map(|(node, share)| node.least().1 / share);
    at.fold(f64::INFINITY, f64::min)
}

fn options(wish: &WeightsWish, milli: &[u32]) -> String {
    let options: Vec<String> = wish
        .nodes
        .iter()
        .zip(milli)
        .map(|((id, _), &milli)| {
            format!(
                "--weight {id}={}",
                Weight::from_milli(milli).unwrap_or(Weight::MAX)
            )
        })
        .collect();
    options.join(" ")
}

fn verdict(more: &WeightsMore) -> String {
    let first = &more.fails_first;
    if more.grows_to < 1.0 {
        return format!(
            "None: with the best weights {} of {} is used to {} already.",
            first.resource,
            first.node,
            percent(1.0 / first.at)
        );
    }
    format!(
        "Give these weights: they carry {} times the workload, then {} of {} is used up first. {} binds the cluster.",
        decimal(more.grows_to, 2),
        first.resource,
        first.node,
        more.binding
    )
}

fn reasons(more: &WeightsMore, table: &[NodeRow]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let bound = |resource: &str| table.iter().filter(|row| row.binding == resource).count();
    for demand in &more.demand {
        reasons.push(
            Reason::new(
                "demand",
                format!(
                    "{}: the workload takes {} of {} (predicted), and it binds {} of {} nodes.",
                    demand.resource,
                    model::amount(demand.resource, demand.takes),
                    model::amount(demand.resource, demand.have),
                    bound(demand.resource),
                    table.len()
                ),
            )
            .with(demand.takes),
        );
    }
    if let Some(equal) = more.equal_grows_to {
        reasons.push(
            Reason::new(
                "equal-weights",
                format!(
                    "With equal weights the nodes carry {} times the workload, with these {} (from exact shares of the keys).",
                    decimal(equal, 2),
                    decimal(more.grows_to, 2)
                ),
            )
            .with(equal),
        );
    }
    if let Some(evicts) = &more.evicts_first {
        reasons.push(
            Reason::new(
                "evicts-first",
                format!(
                    "The first node to evict is {}, at {} times the bytes stored (predicted).",
                    evicts.node,
                    decimal(evicts.at, 2)
                ),
            )
            .with(evicts.at),
        );
    }
    reasons
}

/// What a tenth more of a resource on every node adds.
fn changes(capacity: &Capacity, more: &WeightsMore) -> Vec<Reason> {
    let gains = capacity
        .resources
        .iter()
        .enumerate()
        .map(|(place, resource)| {
            let gain = capacity.carries_with(place, 1.1) / more.carries - 1.0;
            Reason::new(
                "more",
                format!(
                    "A tenth more {} on every node lets them carry {} more (predicted).",
                    resource.name(),
                    percent(gain)
                ),
            )
            .with(gain)
        });
    let mut gains: Vec<Reason> = gains.collect();
    gains.push(Reason::new(
        "rebalance",
        "A change of weights moves keys: see it with clockwise plan first, and do not let an autoscaler follow noise.",
    ));
    gains
}
