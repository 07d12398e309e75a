//! `clockwise advise`: help to choose, with reasons and numbers.

mod scheme;
mod shard;
mod shard_key;
mod tokens;
mod weights;

use std::process::ExitCode;

use clockwise_plan::advise::Advice;
use clockwise_plan::document::Document;
use serde::Serialize;

use crate::args::AdviseCommand;
use crate::failure::Failure;
use crate::form::{Form, FormArgs, command_line};

pub(crate) fn run(command: &AdviseCommand) -> Result<ExitCode, Failure> {
    match command {
        AdviseCommand::Scheme(args) => scheme::run(args),
        AdviseCommand::Shard(args) => shard::run(args),
        AdviseCommand::Weights(args) => weights::run(args),
        AdviseCommand::ShardKey(args) => shard_key::run(args),
        AdviseCommand::Tokens(args) => tokens::run(args),
    }
}

/// Prints an advice and gives its exit code.
fn finish<T: Serialize, M: Serialize>(
    form: &FormArgs,
    advice: &Advice<T, M>,
    document: impl FnOnce() -> Document,
) -> Result<ExitCode, Failure> {
    let printed = form.print(advice, |form| match form {
        Form::Text | Form::Json => document(),
        Form::Markdown | Form::Html => document().with_command(command_line()),
    });
    verdict(advice.ok, printed)
}

/// The exit code of an answer: 1 where it is no. A gate must not open because nobody reads the reasons.
fn verdict(ok: bool, printed: Result<(), Failure>) -> Result<ExitCode, Failure> {
    match printed {
        Err(failure) if !failure.is_closed_output() => Err(failure),
        _ if ok => Ok(ExitCode::SUCCESS),
        _ => Ok(ExitCode::from(1)),
    }
}
