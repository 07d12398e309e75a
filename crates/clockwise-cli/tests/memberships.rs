//! Memberships and schemes that the command takes or refuses, inline and from a cluster file.
//!
//! `data/odd-nodes.json` has lists of nodes that were trouble somewhere; each is tried both ways.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStringExt as _;

use serde_json::Value;

use command::{folder, holds, json, message, path, refusal, run};

mod command;

#[test]
fn the_order_of_a_list_decides_nothing_unless_the_scheme_is_numbered() {
    let orders = permutations(&names("order-5"));
    assert_eq!(orders.len(), 120);
    for scheme in ["slots", "ring", "rendezvous"] {
        let answers: BTreeSet<(String, String)> = orders
            .iter()
            .map(|order| both_answers(&order.join(","), scheme, "gen:sess:{0..999}"))
            .collect();
        assert_eq!(answers.len(), 1, "{scheme}");
    }
    for scheme in [
        "articles/000-ring",
        "articles/002-ring",
        "articles/000-rendezvous",
    ] {
        let answers: BTreeSet<(String, String)> = [0, 59, 119]
            .map(|order| both_answers(&orders[order].join(","), scheme, "gen:sess:{0..999}"))
            .into();
        assert_eq!(answers.len(), 1, "{scheme}");
    }
    let numbered: BTreeSet<String> = orders
        .iter()
        .map(|order| inspect(&order.join(","), "jump")["checksum"].to_string())
        .collect();
    assert_eq!(numbered.len(), 120);
}

#[test]
fn addresses_with_one_point_in_other_rings_are_told_apart_in_any_order() {
    for list in ["ketama-collision-1", "ketama-collision-2"] {
        let nodes = names(list);
        let keys = &entry(list)["keys_on_the_arc"];
        let keys: Vec<&str> = keys.as_array().unwrap().iter().map(text).collect();
        for scheme in ["slots", "ring", "rendezvous", "articles/002-ring"] {
            let locate = |nodes: String| {
                let args = ["locate", "--scheme", scheme, "--cluster", &nodes, "--"];
                run(args.iter().chain(&keys)).stdout
            };
            let (one, other) = (&nodes[0], &nodes[1]);
            assert_eq!(
                locate(format!("{one},{other}")),
                locate(format!("{other},{one}"))
            );
        }
    }
}

#[test]
fn equal_tokens_of_two_nodes_are_in_the_same_order_whoever_was_listed_first() {
    // FNV-1a of 32 bits gives these two names some tokens in common.
    let scheme = "articles/002-ring,tokens=20000";
    let list = |nodes| {
        run([
            "inspect",
            "--cluster",
            nodes,
            "--scheme",
            scheme,
            "--tokens",
        ])
        .stdout
    };
    let (one, other) = (list("orders,web-7"), list("web-7,orders"));
    assert!(one == other);
    let lines: Vec<(&str, &str)> = std::str::from_utf8(&one)
        .unwrap()
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    assert_eq!(lines.len(), 40_000);
    let equal: Vec<[&str; 2]> = lines
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| [pair[0].1, pair[1].1])
        .collect();
    assert!(equal.len() >= 64 && equal.iter().all(|pair| *pair == ["orders", "web-7"]));
}

#[test]
fn names_that_run_together_share_no_token() {
    let nodes = names("label-run-together").join(",");
    for scheme in [
        "ring,tokens=200",
        "articles/000-ring,tokens=200",
        "articles/003-ring,tokens=200",
    ] {
        let answer = run([
            "inspect",
            "--cluster",
            &nodes,
            "--scheme",
            scheme,
            "--tokens",
        ]);
        let tokens: BTreeSet<&str> = answer
            .text()
            .lines()
            .map(|line| line.split('\t').next().unwrap())
            .collect();
        assert_eq!(tokens.len(), 800, "{scheme}");
    }
}

#[test]
fn a_small_weight_owns_something_or_is_refused_by_name() {
    let nodes = inline("tiny-weight");
    let file = cluster_file("tiny-weight");
    for cluster in [&nodes, &path(&file, "c.toml")] {
        for scheme in ["slots", "ring,tokens=4", "ring", "rendezvous"] {
            let plan = json([
                "plan",
                "--json",
                "--scheme",
                scheme,
                "--from",
                cluster,
                "--to",
                cluster,
                "--keys",
                "gen:sess:{0..99999}",
            ]);
            let small = &plan["nodes"][2]["after"];
            assert!(small["keys"].as_u64().unwrap() > 0, "{scheme}");
        }
    }
    let message = refusal(["inspect", "--cluster", "a=1024,b=1024,c=0.001"]);
    holds(&message, &["weight 0.001 of node c", "hint: "]);
}

#[test]
fn a_heavy_newcomer_takes_from_all_and_moves_nothing_between_them() {
    let heavy = entry("add-heavy");
    let add = node(&heavy["then_add"]);
    let plan = |scheme: &str| {
        json([
            "plan",
            "--json",
            "--scheme",
            scheme,
            "--from",
            &inline("add-heavy"),
            "--add",
            &add,
            "--keys",
            "gen:sess:{0..99999}",
        ])
    };
    for scheme in ["ring", "rendezvous"] {
        let plan = plan(scheme);
        assert_eq!(plan["moved"]["between_remaining"], 0, "{scheme}");
        assert_eq!(plan["moved"]["keys"], plan["nodes"][3]["received"]);
    }
    // Slots pay for their exact balance with a few, which the plan counts on a line of their own.
    let between = plan("slots")["moved"]["between_remaining"]
        .as_u64()
        .unwrap();
    assert!(between < 1000, "{between}");
}

#[test]
fn lists_without_weight_or_nodes_have_no_owner() {
    let drained = cluster_file("drain");
    for cluster in [inline("drain"), path(&drained, "c.toml")] {
        let lines = locate_thousand(&cluster, "slots");
        assert!(!lines.contains("\tb\n") && lines.contains("\ta\n") && lines.contains("\tc\n"));
        assert_eq!(
            inspect(&cluster, "slots")["nodes"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
    }
    let (zero, none, one) = (
        cluster_file("all-zero"),
        cluster_file("none"),
        cluster_file("one"),
    );
    for scheme in [
        "slots",
        "ring",
        "rendezvous",
        "jump",
        "modulo",
        "redis-cluster",
    ] {
        for cluster in [
            inline("all-zero"),
            path(&zero, "c.toml"),
            path(&none, "c.toml"),
        ] {
            let lines = locate_thousand(&cluster, scheme);
            assert!(lines.lines().all(|line| line.ends_with("\t-")), "{scheme}");
        }
        for cluster in [inline("one"), path(&one, "c.toml")] {
            let lines = locate_thousand(&cluster, scheme);
            assert!(
                lines.lines().all(|line| line.ends_with("\tonly")),
                "{scheme}"
            );
        }
    }
}

#[test]
fn bad_weights_are_refused_with_node_and_value() {
    let mut tried = 0;
    for weight in entry("bad-weights")["each_refused_alone"]
        .as_array()
        .unwrap()
    {
        // In a file a weight is a number; what stands in quotes is none, even "12".
        let toml = match weight {
            Value::String(name) if name == "NaN" => "nan".to_owned(),
            Value::String(name) if name == "Infinity" => "inf".to_owned(),
            other => other.to_string(),
        };
        let file = cluster_toml(&format!(
            "[[node]]\nid = \"a\"\n\n[[node]]\nid = \"b\"\nweight = {toml}\n"
        ));
        let message = refusal(["inspect", "--cluster", &path(&file, "c.toml")]);
        holds(
            &message,
            &["c.toml:4: weight ", "for node b: must be 0 to 1000000"],
        );
        assert!(message.len() < 300, "{message}");

        let inline = weight
            .as_str()
            .map_or_else(|| weight.to_string(), str::to_owned);
        if inline != "12" {
            let shown = if inline.is_empty() { "\"\"" } else { &inline };
            let message = refusal(["inspect", "--cluster", &format!("a,b={inline}")]);
            holds(
                &message,
                &[&format!("weight {shown} for node b: must be 0 to 1000000")],
            );
        }
        tried += 1;
    }
    assert_eq!(tried, 9);
    for weight in ["0.0001", "1000000.001", "+1", "1e3", "0x1", " 1", "1 ", "١"] {
        let nodes = format!("a={weight}");
        holds(&refusal(["inspect", "--cluster", &nodes]), &["for node a"]);
    }
}

#[test]
fn one_id_twice_is_refused_with_both_places() {
    let file = cluster_file("same-id-twice");
    for cluster in [inline("same-id-twice"), path(&file, "c.toml")] {
        let message = refusal(["inspect", "--cluster", &cluster]);
        holds(&message, &["node n1 is listed twice: entries 1 and 2"]);
    }
    let message = refusal(["plan", "--from", "n1,n2", "--add", "n1"]);
    holds(&message, &["node n1 is listed twice: entries 1 and 3"]);
    // After one removal nothing of it is left.
    let plan = json(["plan", "--json", "--from", "n1,n2", "--remove", "n1"]);
    assert_eq!(plan["nodes"][0]["after"]["keys"], 0);
}

#[test]
fn one_address_twice_is_warned_about() {
    let file = cluster_file("same-address-twice");
    for cluster in [inline("same-address-twice"), path(&file, "c.toml")] {
        let found = inspect(&cluster, "slots");
        assert_eq!(found["warnings"][0]["code"], "shared-endpoint");
        assert_eq!(found["nodes"].as_array().unwrap().len(), 2);
        let text = run(["inspect", "--cluster", &cluster]);
        holds(
            &text.stderr,
            &["warning: n1 and n2 are both reached at 127.0.0.1:7001"],
        );
    }
}

#[test]
fn addresses_are_taken_strictly_and_ids_by_their_bytes() {
    let list = names("ipv6-and-friends");
    let found = inspect(&list.join(","), "slots");
    let ids: Vec<&str> = found["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| text(&n["id"]))
        .collect();
    assert_eq!(ids, list);
    assert!(
        found["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|n| n["endpoint"] == n["id"])
    );
    let file = cluster_file("ipv6-and-friends");
    let same = inspect(&path(&file, "c.toml"), "slots");
    assert_eq!(same["checksum"], found["checksum"]);

    let sockets = inspect("a@unix:/run/a.sock,b@unix:/run/b.sock=2", "slots");
    assert_eq!(sockets["nodes"][1]["endpoint"], "unix:/run/b.sock");

    for address in entry("ipv6-and-friends")["refused"].as_array().unwrap() {
        let address = text(address);
        refusal(["inspect", "--cluster", address]);
        let named = format!("n1@{address}");
        holds(
            &refusal(["inspect", "--cluster", &named]),
            &[&format!("endpoint {address:?}")],
        );
        let file = cluster_toml(&format!("[[node]]\nid = \"n1\"\nendpoint = {address:?}\n"));
        let message = refusal(["inspect", "--cluster", &path(&file, "c.toml")]);
        holds(
            &message,
            &["c.toml:1: node n1: endpoint", &format!("{address:?}")],
        );
    }
}

#[test]
fn ids_that_look_alike_or_hide_something_are_refused() {
    let list = names("id-spelling");
    let [composed, decomposed, upper, lower, outer, hidden] = &list[..] else {
        panic!("{list:?}");
    };
    let file = |ids: &[&String]| {
        let nodes: String = ids
            .iter()
            .map(|id| format!("[[node]]\nid = \"{id}\"\n"))
            .collect();
        cluster_toml(&nodes)
    };
    for (ids, pieces) in [
        (
            [composed, decomposed],
            &["look the same", "entries 1 and 2"][..],
        ),
        (
            [upper, outer],
            &["node id \"n1 \"", "begin or end with a space"],
        ),
        ([upper, hidden], &["U+200B"]),
    ] {
        let inline = format!("{},{}", ids[0], ids[1]);
        holds(&refusal(["inspect", "--cluster", &inline]), pieces);
        let file = file(&ids);
        let message = refusal(["inspect", "--cluster", &path(&file, "c.toml")]);
        holds(&message, pieces);
        holds(&message, &["c.toml"]);
    }
    let message = refusal(["plan", "--from", composed, "--add", decomposed]);
    holds(&message, &["look the same"]);
    // Case matters.
    let cased = format!("{upper},{lower}");
    assert_eq!(
        inspect(&cased, "slots")["nodes"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn inline_lists_that_are_malformed_are_refused() {
    let long = "x".repeat(256);
    for (nodes, pieces) in [
        ("", &["node id \"\"", "empty"][..]),
        ("a,,b", &["node id \"\""]),
        ("a,", &["node id \"\""]),
        ("=1", &["node id \"\""]),
        ("a=", &["for node a"]),
        ("a=1=2", &["weight 1=2 for node a"]),
        ("a@", &["endpoint \"\""]),
        ("a@b@c:1", &["endpoint \"b@c:1\""]),
        ("a@1.2.3.4:5/x", &["No such file", "1.2.3.4:5/x"]),
        ("a/b", &["a/b: No such file"]),
        ("a\nb", &["node id \"a\\nb\"", "U+000A"]),
        ("a\u{1b}[31m", &["U+001B"]),
        (&long, &["256 bytes"]),
    ] {
        let message = refusal(["inspect", "--cluster", nodes]);
        holds(&message, pieces);
        assert!(!message.contains('\u{1b}'));
    }
    let bytes = std::ffi::OsString::from_vec(b"a\xff".to_vec());
    let answer = run(["locate".into(), "--cluster".into(), bytes, "x".into()]);
    holds(&message(&answer), &["membership a\\xff: must be UTF-8"]);
}

#[test]
fn both_forms_of_a_scheme_in_a_file_are_one() {
    let node = "[[node]]\nid = \"a\"\n";
    for (one, other) in [
        (
            "scheme = \"ring,tokens=40\"\n",
            "[scheme]\nname = \"ring\"\ntokens = 40\n",
        ),
        (
            "scheme = \"slots/md5-be64\"\n",
            "[scheme]\nname = \"slots\"\nhash = \"md5-be64\"\n",
        ),
    ] {
        let checksum = |scheme: &str| {
            let file = cluster_toml(&format!("{scheme}{node}"));
            let found = json(["inspect", "--json", "--cluster", &path(&file, "c.toml")]);
            (found["scheme"].clone(), found["checksum"].clone())
        };
        assert_eq!(checksum(one), checksum(other));
    }
    // An option is stronger than the file.
    let file = cluster_toml(&format!(
        "scheme = \"ring,tokens=40\"\nkey_rule = \"whole\"\n{node}"
    ));
    let file = path(&file, "c.toml");
    let found = json([
        "inspect",
        "--json",
        "--cluster",
        &file,
        "--key-rule",
        "redis-tag",
        "--tokens",
        "7",
    ]);
    assert_eq!(found["scheme"], "ring/xxh3-64/v1,tokens=7");
    assert_eq!(found["key_rule"], "redis-tag");
}

#[test]
fn the_examples_file_is_one_that_the_command_takes() {
    let file = command::project_file("examples/clockwise.toml");
    assert_eq!(
        run(["inspect".as_ref(), "--cluster".as_ref(), file.as_os_str()]).code,
        Some(0)
    );
}

#[test]
fn a_key_rule_follows_the_protocol_unless_it_is_said() {
    for (head, rule) in [
        ("", "redis-tag"),
        ("protocol = \"redis\"", "redis-tag"),
        ("protocol = \"memcached\"", "whole"),
        (
            "protocol = \"memcached\"\nkey_rule = \"between:<>\"",
            "between:<>",
        ),
        ("scheme = \"articles/000-ring\"", "whole"),
    ] {
        let file = cluster_toml(&format!("{head}\n[[node]]\nid = \"a\"\n"));
        let found = json(["inspect", "--json", "--cluster", &path(&file, "c.toml")]);
        assert_eq!(found["key_rule"], rule, "{head}");
    }
}

fn lists() -> Value {
    serde_json::from_str(include_str!("data/odd-nodes.json")).unwrap()
}

fn entry(id: &str) -> Value {
    let lists = lists();
    let found = lists["lists"]
        .as_array()
        .unwrap()
        .iter()
        .find(|list| list["id"] == id);
    found.unwrap().clone()
}

/// Ids of a list that has nothing else.
fn names(id: &str) -> Vec<String> {
    let list = entry(id);
    list["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| text(node).to_owned())
        .collect()
}

/// A list as it is written on the command line.
fn inline(id: &str) -> String {
    let list = entry(id);
    let nodes: Vec<String> = list["nodes"].as_array().unwrap().iter().map(node).collect();
    nodes.join(",")
}

fn node(node: &Value) -> String {
    let Value::Object(members) = node else {
        return text(node).to_owned();
    };
    let part = |name, sign: &str| {
        members.get(name).map_or_else(String::new, |value| {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            format!("{sign}{value}")
        })
    };
    // An id with a colon is an address as id, which is what these lists mean by it.
    format!(
        "{}{}{}",
        text(&members["id"]),
        part("addr", "@"),
        part("weight", "=")
    )
}

/// A list as a cluster file, `c.toml` in a folder.
fn cluster_file(id: &str) -> tempfile::TempDir {
    let list = entry(id);
    let nodes = list["nodes"].as_array().unwrap().iter().map(|node| {
        let (id, addr, weight) = match node {
            Value::Object(members) => (&members["id"], members.get("addr"), members.get("weight")),
            id => (id, None, None),
        };
        let addr = addr.map_or_else(String::new, |addr| format!("endpoint = {addr}\n"));
        let weight = weight.map_or_else(String::new, |weight| format!("weight = {weight}\n"));
        format!("[[node]]\nid = {id}\n{addr}{weight}\n")
    });
    cluster_toml(&format!("name = \"odd\"\n{}", nodes.collect::<String>()))
}

fn cluster_toml(text: &str) -> tempfile::TempDir {
    folder(&[("c.toml", text.as_bytes())])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn inspect(cluster: &str, scheme: &str) -> Value {
    json([
        "inspect",
        "--json",
        "--cluster",
        cluster,
        "--scheme",
        scheme,
    ])
}

fn both_answers(cluster: &str, scheme: &str, keys: &str) -> (String, String) {
    let located = run([
        "locate",
        "--cluster",
        cluster,
        "--scheme",
        scheme,
        "--keys",
        keys,
    ]);
    (
        located.text().to_owned(),
        inspect(cluster, scheme)["checksum"].to_string(),
    )
}

fn locate_thousand(cluster: &str, scheme: &str) -> String {
    let keys = "gen:sess:{0..999}";
    let answer = run([
        "locate",
        "--cluster",
        cluster,
        "--scheme",
        scheme,
        "--keys",
        keys,
    ]);
    assert_eq!(answer.text().lines().count(), 1000, "{}", answer.stderr);
    answer.text().to_owned()
}

fn permutations(items: &[String]) -> Vec<Vec<String>> {
    let [first, rest @ ..] = items else {
        return vec![Vec::new()];
    };
    let all = permutations(rest).into_iter();
    all.flat_map(|order| {
        (0..=order.len()).map(move |place| {
            let mut order = order.clone();
            order.insert(place, first.clone());
            order
        })
    })
    .collect()
}

#[test]
fn lists_that_the_shell_did_not_spell_out_are_spelt_out() {
    for nodes in ["cache-{1..4}", "cache-{1..2},cache-{3..4}"] {
        let inspected = json(["inspect", "--json", "--cluster", nodes]);
        let ids: Vec<&str> = inspected["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["cache-1", "cache-2", "cache-3", "cache-4"], "{nodes}");
    }
    let weighted = json(["inspect", "--json", "--cluster", "c{1..2}=0.5"]);
    assert_eq!(weighted["nodes"][1]["weight"], 0.5);
    holds(
        &refusal(["inspect", "--cluster", "n{0..99999999}"]),
        &["more than 65000 nodes"],
    );
}

#[test]
fn files_that_are_not_there_are_no_nodes() {
    for name in ["cach.toml", "cluster.json", "haproxy.cfg"] {
        holds(
            &refusal(["plan", "--from", name, "--add", "c"]),
            &[name, "there is no such file", "hint: if it is a node"],
        );
    }
}

#[test]
fn a_quoted_list_with_spaces_is_no_node_with_a_space() {
    holds(
        &refusal(["plan", "--from", "cache-1 cache-2", "--add", "c"]),
        &["cache-1 cache-2", "an id with a space needs a cluster file"],
    );
    // A comma at the end of a value is what `a, b` leaves.
    let two = json(["inspect", "--json", "--cluster", "a,", "b"]);
    assert_eq!(two["nodes"].as_array().map(Vec::len), Some(2));
}
