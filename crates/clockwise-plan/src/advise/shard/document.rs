//! The advice on sharding as a document.

use super::{ShardAdvice, Step};
use crate::document::{Block, Document};
use crate::number::{grouped, percent};

/// The advice as a document.
#[must_use]
pub fn document(advice: &ShardAdvice) -> Document {
    let mut document = advice.document_of("Is it time to shard?");
    if !advice.table.is_empty() {
        document.push("Steps, cheapest first", steps(advice));
    }
    let unknown = advice.more.unknown.iter();
    let asked: Vec<Block> = unknown.map(|one| Block::note(&one.text)).collect();
    document.push("Not measured yet", asked);
    document.push("What pages cost", pages(advice));
    let costs = advice.more.costs.iter();
    let costs = costs.map(|cost| vec![cost.lost.to_owned(), cost.replacement.to_owned()]);
    document.push(
        "What sharding takes away",
        vec![Block::table(["lost", "in its place"], costs)],
    );
    document
}

fn steps(advice: &ShardAdvice) -> Vec<Block> {
    let mut header: Vec<String> = ["step", "helps"].map(str::to_owned).to_vec();
    header.extend(
        advice
            .more
            .signs
            .iter()
            .map(|sign| format!("{} after", sign.code)),
    );
    let rows = advice.table.iter().enumerate().map(|(place, step)| {
        let mut row = vec![step.name.text().to_owned(), helps(step).to_owned()];
        row.extend(advice.more.signs.iter().map(|sign| {
            let after = sign.after.get(place).copied().flatten();
            after.map_or("-".to_owned(), percent)
        }));
        row
    });
    let mut blocks = vec![Block::table(header, rows)];
    blocks.extend(advice.table.iter().map(note));
    blocks
}

/// Why a step helps or not, as a sentence.
fn note(step: &Step) -> Block {
    let end = if step.text.ends_with('?') { "" } else { "." };
    Block::note(format!("{}: {}{end}", step.name.text(), step.text))
}

fn helps(step: &Step) -> &'static str {
    match step.helps {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

fn pages(advice: &ShardAdvice) -> Vec<Block> {
    if advice.more.pages.is_empty() {
        return Vec::new();
    }
    let header = ["page", "rows by offset", "of each shard", "rows by keyset"];
    let rows = advice.more.pages.iter().map(|cost| {
        [
            cost.page,
            cost.offset_rows,
            cost.offset_rows_each,
            cost.keyset_rows,
        ]
        .map(grouped)
        .to_vec()
    });
    vec![
        Block::table(header, rows),
        Block::note(
            "Rows that the shards send for one page (exact); the router holds them all, merges and cuts.",
        ),
    ]
}
