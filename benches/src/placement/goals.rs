//! Goals, and what a run says of them.

use super::own::{Clockwise, RING};
use super::{Count, Measured};
use crate::table::Goal;

/// Every goal, in the order of importance; those that this run cannot tell are listed without a figure.
pub(super) fn all(measured: &Measured, counts: &[Count]) -> Vec<Goal> {
    let to_hash = |case: &str, nodes| {
        let hash = measured.times(case, "hash", nodes)?;
        Some(measured.times(case, "clockwise", nodes)?.ratio_to(hash))
    };
    let over = |case: &str, own: &str, (peer_case, peer): (&str, &str), nodes| {
        let peer = measured.times(peer_case, peer, nodes)?;
        Some(peer.ratio_to(measured.times(case, own, nodes)?))
    };
    let over_pingora =
        |case, nodes| over(case, "clockwise", ("ring/lookup", "pingora-ketama"), nodes);
    // Times as fast as the fastest crate.
    let over_jumps = |nodes| {
        ["jumphash", "jumpch", "hash-rings"]
            .into_iter()
            .filter_map(|peer| {
                over(
                    "jump/lookup",
                    "clockwise-jumpback",
                    ("jump/lookup", peer),
                    nodes,
                )
            })
            .reduce(f64::min)
    };
    let of_build = |case: &str| {
        let build = measured.times("ring/build", "clockwise", 1000)?;
        Some(measured.times(case, "clockwise", 1000)?.ratio_to(build))
    };
    let build_to_pingora = || {
        let peer = measured.times("ring/build", "pingora-ketama", 1000)?;
        Some(
            measured
                .times("ring/build", "clockwise", 1000)?
                .ratio_to(peer),
        )
    };
    // The tables alone. What a build leaves allocated holds the members' names too.
    let bytes = || {
        let ring = Clockwise::<RING>::placement(1000).ok()?;
        Some(ring.memory_bytes() as f64 / ring.token_count() as f64)
    };
    let instructions = || {
        let own = ("ring/lookup", "clockwise", 100);
        let count = counts
            .iter()
            .find(|it| (it.case, it.candidate, it.nodes) == own)?;
        more_than_hash(counts, count)
    };
    vec![
        at_most(
            "ring look-up, 5 nodes, times the hash",
            2.0,
            to_hash("ring/lookup", 5),
        ),
        at_most(
            "ring look-up, 100 nodes, times the hash",
            2.2,
            to_hash("ring/lookup", 100),
        ),
        at_most(
            "ring look-up, 1,000 nodes, times the hash",
            7.0,
            to_hash("ring/lookup", 1000),
        ),
        at_most(
            "ring batch, 1,000 nodes, times the hash",
            3.0,
            to_hash("ring/batch", 1000),
        ),
        at_most(
            "ring look-up, 10,000 nodes, times the hash",
            14.0,
            to_hash("ring/lookup", 10_000),
        ),
        at_most(
            "ring batch, 10,000 nodes, times the hash",
            6.0,
            to_hash("ring/batch", 10_000),
        ),
        at_least(
            "ring look-up, 5 nodes, times as fast as pingora-ketama",
            4.0,
            over_pingora("ring/lookup", 5),
        ),
        at_least(
            "ring look-up, 100 nodes, times as fast as pingora-ketama",
            5.0,
            over_pingora("ring/lookup", 100),
        ),
        at_least(
            "ring look-up, 1,000 nodes, times as fast as pingora-ketama",
            4.0,
            over_pingora("ring/lookup", 1000),
        ),
        at_least(
            "ring look-up, 10,000 nodes, times as fast as pingora-ketama",
            10.0,
            over_pingora("ring/lookup", 10_000),
        ),
        at_least(
            "ring batch, 1,000 nodes, times as fast as pingora-ketama",
            8.0,
            over_pingora("ring/batch", 1000),
        ),
        at_least(
            "ring batch, 10,000 nodes, times as fast as pingora-ketama",
            20.0,
            over_pingora("ring/batch", 10_000),
        ),
        at_most(
            "ring look-up, 100 nodes, instructions more than the hash",
            35.0,
            instructions(),
        ),
        at_most(
            "ring, 1,000 nodes, bytes a token in its tables",
            28.0,
            bytes(),
        ),
        at_most(
            "ring, 1,000 nodes, adding one, times a build",
            0.2,
            of_build("ring/add-node"),
        ),
        at_most(
            "ring, 1,000 nodes, removing one, times a build",
            0.2,
            of_build("ring/remove-node"),
        ),
        at_most(
            "ring build, 1,000 nodes, times pingora-ketama's",
            0.8,
            build_to_pingora(),
        ),
        at_least(
            "jumpback, 100 buckets, times as fast as the fastest jump crate",
            3.0,
            over_jumps(100),
        ),
        at_least(
            "jumpback, 1,000 buckets, times as fast as the fastest jump crate",
            3.0,
            over_jumps(1000),
        ),
        at_least(
            "jumpback, 10,000 buckets, times as fast as the fastest jump crate",
            3.0,
            over_jumps(10_000),
        ),
        at_least(
            "weighted rendezvous, 100 nodes, times as fast as hash-rings",
            5.0,
            over(
                "rendezvous-weighted/lookup",
                "clockwise",
                ("rendezvous-weighted/lookup", "hash-rings"),
                100,
            ),
        ),
        at_least(
            "planner, 100 to 101 nodes, times as fast as naive code: see `planner`",
            4.5,
            None,
        ),
        at_most(
            "reading a router's snapshot, times a plain reference: no router yet",
            1.1,
            None,
        ),
    ]
}

/// Instructions of one look-up less those of the hash.
pub(super) fn more_than_hash(counts: &[Count], count: &Count) -> Option<f64> {
    let hash = counts
        .iter()
        .find(|hash| hash.candidate == "hash" && hash.nodes == count.nodes)?;
    Some(count.each - hash.each)
}

fn at_most(what: &'static str, most: f64, measured: Option<f64>) -> Goal {
    let measured = measured.map(as_printed);
    Goal {
        what,
        goal: format!("<= {most}"),
        measured,
        reached: measured.map(|measured| measured <= most),
    }
}

fn at_least(what: &'static str, least: f64, measured: Option<f64>) -> Goal {
    let measured = measured.map(as_printed);
    Goal {
        what,
        goal: format!(">= {least}"),
        measured,
        reached: measured.map(|measured| measured >= least),
    }
}

/// Two decimals, so that a figure and its verdict agree.
fn as_printed(measured: f64) -> f64 {
    (measured * 100.0).round() / 100.0
}
