//! Which nodes hold the replicas of a key when they must not fail together.
//!
//! What it is: a walk along a placement's ranking that takes a node while its region, zone, rack and host still have
//! room. What it promises: under `required` rules no cap is ever passed; a node that fails costs its keys one replica
//! each, the others stay, in their order; a set that falls short says how far and why, and under `preferred` rules
//! which levels had to give way. What it does not: copy or repair data, or know who is alive; the caller tells. Cost:
//! one walk of the ranking, O(replicas) a step; no allocation once a [`ReplicaSet`] has been used. Source: greedy
//! choice in a laminar matroid; the words are those of rack-aware stores.

mod policy;
mod topology;

use alloc::vec::Vec;

pub use policy::{DomainLevel, DomainRule, Replication, ReplicationError, SpreadMode};
use topology::Topology;

use crate::{HashedKey, Placement};

/// The replica sets of a placement under a policy.
#[derive(Clone, Debug)]
pub struct ReplicaSets<'p> {
    placement: &'p Placement,
    replication: Replication,
    topology: Topology,
}

/// The replicas of one key, by index in [`Placement::members`]; reused from key to key.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReplicaSet {
    /// Nodes in order, owner first; `None` is a position whose node is down, where positions stay.
    pub nodes: Vec<Option<usize>>,
    /// Preferred levels whose cap was raised to place all replicas, once for each raise.
    pub degraded: Vec<DomainLevel>,
    /// What is missing, if anything.
    pub deficit: Option<Deficit>,
    caps: Vec<u32>,
    /// Always empty: memory for the levels of a next deficit.
    spare_levels: Vec<DomainLevel>,
}

/// Why a set is smaller than asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Deficit {
    /// How many replicas are missing.
    pub missing: usize,
    /// Required levels that kept a further node out; empty when there are no further nodes.
    pub levels: Vec<DomainLevel>,
}

impl<'p> ReplicaSets<'p> {
    /// The replica sets of a placement.
    ///
    /// # Errors
    /// [`ReplicationError::Unlabelled`] when a required level is unknown for a member with weight, and
    /// [`ReplicationError::NoRanking`] when the scheme names the owner only.
    pub fn new(
        placement: &'p Placement,
        replication: Replication,
    ) -> Result<Self, ReplicationError> {
        if replication.factor().get() > 1 && !placement.scheme().has_ranking() {
            return Err(ReplicationError::NoRanking {
                scheme: placement.scheme().name(),
            });
        }
        let topology = Topology::new(placement.members(), &replication)?;
        Ok(Self {
            placement,
            replication,
            topology,
        })
    }

    /// The policy.
    #[must_use]
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// The replicas of a key. `is_up` tells which members, by index, may serve.
    ///
    /// Where positions shift, a member that is down is passed over and the next takes its place. Where positions stay,
    /// the set is chosen as if all were up, and the position of one that is down is `None`.
    #[must_use]
    pub fn select(&self, key: &HashedKey<'_>, is_up: impl Fn(usize) -> bool) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        self.select_into(key, is_up, &mut set);
        set
    }

    /// As [`select`](Self::select), into a set that is used again.
    pub fn select_into(
        &self,
        key: &HashedKey<'_>,
        is_up: impl Fn(usize) -> bool,
        set: &mut ReplicaSet,
    ) {
        let keeps_positions = self.replication.keeps_positions();
        let may_serve = |node: usize| keeps_positions || is_up(node);
        let wanted = self.replication.factor().get() as usize;
        set.nodes.clear();
        set.degraded.clear();
        if let Some(deficit) = set.deficit.take() {
            set.spare_levels = deficit.levels;
            set.spare_levels.clear();
        }
        set.caps.clear();
        set.caps.extend(
            self.replication
                .rules()
                .iter()
                .map(DomainRule::max_per_domain),
        );
        loop {
            let mut ranked = self.placement.ranked(key, self.placement.members().len());
            while set.nodes.len() < wanted
                && let Some(node) = ranked.next_index()
            {
                if may_serve(node)
                    && !set.holds(node)
                    && self.full_rules(node, set).next().is_none()
                {
                    set.nodes.push(Some(node));
                }
            }
            if set.nodes.len() >= wanted || !self.raise_a_cap(key, &may_serve, set) {
                break;
            }
        }
        if set.nodes.len() < wanted {
            let mut levels = core::mem::take(&mut set.spare_levels);
            levels.extend(self.levels_short_of(key, &may_serve, set));
            set.deficit = Some(Deficit {
                missing: wanted - set.nodes.len(),
                levels,
            });
        }
        if keeps_positions {
            for position in &mut set.nodes {
                *position = position.filter(|&node| is_up(node));
            }
        }
    }

    /// Rules whose cap keeps a node out, by their place among the rules.
    fn full_rules<'s>(
        &'s self,
        node: usize,
        set: &'s ReplicaSet,
    ) -> impl Iterator<Item = usize> + 's {
        (0..self.replication.rules().len()).filter(move |&rule| {
            let domain = self.topology.domain(rule, node);
            let held = set
                .nodes
                .iter()
                .flatten()
                .filter(|&&other| self.topology.domain(rule, other) == domain);
            held.count() >= set.caps[rule] as usize
        })
    }

    /// Members that could still join the set if a cap allowed it.
    fn left_out<'s>(
        &'s self,
        key: &HashedKey<'s>,
        may_serve: &'s impl Fn(usize) -> bool,
        set: &'s ReplicaSet,
    ) -> impl Iterator<Item = usize> + 's {
        let mut ranked = self.placement.ranked(key, self.placement.members().len());
        core::iter::from_fn(move || ranked.next_index())
            .filter(move |&node| may_serve(node) && !set.holds(node))
    }

    /// Raises the cap of the coarsest preferred level that keeps a node out; `false` when none does.
    fn raise_a_cap(
        &self,
        key: &HashedKey<'_>,
        may_serve: &impl Fn(usize) -> bool,
        set: &mut ReplicaSet,
    ) -> bool {
        let rules = self.replication.rules();
        let preferred = |rule: &usize| rules[*rule].mode() == SpreadMode::Preferred;
        let coarsest = self
            .left_out(key, may_serve, set)
            .filter_map(|node| self.full_rules(node, set).find(preferred))
            .min();
        match coarsest {
            None => false,
            Some(rule) => {
                set.caps[rule] += 1;
                set.degraded.push(rules[rule].level());
                true
            }
        }
    }

    /// Levels that keep a further node out.
    fn levels_short_of(
        &self,
        key: &HashedKey<'_>,
        may_serve: &impl Fn(usize) -> bool,
        set: &ReplicaSet,
    ) -> impl Iterator<Item = DomainLevel> {
        let keeps_out = |rule: &usize| {
            self.left_out(key, may_serve, set)
                .any(|node| self.full_rules(node, set).any(|full| full == *rule))
        };
        (0..self.replication.rules().len())
            .filter(keeps_out)
            .map(|rule| self.replication.rules()[rule].level())
    }
}

impl ReplicaSet {
    fn holds(&self, node: usize) -> bool {
        self.nodes.contains(&Some(node))
    }
}
