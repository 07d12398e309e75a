//! What a person asks before adding a cache node: the database, the way one by one, the hottest keys, bytes and memory.

mod command;

use serde_json::Value;

use command::figures::codes;
use command::{folder, holds, json, json_words, path, refusal, run};

const FOUR_TO_FIVE: &str = "plan --json --from cache-1,cache-2,cache-3,cache-4 --keys articles/000 \
                            --rate 300 --keys-per-request 3 --hit-rate 0.95";

fn number(plan: &Value, path: &str) -> f64 {
    plan.pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{path}"))
}

#[test]
fn the_founding_story_is_one_command() {
    let modulo = json_words(&format!(
        "{FOUR_TO_FIVE} --add cache-5 --scheme articles/000-modulo"
    ));
    assert!((number(&modulo, "/origin/queries_before") - 45.0).abs() < 1e-9);
    // 900 reads x (0.800536 + 0.199464 x 0.05)
    assert!((number(&modulo, "/origin/queries_after") - 729.458_28).abs() < 1e-6);
    assert!((number(&modulo, "/origin/factor") - 16.210_184).abs() < 1e-6);
    let ring = json_words(&format!(
        "{FOUR_TO_FIVE} --add cache-5 --scheme articles/000-ring"
    ));
    assert!((number(&ring, "/origin/queries_after") - 225.723_06).abs() < 1e-6);
    for plan in [&modulo, &ring] {
        let points = plan["refill"].as_array().unwrap();
        for form in ["uniform", "zipf"] {
            let at = |point: usize| points[point][form].as_f64().unwrap();
            assert!((at(0) - number(plan, "/origin/queries_after")).abs() < 1e-6);
            assert!((1..points.len()).all(|point| at(point) < at(point - 1) + 1e-9));
            assert!((at(points.len() - 1) - 45.0).abs() < 0.1);
        }
        assert_eq!(points[0]["measured"], Value::Null);
    }
}

#[test]
fn two_nodes_are_counted_one_by_one_and_at_once() {
    let plan = json_words(&format!(
        "{FOUR_TO_FIVE} --add cache-5,cache-6 --scheme articles/000-ring,tokens=100"
    ));
    assert_eq!(plan["moved"]["keys"], 323_175);
    let steps = plan["steps"].as_array().unwrap();
    let seen: Vec<(&str, u64)> = steps
        .iter()
        .map(|step| {
            (
                step["change"].as_str().unwrap(),
                step["keys"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen, [("add cache-5", 211_372), ("add cache-6", 166_906)]);
    for one in ["--add cache-5", "--weight cache-1=2"] {
        let scheme = "--scheme ring";
        let plan = json_words(&format!(
            "plan --json --from cache-1,cache-2 {one} {scheme}"
        ));
        assert_eq!(plan["steps"], Value::Array(Vec::new()), "{one}");
    }
    // A replacement: one node comes, one goes.
    let swap = json_words(
        "plan --json --from a,b,c --remove b --add d --scheme rendezvous --keys gen:k{0..9999}",
    );
    let steps = swap["steps"].as_array().unwrap();
    assert_eq!(steps[0]["change"], "add d");
    assert_eq!(steps[1]["change"], "remove b");
}

#[test]
fn the_hottest_keys_name_their_owners_and_a_floor() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/web-paths.tsv");
    let words = [
        "plan", "--from", "n{1..15}", "--add", "n16", "--keys", examples,
    ];
    let plan = json(words.iter().copied().chain(["--json"]));
    let hottest = plan["hottest_keys"].as_array().unwrap();
    assert_eq!(hottest.len(), 10);
    assert_eq!(hottest[0]["key"], "/favicon.ico");
    let located = run(["locate", "--cluster", "n{1..16}", "--", "/favicon.ico"]);
    assert_eq!(
        located.text(),
        format!("/favicon.ico\t{}\n", hottest[0]["owner"].as_str().unwrap())
    );
    assert!((number(&plan, "/hottest/share_of_fair") - 1.2912).abs() < 1e-9);
    assert!(number(&plan, "/balance_requests/after/max_over_mean") >= 1.2912);
    holds(
        run(words).text(),
        &["no placement brings the heaviest node's requests below 1.29 times"],
    );
}

#[test]
fn bytes_say_how_long_copying_takes_and_who_evicts_first() {
    let rows: String = (0..1000).map(|i| format!("k{i},{}\n", 1000 + i)).collect();
    let files = folder(&[("k.csv", format!("key,bytes\n{rows}").as_bytes())]);
    let keys = path(&files, "k.csv");
    let args = [
        "plan", "--json", "--from", "a,b", "--add", "c=0.5", "--keys", &keys,
    ];
    let plan = json(
        args.iter()
            .copied()
            .chain(["--copy-rate", "1KB", "--node-memory", "500KB"]),
    );
    let moved = plan["moved"]["bytes"].as_u64().unwrap();
    assert_eq!(plan["copy"]["bytes"], moved);
    assert_eq!(number(&plan, "/copy/seconds"), moved as f64 / 1000.0);
    let nodes = plan["nodes"].as_array().unwrap();
    let gave: u64 = nodes
        .iter()
        .map(|node| node["gave_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(gave, moved);
    let filled = |node: &Value| {
        node["after"]["bytes"].as_f64().unwrap()
            / (500_000.0 * node["after"]["weight"].as_f64().unwrap())
    };
    let most = nodes.iter().map(filled).fold(0.0, f64::max);
    assert!((number(&plan, "/memory/filled") - most).abs() < 1e-12);
    let over = nodes.iter().filter(|node| filled(node) > 1.0).count();
    assert_eq!(
        plan["memory"]["evicting"].as_array().map(Vec::len),
        Some(over)
    );
    assert!(over > 0);

    let plain = json_words(
        "plan --json --from a --add b --copy-rate 1MiB --node-memory 1GiB --keys gen:k{0..9}",
    );
    assert_eq!(
        (&plain["copy"], &plain["memory"]),
        (&Value::Null, &Value::Null)
    );
    for bad in ["0", "-1", "many", "1XB"] {
        let message = refusal([
            "plan",
            "--from",
            "a",
            "--add",
            "b",
            &format!("--node-memory={bad}"),
        ]);
        holds(&message, &["--node-memory", "such as 64MiB"]);
    }
}

#[test]
fn tokens_of_a_hash_that_mixes_poorly_are_warned_about() {
    let nodes = "--from node-{0..9} --add node-10 --keys gen:k{0..99}";
    for (scheme, clumps) in [
        ("articles/003-ring-raw", true),
        ("articles/003-ring", false),
        ("articles/000-ring", false),
        ("articles/004-ring", false),
        ("ring", false),
        ("ring,tokens=1000", false),
    ] {
        let plan = json_words(&format!("plan --json {nodes} --scheme {scheme}"));
        assert_eq!(codes(&plan).contains(&"clumped-tokens"), clumps, "{scheme}");
    }
}

#[test]
fn clients_that_know_different_nodes_give_a_key_more_owners() {
    let plan = json_words(
        "plan --json --from a,b,c,d --add e --scheme rendezvous --keys gen:k{0..49999} \
         --view a,b,c,d --view a,b,c,e --view a,b,c,d,e",
    );
    let owners: Vec<u64> = plan["views"]["owners_per_key"]
        .as_array()
        .unwrap()
        .iter()
        .map(|keys| keys.as_u64().unwrap())
        .collect();
    assert_eq!(owners.iter().sum::<u64>(), 50_000);
    assert_eq!(
        (owners[0], owners[3]),
        (0, 0),
        "the whole view agrees with one of the others"
    );
    // All agree unless d or e is first of the five: 3/5 of the keys, with a standard error of 0.2 %.
    assert!(
        (owners[1] as f64 / 50_000.0 - 0.6).abs() < 0.012,
        "{owners:?}"
    );
    let none = json_words("plan --json --from a --add b --keys gen:k{0..9}");
    assert_eq!(none["views"], Value::Null);
}
