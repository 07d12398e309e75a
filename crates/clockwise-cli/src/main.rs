//! The command `clockwise`: reads arguments and files, calls the library or the planner, prints the answer.
//!
//! Data goes to stdout, everything else to stderr. It exits with 0 when done, 1 when the answer is no, 2 when arguments
//! or input cannot be taken, 3 when a remote end cannot be reached, 130 after Ctrl-C.

mod anonymise;
mod args;
mod clock;
mod commands;
mod failure;
mod form;
mod help;
mod interrupt;
mod keys;
mod machine;
mod membership;
mod nearest;
mod output;
mod progress;
#[cfg(test)]
mod reference;
mod sources;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let done = match args.command {
        args::Command::Plan(plan) => commands::plan::run(&plan),
        args::Command::Compare(compare) => commands::compare::run(&compare),
        args::Command::Locate(locate) => commands::locate::run(&locate),
        args::Command::Inspect(inspect) => commands::inspect::run(&inspect),
        args::Command::Advise(advise) => commands::advise::run(&advise),
        args::Command::Tables(tables) => commands::tables::run(&tables),
        args::Command::Selftest(selftest) => commands::selftest::run(&selftest),
        args::Command::Completions(completions) => commands::completions::run(&completions),
        args::Command::Man(man) => commands::man::run(&man),
    };
    done.unwrap_or_else(failure::Failure::report)
}
