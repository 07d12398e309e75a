//! `clockwise advise`: help to choose, with reasons and numbers.

mod tokens;

use std::process::ExitCode;

use crate::args::AdviseCommand;
use crate::failure::Failure;

pub(crate) fn run(command: &AdviseCommand) -> Result<ExitCode, Failure> {
    match command {
        AdviseCommand::Tokens(args) => tokens::run(args),
    }
}

/// The exit code of an answer: 1 where it is no. A gate must not open because nobody reads the reasons.
fn verdict(ok: bool, printed: Result<(), Failure>) -> Result<ExitCode, Failure> {
    match printed {
        Err(failure) if !failure.is_closed_output() => Err(failure),
        _ if ok => Ok(ExitCode::SUCCESS),
        _ => Ok(ExitCode::from(1)),
    }
}
