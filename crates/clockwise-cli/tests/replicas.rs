//! Replicas on the command line: failure domains, nodes that are down, calibration.

mod command;

use command::{folder, holds, path, refusal, run, run_words};

const ZONES: &[u8] = br#"
scheme = "rendezvous"
replicas = 3
domains = "zone=1"
[[node]]
id = "a1"
zone = "a"
[[node]]
id = "a2"
zone = "a"
[[node]]
id = "b1"
zone = "b"
[[node]]
id = "c1"
zone = "c"
"#;

#[test]
fn the_files_rules_spread_replicas_and_arguments_replace_them() {
    let files = folder(&[("c.toml", ZONES)]);
    let file = path(&files, "c.toml");
    let zone = |node: &str| node.chars().next();
    let keys: Vec<String> = (0..200).map(|i| format!("user:{i}")).collect();
    let mut args = vec!["locate", "--cluster", &file];
    args.extend(keys.iter().map(String::as_str));
    let answer = run(&args);
    for line in answer.text().lines() {
        let nodes: Vec<&str> = line.split('\t').skip(1).collect();
        let mut zones: Vec<_> = nodes.iter().map(|node| zone(node)).collect();
        zones.sort_unstable();
        zones.dedup();
        assert_eq!((nodes.len(), zones.len()), (3, 3), "{line}");
    }
    assert!(!answer.stderr.contains("warning"), "{}", answer.stderr);

    let two = run(["locate", "--cluster", &file, "user:1", "--replicas", "2"]);
    assert_eq!(two.text().trim_end().split('\t').count(), 3);
    let four = run([
        "locate",
        "--cluster",
        &file,
        "user:1",
        "--replicas",
        "4",
        "--domains",
        "zone=2",
    ]);
    assert_eq!(four.text().trim_end().split('\t').count(), 5);
}

#[test]
fn replicas_that_cannot_be_placed_are_counted_in_json_and_said_in_text() {
    let files = folder(&[("c.toml", ZONES)]);
    let file = path(&files, "c.toml");
    let args = [
        "locate",
        "--cluster",
        &file,
        "user:1",
        "user:2",
        "--down",
        "b1",
    ];
    let text = run(args);
    holds(
        &text.stderr,
        &["warning: 2 keys have fewer than 3 replicas"],
    );
    let json = run(args.iter().copied().chain(["--json"]));
    for line in json.json_lines() {
        assert_eq!(line["missing"], 1);
        assert_eq!(line["missing_because"], serde_json::json!(["zone"]));
        assert_eq!(line["replicas"].as_array().map(Vec::len), Some(2));
    }
    let preferred = args
        .iter()
        .copied()
        .chain(["--json", "--domains", "zone=1:preferred"]);
    for line in run(preferred).json_lines() {
        assert_eq!(line["missing"], 0);
        assert_eq!(line["degraded"], serde_json::json!(["zone"]));
    }
    let kept = run(args.iter().copied().chain(["--indep", "--json"]));
    for line in kept.json_lines() {
        let holes = line["replicas"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|node| node.is_null());
        assert_eq!(holes.count(), 1, "{line}");
    }
}

#[test]
fn nodes_that_are_down_are_named_with_commas_and_no_node_is_taken_for_a_key() {
    let answer = run_words("locate --cluster a,b,c,d user:1 --replicas 2 --down a,b");
    let line = answer.text().trim_end().to_owned();
    let nodes: Vec<&str> = line.split('\t').skip(1).collect();
    assert!(nodes.iter().all(|node| ["c", "d"].contains(node)), "{line}");
    holds(
        &refusal("locate --cluster a,b,c,d user:1 --down a b".split(' ')),
        &[
            "b stands where keys do",
            "hint: to take it down too, write --down a,b",
        ],
    );
    holds(
        &refusal("locate --cluster a,b user:1 --down x".split(' ')),
        &["node x is not in the membership"],
    );
}

#[test]
fn rules_that_do_not_fit_are_refused_wherever_they_are_met() {
    let files = folder(&[("c.toml", ZONES)]);
    let file = path(&files, "c.toml");
    holds(
        &refusal(["plan", "--from", &file, "--add", "d1"]),
        &["node d1 has no zone", "hint: label it in the cluster file"],
    );
    for (rules, piece) in [
        ("zone", "domain rule \"zone\""),
        ("zone=0", "domain rule \"zone=0\""),
        ("az=1", "domain rule \"az=1\""),
        ("zone=1:maybe", "domain rule \"zone=1:maybe\""),
        ("zone=1,zone=2", "two domain rules for zone"),
    ] {
        holds(
            &refusal(["inspect", "--cluster", &file, "--domains", rules]),
            &[piece],
        );
    }
    holds(
        &refusal("locate --cluster a,b --scheme redis-cluster --replicas 2 k".split(' ')),
        &["redis-cluster names no node behind the owner"],
    );
}

#[test]
fn a_plan_counts_the_copies_that_a_file_asks_for() {
    let files = folder(&[("c.toml", ZONES)]);
    let file = path(&files, "c.toml");
    let keys = "gen:user:{0..999}";
    let copies = run([
        "plan", "--from", &file, "--remove", "a2", "--keys", keys, "--json",
    ])
    .json()["replicas"]
        .clone();
    assert_eq!(
        copies["replicas"],
        serde_json::json!({"before": 3, "after": 3})
    );
    // Three zones for three copies: what a2 held goes to a1, which has every key of zone a then.
    let node = |id: &str| {
        copies["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|node| node["id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(copies["made"], node("a2")["before"]);
    assert_eq!(
        (&node("a1")["after"], &node("a2")["after"]),
        (&1000.into(), &0.into())
    );
}

#[test]
fn inspection_shows_shares_of_replicas_and_of_domains() {
    let files = folder(&[("c.toml", ZONES)]);
    let file = path(&files, "c.toml");
    let inspected = run(["inspect", "--cluster", &file, "--json"]).json();
    let replication = &inspected["replication"];
    assert_eq!(
        (&replication["factor"], &replication["basis"]),
        (&3.into(), &"predicted".into())
    );
    let shares: Vec<f64> = inspected["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["replica_share"].as_f64().unwrap())
        .collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    for domain in replication["domains"].as_array().unwrap() {
        assert!(
            (domain["replica_share"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9,
            "{domain}"
        );
    }
    let text = run(["inspect", "--cluster", &file]);
    holds(
        text.text(),
        &["3 replicas a key, zone=1", "zone a: 33.3 % of all replicas"],
    );
}

#[test]
fn calibration_gives_weights_or_says_why_it_cannot() {
    let inspected = run_words(
        "inspect --cluster a b c d=2 e=2 --scheme rendezvous --replicas 3 --calibrate --json",
    );
    let heavy = inspected.json()["nodes"][3]["calibrated_weight"]
        .as_f64()
        .unwrap();
    assert!((heavy - 3.4).abs() < 0.1, "{heavy}");
    for (words, piece) in [
        (
            "a b c d=9 --replicas 3",
            "node d would have to hold 2.25 replicas of every key",
        ),
        ("a b --replicas 1", "nothing to calibrate"),
        (
            "a b c --scheme jump --replicas 2",
            "scheme jump has no weights finer",
        ),
    ] {
        let words = format!("inspect --calibrate --cluster {words}");
        holds(&refusal(words.split(' ')), &[piece]);
    }
    let files = folder(&[("c.toml", ZONES)]);
    let fixed = path(&files, "c.toml");
    holds(
        &refusal(["inspect", "--cluster", &fixed, "--calibrate"]),
        &["the domain rules decide its share"],
    );
}
