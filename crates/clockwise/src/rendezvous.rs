//! Rendezvous hashing over joined text: the form of the founding article, kept for its scheme.
//!
//! What it is: the score of a node is a hash of `node|key`; the highest wins. What it promises: a node that leaves
//! gives its keys to each key's second choice. What it does not: weights, or an owner from a token alone, since the
//! key's bytes are hashed again with every node. Equal scores go to the smaller id. Cost: one MD5 a node and lookup.
//! Source: Thaler and Ravishankar, 1998, as `articles/000-rendezvous` words it. Our own `rendezvous` is the weighted
//! race of `race.rs`.

use alloc::vec::Vec;

use md5::Digest as _;

/// Members with weight in ascending id order, with the label that is hashed before the key.
#[derive(Clone, Debug)]
pub(crate) struct JoinedText {
    labels: Vec<(u32, Vec<u8>)>,
}

/// A member's place for one key: places compare as they rank.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct TextPlace {
    inverted_score: u64,
    node: u32,
}

impl JoinedText {
    pub(crate) fn new<'a>(ids: impl Iterator<Item = (u32, &'a str)>) -> Self {
        Self {
            labels: ids
                .map(|(node, id)| (node, [id.as_bytes(), b"|"].concat()))
                .collect(),
        }
    }

    pub(crate) fn first(&self, key: &[u8]) -> Option<TextPlace> {
        self.places(key).min()
    }

    pub(crate) fn after(&self, key: &[u8], place: TextPlace) -> Option<TextPlace> {
        self.places(key).filter(|&other| other > place).min()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.labels.capacity() * size_of::<(u32, Vec<u8>)>()
            + self
                .labels
                .iter()
                .map(|(_, label)| label.capacity())
                .sum::<usize>()
    }

    fn places(&self, key: &[u8]) -> impl Iterator<Item = TextPlace> {
        self.labels.iter().map(move |(node, label)| TextPlace {
            inverted_score: !score(label, key),
            node: *node,
        })
    }
}

impl TextPlace {
    pub(crate) const fn node(self) -> u32 {
        self.node
    }
}

fn score(label: &[u8], key: &[u8]) -> u64 {
    let digest = md5::Md5::new()
        .chain_update(label)
        .chain_update(key)
        .finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_the_articles_own() {
        assert_eq!(score(b"cache-1|", b"gio-hang:0"), 0xa2ab_efaf_13bc_dbe5);
        assert_eq!(score(b"cache-5|", b"gio-hang:0"), 0x5040_e01e_6695_9aea);
    }

    #[test]
    fn the_separator_keeps_node_and_key_apart() {
        assert_ne!(score(b"a|", b"bc"), score(b"ab|", b"c"));
    }
}
