//! What a change costs the traffic that was told: load on the database, how it falls, copying and memory. Rates and
//! times are predicted; bytes are those counted.

use serde::Serialize;

use super::{Copying, Memory, Moved, Node, Origin, share};
use crate::census::Counts;
use crate::{RefillPoint, refill};

/// The traffic that the user told about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// Requests per second.
    pub rate: Option<f64>,
    /// Keys read by one request.
    pub keys_per_request: Option<f64>,
    /// Share of reads that the cache answers, 0 to below 1.
    pub hit_rate: Option<f64>,
    /// Queries per second that the database can serve.
    pub capacity: Option<f64>,
    /// Bytes per second at which data is copied between nodes.
    pub copy_rate: Option<f64>,
    /// Bytes that a node of weight 1 can hold.
    pub node_memory: Option<u64>,
    /// Reads per second that a node of weight 1 can serve.
    pub node_rate: Option<f64>,
}

impl Load {
    /// Reads per second; `None` where the traffic was not told.
    pub(super) fn reads(&self) -> Option<f64> {
        Some(self.rate? * self.keys_per_request.unwrap_or(1.0))
    }

    /// Queries per second that reach the database while a share of the reads is cold; `None` where the traffic was not
    /// told.
    pub(super) fn queries(&self, cold_share: f64) -> Option<f64> {
        Some(self.reads()? * (cold_share + (1.0 - cold_share) * (1.0 - self.hit_rate?)))
    }
}

pub(super) fn refill(load: Load, moved: &Moved, counts: &Counts, keys: u64) -> Vec<RefillPoint> {
    let Some(traffic) = traffic(load, moved, keys) else {
        return Vec::new();
    };
    let measured: Vec<crate::census::Bucket> = counts.popular.buckets().collect();
    refill::curve(traffic, &measured)
}

pub(super) fn traffic(load: Load, moved: &Moved, keys: u64) -> Option<refill::Traffic> {
    Some(refill::Traffic {
        reads: load.reads()?,
        hit_rate: load.hit_rate?,
        moved_keys: moved.share,
        keys,
    })
}

pub(super) fn copying(load: Load, moved: &Moved) -> Copying {
    let bytes = moved.bytes.unwrap_or(0);
    Copying {
        bytes,
        rate: load.copy_rate,
        seconds: load.copy_rate.map(|rate| bytes as f64 / rate),
    }
}

pub(super) fn memory(load: Load, nodes: &[Node]) -> Option<Memory> {
    let node_memory = load.node_memory?;
    let filled = |node: &Node| {
        let holding = &node.sides.after;
        Some(holding.bytes? as f64 / (node_memory as f64 * holding.weight))
    };
    let holders = || nodes.iter().filter(|node| node.sides.after.weight > 0.0);
    let fullest = holders().max_by(|a, b| {
        filled(a)
            .partial_cmp(&filled(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    })?;
    let over = |node: &&Node| filled(node).is_some_and(|filled| filled > 1.0);
    Some(Memory {
        node_memory,
        fullest: fullest.id.clone(),
        filled: filled(fullest)?,
        evicting: holders().filter(over).map(|node| node.id.clone()).collect(),
    })
}

/// Misses go to the database: those of keys that moved, and the usual share of the rest.
pub(super) fn origin(load: Load, moved: &Moved, requests: Option<u64>) -> Option<Origin> {
    let (reads, hit_rate) = (load.reads()?, load.hit_rate?);
    let moved_share = match (moved.requests, requests) {
        (Some(moved), Some(all)) if all > 0 => share(moved, all),
        _ => moved.share,
    };
    let (miss_before, miss_after) = (
        1.0 - hit_rate,
        moved_share + (1.0 - moved_share) * (1.0 - hit_rate),
    );
    Some(Origin {
        queries_before: reads * miss_before,
        queries_after: reads * miss_after,
        factor: miss_after / miss_before,
        capacity: load.capacity,
        whole_cache_queries: reads,
        whole_cache_factor: 1.0 / miss_before,
    })
}
