//! How a command ends when it cannot do what was asked.

use std::fmt::Display;
use std::process::ExitCode;

use crate::output::note;

/// A message for people, a hint if the fix is known, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// Wrong usage or bad input: exit code 2.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            code: 2,
        }
    }

    /// A remote end that cannot be reached, or does not do its part: exit code 3.
    pub(crate) fn unreachable(message: impl Display) -> Self {
        Self {
            code: 3,
            ..Self::usage(message)
        }
    }

    /// The same failure with the place where its cause stands.
    pub(crate) fn at(self, place: impl Display) -> Self {
        Self {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }

    /// The same failure with a way out.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The same failure with a way out, if there is one.
    pub(crate) fn maybe_hint(self, hint: Option<String>) -> Self {
        Self {
            hint: hint.or(self.hint),
            ..self
        }
    }

    /// Output that nobody reads any more, as when `head` has seen enough: nothing to report.
    pub(crate) fn closed_output() -> Self {
        Self {
            message: String::new(),
            hint: None,
            code: 0,
        }
    }

    /// Whether the reader of the output went away.
    pub(crate) fn is_closed_output(&self) -> bool {
        self.code == 0
    }

    /// Prints the failure to stderr and gives its exit code.
    pub(crate) fn report(self) -> ExitCode {
        if self.code != 0 {
            note(&format!("error: {}", self.message));
            if let Some(hint) = self.hint {
                note(&format!("hint: {hint}"));
            }
        }
        ExitCode::from(self.code)
    }
}
