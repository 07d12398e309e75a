//! Reading figures off a plan.

use serde_json::Value;

/// The codes of its warnings, in their order.
pub(crate) fn codes(plan: &Value) -> Vec<&str> {
    let warnings = plan["warnings"].as_array().unwrap().iter();
    warnings
        .map(|warning| warning["code"].as_str().unwrap())
        .collect()
}

/// Keys, requests and bytes are neither lost nor counted twice.
#[track_caller]
pub(crate) fn check_sums(plan: &Value, what: &str) {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let sum = |list: &str, pick: &dyn Fn(&Value) -> u64| -> u64 {
        plan[list].as_array().unwrap().iter().map(pick).sum()
    };
    for side in ["before", "after"] {
        let owned = sum("nodes", &|node| count(&node[side]["keys"]));
        assert_eq!(
            owned + count(&plan["unowned"][side]),
            count(&plan["keys"]),
            "{what}"
        );
        if plan["unowned"][side] == 0 {
            for of in ["requests", "bytes"] {
                assert_eq!(
                    sum("nodes", &|node| count(&node[side][of])),
                    count(&plan[of]),
                    "{what}"
                );
            }
        }
    }
    for of in ["keys", "requests", "bytes"] {
        assert_eq!(
            sum("flows", &|flow| count(&flow[of])),
            count(&plan["moved"][of]),
            "{what}"
        );
    }
    for node in plan["nodes"].as_array().unwrap() {
        assert_eq!(
            count(&node["before"]["keys"]) + count(&node["received"]),
            count(&node["after"]["keys"]) + count(&node["gave"]),
            "{what}"
        );
    }
    for failure in plan["failures"].as_array().unwrap() {
        let receivers = failure["receivers"].as_array().unwrap();
        let taken: u64 = receivers
            .iter()
            .map(|receiver| count(&receiver["keys"]))
            .sum();
        assert!(taken == count(&failure["owned"]) || taken == 0, "{what}");
    }
    let share = plan["moved"]["share"].as_f64().unwrap();
    let counted = count(&plan["moved"]["keys"]) as f64 / count(&plan["keys"]).max(1) as f64;
    assert!((share - counted).abs() < 1e-12, "{what}");
}
