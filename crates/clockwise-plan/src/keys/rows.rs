//! Whole rows of a table, for who looks at all columns rather than at keys.
//!
//! Promises the rows that [`read_keys`](super::read_keys) would see in the same CSV or TSV, compressed or not, in bounded
//! memory; a row with more or fewer fields than the header is a bad line. Does not interpret fields. Cost: as reading keys.

use std::io::Read;
use std::sync::atomic::Ordering;

use super::csv::CsvRows;
use super::error::{BadLineReason, KeyError};
use super::source::{BLOCK_BYTES, Blocks, Next};
use super::table::{Row, TsvRows};
use super::tally::Tally;
use super::{BOM, BYTES_PER_LOOK, BadLine, Format, Progress, ReadOptions, check_ending};

/// What a read of rows found.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsSummary {
    /// Names of the columns; none where the input is empty.
    pub columns: Vec<String>,
    /// Rows handed over.
    pub rows: u64,
    /// Rows that could not be taken.
    pub bad_lines: u64,
    /// The first of them, at most 5.
    pub first_bad: Vec<BadLine>,
    /// `false` when [`ReadOptions::stop`] ended the read.
    pub complete: bool,
}

/// A row: its fields, and the line on which it began.
#[derive(Clone, Copy)]
pub struct TableRow<'a> {
    row: Row<'a>,
    /// The line on which it began, from 1.
    pub line: u64,
}

impl<'a> TableRow<'a> {
    /// How many fields it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// Whether it has no field; no row is so.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.row.len() == 0
    }

    /// A field, from 0.
    #[must_use]
    pub fn field(&self, place: usize) -> Option<&'a [u8]> {
        self.row.field(place)
    }
}

/// Reads a table with a header: `each` gets the names of its columns with every row.
///
/// The format is the one of `options`, else tab-separated where the header has a tab outside quotes, else
/// comma-separated.
///
/// # Errors
/// As [`read_keys`](super::read_keys). A table without rows is no error.
pub fn read_rows(
    source: Box<dyn Read + Send>,
    options: &ReadOptions,
    mut each: impl FnMut(&[String], TableRow<'_>),
    mut progress: impl FnMut(&Progress),
) -> Result<RowsSummary, KeyError> {
    let mut tally = Tally::new(options);
    let mut blocks = Blocks::spawn(source, BLOCK_BYTES).map_err(|source| KeyError::Io {
        name: options.name.clone(),
        source,
    })?;
    let mut columns: Option<Vec<String>> = None;
    let mut take = |row: Result<Row<'_>, BadLineReason>, line: u64, tally: &mut Tally| {
        let Some(columns) = &columns else {
            let row = row.map_err(|reason| KeyError::BadHeader {
                name: tally.name.clone(),
                line,
                reason,
            })?;
            columns = Some(row.names());
            return Ok(());
        };
        match row {
            Ok(row) if row.len() > columns.len() => {
                let reason = BadLineReason::TooManyFields {
                    fields: row.len(),
                    columns: columns.len(),
                };
                tally.bad(line, reason)
            }
            Ok(row) if row.len() < columns.len() => {
                let reason = BadLineReason::TooFewFields {
                    fields: row.len(),
                    column: row.len() + 1,
                };
                tally.bad(line, reason)
            }
            Ok(row) => {
                tally.records += 1;
                tally.sound_lines += 1;
                each(columns, TableRow { row, line });
                Ok(())
            }
            Err(BadLineReason::OpenQuote) => Err(KeyError::OpenQuote {
                name: tally.name.clone(),
                line,
            }),
            Err(reason) => tally.bad(line, reason),
        }
    };
    let mut reader: Option<Rows> = None;
    let mut complete = false;
    loop {
        if options.stop.load(Ordering::Relaxed) {
            break;
        }
        match blocks.next() {
            Next::Nothing => {}
            Next::Block(block) => {
                let bytes = match &reader {
                    None => block.bytes().strip_prefix(BOM).unwrap_or(block.bytes()),
                    Some(_) => block.bytes(),
                };
                let reader = reader.get_or_insert_with(|| Rows::new(options.format, bytes));
                for part in bytes.chunks(BYTES_PER_LOOK) {
                    if !options.stop.load(Ordering::Relaxed) {
                        reader.feed(part, &mut tally, &mut take)?;
                    }
                }
                blocks.give_back(block);
            }
            Next::End(ending) => {
                check_ending(ending, &blocks, options, &tally)?;
                if let Some(reader) = &mut reader {
                    reader.finish(&mut tally, &mut take)?;
                }
                complete = true;
                break;
            }
        }
        progress(&Progress {
            bytes_read: blocks.bytes_read(),
            records: tally.records,
        });
    }
    if complete {
        tally.judge_whole()?;
    }
    Ok(RowsSummary {
        columns: columns.unwrap_or_default(),
        rows: tally.records,
        bad_lines: tally.bad_lines,
        first_bad: tally.first_bad,
        complete,
    })
}

enum Rows {
    Csv(Box<CsvRows>),
    Tsv(Box<TsvRows>),
}

impl Rows {
    fn new(format: Option<Format>, head: &[u8]) -> Self {
        let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let quoted = line.contains(&b'"');
        let is_tsv = match format {
            Some(format) => format == Format::Tsv,
            None => line.contains(&b'\t') && !quoted,
        };
        if is_tsv {
            Self::Tsv(Box::new(TsvRows::new()))
        } else {
            Self::Csv(Box::new(CsvRows::new()))
        }
    }

    fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        take: impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        match self {
            Self::Csv(rows) => rows.feed(bytes, tally, take),
            Self::Tsv(rows) => rows.feed(bytes, tally, take),
        }
    }

    fn finish(
        &mut self,
        tally: &mut Tally,
        take: impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        match self {
            Self::Csv(rows) => rows.finish(tally, take),
            Self::Tsv(rows) => rows.finish(tally, take),
        }
    }
}
