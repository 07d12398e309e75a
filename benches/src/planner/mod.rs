//! The planner: 100 nodes become 101, for the keys of a file in the page cache.
//!
//! What it is: the count of `clockwise plan` through the interface of its crate, beside the least work that any planner
//! does and beside naive code. What it promises: all candidates read the same keys, and those that count agree; this
//! is checked before anything is timed. What it does not: count what a file costs that is not cached. Cost: about ten
//! seconds a round for five million keys.

mod bare;
mod files;
mod naive;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use clockwise::{KeyRule, Member, Membership, NodeId, Placement, Scheme};
use clockwise_plan::keys::{ReadOptions, Record, read_keys};
use clockwise_plan::{Basis, Census, Change, Counts, Load, Plan, PlanInput, Source, plan_document};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use self::files::Form;
use self::naive::Owners;
use crate::callgrind;
use crate::machine::{Cores, Machine, peak_memory_kib};
use crate::rounds::{Clock, Phase, Work, interleave};
use crate::table::{Row, Table, line, ratio};

/// What to measure, and how it is printed.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print JSON instead of Markdown
    #[arg(long, conflicts_with = "instructions")]
    json: bool,
    /// Take 500,000 keys and 5 rounds instead of 5,000,000 and 11
    #[arg(long)]
    quick: bool,
    /// Count instructions too, where valgrind is installed
    #[arg(long)]
    instructions: bool,
}

/// A kind of file, a scheme, and whether the thread that reads and unpacks has a core of its own.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    scheme: &'static str,
    form: Form,
    one_core: bool,
    candidates: &'static [Candidate],
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Candidate {
    /// The floor of a plain file.
    LinesAndHash,
    /// The floor of a compressed one.
    Decode,
    Naive,
    /// Reading as `clockwise plan` does, with a bare hash in the place of the count.
    ReadAndHash,
    /// Reading and counting as `clockwise plan` does.
    Count,
    /// Then working out the report and writing it as text.
    Report,
}

const CASES: [Case; 8] = [
    Case {
        name: "planner/plain",
        scheme: RING,
        form: Form::Plain,
        one_core: true,
        candidates: &[
            Candidate::LinesAndHash,
            Candidate::Naive,
            Candidate::ReadAndHash,
            Candidate::Count,
            Candidate::Report,
        ],
    },
    Case {
        name: "planner/plain-slots",
        scheme: SLOTS,
        form: Form::Plain,
        one_core: true,
        candidates: &[Candidate::Naive, Candidate::Count],
    },
    Case {
        name: "planner/plain-2-cores",
        scheme: RING,
        form: Form::Plain,
        one_core: false,
        candidates: &[Candidate::Count],
    },
    Case {
        name: "planner/plain-slots-2-cores",
        scheme: SLOTS,
        form: Form::Plain,
        one_core: false,
        candidates: &[Candidate::Count],
    },
    Case {
        name: "planner/gz",
        scheme: RING,
        form: Form::Gzip,
        one_core: true,
        candidates: &[Candidate::Decode, Candidate::ReadAndHash, Candidate::Count],
    },
    Case {
        name: "planner/gz-2-cores",
        scheme: RING,
        form: Form::Gzip,
        one_core: false,
        candidates: &[Candidate::Count],
    },
    Case {
        name: "planner/zst",
        scheme: RING,
        form: Form::Zstd,
        one_core: true,
        candidates: &[Candidate::Decode, Candidate::ReadAndHash, Candidate::Count],
    },
    Case {
        name: "planner/zst-2-cores",
        scheme: RING,
        form: Form::Zstd,
        one_core: false,
        candidates: &[Candidate::Count],
    },
];

/// Measures and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (keys, rounds) = if options.quick {
        (500_000, 5)
    } else {
        (5_000_000, 11)
    };
    let machine = Machine::here();
    let folder = TempDir::new().context("a folder for the keys")?;
    files::write(folder.path(), keys)?;
    let cores = Cores::available()?;
    let set_ups = [SetUp::new(RING)?, SetUp::new(SLOTS)?];
    for set_up in &set_ups {
        set_up.check(folder.path(), keys)?;
    }

    let rows = || {
        CASES
            .iter()
            .flat_map(|case| case.candidates.iter().map(move |&it| (case, it)))
    };
    let mut work: Vec<Work<'_>> = rows()
        .map(|(case, candidate)| {
            let (set_ups, cores, folder) = (&set_ups, &cores, folder.path());
            let run = move |phase| {
                if phase == Phase::Before {
                    return Ok(());
                }
                // What starts a thread shares its core with it, unless the thread leaves.
                cores.take_one()?;
                let set_up = set_ups.iter().find(|set_up| set_up.scheme == case.scheme);
                let set_up = set_up.context("a case with a scheme of its own")?;
                let reader = (!case.one_core).then_some(cores);
                set_up.run(candidate, case.form, folder, reader)
            };
            Work {
                clock: if case.one_core {
                    Clock::Core
                } else {
                    Clock::Wall
                },
                units: keys,
                run: Box::new(run),
            }
        })
        .collect();
    let times = interleave(rounds, &mut work)?;
    cores.take_all()?;

    let of = |case: &str, candidate| {
        rows()
            .position(|(other, it)| other.name == case && it == candidate)
            .map(|row| &times[row])
    };
    let hash = of("planner/plain", Candidate::LinesAndHash);
    let table = Table {
        machine,
        about: format!(
            "{keys} keys of 20 bytes, {NODES} -> {} nodes, {rounds} rounds; ns for each key, of time on the core \
             or, with 2 cores, of time passed.",
            NODES + 1
        ),
        goals: Vec::new(),
        more: &["time / decode", "speed / naive", "goal"],
        rows: rows()
            .zip(&times)
            .map(|((case, candidate), times)| {
                let floor = CASES
                    .iter()
                    .filter(|other| other.form == case.form)
                    .find_map(|other| of(other.name, Candidate::Decode));
                let naive = CASES
                    .iter()
                    .filter(|other| other.scheme == case.scheme)
                    .find_map(|other| of(other.name, Candidate::Naive));
                Row {
                    case: case.name,
                    candidate: candidate.name(),
                    nodes: NODES,
                    median_ns: times.median(),
                    min_ns: times.min(),
                    ratio_to_hash: hash.map(|hash| times.ratio_to(hash)),
                    bytes_per_token: None,
                    net_bytes: None,
                    peak_bytes: None,
                    ratio_to_clockwise: None,
                    instructions_over_hash: None,
                    max_ns: times.max(),
                    more: vec![
                        ratio(floor.map(|floor| times.ratio_to(floor))),
                        ratio(naive.map(|naive| naive.ratio_to(times))),
                        goal(case, candidate).to_owned(),
                    ],
                }
            })
            .collect(),
    };
    let mut text = if options.json {
        table.json()? + "\n"
    } else {
        let mut text = table.markdown();
        text.push('\n');
        memory(&mut text, folder.path())?;
        text
    };
    if options.instructions {
        text.push('\n');
        instructions(&mut text, folder.path())?;
    }
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Runs one candidate once, on the keys in `folder`, and prints the memory that this took.
pub(crate) fn once(case: &str, candidate: &str, folder: &Path) -> Result<()> {
    let case = CASES.iter().find(|known| known.name == case);
    let case = case.context("no such case")?;
    let candidate = case.candidates.iter().find(|it| it.name() == candidate);
    let candidate = candidate.context("no such candidate in this case")?;
    SetUp::new(case.scheme)?.run(*candidate, case.form, folder, None)?;
    writeln!(io::stdout(), "{}", peak_memory_kib()?)?;
    Ok(())
}

/// The command that does what [`once`] does.
fn once_command(case: &Case, candidate: Candidate, folder: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["planner-once", case.name, candidate.name()])
        .arg(folder);
    Ok(command)
}

/// Peak memory of whole processes.
fn memory(text: &mut String, folder: &Path) -> Result<()> {
    let row =
        |text: &mut String, cells: [&str; 3]| line(text, cells.map(str::to_owned).into_iter());
    row(text, ["case", "candidate", "peak memory, MiB"]);
    row(text, ["---", "---", "---:"]);
    // The number of cores makes no difference.
    for case in CASES.iter().filter(|case| case.one_core) {
        for &candidate in case.candidates {
            let output = once_command(case, candidate, folder)?.output()?;
            ensure!(output.status.success(), "{}: it failed alone", case.name);
            let kib: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
            let name = format!("`{}`", candidate.name());
            let mib = format!("{:.1}", kib as f64 / 1024.0);
            row(text, [case.name, &name, &mib]);
        }
    }
    Ok(())
}

/// Instructions for each key: the difference between two runs, which leaves out what a process does once.
fn instructions(text: &mut String, folder: &Path) -> Result<()> {
    if !callgrind::is_present() {
        text.push_str("valgrind is not installed: no instructions were counted.\n");
        return Ok(());
    }
    let folders = INSTRUCTION_KEYS.map(|keys| (keys, folder.join(keys.to_string())));
    for (keys, folder) in &folders {
        std::fs::create_dir(folder)?;
        files::write(folder, *keys)?;
    }
    let row =
        |text: &mut String, cells: [&str; 3]| line(text, cells.map(str::to_owned).into_iter());
    row(text, ["case", "candidate", "instructions a key"]);
    row(text, ["---", "---", "---:"]);
    for case in CASES.iter().filter(|case| case.one_core) {
        // Making the report costs the same however many keys there are.
        let candidates = case.candidates.iter();
        for &candidate in candidates.filter(|&&it| it != Candidate::Report) {
            let mut counts = [0; 2];
            for (count, (_, folder)) in counts.iter_mut().zip(&folders) {
                let command = once_command(case, candidate, folder)?;
                *count = callgrind::instructions(&command, folder)?;
            }
            let [few, many] = INSTRUCTION_KEYS;
            let each = counts[1].saturating_sub(counts[0]) as f64 / (many - few) as f64;
            let name = format!("`{}`", candidate.name());
            row(text, [case.name, &name, &format!("{each:.0}")]);
        }
    }
    Ok(())
}

/// What the candidates of a scheme need, built once.
struct SetUp {
    scheme: &'static str,
    change: Change,
    nodes: usize,
    before: Owners,
    after: Owners,
}

impl SetUp {
    fn new(scheme: &'static str) -> Result<Self> {
        let parsed: Scheme = scheme.parse()?;
        let members = (0..=NODES).map(|number| Ok(Member::new(NodeId::new(&node(number))?)));
        let after_list = Membership::new(members.collect::<Result<Vec<_>>>()?)?;
        let before_list = after_list.without(&NodeId::new(&node(NODES))?)?;
        // What `clockwise plan` takes for a list of nodes.
        let build = |list: &Membership| -> Result<Placement> {
            Ok(Placement::build(&parsed, list)?.with_key_rule(KeyRule::RedisTag)?)
        };
        let (before, after) = (build(&before_list)?, build(&after_list)?);
        let numbers: BTreeMap<String, usize> =
            (0..=NODES).map(|number| (node(number), number)).collect();
        Ok(Self {
            scheme,
            nodes: numbers.len(),
            before: Owners::new(&before, &numbers),
            after: Owners::new(&after, &numbers),
            change: Change::new((before, &before_list), (after, &after_list), false)?,
        })
    }

    /// `reader` are the cores among which the thread that reads has one of its own.
    fn run(
        &self,
        candidate: Candidate,
        form: Form,
        folder: &Path,
        reader: Option<&Cores>,
    ) -> Result<()> {
        let path = form.path(folder);
        match candidate {
            Candidate::LinesAndHash => {
                bare::lines_and_hash(&path)?;
            }
            Candidate::Decode => {
                bare::decode(&path, form)?;
            }
            Candidate::Naive => {
                naive::count(&path, self.nodes, &self.before, &self.after)?;
            }
            Candidate::ReadAndHash => {
                let mut sum = 0_u64;
                read(&path, reader, |record| {
                    sum = sum.wrapping_add(xxh3_64(record.key));
                })?;
                std::hint::black_box(sum);
            }
            Candidate::Count => {
                std::hint::black_box(self.count(&path, reader)?);
            }
            Candidate::Report => {
                std::hint::black_box(plan_document(&self.plan(&path, reader)?).text());
            }
        }
        Ok(())
    }

    fn count(&self, path: &Path, reader: Option<&Cores>) -> Result<Counts> {
        let mut census = Census::new(&self.change);
        read(path, reader, |record| {
            census.add(record.key, record.requests, record.bytes);
        })?;
        Ok(census.finish()?)
    }

    fn plan(&self, path: &Path, reader: Option<&Cores>) -> Result<Plan> {
        Ok(Plan::new(PlanInput {
            change: &self.change,
            counts: self.count(path, reader)?,
            source: Source {
                text: String::new(),
                basis: Basis::Exact,
                each_key_once: true,
                of_memcached: false,
                bad_lines: 0,
                partial: false,
            },
            load: Load::default(),
            limits: Vec::new(),
            warnings: Vec::new(),
            stop: std::sync::Arc::default(),
        })?)
    }

    /// That every candidate does the whole work and the planner counts what naive code counts.
    fn check(&self, folder: &Path, keys: u64) -> Result<()> {
        let path = Form::Plain.path(folder);
        let naive = naive::count(&path, self.nodes, &self.before, &self.after)?;
        ensure!(bare::lines_and_hash(&path)? == keys, "lines are missing");
        ensure!(naive.keys == keys, "keys are missing from the naive count");
        for form in Form::ALL {
            let plan = self.plan(&form.path(folder), None)?;
            let counted = (plan.keys, plan.moved.keys);
            let (scheme, wanted) = (self.scheme, (keys, naive.moved));
            ensure!(
                counted == wanted,
                "{scheme}, {form:?}: {counted:?}, not {wanted:?} keys and moves"
            );
            let bytes = bare::decode(&form.path(folder), form)?;
            let wanted = path.metadata()?.len();
            ensure!(bytes == wanted, "{form:?}: {bytes} bytes, not {wanted}");
        }
        Ok(())
    }
}

/// Reads as `clockwise plan` does.
fn read(path: &Path, reader: Option<&Cores>, each: impl FnMut(Record<'_>)) -> Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut options = ReadOptions::new(path.display().to_string());
    options.expected_bytes = Some(file.metadata()?.len());
    let source: Box<dyn Read + Send> = match reader {
        None => Box::new(file),
        Some(cores) => Box::new(Elsewhere {
            file,
            cores: Some(*cores),
        }),
    };
    read_keys(source, options, each, |_| {})?;
    Ok(())
}

/// A file whose reader goes to another core than the one that the count has. Schedulers differ in how soon they would
/// do that.
struct Elsewhere {
    file: File,
    /// Until the first read.
    cores: Option<Cores>,
}

impl Read for Elsewhere {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(cores) = self.cores.take() {
            cores.take_others()?;
        }
        self.file.read(buffer)
    }
}

impl Candidate {
    fn name(self) -> &'static str {
        match self {
            Self::LinesAndHash => "lines+hash",
            Self::Decode => "decode",
            Self::Naive => "naive",
            Self::ReadAndHash => "read+hash",
            Self::Count => "clockwise",
            Self::Report => "clockwise+report",
        }
    }
}

fn node(number: usize) -> String {
    format!("cache-{number}")
}

fn goal(case: &Case, candidate: Candidate) -> &'static str {
    match (case.name, candidate) {
        ("planner/plain", Candidate::Count) => "time / hash <= 2.5, speed / naive >= 4.5",
        _ => "",
    }
}

const NODES: usize = 100;
const RING: &str = "ring,tokens=160";
const SLOTS: &str = "slots";

/// Enough keys that what differs between two runs is the work on keys, few enough for callgrind.
const INSTRUCTION_KEYS: [u64; 2] = [10_000, 60_000];
