//! What a plan concludes: gates, theory beside measurement, what else changes with the nodes.

mod command;

use serde_json::Value;

use command::figures::codes;
use command::{folder, holds, json, json_words, path, refusal, run, run_words};

#[test]
fn a_gate_stays_shut_when_nobody_reads_the_reasons() {
    for form in ["", "--json"] {
        let words = format!("plan --from a --add b --limit moved=0.1 {form}");
        let mut child = command::command(words.split_whitespace())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{words}");
    }
}

#[test]
fn what_the_database_can_serve_is_compared_with_what_it_gets() {
    let words = "plan --from a,b,c,d --add e --rate 10000 --hit-rate 0.95 --capacity 1000";
    let plan = json_words(&format!("{words} --json"));
    assert!(codes(&plan).contains(&"over-capacity"));
    assert_eq!(plan["origin"]["capacity"], 1000.0);
    let text = run_words(words);
    holds(
        text.text(),
        &[
            "Next: the database cannot serve this at once",
            "over-capacity: ",
        ],
    );
    let enough = json_words(&format!(
        "{} --json",
        words.replace("--capacity 1000", "--capacity 10000")
    ));
    assert!(!codes(&enough).contains(&"over-capacity"));
    holds(
        &refusal("plan --from a --add b --capacity 5".split(' ')),
        &["--rate", "--hit-rate"],
    );
}

#[test]
fn theory_of_tables_and_races_is_within_its_own_deviation_of_what_is_measured() {
    for change in [
        "--from a,b,c,d --add e --scheme slots",
        "--from a,b=2,c,d --add x --scheme slots,count=1000",
        "--from a,b,c,d --scheme slots --to-scheme slots,count=1024",
        "--from a,b=2,c,d --add x --scheme maglev,size=211",
        "--from a,b,c,d --add e --scheme maglev --to-scheme maglev,size=211",
        "--from a,b=2,c,d --remove b --add x=2 --weight a=3 --scheme rendezvous",
        "--from a,b=0,c --add d --scheme probed",
        "--from a,b=0,c,d --weight d=2 --scheme rank",
        "--from a,b,c,d --remove d --scheme jumpback",
        "--from a,b,c,d --add e --scheme modulo",
        "--from m1,m2,m3 --add m4 --scheme redis-cluster",
    ] {
        let plan = json_words(&format!("plan --json {change} --keys gen:k:{{0..199999}}"));
        let of = |path: &str| plan.pointer(path).and_then(Value::as_f64).unwrap();
        let off = (of("/moved/share") - of("/theory/moved_share")) / of("/theory/moved_share_sd");
        // One chance in two million for each.
        assert!(off.abs() < 5.0, "{change}: {off} deviations");
        assert!(
            of("/theory/least_moved_share") <= of("/theory/moved_share") + 1e-9,
            "{change}"
        );
    }
}

#[test]
fn a_bare_list_of_new_nodes_keeps_how_the_file_places_keys() {
    let files = folder(&[(
        "c.toml",
        b"protocol = \"memcached\"\nscheme = \"ring\"\n[[node]]\nid = \"m1\"\n[[node]]\nid = \"m2\"\n",
    )]);
    let file = path(&files, "c.toml");
    let plan = json([
        "plan",
        "--json",
        "--from",
        &file,
        "--to",
        "m2",
        "m1",
        "--keys",
        "gen:k{0..99}",
    ]);
    assert_eq!(plan["moved"]["keys"], 0);
    assert_eq!(plan["key_rule"]["to"], "whole");
    assert_eq!(plan["scheme"]["to"], "ring/xxh3-64/v1,tokens=160");
}

#[test]
fn a_changed_key_rule_says_which_keys_it_cuts_otherwise() {
    let files = folder(&[
        (
            "old.toml",
            b"key_rule = \"whole\"\n[[node]]\nid = \"a\"\n[[node]]\nid = \"b\"\n",
        ),
        (
            "new.toml",
            b"key_rule = \"redis-tag\"\n[[node]]\nid = \"a\"\n[[node]]\nid = \"b\"\n",
        ),
        ("k.txt", b"{t}1\n{t}2\n{t}3\nplain\n"),
    ]);
    let (old, new, keys) = (
        path(&files, "old.toml"),
        path(&files, "new.toml"),
        path(&files, "k.txt"),
    );
    let plan = json([
        "plan", "--json", "--from", &old, "--to", &new, "--keys", &keys,
    ]);
    assert_eq!(plan["recut_keys"], 3);
    assert_eq!(plan["theory"]["moved_share"], 0.375);
    let text = run(["plan", "--from", &old, "--to", &new, "--keys", &keys]);
    holds(
        text.text(),
        &["The key rule changes from whole to redis-tag: it cuts 3 keys"],
    );
}

#[test]
fn totals_that_no_json_number_holds_are_refused() {
    let rows: String = (0..3).map(|i| format!("k{i},9007199254740992\n")).collect();
    let files = folder(&[("k.csv", format!("key,requests\n{rows}").as_bytes())]);
    let keys = path(&files, "k.csv");
    holds(
        &refusal(["plan", "--from", "a", "--add", "b", "--keys", &keys]),
        &["the requests of all keys add up to more than 2^53"],
    );
}

#[test]
fn a_hottest_key_is_named_only_where_each_key_stands_once() {
    let files = folder(&[("k.csv", b"key,requests\nhot,1\nhot,1\nhot,1\nk,2\n")]);
    let keys = path(&files, "k.csv");
    let plan = json([
        "plan", "--json", "--from", "a", "--add", "b", "--keys", &keys,
    ]);
    assert_eq!(plan["hottest"], Value::Null);
    holds(
        &refusal([
            "plan", "--from", "a", "--add", "b", "--keys", &keys, "--limit", "hot=1",
        ]),
        &["limit hot cannot be checked", "each key once"],
    );
}
