//! `advise shard-key`: tables whose best column is known, logs of every kind, and input that is wrong.
//!
//! Promises that the three scores are those that can be counted by other means, that each pitfall is found where it is and
//! nowhere else, and that no bytes of a table or log end the command by a signal.

mod command;

use std::fmt::Write as _;
use std::io::Write as _;

use clockwise::{Member, Membership, Placement, Scheme};
use command::{folder, holds, message, path, run, run_on};
use serde_json::Value;
use tempfile::TempDir;

const ROWS: u64 = 8000;

/// Rows of which `usr` spreads well, `tenant` has a giant, `day` is a time, `id` counts up, `kind` has three values and
/// `ref` is mostly empty.
fn table() -> String {
    let mut text = "id,tenant,usr,day,kind,ref\n".to_owned();
    for row in 0..ROWS {
        let tenant = if row % 10 < 4 {
            "big".to_owned()
        } else {
            format!("t{}", row * 7919 % 2003)
        };
        let usr = row * 104_729 % 3001;
        let reference = if row % 5 == 0 {
            format!("r{row}")
        } else {
            String::new()
        };
        writeln!(
            text,
            "{row},{tenant},u{usr},2026-{:02}-{:02},{},{reference}",
            1 + row / 700,
            1 + row / 25 % 28,
            ["a", "b", "c"][(row % 3) as usize]
        )
        .unwrap();
    }
    text
}

fn files(log: &str) -> TempDir {
    folder(&[("rows.csv", table().as_bytes()), ("q.sql", log.as_bytes())])
}

fn advise(files: &TempDir, more: &[&str]) -> Value {
    let rows = path(files, "rows.csv");
    let log = path(files, "q.sql");
    let mut args = vec![
        "advise",
        "shard-key",
        "--rows",
        &rows,
        "--query-log",
        &log,
        "--json",
    ];
    args.extend(more);
    let answer = run(args);
    assert!(
        answer.code == Some(0) || answer.code == Some(1),
        "{}",
        answer.stderr
    );
    answer.json()
}

fn column<'a>(advice: &'a Value, name: &str) -> &'a Value {
    let rows = advice["table"].as_array().unwrap();
    rows.iter()
        .find(|row| row["column"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn flags(row: &Value) -> Vec<&str> {
    row["flags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flag| flag["code"].as_str().unwrap())
        .collect()
}

const LOG: &str = "select * from orders where usr = 'u1';
select * from orders where usr = 'u2' and day > '2026-01-01';
select * from orders o join users u on u.name = o.usr where u.name = 'u3';
select * from orders where tenant = 'big';
update orders set kind = 'b' where usr = 'u1' and tenant = 'big';
select count(*) from orders where kind = 'a' or id = 3;
select * from orders where id in (1, 2);
insert into orders values (1, 'a', 'b', '2026-01-01', 'c', '');
select * from users where usr = 'u1';
";

#[test]
fn the_column_with_values_spread_and_queries_wins() {
    let advice = advise(&files(LOG), &["--table", "orders"]);
    assert_eq!(
        (&advice["kind"], &advice["question"], &advice["answer"]),
        (
            &"clockwise.advice/1".into(),
            &"shard-key".into(),
            &"usr".into()
        )
    );
    // Seven of the nine look for rows of orders; four bind the usr to one value.
    assert_eq!(advice["statements"]["queries"], 7);
    assert_eq!(advice["statements"]["inserts"], 1);
    let usr = column(&advice, "usr");
    assert_eq!(usr["matching"].as_f64(), Some(4.0 / 7.0));
    assert_eq!(
        column(&advice, "tenant")["matching"].as_f64(),
        Some(2.0 / 7.0)
    );
    assert_eq!(
        column(&advice, "id")["some_shards"].as_f64(),
        Some(1.0 / 7.0)
    );
    assert_eq!(column(&advice, "id")["matching"].as_f64(), Some(0.0));
    assert_eq!(usr["joined"].as_f64(), Some(1.0 / 7.0));
    assert_eq!(
        column(&advice, "tenant + usr")["matching"].as_f64(),
        Some(1.0 / 7.0)
    );
    assert_eq!(flags(usr), [""; 0]);
    assert_eq!(flags(column(&advice, "id")), ["auto-increment"]);
    assert_eq!(flags(column(&advice, "tenant")), ["giant"]);
    assert_eq!(flags(column(&advice, "day")), ["time"]);
    assert_eq!(
        flags(column(&advice, "kind")),
        ["giant", "low-cardinality", "updated"]
    );
    assert!(flags(column(&advice, "ref")).contains(&"nulls"));
    for row in advice["table"].as_array().unwrap() {
        let score = |name: &str| row[name].as_f64().unwrap();
        let total = score("cardinality")
            * score("spread")
            * score("matching")
            * 0.5_f64.powi(flags(row).len() as i32);
        assert!((score("total") - total).abs() < 1e-12);
        assert!(
            (score("spread") - 1.0 / score("max_over_mean_rows").max(score("max_over_mean_bytes")))
                .abs()
                < 1e-12
        );
    }
}

#[test]
fn shards_are_those_that_the_library_names_and_giants_are_counted() {
    let files = files(LOG);
    let advice = advise(&files, &["--shards", "5"]);
    let scheme: Scheme = "slots".parse().unwrap();
    let members = (1..=5).map(|number| Member::new(format!("shard-{number:04}").parse().unwrap()));
    let placement = Placement::build(&scheme, &Membership::new(members).unwrap()).unwrap();
    let text = table();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    for (place, name) in ["id", "tenant", "usr", "day", "kind", "ref"]
        .into_iter()
        .enumerate()
    {
        let (mut counts, mut bytes) = ([0_u64; 5], [0_u64; 5]);
        let mut rest = [0_u64; 5];
        for row in &rows {
            let hashed = placement.hash(row[place].as_bytes());
            let owner = placement.owner_index(&hashed).unwrap();
            counts[owner] += 1;
            bytes[owner] += row.iter().map(|field| field.len() as u64 + 1).sum::<u64>();
            rest[owner] += u64::from(row[place] != "big");
        }
        let over = |loads: [u64; 5]| {
            *loads.iter().max().unwrap() as f64 * 5.0 / loads.iter().sum::<u64>() as f64
        };
        let found = column(&advice, name);
        assert!(
            (found["max_over_mean_rows"].as_f64().unwrap() - over(counts)).abs() < 1e-12,
            "{name}"
        );
        assert!(
            (found["max_over_mean_bytes"].as_f64().unwrap() - over(bytes)).abs() < 1e-12,
            "{name}"
        );
        let values: std::collections::BTreeSet<&str> = rows
            .iter()
            .map(|row| row[place])
            .filter(|value| !value.is_empty())
            .collect();
        assert_eq!(found["values"], values.len() as u64, "{name}");
        if name == "tenant" {
            let largest = &found["largest"];
            assert_eq!(largest["value"], "big");
            // Counted from below, short by less than one in 1,024 rows.
            let share = largest["share"].as_f64().unwrap();
            assert!(share <= 0.4 && share > 0.4 - 1.0 / 1024.0, "{share}");
            assert!((largest["shards_worth"].as_f64().unwrap() - 5.0 * share).abs() < 1e-9);
            assert!((largest["max_over_mean_without"].as_f64().unwrap() - over(rest)).abs() < 0.02);
        }
    }
}

#[test]
fn without_a_log_two_scores_decide_and_the_third_is_asked_for() {
    let files = files("");
    let rows = path(&files, "rows.csv");
    let answer = run(["advise", "shard-key", "--rows", &rows]);
    assert_eq!(answer.code, Some(0));
    holds(
        answer.text(),
        &[
            "Shard by usr",
            "no queries are known: give --query-log",
            "matching",
        ],
    );
    let json = run(["advise", "shard-key", "--rows", &rows, "--json"]).json();
    assert!(json["statements"].is_null() && column(&json, "usr")["matching"].is_null());
}

#[test]
fn another_log_gives_another_column() {
    let by_tenant = "select * from orders where tenant = 't1';\n".repeat(9)
        + "select * from orders where usr = 'u1';";
    let advice = advise(&files(&by_tenant), &["--table", "orders", "--shards", "2"]);
    // The giant halves the total of the tenant, which nine of ten queries name.
    assert_eq!(advice["answer"], "tenant");
    let nothing = advise(
        &files("select * from orders where lower(usr) = 'x';"),
        &["--table", "orders"],
    );
    assert_eq!(nothing["answer"], "none");
}

#[test]
fn unique_keys_without_the_column_are_a_pitfall() {
    let log = format!(
        "create table public.orders (id bigint primary key, usr text, tenant text, unique (tenant, id));\n{LOG}"
    );
    let advice = advise(&files(&log), &["--table", "orders"]);
    assert!(flags(column(&advice, "usr")).contains(&"not-in-unique"));
    assert!(!flags(column(&advice, "id")).contains(&"not-in-unique"));
    let composite =
        format!("create table orders (id bigint, usr text, primary key (usr, id));\n{LOG}");
    let advice = advise(&files(&composite), &["--table", "orders"]);
    assert!(!flags(column(&advice, "usr")).contains(&"not-in-unique"));
}

#[test]
fn tables_are_read_alike_as_csv_tsv_compressed_and_from_stdin() {
    let csv = table();
    let tsv = csv.replace(',', "\t");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).unwrap();
    let zst = zstd::encode_all(tsv.as_bytes(), 1).unwrap();
    let files = folder(&[
        ("a.csv", csv.as_bytes()),
        ("a.tsv", tsv.as_bytes()),
        ("a.csv.gz", &gzip.finish().unwrap()),
        ("a.tsv.zst", &zst),
        (
            "bom.csv",
            format!("\u{feff}{}", csv.replace('\n', "\r\n")).as_bytes(),
        ),
    ]);
    let of = |name: &str| {
        run([
            "advise",
            "shard-key",
            "--rows",
            &path(&files, name),
            "--json",
        ])
        .json()
    };
    let expected = of("a.csv");
    for name in ["a.tsv", "a.csv.gz", "a.tsv.zst", "bom.csv"] {
        assert_eq!(of(name), expected, "{name}");
    }
    assert_eq!(
        run_on(
            ["advise", "shard-key", "--rows", "-", "--json"],
            csv.as_bytes()
        )
        .json(),
        expected
    );
}

#[test]
fn bad_rows_and_statements_are_counted_shown_and_limited() {
    let files = files(
        "select * from orders where usr = 'u1';\nselekt 2;\nselect * from orders where usr = 'u2';\n",
    );
    let (rows, log) = (path(&files, "rows.csv"), path(&files, "q.sql"));
    let args = ["advise", "shard-key", "--rows", &rows, "--query-log", &log];
    let refused = message(&run(args));
    holds(
        &refused,
        &["1 of 3 statements do not parse", "line 2:", "--max-bad"],
    );
    let allowed = run([&args[..], &["--max-bad", "0.5", "--json"]].concat());
    assert_eq!(allowed.code, Some(0));
    let statements = &allowed.json()["statements"];
    assert_eq!(
        (&statements["bad"], &statements["first_bad"][0]["line"]),
        (&1.into(), &2.into())
    );
    holds(&allowed.stderr, &["line 2:"]);

    let odd = folder(&[("odd.csv", b"a,b\n1,2\n1\n1,2,3\n4,5\n")]);
    let odd = path(&odd, "odd.csv");
    holds(
        &message(&run(["advise", "shard-key", "--rows", &odd])),
        &["2 of 4"],
    );
    let read = run([
        "advise",
        "shard-key",
        "--rows",
        &odd,
        "--max-bad",
        "0.5",
        "--json",
    ]);
    assert_eq!(
        (&read.json()["rows"], &read.json()["bad_rows"]),
        (&2.into(), &2.into())
    );
    holds(&read.stderr, &["2 bad rows", "line 3", "line 4"]);
}

#[test]
fn wrong_files_are_refused_by_name() {
    let files = folder(&[
        ("rows.csv", b"a,b\n1,2\n"),
        ("empty.csv", b""),
        ("header.csv", b"a,b\n"),
        ("twice.csv", b"a,A\n1,2\n"),
        ("unnamed.csv", b"a,\n1,2\n"),
        ("quote.csv", b"a,b\n1,\"2\n3,4\n"),
        ("cut.csv.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]),
        ("other.sql", b"select * from other where id = 1;"),
        ("none.sql", b"-- nothing\n"),
    ]);
    for (name, piece) in [
        ("empty.csv", "no rows"),
        ("header.csv", "no rows"),
        ("twice.csv", "two columns are named A"),
        ("unnamed.csv", "has no name"),
        ("quote.csv", "quote"),
        ("cut.csv.gz", "cut"),
        ("absent.csv", "absent.csv"),
        ("", "is a directory"),
    ] {
        holds(
            &message(&run(["advise", "shard-key", "--rows", &path(&files, name)])),
            &[piece],
        );
    }
    let rows = path(&files, "rows.csv");
    let with = |log: &str, more: &[&str]| {
        let log = path(&files, log);
        let args = ["advise", "shard-key", "--rows", &rows, "--query-log", &log];
        message(&run([&args[..], more].concat()))
    };
    holds(
        &with("other.sql", &["--table", "orders"]),
        &["no statement looks for rows of orders", "hint"],
    );
    holds(&with("none.sql", &[]), &["none.sql"]);
    holds(&with("absent.sql", &[]), &["absent.sql"]);
    for (args, piece) in [
        (vec!["--shards", "1"], "1"),
        (vec!["--shards", "5000"], "5000"),
        (vec!["--max-bad", "2"], "0 to 1"),
        (vec!["--table", "x"], "--query-log"),
    ] {
        let all = [&["advise", "shard-key", "--rows", &rows][..], &args].concat();
        holds(&message(&run(all)), &[piece]);
    }
    holds(&message(&run(["advise", "shard-key"])), &["--rows"]);
}

#[test]
fn no_bytes_of_a_log_end_the_command_by_a_signal() {
    let deep = format!(
        "select * from t where {}a = 1{};",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    let wide = format!("select * from t where a = 1{};", " or a = 1".repeat(7000));
    let sums = format!("select * from t where a = {}1;", "1+".repeat(30_000));
    let nots = format!("select * from t where {} a = 1;", "not ".repeat(15_000));
    let long = format!("select '{}';", "x".repeat(200_000));
    let junk: Vec<u8> = (0..200_000_u32)
        .map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for log in [
        deep.as_bytes(),
        wide.as_bytes(),
        sums.as_bytes(),
        nots.as_bytes(),
        long.as_bytes(),
        &junk,
        b"'",
        b";",
        b"$$",
        b"/*",
    ] {
        let bytes = [b"select * from t where a = 1;\n", log].concat();
        let files = folder(&[("rows.csv", b"a,b\n1,2\n2,3\n"), ("q.sql", &bytes)]);
        let answer = run([
            "advise",
            "shard-key",
            "--rows",
            &path(&files, "rows.csv"),
            "--query-log",
            &path(&files, "q.sql"),
            "--max-bad",
            "1",
        ]);
        assert!(
            matches!(answer.code, Some(0 | 1)),
            "{:?} {}",
            answer.code,
            answer.stderr
        );
    }
}
