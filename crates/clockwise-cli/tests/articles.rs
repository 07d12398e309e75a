//! The figures of the founding articles, as the command gives them.
//!
//! Promises that every count of `vectors/articles.json` that a plan, a location or a list of tokens can show comes out
//! the same to the last integer, and every ratio within 1e-12. Source: that file, with the contract behind each number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use command::{holds, json, project_file, refusal, run};

mod command;

#[test]
fn rings_of_the_first_article_move_what_it_says() {
    let article = article("seed_000");
    for (tokens, row) in article["ring"].as_object().unwrap() {
        let scheme = format!("articles/000-ring,tokens={tokens}");
        let add = plan(&scheme, "articles/000", &cache(4), &["--add", "cache-5"]);
        assert_eq!(add["moved"]["keys"], row["moved_4_to_5"]);
        assert_eq!(add["moved"]["between_remaining"], row["moved_between_old"]);
        assert_eq!(keys_of(&add, "before"), counts(&row["owners_4"]));
        assert_eq!(keys_of(&add, "after"), counts(&row["owners_5"]));
        assert_eq!(flows_to(&add, "cache-5"), counts(&row["donors"]));
        let after = &add["balance"]["after"];
        near(&after["max_over_mean"], &row["max_over_mean"]);
        near(&after["sd_over_mean"], &row["pstdev_over_mean"]);
        assert_eq!(
            number(&after["min"]) / number(&after["mean"]),
            number(&row["min_over_mean"])
        );
        for node in add["nodes"].as_array().unwrap() {
            near(
                &node["after"]["space_share"],
                &row["ring_space_share_5"][text(&node["id"])],
            );
        }

        // What the plan says about a failure is what a removal then does.
        let lost = &row["remove_cache2"];
        let failure = entry(&add["failures"], "node", "cache-2");
        assert_eq!(failure["owned"], lost["owned"]);
        assert_eq!(receivers(failure), counts(&lost["receivers"]));
        near(
            &failure["largest_receiver_share"],
            &lost["largest_receiver_share"],
        );
        let removed = plan(&scheme, "articles/000", &cache(5), &["--remove", "cache-2"]);
        assert_eq!(removed["moved"]["keys"], lost["moved"]);
        assert_eq!(
            removed["moved"]["between_remaining"],
            lost["moved_not_from_removed"]
        );
        assert_eq!(flows_from(&removed, "cache-2"), counts(&lost["receivers"]));

        for (name, from, added) in [
            ("4->6_at_once", 4, "cache-5,cache-6"),
            ("5->6", 5, "cache-6"),
        ] {
            if let Some(moved) = row.get(name) {
                let plan = plan(&scheme, "articles/000", &cache(from), &["--add", added]);
                assert_eq!(&plan["moved"]["keys"], moved, "{name} with {tokens} tokens");
                assert_eq!(plan["moved"]["between_remaining"], 0);
            }
        }
    }
}

#[test]
fn rings_of_the_first_article_have_its_tokens() {
    let article = article("seed_000");
    for (tokens, row) in article["ring"].as_object().unwrap() {
        let scheme = format!("articles/000-ring,tokens={tokens}");
        let list = tokens_of(&scheme, &cache(5));
        let distinct: BTreeSet<&String> = list.iter().map(|(token, _)| token).collect();
        assert_eq!(row["tokens"], list.len());
        assert_eq!(row["distinct_tokens"], distinct.len());
        for (place, name) in [(0, "first_token"), (list.len() - 1, "last_token")] {
            let (token, node) = &list[place];
            assert_eq!(row[name], serde_json::json!([token, node]));
        }
    }
}

#[test]
fn modulo_moves_what_the_first_article_says() {
    let modulo = &article("seed_000")["modulo"];
    for (change, moved) in modulo["moved_counts"].as_object().unwrap() {
        let (from, to) = change.split_once("->").unwrap();
        let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
        let plan = plan(
            "articles/000-modulo",
            "articles/000",
            &cache(from),
            &["--to", &cache(to)],
        );
        assert_eq!(&plan["moved"]["keys"], moved, "{change}");
        let theory = match change.as_str() {
            "4->8" => 0.5,
            "4->6" => 2.0 / 3.0,
            _ => 1.0 - 1.0 / to as f64,
        };
        near(&plan["theory"]["moved_share"], &theory.into());
        if change == "4->5" {
            let kept = plan["keys"].as_u64().unwrap() - plan["moved"]["keys"].as_u64().unwrap();
            assert_eq!(modulo["kept_4_to_5"], kept);
        }
    }
}

#[test]
fn the_first_articles_database_feels_what_its_formula_says() {
    let estimate = &article("seed_000")["db_load_estimate"];
    for (tokens, name) in [("100", "ring_v100"), ("200", "ring_v200")] {
        let row = &estimate["extra_same_formula_with_measured_moves"][name];
        let plan = plan(
            &format!("articles/000-ring,tokens={tokens}"),
            "articles/000",
            &cache(4),
            &[
                "--add",
                "cache-5",
                "--rate",
                "300",
                "--keys-per-request",
                "3",
                "--hit-rate",
                "0.95",
            ],
        );
        let origin = &plan["origin"];
        near(&origin["queries_before"], &estimate["db_queries_before"]);
        assert_eq!(plan["moved"]["share"], row["moved"]);
        // The article rounds to two decimals.
        let rounded = (number(&origin["queries_after"]) * 100.0).round() / 100.0;
        assert_eq!(rounded, number(&row["db_queries_after"]));
    }
}

#[test]
fn the_first_articles_alternatives_move_what_it_says() {
    let alternatives = &article("seed_000")["alternatives"];
    let by_name = |owners: &Value| -> BTreeMap<String, u64> {
        let named = counts(owners).into_iter().map(|(name, keys)| {
            let number = name.parse::<usize>().ok();
            (number.map_or(name, |n| format!("cache-{}", n + 1)), keys)
        });
        named.collect()
    };
    for name in ["rendezvous", "jump"] {
        let values = &alternatives[name]["values"];
        let plan = plan(
            &format!("articles/000-{name}"),
            "articles/000-alternatives",
            &cache(4),
            &["--add", "cache-5"],
        );
        assert_eq!(plan["keys"], values["keys"]);
        assert_eq!(plan["moved"]["keys"], values["moved"]);
        assert_eq!(
            plan["moved"]["between_remaining"],
            values["moved_between_old"]
        );
        assert_eq!(keys_of(&plan, "before"), by_name(&values["owners_4"]));
        assert_eq!(keys_of(&plan, "after"), by_name(&values["owners_5"]));
        near(
            &plan["balance"]["after"]["max_over_mean"],
            &values["max_over_mean"],
        );
    }
    for (key, owner) in alternatives["rendezvous"]["owner_vectors_5_nodes"]
        .as_object()
        .unwrap()
    {
        let located = &locate("articles/000-rendezvous", &cache(5), &[key])[0];
        assert_eq!(&located["owner"], owner);
    }
}

#[test]
fn the_seven_rows_of_the_third_article_come_out() {
    let article = article("seed_003");
    for (name, row) in article["rows"].as_object().unwrap() {
        let scheme = third_scheme(name);
        let add = plan(&scheme, "articles/003", &nodes(10), &["--add", "node-10"]);
        assert_eq!(add["moved"]["keys"], row["add"], "{name}");
        let counts: Vec<&Value> = add["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| &node["before"]["keys"])
            .collect();
        assert_eq!(
            counts[..10],
            row["counts"].as_array().unwrap().iter().collect::<Vec<_>>()[..]
        );
        let before = &add["balance"]["before"];
        near(&before["max_over_mean"], &row["max_over_mean"]);
        assert_eq!(
            number(&before["min"]) / number(&before["mean"]),
            number(&row["min_over_mean"])
        );
        let remove = plan(&scheme, "articles/003", &nodes(10), &["--to", &nodes(9)]);
        assert_eq!(remove["moved"]["keys"], row["remove_last"], "{name}");
        if name != "modulo" {
            assert_eq!(add["moved"]["between_remaining"], 0, "{name}");
            assert_eq!(remove["moved"]["between_remaining"], 0, "{name}");
        }
        if let Some(lost) = row.get("remove_node_3") {
            let plan = plan(&scheme, "articles/003", &nodes(10), &["--remove", "node-3"]);
            assert_eq!(plan["moved"]["keys"], lost["moved"]);
            assert_eq!(
                plan["moved"]["between_remaining"],
                lost["moved_not_from_node_3"]
            );
            let given = flows_from(&plan, "node-3");
            for (number, keys) in lost["receivers"].as_array().unwrap().iter().enumerate() {
                let id = format!("node-{number}");
                assert_eq!(*keys, given.get(&id).copied().unwrap_or(0), "{id}");
            }
        }
    }
}

#[test]
fn jump_loses_a_middle_node_by_renumbering_only() {
    let row = &article("seed_003")["rows"]["jump"]["remove_node_3_by_renumbering"];
    let rest: Vec<String> = (0..10)
        .filter(|n| *n != 3)
        .map(|n| format!("node-{n}"))
        .collect();
    let plan = plan(
        "articles/003-jump",
        "articles/003",
        &nodes(10),
        &["--to", &rest.join(",")],
    );
    assert_eq!(plan["moved"]["keys"], row["moved"]);
    assert_eq!(
        entry(&plan["nodes"], "id", "node-3")["gave"],
        row["keys_that_were_on_node_3"]
    );
    let message = refusal([
        "plan",
        "--scheme",
        "articles/003-jump",
        "--keys",
        "articles/003",
        "--from",
        &nodes(10),
        "--remove",
        "node-3",
    ]);
    holds(&message, &["node-3", "68.9 %", "10.0 %", "hint: ", "--to"]);
}

#[test]
fn raw_fnv_tokens_come_out_as_badly_as_they_are() {
    let extra = &article("seed_003")["extra_raw_fnv"];
    let raw = |tokens: u32, row: &Value| {
        let scheme = format!("articles/003-ring-raw,tokens={tokens}");
        let add = plan(&scheme, "articles/003", &nodes(10), &["--add", "node-10"]);
        let remove = plan(&scheme, "articles/003", &nodes(10), &["--remove", "node-9"]);
        assert_eq!(add["moved"]["keys"], row["add"]);
        assert_eq!(remove["moved"]["keys"], row["remove_last"]);
        near(
            &add["balance"]["before"]["max_over_mean"],
            &row["max_over_mean"],
        );
        keys_of(&add, "before")
    };
    let one = raw(1, &extra["ring_1"]);
    assert_eq!(one, raw(10, &extra["ring_1"]));
    assert_ne!(one, raw(1000, &extra["ring_1000"]));
}

#[test]
fn a_million_clumped_keys_count_as_a_tenth() {
    let plan = plan(
        "articles/003-ring,tokens=1",
        "articles/003",
        &nodes(10),
        &["--add", "node-10"],
    );
    let effective = plan["effective_keys"].as_u64().unwrap();
    assert!((90_000..115_000).contains(&effective), "{effective}");
    assert_eq!(plan["keys"], 1_000_000);
    for code in ["clumped-keys", "weak-hash"] {
        entry(&plan["warnings"], "code", code);
    }
}

#[test]
fn the_fourth_articles_rows_come_out() {
    let article = article("seed_004");
    for row in article["add_node_150_vnodes"].as_array().unwrap() {
        let n = row["n"].as_u64().unwrap() as usize;
        let added = format!("s{}", n + 1);
        for (scheme, moved, theory) in [
            ("articles/004-ring", "ring_moved", "theory_ring"),
            ("articles/004-modulo", "modulo_moved", "theory_modulo"),
        ] {
            let plan = plan(scheme, "articles/004", &list("s", 1, n), &["--add", &added]);
            assert_eq!(plan["moved"]["keys"], row[moved], "{scheme} at {n}");
            near(&plan["theory"]["moved_share"], &row[theory]);
            if moved == "ring_moved" {
                assert_eq!(
                    plan["moved"]["between_remaining"],
                    row["ring_moved_between_old"]
                );
                // The article's 37.19 % where a third was due lies within chance.
                let off = number(&plan["moved"]["share"]) - number(&row[theory]);
                assert!(off.abs() < 3.0 * number(&plan["theory"]["moved_share_sd"]));
            }
        }
    }
    for row in article["vnode_spread_8_nodes"].as_array().unwrap() {
        check_spread(row, &list("s", 1, 8), "articles/004");
    }
}

#[test]
fn the_fourth_articles_selftest_comes_out() {
    let selftest = &article("seed_004")["selftest"];
    let keys = "gen:key:{0..19999}";
    for row in selftest["add_200_vnodes_node1.."].as_array().unwrap() {
        let n = row["n"].as_u64().unwrap() as usize;
        let added = format!("node{}", n + 1);
        for (scheme, moved) in [
            ("articles/004-ring,tokens=200", "ring_moved"),
            ("articles/004-modulo", "modulo_moved"),
        ] {
            let plan = plan(scheme, keys, &list("node", 1, n), &["--add", &added]);
            assert_eq!(plan["moved"]["keys"], row[moved], "{scheme} at {n}");
        }
    }
    for row in selftest["spread_5_nodes"].as_array().unwrap() {
        check_spread(row, &list("node", 1, 5), keys);
    }
}

#[test]
fn keys_get_the_tokens_and_owners_of_the_golden_vectors() {
    for (seed, prefix, first, ring) in [
        ("seed_000", "cache-", 1, "articles/000-ring"),
        ("seed_003", "node-", 0, "articles/003-ring"),
        ("seed_004", "s", 1, "articles/004-ring"),
    ] {
        let article = article(seed);
        let mut groups: BTreeMap<(u64, u64), Vec<&Value>> = BTreeMap::new();
        for vector in article["golden_vectors"].as_array().unwrap() {
            let group = (number(&vector["nodes"]), number(&vector["vnodes"]));
            let group = (group.0 as u64, group.1 as u64);
            groups.entry(group).or_default().push(vector);
        }
        for ((count, tokens), vectors) in groups {
            let cluster = list(prefix, first, count as usize);
            let scheme = format!("{ring},tokens={tokens}");
            let keys: Vec<&str> = vectors.iter().map(|vector| text(&vector["key"])).collect();
            let held = tokens_of(&scheme, &cluster);
            for (vector, located) in vectors.iter().zip(locate(&scheme, &cluster, &keys)) {
                let owner = match &vector["owner"] {
                    Value::Number(number) => format!("{prefix}{number}"),
                    name => text(name).to_owned(),
                };
                assert_eq!(located["key"], vector["key"]);
                assert_eq!(located["token"], vector["hash"]);
                assert_eq!(located["owner"], owner);
                assert!(held.contains(&(text(&vector["token"]).to_owned(), owner)));
            }
        }
    }
}

#[test]
fn numbered_schemes_and_hashes_agree_with_the_golden_vectors() {
    let third = article("seed_003");
    for vector in third["golden_vectors"].as_array().unwrap() {
        let key = [text(&vector["key"])];
        for (scheme, count, name) in [
            ("articles/003-modulo", 10, "modulo10"),
            ("articles/003-jump", 10, "jump10"),
            ("articles/003-jump", 11, "jump11"),
        ] {
            let located = &locate(scheme, &nodes(count), &key)[0];
            assert_eq!(located["owner"], format!("node-{}", vector[name]));
        }
    }
    let fourth = article("seed_004");
    for vector in fourth["golden_vectors"].as_array().unwrap() {
        let located = &locate("articles/004-modulo", "0,1", &[text(&vector["key"])])[0];
        assert_eq!(located["owner"], vector["modulo2"].to_string());
    }
    let trap = &fourth["contract"]["utf8_trap"];
    let key = [text(&trap["key"])];
    for (scheme, hash) in [
        ("articles/004-ring", "utf16_unit_hash"),
        ("articles/002-ring", "utf8_byte_hash"),
    ] {
        assert_eq!(locate(scheme, "a", &key)[0]["token"], trap[hash]);
    }
    for (key, hash) in article("seed_000")["golden_hashes"].as_object().unwrap() {
        assert_eq!(&locate("articles/000-ring", "a", &[key])[0]["token"], hash);
    }
}

fn article(seed: &str) -> Value {
    let text = std::fs::read_to_string(project_file("vectors/articles.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()[seed].take()
}

fn third_scheme(row: &str) -> String {
    match row.split('_').collect::<Vec<_>>()[..] {
        ["ring", tokens, "raw", "fnv"] => format!("articles/003-ring-raw,tokens={tokens}"),
        ["ring", tokens] => format!("articles/003-ring,tokens={tokens}"),
        _ => format!("articles/003-{row}"),
    }
}

fn list(prefix: &str, first: usize, count: usize) -> String {
    let ids: Vec<String> = (first..first + count)
        .map(|number| format!("{prefix}{number}"))
        .collect();
    ids.join(",")
}

fn cache(count: usize) -> String {
    list("cache-", 1, count)
}

fn nodes(count: usize) -> String {
    list("node-", 0, count)
}

fn plan(scheme: &str, keys: &str, from: &str, change: &[&str]) -> Value {
    let args = [
        "plan", "--json", "--scheme", scheme, "--keys", keys, "--from", from,
    ];
    json(args.iter().chain(change))
}

fn locate(scheme: &str, cluster: &str, keys: &[&str]) -> Vec<Value> {
    let args = [
        "locate",
        "--json",
        "--scheme",
        scheme,
        "--cluster",
        cluster,
        "--",
    ];
    run(args.iter().chain(keys)).json_lines()
}

fn tokens_of(scheme: &str, cluster: &str) -> Vec<(String, String)> {
    let answer = run([
        "inspect",
        "--scheme",
        scheme,
        "--cluster",
        cluster,
        "--tokens",
    ]);
    let pairs = answer
        .text()
        .lines()
        .map(|line| line.split_once('\t').unwrap());
    pairs
        .map(|(token, node)| (token.to_owned(), node.to_owned()))
        .collect()
}

/// A row of keys a node on an unchanged ring.
fn check_spread(row: &Value, nodes: &str, keys: &str) {
    let scheme = format!("articles/004-ring,tokens={}", row["v"]);
    let plan = plan(&scheme, keys, nodes, &["--to", nodes]);
    let counts: Vec<Value> = plan["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["after"]["keys"].clone())
        .collect();
    assert_eq!(row["counts"], Value::from(counts));
    let balance = &plan["balance"]["after"];
    near(&balance["spread"], &row["spread"]);
    for name in ["min", "max"] {
        assert!(row.get(name).is_none_or(|count| *count == balance[name]));
    }
    assert_eq!(plan["moved"]["keys"], 0);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[track_caller]
fn near(found: &Value, wanted: &Value) {
    let (found, wanted) = (number(found), number(wanted));
    assert!((found - wanted).abs() <= 1e-12, "{found} is not {wanted}");
}

/// The entry of a list with this value of a member.
#[track_caller]
fn entry<'v>(list: &'v Value, member: &str, value: &str) -> &'v Value {
    let found = list
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry[member] == value);
    found.unwrap_or_else(|| panic!("no {value} in {list}"))
}

fn counts(object: &Value) -> BTreeMap<String, u64> {
    let pairs = object.as_object().unwrap().iter();
    pairs
        .map(|(name, keys)| (name.clone(), keys.as_u64().unwrap()))
        .collect()
}

/// Keys a node on one side, without nodes that hold none.
fn keys_of(plan: &Value, side: &str) -> BTreeMap<String, u64> {
    let nodes = plan["nodes"].as_array().unwrap().iter();
    nodes
        .map(|node| {
            let keys = node[side]["keys"].as_u64().unwrap();
            (text(&node["id"]).to_owned(), keys)
        })
        .filter(|(_, keys)| *keys > 0)
        .collect()
}

fn receivers(failure: &Value) -> BTreeMap<String, u64> {
    let list = failure["receivers"].as_array().unwrap().iter();
    list.map(|r| (text(&r["id"]).to_owned(), r["keys"].as_u64().unwrap()))
        .collect()
}

/// Who gives how much, when all flows go to this node.
fn flows_to(plan: &Value, node: &str) -> BTreeMap<String, u64> {
    flows(plan, "to", node, "from")
}

/// Who gets how much, when all flows come from this node.
fn flows_from(plan: &Value, node: &str) -> BTreeMap<String, u64> {
    flows(plan, "from", node, "to")
}

fn flows(plan: &Value, fixed: &str, node: &str, other: &str) -> BTreeMap<String, u64> {
    let flows = plan["flows"].as_array().unwrap().iter();
    flows
        .map(|flow| {
            assert_eq!(flow[fixed], node);
            (
                text(&flow[other]).to_owned(),
                flow["keys"].as_u64().unwrap(),
            )
        })
        .collect()
}
