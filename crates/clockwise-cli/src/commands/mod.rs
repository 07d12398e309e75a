//! One module a command: each reads its arguments, calls the library or the planner, and prints.

pub(crate) mod advise;
mod change;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod inspect;
pub(crate) mod locate;
pub(crate) mod man;
pub(crate) mod plan;
pub(crate) mod selftest;
pub(crate) mod tables;
