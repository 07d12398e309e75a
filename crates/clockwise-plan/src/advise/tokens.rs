//! How many tokens a ring's nodes should have, from the number of nodes, the skew that is accepted, the memory that the
//! ring may take and what the tool allows.
//!
//! What it is: the fewest tokens for which the law of `SkewLaw` keeps the skew with the confidence asked for, then a
//! check on real rings. What it promises: no search over lists of names, so no lucky one. What it does not: unequal
//! weights, or unevenness of the keys themselves. Cost: milliseconds, and for the check some tens of nanoseconds a token
//! and ring. Source: the law; rings of the scheme `ring`.

use std::collections::BTreeSet;

use clockwise::{Member, Membership, Placement, Scheme};
use serde::Serialize;

use super::print::{bytes, times};
use super::skew_law::SkewLaw;
use super::{Advice, KIND, Reason};
use crate::document::{Block, Document};
use crate::number::{decimal, grouped, percent};
use crate::ring_spread::RingSpread;
use crate::theory::ring_share_sd;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokensWish {
    /// Nodes of equal weight, from 1 to [`MOST_NODES`].
    pub nodes: u32,
    /// The most that the heaviest node may have over its fair share, above 1.
    pub skew: f64,
    /// Share of all lists of names that have to keep it, 0.5 to below 1.
    pub confidence: f64,
    /// The most memory that the ring may take in a router.
    pub metadata_budget: Option<u64>,
    /// The most tokens that the tool takes for a node.
    pub max_tokens: Option<u32>,
}

/// The advice.
pub type TokensAdvice = Advice<TokensRow, TokensMore>;

/// What belongs to this question alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TokensMore {
    /// Nodes of equal weight.
    pub nodes: u32,
    /// The skew accepted.
    pub skew: f64,
    /// The confidence asked for.
    pub confidence: f64,
    /// The fewest tokens by law; `None` where no ring takes so many.
    pub needed: Option<u32>,
    /// The most tokens that budget and tool allow.
    pub allowed: u32,
    /// What was seen on real rings of the answer; `None` where they are too large.
    pub rings: Option<Rings>,
}

/// A number of tokens with what it brings and costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TokensRow {
    /// Tokens of a node.
    pub tokens: u32,
    /// Relative standard deviation of a node's share, by law.
    pub expected_sd: f64,
    /// The heaviest node over its fair share on average; simulated, `None` above 10,000 nodes.
    pub max_over_mean: Option<f64>,
    /// The least chance that the heaviest node keeps the skew, by law.
    pub kept_least: f64,
    /// The most that this chance can be, by law.
    pub kept_most: f64,
    /// What the heaviest node stays within with the confidence asked for, by law.
    pub skew_kept: f64,
    /// Tokens in all, and so ranges.
    pub ranges: u64,
    /// Memory of the ring in a router.
    pub memory_bytes: u64,
    /// Comparisons of a binary search over the tokens.
    pub search_steps: u32,
    /// Ranges that move when a node joins, one a token of it.
    pub ranges_moved: u32,
    /// Nodes that give ranges to one that joins, on average.
    pub donors: f64,
    /// Whether budget and tool allow it.
    pub allowed: bool,
}

/// Real rings that were built and measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rings {
    /// Rings built, each with names of its own.
    pub built: u32,
    /// Of these, rings whose heaviest node kept the skew.
    pub kept: u32,
    /// The heaviest node over its fair share on the worst of them.
    pub worst: f64,
}

/// Advises on a number of tokens. `go_on` is called before each ring that is built, with how many are done of how many;
/// when it answers no, the check ends with the rings built so far.
#[must_use]
pub fn tokens(wish: &TokensWish, mut go_on: impl FnMut(u32, u32) -> bool) -> TokensAdvice {
    let law = SkewLaw {
        nodes: u64::from(wish.nodes),
    };
    let needed = law.fewest_tokens(wish.skew, wish.confidence, MOST_TOKENS);
    let allowed = allowed(wish);
    let answer = needed.filter(|needed| *needed <= allowed);
    let checked = answer.unwrap_or(allowed);
    let rings = (checked > 0)
        .then(|| build_rings(wish, checked, &mut go_on))
        .flatten();
    let mut counts: BTreeSet<u32> = COUNTS.into_iter().collect();
    counts.extend(needed);
    counts.extend((allowed < MOST_TOKENS && allowed > 0).then_some(allowed));
    let bytes_each = bytes_each(wish.nodes);
    let row = |tokens| row(wish, law, tokens, (allowed, bytes_each));
    let table: Vec<TokensRow> = counts.into_iter().map(row).collect();
    let more = TokensMore {
        nodes: wish.nodes,
        skew: wish.skew,
        confidence: wish.confidence,
        needed,
        allowed,
        rings,
    };
    Advice {
        kind: KIND,
        question: "tokens",
        answer: answer.map_or("none".to_owned(), |tokens| tokens.to_string()),
        ok: answer.is_some(),
        verdict: verdict(wish, law, &more),
        reasons: reasons(wish, law, &more, &table),
        changes: changes(wish, law, &more),
        table,
        more,
    }
}

/// The most tokens a node that budget and tool allow; 0 where the budget does not hold one each.
fn allowed(wish: &TokensWish) -> u32 {
    let by_tool = wish.max_tokens.unwrap_or(MOST_TOKENS);
    let by_budget = wish.metadata_budget.map_or(f64::INFINITY, |budget| {
        budget as f64 / (bytes_each(wish.nodes) * f64::from(wish.nodes))
    });
    // Below MOST_TOKENS, so that it fits.
    by_tool.min(by_budget.min(f64::from(MOST_TOKENS)) as u32)
}

/// Bytes of a ring's memory for each token, as measured on a ring of so many nodes or, above [`MEASURED_NODES`], of that
/// many. Index and owners grow with the tokens, owners wider where there are more than 65,536 nodes.
fn bytes_each(nodes: u32) -> f64 {
    let measured = nodes.min(MEASURED_NODES);
    let tokens = (MEASURED_TOKENS / measured).max(1);
    match ring(measured, tokens, 0) {
        Some(ring) => {
            let each = ring.memory_bytes() as f64 / ring.token_count() as f64;
            each + if nodes > u32::from(u16::MAX) + 1 {
                2.0
            } else {
                0.0
            }
        }
        None => 24.0,
    }
}

fn row(
    wish: &TokensWish,
    law: SkewLaw,
    tokens: u32,
    (allowed, bytes_each): (u32, f64),
) -> TokensRow {
    let nodes = u64::from(wish.nodes);
    let ranges = nodes * u64::from(tokens);
    let (kept_least, kept_most) = law.kept(tokens, wish.skew);
    let spread = RingSpread::new(&vec![f64::from(tokens); wish.nodes as usize]);
    let one = wish.nodes as f64;
    TokensRow {
        tokens,
        expected_sd: ring_share_sd(nodes, u64::from(tokens)),
        max_over_mean: match nodes {
            1 => Some(1.0),
            _ => spread.map(|spread| spread.max_over_mean),
        },
        kept_least,
        kept_most,
        skew_kept: law.skew_of(tokens, wish.confidence),
        ranges,
        memory_bytes: (ranges as f64 * bytes_each) as u64,
        search_steps: u64::BITS - ranges.leading_zeros(),
        ranges_moved: tokens,
        donors: one * (1.0 - (1.0 - 1.0 / one).powf(f64::from(tokens))),
        allowed: tokens <= allowed,
    }
}

fn build_rings(
    wish: &TokensWish,
    tokens: u32,
    go_on: &mut impl FnMut(u32, u32) -> bool,
) -> Option<Rings> {
    let each = u64::from(wish.nodes) * u64::from(tokens);
    if wish.nodes < 2 || each > MOST_RING_TOKENS {
        return None;
    }
    // At most MOST_RINGS, so that it fits.
    let planned = (CHECKED_TOKENS / each).clamp(LEAST_RINGS, MOST_RINGS) as u32;
    let mut seen = Rings {
        built: 0,
        kept: 0,
        worst: 0.0,
    };
    for list in 1..=planned {
        if !go_on(list - 1, planned) {
            break;
        }
        let shares = ring(wish.nodes, tokens, list)?.space_shares()?;
        let largest = shares
            .iter()
            .map(|share| share.as_f64())
            .fold(0.0, f64::max);
        let heaviest = largest * f64::from(wish.nodes);
        seen.built += 1;
        seen.kept += u32::from(heaviest <= wish.skew);
        seen.worst = seen.worst.max(heaviest);
    }
    (seen.built > 0).then_some(seen)
}

/// A real ring with the names of this list.
fn ring(nodes: u32, tokens: u32, list: u32) -> Option<Placement> {
    let scheme: Scheme = format!("ring,tokens={tokens}").parse().ok()?;
    let members: Result<Vec<Member>, _> = (1..=nodes)
        .map(|node| format!("list-{list}-node-{node}").parse().map(Member::new))
        .collect();
    Placement::build(&scheme, &Membership::new(members.ok()?).ok()?).ok()
}

fn verdict(wish: &TokensWish, law: SkewLaw, more: &TokensMore) -> String {
    if wish.nodes == 1 {
        return "One node has all keys: 1 token is enough.".to_owned();
    }
    let nodes = grouped(u64::from(wish.nodes));
    let lists = percent(wish.confidence);
    match more.needed {
        Some(needed) if needed <= more.allowed => format!(
            "Give each of the {nodes} nodes {}: then the heaviest has at most {} times its fair share for {lists} of all lists of names (by law).",
            tokens_text(needed),
            times(wish.skew),
        ),
        _ if more.allowed == 0 => format!(
            "No ring of {nodes} nodes fits into {}.",
            bytes(wish.metadata_budget.unwrap_or(0) as f64)
        ),
        needed => format!(
            "No number of tokens does it: a skew of {} on {nodes} nodes takes {}, and {} are allowed; these keep {} (by law).",
            times(wish.skew),
            needed.map_or("more than a ring takes".to_owned(), tokens_text),
            grouped(u64::from(more.allowed)),
            times(law.skew_of(more.allowed, wish.confidence)),
        ),
    }
}

fn tokens_text(tokens: u32) -> String {
    match tokens {
        1 => "1 token".to_owned(),
        tokens => format!("{} tokens", grouped(u64::from(tokens))),
    }
}

fn reasons(wish: &TokensWish, law: SkewLaw, more: &TokensMore, table: &[TokensRow]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(needed) = more.needed.filter(|_| wish.nodes > 1) {
        let (least, most) = law.kept(needed, wish.skew);
        reasons.push(
            Reason::new(
                "law",
                format!(
                    "With {} the skew is kept for {} of all lists of names (exact bounds of the law), and no fewer tokens are sure to reach {}.",
                    tokens_text(needed),
                    bounds(least, most),
                    fine_percent(wish.confidence),
                ),
            )
            .with(least),
        );
    }
    if let Some(rings) = more.rings {
        let share = f64::from(rings.kept) / f64::from(rings.built);
        reasons.push(
            Reason::new(
                "verified",
                format!(
                    "Of {} real rings with other names each, {} keep it ({}, sampled); the worst is at {}.",
                    grouped(u64::from(rings.built)),
                    grouped(u64::from(rings.kept)),
                    percent(share),
                    times(rings.worst),
                ),
            )
            .with(share),
        );
    }
    reasons.push(usual(law, wish, more.needed));
    let checked = more.needed.filter(|needed| *needed <= more.allowed);
    if let Some(row) = table
        .iter()
        .find(|row| Some(row.tokens) == checked.or(Some(more.allowed)))
    {
        let memory = row.memory_bytes as f64;
        let of_budget = wish.metadata_budget.map_or(String::new(), |budget| {
            format!(
                ", {} of the {} allowed",
                percent(memory / budget as f64),
                bytes(budget as f64)
            )
        });
        reasons.push(
            Reason::new(
                "metadata",
                format!(
                    "{} in all are as many ranges and about {} in each router{of_budget} (predicted from a measured ring).",
                    match row.ranges { 1 => "1 token".to_owned(), ranges => format!("{} tokens", grouped(ranges)) },
                    bytes(memory),
                ),
            )
            .with(memory),
        );
        reasons.push(
            Reason::new(
                "join",
                format!(
                    "A node that joins takes {} from {} others on average (predicted): as many streams and repairs in a store that moves ranges.",
                    match row.ranges_moved { 1 => "1 range".to_owned(), ranges => format!("{} ranges", grouped(u64::from(ranges))) },
                    decimal(row.donors, 1),
                ),
            )
            .with(f64::from(row.ranges_moved)),
        );
    }
    if let Some(most) = wish.max_tokens {
        let fits = more.needed.is_some_and(|needed| needed <= most);
        reasons.push(
            Reason::new(
                "tool",
                format!(
                    "The tool takes {} at most, which is {}.",
                    tokens_text(most),
                    if fits { "enough" } else { "too few" }
                ),
            )
            .with(f64::from(most)),
        );
    }
    reasons
}

/// Where the answer lies beside the 100 to 200 tokens that people usually take.
fn usual(law: SkewLaw, wish: &TokensWish, needed: Option<u32>) -> Reason {
    let [low, high] = USUAL.map(|tokens| times(law.skew_of(tokens, wish.confidence)));
    let place = match needed {
        Some(needed) if needed < USUAL[0] => "fewer are enough here",
        Some(needed) if needed <= USUAL[1] => "the answer lies in it",
        _ => "this skew takes more",
    };
    Reason::new(
        "usual-range",
        format!(
            "The usual range is {} to {} tokens: it keeps {low} to {high} here with the same confidence (by law); {place}.",
            USUAL[0], USUAL[1]
        ),
    )
    .with(f64::from(USUAL[0]))
}

fn changes(wish: &TokensWish, law: SkewLaw, more: &TokensMore) -> Vec<Reason> {
    let mut changes = Vec::new();
    let fewest = |skew, confidence| law.fewest_tokens(skew, confidence, MOST_TOKENS);
    let looser = 1.0 + 2.0 * (wish.skew - 1.0);
    if let Some(tokens) = fewest(looser, wish.confidence) {
        changes.push(
            Reason::new(
                "skew",
                format!("A skew of {} takes {} (by law): half the deviation costs about four times the tokens.", times(looser), tokens_text(tokens)),
            )
            .with(f64::from(tokens)),
        );
    }
    let double = SkewLaw {
        nodes: law.nodes * 2,
    };
    if let Some(tokens) = double.fewest_tokens(wish.skew, wish.confidence, MOST_TOKENS) {
        changes.push(
            Reason::new(
                "nodes",
                format!(
                    "With {} nodes it takes {} (by law).",
                    grouped(double.nodes),
                    tokens_text(tokens)
                ),
            )
            .with(f64::from(tokens)),
        );
    }
    if more.needed.is_none_or(|needed| needed > USUAL[1]) {
        changes.push(Reason::new(
            "slots",
            "Slots, rendezvous and the numbered schemes keep every skew above one slot without tokens: see clockwise advise scheme.",
        ));
    }
    changes
}

/// Percent with two decimals, which tell 99 % from 99.1 %.
fn fine_percent(share: f64) -> String {
    format!("{} %", decimal(share * 100.0, 2))
}

/// Both bounds of a chance, or one where they print alike.
fn bounds(least: f64, most: f64) -> String {
    if most - least < 0.000_05 {
        return fine_percent(most);
    }
    format!("{} to {}", decimal(least * 100.0, 2), fine_percent(most))
}

/// The advice as a document.
#[must_use]
pub fn document(advice: &TokensAdvice) -> Document {
    let mut document = advice.document_of("How many tokens?");
    let header = [
        "tokens",
        "sd",
        "heaviest",
        "within skew",
        "keeps",
        "ranges",
        "memory",
        "search steps",
        "ranges moved",
        "from nodes",
        "allowed",
    ];
    let rows = advice.table.iter().map(|row| {
        vec![
            grouped(u64::from(row.tokens)),
            percent(row.expected_sd),
            row.max_over_mean.map_or("-".to_owned(), times),
            bounds(row.kept_least, row.kept_most),
            times(row.skew_kept),
            grouped(row.ranges),
            bytes(row.memory_bytes as f64),
            row.search_steps.to_string(),
            grouped(u64::from(row.ranges_moved)),
            decimal(row.donors, 1),
            if row.allowed { "yes" } else { "no" }.to_owned(),
        ]
    });
    document.push(
        "Numbers of tokens",
        vec![
            Block::table(header, rows),
            Block::note("sd, within skew and keeps by law; heaviest is the mean over simulated lists of names; memory predicted from a measured ring; ranges moved are those of one node that joins."),
        ],
    );
    document
}

/// What people try, and the two that the founding articles price.
const COUNTS: [u32; 10] = [16, 32, 64, 100, 128, 160, 200, 256, 512, 1000];
/// What people usually take.
const USUAL: [u32; 2] = [100, 200];
/// The most that a ring takes, 2^24.
pub const MOST_TOKENS: u32 = 1 << 24;
/// More nodes than any ring that we know of.
pub const MOST_NODES: u32 = 1_000_000;
/// Enough tokens for the fixed part of a ring's memory not to show.
const MEASURED_TOKENS: u32 = 1 << 16;
/// A ring of more nodes takes as much for each token, but for the width of an owner.
const MEASURED_NODES: u32 = 1 << 12;
/// Tokens of all rings that are checked: a second or so of work.
const CHECKED_TOKENS: u64 = 1 << 23;
/// A larger ring takes more memory than advice should.
const MOST_RING_TOKENS: u64 = 1 << 22;
/// Fewer say little about one in a hundred, but a large ring is no worse than the law.
const LEAST_RINGS: u64 = 10;
/// Enough to see one in a hundred ten times.
const MOST_RINGS: u64 = 1000;
