//! Article 004: rings and modulo in 32 bits on a hundred thousand keys, its self-test's counts, and the shards of its
//! laboratory.

use std::collections::BTreeSet;

use clockwise::Token;
use clockwise::hash::KeyHash;
use serde_json::{Value, json};

use super::counting::{Moves, Nodes, Owners, spread, tokens};

pub(super) fn figures() -> Vec<(String, Value)> {
    let hash = KeyHash::Fnv1a32Utf16Fmix32;
    let all = tokens(hash, (0..100_000).map(|i| format!("key:{i}")));
    let first = &all[..20_000];
    let added = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 32].map(|n| {
        let modulo = adds("articles/004-modulo", "s", n, &all);
        let ring = adds("articles/004-ring,tokens=150", "s", n, &all);
        let to = n + 1;
        json!({
            "n": n,
            "to": to,
            "modulo_moved": modulo.total(),
            "ring_moved": ring.total(),
            "ring_moved_between_old": ring.not_to(usize::from(to)),
            "theory_modulo": f64::from(n) / f64::from(to),
            "theory_ring": 1.0 / f64::from(to),
        })
    });
    let spreads = [1, 2, 5, 10, 20, 50, 100, 150, 200, 500, 1000].map(|v| {
        let ring = Nodes::new(&format!("articles/004-ring,tokens={v}"), "s", 1..=8);
        let counts = counts(&ring.owners(&all), 8);
        let held = ring.placement.tokens().map(|(token, _)| token);
        json!({
            "v": v,
            "min": counts.iter().min(),
            "max": counts.iter().max(),
            "spread": spread(&counts),
            "dup": ring.placement.token_count() - held.collect::<BTreeSet<Token>>().len(),
            "counts": counts,
        })
    });
    let selftest_adds = [2, 4, 8].map(|n| {
        json!({
            "n": n,
            "modulo_moved": adds("articles/004-modulo", "node", n, first).total(),
            "ring_moved": adds("articles/004-ring,tokens=200", "node", n, first).total(),
        })
    });
    let selftest_spreads = [1, 10, 100, 500].map(|v| {
        let ring = Nodes::new(&format!("articles/004-ring,tokens={v}"), "node", 1..=5);
        let counts = counts(&ring.owners(first), 5);
        json!({"v": v, "spread": spread(&counts), "counts": counts})
    });
    let tolerances = json!({
        "moved": crate::selftest::MOVED_TOLERANCE,
        "v1_spread_over": crate::selftest::SPREAD_OF_1_OVER,
        "v500_spread_under": crate::selftest::SPREAD_OF_500_UNDER,
    });
    let at = |name: &str| format!("/seed_004/{name}");
    vec![
        (at("add_node_150_vnodes"), added.to_vec().into()),
        (at("vnode_spread_8_nodes"), spreads.to_vec().into()),
        (
            at("selftest/add_200_vnodes_node1.."),
            selftest_adds.to_vec().into(),
        ),
        (
            at("selftest/spread_5_nodes"),
            selftest_spreads.to_vec().into(),
        ),
        (at("selftest/tolerances"), tolerances),
        (
            at("shard_lab/recomputed_shares"),
            shards(&tokens(hash, (0..20_000).map(|i| format!("k{i}")))),
        ),
    ]
}

fn adds(scheme: &str, prefix: &str, n: u16, tokens: &[Token]) -> Moves {
    let [before, after] = [n, n + 1].map(|n| Nodes::new(scheme, prefix, 1..=n).owners(tokens));
    before.moves_to(&after)
}

/// Keys of each node, numbered from 1.
fn counts(owners: &Owners, nodes: usize) -> Vec<u64> {
    owners.counts()[1..=nodes].to_vec()
}

/// Keys on two shards, each by itself; and with 95 of 100 keys on one tenant's shard, which the file does not name: it
/// is the first.
fn shards(tokens: &[Token]) -> Value {
    let by_key = |tokens: &[Token]| {
        counts(
            &Nodes::new("articles/004-modulo", "s", 1..=2).owners(tokens),
            2,
        )
    };
    let by_themselves: Vec<Token> = tokens
        .iter()
        .copied()
        .filter(|token| token.0 % 100 >= 95)
        .collect();
    let mut skewed = by_key(&by_themselves);
    skewed[0] += (tokens.len() - by_themselves.len()) as u64;
    json!({"good": by_key(tokens), "skew": skewed})
}
