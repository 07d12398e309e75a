//! The articles' closed forms, and hashes of single labels.

use clockwise::hash::md5_be64;
use clockwise::{Member, Membership, Placement, Scheme, Token, Weight};
use serde_json::{Value, json};

use crate::theory::{longest_arc_over_mean, modulo_kept, ring_share_sd};

pub(super) fn figures() -> Vec<(String, Value)> {
    // On a ring whose nodes have many tokens, `add` new ones of `to` in all take their part.
    let moved_by_adding = |add: u32, to: u32| f64::from(add) / f64::from(to);
    let sd = [1, 10, 100, 200].map(|v| (v.to_string(), ring_share_sd(5, v).into()));
    let formulas = json!({
        "modulo_kept": {"4": modulo_kept(4, 5), "9": modulo_kept(9, 10)},
        "modulo_4_to_8_kept": modulo_kept(4, 8),
        "H_5": longest_arc_over_mean(5),
        "relative_sd_N5": Value::Object(sd.into_iter().collect()),
        "karger_1000_points_sd_3_2_percent_check": {"1/sqrt(1000)": 1.0 / 1000_f64.sqrt()},
        "two_nodes_at_once_4_to_6": moved_by_adding(2, 6),
        "one_by_one": [moved_by_adding(1, 5), moved_by_adding(1, 6)],
    });
    let labels = [
        "cache-1#0",
        "cache-1#1",
        "cache-5#199",
        "san-pham:SP-00001",
        "san-pham:SP-00042",
        "san-pham:SP-05000",
        "gio-hang:0",
        "gio-hang:994999",
    ];
    let hashes = labels.map(|label| {
        let hash = Token(md5_be64(label.as_bytes())).to_hex(64);
        (label.to_owned(), hash.into())
    });
    let weights = [("1.0", 1000), ("2.0", 2000), ("0.5", 500)];
    let tokens = weights.map(|(name, milli)| (name.to_owned(), tokens_of_weight(milli).into()));
    vec![
        ("/seed_000/formulas".to_owned(), formulas),
        (
            "/seed_000/golden_hashes".to_owned(),
            Value::Object(hashes.into_iter().collect()),
        ),
        (
            "/seed_001/numbers/weight_to_tokens".to_owned(),
            Value::Object(tokens.into_iter().collect()),
        ),
        (
            "/seed_001/numbers/redis_slots".to_owned(),
            build("redis-cluster", 1000).scheme().slot_count().into(),
        ),
        ("/seed_004/pagination".to_owned(), pagination(8, 20)),
    ]
}

fn tokens_of_weight(milli: u32) -> usize {
    build("ring,tokens=128", milli).token_count()
}

fn build(scheme: &str, milli: u32) -> Placement {
    // Both schemes of this file are of the library.
    let scheme: Scheme = scheme.parse().expect("a scheme");
    // A plain name is an id, and the weights of this file are at most 2.
    let weight = Weight::from_milli(milli).expect("a weight");
    let member = Member::new("cache-a".parse().expect("an id")).with_weight(weight);
    // One member differs from all others and fits both schemes.
    let membership = Membership::new([member]).expect("one member");
    Placement::build(&scheme, &membership).expect("a placement of one node")
}

/// Rows that all shards fetch for one page, when each has to send all pages up to it.
fn pagination(shards: u64, page_size: u64) -> Value {
    let rows = |page: u64| shards * page * page_size;
    json!({
        "page_size": page_size,
        "shards": shards,
        "page_1": rows(1),
        "page_2": rows(2),
        "page_100": rows(100),
        "per_shard_page_100": rows(100) / shards,
    })
}
