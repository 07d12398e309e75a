//! One membership placed by one candidate, with nodes numbered alike for all of them.

use std::collections::{BTreeMap, BTreeSet};

use clockwise::{
    Algorithm, BuildError, CommonRanges, HashedKey, Member, Membership, NodeId, Placement, Token,
    Weight,
};

use super::allocated::AllocatedRing;
use super::candidate::{Candidate, Manner};

/// A placement whose nodes are numbered along all nodes that any change knows.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    table: Table,
    /// The number of each of the table's own nodes.
    numbers: Vec<u32>,
    nobody: u32,
}

#[derive(Clone, Debug)]
enum Table {
    Library(Box<Placement>),
    Allocated(AllocatedRing),
}

/// Why there is no placement.
pub(super) type Reason = String;

/// All nodes, by id.
pub(super) type Numbers = BTreeMap<NodeId, u32>;

impl Placed {
    /// Places a membership, after the one before where the candidate keeps what it has.
    pub(super) fn new(
        candidate: &Candidate,
        membership: &Membership,
        before: Option<&Self>,
        numbers: &Numbers,
    ) -> Result<Self, Reason> {
        let table = build(candidate, membership, before.map(|before| &before.table))?;
        let number = |id: &NodeId| numbers.get(id).copied().unwrap_or(numbers.len() as u32);
        let own = match &table {
            Table::Library(placement) => placement
                .members()
                .iter()
                .map(Member::id)
                .map(number)
                .collect(),
            Table::Allocated(ring) => ring.nodes().iter().map(number).collect(),
        };
        Ok(Self {
            table,
            numbers: own,
            nobody: numbers.len() as u32,
        })
    }

    /// Builds the table again and tells its size.
    pub(super) fn build_again(
        candidate: &Candidate,
        membership: &Membership,
        before: &Self,
    ) -> Result<usize, Reason> {
        build(candidate, membership, Some(&before.table)).map(|table| table.memory_bytes())
    }

    #[inline]
    pub(super) fn owner(&self, key: &HashedKey<'_>) -> u32 {
        let own = match &self.table {
            Table::Library(placement) => placement.owner_index(key),
            Table::Allocated(ring) => ring.owner(key.token().0).map(|node| node as usize),
        };
        own.map_or(self.nobody, |own| self.numbers[own])
    }

    /// The owner and whoever takes the key if it fails.
    pub(super) fn owner_and_next(&self, key: &HashedKey<'_>) -> (u32, u32) {
        let (owner, next) = match &self.table {
            Table::Library(placement) => {
                let mut ranked = placement.ranked(key, 2);
                let owner = ranked.next_index();
                (owner, ranked.next_index())
            }
            Table::Allocated(ring) => {
                let (owner, next) = ring.owner_and_next(key.token().0);
                (
                    owner.map(|node| node as usize),
                    next.map(|node| node as usize),
                )
            }
        };
        let number = |own: Option<usize>| own.map_or(self.nobody, |own| self.numbers[own]);
        (number(owner), number(next))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }

    /// The library's placement; `None` for chosen tokens.
    pub(super) fn placement(&self) -> Option<&Placement> {
        match &self.table {
            Table::Library(placement) => Some(placement),
            Table::Allocated(_) => None,
        }
    }

    /// Tokens of a ring, or slots; `None` where there are neither.
    pub(super) fn range_count(&self) -> Option<u64> {
        match &self.table {
            Table::Allocated(ring) => Some(ring.tokens().len() as u64),
            Table::Library(placement) => match placement.token_count() {
                0 => placement.scheme().slot_count().map(u64::from),
                tokens => Some(tokens as u64),
            },
        }
    }
}

impl Table {
    fn memory_bytes(&self) -> usize {
        match self {
            Self::Library(placement) => placement.memory_bytes(),
            Self::Allocated(ring) => ring.memory_bytes(),
        }
    }
}

fn build(
    candidate: &Candidate,
    membership: &Membership,
    before: Option<&Table>,
) -> Result<Table, Reason> {
    let explain = |error: BuildError| error.to_string();
    let scheme = candidate.scheme();
    let library = |placement: Placement| {
        let placement = placement
            .with_key_rule(candidate.key_rule())
            .map_err(explain)?;
        Ok(Table::Library(Box::new(placement)))
    };
    match (candidate.manner(), before) {
        (Manner::Allocated, before) => {
            // Whatever the ring refuses, such as too many tokens, is refused here, too.
            Placement::build(scheme, membership).map_err(explain)?;
            let tokens = scheme.tokens().unwrap_or(1);
            if !AllocatedRing::is_feasible(tokens, membership) {
                return Err(
                    "tokens are not chosen for so many nodes or tokens: it would take too long"
                        .to_owned(),
                );
            }
            Ok(Table::Allocated(match before {
                Some(Table::Allocated(ring)) => ring.after(tokens, membership),
                _ => AllocatedRing::new(tokens, membership),
            }))
        }
        (Manner::Kept, Some(Table::Library(placement))) => {
            library(placement.least_movement(membership).map_err(explain)?)
        }
        _ => library(Placement::build(scheme, membership).map_err(explain)?),
    }
}

/// The membership as an operator of the scheme would list it, and why the change asks for more than the scheme likes.
///
/// Where numbered slots can be closed, a node that leaves stays listed with weight 0 unless it is the last.
pub(super) fn as_operated(
    candidate: &Candidate,
    today: &Membership,
    after: &Membership,
) -> (Membership, Option<Reason>) {
    let scheme = candidate.scheme();
    let ids = |list: &Membership| -> BTreeSet<NodeId> {
        list.members()
            .iter()
            .map(|member| member.id().clone())
            .collect()
    };
    let (old, new) = (ids(today), ids(after));
    let leaves = |member: &&Member| !new.contains(member.id());
    if !matches!(scheme.algorithm(), Algorithm::Probed | Algorithm::Rank) {
        let mut left = today.clone();
        for member in today.members().iter().filter(leaves) {
            if let Err(error) = scheme.allows_removal(&left, member.id()) {
                return (after.clone(), Some(error.to_string()));
            }
            left = left.without(member.id()).unwrap_or(left);
        }
        return (after.clone(), None);
    }
    let stays = |member: &&Member| old.contains(member.id()) && new.contains(member.id());
    let before: Vec<&Member> = today.members().iter().filter(stays).collect();
    let staying: Vec<&Member> = after.members().iter().filter(stays).collect();
    // Another order is another numbering, which is then what was asked for.
    if before
        .iter()
        .zip(&staying)
        .any(|(old, new)| old.id() != new.id())
    {
        return (after.clone(), None);
    }
    let mut weighed = staying.into_iter();
    let kept = today
        .members()
        .iter()
        .rposition(|member| !leaves(&member))
        .map_or(0, |last| last + 1);
    let listed = today.members()[..kept].iter().filter_map(|member| {
        if leaves(&member) {
            Some(member.clone().with_weight(Weight::ZERO))
        } else {
            weighed.next().cloned()
        }
    });
    let listed: Vec<Member> = listed.collect();
    let newcomers = after
        .members()
        .iter()
        .filter(|member| !old.contains(member.id()))
        .cloned();
    let list = Membership::new(listed.into_iter().chain(newcomers));
    (list.unwrap_or_else(|_| after.clone()), None)
}

/// Parts of the space in which each placement of a candidate gives one owner.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    Ranges(CommonRanges),
    /// Entries of a Maglev table.
    Entries(u32),
    /// The last token of each range, ascending.
    Ends(Vec<u64>),
}

impl Cells {
    /// `None` where owners have to be asked key by key.
    pub(super) fn of(all: &[&Placed]) -> Option<Self> {
        let rings: Option<Vec<&AllocatedRing>> = all
            .iter()
            .map(|placed| match &placed.table {
                Table::Allocated(ring) => Some(ring),
                Table::Library(_) => None,
            })
            .collect();
        if let Some(rings) = rings {
            let mut ends: Vec<u64> = rings
                .iter()
                .flat_map(|ring| ring.tokens())
                .copied()
                .collect();
            ends.push(u64::MAX);
            ends.sort_unstable();
            ends.dedup();
            return Some(Self::Ends(ends));
        }
        let placements: Vec<&Placement> =
            all.iter().filter_map(|placed| placed.placement()).collect();
        let scheme = placements.first()?.scheme();
        match scheme.slot_count() {
            Some(entries) if scheme.algorithm() == Algorithm::Maglev => {
                Some(Self::Entries(entries))
            }
            _ => CommonRanges::of(&placements).map(Self::Ranges),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Ranges(ranges) => ranges.count(),
            Self::Entries(entries) => *entries as usize,
            Self::Ends(ends) => ends.len(),
        }
    }

    /// The cell of a token.
    #[inline]
    pub(super) fn of_token(&self, token: Token) -> usize {
        match self {
            Self::Ranges(ranges) => ranges.range_of(token),
            Self::Entries(entries) => (token.0 % u64::from(*entries)) as usize,
            Self::Ends(ends) => ends.partition_point(|&end| end < token.0),
        }
    }

    /// A token of the cell.
    pub(super) fn token(&self, cell: usize) -> Token {
        match self {
            Self::Ranges(ranges) => ranges.token(cell),
            Self::Entries(_) => Token(cell as u64),
            Self::Ends(ends) => Token(ends[cell]),
        }
    }

    /// The part of the space of each cell, 0 to 1.
    pub(super) fn sizes(&self, bits: u32) -> Vec<f64> {
        let count = self.count();
        let is_table = match self {
            Self::Ranges(ranges) => ranges.slot(0).is_some(),
            Self::Entries(_) => true,
            Self::Ends(_) => false,
        };
        if is_table {
            return vec![1.0 / count as f64; count];
        }
        let whole = 2_f64.powi(bits as i32);
        let mut before = 0_u128;
        (0..count)
            .map(|cell| {
                let end = u128::from(self.token(cell).0) + 1;
                let size = (end - before) as f64 / whole;
                before = end;
                size
            })
            .collect()
    }

    /// Whether the next node behind the owner is the same throughout a cell, too.
    pub(super) fn settle_next(&self) -> bool {
        !matches!(self, Self::Entries(_))
    }
}
