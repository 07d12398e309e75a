//! `clockwise completions`: a script with which a shell completes commands and options.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::args::{Args, CompletionsArgs};
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "clockwise", &mut script);
    let mut output = Output::new();
    output.write(&String::from_utf8_lossy(&script))?;
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}
