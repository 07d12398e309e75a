//! The log of queries: how often each column is named, changed and joined by.
//!
//! Promises counts by column, and the pairs of columns that are bound together; a statement that does not parse is counted
//! and the first are shown. Memory by columns, not by statements. Cost: parsing, on a thread with a stack of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::atomic::Ordering;
use std::thread;

use serde::Serialize;

use super::Statements;
use super::sql::{Bound, Facts, facts, parse};
use crate::keys::{KeyError, Progress, ReadOptions, StatementText, read_statements};

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queries {
    parsed: u64,
    queries: u64,
    inserts: u64,
    bad: u64,
    first_bad: Vec<BadStatement>,
    columns: BTreeMap<String, Named>,
    together: BTreeMap<(String, String), u64>,
    unique: BTreeSet<Vec<String>>,
    complete: bool,
}

/// How often a column is named.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Named {
    pub(super) one: u64,
    pub(super) few: u64,
    pub(super) joined: u64,
    pub(super) changed: u64,
}

/// A statement that did not parse.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct BadStatement {
    /// The line on which it begins.
    pub line: u64,
    /// What the parser said.
    pub reason: String,
}

/// More bad statements than allowed.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {bad} of {all} statements do not parse, more than {most} of them")]
pub struct TooManyBad {
    /// The log.
    pub name: String,
    /// Statements that do not parse.
    pub bad: u64,
    /// All statements.
    pub all: u64,
    /// The share that is allowed.
    pub most: f64,
}

/// Reads a log; `table` is the one that is to be sharded, all tables count where it is left out.
///
/// # Errors
/// As [`read_statements`].
pub fn read_queries(
    source: Box<dyn Read + Send>,
    options: &ReadOptions,
    table: Option<&str>,
    progress: impl FnMut(&Progress) + Send,
) -> Result<Queries, KeyError> {
    let io = |source| KeyError::Io {
        name: options.name.clone(),
        source,
    };
    let read = || {
        let mut queries = Queries::default();
        let complete = read_statements(
            source,
            options,
            |statement| {
                if !options.stop.load(Ordering::Relaxed) {
                    queries.add(statement, table);
                }
            },
            progress,
        )?;
        queries.complete = complete;
        Ok(queries)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, read);
        thread
            .map_err(io)?
            .join()
            .unwrap_or_else(|_| Err(io(std::io::Error::other("the parser of SQL has died"))))
    })
}

impl Queries {
    fn add(&mut self, statement: StatementText<'_>, table: Option<&str>) {
        let parsed = match statement.bytes.map(std::str::from_utf8) {
            None => Err("it is longer than 64 KiB".to_owned()),
            Some(Err(_)) => Err("it is not UTF-8".to_owned()),
            Some(Ok(text)) => parse(text).map_err(|error| error.to_string()),
        };
        match parsed {
            Ok(statements) => {
                for one in &statements {
                    self.parsed += 1;
                    self.count(facts(one, table));
                }
            }
            Err(reason) => {
                self.bad += 1;
                if self.first_bad.len() < MOST_FIRST_BAD {
                    let line = statement.line;
                    self.first_bad.push(BadStatement { line, reason });
                }
            }
        }
    }

    fn count(&mut self, facts: Facts) {
        let one: Vec<&String> = facts
            .bound
            .iter()
            .filter(|(_, bound)| **bound == Bound::One)
            .map(|(column, _)| column)
            .collect();
        for (place, first) in one.iter().enumerate() {
            for second in &one[place + 1..] {
                if self.together.len() < MOST_TOGETHER
                    || self
                        .together
                        .contains_key(&((*first).clone(), (*second).clone()))
                {
                    *self
                        .together
                        .entry(((*first).clone(), (*second).clone()))
                        .or_default() += 1;
                }
            }
        }
        if facts.is_query {
            self.queries += 1;
            for (column, bound) in &facts.bound {
                let named = self.column(column);
                match bound {
                    Bound::One => named.one += 1,
                    Bound::Few => named.few += 1,
                }
            }
        }
        self.inserts += u64::from(facts.is_insert);
        facts
            .joined
            .iter()
            .for_each(|column| self.column(column).joined += 1);
        facts
            .changed
            .iter()
            .for_each(|column| self.column(column).changed += 1);
        for key in facts.unique {
            if self.unique.len() < MOST_TOGETHER {
                self.unique.insert(key.into_iter().collect());
            }
        }
    }

    fn column(&mut self, name: &str) -> &mut Named {
        // A log can name any number of columns; those of the table come early.
        let known = self.columns.contains_key(name) || self.columns.len() < MOST_TOGETHER;
        let name = if known { name } else { "" };
        self.columns.entry(name.to_owned()).or_default()
    }

    /// Whether the log was read to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Statements that do not parse, held against the share that may.
    ///
    /// # Errors
    /// There are more.
    pub fn judge(&self, name: &str, most: f64) -> Result<(), TooManyBad> {
        let all = self.parsed + self.bad;
        if self.bad as f64 > most * all as f64 {
            return Err(TooManyBad {
                name: name.to_owned(),
                bad: self.bad,
                all,
                most,
            });
        }
        Ok(())
    }

    /// What the log held.
    #[must_use]
    pub fn statements(&self) -> Statements {
        Statements {
            parsed: self.parsed,
            queries: self.queries,
            inserts: self.inserts,
            bad: self.bad,
            first_bad: self.first_bad.clone(),
        }
    }

    /// Pairs of columns that are bound together, the most frequent first.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs: Vec<_> = self.together.iter().collect();
        pairs.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        pairs.into_iter().map(|(pair, _)| pair.clone()).collect()
    }

    pub(super) fn named(&self, column: &str) -> Named {
        self.columns
            .get(&column.to_lowercase())
            .copied()
            .unwrap_or_default()
    }

    /// How often two columns are bound to one value each.
    pub(super) fn both(&self, one: &str, other: &str) -> u64 {
        let (one, other) = (one.to_lowercase(), other.to_lowercase());
        let pair = if one <= other {
            (one, other)
        } else {
            (other, one)
        };
        self.together.get(&pair).copied().unwrap_or(0)
    }

    pub(super) fn count_of_queries(&self) -> u64 {
        self.queries
    }

    /// Unique keys that lack these columns.
    pub(super) fn unique_without(&self, columns: &[String]) -> Vec<&Vec<String>> {
        let lacks = |key: &&Vec<String>| {
            columns
                .iter()
                .any(|column| !key.contains(&column.to_lowercase()))
        };
        self.unique.iter().filter(lacks).collect()
    }
}

/// Enough to see a pattern.
const MOST_FIRST_BAD: usize = 5;
/// Columns, pairs and unique keys kept of a log.
const MOST_TOGETHER: usize = 4096;
/// A statement of 64 KiB can be a tree some 30,000 deep, of which every level takes some frames of a few hundred bytes;
/// what is not used is never touched.
const STACK_BYTES: usize = 256 << 20;
