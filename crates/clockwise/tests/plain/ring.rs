//! Rings by the scheme definitions: points sorted by (value, id), walked from the first that the rule allows.

use super::{
    Node,
    hash::{G, mix},
};

use xxhash_rust::xxh3::xxh3_64;

/// One point of a ring; 32-bit rings use the low half.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Point {
    pub(crate) at: u64,
    pub(crate) node: usize,
}

/// Whether a key that hits a point exactly belongs to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Hit {
    /// The first point >= the key's hash.
    AtOrAbove,
    /// The first point > the key's hash.
    Above,
}

/// How many points a weight is worth: rounded to the nearest, at least 1; none for weight 0.
pub(crate) fn point_count(tokens: u32, milli: u32) -> u64 {
    if milli == 0 {
        return 0;
    }
    ((u64::from(tokens) * u64::from(milli) + 500) / 1000).max(1)
}

/// Point `j` of our own ring.
pub(crate) fn own_point(id: &str, j: u64) -> u64 {
    mix(xxh3_64(id.as_bytes()) ^ mix(j.wrapping_add(G)))
}

/// All points in ring order; equal points stay, the smaller id first.
pub(crate) fn points(nodes: &[Node], tokens: u32, point: fn(&str, u64) -> u64) -> Vec<Point> {
    let mut all = Vec::new();
    for (node, listed) in nodes.iter().enumerate() {
        for j in 0..point_count(tokens, listed.milli) {
            all.push(Point {
                at: point(&listed.id, j),
                node,
            });
        }
    }
    all.sort_by(|a, b| {
        let left = (a.at, nodes[a.node].id.as_bytes());
        let right = (b.at, nodes[b.node].id.as_bytes());
        left.cmp(&right)
    });
    all
}

/// The place of the point that owns a hash, past the last point the first. The ring is not empty.
pub(crate) fn first_point(points: &[Point], hash: u64, hit: Hit) -> usize {
    let found = match hit {
        Hit::AtOrAbove => points.iter().position(|point| point.at >= hash),
        Hit::Above => points.iter().position(|point| point.at > hash),
    };
    found.unwrap_or(0)
}

/// The nodes in the order a walk from the owner's point once round the ring first meets them.
pub(crate) fn walk(points: &[Point], hash: u64, hit: Hit) -> Vec<usize> {
    let mut met = Vec::new();
    if points.is_empty() {
        return met;
    }
    let first = first_point(points, hash, hit);
    for step in 0..points.len() {
        let node = points[(first + step) % points.len()].node;
        if !met.contains(&node) {
            met.push(node);
        }
    }
    met
}
