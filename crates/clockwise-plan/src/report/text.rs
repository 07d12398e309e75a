//! The plan as text: the answer first, then the tables behind it.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use super::{Basis, Failure, Node, Plan};
use crate::number::{decimal, grouped, percent};

/// The whole plan for a terminal or a log, without colours; lines end in LF.
#[must_use]
pub fn render_text(plan: &Plan) -> String {
    let mut text = verdict(plan);
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{title}\n{body}");
        }
    };
    section("Limits", limits(plan));
    section("Warnings", warnings(plan));
    section("What it is about", inputs(plan));
    section("Nodes", nodes(plan));
    section("Moves", flows(plan));
    section("One by one", steps(plan));
    section("Clients that know different nodes", views(plan));
    section("Balance", balance(plan));
    section("If one node fails afterwards", failures(plan));
    section("Hottest keys", hottest_keys(plan));
    section(
        "The database as keys are cached again (predicted, queries per second)",
        refill(plan),
    );
    text
}

/// The first screen: how much moves, against what theory allows, who is heaviest, what the database feels.
fn verdict(plan: &Plan) -> String {
    let mut lines = Vec::new();
    if plan.partial {
        lines.push(
            "PARTIAL: reading was stopped; this is what the keys read so far say.".to_owned(),
        );
    }
    lines.push(format!("{} {}", change_of(plan), how_much(plan)));
    lines.push(format!(
        "Theory expects {} (standard deviation {}); no placement of these weights moves less than {}.",
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
    lines.join("\n") + "\n"
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
        lines.push(format!(
            "The scheme changes from {} to {}: old and new owners have nothing in common but chance.",
            plan.scheme.from, plan.scheme.to
        ));
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

/// Seconds in the unit that a person would take.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", decimal(s, 1)),
        s if s < 7200.0 => format!("{} min", decimal(s / 60.0, 1)),
        s => format!("{} h", decimal(s / 3600.0, 1)),
    }
}

fn change_of(plan: &Plan) -> String {
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

fn heaviest(plan: &Plan) -> String {
    let (measure, balance) = match &plan.balance_requests {
        Some(requests) => ("requests", requests),
        None => ("keys", &plan.balance),
    };
    let load = |node: &Node| match plan.balance_requests {
        Some(_) => node.sides.after.requests.unwrap_or(0),
        None => node.sides.after.keys,
    } as f64;
    let most = plan
        .nodes
        .iter()
        .filter(|node| node.sides.after.wanted_share > 0.0)
        .max_by(|a, b| {
            (load(a) / a.sides.after.wanted_share)
                .total_cmp(&(load(b) / b.sides.after.wanted_share))
        });
    let Some(most) = most else {
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
    let uneven = plan
        .balance_requests
        .map_or(1.0, |requests| requests.after.max_over_mean);
    let over_capacity = |origin: &super::Origin| {
        origin
            .capacity
            .is_some_and(|capacity| origin.queries_after > capacity)
    };
    let text = if plan.limits.iter().any(|limit| !limit.ok) {
        "a limit is broken, see Limits: change the plan before the cluster"
    } else if plan.unowned.after > 0 {
        "add a node first: without one no key has an owner"
    } else if plan.origin.as_ref().is_some_and(over_capacity) {
        "the database cannot serve this at once: warm the new owners first, or move in smaller steps"
    } else if plan.moved.keys == 0 {
        "nothing moves: the change can be made at any time"
    } else if plan.scheme.from != plan.scheme.to || plan.key_rule.from != plan.key_rule.to {
        "treat it as a cold start of what moves: run old and new side by side instead of switching"
    } else if plan.theory.moved_share > 2.0 * plan.theory.least_moved_share {
        "this scheme moves far more than the change needs: compare --scheme slots, ring and rendezvous"
    } else if plan.moved.share > expected {
        "more moves than theory explains: check node names, weights and the keys before going on"
    } else if uneven > UNEVEN_REQUESTS {
        "close to the least that can move, but requests will be uneven: look at the hottest keys of the heaviest node first"
    } else {
        "close to the least that can move: make the change outside peak hours, one node at a time"
    };
    format!("Next: {text}.")
}

fn inputs(plan: &Plan) -> String {
    let both = |from: &String, to: &String| {
        if from == to {
            from.clone()
        } else {
            format!("{from}  →  {to}")
        }
    };
    let mut rows = vec![
        ("scheme", both(&plan.scheme.from, &plan.scheme.to)),
        ("key rule", both(&plan.key_rule.from, &plan.key_rule.to)),
        ("keys", plan.source.clone()),
    ];
    if plan.basis != Basis::Predicted {
        let about = if plan.distinct_keys_exact {
            ""
        } else {
            "about "
        };
        rows.push((
            "sample",
            format!(
                "{} keys, {about}{} different, worth {} independent ones; {} bad lines",
                grouped(plan.keys),
                grouped(plan.distinct_keys),
                grouped(plan.effective_keys),
                grouped(plan.bad_lines)
            ),
        ));
    }
    rows.iter()
        .map(|(name, value)| format!("  {name:<9} {value}\n"))
        .collect()
}

fn nodes(plan: &Plan) -> String {
    let requests = plan.requests.is_some();
    let bytes = plan.bytes.is_some();
    let space = plan
        .nodes
        .iter()
        .any(|node| node.sides.after.space_share.is_some());
    let mut header = vec![
        "node",
        "keys before",
        "keys after",
        "share after",
        "wanted",
        "received",
        "gave",
    ];
    header.extend(space.then_some("space after"));
    header.extend(requests.then_some("requests after"));
    header.extend(bytes.then_some("bytes after"));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for node in plan.nodes.iter().take(MOST_ROWS) {
        let (before, after) = (&node.sides.before, &node.sides.after);
        let mut row = vec![
            node.id.clone(),
            grouped(before.keys),
            grouped(after.keys),
            percent(after.share),
            percent(after.wanted_share),
            grouped(node.received),
            grouped(node.gave),
        ];
        row.extend(space.then(|| after.space_share.map_or("-".to_owned(), percent)));
        row.extend(requests.then(|| grouped(after.requests.unwrap_or(0))));
        row.extend(bytes.then(|| grouped(after.bytes.unwrap_or(0))));
        rows.push(row);
    }
    let unowned = if plan.unowned.before + plan.unowned.after > 0 {
        format!(
            "  keys without an owner: {} before, {} after\n",
            grouped(plan.unowned.before),
            grouped(plan.unowned.after)
        )
    } else {
        String::new()
    };
    table(&header, rows) + &more(plan.nodes.len()) + &unowned
}

fn flows(plan: &Plan) -> String {
    let mut flows: Vec<_> = plan.flows.iter().collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.keys));
    let name = |node: &Option<String>| node.clone().unwrap_or_else(|| "(nobody)".to_owned());
    let rows = flows.iter().take(MOST_ROWS).map(|flow| {
        let share = if plan.moved.keys == 0 {
            0.0
        } else {
            flow.keys as f64 / plan.moved.keys as f64
        };
        vec![
            name(&flow.from),
            name(&flow.to),
            grouped(flow.keys),
            percent(share),
        ]
    });
    if flows.is_empty() {
        return String::new();
    }
    table(&["from", "to", "keys", "of all moves"], rows.collect()) + &more(flows.len())
}

fn steps(plan: &Plan) -> String {
    if plan.steps.is_empty() {
        return String::new();
    }
    let rows = plan
        .steps
        .iter()
        .map(|step| vec![step.change.clone(), grouped(step.keys), percent(step.share)]);
    let all: f64 = plan.steps.iter().map(|step| step.share).sum();
    let most = plan.steps.iter().map(|step| step.share).fold(0.0, f64::max);
    table(&["step", "keys that move", "of all keys"], rows.collect())
        + &format!(
            "  together {} in steps of at most {}, against {} at once\n",
            percent(all),
            percent(most),
            percent(plan.moved.share)
        )
}

fn views(plan: &Plan) -> String {
    let Some(views) = &plan.views else {
        return String::new();
    };
    let rows = (0..)
        .zip(&views.owners_per_key)
        .filter(|(owners, keys)| *owners > 0 || **keys > 0);
    let rows = rows.map(|(owners, &keys): (u64, &u64)| {
        vec![
            grouped(owners),
            grouped(keys),
            percent(share(keys, plan.keys)),
        ]
    });
    table(&["owners of a key", "keys", "of all"], rows.collect())
        + &format!(
            "  {} views give a key {} owners on average\n",
            views.views,
            decimal(views.mean_owners, 3)
        )
}

fn hottest_keys(plan: &Plan) -> String {
    if plan.hottest_keys.is_empty() {
        return String::new();
    }
    let rows = plan.hottest_keys.iter().map(|hot| {
        let owner = hot.owner.clone().unwrap_or_else(|| "(nobody)".to_owned());
        vec![
            hot.key.clone(),
            grouped(hot.requests),
            percent(hot.share),
            owner,
        ]
    });
    let floor = plan
        .hottest
        .as_ref()
        .map_or(1.0, |hottest| hottest.share_of_fair.max(1.0));
    table(
        &["key", "requests", "of all", "owner after"],
        rows.collect(),
    ) + &format!(
        "  no placement brings the heaviest node's requests below {} times the mean: one key stays on one node\n",
        decimal(floor, 2)
    )
}

fn refill(plan: &Plan) -> String {
    if plan.refill.is_empty() || plan.moved.keys == 0 {
        return String::new();
    }
    let measured = plan.refill.iter().any(|point| point.measured.is_some());
    let mut header = vec!["after", "if uniform", "if Zipf 0.99"];
    header.extend(measured.then_some("as measured"));
    let rows = plan.refill.iter().map(|point| {
        let mut row = vec![
            duration(point.seconds),
            decimal(point.uniform, 1),
            decimal(point.zipf, 1),
        ];
        row.extend(point.measured.map(|queries| decimal(queries, 1)));
        row
    });
    table(&header, rows.collect())
}

fn balance(plan: &Plan) -> String {
    let mut rows = Vec::new();
    let mut add = |what: &str, side: &str, balance: &crate::Balance| {
        rows.push(vec![
            what.to_owned(),
            side.to_owned(),
            decimal(balance.max_over_mean, 3),
            decimal(balance.max_over_median, 3),
            percent(balance.spread),
            percent(balance.sd_over_mean),
            if what == "keys" {
                percent(balance.expected_sd_over_mean)
            } else {
                "-".to_owned()
            },
        ]);
    };
    for (what, sides) in [
        ("keys", Some(&plan.balance)),
        ("requests", plan.balance_requests.as_ref()),
        ("bytes", plan.balance_bytes.as_ref()),
    ] {
        if let Some(sides) = sides {
            add(what, "before", &sides.before);
            add(what, "after", &sides.after);
        }
    }
    table(
        &[
            "of",
            "",
            "max/mean",
            "max/median",
            "spread",
            "sd",
            "sd expected",
        ],
        rows,
    )
}

fn failures(plan: &Plan) -> String {
    let mut failures: Vec<&Failure> = plan.failures.iter().collect();
    let load = |failure: &Failure| {
        failure
            .heaviest_after
            .as_ref()
            .map_or(0.0, |heaviest| heaviest.max_over_mean)
    };
    failures.sort_by(|a, b| load(b).total_cmp(&load(a)));
    let rows = failures.iter().take(MOST_ROWS).map(|failure| {
        let (largest, share) = failure
            .receivers
            .first()
            .map_or(("nobody".to_owned(), "-".to_owned()), |r| {
                (r.id.clone(), percent(r.share))
            });
        let (heaviest, times) = failure
            .heaviest_after
            .as_ref()
            .map_or(("-".to_owned(), "-".to_owned()), |h| {
                (h.id.clone(), decimal(h.max_over_mean, 3))
            });
        vec![
            failure.node.clone(),
            grouped(failure.owned),
            largest,
            share,
            heaviest,
            times,
        ]
    });
    if failures.is_empty() {
        return String::new();
    }
    let header = [
        "node",
        "its keys",
        "largest receiver",
        "takes",
        "heaviest then",
        "max/mean",
    ];
    let renumbered = plan
        .failures
        .iter()
        .filter_map(|failure| failure.renumbered.as_ref())
        .map(|renumbering| renumbering.moved_share)
        .reduce(f64::max)
        .map_or(String::new(), |share| {
            format!(
                "  closing the gap in the numbers instead moves up to {} of all keys (predicted)\n",
                percent(share)
            )
        });
    table(&header, rows.collect()) + &more(failures.len()) + &renumbered
}

fn limits(plan: &Plan) -> String {
    let line = |limit: &crate::LimitResult| {
        let verdict = if limit.ok { "ok    " } else { "BROKEN" };
        let of = match (limit.name.as_str(), plan.basis) {
            ("imbalance" | "failure", Basis::Predicted) => " (of predicted keys)",
            ("imbalance" | "failure", _) => " (of keys)",
            ("moved", Basis::Predicted) => " (predicted)",
            _ => "",
        };
        format!(
            "  {verdict} {}{of} is {:.4}, at most {} allowed
",
            limit.name, limit.value, limit.limit
        )
    };
    plan.limits.iter().map(line).collect()
}

fn warnings(plan: &Plan) -> String {
    plan.warnings
        .iter()
        .map(|warning| format!("  {}: {}\n", warning.code, warning.text))
        .collect()
}

/// Names to the left, numbers to the right, two blanks before and between.
fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header.iter().copied())
        .add_rows(rows.iter().cloned());
    for (place, column) in table.column_iter_mut().enumerate() {
        let numbers = rows
            .iter()
            .filter_map(|row| row.get(place))
            .all(|cell| cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit()));
        if numbers && place > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
        .lines()
        .map(|line| format!(" {}\n", line.trim_end()))
        .collect()
}

/// Says how many rows were left out.
fn more(rows: usize) -> String {
    if rows > MOST_ROWS {
        format!(
            "  … and {} more, see --json\n",
            grouped((rows - MOST_ROWS) as u64)
        )
    } else {
        String::new()
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Requests at this many times the fair share are worth a look before anything else.
const UNEVEN_REQUESTS: f64 = 1.5;
/// Rows of a table before the rest is left to the JSON form.
const MOST_ROWS: usize = 40;
