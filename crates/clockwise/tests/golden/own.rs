//! The parts of `placement.json` on numbered slots, replica sets and bounded load.

use std::num::NonZeroU32;

use clockwise::{
    FailureDomains, HashedKey, LoadBound, Member, Membership, PermutationRank, Placement,
    ProbedSlots, ReplicaSet, ReplicaSets, Replication, Token,
};
use serde_json::Value;

use crate::support::{array, crc_of, hex_number, member, number, scheme, text};
use crate::{listed, numbers, place_in};

/// Rows of `[n, first answers, crc32]` for a function from keys to buckets.
pub(crate) fn ranges(rows: &Value, keys: &[u64], bucket: fn(u64, NonZeroU32) -> u32) -> usize {
    for row in array(rows) {
        let buckets = NonZeroU32::new(number(&row[0]) as u32).expect("at least one bucket");
        let answers: Vec<u32> = keys.iter().map(|&key| bucket(key, buckets)).collect();
        assert_eq!(answers[..5], numbers(&row[1]), "n = {buckets}");
        assert_eq!(crc_of(answers), hex_number(&row[2]), "n = {buckets}");
    }
    array(rows).len()
}

pub(crate) fn probed(rows: &Value, keys: &[u64]) -> usize {
    for case in array(rows) {
        let runs = array(&case["thresholds"])
            .iter()
            .flat_map(|run| std::iter::repeat_n(number(&run[1]) as u32, number(&run[0]) as usize));
        let thresholds: Vec<u32> = runs.collect();
        // Built at once, and one change after the other from all slots full.
        let mut changed = ProbedSlots::full(thresholds.len() as u32);
        for (slot, &threshold) in thresholds.iter().enumerate() {
            changed.set_threshold(slot, threshold);
        }
        for slots in [ProbedSlots::with_thresholds(thresholds), changed] {
            let answers: Vec<u32> = keys
                .iter()
                .map(|&key| slots.slot(key).expect("an open slot"))
                .collect();
            assert_eq!(answers[..8], numbers(&case["first"]), "{}", case["name"]);
            let crc = hex_number(&case["crc32"]);
            assert_eq!(crc_of(answers), crc, "{}", case["name"]);
        }
    }
    array(rows).len()
}

pub(crate) fn rank(file: &Value, keys: &[u64]) -> usize {
    for row in array(&file["rank"]) {
        let slots = number(&row[0]) as u32;
        let three = |&key: &u64| PermutationRank::new(key, slots).take(3);
        let answers: Vec<u32> = keys.iter().flat_map(three).collect();
        assert_eq!(answers[..8], numbers(&row[1]), "n = {slots}");
        assert_eq!(crc_of(answers), hex_number(&row[2]), "n = {slots}");
    }
    for row in array(&file["rank_lists"]) {
        let order = PermutationRank::new(hex_number(&row[0]), number(&row[1]) as u32);
        assert_eq!(order.collect::<Vec<u32>>(), numbers(&row[2]));
    }
    for row in array(&file["rank_open"]) {
        let (slots, closed) = (number(&row[0]) as u32, numbers(&row[1]));
        let open = |&key: &u64| {
            PermutationRank::new(key, slots)
                .find(|slot| !closed.contains(slot))
                .expect("an open slot")
        };
        let crc = crc_of(keys.iter().map(open));
        assert_eq!(crc, hex_number(&row[2]), "closed: {closed:?}");
        // As a placement, in which a node without weight keeps its slot.
        let nodes = (0..slots).map(|slot| {
            let milli = if closed.contains(&slot) { 0 } else { 1000 };
            member(&format!("node-{slot}"), milli)
        });
        let nodes = Membership::new(nodes).expect("different ids");
        let placement = Placement::build(&scheme("rank"), &nodes).expect("a placement");
        let owner = |&key: &u64| placement.owner_index(&HashedKey::of_token(Token(key)));
        let owners = keys.iter().map(|key| owner(key).expect("an owner") as u32);
        assert_eq!(crc_of(owners), crc, "closed: {closed:?}");
    }
    ["rank", "rank_lists", "rank_open"]
        .map(|part| array(&file[part]).len())
        .iter()
        .sum()
}

pub(crate) fn replica_sets(rows: &Value, keys: &[u64]) -> usize {
    for case in array(rows) {
        let listing: Vec<&str> = array(&case["nodes"]).iter().map(|n| text(&n[0])).collect();
        let nodes = array(&case["nodes"]).iter().map(node_with_domains);
        let nodes = Membership::new(nodes).expect("different ids");
        let placement = Placement::build(&scheme(text(&case["scheme"])), &nodes)
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        let factor = NonZeroU32::new(number(&case["factor"]) as u32).expect("a factor");
        let replication = Replication::new(factor)
            .with_rules(text(&case["rules"]))
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        let sets = ReplicaSets::new(&placement, replication)
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        let (mut answers, mut raised, mut missing) = (Vec::new(), 0, 0);
        let mut set = ReplicaSet::default();
        for &key in keys {
            sets.select_into(&HashedKey::of_token(Token(key)), |_| true, &mut set);
            for node in &set.nodes {
                let node = node.expect("no node is down");
                answers.push(place_in(&listing, placement.members()[node].id().as_str()));
            }
            raised += set.degraded.len() as u64;
            missing += set.deficit.as_ref().map_or(0, |d| d.missing as u64);
        }
        assert_eq!(answers[..16], numbers(&case["first"]), "{}", case["name"]);
        assert_eq!(
            (crc_of(answers), raised, missing),
            (
                hex_number(&case["crc32"]),
                number(&case["raised"]),
                number(&case["missing"])
            ),
            "{}",
            case["name"]
        );
    }
    array(rows).len()
}

fn node_with_domains(row: &Value) -> Member {
    let label = |level: usize| row[2][level].as_str().map(str::to_owned);
    member(text(&row[0]), number(&row[1]) as u32).with_domains(FailureDomains {
        region: label(0),
        zone: label(1),
        rack: label(2),
        host: label(3),
    })
}

pub(crate) fn bounded(rows: &Value, keys: &[u64]) -> usize {
    for case in array(rows) {
        let (placement, listing) = listed(case);
        let place = |node: usize| place_in(&listing, placement.members()[node].id().as_str());
        let bound = LoadBound::from_milli(number(&case["bound_milli"]) as u32).expect("a bound");
        let weights = placement.members().iter().map(|m| m.weight());
        let all = weights.clone().map(|w| u64::from(w.milli())).sum();
        let mut caps = vec![0; listing.len()];
        for (node, weight) in weights.enumerate() {
            caps[place(node) as usize] = bound.cap(keys.len() as u64, weight, all) as u32;
        }
        assert_eq!(caps, numbers(&case["caps"]), "{}", case["name"]);
        let hashed: Vec<HashedKey<'_>> = keys
            .iter()
            .map(|&key| HashedKey::of_token(Token(key)))
            .collect();
        let assigned = placement.assign_bounded(&hashed, bound);
        let (mut loads, mut spilled) = (vec![0; listing.len()], 0);
        let owners: Vec<u32> = hashed
            .iter()
            .zip(assigned)
            .map(|(key, node)| {
                spilled += u64::from(node != placement.owner_index(key));
                let node = place(node.expect("there is room"));
                loads[node as usize] += 1;
                node
            })
            .collect();
        assert_eq!(loads, numbers(&case["loads"]), "{}", case["name"]);
        assert_eq!(spilled, number(&case["spilled"]), "{}", case["name"]);
        assert_eq!(owners[..16], numbers(&case["first"]), "{}", case["name"]);
        let crc = hex_number(&case["crc32"]);
        assert_eq!(crc_of(owners), crc, "{}", case["name"]);
    }
    array(rows).len()
}
