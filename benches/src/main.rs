//! Measures how fast clockwise is, beside plain code in the same run, and prints a table.
//!
//! What it is: one subcommand for each thing that is measured. What it promises: every candidate of a table runs once in
//! each round, so that what slows the machine slows them all. What it does not: judge. Goals are printed beside the
//! figures, and no exit code depends on a clock. Cost: a minute or two; `--quick` takes a tenth. Linux only.

mod callgrind;
mod machine;
mod planner;
mod rounds;
mod table;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "benches/run", about = "Measures clockwise beside plain code")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
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

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Planner(options) => planner::run(&options),
        Command::PlannerOnce {
            case,
            candidate,
            folder,
        } => planner::once(&case, &candidate, &folder),
    }
}
