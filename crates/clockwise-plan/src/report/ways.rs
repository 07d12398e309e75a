//! Missing what moved, or copying it: what either costs, side by side.
//!
//! Promises the same figures as the rest of the plan, put beside each other, and `None` for what the input does not
//! tell. Under *miss* moved keys are cold and come back from the database as they are asked for; under *copy* they are
//! copied between nodes before anyone is sent to their new owner. Does not know expiry, eviction or keys that were
//! not read. Cost: O(nodes + buckets). Source: the refill model and the moves of the plan.

use serde::Serialize;

use super::{Basis, Load, Plan, stands_once, traffic};
use crate::RefillTime;
use crate::census::{Bucket, Counts};
use crate::refill;

/// Both ways to carry out a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Ways {
    /// Moved keys are missed and read from the database.
    pub miss: Miss,
    /// Moved keys are copied from the old owner first.
    pub copy: CopyFirst,
}

/// What missing the moved keys costs; predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Miss {
    /// Queries per second at the database before, if the traffic was told.
    pub queries_before: Option<f64>,
    /// Queries per second at the first moment after.
    pub queries_at_first: Option<f64>,
    /// Queries beyond the usual ones until every moved key is cached again, at the most.
    pub extra_queries: Option<f64>,
    /// Seconds until half of the extra load is gone.
    pub seconds_to_half: Option<RefillTime>,
    /// Seconds until nine tenths of it are.
    pub seconds_to_tenth: Option<RefillTime>,
    /// Bytes that the database gives out again, at the most.
    pub database_bytes: Option<u64>,
    /// Keys whose old copies stay on nodes that are still there.
    pub stale_keys: u64,
    /// Bytes of them, if told.
    pub stale_bytes: Option<u64>,
}

/// What copying the moved keys costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CopyFirst {
    /// Queries per second at the database before, if the traffic was told.
    pub queries_before: Option<f64>,
    /// Queries per second at the first moment after: as before.
    pub queries_at_first: Option<f64>,
    /// Keys that are copied: those that had an owner and have one.
    pub copied_keys: u64,
    /// Bytes of them, if told.
    pub copied_bytes: Option<u64>,
    /// Bytes per second, if told.
    pub rate: Option<f64>,
    /// Seconds that it takes at that rate; predicted.
    pub seconds: Option<f64>,
    /// Keys whose old copies stay until they are purged.
    pub stale_keys: u64,
    /// Bytes of them, if told.
    pub stale_bytes: Option<u64>,
}

/// Both ways for the plan so far.
pub(super) fn ways(load: Load, counts: &Counts, plan: &Plan) -> Ways {
    let before = plan.origin.map(|origin| origin.queries_before);
    let stays = plan.nodes.iter().filter(|node| node.after_listed);
    let stale_keys = stays.clone().map(|node| node.gave).sum();
    let stale_bytes = plan
        .bytes
        .map(|_| stays.filter_map(|node| node.gave_bytes).sum());
    let copied = plan
        .flows
        .iter()
        .filter(|flow| flow.from.is_some() && flow.to.is_some());
    let copied_bytes: Option<u64> = plan
        .bytes
        .map(|_| copied.clone().filter_map(|flow| flow.bytes).sum());
    // Pseudo-random keys tell shares, but not how many keys there are.
    let are_real = plan.basis != Basis::Predicted;
    let buckets: Vec<Bucket> = counts.popular.buckets().collect();
    let traffic = traffic(load, &plan.moved, plan.distinct_keys).filter(|_| are_real);
    let time_to = |left| refill::time_to(left, traffic?, &buckets);
    Ways {
        miss: Miss {
            queries_before: before,
            queries_at_first: plan.origin.map(|origin| origin.queries_after),
            extra_queries: load
                .hit_rate
                .filter(|_| are_real)
                .map(|hit_rate| hit_rate * asked_and_moved(counts, plan, &buckets)),
            seconds_to_half: time_to(0.5),
            seconds_to_tenth: time_to(0.1),
            database_bytes: plan.moved.bytes,
            stale_keys,
            stale_bytes,
        },
        copy: CopyFirst {
            queries_before: before,
            queries_at_first: before,
            copied_keys: copied.map(|flow| flow.keys).sum(),
            copied_bytes,
            rate: load.copy_rate,
            seconds: copied_bytes
                .zip(load.copy_rate)
                .map(|(bytes, rate)| bytes as f64 / rate),
            stale_keys,
            stale_bytes,
        },
    }
}

/// Different keys that move and are asked for: each is read from the database once where a warm cache would have
/// answered.
fn asked_and_moved(counts: &Counts, plan: &Plan, buckets: &[Bucket]) -> f64 {
    if !stands_once(counts) {
        plan.distinct_keys as f64 * plan.moved.share
    } else if plan.requests.is_some() {
        buckets.iter().map(|bucket| bucket.moved_keys).sum::<u64>() as f64
    } else {
        plan.moved.keys as f64
    }
}
