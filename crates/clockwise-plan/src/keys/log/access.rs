//! Web access logs in the common and the combined format.
//!
//! The key is the request's target as it stands, with its query and with the escapes that the server wrote. The size is
//! that of the response, where the server wrote a number; of a target's responses the largest counts, which is the whole
//! one where others were ranges or said "not modified".
//! Source: the documentation of Apache's mod_log_config and of nginx's log module.

use super::super::columns;
use super::super::error::BadLineReason;
use super::super::format::Format;
use super::super::merge::Merge;
use super::{Record, Taken, add};

/// The parts of a line that are read.
struct Parts<'a> {
    /// Between the quotes.
    request: &'a [u8],
    size: Option<u64>,
}

pub(super) fn take(line: &[u8], number: u64, merge: &mut Merge) -> Result<Taken, BadLineReason> {
    let bad = |problem| BadLineReason::NotOfFormat {
        format: Format::AccessLog,
        problem,
    };
    let parts = parts(line).map_err(bad)?;
    let target = target(parts.request).ok_or_else(|| bad("the request has no target"))?;
    let record = Record {
        key: target,
        requests: Some(1),
        bytes: parts.size,
        line: number,
    };
    add(merge, record)
}

/// Whether a line is one of an access log, though its request may be broken.
pub(in super::super) fn is_access_log(line: &[u8]) -> bool {
    parts(line).is_ok()
}

/// `host ident user [time] "request" status size …`; what follows the size is not looked at.
fn parts(line: &[u8]) -> Result<Parts<'_>, &'static str> {
    let open = memchr::memmem::find(line, b" [").ok_or("it has no time in brackets")?;
    if line[..open].split(|b| *b == b' ').count() < 3 || open == 0 {
        return Err("host, identity and user do not stand before the time");
    }
    let rest = &line[open + 2..];
    let close = memchr::memmem::find(rest, b"] \"").ok_or("no quoted request follows the time")?;
    let rest = &rest[close + 3..];
    let end = closing_quote(rest).ok_or("the request's quote is never closed")?;
    let (request, rest) = (&rest[..end], &rest[end + 1..]);
    let mut fields = rest
        .strip_prefix(b" ")
        .unwrap_or_default()
        .split(|b| *b == b' ');
    let status = fields.next().unwrap_or_default();
    if status.len() != 3 || !status.iter().all(u8::is_ascii_digit) {
        return Err("no status of three digits follows the request");
    }
    let size = match fields.next() {
        Some(b"-") => None,
        Some(size) => Some(columns::number(size).ok_or("the size is neither a number nor -")?),
        None => return Err("no size follows the status"),
    };
    Ok(Parts { request, size })
}

/// The place of the first quote that no backslash escapes.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        from = at + 2;
    }
}

/// What stands between the method and the protocol.
fn target(request: &[u8]) -> Option<&[u8]> {
    let first = memchr::memchr(b' ', request)?;
    let (method, rest) = (&request[..first], &request[first + 1..]);
    if method.is_empty() || !method.iter().all(|b| b.is_ascii_alphabetic() || *b == b'-') {
        return None;
    }
    // Before HTTP/1.0 a request named no protocol.
    let target = match memchr::memrchr(b' ', rest) {
        Some(last) if rest[last + 1..].starts_with(b"HTTP/") => &rest[..last],
        _ => rest,
    };
    (!target.is_empty()).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(line: &str) -> Option<(String, Option<u64>)> {
        let parts = parts(line.as_bytes()).ok()?;
        let target = String::from_utf8(target(parts.request)?.to_vec()).unwrap();
        Some((target, parts.size))
    }

    #[test]
    fn the_target_is_the_key_as_it_stands() {
        let line = |request: &str, rest: &str| {
            format!("1.2.3.4 - - [10/Oct/2025:13:55:36 +0700] \"{request}\" {rest}")
        };
        let found = |target: &str, size| Some((target.to_owned(), size));
        for (request, rest, expected) in [
            (
                "GET /a?b=c&d HTTP/1.1",
                "200 2326",
                found("/a?b=c&d", Some(2326)),
            ),
            (
                "GET /a HTTP/1.0",
                "304 - \"-\" \"Mozilla\"",
                found("/a", None),
            ),
            (
                r#"GET /q\"x\" HTTP/1.1"#,
                "200 1",
                found(r#"/q\"x\""#, Some(1)),
            ),
            ("GET /a b HTTP/1.1", "200 1", found("/a b", Some(1))),
            ("GET /old", "200 1", found("/old", Some(1))),
            ("OPTIONS * HTTP/1.1", "200 0", found("*", Some(0))),
            (r"\x16\x03\x01", "400 226", None),
            ("-", "408 -", None),
            ("GET  HTTP/1.1", "400 0", None),
            ("GET /a HTTP/1.1", "200", None),
            ("GET /a HTTP/1.1", "2000 1", None),
            ("GET /a HTTP/1.1", "200 1x", None),
            ("GET /a HTTP/1.1\\", "200 1", None),
        ] {
            assert_eq!(key(&line(request, rest)), expected, "{request}");
        }
        let vhost = "example.org:443 ::1 - a b [t] \"GET /x HTTP/2.0\" 200 5 \"-\" \"-\"";
        assert_eq!(key(vhost), found("/x", Some(5)));
        assert_eq!(key("no log at all"), None);
        assert_eq!(key(" [t] \"GET /x HTTP/2.0\" 200 5"), None);
    }
}
