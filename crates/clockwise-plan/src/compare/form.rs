//! The JSON form of a comparison, `clockwise.compare/1`: fields may be added, never changed. The book's reference says
//! what each means.

use serde::Serialize;

use crate::{Basis, Warning};

/// A finished comparison; serialises as `clockwise.compare/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// Always `clockwise.compare/1`.
    pub kind: &'static str,
    /// How sure the least sure figures are.
    pub basis: Basis,
    /// Whether it was stopped; the figures then cover what was read.
    pub partial: bool,
    /// Where the keys came from, and how they were read.
    pub source: String,
    /// Keys placed, repeats included; 0 where none were given.
    pub keys: u64,
    /// Lines left out.
    pub bad_lines: u64,
    /// The change at hand, in words.
    pub change: String,
    /// Nodes with weight before.
    pub nodes_before: usize,
    /// Nodes with weight after.
    pub nodes_after: usize,
    /// The least share that any placement of these weights could move, 0 to 1.
    pub least_moved_share: f64,
    /// The node that the change `add` adds.
    pub add_node: String,
    /// The node that the change `remove_last` removes.
    pub remove_last_node: Option<String>,
    /// Nodes tried for the removal of any.
    pub remove_any_tried: usize,
    /// Nodes that could be removed.
    pub remove_any_of: usize,
    /// A row a scheme, in the order asked for.
    pub rows: Vec<Row>,
    /// How times were measured; `None` where they were not.
    pub timing: Option<Timing>,
    /// What a reader should know first.
    pub warnings: Vec<Warning>,
}

/// One scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The full text of the scheme, with `kept` or `allocated`.
    pub scheme: String,
    /// What it was called.
    pub label: String,
    /// Whether it is the scheme that the membership's file names.
    pub today: bool,
    /// What all clients have to have in common.
    pub rests_on: &'static str,
    /// How sure the figures of the change and the balance are.
    pub basis: Basis,
    /// On what they were counted: `keys`, `space` or `pseudo-random keys`.
    pub counted_on: &'static str,
    /// Keys counted, given or pseudo-random; `None` where it was the space.
    pub keys: Option<u64>,
    /// Why the scheme cannot make the change, or should not: the figures then say what it costs all the same.
    pub reason: Option<String>,
    /// What else to know about the figures.
    pub notes: Vec<String>,
    /// Share that the change moves, 0 to 1; `None` where there is no placement.
    pub moved_share: Option<f64>,
    /// Keys that the change moves; `None` where it was not counted on all keys given.
    pub moved_keys: Option<u64>,
    /// Share that moves beyond what takes every node from what it held to what it holds.
    pub extra_moved_share: Option<f64>,
    /// The heaviest node over its fair share, after the change.
    pub max_over_mean: Option<f64>,
    /// Standard deviation over nodes, after the change.
    pub sd_over_mean: Option<f64>,
    /// The heaviest node over its fair share, before the change.
    pub max_over_mean_before: Option<f64>,
    /// Share that one node more moves.
    pub add_moved_share: Option<f64>,
    /// What of it is beyond need.
    pub add_extra_moved_share: Option<f64>,
    /// Share that the loss of the last node moves.
    pub remove_last_moved_share: Option<f64>,
    /// What of it is beyond need.
    pub remove_last_extra_moved_share: Option<f64>,
    /// Share that the loss of one node moves, mean over the nodes tried.
    pub remove_any_moved_share: Option<f64>,
    /// What of it is beyond need.
    pub remove_any_extra_moved_share: Option<f64>,
    /// The most that the loss of one of them moves.
    pub remove_any_worst_moved_share: Option<f64>,
    /// That node.
    pub remove_any_worst_node: Option<String>,
    /// How sure the figures on the removal of any are.
    pub remove_any_basis: Basis,
    /// What happens to a node's keys when it fails, after the change; `None` where nobody is named to take over.
    pub failure: Option<FailureSpread>,
    /// Memory of the placement's tables after the change, members' texts left out.
    pub bytes: Option<usize>,
    /// Tokens of a ring, or slots; `None` for schemes without.
    pub ranges: Option<u64>,
    /// Ranges or slots that the change moves, each a stream between two nodes.
    pub ranges_moved: Option<u64>,
    /// Microseconds to build the placement after the change, the best of all rounds; with a kept or an allocated
    /// table from the one before.
    pub build_us: Option<f64>,
    /// The quickest and the slowest round.
    pub build_us_range: Option<[f64; 2]>,
    /// Nanoseconds from a key's token to its owner, the best of all rounds.
    pub lookup_ns: Option<f64>,
    /// The quickest and the slowest round.
    pub lookup_ns_range: Option<[f64; 2]>,
}

/// Who takes over from a node that fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureSpread {
    /// How sure it is.
    pub basis: Basis,
    /// Other nodes that get its keys, mean over the nodes.
    pub receivers_mean: f64,
    /// The fewest.
    pub receivers_fewest: usize,
    /// Whether there may be more: a sample does not show all of them.
    pub receivers_at_least: bool,
    /// The part of a failed node's keys that the heaviest receiver gets, mean over the nodes.
    pub largest_receiver_share_mean: f64,
    /// The largest such part.
    pub largest_receiver_share_worst: f64,
    /// The heaviest node over its new fair share, after the worst failure.
    pub max_over_mean_worst: f64,
    /// The node whose failure that is.
    pub worst_node: String,
}

/// How times were measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Processor and cores.
    pub machine: String,
    /// Operating system and its version.
    pub system: String,
    /// Version of clockwise.
    pub version: String,
    /// Rounds, in each of which every scheme had its turn.
    pub rounds: usize,
    /// Look-ups a scheme and round, at most.
    pub lookups: usize,
    /// Runnable threads over the last minute, before.
    pub load: String,
}
