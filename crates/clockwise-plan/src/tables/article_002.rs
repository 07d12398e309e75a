//! Article 002: the ring as it was printed, with a hash of 32 bits, an ordered map and no care for equal tokens.
//!
//! The hash is SipHash-1-3 with a key of zeroes over the text and a byte 0xff, modulo 2^32 - 1: what Rust's unspecified
//! `DefaultHasher` gave when the figures were measured. A later insertion takes the place of an equal token, and a
//! removal deletes the places of a node's labels, whoever holds them.

use clockwise::hash::siphash_1_3;
use serde_json::{Value, json};

use super::counting::Owners;

pub(super) fn figures() -> Vec<(String, Value)> {
    vec![
        (
            "/seed_002/measured_with_printed_code".to_owned(),
            measured(),
        ),
        ("/seed_002/defects".to_owned(), defects()),
    ]
}

fn measured() -> Value {
    let keys: Vec<u32> = (0..1_000_000).map(|i| hash(&format!("user_{i}"))).collect();
    let modulo = |n: u32| Owners(keys.iter().map(|key| (key % n) as u16).collect());
    let ring = |nodes| {
        let ring = PrintedRing::new(nodes, 100);
        Owners(keys.iter().map(|&key| ring.owner(key)).collect())
    };
    let counts = ring(0..10).counts();
    let over_mean = |count: Option<&u64>| count.copied().unwrap_or(0) as f64 / 100_000.0;
    // The measurement has four decimals.
    let rounded = |ratio: f64| (ratio * 10_000.0).round() / 10_000.0;
    json!({
        "naive_3_to_4_moved": modulo(3).moves_to(&modulo(4)).total(),
        "ring_3_to_4_moved": ring(1..4).moves_to(&ring(1..5)).total(),
        "load_10_nodes_x_100": {
            "max_over_mean": rounded(over_mean(counts[..10].iter().max())),
            "min_over_mean": rounded(over_mean(counts[..10].iter().min())),
        },
        "golden": {"user_1111": hash("user_1111"), "node1#0": hash("node1#0")},
    })
}

fn defects() -> Value {
    let small = PrintedRing::new(0..100, 1000);
    let full = PrintedRing::new(0..1000, 1000);
    let mut held = vec![0; 1000];
    full.0
        .iter()
        .for_each(|&(_, node)| held[usize::from(node)] += 1);
    let lost = |ring: &PrintedRing, tokens: usize| {
        let entries = ring.0.len();
        json!({"tokens": tokens, "ring_entries": entries, "lost": tokens - entries})
    };
    let mut overwrite = json!({
        "100 nodes x 1000": lost(&small, 100_000),
        "1000 nodes x 1000": lost(&full, 1_000_000),
    });
    let short = held.iter().filter(|&&tokens| tokens < 1000).count();
    overwrite["1000 nodes x 1000"]["nodes_short_of_tokens"] = short.into();
    let halves = [0..500, 500..1000];
    let left = [0, 1].map(|gone| {
        json!({
            "left": full.without(halves[gone].clone()).0.len(),
            "fresh_ring_of_remaining": PrintedRing::new(halves[1 - gone].clone(), 1000).0.len(),
        })
    });
    json!({
        "token_overwrite": overwrite,
        "removal_deletes_foreign_tokens": {
            "1000x1000 then remove node0..node499": left[0],
            "1000x1000 then remove node500..node999": left[1],
        },
    })
}

/// Tokens with the node that holds each, ascending; of equal tokens only the last inserted.
struct PrintedRing(Vec<(u32, u16)>);

impl PrintedRing {
    fn new(nodes: std::ops::Range<u16>, replicas: u32) -> Self {
        let mut tokens: Vec<(u32, u16)> = nodes
            .flat_map(|node| (0..replicas).map(move |i| (label_hash(node, i), node)))
            .collect();
        // Stable: equal tokens stay in the order of insertion.
        tokens.sort_by_key(|token| token.0);
        let last_of_equals = tokens.chunk_by(|a, b| a.0 == b.0).filter_map(|c| c.last());
        Self(last_of_equals.copied().collect())
    }

    /// What is left when nodes of a thousand tokens are removed.
    fn without(&self, nodes: std::ops::Range<u16>) -> Self {
        let mut gone: Vec<u32> = nodes
            .flat_map(|node| (0..1000).map(move |i| label_hash(node, i)))
            .collect();
        gone.sort_unstable();
        let stays = |token: &&(u32, u16)| gone.binary_search(&token.0).is_err();
        Self(self.0.iter().filter(stays).copied().collect())
    }

    /// The node of the first token at or after the key's, around the end of the space.
    fn owner(&self, key: u32) -> u16 {
        let place = self.0.partition_point(|&(token, _)| token < key);
        self.0[if place == self.0.len() { 0 } else { place }].1
    }
}

fn label_hash(node: u16, replica: u32) -> u32 {
    hash(&format!("node{node}#{replica}"))
}

fn hash(text: &str) -> u32 {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0xff);
    (siphash_1_3(&[0; 16], &bytes) % u64::from(u32::MAX)) as u32
}
