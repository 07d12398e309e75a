//! Replica sets against the plain version: random topologies, policies and nodes that are down.

mod generate;
mod plain;
mod support;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use clockwise::{
    DomainLevel, DomainRule, FailureDomains, HashedKey, Membership, Placement, ReplicaSet,
    ReplicaSets, Replication, ReplicationError, SpreadMode, Token,
};
use proptest::prelude::*;

use generate::{any_nodes, config};
use plain::replication::{Chosen, Labels, Policy, Rule};
use plain::{Node, Spec};
use support::{build, member};

/// Labels of small sets, so that domains fill up, some of them missing.
fn any_labels() -> impl Strategy<Value = Labels> {
    let label = |names: &'static [&'static str]| {
        prop_oneof![
            1 => Just(None),
            5 => prop::sample::select(names).prop_map(|name| Some(name.to_owned())),
        ]
    };
    (
        label(&["r", "s"]),
        label(&["x", "y", "z"]),
        label(&["1", "2"]),
        label(&["h", "i", "j", "k"]),
    )
        .prop_map(|(region, zone, rack, host)| [region, zone, rack, host])
}

fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    let rule = prop::option::of((1..4_usize, any::<bool>()));
    [rule.clone(), rule.clone(), rule.clone(), rule].prop_map(|rules| {
        let rules = rules.into_iter().enumerate();
        rules
            .filter_map(|(level, rule)| {
                rule.map(|(cap, preferred)| Rule {
                    level,
                    cap,
                    preferred,
                })
            })
            .collect()
    })
}

fn any_policy() -> impl Strategy<Value = (Vec<Node>, Policy)> {
    let labels = prop::collection::vec(any_labels(), 12);
    (
        any_nodes(1..12),
        labels,
        any_rules(),
        1..7_usize,
        any::<bool>(),
    )
        .prop_map(|(nodes, labels, rules, factor, keeps_positions)| {
            let policy = Policy {
                ids: nodes.iter().map(|node| node.id.clone()).collect(),
                labels: labels[..nodes.len()].to_vec(),
                rules,
                factor,
                keeps_positions,
            };
            (nodes, policy)
        })
}

fn membership_in(nodes: &[Node], policy: &Policy) -> Membership {
    let place = |(node, labels): (&Node, &Labels)| {
        let [region, zone, rack, host] = labels.clone();
        member(&node.id, node.milli).with_domains(FailureDomains {
            region,
            zone,
            rack,
            host,
        })
    };
    Membership::new(nodes.iter().zip(&policy.labels).map(place)).expect("distinct ids")
}

fn written(policy: &Policy) -> Replication {
    let rules = policy.rules.iter().rev().map(|rule| {
        let mode = if rule.preferred {
            SpreadMode::Preferred
        } else {
            SpreadMode::Required
        };
        let cap = NonZeroU32::new(rule.cap as u32).expect("a cap");
        DomainRule::new(DomainLevel::ALL[rule.level], cap, mode)
    });
    let factor = NonZeroU32::new(policy.factor as u32).expect("a factor");
    let replication = rules.fold(Replication::new(factor), |all, rule| {
        all.with_rule(rule).expect("each level once")
    });
    if policy.keeps_positions {
        replication.with_kept_positions()
    } else {
        replication
    }
}

/// The library's set in the plain version's words: indices of the listing.
fn in_plain_words(placement: &Placement, nodes: &[Node], set: &ReplicaSet) -> Chosen {
    let place = |node: usize| {
        let id = placement.members()[node].id().as_str();
        nodes.iter().position(|node| node.id == id).expect("listed")
    };
    let levels = |levels: &[DomainLevel]| levels.iter().map(|&level| level as usize).collect();
    Chosen {
        nodes: set.nodes.iter().map(|node| node.map(place)).collect(),
        degraded: levels(&set.degraded),
        missing: set.deficit.as_ref().map_or(0, |deficit| deficit.missing),
        short_of: set
            .deficit
            .as_ref()
            .map_or(vec![], |deficit| levels(&deficit.levels)),
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn replica_sets_are_the_plain_ones_whoever_is_down(
        (nodes, policy) in any_policy(),
        keys in prop::collection::vec(any::<u64>(), 1..6),
        up in prop::collection::vec(prop::bool::weighted(0.7), 12),
    ) {
        for (spec, text) in [
            (Spec::Rendezvous, "rendezvous"),
            (Spec::Ring { tokens: 2 }, "ring,tokens=2"),
            (Spec::Rank, "rank"),
        ] {
            let by_slot = spec == Spec::Rank;
            let nodes: Vec<Node> = nodes
                .iter()
                .map(|node| Node::new(&node.id, if by_slot { node.milli % 4 * 1000 } else { node.milli }))
                .collect();
            let placement = build(text, &membership_in(&nodes, &policy));
            let mut live: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].milli > 0).collect();
            live.sort_by_key(|&i| nodes[i].id.clone().into_bytes());
            let sets = match (ReplicaSets::new(&placement, written(&policy)), plain::replication::unlabelled(&policy, &live)) {
                (Ok(sets), None) => sets,
                (Err(ReplicationError::Unlabelled { id, level }), Some((node, lacking))) => {
                    prop_assert_eq!((id.as_str(), level as usize), (nodes[node].id.as_str(), lacking));
                    continue;
                }
                (sets, unlabelled) => panic!("{sets:?}, {unlabelled:?}"),
            };
            let plain_placement = plain::build(&spec, &nodes).unwrap();
            let is_up = |node: usize| {
                let id = placement.members()[node].id().as_str();
                up[nodes.iter().position(|node| node.id == id).unwrap()]
            };
            let mut reused = ReplicaSet::default();
            for &key in &keys {
                let ranking = plain_placement.ranked_hash(key);
                let hashed = HashedKey::of_token(Token(key));
                for all_up in [true, false] {
                    let up = if all_up { vec![true; 12] } else { up.clone() };
                    let set = sets.select(&hashed, |node| all_up || is_up(node));
                    sets.select_into(&hashed, |node| all_up || is_up(node), &mut reused);
                    prop_assert_eq!(&set, &reused);
                    let chosen = in_plain_words(&placement, &nodes, &set);
                    prop_assert_eq!(&chosen, &plain::replication::select(&policy, &ranking, &up));
                    keeps_every_cap(&policy, &chosen)?;
                }
            }
        }
    }
}

/// Distinct nodes, no more than asked for, and no required cap passed; a preferred one by no more than it was raised.
fn keeps_every_cap(policy: &Policy, chosen: &Chosen) -> Result<(), TestCaseError> {
    let nodes: Vec<usize> = chosen.nodes.iter().flatten().copied().collect();
    let distinct: BTreeSet<usize> = nodes.iter().copied().collect();
    prop_assert_eq!(distinct.len(), nodes.len());
    prop_assert_eq!(chosen.nodes.len() + chosen.missing, policy.factor);
    for rule in &policy.rules {
        let raised = chosen.degraded.iter().filter(|&&level| level == rule.level);
        let cap = rule.cap + raised.count();
        prop_assert!(rule.preferred || cap == rule.cap);
        for &node in &nodes {
            let domain = |node| plain::replication::domain(policy, rule.level, node);
            let here = nodes.iter().filter(|&&other| domain(other) == domain(node));
            prop_assert!(here.count() <= cap, "{:?}: {:?}", rule, chosen);
        }
    }
    Ok(())
}
