//! Who takes over when a node fails, as a square of shares; for clusters too large for one, of the worst failures.

use std::collections::BTreeMap;

use super::super::{Failure, Plan};
use crate::document::Picture;
use crate::number::grouped;
use crate::picture::matrix;

pub(super) fn picture(plan: &Plan) -> Option<Picture> {
    let takes_over = |failure: &&Failure| !failure.receivers.is_empty();
    if !plan.failures.iter().any(|failure| takes_over(&failure)) {
        return None;
    }
    let weight = |failure: &Failure| {
        failure
            .heaviest_after
            .as_ref()
            .map_or(0.0, |heaviest| heaviest.max_over_mean)
    };
    let mut worst: Vec<&Failure> = plan.failures.iter().collect();
    if worst.len() > MOST_NODES {
        worst.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        worst.truncate(MOST_NODES);
    }
    let names: Vec<String> = worst.iter().map(|failure| failure.node.clone()).collect();
    let row = |failure: &&Failure| {
        let shares = failure.receivers.iter();
        let shares: BTreeMap<&str, f64> = shares.map(|r| (r.id.as_str(), r.share)).collect();
        let share = |name: &String| shares.get(name.as_str()).copied().unwrap_or(0.0);
        names.iter().map(share).collect()
    };
    let shares: Vec<Vec<f64>> = worst.iter().map(row).collect();
    let of = if worst.len() < plan.failures.len() {
        format!(
            " The {} failures of {} that leave a node heaviest.",
            grouped(worst.len() as u64),
            grouped(plan.failures.len() as u64)
        )
    } else {
        String::new()
    };
    let caption = format!(
        "When the node of a row fails, what share of its keys goes to the node of each column.{of}"
    );
    Some(Picture {
        svg: matrix(&names, &shares, &caption),
        caption,
    })
}

/// Rows and columns that can still be read.
const MOST_NODES: usize = 20;
