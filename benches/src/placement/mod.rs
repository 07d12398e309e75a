//! Placement beside every other crate that does it, in one run.
//!
//! What it is: look-ups, builds and changes of rings, and look-ups of the other schemes, by clockwise, by plain code and
//! by other crates with the hashers they ship. What it promises: each round runs every candidate once; before anything
//! is timed, every fast path of clockwise has given the answers of a plain search on 100,000 keys. What it does not:
//! make the crates' schemes agree. Cost: some minutes and 2 GB of memory; with `--quick` some 20 seconds.

mod cases;
mod check;
mod goals;
mod own;
mod rivals;

use std::cell::Cell;
use std::io::{self, Write as _};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use tempfile::TempDir;

use self::cases::{Course, ENTRIES, Entry, Kind};
use crate::Measure;
use crate::callgrind;
use crate::keys::Keys;
use crate::machine::{Cores, Machine};
use crate::memory::{Memory, of_builds};
use crate::rounds::{Times, Work, interleave};
use crate::table::{Row, Table, line, ratio};

/// What to measure, and how it is printed.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print JSON instead of Markdown
    #[arg(long)]
    json: bool,
    /// Take 100,000 keys and 9 rounds instead of 1,000,000 and 41
    #[arg(long)]
    quick: bool,
    /// Leave out the two untimed chunks before each timed one, so that rivals have evicted the tables
    #[arg(long)]
    cold: bool,
    /// Count instructions too, where valgrind is installed
    #[arg(long)]
    instructions: bool,
    /// Only cases whose name begins so, for work on one of them
    #[arg(
        long,
        value_name = "CASE",
        default_value = "",
        hide_default_value = true
    )]
    only: String,
}

/// Tokens of a node.
const TOKENS: usize = 160;

fn node(number: usize) -> String {
    format!("cache-{number}")
}

/// Measures and prints the tables.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (keys, rounds) = if options.quick {
        (100_000, 9)
    } else {
        (1_000_000, 41)
    };
    let machine = Machine::here();
    let keys = Keys::new(keys);
    check::all(keys)?;
    let rows: Vec<(&Entry, usize)> = rows()
        .filter(|(entry, _)| entry.case.starts_with(&options.only))
        .collect();
    ensure!(!rows.is_empty(), "{}: no case begins so", options.only);
    Cores::available()?.take_one()?;
    let memory = of_builds("placement")?;
    let course = Course {
        keys,
        start: Cell::new(0),
        warm_chunks: if options.cold { 0 } else { 2 },
    };
    let mut work: Vec<Work<'_>> = rows
        .iter()
        .enumerate()
        .map(|(row, &(entry, nodes))| {
            course.start.set(row * keys.len() / rows.len());
            match entry.kind {
                Kind::LookUp { work, .. } => work(&course, nodes),
                Kind::Build { work, .. } => work(nodes),
                Kind::Change(work) => work(nodes),
            }
        })
        .collect();
    let times = interleave(rounds, &mut work)?;
    drop(work);

    let measured = Measured {
        rows,
        times,
        memory,
    };
    let instructions = if options.instructions {
        Some(instructions()?)
    } else {
        None
    };
    let counts = instructions.as_deref().unwrap_or_default();
    let table = Table {
        machine,
        about: format!(
            "{} keys of {} bytes, {TOKENS} tokens a node, {rounds} rounds, {}; ns for a key, a build or a change, of \
             time on the core. Other crates: {}.",
            keys.len(),
            crate::keys::KEY_BYTES,
            if options.cold { "cold" } else { "warm" },
            rivals::VERSIONS,
        ),
        more: &["time / clockwise", "bytes / token"],
        goals: goals::all(&measured, counts),
        rows: measured.table_rows(counts),
    };
    let mut text = if options.json {
        table.json()? + "\n"
    } else {
        table.markdown()
    };
    if !options.json && options.only.is_empty() {
        text.push('\n');
        measured.memory_table(&mut text);
        if let Some(counts) = &instructions {
            text.push('\n');
            instruction_table(&mut text, counts);
        }
    }
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Looks the first keys up once.
pub(crate) fn once(case: &str, candidate: &str, nodes: usize, keys: usize) -> Result<()> {
    let entry = ENTRIES
        .iter()
        .find(|entry| (entry.case, entry.candidate) == (case, candidate))
        .context("no such candidate")?;
    let Kind::LookUp { once, .. } = entry.kind else {
        anyhow::bail!("{case} looks nothing up");
    };
    writeln!(io::stdout(), "{}", once(Keys::new(keys), nodes, keys))?;
    Ok(())
}

/// Prints a line for each build: case, candidate, nodes, bytes held, most bytes.
pub(crate) fn memory(measure: Measure) -> Result<()> {
    for (entry, nodes) in rows() {
        let Kind::Build { once, .. } = entry.kind else {
            continue;
        };
        // What a process does once is done before.
        drop(once(5));
        let mut built = None;
        let (net, peak) = measure(&mut || built = Some(once(nodes)));
        drop(built);
        let (case, candidate) = (entry.case, entry.candidate);
        writeln!(io::stdout(), "{case}\t{candidate}\t{nodes}\t{net}\t{peak}")?;
    }
    Ok(())
}

fn rows() -> impl Iterator<Item = (&'static Entry, usize)> {
    ENTRIES
        .iter()
        .flat_map(|entry| entry.nodes().map(move |nodes| (entry, nodes)))
}

/// Instructions of one look-up.
pub(super) struct Count {
    case: &'static str,
    candidate: &'static str,
    nodes: usize,
    each: f64,
}

/// Candidates whose instructions are counted.
const COUNTED: [(&str, &str); 4] = [
    ("ring/lookup", "hash"),
    ("ring/lookup", "clockwise"),
    ("ring/batch", "clockwise"),
    ("ring/lookup", "pingora-ketama"),
];

/// The difference between two runs, which leaves out what a process does once.
fn instructions() -> Result<Vec<Count>> {
    ensure!(
        callgrind::is_present(),
        "--instructions needs valgrind, which is not installed"
    );
    let folder = TempDir::new()?;
    let [few, many] = [10_000, 60_000];
    let mut counts = Vec::new();
    for (case, candidate) in COUNTED {
        for nodes in [5, 100, 1000, 10_000] {
            let count = |keys: usize| -> Result<u64> {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["placement-once", case, candidate]);
                command.args([nodes, keys].map(|number: usize| number.to_string()));
                callgrind::instructions(&command, folder.path())
            };
            let keys = count(many)?.saturating_sub(count(few)?) as f64;
            counts.push(Count {
                case,
                candidate,
                nodes,
                // Making a key costs the same for every candidate, and is taken off with the hash.
                each: keys / (many - few) as f64,
            });
        }
    }
    Ok(counts)
}

fn instruction_table(text: &mut String, counts: &[Count]) {
    let mut row = |cells: [String; 4]| line(text, cells.into_iter());
    row([
        "case",
        "candidate",
        "nodes",
        "instructions more than the hash",
    ]
    .map(str::to_owned));
    row(["---", "---", "---:", "---:"].map(str::to_owned));
    for count in counts {
        row([
            count.case.to_owned(),
            format!("`{}`", count.candidate),
            count.nodes.to_string(),
            goals::more_than_hash(counts, count)
                .map_or_else(String::new, |more| format!("{more:.1}")),
        ]);
    }
}

/// All that was measured.
struct Measured {
    rows: Vec<(&'static Entry, usize)>,
    times: Vec<Times>,
    memory: Memory,
}

impl Measured {
    fn times(&self, case: &str, candidate: &str, nodes: usize) -> Option<&Times> {
        let row = self.rows.iter().position(|&(entry, with)| {
            (entry.case, entry.candidate, with) == (case, candidate, nodes)
        })?;
        self.times.get(row)
    }

    fn memory(&self, case: &str, candidate: &str, nodes: usize) -> Option<(u64, u64)> {
        let key = [case.to_owned(), candidate.to_owned(), nodes.to_string()];
        self.memory.get(&key).copied()
    }

    fn table_rows(&self, counts: &[Count]) -> Vec<Row> {
        let rows = self.rows.iter().zip(&self.times);
        rows.map(|(&(entry, nodes), times)| {
            let Entry {
                case, candidate, ..
            } = *entry;
            let hash = self.times(case, "hash", nodes);
            let own = ["clockwise", "clockwise-jumpback"]
                .into_iter()
                .find_map(|own| self.times(case, own, nodes))
                .filter(|_| !candidate.starts_with("clockwise") || candidate == "clockwise-jump");
            let memory = self.memory(case, candidate, nodes);
            // Look-ups go through what a build of the same name leaves.
            let built = memory.or_else(|| {
                let build = case
                    .strip_suffix("/lookup")
                    .or(case.strip_suffix("/batch"))?;
                self.memory(&format!("{build}/build"), candidate, nodes)
            });
            let per_token = built
                .filter(|_| case.starts_with("ring/"))
                .map(|(net, _)| net as f64 / (nodes * TOKENS) as f64);
            let ratio_to_clockwise = own.map(|own| times.ratio_to(own));
            Row {
                case,
                candidate,
                nodes,
                median_ns: times.median(),
                min_ns: times.min(),
                ratio_to_hash: hash.map(|hash| times.ratio_to(hash)),
                bytes_per_token: per_token,
                net_bytes: memory.map(|(net, _)| net),
                peak_bytes: memory.map(|(_, peak)| peak),
                ratio_to_clockwise,
                instructions_over_hash: counts
                    .iter()
                    .find(|it| (it.case, it.candidate, it.nodes) == (case, candidate, nodes))
                    .and_then(|count| goals::more_than_hash(counts, count)),
                max_ns: times.max(),
                more: vec![ratio(ratio_to_clockwise), ratio(per_token)],
            }
        })
        .collect()
    }

    fn memory_table(&self, text: &mut String) {
        let mut row = |cells: [String; 5]| line(text, cells.into_iter());
        row(["case", "candidate", "nodes", "bytes", "most bytes"].map(str::to_owned));
        row(["---", "---", "---:", "---:", "---:"].map(str::to_owned));
        for (&(entry, nodes), (net, peak)) in self.rows.iter().filter_map(|row| {
            let memory = self.memory(row.0.case, row.0.candidate, row.1)?;
            Some((row, memory))
        }) {
            row([
                entry.case.to_owned(),
                format!("`{}`", entry.candidate),
                nodes.to_string(),
                net.to_string(),
                peak.to_string(),
            ]);
        }
    }
}
