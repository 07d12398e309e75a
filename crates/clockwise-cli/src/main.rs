//! The command `clockwise`: reads arguments and files, calls the library or the planner, prints the answer.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 the answer is no, 2 wrong usage or bad
//! input, 3 something could not be reached, 130 stopped by Ctrl-C.

mod args;
mod clock;
mod commands;
mod failure;
mod interrupt;
mod keys;
mod membership;
mod nearest;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let done = match args.command {
        args::Command::Plan(plan) => commands::plan::run(&plan),
        args::Command::Locate(locate) => commands::locate::run(&locate),
        args::Command::Inspect(inspect) => commands::inspect::run(&inspect),
    };
    done.unwrap_or_else(failure::Failure::report)
}
