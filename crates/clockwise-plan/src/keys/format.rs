//! Formats and columns: how they are written, and how a format is recognised.

use std::fmt;
use std::str::FromStr;

use super::error::KeyError;
use super::json::Members;
use super::log::{is_access_log, is_greeting, is_kvcache, is_monitor, is_twitter};
use super::metadump::is_metadump;
use super::table::header_of;
use super::{BOM, MAX_LINE_BYTES, ReadOptions, columns};

/// How an input is laid out.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Format {
    /// Each line is a key.
    Lines,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values without quotes.
    Tsv,
    /// One JSON object a line.
    JsonLines,
    /// What Redis sends after MONITOR.
    Monitor,
    /// What memcached answers to `lru_crawler metadump`.
    Metadump,
    /// CacheLib's kvcache trace, with its header.
    KvCache,
    /// Twitter's cache trace, without a header.
    Twitter,
    /// A web access log in the common or the combined format.
    AccessLog,
}

impl Format {
    const ALL: [Self; 9] = [
        Self::Lines,
        Self::Csv,
        Self::Tsv,
        Self::JsonLines,
        Self::Monitor,
        Self::Metadump,
        Self::KvCache,
        Self::Twitter,
        Self::AccessLog,
    ];

    fn has_columns(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::JsonLines)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::JsonLines => "jsonl",
            Self::Monitor => "monitor",
            Self::Metadump => "metadump",
            Self::KvCache => "kvcache",
            Self::Twitter => "twitter",
            Self::AccessLog => "access-log",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = ParseFormatError;

    fn from_str(text: &str) -> Result<Self, ParseFormatError> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| ParseFormatError {
                given: text.to_owned(),
            })
    }
}

/// A text that names no format.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown format of keys {given}: known are {}", Format::ALL.map(Format::name).join(", "))]
pub struct ParseFormatError {
    /// The text.
    pub given: String,
}

/// A column, as a person names it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Column {
    /// By its name in the header, or in the object.
    Name(String),
    /// By its number, from 1. In JSON lines it is the member of that name.
    Number(u32),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.pad(name),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl FromStr for Column {
    type Err = ParseColumnError;

    /// Digits alone are a number, anything else is a name.
    fn from_str(text: &str) -> Result<Self, ParseColumnError> {
        if text.is_empty() {
            return Err(ParseColumnError::Empty);
        }
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self::Name(text.to_owned()));
        }
        match text.parse() {
            Ok(0) | Err(_) => Err(ParseColumnError::OutOfRange {
                given: text.to_owned(),
            }),
            Ok(number) => Ok(Self::Number(number)),
        }
    }
}

/// A text that is no column.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseColumnError {
    /// The text is empty.
    #[error("the name of a column is empty")]
    Empty,
    /// A number that no column has.
    #[error("column {given}: columns are numbered from 1 to {}", u32::MAX)]
    OutOfRange {
        /// The text.
        given: String,
    },
}

/// The format of an input that starts with `head`; `None` when more bytes are needed to tell.
///
/// `whole`: there are no more bytes.
///
/// # Errors
///
/// [`KeyError::ColumnOfLines`] or [`KeyError::ColumnOfLog`] when columns were asked for and the input has none.
pub(super) fn recognise(
    head: &[u8],
    whole: bool,
    options: &ReadOptions,
) -> Option<Result<Format, KeyError>> {
    let format = match options.format {
        Some(format) if whole || head.len() >= BOM.len() => format,
        Some(_) => return None,
        None => {
            let text = head.strip_prefix(BOM).unwrap_or(head);
            let whole = whole || head.len() > MAX_LINE_BYTES;
            let line = first_line(text, whole)?;
            let second = if is_greeting(line) {
                first_line(after(text, line), whole)?
            } else {
                line
            };
            if is_monitor(second) && !asks_for_columns(options) {
                Format::Monitor
            } else {
                by_content(line, options)
            }
        }
    };
    let asked = [
        &options.key_column,
        &options.requests_column,
        &options.bytes_column,
    ];
    match asked.into_iter().flatten().next() {
        // An input without a single byte has no columns and no keys; that is not the format's fault.
        Some(column) if format == Format::Lines && !head.is_empty() => {
            Some(Err(KeyError::ColumnOfLines {
                name: options.name.clone(),
                column: column.to_string(),
            }))
        }
        Some(column) if !format.has_columns() && !head.is_empty() => {
            Some(Err(KeyError::ColumnOfLog {
                name: options.name.clone(),
                column: column.to_string(),
                format,
            }))
        }
        _ => Some(Ok(format)),
    }
}

fn asks_for_columns(options: &ReadOptions) -> bool {
    options.key_column.is_some()
        || options.requests_column.is_some()
        || options.bytes_column.is_some()
}

/// What follows a line that lies in `text`, with the line's end.
fn after<'a>(text: &'a [u8], line: &[u8]) -> &'a [u8] {
    let start = text.iter().position(|b| !matches!(b, b'\n' | b'\r'));
    text.get(start.unwrap_or_default() + line.len()..)
        .unwrap_or_default()
}

/// The first line that is not empty, without its end. `None` when `text` may go on.
fn first_line(text: &[u8], whole: bool) -> Option<&[u8]> {
    let Some(start) = text.iter().position(|b| !matches!(b, b'\n' | b'\r')) else {
        return whole.then_some(b"");
    };
    let text = &text[start..];
    let line = match memchr::memchr(b'\n', text) {
        Some(end) => &text[..end],
        None if whole => text,
        None => return None,
    };
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

fn by_content(line: &[u8], options: &ReadOptions) -> Format {
    if line.first() == Some(&b'{') && Members::default().hold_a_key(line, options) {
        return Format::JsonLines;
    }
    // A trace is often called .csv; asked for its columns, it is a table like any other.
    if !asks_for_columns(options) {
        for (format, is_of) in LOGS {
            if is_of(line) {
                return format;
            }
        }
    }
    if let Some(format) = by_name(&options.name) {
        return format;
    }
    for format in [Format::Tsv, Format::Csv] {
        let names = header_of(line, format);
        let asked = |name: &String| match &options.key_column {
            Some(Column::Name(asked)) => asked == name,
            _ => columns::is_key(name),
        };
        if names.len() > 1 && names.iter().any(asked) {
            return format;
        }
    }
    Format::Lines
}

fn by_name(name: &str) -> Option<Format> {
    let name = name.to_ascii_lowercase();
    let name = [".gz", ".zst"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    ENDINGS
        .into_iter()
        .find(|(ending, _)| name.ends_with(ending))
        .map(|(_, format)| format)
}

/// Whether a first line is of a format.
type IsOf = fn(&[u8]) -> bool;

/// Told by the first line.
const LOGS: [(Format, IsOf); 4] = [
    (Format::Metadump, is_metadump),
    (Format::KvCache, is_kvcache),
    (Format::Twitter, is_twitter),
    (Format::AccessLog, is_access_log),
];

/// A list of JSON objects read as lines would make each object a key; its file's name is taken as a word.
const ENDINGS: [(&str, Format); 4] = [
    (".csv", Format::Csv),
    (".tsv", Format::Tsv),
    (".jsonl", Format::JsonLines),
    (".ndjson", Format::JsonLines),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(name: &str, text: &str) -> Format {
        recognise(text.as_bytes(), true, &ReadOptions::new(name))
            .unwrap()
            .unwrap()
    }

    #[test]
    fn a_format_and_a_column_are_written_as_a_person_would() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!(
            "json".parse::<Format>().unwrap_err().to_string(),
            "unknown format of keys json: known are lines, csv, tsv, jsonl, monitor, metadump, kvcache, twitter, access-log"
        );
        assert_eq!("7".parse(), Ok(Column::Number(7)));
        assert_eq!("7a".parse(), Ok(Column::Name("7a".to_owned())));
        assert_eq!("".parse::<Column>(), Err(ParseColumnError::Empty));
        for text in ["0", "4294967296"] {
            assert_eq!(
                text.parse::<Column>().unwrap_err().to_string(),
                format!("column {text}: columns are numbered from 1 to 4294967295")
            );
        }
    }

    #[test]
    fn a_list_is_a_list_unless_its_first_line_says_otherwise() {
        for (text, format) in [
            ("user:1\n", Format::Lines),
            ("", Format::Lines),
            ("\n\n", Format::Lines),
            ("key\nuser:1\n", Format::Lines),
            ("a,b\nc,d\n", Format::Lines),
            ("requests,hits\n", Format::Lines),
            ("\"a b\",\"c\"\n", Format::Lines),
            ("key,requests\n", Format::Csv),
            ("\u{feff}Requests,URL\r\n", Format::Csv),
            ("\"requests\",\"cache_key\"\n", Format::Csv),
            ("\r\n\nrequests\tpath\n", Format::Tsv),
            ("a,b\tkey_hex", Format::Tsv),
            ("{\"key\":\"a\"}\n", Format::JsonLines),
            ("{\"n\":{\"x\":[1]},\"key_hex\":\"00\"}", Format::JsonLines),
            ("{user:1}:cart\n", Format::Lines),
            ("{\"k\":\"a\"}\n", Format::Lines),
            ("{\"key\":\"a\"\n", Format::Lines),
            ("{\"key\":\"a\"} {}\n", Format::Lines),
            ("{}\n", Format::Lines),
        ] {
            assert_eq!(recognised("keys.txt", text), format, "{text:?}");
        }
    }

    #[test]
    fn logs_traces_and_dumps_are_known_by_their_first_line_whatever_the_name() {
        let monitor = "1796007272.575654 [0 127.0.0.1:53770] \"GET\" \"a\"\n";
        let kvcache = "op_time,key,key_size,op,op_count,size,cache_hits,ttl\n";
        for (text, format) in [
            (monitor, Format::Monitor),
            (&format!("OK\r\n{monitor}"), Format::Monitor),
            (&format!("\n+OK\n+{monitor}"), Format::Monitor),
            ("OK\nFAIL\n", Format::Lines),
            ("OK", Format::Lines),
            (
                "key=a exp=1 la=1 cas=1 fetch=no cls=1 size=9\n",
                Format::Metadump,
            ),
            (kvcache, Format::KvCache),
            ("0,k,1,2,3,get,0\n", Format::Twitter),
            ("::1 - - [t] \"GET / HTTP/1.1\" 200 -\n", Format::AccessLog),
        ] {
            for name in ["keys", "keys.tsv"] {
                let expected = match format {
                    Format::Lines if name == "keys.tsv" => Format::Tsv,
                    format => format,
                };
                assert_eq!(recognised(name, text), expected, "{text:?}");
            }
        }
        assert!(recognise(b"OK\n1.5 [0", false, &ReadOptions::new("-")).is_none());
        let mut options = ReadOptions::new("trace.csv");
        options.requests_column = Some(Column::Name("cache_hits".to_owned()));
        let of = |options: &ReadOptions| recognise(kvcache.as_bytes(), true, options).unwrap();
        assert_eq!(of(&options).unwrap(), Format::Csv);
        options.format = Some(Format::KvCache);
        assert_eq!(
            of(&options).unwrap_err().to_string(),
            "trace.csv is read as kvcache, which reads its own columns and not column cache_hits"
        );
    }

    #[test]
    fn a_files_ending_tells_the_format() {
        for (name, format) in [
            ("a.csv", Format::Csv),
            ("A.CSV.gz", Format::Csv),
            ("a.tsv.zst", Format::Tsv),
            ("a.jsonl", Format::JsonLines),
            ("a.ndjson.gz", Format::JsonLines),
            ("a.csv.txt", Format::Lines),
            ("csv", Format::Lines),
        ] {
            assert_eq!(recognised(name, "user:1\n"), format, "{name}");
        }
        assert_eq!(recognised("a.csv", "{\"key\":\"a\"}\n"), Format::JsonLines);
    }

    #[test]
    fn more_bytes_are_awaited_until_the_first_line_is_whole() {
        let options = ReadOptions::new("-");
        assert!(recognise(b"", false, &options).is_none());
        assert!(recognise(b"\n\n", false, &options).is_none());
        assert!(recognise(b"key,req", false, &options).is_none());
        assert!(recognise(&vec![b'x'; MAX_LINE_BYTES + 1], false, &options).is_some());
        assert!(recognise(&vec![b'\n'; MAX_LINE_BYTES + 1], false, &options).is_some());
    }

    #[test]
    fn a_column_asked_for_is_looked_for_in_the_header() {
        let mut options = ReadOptions::new("keys.txt");
        options.key_column = Some(Column::Name("sku".to_owned()));
        let format = recognise(b"id,sku\n", true, &options).unwrap().unwrap();
        assert_eq!(format, Format::Csv);
        let format = recognise(b"{\"sku\":\"x\"}\n", true, &options)
            .unwrap()
            .unwrap();
        assert_eq!(format, Format::JsonLines);
        let error = recognise(b"user:1\n", true, &options).unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "keys.txt has no column sku: it is read as lines, and a whole line is the key"
        );
        assert!(error.hint().unwrap().contains("--keys-format"));
        assert!(recognise(b"", true, &options).unwrap().is_ok());
    }
}
