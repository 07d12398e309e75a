//! The advice on a shard key as a document.

use super::ShardKeyAdvice;
use crate::document::{Block, Document};
use crate::number::{decimal, grouped, percent};

/// The advice as a document.
#[must_use]
pub fn document(advice: &ShardKeyAdvice) -> Document {
    let mut document = advice.document_of("Which shard key?");
    let more = &advice.more;
    let header = [
        "column",
        "total",
        "cardinality",
        "spread",
        "matching",
        "values",
        "fullest rows",
        "fullest bytes",
        "some shards",
        "joined",
        "nulls",
        "pitfalls",
    ];
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    let rows = advice.table.iter().map(|row| {
        let flags: Vec<&str> = row.flags.iter().map(|flag| flag.code).collect();
        vec![
            row.column.clone(),
            decimal(row.total, 3),
            decimal(row.cardinality, 2),
            decimal(row.spread, 2),
            row.matching
                .map_or("-".to_owned(), |matching| decimal(matching, 2)),
            grouped(row.values),
            decimal(row.max_over_mean_rows, 3),
            decimal(row.max_over_mean_bytes, 3),
            share(row.some_shards),
            share(row.joined),
            percent(row.null_share),
            if flags.is_empty() {
                "-".to_owned()
            } else {
                flags.join(", ")
            },
        ]
    });
    document.push(
        "Columns",
        vec![
            Block::table(header, rows),
            Block::note("total = cardinality x spread x matching, halved for each pitfall. Values are exact up to 262,144, beyond by a sample of hashes; shards are exact."),
        ],
    );
    let pitfalls = advice.table.iter().flat_map(|row| {
        row.flags
            .iter()
            .map(|flag| vec![row.column.clone(), flag.code.to_owned(), flag.text.clone()])
    });
    let pitfalls: Vec<Vec<String>> = pitfalls.collect();
    if !pitfalls.is_empty() {
        document.push(
            "Pitfalls",
            vec![Block::table(["column", "pitfall", "by what"], pitfalls)],
        );
    }
    let mut input = vec![Block::note(format!(
        "{} rows read, {} bad; placed by {} on {} shards.",
        grouped(more.rows),
        grouped(more.bad_rows),
        more.scheme,
        more.shards
    ))];
    if let Some(statements) = &more.statements {
        input.push(Block::note(format!(
            "{} statements parsed, of which {} look for or change rows and {} add some; {} do not parse.",
            grouped(statements.parsed),
            grouped(statements.queries),
            grouped(statements.inserts),
            grouped(statements.bad)
        )));
        let bad = statements.first_bad.iter();
        input.extend(bad.map(|bad| Block::note(format!("line {}: {}", bad.line, bad.reason))));
    }
    document.push("Input", input);
    document
}
