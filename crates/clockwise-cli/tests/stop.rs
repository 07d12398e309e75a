//! Ctrl-C, readers and writers that go away, and memory over long streams.
//!
//! No test measures time: each waits for a condition, and a command that does not end is killed after a deadline.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use command::{Answer, Running, command, folder, holds, path};

mod command;

#[test]
fn ctrl_c_while_stdin_is_silent_prints_what_was_learnt() {
    for json in [true, false] {
        let words = "plan --from a,b --add c --keys - --limit moved=0";
        let json_option = json.then_some("--json");
        let args = words.split(' ').chain(json_option);
        let mut running = Running::start(command(args).stdin(Stdio::piped()));
        let mut stdin = running.stdin();
        let lines = ENOUGH_LINES;
        stdin.write_all(&b"user:1\n".repeat(lines)).unwrap();
        running.wait_for_its_ctrl_c();
        running.press_ctrl_c();
        let answer = running.finish();
        drop(stdin);
        // That it was stopped weighs more than the broken limit.
        assert_eq!(answer.code, Some(130), "{}", answer.stderr);
        if json {
            let plan = answer.json();
            assert_eq!(plan["partial"], true);
            let keys = plan["keys"].as_u64().unwrap();
            assert!((1..=lines as u64).contains(&keys), "{keys}");
            assert_eq!(plan["limits"][0]["name"], "moved");
        } else {
            assert!(answer.text().starts_with("PARTIAL: "), "{}", answer.text());
        }
    }
}

#[test]
fn ctrl_c_before_the_first_key_prints_zeros() {
    let args = "plan --from a,b --add c --keys - --json".split(' ');
    let mut running = Running::start(command(args).stdin(Stdio::piped()));
    let stdin = running.stdin();
    running.wait_for_its_ctrl_c();
    running.press_ctrl_c();
    let answer = running.finish();
    drop(stdin);
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    let plan = answer.json();
    assert_eq!((&plan["partial"], &plan["keys"]), (&true.into(), &0.into()));
    assert_eq!(plan["moved"]["share"], 0.0);
}

#[test]
fn ctrl_c_stops_sources_that_never_rest() {
    let large = folder(&[]);
    let large = sparse_file(&large);
    for keys in ["gen:user:{0..9999999999}", &large] {
        let args = [
            "plan",
            "--json",
            "--from",
            "a,b",
            "--add",
            "c",
            "--max-bad",
            "1",
            "--keys",
            keys,
        ];
        let mut running = Running::start(&mut command(args));
        running.wait_for_its_ctrl_c();
        running.wait_for_work(5);
        running.press_ctrl_c();
        let answer = running.finish();
        assert_eq!(answer.code, Some(130), "{}", answer.stderr);
        assert_eq!(answer.json()["partial"], true);
    }
    // A prediction is stopped as well; with so many nodes to score it would take minutes.
    let nodes: Vec<String> = (0..5000).map(|number| format!("n{number}")).collect();
    let nodes = nodes.join(",");
    let args = [
        "plan",
        "--json",
        "--add",
        "n",
        "--scheme",
        "articles/000-rendezvous",
        "--from",
        &nodes,
    ];
    let mut running = Running::start(&mut command(args));
    running.wait_for_its_ctrl_c();
    running.press_ctrl_c();
    let answer = running.finish();
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    assert_eq!(answer.json()["basis"], "predicted");
}

#[test]
fn ctrl_c_leaves_whole_lines_of_locations() {
    for option in [None, Some("--json")] {
        let args = "locate --cluster a,b --keys gen:user:{0..9999999999}";
        let mut running = Running::start_unread(&mut command(args.split(' ').chain(option)));
        let mut stdout = running.stdout();
        running.wait_for_its_ctrl_c();
        let mut bytes = vec![0; 1 << 20];
        stdout.read_exact(&mut bytes).unwrap();
        running.press_ctrl_c();
        stdout.read_to_end(&mut bytes).unwrap();
        let answer = running.finish();
        assert_eq!(answer.code, Some(130), "{}", answer.stderr);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.ends_with('\n'));
        for (number, line) in text.lines().enumerate() {
            let key = match option {
                None => line.split('\t').next().unwrap().to_owned(),
                Some(_) => serde_json::from_str::<serde_json::Value>(line).unwrap()["key"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            };
            assert_eq!(key, format!("user:{number}"));
        }
    }
}

#[test]
fn a_second_ctrl_c_ends_a_command_that_nobody_reads() {
    let args = "locate --cluster a,b --keys gen:user:{0..9999999999}".split(' ');
    let mut running = Running::start_unread(&mut command(args));
    let mut stdout = running.stdout();
    stdout.read_exact(&mut [0]).unwrap();
    running.wait_for_its_ctrl_c();
    // The first one is taken, but the command waits for a reader of its answers.
    running.press_ctrl_c();
    running.wait_for_delivery();
    running.press_ctrl_c();
    let answer = running.finish();
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
}

#[test]
fn ctrl_c_ends_a_command_that_waits_for_the_writer_of_a_pipe() {
    let place = folder(&[]);
    let pipe = path(&place, "keys");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for words in ["locate --cluster a --keys", "plan --from a --add b --keys"] {
        let args = words.split(' ').chain([pipe.as_str()]);
        let mut running = Running::start(&mut command(args));
        running.wait_for_its_sleep();
        running.press_ctrl_c();
        // By the signal itself, as any other program would.
        assert_eq!(running.finish().code, None);
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_command_quietly() {
    for words in [
        "locate --cluster a,b --keys gen:user:{0..9999999999}",
        "locate --cluster a,b --json --keys gen:user:{0..9999999999}",
    ] {
        let mut running = Running::start_unread(&mut command(words.split(' ')));
        let mut reader = BufReader::new(running.stdout());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        holds(&line, &["user:0"]);
        drop(reader);
        quiet(&running.finish());
    }
    for words in [
        "plan --from a,b --add c --keys gen:k:{0..99}",
        "plan --from a,b --add c --keys gen:k:{0..99} --json",
        "inspect --cluster a,b",
        "inspect --cluster a,b --json",
        "inspect --cluster a,b --scheme ring,tokens=50000 --tokens",
        "locate --cluster a,b -- k",
        "plan --help",
    ] {
        let running = Running::start_unread(command(words.split(' ')).stdout(no_reader()));
        quiet(&running.finish());
    }
}

#[test]
fn a_reader_that_goes_away_ends_a_command_whose_keys_have_no_end() {
    let args = "locate --cluster a,b --keys -".split(' ');
    let mut running = Running::start_unread(command(args).stdin(Stdio::piped()));
    let mut stdin = running.stdin();
    let mut stdout = running.stdout();
    let writer = thread::spawn(move || {
        let lines = b"user:1\n".repeat(10_000);
        // Ends when the command has gone.
        while stdin.write_all(&lines).is_ok() {}
    });
    stdout.read_exact(&mut [0]).unwrap();
    drop(stdout);
    quiet(&running.finish());
    writer.join().unwrap();
}

#[test]
fn a_reader_of_errors_that_goes_away_changes_no_exit_code() {
    for (words, code) in [
        ("locate --cluster a,b --keys missing.txt", 2),
        ("plan --from a,b --add c --limit mvoed=1", 2),
        ("locate --cluster 10.0.0.1:1 -- k", 0),
        ("inspect --cluster 10.0.0.1:1", 0),
        ("plan --unheard-of", 2),
    ] {
        let running = Running::start(command(words.split(' ')).stderr(no_reader()));
        assert_eq!(running.finish().code, Some(code), "{words}");
    }
}

#[test]
fn a_full_disk_is_an_error_and_not_an_answer() {
    for words in [
        "plan --from a,b --add c --keys gen:k:{0..99}",
        "inspect --cluster a,b --json",
        "locate --cluster a,b --keys gen:k:{0..99999}",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let answer = Running::start_unread(command(words.split(' ')).stdout(full)).finish();
        assert_eq!(answer.code, Some(2), "{words}");
        holds(&answer.stderr, &["error: stdout: No space left on device"]);
    }
}

#[test]
fn ten_million_lines_take_no_more_memory_than_a_few() {
    let peak = |lines: u32, args: &str| {
        let mut running = Running::start(command(args.split(' ')).stdin(Stdio::piped()));
        let mut stdin = running.stdin();
        let mut part = Vec::new();
        for line in 0..lines {
            writeln!(part, "user:{line}").unwrap();
            if part.len() >= 1 << 20 {
                stdin.write_all(&part).unwrap();
                part.clear();
            }
        }
        stdin.write_all(&part).unwrap();
        let peak = running.peak_kib();
        drop(stdin);
        let answer = running.finish();
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        assert_eq!(answer.json()["keys"], lines);
        peak
    };
    let args = "plan --json --from a,b,c,d --add e --keys -";
    let (few, many) = (peak(1000, args), peak(10_000_000, args));
    assert!(
        many.saturating_sub(few) < 64 << 10,
        "{few} KiB, then {many} KiB"
    );
}

#[test]
fn ten_million_locations_take_no_more_memory_than_a_few() {
    let args = "locate --cluster a,b,c --keys -".split(' ');
    let mut running = Running::start_unread(command(args).stdin(Stdio::piped()));
    let (mut stdin, mut stdout) = (running.stdin(), running.stdout());
    let reader = thread::spawn(move || {
        let (mut lines, mut buffer) = (0_usize, vec![0; 1 << 16]);
        loop {
            let read = stdout.read(&mut buffer).unwrap();
            if read == 0 {
                return lines;
            }
            lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
        }
    });
    let part = b"user:12345\n".repeat(100_000);
    for _ in 0..100 {
        stdin.write_all(&part).unwrap();
    }
    let peak = running.peak_kib();
    drop(stdin);
    assert_eq!(running.finish().code, Some(0));
    assert_eq!(reader.join().unwrap(), 10_000_000);
    assert!(peak < 64 << 10, "{peak} KiB");
}

/// So many lines that the command must have counted some of them once all are written: they are more than pipe and
/// blocks read ahead can hold.
const ENOUGH_LINES: usize = 2_000_000;

fn quiet(answer: &Answer) {
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let said = answer
        .stderr
        .lines()
        .find(|line| !line.starts_with("keys: "));
    assert_eq!(said, None);
}

/// The writing end of a pipe whose reader has gone.
fn no_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// A file of a tebibyte of which nothing is on the disk.
fn sparse_file(folder: &tempfile::TempDir) -> String {
    let name = path(folder, "keys.txt");
    File::create(&name).unwrap().set_len(1 << 40).unwrap();
    name
}
