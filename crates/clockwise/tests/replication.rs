//! Replica sets: caps are kept, a failure costs one replica, and what falls short says why.

mod support;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use clockwise::hash::Rng;
use clockwise::{
    Deficit, DomainLevel, DomainRule, FailureDomains, HashedKey, Member, Membership, Placement,
    ReplicaSet, ReplicaSets, Replication, ReplicationError, SpreadMode, Token, Weight,
};
use support::{member, nodes, scheme};

/// Schemes of which a ranking loses a node that is down without any other change.
const SCHEMES: [&str; 9] = [
    "rendezvous",
    "ring",
    "slots",
    "maglev",
    "probed",
    "rank",
    "jump",
    "jumpback",
    "modulo",
];

fn tokens(seed: u64, count: usize) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| rng.next_u64()).collect()
}

/// A member with labels `region/zone/rack/host`; a missing part is `-`, parts at the end may be left out.
fn at(id: &str, labels: &str) -> Member {
    let mut parts = labels
        .split('/')
        .map(|label| (label != "-" && !label.is_empty()).then(|| label.to_owned()));
    let mut next = || parts.next().flatten();
    member(id, 1000).with_domains(FailureDomains {
        region: next(),
        zone: next(),
        rack: next(),
        host: next(),
    })
}

/// `count` members named `n00`, `n01`, … in zones by `zone`.
fn in_zones(count: usize, zone: impl Fn(usize) -> String) -> Membership {
    let place = |i: usize| at(&format!("n{i:02}"), &format!("r/{}", zone(i)));
    Membership::new((0..count).map(place)).expect("different ids")
}

fn listed<const N: usize>(members: [Member; N]) -> Membership {
    Membership::new(members).expect("different ids")
}

fn placed(name: &str, membership: &Membership) -> Placement {
    Placement::build(&scheme(name), membership).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn policy(factor: u32, rules: &str) -> Replication {
    let plain = Replication::new(NonZeroU32::new(factor).expect("a factor"));
    match rules {
        "" => plain,
        _ => plain
            .with_rules(rules)
            .unwrap_or_else(|error| panic!("{error}")),
    }
}

fn sets<'p>(placement: &'p Placement, factor: u32, rules: &str) -> ReplicaSets<'p> {
    ReplicaSets::new(placement, policy(factor, rules)).unwrap_or_else(|error| panic!("{error}"))
}

fn select(sets: &ReplicaSets<'_>, token: u64, is_up: impl Fn(usize) -> bool) -> ReplicaSet {
    sets.select(&HashedKey::of_token(Token(token)), is_up)
}

/// The nodes of a set without holes.
fn held(set: &ReplicaSet) -> Vec<usize> {
    set.nodes
        .iter()
        .map(|node| node.expect("no hole"))
        .collect()
}

fn zone(placement: &Placement, node: usize) -> &str {
    let label = &placement.members()[node].domains().zone;
    label.as_deref().expect("a zone")
}

#[test]
fn a_failure_costs_its_keys_one_replica_and_no_other_and_keeps_the_order() {
    // Twelve nodes in four zones, every single failure, 20,000 keys.
    let membership = in_zones(12, |i| format!("z{}", i % 4));
    for name in SCHEMES {
        let placement = placed(name, &membership);
        let sets = sets(&placement, 3, "zone=1");
        let keys = tokens(12, 20_000);
        let whole: Vec<Vec<usize>> = keys
            .iter()
            .map(|&key| held(&select(&sets, key, |_| true)))
            .collect();
        let mut set = ReplicaSet::default();
        for down in 0..12 {
            let mut lost = 0;
            for (&key, before) in keys.iter().zip(&whole) {
                let key = HashedKey::of_token(Token(key));
                sets.select_into(&key, |node| node != down, &mut set);
                let after = held(&set);
                let survivors = before.iter().filter(|&&node| node != down);
                let kept = after.iter().filter(|node| before.contains(node));
                assert!(
                    survivors.eq(kept),
                    "{name}, {down} down: {before:?}, {after:?}"
                );
                assert_eq!(after.len(), 3, "{name}");
                assert!(!after.contains(&down));
                assert!(before.contains(&down) || *before == after, "{name}");
                assert!(set.deficit.is_none() && set.degraded.is_empty());
                lost += usize::from(before.contains(&down));
            }
            // A quarter of all replicas; its error is below the square root of the count.
            let due = keys.len() / 4;
            let own = match name {
                // The shares of a ring and of whole slots differ from the mean by their own.
                "ring" | "slots" | "maglev" => due as f64 * 0.45,
                _ => 0.0,
            };
            let off = lost.abs_diff(due) as f64;
            assert!(off < own + 5.0 * (due as f64).sqrt(), "{name}: {lost}");
        }
    }
}

#[test]
fn a_node_taken_off_the_list_costs_no_more_than_one_that_is_down() {
    let membership = in_zones(12, |i| format!("z{}", i % 4));
    for name in ["rendezvous", "ring"] {
        let whole = placed(name, &membership);
        let down = 5;
        let id = whole.members()[down].id().clone();
        let without = whole.without_member(&id).expect("a member");
        let (all, rest) = (sets(&whole, 3, "zone=1"), sets(&without, 3, "zone=1"));
        for key in tokens(5, 5000) {
            let ids = |placement: &Placement, set: &ReplicaSet| -> Vec<String> {
                let id = |&node: &usize| placement.members()[node].id().to_string();
                held(set).iter().map(id).collect()
            };
            assert_eq!(
                ids(&whole, &select(&all, key, |node| node != down)),
                ids(&without, &select(&rest, key, |_| true)),
                "{name}"
            );
        }
    }
}

#[test]
fn one_replica_in_each_of_three_uneven_zones_loads_the_small_zone_most() {
    let membership = in_zones(12, |i| {
        ["a", "a", "a", "a", "a", "a", "a", "a", "b", "b", "b", "c"][i].into()
    });
    let placement = placed("rendezvous", &membership);
    let sets = sets(&placement, 3, "zone=1");
    let mut counts = [0_u32; 12];
    for key in tokens(3, 20_000) {
        let set = held(&select(&sets, key, |_| true));
        let zones: BTreeSet<&str> = set.iter().map(|&node| zone(&placement, node)).collect();
        assert_eq!(zones.len(), 3);
        for node in set {
            counts[node] += 1;
        }
    }
    // Every zone holds every key, whatever its size: an eighth, a third, or all of them a node.
    for (node, count) in counts.into_iter().enumerate() {
        let share: f64 =
            [1.0 / 8.0, 1.0 / 3.0, 1.0][usize::from(node >= 8) + usize::from(node >= 11)];
        let error = (20_000.0 * share * (1.0 - share)).sqrt();
        assert!(
            (f64::from(count) - 20_000.0 * share).abs() <= 5.0 * error,
            "{counts:?}"
        );
    }
}

#[test]
fn replica_shares_of_equal_nodes_in_equal_zones_are_even() {
    let placement = placed("rendezvous", &in_zones(12, |i| format!("z{}", i % 4)));
    for rules in ["", "zone=1", "zone=2", "zone=1:preferred"] {
        let sets = sets(&placement, 3, rules);
        let mut counts = [0_u64; 12];
        for key in tokens(7, 40_000) {
            for node in held(&select(&sets, key, |_| true)) {
                counts[node] += 1;
            }
        }
        // Draws of three at once are more even than single ones, so z stays below that of those.
        let z = support::chi_square_z(&counts, &[1.0 / 12.0; 12]);
        assert!(z < 5.0, "{rules}: z = {z:.2}");
        assert_eq!(counts.iter().sum::<u64>(), 120_000);
    }
}

#[test]
fn two_zones_are_too_few_for_three_replicas_and_the_set_says_which_level() {
    let membership = in_zones(7, |i| if i < 4 { "a".into() } else { "b".into() });
    let placement = placed("rendezvous", &membership);
    let required = sets(&placement, 3, "zone=1");
    let preferred = sets(&placement, 3, "zone=1:preferred");
    for key in tokens(2, 5000) {
        let set = select(&required, key, |_| true);
        let nodes = held(&set);
        assert_eq!(nodes.len(), 2);
        assert_ne!(zone(&placement, nodes[0]), zone(&placement, nodes[1]));
        assert_eq!(
            set.deficit,
            Some(Deficit {
                missing: 1,
                levels: vec![DomainLevel::Zone]
            })
        );
        assert!(set.degraded.is_empty());

        let set = select(&preferred, key, |_| true);
        let zones: BTreeSet<&str> = held(&set).iter().map(|&n| zone(&placement, n)).collect();
        assert_eq!((set.nodes.len(), zones.len()), (3, 2));
        assert_eq!(held(&set)[..2], nodes);
        assert_eq!((set.deficit, set.degraded), (None, vec![DomainLevel::Zone]));

        // A whole zone down: required keeps one replica, preferred stacks all three and says so twice.
        let in_a = |node: usize| node < 4;
        let set = select(&required, key, in_a);
        assert_eq!(set.nodes.len(), 1);
        let missing = set.deficit.expect("a deficit");
        assert_eq!(
            (missing.missing, missing.levels),
            (2, vec![DomainLevel::Zone])
        );
        let set = select(&preferred, key, in_a);
        assert_eq!((set.nodes.len(), set.deficit), (3, None));
        assert_eq!(set.degraded, [DomainLevel::Zone; 2]);
    }
    // Too few nodes at all is nobody's level.
    let set = select(&sets(&placement, 9, ""), 1, |_| true);
    assert_eq!(
        set.deficit,
        Some(Deficit {
            missing: 2,
            levels: vec![]
        })
    );
    let set = select(&preferred, 1, |_| false);
    assert_eq!(
        set.deficit,
        Some(Deficit {
            missing: 3,
            levels: vec![]
        })
    );
    assert_eq!((set.nodes, set.degraded), (vec![], vec![]));
}

#[test]
fn a_missing_label_is_refused_where_required_and_one_unknown_domain_where_preferred() {
    let membership = listed([
        at("a", "r/x"),
        at("b", "r/-"),
        at("c", "r/y"),
        at("d", "r/-"),
    ]);
    let placement = placed("rendezvous", &membership);
    let refused = ReplicaSets::new(&placement, policy(2, "zone=1")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "node b has no zone, which the rule for it requires"
    );
    let ReplicationError::Unlabelled { id, level } = refused else {
        panic!("{refused}")
    };
    assert_eq!((id.as_str(), level), ("b", DomainLevel::Zone));
    let preferred = sets(&placement, 3, "zone=1:preferred");
    for key in tokens(9, 2000) {
        let set = select(&preferred, key, |_| true);
        let nodes = held(&set);
        assert!(
            !(nodes.contains(&1) && nodes.contains(&3)),
            "both unknown: {nodes:?}"
        );
        assert_eq!((set.deficit, set.degraded), (None, vec![]));
        let set = select(&preferred, key, |node| node != 0);
        assert_eq!(
            (set.nodes.len(), set.degraded),
            (3, vec![DomainLevel::Zone])
        );
    }
    // A host is named by its node where it has no label, and a node without weight needs none.
    assert!(ReplicaSets::new(&placement, policy(3, "host=1")).is_ok());
    let zero = listed([at("a", "r/x"), at("b", "r/-").with_weight(Weight::ZERO)]);
    let placement = placed("rendezvous", &zero);
    let set = select(&sets(&placement, 2, "zone=1"), 4, |_| true);
    assert_eq!(set.nodes, [Some(0)]);
    assert_eq!(
        set.deficit,
        Some(Deficit {
            missing: 1,
            levels: vec![]
        })
    );
}

#[test]
fn two_nodes_on_one_host_never_hold_the_same_key() {
    let membership = listed([
        at("a", "-/-/-/h1"),
        at("b", "-/-/-/h1"),
        at("c", "-/-/-/h2"),
        at("d", ""),
    ]);
    let placement = placed("ring", &membership);
    let sets = sets(&placement, 3, "host=1");
    for key in tokens(11, 5000) {
        let nodes = held(&select(&sets, key, |_| true));
        assert_eq!(nodes.len(), 3);
        assert!(!(nodes.contains(&0) && nodes.contains(&1)), "{nodes:?}");
    }
    // Two nodes without a host are two hosts.
    let alone = listed([at("a", ""), at("b", "")]);
    let placement = placed("ring", &alone);
    let sets = ReplicaSets::new(&placement, policy(2, "host=1")).expect("a policy");
    assert_eq!(select(&sets, 1, |_| true).nodes.len(), 2);
}

#[test]
fn a_level_is_qualified_by_the_levels_above_it() {
    let membership = listed([
        at("a", "r/x/1/h"),
        at("b", "r/y/1/h"),
        at("c", "r/x/1/i"),
        at("d", "s/x/1/h"),
    ]);
    let placement = placed("rendezvous", &membership);
    for (rules, most) in [
        // Rack 1 is another one in each zone, and zone x another in each region.
        ("rack=1", 3),
        ("zone=1", 3),
        ("host=1", 4),
        ("region=1", 2),
        ("region=1,zone=1,rack=1,host=1", 2),
        ("region=2,rack=1", 3),
    ] {
        for key in tokens(13, 500) {
            let nodes = held(&select(&sets(&placement, 4, rules), key, |_| true));
            assert_eq!(nodes.len(), most, "{rules}: {nodes:?}");
            let both = nodes.contains(&0) && nodes.contains(&2);
            assert!(!both || rules == "host=1", "{rules}: {nodes:?}");
        }
    }
}

#[test]
fn a_cap_of_two_allows_two_and_no_third() {
    let placement = placed("slots", &in_zones(12, |i| format!("z{}", i % 3)));
    let sets = sets(&placement, 5, "zone=2");
    let mut pairs = 0;
    for key in tokens(15, 5000) {
        let nodes = held(&select(&sets, key, |_| true));
        assert_eq!(nodes.len(), 5);
        for name in ["z0", "z1", "z2"] {
            let here = nodes.iter().filter(|&&node| zone(&placement, node) == name);
            let here = here.count();
            assert!(here <= 2);
            pairs += usize::from(here == 2);
        }
    }
    assert_eq!(pairs, 10_000);
    let six = ReplicaSets::new(&placement, policy(7, "zone=2")).expect("a policy");
    assert_eq!(
        select(&six, 1, |_| true).deficit.map(|d| d.missing),
        Some(1)
    );
}

#[test]
fn kept_positions_leave_a_hole_and_everyone_else_where_they_were() {
    let placement = placed("rank", &in_zones(12, |i| format!("z{}", i % 4)));
    let shifting = sets(&placement, 3, "zone=1");
    let kept = policy(3, "zone=1").with_kept_positions();
    assert!(kept.keeps_positions() && !shifting.replication().keeps_positions());
    let kept = ReplicaSets::new(&placement, kept).expect("a policy");
    for key in tokens(17, 3000) {
        let whole = select(&shifting, key, |_| true).nodes;
        for down in [0, 3, 7] {
            let set = select(&kept, key, |node| node != down && node != 11);
            let wanted: Vec<Option<usize>> = whole
                .iter()
                .map(|node| node.filter(|&node| node != down && node != 11))
                .collect();
            assert_eq!(set.nodes, wanted);
            assert_eq!((set.deficit, set.degraded), (None, vec![]));
        }
        assert_eq!(select(&kept, key, |_| false).nodes, [None; 3]);
    }
}

#[test]
fn a_scheme_that_names_the_owner_alone_cannot_place_replicas() {
    let cluster = placed("redis-cluster", &nodes(3));
    let refused = ReplicaSets::new(&cluster, policy(2, "")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "scheme redis-cluster names no node behind the owner, so it cannot place replicas"
    );
    let one = sets(&cluster, 1, "");
    let key = cluster.hash(b"user:1");
    assert_eq!(
        one.select(&key, |_| true).nodes,
        [cluster.owner_index(&key)]
    );
}

#[test]
fn rules_are_read_sorted_and_refused_by_the_piece_that_is_wrong() {
    let rules = policy(3, "host=1,zone=2:preferred,region=7:required");
    let printed: Vec<String> = rules.rules().iter().map(DomainRule::to_string).collect();
    assert_eq!(printed, ["region=7", "zone=2:preferred", "host=1"]);
    assert_eq!(rules.factor().get(), 3);
    for level in DomainLevel::ALL {
        for (mode, end) in [
            (SpreadMode::Required, ""),
            (SpreadMode::Preferred, ":preferred"),
        ] {
            let rule = DomainRule::new(level, NonZeroU32::new(4).expect("4"), mode);
            assert_eq!(rule.to_string(), format!("{level}=4{end}"));
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
    }
    for text in [
        "",
        "zone",
        "zone=",
        "zone=0",
        "zone=-1",
        "zone=+1",
        "zone=1:",
        "zone=1:soft",
        "Zone=1",
        "zone=1 ",
        "data=1",
        "zone=4294967296",
        "zone=1:preferred:preferred",
    ] {
        let error = text.parse::<DomainRule>().unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "domain rule {text:?}: must be region, zone, rack or host, = and a number from 1, then :preferred if \
                 it may give way"
            )
        );
    }
    let three = || Replication::new(NonZeroU32::new(3).expect("3"));
    assert_eq!(
        three()
            .with_rules("zone=1,rack=1,zone=2")
            .unwrap_err()
            .to_string(),
        "two domain rules for zone"
    );
    assert!(three().with_rules("zone=1,").is_err());
}

#[test]
fn a_set_that_is_used_again_allocates_nothing() {
    let labels = |i: usize| format!("r/z{}/{}/h{}", i % 3, i % 2, i / 2);
    let members: Vec<Member> = (0..10).map(|i| at(&format!("n{i}"), &labels(i))).collect();
    let membership = Membership::new(members).expect("different ids");
    for name in clockwise::Scheme::names().filter(|&name| name != "redis-cluster") {
        let placement = placed(name, &membership);
        let keys: Vec<Vec<u8>> = (0..500_u32).map(|i| i.to_le_bytes().to_vec()).collect();
        for (factor, rules) in [
            (3, "zone=1,host=1"),
            (5, "zone=1:preferred,rack=1:preferred,host=1"),
            (4, "zone=1"),
        ] {
            let sets = sets(&placement, factor, rules);
            let mut set = ReplicaSet::default();
            let walk = |set: &mut ReplicaSet| {
                let mut seen = 0;
                for key in &keys {
                    let key = placement.hash(key);
                    sets.select_into(&key, |node| node != 4, set);
                    seen += set.nodes.len();
                    sets.select_into(&key, |_| false, set);
                }
                seen
            };
            let first = walk(&mut set);
            let mut again = 0;
            let counts = allocation_counter::measure(|| again = walk(&mut set));
            assert_eq!((counts.count_total, again), (0, first), "{name}, {rules}");
        }
    }
}
