//! Measures how fast clockwise is, beside plain code in the same run, and prints a table.
//!
//! What it is: one subcommand for each thing that is measured. What it promises: every candidate of a table runs once in
//! each round, so that what slows the machine slows them all. What it does not: judge. Goals are printed beside the
//! figures, and no exit code depends on a clock. Cost: some minutes; `--quick` takes a tenth. Linux only.

mod callgrind;
mod keys;
mod machine;
mod memory;
mod placement;
mod planner;
mod rounds;
mod scale;
mod table;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    name = "benches/run",
    about = "Measures clockwise beside plain code and other crates"
)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look keys up, build and change placements, beside every other crate that does
    Placement(placement::Options),
    /// Look the first keys up by one candidate once, for the count of instructions
    #[command(hide = true)]
    PlacementOnce {
        case: String,
        candidate: String,
        nodes: usize,
        keys: usize,
    },
    /// Build, hold and look up placements of growing size; write a table and plots
    Scale(scale::Options),
    /// Count what moves between 100 and 101 nodes for the keys of a file
    Planner(planner::Options),
    /// Run one candidate of the planner once and print its peak memory in KiB
    #[command(hide = true)]
    PlannerOnce {
        case: String,
        candidate: String,
        folder: PathBuf,
    },
}

/// Does what the arguments of the process say.
///
/// # Errors
/// Whatever stood in the way, in words.
pub fn run() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Placement(options) => placement::run(&options),
        Command::PlacementOnce {
            case,
            candidate,
            nodes,
            keys,
        } => placement::once(&case, &candidate, nodes, keys),
        Command::Scale(options) => scale::run(&options),
        Command::Planner(options) => planner::run(&options),
        Command::PlannerOnce {
            case,
            candidate,
            folder,
        } => planner::once(&case, &candidate, &folder),
    }
}

/// Runs what it is given and returns the bytes that this left allocated, and the most that it had allocated on the way.
pub type Measure = fn(&mut dyn FnMut()) -> (u64, u64);

/// Prints the memory of each build of the benchmark that the first argument names, a line for each: three columns that
/// name it, bytes held, most bytes.
///
/// # Errors
/// A build fails, or standard output cannot be written to.
pub fn memory(measure: Measure) -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("scale") => scale::memory(measure),
        _ => placement::memory(measure),
    }
}
