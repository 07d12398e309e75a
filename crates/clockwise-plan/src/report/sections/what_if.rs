//! Tables of what-ifs: outages, cascades, orders, copies, and what placement cannot split.

use super::tables::{MEANS_ARE_OF_THOSE_LEFT, failure_header, growth_cells, heaviest_cells};
use crate::document::{Block, Table};
use crate::number::{decimal, grouped, percent};
use crate::report::{Basis, Plan, Tied};
use crate::{Cascade, Outage, Outages};

pub(super) fn outages(of: &Outages) -> Vec<Block> {
    if of.worst.is_empty() {
        return vec![match of.kind.as_str() {
            "pair" => Block::note("fewer than two nodes have weight"),
            kind => Block::Note(format!("no node has a label for its {kind}")),
        }];
    }
    let named = of.worst.iter().any(|outage| outage.name.is_some());
    let requests = of
        .worst
        .iter()
        .any(|outage| outage.heaviest_requests_after.is_some());
    let queries = of
        .worst
        .iter()
        .any(|outage| outage.origin_queries.is_some());
    let row = |outage: &Outage| {
        let (receiver, takes) = match &outage.largest_receiver {
            Some(receiver) => (receiver.id.clone(), percent(receiver.share)),
            None => ("nobody".to_owned(), "-".to_owned()),
        };
        let what = match (&outage.name, outage.nodes.len()) {
            (Some(name), 1) => format!("{name} (1 node)"),
            (Some(name), nodes) => format!("{name} ({nodes} nodes)"),
            (None, _) => outage.nodes.join(", "),
        };
        let mut row = vec![what, percent(outage.owned_share), receiver, takes];
        row.extend(heaviest_cells(outage.heaviest_after.as_ref()));
        if requests {
            row.extend(heaviest_cells(outage.heaviest_requests_after.as_ref()));
        }
        row.extend(growth_cells(outage.grows_most.as_ref()));
        row.extend(outage.origin_queries.map(|queries| decimal(queries, 1)));
        row
    };
    let what = if named { of.kind.as_str() } else { "nodes" };
    let header = failure_header([what, "owned"], requests, queries);
    let unlabelled = match of.unlabelled {
        0 => None,
        1 => Some(format!(
            "1 node has no label for its {}: it fails in none of these",
            of.kind
        )),
        nodes => Some(format!(
            "{nodes} nodes have no label for their {}: they fail in none of these",
            of.kind
        )),
    };
    let table = Table::new(header, of.worst.iter().map(row)).first_of(of.total);
    let mut blocks = vec![Block::Table(table), Block::note(MEANS_ARE_OF_THOSE_LEFT)];
    blocks.extend(unlabelled.map(Block::Note));
    blocks.extend(basis(of.basis));
    blocks
}

pub(super) fn cascades(plan: &Plan) -> Vec<Block> {
    let Some(cascades) = &plan.cascades else {
        return Vec::new();
    };
    if !cascades.over.is_empty() {
        let rows = cascades.over.iter().map(|node| {
            vec![
                node.id.clone(),
                decimal(node.reads_per_s, 1),
                decimal(node.can_serve_per_s, 1),
                percent(node.reads_per_s / node.can_serve_per_s),
            ]
        });
        return vec![
            Block::note(
                "after the change some nodes have more than they can serve without any failure:",
            ),
            Block::table(["node", "reads/s", "can serve", "filled"], rows),
        ];
    }
    let spreading: Vec<&Cascade> = cascades
        .failures
        .iter()
        .filter(|cascade| !cascade.waves.is_empty() || cascade.collapses)
        .collect();
    if spreading.is_empty() {
        let filled = |cascade: &Cascade| cascade.filled.unwrap_or(0.0);
        let most = cascades
            .failures
            .iter()
            .max_by(|a, b| filled(a).total_cmp(&filled(b)));
        let note = most.map(|most| {
            Block::Note(format!(
                "no failure of one node sets off another; the fullest then is {} at {} of what it can serve, when {} fails",
                most.fullest.as_deref().unwrap_or("nobody"),
                percent(filled(most)),
                most.node
            ))
        });
        return note.into_iter().chain(basis(cascades.basis)).collect();
    }
    let row = |cascade: &&Cascade| {
        let waves: Vec<String> = cascade.waves.iter().map(|wave| wave.join(", ")).collect();
        let end = if cascade.collapses {
            format!("collapses: {} nodes left, counting stops", cascade.left)
        } else {
            format!("holds with {} nodes", cascade.left)
        };
        vec![cascade.node.clone(), waves.join(", then "), end]
    };
    let table = Block::table(["fails", "sets off", "ends"], spreading.iter().map(row));
    [table].into_iter().chain(basis(cascades.basis)).collect()
}

pub(super) fn orders(plan: &Plan) -> Vec<Block> {
    let Some(orders) = &plan.orders else {
        return Vec::new();
    };
    if orders.least.moved_share >= orders.listed.moved_share {
        return vec![Block::Note(format!(
            "no order of these steps moves less: {} compared",
            orders.count
        ))];
    }
    let note = Block::Note(format!(
        "least in all: {} with {} in steps of at most {}; {} orders compared",
        orders.least.steps.join(", then "),
        percent(orders.least.moved_share),
        percent(orders.least.largest_step),
        orders.count
    ));
    [note].into_iter().chain(basis(orders.basis)).collect()
}

pub(super) fn replicas(plan: &Plan) -> Vec<Block> {
    let Some(copies) = &plan.replicas else {
        return Vec::new();
    };
    let rows = copies.nodes.iter().map(|node| {
        vec![
            node.id.clone(),
            grouped(node.held.before),
            grouped(node.held.after),
            grouped(node.received),
        ]
    });
    let bytes = copies
        .made_bytes
        .map_or(String::new(), |bytes| format!(", {} bytes", grouped(bytes)));
    let mut blocks = vec![
        Block::table(
            ["node", "copies before", "copies after", "to be made"],
            rows,
        ),
        Block::Note(format!(
            "{} of {} copies must be made ({}{bytes}); heaviest node {} times its fair share of copies (before: {})",
            grouped(copies.made),
            grouped(copies.held.after),
            percent(copies.made_share),
            decimal(copies.max_over_mean.after, 3),
            decimal(copies.max_over_mean.before, 3)
        )),
    ];
    if copies.short_keys.after > 0 {
        blocks.push(Block::Note(format!(
            "{} keys have fewer copies than asked for",
            grouped(copies.short_keys.after)
        )));
    }
    blocks.extend(basis(copies.basis));
    blocks
}

pub(super) fn tags(plan: &Plan) -> Vec<Block> {
    let Some(tags) = &plan.tags else {
        return Vec::new();
    };
    let different = tags.tags.map_or("more than 131,072".to_owned(), grouped);
    let note = Block::Note(format!(
        "{} of the keys have a tag; {different} different ones. Keys of one tag stay together on one node.",
        percent(tags.share)
    ));
    vec![note, tied("tag", &tags.heaviest)]
}

pub(super) fn slots(plan: &Plan) -> Vec<Block> {
    if plan.heaviest_slots.is_empty() {
        return Vec::new();
    }
    vec![tied("slot", &plan.heaviest_slots)]
}

fn tied(what: &str, list: &[Tied]) -> Block {
    let requests = list.iter().any(|tied| tied.requests.is_some());
    let mut header = vec![what, "keys"];
    header.extend(requests.then_some("requests"));
    header.extend(["of all", "of a fair share", "owner after"]);
    let row = |tied: &Tied| {
        let mut row = vec![tied.name.clone(), grouped(tied.keys)];
        row.extend(tied.requests.map(grouped));
        row.extend([
            percent(tied.share),
            decimal(tied.share_of_fair, 2),
            tied.owner.clone().unwrap_or_else(|| "(nobody)".to_owned()),
        ]);
        row
    };
    Block::table(header, list.iter().map(row))
}

fn basis(basis: Basis) -> Option<Block> {
    match basis {
        Basis::Exact => None,
        Basis::Predicted => Some(Block::note("predicted on pseudo-random keys")),
        Basis::Sampled => Some(Block::note(
            "sampled: worked out on 131,072 of the keys, the hot ones among them, weighed by what was counted for each node",
        )),
    }
}
