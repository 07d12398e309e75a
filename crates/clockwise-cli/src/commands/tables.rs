//! `clockwise tables`: the founding articles' published figures, computed anew.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use clockwise_plan::grouped;
use clockwise_plan::tables::{Part, Row};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::Value;

use crate::args::TablesArgs;
use crate::clock::Moment;
use crate::failure::Failure;
use crate::output::{Output, note};

/// The form of `--json`.
#[derive(Serialize)]
struct Recomputed {
    rows: Vec<Row>,
    seconds: f64,
}

pub(crate) fn run(args: &TablesArgs) -> Result<ExitCode, Failure> {
    let started = Moment::now();
    let rows = recompute(started);
    let recomputed = Recomputed {
        rows,
        seconds: started.elapsed().as_millis() as f64 / 1000.0,
    };
    let agrees = recomputed.rows.iter().all(|row| row.agrees);
    let mut output = Output::new();
    if args.json {
        output.json(&recomputed)?;
    } else {
        output.write(&render(&recomputed, args.all))?;
    }
    output.finish()?;
    Ok(if agrees {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// All rows in the order of the parts, which are shared out among the processors.
fn recompute(started: Moment) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<Row>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = Part::ALL.get(place) else {
                return;
            };
            let rows = part.recompute();
            // A thread that panics ends the command, so that nobody meets its lock.
            let mut done = done.lock().expect("no thread has panicked");
            done.push((place, rows));
            if started.elapsed() >= QUIET {
                note(&format!(
                    "computed {} of {} parts: {}",
                    done.len(),
                    Part::ALL.len(),
                    part.title()
                ));
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 1..threads.min(Part::ALL.len()) {
            scope.spawn(work);
        }
        work();
    });
    // The scope has ended, and with it every thread; it would have passed a panic on.
    let mut done = done.into_inner().expect("no thread has panicked");
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().flat_map(|(_, rows)| rows).collect()
}

fn render(recomputed: &Recomputed, all: bool) -> String {
    let rows = &recomputed.rows;
    let agree = rows.iter().filter(|row| row.agrees).count();
    let mut text = format!(
        "{} published figures, {} agree, {} differ, in {:.1} s\n",
        grouped(rows.len() as u64),
        grouped(agree as u64),
        grouped((rows.len() - agree) as u64),
        recomputed.seconds
    );
    let shown: Vec<&Row> = rows.iter().filter(|row| all || !row.agrees).collect();
    if shown.is_empty() {
        return text;
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["figure", "computed", "published", ""]);
    for row in shown {
        let verdict = if row.agrees { "" } else { "differs" };
        table.add_row([
            row.pointer.as_str(),
            &plain(&row.value),
            &plain(&row.published),
            verdict,
        ]);
    }
    table.column_iter_mut().skip(1).take(2).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    text.push('\n');
    for line in table.lines() {
        text.push_str(&format!(" {}\n", line.trim_end()));
    }
    text
}

/// A figure without the quotes of JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A shorter run says nothing until its answer.
const QUIET: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use clockwise_plan::tables::compare;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_figure_that_differs_is_counted_and_shown() {
        let published = json!({"a": {"moved": 41, "share": 0.5, "token": "00ff"}});
        let computed = json!({"moved": 42, "share": 0.5, "token": "00ff", "new": 1});
        let recomputed = Recomputed {
            rows: compare(&published, vec![("/a".to_owned(), computed)]),
            seconds: 1.25,
        };
        let text = render(&recomputed, false);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert!(text.starts_with("4 published figures, 2 agree, 2 differ, in 1."));
        assert!(
            lines.contains(&vec!["/a/moved", "42", "41", "differs"]),
            "{text}"
        );
        assert!(
            lines.contains(&vec!["/a/new", "1", "-", "differs"]),
            "{text}"
        );
        assert!(!text.contains("/a/token"));
        let all = render(&recomputed, true);
        assert!(
            all.contains("/a/token") && all.contains("/a/share"),
            "{all}"
        );
    }
}
