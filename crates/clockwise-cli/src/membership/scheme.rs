//! Schemes, key rules and secrets as texts, with the nearest known name in the hint.

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
        _ => None,
    };
    Failure::usage(error).maybe_hint(hint)
}

/// A key rule in its written form.
pub(crate) fn parse_key_rule(text: &str) -> Result<KeyRule, Failure> {
    text.parse().map_err(Failure::usage)
}

/// The secret that `env:NAME` or `file:PATH` holds. Its value appears in no message.
pub(crate) fn read_secret(reference: &str) -> Result<SecretKey, Failure> {
    let text = match reference.split_once(':') {
        Some(("env", name)) => std::env::var(name)
            .map_err(|error| Failure::usage(format!("hash key {reference}: {error}")))?,
        Some(("file", path)) => std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("hash key {reference}: {error}")))?,
        _ => {
            return Err(Failure::usage(format!(
                "hash key {reference:?}: must be env:NAME or file:PATH"
            )));
        }
    };
    text.trim()
        .parse()
        .map_err(|error| Failure::usage(format!("hash key {reference}: {error}")))
}
