//! Warnings: what a reader of the plan should know before trusting or doing it. Codes are a documented list.

use clockwise::{Algorithm, Placement};
use serde::Serialize;

use super::tokens::{TokenAdvice, token_advice};
use super::{Basis, Plan, Sides};
use crate::census::Change;
use crate::number::{decimal, grouped, percent};

/// A warning with a code that programs can match.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Warning {
    /// Short name, fixed for ever.
    pub code: &'static str,
    /// One or two sentences for people.
    pub text: String,
}

impl Warning {
    /// A warning.
    #[must_use]
    pub fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
        }
    }
}

/// Adds what the figures themselves give reason to warn about.
pub(super) fn warn(plan: &mut Plan, change: &Change, of_memcached: bool) {
    let mut warnings = Vec::new();
    let mut add = |code, text: String| warnings.push(Warning::new(code, text));
    let nodes = change
        .to
        .members()
        .iter()
        .filter(|member| member.weight().milli() > 0)
        .count() as u64;

    if change.reordered && change.to.scheme().is_numbered() && !change.follows {
        add(
            "reordered-list",
            format!(
                "the same nodes in another order: {} numbers nodes by their place in the list, so the order alone moves {} of the keys",
                change.to.scheme().name(),
                percent(plan.moved.share)
            ),
        );
    }
    if !change.to.scheme().hash().mixes_well()
        && change.to.scheme().algorithm() != Algorithm::RedisCluster
    {
        add(
            "weak-hash",
            format!(
                "{} mixes poorly: keys that differ in their last characters get neighbouring tokens",
                change.to.scheme().hash()
            ),
        );
    }
    if let Some(clumping) = token_clumping(&change.to)
        && clumping > TOKENS_CLUMP
    {
        add(
            "clumped-tokens",
            format!(
                "the nodes' tokens lie in clumps ({} standard deviations from even): the hash of these names mixes poorly, so shares are uneven whatever the number of tokens",
                decimal(clumping, 0)
            ),
        );
    }
    if plan.basis != Basis::Predicted && plan.effective_keys < plan.keys - plan.keys / 10 {
        let cause = if plan.distinct_keys < plan.keys {
            "keys repeat (--merge makes one key of equal ones, with a request for each row)"
        } else if plan.tags.is_some() {
            "many keys share what the key rule cuts out"
        } else {
            "the hash gives similar keys neighbouring tokens"
        };
        add(
            "clumped-keys",
            format!(
                "the tokens lie in clumps, {cause}: the {} keys say no more than about {} independent ones would",
                grouped(plan.keys),
                grouped(plan.effective_keys)
            ),
        );
    }
    if let Some(origin) = plan.origin
        && let Some(capacity) = origin.capacity
        && origin.queries_after > capacity
    {
        add(
            "over-capacity",
            format!(
                "{} queries per second are {} times the {} that the database can serve",
                decimal(origin.queries_after, 1),
                decimal(origin.queries_after / capacity, 2),
                decimal(capacity, 0)
            ),
        );
    }
    if let Some(cascades) = &plan.cascades {
        for node in &cascades.over {
            add(
                "over-node-rate",
                format!(
                    "{} gets {} reads per second of the {} that it can serve, without any failure",
                    node.id,
                    decimal(node.reads_per_s, 1),
                    decimal(node.can_serve_per_s, 1)
                ),
            );
        }
        let spreading = cascades
            .failures
            .iter()
            .filter(|cascade| !cascade.waves.is_empty());
        let collapses = cascades
            .failures
            .iter()
            .filter(|cascade| cascade.collapses)
            .count();
        if spreading.clone().next().is_some() {
            add(
                "cascade",
                format!(
                    "the failure of {} of {} nodes sets off others, since these then get more than they can serve; {collapses} of these end with half of the weight down",
                    spreading.count(),
                    cascades.failures.len()
                ),
            );
        }
    }
    if let Some(copies) = plan
        .replicas
        .as_ref()
        .filter(|copies| copies.short_keys.after > 0)
    {
        add(
            "short-replicas",
            format!(
                "{} keys have fewer copies than the {} asked for: there are too few nodes or failure domains",
                grouped(copies.short_keys.after),
                copies.replicas.after
            ),
        );
    }
    let sampling_error = plan.balance.after.sampling_sd_over_mean;
    if plan.basis != Basis::Predicted && plan.keys > 0 && nodes > 1 && sampling_error > SMALL_SAMPLE
    {
        // Keys in clumps are worth less, so more of them are needed.
        let worth = plan.effective_keys.max(1) as f64 / plan.keys as f64;
        let needed = (nodes - 1) as f64 / (SMALL_SAMPLE * SMALL_SAMPLE) / worth;
        let needed = needed.ceil() as u64;
        add(
            "small-sample",
            format!(
                "if these {} keys stand for more, each node's share has an error of {}; {} such keys bring it to {}",
                grouped(plan.keys),
                percent(sampling_error),
                grouped(needed),
                percent(SMALL_SAMPLE)
            ),
        );
    }
    if let (Algorithm::Maglev, Some(size)) = (
        change.to.scheme().algorithm(),
        change.to.scheme().slot_count(),
    ) && u64::from(size) < 100 * nodes
    {
        add(
            "small-table",
            format!(
                "{} entries are fewer than 100 for each of {nodes} nodes: shares are coarse and a change moves many other keys",
                grouped(u64::from(size))
            ),
        );
    }
    if !plan.distinct_keys_exact {
        add(
            "distinct-estimated",
            format!(
                "too many different keys to count each: {} is an estimate within 0.9 %",
                grouped(plan.distinct_keys)
            ),
        );
    }
    if let Some(noise) = token_noise(change) {
        add(
            "tokens-within-noise",
            format!(
                "the shares of the space deviate by {} with {} tokens and by {} with {}, which is within the chance of one list of names: judge the numbers by the law, which expects {} and {}",
                percent(noise.before.measured_sd),
                grouped(u64::from(noise.before.tokens)),
                percent(noise.after.measured_sd),
                grouped(u64::from(noise.after.tokens)),
                percent(noise.before.expected_sd),
                percent(noise.after.expected_sd)
            ),
        );
    }
    for node in &plan.nodes {
        let holding = node.sides.after;
        if let Some(space) = holding.space_share
            && holding.wanted_share > 0.0
            && (space / holding.wanted_share - 1.0).abs() > WEIGHTS_OFF
        {
            add(
                "weights-off",
                format!(
                    "{} gets {} of the space, its weight asks for {}",
                    node.id,
                    percent(space),
                    percent(holding.wanted_share)
                ),
            );
        }
    }
    let after = plan.balance.after;
    if nodes > 1 && plan.keys > 0 && after.max_over_mean > 1.1 + 3.0 * after.sampling_sd_over_mean {
        let advice = match change.to.scheme().tokens() {
            Some(tokens) => format!(
                "more tokens than {tokens}, other node names or the scheme slots would even it out"
            ),
            None if plan.effective_keys < plan.keys => {
                "the keys clump under this hash: try xxh3-64".to_owned()
            }
            None => "few keys or many equal hash tags: look at the keys themselves".to_owned(),
        };
        add(
            "uneven-balance",
            format!(
                "the heaviest node gets {} times its fair share of keys: {advice}",
                decimal(after.max_over_mean, 3)
            ),
        );
    }
    if let Some(hottest) = &plan.hottest
        && hottest.share_of_fair > 0.5
    {
        add(
            "hot-key",
            format!(
                "{} alone has {} of all requests, {} times a node's fair share: no placement and no number of tokens splits one key",
                hottest.key,
                percent(hottest.share),
                decimal(hottest.share_of_fair, 2)
            ),
        );
    }
    if let Some(tags) = plan.tags.as_ref().filter(|_| of_memcached) {
        add(
            "memcached-keys",
            format!(
                "{} keys are placed by a part of them, as {} says; memcached's clients take keys whole: --key-rule whole",
                grouped(tags.keys),
                plan.key_rule.to
            ),
        );
    }
    let heaviest_tag = plan.tags.as_ref().and_then(|tags| tags.heaviest.first());
    for (code, what, tied) in [
        ("hot-tag", "tag", heaviest_tag),
        ("hot-slot", "slot", plan.heaviest_slots.first()),
    ] {
        // Where few keys fill many slots, every slot is a large part of a node's few.
        if let Some(tied) = tied.filter(|tied| tied.keys > 1 && tied.share_of_fair > 0.5) {
            add(
                code,
                format!(
                    "{what} {} alone has {} of all {}, {} times a node's fair share: no placement splits a {what}",
                    tied.name,
                    percent(tied.share),
                    if tied.requests.is_some() {
                        "requests"
                    } else {
                        "keys"
                    },
                    decimal(tied.share_of_fair, 2)
                ),
            );
        }
    }
    plan.warnings.append(&mut warnings);
}

/// Both rings, where only the number of tokens differs between their schemes and the measured deviations differ by
/// less than two standard deviations of chance.
fn token_noise(change: &Change) -> Option<Sides<TokenAdvice>> {
    let (from, to) = (change.from.scheme(), change.to.scheme());
    if from == to || from.with_tokens(to.tokens()?).ok().as_ref() != Some(to) {
        return None;
    }
    let (before, after) = (token_advice(&change.from)?, token_advice(&change.to)?);
    let chance = before.sd_of_sd.hypot(after.sd_of_sd);
    let seen = (before.measured_sd - after.measured_sd).abs();
    (seen < 2.0 * chance).then_some(Sides { before, after })
}

/// How far the tokens of a ring are from lying evenly, in standard deviations of chi-square over equal cells of about
/// four tokens; `None` for other schemes and for rings too small to tell.
pub(super) fn token_clumping(placement: &Placement) -> Option<f64> {
    let tokens = placement.token_count();
    if tokens < 64 {
        return None;
    }
    let bits = (tokens / 4).ilog2();
    let shift = placement.scheme().token_bits() - bits;
    let mut cells = vec![0_u32; 1 << bits];
    for (token, _) in placement.tokens() {
        cells[(token.0 >> shift) as usize] += 1;
    }
    let mean = tokens as f64 / cells.len() as f64;
    let chi_square: f64 = cells
        .iter()
        .map(|&count| (f64::from(count) - mean).powi(2) / mean)
        .sum();
    let freedom = (cells.len() - 1) as f64;
    Some((chi_square - freedom) / (2.0 * freedom).sqrt())
}

/// Tokens of a hash that mixes are beyond this once in millions of rings.
pub(super) const TOKENS_CLUMP: f64 = 6.0;
/// A sample is small when a node's share has a larger relative error than this.
const SMALL_SAMPLE: f64 = 0.01;
/// How far a node's exact share may lie from what its weight asks for: a ring of 160 tokens strays by about 8 %, so a
/// quarter is three times that.
const WEIGHTS_OFF: f64 = 0.25;
