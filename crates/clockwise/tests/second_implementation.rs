//! The library against a second, plain implementation on random memberships and keys: equal down to the last place of
//! every ranking.

mod generate;
mod plain;
mod support;

use clockwise::{BuildError, PermutationRank, Placement, ProbedSlots, Slot, redis_slot};
use plain::{Node, Refused, Spec};
use proptest::prelude::*;

use generate::{any_key, any_nodes, config, membership_of};
use support::{build, scheme};

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn every_scheme_ranks_as_the_plain_one_does(
        nodes in any_nodes(0..9),
        keys in prop::collection::vec(any_key(), 1..8),
        tokens in 1..=4_u32,
        count in prop_oneof![1..=600_u32, (0..=9_u32).prop_map(|bits| 1 << bits)],
        size in prop::sample::select(vec![2_u32, 3, 5, 7, 11, 17, 31, 101]),
    ) {
        for (spec, text) in specs(tokens, count, size) {
            compare(spec, &text, &fit(spec, &nodes), &keys);
        }
    }

    #[test]
    fn slots_follow_each_other_as_the_plain_ones_do(
        lists in prop::collection::vec(any_nodes(1..7), 2..5),
        count in 8..=1024_u32,
        keys in prop::collection::vec(any_key(), 3),
    ) {
        let text = format!("slots,count={count}");
        let mut before: Option<(Placement, Vec<Node>, Vec<usize>)> = None;
        for nodes in lists {
            let Ok(table) = plain::slots_table(&nodes, count) else { continue };
            let stateless = build(&text, &membership_of(&nodes));
            prop_assert_eq!(listed_table(&stateless, &nodes), &table[..]);
            let (now, table) = match before {
                // Without a table there is no history to go by.
                Some((old, old_nodes, old_table)) if !old_table.is_empty() => {
                    let place = |&owner: &usize| {
                        nodes.iter().position(|node| node.id == old_nodes[owner].id)
                    };
                    let previous: Vec<Option<usize>> = old_table.iter().map(place).collect();
                    let table = plain::least_movement(&previous, &nodes, count);
                    (old.least_movement(&membership_of(&nodes)).unwrap(), table)
                }
                _ => (stateless, table),
            };
            prop_assert_eq!(listed_table(&now, &nodes), &table[..]);
            if !table.is_empty() {
                for key in &keys {
                    let hash = plain::key_hash(key);
                    let ranked = plain::slots::ranked_in(&table, &nodes, count, hash);
                    prop_assert_eq!(ranking(&now, &nodes, key), ranked);
                }
            }
            before = Some((now, nodes, table));
        }
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn redis_slots_are_the_plain_ones(key in prop::collection::vec(
        prop_oneof![Just(b'{'), Just(b'}'), Just(b'a'), any::<u8>()], 0..20,
    )) {
        prop_assert_eq!(redis_slot(&key), Slot(u32::from(plain::redis_slot(&key))));
    }

    #[test]
    fn the_logarithm_is_the_plain_one(h in any::<u64>(), shift in 0..64_u32) {
        prop_assert_eq!(clockwise::neg_log2(h >> shift), plain::l2(h >> shift));
    }

    #[test]
    fn jumpback_is_the_plain_one(key in any::<u64>(), shift in 0..64_u32, n in 1..=1_u32 << 31, less in 0..31_u32) {
        let (key, n) = (key >> shift, (n >> less).max(1));
        let buckets = std::num::NonZeroU32::new(n).unwrap();
        prop_assert_eq!(clockwise::jumpback(key, buckets) as usize, plain::jumpback::jumpback(key, n as usize));
    }

    #[test]
    fn another_layer_is_the_plain_one(key in any_key(), layer in 1..=u32::MAX) {
        let ring = build(&format!("ring,layer={layer}"), &support::nodes(1));
        let wanted = plain::mix(plain::key_hash(&key) ^ plain::mix(u64::from(layer).wrapping_add(plain::G)));
        prop_assert_eq!(ring.token(&key).0, wanted);
    }

    #[test]
    fn the_generators_agree(seed in any::<u64>(), bound in 1..=u32::MAX) {
        let (mut ours, mut plain) = (clockwise::hash::Rng::new(seed), plain::Rng::new(seed));
        for _ in 0..4 {
            prop_assert_eq!(ours.uniform(bound), plain.uniform(bound));
        }
        prop_assert_eq!(ours.next_u64(), plain.next());
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn probed_slots_of_any_thresholds_are_the_plain_ones(
        thresholds in prop::collection::vec(any_threshold(), 0..80),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any_threshold()), 0..4),
        keys in prop::collection::vec(any::<u64>(), 1..6),
    ) {
        let (mut slots, mut thresholds) = (ProbedSlots::with_thresholds(thresholds.clone()), thresholds);
        for (at, threshold) in changes {
            if at.index(4) == 0 || thresholds.is_empty() {
                thresholds.push(threshold);
                slots.push(threshold);
            } else {
                let slot = at.index(thresholds.len());
                thresholds[slot] = threshold;
                slots.set_threshold(slot, threshold);
            }
        }
        prop_assert_eq!(&slots, &ProbedSlots::with_thresholds(thresholds.clone()));
        for key in keys {
            let wanted = plain::probed::slot(key, &thresholds);
            prop_assert_eq!(slots.slot(key).map(|slot| slot as usize), wanted);
            prop_assert!(wanted.is_none_or(|slot| slots.is_open(slot as u32)));
        }
    }

    #[test]
    fn a_permutation_rank_is_the_plain_one(key in any::<u64>(), n in prop_oneof![0..70_usize, 0..1100_usize]) {
        let ours: Vec<usize> = PermutationRank::new(key, n as u32).map(|slot| slot as usize).collect();
        prop_assert_eq!(ours, plain::rank::rank(key, n));
    }
}

/// Thresholds of slots: closed, full, nearly either, and anything between.
fn any_threshold() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(0), 2 => Just(65536), 1 => 1..4_u32, 1 => 65530..65536_u32, 2 => 0..=65536_u32]
}

/// The seven entries that a published test of another program names, with its own hash and dead nodes left out.
#[test]
fn the_plain_table_fills_as_another_programs_published_test_says() {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&0xdead_beef_cafe_babe_u64.to_le_bytes());
    let fill = |backends: &[usize]| {
        let taker = |i: &usize| {
            let hash = clockwise::hash::siphash_2_4(&key, format!("backend-{i}").as_bytes());
            plain::maglev::Taker {
                offset: (hash >> 32) % 7,
                skip: hash % (1 << 32) % 6 + 1,
                weight: 1,
            }
        };
        let takers: Vec<_> = backends.iter().map(taker).collect();
        let table = plain::maglev::fill(&takers, 7);
        table
            .into_iter()
            .map(|taker| backends[taker])
            .collect::<Vec<_>>()
    };
    assert_eq!(fill(&[0, 1, 2]), [1, 2, 0, 2, 0, 1, 0]);
    assert_eq!(fill(&[0, 2]), [0, 2, 0, 2, 0, 2, 0]);
}

/// Where nearly all nodes are closed, most of a ranking comes from the race behind the probes.
#[test]
fn a_probed_ranking_goes_on_behind_its_probes_as_the_plain_one_does() {
    for open in 1..20 {
        let milli = |i: u32| {
            if i % 20 < open && i.is_multiple_of(13) {
                1000 * (i % 4 + 1)
            } else {
                0
            }
        };
        let nodes: Vec<Node> = (0..300)
            .map(|i| Node::new(&format!("node-{i}"), milli(i)))
            .collect();
        let keys: Vec<Vec<u8>> = (0..40_u32).map(|i| i.to_le_bytes().to_vec()).collect();
        compare(Spec::Probed, "probed", &nodes, &keys);
    }
}

/// Default parameters and slot counts once in full, where random small ones cannot reach.
#[test]
fn default_sizes_rank_as_the_plain_ones_do() {
    let nodes: Vec<Node> = (0..12)
        .map(|i| Node::new(&format!("node-{i}"), [1000, 1500, 250, 0][i % 4]))
        .collect();
    let keys: Vec<Vec<u8>> = (0..50).map(|i| format!("sess:{i}").into_bytes()).collect();
    compare(Spec::Slots { count: 16384 }, "slots", &nodes, &keys);
    compare(
        Spec::Maglev { size: 2003 },
        "maglev,size=2003",
        &nodes,
        &keys,
    );
    compare(Spec::Ring { tokens: 160 }, "ring", &nodes, &keys);
    compare(
        Spec::Article000Ring { tokens: 100 },
        "articles/000-ring",
        &nodes,
        &keys,
    );
    compare(
        Spec::Article002Ring { tokens: 160 },
        "articles/002-ring",
        &nodes,
        &keys,
    );
    compare(
        Spec::Article003Ring { tokens: 100 },
        "articles/003-ring",
        &nodes,
        &keys,
    );
    compare(
        Spec::Article003RingRaw { tokens: 100 },
        "articles/003-ring-raw",
        &nodes,
        &keys,
    );
    compare(
        Spec::Article004Ring { tokens: 150 },
        "articles/004-ring",
        &nodes,
        &keys,
    );
}

fn specs(tokens: u32, count: u32, size: u32) -> Vec<(Spec, String)> {
    let ring = |name: &str| format!("{name},tokens={tokens}");
    vec![
        (Spec::Slots { count }, format!("slots,count={count}")),
        (Spec::Ring { tokens }, ring("ring")),
        (Spec::Rendezvous, "rendezvous".into()),
        (Spec::Jump, "jump".into()),
        (Spec::JumpBack, "jumpback".into()),
        (Spec::Maglev { size }, format!("maglev,size={size}")),
        (Spec::Probed, "probed".into()),
        (Spec::Rank, "rank".into()),
        (Spec::Modulo, "modulo".into()),
        (Spec::Article000Ring { tokens }, ring("articles/000-ring")),
        (Spec::Article000Rendezvous, "articles/000-rendezvous".into()),
        (Spec::Article000Jump, "articles/000-jump".into()),
        (Spec::Article000Modulo, "articles/000-modulo".into()),
        (Spec::Article002Ring { tokens }, ring("articles/002-ring")),
        (Spec::Article003Ring { tokens }, ring("articles/003-ring")),
        (
            Spec::Article003RingRaw { tokens },
            ring("articles/003-ring-raw"),
        ),
        (Spec::Article003Jump, "articles/003-jump".into()),
        (Spec::Article003Modulo, "articles/003-modulo".into()),
        (Spec::Article004Ring { tokens }, ring("articles/004-ring")),
        (Spec::Article004Modulo, "articles/004-modulo".into()),
    ]
}

/// The nodes with weights as a scheme takes them: the first one's for all where it has none, and whole ones of at most 4
/// where each is a slot.
fn fit(spec: Spec, nodes: &[Node]) -> Vec<Node> {
    let first = nodes.first().map_or(0, |node| node.milli);
    let milli = |node: &Node| match spec {
        Spec::Jump
        | Spec::JumpBack
        | Spec::Modulo
        | Spec::Article000Rendezvous
        | Spec::Article000Jump
        | Spec::Article000Modulo
        | Spec::Article003Jump
        | Spec::Article003Modulo
        | Spec::Article004Modulo => first,
        Spec::Probed | Spec::Rank => node.milli % 5 * 1000,
        _ => node.milli,
    };
    nodes
        .iter()
        .map(|node| Node::new(&node.id, milli(node)))
        .collect()
}

/// Builds both and compares tables, tokens and whole rankings.
fn compare(spec: Spec, text: &str, nodes: &[Node], keys: &[Vec<u8>]) {
    let ours = Placement::build(&scheme(text), &membership_of(nodes));
    let (ours, plain) = match (ours, plain::build(&spec, nodes)) {
        (Ok(ours), Ok(plain)) => (ours, plain),
        (Err(BuildError::WeightVanishes { id, .. }), Err(Refused::NoSlotFor(node))) => {
            assert_eq!(id.as_str(), node, "{text}");
            return;
        }
        (ours, plain) => panic!("{text}: {ours:?} against {plain:?}"),
    };
    if ours.slot_owners().is_some() {
        assert_eq!(listed_table(&ours, nodes), plain.table, "{text}");
    }
    let tokens: Vec<(u64, &str)> = ours.tokens().map(|(t, m)| (t.0, m.id().as_str())).collect();
    let points: Vec<(u64, &str)> = plain
        .points
        .iter()
        .map(|point| (point.at, nodes[point.node].id.as_str()))
        .collect();
    assert_eq!(tokens, points, "{text}");
    for key in keys {
        assert_eq!(ours.token(key).0, plain.key_hash(key), "{text}");
        let ranked = plain.ranked(key);
        assert_eq!(ranking(&ours, nodes, key), ranked, "{text}, key {key:02x?}");
        let owner = ours.owner(key).map(|member| member.id().as_str());
        assert_eq!(
            owner,
            ranked.first().map(|&node| nodes[node].id.as_str()),
            "{text}"
        );
    }
}

fn ranking(placement: &Placement, nodes: &[Node], key: &[u8]) -> Vec<usize> {
    placement
        .replicas(key, usize::MAX)
        .map(|member| listed(nodes, member.id().as_str()))
        .collect()
}

fn listed_table(placement: &Placement, nodes: &[Node]) -> Vec<usize> {
    placement
        .slot_owners()
        .expect("a scheme of slots")
        .iter()
        .map(|&node| listed(nodes, placement.members()[node as usize].id().as_str()))
        .collect()
}

fn listed(nodes: &[Node], id: &str) -> usize {
    nodes
        .iter()
        .position(|node| node.id == id)
        .expect("a listed id")
}
