//! A finished plan: every figure of a change, ready to be printed.
//!
//! What it is: the numbers of a census with the theory beside them, the failures, the limits and the warnings. What
//! it promises: counts are integers; the basis says whether they are exact, sampled or predicted; fields may be
//! added to the JSON form, never changed. What it does not: decide. Cost: O(pairs of nodes that exchange keys).

mod advice;
mod domains;
mod failures;
mod form;
mod formulas;
mod page;
mod sections;
mod tied;
mod tokens;
mod traffic;
mod warnings;
mod ways;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::{Diff, Moves, Share};
use serde::Serialize;

use crate::census::{Amount, Change, ChangeNode, Counts};
use crate::limits::Measure;
use crate::{Balance, Limit, LimitError, LimitResult, theory, what_if};
pub use domains::{BetweenDomains, Domain, DomainHolding};
pub use failures::{Failure, Heaviest, Receiver, Renumbering};
pub use form::{
    Agreement, Copying, Flow, FromTo, Holding, HotKey, Hottest, Memory, Moved, Node, Origin, Plan,
    Sides, SlotMoves, Step, Theory,
};
pub use formulas::Formula;
pub use page::page;
pub use sections::document;
pub use tied::{Tags, Tied};
pub use tokens::{TokenAdvice, TokenCandidate};
pub use traffic::Load;
use traffic::{copying, memory, origin, refill, traffic};
pub use warnings::Warning;
pub use ways::{CopyFirst, Miss, Ways};

/// How sure the figures are.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Every key was counted.
    Exact,
    /// A part of the keys was counted.
    Sampled,
    /// No key was read: pseudo-random ones stand for all.
    Predicted,
}

/// Where the keys came from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    /// What the user named, with how it was read.
    pub text: String,
    /// How sure counts of it are.
    pub basis: Basis,
    /// Whether no key comes twice, as where equal ones were merged.
    pub each_key_once: bool,
    /// Whether they are keys of memcached, whose clients take them whole.
    pub of_memcached: bool,
    /// Lines that were no keys.
    pub bad_lines: u64,
    /// Whether reading was cut short.
    pub partial: bool,
}

/// All that a plan is made of.
#[derive(Debug)]
pub struct PlanInput<'c> {
    /// The two placements.
    pub change: &'c Change,
    /// The finished count.
    pub counts: Counts,
    /// Where the keys came from.
    pub source: Source,
    /// The traffic.
    pub load: Load,
    /// Limits to check.
    pub limits: Vec<Limit>,
    /// Warnings about the input.
    pub warnings: Vec<Warning>,
    /// Set it, from any thread, to do without the what-ifs that are not worked out yet; the plan is partial then.
    pub stop: Arc<AtomicBool>,
}

impl Plan {
    /// The plan of these counts.
    ///
    /// # Errors
    /// [`LimitError::Unknowable`] when a limit is set on something that the input does not tell.
    pub fn new(input: PlanInput<'_>) -> Result<Self, LimitError> {
        let PlanInput {
            change,
            mut counts,
            source,
            load,
            limits,
            warnings,
            stop,
        } = input;
        let (from, to) = (&change.from, &change.to);
        let effective_keys = counts.clumps.effective_keys();
        if source.each_key_once {
            counts.distinct = (counts.keys, true);
        }
        let sure = what_if::basis(source.basis, &counts.stakes);
        // Pseudo-random keys have tags and hot slots by chance alone.
        let reads_keys = source.basis != Basis::Predicted;
        let (distinct_keys, distinct_keys_exact) = counts.distinct;
        let known = |amount: Amount| {
            (
                counts.requests.map(|_| amount.requests),
                counts.bytes.map(|_| amount.bytes),
            )
        };
        let moved = moved(change, &counts);
        let diff = Diff::new(from, to).ok();
        let recut = share(counts.recut, counts.keys);
        let expected = theory::expected_move(from, to, recut);
        let nodes = nodes(change, &counts);
        let flows = counts.placed.flows.iter().map(|(old, new, amount)| {
            let id = |node: usize| change.nodes.get(node).map(|node| node.id.clone());
            let (requests, bytes) = known(amount);
            Flow {
                from: id(old),
                to: id(new),
                keys: amount.keys,
                requests,
                bytes,
            }
        });
        let balance = |of: fn(Amount) -> u64, keys| balance(change, &counts, of, keys);
        let mut plan = Self {
            kind: "clockwise.plan/1",
            basis: source.basis,
            partial: source.partial,
            source: source.text,
            keys: counts.keys,
            distinct_keys,
            distinct_keys_exact,
            effective_keys,
            bad_lines: source.bad_lines,
            requests: counts.requests,
            bytes: counts.bytes,
            scheme: FromTo {
                from: from.scheme().to_string(),
                to: to.scheme().to_string(),
            },
            key_rule: FromTo {
                from: from.key_rule().to_string(),
                to: to.key_rule().to_string(),
            },
            moved,
            theory: Theory {
                moved_share: expected.share,
                moved_share_sd: expected.sd_on(effective_keys),
                least_moved_share: least_moved_share(&nodes),
                formulas: Vec::new(),
            },
            unowned: Sides {
                before: counts.placed.before.last().map_or(0, |amount| amount.keys),
                after: counts.placed.after.last().map_or(0, |amount| amount.keys),
            },
            flows: flows.collect(),
            domains: Vec::new(),
            between_domains: Vec::new(),
            balance: balance(|amount| amount.keys, effective_keys),
            balance_requests: counts
                .requests
                .map(|_| balance(|amount| amount.requests, 0)),
            balance_bytes: counts.bytes.map(|_| balance(|amount| amount.bytes, 0)),
            tokens: tokens::token_advice(to),
            failures: failures::failures(load, change, &counts),
            hottest: hottest(change, &counts),
            slots: slot_moves(change, diff.as_ref()),
            follows_table: change.follows,
            recut_keys: counts.recut,
            space_moved_share: diff.as_ref().map(|diff| diff.share().as_f64()),
            moved_ranges: diff.as_ref().and_then(moved_ranges),
            origin: origin(load, &moved, counts.requests),
            hottest_keys: hottest_keys(change, &counts),
            tags: tied::tags(change, &counts).filter(|_| reads_keys),
            heaviest_slots: if reads_keys {
                tied::slots(change, &counts)
            } else {
                Vec::new()
            },
            steps: steps(load, change, &counts),
            orders: what_if::orders(change, &counts.stakes, sure),
            outages: outages(load, change, &counts, sure, &stop),
            cascades: cascades(load, change, &counts, sure, &stop),
            replicas: what_if::copies(change, &counts.stakes, sure, counts.bytes.is_some()),
            ways: Ways::default(),
            views: agreement(change, &counts),
            refill: refill(load, &moved, &counts, distinct_keys),
            copy: counts.bytes.map(|_| copying(load, &moved)),
            memory: memory(load, &nodes),
            limits: Vec::new(),
            warnings,
            nodes,
            load,
        };
        plan.partial |= stop.load(Ordering::Relaxed);
        if let Some(slots) = plan.slots {
            // Shares by weight are finer than slots.
            plan.theory.least_moved_share = share(slots.moved_least, slots.slots);
        }
        plan.theory.formulas = formulas::formulas(change, &plan);
        plan.ways = ways::ways(load, &counts, &plan);
        (plan.domains, plan.between_domains) = domains::domains(change, &plan);
        plan.limits = limits
            .into_iter()
            .map(|limit| plan.check(limit, change, load))
            .collect::<Result<_, _>>()?;
        warnings::warn(&mut plan, change, source.of_memcached);
        Ok(plan)
    }

    /// Whether every limit is kept.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        self.limits.iter().all(|limit| limit.ok)
    }

    fn check(&self, limit: Limit, change: &Change, load: Load) -> Result<LimitResult, LimitError> {
        let unknowable = |needs| LimitError::Unknowable {
            name: limit.measure.name(),
            needs,
        };
        let value = match limit.measure {
            Measure::Moved => self.moved.share,
            Measure::Imbalance => self.balance.after.max_over_mean,
            Measure::Origin => {
                self.origin
                    .ok_or_else(|| unknowable("it needs --rate and --hit-rate"))?
                    .factor
            }
            Measure::Failure => self
                .failures
                .iter()
                .filter_map(|failure| failure.heaviest_after.as_ref())
                .map(|heaviest| heaviest.max_over_mean)
                .reduce(f64::max)
                .ok_or_else(|| unknowable("no node takes over when another fails"))?,
            Measure::Hot => {
                self.hottest
                    .as_ref()
                    .ok_or_else(|| {
                        unknowable(
                            "it needs keys with requests (see --requests-column), each key once: --merge adds up rows of one key",
                        )
                    })?
                    .share_of_fair
            }
        };
        let mut result = LimitResult::new(limit, value);
        if !result.ok {
            let about = (self, change, load);
            result.advice = Some(advice::advice(limit.measure, &result, about));
        }
        Ok(result)
    }
}

fn moved(change: &Change, counts: &Counts) -> Moved {
    let stays = |node: usize| {
        change
            .nodes
            .get(node)
            .is_some_and(|node| node.from.is_some() && node.to.is_some())
    };
    let (all, between) = counts.placed.flows.iter().fold(
        (Amount::default(), 0),
        |(all, between), (old, new, amount)| {
            (
                all + amount,
                between
                    + if stays(old) && stays(new) && untouched(change, old, new) {
                        amount.keys
                    } else {
                        0
                    },
            )
        },
    );
    Moved {
        keys: all.keys,
        share: share(all.keys, counts.keys),
        requests: counts.requests.map(|_| all.requests),
        bytes: counts.bytes.map(|_| all.bytes),
        between_remaining: between,
    }
}

/// Whether neither node asked for a move: keys between nodes whose weight stays have no reason to go.
fn untouched(change: &Change, old: usize, new: usize) -> bool {
    let same_weight = |node: &ChangeNode| {
        let weight = |placement: &clockwise::Placement, member: Option<usize>| {
            member.map(|member| placement.members()[member].weight())
        };
        weight(&change.from, node.from) == weight(&change.to, node.to)
    };
    same_weight(&change.nodes[old]) && same_weight(&change.nodes[new])
}

fn nodes(change: &Change, counts: &Counts) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(change.nodes.len());
    let spaces = (change.from.space_shares(), change.to.space_shares());
    let weights = (total_weight(&change.from), total_weight(&change.to));
    for (place, node) in change.nodes.iter().enumerate() {
        let holding = |placement: &clockwise::Placement,
                       member: Option<usize>,
                       amount: Amount,
                       total,
                       space: &Option<Vec<Share>>| {
            let weight = member.map_or(0, |member| placement.members()[member].weight().milli());
            Holding {
                keys: amount.keys,
                requests: counts.requests.map(|_| amount.requests),
                bytes: counts.bytes.map(|_| amount.bytes),
                share: share(amount.keys, counts.keys),
                weight: f64::from(weight) / 1000.0,
                wanted_share: share(u64::from(weight), total),
                space_share: space
                    .as_ref()
                    .map(|shares| member.map_or(0.0, |member| shares[member].as_f64())),
            }
        };
        nodes.push(Node {
            id: node.id.clone(),
            sides: Sides {
                before: holding(
                    &change.from,
                    node.from,
                    counts.placed.before[place],
                    weights.0,
                    &spaces.0,
                ),
                after: holding(
                    &change.to,
                    node.to,
                    counts.placed.after[place],
                    weights.1,
                    &spaces.1,
                ),
            },
            received: 0,
            gave: 0,
            gave_bytes: counts.bytes.map(|_| 0),
            before_listed: node.from.is_some(),
            after_listed: node.to.is_some(),
        });
    }
    for (old, new, amount) in counts.placed.flows.iter() {
        if let Some(node) = nodes.get_mut(old) {
            node.gave += amount.keys;
            node.gave_bytes = node.gave_bytes.map(|bytes| bytes + amount.bytes);
        }
        if let Some(node) = nodes.get_mut(new) {
            node.received += amount.keys;
        }
    }
    nodes
}

fn total_weight(placement: &clockwise::Placement) -> u64 {
    placement
        .members()
        .iter()
        .map(|member| u64::from(member.weight().milli()))
        .sum()
}

/// What nodes gain by weight is what must move at the least; where no node is left, all that the last ones lose.
fn least_moved_share(nodes: &[Node]) -> f64 {
    let change = |node: &Node| node.sides.after.wanted_share - node.sides.before.wanted_share;
    let (gained, lost) = nodes.iter().fold((0.0, 0.0), |(gained, lost), node| {
        (
            gained + change(node).max(0.0),
            lost + (-change(node)).max(0.0),
        )
    });
    if gained > 0.0 { gained } else { lost }
}

fn balance(
    change: &Change,
    counts: &Counts,
    of: fn(Amount) -> u64,
    independent_keys: u64,
) -> Sides<Balance> {
    let side = |placement: &clockwise::Placement,
                amounts: &[Amount],
                member: fn(&ChangeNode) -> Option<usize>| {
        let loads: Vec<(u64, u32)> = change
            .nodes
            .iter()
            .zip(amounts)
            .filter_map(|(node, &amount)| {
                member(node)
                    .map(|member| (of(amount), placement.members()[member].weight().milli()))
            })
            .collect();
        Balance::new(&loads, scheme_sd(placement), independent_keys)
    };
    Sides {
        before: side(&change.from, &counts.placed.before, |node| node.from),
        after: side(&change.to, &counts.placed.after, |node| node.to),
    }
}

/// Relative standard deviation of a node's share that the scheme itself brings: tokens at random on rings, none
/// elsewhere.
fn scheme_sd(placement: &clockwise::Placement) -> f64 {
    let Some(tokens) = placement
        .scheme()
        .tokens()
        .filter(|_| formulas::is_ring(placement))
    else {
        return 0.0;
    };
    let weights = tokens::weights(placement).into_iter();
    let held: Vec<f64> = weights.map(|weight| weight * f64::from(tokens)).collect();
    tokens::law_sd(&held)
}

/// Whether the hottest rows are the hottest keys: rows of one key are not added up.
fn stands_once(counts: &Counts) -> bool {
    counts.distinct == (counts.keys, true)
}

fn hottest(change: &Change, counts: &Counts) -> Option<Hottest> {
    let hottest = counts
        .popular
        .hottest()
        .first()
        .filter(|_| stands_once(counts))?;
    let members = change.to.members().iter();
    let nodes = members.filter(|member| member.weight().milli() > 0).count();
    let of_all = share(hottest.requests, counts.requests?);
    Some(Hottest {
        key: crate::keys::Escaped(&hottest.key).to_string(),
        requests: hottest.requests,
        share: of_all,
        share_of_fair: of_all * nodes as f64,
    })
}

fn hottest_keys(change: &Change, counts: &Counts) -> Vec<HotKey> {
    let (Some(all), true) = (counts.requests, stands_once(counts)) else {
        return Vec::new();
    };
    let hot = |hot: &crate::census::HotKey| HotKey {
        key: crate::keys::Escaped(&hot.key).to_string(),
        requests: hot.requests,
        share: share(hot.requests, all),
        owner: change
            .nodes
            .get(hot.node as usize)
            .map(|node| node.id.clone()),
    };
    counts.popular.hottest().iter().map(hot).collect()
}

fn steps(load: Load, change: &Change, counts: &Counts) -> Vec<Step> {
    let step = |(step, moved): (&crate::census::Step, &Amount)| Step {
        change: step.text.clone(),
        keys: moved.keys,
        share: share(moved.keys, counts.keys),
        requests: counts.requests.map(|_| moved.requests),
        bytes: counts.bytes.map(|_| moved.bytes),
        origin_queries: load.queries(read_share(*moved, counts)),
    };
    change
        .steps
        .iter()
        .zip(&counts.placed.steps)
        .map(step)
        .collect()
}

fn outages(
    load: Load,
    change: &Change,
    counts: &Counts,
    sure: Basis,
    stop: &AtomicBool,
) -> Vec<what_if::Outages> {
    let mut all = what_if::outages(
        change,
        &counts.stakes,
        sure,
        counts.requests.is_some(),
        stop,
    );
    for outage in all.iter_mut().flat_map(|of| &mut of.worst) {
        outage.origin_queries = load.queries(outage.read_share);
    }
    all
}

/// The part of all reads that goes to these keys: of requests where they were told, else of keys.
fn read_share(amount: Amount, counts: &Counts) -> f64 {
    match counts.requests {
        Some(all) if all > 0 => share(amount.requests, all),
        _ => share(amount.keys, counts.keys),
    }
}

fn cascades(
    load: Load,
    change: &Change,
    counts: &Counts,
    sure: Basis,
    stop: &AtomicBool,
) -> Option<what_if::Cascades> {
    let (reads, node_rate) = (load.reads()?, load.node_rate?);
    let has_requests = counts.requests.is_some();
    Some(what_if::cascades(
        change,
        &counts.stakes,
        sure,
        has_requests,
        (reads, node_rate),
        stop,
    ))
}

fn agreement(change: &Change, counts: &Counts) -> Option<Agreement> {
    let views = change.views.len();
    let owned: u64 = counts.placed.owners_per_key.iter().skip(1).sum();
    let owners: u64 = (0..)
        .zip(&counts.placed.owners_per_key)
        .map(|(owners, keys)| owners * keys)
        .sum();
    (views > 0).then(|| Agreement {
        views,
        owners_per_key: counts.placed.owners_per_key.clone(),
        mean_owners: share(owners, owned),
    })
}

fn moved_ranges(diff: &Diff<'_>) -> Option<u64> {
    match diff.moves() {
        Moves::Tokens(ranges) => Some(ranges.len() as u64),
        Moves::Slots(_) => None,
    }
}

fn slot_moves(change: &Change, diff: Option<&Diff<'_>>) -> Option<SlotMoves> {
    let Some(Moves::Slots(moved)) = diff.map(Diff::moves) else {
        return None;
    };
    let (from, to) = (change.from.slot_owners()?, change.to.slot_owners()?);
    let held = |owners: &[u32], member: Option<usize>| {
        let is_owner = |owner: &&u32| member == Some(**owner as usize);
        owners.iter().filter(is_owner).count() as u64
    };
    let (mut gained, mut lost) = (0, 0);
    for node in &change.nodes {
        let (before, after) = (held(from, node.from), held(to, node.to));
        gained += after.saturating_sub(before);
        lost += before.saturating_sub(after);
    }
    Some(SlotMoves {
        slots: u64::from(change.to.scheme().slot_count()?),
        moved: moved.len() as u64,
        // They differ only where one side has no owners at all.
        moved_least: gained.max(lost),
    })
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
