//! The founding articles' key hashes, token hashes and rendezvous, by the scheme definitions. Token labels are `id#i`.
//! Hashes of 32 bits are zero-extended.

use super::{
    Node,
    hash::{G, fmix32, fnv1a_32, fnv1a_32_utf16, fnv1a_64, md5_be64, mix},
};

fn label(id: &str, i: u64) -> String {
    format!("{id}#{i}")
}

pub(crate) fn key_000(key: &[u8]) -> u64 {
    md5_be64(key)
}

pub(crate) fn token_000(id: &str, i: u64) -> u64 {
    md5_be64(label(id, i).as_bytes())
}

/// Article 000's score of a node for a key.
pub(crate) fn score_000(id: &str, key: &[u8]) -> u64 {
    let mut text = id.as_bytes().to_vec();
    text.push(b'|');
    text.extend_from_slice(key);
    md5_be64(&text)
}

/// Greatest score first, equal scores to the smaller id; nodes of weight 0 left out, other weights not looked at.
pub(crate) fn rendezvous_000(nodes: &[Node], key: &[u8]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].milli > 0).collect();
    order.sort_by(|&a, &b| {
        let by_score = score_000(&nodes[b].id, key).cmp(&score_000(&nodes[a].id, key));
        by_score.then(nodes[a].id.as_bytes().cmp(nodes[b].id.as_bytes()))
    });
    order
}

pub(crate) fn key_002(key: &[u8]) -> u64 {
    u64::from(fmix32(fnv1a_32(key)))
}

pub(crate) fn token_002(id: &str, i: u64) -> u64 {
    u64::from(fmix32(fnv1a_32(label(id, i).as_bytes())))
}

/// Raw for every scheme of article 003; only the tokens of its mixed ring are mixed.
pub(crate) fn key_003(key: &[u8]) -> u64 {
    fnv1a_64(key)
}

pub(crate) fn token_003(id: &str, i: u64) -> u64 {
    mix(fnv1a_64(label(id, i).as_bytes()).wrapping_add(G))
}

pub(crate) fn token_003_raw(id: &str, i: u64) -> u64 {
    fnv1a_64(label(id, i).as_bytes())
}

pub(crate) fn key_004(key: &[u8]) -> u64 {
    u64::from(fmix32(fnv1a_32_utf16(key)))
}

pub(crate) fn token_004(id: &str, i: u64) -> u64 {
    u64::from(fmix32(fnv1a_32_utf16(label(id, i).as_bytes())))
}
