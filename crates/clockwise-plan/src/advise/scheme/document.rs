//! The advice on a scheme as a document.

use super::{Candidate, SchemeAdvice, memory_text, price_text};
use crate::advise::print::times;
use crate::document::{Block, Document};
use crate::number::{decimal, percent};

/// The advice as a document.
#[must_use]
pub fn document(advice: &SchemeAdvice) -> Document {
    let mut document = advice.document_of("Which scheme?");
    let header = [
        "scheme",
        "meets all",
        "price",
        "heaviest",
        "join moves",
        "leave any",
        "leave last",
        "reorder",
        "memory",
        "look-up",
        "copies",
        "weighted",
    ];
    let mut rows: Vec<&Candidate> = advice.table.iter().collect();
    let price = |one: &Candidate| one.price.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| {
        b.meets_all
            .cmp(&a.meets_all)
            .then(price(a).total_cmp(&price(b)))
    });
    document.push(
        "Candidates",
        vec![
            Block::table(header, rows.iter().map(|one| row(one))),
            Block::note(format!(
                "A join has to move {}, a leave {}. Price: wasted by the heaviest node + moved needlessly + part of a core + part of the memory allowed.",
                percent(advice.more.least_join),
                percent(advice.more.least_leave),
            )),
            Block::note("heaviest is exact, for rings what 99 % of lists of names keep; moves by law or from exact tables; look-up in table look-ups, by operations; copies sampled."),
        ],
    );
    let misses: Vec<Vec<String>> = rows.iter().filter_map(|one| missed(one)).collect();
    if !misses.is_empty() {
        document.push(
            "Needs that are not met",
            vec![Block::table(["scheme", "need", "by what"], misses)],
        );
    }
    document
}

/// The most telling need that a candidate misses, and how many more it does.
fn missed(one: &Candidate) -> Option<Vec<String>> {
    let mut missed = one.needs.iter().filter(|need| !need.ok);
    let first = missed.next()?;
    let more = match missed.count() {
        0 => String::new(),
        more => format!(" And {more} more."),
    };
    Some(vec![
        one.scheme.clone(),
        first.code.to_owned(),
        format!("{}{more}", first.text),
    ])
}

fn row(one: &Candidate) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut row = vec![
        one.scheme.clone(),
        if one.meets_all { "yes" } else { "no" }.to_owned(),
        one.price.map_or_else(dash, price_text),
    ];
    if let Some(measured) = &one.measured {
        row.extend([
            times(measured.heaviest),
            percent(measured.join_moved),
            percent(measured.leave_any_moved),
            percent(measured.leave_last_moved),
            percent(measured.reorder_moved),
            memory_text(measured.memory_bytes),
            decimal(measured.owner_cost, 1),
            measured
                .copies_over_least
                .map_or_else(dash, |over| decimal(over, 2)),
            measured.weighted_heaviest.map_or_else(dash, times),
        ]);
    }
    row
}
