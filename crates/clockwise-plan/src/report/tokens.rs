//! How many tokens a ring's nodes should have: what each number buys, and how far one list of names can stray.
//!
//! Promises the law's standard deviation for each candidate, and from simulated lists of names how much that deviation
//! itself varies and how heavy the heaviest node gets. Does not look at keys. Cost: some milliseconds a candidate.

use std::collections::BTreeSet;

use clockwise::Placement;
use serde::Serialize;

use super::formulas::is_ring;
use crate::ring_spread::RingSpread;

/// Advice on the number of tokens of the new ring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TokenAdvice {
    /// Tokens of a node of weight 1.
    pub tokens: u32,
    /// Nodes with tokens.
    pub nodes: u64,
    /// Tokens in all, and so ranges.
    pub ranges: u64,
    /// Relative standard deviation of the nodes' exact shares of the space, against what their weights ask for.
    pub measured_sd: f64,
    /// The same by the law, over all lists of names.
    pub expected_sd: f64,
    /// How much it varies from one list of names to another; simulated.
    pub sd_of_sd: f64,
    /// Lists of names that were simulated, from a fixed seed.
    pub draws: u64,
    /// Numbers of tokens to choose from, ascending; the present one is among them.
    pub candidates: Vec<TokenCandidate>,
    /// Whether all nodes have the same weight.
    #[serde(skip)]
    pub(super) is_even: bool,
}

/// What a number of tokens brings and costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TokenCandidate {
    /// Tokens of a node of weight 1.
    pub tokens: u32,
    /// Relative standard deviation of a node's share by the law.
    pub expected_sd: f64,
    /// How much it varies from one list of names to another; simulated.
    pub sd_of_sd: f64,
    /// The heaviest node over its fair share of the space on average; simulated.
    pub max_over_mean: f64,
    /// What the heaviest node stays below for 99 of 100 lists of names; simulated.
    pub worst_max_over_mean: f64,
    /// Tokens in all, and so ranges.
    pub ranges: u64,
    /// Memory of the ring, in proportion to the present one.
    pub memory_bytes: u64,
}

/// The advice for a ring of two nodes or more; `None` for other placements.
pub(super) fn token_advice(placement: &Placement) -> Option<TokenAdvice> {
    let tokens = placement.scheme().tokens().filter(|_| is_ring(placement))?;
    let weights = weights(placement);
    let held: Vec<f64> = weights.iter().map(|weight| held(*weight, tokens)).collect();
    let spread = RingSpread::new(&held)?;
    let ranges = placement.token_count() as u64;
    let bytes_each = placement.memory_bytes() as f64 / ranges as f64;
    let candidate = |tokens| candidate(&weights, tokens, bytes_each);
    Some(TokenAdvice {
        tokens,
        nodes: weights.len() as u64,
        ranges,
        measured_sd: space_sd(placement)?,
        expected_sd: law_sd(&held),
        sd_of_sd: spread.sd_of_sd,
        draws: spread.draws as u64,
        candidates: counts(tokens).filter_map(candidate).collect(),
        is_even: weights.iter().all(|weight| *weight == weights[0]),
    })
}

/// The fewest tokens, as a round number, with which the heaviest node stays at or below a multiple of its fair
/// share of the space for this share of all lists of names.
pub(super) fn tokens_for(weights: &[f64], most: f64, share: f64) -> Option<u32> {
    for tokens in round_counts() {
        let held: Vec<f64> = weights.iter().map(|weight| held(*weight, tokens)).collect();
        if held.iter().sum::<f64>() > MOST_TOKENS {
            return None;
        }
        if RingSpread::new(&held)?.max_of(share) <= most {
            return Some(tokens);
        }
    }
    None
}

/// Relative standard deviation of the exact shares of the space against those that the weights ask for; `None` where
/// there are no such shares.
pub(super) fn space_sd(placement: &Placement) -> Option<f64> {
    let all: f64 = weights(placement).iter().sum();
    let shares = placement.space_shares()?;
    let ratios: Vec<f64> = placement
        .members()
        .iter()
        .zip(shares)
        .filter(|(member, _)| member.weight().milli() > 0)
        .map(|(member, share)| share.as_f64() * all / (f64::from(member.weight().milli()) / 1000.0))
        .collect();
    let squares: f64 = ratios.iter().map(|ratio| (ratio - 1.0).powi(2)).sum();
    (!ratios.is_empty()).then(|| (squares / ratios.len() as f64).sqrt())
}

/// Relative standard deviation of a node's share: a share of v of V tokens is Beta(v, V - v), whose relative variance
/// is (V - v) / (v (V + 1)). For unequal nodes the mean square.
pub(super) fn law_sd(held: &[f64]) -> f64 {
    let all: f64 = held.iter().sum();
    let squares: f64 = held
        .iter()
        .map(|tokens| (all - tokens) / (tokens * (all + 1.0)))
        .sum();
    if held.is_empty() {
        0.0
    } else {
        (squares / held.len() as f64).sqrt()
    }
}

/// Of the nodes that have weight, in members.
pub(super) fn weights(placement: &Placement) -> Vec<f64> {
    let milli = placement.members().iter().map(|m| m.weight().milli());
    milli
        .filter(|&milli| milli > 0)
        .map(|milli| f64::from(milli) / 1000.0)
        .collect()
}

/// Tokens that a node of this weight holds.
fn held(weight: f64, tokens: u32) -> f64 {
    (weight * f64::from(tokens)).round().max(1.0)
}

fn candidate(weights: &[f64], tokens: u32, bytes_each: f64) -> Option<TokenCandidate> {
    let held: Vec<f64> = weights.iter().map(|weight| held(*weight, tokens)).collect();
    let ranges: f64 = held.iter().sum();
    if ranges > MOST_TOKENS {
        return None;
    }
    let spread = RingSpread::new(&held)?;
    Some(TokenCandidate {
        tokens,
        expected_sd: law_sd(&held),
        sd_of_sd: spread.sd_of_sd,
        max_over_mean: spread.max_over_mean,
        worst_max_over_mean: spread.max_of(0.99),
        ranges: ranges as u64,
        memory_bytes: (ranges * bytes_each) as u64,
    })
}

/// Half, the same and twice as many again and again, at least to four times; and the round numbers that people take.
fn counts(tokens: u32) -> impl Iterator<Item = u32> {
    let half = (tokens > 1).then_some(tokens / 2);
    let doubles = std::iter::successors(Some(tokens), |tokens| tokens.checked_mul(2));
    let doubles = doubles.enumerate();
    let doubles = doubles.take_while(|(step, count)| *step <= 2 || *count < 800);
    let doubles = doubles.map(|(_, count)| count);
    let all: BTreeSet<u32> = half.into_iter().chain(doubles).chain([100, 1000]).collect();
    all.into_iter()
}

/// Round numbers of tokens, ascending.
fn round_counts() -> impl Iterator<Item = u32> {
    let tens = std::iter::successors(Some(10_u32), |ten| ten.checked_mul(10));
    let steps = tens.flat_map(|ten| {
        [10, 15, 20, 30, 40, 50, 60, 80]
            .into_iter()
            .map(move |step| ten / 10 * step)
    });
    (1..=8).chain(steps)
}

/// The most that a ring takes.
const MOST_TOKENS: f64 = (1 << 24) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    use clockwise::{Member, Membership, Scheme};

    #[test]
    fn candidates_go_from_half_to_four_times_and_have_a_hundred_and_a_thousand() {
        let of = |tokens| counts(tokens).collect::<Vec<_>>();
        assert_eq!(of(160), [80, 100, 160, 320, 640, 1000]);
        assert_eq!(of(1000), [100, 500, 1000, 2000, 4000]);
        assert_eq!(of(1), [1, 2, 4, 8, 16, 32, 64, 100, 128, 256, 512, 1000]);
        let round: Vec<u32> = round_counts().take(20).collect();
        assert_eq!(
            round[6..],
            [7, 8, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300]
        );
    }

    #[test]
    fn tokens_that_are_advised_keep_the_limit_on_nine_of_ten_real_rings() {
        let tokens = tokens_for(&[1.0; 5], 1.1, 0.9).unwrap();
        let scheme: Scheme = format!("ring,tokens={tokens}").parse().unwrap();
        let heaviest = |list: u32| {
            let ids = (0..5).map(|node| format!("node-{list}-{node}").parse().unwrap());
            let members = Membership::new(ids.map(Member::new)).unwrap();
            let ring = Placement::build(&scheme, &members).unwrap();
            let shares = ring.space_shares().unwrap().into_iter();
            shares.map(|share| share.as_f64() * 5.0).fold(0.0, f64::max)
        };
        let kept = (0..400).filter(|&list| heaviest(list) <= 1.1).count();
        // 360 expected at least; three standard errors of 400 tries and of the 1,000 draws behind the advice are 24.
        assert!(kept >= 336, "{kept} with {tokens} tokens");
        assert_eq!(tokens_for(&[1.0; 5], 1.0, 0.9), None);
    }
}
