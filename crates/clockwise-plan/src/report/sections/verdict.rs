//! The first screen: how much moves, against what theory allows, who is heaviest, what the database feels, what to do.

use crate::number::{decimal, duration, grouped, percent};
use crate::report::{Balance, Basis, Node, Origin, Plan, share};

/// The first screen: how much moves, against what theory allows, who is heaviest, what the database feels.
pub(super) fn lead(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.partial {
        lines.push(
            "PARTIAL: reading was stopped; this is what the keys read so far say.".to_owned(),
        );
    }
    lines.push(format!("{} {}", change_of(plan), how_much(plan)));
    lines.extend(broken(plan));
    lines.push(format!(
        "Theory expects {} (standard deviation {}); by weight at least {} of the space must move.",
        percent(plan.theory.moved_share),
        percent(plan.theory.moved_share_sd),
        percent(plan.theory.least_moved_share)
    ));
    lines.extend(placed_otherwise(plan));
    if plan.scheme.from == plan.scheme.to && plan.key_rule.from == plan.key_rule.to {
        lines.push(match plan.moved.between_remaining {
            0 => "No key moves between nodes that the change leaves alone.".to_owned(),
            keys => format!(
                "{} of the keys move between nodes that the change leaves alone.",
                percent(share(keys, plan.keys))
            ),
        });
    }
    lines.extend(carried(plan));
    lines.push(heaviest(plan));
    if let Some(hottest) = &plan.hottest {
        lines.push(format!(
            "Hottest key: {} with {} of all requests, {} of a node's fair share.",
            hottest.key,
            percent(hottest.share),
            decimal(hottest.share_of_fair, 2)
        ));
    }
    lines.push(database(plan));
    lines.extend(copying(plan));
    lines.extend(replicas(plan));
    lines.extend(memory(plan));
    let keeps_tables = plan.scheme.to.starts_with("slots/") && plan.unowned.after == 0;
    if let Some(slots) = plan
        .slots
        .filter(|slots| keeps_tables && slots.moved > slots.moved_least)
    {
        lines.push(format!(
            "These slot tables follow from the lists alone; one that follows from today's would move {} of {} slots, not {}.",
            grouped(slots.moved_least),
            grouped(slots.slots),
            grouped(slots.moved)
        ));
    }
    lines.push(next_step(plan));
    lines
}

/// Which limits are broken, and by how much.
fn broken(plan: &Plan) -> Option<String> {
    let broken = plan.limits.iter().filter_map(|limit| {
        Some(format!(
            "{} is {}, {} above {}",
            limit.name,
            decimal(limit.value, 4),
            decimal(limit.over?, 4),
            limit.limit
        ))
    });
    let broken: Vec<String> = broken.collect();
    (!broken.is_empty()).then(|| format!("BROKEN: {}.", broken.join("; ")))
}

fn how_much(plan: &Plan) -> String {
    match (plan.basis, plan.space_moved_share) {
        (Basis::Exact, _) => format!(
            "{} of {} keys move ({}, exact).",
            grouped(plan.moved.keys),
            grouped(plan.keys),
            percent(plan.moved.share)
        ),
        (Basis::Sampled, _) => format!(
            "about {} of the keys move (sampled on {} of them).",
            percent(plan.moved.share),
            grouped(plan.keys)
        ),
        (Basis::Predicted, Some(space)) => format!(
            "{} of any keys would move (predicted: none were given; exactly {} of the space moves).",
            percent(plan.moved.share),
            percent(space)
        ),
        (Basis::Predicted, None) => format!(
            "{} of any keys would move (predicted on {} pseudo-random keys; none were given).",
            percent(plan.moved.share),
            grouped(plan.keys)
        ),
    }
}

/// What about the placements themselves changes, besides their nodes.
fn placed_otherwise(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.scheme.from != plan.scheme.to {
        let contract = |scheme: &str| scheme.split(',').next().map(str::to_owned);
        lines.push(if contract(&plan.scheme.from) == contract(&plan.scheme.to) {
            format!(
                "The scheme's parameters change: from {} to {}.",
                plan.scheme.from, plan.scheme.to
            )
        } else {
            format!(
                "The scheme changes from {} to {}: old and new owners have nothing in common but chance.",
                plan.scheme.from, plan.scheme.to
            )
        });
    }
    if plan.key_rule.from != plan.key_rule.to {
        lines.push(format!(
            "The key rule changes from {} to {}: it cuts {} keys ({}) otherwise.",
            plan.key_rule.from,
            plan.key_rule.to,
            grouped(plan.recut_keys),
            percent(share(plan.recut_keys, plan.keys))
        ));
    }
    if plan.follows_table {
        lines.push(
            "Assumes that the ranges of a fresh cluster are resharded with the fewest moves, as redis-cli does; a fresh cluster of the new nodes would differ."
                .to_owned(),
        );
    }
    lines
}

/// What the moved keys carry.
fn carried(plan: &Plan) -> Option<String> {
    let part = |moved: Option<u64>, all: Option<u64>, what: &str| {
        let (moved, all) = (moved?, all?);
        Some(format!(
            "{} of {} {what} ({})",
            grouped(moved),
            grouped(all),
            percent(share(moved, all))
        ))
    };
    let parts: Vec<String> = [
        part(plan.moved.requests, plan.requests, "requests"),
        part(plan.moved.bytes, plan.bytes, "bytes"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("The keys that move carry {}.", parts.join(" and ")))
}

fn database(plan: &Plan) -> String {
    let Some(origin) = &plan.origin else {
        return "Give --rate and --hit-rate to see what the database will feel.".to_owned();
    };
    let text = format!(
        "The database goes from {} to {} queries per second if every moved key is cold at once: {} times (predicted)",
        decimal(origin.queries_before, 1),
        decimal(origin.queries_after, 1),
        decimal(origin.factor, 2)
    );
    match origin.capacity {
        None => text + ".",
        Some(capacity) => format!(
            "{text}, {} of the {} it can serve.",
            percent(origin.queries_after / capacity),
            decimal(capacity, 0)
        ),
    }
}

/// What copying costs, where a cache could also just miss.
fn copying(plan: &Plan) -> Option<String> {
    let copy = plan.copy.filter(|copy| copy.bytes > 0)?;
    let time = match copy.seconds {
        Some(seconds) => format!(", which takes {} (predicted)", duration(seconds)),
        None => String::new(),
    };
    Some(format!(
        "Copying what moves instead of missing it is {} bytes{time}.",
        grouped(copy.bytes)
    ))
}

/// What the copies of replicas need, where there are any.
fn replicas(plan: &Plan) -> Option<String> {
    let copies = plan.replicas.as_ref()?;
    let bytes = copies
        .made_bytes
        .map_or(String::new(), |bytes| format!(", {} bytes", grouped(bytes)));
    let asked = if copies.replicas.before == copies.replicas.after {
        copies.replicas.after.to_string()
    } else {
        format!("{}, not {},", copies.replicas.after, copies.replicas.before)
    };
    Some(format!(
        "With {asked} replicas {} of {} copies must be made ({}{bytes}); what is said above is about owners.",
        grouped(copies.made),
        grouped(copies.held.after),
        percent(copies.made_share)
    ))
}

fn memory(plan: &Plan) -> Option<String> {
    let memory = plan.memory.as_ref()?;
    let evicting = match memory.evicting.as_slice() {
        [] => "no node has to evict".to_owned(),
        nodes => format!(
            "{} of {} nodes have to evict",
            nodes.len(),
            plan.nodes.len()
        ),
    };
    Some(format!(
        "Memory: {} fills most of its own, {}; {evicting}.",
        memory.fullest,
        percent(memory.filled)
    ))
}

pub(super) fn change_of(plan: &Plan) -> String {
    let named = |nodes: Vec<&Node>| match nodes.as_slice() {
        [] => None,
        [node] => Some(node.id.clone()),
        [first, .., last] if nodes.len() <= 3 => Some(
            [
                &[first.id.as_str()][..],
                &nodes[1..nodes.len() - 1]
                    .iter()
                    .map(|n| n.id.as_str())
                    .collect::<Vec<_>>(),
                &[&last.id],
            ]
            .concat()
            .join(", "),
        ),
        many => Some(format!("{} nodes", many.len())),
    };
    let gained =
        |node: &&Node| node.sides.before.wanted_share == 0.0 && node.sides.after.wanted_share > 0.0;
    let lost =
        |node: &&Node| node.sides.before.wanted_share > 0.0 && node.sides.after.wanted_share == 0.0;
    let added = named(plan.nodes.iter().filter(gained).collect());
    let removed = named(plan.nodes.iter().filter(lost).collect());
    let reweighted = || {
        let changed = |node: &&Node| node.sides.before.weight != node.sides.after.weight;
        let nodes: Vec<&Node> = plan.nodes.iter().filter(changed).collect();
        match nodes.as_slice() {
            [] => "With this change".to_owned(),
            [node] => format!(
                "Changing {} from weight {} to {}:",
                node.id, node.sides.before.weight, node.sides.after.weight
            ),
            many => format!("Changing the weights of {} nodes:", many.len()),
        }
    };
    match (added, removed) {
        (Some(added), None) => format!("Adding {added}:"),
        (None, Some(removed)) => format!("Removing {removed}:"),
        (Some(added), Some(removed)) => format!("Adding {added} and removing {removed}:"),
        (None, None) => reweighted(),
    }
}

/// The node with most against what its weight asks for, in requests where they were told, else in keys.
pub(in crate::report) fn heaviest_node(plan: &Plan) -> Option<&Node> {
    let load = |node: &Node| match plan.balance_requests {
        Some(_) => node.sides.after.requests.unwrap_or(0),
        None => node.sides.after.keys,
    } as f64;
    plan.nodes
        .iter()
        .filter(|node| node.sides.after.wanted_share > 0.0)
        .max_by(|a, b| {
            (load(a) / a.sides.after.wanted_share)
                .total_cmp(&(load(b) / b.sides.after.wanted_share))
        })
}

fn heaviest(plan: &Plan) -> String {
    let (measure, balance) = match &plan.balance_requests {
        Some(requests) => ("requests", requests),
        None => ("keys", &plan.balance),
    };
    let Some(most) = heaviest_node(plan) else {
        return "No node takes keys afterwards.".to_owned();
    };
    let keys = if plan.balance_requests.is_some() {
        format!(
            "; in keys the heaviest is at {}",
            decimal(plan.balance.after.max_over_mean, 3)
        )
    } else {
        String::new()
    };
    format!(
        "Heaviest afterwards: {} with {} times its fair share of {measure} (before: {}){keys}.",
        most.id,
        decimal(balance.after.max_over_mean, 3),
        decimal(balance.before.max_over_mean, 3)
    )
}

fn next_step(plan: &Plan) -> String {
    let expected = plan.theory.moved_share + 3.0 * plan.theory.moved_share_sd;
    let least = plan.theory.least_moved_share;
    let requests = plan.balance_requests.map(|requests| requests.after);
    let is_uneven = |balance: &Balance| balance.max_over_mean > UNEVEN;
    let over_capacity = |origin: &Origin| {
        origin
            .capacity
            .is_some_and(|capacity| origin.queries_after > capacity)
    };
    let text = if plan.limits.iter().any(|limit| !limit.ok) {
        "a limit is broken, see Limits: change the plan before the cluster"
    } else if plan.unowned.after > 0 {
        "add a node first: without one no key has an owner"
    } else if overloads(plan) {
        "a node gets more than it can serve, see Failures that set off others: look at its hottest keys, or add nodes"
    } else if plan.moved.keys == 0 && plan.replicas.as_ref().is_some_and(|copies| copies.made > 0) {
        "no owner changes, but copies must be made: let them be complete before anyone reads them"
    } else if plan.moved.keys == 0 {
        "nothing moves: the change can be made at any time"
    } else if plan.scheme.from != plan.scheme.to || plan.key_rule.from != plan.key_rule.to {
        "treat it as a cold start of what moves: run old and new side by side instead of switching"
    } else if least > 0.5 {
        "most keys move because most nodes are others: treat it as a cold start, or keep the ids if only addresses change"
    } else if plan.origin.as_ref().is_some_and(over_capacity) {
        "the database cannot serve this at once: warm the new owners first, or go in smaller steps (several nodes one by one, a new one with a small weight first: --add ID=0.25)"
    } else if plan.theory.moved_share > 2.0 * least {
        "this scheme moves far more than the change needs: clockwise compare shows what others would move"
    } else if plan.theory.moved_share > 1.25 * least {
        "this moves a good deal more than the change needs: clockwise compare shows what other schemes would move"
    } else if plan.moved.share > expected {
        "more moves than theory explains: check node names, weights and the keys before going on"
    } else if requests.as_ref().is_some_and(is_uneven) {
        "close to the least that can move, but requests will be uneven: look at the hottest keys of the heaviest node first"
    } else if is_uneven(&plan.balance.after) {
        "close to the least that can move, but keys will be uneven: choose another scheme, or more tokens, before the nodes fill up"
    } else if plan.steps.len() > 1 {
        "close to the least that can move: make the change outside peak hours, one node at a time"
    } else {
        "close to the least that can move: make the change outside peak hours"
    };
    format!("Next: {text}.")
}

/// Whether a node has more than it can serve, with all of them up or after one failure.
fn overloads(plan: &Plan) -> bool {
    plan.cascades.as_ref().is_some_and(|cascades| {
        !cascades.over.is_empty()
            || cascades
                .failures
                .iter()
                .any(|cascade| !cascade.waves.is_empty())
    })
}

/// This many times the fair share is worth a look before anything else.
const UNEVEN: f64 = 1.5;
