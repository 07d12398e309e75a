//! The list of members that a placement is built from.
//!
//! Promises that no id stands twice and that no two ids look the same (equal under Unicode NFC). Keeps the listing
//! order, which numbered schemes take as the bucket numbers and all others ignore. Does not change: an edit gives a
//! new list. Cost: O(n log n) to build. Source: Unicode Standard Annex 15 for NFC.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use unicode_normalization::UnicodeNormalization as _;

use crate::{Member, NodeId, Weight};

/// Members in the order they were listed, each id once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Membership {
    members: Vec<Member>,
}

impl Membership {
    /// A membership of these members; it may be empty.
    ///
    /// # Errors
    /// [`MembershipError::DuplicateId`] and [`MembershipError::LookAlikeIds`] name both entries.
    pub fn new(members: impl IntoIterator<Item = Member>) -> Result<Self, MembershipError> {
        let members: Vec<Member> = members.into_iter().collect();
        let mut composed: BTreeMap<String, usize> = BTreeMap::new();
        for (place, member) in members.iter().enumerate() {
            let form = member.id().as_str().nfc().collect();
            if let Some(first) = composed.insert(form, place) {
                let (id, other) = (member.id().clone(), members[first].id().clone());
                return Err(if id == other {
                    MembershipError::DuplicateId {
                        id,
                        first: first + 1,
                        second: place + 1,
                    }
                } else {
                    MembershipError::LookAlikeIds {
                        id: other,
                        other: id,
                        first: first + 1,
                        second: place + 1,
                    }
                });
            }
        }
        Ok(Self { members })
    }

    /// The members in listing order.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member with this id.
    #[must_use]
    pub fn get(&self, id: &NodeId) -> Option<&Member> {
        self.members.iter().find(|member| member.id() == id)
    }

    /// The membership with one more member at the end of the list.
    ///
    /// # Errors
    /// As [`Membership::new`]: the id is already listed.
    pub fn with(&self, member: Member) -> Result<Self, MembershipError> {
        Self::new(self.members.iter().cloned().chain([member]))
    }

    /// The membership without a member; those listed after it move up by one.
    ///
    /// # Errors
    /// [`MembershipError::UnknownNode`] when the id is not listed.
    pub fn without(&self, id: &NodeId) -> Result<Self, MembershipError> {
        let place = self.place(id)?;
        let mut members = self.members.clone();
        members.remove(place);
        Ok(Self { members })
    }

    /// The membership with another weight for a member.
    ///
    /// # Errors
    /// [`MembershipError::UnknownNode`] when the id is not listed.
    pub fn with_weight(&self, id: &NodeId, weight: Weight) -> Result<Self, MembershipError> {
        let place = self.place(id)?;
        let mut members = self.members.clone();
        members[place] = members[place].clone().with_weight(weight);
        Ok(Self { members })
    }

    /// Pairs of members that are reached at the same endpoint: allowed in a plan, an error when published.
    #[must_use]
    pub fn shared_endpoints(&self) -> Vec<(&Member, &Member)> {
        let mut pairs = Vec::new();
        let mut first_at: BTreeMap<&str, &Member> = BTreeMap::new();
        for member in &self.members {
            let Some(endpoint) = member.endpoint() else {
                continue;
            };
            match first_at.get(endpoint.canonical()) {
                Some(first) => pairs.push((*first, member)),
                None => {
                    first_at.insert(endpoint.canonical(), member);
                }
            }
        }
        pairs
    }

    fn place(&self, id: &NodeId) -> Result<usize, MembershipError> {
        self.members
            .iter()
            .position(|member| member.id() == id)
            .ok_or_else(|| MembershipError::UnknownNode { id: id.clone() })
    }
}

/// Why a list of members is refused, or an edit of it. Places count from 1 in listing order.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MembershipError {
    /// One id stands twice.
    #[error("node {id} is listed twice: entries {first} and {second}")]
    DuplicateId {
        /// The repeated id.
        id: NodeId,
        /// Place of the first entry.
        first: usize,
        /// Place of the second entry.
        second: usize,
    },
    /// Two ids differ in bytes but not to the eye.
    #[error(
        "nodes {id} and {other} look the same (equal under Unicode NFC): entries {first} and {second}"
    )]
    LookAlikeIds {
        /// The id listed first.
        id: NodeId,
        /// The id that looks like it.
        other: NodeId,
        /// Place of the first entry.
        first: usize,
        /// Place of the second entry.
        second: usize,
    },
    /// The node to change or remove is not listed.
    #[error("node {id} is not in the membership")]
    UnknownNode {
        /// The id that was asked for.
        id: NodeId,
    },
}
