//! What-ifs in words: warnings, tags, anonymous names, and questions that are refused.

mod command;

use command::{folder, holds, json, path, refusal, run, run_on};
use serde_json::Value;

#[test]
fn tags_carry_what_their_keys_do_and_a_heavy_one_is_warned_about() {
    let mut lines = String::from("key,requests,bytes\n");
    for key in 0..1000 {
        let tenant = if key < 600 {
            "big".to_owned()
        } else {
            format!("t{key}")
        };
        lines.push_str(&format!("{{{tenant}}}:{key},{},{}\n", key % 7, 10));
    }
    lines.push_str("untagged,5,10\n");
    let args = [
        "plan",
        "--from",
        "a,b,c,d",
        "--add",
        "e",
        "--keys",
        "-",
        "--keys-format",
        "csv",
        "--json",
    ];
    let plan = run_on(args, lines.as_bytes()).json();
    let requests: u64 = (0..600).map(|key| key % 7).sum();
    let tags = &plan["tags"];
    assert_eq!((&tags["keys"], &tags["tags"]), (&1000.into(), &401.into()));
    let heaviest = &tags["heaviest"][0];
    assert_eq!(
        (
            &heaviest["name"],
            &heaviest["keys"],
            &heaviest["requests"],
            &heaviest["bytes"]
        ),
        (&"big".into(), &600.into(), &requests.into(), &6000.into())
    );
    let codes: Vec<&str> = plan["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"hot-tag"), "{codes:?}");
    let owner = heaviest["owner"].as_str().unwrap();
    let located = run(["locate", "--cluster", "a,b,c,d,e", "--", "{big}:1"]);
    assert_eq!(located.text(), format!("{{big}}:1\t{owner}\n"));
    // The slot of that tag carries the same.
    assert_eq!(plan["heaviest_slots"][0]["requests"], heaviest["requests"]);
    let hidden = run_on(
        args.iter().copied().chain(["--anonymise"]),
        lines.as_bytes(),
    );
    assert!(!hidden.text().contains("big"), "{}", hidden.text());
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    let words = |words: &str| refusal(words.split(' '));
    holds(
        &words("plan --from a,b --add c --failures row"),
        &["row", "pairs, region, zone, rack or host"],
    );
    holds(&words("plan --from a,b --add c --node-rate 5"), &["--rate"]);
    holds(
        &words("plan --from a,b --add c --scheme articles/000-rendezvous --replicas 2"),
        &["articles/000-rendezvous", "bytes of each key"],
    );
    let many: Vec<String> = (0..301).map(|node| format!("n{node}")).collect();
    holds(
        &refusal([
            "plan",
            "--from",
            &many.join(","),
            "--add",
            "x=0",
            "--scheme",
            "ring",
            "--failures",
            "pairs",
        ]),
        &["301 nodes are too many", "300"],
    );
    holds(
        &words("plan --from a,b --add c --scheme redis-cluster --replicas 2"),
        &["redis-cluster names no node behind"],
    );
}

#[test]
fn warnings_tell_what_what_ifs_found() {
    let codes = |words: &str| -> Vec<String> {
        let plan = json(words.split(' '));
        let warnings = plan["warnings"].as_array().unwrap().iter();
        warnings
            .map(|warning| warning["code"].as_str().unwrap().to_owned())
            .collect()
    };
    let base = "plan --from a,b,c,d --keys gen:user:{0..9999} --rate 1000 --hit-rate 0.9 --json --node-rate";
    // A node gets about 250 of the reads, and 333 when another fails.
    for (node_rate, expected) in [
        ("400", &[][..]),
        ("300", &["cascade"]),
        ("200", &["over-node-rate"]),
    ] {
        let found = codes(&format!("{base} {node_rate}"));
        let known: Vec<&String> = found
            .iter()
            .filter(|code| ["cascade", "over-node-rate"].contains(&code.as_str()))
            .collect();
        assert_eq!(
            known.first().map(|code| code.as_str()),
            expected.first().copied(),
            "{node_rate}: {found:?}"
        );
    }
    let few = codes("plan --from a,b --add c --keys gen:user:{0..99} --replicas 4 --json");
    assert!(few.contains(&"short-replicas".to_owned()), "{few:?}");
    let dump = "key={t}:1 exp=-1 la=1 cas=1 fetch=no cls=1 size=60\nkey=b exp=-1 la=1 cas=2 fetch=no cls=1 size=60\nEND\n";
    for (rule, warned) in [("redis-tag", true), ("whole", false)] {
        let args = [
            "plan",
            "--from",
            "a,b",
            "--add",
            "c",
            "--keys",
            "-",
            "--keys-format",
            "metadump",
            "--key-rule",
            rule,
            "--json",
        ];
        let text = run_on(args, dump.as_bytes()).text().to_owned();
        assert_eq!(text.contains("memcached-keys"), warned, "{rule}: {text}");
    }
}

#[test]
fn a_file_is_no_node_and_a_membership_can_be_asked_about_as_it_is() {
    let files = folder(&[("keys.tsv", b"key\na\n")]);
    holds(
        &refusal([
            "plan",
            "--from",
            "a,b",
            "--add",
            "c",
            &path(&files, "keys.tsv"),
        ]),
        &["is a file, not a node", "--keys"],
    );
    let plan = json("plan --from a,b,c --failures pairs --json".split(' '));
    assert_eq!(
        (&plan["moved"]["keys"], &plan["outages"][0]["total"]),
        (&0.into(), &3.into())
    );
}

#[test]
fn anonymous_tags_keep_their_owners() {
    let keys: String = (0..300)
        .map(|key| format!("{{t{}}}:{key}\n", key % 5))
        .collect();
    let tags = |more: &[&'static str]| {
        let args = [
            "plan", "--from", "a,b,c", "--add", "d", "--keys", "-", "--json",
        ];
        let plan = run_on(args.iter().chain(more).copied(), keys.as_bytes()).json();
        let heaviest = plan["tags"]["heaviest"].as_array().unwrap().clone();
        heaviest
            .into_iter()
            .map(|tag| tag["owner"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(tags(&[]), tags(&["--anonymise"]));
    let predicted = json("plan --from a,b --add c --json".split(' '));
    assert_eq!(
        (&predicted["tags"], &predicted["heaviest_slots"]),
        (&Value::Null, &serde_json::json!([]))
    );
}

#[test]
fn labels_and_addresses_are_taken_strictly() {
    let files = folder(&[("c.toml", b"[[node]]\nid = \"a\"\nzone = \"z\\u001b[31m\"\n")]);
    let said = refusal(["plan", "--from", &path(&files, "c.toml"), "--add", "b"]);
    holds(&said, &["node a", "zone", "control characters"]);
    assert!(!said.contains('\u{1b}'), "{said}");
    let said = refusal([
        "plan",
        "--from",
        "a",
        "--add",
        "b",
        "--keys",
        "redis:/:s3cr3t@h",
    ]);
    holds(&said, &["redis://"]);
    assert!(!said.contains("s3cr3t"), "{said}");
}

#[test]
fn what_ifs_are_never_surer_than_their_plan() {
    let words = "plan --from a,b,c --add d,e --failures pairs --rate 9 --hit-rate 0.5 --node-rate 9 --replicas 2 --json";
    for (keys, basis) in [
        (&[][..], "predicted"),
        (&["--keys", "gen:k{0..999}"], "exact"),
    ] {
        let plan = json(words.split(' ').chain(keys.iter().copied()));
        for found in [
            &plan["outages"][0],
            &plan["cascades"],
            &plan["orders"],
            &plan["replicas"],
            &plan,
        ] {
            assert_eq!(found["basis"], basis, "{found}");
        }
    }
}
