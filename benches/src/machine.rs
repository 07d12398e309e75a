//! Where and on what a table was measured, and on which cores.
//!
//! What it promises: what the system itself says, `unknown` where it says nothing. Cost: a few files of `/proc`, and one
//! run each of git and rustc. Source: proc(5), sched(7).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What stands above a table.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Processor and number of cores.
    pub(crate) name: String,
    /// The commit that is checked out, and `+changes` where files differ from it.
    pub(crate) commit: String,
    pub(crate) rustc: String,
    /// Runnable threads over the last minute, before the run.
    pub(crate) load: String,
}

impl Machine {
    pub(crate) fn here() -> Self {
        let commit = match said("git", &["rev-parse", "--short=12", "HEAD"]) {
            Some(commit) if said("git", &["status", "--porcelain", "-uno"]).is_some() => {
                format!("{commit}+changes")
            }
            Some(commit) => commit,
            None => UNKNOWN.to_owned(),
        };
        Self {
            name: format!("{}, {} cores", processor(), cores()),
            commit,
            rustc: said("rustc", &["--version"]).unwrap_or_else(|| UNKNOWN.to_owned()),
            load: fs::read_to_string("/proc/loadavg")
                .ok()
                .and_then(|text| text.split(' ').next().map(str::to_owned))
                .unwrap_or_else(|| UNKNOWN.to_owned()),
        }
    }
}

/// The cores that this process may use, to run on one of them or on all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    all: CpuSet,
    one: CpuSet,
    /// All but that one; the same where there is no other.
    others: CpuSet,
}

impl Cores {
    pub(crate) fn available() -> Result<Self> {
        let all = sched_getaffinity(None).context("cannot tell which cores may be used")?;
        // The last one: the first tends to serve interrupts.
        let last = (0..CpuSet::MAX_CPU)
            .rev()
            .find(|&core| all.is_set(core))
            .context("no core may be used")?;
        let mut one = CpuSet::new();
        one.set(last);
        let mut others = all;
        others.unset(last);
        if others.count() == 0 {
            others = one;
        }
        Ok(Self { all, one, others })
    }

    /// From now on this thread, and those that it starts, run on a single core.
    pub(crate) fn take_one(&self) -> Result<()> {
        sched_setaffinity(None, &self.one).context("cannot stay on one core")
    }

    /// From now on this thread runs on any core but the one of [`take_one`](Self::take_one).
    pub(crate) fn take_others(&self) -> Result<(), rustix::io::Errno> {
        sched_setaffinity(None, &self.others)
    }

    /// From now on this thread, and those that it starts, run on any core.
    pub(crate) fn take_all(&self) -> Result<()> {
        sched_setaffinity(None, &self.all).context("cannot run on all cores")
    }
}

/// The most memory that this process has held, in KiB.
pub(crate) fn peak_memory_kib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"));
    peak.context("no VmHWM in /proc/self/status")?
        .parse()
        .context("VmHWM in /proc/self/status")
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split_once(": "));
    model.map_or_else(|| UNKNOWN.to_owned(), |(_, name)| name.to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What a command prints about this checkout; `None` where it fails or prints nothing.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

const UNKNOWN: &str = "unknown";
