//! One JSON object a line: the key and its counts are taken from members, the rest is only checked.
//!
//! Names are compared exactly. That a name comes twice is looked for among the members of the object itself,
//! not inside their values.

use super::columns::{self, Names};
use super::cutter::{Cutter, Line};
use super::error::{BadLineReason, KeyError};
use super::escape::decode_hex;
use super::tally::Tally;
use super::{MAX_KEY_BYTES, MAX_LINE_BYTES, ReadOptions, Record};

mod members;

use self::members::Found;
pub(super) use self::members::Members;

/// Reads JSON lines. Buffers are kept from line to line.
pub(super) struct JsonLines {
    cutter: Cutter,
    reader: ObjectReader,
}

struct ObjectReader {
    asked: Asked,
    members: Members,
    /// Where hexadecimal digits are decoded to.
    key: Vec<u8>,
    /// An object was seen, and it had the columns.
    begun: bool,
    names: Names,
}

/// Members to read: those asked for, or those known.
#[derive(Default)]
struct Asked {
    key: Option<String>,
    requests: Option<String>,
    bytes: Option<String>,
}

/// What a member is read for. A count carries its rank among the known names, 0 being the best.
enum Role {
    Text,
    Hex,
    Requests(usize),
    Bytes(usize),
    Other,
}

impl JsonLines {
    pub(super) fn new(options: &ReadOptions) -> Self {
        Self {
            cutter: Cutter::new(MAX_LINE_BYTES),
            reader: ObjectReader {
                asked: Asked::new(options),
                members: Members::default(),
                key: Vec::new(),
                begun: false,
                names: Names::default(),
            },
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        let reader = &mut self.reader;
        self.cutter
            .feed(bytes, |line| reader.take(line, tally, each))
    }

    pub(super) fn finish(
        &mut self,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        let reader = &mut self.reader;
        self.cutter.finish(|line| reader.take(line, tally, each))
    }

    pub(super) fn column_names(&self) -> Names {
        self.reader.names.clone()
    }
}

impl Members {
    /// Whether `line` is an object with the key's member.
    pub(super) fn hold_a_key(&mut self, line: &[u8], options: &ReadOptions) -> bool {
        let asked = Asked::new(options);
        self.parse(line, &asked).is_ok() && asked.key_member(self).is_some()
    }
}

impl Asked {
    fn new(options: &ReadOptions) -> Self {
        let name = |column: &Option<super::Column>| column.as_ref().map(ToString::to_string);
        Self {
            key: name(&options.key_column),
            requests: name(&options.requests_column),
            bytes: name(&options.bytes_column),
        }
    }

    fn role(&self, name: &str) -> Role {
        match (&self.key, name) {
            (Some(asked), _) if asked == name => {
                return if columns::is_hex(name) {
                    Role::Hex
                } else {
                    Role::Text
                };
            }
            (None, "key") => return Role::Text,
            (None, "key_hex") => return Role::Hex,
            _ => {}
        }
        let rank = |asked: &Option<String>, known: &[&str]| match asked {
            Some(asked) => (asked == name).then_some(0),
            None => known.iter().position(|known| *known == name),
        };
        if let Some(rank) = rank(&self.requests, &columns::REQUESTS) {
            return Role::Requests(rank);
        }
        match rank(&self.bytes, &columns::BYTES) {
            Some(rank) => Role::Bytes(rank),
            None => Role::Other,
        }
    }

    /// The name of the key's member, if the object has one.
    fn key_member(&self, members: &Members) -> Option<&str> {
        match &self.key {
            Some(asked) => members.has(asked).then_some(asked),
            None => ["key_hex", "key"]
                .into_iter()
                .find(|name| members.has(name)),
        }
    }
}

impl ObjectReader {
    fn take(
        &mut self,
        line: Line<'_>,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        tally.lines += 1;
        let number = tally.lines;
        let Line::Whole(text) = line else {
            return tally.bad(number, BadLineReason::LineTooLong);
        };
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        if let Err(reason) = self.members.parse(text, &self.asked) {
            return tally.bad(number, reason);
        }
        if !self.begun {
            self.begin(&tally.name)?;
        }
        match self.record(number) {
            Ok(record) => {
                tally.hand_over(record, each);
                Ok(())
            }
            Err(reason) => tally.bad(number, reason),
        }
    }

    /// Checks that the first object has the columns that were asked for: a slip in a name is told at once and
    /// with the names there are, not as a million bad lines.
    fn begin(&mut self, table: &str) -> Result<(), KeyError> {
        let asked = [&self.asked.key, &self.asked.requests, &self.asked.bytes];
        for column in asked.into_iter().flatten() {
            if !self.members.has(column) {
                return Err(KeyError::UnknownColumn {
                    name: table.to_owned(),
                    column: column.clone(),
                    columns: self.members.names(),
                });
            }
        }
        let key = self.asked.key_member(&self.members);
        self.names.key = Some(
            key.ok_or_else(|| KeyError::NoKeyColumn {
                name: table.to_owned(),
                columns: self.members.names(),
            })?
            .to_owned(),
        );
        self.names.requests = self.asked.requests.clone();
        self.names.bytes = self.asked.bytes.clone();
        self.begun = true;
        Ok(())
    }

    fn record(&mut self, line: u64) -> Result<Record<'_>, BadLineReason> {
        let requests = self.members.requests.take(
            &self.asked.requests,
            &columns::REQUESTS,
            &mut self.names.requests,
        )?;
        let bytes =
            self.members
                .bytes
                .take(&self.asked.bytes, &columns::BYTES, &mut self.names.bytes)?;
        let asked = self.asked.key.as_deref();
        let not_text = |known: &str| BadLineReason::NotText {
            member: asked.unwrap_or(known).to_owned(),
        };
        let text = match self.members.text_found {
            Found::Value => Some(&self.members.text[..]),
            Found::Absent => None,
            Found::Other => return Err(not_text("key")),
        };
        let key = match (&self.members.hex_found, text) {
            (Found::Value, text) => {
                self.key.clear();
                decode_hex(&self.members.hex, &mut self.key).ok_or_else(|| {
                    BadLineReason::NotHex {
                        value: super::error::excerpt(&self.members.hex),
                    }
                })?;
                if text.is_some_and(|text| text != self.key) {
                    return Err(BadLineReason::KeysDiffer);
                }
                &self.key[..]
            }
            (Found::Other, _) => return Err(not_text("key_hex")),
            (Found::Absent, Some(text)) => text,
            (Found::Absent, None) => {
                return Err(BadLineReason::NoMember {
                    member: asked.unwrap_or("key").to_owned(),
                });
            }
        };
        if key.len() > MAX_KEY_BYTES {
            return Err(BadLineReason::KeyTooLong);
        }
        Ok(Record {
            key,
            requests,
            bytes,
            line,
        })
    }
}
