//! Suites of a million generated keys: same answer everywhere, bounded movement, shares near weights, the wrap past the
//! last token.
//!
//! Bounds: a share p of n = 10^6 keys has a standard error of sqrt(p (1 - p) / n), 0.05 % at most; five of them are
//! allowed. Where a ring decides, its own exact shares stand in for p.

mod support;

use clockwise::{HashedKey, Placement, Token};
use support::moves::Assignment;
use support::{build, crc_of, members, nodes, weighted_nodes};

const KEYS: u32 = 1_000_000;

fn keys() -> impl Iterator<Item = String> {
    (0..KEYS).map(|i| format!("cart:{i}"))
}

fn tokens(placement: &Placement) -> Vec<Token> {
    keys().map(|key| placement.token(key.as_bytes())).collect()
}

/// Five standard errors of a share of the keys, as a number of keys.
fn five_errors(share: f64) -> f64 {
    5.0 * (share * (1.0 - share) * f64::from(KEYS)).sqrt()
}

#[test]
fn the_same_key_and_membership_give_the_same_owner_in_every_client() {
    // A client is a placement that was built apart, from a list in another order.
    for name in ["slots", "ring", "rendezvous", "maglev"] {
        let shuffled = ["node-3", "node-0", "node-4", "node-2", "node-1"].map(|id| (id, 1000));
        let (one, other) = (build(name, &nodes(5)), build(name, &members(shuffled)));
        let tokens = tokens(&one);
        assert_eq!(
            Assignment::of(&one, &tokens).owners(),
            Assignment::of(&other, &tokens).owners()
        );
        assert_eq!(one.placement_checksum(), other.placement_checksum());
    }
}

#[test]
fn every_client_gives_every_key_the_same_64_bit_hash() {
    // CRC-32 over the low and the high halves of all hashes in order; computed by PyPI's xxhash 4.1.0 as well.
    let slots = build("slots", &nodes(1));
    let halves = tokens(&slots)
        .into_iter()
        .flat_map(|t| [t.0 as u32, (t.0 >> 32) as u32]);
    assert_eq!(crc_of(halves), XXH3_OF_ALL_KEYS);
}

#[test]
fn a_new_node_moves_a_bounded_share_and_takes_all_of_it_itself() {
    for name in [
        "slots",
        "ring",
        "rendezvous",
        "jump",
        "jumpback",
        "probed",
        "rank",
    ] {
        let (before, after) = (build(name, &nodes(9)), build(name, &nodes(10)));
        let after = match name {
            "slots" => before.least_movement(&nodes(10)).expect("ten nodes"),
            _ => after,
        };
        let tokens = tokens(&before);
        let moves = Assignment::of(&before, &tokens).moves_to(&Assignment::of(&after, &tokens));
        assert_eq!(moves.to_others_than("node-9"), 0, "{name}");
        let share = share_of(&after, "node-9");
        let moved = moves.total() as f64;
        assert!(
            (moved - share * f64::from(KEYS)).abs() < five_errors(share),
            "{name}: {moved}"
        );
        // Keys come from all old nodes, not from one neighbour.
        assert_eq!(moves.donors("node-9").len(), 9, "{name}");
    }
}

#[test]
fn a_removed_node_gives_up_its_ranges_only_and_spreads_them() {
    for name in ["slots", "ring", "rendezvous"] {
        let before = build(name, &nodes(10));
        let rest = nodes(10)
            .without(&"node-3".parse().expect("an id"))
            .expect("a member");
        let after = before.least_movement(&rest).expect("nine nodes");
        let tokens = tokens(&before);
        let (old, new) = (
            Assignment::of(&before, &tokens),
            Assignment::of(&after, &tokens),
        );
        let moves = old.moves_to(&new);
        assert_eq!(moves.total(), old.count("node-3"), "{name}");
        assert_eq!(moves.given_by("node-3"), moves.total(), "{name}");
        assert_eq!(moves.receivers("node-3").len(), 9, "{name}");
    }
}

#[test]
fn observed_shares_are_near_the_weights() {
    let milli = [500, 1000, 1000, 2000, 4000];
    let total: u32 = milli.iter().sum();
    for name in [
        "slots",
        "ring,tokens=1000",
        "rendezvous",
        "maglev",
        "probed",
        "rank",
    ] {
        // Where a unit of weight is a slot, none of them is half of one.
        let units = if ["probed", "rank"].contains(&name) {
            2
        } else {
            1
        };
        let placement = build(name, &weighted_nodes(5, |i| units * milli[i]));
        let assigned = Assignment::of(&placement, &tokens(&placement));
        for (i, milli) in milli.into_iter().enumerate() {
            let wanted = f64::from(milli) / f64::from(total);
            // What the scheme may miss by itself: a slot of 16,384; a Beta share of `milli` tokens, five deviations.
            let own = match name {
                "slots" => 1.0 / 16384.0,
                // A turn of each of the five nodes.
                "maglev" => 5.0 / 65_537.0,
                "rendezvous" | "probed" | "rank" => 0.0,
                _ => 5.0 * wanted / f64::from(milli).sqrt(),
            };
            let count = assigned.count(&format!("node-{i}")) as f64;
            let off = (count - wanted * f64::from(KEYS)).abs();
            assert!(
                off < own * f64::from(KEYS) + five_errors(wanted),
                "{name}, node-{i}: {count}"
            );
        }
    }
}

#[test]
fn replicas_of_a_million_keys_stand_on_distinct_nodes_and_share_evenly() {
    for name in [
        "slots",
        "ring",
        "rendezvous",
        "maglev",
        "probed",
        "rank",
        "jump",
        "jumpback",
        "modulo",
    ] {
        let placement = build(name, &nodes(7));
        let mut counts = [0_u64; 7];
        for token in tokens(&placement) {
            let mut ranked = placement.ranked(&HashedKey::of_token(token), 3);
            let mut met = 0_u32;
            while let Some(node) = ranked.next_index() {
                assert_eq!(met & 1 << node, 0, "{name}, {token:?}");
                met |= 1 << node;
                counts[node] += 1;
            }
            assert_eq!(met.count_ones(), 3);
        }
        // Each of three places goes to each node with the share of a seventh. Slots deal whole slots, rings whole
        // ranges (4 deviations of v = 160 tokens of N = 7: sqrt(6 / 1121) = 7.3 %).
        let mean = 3.0 * f64::from(KEYS) / 7.0;
        let own = match name {
            "ring" => 4.0 * 0.073,
            "slots" => 5.0 / (16384.0_f64 * 3.0 / 7.0).sqrt(),
            _ => 0.0,
        };
        for count in counts {
            let off = (count as f64 - mean).abs();
            assert!(off < own * mean + 5.0 * mean.sqrt(), "{name}: {counts:?}");
        }
    }
}

#[test]
fn keys_past_the_last_token_wrap_to_the_first() {
    let ring = build("ring,tokens=2", &nodes(3));
    let (first, owner) = ring.tokens().next().expect("a token");
    let last = ring.tokens().last().expect("a token").0;
    let mut past = 0;
    for token in tokens(&ring) {
        if token > last || token <= first {
            assert_eq!(ring.owner_of_token(token), Some(owner));
            past += u32::from(token > last);
        }
    }
    assert!(past > 0, "no key stands past the last token");
}

#[test]
fn spread_falls_with_vnodes_as_its_law_says() {
    // The deviation of N = 5 shares with v vnodes is sqrt(4 / (5 v + 1)) of the mean. Its square, over 100 rings of other
    // names, is chi-square with 400 degrees of freedom over 400 (nearly, since Beta shares are nearly normal), and so
    // within 5 sqrt(2 / 400) = 35 % of the law. One single ring may be off by a factor of two and more.
    for vnodes in [10_u32, 100, 1000] {
        let mut square = 0.0;
        for ring in 0..100 {
            let ids: Vec<String> = (0..5).map(|i| format!("rack-{ring}-cache-{i}")).collect();
            let list = members(ids.iter().map(|id| (id.as_str(), 1000)));
            let shares = build(&format!("ring,tokens={vnodes}"), &list).space_shares();
            let shares = shares.expect("a ring has exact shares");
            square += shares
                .iter()
                .map(|s| (s.as_f64() * 5.0 - 1.0).powi(2))
                .sum::<f64>()
                / 500.0;
        }
        let law = 4.0 / f64::from(5 * vnodes + 1);
        assert!(
            (square / law - 1.0).abs() < 0.35,
            "v = {vnodes}: {square}, law {law}"
        );
    }
}

/// The share that a node should have: exact where the scheme counts it, else its part of equal weights.
fn share_of(placement: &Placement, id: &str) -> f64 {
    let index = placement
        .members()
        .iter()
        .position(|m| m.id().as_str() == id)
        .expect("a member");
    match placement.space_shares() {
        Some(shares) => shares[index].as_f64(),
        None => 1.0 / placement.members().len() as f64,
    }
}

const XXH3_OF_ALL_KEYS: u64 = 0xa0be_2ff1;
