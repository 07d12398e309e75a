//! What can be wrong with an input as a whole, and with one of its lines.

use std::fmt;
use std::io;

use super::escape::{BadEscape, Escaped};
use super::format::Format;
use super::{MAX_KEY_BYTES, MAX_LINE_BYTES};

/// Why keys could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The source could not be read.
    #[error("{}", cannot_read(name, source))]
    Io {
        /// What the input is called.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Compressed data ends in the middle.
    #[error("{name} is cut off: its {compression} data ends too early, after {records} keys")]
    Truncated {
        /// What the input is called.
        name: String,
        /// `gzip` or `zstd`.
        compression: &'static str,
        /// Keys handed over before the end.
        records: u64,
    },
    /// Compressed data is followed by something else.
    #[error("{name} has other data after its {compression} data")]
    TrailingData {
        /// What the input is called.
        name: String,
        /// `gzip` or `zstd`.
        compression: &'static str,
    },
    /// Compressed data is damaged.
    #[error("the {compression} data of {name} cannot be decoded")]
    Corrupt {
        /// What the input is called.
        name: String,
        /// `gzip` or `zstd`.
        compression: &'static str,
        /// What the decoder said.
        source: io::Error,
    },
    /// A plain file ended before the size that it had when it was opened.
    #[error(
        "{name} shrank while it was read: {expected_bytes} bytes when opened, {read_bytes} read"
    )]
    Shrank {
        /// What the input is called.
        name: String,
        /// Its size in bytes when it was opened.
        expected_bytes: u64,
        /// Bytes that were there.
        read_bytes: u64,
    },
    /// A quoted field runs to the end of the input: the rows in it cannot be told apart.
    #[error("{name}: the quote opened in line {line} is never closed")]
    OpenQuote {
        /// What the input is called.
        name: String,
        /// The line with the quote.
        line: u64,
    },
    /// More lines are bad than allowed.
    #[error(
        "{bad} of {lines} lines of {name} are bad, more than {} %{}",
        max_bad_share * 100.0,
        first_of(first)
    )]
    TooManyBad {
        /// What the input is called.
        name: String,
        /// Bad lines so far.
        bad: u64,
        /// Lines so far that should hold a key.
        lines: u64,
        /// The share that was allowed, 0 to 1.
        max_bad_share: f64,
        /// The first bad lines, at most 5.
        first: Vec<BadLine>,
    },
    /// No column is known to hold keys, and none was named.
    #[error("no column of {name} is known to hold keys: it has {}", list(columns))]
    NoKeyColumn {
        /// What the input is called.
        name: String,
        /// The columns it has.
        columns: Vec<String>,
    },
    /// A column that was asked for is not there.
    #[error("{name} has no column {column}: it has {}", list(columns))]
    UnknownColumn {
        /// What the input is called.
        name: String,
        /// The name or number that was asked for.
        column: String,
        /// The columns it has.
        columns: Vec<String>,
    },
    /// Two columns have the name of one that is read.
    #[error("{name} has more than one column {}", excerpt(column.as_bytes()))]
    RepeatedColumn {
        /// What the input is called.
        name: String,
        /// The name.
        column: String,
    },
    /// A column was asked for, but the input is a list of lines.
    #[error("{name} has no column {column}: it is read as lines, and a whole line is the key")]
    ColumnOfLines {
        /// What the input is called.
        name: String,
        /// The name or number that was asked for.
        column: String,
    },
    /// A column was asked for of a log, a trace or a dump, where the format says which are read.
    #[error("{name} is read as {format}, which reads its own columns and not column {column}")]
    ColumnOfLog {
        /// What the input is called.
        name: String,
        /// The name or number that was asked for.
        column: String,
        /// The format.
        format: Format,
    },
    /// The first row of a table, which tells its columns, cannot be read.
    #[error("the header of {name} cannot be read, line {line}: {reason}")]
    BadHeader {
        /// What the input is called.
        name: String,
        /// Where the row starts, from 1.
        line: u64,
        /// What is wrong.
        reason: BadLineReason,
    },
}

impl KeyError {
    /// What to do about it, when that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::IsADirectory => {
                Some("name a file in it, or - for standard input".to_owned())
            }
            Self::Truncated { .. } | Self::Corrupt { .. } => {
                Some("fetch or compress the file again".to_owned())
            }
            Self::TrailingData { .. } => {
                Some("decompress it with its own tool and look at the end".to_owned())
            }
            Self::OpenQuote { .. } => Some(
                "double a quote inside a quoted field, or say --keys-format lines or tsv"
                    .to_owned(),
            ),
            Self::Shrank { .. } => {
                Some("something is writing to the file; read a copy of it".to_owned())
            }
            Self::TooManyBad { .. } => {
                Some("check the format and the columns; --max-bad allows more".to_owned())
            }
            Self::NoKeyColumn { .. } => {
                Some("say which with --key-column, by name or by number from 1".to_owned())
            }
            Self::UnknownColumn {
                column, columns, ..
            } => {
                // Nobody misspells a number by a letter.
                let near = columns
                    .iter()
                    .filter(|_| !column.bytes().all(|b| b.is_ascii_digit()))
                    .map(|name| {
                        (
                            strsim::damerau_levenshtein(
                                &name.to_lowercase(),
                                &column.to_lowercase(),
                            ),
                            name,
                        )
                    })
                    .min_by_key(|(distance, _)| *distance)
                    .filter(|(distance, _)| *distance <= (column.chars().count() / 3).max(1));
                near.map(|(_, name)| format!("did you mean {}?", Escaped(name.as_bytes())))
            }
            Self::RepeatedColumn { .. } => Some("give the column's number instead".to_owned()),
            Self::ColumnOfLines { .. } => {
                Some("if it is a table, say so: --keys-format csv, tsv or jsonl".to_owned())
            }
            Self::ColumnOfLog { .. } => {
                Some("to read it as a table, say --keys-format csv".to_owned())
            }
            _ => None,
        }
    }

    /// The same error without anything that may be a part of a line.
    #[must_use]
    pub fn without_text(self) -> Self {
        match self {
            Self::TooManyBad {
                name,
                bad,
                lines,
                max_bad_share,
                ..
            } => Self::TooManyBad {
                name,
                bad,
                lines,
                max_bad_share,
                first: Vec::new(),
            },
            // The first row may be one of keys.
            Self::NoKeyColumn { name, .. } => Self::NoKeyColumn {
                name,
                columns: vec!["others".to_owned()],
            },
            Self::UnknownColumn { name, column, .. } => Self::UnknownColumn {
                name,
                column,
                columns: vec!["others".to_owned()],
            },
            Self::BadHeader { name, line, .. } => Self::BadHeader {
                name,
                line,
                reason: BadLineReason::Hidden,
            },
            error => error,
        }
    }
}

/// A line without a usable key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadLine {
    /// Where it starts, from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: BadLineReason,
}

/// What is wrong with a line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadLineReason {
    /// The key has more than 1 MiB.
    #[error("the key is longer than {MAX_KEY_BYTES} bytes")]
    KeyTooLong,
    /// The line or row has more than 4 MiB, or more fields than a table can have.
    #[error(
        "it is longer than {MAX_LINE_BYTES} bytes or has more than {} fields",
        super::csv::MAX_FIELDS
    )]
    LineTooLong,
    /// The key holds an unknown escape.
    #[error("the key has a wrong escape at {0}")]
    Escape(#[from] BadEscape),
    /// The key should be hexadecimal digits in pairs.
    #[error("the key is not hexadecimal: {value}")]
    NotHex {
        /// The start of what was there, escaped.
        value: String,
    },
    /// The row ends before a column that is read.
    #[error("{fields} fields, and column {column} is read")]
    TooFewFields {
        /// Fields that the row has.
        fields: usize,
        /// The first column that is read and missing, from 1.
        column: usize,
    },
    /// The row has more fields than the first row.
    #[error("{fields} fields, and the first row has {columns}")]
    TooManyFields {
        /// Fields that the row has.
        fields: usize,
        /// Fields of the first row.
        columns: usize,
    },
    /// A quoted field is open at the end of the input.
    #[error("a quote is never closed")]
    OpenQuote,
    /// A value is not a whole number from 0 to 2^53.
    #[error("{column} is not a whole number up to 2^53: {value}")]
    NotANumber {
        /// The column's name or number.
        column: String,
        /// The start of what was there, escaped.
        value: String,
    },
    /// The line is not a JSON object in UTF-8.
    #[error("not a JSON object: {problem}")]
    NotJson {
        /// What the JSON reader said.
        problem: String,
    },
    /// The object has two members of one name.
    #[error("two members are named {member}")]
    RepeatedMember {
        /// The name, escaped.
        member: String,
    },
    /// A member that is read is absent.
    #[error("no member {member}")]
    NoMember {
        /// The name.
        member: String,
    },
    /// The key is JSON, but not a string.
    #[error("member {member} is not a string")]
    NotText {
        /// The name.
        member: String,
    },
    /// The line breaks the format of a log, a trace or a dump.
    #[error("not a line of {format}: {problem}")]
    NotOfFormat {
        /// The format.
        format: Format,
        /// What is wrong.
        problem: &'static str,
    },
    /// The operation is none that the trace's format knows.
    #[error("unknown operation {operation}")]
    UnknownOperation {
        /// The start of what was there, escaped.
        operation: String,
    },
    /// What is wrong would show a part of the line, and keys are not to be shown.
    #[error("what is wrong is not shown, it may hold a part of a key")]
    Hidden,
    /// `key` and `key_hex` are not the same bytes.
    #[error("key and key_hex are different keys")]
    KeysDiffer,
}

/// The start of a value, fit for a message.
pub(super) fn excerpt(value: &[u8]) -> String {
    // A screen line has room for about as much next to the message.
    const LIMIT: usize = 40;
    match value.get(..LIMIT) {
        Some(start) if value.len() > LIMIT => format!("{}...", Escaped(start)),
        _ => Escaped(value).to_string(),
    }
}

fn cannot_read(name: &str, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::IsADirectory => format!("{name} is a directory, not a file of keys"),
        _ => format!("cannot read keys from {name}"),
    }
}

fn first_of(bad: &[BadLine]) -> String {
    bad.first()
        .map_or_else(String::new, |bad| format!("; {bad}"))
}

/// Column names for a message; a table may have thousands.
fn list(columns: &[String]) -> impl fmt::Display {
    const SHOWN: usize = 20;
    let mut text: Vec<String> = columns
        .iter()
        .take(SHOWN)
        .map(|name| excerpt(name.as_bytes()))
        .collect();
    if columns.len() > SHOWN {
        text.push(format!("and {} more", columns.len() - SHOWN));
    }
    if text.is_empty() {
        text.push("none".to_owned());
    }
    text.join(", ")
}
