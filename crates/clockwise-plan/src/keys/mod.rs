//! Keys, from wherever the user has them: a stream of lines, CSV, TSV or JSON lines, plain or compressed, or
//! a rule that makes them; and logs and traces of requests to keys.
//!
//! Promises: a key is exactly the bytes that were given, in the order in which they were given; what cannot
//! be read is counted as a bad line and never guessed; no input makes memory grow or the program panic;
//! setting [`ReadOptions::stop`] ends a read within about 50 ms even when the source gives nothing.
//! Equal keys of a log or trace are merged, in bounded memory, and come once it has ended; those of other formats
//! are not.
//! Does not: open files, or judge whether a count of keys makes sense.
//! Cost: a list of lines takes one search for line ends and no copy (a line that spans two blocks is copied
//! once). About 5 MiB of memory, up to some 40 MiB for lines near their limit of 4 MiB, and up to 128 MiB
//! more for zstd data that asks for such a window, and up to 176 MiB more for merged keys.
//!
//! # What a line is
//!
//! - **lines**: only LF ends a key. CR and a byte-order mark belong to the key and are counted, so that the
//!   caller can warn. An empty line is the empty key. The last line needs no LF, and an LF at the very end
//!   starts no further key.
//! - **csv**: RFC 4180 as csv-core reads it: quotes may hold commas and line ends; CR, LF and CRLF end a row.
//! - **tsv**: tabs between fields, LF or CRLF at the end, no quotes: a tab cannot be in a key unless
//!   [`ReadOptions::escaped`] is on.
//! - **jsonl**: one object a line.
//! - **monitor**, **kvcache**, **twitter**, **access-log**, **metadump**: LF or CRLF ends a line.
//!
//! In all but lines a byte-order mark at the start is not data, and empty lines are skipped. The rules for
//! columns are told at [`ReadOptions`].

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod columns;
mod csv;
mod cutter;
mod decode;
mod error;
mod escape;
mod format;
mod generate;
mod json;
mod lines;
mod log;
mod merge;
mod metadump;
mod parser;
mod popularity;
mod rows;
mod source;
mod statements;
mod table;
mod tally;

pub use self::error::{BadLine, BadLineReason, KeyError};
pub use self::escape::{BadEscape, Escaped, unescape};
pub use self::format::{Column, Format, ParseColumnError, ParseFormatError};
pub use self::generate::{GenerateError, Generated, PatternFault};
pub use self::merge::Merged;
pub use self::popularity::{MAX_TABLE_BYTES, Popularity, PopularityError};
pub use self::rows::{RowsSummary, TableRow, read_rows};
pub use self::statements::{MOST_STATEMENT_BYTES, StatementText, read_statements};

use self::merge::Merge;
use self::parser::Parser;
use self::source::{Blocks, Ending, Next};
use self::tally::Tally;

/// One key as it was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record<'a> {
    /// The key's bytes; they live until the callback returns.
    pub key: &'a [u8],
    /// Requests to the key, when the input tells.
    pub requests: Option<u64>,
    /// Size of the key's value in bytes, when the input tells.
    pub bytes: Option<u64>,
    /// The line on which the record starts, from 1.
    pub line: u64,
}

/// How to read keys.
///
/// # Columns
///
/// A column is named, or numbered from 1. Without a name, the key is the first of `key_hex`, `key`,
/// `cache_key`, `path`, `url`, `uri` that a table's header has, requests are in `requests`, `hits`, `count`
/// or `op_count`, sizes in `bytes`, `size` or `value_size`; a header may write these in any case. A name that
/// is asked for must match exactly. A key column named `hex` or `…_hex` holds hexadecimal digits.
///
/// A table's first row is its header, except that it is data
/// - when the key column is a number, unless the row's key field is a known column name, another field is a
///   known requests or bytes name, or a numbered requests or bytes field is no whole number;
/// - when the row has just one field that is no known key column, and no column was asked for by name.
///
/// A row with fewer fields than a column that is read, or with more fields than the first row, is a bad line:
/// an unquoted comma in a key must not cut the key in two.
///
/// JSON lines have `key` or `key_hex` (when both are there they must agree); counts are taken where a line
/// has them. A member that was asked for must be on every line. `null` is as good as absent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// How the input is laid out; `None` to recognise it from its first line and the name's ending.
    pub format: Option<Format>,
    /// Keys are written with the escapes of [`unescape`]. Holds for lines and for tables, except for a column
    /// of hexadecimal digits; JSON, logs, traces and dumps have escapes of their own, or none.
    pub escaped: bool,
    /// The column of the key.
    pub key_column: Option<Column>,
    /// The column of the requests, whole numbers up to 2^53.
    pub requests_column: Option<Column>,
    /// The column of the sizes in bytes, whole numbers up to 2^53.
    pub bytes_column: Option<Column>,
    /// The share of bad lines, 0 to 1, above which the read fails: 0.001 unless said otherwise. It is judged
    /// at the end, and at each bad line once 10,000 lines were read.
    pub max_bad_share: f64,
    /// What the input is called in messages; its ending (`.csv`, `.tsv`, `.jsonl`, `.ndjson`, also before
    /// `.gz` and `.zst`) tells the format.
    pub name: String,
    /// The size in bytes that a plain file had when it was opened; a read that ends earlier fails. Not looked
    /// at when the input is compressed.
    pub expected_bytes: Option<u64>,
    /// Whether equal keys of lists, tables and JSON lines are added up as those of logs are: a key without a number of
    /// requests counts as one.
    pub merge: bool,
    /// Set it, from any thread, to end the read.
    pub stop: Arc<AtomicBool>,
}

impl ReadOptions {
    /// Options with their defaults for an input called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            format: None,
            escaped: false,
            key_column: None,
            requests_column: None,
            bytes_column: None,
            max_bad_share: 0.001,
            name: name.into(),
            expected_bytes: None,
            merge: false,
            stop: Arc::new(AtomicBool::new(false)),
        }
    }
}

/// How far a read is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// Bytes taken from the source; compressed ones, if it is compressed.
    pub bytes_read: u64,
    /// Keys handed over, or found so far in a log or trace.
    pub records: u64,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSummary {
    /// The format taken; lines when the read was stopped before anything told it.
    pub format: Format,
    /// `gzip` or `zstd`.
    pub compression: Option<&'static str>,
    /// Lines of text begun, headers and empty ones included.
    pub lines: u64,
    /// Keys handed over.
    pub records: u64,
    /// Lines (or rows) that should have held a key and did not.
    pub bad_lines: u64,
    /// The first bad lines, at most 5.
    pub first_bad: Vec<BadLine>,
    /// Keys whose last byte is CR: most likely a file with CRLF line ends read as lines.
    pub keys_ending_in_cr: u64,
    /// The input starts with a UTF-8 byte-order mark; among lines it is part of the first key.
    pub starts_with_bom: bool,
    /// The first bytes are those of something that is no text: `UTF-16`, or data that is `compressed twice`.
    pub odd_start: Option<&'static str>,
    /// `false` when [`ReadOptions::stop`] ended the read.
    pub complete: bool,
    /// The key's column: its name, or its number where there is no header. `None` for lines.
    pub key_column: Option<String>,
    /// The requests' column, likewise.
    pub requests_column: Option<String>,
    /// The sizes' column, likewise.
    pub bytes_column: Option<String>,
    /// What the merged keys of a log or trace stand for. `None` for other formats.
    pub merged: Option<Merged>,
    /// Lines with a command that is not in the table of commands, which may have keys.
    pub unknown_commands: u64,
}

/// Reads keys from `source` and hands each to `each`, on the calling thread and in order.
///
/// Another thread reads ahead and decompresses (gzip and zstd, recognised by their first bytes, with any
/// number of members or frames). It is left behind when `stop` ends the read while the source blocks, and
/// goes when the source answers. `progress` is called after each block, and about every 100 ms while the
/// source gives nothing.
///
/// Keys that were handed over before an error stay handed over.
///
/// # Errors
///
/// [`KeyError`] when the source fails, ends too early or is corrupt, when a column is missing or ambiguous,
/// or when too many lines are bad. An input without any key is no error.
///
/// ```
/// use clockwise_plan::keys::{ReadOptions, read_keys};
///
/// let mut keys = Vec::new();
/// let summary = read_keys(
///     Box::new(&b"key,hits\nuser:1,5\nuser:2,7\n"[..]),
///     ReadOptions::new("keys.csv"),
///     |record| keys.push((record.key.to_vec(), record.requests)),
///     |_| {},
/// )?;
/// assert_eq!(keys[1], (b"user:2".to_vec(), Some(7)));
/// assert_eq!(summary.requests_column.as_deref(), Some("hits"));
/// # Ok::<(), clockwise_plan::keys::KeyError>(())
/// ```
pub fn read_keys(
    source: Box<dyn Read + Send>,
    options: ReadOptions,
    mut each: impl FnMut(Record<'_>),
    progress: impl FnMut(&Progress),
) -> Result<ReadSummary, KeyError> {
    if !options.merge {
        return read_with_blocks(source, options, source::BLOCK_BYTES, each, progress);
    }
    let stop = Arc::clone(&options.stop);
    let mut merge = Merge::new();
    let add = |record: Record<'_>| merge.add(record);
    let mut summary = read_with_blocks(source, options, source::BLOCK_BYTES, add, progress)?;
    summary.records = merge.hand_over(&stop, &mut each);
    summary.complete &= summary.records == merge.len();
    // A log is merged already, and knows what it left out.
    summary.merged = summary.merged.or(Some(merge.merged()));
    Ok(summary)
}

fn read_with_blocks(
    source: Box<dyn Read + Send>,
    options: ReadOptions,
    block_bytes: usize,
    mut each: impl FnMut(Record<'_>),
    mut progress: impl FnMut(&Progress),
) -> Result<ReadSummary, KeyError> {
    let mut tally = Tally::new(&options);
    let mut blocks = Blocks::spawn(source, block_bytes).map_err(|source| KeyError::Io {
        name: options.name.clone(),
        source,
    })?;
    // The first bytes wait here until they tell the format.
    let mut head = Vec::new();
    let mut parser: Option<Parser> = None;
    let mut waits = 0_u32;
    let ending = loop {
        if options.stop.load(Ordering::Relaxed) {
            break None;
        }
        match blocks.next() {
            Next::Nothing => {
                waits += 1;
                if !waits.is_multiple_of(WAITS_PER_PROGRESS) {
                    continue;
                }
            }
            Next::Block(block) => {
                let done = match &mut parser {
                    Some(parser) => feed(parser, block.bytes(), &options, &mut tally, &mut each),
                    None => {
                        head.extend_from_slice(block.bytes());
                        match format::recognise(&head, false, &options) {
                            Some(format) => {
                                let parser = parser.insert(Parser::new(format?, &options));
                                let head = std::mem::take(&mut head);
                                begin(parser, &head, &options, &mut tally, &mut each)
                            }
                            None => Ok(true),
                        }
                    }
                };
                blocks.give_back(block);
                if !done? {
                    break None;
                }
            }
            Next::End(ending) => break Some(ending),
        }
        progress(&Progress {
            bytes_read: blocks.bytes_read(),
            records: tally.records,
        });
    };
    let Some(ending) = ending else {
        if let Some(Parser::Log(log)) = &parser {
            log.hand_over(&options.stop, &mut tally, &mut each);
        }
        return Ok(summary(false, parser, tally, &blocks));
    };
    check_ending(ending, &blocks, &options, &tally)?;
    // An input shorter than what recognition waits for.
    if parser.is_none()
        && let Some(format) = format::recognise(&head, true, &options)
    {
        let parser = parser.insert(Parser::new(format?, &options));
        begin(parser, &head, &options, &mut tally, &mut each)?;
    }
    if options.stop.load(Ordering::Relaxed) {
        if let Some(Parser::Log(log)) = &parser {
            log.hand_over(&options.stop, &mut tally, &mut each);
        }
        return Ok(summary(false, parser, tally, &blocks));
    }
    if let Some(parser) = &mut parser {
        parser.finish(&mut tally, &mut each)?;
    }
    tally.judge_whole()?;
    let complete = match &parser {
        Some(Parser::Log(log)) => log.hand_over(&options.stop, &mut tally, &mut each),
        _ => true,
    };
    Ok(summary(complete, parser, tally, &blocks))
}

/// Feeds the first bytes, without a byte-order mark where it is not part of a key.
fn begin(
    parser: &mut Parser,
    head: &[u8],
    options: &ReadOptions,
    tally: &mut Tally,
    each: &mut impl FnMut(Record<'_>),
) -> Result<bool, KeyError> {
    let rest = head.strip_prefix(BOM);
    tally.starts_with_bom = rest.is_some();
    tally.odd_start = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("compressed twice"),
        _ => None,
    };
    let bytes = match (rest, &parser) {
        (None, _) | (_, Parser::Lines(_)) => head,
        (Some(rest), _) => rest,
    };
    feed(parser, bytes, options, tally, each)
}

/// `false` when `stop` was set.
fn feed(
    parser: &mut Parser,
    bytes: &[u8],
    options: &ReadOptions,
    tally: &mut Tally,
    each: &mut impl FnMut(Record<'_>),
) -> Result<bool, KeyError> {
    for part in bytes.chunks(BYTES_PER_LOOK) {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        parser.feed(part, tally, each)?;
    }
    Ok(true)
}

fn check_ending(
    ending: Ending,
    blocks: &Blocks,
    options: &ReadOptions,
    tally: &Tally,
) -> Result<(), KeyError> {
    let name = options.name.clone();
    let compression = blocks.compression().unwrap_or_default();
    match (ending, options.expected_bytes) {
        (Ending::Whole, Some(expected_bytes))
            if blocks.compression().is_none() && blocks.bytes_read() < expected_bytes =>
        {
            Err(KeyError::Shrank {
                name,
                expected_bytes,
                read_bytes: blocks.bytes_read(),
            })
        }
        (Ending::Whole, _) => Ok(()),
        (Ending::Failed(source), _) => Err(KeyError::Io { name, source }),
        (Ending::Truncated, _) => Err(KeyError::Truncated {
            name,
            compression,
            records: tally.records,
        }),
        (Ending::TrailingData, _) => Err(KeyError::TrailingData { name, compression }),
        (Ending::Corrupt(source), _) => Err(KeyError::Corrupt {
            name,
            compression,
            source,
        }),
    }
}

fn summary(complete: bool, parser: Option<Parser>, tally: Tally, blocks: &Blocks) -> ReadSummary {
    let names = parser
        .as_ref()
        .and_then(Parser::column_names)
        .unwrap_or_default();
    let merged = match &parser {
        Some(Parser::Log(log)) => Some(log.merged()),
        _ => None,
    };
    ReadSummary {
        format: parser.as_ref().map_or(Format::Lines, Parser::format),
        compression: blocks.compression(),
        lines: tally.lines,
        records: tally.records,
        bad_lines: tally.bad_lines,
        first_bad: tally.first_bad,
        keys_ending_in_cr: tally.keys_ending_in_cr,
        starts_with_bom: tally.starts_with_bom,
        odd_start: tally.odd_start,
        complete,
        key_column: names.key,
        requests_column: names.requests,
        bytes_column: names.bytes,
        merged,
        unknown_commands: tally.unknown_commands,
    }
}

/// UTF-8's byte-order mark.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The longest key. Real keys end at some kilobytes; the bound keeps one missing line end from eating memory.
const MAX_KEY_BYTES: usize = 1 << 20;

/// The longest line that holds a key and more: a key of [`MAX_KEY_BYTES`], escaped byte by byte, fits.
const MAX_LINE_BYTES: usize = 4 << 20;

/// `stop` is looked at between parts of this size: even with a slow callback a part takes milliseconds, and
/// the one line that a part cuts costs a copy of some bytes.
const BYTES_PER_LOOK: usize = 16 << 10;

/// With the source's wait of 50 ms this makes 100 ms.
const WAITS_PER_PROGRESS: u32 = 2;

#[cfg(test)]
mod tests;
