//! Plans and locations on logs, traces, dumps and tables of popularity, and names in place of keys.

use std::io::Write as _;
use std::process::Stdio;

use command::figures::{check_sums, codes};
use command::{Running, command, folder, holds, json, path, project_file, refusal, run, run_on};

mod command;

fn sample(name: &str) -> String {
    let file = project_file(&format!("crates/clockwise-plan/tests/data/{name}"));
    file.to_str().unwrap().to_owned()
}

fn plan<'a>(keys: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["plan", "--from", "a,b,c", "--add", "d", "--keys", keys];
    args.extend(more);
    args
}

#[test]
fn recorded_logs_become_plans_of_distinct_keys_and_their_requests() {
    for (file, keys, requests, has_bytes) in [
        ("redis-monitor-sample.txt", None, None, false),
        ("meta-kvcache-trace-sample.csv", Some(114), Some(1124), true),
        ("memcached-metadump-sample.txt", Some(91), None, true),
    ] {
        let file = sample(file);
        let plan = json(plan(&file, &["--json"]));
        check_sums(&plan, &file);
        assert_eq!(plan["basis"], "exact");
        assert_eq!(plan["keys"], plan["distinct_keys"]);
        assert_eq!(plan["bad_lines"], 0);
        if let Some(keys) = keys {
            assert_eq!(plan["keys"], keys);
        }
        if let Some(requests) = requests {
            assert_eq!(plan["requests"], requests);
        }
        assert_eq!(plan["bytes"].is_u64(), has_bytes, "{file}");
    }
    let file = sample("redis-monitor-sample.txt");
    let answer = run(plan(&file, &[]));
    holds(&answer.stderr, &["(monitor, ", " requests merged by key)"]);
}

#[test]
fn a_trace_of_too_many_keys_is_a_sample_and_says_so() {
    let lines: String = (0..1_000_010)
        .map(|n| format!("0,k{n},1,2,3,get,0\n"))
        .collect();
    let files = folder(&[("trace.csv", lines.as_bytes())]);
    let file = path(&files, "trace.csv");
    let plan = json(plan(&file, &["--json"]));
    assert_eq!(
        (&plan["basis"], &plan["keys"]),
        (&"sampled".into(), &1_000_000.into())
    );
    assert!(
        codes(&plan).contains(&"keys-left-out"),
        "{:?}",
        codes(&plan)
    );
}

#[test]
fn commands_that_are_not_known_are_warned_about() {
    let files = folder(&[(
        "m.log",
        b"OK\n1.5 [0 lua] \"GET\" \"a\"\n1.5 [0 lua] \"MY.CMD\" \"b\"\n1.5 [0 lua] \"PING\"\n",
    )]);
    let file = path(&files, "m.log");
    let plan = json(plan(&file, &["--json"]));
    assert_eq!((&plan["keys"], &plan["bad_lines"]), (&1.into(), &0.into()));
    assert!(codes(&plan).contains(&"unknown-commands"));
}

#[test]
fn popularity_tables_give_keys_with_requests() {
    let table = b"workload,objects_in_bucket,total_requests_of_bucket\n\
        small,3,10\nlarge,1,50\nlarge,200000000,200000000\n";
    let files = folder(&[("pop.csv", table)]);
    let file = path(&files, "pop.csv");
    let small = format!("popularity:{file}#small");
    let found = json(plan(&small, &["--json"]));
    assert_eq!(
        (&found["keys"], &found["requests"]),
        (&3.into(), &10.into())
    );
    assert_eq!(found["basis"], "sampled");
    assert_eq!(
        found["hottest"]["requests"],
        found["hottest_keys"][0]["requests"]
    );
    let located = run(["locate", "--cluster", "a,b", "--keys", &small]);
    let keys: Vec<&str> = located
        .text()
        .lines()
        .map(|l| l.split('\t').next().unwrap())
        .collect();
    assert_eq!(keys, ["pop:0:0", "pop:0:1", "pop:0:2"]);

    let large = format!("popularity:{file}#large");
    let found = json(plan(&large, &["--json"]));
    assert_eq!(
        (&found["keys"], &found["basis"]),
        (&1_000_000.into(), &"sampled".into())
    );
    assert!(codes(&found).contains(&"keys-left-out"));

    let missing = format!("popularity:{file}#smal");
    holds(
        &refusal(plan(&missing, &[])),
        &[
            "no workload smal: it has small, large",
            "hint: did you mean small?",
        ],
    );
}

#[test]
fn anonymous_output_holds_no_key() {
    let files = folder(&[
        (
            "keys.csv",
            b"key,requests\nsecret:1,90\nsecret:2,1\nsecret:3,secret:x\n",
        ),
        ("k.hex", b"000102030405060708090a0b0c0d0e0f\n"),
    ]);
    let (file, own) = (
        path(&files, "keys.csv"),
        format!("file:{}", path(&files, "k.hex")),
    );
    let mut names = Vec::new();
    for secret in [&[][..], &["--anonymise-key", &own]] {
        for format in [&[][..], &["--json"]] {
            let more = [&["--anonymise", "--max-bad", "0.5"], secret, format].concat();
            let answers = [
                run(plan(&file, &more)),
                run([&["locate", "--cluster", "a,b", "--keys", &file][..], &more].concat()),
            ];
            for answer in &answers {
                assert_eq!(answer.code, Some(0), "{}", answer.stderr);
                let hex: String = b"secret".iter().map(|b| format!("{b:02x}")).collect();
                for text in [answer.text(), &answer.stderr] {
                    assert!(!text.contains("secret:") && !text.contains(&hex), "{text}");
                }
                assert_eq!(answer.stderr.contains("published key"), secret.is_empty());
            }
            if !format.is_empty() {
                let located = answers[1].json_lines();
                assert_eq!(answers[0].json()["hottest"]["key"], located[0]["key"]);
                assert!(located[0]["token"].is_null());
                names.push(located[0]["key"].clone());
            } else {
                names.push(answers[1].text().split('\t').next().unwrap().into());
            }
        }
    }
    assert_eq!(names[0], names[1]);
    assert_eq!(names[2], names[3]);
    assert_ne!(names[0], names[2]);
    // SipHash-2-4 of the key, by its published definition, under the bytes 0 to 15.
    assert_eq!(
        names[2],
        format!(
            "{:016x}",
            clockwise::hash::siphash_2_4(&std::array::from_fn(|at| at as u8), b"secret:1",)
        )
    );
    let error = refusal(plan(&file, &["--anonymise"]));
    assert!(!error.contains("secret:"), "{error}");
    holds(
        &refusal(plan(
            &file,
            &["--anonymise", "--anonymise-key", "env:NO_SUCH_NAME"],
        )),
        &["--anonymise-key", "env:NO_SUCH_NAME"],
    );
}

#[test]
fn ctrl_c_plans_what_was_merged_so_far() {
    let args = plan("-", &["--json"]);
    let mut running = Running::start(command(args).stdin(Stdio::piped()));
    let mut stdin = running.stdin();
    let line = b"1.5 [0 lua] \"GET\" \"a\"\n1.5 [0 lua] \"GET\" \"b\"\n";
    stdin.write_all(&line.repeat(100_000)).unwrap();
    running.wait_for_its_ctrl_c();
    running.wait_for_its_sleep();
    running.press_ctrl_c();
    let answer = running.finish();
    drop(stdin);
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    let plan = answer.json();
    assert_eq!((&plan["partial"], &plan["keys"]), (&true.into(), &2.into()));
    assert!(plan["requests"].as_u64().unwrap() > 2);
}

#[test]
fn columns_cannot_be_chosen_in_a_log() {
    let file = sample("redis-monitor-sample.txt");
    holds(
        &refusal(plan(
            &file,
            &["--keys-format", "monitor", "--key-column", "2"],
        )),
        &["is read as monitor", "hint: "],
    );
}

#[test]
fn an_anonymous_plan_holds_no_key_in_clear_anywhere() {
    let rows: String = (0..20)
        .map(|i| format!("secret-{i},{}\n", 100 - i))
        .collect();
    let files = folder(&[("k.csv", format!("key,requests\n{rows}").as_bytes())]);
    let keys = path(&files, "k.csv");
    for form in [&["--json"][..], &[]] {
        let words = [
            "plan",
            "--from",
            "a,b",
            "--add",
            "c",
            "--keys",
            &keys,
            "--anonymise",
        ];
        let answer = run(words.iter().chain(form));
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        assert!(!answer.text().contains("secret-"), "{}", answer.text());
        assert!(!answer.stderr.contains("secret-"), "{}", answer.stderr);
        let clear = run(words
            .iter()
            .filter(|word| **word != "--anonymise")
            .chain(form));
        assert_eq!(clear.text().matches("secret-").count(), 11);
    }
}

#[test]
fn rows_of_a_table_are_merged_on_request_and_each_is_a_request() {
    let table = b"id,bytes\na,10\nb,7\na,30\n\na,20\n";
    let args = [
        "plan",
        "--from",
        "x,y",
        "--add",
        "z",
        "--keys",
        "-",
        "--keys-format",
        "csv",
        "--key-column",
        "id",
        "--json",
    ];
    let apart = run_on(args, table).json();
    assert_eq!(
        (&apart["keys"], &apart["requests"]),
        (&4.into(), &serde_json::Value::Null)
    );
    let merged = run_on(args.iter().copied().chain(["--merge"]), table).json();
    assert_eq!(
        (
            &merged["keys"],
            &merged["distinct_keys"],
            &merged["requests"],
            &merged["bytes"]
        ),
        (&2.into(), &2.into(), &4.into(), &37.into())
    );
    assert_eq!(merged["hottest"]["key"], "a");
    let list = run_on(
        [
            "plan", "--from", "x,y", "--add", "z", "--keys", "-", "--merge", "--json",
        ],
        b"k\nl\nk\n",
    );
    assert_eq!(list.json()["hottest"]["requests"], 2);
    // A log is merged already: the option changes nothing.
    let trace = b"0,k,1,5,3,get,0\n1,k,1,5,3,get,0\n2,l,1,5,3,get,0\n";
    let of = |more: &[&'static str]| {
        let args = [
            "plan",
            "--from",
            "x,y",
            "--add",
            "z",
            "--keys",
            "-",
            "--keys-format",
            "twitter",
            "--json",
        ];
        run_on(args.iter().chain(more).copied(), trace).json()
    };
    assert_eq!(of(&[]), of(&["--merge"]));
    assert_eq!(of(&[])["requests"], 3);
}
