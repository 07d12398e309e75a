//! What a scheme should do, by formula: the column beside the measured one.
//!
//! Promises closed forms only, each with its condition. Does not look at keys. Cost: O(nodes). Sources: shares on a
//! ring are Beta distributed (Dynamo, 2007, measured; the law is that of Dirichlet spacings); the longest of M arcs is
//! H_M / M (Holst, 1980); modulo follows from the Chinese remainder theorem.

use clockwise::{Algorithm, Diff, Membership, NodeId, Placement, stay_share};

/// What theory expects of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedMove {
    /// Share of all keys that change their owner, 0 to 1.
    pub share: f64,
    /// Standard deviation of that share over all placements of this kind, 0 where the scheme fixes it; the error of a
    /// sample of keys comes on top.
    pub placement_sd: f64,
}

impl ExpectedMove {
    /// The standard deviation of the share measured on `keys` independent keys.
    #[must_use]
    pub fn sd_on(self, keys: u64) -> f64 {
        let sampling = self.share * (1.0 - self.share) / keys.max(1) as f64;
        (self.placement_sd.powi(2) + sampling).sqrt()
    }
}

/// What theory expects when keys go from one placement to another.
///
/// With one scheme on both sides: the ring law for rings, the race law for rendezvous, the remainder law for modulo,
/// the law of ranges for jump and its like, and the two tables themselves for slots and maglev. With two schemes or
/// two hashes the owners are independent, and most keys move. A `recut` share of keys is cut out otherwise by the new
/// key rule; those too are placed anew.
#[must_use]
pub fn expected_move(from: &Placement, to: &Placement, recut: f64) -> ExpectedMove {
    let fixed = |share: f64| ExpectedMove {
        share,
        placement_sd: 0.0,
    };
    if from.scheme().name() != to.scheme().name() || !from.tokens_like(to) {
        return fixed(independent_move(from, to));
    }
    let law = match from.scheme().algorithm() {
        Algorithm::Modulo => fixed(1.0 - modulo_stay(from, to)),
        Algorithm::Jump | Algorithm::JumpBack => fixed(1.0 - range_stay(from, to)),
        Algorithm::Probed | Algorithm::Rank => fixed(1.0 - range_stay(from, to)),
        Algorithm::Rendezvous => fixed(1.0 - race_stay(from, to)),
        Algorithm::Slots | Algorithm::Maglev | Algorithm::RedisCluster => {
            let independent = || independent_move(from, to);
            fixed(table_move(from, to).unwrap_or_else(independent))
        }
        _ => ring_move(from, to),
    };
    ExpectedMove {
        share: (1.0 - recut) * law.share + recut * independent_move(from, to),
        ..law
    }
}

/// Relative standard deviation of a node's share of a ring: `nodes` nodes with `tokens` tokens each.
#[must_use]
pub fn ring_share_sd(nodes: u64, tokens: u64) -> f64 {
    if nodes == 0 {
        return 0.0;
    }
    let (nodes, tokens) = (nodes as f64, tokens as f64);
    ((nodes - 1.0) / (nodes * tokens + 1.0)).sqrt()
}

/// The longest of `arcs` random arcs, as a multiple of the mean: the harmonic number H.
#[must_use]
pub fn longest_arc_over_mean(arcs: u64) -> f64 {
    (1..=arcs).rev().map(|i| 1.0 / i as f64).sum()
}

/// The longest of so many random arcs, as a part of the circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArcLaw {
    /// Its mean, H / arcs.
    pub longest: f64,
    /// Its standard deviation.
    pub sd: f64,
}

impl ArcLaw {
    /// The law for `arcs` arcs; nothing for none.
    ///
    /// Arcs are exponential variates over their sum, which the ratio does not depend on: the square's mean is that of
    /// the longest variate, H^2 + the sum of 1/i^2, over that of the sum, arcs (arcs + 1).
    #[must_use]
    pub fn new(arcs: u64) -> Self {
        let count = arcs.max(1) as f64;
        let harmonic = longest_arc_over_mean(arcs);
        let squares: f64 = (1..=arcs).rev().map(|i| (i as f64).powi(-2)).sum();
        let longest = harmonic / count;
        let mean_square = (squares + harmonic * harmonic) / (count * (count + 1.0));
        Self {
            longest,
            sd: (mean_square - longest * longest).max(0.0).sqrt(),
        }
    }
}

/// Share of keys that keep their node when `from` buckets become `to` under modulo, node by bucket: 1/lcm for each
/// remainder that both agree on.
#[must_use]
pub fn modulo_kept(from: u64, to: u64) -> f64 {
    if from == 0 || to == 0 {
        0.0
    } else {
        from.min(to) as f64 / lcm(from, to)
    }
}

/// Weighted share of each node of a membership, 0 to 1, in listing order; all 0 when nobody has weight.
#[must_use]
pub fn weight_shares(membership: &Membership) -> Vec<f64> {
    let milli = membership
        .members()
        .iter()
        .map(|member| f64::from(member.weight().milli()));
    let total: f64 = milli.clone().sum();
    milli
        .map(|weight| if total > 0.0 { weight / total } else { 0.0 })
        .collect()
}

/// Weights before and after in thousandths, one pair for each id on either side.
fn weight_pairs(from: &Placement, to: &Placement) -> Vec<(f64, f64)> {
    let mut pairs = std::collections::BTreeMap::new();
    for member in from.members() {
        pairs.entry(member.id()).or_insert((0.0, 0.0)).0 = f64::from(member.weight().milli());
    }
    for member in to.members() {
        pairs.entry(member.id()).or_insert((0.0, 0.0)).1 = f64::from(member.weight().milli());
    }
    pairs.into_values().collect()
}

/// A node's tokens on a ring follow from its weight and from nothing else: a key moves if its first token among those
/// of both sides exists on one side only, unless the token behind it belongs to the same node. How many arcs that are
/// varies, and they hold a Beta distributed part of the space.
fn ring_move(from: &Placement, to: &Placement) -> ExpectedMove {
    let tokens =
        |placement: &Placement| f64::from(placement.scheme().tokens().unwrap_or(1)) / 1000.0;
    let (old_tokens, new_tokens) = (tokens(from), tokens(to));
    let pairs: Vec<(f64, f64)> = weight_pairs(from, to)
        .iter()
        .map(|pair| (pair.0 * old_tokens, pair.1 * new_tokens))
        .collect();
    let (before, after) = sums(&pairs);
    if before == 0.0 || after == 0.0 {
        return ExpectedMove {
            share: if before == after { 0.0 } else { 1.0 },
            placement_sd: 0.0,
        };
    }
    let union: f64 = pairs.iter().map(|pair| pair.0.max(pair.1)).sum();
    let elsewhere =
        |&(old, new): &(f64, f64)| 1.0 - if new > old { old / before } else { new / after };
    let share: f64 = pairs
        .iter()
        .map(|pair| (pair.0 - pair.1).abs() / union * elsewhere(pair))
        .sum();
    // The arcs of a fixed number of tokens vary, and so does the number whose next token is their own node's: chance
    // gives each node's tokens their part of the gaps between common ones, and each of its further tokens a gap.
    let arcs = share * (1.0 - share) / (union + 1.0);
    let common: f64 = pairs.iter().map(|pair| pair.0.min(pair.1)).sum();
    let (mut squares, mut mean, mut each) = (0.0, 0.0, 0.0);
    for pair in &pairs {
        let (further, own) = ((pair.0 - pair.1).abs(), 1.0 - elsewhere(pair));
        squares += further * further * own;
        mean += further * own;
        each += further * own * (1.0 - own);
    }
    let gaps = (squares - mean * mean).max(0.0) / (common + 1.0);
    let variance = arcs + (gaps + each) / union.powi(2);
    ExpectedMove {
        share,
        placement_sd: variance.sqrt(),
    }
}

/// Share of keys that keep their node in a race: node i wins on both sides if every other node's draw is late enough
/// for both of its weights, which has the chance 1 / (1 + sum of max(w_j / w_i, w'_j / w'_i)) for exponential draws.
fn race_stay(from: &Placement, to: &Placement) -> f64 {
    let pairs = weight_pairs(from, to);
    let (before, after) = sums(&pairs);
    if before == 0.0 || after == 0.0 {
        return if before == after { 1.0 } else { 0.0 };
    }
    let wins_both = |&(old, new): &(f64, f64)| {
        if old == 0.0 || new == 0.0 {
            return 0.0;
        }
        // The node's own term is 1, which is the 1 of the formula.
        let rivals = pairs.iter().map(|other| (other.0 / old).max(other.1 / new));
        1.0 / rivals.sum::<f64>()
    };
    pairs.iter().map(wins_both).sum()
}

/// The exact part of the space that two tables give to other nodes; `None` for tables of different schemes.
fn table_move(from: &Placement, to: &Placement) -> Option<f64> {
    // Tables are compared token by token; what the key rules cut out is another matter.
    let to = to.clone().with_key_rule(from.key_rule()).ok()?;
    Diff::new(from, &to).ok().map(|diff| diff.share().as_f64())
}

/// Two placements that know nothing of each other: a key stays by chance.
fn independent_move(from: &Placement, to: &Placement) -> f64 {
    let pairs = weight_pairs(from, to);
    let (before, after) = sums(&pairs);
    if before == 0.0 || after == 0.0 {
        return if before == after { 0.0 } else { 1.0 };
    }
    1.0 - pairs
        .iter()
        .map(|pair| pair.0 / before * (pair.1 / after))
        .sum::<f64>()
}

/// Share of keys that keep their node under modulo: 1/lcm for each pair of its bucket numbers that can meet.
fn modulo_stay(from: &Placement, to: &Placement) -> f64 {
    let (before, after) = (bucket_ids(from), bucket_ids(to));
    if before.is_empty() || after.is_empty() {
        return if before.len() == after.len() {
            1.0
        } else {
            0.0
        };
    }
    let bucket_after: std::collections::BTreeMap<_, u64> = after.iter().zip(0..).collect();
    let (old_count, new_count) = (before.len() as u64, after.len() as u64);
    let common = gcd(old_count, new_count);
    let met = (0_u64..).zip(&before).filter(|(old, id)| {
        bucket_after
            .get(id)
            .is_some_and(|new| old % common == new % common)
    });
    met.count() as f64 / lcm(old_count, new_count)
}

/// Share of keys that keep their node where a key moves between ranges of buckets.
fn range_stay(from: &Placement, to: &Placement) -> f64 {
    fn open(placement: &Placement) -> Vec<Option<&NodeId>> {
        let members = placement.members();
        let buckets = placement.buckets().unwrap_or_default().iter();
        let member = buckets.map(|&node| &members[node as usize]);
        member
            .map(|member| (member.weight().milli() > 0).then_some(member.id()))
            .collect()
    }
    stay_share(from.scheme().algorithm(), &open(from), &open(to))
}

/// The node of each bucket.
fn bucket_ids(placement: &Placement) -> Vec<&NodeId> {
    let buckets = placement.buckets().unwrap_or_default();
    buckets
        .iter()
        .map(|&node| placement.members()[node as usize].id())
        .collect()
}

fn sums(pairs: &[(f64, f64)]) -> (f64, f64) {
    pairs
        .iter()
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u64, b: u64) -> f64 {
    (a / gcd(a, b)) as f64 * b as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use clockwise::{Member, Scheme};

    fn placement(scheme: &str, nodes: &[(&str, &str)]) -> Placement {
        let scheme: Scheme = scheme.parse().unwrap();
        let members = nodes.iter().map(|(id, weight)| {
            Member::new(id.parse().unwrap()).with_weight(weight.parse().unwrap())
        });
        Placement::build(&scheme, &Membership::new(members).unwrap()).unwrap()
    }

    fn equal(scheme: &str, numbers: impl Iterator<Item = u32>) -> Placement {
        let ids: Vec<String> = numbers.map(|number| format!("n{number}")).collect();
        placement(
            scheme,
            &ids.iter().map(|id| (id.as_str(), "1")).collect::<Vec<_>>(),
        )
    }

    fn near(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-12,
            "{value} is not {expected}"
        );
    }

    #[test]
    fn adding_moves_one_in_n_plus_1_and_removing_one_in_n() {
        for scheme in ["ring", "rendezvous", "jump", "jumpback", "probed", "rank"] {
            let ten = equal(scheme, 0..10);
            near(
                expected_move(&ten, &equal(scheme, 0..11), 0.0).share,
                1.0 / 11.0,
            );
            near(expected_move(&ten, &equal(scheme, 0..9), 0.0).share, 0.1);
            near(expected_move(&ten, &ten, 0.0).share, 0.0);
        }
    }

    #[test]
    fn modulo_keeps_one_in_n_plus_1_and_half_when_doubled() {
        for (from, to, moved) in [
            (2, 3, 2.0 / 3.0),
            (3, 4, 0.75),
            (4, 5, 0.8),
            (8, 9, 8.0 / 9.0),
            (16, 17, 16.0 / 17.0),
            (4, 8, 0.5),
            (4, 6, 2.0 / 3.0),
        ] {
            near(
                expected_move(&equal("modulo", 0..from), &equal("modulo", 0..to), 0.0).share,
                moved,
            );
            near(1.0 - modulo_kept(u64::from(from), u64::from(to)), moved);
        }
    }

    #[test]
    fn taking_a_middle_bucket_out_of_jump_costs_what_the_library_says() {
        let ten = equal("jump", 0..10);
        let id = "n3".parse().unwrap();
        let clockwise::BuildError::MiddleBucket { cost, .. } = ten.without_member(&id).unwrap_err()
        else {
            panic!()
        };
        let renumbered = equal("jump", (0..10).filter(|&n| n != 3));
        near(
            expected_move(&ten, &renumbered, 0.0).share,
            cost.moved_share,
        );
        near(cost.moved_share, 1.0 - 0.3 - 1.0 / 90.0);
    }

    #[test]
    fn the_ring_law_agrees_with_many_rings() {
        // 300 rings of 3 nodes: the mean of their shares has a standard error of sd / sqrt(300).
        let law = expected_move(
            &equal("ring,tokens=20", 0..2),
            &equal("ring,tokens=20", 0..3),
            0.0,
        );
        let shares: Vec<f64> = (0..300_u32)
            .map(|ring| {
                let placement = equal("ring,tokens=20", 3 * ring..3 * ring + 3);
                placement.space_shares().unwrap()[2].as_f64()
            })
            .collect();
        let mean = shares.iter().sum::<f64>() / 300.0;
        let sd = (shares
            .iter()
            .map(|share| (share - mean).powi(2))
            .sum::<f64>()
            / 299.0)
            .sqrt();
        assert!(
            (mean - law.share).abs() < 4.0 * law.placement_sd / 300_f64.sqrt(),
            "{mean}"
        );
        // The sample's sd has a relative standard error of about 1 / sqrt(2 * 300), 4 %.
        assert!(
            (sd / law.placement_sd - 1.0).abs() < 0.16,
            "{sd} {}",
            law.placement_sd
        );
    }

    #[test]
    fn more_tokens_and_more_weight_deviate_as_the_law_says_on_real_rings() {
        // 300 pairs of rings each: an sd has a relative standard error of about 4 %, a mean one of sd / sqrt(300).
        for (from, to, weights) in [
            ("ring,tokens=2", "ring,tokens=40", ["1", "1", "1"]),
            ("ring,tokens=20", "ring,tokens=40", ["1", "1", "1"]),
            ("ring,tokens=20", "ring,tokens=20", ["4", "1", "1"]),
            ("ring,tokens=20", "ring,tokens=20", ["3", "0.5", "1"]),
        ] {
            let pair = |list: u32| {
                let ids = [0, 1, 2].map(|node| format!("n{list}-{node}"));
                let nodes = |weights: [&'static str; 3]| {
                    let nodes: Vec<(&str, &str)> =
                        ids.iter().map(String::as_str).zip(weights).collect();
                    nodes
                };
                let old = placement(from, &nodes(["1", "1", "1"]));
                (old, placement(to, &nodes(weights)))
            };
            let (old, new) = pair(0);
            let law = expected_move(&old, &new, 0.0);
            let shares: Vec<f64> = (0..300)
                .map(|list| {
                    let (old, new) = pair(list);
                    let old = old.with_key_rule(new.key_rule()).unwrap();
                    Diff::new(&old, &new).unwrap().share().as_f64()
                })
                .collect();
            let mean = shares.iter().sum::<f64>() / 300.0;
            let squares = shares.iter().map(|share| (share - mean).powi(2));
            let sd = (squares.sum::<f64>() / 299.0).sqrt();
            let off = (mean - law.share) / (law.placement_sd / 300_f64.sqrt());
            assert!(off.abs() < 4.0, "{from} {to} {weights:?}: {mean} {law:?}");
            assert!(
                (sd / law.placement_sd - 1.0).abs() < 0.2,
                "{from} {to} {weights:?}: {sd} {law:?}"
            );
        }
    }

    #[test]
    fn weights_raised_lowered_and_swapped_follow_the_law_on_real_rings() {
        let before = [("a", "1"), ("b", "2"), ("c", "1")];
        for after in [
            &[("a", "1"), ("b", "2"), ("c", "3")][..],
            &[("a", "1"), ("b", "0.5"), ("c", "1")],
            &[("a", "1"), ("d", "4")],
        ] {
            for scheme in ["rendezvous", "ring,tokens=2000", "slots", "maglev"] {
                let (from, to) = (placement(scheme, &before), placement(scheme, after));
                let keys = 40_000;
                let moved = (0..keys)
                    .filter(|i: &u64| {
                        let key = i.to_le_bytes();
                        from.owner(&key).map(clockwise::Member::id)
                            != to.owner(&key).map(clockwise::Member::id)
                    })
                    .count();
                let law = expected_move(&from, &to, 0.0);
                let off = (moved as f64 / keys as f64 - law.share) / law.sd_on(keys);
                assert!(off.abs() < 5.0, "{scheme} {after:?}: {off}");
            }
        }
    }

    #[test]
    fn weights_that_all_double_move_nothing_in_a_race() {
        let before = placement("rendezvous", &[("a", "1"), ("b", "2")]);
        let after = placement("rendezvous", &[("a", "2"), ("b", "4")]);
        near(expected_move(&before, &after, 0.0).share, 0.0);
    }

    #[test]
    fn keys_that_are_cut_otherwise_are_placed_anew() {
        let four = equal("ring", 0..4);
        near(expected_move(&four, &four, 0.5).share, 0.375);
    }

    #[test]
    fn another_scheme_or_hash_moves_all_but_chance() {
        let from = equal("ring", 0..4);
        near(expected_move(&from, &equal("slots", 0..4), 0.0).share, 0.75);
        near(
            expected_move(&from, &equal("ring/xxh64", 0..4), 0.0).share,
            0.75,
        );
    }

    #[test]
    fn published_deviations_and_arcs_are_met() {
        for (tokens, sd) in [(1, 0.816), (10, 0.280), (100, 0.0894), (200, 0.0632)] {
            assert!((ring_share_sd(5, tokens) - sd).abs() < 0.0005);
        }
        near(longest_arc_over_mean(5), 137.0 / 60.0);
    }

    #[test]
    fn the_longest_arc_has_the_deviation_of_simulated_ones() {
        // One arc is the whole circle. Of two, the longest is uniform from a half to one: sd 0.5 / sqrt(12).
        assert_eq!(ArcLaw::new(1).sd, 0.0);
        near(ArcLaw::new(1).longest, 1.0);
        near(ArcLaw::new(2).longest, 0.75);
        assert!((ArcLaw::new(2).sd - 0.5 / 12_f64.sqrt()).abs() < 1e-9);
        let mut rng = clockwise::hash::Rng::new(3);
        let longest: Vec<f64> = (0..2000)
            .map(|_| {
                let mut ends: Vec<u64> = (0..100).map(|_| rng.next_u64()).collect();
                ends.sort_unstable();
                let around = ends[0].wrapping_sub(ends[99]);
                let between = ends.windows(2).map(|pair| pair[1] - pair[0]);
                between.fold(around, u64::max) as f64 / 2_f64.powi(64)
            })
            .collect();
        let mean = longest.iter().sum::<f64>() / 2000.0;
        let variance = longest.iter().map(|arc| (arc - mean).powi(2)).sum::<f64>() / 2000.0;
        let law = ArcLaw::new(100);
        // Four standard errors of a mean; of an sd of a skewed law, about sd times 3 %.
        assert!((mean - law.longest).abs() < 4.0 * law.sd / 2000_f64.sqrt());
        assert!((variance.sqrt() / law.sd - 1.0).abs() < 0.12);
    }
}
