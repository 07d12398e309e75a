//! The domains of members, as numbers that are equal for members that fail together.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{DomainLevel, Replication, ReplicationError, SpreadMode};
use crate::{Member, Weight};

/// The domain of every member for every rule.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    /// By rule, then by member.
    domains: Vec<Vec<u32>>,
}

impl Topology {
    /// The domains that the rules speak of. A name is qualified by the levels above it: rack 1 of zone a is not rack 1
    /// of zone b. Members without a label share one unknown domain, but each is a host of its own.
    ///
    /// # Errors
    /// [`ReplicationError::Unlabelled`] for a required level; hosts and members without weight are exempt.
    pub(super) fn new(
        members: &[Member],
        replication: &Replication,
    ) -> Result<Self, ReplicationError> {
        let mut domains = Vec::with_capacity(replication.rules().len());
        for rule in replication.rules() {
            let level = rule.level();
            let unlabelled = members.iter().find(|member| {
                level != DomainLevel::Host
                    && member.weight() > Weight::ZERO
                    && level.label(member.domains()).is_none()
            });
            if let (Some(member), SpreadMode::Required) = (unlabelled, rule.mode()) {
                return Err(ReplicationError::Unlabelled {
                    id: member.id().clone(),
                    level,
                });
            }
            let mut numbers = BTreeMap::new();
            let number = members.iter().map(|member| {
                let next = numbers.len() as u32;
                *numbers.entry(path(member, level)).or_insert(next)
            });
            domains.push(number.collect());
        }
        Ok(Self { domains })
    }

    /// The domain of a member under a rule.
    pub(super) fn domain(&self, rule: usize, member: usize) -> u32 {
        self.domains[rule][member]
    }
}

/// The labels down to a level; a host without a label is named by its node.
fn path(member: &Member, level: DomainLevel) -> ([Option<&str>; 4], Option<&str>) {
    let label = |of: DomainLevel| {
        if of <= level {
            of.label(member.domains())
        } else {
            None
        }
    };
    let alone = level == DomainLevel::Host && level.label(member.domains()).is_none();
    (
        DomainLevel::ALL.map(label),
        alone.then(|| member.id().as_str()),
    )
}
