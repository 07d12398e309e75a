//! What a comparison says, in the order in which a person asks: the answer, then a table for each question.

use super::form::{Compared, Row, Timing};
use super::verdict::{Standing, distance, lead, ratio, standings};
use crate::Basis;
use crate::document::{Block, Document, Picture, Tile};
use crate::number::{decimal, grouped, percent};
use crate::picture::{Bar, bars};

/// What the comparison says, with the figures as a person reads them.
#[must_use]
pub fn document(compared: &Compared) -> Document {
    let standings = standings(compared);
    let mut rows: Vec<(&Row, Standing)> = compared.rows.iter().zip(standings).collect();
    rows.sort_by(|(a, a_standing), (b, b_standing)| {
        let distance = |row: &Row| distance(compared, row);
        a_standing
            .cmp(b_standing)
            .then(distance(a).total_cmp(&distance(b)))
    });
    let mut document = Document {
        title: format!("Compare: {}", compared.change),
        lead: lead(compared),
        tiles: tiles(compared, &rows),
        ..Document::default()
    };
    let rows: Vec<&Row> = rows.into_iter().map(|(row, _)| row).collect();
    document.push(
        "Warnings",
        compared
            .warnings
            .iter()
            .map(|warning| Block::Note(format!("{}: {}", warning.code, warning.text)))
            .collect(),
    );
    document.push(
        format!("This change: {}", compared.change),
        change(compared, &rows),
    );
    document.push("Other changes", others(compared, &rows));
    document.push("If one node fails afterwards", failures(&rows));
    document.push("Cost", cost(compared, &rows));
    document.push("Reasons", reasons(&rows));
    document.push("What it is about", inputs(compared));
    document
}

fn change(compared: &Compared, rows: &[&Row]) -> Vec<Block> {
    let row = |row: &&Row| {
        vec![
            row.label.clone(),
            share(row.moved_share),
            share(row.extra_moved_share),
            ratio(row.max_over_mean),
            row.sd_over_mean.map_or_else(dash, percent),
            ratio(row.max_over_mean_before),
            basis_of(row),
        ]
    };
    let header = [
        "scheme",
        "moves",
        "of it needless",
        "heaviest",
        "sd",
        "heaviest before",
        "counted on",
    ];
    let mut blocks: Vec<Block> = pictures(compared, rows)
        .into_iter()
        .map(Block::Picture)
        .collect();
    blocks.push(Block::table(header, rows.iter().map(row)));
    blocks.push(Block::note(format!(
        "At least {} of the space must move by weight. Needless is what moves beyond taking each node from what it held to what it holds.",
        percent(compared.least_moved_share)
    )));
    blocks.push(Block::note("Heaviest is the heaviest node over its fair share by weight; sd the standard deviation over nodes."));
    blocks
}

fn others(compared: &Compared, rows: &[&Row]) -> Vec<Block> {
    let row = |row: &&Row| {
        vec![
            row.label.clone(),
            share(row.add_moved_share),
            share(row.add_extra_moved_share),
            share(row.remove_last_moved_share),
            share(row.remove_last_extra_moved_share),
            share(row.remove_any_moved_share),
            share(row.remove_any_extra_moved_share),
            share(row.remove_any_worst_moved_share),
            row.remove_any_worst_node.clone().unwrap_or_else(dash),
        ]
    };
    let header = [
        "scheme",
        "add one",
        "needless",
        "remove last",
        "needless",
        "remove any",
        "needless",
        "worst",
        "node",
    ];
    let last = compared.remove_last_node.as_deref().unwrap_or("-");
    let any = match (compared.remove_any_tried, compared.remove_any_of) {
        (tried, of) if tried == of => format!("each of the {of} nodes"),
        (tried, of) => format!("{tried} of the {of} nodes, spread over the list"),
    };
    let sampled = rows
        .iter()
        .any(|row| row.remove_any_basis == Basis::Sampled);
    let sampled = if sampled {
        "; on a sample of the keys where owners are looked up key by key"
    } else {
        ""
    };
    vec![
        Block::table(header, rows.iter().map(row)),
        Block::note(format!(
            "Shares of the keys that move when {} joins, when {last} leaves, and when any node leaves: mean and worst over {any}{sampled}.",
            compared.add_node
        )),
    ]
}

fn failures(rows: &[&Row]) -> Vec<Block> {
    let row = |row: &&Row| match &row.failure {
        None => vec![
            row.label.clone(),
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
        ],
        Some(failure) => {
            let at_least = if failure.receivers_at_least {
                " or more"
            } else {
                ""
            };
            vec![
                row.label.clone(),
                format!("{}{at_least}", decimal(failure.receivers_mean, 1)),
                failure.receivers_fewest.to_string(),
                percent(failure.largest_receiver_share_mean),
                percent(failure.largest_receiver_share_worst),
                decimal(failure.max_over_mean_worst, 3),
                failure.worst_node.clone(),
            ]
        }
    };
    let header = [
        "scheme",
        "receivers",
        "fewest",
        "heaviest gets",
        "at worst",
        "heaviest node then",
        "if it is",
    ];
    if rows.iter().all(|row| row.failure.is_none()) {
        return Vec::new();
    }
    vec![
        Block::table(header, rows.iter().map(row)),
        Block::note(
            "Each key of a failed node goes to the next node that the scheme ranks. Shares are of the failed node's keys, mean and worst over all nodes.",
        ),
    ]
}

fn cost(compared: &Compared, rows: &[&Row]) -> Vec<Block> {
    let timed = compared.timing.is_some();
    let row = |row: &&Row| {
        let number = |value: Option<u64>| value.map_or_else(dash, grouped);
        let mut cells = vec![
            row.label.clone(),
            row.rests_on.to_owned(),
            number(row.bytes.map(|bytes| bytes as u64)),
            number(row.ranges),
            number(row.ranges_moved),
        ];
        if timed {
            cells.push(
                row.build_us
                    .map_or_else(dash, |us| decimal(us, if us < 10.0 { 1 } else { 0 })),
            );
            cells.push(row.lookup_ns.map_or_else(dash, |ns| decimal(ns, 1)));
            cells.push(row.lookup_ns_range.map_or_else(dash, |[least, most]| {
                format!("{} to {}", decimal(least, 1), decimal(most, 1))
            }));
        }
        cells
    };
    let mut header = vec!["scheme", "rests on", "bytes", "ranges", "ranges that move"];
    if timed {
        header.extend(["build, µs", "look-up, ns", "best to worst"]);
    }
    let mut blocks = vec![
        Block::table(header, rows.iter().map(row)),
        Block::note(
            "Bytes are those of the tables in memory. Ranges are the tokens of a ring, or slots; each that moves is a stream from one node to another.",
        ),
    ];
    blocks.extend(compared.timing.as_ref().map(measured));
    blocks
}

fn measured(timing: &Timing) -> Block {
    Block::Note(format!(
        "Measured on {}, {}, clockwise {}, load {}: the best of {} rounds in which every scheme had its turn, up to {} look-ups each, from a key's token to its owner; fewer rounds for builds that take long.",
        timing.machine,
        timing.system,
        timing.version,
        timing.load,
        timing.rounds,
        grouped(timing.lookups as u64)
    ))
}

fn reasons(rows: &[&Row]) -> Vec<Block> {
    let reason = |row: &&Row| {
        let own = row
            .reason
            .iter()
            .map(|reason| format!("this change: {reason}"));
        let all: Vec<Block> = own
            .chain(row.notes.iter().cloned())
            .map(|note| Block::Note(format!("{}: {note}", row.label)))
            .collect();
        all
    };
    rows.iter().flat_map(reason).collect()
}

fn inputs(compared: &Compared) -> Vec<Block> {
    let mut pairs = vec![("keys".to_owned(), compared.source.clone())];
    if compared.bad_lines > 0 {
        pairs.push(("bad lines".to_owned(), grouped(compared.bad_lines)));
    }
    pairs.extend(
        compared
            .rows
            .iter()
            .map(|row| (row.label.clone(), row.scheme.clone())),
    );
    vec![Block::Pairs(pairs)]
}

/// Bars of what moves and of the heaviest nodes.
fn pictures(compared: &Compared, rows: &[&Row]) -> Vec<Picture> {
    let drawn: Vec<&&Row> = rows
        .iter()
        .filter(|row| row.moved_share.is_some())
        .take(MOST_BARS)
        .collect();
    let moved = drawn.iter().map(|row| Bar {
        name: row.label.clone(),
        before: 100.0 * row.remove_any_moved_share.unwrap_or(0.0),
        after: 100.0 * row.moved_share.unwrap_or(0.0),
        fair: 100.0 * compared.least_moved_share,
    });
    let heaviest = drawn.iter().map(|row| Bar {
        name: row.label.clone(),
        before: row.max_over_mean_before.unwrap_or(0.0),
        after: row.max_over_mean.unwrap_or(0.0),
        fair: 1.0,
    });
    let picture = |bars_of: Vec<Bar>, unit: &str, caption: &str| {
        let svg = bars(&bars_of, unit, caption)?;
        Some(Picture {
            caption: caption.to_owned(),
            svg,
        })
    };
    let moved = picture(
        moved.collect(),
        "percent of the keys",
        "What moves: the lower bar by this change, the upper, pale one when any node leaves (mean); the line marks the least that this change can move.",
    );
    let heaviest = picture(
        heaviest.collect(),
        "times the fair share",
        "The heaviest node: the upper, pale bar before the change, the lower one after it; the line marks a fair share.",
    );
    [moved, heaviest].into_iter().flatten().collect()
}

fn tiles(compared: &Compared, rows: &[(&Row, Standing)]) -> Vec<Tile> {
    let tile = |label: &str, value: String, note: String| Tile {
        label: label.to_owned(),
        value,
        note,
        alarming: false,
    };
    let best = rows
        .iter()
        .find(|(_, standing)| *standing == Standing::Best)
        .map(|(row, _)| *row);
    let most = rows
        .iter()
        .map(|(row, _)| *row)
        .filter(|row| row.moved_share.is_some());
    let most = most.max_by(|a, b| {
        a.moved_share
            .unwrap_or(0.0)
            .total_cmp(&b.moved_share.unwrap_or(0.0))
    });
    let mut tiles = Vec::new();
    if let Some(best) = best {
        tiles.push(tile(
            "Moves least, stays even",
            best.label.clone(),
            format!("rests on {}", best.rests_on),
        ));
        tiles.push(tile(
            "It moves",
            share(best.moved_share),
            format!("least possible {}", percent(compared.least_moved_share)),
        ));
        tiles.push(tile(
            "Its heaviest node",
            ratio(best.max_over_mean),
            "times its fair share".to_owned(),
        ));
    }
    if let Some(most) = most {
        tiles.push(Tile {
            alarming: true,
            ..tile("Moves most", share(most.moved_share), most.label.clone())
        });
    }
    tiles
}

fn basis_of(row: &Row) -> String {
    let basis = match row.basis {
        Basis::Exact => "exact",
        Basis::Sampled => "sampled",
        Basis::Predicted => "predicted",
    };
    match row.keys {
        _ if row.moved_share.is_none() => dash(),
        Some(keys) if row.counted_on == "keys" => format!("{basis}, {} keys", grouped(keys)),
        Some(keys) => format!("{basis}, {} {}", grouped(keys), row.counted_on),
        None => format!("{basis}, {}", row.counted_on),
    }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(dash, percent)
}

fn dash() -> String {
    "-".to_owned()
}

/// Bars of more schemes are hard to compare.
const MOST_BARS: usize = 30;
