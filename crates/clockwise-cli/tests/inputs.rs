//! Keys that the command cannot take, or should: each fault with its message and exit code 2, each oddity with its
//! right answer, and memory that no input makes grow.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use command::{
    Running, command, folder, holds, json, message, path, project_file, refusal, run, run_on,
};

mod command;

#[test]
fn sources_that_cannot_be_read_are_refused_by_name() {
    let cut = gzip(b"user:1\nuser:2\n");
    let mut damaged = zstd(&b"user:1\n".repeat(1000));
    let last = damaged.len() - 1;
    damaged[last] ^= 0xff;
    let followed = [&gzip(b"user:1\n")[..], b"more"].concat();
    let files = folder(&[
        ("empty.txt", b""),
        ("cut.gz", &cut[..cut.len() - 9]),
        ("damaged.zst", &damaged),
        ("magic.zst", b"\x28\xb5\x2f\xfd"),
        ("followed.gz", &followed),
    ]);
    for (name, pieces) in [
        ("empty.txt", &["empty.txt", "no keys"][..]),
        (
            "cut.gz",
            &["cut.gz is cut off", "gzip", "hint: fetch or compress"],
        ),
        (
            "damaged.zst",
            &[
                "zstd data of ",
                "damaged.zst",
                "cannot be decoded",
                "hint: ",
            ],
        ),
        ("magic.zst", &["magic.zst is cut off", "zstd"]),
        (
            "followed.gz",
            &["followed.gz has other data after its gzip data", "hint: "],
        ),
        ("missing.txt", &["missing.txt", "No such file"]),
        (".", &["is a directory", "hint: name a file in it"]),
    ] {
        let file = path(&files, name);
        holds(
            &refusal(["plan", "--from", "a,b", "--add", "c", "--keys", &file]),
            pieces,
        );
    }
}

#[test]
fn sources_that_are_no_files_are_refused_by_what_they_are() {
    for (source, pieces) in [
        (
            "popularity:x.csv#a",
            &["popularity:x.csv#a", "No such file"][..],
        ),
        (
            "popularity:x.csv",
            &["workload is missing", "hint: write popularity:"],
        ),
        (
            "articles/001",
            &["unknown key set articles/001", "articles/003", "hint: "],
        ),
        ("gen:user:{0..}", &["gen:user:{0..}", "character 10"]),
        ("gen:user:{1..2", &["gen:user:{1..2"]),
        (
            "gen:user:{0..18446744073709551616}",
            &["18446744073709551615"],
        ),
    ] {
        holds(
            &refusal(["locate", "--cluster", "a,b", "--keys", source]),
            pieces,
        );
    }
}

#[test]
fn options_out_of_range_are_wrong_usage() {
    for option in [
        ["--max-bad", "1.5"],
        ["--max-bad", "NaN"],
        ["--rate", "0"],
        ["--rate", "-5"],
        ["--hit-rate", "1"],
        ["--keys-per-request", "inf"],
        ["--capacity", "x"],
        ["--keys-format", "jsn"],
        ["--key-column", "0"],
        ["--key-column", ""],
        ["--tokens", "0"],
        ["--tokens", "16777217"],
        ["--tokens", "-1"],
        ["--unheard-of", "1"],
    ] {
        let args = [
            "plan", "--from", "a", "--add", "b", "--scheme", "ring", "--keys", "-",
        ];
        let answer = run(args.iter().chain(&option));
        assert_eq!(
            (answer.code, answer.stdout.len()),
            (Some(2), 0),
            "{option:?}"
        );
        holds(
            &answer.stderr,
            &["error: ", option[0].trim_start_matches('-')],
        );
    }
}

#[test]
fn columns_that_are_not_there_are_refused_with_those_that_are() {
    let files = folder(&[
        ("keys.csv", b"key,requests,size\na,1,2\n"),
        ("twice.csv", b"key,n,n\na,1,2\n"),
        ("none.csv", b"one,two\na,1\n"),
        ("list.txt", b"a\nb\n"),
        ("hex.csv", b"key_hex,n\n6b,1\nzz,2\n"),
        ("rows.jsonl", b"{\"key\":\"a\"}\n{\"k\":\"b\"}\n"),
    ]);
    for (name, option, pieces) in [
        (
            "keys.csv",
            ["--key-column", "nokey"],
            &["no column nokey", "it has key, requests, size"][..],
        ),
        (
            "keys.csv",
            ["--key-column", "keys"],
            &["no column keys", "hint: did you mean key?"],
        ),
        ("keys.csv", ["--requests-column", "4"], &["no column 4"]),
        (
            "keys.csv",
            ["--bytes-column", "key"],
            &["line 2", "key is not a whole number", ": a"],
        ),
        (
            "twice.csv",
            ["--requests-column", "n"],
            &["more than one column n", "hint: "],
        ),
        (
            "none.csv",
            ["--bytes-column", "two"],
            &["no column of ", "one, two", "--key-column"],
        ),
        (
            "list.txt",
            ["--key-column", "key"],
            &["read as lines", "--keys-format csv"],
        ),
        (
            "hex.csv",
            ["--requests-column", "n"],
            &["line 3", "not hexadecimal: zz"],
        ),
        (
            "rows.jsonl",
            ["--key-column", "key"],
            &["line 2", "no member key"],
        ),
    ] {
        let file = path(&files, name);
        let args = ["plan", "--from", "a,b", "--add", "c", "--keys", &file];
        holds(&refusal(args.iter().chain(&option)), pieces);
    }
}

#[test]
fn bad_lines_are_counted_shown_and_limited() {
    let mut lines = b"key,n\n".to_vec();
    for number in 0..1000 {
        writeln!(lines, "k{number},1").unwrap();
    }
    lines.extend(b"a,b,c\n");
    let args = |max_bad| {
        [
            "plan",
            "--json",
            "--from",
            "a,b",
            "--add",
            "c",
            "--keys",
            "-",
            "--max-bad",
            max_bad,
        ]
    };
    let answer = run_on(args("0.001"), &lines);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let plan = answer.json();
    assert_eq!(
        (&plan["keys"], &plan["bad_lines"]),
        (&1000.into(), &1.into())
    );
    assert_eq!(plan["warnings"][0]["code"], "bad-lines");
    holds(&answer.stderr, &["stdin:1002: bad line: ", "3 fields"]);
    let message = message(&run_on(args("0.0009"), &lines));
    holds(
        &message,
        &["1 of 1001 lines of stdin are bad", "line 1002", "--max-bad"],
    );
}

#[test]
fn formats_are_recognised_compressed_or_not_and_said_on_stderr() {
    let csv = b"path,hits\n/a,1\n/b,2\n";
    let jsonl = b"{\"key\":\"/a\"}\n{\"key_hex\":\"2f62\"}\n";
    let files = folder(&[
        ("a.txt", b"/a\n/b"),
        ("b.csv", csv),
        ("c.csv.gz", &gzip(csv)),
        ("d.tsv.zst", &zstd(b"hits\turl\n1\t/a\n2\t/b\n")),
        ("e.jsonl", jsonl),
        ("f", csv),
        ("g.gz", &gzip(jsonl)),
        ("h.log", &[gzip(b"/a\n"), gzip(b"/b\n")].concat()),
    ]);
    for (name, format) in [
        ("a.txt", "(lines)"),
        ("b.csv", "(csv: keys from path, requests from hits)"),
        (
            "c.csv.gz",
            "(csv, gzip: keys from path, requests from hits)",
        ),
        (
            "d.tsv.zst",
            "(tsv, zstd: keys from url, requests from hits)",
        ),
        ("e.jsonl", "(jsonl"),
        ("f", "(csv: "),
        ("g.gz", "(jsonl, gzip"),
        ("h.log", "(lines, gzip)"),
    ] {
        let file = path(&files, name);
        let answer = run(["locate", "--json", "--cluster", "a,b", "--keys", &file]);
        let keys: Vec<Value> = answer
            .json_lines()
            .iter()
            .map(|line| line["key"].clone())
            .collect();
        assert_eq!(keys, ["/a", "/b"], "{name}");
        holds(&answer.stderr, &[&format!("keys: {file} {format}")]);
    }
    let plain = run([
        "locate",
        "--json",
        "--cluster",
        "a,b",
        "--keys",
        &path(&files, "b.csv"),
        "--keys-format",
        "lines",
    ]);
    assert_eq!(plain.json_lines().len(), 3);
}

#[test]
fn bytes_that_are_no_text_are_ordinary_keys() {
    let latin = b"gi\xf2:1\n\xff\xfe\n\xed\xa0\x80\n";
    let answer = run_on("locate --json --cluster a,b --keys -".split(' '), latin);
    let lines = answer.json_lines();
    let hex: Vec<&Value> = lines.iter().map(|line| &line["key_hex"]).collect();
    assert_eq!(hex, ["6769f23a31", "fffe", "eda080"]);
    assert!(
        lines
            .iter()
            .all(|line| line["key"].is_null() && line["owner"].is_string())
    );
    let text = run_on("locate --cluster a --keys -".split(' '), latin);
    assert_eq!(
        text.text(),
        "gi\\xf2:1\ta\n\\xff\\xfe\ta\n\\xed\\xa0\\x80\ta\n"
    );
}

#[test]
fn odd_keys_get_the_slots_that_a_real_server_gave_them() {
    let odd = odd_keys();
    let located = json_lines_of("redis-cluster", "hex", &[]);
    assert_eq!(located.len(), odd.len());
    // The part that counts, located whole, has the same token.
    let tagged = json_lines_of("slots", "hex", &[]);
    let parts = json_lines_of("slots", "redis_hashed_part_hex", &["--key-rule", "whole"]);
    for (place, key) in odd.iter().enumerate() {
        let id = &key["id"];
        assert_eq!(located[place]["slot"], key["redis_slot"], "{id}");
        assert_eq!(located[place]["key_hex"], key["hex"], "{id}");
        assert_eq!(
            located[place]["key"].is_string(),
            key["utf8_ok"] == true,
            "{id}"
        );
        assert_eq!(tagged[place]["token"], parts[place]["token"], "{id}");
    }
}

#[test]
fn escaped_output_reads_back_as_the_same_keys() {
    let file = odd_keys_file();
    let args = [
        "locate",
        "--cluster",
        "a,b,c",
        "--keys",
        &file,
        "--key-column",
        "hex",
    ];
    let printed = run(args);
    let escaped: String = printed
        .text()
        .lines()
        .map(|line| format!("{}\n", line.rsplit_once('\t').unwrap().0))
        .collect();
    assert!(escaped.chars().all(|c| c == '\n' || !c.is_control()));
    let back = run_on(
        "locate --cluster a,b,c --keys - --keys-format lines --escaped --json".split(' '),
        escaped.as_bytes(),
    );
    let back = back.json_lines();
    for ((key, line), back) in odd_keys().iter().zip(printed.text().lines()).zip(&back) {
        assert_eq!(back["key_hex"], key["hex"]);
        assert_eq!(back["owner"], line.rsplit_once('\t').unwrap().1);
    }
    let wrong = run_on(
        "plan --from a --add b --keys - --escaped".split(' '),
        b"a\\q\n",
    );
    holds(&message(&wrong), &["line 1", "unknown escape"]);
}

#[test]
fn a_pipe_with_a_name_is_a_source_like_any_other() {
    let place = folder(&[]);
    let pipe = path(&place, "keys");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let writer = thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, "user:1\nuser:2\n").unwrap()
    });
    let plan = json([
        "plan", "--json", "--from", "a,b", "--add", "c", "--keys", &pipe,
    ]);
    writer.join().unwrap();
    assert_eq!(plan["keys"], 2);
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let place = folder(&[]);
    let file = path(&place, "keys.txt");
    // Far more than the command reads ahead while nobody takes its answers.
    let lines = b"user:12345\n".repeat(4 << 20);
    std::fs::write(&file, &lines).unwrap();
    let mut running = Running::start_unread(&mut command([
        "locate",
        "--cluster",
        "a,b",
        "--keys",
        &file,
    ]));
    let mut stdout = running.stdout();
    let mut first = [0];
    stdout.read_exact(&mut first).unwrap();
    // It has opened the file and waits for us.
    File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(0)
        .unwrap();
    let reader = thread::spawn(move || stdout.read_to_end(&mut Vec::new()).unwrap());
    let answer = running.finish();
    reader.join().unwrap();
    assert_eq!(answer.code, Some(2));
    holds(
        &answer.stderr,
        &[
            "keys.txt shrank while it was read",
            "46137344 bytes when opened",
            "hint: ",
        ],
    );
}

#[test]
fn a_line_of_a_gibibyte_is_one_bad_line_in_bounded_memory() {
    let args = "plan --from a,b --add c --keys - --max-bad 1 --json".split(' ');
    let mut running = Running::start(command(args).stdin(Stdio::piped()));
    let mut stdin = running.stdin();
    stdin.write_all(b"user:1\n").unwrap();
    let part = vec![b'x'; 1 << 20];
    for _ in 0..1024 {
        stdin.write_all(&part).unwrap();
    }
    stdin.write_all(b"\nuser:2\n").unwrap();
    let peak = running.peak_kib();
    drop(stdin);
    let answer = running.finish();
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let plan = answer.json();
    assert_eq!((&plan["keys"], &plan["bad_lines"]), (&2.into(), &1.into()));
    holds(
        &answer.stderr,
        &["stdin:2: bad line: the key is longer than 1048576 bytes"],
    );
    assert!(peak < 64 << 10, "{peak} KiB");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// One frame with a checksum at its end.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 0).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Keys with the slots of a real Redis; the planner's own tests read the same file.
fn odd_keys_file() -> String {
    let file = project_file("crates/clockwise-plan/tests/data/odd-keys.jsonl");
    file.to_str().unwrap().to_owned()
}

fn odd_keys() -> Vec<Value> {
    let text = std::fs::read_to_string(odd_keys_file()).unwrap();
    let keys = text.lines().map(|line| serde_json::from_str(line).unwrap());
    keys.collect()
}

fn json_lines_of(scheme: &str, column: &str, more: &[&str]) -> Vec<Value> {
    let file = odd_keys_file();
    let args = [
        "locate",
        "--json",
        "--cluster",
        "a,b,c",
        "--scheme",
        scheme,
        "--keys",
        &file,
        "--key-column",
        column,
    ];
    run(args.iter().chain(more)).json_lines()
}
