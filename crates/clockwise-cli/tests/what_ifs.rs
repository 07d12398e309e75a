//! What-ifs of a plan against the commands that answer the same question one case at a time: `locate --down` for nodes
//! that fail together, `locate --replicas` for copies, and one plan a step for the order of several.

mod command;

use std::collections::BTreeMap;

use command::{folder, holds, json, path, refusal, run};
use serde_json::Value;

const CLUSTER: &str = r#"
[[node]]
id = "a1"
zone = "a"
[[node]]
id = "a2"
zone = "a"
weight = 2
[[node]]
id = "b1"
zone = "b"
[[node]]
id = "b2"
zone = "b"
[[node]]
id = "c1"
zone = "c"
"#;

const NODES: [(&str, f64); 5] = [
    ("a1", 1.0),
    ("a2", 2.0),
    ("b1", 1.0),
    ("b2", 1.0),
    ("c1", 1.0),
];

fn keys() -> String {
    (0..3000).map(|key| format!("cart:{key}\n")).collect()
}

/// The cluster under a scheme, and the keys.
fn cluster(scheme: &str) -> (tempfile::TempDir, String, String) {
    let text = format!("scheme = \"{scheme}\"\n{CLUSTER}");
    let files = folder(&[("c.toml", text.as_bytes()), ("keys.txt", keys().as_bytes())]);
    let (file, keys) = (path(&files, "c.toml"), path(&files, "keys.txt"));
    (files, file, keys)
}

/// Keys of each node when some are down.
fn located(file: &str, keys: &str, down: &[&str]) -> BTreeMap<String, f64> {
    let mut args = vec!["locate", "--cluster", file, "--keys", keys];
    let down = down.join(",");
    if !down.is_empty() {
        args.extend(["--down", &down]);
    }
    let mut counts = BTreeMap::new();
    for line in run(args).text().lines() {
        let owner = line.split('\t').nth(1).unwrap();
        *counts.entry(owner.to_owned()).or_insert(0.0) += 1.0;
    }
    counts
}

/// The heaviest node's keys over its fair share among those that are up.
fn heaviest(counts: &BTreeMap<String, f64>, down: &[&str]) -> f64 {
    let up = || NODES.iter().filter(|(id, _)| !down.contains(id));
    let weight: f64 = up().map(|(_, weight)| weight).sum();
    let all: f64 = counts.values().sum();
    up().map(|(id, own)| counts.get(*id).unwrap_or(&0.0) * weight / (own * all))
        .fold(0.0, f64::max)
}

fn close(a: &Value, b: f64) {
    let a = a.as_f64().unwrap_or_else(|| panic!("not a number: {a}"));
    assert!((a - b).abs() < 1e-9, "{a} and {b}");
}

#[test]
fn pairs_and_zones_fail_as_locate_says_with_these_nodes_down() {
    for scheme in ["slots", "ring,tokens=20", "rendezvous", "maglev,size=1009"] {
        let (_files, file, keys) = cluster(scheme);
        let before = located(&file, &keys, &[]);
        let plan = json([
            "plan",
            "--from",
            &file,
            "--add",
            "d1=0",
            "--keys",
            &keys,
            "--failures",
            "pairs,zone",
            "--json",
        ]);
        let outages = plan["outages"].as_array().unwrap();
        let kinds: Vec<&str> = outages
            .iter()
            .map(|of| of["kind"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["pair", "zone"], "{scheme}");
        for (of, expected) in outages.iter().zip([10, 3]) {
            assert_eq!(
                (&of["total"], &of["basis"]),
                (&expected.into(), &"exact".into()),
                "{scheme}"
            );
            let worst = of["worst"].as_array().unwrap();
            assert_eq!(worst.len(), expected);
            for outage in worst {
                let down: Vec<&str> = outage["nodes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|id| id.as_str().unwrap())
                    .collect();
                let counts = located(&file, &keys, &down);
                close(
                    &outage["heaviest_after"]["max_over_mean"],
                    heaviest(&counts, &down),
                );
                let owned: f64 = down.iter().map(|id| before.get(*id).unwrap_or(&0.0)).sum();
                close(&outage["owned_share"], owned / 3000.0);
                close(&outage["unserved_share"], 0.0);
                let gain =
                    |id: &str| counts.get(id).unwrap_or(&0.0) - before.get(id).unwrap_or(&0.0);
                let receiver = &outage["largest_receiver"];
                close(
                    &receiver["share"],
                    gain(receiver["id"].as_str().unwrap()) / owned,
                );
            }
            let loads: Vec<f64> = worst
                .iter()
                .map(|o| o["heaviest_after"]["max_over_mean"].as_f64().unwrap())
                .collect();
            assert!(loads.is_sorted_by(|a, b| a >= b), "{loads:?}");
        }
        let zones: Vec<&str> = outages[1]["worst"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| o["name"].as_str().unwrap())
            .collect();
        assert!(
            ["a", "b", "c"].iter().all(|zone| zones.contains(zone)),
            "{zones:?}"
        );
    }
}

#[test]
fn a_cascade_goes_on_as_long_as_locate_overloads_a_node() {
    for (scheme, node_rate) in [
        ("slots", 215.0),
        ("ring,tokens=20", 300.0),
        ("rendezvous", 225.0),
        ("ring,tokens=3", 420.0),
    ] {
        let (_files, file, keys) = cluster(scheme);
        let rate = node_rate.to_string();
        let plan = json([
            "plan",
            "--from",
            &file,
            "--add",
            "d1=0",
            "--keys",
            &keys,
            "--rate",
            "1000",
            "--hit-rate",
            "0.9",
            "--node-rate",
            &rate,
            "--json",
        ]);
        let cascades = &plan["cascades"];
        let over = |down: &[&str]| -> Vec<&'static str> {
            let counts = located(&file, &keys, down);
            let is_over = |(id, weight): &&(&'static str, f64)| {
                !down.contains(id) && counts.get(*id).unwrap_or(&0.0) / 3.0 > node_rate * weight
            };
            NODES.iter().filter(is_over).map(|(id, _)| *id).collect()
        };
        let before = over(&[]);
        assert_eq!(
            cascades["over_before"],
            Value::from(before.clone()),
            "{scheme}"
        );
        let failures = cascades["failures"].as_array().unwrap();
        assert_eq!(
            failures.len(),
            if before.is_empty() { 5 } else { 0 },
            "{scheme}"
        );
        for failure in failures {
            let mut down = vec![failure["node"].as_str().unwrap()];
            let mut waves: Vec<Vec<&str>> = Vec::new();
            let collapses = loop {
                let wave = over(&down);
                if wave.is_empty() {
                    break false;
                }
                down.extend(&wave);
                waves.push(wave);
                let weight: f64 = NODES
                    .iter()
                    .filter(|(id, _)| !down.contains(id))
                    .map(|(_, w)| w)
                    .sum();
                if 2.0 * weight <= 6.0 {
                    break true;
                }
            };
            assert_eq!(
                failure["waves"],
                serde_json::to_value(&waves).unwrap(),
                "{scheme}: {failure}"
            );
            assert_eq!(
                failure["collapses"],
                Value::from(collapses),
                "{scheme}: {failure}"
            );
            assert_eq!(
                failure["left"],
                Value::from(5 - down.len()),
                "{scheme}: {failure}"
            );
        }
    }
}

#[test]
fn the_order_that_moves_least_is_the_least_of_all_plans_made_one_step_at_a_time() {
    for scheme in ["slots", "ring,tokens=10", "rendezvous"] {
        let files = folder(&[("keys.txt", keys().as_bytes())]);
        let keys = path(&files, "keys.txt");
        let share = |from: &[&str], option: &str, node: &str| {
            let from = from.join(",");
            let plan = json([
                "plan", "--from", &from, option, node, "--scheme", scheme, "--keys", &keys,
                "--json",
            ]);
            plan["moved"]["share"].as_f64().unwrap()
        };
        let steps = [("--add", "d=3"), ("--add", "e"), ("--remove", "b")];
        let mut totals = Vec::new();
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut nodes = vec!["a", "b", "c"];
            let mut total = 0.0;
            for (option, node) in order.map(|step| steps[step]) {
                total += share(&nodes, option, node);
                match option {
                    "--add" => nodes.push(node),
                    _ => nodes.retain(|&other| other != node),
                }
            }
            totals.push(total);
        }
        let plan = json([
            "plan", "--from", "a,b,c", "--add", "d=3,e", "--remove", "b", "--scheme", scheme,
            "--keys", &keys, "--json",
        ]);
        let orders = &plan["orders"];
        assert_eq!(
            (&orders["count"], &orders["basis"]),
            (&6.into(), &"exact".into())
        );
        close(&orders["listed"]["moved_share"], totals[0]);
        close(
            &orders["least"]["moved_share"],
            totals.iter().copied().fold(f64::MAX, f64::min),
        );
        assert_eq!(
            orders["listed"]["steps"],
            serde_json::json!(["add d", "add e", "remove b"])
        );
    }
}

#[test]
fn copies_to_be_made_are_those_that_no_node_holds_before() {
    for scheme in ["slots", "ring,tokens=20", "rendezvous"] {
        let files = folder(&[("keys.txt", keys().as_bytes())]);
        let keys = path(&files, "keys.txt");
        let sets = |cluster: &str| -> Vec<Vec<String>> {
            let answer = run([
                "locate",
                "--cluster",
                cluster,
                "--scheme",
                scheme,
                "--replicas",
                "2",
                "--keys",
                &keys,
            ]);
            let nodes = |line: &str| line.split('\t').skip(1).map(str::to_owned).collect();
            answer.text().lines().map(nodes).collect()
        };
        let (before, after) = (sets("a,b,c"), sets("a,b,c,d"));
        let mut received: BTreeMap<&str, u64> = BTreeMap::new();
        for (old, new) in before.iter().zip(&after) {
            for node in new.iter().filter(|node| !old.contains(node)) {
                *received.entry(node).or_default() += 1;
            }
        }
        let plan = json([
            "plan",
            "--from",
            "a,b,c",
            "--add",
            "d",
            "--scheme",
            scheme,
            "--replicas",
            "2",
            "--keys",
            &keys,
            "--json",
        ]);
        let copies = &plan["replicas"];
        assert_eq!(
            copies["held"],
            serde_json::json!({"before": 6000, "after": 6000}),
            "{scheme}"
        );
        assert_eq!(
            copies["made"],
            Value::from(received.values().sum::<u64>()),
            "{scheme}"
        );
        for node in copies["nodes"].as_array().unwrap() {
            let id = node["id"].as_str().unwrap();
            assert_eq!(
                node["received"],
                Value::from(*received.get(id).unwrap_or(&0)),
                "{scheme}: {node}"
            );
            let held = after.iter().flatten().filter(|other| *other == id).count();
            assert_eq!(node["after"], Value::from(held), "{scheme}: {node}");
        }
    }
}

#[test]
fn the_database_feels_a_failure_as_the_reads_of_the_lost_node() {
    let plan = json("plan --from a,b,c,d --keys gen:user:{0..9999} --rate 1000 --hit-rate 0.9 --failures pairs --json".split(' '));
    for failure in plan["failures"].as_array().unwrap() {
        let cold = failure["owned"].as_f64().unwrap() / 10_000.0;
        close(
            &failure["origin_queries"],
            1000.0 * (cold + (1.0 - cold) * 0.1),
        );
        let receiver = &failure["receivers"][0];
        let before = plan["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|node| node["id"] == receiver["id"])
            .unwrap();
        let before = before["after"]["keys"].as_f64().unwrap();
        let times = (before + receiver["keys"].as_f64().unwrap()) / before;
        // Numbers lose their last bit on the way through text.
        assert!(failure["grows_most"]["times"].as_f64().unwrap() >= times - 1e-12);
    }
    for outage in plan["outages"][0]["worst"].as_array().unwrap() {
        let cold = outage["read_share"].as_f64().unwrap();
        close(
            &outage["read_share"],
            outage["owned_share"].as_f64().unwrap(),
        );
        close(
            &outage["origin_queries"],
            1000.0 * (cold + (1.0 - cold) * 0.1),
        );
    }
}

#[test]
fn a_sampled_what_if_has_what_was_counted_for_each_node() {
    // Half of the lines are one key, which a sample of the others must not lose.
    let lines: String = (0..400_000)
        .map(|line| {
            if line % 2 == 0 {
                "hot\n".to_owned()
            } else {
                format!("key:{line}\n")
            }
        })
        .collect();
    let args = [
        "plan",
        "--from",
        "a,b,c",
        "--add",
        "d",
        "--scheme",
        "rendezvous",
        "--keys",
        "-",
        "--rate",
        "1000",
        "--hit-rate",
        "0.9",
        "--node-rate",
        "400",
        "--replicas",
        "2",
        "--failures",
        "pairs",
        "--json",
    ];
    let files = folder(&[("keys.txt", lines.as_bytes())]);
    let file = path(&files, "keys.txt");
    let args = args.map(|arg| if arg == "-" { file.as_str() } else { arg });
    let plan = json(args);
    let after = |id: &str| {
        let nodes = plan["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["id"] == id).unwrap()["after"]["share"]
            .as_f64()
            .unwrap()
    };
    let owner = run([
        "locate",
        "--cluster",
        "a,b,c,d",
        "--scheme",
        "rendezvous",
        "--",
        "hot",
    ]);
    let owner = owner
        .text()
        .trim_end()
        .split('\t')
        .nth(1)
        .unwrap()
        .to_owned();
    assert!(after(&owner) > 0.6);
    assert_eq!(plan["cascades"]["over_before"], serde_json::json!([owner]));
    let over = plan["cascades"]["over"][0]["reads_per_s"].as_f64().unwrap();
    assert!(
        (over / (1000.0 * after(&owner)) - 1.0).abs() < 1e-6,
        "{over}"
    );
    assert_eq!(
        plan["replicas"]["held"],
        serde_json::json!({"before": 800_000, "after": 800_000})
    );
    for outage in plan["outages"][0]["worst"].as_array().unwrap() {
        let owned: f64 = outage["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| after(id.as_str().unwrap()))
            .sum();
        assert!(
            (outage["owned_share"].as_f64().unwrap() - owned).abs() < 1e-6,
            "{outage}"
        );
    }
}

#[test]
fn small_clusters_fall_or_hold_as_their_last_nodes_can() {
    let plan = |from: &str, node_rate: &str| {
        json([
            "plan",
            "--from",
            from,
            "--keys",
            "gen:user:{0..9999}",
            "--rate",
            "1000",
            "--hit-rate",
            "0.9",
            "--node-rate",
            node_rate,
            "--json",
        ])["cascades"]["failures"]
            .clone()
    };
    // One of two holds 600, the other 1200 of the 1000 that are left to it.
    let unequal = plan("a,b=2", "600");
    assert_eq!(
        (&unequal[1]["waves"], &unequal[1]["collapses"]),
        (&serde_json::json!([["a"]]), &true.into())
    );
    assert_eq!(
        (
            &unequal[0]["waves"],
            &unequal[0]["collapses"],
            &unequal[0]["left"]
        ),
        (&serde_json::json!([]), &false.into(), &1.into())
    );
    let roomy = plan("a,b", "100000");
    assert!(
        roomy
            .as_array()
            .unwrap()
            .iter()
            .all(|failure| failure["collapses"] == false && failure["left"] == 1)
    );
    let alone = plan("a", "100000");
    assert_eq!(
        (&alone[0]["collapses"], &alone[0]["left"]),
        (&true.into(), &0.into())
    );
    holds(
        &refusal("plan --from a,b --add c --scheme redis-cluster --failures pairs".split(' ')),
        &["redis-cluster", "names no node behind the owner"],
    );
}
