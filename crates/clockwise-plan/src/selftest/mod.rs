//! The self-test: whether this build, on this machine, places keys as it must.
//!
//! What it is: checks of two kinds. Vectors: hashes, jump, Redis slots and every scheme against answers that other
//! programs gave. Hashing: what the founding article 004 asks of any ring and of modulo. What it promises: no panic,
//! whatever the vectors say; the same checks in the same order on every machine. What it does not: test files,
//! networks or speed. Cost: below a second, and 300 kB of vectors in the program. Source: `vectors/` and its README;
//! article 004's self-test, from `vectors/articles.json`.

mod hashing;
mod schemes;
mod vectors;

use serde::Serialize;

pub use hashing::{MOVED_TOLERANCE, SPREAD_OF_1_OVER, SPREAD_OF_500_UNDER};

/// One thing that has to hold.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Check {
    /// What has to hold.
    pub name: String,
    /// Whether it does.
    pub ok: bool,
}

/// Runs all checks.
#[must_use]
pub fn checks() -> Vec<Check> {
    let mut checks = vectors::checks();
    checks.extend(schemes::checks());
    checks.extend(hashing::checks());
    checks
}

/// A check that fails where something is missing.
fn check(name: impl Into<String>, holds: Option<bool>) -> Check {
    Check {
        name: name.into(),
        ok: holds == Some(true),
    }
}
