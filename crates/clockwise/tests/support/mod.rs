//! What the test files share: short ways to build a placement, counting and chi-square.

#![allow(
    dead_code,
    reason = "each test file that takes this module in uses its own part of it"
)]

pub(crate) mod moves;

use std::path::Path;

use clockwise::hash::crc32;
use clockwise::{HashedKey, Member, Membership, Placement, Scheme, Token, Weight};
use serde_json::Value;

/// Names of the schemes that take any membership and any order of it.
pub(crate) const ORDER_FREE: [&str; 10] = [
    "slots",
    "ring",
    "rendezvous",
    "maglev",
    "articles/000-ring",
    "articles/000-rendezvous",
    "articles/002-ring",
    "articles/003-ring",
    "articles/003-ring-raw",
    "articles/004-ring",
];

/// A file of the repository's vectors.
pub(crate) fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors")
        .join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn array(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("not an array: {value}"))
}

pub(crate) fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("not a text: {value}"))
}

pub(crate) fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("not a whole number: {value}"))
}

/// A number from its hexadecimal digits.
pub(crate) fn hex_number(value: &Value) -> u64 {
    u64::from_str_radix(text(value), 16).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// Bytes from their hexadecimal digits.
pub(crate) fn hex_bytes(value: &Value) -> Vec<u8> {
    let digits = text(value);
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("two hexadecimal digits"))
        .collect()
}

pub(crate) fn scheme(text: &str) -> Scheme {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn member(id: &str, milli: u32) -> Member {
    Member::new(id.parse().unwrap_or_else(|error| panic!("{error}")))
        .with_weight(Weight::from_milli(milli).expect("a weight in range"))
}

pub(crate) fn members<'a>(list: impl IntoIterator<Item = (&'a str, u32)>) -> Membership {
    Membership::new(list.into_iter().map(|(id, milli)| member(id, milli)))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Members `node-0`, `node-1`, … of weight 1.
pub(crate) fn nodes(count: usize) -> Membership {
    weighted_nodes(count, |_| 1000)
}

/// Members `node-0`, `node-1`, … with weights in thousandths.
pub(crate) fn weighted_nodes(count: usize, milli: impl Fn(usize) -> u32) -> Membership {
    Membership::new((0..count).map(|i| member(&format!("node-{i}"), milli(i))))
        .expect("different ids")
}

pub(crate) fn build(scheme_text: &str, membership: &Membership) -> Placement {
    Placement::build(&scheme(scheme_text), membership)
        .unwrap_or_else(|error| panic!("{scheme_text}: {error}"))
}

/// The id of the owner of a key; empty without one.
pub(crate) fn owner<'p>(placement: &'p Placement, key: &[u8]) -> &'p str {
    placement
        .owner(key)
        .map_or("", |member| member.id().as_str())
}

/// Ids in rank order for a token, `count` at most.
pub(crate) fn ranked_ids(placement: &Placement, token: u64, count: usize) -> Vec<&str> {
    placement
        .ranked(&HashedKey::of_token(Token(token)), count)
        .map(|member| member.id().as_str())
        .collect()
}

/// CRC-32 over the numbers as unsigned 32-bit little-endian.
pub(crate) fn crc_of(numbers: impl IntoIterator<Item = u32>) -> u64 {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    u64::from(crc32(&bytes))
}

/// How far chi-square of `counts` lies from its mean, in its own standard deviations: (chi2 - d) / sqrt(2 d) with
/// d = counts - 1. Counts of a fair draw stay below 5: chi-square has a longer tail than a normal variable, but for d
/// of 2 or more P(z > 5) is below 0.3 %, and a share that is off by 1 % is far above it at millions of keys.
pub(crate) fn chi_square_z(counts: &[u64], shares: &[f64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let chi2: f64 = counts
        .iter()
        .zip(shares)
        .map(|(&count, share)| {
            let expected = total as f64 * share;
            (count as f64 - expected).powi(2) / expected
        })
        .sum();
    let freedom = (counts.len() - 1) as f64;
    (chi2 - freedom) / (2.0 * freedom).sqrt()
}
