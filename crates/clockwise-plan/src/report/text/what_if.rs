//! Tables of what-ifs: outages, cascades, orders, copies, and what placement cannot split.

use super::sections::{MEANS_ARE_OF_THOSE_LEFT, failure_header, growth_cells, heaviest_cells};
use super::table::{MOST_ROWS, more, table};
use crate::number::{decimal, grouped, percent};
use crate::report::{Basis, Plan, Tied};
use crate::{Cascade, Outage, Outages};

pub(super) fn outages(of: &Outages) -> String {
    if of.worst.is_empty() {
        return match of.kind.as_str() {
            "pair" => "  fewer than two nodes have weight\n".to_owned(),
            kind => format!("  no node has a label for its {kind}\n"),
        };
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
        0 => String::new(),
        1 => format!(
            "  1 node has no label for its {}: it fails in none of these\n",
            of.kind
        ),
        nodes => format!(
            "  {nodes} nodes have no label for their {}: they fail in none of these\n",
            of.kind
        ),
    };
    table(&header, of.worst.iter().take(MOST_ROWS).map(row).collect())
        + &more(of.total)
        + MEANS_ARE_OF_THOSE_LEFT
        + &unlabelled
        + &basis(of.basis)
}

pub(super) fn cascades(plan: &Plan) -> String {
    let Some(cascades) = &plan.cascades else {
        return String::new();
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
        return "  after the change some nodes have more than they can serve without any failure:\n"
            .to_owned()
            + &table(&["node", "reads/s", "can serve", "filled"], rows.collect());
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
        return most.map_or(String::new(), |most| {
            format!(
                "  no failure of one node sets off another; the fullest then is {} at {} of what it can serve, when {} fails\n",
                most.fullest.as_deref().unwrap_or("nobody"),
                percent(filled(most)),
                most.node
            )
        }) + &basis(cascades.basis);
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
    let rows = spreading.iter().take(MOST_ROWS).map(row).collect();
    table(&["fails", "sets off", "ends"], rows) + &more(spreading.len()) + &basis(cascades.basis)
}

pub(super) fn orders(plan: &Plan) -> String {
    let Some(orders) = &plan.orders else {
        return String::new();
    };
    if orders.least.moved_share >= orders.listed.moved_share {
        return format!(
            "  no order of these steps moves less: {} compared\n",
            orders.count
        );
    }
    format!(
        "  least in all: {} with {} in steps of at most {}; {} orders compared\n",
        orders.least.steps.join(", then "),
        percent(orders.least.moved_share),
        percent(orders.least.largest_step),
        orders.count
    ) + &basis(orders.basis)
}

pub(super) fn replicas(plan: &Plan) -> String {
    let Some(copies) = &plan.replicas else {
        return String::new();
    };
    let rows = copies.nodes.iter().take(MOST_ROWS).map(|node| {
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
    let short = if copies.short_keys.after > 0 {
        format!(
            "  {} keys have fewer copies than asked for\n",
            grouped(copies.short_keys.after)
        )
    } else {
        String::new()
    };
    table(
        &["node", "copies before", "copies after", "to be made"],
        rows.collect(),
    ) + &more(copies.nodes.len())
        + &format!(
            "  {} of {} copies must be made ({}{bytes}); heaviest node {} times its fair share of copies (before: {})\n",
            grouped(copies.made),
            grouped(copies.held.after),
            percent(copies.made_share),
            decimal(copies.max_over_mean.after, 3),
            decimal(copies.max_over_mean.before, 3)
        )
        + &short
        + &basis(copies.basis)
}

pub(super) fn tags(plan: &Plan) -> String {
    let Some(tags) = &plan.tags else {
        return String::new();
    };
    let different = tags.tags.map_or("more than 131,072".to_owned(), grouped);
    format!(
        "  {} of the keys have a tag; {different} different ones. Keys of one tag stay together on one node.\n",
        percent(tags.share)
    ) + &tied("tag", &tags.heaviest)
}

pub(super) fn slots(plan: &Plan) -> String {
    if plan.heaviest_slots.is_empty() {
        return String::new();
    }
    tied("slot", &plan.heaviest_slots)
}

fn tied(what: &str, list: &[Tied]) -> String {
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
    table(&header, list.iter().map(row).collect())
}

fn basis(basis: Basis) -> String {
    match basis {
        Basis::Exact => String::new(),
        Basis::Predicted => "  predicted on pseudo-random keys\n".to_owned(),
        Basis::Sampled => "  sampled: worked out on 131,072 of the keys, the hot ones among them, weighed by what was counted for each node\n".to_owned(),
    }
}
