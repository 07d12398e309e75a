//! The plan as text: the answer first, then the tables behind it.

mod figures;
mod sections;
mod table;
mod verdict;
mod what_if;

use std::fmt::Write as _;

use super::{Basis, Plan};
use crate::number::{decimal, grouped};
use figures::{domains, formulas, tokens, ways, whole_cache};
use sections::{balance, failures, flows, hottest_keys, nodes, refill, steps, views};
use verdict::verdict;

/// The whole plan for a terminal or a log, without colours; lines end in LF.
#[must_use]
pub fn render_text(plan: &Plan) -> String {
    let mut text = verdict(plan);
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{title}\n{body}");
        }
    };
    section("Limits", limits(plan));
    section("Warnings", warnings(plan));
    section("What it is about", inputs(plan));
    section("Nodes", nodes(plan));
    section("Moves", flows(plan));
    section("Failure domains", domains(plan));
    section("One by one", steps(plan) + &what_if::orders(plan));
    section("Clients that know different nodes", views(plan));
    section("Balance", balance(plan));
    section("Formulas beside what was measured", formulas(plan));
    section("Tokens of the ring", tokens(plan));
    section("If one node fails afterwards", failures(plan));
    for of in &plan.outages {
        let title = match of.kind.as_str() {
            "pair" => "If two nodes fail together afterwards".to_owned(),
            domain => format!("If a {domain} fails afterwards"),
        };
        section(&title, what_if::outages(of));
    }
    section("Failures that set off others", what_if::cascades(plan));
    section("Copies", what_if::replicas(plan));
    section("Hottest keys", hottest_keys(plan));
    section("Tags", what_if::tags(plan));
    section("Heaviest slots", what_if::slots(plan));
    section("Miss what moves, or copy it first (predicted)", ways(plan));
    section(
        "The database as keys are cached again (predicted, queries per second)",
        refill(plan),
    );
    section(
        "If the whole cache misses at once (predicted)",
        whole_cache(plan),
    );
    text
}

fn limits(plan: &Plan) -> String {
    let line = |limit: &crate::LimitResult| {
        let verdict = if limit.ok { "ok    " } else { "BROKEN" };
        let of = match (limit.name.as_str(), plan.basis) {
            ("imbalance" | "failure", Basis::Predicted) => " (of predicted keys)",
            ("imbalance" | "failure", _) => " (of keys)",
            ("moved", Basis::Predicted) => " (predicted)",
            _ => "",
        };
        let over = limit.over.map_or(String::new(), |over| {
            format!(": {} too much", decimal(over, 4))
        });
        let advice = limit
            .advice
            .as_ref()
            .map_or(String::new(), |advice| format!("         {advice}\n"));
        format!(
            "  {verdict} {}{of} is {:.4}, at most {} allowed{over}\n{advice}",
            limit.name, limit.value, limit.limit
        )
    };
    plan.limits.iter().map(line).collect()
}

fn warnings(plan: &Plan) -> String {
    plan.warnings
        .iter()
        .map(|warning| format!("  {}: {}\n", warning.code, warning.text))
        .collect()
}

fn inputs(plan: &Plan) -> String {
    let both = |from: &String, to: &String| {
        if from == to {
            from.clone()
        } else {
            format!("{from}  →  {to}")
        }
    };
    let mut rows = vec![
        ("scheme", both(&plan.scheme.from, &plan.scheme.to)),
        ("key rule", both(&plan.key_rule.from, &plan.key_rule.to)),
        ("keys", plan.source.clone()),
    ];
    if plan.basis != Basis::Predicted {
        let about = if plan.distinct_keys_exact {
            ""
        } else {
            "about "
        };
        rows.push((
            "sample",
            format!(
                "{} keys, {about}{} different, worth {} independent ones; {} bad lines",
                grouped(plan.keys),
                grouped(plan.distinct_keys),
                grouped(plan.effective_keys),
                grouped(plan.bad_lines)
            ),
        ));
    }
    rows.iter()
        .map(|(name, value)| format!("  {name:<9} {value}\n"))
        .collect()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
