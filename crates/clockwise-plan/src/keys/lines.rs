//! Plain lists: a key a line, byte for byte.

use super::cutter::{Cutter, Line};
use super::error::{BadLineReason, KeyError};
use super::escape::unescape;
use super::tally::Tally;
use super::{MAX_KEY_BYTES, MAX_LINE_BYTES, Record};

/// Reads a list of lines. Without escapes a key is lent from the block that it was read into.
pub(super) struct Lines {
    cutter: Cutter,
    escaped: bool,
    scratch: Vec<u8>,
}

impl Lines {
    pub(super) fn new(escaped: bool) -> Self {
        Self {
            // An escaped key takes up to four bytes for one.
            cutter: Cutter::new(if escaped {
                MAX_LINE_BYTES
            } else {
                MAX_KEY_BYTES
            }),
            escaped,
            scratch: Vec::new(),
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        // Two loops, so that the one for plain keys has nothing in it that it does not need.
        if self.escaped {
            let scratch = &mut self.scratch;
            self.cutter
                .feed(bytes, |line| take_escaped(line, scratch, tally, each))
        } else {
            self.cutter.feed(bytes, |line| take(line, tally, each))
        }
    }

    pub(super) fn finish(
        &mut self,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        let scratch = &mut self.scratch;
        let escaped = self.escaped;
        self.cutter.finish(|line| {
            if escaped {
                take_escaped(line, scratch, tally, each)
            } else {
                take(line, tally, each)
            }
        })
    }
}

// Left to itself the compiler calls this for each line, with the callback in it: a tenth of the time that reading takes.
#[inline(always)]
fn take(
    line: Line<'_>,
    tally: &mut Tally,
    each: &mut impl FnMut(Record<'_>),
) -> Result<(), KeyError> {
    tally.lines += 1;
    match line {
        Line::Whole(key) => {
            let record = Record {
                key,
                requests: None,
                bytes: None,
                line: tally.lines,
            };
            tally.hand_over(record, each);
            Ok(())
        }
        Line::TooLong => tally.bad(tally.lines, BadLineReason::KeyTooLong),
    }
}

fn take_escaped(
    line: Line<'_>,
    scratch: &mut Vec<u8>,
    tally: &mut Tally,
    each: &mut impl FnMut(Record<'_>),
) -> Result<(), KeyError> {
    let Line::Whole(text) = line else {
        return take(line, tally, each);
    };
    scratch.clear();
    match unescape(text, scratch) {
        Ok(()) if scratch.len() > MAX_KEY_BYTES => take(Line::TooLong, tally, each),
        Ok(()) => take(Line::Whole(scratch), tally, each),
        Err(escape) => {
            tally.lines += 1;
            tally.bad(tally.lines, escape.into())
        }
    }
}
