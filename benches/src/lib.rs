//! Measures how fast clockwise is, beside plain code in the same run, and prints a table.
//!
//! What it is: one subcommand for each thing that is measured. What it promises: every candidate of a table runs once in
//! each round, so that what slows the machine slows them all. What it does not: judge. Goals are printed beside the
//! figures, and no exit code depends on a clock. Cost: some minutes; `--quick` takes a tenth. Linux only.

mod callgrind;
mod keys;
mod machine;
mod placement;
mod planner;
mod rounds;
mod table;

pub use placement::{Measure, memory};

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
        Command::Planner(options) => planner::run(&options),
        Command::PlannerOnce {
            case,
            candidate,
            folder,
        } => planner::once(&case, &candidate, &folder),
    }
}
