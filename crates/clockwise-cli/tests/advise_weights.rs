//! `advise weights` and `advise shard`: laws of the capacity model, exact costs of pages, and each step before sharding.
//!
//! Promises that weights follow the scarcest resource and nothing else, that forecasts are those of the shares that
//! `inspect` shows, that pages cost what multiplication says, and that what was not measured is asked for.

mod command;

use command::{folder, holds, json_words, path, refusal, run, run_words};
use serde_json::Value;

const LOAD: &str = "--stored-bytes 200GiB --requests 40000 --object-size 4KiB --read-share 0.9 \
    --read-iops 1 --write-iops 3 --read-cpu 60us --write-cpu 200us";

/// Memory in GiB, operations, Gbit and cores of a node.
type Has = [f64; 4];

const NODES: [(&str, Has); 3] = [
    ("a", [64.0, 20_000.0, 10.0, 16.0]),
    ("b", [128.0, 20_000.0, 25.0, 32.0]),
    ("c", [256.0, 80_000.0, 25.0, 8.0]),
];

fn advise(nodes: &[(&str, Has)], load: &str) -> Value {
    let nodes: Vec<String> = nodes
        .iter()
        .map(|(id, has)| {
            format!(
                "--node {id},ram={}GiB,iops={},network={}Gbit,cpu={}",
                has[0], has[1], has[2], has[3]
            )
        })
        .collect();
    run_words(&format!("advise weights {} {load} --json", nodes.join(" "))).json()
}

fn weights(advice: &Value) -> Vec<f64> {
    let rows = advice["table"].as_array().unwrap().iter();
    rows.map(|row| row["weight"].as_str().unwrap().parse().unwrap())
        .collect()
}

/// What the workload takes of each resource, worked out here.
fn takes() -> Has {
    let (reads, writes) = (36_000.0, 4_000.0);
    [
        200.0,
        reads + 3.0 * writes,
        reads * 4096.0 * 8.0 / 1e9,
        reads * 60e-6 + writes * 200e-6,
    ]
}

#[test]
fn weights_are_the_shares_that_the_scarcest_resource_allows() {
    let advice = advise(&NODES, LOAD);
    assert_eq!(advice["kind"], "clockwise.advice/1");
    let takes = takes();
    let carries: Vec<f64> = NODES
        .iter()
        .map(|(_, has)| {
            has.iter()
                .zip(takes)
                .map(|(has, takes)| has / takes)
                .fold(f64::INFINITY, f64::min)
        })
        .collect();
    let least = carries.iter().copied().fold(f64::INFINITY, f64::min);
    for (weight, carries) in weights(&advice).iter().zip(&carries) {
        assert!(
            (weight - carries / least).abs() <= 0.000_5 + 1e-9,
            "{weight}"
        );
    }
    let all: f64 = carries.iter().sum();
    assert!((advice["carries"].as_f64().unwrap() - all).abs() < 1e-9);
    let binding: Vec<&str> = advice["table"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["binding"].as_str().unwrap())
        .collect();
    assert_eq!(binding, ["ram", "iops", "ram"]);
}

#[test]
fn forecasts_are_those_of_the_shares_that_inspect_shows() {
    let advice = advise(&NODES, LOAD);
    let list: Vec<String> = NODES
        .iter()
        .zip(weights(&advice))
        .map(|((id, _), weight)| format!("{id}={weight}"))
        .collect();
    let shown = json_words(&format!("inspect --cluster {} --json", list.join(",")));
    let takes = takes();
    let mut fails = f64::INFINITY;
    let mut evicts = f64::INFINITY;
    for ((_, has), node) in NODES.iter().zip(shown["nodes"].as_array().unwrap()) {
        let share = node["space_share"].as_f64().unwrap();
        for (has, takes) in has.iter().zip(takes) {
            fails = fails.min(has / (share * takes));
        }
        evicts = evicts.min(has[0] / (share * takes[0]));
    }
    assert!((advice["grows_to"].as_f64().unwrap() - fails).abs() < 1e-9);
    assert!((advice["fails_first"]["at"].as_f64().unwrap() - fails).abs() < 1e-9);
    assert!((advice["evicts_first"]["at"].as_f64().unwrap() - evicts).abs() < 1e-9);
    // The options are ones that plan takes.
    let options = advice["options"].as_str().unwrap();
    assert_eq!(
        run_words(&format!(
            "plan --from a,b,c {options} --keys gen:k:{{0..99}}"
        ))
        .code,
        Some(0)
    );
}

#[test]
fn only_ratios_count_and_only_the_scarcest_resource() {
    let base = weights(&advise(&NODES, LOAD));
    let with = |change: &dyn Fn(usize, &mut Has)| {
        let mut nodes = NODES;
        nodes
            .iter_mut()
            .enumerate()
            .for_each(|(place, (_, has))| change(place, has));
        weights(&advise(&nodes, LOAD))
    };
    for factor in [0.5, 3.0, 40.0] {
        assert_eq!(
            with(&|_, has| has.iter_mut().for_each(|one| *one *= factor)),
            base
        );
    }
    let share = |weights: &[f64], place: usize| weights[place] / weights.iter().sum::<f64>();
    // Twice the operations of b, which they bind, and twice what binds nobody.
    let more = with(&|place, has| {
        if place == 1 {
            has[1] *= 2.0
        }
    });
    assert!(share(&more, 1) > 1.2 * share(&base, 1));
    assert_eq!(with(&|_, has| has[2] *= 2.0), base);
    assert_eq!(
        with(&|place, has| if place == 0 {
            has[3] *= 2.0
        }),
        base
    );
    // The order of the nodes makes no difference.
    let mut turned = NODES;
    turned.reverse();
    let mut back = weights(&advise(&turned, LOAD));
    back.reverse();
    assert_eq!(back, base);
    // Other kinds of load bind by other resources.
    let busy = advise(
        &NODES,
        "--requests 40000 --object-size 4KiB --stored-bytes 1GiB --read-iops 0 --read-cpu 900us",
    );
    assert_eq!(busy["binding"], "cpu");
}

#[test]
fn a_load_that_does_not_fit_is_a_no() {
    let answer =
        run_words("advise weights --node a,ram=64GiB --node b,ram=64GiB --stored-bytes 200GiB");
    assert_eq!(answer.code, Some(1));
    holds(answer.text(), &["None: with the best weights ram of"]);
    let fits =
        run_words("advise weights --node a,ram=64GiB --node b,ram=64GiB --stored-bytes 120GiB");
    assert_eq!(fits.code, Some(0));
}

#[test]
fn nodes_come_from_toml_and_csv_as_well() {
    let files = folder(&[
        ("n.toml", b"[[node]]\nid = \"a\"\nram = \"64GiB\"\ncpu = 8\n[[node]]\nid = \"b\"\nram = \"32GiB\"\ncpu = 8.5\n"),
        ("n.csv", b"id,cpu,ram\na,8,64GiB\nb,8.5,32GiB\n"),
        ("n.tsv", b"id\tcpu\tram\na\t8\t64GiB\nb\t8.5\t32GiB\n"),
        ("twice.csv", b"id,ram\na,1GiB\na,1GiB\n"),
        ("odd.csv", b"id,ram\na,1GiB,x\n"),
        ("none.csv", b"id,ram\n"),
        ("noid.csv", b"node,ram\na,1GiB\n"),
        ("bad.toml", b"[[node]]\nid = \"a\"\nram = [1]\n"),
        ("broken.toml", b"[[node]]\nid = \n"),
        ("binary.csv", &[0xff, 0xfe, 0, 1]),
    ]);
    let of = |node: &str| {
        run_words(&format!(
            "advise weights --node {node} --stored-bytes 10GiB --requests 100 --read-cpu 1ms --json"
        ))
    };
    let inline = run_words(
        "advise weights --node a,ram=64GiB,cpu=8 --node b,ram=32GiB,cpu=8.5 --stored-bytes 10GiB --requests 100 --read-cpu 1ms --json",
    );
    for name in ["n.toml", "n.csv", "n.tsv"] {
        assert_eq!(of(&path(&files, name)).json(), inline.json(), "{name}");
    }
    for (name, piece) in [
        ("twice.csv", "listed twice"),
        ("odd.csv", "3 fields"),
        ("none.csv", "no rows"),
        ("noid.csv", "no"),
        ("bad.toml", "must be text or a number"),
        ("broken.toml", "TOML"),
        ("binary.csv", "UTF-8"),
        ("absent.csv", "absent.csv"),
    ] {
        holds(&command::message(&of(&path(&files, name))), &[piece]);
    }
}

#[test]
fn wrong_nodes_and_loads_are_refused_by_name() {
    for (args, pieces) in [
        ("--stored-bytes 1GiB", &["--node"][..]),
        ("--node a", &["no node has a resource"]),
        ("--node a,ram --stored-bytes 1GiB", &["node a", "\"ram\""]),
        ("--node a,ram=0 --stored-bytes 1GiB", &["node a: ram=0"]),
        (
            "--node a,ram=-1GiB --stored-bytes 1GiB",
            &["node a: ram=-1GiB"],
        ),
        ("--node a,iops=NaN --stored-bytes 1GiB", &["iops=NaN"]),
        (
            "--node a,network=10GB --stored-bytes 1GiB",
            &["network=10GB", "10Gbit"],
        ),
        ("--node a,cpu=many", &["cpu=many"]),
        ("--node a,rma=1GiB", &["\"rma\"", "did you mean ram?"]),
        ("--node a,ram=1GiB,ram=2GiB", &["given twice"]),
        ("--node ,ram=1GiB", &["node \"\""]),
        ("--node a,ram=1GiB", &["nothing says", "--stored-bytes"]),
        (
            "--node a,cpu=1 --requests 5",
            &["--read-cpu or --write-cpu"],
        ),
        ("--node a,iops=1 --read-iops 5", &["--requests"]),
        (
            "--node a,ram=1GiB --node b,cpu=2 --stored-bytes 1GiB",
            &["node b has no ram"],
        ),
        (
            "--node a,ram=1KiB --node b,ram=1PiB --stored-bytes 1GiB",
            &["node b", "1000000"],
        ),
        (
            "--node a,ram=1GiB --node b,ram=2GiB --stored-bytes 1GiB --scheme jump",
            &["jump", "hint"],
        ),
        (
            "--node a,ram=1GiB --stored-bytes 1GiB --scheme slotz",
            &["slotz", "did you mean slots?"],
        ),
        (
            "--node a,ram=1GiB --stored-bytes 1GiB --read-share 1.1",
            &["0 to 1"],
        ),
        (
            "--node a,ram=1GiB --stored-bytes 1GiB --read-cpu 5",
            &["with its unit"],
        ),
        (
            "--node a,ram=1GiB --stored-bytes 1GiB --read-cpu -5s",
            &["-5"],
        ),
    ] {
        holds(
            &refusal(format!("advise weights {args}").split_whitespace()),
            pieces,
        );
    }
}

#[test]
fn pages_cost_shards_times_page_times_rows() {
    let advice = json_words("advise shard --shards 8 --rows 20 --pages 1..100 --json");
    assert_eq!(
        (&advice["question"], &advice["answer"]),
        (&"shard".into(), &"page-cost".into())
    );
    let pages = advice["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 100);
    for (row, page) in pages.iter().zip(1_u64..) {
        assert_eq!(row["page"], page);
        assert_eq!(row["offset_rows"], 160 * page);
        assert_eq!(row["offset_rows_each"], 20 * page);
        assert_eq!(row["keyset_rows"], 160);
    }
    let text = run_words("advise shard --shards 8 --rows 20 --pages 1,2,100");
    holds(
        text.text(),
        &["Page 100 by offset takes 16,000 rows from 8 shards to show 20; by keyset 160."],
    );
    assert_eq!(text.code, Some(0));
    for (pages, piece) in [
        ("0", "from 1"),
        ("5..2", "from 1"),
        ("x", "from 1"),
        ("1..20000", "more than 10,000"),
        ("18446744073709551615", "2^64"),
    ] {
        holds(
            &refusal(
                format!("advise shard --shards 8 --rows 20 --pages {pages}").split_whitespace(),
            ),
            &[piece],
        );
    }
    holds(&refusal(["advise", "shard", "--shards", "8"]), &["--rows"]);
}

#[test]
fn sharding_comes_last_and_each_earlier_step_is_judged_by_numbers() {
    let full = "--write-iops-used 0.92 --data 4TiB --disk 8TiB --backup 3h --window 8h --cpu 0.5 \
        --slow-queries-share 0.05 --cache-hit-rate 0.95 --read-share 0.4 --replica-lag 200ms";
    for (more, answer, code, piece) in [
        (format!("{full} --bigger 1"), "shard", 0, "Shard: no earlier step"),
        (format!("{full} --bigger 1.05"), "shard", 0, "1.09 times as large would be enough"),
        (format!("{full} --bigger 1.2"), "not yet", 1, "a bigger primary comes first"),
        (full.to_owned(), "not yet", 1, "whether a bigger primary is enough is not known"),
        ("--cpu 0.95 --slow-queries-share 0.4".to_owned(), "not yet", 1, "mending queries and indexes comes first"),
        ("--cpu 0.95 --slow-queries-share 0 --cache-hit-rate 0.5 --read-share 0.8".to_owned(), "not yet", 1, "a cache, or a better one comes first"),
        ("--cpu 0.95 --slow-queries-share 0 --cache-hit-rate 0.95 --read-share 0.8".to_owned(), "not yet", 1, "reading from replicas comes first"),
        ("--cpu 0.95 --slow-queries-share 0 --cache-hit-rate 0.95 --read-share 0.8 --replica-lag 1h --bigger 1".to_owned(), "shard", 0, "lag by 60.0 min"),
        ("--cpu 0.95 --cache-hit-rate 0.5 --read-share 0.8".to_owned(), "not yet", 1, "whether mending queries and indexes is enough already is not known"),
        ("--write-iops-used 0.3".to_owned(), "not yet", 1, "nothing that was measured saturates"),
        (String::new(), "measure first", 1, "have you measured what saturates?"),
        ("--slow-queries-share 0.5".to_owned(), "measure first", 1, "have you measured what saturates?"),
        ("--backup 9h --window 8h --bigger 100".to_owned(), "shard", 0, "At least 2 shards"),
    ] {
        let json = run_words(&format!("advise shard {more} --json"));
        assert_eq!((json.json()["answer"].as_str(), json.code), (Some(answer), Some(code)), "{more}");
        let text = run_words(&format!("advise shard {more}"));
        assert_eq!(text.code, Some(code));
        holds(text.text(), &[piece, "What sharding takes away", "UUIDs", "saga", "global secondary index", "copy small tables"]);
    }
}

#[test]
fn the_number_of_shards_brings_every_limit_below_what_is_roomy() {
    for used in [0.81, 1.0, 1.3, 2.0, 5.5] {
        let advice = json_words(&format!(
            "advise shard --slow-queries-share 0 --write-iops-used {used} --bigger 1 --json"
        ));
        let shards = advice["least_shards"].as_f64().unwrap();
        assert!(
            used / shards <= 0.6 + 1e-9 && (shards == 2.0 || used / (shards - 1.0) > 0.6),
            "{used} {shards}"
        );
    }
}

#[test]
fn wrong_measures_are_refused() {
    for (args, piece) in [
        ("--cpu 101", "0 to 100"),
        ("--cpu -1", "0 to 100"),
        ("--write-iops-used NaN", "0 to 100"),
        ("--data 4TiB", "--disk"),
        ("--data 4TiB --disk none", "none"),
        ("--backup 9h", "--window"),
        ("--backup 9 --window 8h", "such as"),
        ("--backup 0s --window 8h", "above 0"),
        ("--read-share 2", "0 to 1"),
        ("--cache-hit-rate -0.1", "0 to 1"),
        ("--bigger 0.5", "1 to 1000000"),
        ("--replica-lag fast", "such as"),
        ("--shards 0 --rows 20", "0"),
    ] {
        holds(
            &refusal(format!("advise shard {args}").split_whitespace()),
            &[piece],
        );
    }
    // Help shows two examples of every advice.
    for question in ["scheme", "tokens", "weights", "shard-key", "shard"] {
        let help = run(["advise", question, "--help"]);
        assert!(
            help.text().matches("  clockwise advise").count() >= 2,
            "{question}"
        );
    }
}
