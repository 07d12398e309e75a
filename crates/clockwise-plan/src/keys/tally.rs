//! Counts of one read, and the verdict on its bad lines.

use super::error::{BadLine, BadLineReason, KeyError};
use super::{ReadOptions, Record};

/// What is counted while keys are read. One place hands over keys, so that all formats count alike.
pub(super) struct Tally {
    pub(super) name: String,
    max_bad_share: f64,
    /// Lines of text begun.
    pub(super) lines: u64,
    pub(super) records: u64,
    /// Lines and rows that were as they should be.
    pub(super) sound_lines: u64,
    pub(super) unknown_commands: u64,
    pub(super) bad_lines: u64,
    pub(super) first_bad: Vec<BadLine>,
    pub(super) keys_ending_in_cr: u64,
    pub(super) starts_with_bom: bool,
    pub(super) odd_start: Option<&'static str>,
}

impl Tally {
    pub(super) fn new(options: &ReadOptions) -> Self {
        Self {
            name: options.name.clone(),
            max_bad_share: options.max_bad_share,
            lines: 0,
            records: 0,
            sound_lines: 0,
            unknown_commands: 0,
            bad_lines: 0,
            first_bad: Vec::new(),
            keys_ending_in_cr: 0,
            starts_with_bom: false,
            odd_start: None,
        }
    }

    #[inline]
    pub(super) fn hand_over(&mut self, record: Record<'_>, each: &mut impl FnMut(Record<'_>)) {
        self.records += 1;
        self.sound_lines += 1;
        self.keys_ending_in_cr += u64::from(record.key.last() == Some(&b'\r'));
        each(record);
    }

    /// Counts a bad line.
    ///
    /// The verdict depends on the lines alone, not on where blocks end, so that it is the same at each run.
    #[cold]
    pub(super) fn bad(&mut self, line: u64, reason: BadLineReason) -> Result<(), KeyError> {
        self.bad_lines += 1;
        if self.first_bad.len() < MAX_FIRST_BAD {
            self.first_bad.push(BadLine { line, reason });
        }
        if self.sound_lines + self.bad_lines >= LINES_BEFORE_VERDICT {
            self.judge_whole()?;
        }
        Ok(())
    }

    pub(super) fn judge_whole(&self) -> Result<(), KeyError> {
        let lines = self.sound_lines + self.bad_lines;
        if self.bad_lines > 0 && self.bad_lines as f64 > self.max_bad_share * lines as f64 {
            return Err(KeyError::TooManyBad {
                name: self.name.clone(),
                bad: self.bad_lines,
                lines,
                max_bad_share: self.max_bad_share,
                first: self.first_bad.clone(),
            });
        }
        Ok(())
    }
}

/// Enough to see a pattern, little enough to print.
const MAX_FIRST_BAD: usize = 5;

/// Before so many lines a share means little: one bad line near the top would end the read.
const LINES_BEFORE_VERDICT: u64 = 10_000;
