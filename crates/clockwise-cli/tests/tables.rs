//! The published figures, computed anew by the command.
//!
//! Promises that the command finds every figure to agree, how many there are, and that its forms hold the same. That a
//! figure which differs shows is tested where figures are compared. Cost: two runs of some seconds.

use std::collections::BTreeSet;

use serde_json::Value;

use command::{json, message, run_words};

mod command;

#[test]
fn every_figure_agrees() {
    let answer = json(["tables", "--json"]);
    let rows = answer["rows"].as_array().unwrap();
    let differing: Vec<&Value> = rows.iter().filter(|row| row["agrees"] != true).collect();
    assert!(differing.is_empty(), "{differing:#?}");
    assert_eq!(rows.len(), FIGURES);
    let pointers: BTreeSet<&str> = rows
        .iter()
        .map(|row| row["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(pointers.len(), FIGURES);
    for row in rows {
        assert!(
            !row["value"].is_null() && !row["published"].is_null(),
            "{row}"
        );
    }
    assert!(answer["seconds"].as_f64().unwrap() > 0.0);
    let moved = "/seed_000/ring/100/moved_4_to_5";
    let row = rows.iter().find(|row| row["pointer"] == moved).unwrap();
    assert_eq!(
        (&row["value"], &row["published"]),
        (&211_372.into(), &211_372.into())
    );
}

#[test]
fn text_has_a_summary_and_all_rows_where_asked() {
    let answer = run_words("tables --all");
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let mut lines = answer.text().lines();
    let summary = lines.next().unwrap();
    let wanted = format!("{FIGURES} published figures, {FIGURES} agree, 0 differ, in ");
    assert!(summary.starts_with(&wanted), "{summary}");
    let rows = lines.filter(|line| line.trim_start().starts_with("/seed_"));
    assert_eq!(rows.count(), FIGURES);

    let refused = message(&run_words("tables --all --json"));
    assert!(refused.contains("--all"), "{refused}");
}

/// What the articles publish and the file determines; a change means that a figure was added or lost.
const FIGURES: usize = 766;
