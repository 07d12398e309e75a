//! What memcached answers to `lru_crawler metadump`: an item a line, as `name=value` with blanks between.
//!
//! Promises: the key's percent-encoding is undone, and `size` is the item's bytes. `END` is no key; a further dump may
//! follow it, as where those of several servers were put together.
//! Does not: merge keys, which a dump has once each, or drop items that have expired.
//! Source: memcached's doc/protocol.txt, and recorded output.

use super::cutter::{Cutter, Line};
use super::error::{BadLineReason, KeyError};
use super::format::Format;
use super::tally::Tally;
use super::{MAX_KEY_BYTES, MAX_LINE_BYTES, Record, columns};

/// Reads a dump.
pub(super) struct Metadump {
    cutter: Cutter,
    key: Vec<u8>,
}

impl Metadump {
    pub(super) fn new() -> Self {
        Self {
            cutter: Cutter::new(MAX_LINE_BYTES),
            key: Vec::new(),
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        let key = &mut self.key;
        self.cutter.feed(bytes, |line| take(line, key, tally, each))
    }

    pub(super) fn finish(
        &mut self,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        let key = &mut self.key;
        self.cutter.finish(|line| take(line, key, tally, each))
    }
}

/// Whether a line is one of a dump.
pub(super) fn is_metadump(line: &[u8]) -> bool {
    let has = |name: &[u8]| {
        line.split(|b| *b == b' ')
            .any(|field| field.starts_with(name))
    };
    line.starts_with(b"key=") && has(b"exp=") && has(b"cls=")
}

fn take(
    line: Line<'_>,
    key: &mut Vec<u8>,
    tally: &mut Tally,
    each: &mut impl FnMut(Record<'_>),
) -> Result<(), KeyError> {
    tally.lines += 1;
    let number = tally.lines;
    let Line::Whole(line) = line else {
        return tally.bad(number, BadLineReason::LineTooLong);
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() || line == b"END" {
        return Ok(());
    }
    match read(line, key) {
        Ok(bytes) => {
            let record = Record {
                key,
                requests: None,
                bytes,
                line: number,
            };
            tally.hand_over(record, each);
            Ok(())
        }
        Err(reason) => tally.bad(number, reason),
    }
}

/// Puts the key into `key` and gives the size.
fn read(line: &[u8], key: &mut Vec<u8>) -> Result<Option<u64>, BadLineReason> {
    let bad = |problem| BadLineReason::NotOfFormat {
        format: Format::Metadump,
        problem,
    };
    let mut fields = line.split(|b| *b == b' ');
    let text = fields.next().and_then(|field| field.strip_prefix(b"key="));
    let text = text.ok_or_else(|| bad("it does not begin with key="))?;
    key.clear();
    percent_decode(text, key).ok_or_else(|| bad("% is not followed by two hexadecimal digits"))?;
    if key.len() > MAX_KEY_BYTES {
        return Err(BadLineReason::KeyTooLong);
    }
    // Only the key was cut off from a line that ends in it.
    let (mut size, mut others) = (None, 0);
    for field in fields.filter(|field| !field.is_empty()) {
        others += 1;
        if let Some(text) = field.strip_prefix(b"size=") {
            let number =
                columns::number(text).ok_or_else(|| columns::not_a_number("size", text))?;
            size = Some(number);
        }
    }
    if others == 0 {
        return Err(bad("nothing follows the key"));
    }
    Ok(size)
}

fn percent_decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let digit = |at: usize| char::from(*rest.get(at)?).to_digit(16);
        out.push((digit(at + 1)? << 4 | digit(at + 2)?) as u8);
        rest = &rest[at + 3..];
    }
    out.extend_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_its_key_and_size() {
        let mut key = Vec::new();
        let mut read = |line: &str| {
            read(line.as_bytes(), &mut key)
                .map(|size| (key.clone(), size))
                .map_err(|reason| reason.to_string())
        };
        assert_eq!(
            read("key=a%20%c3%B4 exp=-1 la=1 cas=1 fetch=no cls=1 size=69 "),
            Ok(("a ô".as_bytes().to_vec(), Some(69)))
        );
        assert_eq!(read("key= exp=1"), Ok((Vec::new(), None)));
        for (line, problem) in [
            (
                "ERROR",
                "not a line of metadump: it does not begin with key=",
            ),
            ("key=a", "not a line of metadump: nothing follows the key"),
            (
                "key=%4 exp=1",
                "not a line of metadump: % is not followed by two hexadecimal digits",
            ),
            (
                "key=%g0 exp=1",
                "not a line of metadump: % is not followed by two hexadecimal digits",
            ),
            ("key=a size=x", "size is not a whole number up to 2^53: x"),
        ] {
            assert_eq!(read(line), Err(problem.to_owned()));
        }
        assert!(is_metadump(b"key=a exp=1 la=1 cas=1 fetch=no cls=1 size=2"));
        assert!(!is_metadump(b"key=a"));
    }
}
