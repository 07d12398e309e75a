//! Bounded load: never over a cap, always room with a factor of 1 or more, and the ranking itself while nothing is full.

mod generate;
mod plain;
mod support;

use clockwise::hash::Rng;
use clockwise::{HashedKey, LoadBound, Membership, Placement, Token};
use proptest::prelude::*;

use generate::{any_milli, any_nodes, config, membership_of};
use plain::{Node, Spec};
use support::{build, nodes, scheme, weighted_nodes};

/// Every scheme whose ranking names all members with weight, with weights where it has them.
fn rankings() -> impl Iterator<Item = &'static str> {
    clockwise::Scheme::names().filter(|&name| scheme(name).has_ranking())
}

fn bound(text: &str) -> LoadBound {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn keys(seed: u64, count: usize) -> Vec<HashedKey<'static>> {
    let mut rng = Rng::new(seed);
    let token = |_| HashedKey::of_token(Token(rng.next_u64()));
    (0..count).map(token).collect()
}

fn weights(placement: &Placement) -> u64 {
    let milli = |member: &clockwise::Member| u64::from(member.weight().milli());
    placement.members().iter().map(milli).sum()
}

fn loads(placement: &Placement, assigned: &[Option<usize>]) -> Vec<u64> {
    let mut loads = vec![0; placement.members().len()];
    for node in assigned {
        loads[node.expect("there is room")] += 1;
    }
    loads
}

fn assert_within_caps(placement: &Placement, loads: &[u64], total: u64, bound: LoadBound) {
    let weights = weights(placement);
    for (member, &load) in placement.members().iter().zip(loads) {
        let cap = bound.cap(total, member.weight(), weights);
        assert!(
            load <= cap,
            "{}, {}: {load} > {cap}",
            placement.scheme(),
            member.id()
        );
    }
}

#[test]
fn there_is_always_room_and_nobody_is_over_the_cap() {
    // 1 to 50 members, 0 to 200 items, factors from 1 up, equal weights and others; two members and five items, seven
    // members and three items are among them.
    for count in 1..=50 {
        for (step, milli) in [
            (1, (|_| 1000) as fn(usize) -> u32),
            (7, |i| 1000 * (i as u32 % 4 + 1)),
            (7, |i| [1000, 0, 250, 1, 3333][i % 5]),
        ] {
            let placement = build("rendezvous", &weighted_nodes(count, milli));
            for items in (0..=200).step_by(step) {
                let keys = keys((1000 * count + items) as u64, items);
                for factor in ["1", "1.01", "1.25", "1.5", "2"] {
                    let bound = bound(factor);
                    let loads = loads(&placement, &placement.assign_bounded(&keys, bound));
                    assert_eq!(loads.iter().sum::<u64>(), items as u64);
                    assert_within_caps(&placement, &loads, items as u64, bound);
                }
            }
        }
    }
}

#[test]
fn a_factor_below_one_and_anything_else_is_refused() {
    for text in [
        "0.999",
        "0",
        "-1",
        "",
        "1.0001",
        "1e3",
        "NaN",
        "inf",
        "1000000.001",
        "1,25",
        " 1",
        "125%",
    ] {
        let error = text.parse::<LoadBound>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "load bound {text:?}: must be 1 to 1000000 with at most three decimals; below 1 there would be no room"
            )
        );
    }
    for (text, milli) in [
        ("1", 1000),
        ("1.25", 1250),
        ("1.5", 1500),
        ("1000000", 1_000_000_000),
    ] {
        let bound = bound(text);
        assert_eq!((bound.milli(), bound.to_string().as_str()), (milli, text));
        assert_eq!(LoadBound::from_milli(milli), Some(bound));
    }
    assert_eq!(LoadBound::default(), bound("1.25"));
    for milli in [0, 999, 1_000_000_001, u32::MAX] {
        assert_eq!(LoadBound::from_milli(milli), None);
    }
}

#[test]
fn caps_are_exact_at_every_size() {
    let one = clockwise::Weight::ONE;
    // An epsilon of 0.5 is a factor of 1.5, which others write as 150.
    for (total, nodes) in [(1_u64, 1_u64), (7, 3), (10, 4), (1_000_000, 7), (999, 1000)] {
        let exact = (3 * total).div_ceil(2 * nodes);
        assert_eq!(bound("1.5").cap(total, one, 1000 * nodes), exact);
    }
    assert_eq!(bound("1.01").cap(100, one, 1000), 101);
    assert_eq!(bound("1").cap(u64::MAX, one, 1000), u64::MAX);
    assert_eq!(
        bound("1000000").cap(u64::MAX, clockwise::Weight::MAX, 1),
        u64::MAX
    );
    assert_eq!(bound("2").cap(0, one, 1000), 0);
    assert_eq!(bound("2").cap(9, clockwise::Weight::ZERO, 1000), 0);
    assert_eq!(bound("2").cap(9, one, 0), 0);
}

#[test]
fn a_great_factor_is_the_ranking_and_the_order_of_the_keys_does_not_count() {
    let mut rng = Rng::new(1);
    for name in rankings().filter(|&name| name != "articles/000-rendezvous") {
        let placement = build(name, &nodes(9));
        let width = 64 - placement.scheme().token_bits();
        let mut keys: Vec<HashedKey<'_>> = (0..2000)
            .map(|_| HashedKey::of_token(Token(rng.next_u64() >> width)))
            .collect();
        let owners: Vec<Option<usize>> =
            keys.iter().map(|key| placement.owner_index(key)).collect();
        assert_eq!(
            placement.assign_bounded(&keys, bound("1000000")),
            owners,
            "{name}"
        );
        let tight = placement.assign_bounded(&keys, bound("1"));
        assert_within_caps(&placement, &loads(&placement, &tight), 2000, bound("1"));
        assert!(tight != owners, "{name}");
        keys.reverse();
        let mut reversed = placement.assign_bounded(&keys, bound("1"));
        reversed.reverse();
        assert_eq!(reversed, tight, "{name}");
        for key in &keys[..100] {
            let node = placement.bounded_owner(key, bound("1000000"), |node| Some(node as u64));
            assert_eq!(node, placement.owner_index(key), "{name}");
        }
    }
    // Keys of bytes, for the scheme that hashes them again; equal tokens go by their bytes.
    let text = build("articles/000-rendezvous", &nodes(4));
    let bytes: Vec<Vec<u8>> = (0..500_u32).map(|i| i.to_le_bytes().to_vec()).collect();
    let keys: Vec<HashedKey<'_>> = bytes.iter().map(|key| text.hash(key)).collect();
    let assigned = text.assign_bounded(&keys, bound("1"));
    assert_eq!(loads(&text, &assigned), [125; 4]);
    let crc = build("modulo/crc-16", &nodes(2));
    let twins: Vec<HashedKey<'_>> = bytes.iter().map(|key| crc.hash(key)).collect();
    let forward = crc.assign_bounded(&twins, bound("1"));
    let mut backward =
        crc.assign_bounded(&twins.iter().rev().copied().collect::<Vec<_>>(), bound("1"));
    backward.reverse();
    assert_eq!(forward, backward);
}

#[test]
fn random_inserts_and_deletes_never_pass_a_cap() {
    for (name, factor) in [
        ("rendezvous", "1"),
        ("rendezvous", "1.25"),
        ("ring", "1.1"),
        ("rank", "1.25"),
        ("slots", "1.01"),
        ("jumpback", "1"),
    ] {
        let weighted = !["rank", "jumpback"].contains(&name);
        let list = weighted_nodes(12, |i| {
            if weighted {
                [1000, 2500, 0, 300][i % 4]
            } else {
                1000
            }
        });
        let placement = build(name, &list);
        let (bound, weights) = (bound(factor), weights(&placement));
        let mut rng = Rng::new(12);
        let mut load = [0_u64; 12];
        let mut held: Vec<usize> = Vec::new();
        for step in 0..20_000 {
            // Long stretches of growth, then of decline.
            let grows = rng.uniform(10) < if step / 2000 % 2 == 0 { 8 } else { 3 };
            if grows || held.is_empty() {
                let key = HashedKey::of_token(Token(rng.next_u64()));
                let node = placement.bounded_owner(&key, bound, |node| Some(load[node]));
                let node = node.expect("a node");
                let total = load.iter().sum::<u64>() + 1;
                let cap =
                    |node: usize| bound.cap(total, placement.members()[node].weight(), weights);
                assert!(load[node] < cap(node), "{name}, {factor}: step {step}");
                // Everyone that ranks before it is full.
                let mut ranked = placement.ranked(&key, 12);
                while let Some(before) = ranked.next_index().filter(|&before| before != node) {
                    assert!(
                        load[before] + 1 > cap(before),
                        "{name}, {factor}: step {step}"
                    );
                }
                load[node] += 1;
                held.push(node);
            } else {
                let gone = held.swap_remove(rng.uniform(held.len() as u32) as usize);
                load[gone] -= 1;
            }
        }
    }
}

#[test]
fn a_full_node_that_drains_gets_its_own_keys_back_first() {
    let placement = build("rendezvous", &nodes(10));
    let half_again = bound("1.5");
    let mut own = 0;
    for key in keys(10, 500) {
        let owner = placement.owner_index(&key).expect("an owner");
        let mut ranked = placement.ranked(&key, 2);
        let second = ranked.by_ref().nth(1).expect("a second").id().clone();
        // Nine nodes carry 10 each. With 17 on the owner, 108 with the new one, caps are ceil(1.5 x 108 / 10) = 17.
        let with = |load: u64| {
            let at = move |node: usize| Some(if node == owner { load } else { 10 });
            placement
                .bounded_owner(&key, half_again, at)
                .expect("a node")
        };
        assert_eq!(placement.members()[with(17)].id(), &second);
        assert_eq!(with(16), owner);
        assert_eq!(with(0), owner);
        own += 1;
    }
    assert_eq!(own, 500);
}

#[test]
fn members_that_are_kept_out_do_not_count_and_nobody_left_is_no_answer() {
    let placement = build("rendezvous", &nodes(4));
    let double = bound("2");
    for key in keys(4, 200) {
        let owner = placement.owner_index(&key).expect("an owner");
        // The owner is down with a great load: the others' caps are as if it were not there.
        let load = |node: usize| (node != owner).then_some(0);
        let next = placement.bounded_owner(&key, double, load).expect("a node");
        let second = placement.ranked(&key, 4).nth(1).expect("a second");
        assert_eq!(placement.members()[next].id(), second.id());
        assert_eq!(placement.bounded_owner(&key, double, |_| None), None);
        // Loads near the top of 64 bits do not run over.
        let node = placement.bounded_owner(&key, double, |node| Some(u64::MAX - node as u64));
        assert!(node.is_some());
    }
    let nobody = build("rendezvous", &Membership::default());
    assert_eq!(
        nobody.bounded_owner(&keys(1, 1)[0], double, |_| Some(0)),
        None
    );
    assert_eq!(nobody.assign_bounded(&keys(1, 2), double), [None, None]);
    let weightless = build("ring", &weighted_nodes(2, |_| 0));
    assert_eq!(weightless.assign_bounded(&keys(1, 1), double), [None]);
    // Redis Cluster names one node a key, so a full one cannot pass it on.
    let cluster = build("redis-cluster", &nodes(2));
    let one = cluster.hash(b"user:1");
    let owner = cluster.owner_index(&one);
    assert_eq!(cluster.assign_bounded(&[one; 3], bound("1")), [owner; 3]);
    assert_eq!(cluster.bounded_owner(&one, bound("1"), |_| Some(9)), owner);
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn both_forms_are_the_plain_ones(
        nodes in any_nodes(0..8),
        seed in any::<u64>(),
        items in 0..60_usize,
        factor in prop_oneof![Just(1000_u32), 1000..2000_u32, 1000..=1_000_000_000_u32],
        loads in prop::collection::vec(prop::option::weighted(0.8, prop_oneof![0..4_u64, 0..40_u64]), 8),
        units in any_milli(),
    ) {
        for (spec, text) in [
            (Spec::Rendezvous, "rendezvous"),
            (Spec::Ring { tokens: 3 }, "ring,tokens=3"),
            (Spec::JumpBack, "jumpback"),
            (Spec::Probed, "probed"),
        ] {
            let milli = |node: &Node| match spec {
                Spec::JumpBack => units,
                Spec::Probed => node.milli % 4 * 1000,
                _ => node.milli,
            };
            let nodes: Vec<Node> = nodes.iter().map(|node| Node::new(&node.id, milli(node))).collect();
            let placement = build(text, &membership_of(&nodes));
            let plain = plain::build(&spec, &nodes).unwrap();
            let bound = LoadBound::from_milli(factor).unwrap();
            let weights: Vec<u32> = nodes.iter().map(|node| node.milli).collect();
            let listed = |node: usize| {
                let id = placement.members()[node].id().as_str();
                nodes.iter().position(|node| node.id == id).unwrap()
            };
            let keys = keys(seed, items);
            let rankings: Vec<Vec<usize>> = keys.iter().map(|key| plain.ranked_hash(key.token().0)).collect();
            let mut turns: Vec<usize> = (0..items).collect();
            turns.sort_by_key(|&key| keys[key].token());
            let assigned: Vec<Option<usize>> =
                placement.assign_bounded(&keys, bound).into_iter().map(|node| node.map(listed)).collect();
            prop_assert_eq!(assigned, plain::bounded::batch(&rankings, &turns, &weights, factor), "{}", text);
            for (key, ranking) in keys.iter().zip(&rankings) {
                let node = placement.bounded_owner(key, bound, |node| loads[listed(node)]);
                let wanted = plain::bounded::live(ranking, &weights, &loads[..nodes.len()], factor);
                prop_assert_eq!(node.map(listed), wanted, "{}", text);
            }
        }
    }
}
