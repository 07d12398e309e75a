//! Needs: which a candidate meets, by which number, and what would change the answer.

use std::str::FromStr;

use clockwise::{Algorithm, Scheme};
use serde::Serialize;

use super::{
    AS_GOOD_AS_EQUAL, Candidate, Found, Measured, SchemeWish, best, cores, judged, least_leave,
    leave_moved, measured, memory_text, ranked,
};
use crate::advise::Reason;
use crate::advise::print::times;
use crate::number::{decimal, grouped, percent};

/// A need with whether it is met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// A stable name for programs.
    pub code: &'static str,
    /// Whether it is met.
    pub ok: bool,
    /// By what it is met or missed.
    pub text: String,
    /// The number that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
}

impl Need {
    pub(super) fn new(code: &'static str, ok: bool, text: impl Into<String>) -> Self {
        Self {
            code,
            ok,
            text: text.into(),
            number: None,
        }
    }

    fn with(self, number: f64) -> Self {
        Self {
            number: Some(number),
            ..self
        }
    }
}

/// Something else that places keys.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Peer {
    name: String,
    scheme: Option<&'static str>,
}

/// A name that is neither a scheme nor a peer that we know of.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown peer {name}: must be a scheme, or one of {}", Peer::names().join(", "))]
pub struct UnknownPeer {
    /// The name as given.
    pub name: String,
}

impl Peer {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The scheme that places keys as it does; `None` where there is none.
    #[must_use]
    pub fn scheme(&self) -> Option<&'static str> {
        self.scheme
    }

    /// Names of peers that are no schemes themselves.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        PEERS.iter().map(|(name, _)| *name).collect()
    }
}

impl FromStr for Peer {
    type Err = UnknownPeer;

    fn from_str(name: &str) -> Result<Self, UnknownPeer> {
        let scheme = |name: &str| Scheme::names().find(|known| *known == name);
        let listed = PEERS.iter().find(|(known, _)| *known == name);
        let found = match listed {
            Some((_, places_like)) => scheme(places_like),
            None => Some(scheme(name).ok_or_else(|| UnknownPeer {
                name: name.to_owned(),
            })?),
        };
        Ok(Self {
            name: name.to_owned(),
            scheme: found,
        })
    }
}

/// All needs, most telling first.
pub(super) fn needs(wish: &SchemeWish, scheme: &Scheme, measured: &Measured) -> Vec<Need> {
    let mut needs = Vec::new();
    if let Some(peer) = &wish.compatible_with {
        let ok = peer.scheme() == Some(scheme.name());
        let text = match ok {
            true => format!("It places keys as {} does.", peer.name()),
            false => format!("It does not place keys as {} does.", peer.name()),
        };
        needs.push(Need::new("compatibility", ok, text));
    }
    let reordered = measured.reorder_moved;
    // The table of a running cluster is published, and follows from no list.
    let has_table = scheme.algorithm() == Algorithm::RedisCluster && wish.compatible_with.is_some();
    if !wish.appended {
        let (ok, text) = match (reordered > 0.0, has_table) {
            (_, true) => (
                true,
                "A running cluster keeps its table, whatever the order of the list.".to_owned(),
            ),
            (false, _) => (
                true,
                "The order in which nodes are listed does not matter.".to_owned(),
            ),
            (true, _) => (
                false,
                format!(
                    "Nodes are numbered: the same nodes in another order move {} of the keys.",
                    percent(reordered)
                ),
            ),
        };
        needs.push(Need::new("order", ok, text).with(if has_table { 0.0 } else { reordered }));
    }
    // What a law rounds is nothing.
    let beyond = leave_moved(wish, measured) - least_leave(wish);
    let needless = if beyond > 1e-9 { beyond } else { 0.0 };
    let which = if wish.last_fails {
        "The last node goes"
    } else {
        "Any node may go"
    };
    needs.push(
        Need::new(
            "failures",
            needless <= MOST_NEEDLESS,
            format!(
                "{which}: {} of the keys move beyond the {} that have to.",
                percent(needless),
                percent(least_leave(wish))
            ),
        )
        .with(needless),
    );
    if wish.replicas > 1 || wish.ranking {
        needs.push(replicas(wish, scheme, measured));
    }
    if wish.weights {
        needs.push(match measured.weighted_heaviest {
            Some(over) => Need::new("weights", over <= MOST_WEIGHT_ERROR, format!("With weights from 0.5 to 2 a node has at most {} times what its weight asks for (exact).", times(over))).with(over),
            None => Need::new("weights", false, "It refuses weights such as 0.5 beside 2."),
        });
    }
    let memory = measured.memory_bytes;
    needs.push(
        Need::new(
            "metadata",
            memory <= wish.metadata_budget,
            format!(
                "It takes {} in each router, {} of the {} allowed (exact).",
                memory_text(memory),
                percent(memory as f64 / wish.metadata_budget as f64),
                memory_text(wish.metadata_budget)
            ),
        )
        .with(memory as f64),
    );
    let busy = cores(wish, measured);
    needs.push(
        Need::new(
            "lookups",
            busy <= 1.0,
            format!(
                "{} look-ups a second take {} of a core (predicted).",
                decimal(wish.lookups, 0),
                percent(busy)
            ),
        )
        .with(busy),
    );
    needs
}

fn replicas(wish: &SchemeWish, scheme: &Scheme, measured: &Measured) -> Need {
    let count = ranked(wish);
    if wish.replicas > wish.nodes {
        return Need::new(
            "replicas",
            false,
            format!(
                "{} copies need as many nodes, and there are {}.",
                wish.replicas, wish.nodes
            ),
        );
    }
    if !scheme.has_ranking() {
        return Need::new("replicas", false, "It names no node behind the owner.");
    }
    match measured.copies_over_least {
        Some(over) => Need::new(
            "replicas",
            over <= MOST_COPIES,
            format!("It ranks {count} nodes for each key; one that joins causes {} times the fewest copies (sampled).", decimal(over, 2)),
        )
        .with(over),
        None => Need::new("replicas", true, format!("It ranks {count} nodes for each key.")),
    }
}

/// What would change the answer: each need more or less, more look-ups, ten or a hundred times the nodes.
pub(super) fn changes(
    wish: &SchemeWish,
    found: &[Found],
    now: Option<&Candidate>,
    go_on: &mut impl FnMut() -> bool,
) -> Vec<Reason> {
    let answer = now.map(|best| best.scheme.clone());
    let mut changes = Vec::new();
    let mut note = |code, what: &str, other: &SchemeWish, found: &[Found], number: Option<f64>| {
        let table = judged(other, found);
        let next = best(&table).map(|best| best.scheme.clone());
        if next != answer {
            let next = next.unwrap_or_else(|| "none".to_owned());
            changes.push(Reason::new(code, format!("{what}: {next}.")).maybe(number));
            return true;
        }
        false
    };
    for (code, what, other) in variants(wish) {
        note(code, what, &other, found, None);
    }
    if let Some(rate) = now.and_then(|now| crossing(wish, found, now)) {
        let other = SchemeWish {
            lookups: rate * 1.001,
            ..wish.clone()
        };
        let what = format!(
            "Above {} look-ups a second in a router (predicted)",
            grouped(rate.round() as u64)
        );
        note("lookups", &what, &other, found, Some(rate));
    }
    for times in [10, 100] {
        let many = wish.nodes.saturating_mul(times);
        if many > MOST_FORESEEN {
            break;
        }
        let other = SchemeWish {
            nodes: many,
            ..wish.clone()
        };
        let found = measured(&other, many, go_on);
        let what = format!("With {} nodes", grouped(u64::from(many)));
        if note("nodes", &what, &other, &found, Some(f64::from(many))) {
            break;
        }
    }
    changes
}

/// The same wish with one need more or less.
fn variants(wish: &SchemeWish) -> Vec<(&'static str, &'static str, SchemeWish)> {
    let with = |change: &dyn Fn(&mut SchemeWish)| {
        let mut other = wish.clone();
        change(&mut other);
        other
    };
    let mut all = Vec::new();
    if wish.compatible_with.is_some() {
        all.push((
            "compatibility",
            "Without compatibility",
            with(&|w| w.compatible_with = None),
        ));
        return all;
    }
    all.push(if wish.appended {
        (
            "order",
            "If the list of nodes can be reordered",
            with(&|w| w.appended = false),
        )
    } else {
        (
            "order",
            "If nodes are numbered and only ever appended",
            with(&|w| w.appended = true),
        )
    });
    all.push(if wish.last_fails {
        (
            "failures",
            "If any node may go",
            with(&|w| w.last_fails = false),
        )
    } else {
        (
            "failures",
            "If only the last node ever goes, and nodes are only appended",
            with(&|w| {
                w.last_fails = true;
                w.appended = true;
            }),
        )
    });
    if wish.weights {
        all.push(("weights", "Without weights", with(&|w| w.weights = false)));
    } else {
        all.push((
            "weights",
            "With weights that differ",
            with(&|w| w.weights = true),
        ));
    }
    if wish.replicas > 1 || wish.ranking {
        all.push((
            "replicas",
            "Without replicas",
            with(&|w| {
                w.replicas = 1;
                w.ranking = false;
            }),
        ));
    } else {
        all.push((
            "replicas",
            "With a second node named for each key",
            with(&|w| w.ranking = true),
        ));
    }
    all
}

/// The rate of look-ups above which another candidate is cheaper, or the answer takes more than a core: prices are
/// straight lines in it.
fn crossing(wish: &SchemeWish, found: &[Found], now: &Candidate) -> Option<f64> {
    let table = judged(wish, found);
    let line = |one: &Candidate| {
        let slope = one.cores? / wish.lookups;
        Some((one.price? - one.cores?, slope))
    };
    let (base, slope) = line(now)?;
    let met = |one: &&Candidate| {
        one.needs
            .iter()
            .all(|need| need.ok || need.code == "lookups")
    };
    let mut rates: Vec<f64> = table
        .iter()
        .filter(|one| met(one) && one.scheme != now.scheme)
        .filter_map(|one| {
            let (other_base, other_slope) = line(one)?;
            // Before it is cheaper by so little, the answer stays.
            let rate = (other_base + AS_GOOD_AS_EQUAL - base) / (slope - other_slope);
            (slope > other_slope && rate > wish.lookups).then_some(rate)
        })
        .collect();
    rates.push(1.0 / slope);
    rates
        .into_iter()
        .filter(|rate| rate.is_finite() && *rate > wish.lookups)
        .min_by(f64::total_cmp)
}

/// What people have, and the scheme that places keys like it, if that exists.
const PEERS: [(&str, &str); 9] = [
    ("redis", "redis-cluster"),
    ("valkey", "redis-cluster"),
    ("ketama", "ketama"),
    ("libmemcached", "ketama"),
    ("twemproxy", "ketama"),
    ("nginx", "nginx"),
    ("haproxy", "haproxy"),
    ("envoy", "envoy-ring"),
    ("pingora", "pingora"),
];
/// Share of all keys that may move beyond what has to when a node goes: a hit rate falls by no more.
const MOST_NEEDLESS: f64 = 0.05;
/// What a node may have above what its weight asks for.
const MOST_WEIGHT_ERROR: f64 = 1.5;
/// Copies over the fewest possible.
const MOST_COPIES: f64 = 1.5;
/// Comparing more nodes than asked for should not take longer than what was asked.
const MOST_FORESEEN: u32 = 1000;
