//! The self-test, as a user runs it.
//!
//! Promises that every check holds, how many there are, and that text and JSON name the same ones. That a wrong answer
//! fails is tested where the checks are.

use serde_json::Value;

use command::{json, run_words};

mod command;

#[test]
fn every_check_holds() {
    let answer = json(["selftest", "--json"]);
    let checks = answer["checks"].as_array().unwrap();
    let failed: Vec<&Value> = checks.iter().filter(|check| check["ok"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(checks.len(), CHECKS);
    assert!(answer["seconds"].is_f64());

    let text = run_words("selftest");
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    let (lines, sum) = text.text().split_once("\n\n").unwrap();
    let names: Vec<&str> = lines
        .lines()
        .map(|line| line.strip_prefix("ok      ").unwrap())
        .collect();
    assert_eq!(
        names,
        checks
            .iter()
            .map(|c| c["name"].as_str().unwrap())
            .collect::<Vec<_>>()
    );
    assert!(
        sum.starts_with(&format!("{CHECKS} checks, 0 failed, in ")),
        "{sum}"
    );
}

/// A change means that a check or a case of the vectors was added or lost.
const CHECKS: usize = 126;
