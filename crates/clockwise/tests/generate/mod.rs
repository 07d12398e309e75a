//! Random memberships and keys for property tests. Seeds are fixed, so that a run can be repeated.

#![allow(
    dead_code,
    reason = "each test file that takes this module in uses its own part of it"
)]

use std::collections::BTreeSet;
use std::ops::Range;

use clockwise::{Membership, NodeId};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::plain::Node;
use crate::support::member;

/// `cases` cases from a fixed seed, with no file of failures.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x636c_6f63_6b77_6973),
        ..ProptestConfig::default()
    }
}

/// Lists of nodes with distinct ids that an operator could have written.
pub(crate) fn any_nodes(count: Range<usize>) -> impl Strategy<Value = Vec<Node>> {
    prop::collection::vec((any_id(), any_milli()), count).prop_map(|list| {
        let mut seen = BTreeSet::new();
        list.into_iter()
            .filter(|(id, _)| seen.insert(id.clone()))
            .map(|(id, milli)| Node::new(&id, milli))
            .collect()
    })
}

/// Ids whose label could run into another's, of any script, and of any length allowed.
pub(crate) fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(cache|node|n)-[0-9]{1,3}",
        2 => "[ab]#[0-9]{1,2}(#[0-9])?",
        2 => "[ -~]{1,12}",
        2 => "[a-zàỏ日本語✓😀 |#:.]{1,20}",
        1 => "[a-z]{200,255}",
        1 => Just("zone b|rack#1".to_owned()),
    ]
    .prop_filter("an id", |text| NodeId::new(text).is_ok())
}

/// Weights in thousandths: none, one, below one, and up to 1000.
pub(crate) fn any_milli() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        Just(1000),
        1..10_u32,
        1..2000_u32,
        1..=1_000_000_u32
    ]
}

/// Keys: nothing, text, and bytes that are no UTF-8.
pub(crate) fn any_key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        1 => Just(Vec::new()),
        4 => prop::collection::vec(any::<u8>(), 0..40),
        3 => "[a-z]{1,5}:[0-9]{1,7}".prop_map(String::into_bytes),
        2 => "\\PC{1,20}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 200..400),
    ]
}

pub(crate) fn membership_of(nodes: &[Node]) -> Membership {
    Membership::new(nodes.iter().map(|node| member(&node.id, node.milli))).expect("distinct ids")
}
