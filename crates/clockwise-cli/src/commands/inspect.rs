//! `clockwise inspect`: shares, tokens and checksum of a membership.

use std::process::ExitCode;

use clockwise::{Placement, Weight};
use clockwise_plan::{grouped, percent};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::membership::Cluster;
use crate::output::{Output, note};

/// The form of `--json`.
#[derive(Serialize)]
struct Inspected<'a> {
    scheme: String,
    key_rule: String,
    nodes: Vec<Node<'a>>,
    /// Tokens of the ring; 0 for other schemes.
    tokens: usize,
    /// Slots of the table; `null` for schemes without.
    slots: Option<u32>,
    /// Memory of the placement's tables.
    bytes: usize,
    checksum: String,
    warnings: &'a [clockwise_plan::Warning],
}

#[derive(Serialize)]
struct Node<'a> {
    id: &'a str,
    endpoint: Option<&'a str>,
    weight: f64,
    tokens: usize,
    slots: Option<usize>,
    bucket: Option<usize>,
    /// Exact share of the token space; `null` where the scheme has no ranges or slots.
    space_share: Option<f64>,
    /// Share by weight.
    wanted_share: f64,
}

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode, Failure> {
    let cluster = Cluster::read(&args.cluster)?;
    let scheme = cluster.scheme(
        None,
        args.tokens.as_ref().and_then(|n| n.as_deref()),
        &args.scheme,
    )?;
    let placement = cluster.place(&cluster.membership, &scheme, &args.scheme)?;
    let mut output = Output::new();
    if args.tokens == Some(None) {
        let bits = scheme.token_bits();
        for (token, member) in placement.tokens() {
            output.write(&format!("{}\t{}\n", token.to_hex(bits), member.id()))?;
        }
        if placement.token_count() == 0 {
            note(&format!("scheme {} has no tokens", scheme.name()));
        }
        output.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let inspected = Inspected {
        scheme: scheme.to_string(),
        key_rule: placement.key_rule().to_string(),
        nodes: nodes(&cluster, &placement),
        tokens: placement.token_count(),
        slots: scheme.slot_count(),
        bytes: placement.memory_bytes(),
        checksum: placement.placement_checksum().to_string(),
        warnings: &cluster.warnings,
    };
    if args.json {
        output.json(&inspected)?;
    } else {
        output.write(&render(&inspected, &cluster))?;
        cluster
            .warnings
            .iter()
            .for_each(|warning| note(&format!("warning: {}", warning.text)));
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The nodes in listing order.
fn nodes<'c>(cluster: &'c Cluster, placement: &Placement) -> Vec<Node<'c>> {
    let members = placement.members();
    let mut tokens = vec![0; members.len()];
    let place =
        |id: &clockwise::NodeId| members.binary_search_by(|member| member.id().cmp(id)).ok();
    for (_, member) in placement.tokens() {
        if let Some(place) = place(member.id()) {
            tokens[place] += 1;
        }
    }
    let slots = placement.slot_owners().map(|owners| {
        let mut counts = vec![0; members.len()];
        owners.iter().for_each(|&owner| counts[owner as usize] += 1);
        counts
    });
    let spaces = placement.space_shares();
    let total: f64 = members
        .iter()
        .map(|member| f64::from(member.weight().milli()))
        .sum();
    cluster
        .membership
        .members()
        .iter()
        .filter_map(|member| {
            let place = place(member.id())?;
            let weight = f64::from(member.weight().milli());
            Some(Node {
                id: member.id().as_str(),
                endpoint: member.endpoint().map(clockwise::Endpoint::as_str),
                weight: weight / 1000.0,
                tokens: tokens[place],
                slots: slots.as_ref().map(|counts| counts[place]),
                bucket: placement
                    .buckets()
                    .and_then(|buckets| buckets.iter().position(|&node| node as usize == place)),
                space_share: spaces.as_ref().map(|shares| shares[place].as_f64()),
                wanted_share: if total > 0.0 { weight / total } else { 0.0 },
            })
        })
        .collect()
}

fn render(inspected: &Inspected<'_>, cluster: &Cluster) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["node", "weight", "wanted", "space", "tokens", "slots"]);
    for (node, member) in inspected.nodes.iter().zip(cluster.membership.members()) {
        table.add_row([
            node.id.to_owned(),
            Weight::to_string(&member.weight()),
            percent(node.wanted_share),
            node.space_share.map_or("-".to_owned(), percent),
            if inspected.tokens > 0 {
                grouped(node.tokens as u64)
            } else {
                "-".to_owned()
            },
            node.slots
                .map_or("-".to_owned(), |slots| grouped(slots as u64)),
        ]);
    }
    table.column_iter_mut().skip(1).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    let rows: String = table
        .lines()
        .map(|line| format!(" {}\n", line.trim_end()))
        .collect();
    format!(
        "scheme    {}\nkey rule  {}\nchecksum  {}\nmemory    {} bytes\n\n{rows}",
        inspected.scheme,
        inspected.key_rule,
        inspected.checksum,
        grouped(inspected.bytes as u64)
    )
}
