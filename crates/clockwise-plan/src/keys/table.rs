//! Tables: which columns are read, whether the first row is a header, and a row's fields to a record.
//!
//! Where rows come from is the business of [`CsvRows`] and [`TsvRows`].

use super::columns::{self, Names};
use super::csv::{CsvRows, MAX_FIELDS};
use super::cutter::{Cutter, Line};
use super::error::{BadLineReason, KeyError, excerpt};
use super::escape::{decode_hex, unescape};
use super::format::{Column, Format};
use super::tally::Tally;
use super::{MAX_KEY_BYTES, MAX_LINE_BYTES, ReadOptions, Record};

/// One row's fields, back to back with `gap` bytes between them.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) bytes: &'a [u8],
    /// Where each field ends in `bytes`.
    pub(super) ends: &'a [usize],
    pub(super) gap: usize,
}

impl<'a> Row<'a> {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn field(&self, at: usize) -> Option<&'a [u8]> {
        let end = *self.ends.get(at)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)? + self.gap,
            None => 0,
        };
        self.bytes.get(start..end)
    }

    #[cfg(test)]
    pub(super) fn fields(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).filter_map(move |at| self.field(at))
    }

    pub(super) fn names(&self) -> Vec<String> {
        let name = |at| {
            let field = self.field(at).unwrap_or_default().trim_ascii();
            String::from_utf8_lossy(field).into_owned()
        };
        (0..self.len()).map(name).collect()
    }
}

/// Turns rows into records. The first row decides the columns.
pub(super) struct Table {
    escaped: bool,
    key: Option<Column>,
    requests: Option<Column>,
    bytes: Option<Column>,
    chosen: Option<Chosen>,
    scratch: Vec<u8>,
}

struct Chosen {
    key: Place,
    key_is_hex: bool,
    requests: Option<Place>,
    bytes: Option<Place>,
    width: usize,
}

/// A column that is read: where it is, from 0, and what it is called.
struct Place {
    at: usize,
    name: String,
}

impl Table {
    pub(super) fn new(options: &ReadOptions) -> Self {
        Self {
            escaped: options.escaped,
            key: options.key_column.clone(),
            requests: options.requests_column.clone(),
            bytes: options.bytes_column.clone(),
            chosen: None,
            scratch: Vec::new(),
        }
    }

    /// Takes a row, or what is wrong with it.
    pub(super) fn take(
        &mut self,
        row: Result<Row<'_>, BadLineReason>,
        line: u64,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        if self.chosen.is_none() {
            let row = row.clone().map_err(|reason| KeyError::BadHeader {
                name: tally.name.clone(),
                line,
                reason,
            })?;
            let (chosen, header) = self.choose(row, &tally.name)?;
            self.chosen = Some(chosen);
            if header {
                return Ok(());
            }
        }
        // Set just above, if not before.
        let Some(chosen) = &self.chosen else {
            return Ok(());
        };
        match row.and_then(|row| chosen.record(row, line, self.escaped, &mut self.scratch)) {
            Ok(record) => {
                tally.hand_over(record, each);
                Ok(())
            }
            // Whatever the quote swallowed is lost, and nobody knows how much that was.
            Err(BadLineReason::OpenQuote) => Err(KeyError::OpenQuote {
                name: tally.name.clone(),
                line,
            }),
            Err(reason) => tally.bad(line, reason),
        }
    }

    pub(super) fn column_names(&self) -> Option<Names> {
        let chosen = self.chosen.as_ref()?;
        let name = |place: &Place| place.name.clone();
        Some(Names {
            key: Some(name(&chosen.key)),
            requests: chosen.requests.as_ref().map(name),
            bytes: chosen.bytes.as_ref().map(name),
        })
    }

    /// Picks the columns by the first row, and says whether it is a header.
    fn choose(&self, row: Row<'_>, table: &str) -> Result<(Chosen, bool), KeyError> {
        let header = Header {
            names: row.names(),
            table,
        };
        let is_header = self.is_header(row, &header.names);
        let find = |asked: &Option<Column>, known: &[&str]| match asked {
            Some(column) => header.asked(column, is_header).map(Some),
            None if is_header => header.known(known),
            None => Ok(None),
        };
        let key = match find(&self.key, &columns::KEY)? {
            Some(key) => key,
            // The list of keys that `is_header` lets pass.
            None if !is_header => header.asked(&Column::Number(1), false)?,
            None => {
                return Err(KeyError::NoKeyColumn {
                    name: table.to_owned(),
                    columns: header.names,
                });
            }
        };
        let chosen = Chosen {
            key_is_hex: is_header && columns::is_hex(&key.name),
            key,
            requests: find(&self.requests, &columns::REQUESTS)?,
            bytes: find(&self.bytes, &columns::BYTES)?,
            width: row.len(),
        };
        Ok((chosen, is_header))
    }

    fn is_header(&self, row: Row<'_>, names: &[String]) -> bool {
        let asked = [&self.key, &self.requests, &self.bytes];
        if asked
            .iter()
            .any(|column| matches!(column, Some(Column::Name(_))))
        {
            return true;
        }
        let Some(Column::Number(key)) = self.key else {
            return names.len() != 1 || columns::is_key(&names[0]);
        };
        // Column numbers start at 1; 0 is refused when the column is looked up.
        let key = (key as usize).wrapping_sub(1);
        let is_count_name = |name: &str| {
            columns::is_one_of(&columns::REQUESTS, name)
                || columns::is_one_of(&columns::BYTES, name)
        };
        let no_number = |column: &Option<Column>| match column {
            Some(Column::Number(number)) => row
                .field((*number as usize).wrapping_sub(1))
                .is_some_and(|field| columns::number(field).is_none()),
            _ => false,
        };
        names.get(key).is_some_and(|name| columns::is_key(name))
            || names
                .iter()
                .enumerate()
                .any(|(at, name)| at != key && is_count_name(name))
            || no_number(&self.requests)
            || no_number(&self.bytes)
    }
}

struct Header<'a> {
    names: Vec<String>,
    table: &'a str,
}

impl Header<'_> {
    fn asked(&self, column: &Column, named: bool) -> Result<Place, KeyError> {
        let unknown = || KeyError::UnknownColumn {
            name: self.table.to_owned(),
            column: column.to_string(),
            columns: if named {
                self.names.clone()
            } else {
                // The fields of a row of data name nothing.
                (1..=self.names.len()).map(|n| n.to_string()).collect()
            },
        };
        match column {
            Column::Name(asked) => self.only(|name| name == asked)?.ok_or_else(unknown),
            Column::Number(number) => {
                let at = (*number as usize).wrapping_sub(1);
                let name = self.names.get(at).ok_or_else(unknown)?;
                Ok(Place {
                    at,
                    name: if named {
                        name.clone()
                    } else {
                        number.to_string()
                    },
                })
            }
        }
    }

    fn known(&self, known: &[&str]) -> Result<Option<Place>, KeyError> {
        for wanted in known {
            if let Some(place) = self.only(|name| name.eq_ignore_ascii_case(wanted))? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The one column whose name fits.
    fn only(&self, fits: impl Fn(&str) -> bool) -> Result<Option<Place>, KeyError> {
        let mut fitting = self.names.iter().enumerate().filter(|(_, name)| fits(name));
        let Some((at, name)) = fitting.next() else {
            return Ok(None);
        };
        if fitting.next().is_some() {
            return Err(KeyError::RepeatedColumn {
                name: self.table.to_owned(),
                column: name.clone(),
            });
        }
        Ok(Some(Place {
            at,
            name: name.clone(),
        }))
    }
}

impl Chosen {
    fn record<'a>(
        &self,
        row: Row<'a>,
        line: u64,
        escaped: bool,
        scratch: &'a mut Vec<u8>,
    ) -> Result<Record<'a>, BadLineReason> {
        if row.len() > self.width {
            return Err(BadLineReason::TooManyFields {
                fields: row.len(),
                columns: self.width,
            });
        }
        let field = |place: &Place| {
            row.field(place.at).ok_or(BadLineReason::TooFewFields {
                fields: row.len(),
                column: place.at + 1,
            })
        };
        let count = |place: &Option<Place>| match place {
            Some(place) => {
                let field = field(place)?;
                match columns::number(field) {
                    Some(number) => Ok(Some(number)),
                    None => Err(columns::not_a_number(&place.name, field)),
                }
            }
            None => Ok(None),
        };
        let requests = count(&self.requests)?;
        let bytes = count(&self.bytes)?;
        let text = field(&self.key)?;
        let key = if self.key_is_hex {
            scratch.clear();
            decode_hex(text, scratch).ok_or_else(|| BadLineReason::NotHex {
                value: excerpt(text),
            })?;
            scratch
        } else if escaped {
            scratch.clear();
            unescape(text, scratch)?;
            scratch
        } else {
            text
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

/// Rows of tab-separated fields.
pub(super) struct TsvRows {
    cutter: Cutter,
    ends: Vec<usize>,
}

impl TsvRows {
    pub(super) fn new() -> Self {
        Self {
            cutter: Cutter::new(MAX_LINE_BYTES),
            ends: Vec::new(),
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        mut take: impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        let ends = &mut self.ends;
        self.cutter
            .feed(bytes, |line| split(line, ends, tally, &mut take))
    }

    pub(super) fn finish(
        &mut self,
        tally: &mut Tally,
        mut take: impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        let ends = &mut self.ends;
        self.cutter
            .finish(|line| split(line, ends, tally, &mut take))
    }
}

fn split(
    line: Line<'_>,
    ends: &mut Vec<usize>,
    tally: &mut Tally,
    take: &mut impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
) -> Result<(), KeyError> {
    tally.lines += 1;
    let number = tally.lines;
    let Line::Whole(line) = line else {
        return take(Err(BadLineReason::LineTooLong), number, tally);
    };
    let bytes = line.strip_suffix(b"\r").unwrap_or(line);
    if bytes.is_empty() {
        return Ok(());
    }
    ends.clear();
    ends.extend(memchr::memchr_iter(b'\t', bytes).take(MAX_FIELDS));
    ends.push(bytes.len());
    if ends.len() > MAX_FIELDS {
        return take(Err(BadLineReason::LineTooLong), number, tally);
    }
    let row = Row {
        bytes,
        ends,
        gap: 1,
    };
    take(Ok(row), number, tally)
}

/// The fields of `line`, read as the first row of a table in `format`.
pub(super) fn header_of(line: &[u8], format: Format) -> Vec<String> {
    let mut tally = Tally::new(&ReadOptions::new(""));
    let mut names = Vec::new();
    let take = |row: Result<Row<'_>, BadLineReason>, _: u64, _: &mut Tally| {
        names = row.map(|row| row.names()).unwrap_or_default();
        Ok(())
    };
    // The line has no end, so that its only row comes at the finish; `take` never fails.
    let _ = match format {
        Format::Tsv => {
            let mut rows = TsvRows::new();
            let fed = rows.feed(line, &mut tally, |_, _, _| Ok(()));
            fed.and_then(|()| rows.finish(&mut tally, take))
        }
        _ => {
            let mut rows = CsvRows::new();
            let fed = rows.feed(line, &mut tally, |_, _, _| Ok(()));
            fed.and_then(|()| rows.finish(&mut tally, take))
        }
    };
    names
}
