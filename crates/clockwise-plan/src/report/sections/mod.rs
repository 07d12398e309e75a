//! What a plan says, in the order in which a person asks: the answer first, then the tables behind it.

mod figures;
mod tables;
mod verdict;
mod what_if;

use super::{Basis, Load, Plan};
use crate::document::{Block, Check, Document};
use crate::number::{decimal, grouped, percent};
use figures::{domains, formulas, tokens, ways, whole_cache};
pub(super) use tables::notable;
use tables::{balance, failures, flows, hottest_keys, nodes, refill, steps, views};

pub(super) use verdict::heaviest_node;

/// What the plan says, with the figures as a person reads them.
#[must_use]
pub fn document(plan: &Plan) -> Document {
    let mut document = Document {
        title: format!("Plan: {}", verdict::change_of(plan).trim_end_matches(':')),
        lead: verdict::lead(plan),
        ..Document::default()
    };
    document.push("Limits", limits(plan));
    document.push("Warnings", warnings(plan));
    document.push("What it is about", inputs(plan));
    document.push(NODES, nodes(plan));
    document.push(MOVES, flows(plan));
    document.push("Failure domains", domains(plan));
    document.push("One by one", [steps(plan), what_if::orders(plan)].concat());
    document.push("Clients that know different nodes", views(plan));
    document.push("Balance", balance(plan));
    document.push("Formulas beside what was measured", formulas(plan));
    document.push("Tokens of the ring", tokens(plan));
    document.push(FAILURES, failures(plan));
    for of in &plan.outages {
        let title = match of.kind.as_str() {
            "pair" => "If two nodes fail together afterwards".to_owned(),
            domain => format!("If a {domain} fails afterwards"),
        };
        document.push(title, what_if::outages(of));
    }
    document.push("Failures that set off others", what_if::cascades(plan));
    document.push("Copies", what_if::replicas(plan));
    document.push("Hottest keys", hottest_keys(plan));
    document.push("Tags", what_if::tags(plan));
    document.push("Heaviest slots", what_if::slots(plan));
    document.push("Miss what moves, or copy it first (predicted)", ways(plan));
    document.push(REFILL, refill(plan));
    document.push(
        "If the whole cache misses at once (predicted)",
        whole_cache(plan),
    );
    document
}

fn limits(plan: &Plan) -> Vec<Block> {
    let check = |limit: &crate::LimitResult| {
        let of = match (limit.name.as_str(), plan.basis) {
            ("imbalance" | "failure", Basis::Predicted) => " (of predicted keys)",
            ("imbalance" | "failure", _) => " (of keys)",
            ("moved", Basis::Predicted) => " (predicted)",
            _ => "",
        };
        let over = limit.over.map_or(String::new(), |over| {
            format!(": {} too much", decimal(over, 4))
        });
        Block::Check(Check {
            ok: limit.ok,
            text: format!(
                "{}{of} is {:.4}, at most {} allowed{over}",
                limit.name, limit.value, limit.limit
            ),
            advice: limit.advice.clone(),
        })
    };
    plan.limits.iter().map(check).collect()
}

fn warnings(plan: &Plan) -> Vec<Block> {
    let note =
        |warning: &super::Warning| Block::Note(format!("{}: {}", warning.code, warning.text));
    plan.warnings.iter().map(note).collect()
}

fn inputs(plan: &Plan) -> Vec<Block> {
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
    rows.extend(traffic(plan.load).map(|traffic| ("traffic", traffic)));
    let pair = |(name, value): (&str, String)| (name.to_owned(), value);
    vec![Block::Pairs(rows.into_iter().map(pair).collect())]
}

/// The traffic as it was told.
fn traffic(load: Load) -> Option<String> {
    let told = [
        load.rate
            .map(|rate| format!("{} requests/s", decimal(rate, 0))),
        load.keys_per_request
            .map(|keys| format!("{} keys each", decimal(keys, 0))),
        load.hit_rate
            .map(|rate| format!("hit rate {}", percent(rate))),
        load.capacity
            .map(|queries| format!("the database serves {} queries/s", decimal(queries, 0))),
        load.node_rate
            .map(|rate| format!("a node of weight 1 serves {} reads/s", decimal(rate, 0))),
        load.node_memory
            .map(|bytes| format!("a node of weight 1 holds {} bytes", grouped(bytes))),
        load.copy_rate
            .map(|rate| format!("copies run at {} bytes/s", decimal(rate, 0))),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join(", "))
}

pub(super) const NODES: &str = "Nodes";
pub(super) const MOVES: &str = "Moves";
pub(super) const FAILURES: &str = "If one node fails afterwards";
pub(super) const REFILL: &str =
    "The database as keys are cached again (predicted, queries per second)";
