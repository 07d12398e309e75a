//! Statements of SQL, cut out of a log.
//!
//! A statement ends at a semicolon outside quotes, comments and dollar quotes, and at a semicolon that ends its line even
//! within quotes, so that one quote that is never closed spoils one statement and not the rest of the log. Where the first
//! block of the log has no semicolon at all, each line is a statement. Promises bounded memory and the line on which each
//! statement begins. Does not parse. Cost: one look at each byte.

use std::io::Read;
use std::sync::atomic::Ordering;

use super::error::KeyError;
use super::source::{BLOCK_BYTES, Blocks, Next};
use super::tally::Tally;
use super::{BOM, Progress, ReadOptions, check_ending};

/// A statement as it stands in the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StatementText<'a> {
    /// Its bytes; `None` where it is longer than [`MOST_STATEMENT_BYTES`].
    pub bytes: Option<&'a [u8]>,
    /// The line on which it begins, from 1.
    pub line: u64,
}

/// Reads statements and hands each to `each`; `false` when [`ReadOptions::stop`] ended the read.
///
/// # Errors
/// [`KeyError`] when the source fails, ends too early or is corrupt.
pub fn read_statements(
    source: Box<dyn Read + Send>,
    options: &ReadOptions,
    mut each: impl FnMut(StatementText<'_>),
    mut progress: impl FnMut(&Progress),
) -> Result<bool, KeyError> {
    let mut blocks = Blocks::spawn(source, BLOCK_BYTES).map_err(|source| KeyError::Io {
        name: options.name.clone(),
        source,
    })?;
    let mut cutter: Option<Cutter> = None;
    let mut statements = 0;
    loop {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        match blocks.next() {
            Next::Nothing => {}
            Next::Block(block) => {
                let bytes = match &cutter {
                    None => block.bytes().strip_prefix(BOM).unwrap_or(block.bytes()),
                    Some(_) => block.bytes(),
                };
                let cutter = cutter
                    .get_or_insert_with(|| Cutter::new(memchr::memchr(b';', bytes).is_none()));
                for &byte in bytes {
                    // A statement takes longer to parse than a block to cut, so that the stop is looked at here too.
                    if cutter.add(byte) && !options.stop.load(Ordering::Relaxed) {
                        statements += 1;
                        cutter.hand_over(&mut each);
                    }
                }
                blocks.give_back(block);
            }
            Next::End(ending) => {
                check_ending(ending, &blocks, options, &Tally::new(options))?;
                if let Some(cutter) = &mut cutter {
                    cutter.hand_over(&mut each);
                }
                return Ok(true);
            }
        }
        progress(&Progress {
            bytes_read: blocks.bytes_read(),
            records: statements,
        });
    }
}

/// Where in a statement the next byte is.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Place {
    Plain,
    Quoted(u8),
    LineComment,
    BlockComment,
    /// Between two equal tags, such as `$$` or `$body$`.
    Dollar(Vec<u8>),
}

#[derive(Debug)]
struct Cutter {
    by_line: bool,
    place: Place,
    text: Vec<u8>,
    too_long: bool,
    /// The line of the next byte.
    line: u64,
    /// The line of the first byte that is no blank.
    begun: Option<u64>,
}

impl Cutter {
    fn new(by_line: bool) -> Self {
        Self {
            by_line,
            place: Place::Plain,
            text: Vec::new(),
            too_long: false,
            line: 1,
            begun: None,
        }
    }

    /// Takes a byte; whether a statement ends with it.
    fn add(&mut self, byte: u8) -> bool {
        let ends = match byte {
            b'\n' if self.by_line => true,
            b'\n' => self.ends_line(),
            b';' => self.place == Place::Plain,
            _ => false,
        };
        if self.begun.is_none() && !byte.is_ascii_whitespace() && byte != b';' {
            self.begun = Some(self.line);
        }
        self.line += u64::from(byte == b'\n');
        if self.begun.is_some() && !(ends && byte == b';') {
            if self.text.len() < MOST_STATEMENT_BYTES {
                self.text.push(byte);
            } else {
                self.too_long = true;
            }
        }
        self.place = self.next_place(byte);
        ends
    }

    /// Whether a line end ends the statement: after a semicolon within quotes.
    fn ends_line(&self) -> bool {
        let is_quoted = matches!(self.place, Place::Quoted(_));
        is_quoted && self.text.trim_ascii_end().last() == Some(&b';')
    }

    fn next_place(&mut self, byte: u8) -> Place {
        let before = self
            .text
            .len()
            .checked_sub(2)
            .and_then(|place| self.text.get(place));
        match std::mem::replace(&mut self.place, Place::Plain) {
            Place::Plain => match (byte, before) {
                (b'\'' | b'"', _) => Place::Quoted(byte),
                (b'-', Some(b'-')) => Place::LineComment,
                (b'*', Some(b'/')) => Place::BlockComment,
                (b'$', _) => match self.open_tag() {
                    Some(tag) => Place::Dollar(tag),
                    None => Place::Plain,
                },
                _ => Place::Plain,
            },
            Place::Quoted(quote) if quote == byte => Place::Plain,
            Place::LineComment if byte == b'\n' => Place::Plain,
            Place::BlockComment if (byte, before) == (b'/', Some(&b'*')) => Place::Plain,
            Place::Dollar(tag) if byte == b'$' && self.text.ends_with(&tag) => Place::Plain,
            other => other,
        }
    }

    /// The tag that the text ends with, if it is one: a dollar, letters, a dollar.
    fn open_tag(&self) -> Option<Vec<u8>> {
        let (_, rest) = self.text.split_last()?;
        let start = rest.iter().rposition(|&byte| byte == b'$')?;
        let name = &rest[start + 1..];
        let is_name = name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            && !name.first().is_some_and(u8::is_ascii_digit)
            && name.len() <= 63;
        is_name.then(|| self.text[start..].to_vec())
    }

    fn hand_over(&mut self, each: &mut impl FnMut(StatementText<'_>)) {
        if let Some(line) = self.begun.take() {
            let bytes = self.text.trim_ascii_end();
            let bytes = (!self.too_long).then_some(bytes);
            each(StatementText { bytes, line });
        }
        self.text.clear();
        self.too_long = false;
        self.place = Place::Plain;
    }
}

/// A longer statement is counted as bad; parsers need stack in proportion to it.
pub const MOST_STATEMENT_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        let take = |one: StatementText<'_>| {
            let text = one.bytes.map_or("too long".into(), String::from_utf8_lossy);
            found.push((one.line, text.into_owned()));
        };
        let options = ReadOptions::new("log");
        let source = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        assert!(read_statements(source, &options, take, |_| {}).unwrap());
        found
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes_and_comments() {
        let found = cut(
            "select 1;\n\n select ';' from \"a;b\" -- no; end\n where x = 'it''s;' ;;\nselect $$a;b$$, $1, $t$;$t$; /* ; */ select 2",
        );
        let texts: Vec<(u64, &str)> = found
            .iter()
            .map(|(line, text)| (*line, text.as_str()))
            .collect();
        assert_eq!(
            texts,
            [
                (1, "select 1"),
                (3, "select ';' from \"a;b\" -- no; end\n where x = 'it''s;'"),
                (5, "select $$a;b$$, $1, $t$;$t$"),
                (5, "/* ; */ select 2"),
            ]
        );
    }

    #[test]
    fn a_quote_that_is_never_closed_spoils_one_statement() {
        let found = cut("select 'open;\nselect 2;\nselect 3;");
        assert_eq!(found.len(), 3);
        assert_eq!(found[1], (2, "select 2".to_owned()));
    }

    #[test]
    fn without_semicolons_each_line_is_a_statement() {
        assert_eq!(cut("select 1\n\nselect 'x\nselect 3\n").len(), 3);
        assert_eq!(cut(""), []);
        assert_eq!(cut(" ;\n;; "), []);
    }

    #[test]
    fn a_statement_over_the_limit_is_one_and_the_next_is_read() {
        let long = "x".repeat(3 * MOST_STATEMENT_BYTES);
        let found = cut(&format!("select {long};\nselect 2;"));
        assert_eq!(
            found,
            [(1, "too long".to_owned()), (2, "select 2".to_owned())]
        );
    }
}
