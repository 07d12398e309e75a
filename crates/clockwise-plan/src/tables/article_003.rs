//! Article 003: seven ways to place a million keys on ten nodes, and what an eleventh or a ninth changes.

use clockwise::Token;
use clockwise::hash::KeyHash;
use serde_json::{Map, Value, json};

use super::counting::{Moves, Nodes, Owners, max_over_mean, min_over_mean, tokens};

pub(super) fn figures() -> Vec<(String, Value)> {
    let mut tokens = tokens(
        KeyHash::Fnv1a64,
        (0..1_000_000).map(|i| format!("user:{i}")),
    );
    let names = [
        "modulo",
        "ring_100_raw_fnv",
        "ring_1",
        "ring_10",
        "ring_100",
        "ring_1000",
        "jump",
    ];
    let mut rows: Map<String, Value> = Map::new();
    let mut ratio = Value::Null;
    for name in names {
        let measured = Row::measure(&scheme(name), &tokens);
        let mut row = measured.figures();
        let counts = measured.counts();
        match name {
            "ring_1" => {
                ratio = (max_over_mean(&counts) / min_over_mean(&counts)).into();
            }
            "ring_100" | "ring_1000" => {
                let moves = measured.loses_3(&scheme(name), &tokens);
                // What stays on node 3's number is not received by it.
                let received = |n| if n == 3 { 0 } else { moves.flow(3, n) };
                let receivers: Vec<u64> = (0..10).map(received).collect();
                row["remove_node_3"] = json!({
                    "moved": moves.total(),
                    "moved_not_from_node_3": moves.not_from(3),
                    "receivers": receivers,
                });
            }
            "jump" => {
                let moves = measured.loses_3(&scheme(name), &tokens);
                row["remove_node_3_by_renumbering"] = json!({
                    "moved": moves.total(),
                    "keys_that_were_on_node_3": counts[3],
                });
            }
            _ => {}
        }
        rows.insert(name.to_owned(), row);
    }
    let raw = raw_rings(&tokens);
    tokens.sort_unstable();
    tokens.dedup();
    vec![
        ("/seed_003/rows".to_owned(), rows.into()),
        ("/seed_003/extra_raw_fnv".to_owned(), raw),
        (
            "/seed_003/distinct_key_hashes".to_owned(),
            tokens.len().into(),
        ),
        (
            "/seed_003/ideal".to_owned(),
            json!({"add": 1.0 / 11.0, "remove": 1.0 / 10.0}),
        ),
        (
            "/seed_003/ratio_heaviest_lightest_1_vnode".to_owned(),
            ratio,
        ),
    ]
}

/// Rings whose tokens are not mixed: labels that differ in the last digit lie together, and ten do no more than one.
fn raw_rings(tokens: &[Token]) -> Value {
    let measure = |vnodes: u32| Row::measure(&scheme(&format!("ring_{vnodes}_raw_fnv")), tokens);
    let (one, thousand) = (measure(1), measure(1000));
    let figures = |row: &Row, names: &[&str]| {
        let mut all = row.figures();
        let named = names
            .iter()
            .map(|&name| (name.to_owned(), all[name].take()));
        Value::Object(named.collect())
    };
    json!({
        "ring_1": figures(&one, &["add", "remove_last", "max_over_mean"]),
        "ring_10_same_as_ring_1": measure(10).ten == one.ten,
        "ring_1000": figures(&thousand, &["add", "remove_last", "max_over_mean", "min_over_mean"]),
    })
}

fn scheme(row: &str) -> String {
    match row.strip_prefix("ring_") {
        None => format!("articles/003-{row}"),
        Some(vnodes) => match vnodes.strip_suffix("_raw_fnv") {
            None => format!("articles/003-ring,tokens={vnodes}"),
            Some(vnodes) => format!("articles/003-ring-raw,tokens={vnodes}"),
        },
    }
}

/// One scheme on nine, ten and eleven nodes.
struct Row {
    ten: Owners,
    add: Moves,
    remove_last: Moves,
}

impl Row {
    fn measure(scheme: &str, tokens: &[Token]) -> Self {
        let [nine, ten, eleven] =
            [9, 10, 11].map(|n| Nodes::new(scheme, "node-", 0..n).owners(tokens));
        Self {
            add: ten.moves_to(&eleven),
            remove_last: ten.moves_to(&nine),
            ten,
        }
    }

    fn counts(&self) -> Vec<u64> {
        self.ten.counts()[..10].to_vec()
    }

    fn figures(&self) -> Value {
        let counts = self.counts();
        json!({
            "add": self.add.total(),
            "remove_last": self.remove_last.total(),
            "max_over_mean": max_over_mean(&counts),
            "min_over_mean": min_over_mean(&counts),
            "counts": counts,
        })
    }

    /// What moves when node 3 goes and the others stay in their order.
    fn loses_3(&self, scheme: &str, tokens: &[Token]) -> Moves {
        let rest = (0..10).filter(|&n| n != 3);
        self.ten
            .moves_to(&Nodes::new(scheme, "node-", rest).owners(tokens))
    }
}
