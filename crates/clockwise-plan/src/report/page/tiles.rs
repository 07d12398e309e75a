//! The figures of a plan to be seen first.

use super::super::sections::heaviest_node;
use super::super::{Basis, Plan};
use crate::document::Tile;
use crate::number::{decimal, grouped, percent};

pub(super) fn tiles(plan: &Plan) -> Vec<Tile> {
    [
        Some(moved(plan)),
        Some(theory(plan)),
        heaviest(plan),
        database(plan),
        hottest(plan),
        failure(plan),
        memory(plan),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn tile(label: &str, value: String, note: String, alarming: bool) -> Tile {
    Tile {
        label: label.to_owned(),
        value,
        note,
        alarming,
    }
}

fn moved(plan: &Plan) -> Tile {
    let note = match plan.basis {
        Basis::Exact => format!(
            "{} of {} keys, exact",
            grouped(plan.moved.keys),
            grouped(plan.keys)
        ),
        Basis::Sampled => "of the keys, sampled".to_owned(),
        Basis::Predicted => "of any keys, predicted".to_owned(),
    };
    tile("Moves", percent(plan.moved.share), note, false)
}

fn theory(plan: &Plan) -> Tile {
    let note = format!(
        "± {} by theory; least possible {}",
        percent(plan.theory.moved_share_sd),
        percent(plan.theory.least_moved_share)
    );
    let least = plan.theory.least_moved_share;
    let alarming = least > 0.0 && plan.theory.moved_share > 2.0 * least;
    tile("Expected", percent(plan.theory.moved_share), note, alarming)
}

fn heaviest(plan: &Plan) -> Option<Tile> {
    let (what, balance) = match &plan.balance_requests {
        Some(balance) => ("requests", balance),
        None => ("keys", &plan.balance),
    };
    let node = heaviest_node(plan)?;
    let note = format!(
        "{} in {what}; {} before",
        node.id,
        decimal(balance.before.max_over_mean, 3)
    );
    let value = format!("{}×", decimal(balance.after.max_over_mean, 3));
    let alarming = balance.after.max_over_mean > UNEVEN;
    Some(tile("Heaviest, of its fair share", value, note, alarming))
}

fn database(plan: &Plan) -> Option<Tile> {
    let origin = plan.origin.as_ref()?;
    let over = origin
        .capacity
        .is_some_and(|capacity| origin.queries_after > capacity);
    let capacity = origin.capacity.map_or(String::new(), |capacity| {
        format!(", can serve {}", decimal(capacity, 0))
    });
    let note = format!(
        "{} → {} queries/s at first{capacity}, predicted",
        decimal(origin.queries_before, 0),
        decimal(origin.queries_after, 0)
    );
    let value = format!("{}×", decimal(origin.factor, 2));
    Some(tile("Database, at first", value, note, over))
}

fn hottest(plan: &Plan) -> Option<Tile> {
    let hottest = plan.hottest.as_ref()?;
    let note = format!("of all requests go to {}", hottest.key);
    Some(tile(
        "Hottest key",
        percent(hottest.share),
        note,
        hottest.share_of_fair > 1.0,
    ))
}

fn failure(plan: &Plan) -> Option<Tile> {
    let heaviest = |failure: &super::super::Failure| {
        let of_requests = failure.heaviest_requests_after.clone();
        of_requests.or_else(|| failure.heaviest_after.clone())
    };
    let worst = plan
        .failures
        .iter()
        .filter_map(|failure| Some((failure, heaviest(failure)?)))
        .max_by(|a, b| a.1.max_over_mean.total_cmp(&b.1.max_over_mean))?;
    let note = format!("{} when {} fails", worst.1.id, worst.0.node);
    let value = format!("{}×", decimal(worst.1.max_over_mean, 3));
    Some(tile("Heaviest after a failure", value, note, false))
}

fn memory(plan: &Plan) -> Option<Tile> {
    let memory = plan.memory.as_ref()?;
    let note = match memory.evicting.len() {
        0 => format!("{} is fullest; none has to evict", memory.fullest),
        nodes => format!(
            "{} is fullest; {} have to evict",
            memory.fullest,
            grouped(nodes as u64)
        ),
    };
    Some(tile(
        "Memory",
        percent(memory.filled),
        note,
        memory.filled > 1.0,
    ))
}

/// Above this many times its fair share a node is worth a look before anything else.
const UNEVEN: f64 = 1.5;
