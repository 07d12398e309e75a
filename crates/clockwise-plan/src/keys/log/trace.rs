//! Public cache traces: CacheLib's kvcache, with a header, and Twitter's, without one.
//!
//! Neither knows quotes: a field is what lies between commas, byte for byte.
//! Source: the replay formats of CacheLib's cachebench; the description of columns in the repository twitter/cache-trace.

use super::super::columns::{self, MAX_COUNT};
use super::super::error::{BadLineReason, KeyError, excerpt};
use super::super::format::Format;
use super::super::merge::Merge;
use super::{Record, Taken, add};

/// A kvcache trace: where the columns are, once the header was seen.
#[derive(Default)]
pub(super) struct KvCache {
    columns: Option<Columns>,
    /// Where each field of the line ends; used again for each line.
    ends: Vec<usize>,
}

/// Places from 0.
struct Columns {
    key: usize,
    key_size: usize,
    op_count: usize,
    size: usize,
    width: usize,
}

impl KvCache {
    /// Takes the first line; `None` when that was taken before.
    pub(super) fn header(&mut self, line: &[u8], input: &str) -> Option<Result<(), KeyError>> {
        if self.columns.is_some() {
            return None;
        }
        let names: Vec<String> = line
            .split(|b| *b == b',')
            .take(MOST_COLUMNS)
            .map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned())
            .collect();
        let place = |wanted: &str| {
            let at = names.iter().position(|name| name == wanted);
            at.ok_or_else(|| KeyError::UnknownColumn {
                name: input.to_owned(),
                column: wanted.to_owned(),
                columns: names.clone(),
            })
        };
        let columns = || {
            Ok(Columns {
                key: place("key")?,
                key_size: place("key_size")?,
                op_count: place("op_count")?,
                size: place("size")?,
                width: names.len(),
            })
        };
        Some(columns().map(|columns| self.columns = Some(columns)))
    }

    pub(super) fn take(
        &mut self,
        line: &[u8],
        number: u64,
        merge: &mut Merge,
    ) -> Result<Taken, BadLineReason> {
        let Some(columns) = &self.columns else {
            return Ok(Taken::Skipped);
        };
        self.ends.clear();
        self.ends
            .extend(memchr::memchr_iter(b',', line).take(MOST_COLUMNS));
        self.ends.push(line.len());
        let fields = self.ends.len();
        if fields > columns.width {
            return Err(BadLineReason::TooManyFields {
                fields,
                columns: columns.width,
            });
        }
        let field = |at: usize| {
            let start = at
                .checked_sub(1)
                .map_or(Some(0), |before| self.ends.get(before).map(|end| end + 1));
            let range = start.zip(self.ends.get(at).copied());
            let field = range.and_then(|(start, end)| line.get(start..end));
            field.ok_or(BadLineReason::TooFewFields {
                fields,
                column: at + 1,
            })
        };
        let count = |at: usize, name: &str| {
            let field = field(at)?;
            columns::number(field).ok_or_else(|| columns::not_a_number(name, field))
        };
        let requests = count(columns.op_count, "op_count")?;
        let bytes = count(columns.size, "size")? + count(columns.key_size, "key_size")?;
        if bytes > MAX_COUNT {
            let size = field(columns.size)?;
            return Err(columns::not_a_number("size + key_size", size));
        }
        let record = Record {
            key: field(columns.key)?,
            requests: Some(requests),
            bytes: Some(bytes),
            line: number,
        };
        add(merge, record)
    }
}

/// Takes a line of a Twitter trace.
pub(super) fn take_twitter(
    line: &[u8],
    number: u64,
    merge: &mut Merge,
) -> Result<Taken, BadLineReason> {
    let fields = twitter_fields(line).ok_or(BadLineReason::NotOfFormat {
        format: Format::Twitter,
        problem: "it needs 7 fields",
    })?;
    let [time, key, key_size, value_size, client, operation, ttl] = fields;
    for (name, field) in [
        ("the timestamp", time),
        ("the key size", key_size),
        ("the client id", client),
        ("the TTL", ttl),
    ] {
        if columns::number(field).is_none() {
            return Err(columns::not_a_number(name, field));
        }
    }
    if !is_operation(operation) {
        return Err(BadLineReason::UnknownOperation {
            operation: excerpt(operation),
        });
    }
    let bytes = columns::number(value_size)
        .ok_or_else(|| columns::not_a_number("the value size", value_size))?;
    let record = Record {
        key,
        requests: Some(1),
        bytes: Some(bytes),
        line: number,
    };
    add(merge, record)
}

/// Whether a line is the header of a kvcache trace.
pub(in super::super) fn is_kvcache(line: &[u8]) -> bool {
    let has = |wanted: &str| {
        line.split(|b| *b == b',')
            .take(MOST_COLUMNS)
            .any(|name| name.trim_ascii() == wanted.as_bytes())
    };
    ["key", "key_size", "op", "op_count", "size"]
        .into_iter()
        .all(has)
}

/// Whether a line is one of a Twitter trace.
pub(in super::super) fn is_twitter(line: &[u8]) -> bool {
    twitter_fields(line).is_some_and(|[time, _, key_size, size, client, operation, ttl]| {
        is_operation(operation)
            && [time, key_size, size, client, ttl]
                .into_iter()
                .all(|field| columns::number(field).is_some())
    })
}

/// The seven fields. Only the key's may hold a comma: there is one field before it and five behind.
fn twitter_fields(line: &[u8]) -> Option<[&[u8]; 7]> {
    let first = memchr::memchr(b',', line)?;
    let (time, rest) = (&line[..first], &line[first + 1..]);
    let mut fields = [time, rest, b"", b"", b"", b"", b""];
    let mut end = rest.len();
    for place in (2..7).rev() {
        let comma = memchr::memrchr(b',', &rest[..end])?;
        fields[place] = &rest[comma + 1..end];
        end = comma;
    }
    fields[1] = &rest[..end];
    Some(fields)
}

fn is_operation(text: &[u8]) -> bool {
    OPERATIONS
        .iter()
        .any(|operation| operation.as_bytes() == text)
}

/// What the trace's description lists.
const OPERATIONS: [&str; 11] = [
    "get", "gets", "set", "add", "replace", "cas", "append", "prepend", "delete", "incr", "decr",
];

/// A trace has about ten.
const MOST_COLUMNS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twitter_line_has_its_key_between_one_field_and_five() {
        let key = |line: &str| {
            twitter_fields(line.as_bytes())
                .map(|fields| String::from_utf8(fields[1].to_vec()).unwrap())
        };
        assert_eq!(
            key("0,q:q:1:8WTfjZU14ee,17,213,4,get,0").unwrap(),
            "q:q:1:8WTfjZU14ee"
        );
        assert_eq!(key("0,a,b,3,1,4,get,0").unwrap(), "a,b");
        assert_eq!(key("0,,0,1,4,get,0").unwrap(), "");
        assert_eq!(key("0,1,2,3,4,5"), None);
        assert_eq!(key(""), None);
    }

    #[test]
    fn a_trace_is_told_from_a_table() {
        assert!(is_twitter(b"0,k,1,2,3,get,0"));
        assert!(!is_twitter(b"0,k,1,2,3,fetch,0"));
        assert!(!is_twitter(b"t,k,1,2,3,get,0"));
        assert!(is_kvcache(
            b"op_time,key,key_size,op,op_count,size,cache_hits,ttl"
        ));
        assert!(!is_kvcache(b"key,op_count,size"));
    }
}
