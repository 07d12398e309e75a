//! Article 000: a cache of four nodes gets a fifth, on a ring and under modulo, with a million keys.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use clockwise::Token;
use clockwise::hash::KeyHash;
use serde_json::{Map, Value, json};

use super::counting::{Moves, Nodes, max_over_mean, min_over_mean, sd_over_mean, tokens};

/// The article's keys: products, then shopping baskets.
pub(super) fn keys(count: usize) -> impl Iterator<Item = String> {
    let products = (1..=5000).map(|i| format!("san-pham:SP-{i:05}"));
    products
        .chain((0..).map(|i: u32| format!("gio-hang:{i}")))
        .take(count)
}

/// `cache-1` to `cache-n` under a scheme.
pub(super) fn caches(scheme: &str, count: u16) -> Nodes {
    Nodes::new(scheme, "cache-", 1..=count)
}

/// One number for each of `cache-1` to `cache-n`.
pub(super) fn by_cache(range: RangeInclusive<usize>, value: impl Fn(usize) -> Value) -> Value {
    let named = range.map(|n| (format!("cache-{n}"), value(n)));
    Value::Object(named.collect())
}

pub(super) fn figures() -> Vec<(String, Value)> {
    let tokens = tokens(KeyHash::Md5Be64, keys(1_000_000));
    let mut figures = vec![("/seed_000/modulo".to_owned(), modulo(&tokens))];
    for vnodes in [1, 10, 100, 200] {
        figures.push((format!("/seed_000/ring/{vnodes}"), ring(vnodes, &tokens)));
    }
    figures.push(("/seed_000/db_load_estimate".to_owned(), origin(&figures)));
    figures
}

fn modulo(tokens: &[Token]) -> Value {
    let steps = (2..=12).map(|n| (n, n + 1)).chain([(4, 8), (4, 6)]);
    let mut moved = Map::new();
    let mut kept = 0;
    for (from, to) in steps {
        let [before, after] = [from, to].map(|n| caches("articles/000-modulo", n).owners(tokens));
        let total = before.moves_to(&after).total();
        if (from, to) == (4, 5) {
            kept = tokens.len() as u64 - total;
        }
        moved.insert(format!("{from}->{to}"), total.into());
    }
    json!({"moved_counts": moved, "kept_4_to_5": kept})
}

fn ring(vnodes: u32, tokens: &[Token]) -> Value {
    let scheme = format!("articles/000-ring,tokens={vnodes}");
    let five = caches(&scheme, 5);
    let before = caches(&scheme, 4).owners(tokens);
    let after = five.owners(tokens);
    let added = before.moves_to(&after);
    let without = Nodes::new(&scheme, "cache-", [1, 3, 4, 5]);
    let removed = after.moves_to(&without.owners(tokens));
    let (counts_4, counts_5) = (before.counts(), after.counts());
    // The ring's members are in the order of their numbers: all have one digit.
    let shares = five.placement.space_shares().unwrap_or_default();

    let ends: Vec<(u64, &str)> = five
        .placement
        .tokens()
        .map(|(token, member)| (token.0, member.id().as_str()))
        .collect();
    let distinct: BTreeSet<u64> = ends.iter().map(|end| end.0).collect();
    let end = |place: usize| json!([Token(ends[place].0).to_hex(64), ends[place].1]);
    let receivers = flows(&removed, |n| (2, n));
    let largest = (1..=5)
        .filter(|&n| n != 2)
        .map(|n| removed.flow(2, n))
        .max();
    let mut figures = json!({
        "moved_4_to_5": added.total(),
        "moved_between_old": added.not_to(5),
        "owners_4": by_cache(1..=4, |n| counts_4[n].into()),
        "owners_5": by_cache(1..=5, |n| counts_5[n].into()),
        "donors": flows(&added, |n| (n, 5)),
        "max_over_mean": max_over_mean(&counts_5[1..=5]),
        "min_over_mean": min_over_mean(&counts_5[1..=5]),
        "pstdev_over_mean": sd_over_mean(&counts_5[1..=5]),
        "remove_cache2": {
            "owned": counts_5[2],
            "moved": removed.total(),
            "moved_not_from_removed": removed.not_from(2),
            "receivers": receivers,
            "largest_receiver_share": largest.unwrap_or(0) as f64 / counts_5[2] as f64,
        },
        "ring_space_share_5": by_cache(1..=5, |n| shares[n - 1].as_f64().into()),
        "tokens": ends.len(),
        "distinct_tokens": distinct.len(),
        "first_token": end(0),
        "last_token": end(ends.len() - 1),
        "key_equals_token": tokens.iter().filter(|token| distinct.contains(&token.0)).count(),
    });
    if vnodes >= 100 {
        let six = caches(&scheme, 6).owners(tokens);
        figures["4->6_at_once"] = before.moves_to(&six).total().into();
        figures["5->6"] = after.moves_to(&six).total().into();
    }
    figures
}

/// Flows between the pair of nodes that `ends` makes of each number, those that are none left out.
fn flows(moves: &Moves, ends: impl Fn(usize) -> (usize, usize)) -> Value {
    let named = (1..=5).map(|n| (n, ends(n))).filter_map(|(n, (from, to))| {
        let keys = moves.flow(from, to);
        (from != to && keys > 0).then(|| (format!("cache-{n}"), Value::from(keys)))
    });
    Value::Object(named.collect())
}

/// What the database gets when a miss on every moved key comes on top of the misses that were there.
fn origin(figures: &[(String, Value)]) -> Value {
    let (requests, keys, hit) = (300_u32, 3_u32, 0.95);
    let reads = f64::from(requests * keys);
    let before = reads * (1.0 - hit);
    let miss = |moved: f64| moved + (1.0 - moved) * (1.0 - hit);
    let measured = |vnodes: u32| {
        let pointer = format!("/seed_000/ring/{vnodes}");
        let ring = figures.iter().find(|(other, _)| *other == pointer);
        let moved = ring.and_then(|(_, figures)| figures["moved_4_to_5"].as_f64());
        let share = moved.unwrap_or(f64::NAN) / 1e6;
        // The article's table has two decimals.
        let queries = (reads * miss(share) * 100.0).round() / 100.0;
        json!({"moved": share, "db_queries_after": queries})
    };
    json!({
        "requests_per_s": requests,
        "keys_per_request": keys,
        "hit_rate": hit,
        "db_queries_before": before,
        "modulo_moved_0.80": {
            "miss": miss(0.8),
            "db_queries_after": reads * miss(0.8),
            "factor": reads * miss(0.8) / before,
        },
        "extra_same_formula_with_measured_moves": {
            "ring_v100": measured(100),
            "ring_v200": measured(200),
        },
    })
}
