//! The advice on weights as a document.

use super::WeightsAdvice;
use crate::advise::print::bytes;
use crate::document::{Block, Document};
use crate::number::percent;

/// The advice as a document.
#[must_use]
pub fn document(advice: &WeightsAdvice) -> Document {
    let mut document = advice.document_of("Which weights?");
    let more = &advice.more;
    if advice.ok {
        let options = Block::note(more.options.clone());
        document.push("For clockwise plan", vec![options]);
    }
    let mut header: Vec<String> = ["node", "weight", "binds", "keys"]
        .map(str::to_owned)
        .to_vec();
    header.extend(
        more.demand
            .iter()
            .map(|one| format!("{} used", one.resource)),
    );
    header.extend(["bytes", "used if equal"].map(str::to_owned));
    let rows = advice.table.iter().map(|row| {
        let mut cells = vec![
            row.node.clone(),
            row.weight.clone(),
            row.binding.to_owned(),
            percent(row.share),
        ];
        cells.extend(row.used.iter().map(|used| percent(*used)));
        cells.push(bytes(row.bytes));
        cells.push(row.used_with_equal_weights.map_or("-".to_owned(), percent));
        cells
    });
    document.push(
        "Nodes",
        vec![
            Block::table(header, rows),
            Block::note(format!("Keys are exact shares under {}; what is used is predicted from the workload given.", more.scheme)),
        ],
    );
    let mut header = vec!["node".to_owned()];
    header.extend(more.demand.iter().map(|one| one.resource.to_owned()));
    let rows = advice.table.iter().map(|row| {
        let mut cells = vec![row.node.clone()];
        cells.extend(row.could_carry.iter().map(|carries| percent(*carries)));
        cells
    });
    document.push(
        "Share of the workload that each resource could carry alone",
        vec![Block::table(header, rows)],
    );
    document
}
