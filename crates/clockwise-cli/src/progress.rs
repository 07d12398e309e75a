//! Progress on stderr for anything that takes over a second: a bar where stderr is a terminal, else a line each 5 s.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use clockwise_plan::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::clock::Moment;
use crate::output::note;

/// Progress of one pass over keys, or other work that is counted.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Moment,
    last_line: Duration,
    total: Option<u64>,
    unit: Unit,
    bar: Option<ProgressBar>,
}

/// What `done` and `total` count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unit {
    Bytes,
    Keys,
    Rings,
    Candidates,
    /// Schemes of a comparison.
    Schemes,
    /// Rounds of timing.
    Rounds,
    /// Bytes of a table, whose rows are told beside them.
    TableBytes,
    /// Bytes of a log, whose statements are told beside them.
    LogBytes,
}

impl Unit {
    /// What is told beside the total, and what is done with it.
    fn items(self) -> (&'static str, &'static str) {
        match self {
            Self::Bytes | Self::Keys => ("read", "keys"),
            Self::Rings => ("built", "rings"),
            Self::Candidates => ("measured", "candidates"),
            Self::Schemes => ("compared", "schemes"),
            Self::Rounds => ("timed", "rounds"),
            Self::TableBytes => ("read", "rows"),
            Self::LogBytes => ("read", "statements"),
        }
    }
}

impl Progress {
    /// Progress towards `total`, if it is known.
    pub(crate) fn new(total: Option<u64>, unit: Unit) -> Self {
        Self {
            started: Moment::now(),
            last_line: Duration::ZERO,
            total,
            unit,
            bar: None,
        }
    }

    /// Tells how far the pass is: `done` of the total, and `keys` read.
    pub(crate) fn update(&mut self, done: u64, keys: u64) {
        let elapsed = self.started.elapsed();
        if elapsed < QUIET {
            return;
        }
        let (verb, items) = self.unit.items();
        if stderr().is_terminal() {
            let (total, unit) = (self.total, self.unit);
            let bar = self.bar.get_or_insert_with(|| bar(total, unit));
            bar.set_position(done);
            bar.set_message(format!(
                "{} {items}, {} a second",
                grouped(keys),
                grouped(per_second(keys, elapsed))
            ));
        } else if elapsed - self.last_line >= BETWEEN_LINES {
            self.last_line = elapsed;
            let share = match self.total {
                Some(total) if total > 0 => format!(" ({} %)", 100 * done.min(total) / total),
                _ => String::new(),
            };
            note(&format!(
                "{verb} {} {items}{share}, {} a second",
                grouped(keys),
                grouped(per_second(keys, elapsed))
            ));
        }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: Option<u64>, unit: Unit) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10));
    let counter = match unit {
        Unit::Bytes | Unit::TableBytes | Unit::LogBytes => "{bytes}/{total_bytes}",
        Unit::Keys | Unit::Rings | Unit::Candidates | Unit::Schemes | Unit::Rounds => {
            "{human_pos}/{human_len}"
        }
    };
    let template = match total {
        Some(_) => format!("{{bar:30}} {counter} {{msg}}, {{eta}} left"),
        None => "{spinner} {msg}".to_owned(),
    };
    // The template is one of the texts above; a bar without it would still count.
    ProgressStyle::with_template(&template).map_or(bar.clone(), |style| bar.with_style(style))
}

fn per_second(keys: u64, elapsed: Duration) -> u64 {
    (keys as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

/// Shorter passes show nothing.
const QUIET: Duration = Duration::from_secs(1);
const BETWEEN_LINES: Duration = Duration::from_secs(5);
