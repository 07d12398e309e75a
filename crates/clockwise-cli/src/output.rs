//! Writing data to stdout and notes to stderr.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Buffered standard output that ends the command quietly when its reader is gone.
pub(crate) struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    pub(crate) fn new() -> Self {
        Self(BufWriter::with_capacity(64 * 1024, io::stdout().lock()))
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.0
            .write_all(text.as_bytes())
            .map_err(|error| explain(&error))
    }

    /// One value as one line of JSON.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.0, value).map_err(|error| explain(&error.into()))?;
        self.write("\n")
    }

    /// One value as indented JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.0, value).map_err(|error| explain(&error.into()))?;
        self.write("\n")
    }

    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.0.flush().map_err(|error| explain(&error))
    }
}

/// A line for the person at the terminal; lost without complaint when nobody reads stderr.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn explain(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::closed_output(),
        _ => Failure::usage(format!("stdout: {error}")),
    }
}
