//! What regions, zones, racks and hosts hold, and what moves between them.
//!
//! Promises sums of the plan's nodes and flows by the labels that members carry on each side. A name is qualified by
//! the levels above it: rack 1 of zone a is not rack 1 of zone b. Levels with fewer than two names are left out. Cost:
//! O(nodes + flows) a level.

use std::collections::{BTreeMap, BTreeSet};

use clockwise::{DomainLevel, Member, Placement};
use serde::Serialize;

use super::{Plan, Sides};
use crate::census::Change;

/// What a failure domain holds before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Domain {
    /// `region`, `zone`, `rack` or `host`.
    pub kind: &'static str,
    /// Its name behind those of the levels above it; `None` for nodes without this label.
    pub name: Option<String>,
    /// What its nodes hold before and after.
    #[serde(flatten)]
    pub sides: Sides<DomainHolding>,
}

/// What the nodes of a failure domain hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DomainHolding {
    /// Nodes with weight.
    pub nodes: u64,
    /// Keys owned.
    pub keys: u64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
    /// Share of all keys, 0 to 1.
    pub share: f64,
    /// Share that the weights ask for, 0 to 1.
    pub wanted_share: f64,
}

/// What moves from a domain of a level to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BetweenDomains {
    /// `region`, `zone`, `rack` or `host`.
    pub kind: &'static str,
    /// Keys that do.
    pub keys: u64,
    /// Of all keys that move, 0 to 1.
    pub share_of_moved: f64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
}

/// Every domain of the levels that have at least two names, and what moves between those of each level.
pub(super) fn domains(change: &Change, plan: &Plan) -> (Vec<Domain>, Vec<BetweenDomains>) {
    let (mut all, mut between) = (Vec::new(), Vec::new());
    for level in DomainLevel::ALL {
        let labels = Labels::of(change, level);
        if labels.names().iter().flatten().count() < 2 {
            continue;
        }
        all.extend(labels.names().into_iter().map(|name| Domain {
            kind: level.name(),
            sides: Sides {
                before: labels.holding(plan, &name, &labels.before, |sides| sides.before),
                after: labels.holding(plan, &name, &labels.after, |sides| sides.after),
            },
            name,
        }));
        between.push(labels.between(level, plan));
    }
    (all, between)
}

/// A node's domain of one level on each side, along the nodes of the change; the outer `None` where it is not listed.
struct Labels {
    before: Vec<Option<Option<String>>>,
    after: Vec<Option<Option<String>>>,
}

impl Labels {
    fn of(change: &Change, level: DomainLevel) -> Self {
        let is_used = |placement: &Placement| {
            let mut members = placement.members().iter();
            members.any(|member| level.label(member.domains()).is_some())
        };
        let is_used = is_used(&change.from) || is_used(&change.to);
        let label = |placement: &Placement, member: Option<usize>| {
            member.map(|member| path(&placement.members()[member], level, is_used))
        };
        let nodes = change.nodes.iter();
        Self {
            before: nodes.clone().map(|n| label(&change.from, n.from)).collect(),
            after: nodes.map(|n| label(&change.to, n.to)).collect(),
        }
    }

    /// In order, those without a label first.
    fn names(&self) -> BTreeSet<Option<String>> {
        let both = self.before.iter().chain(&self.after);
        both.flatten().cloned().collect()
    }

    fn holding(
        &self,
        plan: &Plan,
        name: &Option<String>,
        labels: &[Option<Option<String>>],
        side: fn(&Sides<super::Holding>) -> super::Holding,
    ) -> DomainHolding {
        let mut sum = DomainHolding {
            requests: plan.requests.map(|_| 0),
            bytes: plan.bytes.map(|_| 0),
            ..DomainHolding::default()
        };
        let nodes = plan.nodes.iter().zip(labels);
        for (node, _) in nodes.filter(|(_, label)| label.as_ref() == Some(name)) {
            let holding = side(&node.sides);
            sum.nodes += u64::from(holding.weight > 0.0);
            sum.keys += holding.keys;
            sum.requests = sum.requests.zip(holding.requests).map(|(a, b)| a + b);
            sum.bytes = sum.bytes.zip(holding.bytes).map(|(a, b)| a + b);
            sum.wanted_share += holding.wanted_share;
        }
        sum.share = super::share(sum.keys, plan.keys);
        sum
    }

    fn between(&self, level: DomainLevel, plan: &Plan) -> BetweenDomains {
        let places: BTreeMap<&str, usize> = plan
            .nodes
            .iter()
            .map(|node| node.id.as_str())
            .zip(0..)
            .collect();
        let label = |labels: &[Option<Option<String>>], id: &Option<String>| {
            let place = *places.get(id.as_deref()?)?;
            labels[place].clone()
        };
        let mut sum = BetweenDomains {
            kind: level.name(),
            keys: 0,
            share_of_moved: 0.0,
            requests: plan.requests.map(|_| 0),
            bytes: plan.bytes.map(|_| 0),
        };
        for flow in &plan.flows {
            let ends = (
                label(&self.before, &flow.from),
                label(&self.after, &flow.to),
            );
            if let (Some(from), Some(to)) = ends
                && from != to
            {
                sum.keys += flow.keys;
                sum.requests = sum.requests.zip(flow.requests).map(|(a, b)| a + b);
                sum.bytes = sum.bytes.zip(flow.bytes).map(|(a, b)| a + b);
            }
        }
        sum.share_of_moved = super::share(sum.keys, plan.moved.keys);
        sum
    }
}

/// The member's labels down to a level; a host without a label is named by its node where others have one.
fn path(member: &Member, level: DomainLevel, is_used: bool) -> Option<String> {
    let own = match level.label(member.domains()) {
        Some(label) => label,
        None if level == DomainLevel::Host && is_used => member.id().as_str(),
        None => return None,
    };
    let above = DomainLevel::ALL.into_iter().filter(|above| *above < level);
    let labels = above.filter_map(|above| above.label(member.domains()));
    Some(labels.chain([own]).collect::<Vec<_>>().join("/"))
}
