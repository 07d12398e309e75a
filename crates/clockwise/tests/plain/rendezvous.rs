//! Weighted rendezvous by the scheme definitions: sort everything by cost.

use super::{
    Node,
    hash::{mix, node_hash},
    weight::cost,
};

/// All nodes with weight, by (cost, node hash, id) of a hash, least first.
pub(crate) fn weighted_order(nodes: &[Node], hash: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].milli > 0).collect();
    order.sort_by_cached_key(|&i| {
        let node = &nodes[i];
        let own = node_hash(&node.id);
        (cost(mix(hash ^ own), node.milli), own, node.id.clone())
    });
    order
}
