//! Formulas beside what was measured, and what a number of tokens brings: published figures and closed forms.

use serde_json::Value;

use command::figures::codes;
use command::{holds, json_words, project_file, run_words};

mod command;

#[test]
fn modulo_moves_what_the_law_of_its_numbers_says() {
    for (from, to, percent, law) in [
        (2, 3, "66.67 %", 2.0 / 3.0),
        (3, 4, "75.00 %", 0.75),
        (4, 5, "80.00 %", 0.8),
        (8, 9, "88.89 %", 8.0 / 9.0),
        (9, 10, "90.00 %", 0.9),
        (16, 17, "94.12 %", 16.0 / 17.0),
        (4, 8, "50.00 %", 0.5),
        (4, 6, "66.67 %", 2.0 / 3.0),
    ] {
        // Beside any scheme, whatever it moves itself.
        let words = format!(
            "plan --from n{{1..{from}}} --to n{{1..{to}}} --scheme jump --keys gen:k{{0..999}}"
        );
        let plan = json_words(&format!("{words} --json"));
        let modulo = formula(&plan, "modulo_moved_share").unwrap();
        near(&modulo["expected"], law);
        assert_eq!(
            (&modulo["measured"], &modulo["sd"], &modulo["basis"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        let text = run_words(&words);
        let line = line(text.text(), "  modulo would move ");
        holds(line, &[percent, &format!("N = {from}, M = {to}")]);
    }
    // Of the million keys of the first article modulo moves 500,837 from four nodes to eight, 800,536 to five.
    for (to, moved, law) in [(8, 500_837, 0.5), (5, 800_536, 0.8)] {
        let plan = json_words(&format!(
            "plan --json --from cache-{{1..4}} --to cache-{{1..{to}}} --scheme articles/000-modulo --keys articles/000"
        ));
        for name in ["modulo_moved_share", "moved_share"] {
            let modulo = formula(&plan, name).unwrap();
            near(&modulo["expected"], law);
            near(&modulo["measured"], f64::from(moved) / 1e6);
            near(&modulo["sd"], (law * (1.0 - law) / 1e6).sqrt());
            assert_eq!(modulo["basis"], "exact");
        }
    }
}

#[test]
fn a_node_more_gets_one_in_n_plus_1_and_one_less_held_one_in_n() {
    let plan = json_words(
        "plan --json --from cache-{1..4} --add cache-5 --scheme articles/000-ring,tokens=100 --keys articles/000",
    );
    // 500 tokens: a fifth of them holds a part whose variance is 1/5 4/5 / 501; a million keys add a little.
    let sd = (0.16_f64 / 501.0 + 0.16 / 1e6).sqrt();
    for name in ["moved_share", "added_share"] {
        let moved = formula(&plan, name).unwrap();
        near(&moved["expected"], 0.2);
        near(&moved["measured"], 0.211_372);
        near(&moved["sd"], sd);
        near(&moved["deviations"], 0.011_372 / sd);
        assert_eq!(moved["formula"], "1/(N+1), N = 4");
    }
    assert_eq!(formula(&plan, "removed_share"), None);

    // Article 003: node 3 of ten held 94,377 of a million keys.
    let plan = json_words(
        "plan --json --from node-{0..9} --remove node-3 --scheme articles/003-ring --keys articles/003",
    );
    let removed = formula(&plan, "removed_share").unwrap();
    near(&removed["expected"], 0.1);
    near(&removed["measured"], 0.094_377);
    assert_eq!(removed["formula"], "1/N, N = 10");

    // Two of four come, with twice the weight of the others: 4 of 6.
    let plan = json_words(
        "plan --json --from a,b --add c=2,d=2 --scheme rendezvous --keys gen:k{0..99999}",
    );
    let added = formula(&plan, "added_share").unwrap();
    near(&added["expected"], 4.0 / 6.0);
    assert!(deviations(added).abs() < 5.0);
}

#[test]
fn few_nodes_deviate_more_and_the_deviation_is_foretold() {
    // Article 004: from two nodes to three 37,190 of 100,000 keys move, against a third. 150 tokens each.
    let words = "plan --from s1,s2 --add s3 --scheme articles/004-ring --keys articles/004";
    let plan = json_words(&format!("{words} --json"));
    assert_eq!(plan["moved"]["keys"], 37_190);
    let moved = formula(&plan, "moved_share").unwrap();
    let sd = (2.0_f64 / 9.0 / 451.0 + 2.0 / 9.0 / plan["effective_keys"].as_f64().unwrap()).sqrt();
    near(&moved["expected"], 1.0 / 3.0);
    near(&moved["measured"], 0.3719);
    near(&moved["sd"], sd);
    assert!((1.0..3.0).contains(&deviations(moved)), "{moved}");
    let text = run_words(words);
    holds(
        line(text.text(), "  moved "),
        &["33.33 %", "37.19 %", "2.22 %", "+1.7 sd"],
    );
}

#[test]
fn rings_have_their_longest_arc_and_the_beta_law_of_shares_beside_the_exact_ones() {
    let articles = std::fs::read_to_string(project_file("vectors/articles.json")).unwrap();
    let articles: Value = serde_json::from_str(&articles).unwrap();
    for (tokens, percent) in [
        (1, "81.65 %"),
        (10, "28.01 %"),
        (100, "8.94 %"),
        (200, "6.32 %"),
    ] {
        let words = format!(
            "plan --from cache-{{1..4}} --add cache-5 --scheme articles/000-ring,tokens={tokens} --keys gen:k{{0..9999}}"
        );
        let plan = json_words(&format!("{words} --json"));
        let shares = formula(&plan, "share_sd").unwrap();
        near(
            &shares["expected"],
            (4.0 / (5.0 * f64::from(tokens) + 1.0)).sqrt(),
        );
        // From the published parts of the space of each node.
        let published = articles["seed_000"]["ring"][tokens.to_string()]["ring_space_share_5"]
            .as_object()
            .unwrap();
        let squares: f64 = published
            .values()
            .map(|share| (share.as_f64().unwrap() * 5.0 - 1.0).powi(2))
            .sum();
        let measured = shares["measured"].as_f64().unwrap();
        assert!(
            (measured - (squares / 5.0).sqrt()).abs() < 1e-9,
            "{measured}"
        );
        assert_eq!(shares["basis"], "exact");
        assert!(deviations(shares).abs() < 3.0, "{shares}");
        let arc = formula(&plan, "longest_arc").unwrap();
        let arcs = 5 * tokens;
        let harmonic: f64 = (1..=arcs).map(|i| 1.0 / f64::from(i)).sum();
        near(&arc["expected"], harmonic / f64::from(arcs));
        assert!(deviations(arc).abs() < 4.0, "{arc}");
        let text = run_words(&words);
        holds(
            line(text.text(), "  sd of shares of the space "),
            &[percent],
        );
    }
    // One token each: H_5 is 2.2833, and the longest of the five arcs is what cache-4 owns.
    let plan = json_words(
        "plan --json --from cache-{1..4} --add cache-5 --scheme articles/000-ring,tokens=1 --keys gen:k{0..9}",
    );
    let arc = formula(&plan, "longest_arc").unwrap();
    near(&arc["expected"], 137.0 / 60.0 / 5.0);
    near(&arc["measured"], 0.390_444_442_433_321_77);
    assert_eq!(plan["moved_ranges"], 1);

    // Weights 1, 2 and 1 of 100 tokens: the mean over the nodes of (V - v) / (v (V + 1)).
    let plan =
        json_words("plan --json --from a,b=2 --add c --scheme ring,tokens=100 --keys gen:k{0..9}");
    let law = (2.0 * 300.0 / (100.0 * 401.0) + 200.0 / (200.0 * 401.0)) / 3.0;
    near(
        &formula(&plan, "share_sd").unwrap()["expected"],
        f64::sqrt(law),
    );
}

#[test]
fn keys_deviate_as_counting_them_leaves_it() {
    for scheme in [
        "slots",
        "rendezvous",
        "jump",
        "maglev",
        "probed",
        "rank",
        "modulo",
    ] {
        let plan = json_words(&format!(
            "plan --json --from n{{1..9}} --add n10 --scheme {scheme} --keys gen:k{{0..99999}}"
        ));
        let keys = formula(&plan, "keys_sd").unwrap();
        let effective = plan["effective_keys"].as_f64().unwrap();
        near(&keys["expected"], (9.0 / effective).sqrt());
        near(
            &keys["measured"],
            plan["balance"]["after"]["sd_over_mean"].as_f64().unwrap(),
        );
        assert!(deviations(keys).abs() < 5.0, "{scheme}: {keys}");
    }
}

#[test]
fn a_figure_without_meaning_is_left_out() {
    let names = |words: &str| -> Vec<String> {
        let plan = json_words(&format!("plan --json --keys gen:k{{0..999}} {words}"));
        let formulas = plan["theory"]["formulas"].as_array().unwrap().iter();
        formulas
            .map(|f| f["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names("--from a,b --add c --scheme slots"),
        [
            "moved_share",
            "modulo_moved_share",
            "added_share",
            "keys_sd"
        ]
    );
    // A replacement neither adds nor removes; a single node has nobody to differ from.
    assert_eq!(
        names("--from a,b --to a,c --scheme jump"),
        ["moved_share", "keys_sd"]
    );
    assert_eq!(
        names("--from a,b --remove b --scheme ring"),
        [
            "moved_share",
            "modulo_moved_share",
            "removed_share",
            "longest_arc"
        ]
    );
    assert_eq!(
        names("--from a,b --scheme slots --to-scheme ring"),
        ["moved_share", "longest_arc", "share_sd", "keys_sd"]
    );
}

#[test]
fn numbers_of_tokens_come_with_what_they_bring_and_cost() {
    let words = "plan --from n{1..99} --add n100 --scheme ring,tokens=100 --keys gen:k{0..999}";
    let plan = json_words(&format!("{words} --json"));
    let advice = &plan["tokens"];
    assert_eq!(
        (&advice["tokens"], &advice["nodes"], &advice["ranges"]),
        (&100.into(), &100.into(), &10_000.into())
    );
    let candidates = advice["candidates"].as_array().unwrap();
    let of = |tokens: u64| {
        candidates
            .iter()
            .find(|one| one["tokens"] == tokens)
            .unwrap()
    };
    let listed: Vec<u64> = candidates
        .iter()
        .map(|one| one["tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(listed, [50, 100, 200, 400, 1000]);
    for (tokens, ranges) in [(100, 10_000), (1000, 100_000)] {
        assert_eq!(of(tokens)["ranges"], ranges);
        near(
            &of(tokens)["expected_sd"],
            (99.0 / (100.0 * tokens as f64 + 1.0)).sqrt(),
        );
    }
    let bytes = |tokens| of(tokens)["memory_bytes"].as_f64().unwrap();
    assert!((bytes(1000) / bytes(100) - 10.0).abs() < 0.001);
    let inspected = json_words("inspect --json --cluster n{1..100} --scheme ring,tokens=100");
    assert_eq!(of(100)["memory_bytes"], inspected["bytes"]);
    // Twice the tokens, 1.41 times less; and a thousand bring about 3.2 %.
    let ratio = of(100)["expected_sd"].as_f64().unwrap() / of(200)["expected_sd"].as_f64().unwrap();
    assert!((ratio - 2_f64.sqrt()).abs() < 0.001);
    assert!((of(1000)["expected_sd"].as_f64().unwrap() - 0.0316).abs() < 0.0002);
    let text = run_words(words);
    holds(
        text.text(),
        &[
            "Tokens of the ring",
            "100 (now)",
            "divide the error by 1.41 only",
            "another list would have 9.9 % ±",
        ],
    );

    // Article 000, a thousand rings of five nodes: heaviest over mean 2.27, 1.39, 1.12 and 1.08. Both means have an
    // error: the heaviest node's deviation over the root of a thousand, about 0.019 at one token and 0.002 at 100.
    for (tokens, heaviest, error) in [
        (1, 2.266, 0.1),
        (10, 1.390, 0.025),
        (100, 1.1191, 0.01),
        (200, 1.0846, 0.008),
    ] {
        let plan = json_words(&format!(
            "plan --json --from a,b,c,d --add e --scheme ring,tokens={tokens} --keys gen:k{{0..9}}"
        ));
        let candidates = plan["tokens"]["candidates"].as_array().unwrap();
        let now = candidates
            .iter()
            .find(|one| one["tokens"] == tokens)
            .unwrap();
        let seen = now["max_over_mean"].as_f64().unwrap();
        assert!((seen - heaviest).abs() < error, "{tokens}: {seen}");
        assert!(now["worst_max_over_mean"].as_f64().unwrap() > seen);
    }
    assert_eq!(
        json_words("plan --json --from a --add b --keys gen:k{0..9}")["tokens"],
        Value::Null
    );
}

#[test]
fn two_numbers_of_tokens_on_one_list_of_names_are_one_draw_each() {
    // In article 000 a hundred tokens happen to beat two hundred.
    for (from, to, noise) in [
        (
            "articles/000-ring,tokens=100",
            "articles/000-ring,tokens=200",
            true,
        ),
        ("ring,tokens=2", "ring,tokens=1000", false),
        ("ring,tokens=100", "ring/xxh64,tokens=200", false),
        ("ring,tokens=100", "slots", false),
    ] {
        let plan = json_words(&format!(
            "plan --json --from cache-{{1..5}} --to cache-{{1..5}} --scheme {from} --to-scheme {to} --keys gen:k{{0..999}}"
        ));
        assert_eq!(
            codes(&plan).contains(&"tokens-within-noise"),
            noise,
            "{from} {to}"
        );
    }
    let same = json_words("plan --json --from a,b --add c --scheme ring --keys gen:k{0..99}");
    assert!(!codes(&same).contains(&"tokens-within-noise"));
}

fn formula<'p>(plan: &'p Value, name: &str) -> Option<&'p Value> {
    let formulas = plan["theory"]["formulas"].as_array().unwrap();
    formulas.iter().find(|formula| formula["name"] == name)
}

fn deviations(formula: &Value) -> f64 {
    formula["deviations"].as_f64().unwrap()
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// The first line that begins so.
#[track_caller]
fn line<'t>(text: &'t str, start: &str) -> &'t str {
    let line = text.lines().find(|line| line.starts_with(start));
    line.unwrap_or_else(|| panic!("no line {start:?} in {text}"))
}
