//! Which scheme to take, from what is needed.
//!
//! What it is: every candidate is built at the number of nodes and measured, held against each need, and of those that
//! meet all the one of the lowest price is taken. What it promises: the price is a sum of shares that anyone can add up
//! again: capacity that the heaviest node wastes, keys that move needlessly when a node joins and when one goes, the part
//! of a core that look-ups take and the part of the budget that metadata takes. What it does not: know the keys, or the
//! machine. Cost: a second or so, some seconds for thousands of nodes. Source: `measure`.

mod document;
mod measure;
mod needs;

use clockwise::Scheme;
use serde::Serialize;

pub use document::document;
pub use measure::Measured;
use measure::{NS_PER_UNIT, measure};
pub use needs::{Need, Peer, UnknownPeer};
use needs::{changes, needs};

use super::{Advice, KIND, Reason};
use crate::advise::print::{bytes, times};
use crate::number::{decimal, grouped, percent};

/// What is needed.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeWish {
    /// Nodes today, from 1 to [`MOST_NODES`].
    pub nodes: u32,
    /// Look-ups per second in one router.
    pub lookups: f64,
    /// Copies of each key.
    pub replicas: u32,
    /// Whether further nodes have to be named behind the owner, even for one copy.
    pub ranking: bool,
    /// The most memory that the metadata may take in a router.
    pub metadata_budget: u64,
    /// What keys have to be placed like.
    pub compatible_with: Option<Peer>,
    /// Whether nodes are only ever appended, so that their numbers hold.
    pub appended: bool,
    /// Whether only the last node ever goes.
    pub last_fails: bool,
    /// Whether nodes have weights that differ.
    pub weights: bool,
}

/// The advice.
pub type SchemeAdvice = Advice<Candidate, SchemeMore>;

/// What belongs to this question alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemeMore {
    /// Nodes today.
    pub nodes: u32,
    /// Look-ups per second in one router.
    pub lookups: f64,
    /// Copies of each key.
    pub replicas: u32,
    /// The most memory for metadata.
    pub metadata_budget: u64,
    /// The least share of the keys that has to move when a node joins.
    pub least_join: f64,
    /// The least share that has to move when a node goes.
    pub least_leave: f64,
}

/// A scheme with what it does and which needs it meets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The scheme in its short form.
    pub scheme: String,
    /// What was found; `None` where it cannot place so many nodes.
    pub measured: Option<Measured>,
    /// Each need with whether it is met.
    pub needs: Vec<Need>,
    /// Whether all needs are met.
    pub meets_all: bool,
    /// The parts of a core that look-ups take.
    pub cores: Option<f64>,
    /// The sum that decides among those that meet all needs; lower is better.
    pub price: Option<f64>,
}

/// Advises on a scheme. `go_on` is called before each candidate; when it answers no, the rest is left out.
#[must_use]
pub fn scheme(wish: &SchemeWish, mut go_on: impl FnMut() -> bool) -> SchemeAdvice {
    let found = measured(wish, wish.nodes, &mut go_on);
    let table = judged(wish, &found);
    let best = best(&table);
    let more = SchemeMore {
        nodes: wish.nodes,
        lookups: wish.lookups,
        replicas: wish.replicas,
        metadata_budget: wish.metadata_budget,
        least_join: 1.0 / (f64::from(wish.nodes) + 1.0),
        least_leave: 1.0 / f64::from(wish.nodes),
    };
    let changes = changes(wish, &found, best, &mut go_on);
    Advice {
        kind: KIND,
        question: "scheme",
        answer: best.map_or("none", |best| best.scheme.as_str()).to_owned(),
        ok: best.is_some(),
        verdict: verdict(wish, best, &table),
        reasons: match (best, &wish.compatible_with) {
            (Some(best), _) => reasons(wish, best, &table),
            (None, Some(peer)) if peer.scheme().is_none() => vec![migration(wish, peer)],
            _ => misses(&table),
        },
        changes,
        more,
        table,
    }
}

/// A candidate's scheme with what was found about it.
type Found = (String, Scheme, Result<Measured, String>);

fn measured(wish: &SchemeWish, nodes: u32, go_on: &mut impl FnMut() -> bool) -> Vec<Found> {
    let mut names: Vec<String> = CANDIDATES.map(str::to_owned).to_vec();
    if nodes <= MOST_THOUSANDS {
        names.insert(2, "ring,tokens=1000".to_owned());
    }
    let own = wish.compatible_with.as_ref().and_then(Peer::scheme);
    names.extend(
        own.map(str::to_owned)
            .filter(|name| !CANDIDATES.contains(&name.as_str())),
    );
    let mut found = Vec::new();
    for name in names {
        if !go_on() {
            break;
        }
        if let Ok(scheme) = name.parse::<Scheme>() {
            let measured = measure(&scheme, nodes, ranked(wish));
            found.push((name, scheme, measured));
        }
    }
    found
}

/// Nodes to name for a key.
fn ranked(wish: &SchemeWish) -> u32 {
    let least = if wish.ranking { 2 } else { 1 };
    wish.replicas.max(least).min(wish.nodes)
}

fn judged(wish: &SchemeWish, found: &[Found]) -> Vec<Candidate> {
    found.iter().map(|found| candidate(wish, found)).collect()
}

fn candidate(wish: &SchemeWish, (name, scheme, found): &Found) -> Candidate {
    let measured = found.as_ref().ok();
    let needs = match found {
        Ok(measured) => needs(wish, scheme, measured),
        Err(error) => vec![Need::new("nodes", false, error.clone())],
    };
    Candidate {
        scheme: name.clone(),
        measured: measured.cloned(),
        meets_all: needs.iter().all(|need| need.ok),
        needs,
        cores: measured.map(|measured| cores(wish, measured)),
        price: measured.map(|measured| price(wish, measured)),
    }
}

/// Parts of a core that look-ups take.
fn cores(wish: &SchemeWish, measured: &Measured) -> f64 {
    let cost = match measured.replicas_cost {
        Some(all) if ranked(wish) > 1 => all,
        _ => measured.owner_cost,
    };
    cost * NS_PER_UNIT * 1e-9 * wish.lookups
}

/// The sum of what a scheme wastes, each part a share.
fn price(wish: &SchemeWish, measured: &Measured) -> f64 {
    let copies = ranked(wish);
    let joined = (measured.join_moved - least_join(wish)).max(0.0);
    let more_copies = measured.copies_over_least.map_or(0.0, |over| {
        (over - 1.0).max(0.0) * f64::from(copies) * least_join(wish)
    });
    1.0 - 1.0 / measured.heaviest.max(1.0)
        + joined.max(more_copies)
        + (leave_moved(wish, measured) - least_leave(wish)).max(0.0)
        + cores(wish, measured)
        + measured.memory_bytes as f64 / wish.metadata_budget as f64
}

fn least_join(wish: &SchemeWish) -> f64 {
    1.0 / (f64::from(wish.nodes) + 1.0)
}

fn least_leave(wish: &SchemeWish) -> f64 {
    1.0 / f64::from(wish.nodes)
}

/// What moves when a node goes, of those that can.
fn leave_moved(wish: &SchemeWish, measured: &Measured) -> f64 {
    if wish.last_fails {
        measured.leave_last_moved
    } else {
        measured.leave_any_moved
    }
}

/// The lowest price among those that meet all needs; the first of those that are as good as equal.
fn best(table: &[Candidate]) -> Option<&Candidate> {
    let able = || table.iter().filter(|candidate| candidate.meets_all);
    let lowest = able().map(price_of).min_by(f64::total_cmp)?;
    able().find(|candidate| price_of(candidate) <= lowest + AS_GOOD_AS_EQUAL)
}

fn price_of(candidate: &Candidate) -> f64 {
    candidate.price.unwrap_or(f64::INFINITY)
}

fn verdict(wish: &SchemeWish, best: Option<&Candidate>, table: &[Candidate]) -> String {
    let nodes = match wish.nodes {
        1 => "1 node".to_owned(),
        nodes => format!("{} nodes", grouped(u64::from(nodes))),
    };
    match (best, &wish.compatible_with) {
        (Some(best), _) => {
            let able = table.iter().filter(|other| other.meets_all).count();
            let among = match able {
                1 => "the only one of".to_owned(),
                able => format!("the cheapest of {able} that meet every need, among"),
            };
            format!(
                "Take {} for {nodes}: {among} {} candidates{}.",
                best.scheme,
                table.len(),
                if able == 1 {
                    " that meets every need"
                } else {
                    ""
                }
            )
        }
        (None, Some(peer)) if peer.scheme().is_none() => format!(
            "None: clockwise has no scheme that places keys as {} does, so whatever it places would move.",
            peer.name()
        ),
        _ => format!(
            "None of {} candidates meets every need for {nodes}.",
            table.len()
        ),
    }
}

fn reasons(wish: &SchemeWish, best: &Candidate, table: &[Candidate]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for need in &best.needs {
        reasons.push(Reason::new(need.code, need.text.clone()).maybe(need.number));
    }
    let Some(measured) = &best.measured else {
        return reasons;
    };
    let is_ring = best.scheme.starts_with("ring");
    reasons.push(
        Reason::new(
            "balance",
            format!(
                "Its heaviest node has {} times its fair share ({}).",
                times(measured.heaviest),
                if is_ring {
                    "for 99 % of lists of names, by law"
                } else {
                    "exact; chance in the keys comes on top"
                },
            ),
        )
        .with(measured.heaviest),
    );
    reasons.push(
        Reason::new(
            "movement",
            format!(
                "{} of the keys move when a node joins, {} have to; {} when {} goes, {} have to (predicted).",
                percent(measured.join_moved),
                percent(least_join(wish)),
                percent(leave_moved(wish, measured)),
                if wish.last_fails { "the last one" } else { "any one" },
                percent(least_leave(wish)),
            ),
        )
        .with(measured.join_moved),
    );
    let second = table
        .iter()
        .filter(|other| other.meets_all && other.scheme != best.scheme)
        .min_by(|a, b| price_of(a).total_cmp(&price_of(b)));
    if let Some(second) = second {
        reasons.push(
            Reason::new(
                "price",
                format!(
                    "Its price is {} and that of the next, {}, {}: what balance, needless moves, look-ups and memory take, added up.",
                    price_text(price_of(best)),
                    second.scheme,
                    price_text(price_of(second)),
                ),
            )
            .with(price_of(best)),
        );
    }
    reasons
}

/// Where no scheme places keys as a peer does: what leaving it costs.
fn migration(wish: &SchemeWish, peer: &Peer) -> Reason {
    let moved = 1.0 - least_leave(wish);
    Reason::new(
        "migration",
        format!(
            "Leaving {} for any scheme here moves {} of the keys once (predicted: a key stays by chance only).",
            peer.name(),
            percent(moved)
        ),
    )
    .with(moved)
}

/// Where nothing meets all needs: by which the best of each need fails.
fn misses(table: &[Candidate]) -> Vec<Reason> {
    let mut nearest: Vec<&Candidate> = table.iter().filter(|one| one.measured.is_some()).collect();
    let missed = |one: &&Candidate| one.needs.iter().filter(|need| !need.ok).count();
    nearest.sort_by(|a, b| {
        missed(a)
            .cmp(&missed(b))
            .then(price_of(a).total_cmp(&price_of(b)))
    });
    nearest
        .iter()
        .take(NEAREST)
        .flat_map(|one| {
            one.needs.iter().filter(|need| !need.ok).map(|need| {
                Reason::new(need.code, format!("{} fails: {}", one.scheme, need.text))
                    .maybe(need.number)
            })
        })
        .collect()
}

fn price_text(price: f64) -> String {
    let percent = price * 100.0;
    format!("{} %", decimal(percent, if percent < 1.0 { 3 } else { 1 }))
}

fn memory_text(memory: u64) -> String {
    bytes(memory as f64)
}

/// Schemes that are compared; modulo is there to be beaten.
const CANDIDATES: [&str; 10] = [
    "slots",
    "ring",
    "rendezvous",
    "jumpback",
    "jump",
    "maglev",
    "probed",
    "rank",
    "redis-cluster",
    "modulo",
];
/// Rings of a thousand tokens a node are left out above: they take more memory than advice should.
const MOST_THOUSANDS: u32 = 1000;
/// More nodes take minutes to compare, and no scheme but the numbered ones is at home there.
pub const MOST_NODES: u32 = 10_000;
/// Prices that differ by less than a hundredth of a percent say nothing.
const AS_GOOD_AS_EQUAL: f64 = 1e-4;
/// Candidates whose misses are told.
const NEAREST: usize = 3;
