//! What `clockwise plan` answers: its JSON form, sums that must agree, exit codes, limits, warnings and the text.

use serde_json::Value;

use command::figures::{check_sums, codes};
use command::{
    Answer, folder, holds, json, json_words, message, path, refusal, run, run_on, run_words,
};

mod command;

#[test]
fn json_has_every_field_with_its_type() {
    let table = folder(&[("keys.csv", TABLE.as_bytes())]);
    let plan = json([
        "plan",
        "--json",
        "--from",
        "a,b,c=2",
        "--add",
        "d",
        "--keys",
        &path(&table, "keys.csv"),
        "--rate",
        "300",
        "--hit-rate",
        "0.95",
        "--limit",
        "moved=0.9",
    ]);
    assert_eq!(plan["kind"], "clockwise.plan/1");
    for (pointer, kind) in [
        ("/basis", "text"),
        ("/partial", "boolean"),
        ("/source", "text"),
        ("/keys", "integer"),
        ("/distinct_keys", "integer"),
        ("/distinct_keys_exact", "boolean"),
        ("/effective_keys", "integer"),
        ("/bad_lines", "integer"),
        ("/requests", "integer"),
        ("/bytes", "integer"),
        ("/scheme/from", "text"),
        ("/scheme/to", "text"),
        ("/key_rule/from", "text"),
        ("/key_rule/to", "text"),
        ("/moved/keys", "integer"),
        ("/moved/share", "number"),
        ("/moved/requests", "integer"),
        ("/moved/bytes", "integer"),
        ("/moved/between_remaining", "integer"),
        ("/theory/moved_share", "number"),
        ("/theory/moved_share_sd", "number"),
        ("/theory/least_moved_share", "number"),
        ("/nodes/0/id", "text"),
        ("/nodes/0/received", "integer"),
        ("/nodes/0/gave", "integer"),
        ("/unowned/before", "integer"),
        ("/unowned/after", "integer"),
        ("/flows/0/from", "text"),
        ("/flows/0/to", "text"),
        ("/flows/0/keys", "integer"),
        ("/flows/0/requests", "integer"),
        ("/flows/0/bytes", "integer"),
        ("/failures/0/node", "text"),
        ("/failures/0/owned", "integer"),
        ("/failures/0/receivers/0/id", "text"),
        ("/failures/0/receivers/0/keys", "integer"),
        ("/failures/0/receivers/0/share", "number"),
        ("/failures/0/largest_receiver_share", "number"),
        ("/failures/0/heaviest_after/id", "text"),
        ("/failures/0/heaviest_after/max_over_mean", "number"),
        ("/hottest/key", "text"),
        ("/hottest/requests", "integer"),
        ("/hottest/share", "number"),
        ("/hottest/share_of_fair", "number"),
        ("/slots/slots", "integer"),
        ("/slots/moved", "integer"),
        ("/slots/moved_least", "integer"),
        ("/origin/queries_before", "number"),
        ("/origin/queries_after", "number"),
        ("/origin/factor", "number"),
        ("/limits/0/name", "text"),
        ("/limits/0/limit", "number"),
        ("/limits/0/value", "number"),
        ("/limits/0/ok", "boolean"),
        ("/warnings/0/code", "text"),
        ("/warnings/0/text", "text"),
    ] {
        check_type(&plan, pointer, kind);
    }
    for side in ["before", "after"] {
        for (name, kind) in [
            ("keys", "integer"),
            ("requests", "integer"),
            ("bytes", "integer"),
            ("share", "number"),
            ("wanted_share", "number"),
            ("space_share", "number"),
        ] {
            check_type(&plan, &format!("/nodes/0/{side}/{name}"), kind);
        }
        for of in ["balance", "balance_requests", "balance_bytes"] {
            for name in ["max", "min"] {
                check_type(&plan, &format!("/{of}/{side}/{name}"), "integer");
            }
            for name in [
                "mean",
                "max_over_mean",
                "max_over_median",
                "sd_over_mean",
                "spread",
                "expected_sd_over_mean",
            ] {
                check_type(&plan, &format!("/{of}/{side}/{name}"), "number");
            }
        }
    }
}

#[test]
fn what_the_input_does_not_tell_is_null() {
    let plan = json_words("plan --json --from a,b --add c --keys gen:k:{0..999} --scheme jump");
    for pointer in [
        "/requests",
        "/bytes",
        "/moved/requests",
        "/moved/bytes",
        "/nodes/0/before/requests",
        "/nodes/0/after/bytes",
        "/nodes/0/after/space_share",
        "/flows/0/requests",
        "/flows/0/bytes",
        "/balance_requests",
        "/balance_bytes",
        "/hottest",
        "/slots",
        "/origin",
    ] {
        assert_eq!(plan.pointer(pointer), Some(&Value::Null), "{pointer}");
    }
    assert_eq!(plan["partial"], false);
    assert_eq!(plan["limits"], Value::Array(Vec::new()));
}

#[test]
fn sums_agree_under_every_scheme_and_change() {
    let table = folder(&[("keys.csv", TABLE.as_bytes())]);
    let table = path(&table, "keys.csv");
    let weighted = ["slots", "ring", "rendezvous", "articles/004-ring"];
    let equal = ["jump", "modulo", "articles/000-rendezvous"];
    let equal_changes = [
        "--from a,b,c --add d",
        "--from a,b,c --add d,e",
        "--from a,b,c --to c,a",
        "--from a,b,c --to d,e",
        "--from a=0,b=0 --to c",
        "--from a,b --weight a=0 --weight b=0",
        "--from a --to a",
    ];
    let unequal_changes = ["--from a,b,c --weight b=0", "--from a,b --add c=2.5"];
    for scheme in weighted.iter().chain(&equal) {
        let unequal = unequal_changes.iter().filter(|_| weighted.contains(scheme));
        for change in equal_changes.iter().chain(unequal) {
            for keys in [table.as_str(), "gen:user:{0..4999}"] {
                let words = format!("plan --json --scheme {scheme} --keys {keys} {change}");
                check_sums(&json_words(&words), &words);
            }
        }
    }
}

#[test]
fn requests_and_bytes_are_counted_beside_keys() {
    let table = folder(&[(
        "hits.tsv",
        b"url\thits\tsize\n/a\t30\t5\n/b\t10\t7\n/c\t0\t11\n",
    )]);
    let file = path(&table, "hits.tsv");
    let plan = json([
        "plan", "--json", "--from", "a", "--add", "b", "--keys", &file,
    ]);
    assert_eq!((&plan["keys"], &plan["requests"]), (&3.into(), &40.into()));
    assert_eq!(plan["bytes"], 23);
    assert_eq!(plan["hottest"]["key"], "/a");
    assert_eq!(plan["hottest"]["share"], 0.75);
    assert_eq!(plan["hottest"]["share_of_fair"], 1.5);
    assert!(codes(&plan).contains(&"hot-key"));
    check_sums(&plan, "tsv");

    // Other columns, by name and by number.
    let other = json([
        "plan",
        "--json",
        "--from",
        "a",
        "--add",
        "b",
        "--keys",
        &file,
        "--requests-column",
        "size",
        "--bytes-column",
        "2",
    ]);
    assert_eq!(
        (&other["requests"], &other["bytes"]),
        (&23.into(), &40.into())
    );
    let text = run(["plan", "--from", "a", "--add", "b", "--keys", &file]);
    holds(
        text.text(),
        &["requests after", "bytes after", "of 40 requests"],
    );
}

#[test]
fn exit_codes_are_done_no_and_wrong() {
    let ok = run_words("plan --from a,b --add c --keys gen:k:{0..9999} --limit moved=0.5");
    assert_eq!(ok.code, Some(0), "{}", ok.stderr);
    holds(ok.text(), &["ok     moved is 0.3"]);
    let broken = run_words(
        "plan --from a,b --add c --keys gen:k:{0..9999} --limit moved=0.5 --limit imbalance=1",
    );
    assert_eq!(broken.code, Some(1), "{}", broken.stderr);
    holds(
        broken.text(),
        &["ok     moved is 0.3", "BROKEN imbalance (of keys) is 1.0"],
    );
    assert_eq!(
        run_words("plan --from a,b --add c --limit moved=1.5").code,
        Some(2)
    );
    // Without a limit nothing fails.
    assert_eq!(
        run_words("plan --from a,b --to c,d --keys gen:k:{0..99}").code,
        Some(0)
    );
}

#[test]
fn every_limit_is_checked_against_its_figure() {
    let table = folder(&[("keys.csv", TABLE.as_bytes())]);
    let file = path(&table, "keys.csv");
    for (name, tight, wide, pointer) in [
        ("moved", "0.01", "1", "/moved/share"),
        ("imbalance", "1", "9", "/balance/after/max_over_mean"),
        ("origin", "1", "20", "/origin/factor"),
        ("hot", "0.1", "9", "/hottest/share_of_fair"),
        ("failure", "1", "9", ""),
    ] {
        for (limit, code) in [(tight, 1), (wide, 0)] {
            let limit = format!("{name}={limit}");
            let answer = run([
                "plan",
                "--json",
                "--from",
                "a,b,c",
                "--add",
                "d",
                "--keys",
                &file,
                "--rate",
                "100",
                "--hit-rate",
                "0.9",
                "--limit",
                &limit,
            ]);
            assert_eq!(answer.code, Some(code), "{limit}: {}", answer.stderr);
            let plan = answer.json();
            let result = &plan["limits"][0];
            assert_eq!(
                (&result["name"], &result["ok"]),
                (&name.into(), &(code == 0).into())
            );
            let failures = plan["failures"].as_array().unwrap().iter();
            let worst = failures
                .map(|failure| failure["heaviest_after"]["max_over_mean"].as_f64().unwrap())
                .fold(0.0, f64::max);
            let figure = plan.pointer(pointer).and_then(Value::as_f64);
            let figure = if pointer.is_empty() {
                Some(worst)
            } else {
                figure
            };
            assert_eq!(result["value"].as_f64(), figure, "{name}");
        }
    }
}

#[test]
fn limits_on_what_nobody_told_are_refused() {
    for (words, pieces) in [
        (
            "--limit hot=1",
            ["limit hot cannot be checked", "--requests-column"],
        ),
        (
            "--limit origin=3",
            ["limit origin cannot be checked", "--hit-rate"],
        ),
        (
            "--limit origin=3 --rate 5",
            ["were not provided", "--hit-rate"],
        ),
        (
            "--limit failure=2 --scheme redis-cluster",
            ["limit failure cannot be checked", "no node"],
        ),
        (
            "--limit mvoed=1",
            ["unknown limit \"mvoed\"", "hint: did you mean moved?"],
        ),
        ("--limit moved", ["limit \"moved\"", "moved=0.25"]),
        ("--limit moved=-1", ["moved=-1", "0 to 1"]),
        ("--limit imbalance=inf", ["imbalance=inf", "0 or more"]),
    ] {
        let words = format!("plan --from a,b --add c --keys gen:k:{{0..99}} {words}");
        holds(&refusal(words.split_whitespace()), &pieces);
    }
}

#[test]
fn without_keys_the_figures_are_predicted_and_say_so() {
    let plan = json_words("plan --json --from a,b,c,d --add e");
    assert_eq!(plan["basis"], "predicted");
    let share = plan["moved"]["share"].as_f64().unwrap();
    // Slots are equally large, so that keys move as slots do; the sample's own error is 0.04 %.
    let slots = |name: &str| plan["slots"][name].as_f64().unwrap();
    assert!(
        (share - slots("moved") / slots("slots")).abs() < 0.002,
        "{share}"
    );
    assert!(codes(&plan).is_empty());
    let text = run_words("plan --from a,b,c,d --add e");
    holds(
        text.text(),
        &["would move", "(predicted: none were given; exactly 20."],
    );
}

#[test]
fn the_text_begins_with_the_answer() {
    let answer = run_words(
        "plan --from a,b,c,d --add e --scheme ring --keys gen:user:{0..99999} \
         --rate 300 --hit-rate 0.95 --keys-per-request 3 --limit moved=0.3",
    );
    let lines: Vec<&str> = answer.text().lines().collect();
    holds(
        lines[0],
        &["Adding e: ", " of 100,000 keys move (", "%, exact)."],
    );
    holds(
        lines[1],
        &[
            "Theory expects 20.0 % (standard deviation ",
            "by weight at least 20.0 % of the space must move.",
        ],
    );
    assert_eq!(
        lines[2],
        "No key moves between nodes that the change leaves alone."
    );
    for start in [
        "Heaviest afterwards: ",
        "The database goes from 45.0 to ",
        "Next: ",
        "What it is about",
        "  scheme    ring/xxh3-64/v1,tokens=160",
        "  key rule  redis-tag",
        "  keys      100,000 keys generated by gen:user:{0..99999}",
        "  sample    100,000 keys, 100,000 different, worth 100,000 independent ones; 0 bad lines",
        "Nodes",
        "  node  keys before  keys after",
        "Moves",
        "Balance",
        "If one node fails afterwards",
        "Limits",
        "  ok     moved is 0.",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}");
    }
    let details = lines.iter().position(|line| *line == "What it is about");
    assert!(details.unwrap() <= 20, "the answer is on the first screen");
    assert!(
        lines
            .iter()
            .all(|line| line.trim_end() == *line && !line.contains('\x1b'))
    );
}

#[test]
fn runs_are_alike_to_the_byte() {
    for words in [
        "plan --from a,b,c --add d --keys gen:k:{0..49999} --json",
        "plan --from a,b,c --add d --keys gen:k:{0..49999}",
        "plan --from a,b,c --add d --scheme ring --json",
        "plan --from a,b,c --remove b --scheme rendezvous --keys articles/004",
    ] {
        let first = run_words(words);
        assert_eq!(first.code, Some(0));
        assert_eq!(first.stdout, run_words(words).stdout, "{words}");
    }
}

#[test]
fn keys_of_any_bytes_count() {
    let odd: Vec<u8> = (0..=255_u8).flat_map(|b| [b'k', b, b'\n']).collect();
    let on = |input: &[u8]| -> Answer {
        run_on(
            "plan --json --from a,b --add c --keys - --keys-format lines".split(' '),
            input,
        )
    };
    let plan = on(&odd).json();
    // The line end is one of the 256 bytes: its line gives two keys.
    assert_eq!(
        (&plan["keys"], &plan["distinct_keys"]),
        (&257.into(), &257.into())
    );
    check_sums(&plan, "odd bytes");

    // The same letters composed and not are different keys; CR and a mark in front belong to theirs.
    let vietnamese = "giỏ-hàng:1\ngio\u{309}-ha\u{300}ng:1\nđơn\u{feff}\r\nđơn\u{feff}\n";
    let plan = on(vietnamese.as_bytes()).json();
    assert_eq!(
        (&plan["keys"], &plan["distinct_keys"]),
        (&4.into(), &4.into())
    );
    assert!(codes(&plan).contains(&"carriage-returns"));
    let plan = on("\u{feff}a\na\n\n\n".as_bytes()).json();
    assert_eq!(
        (&plan["keys"], &plan["distinct_keys"]),
        (&4.into(), &3.into())
    );
    assert!(codes(&plan).contains(&"byte-order-mark"));

    let table = "key,requests\n\"giỏ\u{1b}[31m\",9\nb,1\n";
    let plan = run_on(
        "plan --json --from a,b --add c --keys -".split(' '),
        table.as_bytes(),
    );
    assert_eq!(plan.json()["hottest"]["key"], "giỏ\\x1b[31m");
}

#[test]
fn a_source_without_keys_is_refused() {
    let answer = run_on("plan --from a,b --add c --keys -".split(' '), b"");
    holds(&message(&answer), &["stdin", "no keys"]);
}

/// Enough keys for every node to hold some, one of them hot.
const TABLE: &str = include_str!("data/requests.csv");

#[track_caller]
fn check_type(plan: &Value, pointer: &str, kind: &str) {
    let value = plan.pointer(pointer);
    let fits = value.is_some_and(|value| match kind {
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_string(),
    });
    assert!(fits, "{pointer} is {value:?}, not {kind}");
}
