//! `advise scheme` and `advise tokens`: answers that differ with what is needed, by numbers that can be counted again.
//!
//! Promises that each answer is the cheapest of those that meet every need, that movement and chances agree with look-ups
//! and rings made here, and that every kind of wrong input is refused. Source: the requirements on choosing a scheme and
//! the number of tokens, after the founding articles 001 and 003.

mod command;

use std::collections::BTreeSet;

use clockwise::{Algorithm, Member, Membership, Placement, Scheme, Weight};
use command::{holds, json_words, refusal, run_words};
use serde_json::Value;

/// What is needed, and the scheme that comes out.
const SITUATIONS: [(&str, &str); 5] = [
    // A small cache tier that any node can leave, asked often.
    ("--nodes 20 --lookups 2000000", "slots"),
    // Numbered shards that are only ever appended.
    ("--nodes 12 --order appended --failures last", "jumpback"),
    // Few nodes, three copies of each key.
    ("--nodes 5 --replicas 3", "rendezvous"),
    // A huge cluster whose metadata has to stay small.
    (
        "--nodes 5000 --metadata-budget 1MiB --order appended --replicas 3",
        "probed",
    ),
    // Keys that Redis Cluster has placed.
    ("--nodes 12 --compatible-with redis", "redis-cluster"),
];

#[test]
fn five_situations_have_five_answers_with_reasons() {
    let mut answers = BTreeSet::new();
    for (needs, answer) in SITUATIONS {
        let advice = json_words(&format!("advise scheme {needs} --json"));
        assert_eq!(advice["kind"], "clockwise.advice/1");
        assert_eq!(advice["question"], "scheme");
        assert_eq!(advice["answer"], answer, "{needs}");
        answers.insert(answer);
        let reasons = advice["reasons"].as_array().unwrap();
        assert!(reasons.len() >= 5, "{reasons:?}");
        let numbers = reasons.iter().filter(|reason| reason["number"].is_number());
        assert!(numbers.count() >= 4, "{reasons:?}");
        let text = run_words(&format!("advise scheme {needs}"));
        assert_eq!(text.code, Some(0));
        assert!(
            text.text().starts_with(&format!("Take {answer} for ")),
            "{}",
            text.text()
        );
        for reason in reasons {
            holds(text.text(), &[reason["text"].as_str().unwrap()]);
        }
        cheapest_that_meets_all(&advice);
    }
    assert_eq!(answers.len(), 5);
}

/// The answer meets every need, and none that does is cheaper by more than a hundredth of a percent; prices are summed anew.
fn cheapest_that_meets_all(advice: &Value) {
    let number = |value: &Value| value.as_f64().unwrap();
    let rows = advice["table"].as_array().unwrap();
    let mut prices = Vec::new();
    for row in rows {
        let needs = row["needs"].as_array().unwrap();
        let all = needs.iter().all(|need| need["ok"] == true);
        assert_eq!(row["meets_all"], all, "{row}");
        let measured = &row["measured"];
        if measured.is_null() {
            assert!(!all);
            continue;
        }
        let (join, leave) = (
            number(&advice["least_join"]),
            number(&advice["least_leave"]),
        );
        let goes = row_leave(advice, measured);
        let replicas = number(&advice["replicas"]).max(1.0);
        let copies = measured["copies_over_least"]
            .as_f64()
            .map_or(0.0, |over| (over - 1.0).max(0.0) * replicas * join);
        let sum = 1.0 - 1.0 / number(&measured["heaviest"])
            + (number(&measured["join_moved"]) - join)
                .max(copies)
                .max(0.0)
            + (goes - leave).max(0.0)
            + number(&row["cores"])
            + number(&measured["memory_bytes"]) / number(&advice["metadata_budget"]);
        assert!((number(&row["price"]) - sum).abs() < 1e-9, "{row}");
        prices.push((all, sum, row["scheme"].clone()));
    }
    let able = || prices.iter().filter(|(all, ..)| *all);
    let lowest = able()
        .map(|(_, price, _)| *price)
        .fold(f64::INFINITY, f64::min);
    let (_, price, _) = able()
        .find(|(.., scheme)| *scheme == advice["answer"])
        .unwrap();
    assert!(*price <= lowest + 1e-4);
}

fn row_leave(advice: &Value, measured: &Value) -> f64 {
    let needs = advice["reasons"].as_array().unwrap();
    let last = needs.iter().any(|reason| {
        reason["code"] == "failures" && reason["text"].as_str().unwrap().starts_with("The last")
    });
    let name = if last {
        "leave_last_moved"
    } else {
        "leave_any_moved"
    };
    measured[name].as_f64().unwrap()
}

#[test]
fn movement_and_balance_are_those_of_look_ups() {
    let advice = json_words("advise scheme --nodes 8 --json");
    let mut looked_at = 0;
    for row in advice["table"].as_array().unwrap() {
        let scheme: Scheme = row["scheme"].as_str().unwrap().parse().unwrap();
        // A cluster of Redis follows its table, which a fresh one does not.
        if scheme.algorithm() == Algorithm::RedisCluster {
            continue;
        }
        looked_at += 1;
        let today = placed(&scheme, &[1, 2, 3, 4, 5, 6, 7, 8], None);
        let joined = placed(&scheme, &[1, 2, 3, 4, 5, 6, 7, 8, 9], None);
        let left = match scheme.algorithm() {
            Algorithm::Probed | Algorithm::Rank => {
                placed(&scheme, &[1, 2, 3, 4, 5, 6, 7, 8], Some(5))
            }
            _ => placed(&scheme, &[1, 2, 3, 4, 6, 7, 8], None),
        };
        let reversed = placed(&scheme, &[8, 7, 6, 5, 4, 3, 2, 1], None);
        for (name, after, sd_of_names) in [
            ("join_moved", &joined, true),
            ("leave_any_moved", &left, true),
            ("reorder_moved", &reversed, false),
        ] {
            let law = row["measured"][name].as_f64().unwrap();
            let counted = moved(&today, after);
            // Four deviations of so many keys; a ring's own share strays by names, some 8 % of itself with 160 tokens.
            let chance = 4.0 * (law * (1.0 - law) / KEYS as f64).sqrt() + 1e-9;
            let names = if sd_of_names && scheme.tokens().is_some() {
                0.35 * law
            } else {
                0.0
            };
            assert!(
                (law - counted).abs() <= chance + names,
                "{scheme} {name}: {law}, counted {counted}"
            );
        }
        let bytes = row["measured"]["memory_bytes"].as_u64().unwrap();
        assert_eq!(bytes, today.memory_bytes() as u64);
    }
    assert!(looked_at >= 9);
}

fn placed(scheme: &Scheme, numbers: &[u32], closed: Option<u32>) -> Placement {
    let members = numbers.iter().map(|&number| {
        let weight = if closed == Some(number) {
            Weight::ZERO
        } else {
            Weight::ONE
        };
        Member::new(format!("node-{number}").parse().unwrap()).with_weight(weight)
    });
    Placement::build(scheme, &Membership::new(members).unwrap()).unwrap()
}

fn moved(before: &Placement, after: &Placement) -> f64 {
    let changes = (0..KEYS).filter(|key| {
        let key = format!("key:{key}");
        before.owner(key.as_bytes()).unwrap().id() != after.owner(key.as_bytes()).unwrap().id()
    });
    changes.count() as f64 / KEYS as f64
}

const KEYS: u64 = 20_000;

#[test]
fn each_need_rules_out_what_cannot_meet_it() {
    let able = |needs: &str| -> BTreeSet<String> {
        let advice = run_words(&format!("advise scheme {needs} --json")).json();
        let rows = advice["table"].as_array().unwrap().clone().into_iter();
        let able = rows.filter(|row| row["meets_all"] == true);
        able.map(|row| row["scheme"].as_str().unwrap().to_owned())
            .collect()
    };
    let has = |set: &BTreeSet<String>, name: &str| set.contains(name);
    let all = able("--nodes 8 --order appended --failures last");
    for name in [
        "slots",
        "ring",
        "rendezvous",
        "jumpback",
        "jump",
        "maglev",
        "probed",
        "rank",
    ] {
        assert!(has(&all, name), "{name}");
    }
    assert!(!has(&all, "modulo"));
    let any = able("--nodes 8");
    assert!(has(&any, "slots") && !has(&any, "jump") && !has(&any, "probed"));
    let arbitrary = able("--nodes 8 --order appended");
    assert!(has(&arbitrary, "probed") && !has(&arbitrary, "jump") && !has(&arbitrary, "jumpback"));
    let weighted = able("--nodes 8 --order appended --weights");
    assert!(has(&weighted, "rendezvous") && !has(&weighted, "probed"));
    let small = able("--nodes 8 --metadata-budget 1KiB");
    assert!(has(&small, "rendezvous") && !has(&small, "slots") && !has(&small, "ring"));
    let fast = able("--nodes 100 --lookups 20000000");
    assert!(has(&fast, "slots") && !has(&fast, "rendezvous"));
    let ranked = able("--nodes 8 --compatible-with redis --ranking");
    assert!(ranked.is_empty());
}

#[test]
fn what_nothing_meets_is_a_no_with_what_fails() {
    let answer = run_words("advise scheme --nodes 8 --lookups 1e12");
    assert_eq!(answer.code, Some(1));
    holds(
        answer.text(),
        &["None of 11 candidates meets every need", "of a core"],
    );
    let answer = run_words("advise scheme --nodes 3 --replicas 4 --json");
    assert_eq!(answer.code, Some(1));
    assert_eq!(answer.json()["answer"], "none");
    let ketama = run_words("advise scheme --nodes 8 --compatible-with ketama --json");
    let is_known = Scheme::names().any(|name| name == "ketama");
    assert_eq!(
        ketama.json()["answer"],
        if is_known { "ketama" } else { "none" }
    );
    assert_eq!(ketama.code, Some(i32::from(!is_known)));
}

#[test]
fn what_would_change_the_answer_does_change_it() {
    let at = |needs: &str| json_words(&format!("advise scheme --nodes {needs} --json"));
    let advice = at("8 --lookups 100000");
    let change = |code: &str| {
        let changes = advice["changes"].as_array().unwrap();
        changes
            .iter()
            .find(|change| change["code"] == code)
            .unwrap()
    };
    let rate = change("lookups")["number"].as_f64().unwrap();
    let at_rate = |rate: f64| at(&format!("8 --lookups {rate}"))["answer"].clone();
    assert_eq!(at_rate(rate * 0.9), advice["answer"]);
    assert_ne!(at_rate(rate * 1.1), advice["answer"]);
    let said = |code: &str| {
        change(code)["text"]
            .as_str()
            .unwrap()
            .rsplit(": ")
            .next()
            .unwrap()
            .trim_end_matches('.')
            .to_owned()
    };
    let many = change("nodes")["number"].as_f64().unwrap();
    assert_ne!(said("nodes"), advice["answer"].as_str().unwrap());
    let more = at(&format!("{many} --lookups 100000"));
    assert_eq!(more["answer"], said("nodes").as_str());
    let appended = at("8 --lookups 100000 --order appended");
    assert_eq!(appended["answer"], said("order").as_str());
}

#[test]
fn wrong_input_of_scheme_and_tokens_is_refused_with_its_value() {
    for (args, pieces) in [
        ("advise scheme", &["--nodes"][..]),
        ("advise scheme --nodes 0", &["0"]),
        ("advise scheme --nodes 10001", &["10001"]),
        ("advise scheme --nodes -3", &["-3"]),
        ("advise scheme --nodes x", &["x"]),
        ("advise scheme --nodes 3 --lookups 0", &["above 0"]),
        ("advise scheme --nodes 3 --lookups NaN", &["above 0"]),
        ("advise scheme --nodes 3 --replicas 0", &["0"]),
        ("advise scheme --nodes 3 --metadata-budget 0", &["64MiB"]),
        ("advise scheme --nodes 3 --metadata-budget much", &["much"]),
        (
            "advise scheme --nodes 3 --order sideways",
            &["appended", "any"],
        ),
        (
            "advise scheme --nodes 3 --failures all",
            &["arbitrary", "last"],
        ),
        (
            "advise scheme --nodes 3 --compatible-with rediss",
            &["unknown peer rediss", "did you mean redis?"],
        ),
        ("advise tokens", &["--nodes"]),
        ("advise tokens --nodes 0", &["0"]),
        ("advise tokens --nodes 1000001", &["1000001"]),
        ("advise tokens --nodes 3 --skew 1", &["1.001 to 1000"]),
        ("advise tokens --nodes 3 --skew inf", &["1.001 to 1000"]),
        (
            "advise tokens --nodes 3 --confidence 1",
            &["0.5 to 0.999999"],
        ),
        (
            "advise tokens --nodes 3 --confidence -0.9",
            &["0.5 to 0.999999"],
        ),
        ("advise tokens --nodes 3 --max-tokens 0", &["0"]),
        ("advise tokens --nodes 3 --metadata-budget 0", &["64MiB"]),
        ("advise token --nodes 3", &["tokens"]),
    ] {
        holds(&refusal(args.split_whitespace()), pieces);
    }
}

#[test]
fn chances_of_tokens_are_those_of_rings_drawn_here() {
    for (nodes, skew) in [(2_usize, 1.2), (8, 1.25), (30, 1.4)] {
        let advice = run_words(&format!(
            "advise tokens --nodes {nodes} --skew {skew} --confidence 0.9 --json"
        ))
        .json();
        for row in advice["table"].as_array().unwrap() {
            let tokens = row["tokens"].as_u64().unwrap() as usize;
            if tokens > 256 {
                continue;
            }
            let mut draw = Draw(tokens as u64);
            let kept = (0..RINGS)
                .filter(|_| heaviest(nodes, tokens, &mut draw) <= skew)
                .count();
            let share = kept as f64 / RINGS as f64;
            let [least, most] = ["kept_least", "kept_most"].map(|name| row[name].as_f64().unwrap());
            // Four deviations of so many rings.
            let error = 4.0 * (most * (1.0 - most).max(0.001) / RINGS as f64).sqrt();
            assert!(
                share >= least - error && share <= most + error,
                "{nodes} {tokens}: {least} {share} {most}"
            );
        }
    }
}

/// The heaviest of `nodes` nodes with `tokens` random points each on a circle of length 1, over the mean.
fn heaviest(nodes: usize, tokens: usize, draw: &mut Draw) -> f64 {
    let mut points: Vec<(f64, usize)> = (0..nodes * tokens)
        .map(|place| (draw.unit(), place % nodes))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut shares = vec![0.0; nodes];
    let mut before = points.last().unwrap().0 - 1.0;
    for (point, node) in points {
        shares[node] += point - before;
        before = point;
    }
    shares.into_iter().fold(0.0, f64::max) * nodes as f64
}

struct Draw(u64);

impl Draw {
    /// Knuth's linear congruential generator, its upper bits.
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

const RINGS: usize = 800;

#[test]
fn tokens_are_the_fewest_that_keep_the_skew() {
    let of = |args: &str| json_words(&format!("advise tokens {args} --json"));
    let number = |advice: &Value| advice["answer"].as_str().unwrap().parse::<u32>().unwrap();
    let advice = of("--nodes 16");
    let tokens = number(&advice);
    let rows = advice["table"].as_array().unwrap();
    let row = rows.iter().find(|row| row["tokens"] == tokens).unwrap();
    assert!(row["kept_least"].as_f64().unwrap() >= 0.99);
    assert_eq!(row["ranges"], 16 * tokens);
    let less = rows
        .iter()
        .rfind(|row| row["tokens"].as_u64().unwrap() < u64::from(tokens))
        .unwrap();
    assert!(less["kept_least"].as_f64().unwrap() < 0.99);
    let counts: Vec<u64> = rows
        .iter()
        .map(|row| row["tokens"].as_u64().unwrap())
        .collect();
    for wanted in [16, 32, 64, 100, 128, 160, 200, 256, 512, 1000] {
        assert!(counts.contains(&wanted), "{wanted}");
    }
    // Of real rings as many keep it as the law says, within four deviations.
    let (built, kept) = (
        advice["rings"]["built"].as_f64().unwrap(),
        advice["rings"]["kept"].as_f64().unwrap(),
    );
    assert!(built >= 100.0 && kept / built >= 0.99 - 4.0 * (0.99 * 0.01 / built).sqrt());
    assert!(number(&of("--nodes 64")) > tokens);
    assert!(number(&of("--nodes 16 --skew 1.05")) > 3 * tokens);
    assert!(number(&of("--nodes 16 --confidence 0.5")) < tokens);
    assert_eq!(number(&of("--nodes 1")), 1);
    assert_eq!(number(&of("--nodes 3 --skew 3")), 1);
}

#[test]
fn budget_and_tool_limit_the_tokens_and_the_skew_that_is_left_is_told() {
    let answer = run_words("advise tokens --nodes 16 --max-tokens 256 --json");
    assert_eq!(answer.code, Some(1));
    let advice = answer.json();
    assert_eq!(
        (&advice["answer"], &advice["allowed"]),
        (&"none".into(), &256.into())
    );
    let rows = advice["table"].as_array().unwrap();
    let kept = rows.iter().find(|row| row["tokens"] == 256).unwrap()["skew_kept"]
        .as_f64()
        .unwrap();
    let wider = json_words(&format!(
        "advise tokens --nodes 16 --max-tokens 256 --skew {} --json",
        kept + 0.001
    ));
    assert!(wider["answer"].as_str().unwrap().parse::<u32>().unwrap() <= 256);
    let budget = run_words("advise tokens --nodes 16 --metadata-budget 64KiB");
    assert_eq!(budget.code, Some(1));
    holds(budget.text(), &["of the 64.0 KiB allowed", "these keep"]);
    assert_eq!(
        run_words("advise tokens --nodes 1000 --metadata-budget 1KiB").code,
        Some(1)
    );
    // The cost of many tokens on 10,000 nodes is told without building them.
    let many = run_words("advise tokens --nodes 10000 --skew 2 --json").json();
    let thousand = many["table"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["tokens"] == 1000)
        .unwrap()
        .clone();
    assert_eq!(thousand["ranges"], 10_000_000);
    let bytes = thousand["memory_bytes"].as_f64().unwrap() / 1e7;
    let numbers: Vec<u32> = (1..=100).collect();
    let real = placed(&"ring,tokens=1000".parse().unwrap(), &numbers, None);
    let measured = real.memory_bytes() as f64 / real.token_count() as f64;
    assert!(
        (bytes / measured - 1.0).abs() < 0.05,
        "{bytes} a token, measured {measured}"
    );
}
