//! A plan as a page that someone would rather look at: its document, with the figures to be seen first, drawings above
//! the tables that say the same, the members, and the command that makes it again.

mod failures;
mod moves;
mod space;
mod tiles;

use clockwise::{DomainLevel, Member};

use super::sections::{FAILURES, MOVES, NODES, REFILL, document, notable};
use super::{Basis, Node, Plan};
use crate::census::Change;
use crate::document::{Block, Document, Picture, Section, Table};
use crate::picture::{Bar, Line, bars, curve};

/// The plan of this change as a page.
#[must_use]
pub fn page(plan: &Plan, change: &Change, command: &str) -> Document {
    let mut page = document(plan);
    page.tiles = tiles::tiles(plan);
    page.command = Some(command.to_owned());
    let space = space::Space::of(plan, change);
    page.insert_before(NODES, Section::new(space.title(), space.blocks(plan)));
    page.illustrate(NODES, amounts(plan));
    page.illustrate(MOVES, moves::picture(plan).into_iter().collect());
    page.illustrate(FAILURES, failures::picture(plan).into_iter().collect());
    page.illustrate(REFILL, database(plan).into_iter().collect());
    page.push("Members", members(plan, change));
    page
}

/// Bars of keys, requests and bytes for the nodes that matter most.
fn amounts(plan: &Plan) -> Vec<Picture> {
    let shown: Vec<&Node> = notable(plan).into_iter().take(MOST_BARS).collect();
    let of = if shown.len() < plan.nodes.len() {
        format!(
            ", for {} of {} nodes: those that come, go or change weight first, then the heaviest",
            shown.len(),
            plan.nodes.len()
        )
    } else {
        String::new()
    };
    let sure = match plan.basis {
        Basis::Exact => "exact",
        Basis::Sampled => "sampled",
        Basis::Predicted => "predicted on pseudo-random keys",
    };
    let picture = |unit: &str, total: Option<u64>, amount: fn(&super::Holding) -> Option<u64>| {
        let total = total? as f64;
        let bar = |node: &&Node| Bar {
            name: node.id.clone(),
            before: amount(&node.sides.before).unwrap_or(0) as f64,
            after: amount(&node.sides.after).unwrap_or(0) as f64,
            fair: node.sides.after.wanted_share * total,
        };
        let list: Vec<Bar> = shown.iter().map(bar).collect();
        let caption = format!(
            "{unit} a node ({sure}): the upper, pale bar before, the lower one after; the line marks its fair share after the change{of}."
        );
        Some(Picture {
            svg: bars(&list, &unit.to_lowercase(), &caption)?,
            caption,
        })
    };
    [
        picture("Keys", Some(plan.keys), |holding| Some(holding.keys)),
        picture("Requests", plan.requests, |holding| holding.requests),
        picture("Bytes", plan.bytes, |holding| holding.bytes),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How the database's load falls again, against today's and what it can serve.
fn database(plan: &Plan) -> Option<Picture> {
    let origin = plan.origin.as_ref()?;
    let uniform: fn(&crate::RefillPoint) -> Option<f64> = |point| Some(point.uniform);
    let zipf: fn(&crate::RefillPoint) -> Option<f64> = |point| Some(point.zipf);
    let measured: fn(&crate::RefillPoint) -> Option<f64> = |point| point.measured;
    let values = [uniform, zipf, measured];
    let is_back = |point: &crate::RefillPoint| {
        let value = |value: &fn(&crate::RefillPoint) -> Option<f64>| value(point);
        let queries = values.iter().filter_map(value).fold(0.0, f64::max);
        queries <= 1.01 * origin.queries_before
    };
    // From where all are back on, nothing is left to see.
    let until_back = plan
        .refill
        .iter()
        .take_while(|point| !is_back(point))
        .count();
    let drawn = &plan.refill[..plan.refill.len().min(until_back + 2)];
    let line = |name, value: fn(&crate::RefillPoint) -> Option<f64>| {
        let points = drawn.iter();
        let points: Option<Vec<(f64, f64)>> = points
            .map(|point| Some((point.seconds, value(point)?)))
            .collect();
        points.map(|points| Line { name, points })
    };
    let lines = [
        line("if uniform", uniform),
        line("if Zipf 0.99", zipf),
        line("by your requests", measured),
    ];
    let lines: Vec<Line> = lines.into_iter().flatten().collect();
    let mut levels = vec![("today".to_owned(), origin.queries_before)];
    levels.extend(
        origin
            .capacity
            .map(|capacity| ("what it can serve".to_owned(), capacity)),
    );
    let caption =
        "Queries per second at the database from the first moment after the change until the moved keys are cached again (predicted)."
            .to_owned();
    Some(Picture {
        svg: curve(&lines, &levels, &caption)?,
        caption,
    })
}

/// Both memberships, as they were given.
fn members(plan: &Plan, change: &Change) -> Vec<Block> {
    let sides = |node: usize| {
        let (from, to) = (change.nodes[node].from, change.nodes[node].to);
        (
            from.map(|member| &change.from.members()[member]),
            to.map(|member| &change.to.members()[member]),
        )
    };
    let either = |value: fn(&Member) -> String, node: usize| {
        let (before, after) = sides(node);
        match (before.map(value), after.map(value)) {
            (Some(before), Some(after)) if before != after => format!("{before} → {after}"),
            (before, after) => after.or(before).unwrap_or_default(),
        }
    };
    let weight = |member: Option<&Member>| {
        member.map_or_else(|| "-".to_owned(), |member| member.weight().to_string())
    };
    let endpoint = |member: &Member| {
        member
            .endpoint()
            .map_or_else(String::new, |endpoint| endpoint.as_str().to_owned())
    };
    let labels = |member: &Member| {
        let label = |level: DomainLevel| {
            let name = level.label(member.domains())?;
            Some(format!("{level} {name}"))
        };
        let labels: Vec<String> = DomainLevel::ALL.into_iter().filter_map(label).collect();
        labels.join(", ")
    };
    let all = 0..change.nodes.len();
    let has = |value: fn(&Member) -> String| {
        let mut nodes = all.clone();
        nodes.any(|node| !either(value, node).is_empty())
    };
    let (has_endpoints, has_labels) = (has(endpoint), has(labels));
    let mut header = vec!["node", "weight before", "weight after"];
    header.extend(has_endpoints.then_some("endpoint"));
    header.extend(has_labels.then_some("failure domains"));
    let rows = all.map(|node| {
        let (before, after) = sides(node);
        let mut row = vec![plan.nodes[node].id.clone(), weight(before), weight(after)];
        row.extend(has_endpoints.then(|| either(endpoint, node)));
        row.extend(has_labels.then(|| either(labels, node)));
        row
    });
    let checksums = Block::Pairs(vec![
        (
            "placement before".to_owned(),
            change.from.placement_checksum().to_string(),
        ),
        (
            "placement after".to_owned(),
            change.to.placement_checksum().to_string(),
        ),
    ]);
    vec![
        Block::Table(Table::new(header, rows)),
        Block::note(
            "SHA-256 over the scheme and what each node owns: equal sums, equal placements",
        ),
        checksums,
    ]
}

/// Bars of more nodes are hard to compare.
const MOST_BARS: usize = 30;
