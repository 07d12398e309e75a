//! The forms of `clockwise inspect`: shares, weights, tokens and the checksum.

use std::collections::BTreeSet;

use serde_json::Value;

use command::{folder, holds, json, json_words, path, refusal, run, run_words};

mod command;

#[test]
fn json_has_every_member_with_its_type() {
    let found = json_words("inspect --json --cluster a@10.0.0.1:1,b=2 --scheme ring");
    for (pointer, fits) in [
        ("/scheme", Value::is_string as fn(&Value) -> bool),
        ("/key_rule", Value::is_string),
        ("/tokens", Value::is_u64),
        ("/bytes", Value::is_u64),
        ("/checksum", Value::is_string),
        ("/slots", Value::is_null),
        ("/warnings", Value::is_array),
        ("/nodes/0/id", Value::is_string),
        ("/nodes/0/weight", Value::is_number),
        ("/nodes/0/tokens", Value::is_u64),
        ("/nodes/0/space_share", Value::is_number),
        ("/nodes/0/wanted_share", Value::is_number),
        ("/nodes/0/endpoint", Value::is_string),
        ("/nodes/1/endpoint", Value::is_null),
        ("/nodes/0/bucket", Value::is_null),
    ] {
        assert!(
            found.pointer(pointer).is_some_and(fits),
            "{pointer}: {found}"
        );
    }
    assert_eq!(found["scheme"], "ring/xxh3-64/v1,tokens=160");
    assert_eq!(
        (&found["tokens"], &found["nodes"][1]["tokens"]),
        (&480.into(), &320.into())
    );
    assert_eq!(found["nodes"][1]["weight"], 2.0);
}

#[test]
fn shares_slots_and_tokens_add_up() {
    for scheme in [
        "slots",
        "slots,count=1024",
        "ring",
        "ring,tokens=3",
        "redis-cluster",
        "articles/002-ring",
    ] {
        let found = json_words(&format!(
            "inspect --json --cluster a,b,c,d,e --scheme {scheme}"
        ));
        let nodes = found["nodes"].as_array().unwrap();
        let sum = |name: &str| {
            nodes
                .iter()
                .map(|node| node[name].as_f64().unwrap_or(0.0))
                .sum::<f64>()
        };
        assert!((sum("space_share") - 1.0).abs() < 1e-12, "{scheme}");
        assert!((sum("wanted_share") - 1.0).abs() < 1e-12, "{scheme}");
        assert_eq!(sum("tokens"), found["tokens"].as_f64().unwrap(), "{scheme}");
        assert_eq!(
            sum("slots"),
            found["slots"].as_f64().unwrap_or(0.0),
            "{scheme}"
        );
        assert!(found["bytes"].as_u64().unwrap() > 0);
    }
    for scheme in ["rendezvous", "jump", "modulo"] {
        let found = json_words(&format!("inspect --json --cluster c,a,b --scheme {scheme}"));
        let nodes = found["nodes"].as_array().unwrap();
        assert!(nodes.iter().all(|node| node["space_share"].is_null()));
        assert_eq!(
            (&found["tokens"], &found["slots"]),
            (&0.into(), &Value::Null)
        );
        // A numbered scheme numbers by place in the list.
        let buckets: Vec<&Value> = nodes.iter().map(|node| &node["bucket"]).collect();
        if scheme == "rendezvous" {
            assert!(buckets.iter().all(|bucket| bucket.is_null()));
        } else {
            assert_eq!(buckets, [0, 1, 2]);
        }
    }
}

#[test]
fn slots_follow_weights_exactly() {
    let found = json_words("inspect --json --cluster a=1,b=2,c=5,d=0 --scheme slots");
    let slots: Vec<&Value> = found["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| &node["slots"])
        .collect();
    assert_eq!(slots, [2048, 4096, 10_240, 0]);
    assert_eq!(found["nodes"][3]["space_share"], 0.0);
}

#[test]
fn the_text_shows_the_same_as_the_json() {
    let text = run_words("inspect --cluster a,b=2,c=0.5 --scheme ring");
    let found = json_words("inspect --json --cluster a,b=2,c=0.5 --scheme ring");
    holds(
        text.text(),
        &[
            "scheme    ring/xxh3-64/v1,tokens=160\n",
            "key rule  redis-tag\n",
            &format!("checksum  {}\n", found["checksum"].as_str().unwrap()),
            "  node  weight  wanted",
        ],
    );
    for (line, row) in text
        .text()
        .lines()
        .skip_while(|line| !line.contains("weight"))
        .skip(1)
        .zip([["a", "1", "28.6"], ["b", "2", "57.1"], ["c", "0.5", "14.3"]])
    {
        let cells: Vec<&str> = line.split_whitespace().take(3).collect();
        assert_eq!(cells, row);
    }
}

#[test]
fn tokens_without_a_number_lists_them_and_with_one_sets_them() {
    for args in [
        &[
            "inspect",
            "--cluster",
            "a,b",
            "--scheme",
            "ring,tokens=2",
            "--tokens",
        ][..],
        &[
            "inspect",
            "--tokens",
            "--scheme",
            "ring,tokens=2",
            "--cluster",
            "a,b",
        ],
        &[
            "inspect",
            "--cluster",
            "a,b",
            "--tokens",
            "--scheme",
            "ring,tokens=2",
        ],
    ] {
        let answer = run(args);
        let lines: Vec<(&str, &str)> = answer
            .text()
            .lines()
            .map(|line| line.split_once('\t').unwrap())
            .collect();
        assert_eq!(lines.len(), 4, "{args:?}: {}", answer.stderr);
        assert!(lines.is_sorted());
        assert!(lines.iter().all(|(token, _)| token.len() == 16));
        let nodes: BTreeSet<&str> = lines.iter().map(|(_, node)| *node).collect();
        assert_eq!(nodes, BTreeSet::from(["a", "b"]));
    }
    let set = json_words("inspect --json --cluster a,b --scheme ring --tokens 7");
    assert_eq!(
        (&set["scheme"], &set["tokens"]),
        (&"ring/xxh3-64/v1,tokens=7".into(), &14.into())
    );
    for (number, part) in [
        ("0", "\"0\""),
        ("-3", "\"-3\""),
        ("x", "\"x\""),
        ("16777217", "16777216"),
    ] {
        let message = refusal([
            "inspect",
            "--cluster",
            "a",
            "--scheme",
            "ring",
            "--tokens",
            number,
        ]);
        holds(
            &message,
            &["tokens must be a whole number from 1 to 16777216", part],
        );
    }
    let none = run_words("inspect --cluster a,b --tokens");
    assert_eq!((none.code, none.text()), (Some(0), ""));
    holds(&none.stderr, &["scheme slots has no tokens"]);
}

#[test]
fn a_weight_of_more_than_16777216_tokens_is_refused_before_memory_is_taken() {
    let message = refusal(["inspect", "--cluster", "a=1000000,b", "--scheme", "ring"]);
    holds(&message, &["node a", "tokens", "hint: "]);
}

#[test]
fn the_checksum_changes_with_what_decides_an_owner_and_with_nothing_else() {
    let checksum = |words: &str| {
        let found = json_words(&format!("inspect --json --cluster {words}"));
        found["checksum"].as_str().unwrap().to_owned()
    };
    let first = checksum("a,b,c");
    for same in [
        "c,b,a",
        "b a c",
        "a@10.0.0.1:1,b,c@10.0.0.2:1",
        "a=1,b=1.000,c",
        "a,b,c --scheme slots,count=16384",
    ] {
        assert_eq!(first, checksum(same), "{same}");
    }
    let others = [
        "a,b",
        "a,b,d",
        "a,b,c=2",
        "a,b,c --scheme ring",
        "a,b,c --scheme ring,tokens=161",
        "a,b,c --scheme slots,count=32768",
        "a,b,c --scheme slots/xxh64",
        "a,b,c --scheme rendezvous",
        "a,b,c --scheme jump",
        "a,c,b --scheme jump",
        "a,b,c --scheme redis-cluster",
    ];
    let distinct: BTreeSet<String> = others.map(checksum).into_iter().chain([first]).collect();
    assert_eq!(distinct.len(), others.len() + 1);
    assert!(
        distinct
            .iter()
            .all(|sum| sum.len() == 71 && sum.starts_with("sha256:"))
    );

    // Zones and the cluster's name decide no owner.
    let files = folder(&[
        (
            "one.toml",
            b"name = \"x\"\n[[node]]\nid = \"a\"\nzone = \"z\"\n[[node]]\nid = \"b\"\n",
        ),
        (
            "two.toml",
            b"mode = \"store\"\n[[node]]\nid = \"b\"\n[[node]]\nid = \"a\"\n",
        ),
    ]);
    let of =
        |name| json(["inspect", "--json", "--cluster", &path(&files, name)])["checksum"].clone();
    assert_eq!(of("one.toml"), of("two.toml"));
}
