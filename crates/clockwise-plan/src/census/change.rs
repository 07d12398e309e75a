//! The change that is counted: two placements, the nodes of both, and what else is asked about it.

use std::collections::{BTreeMap, BTreeSet};

use clockwise::{
    DomainLevel, HashedKey, Membership, Placement, ReplicaSets, Replication, ReplicationError,
};

use super::{Step, Views, steps};
use crate::Sides;

/// Two placements to compare, and the list of nodes that either of them has.
#[derive(Clone, Debug)]
pub struct Change {
    pub(crate) from: Placement,
    pub(crate) to: Placement,
    /// All nodes: those of today in listing order, then the new ones.
    pub(crate) nodes: Vec<ChangeNode>,
    /// Index into `nodes` of each member of `from` and `to`.
    pub(super) from_nodes: Vec<u32>,
    pub(super) to_nodes: Vec<u32>,
    /// Both memberships list the same ids in another order.
    pub(crate) reordered: bool,
    /// The new table follows from the old one instead of the members alone.
    pub(crate) follows: bool,
    /// The change node by node, where it is one of several.
    pub(crate) steps: Vec<Step>,
    /// What clients believe that know a part of the nodes.
    pub(crate) views: Views,
    /// What is asked beyond the change itself.
    pub(crate) questions: Questions,
}

/// What may be asked beyond the change itself: it needs a weighed sample of the keys where it cannot be worked out by
/// range.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// Several nodes that fail together.
    pub outages: BTreeSet<OutageKind>,
    /// Whether a receiver that gets more than it can serve fails in turn.
    pub cascade: bool,
    /// How keys are replicated, before and after.
    pub replication: Option<Sides<Replication>>,
}

/// Nodes that fail together.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum OutageKind {
    /// Any two nodes.
    Pairs,
    /// All nodes of a region, zone, rack or host.
    Domain(DomainLevel),
}

/// A node of either side with its place in both placements.
#[derive(Clone, Debug)]
pub(crate) struct ChangeNode {
    pub(crate) id: String,
    pub(crate) from: Option<usize>,
    pub(crate) to: Option<usize>,
}

/// More nodes than the planner counts flows between.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{nodes} nodes are more than 65000")]
pub struct ChangeError {
    /// Nodes on both sides together.
    pub nodes: usize,
}

/// A question that this change cannot answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// Scores are made of the keys' bytes, which are not kept.
    #[error(
        "{scheme} ranks nodes by the bytes of each key: what-ifs need a scheme that ranks by token"
    )]
    NeedsBytes {
        /// The scheme.
        scheme: String,
    },
    /// Replicas that the placements cannot hold.
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    /// Nobody is named who would take over.
    #[error(
        "{scheme} names no node behind the owner: what fails with it cannot be followed further"
    )]
    NoRanking {
        /// The scheme.
        scheme: String,
    },
    /// More pairs than are worth the time.
    #[error("pairs of {nodes} nodes are too many: at most {MOST_PAIRED_NODES} nodes")]
    TooManyPairs {
        /// Nodes of the new membership that have weight.
        nodes: usize,
    },
}

impl Change {
    /// The change from one placement to another. The memberships give the order in which nodes are shown.
    ///
    /// # Errors
    /// [`ChangeError`] when there are more than 65,000 nodes.
    pub fn new(
        (from, from_list): (Placement, &Membership),
        (to, to_list): (Placement, &Membership),
        follows: bool,
    ) -> Result<Self, ChangeError> {
        let place = |placement: &Placement, id: &str| {
            placement
                .members()
                .binary_search_by(|member| member.id().as_str().cmp(id))
                .ok()
        };
        let known: BTreeSet<_> = from_list
            .members()
            .iter()
            .map(|member| member.id())
            .collect();
        let new = to_list
            .members()
            .iter()
            .filter(|member| !known.contains(member.id()));
        let nodes: Vec<ChangeNode> = from_list
            .members()
            .iter()
            .chain(new)
            .map(|member| member.id().as_str())
            .map(|id| ChangeNode {
                id: id.to_owned(),
                from: place(&from, id),
                to: place(&to, id),
            })
            .collect();
        if nodes.len() > 65_000 {
            return Err(ChangeError { nodes: nodes.len() });
        }
        let index = |members: usize, side: fn(&ChangeNode) -> Option<usize>| {
            let mut index = vec![0; members];
            for (number, node) in (0..).zip(&nodes) {
                if let Some(member) = side(node) {
                    index[member] = number;
                }
            }
            index
        };
        let ids = |list: &Membership| {
            list.members()
                .iter()
                .map(|m| m.id().clone())
                .collect::<Vec<_>>()
        };
        let (before, after) = (ids(from_list), ids(to_list));
        let same_set = before.len() == after.len() && nodes.len() == before.len();
        let places: BTreeMap<&str, u32> =
            nodes.iter().map(|node| node.id.as_str()).zip(0..).collect();
        let place = |id: &str| places.get(id).copied();
        let steps = if follows || nodes.len() > MOST_STEPPED_NODES {
            Vec::new()
        } else {
            steps::steps((&from, from_list), (&to, to_list), place)
        };
        Ok(Self {
            steps,
            views: Views::default(),
            questions: Questions::default(),
            from_nodes: index(from.members().len(), |node| node.from),
            to_nodes: index(to.members().len(), |node| node.to),
            reordered: same_set && before != after,
            follows,
            from,
            to,
            nodes,
        })
    }

    /// The same change, watched by clients that each know some nodes: placements that hash keys as the new one does.
    #[must_use]
    pub fn with_views(self, placements: Vec<Placement>) -> Self {
        Self {
            views: Views::new(placements),
            ..self
        }
    }

    /// The same change with further questions.
    ///
    /// # Errors
    /// [`QuestionError`] when the answer would need keys themselves, or far too long.
    pub fn asking(self, questions: Questions) -> Result<Self, QuestionError> {
        let asks =
            questions.cascade || questions.replication.is_some() || !questions.outages.is_empty();
        let needs_bytes = |placement: &Placement| placement.scheme().name() == JOINED_TEXT;
        for placement in [&self.from, &self.to] {
            if asks && needs_bytes(placement) {
                return Err(QuestionError::NeedsBytes {
                    scheme: placement.scheme().to_string(),
                });
            }
        }
        if let Some(policies) = &questions.replication {
            ReplicaSets::new(&self.from, policies.before.clone())?;
            ReplicaSets::new(&self.to, policies.after.clone())?;
        }
        let follows_ranking = questions.cascade || !questions.outages.is_empty();
        if follows_ranking && !self.to.scheme().has_ranking() {
            return Err(QuestionError::NoRanking {
                scheme: self.to.scheme().to_string(),
            });
        }
        let has_weight = |member: &&clockwise::Member| member.weight().milli() > 0;
        let nodes = self.to.members().iter().filter(has_weight).count();
        if questions.outages.contains(&OutageKind::Pairs) && nodes > MOST_PAIRED_NODES {
            return Err(QuestionError::TooManyPairs { nodes });
        }
        Ok(Self { questions, ..self })
    }

    /// The node of a member of the old placement.
    pub(crate) fn node_before(&self, member: usize) -> usize {
        self.from_nodes[member] as usize
    }

    /// The node of a member of the new placement.
    pub(crate) fn node_after(&self, member: usize) -> usize {
        self.to_nodes[member] as usize
    }

    /// Whether an answer needs more of the keys than sums over nodes.
    pub(super) fn needs_stakes(&self) -> bool {
        let Questions {
            outages,
            cascade,
            replication,
        } = &self.questions;
        let of_keys = self.to.scheme().name() == JOINED_TEXT;
        !of_keys
            && (*cascade || replication.is_some() || !outages.is_empty() || self.steps.len() > 1)
    }

    /// All placements that a key is looked up in.
    pub(super) fn placements(&self) -> impl Iterator<Item = &Placement> {
        let steps = self.steps.iter().map(|step| &step.placement);
        [&self.from, &self.to]
            .into_iter()
            .chain(steps)
            .chain(self.views.placements())
    }

    /// The index that stands for "no owner".
    pub(crate) fn nobody(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Who owns a key before, along the nodes of the change.
    #[inline]
    pub(super) fn owner_before(&self, key: &HashedKey<'_>) -> u32 {
        let owner = self.from.owner_index(key);
        owner.map_or(self.nobody(), |member| self.from_nodes[member])
    }

    /// Who owns a key after, along the nodes of the change.
    #[inline]
    pub(super) fn owner_after(&self, key: &HashedKey<'_>) -> u32 {
        let owner = self.to.owner_index(key);
        owner.map_or(self.nobody(), |member| self.to_nodes[member])
    }

    /// The placement of today.
    #[must_use]
    pub fn from(&self) -> &Placement {
        &self.from
    }

    /// The placement of tomorrow.
    #[must_use]
    pub fn to(&self) -> &Placement {
        &self.to
    }
}

/// Building a placement for each step of more nodes takes longer than reading the keys.
const MOST_STEPPED_NODES: usize = 1000;

/// The work for pairs grows with the cube of the nodes: a few seconds for so many.
const MOST_PAIRED_NODES: usize = 300;

/// The scheme whose scores are hashes of node and key together.
const JOINED_TEXT: &str = "articles/000-rendezvous";
