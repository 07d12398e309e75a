//! Article 000: rendezvous and jump on the first 200,000 of its keys, and the answers of jump that others published.

use std::num::NonZeroU32;

use clockwise::hash::{KeyHash, md5_be64};
use clockwise::{Token, jump};
use serde_json::{Map, Value, json};

use super::article_000::{by_cache, caches, keys};
use super::counting::{Owners, max_over_mean, tokens};

pub(super) fn figures() -> Vec<(String, Value)> {
    let keys: Vec<String> = keys(200_000).collect();
    let five = caches("articles/000-rendezvous", 5);
    let before = caches("articles/000-rendezvous", 4).owners_of_keys(&keys);
    let after = five.owners_of_keys(&keys);
    let mut rendezvous = values(&before, &after);
    let (counts_4, counts_5) = (before.counts(), after.counts());
    rendezvous["owners_4"] = by_cache(1..=4, |n| counts_4[n].into());
    rendezvous["owners_5"] = by_cache(1..=5, |n| counts_5[n].into());
    let scores = (1..=5).map(|n| {
        let label = format!("cache-{n}|gio-hang:0");
        let score = Token(md5_be64(label.as_bytes())).to_hex(64);
        (label, Value::from(score))
    });
    let owners = ["san-pham:SP-00042", "gio-hang:0"].map(|key| {
        let owner = five.placement.owner(key.as_bytes());
        let owner = owner.map(|member| member.id().as_str());
        (key.to_owned(), Value::from(owner))
    });

    let tokens = tokens(KeyHash::Md5Be64, keys.into_iter());
    let [before, after] = [4, 5].map(|n| caches("articles/000-jump", n).owners(&tokens));
    let mut jumped = values(&before, &after);
    // The article calls buckets by their numbers, which begin at 0.
    let by_bucket = |counts: &[u64]| -> Map<String, Value> {
        let counts = counts[1..].iter().take_while(|&&count| count > 0);
        let named = counts.enumerate();
        named
            .map(|(bucket, &count)| (bucket.to_string(), count.into()))
            .collect()
    };
    jumped["owners_4"] = by_bucket(&before.counts()).into();
    jumped["owners_5"] = by_bucket(&after.counts()).into();

    let at = |name: &str| format!("/seed_000/alternatives/{name}");
    vec![
        (at("rendezvous/values"), rendezvous),
        (
            at("rendezvous/score_vectors"),
            Value::Object(scores.collect()),
        ),
        (
            at("rendezvous/owner_vectors_5_nodes"),
            Value::Object(owners.into_iter().collect()),
        ),
        (at("jump/values"), jumped),
        (at("go_jump_vectors"), go_jump_vectors()),
        (at("jump_mean_iterations"), bounds()),
    ]
}

/// What both tell of a fifth node.
fn values(before: &Owners, after: &Owners) -> Value {
    let moves = before.moves_to(after);
    json!({
        "moved": moves.total(),
        "moved_between_old": moves.not_to(5),
        "keys": after.0.len(),
        "max_over_mean": max_over_mean(&after.counts()[1..=5]),
    })
}

/// Answers for one bucket and more, for keys and numbers of buckets as in the test of the published program.
fn go_jump_vectors() -> Value {
    let rows = [
        ("0", 0, 20),
        ("1", 1, 19),
        ("0xdeadbeef", 0xdead_beef, 19),
        ("0x0ddc0ffeebadf00d", 0x0ddc_0ffe_ebad_f00d, 19),
    ];
    let row = |key, most| -> Vec<u32> {
        let counts = (1..=most).filter_map(NonZeroU32::new);
        counts.map(|buckets| jump(key, buckets)).collect()
    };
    let buckets = rows.map(|(name, key, most)| (name.to_owned(), row(key, most).into()));
    json!({
        "vectors_checked": rows.iter().map(|row| row.2).sum::<u32>(),
        "buckets_for_n_1_up": Value::Object(buckets.into_iter().collect()),
    })
}

/// The rounds of jump stay below this on average.
fn bounds() -> Value {
    let bound = |n: u32| json!({"bound_ln_n_plus_1": f64::from(n).ln() + 1.0});
    let rows = [10, 100, 1000].map(|n| (n.to_string(), bound(n)));
    Value::Object(rows.into_iter().collect())
}
