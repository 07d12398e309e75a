//! The JSON form of a plan, `clockwise.plan/1`: fields may be added, never changed. The book's reference says what each
//! means and in which unit.

use serde::Serialize;

use super::{
    Basis, BetweenDomains, Domain, Failure, Formula, Load, Tags, Tied, TokenAdvice, Warning, Ways,
};
use crate::{Balance, Cascades, Copies, LimitResult, Orders, Outages, RefillPoint};

/// A finished plan; serialises as `clockwise.plan/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// Always `clockwise.plan/1`.
    pub kind: &'static str,
    /// How sure the counts are.
    pub basis: Basis,
    /// Whether reading was stopped; the figures then cover what was read.
    pub partial: bool,
    /// Where the keys came from, and how they were read.
    pub source: String,
    /// The traffic that was told.
    pub load: Load,
    /// Keys placed, repeats included.
    pub keys: u64,
    /// Different keys among them.
    pub distinct_keys: u64,
    /// Whether that is a count; above 2^18, or 2^20 where keys come with requests, it is an estimate within 0.9 %.
    pub distinct_keys_exact: bool,
    /// Independent keys that would scatter as these do.
    pub effective_keys: u64,
    /// Lines left out.
    pub bad_lines: u64,
    /// Requests to all keys, if told.
    pub requests: Option<u64>,
    /// Bytes stored under all keys, if told.
    pub bytes: Option<u64>,
    /// Full text of the schemes.
    pub scheme: FromTo,
    /// The key rules.
    pub key_rule: FromTo,
    /// What changes its owner.
    pub moved: Moved,
    /// What should change its owner.
    pub theory: Theory,
    /// Every node of either side: today's in their order, then the new ones.
    pub nodes: Vec<Node>,
    /// Keys without an owner.
    pub unowned: Sides<u64>,
    /// Who gives how much to whom.
    pub flows: Vec<Flow>,
    /// What regions, zones, racks and hosts hold, for levels with two names or more.
    pub domains: Vec<Domain>,
    /// What moves between those of each level.
    pub between_domains: Vec<BetweenDomains>,
    /// How evenly keys lie.
    pub balance: Sides<Balance>,
    /// How evenly requests lie, if told.
    pub balance_requests: Option<Sides<Balance>>,
    /// How evenly bytes lie, if told.
    pub balance_bytes: Option<Sides<Balance>>,
    /// What numbers of tokens bring, where the new placement is a ring of two nodes or more.
    pub tokens: Option<TokenAdvice>,
    /// Each node of the new membership lost, one at a time.
    pub failures: Vec<Failure>,
    /// The key with most requests, where each key stands once.
    pub hottest: Option<Hottest>,
    /// The keys with most requests, at most ten, where each key stands once.
    pub hottest_keys: Vec<HotKey>,
    /// Keys tied together by the key rule, where any are.
    pub tags: Option<Tags>,
    /// The heaviest slots, at most ten, where keys are counted by slot.
    pub heaviest_slots: Vec<Tied>,
    /// The change node by node, where it is one of several.
    pub steps: Vec<Step>,
    /// The order of these steps that moves least, where it was worked out.
    pub orders: Option<Orders>,
    /// Several nodes lost together, where asked for.
    pub outages: Vec<Outages>,
    /// Failures that set off others, where the nodes' capacity and the traffic were told.
    pub cascades: Option<Cascades>,
    /// Copies of keys that have replicas, where there are any.
    pub replicas: Option<Copies>,
    /// Slots that move, where both sides have the same ones.
    pub slots: Option<SlotMoves>,
    /// Whether the new table follows from the old one with the fewest moves.
    pub follows_table: bool,
    /// Keys that the new key rule cuts out otherwise.
    pub recut_keys: u64,
    /// Exact share of the token space or slots that moves, 0 to 1; `None` where there is no diff.
    pub space_moved_share: Option<f64>,
    /// Ranges of tokens that move; `None` where there is no diff by ranges.
    pub moved_ranges: Option<u64>,
    /// Load on the database, if the traffic was told.
    pub origin: Option<Origin>,
    /// What missing the moved keys costs, and what copying them does.
    pub ways: Ways,
    /// How far clients agree that know a part of the nodes.
    pub views: Option<Agreement>,
    /// How the load on the database falls as keys are cached anew; predicted, empty where the traffic was not told.
    pub refill: Vec<RefillPoint>,
    /// What it takes to copy what moves, if bytes were told.
    pub copy: Option<Copying>,
    /// Who runs out of memory first, if bytes and memory were told.
    pub memory: Option<Memory>,
    /// The limits asked for, with their outcome.
    pub limits: Vec<LimitResult>,
    /// What a reader should know first.
    pub warnings: Vec<Warning>,
}

/// A figure before and after the change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sides<T> {
    /// Today.
    pub before: T,
    /// After the change.
    pub after: T,
}

/// A text for each side of the change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FromTo {
    /// Today.
    pub from: String,
    /// After the change.
    pub to: String,
}

/// What changes its owner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// Keys whose owner differs.
    pub keys: u64,
    /// Their share of all keys, 0 to 1.
    pub share: f64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
    /// Keys among them that move between nodes whose weight stays.
    pub between_remaining: u64,
}

/// What should change its owner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Theory {
    /// Share of keys that moves by formula, 0 to 1.
    pub moved_share: f64,
    /// Its standard deviation, by chance in the placement and in the keys.
    pub moved_share_sd: f64,
    /// The least that any placement of these weights could move.
    pub least_moved_share: f64,
    /// Figures by formula beside those that were measured.
    pub formulas: Vec<Formula>,
}

/// A node before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The node.
    pub id: String,
    /// What it holds before and after.
    #[serde(flatten)]
    pub sides: Sides<Holding>,
    /// Keys that it gets.
    pub received: u64,
    /// Keys that it gives: what stays on it as a stale copy until it expires or is purged.
    pub gave: u64,
    /// Bytes of them, if told.
    pub gave_bytes: Option<u64>,
    #[serde(skip)]
    pub(crate) before_listed: bool,
    #[serde(skip)]
    pub(crate) after_listed: bool,
}

impl Node {
    /// Whether it comes to weight.
    pub(crate) fn joins(&self) -> bool {
        self.sides.before.weight == 0.0 && self.sides.after.weight > 0.0
    }

    /// Whether it comes, goes or changes its weight.
    pub(crate) fn changes(&self) -> bool {
        self.sides.before.weight != self.sides.after.weight
    }
}

/// What a node holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Holding {
    /// Keys owned.
    pub keys: u64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
    /// Share of all keys, 0 to 1.
    pub share: f64,
    /// Weight; 0 where the node is not listed.
    pub weight: f64,
    /// Share that the weight asks for, 0 to 1.
    pub wanted_share: f64,
    /// Exact share of the token space or slots, 0 to 1; `None` where the scheme has neither.
    pub space_share: Option<f64>,
}

/// Keys that go from one node to another; `null` stands for no owner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// The old owner.
    pub from: Option<String>,
    /// The new owner.
    pub to: Option<String>,
    /// Keys that go this way.
    pub keys: u64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
}

/// The key with most requests and the floor that it sets under any placement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hottest {
    /// The key, escaped.
    pub key: String,
    /// Requests to it.
    pub requests: u64,
    /// Their share of all requests, 0 to 1.
    pub share: f64,
    /// Its requests over a node's fair share of all requests.
    pub share_of_fair: f64,
}

/// One of the keys with most requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotKey {
    /// The key, escaped.
    pub key: String,
    /// Requests to it.
    pub requests: u64,
    /// Their share of all requests, 0 to 1.
    pub share: f64,
    /// The node that owns it after the change; `None` where nobody does.
    pub owner: Option<String>,
}

/// One node added or removed after those of the steps before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// `add ID` or `remove ID`.
    pub change: String,
    /// Keys that move at this step.
    pub keys: u64,
    /// Their share of all keys, 0 to 1.
    pub share: f64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
    /// Queries per second that reach the database at the first moment of this step, every other key being cached as
    /// usual, if the traffic was told; predicted.
    pub origin_queries: Option<f64>,
}

/// How many owners a key has among clients that know different nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Clients compared.
    pub views: usize,
    /// Keys by number of owners: the first entry counts keys without any, the second those that all agree on.
    pub owners_per_key: Vec<u64>,
    /// Mean number of owners of a key that has any.
    pub mean_owners: f64,
}

/// Copying what moves instead of missing it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Copying {
    /// Bytes that move.
    pub bytes: u64,
    /// Bytes per second, if told.
    pub rate: Option<f64>,
    /// Seconds that it takes at that rate; predicted.
    pub seconds: Option<f64>,
}

/// The node that fills most of its memory after the change, stale copies not counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Memory of a node of weight 1, in bytes.
    pub node_memory: u64,
    /// The fullest node.
    pub fullest: String,
    /// Its bytes over its memory; above 1 it evicts.
    pub filled: f64,
    /// Nodes that hold more than their memory.
    pub evicting: Vec<String>,
}

/// Slots (or entries of a Maglev table) that move: by the two tables of the plan, and the fewest that any two tables with
/// these numbers of slots could move. A store that keeps its table moves the fewest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlotMoves {
    /// Slots in all.
    pub slots: u64,
    /// Slots whose owner differs.
    pub moved: u64,
    /// The fewest that could.
    pub moved_least: u64,
}

/// Queries per second that reach the database: before, and at the first moment after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Origin {
    /// Queries per second today.
    pub queries_before: f64,
    /// Queries per second while every moved key is cold.
    pub queries_after: f64,
    /// The second over the first.
    pub factor: f64,
    /// Queries per second that the database can serve, if it was told.
    pub capacity: Option<f64>,
    /// Queries per second if the whole cache, or every layer that places keys by the same hash, misses at once.
    pub whole_cache_queries: f64,
    /// That over the queries of today: 1 / (1 - hit rate).
    pub whole_cache_factor: f64,
}
