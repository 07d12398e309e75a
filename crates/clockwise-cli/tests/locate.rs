//! The forms of `clockwise locate`: where keys may stand, what is printed for each, replicas.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use serde_json::Value;

use command::{folder, holds, json_words, message, path, refusal, run, run_on, run_words};

mod command;

#[test]
fn keys_stand_behind_a_file_a_list_with_commas_or_two_dashes() {
    let files = folder(&[("c.toml", CLUSTER)]);
    let file = path(&files, "c.toml");
    let wanted = run_on("locate --cluster a,b,c --keys -".split(' '), b"k1\nk2\n-k3");
    assert_eq!(wanted.text().lines().count(), 3);
    for args in [
        &["locate", "--cluster", &file, "k1", "k2", "--", "-k3"][..],
        &["locate", "--cluster", &file, "--", "k1", "k2", "-k3"],
        &["locate", "--cluster", "a,b,c", "k1", "k2", "--", "-k3"],
        &["locate", "--cluster", "a,b,c", "--", "k1", "k2", "-k3"],
        &[
            "locate",
            "--cluster",
            "a",
            "b",
            "c",
            "--",
            "k1",
            "k2",
            "-k3",
        ],
        &["locate", "--cluster", "a,b,c", "k1", "--", "k2", "-k3"],
        &[
            "locate",
            "k1",
            "k2",
            "--cluster",
            "a",
            "b",
            "c",
            "--",
            "-k3",
        ],
    ] {
        let answer = run(args);
        assert_eq!(answer.text(), wanted.text(), "{args:?}: {}", answer.stderr);
        assert_eq!(answer.code, Some(0));
    }
}

#[test]
fn without_keys_or_with_both_kinds_it_is_wrong_usage() {
    let files = folder(&[("c.toml", CLUSTER), ("k.txt", b"k\n")]);
    let (file, keys) = (path(&files, "c.toml"), path(&files, "k.txt"));
    for args in [
        &["locate", "--cluster", "a", "b", "k1"][..],
        &["locate", "--cluster", "a,b"],
        &["locate", "--cluster", &file],
    ] {
        let way_out = if args.len() == 3 && args[2] == file {
            "behind the file"
        } else {
            "-- before the keys"
        };
        holds(&refusal(args), &["no keys to locate", "hint: ", way_out]);
    }
    for args in [
        &["locate", "--cluster", &file, "k1", "--keys", &keys][..],
        &["locate", "--cluster", "a,b", "--keys", &keys, "--", "k1"],
    ] {
        holds(&refusal(args), &["both as arguments and with --keys"]);
    }
    holds(&message(&run_words("locate k1")), &["--cluster"]);
    let two = refusal(["locate", "--cluster", "a", &file, "--", "k"]);
    holds(&two, &["c.toml is a file", "only membership value"]);
}

#[test]
fn a_line_is_the_escaped_key_a_tab_and_the_owner() {
    let odd = OsString::from_vec(b"k\xff\n\t\\\r\x1b[31m\x7f".to_vec());
    let plain = ["giỏ-hàng:42", "日本", "a b", ""].map(OsString::from);
    let hidden = OsString::from("a\u{200b}b\u{202e}");
    let mut args: Vec<OsString> = ["locate", "--cluster", "only", "--"]
        .map(OsString::from)
        .into();
    args.push(odd);
    args.extend(plain);
    args.push(hidden);
    let answer = run(&args);
    let lines: Vec<&str> = answer.text().split_terminator('\n').collect();
    assert_eq!(
        lines,
        [
            "k\\xff\\n\\t\\\\\\r\\x1b[31m\\x7f\tonly",
            "giỏ-hàng:42\tonly",
            "日本\tonly",
            "a b\tonly",
            "\tonly",
            "a\\xe2\\x80\\x8bb\\xe2\\x80\\xae\tonly",
        ]
    );
}

#[test]
fn json_has_one_object_a_key_with_all_members() {
    let answer = run_on(
        "locate --cluster a,b,c --json --keys -".split(' '),
        "user:1\ngiỏ\n\n{tag}:x\n".as_bytes(),
    );
    let lines = answer.json_lines();
    assert_eq!(lines.len(), 4);
    for (line, key) in lines.iter().zip(["user:1", "giỏ", "", "{tag}:x"]) {
        let members: BTreeSet<&str> = line
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let all = [
            "degraded",
            "key",
            "key_hex",
            "missing",
            "missing_because",
            "owner",
            "replicas",
            "slot",
            "token",
        ];
        assert_eq!(members, BTreeSet::from(all));
        assert_eq!(line["key"], key);
        let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(line["key_hex"], hex);
        assert!(line["slot"].is_u64());
        assert_eq!(line["replicas"], Value::from(vec![line["owner"].clone()]));
    }
    // The key that counts is what the rule cuts out; the one that is shown is what was given.
    let tag = &run_words("locate --cluster a,b,c --json tag").json_lines()[0];
    assert_eq!(tag["token"], lines[3]["token"]);
    let whole =
        &run_words("locate --cluster a,b,c --json --key-rule whole -- {tag}:x").json_lines()[0];
    assert_ne!(tag["token"], whole["token"]);
}

#[test]
fn tokens_have_the_width_of_the_hash_and_slots_are_where_the_scheme_has_them() {
    for (scheme, digits, slot) in [
        ("slots", 16, true),
        ("ring", 16, false),
        ("rendezvous", 16, false),
        ("jump", 16, false),
        ("jump/crc-32", 8, false),
        ("modulo/fnv-1a-32", 8, false),
        ("redis-cluster", 4, true),
        ("articles/000-ring", 16, false),
        ("articles/002-ring", 8, false),
        ("articles/004-ring", 8, false),
    ] {
        let words =
            format!("locate --cluster a,b,c --json --scheme {scheme} --keys gen:k:{{0..99}}");
        for line in run_words(&words).json_lines() {
            let token = line["token"].as_str().unwrap();
            assert_eq!(token.len(), digits, "{scheme}");
            assert!(
                token
                    .bytes()
                    .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            );
            assert_eq!(line["slot"].is_u64(), slot, "{scheme}");
        }
    }
}

#[test]
fn replicas_are_distinct_and_begin_with_the_owner() {
    for scheme in [
        "slots",
        "ring",
        "rendezvous",
        "jump",
        "modulo",
        "articles/000-ring",
        "articles/000-rendezvous",
    ] {
        let keys = "gen:k:{0..499}";
        let words = |n| {
            format!(
                "locate --json --cluster a,b,c,d,e --scheme {scheme} --replicas {n} --keys {keys}"
            )
        };
        let three = run_words(&words(3)).json_lines();
        let all = run_words(&words(9)).json_lines();
        for (three, all) in three.iter().zip(&all) {
            let three = three["replicas"].as_array().unwrap();
            let nodes = all["replicas"].as_array().unwrap();
            assert_eq!((three.len(), nodes.len()), (3, 5), "{scheme}");
            assert_eq!(three[..], nodes[..3]);
            assert_eq!(nodes[0], all["owner"]);
            let distinct: BTreeSet<&str> =
                nodes.iter().map(|node| node.as_str().unwrap()).collect();
            assert_eq!(distinct.len(), 5);
        }
    }
    let text = run_words("locate --cluster a,b,c --replicas 3 --keys gen:k:{0..9}");
    assert!(
        text.text()
            .lines()
            .all(|line| line.split('\t').count() == 4)
    );
    // Without weight a node is no replica either.
    let drained = run_words("locate --cluster a,b=0,c --replicas 3 --keys gen:k:{0..99}");
    assert!(
        drained
            .text()
            .lines()
            .all(|line| line.split('\t').count() == 3 && !line.contains("\tb"))
    );
    assert_eq!(
        run_words("locate --cluster a,b --replicas 0 -- k").code,
        Some(2)
    );
}

#[test]
fn a_file_says_how_many_replicas_and_an_option_says_it_louder() {
    let files = folder(&[(
        "c.toml",
        b"replicas = 2\n[[node]]\nid = \"a\"\n[[node]]\nid = \"b\"\n[[node]]\nid = \"c\"\n",
    )]);
    let file = path(&files, "c.toml");
    let count = |args: &[&str]| {
        let fixed = ["locate", "--json", "--cluster", &file, "k"];
        let lines = run(fixed.iter().chain(args)).json_lines();
        lines[0]["replicas"].as_array().unwrap().len()
    };
    assert_eq!(
        (
            count(&[]),
            count(&["--replicas", "1"]),
            count(&["--replicas", "3"])
        ),
        (2, 1, 3)
    );
}

#[test]
fn a_plan_and_a_location_agree_on_every_owner() {
    for scheme in ["slots", "ring", "rendezvous", "jump", "modulo"] {
        let rest = format!("--scheme {scheme} --keys gen:user:{{0..4999}}");
        let located = run_words(&format!("locate --cluster a,b,c {rest}"));
        let plan = json_words(&format!("plan --json --from a,b --to a,b,c {rest}"));
        for node in plan["nodes"].as_array().unwrap() {
            let ending = format!("\t{}", node["id"].as_str().unwrap());
            let lines = located.text().lines();
            let count = lines.filter(|line| line.ends_with(&ending)).count();
            assert_eq!(node["after"]["keys"], count, "{scheme}");
        }
    }
}

#[test]
fn warnings_go_to_stderr_and_leave_the_data_alone() {
    let answer = run_words("locate --cluster 10.0.0.1:6379,b@10.0.0.1:6379 -- k");
    assert_eq!(answer.text().lines().count(), 1);
    holds(
        &answer.stderr,
        &[
            "warning: 10.0.0.1:6379 is an address as identity",
            "both reached at",
        ],
    );
    let answer = run_on("locate --cluster a --keys -".split(' '), b"k\r\n");
    assert_eq!(answer.text(), "k\\r\ta\n");
    holds(
        &answer.stderr,
        &["warning: 1 keys end in a carriage return"],
    );
}

const CLUSTER: &[u8] = b"[[node]]\nid = \"a\"\n[[node]]\nid = \"b\"\n[[node]]\nid = \"c\"\n";
