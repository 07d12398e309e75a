//! `clockwise inspect`: shares, tokens and checksum of a membership.

use std::process::ExitCode;

use clockwise::{Placement, ReplicaSets, Scheme, Weight};
use clockwise_plan::{ReplicaShares, calibrate, grouped, percent};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::membership::{Cluster, explain_replication, one_scheme};
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
    /// Bytes that a published table needs: run lengths of slots, or the tokens of a ring; 0 where members suffice.
    membership_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    replication: Option<Replicated>,
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
    /// Share of all replicas, predicted on pseudo-random keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    replica_share: Option<f64>,
    /// Weight with which the replica share comes out as wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibrated_weight: Option<f64>,
}

/// A line of `--tokens --json`.
#[derive(Serialize)]
struct ListedToken<'a> {
    token: &'a str,
    node: &'a str,
}

/// How replicas spread, predicted on pseudo-random keys.
#[derive(Serialize)]
struct Replicated {
    basis: &'static str,
    keys: u64,
    factor: u32,
    /// Whether weights were calibrated.
    #[serde(skip)]
    calibrated: bool,
    rules: Vec<String>,
    domains: Vec<Domain>,
    degraded_share: f64,
    short_share: f64,
}

#[derive(Serialize)]
struct Domain {
    level: &'static str,
    /// `null` for nodes without a label.
    name: Option<String>,
    replica_share: f64,
}

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode, Failure> {
    let cluster = Cluster::read(&args.cluster)?;
    let tokens = args.tokens.as_ref().and_then(|n| n.as_deref());
    let scheme = one_scheme(&cluster, tokens, &args.scheme)?;
    let placement = cluster.place(&cluster.membership, &scheme, &args.scheme.rule)?;
    let mut output = Output::new();
    if args.tokens == Some(None) {
        let bits = scheme.token_bits();
        for (token, member) in placement.tokens() {
            let (token, node) = (token.to_hex(bits), member.id().as_str());
            if args.json {
                output.json_line(&ListedToken {
                    token: &token,
                    node,
                })?;
            } else {
                output.write(&format!(
                    "{token}	{node}
"
                ))?;
            }
        }
        if placement.token_count() == 0 {
            note(&format!("scheme {} has no tokens", scheme.name()));
        }
        output.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut nodes = nodes(&cluster, &placement);
    let replication = replicated(args, &cluster, &scheme, &placement, &mut nodes)?;
    let inspected = Inspected {
        scheme: scheme.to_string(),
        key_rule: placement.key_rule().to_string(),
        nodes,
        tokens: placement.token_count(),
        slots: scheme.slot_count(),
        bytes: placement.memory_bytes(),
        membership_bytes: membership_bytes(&placement),
        checksum: placement.placement_checksum().to_string(),
        replication,
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
                replica_share: None,
                calibrated_weight: None,
            })
        })
        .collect()
}

/// What the placement's table takes when it is written out: 8 bytes for each run of slots with one owner or 4 for each
/// slot, whichever is less, and 12 for each token of a ring. Both can be left out where everyone derives them from the
/// members.
fn membership_bytes(placement: &Placement) -> usize {
    let table = placement.slot_owners().map_or(0, |owners| {
        let runs = owners.chunk_by(|a, b| a == b).count();
        (8 * runs).min(4 * owners.len())
    });
    table + 12 * placement.token_count()
}

/// How replicas spread, if there are any; fills in the nodes' part of it.
fn replicated(
    args: &InspectArgs,
    cluster: &Cluster,
    scheme: &Scheme,
    placement: &Placement,
    nodes: &mut [Node<'_>],
) -> Result<Option<Replicated>, Failure> {
    let replication = cluster.replication(&args.replication)?;
    if args.calibrate && replication.factor().get() == 1 {
        return Err(Failure::usage(
            "nothing to calibrate: with one replica, shares are what the weights say",
        )
        .hint("give --replicas 2 or more"));
    }
    if replication.factor().get() == 1 && replication.rules().is_empty() {
        return Ok(None);
    }
    let sets = ReplicaSets::new(placement, replication.clone()).map_err(explain_replication)?;
    let shares = ReplicaShares::measure(placement, &sets, MEASURED_KEYS);
    for (member, node) in cluster.membership.members().iter().zip(nodes.iter_mut()) {
        let place = placement
            .members()
            .binary_search_by(|other| other.id().cmp(member.id()));
        node.replica_share = place.ok().map(|place| shares.nodes[place]);
    }
    if args.calibrate {
        let calibrated = calibrate(scheme, &cluster.membership, &replication, MEASURED_KEYS)
            .map_err(Failure::usage)?;
        for (member, node) in calibrated.members().iter().zip(nodes) {
            node.calibrated_weight = Some(f64::from(member.weight().milli()) / 1000.0);
        }
    }
    Ok(Some(Replicated {
        basis: "predicted",
        keys: shares.keys,
        factor: replication.factor().get(),
        calibrated: args.calibrate,
        rules: replication
            .rules()
            .iter()
            .map(ToString::to_string)
            .collect(),
        domains: shares
            .domains
            .into_iter()
            .map(|domain| Domain {
                level: domain.level.name(),
                name: domain.name,
                replica_share: domain.share,
            })
            .collect(),
        degraded_share: shares.degraded,
        short_share: shares.short,
    }))
}

fn render(inspected: &Inspected<'_>, cluster: &Cluster) -> String {
    let replicas = inspected.replication.as_ref();
    let calibrated = inspected
        .nodes
        .iter()
        .any(|node| node.calibrated_weight.is_some());
    let mut table = Table::new();
    let mut header = vec!["node", "weight", "wanted", "space", "tokens", "slots"];
    header.extend(replicas.map(|_| "replicas"));
    header.extend(calibrated.then_some("calibrated weight"));
    table.load_style(presets::NOTHING).set_header(header);
    for (node, member) in inspected.nodes.iter().zip(cluster.membership.members()) {
        let mut row = vec![
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
        ];
        row.extend(node.replica_share.map(percent));
        row.extend(node.calibrated_weight.map(|weight| weight.to_string()));
        table.add_row(row);
    }
    table.column_iter_mut().skip(1).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    let rows: String = table
        .lines()
        .map(|line| format!(" {}\n", line.trim_end()))
        .collect();
    format!(
        "scheme    {}\nkey rule  {}\nchecksum  {}\nmemory    {} bytes\n\n{rows}{}",
        inspected.scheme,
        inspected.key_rule,
        inspected.checksum,
        grouped(inspected.bytes as u64),
        replicas.map_or(String::new(), render_replication)
    )
}

fn render_replication(replication: &Replicated) -> String {
    let rules = if replication.rules.is_empty() {
        "distinct nodes".to_owned()
    } else {
        replication.rules.join(", ")
    };
    let mut text = format!(
        "\n{} replicas a key, {rules} (predicted on {} pseudo-random keys)\n",
        replication.factor,
        grouped(replication.keys)
    );
    for domain in &replication.domains {
        let name = domain.name.as_deref().unwrap_or("(none)");
        text.push_str(&format!(
            "  {} {name}: {} of all replicas\n",
            domain.level,
            percent(domain.replica_share)
        ));
    }
    if replication.degraded_share > 0.0 {
        text.push_str(&format!(
            "  a preferred level gives way for {} of the keys\n",
            percent(replication.degraded_share)
        ));
    }
    if replication.calibrated {
        text.push_str("  calibrated weights even out replicas, not owners: check with plan --weight before using them\n");
    }
    if replication.short_share > 0.0 {
        text.push_str(&format!(
            "  {} of the keys have fewer replicas\n",
            percent(replication.short_share)
        ));
    }
    text
}

/// As many keys as bring the error of a share of a few percent below 1 % of itself.
const MEASURED_KEYS: u64 = 200_000;
