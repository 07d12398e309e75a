//! Jump and modulo by the scheme definitions: the place in the listing is the bucket, the weights are equal. And what
//! numbered schemes have in common.

use super::{Node, probed::FULL, rendezvous::weighted_order};

/// The bucket of a key among `n`, at least 1.
pub(crate) fn jump(key: u64, n: usize) -> usize {
    let n = n as i64;
    let mut k = key;
    let mut b: i64 = -1;
    let mut j: i64 = 0;
    while j < n {
        b = j;
        k = k.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let quotient = 2_147_483_648.0_f64 / ((k >> 33) + 1) as f64;
        j = ((b + 1) as f64 * quotient) as i64;
    }
    b as usize
}

/// The bucket of a key among `n`, at least 1.
pub(crate) fn modulo(key: u64, n: usize) -> usize {
    (key % n as u64) as usize
}

/// Jump's owner, then the others.
pub(crate) fn ranked_jump(nodes: &[Node], hash: u64) -> Vec<usize> {
    assert_equal_weights(nodes);
    owner_then_others(jump(hash, nodes.len()), nodes, hash)
}

/// Modulo's owner, then the others.
pub(crate) fn ranked_modulo(nodes: &[Node], hash: u64) -> Vec<usize> {
    assert_equal_weights(nodes);
    owner_then_others(modulo(hash, nodes.len()), nodes, hash)
}

/// The owner, and behind it all others as the weighted order of the key hash has them.
pub(crate) fn owner_then_others(owner: usize, nodes: &[Node], hash: u64) -> Vec<usize> {
    let mut order = vec![owner];
    order.extend(
        weighted_order(nodes, hash)
            .into_iter()
            .filter(|&i| i != owner),
    );
    order
}

/// The node of every slot in listing order, and the slots' thresholds: a node holds as many slots as its weight says, all
/// full, and one that is closed if it has none.
///
/// # Panics
///
/// When a weight is no whole number.
pub(crate) fn slots_held(nodes: &[Node]) -> (Vec<usize>, Vec<u32>) {
    let (mut held_by, mut thresholds) = (Vec::new(), Vec::new());
    for (i, node) in nodes.iter().enumerate() {
        assert_eq!(node.milli % 1000, 0, "a slot scheme takes whole weights");
        for _ in 0..(node.milli / 1000).max(1) {
            held_by.push(i);
            thresholds.push(if node.milli > 0 { FULL } else { 0 });
        }
    }
    (held_by, thresholds)
}

/// The nodes of slots in their order, each where it comes first.
pub(crate) fn each_once(held_by: &[usize], slots: &[usize]) -> Vec<usize> {
    let mut order = Vec::new();
    for &slot in slots {
        if !order.contains(&held_by[slot]) {
            order.push(held_by[slot]);
        }
    }
    order
}

fn assert_equal_weights(nodes: &[Node]) {
    assert!(
        nodes.iter().all(|node| node.milli == nodes[0].milli),
        "a numbered scheme refuses unequal weights"
    );
}
