//! The tables behind the answer: nodes, moves, steps, views, balance, failures, hot keys, the database.

use crate::Growth;
use crate::document::Block;
use crate::number::{decimal, duration, grouped, percent};
use crate::report::{Failure, Heaviest, Node, Plan, share};

pub(super) fn nodes(plan: &Plan) -> Vec<Block> {
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
    for node in notable(plan) {
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
    let mut blocks = vec![Block::table(header, rows)];
    if plan.nodes.len() > MOST_IN_ORDER {
        blocks.push(Block::note(
            "nodes that come, go or change weight first, then the heaviest",
        ));
    }
    if plan.unowned.before + plan.unowned.after > 0 {
        blocks.push(Block::Note(format!(
            "keys without an owner: {} before, {} after",
            grouped(plan.unowned.before),
            grouped(plan.unowned.after)
        )));
    }
    blocks
}

/// The nodes in their order, or where there are many those first that come, go or change weight, then the heaviest.
pub(in crate::report) fn notable(plan: &Plan) -> Vec<&Node> {
    let mut nodes: Vec<&Node> = plan.nodes.iter().collect();
    if nodes.len() > MOST_IN_ORDER {
        let load = |node: &Node| {
            let after = &node.sides.after;
            let amount = after.requests.unwrap_or(after.keys) as f64;
            amount / after.wanted_share.max(f64::MIN_POSITIVE)
        };
        nodes.sort_by(|a, b| {
            let changes = b.changes().cmp(&a.changes());
            changes.then(load(b).total_cmp(&load(a)))
        });
    }
    nodes
}

pub(super) fn flows(plan: &Plan) -> Vec<Block> {
    let mut flows: Vec<_> = plan.flows.iter().collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.keys));
    let name = |node: &Option<String>| node.clone().unwrap_or_else(|| "(nobody)".to_owned());
    let rows = flows.iter().map(|flow| {
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
        return Vec::new();
    }
    vec![Block::table(["from", "to", "keys", "of all moves"], rows)]
}

pub(super) fn steps(plan: &Plan) -> Vec<Block> {
    if plan.steps.is_empty() {
        return Vec::new();
    }
    let mut header = vec!["step", "keys that move", "of all keys"];
    header.extend(plan.requests.is_some().then_some("of all requests"));
    header.extend(plan.origin.is_some().then_some("database q/s"));
    let rows = plan.steps.iter().map(|step| {
        let mut row = vec![step.change.clone(), grouped(step.keys), percent(step.share)];
        row.extend(
            step.requests
                .map(|moved| percent(share(moved, plan.requests.unwrap_or(0)))),
        );
        row.extend(step.origin_queries.map(|queries| decimal(queries, 1)));
        row
    });
    let all: f64 = plan.steps.iter().map(|step| step.share).sum();
    let most = plan.steps.iter().map(|step| step.share).fold(0.0, f64::max);
    vec![
        Block::table(header, rows),
        Block::Note(format!(
            "together {} in steps of at most {}, against {} at once",
            percent(all),
            percent(most),
            percent(plan.moved.share)
        )),
    ]
}

pub(super) fn views(plan: &Plan) -> Vec<Block> {
    let Some(views) = &plan.views else {
        return Vec::new();
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
    vec![
        Block::table(["owners of a key", "keys", "of all"], rows),
        Block::Note(format!(
            "{} views give a key {} owners on average",
            views.views,
            decimal(views.mean_owners, 3)
        )),
    ]
}

pub(super) fn balance(plan: &Plan) -> Vec<Block> {
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
    let header = [
        "of",
        "",
        "max/mean",
        "max/median",
        "spread",
        "sd",
        "sd expected",
    ];
    vec![Block::table(header, rows)]
}

pub(super) fn failures(plan: &Plan) -> Vec<Block> {
    let mut failures: Vec<&Failure> = plan.failures.iter().collect();
    if failures.is_empty() {
        return Vec::new();
    }
    let load = |failure: &Failure| {
        let heaviest = failure
            .heaviest_requests_after
            .as_ref()
            .or(failure.heaviest_after.as_ref());
        heaviest.map_or(0.0, |heaviest| heaviest.max_over_mean)
    };
    failures.sort_by(|a, b| load(b).total_cmp(&load(a)));
    let requests = plan.requests.is_some();
    let rows = failures.iter().map(|failure| {
        let (largest, share) = failure
            .receivers
            .first()
            .map_or(("nobody".to_owned(), "-".to_owned()), |r| {
                (r.id.clone(), percent(r.share))
            });
        let mut row = vec![failure.node.clone(), grouped(failure.owned), largest, share];
        row.extend(heaviest_cells(failure.heaviest_after.as_ref()));
        if requests {
            row.extend(heaviest_cells(failure.heaviest_requests_after.as_ref()));
        }
        row.extend(growth_cells(failure.grows_most.as_ref()));
        row.extend(failure.origin_queries.map(|queries| decimal(queries, 1)));
        row
    });
    let header = failure_header(["node", "its keys"], requests, plan.origin.is_some());
    let renumbered = plan
        .failures
        .iter()
        .filter_map(|failure| failure.renumbered.as_ref())
        .map(|renumbering| renumbering.moved_share)
        .reduce(f64::max)
        .map(|share| {
            Block::Note(format!(
                "closing the gap in the numbers instead moves up to {} of all keys (predicted)",
                percent(share)
            ))
        });
    let mut blocks = vec![
        Block::table(header, rows),
        Block::note(MEANS_ARE_OF_THOSE_LEFT),
    ];
    blocks.extend(renumbered);
    blocks
}

pub(super) fn hottest_keys(plan: &Plan) -> Vec<Block> {
    if plan.hottest_keys.is_empty() {
        return Vec::new();
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
    let mut blocks = vec![Block::table(
        ["key", "requests", "of all", "owner after"],
        rows,
    )];
    if floor > 1.0 {
        blocks.push(Block::Note(format!(
            "no placement brings the heaviest node's requests below {} times the mean: one key stays on one node",
            decimal(floor, 2)
        )));
    }
    blocks
}

pub(super) fn refill(plan: &Plan) -> Vec<Block> {
    if plan.refill.is_empty() || plan.moved.keys == 0 {
        return Vec::new();
    }
    let measured = plan.refill.iter().any(|point| point.measured.is_some());
    let mut header = vec!["after", "if uniform", "if Zipf 0.99"];
    header.extend(measured.then_some("by your requests"));
    // Once nothing changes any more, one row says so.
    let flat = |point: &crate::RefillPoint| {
        (
            decimal(point.uniform, 1),
            decimal(point.zipf, 1),
            point.measured.map(|q| decimal(q, 1)),
        )
    };
    let last = plan.refill.last().map(flat);
    let tail = plan
        .refill
        .iter()
        .rev()
        .take_while(|point| Some(flat(point)) == last)
        .count();
    let shown = plan.refill.len() - tail.saturating_sub(1);
    let rows = plan.refill[..shown].iter().map(|point| {
        let mut row = vec![
            duration(point.seconds),
            decimal(point.uniform, 1),
            decimal(point.zipf, 1),
        ];
        row.extend(point.measured.map(|queries| decimal(queries, 1)));
        row
    });
    vec![Block::table(header, rows)]
}

/// The header of a table of failures, behind what fails and what it owned.
pub(super) fn failure_header(first: [&str; 2], requests: bool, queries: bool) -> Vec<&str> {
    let mut header = first.to_vec();
    header.extend(["largest receiver", "takes", "heaviest then", "max/mean"]);
    if requests {
        header.extend(["in requests", "max/mean"]);
    }
    header.extend(["grows most", "times"]);
    header.extend(queries.then_some("database q/s"));
    header
}

/// A heaviest node and its ratio, or two dashes.
pub(super) fn heaviest_cells(heaviest: Option<&Heaviest>) -> [String; 2] {
    match heaviest {
        Some(heaviest) => [heaviest.id.clone(), decimal(heaviest.max_over_mean, 3)],
        None => ["-".to_owned(), "-".to_owned()],
    }
}

/// The node that grows most and how many times its load of before it gets, or two dashes.
pub(super) fn growth_cells(growth: Option<&Growth>) -> [String; 2] {
    match growth {
        Some(growth) => [growth.id.clone(), decimal(growth.times, 2)],
        None => ["-".to_owned(), "-".to_owned()],
    }
}

/// Ratios after a failure can be smaller than before it while every load grows.
pub(super) const MEANS_ARE_OF_THOSE_LEFT: &str = "max/mean is against the fair share among the nodes left; times is a node's load then over its load before";
/// A table of more nodes is cut, so that what matters most has to stand first.
const MOST_IN_ORDER: usize = 40;
