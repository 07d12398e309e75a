//! Logs and traces of requests: each line is about keys that stand on other lines too, and equal keys are merged.
//!
//! Promises: the merged keys are handed over once the log has ended or was stopped, as [`Merge`] says. A line that
//! names no key (a command of an administrator, an empty line) is skipped; one that breaks the format is a bad line.
//! Does not: tell databases, hosts or kinds of request apart.
//! Cost: a search for the line's end, a look at each of its bytes and one look-up in the map for each key.

use std::sync::atomic::AtomicBool;

use super::columns::Names;
use super::cutter::{Cutter, Line};
use super::error::{BadLineReason, KeyError};
use super::format::Format;
use super::merge::{Merge, Merged};
use super::tally::Tally;
use super::{MAX_KEY_BYTES, MAX_LINE_BYTES, Record};

mod access;
mod commands;
mod monitor;
mod trace;

pub(super) use self::access::is_access_log;
pub(super) use self::monitor::{is_greeting, is_monitor};
pub(super) use self::trace::{is_kvcache, is_twitter};

use self::monitor::Monitor;
use self::trace::KvCache;

/// The reader of a log. Keys wait in its map for the end.
pub(super) struct Log {
    cutter: Cutter,
    kind: Kind,
    merge: Merge,
}

enum Kind {
    Monitor(Monitor),
    KvCache(KvCache),
    Twitter,
    AccessLog,
}

/// What a line of a log was.
enum Taken {
    /// One with keys, all of which are in the map.
    Keys(u64),
    /// One without any.
    Skipped,
    /// One with a command that is not in the table, which may have keys.
    Unknown,
}

impl Log {
    pub(super) fn monitor() -> Self {
        Self::new(Kind::Monitor(Monitor::default()))
    }

    pub(super) fn kvcache() -> Self {
        Self::new(Kind::KvCache(KvCache::default()))
    }

    pub(super) fn twitter() -> Self {
        Self::new(Kind::Twitter)
    }

    pub(super) fn access() -> Self {
        Self::new(Kind::AccessLog)
    }

    fn new(kind: Kind) -> Self {
        Self {
            cutter: Cutter::new(MAX_LINE_BYTES),
            kind,
            merge: Merge::new(),
        }
    }

    pub(super) fn format(&self) -> Format {
        match self.kind {
            Kind::Monitor(_) => Format::Monitor,
            Kind::KvCache(_) => Format::KvCache,
            Kind::Twitter => Format::Twitter,
            Kind::AccessLog => Format::AccessLog,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<(), KeyError> {
        let (kind, merge) = (&mut self.kind, &mut self.merge);
        self.cutter
            .feed(bytes, |line| take(line, kind, merge, tally))
    }

    /// Takes a last line without an end.
    pub(super) fn finish(&mut self, tally: &mut Tally) -> Result<(), KeyError> {
        let (kind, merge) = (&mut self.kind, &mut self.merge);
        self.cutter.finish(|line| take(line, kind, merge, tally))
    }

    /// Hands over the merged keys; `false` when `stop` ended that.
    pub(super) fn hand_over(
        &self,
        stop: &AtomicBool,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> bool {
        tally.records = self.merge.hand_over(stop, each);
        tally.records == self.merge.len()
    }

    pub(super) fn merged(&self) -> Merged {
        self.merge.merged()
    }

    pub(super) fn column_names(&self) -> Option<Names> {
        match &self.kind {
            Kind::KvCache(_) => Some(Names::of("key", "op_count", "size + key_size")),
            Kind::Twitter => Some(Names::of("column 2", "lines", "column 4")),
            Kind::Monitor(_) | Kind::AccessLog => None,
        }
    }
}

fn take(
    line: Line<'_>,
    kind: &mut Kind,
    merge: &mut Merge,
    tally: &mut Tally,
) -> Result<(), KeyError> {
    tally.lines += 1;
    let number = tally.lines;
    let Line::Whole(line) = line else {
        return tally.bad(number, BadLineReason::LineTooLong);
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Ok(());
    }
    let taken = match kind {
        Kind::Monitor(monitor) => monitor.take(line, number, merge),
        Kind::KvCache(trace) => match trace.header(line, &tally.name) {
            Some(header) => return header,
            None => trace.take(line, number, merge),
        },
        Kind::Twitter => trace::take_twitter(line, number, merge),
        Kind::AccessLog => access::take(line, number, merge),
    };
    match taken {
        Ok(Taken::Keys(keys)) => {
            tally.records += keys;
            tally.sound_lines += 1;
        }
        Ok(Taken::Skipped) => tally.sound_lines += 1,
        Ok(Taken::Unknown) => {
            tally.sound_lines += 1;
            tally.unknown_commands += 1;
        }
        Err(reason) => return tally.bad(number, reason),
    }
    Ok(())
}

/// Puts one key into the map.
fn add(merge: &mut Merge, record: Record<'_>) -> Result<Taken, BadLineReason> {
    if record.key.len() > MAX_KEY_BYTES {
        return Err(BadLineReason::KeyTooLong);
    }
    merge.add(record);
    Ok(Taken::Keys(1))
}
