//! `compare`: the laws of each scheme beside its row, each row beside its plan, and what a person reads.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value;

use command::{Running, command, folder, holds, json_words, message, path, run_words};

mod command;

/// Schemes whose nodes have positions or scores of their own.
const MONOTONE: [&str; 9] = [
    "slots,kept",
    "ring",
    "ring,tokens=16",
    "ring,tokens=16,allocated",
    "rendezvous",
    "jumpback",
    "jump",
    "probed",
    "rank",
];

#[test]
fn what_moves_obeys_the_law_of_each_scheme() {
    let keys = 200_000.0_f64;
    for nodes in [2_u32, 7, 10, 40] {
        let n = f64::from(nodes);
        let rows = rows(&json_words(&format!(
            "compare --json --no-timing --from n{{1..{nodes}}} --keys gen:k{{0..199999}}"
        )));
        assert_eq!(rows.len(), 12);
        let share = 1.0 / (n + 1.0);
        for (label, row) in &rows {
            let moved = figure(row, "moved_share");
            assert_eq!(moved, figure(row, "add_moved_share"), "{label}");
            // Keys fall to nodes by themselves, ring tokens at random; slots are whole and least movement is to a slot.
            let of_keys = (share * (1.0 - share) / keys).sqrt();
            let (law, of_scheme) = match label.as_str() {
                "modulo" => (n / (n + 1.0), 0.0),
                "ring" => (share, arcs(share, 160.0 * (n + 1.0))),
                "ring,tokens=16" => (share, arcs(share, 16.0 * (n + 1.0))),
                "slots,kept" => (share, 1.0 / 16_384.0),
                // At most the heaviest nodes stay a little above it; evenness is tested apart.
                "ring,tokens=16,allocated" => (share, 0.01 * share),
                "slots" | "maglev" => {
                    assert!(
                        moved > share - 6.0 * of_keys && moved < 1.5 * share,
                        "{nodes} {label} {moved}"
                    );
                    continue;
                }
                _ => (share, 0.0),
            };
            let off = (moved - law).abs();
            assert!(
                off < 6.0 * of_keys.hypot(of_scheme),
                "{nodes} {label}: {moved} for {law}"
            );
        }
        for label in MONOTONE {
            for change in ["", "add_", "remove_last_"] {
                let extra = figure(&rows[label], &format!("{change}extra_moved_share"));
                assert_eq!(extra, 0.0, "{nodes} {label} {change}");
            }
            let any = figure(&rows[label], "remove_any_extra_moved_share");
            let renumbers = ["jump", "jumpback"].contains(&label) && nodes > 2;
            assert_eq!(any > 0.01, renumbers, "{nodes} {label}: {any}");
            // Whoever leaves gives what it held: 1/N in the mean over all nodes.
            if !["jump", "jumpback"].contains(&label) {
                let mean = figure(&rows[label], "remove_any_moved_share");
                let sample = 65_536.0_f64;
                assert!(
                    (mean - 1.0 / n).abs() < 6.0 / sample.sqrt() / n,
                    "{nodes} {label}: {mean}"
                );
            }
        }
        let modulo = &rows["modulo"];
        let extra = figure(modulo, "extra_moved_share");
        assert!(
            (extra - (n - 1.0) / (n + 1.0)).abs() < 0.01,
            "{nodes}: {extra}"
        );
        let last = figure(modulo, "remove_last_moved_share");
        assert!(
            (last - (n - 1.0) / n).abs() < 6.0 * (0.25 / keys).sqrt(),
            "{nodes}: {last}"
        );
    }
}

#[test]
fn each_row_is_the_plan_of_its_scheme() {
    for change in [
        "--from n{0..9} --add x,y",
        "--from n{0..9} --to n{0..7},z",
        "--from a=1,b=2,c=3 --weight b=1",
        "--from n{0..9} --to n{9..0}",
    ] {
        let on = format!("{change} --keys gen:user:{{0..49999}} --json");
        let compared = json_words(&format!(
            "compare {on} --no-timing --also redis-cluster --also articles/003-ring"
        ));
        let mut checked = 0;
        for (label, row) in rows(&compared) {
            // What is kept or chosen has no plan of its own; numbered slots are closed where a plan would drop them.
            let closes = ["probed", "rank"].contains(&label.as_str()) && change.contains("..7}");
            if label.contains("kept") || label.contains("allocated") || closes {
                continue;
            }
            if row["moved_share"].is_null() {
                let scheme = row["scheme"].as_str().unwrap();
                let refused = message(&run_words(&format!("plan {on} --scheme {scheme}")));
                assert!(
                    refused.contains(row["reason"].as_str().unwrap()),
                    "{refused}"
                );
                continue;
            }
            let plan = json_words(&format!(
                "plan {on} --scheme {}",
                row["scheme"].as_str().unwrap()
            ));
            assert_eq!(row["scheme"], plan["scheme"]["to"]);
            for (field, pointer) in [
                ("moved_share", "/moved/share"),
                ("moved_keys", "/moved/keys"),
                ("max_over_mean", "/balance/after/max_over_mean"),
                ("sd_over_mean", "/balance/after/sd_over_mean"),
                ("max_over_mean_before", "/balance/before/max_over_mean"),
                ("ranges_moved", "/moved_ranges"),
            ] {
                let planned = plan.pointer(pointer).unwrap();
                // A plan counts slots that move elsewhere.
                if field != "ranges_moved" || !planned.is_null() {
                    near(&row[field], planned, &format!("{change} {label} {field}"));
                }
            }
            let heaviest = plan["failures"].as_array().unwrap().iter();
            let heaviest =
                heaviest.filter_map(|failure| failure["heaviest_after"]["max_over_mean"].as_f64());
            if let Some(worst) = heaviest.reduce(f64::max)
                && row["failure"]["basis"] == "exact"
            {
                near(
                    &row["failure"]["max_over_mean_worst"],
                    &worst.into(),
                    &format!("{change} {label} failure"),
                );
            }
            checked += 1;
        }
        assert!(checked >= 5, "{change}");
    }
}

#[test]
fn without_keys_the_space_is_measured_exactly() {
    let change = "--from n{0..9} --remove n4 --json";
    let compared = json_words(&format!("compare {change} --no-timing"));
    assert_eq!(
        (&compared["basis"], &compared["keys"]),
        (&"predicted".into(), &0.into())
    );
    for (label, row) in rows(&compared) {
        let by_space = ["slots", "ring", "maglev"]
            .iter()
            .any(|name| label.starts_with(name));
        assert_eq!(
            row["counted_on"],
            if by_space {
                "space"
            } else {
                "pseudo-random keys"
            },
            "{label}"
        );
        assert_eq!(
            (&row["basis"], &row["moved_keys"]),
            (&"predicted".into(), &Value::Null),
            "{label}"
        );
        if by_space && !label.contains("kept") && !label.contains("allocated") {
            let plan = json_words(&format!("plan {change} --scheme {label}"));
            near(&row["moved_share"], &plan["space_moved_share"], &label);
        }
    }
}

#[test]
fn sixteen_allocated_tokens_beat_sixteen_at_random() {
    for nodes in [5, 10, 100] {
        let words = format!(
            "compare --json --no-timing --from n{{1..{nodes}}} --keys gen:k{{0..199999}} \
             --scheme ring,tokens=16 --scheme ring,tokens=16,allocated"
        );
        let rows = rows(&json_words(&words));
        let (random, chosen) = (&rows["ring,tokens=16"], &rows["ring,tokens=16,allocated"]);
        for field in ["sd_over_mean", "max_over_mean", "max_over_mean_before"] {
            let (random, chosen) = (figure(random, field), figure(chosen, field));
            assert!(chosen < random, "{nodes} {field}: {chosen} {random}");
        }
        // Chance in the keys is all that is left, and a few hundredths above as many nodes as tokens.
        let chance = (f64::from(nodes) / 200_000.0).sqrt();
        assert!(
            figure(chosen, "sd_over_mean") < 0.03 + 2.0 * chance,
            "{nodes}"
        );
        assert!(figure(random, "sd_over_mean") > 0.12, "{nodes}");
    }
}

#[test]
fn a_scheme_that_cannot_do_it_says_why() {
    let compared =
        json_words("compare --json --no-timing --from a=1.5,b,c --remove a --keys gen:k{0..999}");
    let all = rows(&compared);
    for label in ["jump", "modulo", "rank"] {
        let row = &all[label];
        assert!(row["reason"].as_str().unwrap().contains("weight"), "{row}");
        assert_eq!(
            (&row["moved_share"], &row["bytes"]),
            (&Value::Null, &Value::Null)
        );
    }
    assert_eq!(compared["warnings"][0]["code"], "scheme-not-built");
    assert_eq!(all["ring"]["reason"], Value::Null);

    // Jump can be made to: the price is what its plan from list to list moves.
    let words = "--from n{0..9} --scheme jump --keys gen:k{0..9999} --json";
    let row = &rows(&json_words(&format!(
        "compare {words} --remove n3 --no-timing"
    )))["jump"];
    let plan = run_words(&format!("plan {words} --remove n3"));
    let refused = message(&plan);
    let reason = row["reason"].as_str().unwrap();
    assert!(refused.contains(reason), "{refused}");
    let plan = json_words(&format!("plan {words} --to n0,n1,n2,n{{4..9}}"));
    near(&row["moved_share"], &plan["moved"]["share"], "jump");

    // Slots that can be closed are.
    for scheme in ["probed", "rank"] {
        let words = format!("--from n{{0..9}} --scheme {scheme} --keys gen:k{{0..9999}} --json");
        let row = &rows(&json_words(&format!(
            "compare {words} --remove n3 --no-timing"
        )))[scheme];
        let plan = json_words(&format!("plan {words} --weight n3=0"));
        near(&row["moved_share"], &plan["moved"]["share"], scheme);
        near(
            &row["max_over_mean"],
            &plan["balance"]["after"]["max_over_mean"],
            scheme,
        );
        assert_eq!(row["reason"], Value::Null);
        assert!(
            row["notes"][0].as_str().unwrap().contains("weight 0"),
            "{row}"
        );
    }
}

#[test]
fn tokens_cost_memory_and_ranges() {
    let compared = json_words(
        "compare --json --no-timing --from n{0..99} --scheme ring,tokens=100 --scheme ring,tokens=1000",
    );
    let rows = rows(&compared);
    for (label, tokens) in [("ring,tokens=100", 100), ("ring,tokens=1000", 1000)] {
        let row = &rows[label];
        assert_eq!(row["ranges"], 101 * tokens);
        // Each new token takes one range, or a part of one with those beside it.
        let moved = row["ranges_moved"].as_u64().unwrap();
        assert!(
            (tokens * 9 / 10..=tokens).contains(&moved),
            "{label}: {moved}"
        );
        assert!(row["bytes"].as_u64().unwrap() >= 8 * 101 * tokens, "{row}");
    }
}

#[test]
fn times_are_measured_or_left_out_and_all_else_is_the_same_each_time() {
    let words = "compare --from a,b,c --add d --keys gen:k{0..9999}";
    let timed = json_words(&format!("{words} --json"));
    for (label, row) in rows(&timed) {
        for (best, range) in [
            ("build_us", "build_us_range"),
            ("lookup_ns", "lookup_ns_range"),
        ] {
            let (least, most) = (
                row[range][0].as_f64().unwrap(),
                row[range][1].as_f64().unwrap(),
            );
            assert_eq!(figure(&row, best), least, "{label}");
            assert!(least <= most, "{label}: {row}");
        }
    }
    for field in ["machine", "system", "version", "load"] {
        assert!(
            !timed["timing"][field].as_str().unwrap().is_empty(),
            "{field}"
        );
    }
    holds(
        run_words(words).text(),
        &["Measured on ", "look-up, ns", " rounds "],
    );

    let untimed = json_words(&format!("{words} --json --no-timing"));
    assert_eq!(untimed["timing"], Value::Null);
    let mut same = timed.clone();
    same["timing"] = Value::Null;
    for row in same["rows"].as_array_mut().unwrap() {
        for field in ["build_us", "build_us_range", "lookup_ns", "lookup_ns_range"] {
            row[field] = Value::Null;
        }
    }
    assert_eq!(untimed, same);
    for form in ["text", "json", "markdown", "html"] {
        let run = || run_words(&format!("{words} --no-timing --format {form}")).stdout;
        assert_eq!(run(), run(), "{form}");
    }
}

#[test]
fn the_first_lines_answer() {
    let answer = run_words("compare --from n{0..9} --add n10 --keys gen:k{0..99999} --no-timing");
    let lines: Vec<&str> = answer.text().lines().collect();
    holds(
        lines[0],
        &["Add n10: from 10 to 11 nodes under 12 schemes on 100,000 keys (exact"],
    );
    holds(
        lines[1],
        &[
            "slots,kept moves least and stays even: 9.",
            "where 9.1 % is the least possible",
        ],
    );
    holds(
        lines[2],
        &[
            "It rests on a published table",
            "from a list of ids alone rendezvous",
        ],
    );
    let line = |start: &str| {
        *lines
            .iter()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("{start}"))
    };
    holds(
        line("Near it"),
        &["rendezvous (", "ring,tokens=16,allocated ("],
    );
    holds(line("Uneven"), &["ring,tokens=16 ("]);
    holds(line("Avoid"), &["modulo (9"]);
    holds(
        line("But when a node in the middle leaves"),
        &["jump (up to 9", "jumpback (up to 9"],
    );
    for title in [
        "This change: add n10",
        "Other changes",
        "If one node fails afterwards",
        "Cost",
        "Reasons",
        "What it is about",
    ] {
        assert!(lines.contains(&title), "{title}");
    }
    let page = run_words("compare --from n{0..9} --add n10 --no-timing --format html");
    holds(
        page.text(),
        &[
            "<svg",
            "What moves: the lower bar",
            "The heaviest node: the upper",
            "clockwise compare --from",
        ],
    );
    let markdown = run_words("compare --from n{0..9} --add n10 --no-timing --format markdown");
    holds(markdown.text(), &["# Compare: add n10", "| slots,kept |"]);
}

#[test]
fn schemes_are_named_added_and_taken_from_the_file() {
    let labels = |words: &str| -> Vec<String> {
        let compared = json_words(&format!("compare --json --no-timing {words}"));
        let rows = compared["rows"].as_array().unwrap().iter();
        rows.map(|row| row["label"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        labels("--from a,b --scheme ring --scheme slots,kept --also jump"),
        ["ring", "slots,kept", "jump"]
    );
    // The same one twice is one row.
    assert_eq!(
        labels("--from a,b --scheme ring --scheme ring,tokens=160 --scheme ring/xxh3-64/v1"),
        ["ring"]
    );
    assert_eq!(
        labels(
            "--from a,b --tokens 40 --scheme ring --scheme ring,tokens=7 --scheme ring,allocated --scheme jump"
        ),
        [
            "ring,tokens=40",
            "ring,tokens=7",
            "ring,tokens=40,allocated",
            "jump"
        ]
    );
    let files = folder(&[(
        "c.toml",
        b"scheme = \"ring,tokens=33\"\n[[node]]\nid = \"a\"\n[[node]]\nid = \"b\"\n",
    )]);
    let file = path(&files, "c.toml");
    let compared = json_words(&format!("compare --json --no-timing --from {file}"));
    let today: Vec<&Value> = compared["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["today"] == true)
        .collect();
    assert_eq!(today.len(), 1);
    assert_eq!(today[0]["scheme"], "ring/xxh3-64/v1,tokens=33");
    assert_eq!(compared["rows"].as_array().unwrap().len(), 13);
    let text = run_words(&format!("compare --no-timing --from {file}"));
    holds(
        text.text(),
        &["Today's scheme is ring/xxh3-64/v1,tokens=33 ("],
    );
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    for (words, says) in [
        (
            "--from a,b --scheme rign",
            &["unknown scheme \"rign\"", "hint: did you mean ring?"][..],
        ),
        (
            "--from a,b --scheme jump,kept",
            &["scheme jump,kept: jump cannot be kept: only slots can"],
        ),
        (
            "--from a,b --also maglev,allocated",
            &["maglev cannot be allocated: only ring can"],
        ),
        (
            "--from a,b --scheme slots --tokens 5",
            &["--tokens 5: no ring", "hint: "],
        ),
        (
            "--from a,b --remove c",
            &["node c is not in the membership", "hint: "],
        ),
        ("--from a,b --add a", &["listed twice"]),
        ("--from a,b --keys no-such-file", &["no-such-file"]),
    ] {
        holds(&message(&run_words(&format!("compare {words}"))), says);
    }
    let empty = folder(&[("empty.txt", b"")]);
    let words = format!("compare --from a,b --keys {}", path(&empty, "empty.txt"));
    holds(&message(&run_words(&words)), &["there are no keys in it"]);
}

#[test]
fn odd_memberships_have_rows_as_well() {
    for from in ["a", "a=0,b", "a=0,b=0", "a=3,b=1,c=0"] {
        let numbered = ["jump", "jumpback", "modulo"];
        let compared = json_words(&format!(
            "compare --json --no-timing --from {from} --keys gen:k{{0..999}}"
        ));
        for (label, row) in rows(&compared) {
            if from != "a" && numbered.contains(&label.as_str()) {
                assert!(
                    row["reason"].as_str().unwrap().contains("no weights"),
                    "{from} {row}"
                );
                continue;
            }
            let share = row["moved_share"].as_f64();
            assert!(
                share.is_some_and(|share| (0.0..=1.0).contains(&share)),
                "{from} {label}: {row}"
            );
            assert_eq!(row["reason"], Value::Null, "{from} {label}");
        }
    }
    // Nothing changes, so nothing moves.
    let compared = json_words("compare --json --no-timing --from a,b --to a,b");
    assert_eq!(compared["change"], "nothing");
    for (label, row) in rows(&compared) {
        assert_eq!(figure(&row, "moved_share"), 0.0, "{label}");
    }
}

#[test]
fn of_many_nodes_some_removals_are_tried_and_said() {
    let words = "compare --json --no-timing --from n{0..199} --scheme ring --scheme rendezvous --keys gen:k{0..199999}";
    let compared = json_words(words);
    assert_eq!(
        (&compared["remove_any_tried"], &compared["remove_any_of"]),
        (&8.into(), &200.into())
    );
    let codes: Vec<&str> = command::figures::codes(&compared);
    assert!(codes.contains(&"removals-sampled"), "{codes:?}");
    let rows = rows(&compared);
    assert_eq!(rows["ring"]["basis"], "exact");
    let raced = &rows["rendezvous"];
    assert_eq!(raced["basis"], "sampled");
    let keys = figure(raced, "keys");
    assert!((8192.0..200_000.0).contains(&keys), "{keys}");
    let law = 1.0 / 201.0_f64;
    let off = (figure(raced, "moved_share") - law).abs();
    assert!(off < 6.0 * (law / keys).sqrt(), "{off}");
}

#[test]
fn where_no_node_is_left_no_scheme_is_recommended() {
    let answer = run_words("compare --from a --remove a --no-timing");
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let lead = answer.text().split("\n\n").next().unwrap();
    holds(lead, &["from 1 to 0 nodes", "No node is left"]);
    assert!(!lead.contains("stays even"), "{lead}");
}

#[test]
fn ctrl_c_prints_what_was_learnt() {
    let args = "compare --from a,b --add c --keys - --no-timing".split(' ');
    let mut running = Running::start(command(args).stdin(Stdio::piped()));
    let stdin = running.stdin();
    running.wait_for_its_ctrl_c();
    running.press_ctrl_c();
    let answer = running.finish();
    drop(stdin);
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    assert!(answer.text().starts_with("PARTIAL: "), "{}", answer.text());
}

fn rows(compared: &Value) -> BTreeMap<String, Value> {
    assert_eq!(compared["kind"], "clockwise.compare/1");
    let rows = compared["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["label"].as_str().unwrap().to_owned(), row.clone()))
        .collect()
}

#[track_caller]
fn figure(row: &Value, field: &str) -> f64 {
    row[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field}: {row}"))
}

#[track_caller]
fn near(a: &Value, b: &Value, what: &str) {
    let both = a.as_f64().zip(b.as_f64());
    assert!(
        both.is_some_and(|(a, b)| (a - b).abs() < 1e-12),
        "{what}: {a} and {b}"
    );
}

/// Standard deviation of a share of a ring's random arcs.
fn arcs(share: f64, arcs: f64) -> f64 {
    (share * (1.0 - share) / (arcs + 1.0)).sqrt()
}
