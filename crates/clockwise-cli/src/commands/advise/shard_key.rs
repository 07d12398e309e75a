//! `clockwise advise shard-key`: which column to shard a table by.

use std::fs::File;
use std::io::{Read, stdin};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise_plan::advise::shard_key::{Queries, ShardKeyCount, document, read_queries};
use clockwise_plan::grouped;
use clockwise_plan::keys::{BadLine, ReadOptions, read_rows};

use super::finish;
use crate::args::ShardKeyArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::note;
use crate::progress::{Progress, Unit};

pub(crate) fn run(args: &ShardKeyArgs) -> Result<ExitCode, Failure> {
    args.form.form()?;
    let stop = interrupt::watch_briefly()?;
    let stopped = || Ok(ExitCode::from(interrupt::EXIT_CODE));
    // The rows are opened first, so that a wrong name is not found out after the log was read.
    let rows = open("--rows", &args.rows)?;
    let queries = args
        .query_log
        .as_deref()
        .map(|log| queries(args, log, &stop))
        .transpose()?;
    if queries
        .as_ref()
        .is_some_and(|queries| !queries.is_complete())
    {
        return stopped();
    }
    let mut count = ShardKeyCount::new(args.shards, queries)
        .ok_or_else(|| Failure::usage(format!("--shards {}: cannot be placed", args.shards)))?;
    let mut options = options(&args.rows, &rows, &stop);
    options.max_bad_share = args.max_bad;
    let mut progress = Progress::new(rows.bytes, Unit::TableBytes);
    let summary = read_rows(
        rows.source,
        &options,
        |columns, row| count.add(columns, row),
        |done| progress.update(done.bytes_read, done.records),
    )
    .map_err(|error| Failure::usage(&error).maybe_hint(error.hint()))?;
    progress.finish();
    if !summary.complete {
        return stopped();
    }
    check_columns(&args.rows, &summary.columns)?;
    if count.rows() == 0 {
        return Err(Failure::usage(format!(
            "{}: there are no rows in it",
            args.rows
        )));
    }
    say_bad("rows", &args.rows, summary.bad_lines, &summary.first_bad);
    if count.columns_left_out() > 0 {
        note(&format!(
            "{} columns are left out: only the first are looked at",
            grouped(count.columns_left_out() as u64)
        ));
    }
    let advice = count.advice(summary.bad_lines);
    finish(&args.form, &advice, || document(&advice))
}

fn queries(args: &ShardKeyArgs, log: &str, stop: &Arc<AtomicBool>) -> Result<Queries, Failure> {
    let opened = open("--query-log", log)?;
    let options = options(log, &opened, stop);
    let mut progress = Progress::new(opened.bytes, Unit::LogBytes);
    let read = read_queries(opened.source, &options, args.table.as_deref(), |done| {
        progress.update(done.bytes_read, done.records);
    });
    progress.finish();
    let queries = read.map_err(|error| Failure::usage(&error).maybe_hint(error.hint()))?;
    if stop.load(Ordering::Relaxed) {
        return Ok(queries);
    }
    let statements = queries.statements();
    for bad in &statements.first_bad {
        note(&format!("{log}: line {}: {}", bad.line, bad.reason));
    }
    queries
        .judge(log, args.max_bad)
        .map_err(|error| Failure::usage(error).hint("mend them, or allow more with --max-bad"))?;
    if statements.queries == 0 {
        let failure = match &args.table {
            Some(table) => Failure::usage(format!(
                "{log}: no statement looks for rows of {table} or changes any"
            ))
            .hint("is the table spelt so in the log?"),
            None => Failure::usage(format!("{log}: no statement looks for rows or changes any")),
        };
        return Err(failure);
    }
    Ok(queries)
}

/// An input with its size, if it is a file.
struct Opened {
    source: Box<dyn Read + Send>,
    bytes: Option<u64>,
}

fn open(option: &str, path: &str) -> Result<Opened, Failure> {
    if path == "-" && option == "--rows" {
        return Ok(Opened {
            source: Box::new(stdin()),
            bytes: None,
        });
    }
    let refuse =
        |error: &dyn std::fmt::Display| Failure::usage(format!("{option} {path}: {error}"));
    let file = File::open(path).map_err(|error| refuse(&error))?;
    let about = file.metadata().map_err(|error| refuse(&error))?;
    if about.is_dir() {
        return Err(refuse(&"is a directory").hint("name a file in it"));
    }
    Ok(Opened {
        source: Box::new(file),
        bytes: about.is_file().then_some(about.len()),
    })
}

fn options(name: &str, opened: &Opened, stop: &Arc<AtomicBool>) -> ReadOptions {
    let mut options = ReadOptions::new(if name == "-" { "stdin" } else { name });
    options.expected_bytes = opened.bytes;
    options.stop = Arc::clone(stop);
    options
}

fn check_columns(name: &str, columns: &[String]) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeSet::new();
    for column in columns {
        if column.is_empty() {
            return Err(
                Failure::usage(format!("{name}: a column of the header has no name"))
                    .hint("the first line names the columns"),
            );
        }
        if !seen.insert(column.to_lowercase()) {
            return Err(Failure::usage(format!(
                "{name}: two columns are named {column}"
            )));
        }
    }
    Ok(())
}

fn say_bad(what: &str, name: &str, bad: u64, first: &[BadLine]) {
    if bad > 0 {
        note(&format!(
            "{name}: {} bad {what} were left out",
            grouped(bad)
        ));
        for line in first {
            note(&format!("{name}: line {}: {}", line.line, line.reason));
        }
    }
}
