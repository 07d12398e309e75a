//! What `clockwise plan` says of each kind of change: order, scheme, endpoints, weights, the first and the last node.

use serde_json::Value;

use command::figures::{check_sums, codes};
use command::{folder, holds, json_words, path, refusal, run_words};

mod command;

#[test]
fn a_reordered_list_moves_keys_of_numbered_schemes_only() {
    let plan = |scheme: &str| {
        json_words(&format!(
            "plan --json --scheme {scheme} --keys gen:k:{{0..9999}} --from a,b,c --to c,a,b"
        ))
    };
    for scheme in ["jump", "modulo"] {
        let plan = plan(scheme);
        assert_eq!(plan["moved"]["keys"], 10_000);
        assert!(codes(&plan).contains(&"reordered-list"), "{scheme}");
    }
    for scheme in [
        "slots",
        "ring",
        "rendezvous",
        "articles/000-ring",
        "articles/000-rendezvous",
    ] {
        let plan = plan(scheme);
        assert_eq!(plan["moved"]["keys"], 0, "{scheme}");
        assert!(!codes(&plan).contains(&"reordered-list"), "{scheme}");
    }
}

#[test]
fn a_change_of_scheme_is_a_plan_too() {
    let plan = json_words(
        "plan --json --from a,b,c,d --scheme modulo --to-scheme ring,tokens=400 --keys gen:k:{0..99999}",
    );
    assert_eq!(plan["scheme"]["from"], "modulo/xxh3-64/v1");
    assert_eq!(plan["scheme"]["to"], "ring/xxh3-64/v1,tokens=400");
    let share = plan["moved"]["share"].as_f64().unwrap();
    assert!((share - 0.75).abs() < 0.02, "{share}");
    assert_eq!(plan["theory"]["moved_share"], 0.75);
    let text = run_words("plan --from a,b --scheme modulo --to-scheme ring --keys gen:k:{0..999}");
    holds(
        text.text(),
        &["The scheme changes from modulo/xxh3-64/v1 to ring/xxh3-64/v1,tokens=160"],
    );
}

#[test]
fn a_new_endpoint_moves_nothing() {
    for scheme in [
        "slots",
        "ring",
        "rendezvous",
        "jump",
        "modulo",
        "redis-cluster",
    ] {
        let plan = json_words(&format!(
            "plan --json --scheme {scheme} --keys gen:k:{{0..9999}} \
             --from a@10.0.0.1:6379,b@10.0.0.2:6379 --to a@10.9.0.1:6379,b@10.9.0.2:6379"
        ));
        assert_eq!(plan["moved"]["keys"], 0, "{scheme}");
        assert_eq!(plan["flows"], Value::Array(Vec::new()));
    }
    // An address as identity moves its keys, with a warning beforehand.
    let plan = json_words(
        "plan --json --keys gen:k:{0..9999} --from 10.0.0.1:6379,10.0.0.2:6379 \
         --to 10.9.0.1:6379,10.9.0.2:6379",
    );
    assert_eq!(plan["moved"]["keys"], 10_000);
    assert_eq!(codes(&plan)[..4], ["address-as-id"; 4]);
}

#[test]
fn weight_zero_keeps_a_node_listed_without_keys() {
    for scheme in ["slots", "ring", "rendezvous"] {
        let plan = json_words(&format!(
            "plan --json --scheme {scheme} --from a,b,c --weight b=0 --keys gen:k:{{0..9999}}"
        ));
        let drained = &plan["nodes"][1];
        assert_eq!(
            (&drained["id"], &drained["after"]["keys"]),
            (&"b".into(), &0.into())
        );
        assert_eq!(drained["gave"], drained["before"]["keys"]);
        let failing = plan["failures"].as_array().unwrap().iter();
        assert!(
            failing.clone().all(|failure| failure["node"] != "b"),
            "{scheme}"
        );
        assert_eq!(failing.count(), 2);
    }
}

#[test]
fn nobody_left_is_an_answer_and_not_a_fault() {
    let none = folder(&[("none.toml", b"name = \"none\"\n")]);
    let none = path(&none, "none.toml");
    let keys = "--keys gen:k:{0..999}";
    for scheme in [
        "slots",
        "ring",
        "rendezvous",
        "jump",
        "modulo",
        "redis-cluster",
    ] {
        for (change, before, after) in [
            ("--from only --remove only".to_owned(), 0, 1000),
            (format!("--from only --to {none}"), 0, 1000),
            (format!("--from {none} --add only"), 1000, 0),
            (format!("--from {none} --to {none}"), 1000, 1000),
            ("--from a=0,b=0 --to a,b".to_owned(), 1000, 0),
            ("--from a,b --to a=0,b=0".to_owned(), 0, 1000),
        ] {
            let words = format!("plan --json --scheme {scheme} {keys} {change}");
            let plan = json_words(&words);
            assert_eq!(plan["unowned"]["before"], before, "{words}");
            assert_eq!(plan["unowned"]["after"], after, "{words}");
            let moved = if before == after { 0 } else { 1000 };
            assert_eq!(plan["moved"]["keys"], moved, "{words}");
            check_sums(&plan, &words);
        }
    }
    let last = json_words(&format!("plan --json {keys} --from only --remove only"));
    assert_eq!(last["flows"][0]["to"], Value::Null);
    assert_eq!(last["theory"]["least_moved_share"], 1.0);
    let text = run_words(&format!("plan {keys} --from only --remove only"));
    holds(
        text.text(),
        &[
            "No node takes keys afterwards.",
            "Next: add a node first",
            "(nobody)",
            "1,000 after",
        ],
    );
    let empty = run_words(&format!("plan {keys} --from {none} --to {none} --json"));
    assert!(!empty.text().contains("-0.0"));
}

#[test]
fn a_single_node_owns_everything() {
    let plan = json_words("plan --json --from only --to only --keys gen:k:{0..999}");
    assert_eq!(plan["nodes"][0]["after"]["share"], 1.0);
    assert_eq!(plan["balance"]["after"]["max_over_mean"], 1.0);
    assert_eq!(plan["failures"][0]["receivers"], Value::Array(Vec::new()));
    assert_eq!(plan["failures"][0]["heaviest_after"], Value::Null);
}

#[test]
fn edits_of_nodes_that_are_not_there_name_the_nearest() {
    for (words, pieces) in [
        (
            "--remove cache-7",
            [
                "node cache-7 is not in the membership",
                "hint: its nodes are cache-1, cache-2",
            ],
        ),
        (
            "--remove other",
            [
                "node other is not in the membership",
                "hint: its nodes are cache-1, cache-2",
            ],
        ),
        (
            "--weight cahce-2=2",
            ["node cahce-2 is not", "hint: did you mean cache-2?"],
        ),
        (
            "--add cache-2",
            ["node cache-2 is listed twice", "entries 2 and 3"],
        ),
        (
            "--weight cache-2=-1",
            ["weight -1 for node cache-2", "0 to 1000000"],
        ),
        ("--weight cache-2", ["\"cache-2\"", "cache-2=0.5"]),
        ("", ["nothing to plan", "hint: say what changes"]),
    ] {
        let words = format!("plan --from cache-1,cache-2 {words}");
        holds(&refusal(words.split_whitespace()), &pieces);
    }
    let both = run_words("plan --from a --to b --add c");
    assert_eq!(both.code, Some(2));
}

#[test]
fn edits_come_in_a_fixed_order_and_repeat() {
    let plan = json_words(
        "plan --json --keys gen:k:{0..9999} --from a,b,c --add d=2,e --add b --remove b --weight c=0.5 --weight a=2",
    );
    let nodes = plan["nodes"].as_array().unwrap();
    let wanted: Vec<f64> = nodes
        .iter()
        .map(|node| node["after"]["wanted_share"].as_f64().unwrap() * 6.5)
        .collect();
    assert_eq!(nodes.len(), 5);
    for (wanted, weight) in wanted.iter().zip([2.0, 1.0, 0.5, 2.0, 1.0]) {
        assert!((wanted - weight).abs() < 1e-9, "{wanted}");
    }
}
