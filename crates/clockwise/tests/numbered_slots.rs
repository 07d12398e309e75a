//! JumpBack, probed slots and permutation rank: what their definitions promise, and the limits that they state.
//!
//! Bounds: a number of keys that each do something with chance p has a standard error of sqrt(n p (1 - p)); five of
//! them are allowed.

mod plain;
mod support;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use clockwise::hash::Rng;
use clockwise::{
    Algorithm, BuildError, HashedKey, Membership, PermutationRank, Placement, ProbedSlots, Token,
    jumpback, stay_share,
};
use support::{build, chi_square_z, member, nodes, weighted_nodes};

/// Slots of every key.
fn slots_of(slots: &ProbedSlots, keys: &[u64]) -> Vec<Option<u32>> {
    keys.iter().map(|&key| slots.slot(key)).collect()
}

fn random_keys(seed: u64, count: usize) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| rng.next_u64()).collect()
}

/// Pairs of slots before and after, of the keys that moved.
fn moved(before: &[Option<u32>], after: &[Option<u32>]) -> Vec<(Option<u32>, Option<u32>)> {
    before
        .iter()
        .copied()
        .zip(after.iter().copied())
        .filter(|(old, new)| old != new)
        .collect()
}

fn assert_near(count: usize, chance: f64, of: usize) {
    let of = of as f64;
    let error = (of * chance * (1.0 - chance)).sqrt();
    let off = (count as f64 - of * chance).abs();
    assert!(
        off < 5.0 * error,
        "{count} instead of {}, error {error}",
        of * chance
    );
}

#[test]
fn any_change_of_one_threshold_moves_keys_to_or_from_that_slot_alone() {
    let keys = random_keys(600, 2000);
    let mut rng = Rng::new(3);
    let mut thresholds = vec![ProbedSlots::FULL; 12];
    let mut slots = ProbedSlots::full(12);
    let mut before = slots_of(&slots, &keys);
    let mut last_resorts = 0;
    for step in 0..600 {
        // In some stretches nearly all is closed, so that the last resort decides too.
        let sparse = step / 100 % 2 == 1;
        let slot = rng.uniform(thresholds.len() as u32) as usize;
        let old = thresholds[slot];
        let next = match rng.uniform(8) {
            0 if !sparse => None,
            1..=3 => Some(0),
            4 | 5 if !sparse => Some(ProbedSlots::FULL),
            _ => Some(rng.uniform(if sparse { 600 } else { ProbedSlots::FULL + 1 })),
        };
        let changed = match next {
            None => {
                slots.push(ProbedSlots::FULL);
                thresholds.push(ProbedSlots::FULL);
                thresholds.len() - 1
            }
            Some(threshold) => {
                slots.set_threshold(slot, threshold);
                thresholds[slot] = threshold;
                slot
            }
        };
        let after = slots_of(&slots, &keys);
        let gains = next.is_none_or(|threshold| threshold > old);
        for (from, to) in moved(&before, &after) {
            let side = if gains { to } else { from };
            assert_eq!(
                side,
                Some(changed as u32),
                "step {step}: {from:?} to {to:?}"
            );
        }
        // Nothing of the past counts.
        let fresh = ProbedSlots::with_thresholds(thresholds.clone());
        assert_eq!(slots, fresh, "step {step}");
        assert_eq!(slots_of(&fresh, &keys), after, "step {step}");
        // Closing any slot and opening it as before brings back exactly its keys.
        let other = rng.uniform(thresholds.len() as u32) as usize;
        let mut round_trip = slots.clone();
        round_trip.set_threshold(other, 0);
        let without = slots_of(&round_trip, &keys);
        for (from, _) in moved(&after, &without) {
            assert_eq!(from, Some(other as u32), "step {step}");
        }
        assert!(!without.contains(&Some(other as u32)));
        round_trip.set_threshold(other, thresholds[other]);
        assert_eq!(slots_of(&round_trip, &keys), after, "step {step}");
        last_resorts += keys
            .iter()
            .filter(|&&key| (0..64).all(|i| !plain::probed::candidate(key, i, &thresholds).1))
            .count();
        before = after;
    }
    assert!(last_resorts > 10_000, "{last_resorts}");
    assert!(thresholds.len() > 30, "{}", thresholds.len());
}

#[test]
fn full_slots_are_jumpback_and_closed_ones_own_nothing() {
    for (count, key) in (1..=300).flat_map(|count| (0..100).map(move |key| (count, key))) {
        let key = if key % 2 == 0 {
            key
        } else {
            clockwise::hash::mix(key)
        };
        let bucket = jumpback(key, NonZeroU32::new(count).expect("a bucket"));
        assert_eq!(ProbedSlots::full(count).slot(key), Some(bucket));
    }
    for slots in [ProbedSlots::default(), ProbedSlots::with_thresholds([0; 9])] {
        assert_eq!(slots.slot(7), None);
        assert_eq!((0..9).filter(|&slot| slots.is_open(slot)).count(), 0);
    }
    let mut slots = ProbedSlots::with_thresholds([u32::MAX, 0]);
    assert_eq!(slots, ProbedSlots::with_thresholds([ProbedSlots::FULL, 0]));
    slots.set_threshold(2, ProbedSlots::FULL);
    assert_eq!((slots.len(), slots.is_empty()), (2, false));
    // A cluster under jumpback goes over to probed without moving a key.
    let (one, other) = (build("jumpback", &nodes(37)), build("probed", &nodes(37)));
    for key in 0..10_000_u32 {
        let key = one.hash(&key.to_le_bytes()).token();
        assert_eq!(one.owner_of_token(key), other.owner_of_token(key));
    }
}

#[test]
fn a_slot_takes_a_key_whose_draw_is_below_its_threshold_and_not_at_it() {
    for key in random_keys(16, 2000) {
        let named = jumpback(key, NonZeroU32::new(9).expect("9"));
        let draw = plain::mix(key ^ plain::mix(u64::from(named) + 0x5bd1_e995)) >> 48;
        let mut slots = ProbedSlots::full(9);
        slots.set_threshold(named as usize, draw as u32 + 1);
        assert_eq!(slots.slot(key), Some(named));
        slots.set_threshold(named as usize, draw as u32);
        let thresholds: Vec<u32> = (0..9)
            .map(|slot| {
                if slot == named {
                    draw as u32
                } else {
                    ProbedSlots::FULL
                }
            })
            .collect();
        assert!(!plain::probed::candidate(key, 0, &thresholds).1);
        let wanted = plain::probed::slot(key, &thresholds).map(|slot| slot as u32);
        assert_eq!(slots.slot(key), wanted);
    }
}

#[test]
fn shares_follow_the_thresholds_and_probes_their_sum() {
    // Thresholds 1 : 2 : 4 : 8, ten slots closed.
    let threshold = |slot: u32| match slot {
        _ if slot % 10 == 9 => 0,
        _ => ProbedSlots::FULL >> (3 - slot % 4),
    };
    let thresholds: Vec<u32> = (0..100).map(threshold).collect();
    let slots = ProbedSlots::with_thresholds(thresholds.clone());
    let sum: u64 = thresholds.iter().map(|&t| u64::from(t)).sum();
    let mut counts = vec![0_u64; 100];
    for key in random_keys(4, 4_000_000) {
        counts[slots.slot(key).expect("an open slot") as usize] += 1;
    }
    let (counts, shares): (Vec<u64>, Vec<f64>) = counts
        .iter()
        .zip(&thresholds)
        .filter(|(_, threshold)| **threshold > 0)
        .map(|(&count, &threshold)| (count, f64::from(threshold) / sum as f64))
        .unzip();
    assert_eq!(counts.iter().sum::<u64>(), 4_000_000);
    let z = chi_square_z(&counts, &shares);
    assert!(z.abs() < 5.0, "z = {z:.2}");

    // Probes are geometric with mean m, so their average over n keys has an error of sqrt(m (m - 1) / n).
    let predicted = 100.0 * 65536.0 / sum as f64;
    let keys = random_keys(5, 200_000);
    let probes = |&key: &u64| {
        let mut probes = 0..64;
        probes
            .find(|&i| plain::probed::candidate(key, i, &thresholds).1)
            .expect("most is open")
            + 1
    };
    let mean = keys.iter().map(probes).sum::<u64>() as f64 / keys.len() as f64;
    let error = (predicted * (predicted - 1.0) / keys.len() as f64).sqrt();
    assert!(
        (mean - predicted).abs() < 5.0 * error,
        "{mean} instead of {predicted}"
    );
}

#[test]
fn a_partly_open_slot_appended_also_moves_keys_between_old_slots() {
    // The limit is stated as (1 - t / 65536) / a, here 714 of 20,000 keys. A key that the new slot turns away probes
    // anew: it may end on the new slot after all (0.25 of 20.25 slots), or where it was (one of 20).
    let keys = random_keys(20, 20_000);
    let before = ProbedSlots::full(20);
    let mut at_once = before.clone();
    at_once.push(16384);
    let old = slots_of(&before, &keys);
    let between = moved(&old, &slots_of(&at_once, &keys))
        .iter()
        .filter(|(_, to)| *to != Some(20))
        .count();
    let stated = 0.75 / 21.0;
    assert_near(between, stated * (20.0 / 20.25) * (19.0 / 20.0), keys.len());
    assert!((between as f64) < stated * keys.len() as f64, "{between}");
    // Appended in full and then lowered, each step moves keys to or from the new slot alone, to the same end.
    let mut stepwise = before;
    stepwise.push(ProbedSlots::FULL);
    let full = slots_of(&stepwise, &keys);
    assert!(moved(&old, &full).iter().all(|(_, to)| *to == Some(20)));
    stepwise.set_threshold(20, 16384);
    let lowered = slots_of(&stepwise, &keys);
    assert!(
        moved(&full, &lowered)
            .iter()
            .all(|(from, _)| *from == Some(20))
    );
    assert_eq!(stepwise, at_once);
}

#[test]
fn cutting_closed_slots_off_the_end_moves_keys() {
    // A key whose first probe meets the closed slot (one of 20) went on to its second; without that slot its first
    // probe names another, the same only in one of 19 cases.
    let keys = random_keys(19, 20_000);
    let mut closed = ProbedSlots::full(20);
    closed.set_threshold(19, 0);
    let moves = moved(
        &slots_of(&closed, &keys),
        &slots_of(&ProbedSlots::full(19), &keys),
    );
    assert_near(moves.len(), 18.0 / 19.0 / 20.0, keys.len());
    // Ranks leave a closed slot out whether it is there or not.
    let stay = |algorithm| {
        let closed: Vec<Option<u32>> = (0..20).map(|slot| (slot < 19).then_some(slot)).collect();
        stay_share(algorithm, &closed, &closed[..19])
    };
    assert!((stay(Algorithm::Probed) - (1.0 - 18.0 / 19.0 / 20.0)).abs() < 1e-12);
    assert!((stay(Algorithm::Rank) - 1.0).abs() < 1e-12);
    // Two open slots of four, and two more closed ones cut off: a key that met those stays by chance, but goes on
    // probing on both sides if the shorter list names it a closed slot.
    let half = [65536, 65536, 0, 0, 0, 0];
    let moves = moved(
        &slots_of(&ProbedSlots::with_thresholds(half), &keys),
        &slots_of(
            &ProbedSlots::with_thresholds(half[..4].iter().copied()),
            &keys,
        ),
    );
    let open = [Some('a'), Some('b'), None, None, None, None];
    let stay = stay_share(Algorithm::Probed, &open, &open[..4]);
    assert!((stay - 2.5 / 3.0).abs() < 1e-12);
    assert_near(moves.len(), 1.0 - stay, keys.len());
    // As placements: weight 0 keeps the slot, and taking the node off the list is allowed, since it is last.
    let whole = build("probed", &nodes(20));
    let last = "node-19".parse().expect("an id");
    let cut = whole.without_member(&last).expect("the last");
    let kept = whole
        .with_weight(&last, clockwise::Weight::ZERO)
        .expect("a weight");
    let id = |placement: &Placement, key| {
        placement
            .owner_of_token(Token(key))
            .expect("an owner")
            .id()
            .clone()
    };
    let moves = keys.iter().filter(|&&key| id(&kept, key) != id(&cut, key));
    assert_near(moves.count(), 18.0 / 19.0 / 20.0, keys.len());
    for &key in &keys {
        let owner = id(&whole, key);
        assert!(owner == last || owner == id(&kept, key) && owner == id(&cut, key));
    }
}

/// How many of the first three nodes of each key's ranking are not there any more.
fn replicas_lost(before: &Placement, after: &Placement, keys: &[u64]) -> Vec<usize> {
    let first_three = |placement: &Placement, key| -> BTreeSet<String> {
        let ranked = support::ranked_ids(placement, key, 3);
        ranked.into_iter().map(str::to_owned).collect()
    };
    let lost = |&key: &u64| {
        first_three(before, key)
            .difference(&first_three(after, key))
            .count()
    };
    keys.iter().map(lost).collect()
}

#[test]
fn an_appended_slot_takes_several_probed_replicas_of_some_keys_but_never_two_ranked_ones() {
    let keys = random_keys(42, 10_000);
    let lost =
        |name: &str| replicas_lost(&build(name, &nodes(10)), &build(name, &nodes(11)), &keys);
    let probed = lost("probed");
    let keys_that_lost = |replicas| probed.iter().filter(|&&lost| lost == replicas).count();
    assert_eq!((keys_that_lost(2), keys_that_lost(3)), (136, 3));
    let rank = lost("rank");
    assert!(rank.iter().all(|&lost| lost <= 1));
    // The new one of eleven slots is among the first three of 3 keys in 11.
    assert_near(rank.iter().sum(), 3.0 / 11.0, keys.len());
    // Failures take one replica at most in both.
    for name in ["probed", "rank"] {
        let whole = build(name, &nodes(10));
        for down in 0..10 {
            let weights = weighted_nodes(10, |i| if i == down { 0 } else { 1000 });
            let lost = replicas_lost(&whole, &build(name, &weights), &keys[..2000]);
            assert!(lost.iter().all(|&lost| lost <= 1), "{name}, {down} down");
        }
    }
}

#[test]
fn closing_opening_and_weighing_nodes_leaves_the_order_of_all_others() {
    let keys = random_keys(8, 200);
    let mut rng = Rng::new(8);
    let mut weights = [1000; 12];
    for name in ["probed", "rank"] {
        let mut before = build(name, &weighted_nodes(12, |i| weights[i]));
        for _ in 0..60 {
            // The slots of a node with weight stay where they are when it is closed or opened.
            let node = rng.uniform(12) as usize;
            weights[node] = 1000 - weights[node];
            let after = build(name, &weighted_nodes(12, |i| weights[i]));
            let id = format!("node-{node}");
            for &key in &keys {
                let others = |placement: &Placement| -> Vec<String> {
                    let ranked = support::ranked_ids(placement, key, 12);
                    ranked
                        .into_iter()
                        .filter(|&other| other != id)
                        .map(str::to_owned)
                        .collect()
                };
                assert_eq!(others(&before), others(&after), "{name}, {id}");
            }
            before = after;
        }
    }
}

#[test]
fn ordered_pairs_of_a_rank_are_uniform() {
    // 2,000,000 keys each; 64, 65 and the like are where a layer begins.
    for slots in [2_u32, 5, 10, 16, 37, 64, 65, 100] {
        let mut counts = vec![0_u64; (slots * slots) as usize];
        for key in random_keys(u64::from(slots), 2_000_000) {
            let mut order = PermutationRank::new(key, slots);
            let (first, second) = (order.next(), order.next());
            let (first, second) = (first.expect("two slots"), second.expect("two slots"));
            counts[(first * slots + second) as usize] += 1;
        }
        let pairs: Vec<u64> = (0..slots * slots)
            .filter(|pair| pair / slots != pair % slots)
            .map(|pair| counts[pair as usize])
            .collect();
        assert_eq!(pairs.iter().sum::<u64>(), 2_000_000);
        let z = chi_square_z(&pairs, &vec![1.0 / pairs.len() as f64; pairs.len()]);
        assert!(z.abs() < 5.0, "{slots} slots: z = {z:.2}");
    }
}

#[test]
fn jumpback_draws_at_most_five_thirds_words_on_average() {
    // The number of words has a standard deviation below 2, so the mean of 200,000 is within 0.022 of its own.
    for buckets in [1_usize, 2, 3, 5, 9, 33, 129, 1025, 65537, 1_000_003] {
        let keys = random_keys(buckets as u64, 200_000);
        let words = |&key: &u64| {
            let (bucket, words) = plain::jumpback::jumpback_words(key, buckets);
            let ours = jumpback(key, NonZeroU32::new(buckets as u32).expect("a bucket"));
            assert_eq!(bucket, ours as usize);
            words
        };
        let mean = f64::from(keys.iter().map(words).sum::<u32>()) / keys.len() as f64;
        assert!(mean < 5.0 / 3.0 + 0.022, "{buckets}: {mean}");
    }
}

/// The node of each bucket, `None` for a closed one.
fn open_buckets(placement: &Placement) -> Vec<Option<&str>> {
    let buckets = placement.buckets().expect("a numbered scheme").iter();
    let node = |&node: &u32| {
        let member = &placement.members()[node as usize];
        (member.weight().milli() > 0).then(|| member.id().as_str())
    };
    buckets.map(node).collect()
}

#[test]
fn the_expected_share_of_keys_that_stay_is_met_by_any_two_lists() {
    let mut rng = Rng::new(77);
    let keys = random_keys(77, 20_000);
    for name in ["jump", "jumpback", "probed", "rank"] {
        let by_slot = ["probed", "rank"].contains(&name);
        for _ in 0..40 {
            // Two lists that share nodes, in part in other places, some closed and some of several slots.
            let mut list = || {
                let count = rng.uniform(9) as usize;
                let start = rng.uniform(2) as usize;
                let node = |i: usize| {
                    let milli = if by_slot { 1000 * rng.uniform(4) } else { 1000 };
                    member(&format!("node-{}", (i * 5 + start) % 11), milli)
                };
                let list = Membership::new((0..count).map(node)).expect("different ids");
                build(name, &list)
            };
            let (before, after) = (list(), list());
            let (old, new) = (open_buckets(&before), open_buckets(&after));
            let stay = stay_share(before.scheme().algorithm(), &old, &new);
            let stays = |&&key: &&u64| {
                let id = |p: &Placement| p.owner_of_token(Token(key)).map(|m| m.id().clone());
                id(&before) == id(&after)
            };
            let stayed = keys.iter().filter(stays).count();
            if stay == 0.0 || stay == 1.0 {
                assert_eq!(stayed, keys.len() * usize::from(stay == 1.0), "{name}");
            } else {
                assert_near(stayed, stay, keys.len());
            }
        }
    }
}

#[test]
fn the_cost_of_a_closed_middle_node_is_told_as_it_is() {
    let list = weighted_nodes(10, |i| if i == 5 { 0 } else { 1000 });
    let keys = random_keys(55, 100_000);
    for name in ["probed", "rank"] {
        let ten = build(name, &list);
        for (gone, owned) in [(5, 0.0), (3, 1.0 / 9.0)] {
            let id = format!("node-{gone}").parse().expect("an id");
            let Err(BuildError::MiddleBucket { cost, .. }) = ten.without_member(&id) else {
                panic!("{name}: a middle node may not go")
            };
            assert!((cost.owned_share - owned).abs() < 1e-12, "{cost:?}");
            let nine = build(name, &list.without(&id).expect("a member"));
            let owner = |p: &Placement, key| p.owner_of_token(Token(key)).map(|m| m.id().clone());
            let moves = |&&key: &&u64| owner(&ten, key) != owner(&nine, key);
            assert_near(
                keys.iter().filter(moves).count(),
                cost.moved_share,
                keys.len(),
            );
        }
    }
}

#[test]
fn a_weight_of_several_units_is_as_many_slots() {
    for name in ["probed", "rank"] {
        let heavy = build(name, &weighted_nodes(4, |i| [1000, 3000, 0, 2000][i]));
        assert_eq!(heavy.buckets(), Some(&[0, 1, 1, 1, 2, 3, 3][..]));
        let slots: Vec<u32> = heavy.buckets().expect("slots").to_vec();
        for key in random_keys(6, 20_000) {
            let owner = heavy.owner_index(&HashedKey::of_token(Token(key)));
            let slot = match name {
                "rank" => PermutationRank::new(key, 7).find(|&slot| slot != 4),
                _ => {
                    let mut probed = ProbedSlots::full(7);
                    probed.set_threshold(4, 0);
                    probed.slot(key)
                }
            };
            assert_eq!(owner, slot.map(|slot| slots[slot as usize] as usize));
        }
    }
}
