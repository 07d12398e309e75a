//! Runs the real command for the tests that are about it.
//!
//! Promises that no test waits for ever: a command that does not end by [`PATIENCE`] is killed and the test fails.
//! Does not judge how fast anything is.

#![allow(dead_code, reason = "each file of tests uses its own part")]

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) mod figures;

/// What a command that has ended left behind.
#[derive(Debug)]
pub(crate) struct Answer {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stderr))
    }

    /// Each line of JSON.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The command with these arguments, nothing on its stdin and its output caught.
pub(crate) fn command<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clockwise"));
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the command to its end.
pub(crate) fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Answer {
    Running::start(&mut command(args)).finish()
}

/// The same with arguments parted by blanks.
pub(crate) fn run_words(words: &str) -> Answer {
    run(words.split_whitespace())
}

/// Runs the command with these bytes on its stdin.
pub(crate) fn run_on<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, input: &[u8]) -> Answer {
    let mut running = Running::start(command(args).stdin(Stdio::piped()));
    let mut stdin = running.stdin();
    let input = input.to_vec();
    // The command may end without reading all of it.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let answer = running.finish();
    writer.join().unwrap();
    answer
}

/// The JSON of a command that does what it was asked.
pub(crate) fn json<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Value {
    let answer = run(args);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    answer.json()
}

/// The same with arguments parted by blanks.
pub(crate) fn json_words(words: &str) -> Value {
    json(words.split_whitespace())
}

/// The message of a command that refuses its input: exit code 2, nothing on stdout.
#[track_caller]
pub(crate) fn refusal<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    message(&run(args))
}

/// The same for a command that has run already.
#[track_caller]
pub(crate) fn message(answer: &Answer) -> String {
    assert_eq!(
        (answer.code, answer.stdout.as_slice()),
        (Some(2), &b""[..]),
        "{}",
        answer.stderr
    );
    let says = answer
        .stderr
        .lines()
        .any(|line| line.starts_with("error: "));
    assert!(says, "{}", answer.stderr);
    answer.stderr.clone()
}

/// That each piece stands in a text.
#[track_caller]
pub(crate) fn holds(text: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(text.contains(piece), "{piece:?} is not in {text}");
    }
}

/// A command that has not ended yet. It is killed when the test ends before it.
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    /// Starts a command and collects what it prints.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut running = Self::start_unread(command);
        running.stdout = running.child.stdout.take().map(collect);
        running
    }

    /// Starts a command whose stdout the test reads by itself, or nobody.
    pub(crate) fn start_unread(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stderr = child.stderr.take().map(collect);
        Self {
            child,
            stdout: None,
            stderr,
        }
    }

    pub(crate) fn stdin(&mut self) -> std::process::ChildStdin {
        self.child.stdin.take().unwrap()
    }

    pub(crate) fn stdout(&mut self) -> std::process::ChildStdout {
        self.child.stdout.take().unwrap()
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Answer {
        let mut status: Option<ExitStatus> = None;
        self.wait_until("the command's end", |running| {
            status = running.child.try_wait().unwrap();
            status.is_some()
        });
        let all = |output: &mut Option<JoinHandle<Vec<u8>>>| {
            output
                .take()
                .map(|reader| reader.join().unwrap())
                .unwrap_or_default()
        };
        Answer {
            code: status.and_then(|status| status.code()),
            stdout: all(&mut self.stdout),
            stderr: String::from_utf8(all(&mut self.stderr)).unwrap(),
        }
    }

    /// What a person at the terminal does.
    pub(crate) fn press_ctrl_c(&self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Until the command has its own answer to Ctrl-C.
    pub(crate) fn wait_for_its_ctrl_c(&mut self) {
        self.wait_until("a handler of SIGINT", |running| {
            assert_eq!(running.child.try_wait().unwrap(), None, "it has ended");
            running.has_signal("SigCgt:", SIGINT)
        });
    }

    /// Until a Ctrl-C that was sent has been taken.
    pub(crate) fn wait_for_delivery(&mut self) {
        self.wait_until("the delivery of SIGINT", |running| {
            !running.has_signal("ShdPnd:", SIGINT)
        });
    }

    /// Until it sleeps for something to come.
    pub(crate) fn wait_for_its_sleep(&mut self) {
        self.wait_until("a command that waits", |running| {
            running.status("State:").starts_with('S')
        });
    }

    /// Until it has used so many ticks of processor time.
    pub(crate) fn wait_for_work(&mut self, ticks: u64) {
        self.wait_until("some work", |running| {
            let stat = running.proc("stat");
            // Behind the name in brackets: user time is the 12th field, system time the 13th.
            let (_, fields) = stat.rsplit_once(')').unwrap();
            fields
                .split_whitespace()
                .skip(11)
                .take(2)
                .map(|ticks| ticks.parse::<u64>().unwrap())
                .sum::<u64>()
                >= ticks
        });
    }

    /// The most memory that it ever held, in KiB.
    pub(crate) fn peak_kib(&self) -> u64 {
        let peak = self.status("VmHWM:");
        peak.trim_end_matches("kB").trim().parse().unwrap()
    }

    fn has_signal(&self, set: &str, bit: u64) -> bool {
        u64::from_str_radix(&self.status(set), 16).unwrap() & bit != 0
    }

    /// A line of what the kernel says about the process.
    fn status(&self, name: &str) -> String {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {status}"))
            .trim()
            .to_owned()
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline ends a test that would hang; no result depends on the time"
    )]
    fn wait_until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let started = Instant::now();
        while !holds(self) {
            assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
            thread::park_timeout(BETWEEN_LOOKS);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, except when a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every command that the help lists, those of a command behind it: `plan`, `advise`, `advise tokens`.
pub(crate) fn commands() -> Vec<String> {
    let mut found = Vec::new();
    collect_commands("", &mut found);
    found
}

fn collect_commands(prefix: &str, found: &mut Vec<String>) {
    let help = run_words(&format!("{prefix} --help"));
    let Some((_, listed)) = help.text().split_once("Commands:\n") else {
        return;
    };
    let names = listed.lines().take_while(|line| line.starts_with("  "));
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        if name != "help" {
            let name = format!("{prefix} {name}").trim().to_owned();
            found.push(name.clone());
            collect_commands(&name, found);
        }
    }
}

/// A fresh folder with these files.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// The path of a file in a folder, as text.
pub(crate) fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// A file of the project.
pub(crate) fn project_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

fn collect(mut output: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Far more than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Often enough to lose no time, seldom enough to leave the processor to the command.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
/// Signal 2 in the kernel's sets, which count from bit 0.
const SIGINT: u64 = 1 << 1;
