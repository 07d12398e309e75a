//! Schemes, key rules and secrets as texts, with the nearest known name in the hint.

use std::env::VarError;
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;

use clockwise::hash::KeyHash;
use clockwise::{KeyRule, Scheme, SchemeError, SecretKey};

use crate::failure::Failure;
use crate::nearest::did_you_mean;

/// A scheme in its written form.
pub(crate) fn parse_scheme(text: &str) -> Result<Scheme, Failure> {
    text.parse().map_err(explain)
}

/// A scheme's error with a way out.
pub(crate) fn explain(error: SchemeError) -> Failure {
    let hint = match &error {
        SchemeError::UnknownScheme { name } => {
            let all = || Scheme::names().collect::<Vec<_>>();
            did_you_mean(name, all()).or_else(|| Some(format!("schemes are {}", all().join(", "))))
        }
        SchemeError::UnknownHash { hash, .. } => {
            let all = || KeyHash::ALL.map(KeyHash::name);
            did_you_mean(hash, all()).or_else(|| Some(format!("hashes are {}", all().join(", "))))
        }
        SchemeError::UnknownParameter { scheme, parameter } => parameter_hint(scheme, parameter),
        _ => None,
    };
    Failure::usage(error).maybe_hint(hint)
}

/// The nearest parameter of a scheme, or all that it has.
fn parameter_hint(scheme: &str, parameter: &str) -> Option<String> {
    let known = scheme.parse::<Scheme>().ok()?.parameters();
    did_you_mean(parameter, known.iter().copied()).or_else(|| {
        Some(if known.is_empty() {
            format!("{scheme} has no parameters")
        } else {
            format!("{scheme} has {}", known.join(", "))
        })
    })
}

/// A key rule in its written form.
pub(crate) fn parse_key_rule(text: &str) -> Result<KeyRule, Failure> {
    text.parse().map_err(Failure::usage)
}

/// The secret that `env:NAME` or `file:PATH` holds. Its value appears in no message.
pub(crate) fn read_secret(reference: &str) -> Result<SecretKey, Failure> {
    // The likeliest slip is to write the key itself where its place belongs.
    let digits = reference.rsplit([':', '/']).next().unwrap_or_default();
    let is_secret = digits.len() >= 24 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shown = if is_secret {
        "(not shown, it looks like the key itself)"
    } else {
        reference
    };
    let refuse = |error: &dyn Display| Failure::usage(format!("hash key {shown}: {error}"));
    let text = match reference.split_once(':') {
        // The error of a variable that is not Unicode would show its value.
        Some(("env", name)) => std::env::var(name).map_err(|error| match error {
            VarError::NotPresent => refuse(&error),
            VarError::NotUnicode(_) => refuse(&"environment variable is not text"),
        })?,
        Some(("file", path)) => {
            let mut text = String::new();
            File::open(path)
                .and_then(|file| file.take(MAX_SECRET_BYTES).read_to_string(&mut text))
                .map_err(|error| refuse(&error))?;
            text
        }
        // What is neither may be the secret itself.
        _ => {
            return Err(Failure::usage("hash key: must be env:NAME or file:PATH")
                .hint("the key's digits go into the variable or the file"));
        }
    };
    text.trim().parse().map_err(|error| refuse(&error))
}

/// Many times the 32 digits: a wrong file is told from a right one without being read to its end.
const MAX_SECRET_BYTES: u64 = 4096;
