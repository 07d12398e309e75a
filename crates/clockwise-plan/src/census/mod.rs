//! The count of all keys: who owns each before and after, and who would take it if its owner failed.
//!
//! What it is: one pass over keys, counting keys, requests and bytes. What it promises: integers, exact for the keys
//! that were read; memory bounded by members and slots, never by keys. What it does not: remember keys, except the
//! one with most requests. Cost: one hash and two look-ups a key, plus the next node behind the owner. Source: the
//! four measures of the founding articles.

mod clumps;
mod distinct;
mod pairs;
mod popular;
mod seconds;
mod steps;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use clockwise::{HashedKey, Membership, Placement};

pub(crate) use clumps::Clumps;
pub(crate) use distinct::Distinct;
pub use pairs::Amount;
pub(crate) use pairs::Pairs;
pub(crate) use popular::{Bucket, HotKey, Popular};
use seconds::Seconds;
pub(crate) use steps::Step;
pub(crate) use views::Views;

/// Two placements to compare, and the list of nodes that either of them has.
#[derive(Clone, Debug)]
pub struct Change {
    pub(crate) from: Placement,
    pub(crate) to: Placement,
    /// All nodes: those of today in listing order, then the new ones.
    pub(crate) nodes: Vec<ChangeNode>,
    /// Index into `nodes` of each member of `from` and `to`.
    from_nodes: Vec<u32>,
    to_nodes: Vec<u32>,
    /// Both memberships list the same ids in another order.
    pub(crate) reordered: bool,
    /// The new table follows from the old one instead of the members alone.
    pub(crate) follows: bool,
    /// The change node by node, where it is one of several.
    pub(crate) steps: Vec<Step>,
    /// What clients believe that know a part of the nodes.
    pub(crate) views: Views,
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

/// What was counted. Every index goes along the nodes of the change; one more stands for "no owner".
#[derive(Clone, Debug)]
pub struct Counts {
    pub(crate) keys: u64,
    pub(crate) requests: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) before: Vec<Amount>,
    pub(crate) after: Vec<Amount>,
    /// Moves from the row to the column.
    pub(crate) flows: Pairs,
    /// Keys of the row that the column takes when the row fails, under the new placement.
    pub(crate) seconds: Pairs,
    pub(crate) distinct: Distinct,
    pub(crate) clumps: Clumps,
    pub(crate) popular: Popular,
    /// Keys, requests and bytes that move at each step of the change.
    pub(crate) steps: Vec<Amount>,
    /// Keys by how many owners the views give them, from none on.
    pub(crate) owners_per_key: Vec<u64>,
    /// Keys that the new key rule cuts out otherwise than the old one.
    pub(crate) recut: u64,
}

impl Counts {
    /// The same count, with the keys that it shows written as `name` says.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        self.popular.rename(name);
        self
    }
}

/// Counts keys one by one.
#[derive(Debug)]
pub struct Census<'c> {
    change: &'c Change,
    one_hash: bool,
    counts: Counts,
    second_of: Seconds,
    /// Used again for each key.
    seen: Vec<u32>,
    any_requests: bool,
    any_bytes: bool,
}

impl<'c> Census<'c> {
    /// A count that has seen nothing yet.
    #[must_use]
    pub fn new(change: &'c Change) -> Self {
        let places = change.nodes.len() + 1;
        Self {
            change,
            one_hash: change.from.hashes_like(&change.to),
            counts: Counts {
                keys: 0,
                requests: None,
                bytes: None,
                before: vec![Amount::default(); places],
                after: vec![Amount::default(); places],
                flows: Pairs::new(places),
                seconds: Pairs::new(places),
                distinct: Distinct::default(),
                clumps: Clumps::new(change.to.scheme().token_bits()),
                popular: Popular::default(),
                steps: vec![Amount::default(); change.steps.len()],
                recut: 0,
                owners_per_key: vec![0; change.views.len() + 1],
            },
            second_of: Seconds::new(&change.to),
            seen: Vec::new(),
            any_requests: false,
            any_bytes: false,
        }
    }

    /// Counts one key, with its requests and bytes where they are known.
    #[inline]
    pub fn add(&mut self, key: &[u8], requests: Option<u64>, bytes: Option<u64>) {
        let (from, to) = (&self.change.from, &self.change.to);
        let hashed_to = to.hash(key);
        let before = if self.one_hash {
            from.owner_index(&hashed_to)
        } else {
            from.owner_index(&from.hash(key))
        };
        let (after, second) = self.second_of.owner_and_second(to, &hashed_to);

        let nobody = self.change.nodes.len() as u32;
        let node =
            |index: &[u32], member: Option<usize>| member.map_or(nobody, |member| index[member]);
        let before = node(&self.change.from_nodes, before);
        let after = node(&self.change.to_nodes, after);
        let second = node(&self.change.to_nodes, second);

        self.any_requests |= requests.is_some();
        self.any_bytes |= bytes.is_some();
        let amount = Amount {
            keys: 1,
            requests: requests.unwrap_or(0),
            bytes: bytes.unwrap_or(0),
        };
        let counts = &mut self.counts;
        counts.keys += 1;
        counts.before[before as usize] += amount;
        counts.after[after as usize] += amount;
        if before != after {
            counts.flows.add(before, after, amount);
        }
        counts.seconds.add(after, second, amount);
        if from.key_rule() != to.key_rule() {
            counts.recut += u64::from(from.key_rule().key(key) != to.key_rule().key(key));
        }
        counts.distinct.add(key);
        counts.clumps.add(hashed_to.token());
        if let Some(requests) = requests {
            counts.popular.add(key, requests, after, before != after);
        }
        if self.change.views.len() > 0 {
            let owners = self.change.views.owners(&hashed_to, &mut self.seen);
            counts.owners_per_key[owners] += 1;
        }
        let mut last = before;
        for (step, moved) in self.change.steps.iter().zip(&mut counts.steps) {
            let owner = steps::owner(step, &hashed_to, nobody);
            if owner != last {
                *moved += amount;
            }
            last = owner;
        }
    }

    /// Keys counted so far.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.counts.keys
    }

    /// The finished count.
    ///
    /// # Errors
    /// [`TotalError`] when requests or bytes add up to more than a JSON number holds exactly.
    pub fn finish(mut self) -> Result<Counts, TotalError> {
        let total = self
            .counts
            .before
            .iter()
            .fold(Amount::default(), |sum, &amount| sum + amount);
        for (what, sum) in [("requests", total.requests), ("bytes", total.bytes)] {
            if sum > MOST {
                return Err(TotalError { what });
            }
        }
        self.counts.requests = self.any_requests.then_some(total.requests);
        self.counts.bytes = self.any_bytes.then_some(total.bytes);
        Ok(self.counts)
    }
}

/// Requests or bytes that add up to more than 2^53.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the {what} of all keys add up to more than 2^53, the most that is counted exactly")]
pub struct TotalError {
    what: &'static str,
}

/// Building a placement for each step of more nodes takes longer than reading the keys.
const MOST_STEPPED_NODES: usize = 1000;

/// The most that a JSON number holds exactly.
const MOST: u64 = 1 << 53;

/// The owner and the next node of a key by the ranked answer.
fn owner_and_next(placement: &Placement, key: &HashedKey<'_>) -> (Option<usize>, Option<usize>) {
    let mut ranked = placement.ranked(key, 2);
    let owner = ranked.next_index();
    (owner, ranked.next_index())
}
