//! What Redis sends after MONITOR: a time, the database and the client in brackets, and the command's quoted arguments.
//!
//! Each key of a command is one request. A script is counted by the keys that it declares, and each command that it
//! runs, which has `lua` for a client, by its own. Databases are not told apart.
//! Source: `replicationFeedMonitors` and `sdscatrepr` of Redis 7, and recorded output.

use super::super::columns;
use super::super::error::BadLineReason;
use super::super::format::Format;
use super::super::merge::Merge;
use super::super::{MAX_KEY_BYTES, Record};
use super::Taken;
use super::commands::{Keys, keys_of};

/// Reads lines; its buffers are used again for each.
#[derive(Default)]
pub(super) struct Monitor {
    /// Where each argument's text lies in the line, between its quotes.
    arguments: Vec<(usize, usize)>,
    key: Vec<u8>,
    /// Which arguments are keys.
    places: Vec<usize>,
}

impl Monitor {
    pub(super) fn take(
        &mut self,
        line: &[u8],
        number: u64,
        merge: &mut Merge,
    ) -> Result<Taken, BadLineReason> {
        if is_greeting(line) {
            return Ok(Taken::Skipped);
        }
        let bad = |problem| BadLineReason::NotOfFormat {
            format: Format::Monitor,
            problem,
        };
        let start = command_start(line).map_err(bad)?;
        cut(line, start, &mut self.arguments).map_err(bad)?;
        let argument = |at: usize| {
            let (start, end) = self.arguments.get(at)?;
            line.get(*start..*end)
        };
        let Some(rule) = keys_of(argument(0).unwrap_or_default()) else {
            return Ok(Taken::Unknown);
        };
        self.places.clear();
        places(rule, self.arguments.len(), &argument, &mut self.places);
        // All of them are read before the first counts, so that a bad line counts for nothing.
        for at in &self.places {
            self.key.clear();
            unquote(argument(*at).unwrap_or_default(), &mut self.key).map_err(bad)?;
            if self.key.len() > MAX_KEY_BYTES {
                return Err(BadLineReason::KeyTooLong);
            }
        }
        for at in &self.places {
            // One key is in the buffer already.
            if self.places.len() > 1 {
                self.key.clear();
                unquote(argument(*at).unwrap_or_default(), &mut self.key).map_err(bad)?;
            }
            merge.add(Record {
                key: &self.key,
                requests: Some(1),
                bytes: None,
                line: number,
            });
        }
        Ok(match self.places.len() {
            0 => Taken::Skipped,
            keys => Taken::Keys(keys as u64),
        })
    }
}

/// Whether a line is one of MONITOR's output.
pub(in super::super) fn is_monitor(line: &[u8]) -> bool {
    command_start(line).is_ok()
}

/// Whether a line is the answer with which MONITOR begins.
pub(in super::super) fn is_greeting(line: &[u8]) -> bool {
    matches!(line, b"OK" | b"+OK")
}

/// Where the first quote is. A line as it comes over the wire begins with a plus.
fn command_start(line: &[u8]) -> Result<usize, &'static str> {
    let text = line.strip_prefix(b"+").unwrap_or(line);
    let offset = line.len() - text.len();
    let time = memchr::memchr(b' ', text).ok_or("it does not begin with a time")?;
    let is_time = |time: &[u8]| {
        let mut parts = time.split(|b| *b == b'.');
        let digits = |part: Option<&[u8]>| {
            part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
        };
        digits(parts.next()) && digits(parts.next()) && parts.next().is_none()
    };
    if !is_time(&text[..time]) {
        return Err("it does not begin with a time");
    }
    let rest = &text[time + 1..];
    let database = rest.strip_prefix(b"[").and_then(|rest| {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        (digits > 0 && rest.get(digits) == Some(&b' ')).then_some(digits)
    });
    if database.is_none() {
        return Err("no database and client in brackets follow the time");
    }
    // The path of a Unix socket may hold about anything.
    let close = memchr::memmem::find(rest, b"] \"").ok_or("no quoted command follows")?;
    Ok(offset + time + 1 + close + 2)
}

/// Finds the quoted arguments from `start` on.
fn cut(line: &[u8], start: usize, arguments: &mut Vec<(usize, usize)>) -> Result<(), &'static str> {
    arguments.clear();
    let mut at = start;
    loop {
        if line.get(at) != Some(&b'"') {
            return Err("an argument is not in quotes");
        }
        let from = at + 1;
        let mut look = from;
        let end = loop {
            let rest = line.get(look..).unwrap_or_default();
            let found =
                look + memchr::memchr2(b'"', b'\\', rest).ok_or("a quote is never closed")?;
            if line[found] == b'"' {
                break found;
            }
            look = found + 2;
        };
        arguments.push((from, end));
        match line.get(end + 1) {
            None => return Ok(()),
            Some(b' ') => at = end + 2,
            Some(_) => return Err("something follows a closing quote"),
        }
    }
}

/// Appends the bytes that stand between two quotes.
fn unquote(text: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (byte, length) = match escape {
            [_, b'n', ..] => (b'\n', 2),
            [_, b'r', ..] => (b'\r', 2),
            [_, b't', ..] => (b'\t', 2),
            [_, b'a', ..] => (7, 2),
            [_, b'b', ..] => (8, 2),
            [_, quoted @ (b'"' | b'\\'), ..] => (*quoted, 2),
            [_, b'x', high, low, ..] => {
                let digit = |digit: u8| char::from(digit).to_digit(16);
                let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                    return Err("\\x is not followed by two hexadecimal digits");
                };
                ((high << 4 | low) as u8, 4)
            }
            _ => return Err("an unknown escape"),
        };
        out.push(byte);
        rest = &escape[length..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Which of `count` arguments are keys. A command with fewer than it needs, which Redis refuses, has none.
fn places<'a>(
    rule: Keys,
    count: usize,
    argument: &impl Fn(usize) -> Option<&'a [u8]>,
    places: &mut Vec<usize>,
) {
    let is = |at: usize, word: &str| {
        argument(at).is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
    };
    let numbered = |at: usize| {
        let keys = argument(at).and_then(columns::number).unwrap_or(0) as usize;
        at + 1..(at + 1).saturating_add(keys)
    };
    match rule {
        Keys::None => {}
        Keys::Range { first, last, step } => {
            let last = if last < 0 {
                count.saturating_sub(last.unsigned_abs())
            } else {
                last.unsigned_abs()
            };
            if last < count {
                places.extend((first..=last).step_by(step));
            }
        }
        Keys::Numbered { at } => {
            let keys = numbered(at);
            if keys.end <= count {
                places.extend(keys);
            }
        }
        Keys::StoredNumbered { at } => {
            let keys = numbered(at);
            if keys.end <= count {
                places.push(1);
                places.extend(keys);
            }
        }
        Keys::Streams { from } => {
            if let Some(word) = (from..count).find(|at| is(*at, "STREAMS")) {
                let rest = count - word - 1;
                places.extend(word + 1..word + 1 + rest / 2);
            }
        }
        Keys::Stored { words } => {
            places.extend((count > 1).then_some(1));
            let store = (2..count.saturating_sub(1))
                .rev()
                .find(|at| words.iter().any(|word| is(*at, word)));
            places.extend(store.map(|at| at + 1));
        }
        Keys::Migrate => match argument(3) {
            Some(b"") => {
                if let Some(word) = (6..count).find(|at| is(*at, "KEYS")) {
                    places.extend(word + 1..count);
                }
            }
            Some(_) => places.push(3),
            None => {}
        },
        Keys::Behind { words } => {
            if words.iter().any(|word| is(1, word)) && count > 2 {
                places.push(2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use proptest::prelude::*;

    use super::*;

    fn keys(line: &str) -> Result<Vec<String>, String> {
        let mut merge = Merge::new();
        let taken = Monitor::default()
            .take(line.as_bytes(), 1, &mut merge)
            .map_err(|reason| reason.to_string())?;
        let mut keys = Vec::new();
        merge.hand_over(&AtomicBool::new(false), &mut |record| {
            keys.push(String::from_utf8_lossy(record.key).into_owned());
        });
        match taken {
            Taken::Keys(_) => assert!(!keys.is_empty(), "{line}"),
            Taken::Skipped => assert!(keys.is_empty(), "{line}"),
            Taken::Unknown => keys.push("unknown".to_owned()),
        }
        Ok(keys)
    }

    fn of(command: &str) -> Vec<String> {
        let arguments: Vec<String> = command
            .split(' ')
            .map(|word| format!("\"{word}\""))
            .collect();
        keys(&format!("1.5 [0 127.0.0.1:1] {}", arguments.join(" "))).unwrap()
    }

    #[test]
    fn the_keys_of_a_command_are_where_its_rule_says() {
        for (command, expected) in [
            ("GET a", "a"),
            ("get a", "a"),
            ("SET a v EX 3", "a"),
            ("MGET a b c", "a b c"),
            ("MSET a 1 b 2", "a b"),
            ("DEL a b", "a b"),
            ("BITOP AND d a b", "d a b"),
            ("EVAL return 2 a b x", "a b"),
            ("EVAL return 0 x", ""),
            ("EVAL return 9 a", ""),
            ("EVAL return -1 a", ""),
            ("EVAL return 18446744073709551615 a", ""),
            ("FCALL f 1 a x", "a"),
            ("ZUNIONSTORE d 2 a b WEIGHTS 1 2", "d a b"),
            ("ZUNION 2 a b WITHSCORES", "a b"),
            ("LMPOP 1 a LEFT", "a"),
            ("BLMPOP 0 1 a LEFT", "a"),
            ("BLPOP a b 0", "a b"),
            ("XREAD COUNT 2 STREAMS a b 0 0", "a b"),
            ("XREADGROUP GROUP STREAMS c STREAMS a >", "a"),
            ("XADD s * f v", "s"),
            ("XGROUP CREATE s g $", "s"),
            ("XINFO HELP", ""),
            ("SORT a BY w STORE d", "a d"),
            ("SORT a", "a"),
            ("GEORADIUS g 1 2 3 km STOREDIST d", "g d"),
            ("MIGRATE h 1 a 0 9", "a"),
            ("RENAME a b", "a b"),
            ("LMOVE a b LEFT RIGHT", "a b"),
            ("OBJECT ENCODING a", "a"),
            ("MEMORY USAGE a", "a"),
            ("MEMORY DOCTOR", ""),
            ("PFMERGE d a b", "d a b"),
            ("SINTERCARD 2 a b LIMIT 1", "a b"),
            ("PING", ""),
            ("SELECT 3", ""),
            ("GET", ""),
            ("CONFIG GET a", ""),
            ("PUBLISH ch m", ""),
            ("MY.MODULE a", "unknown"),
        ] {
            assert_eq!(of(command).join(" "), expected, "{command}");
        }
        assert_eq!(
            keys("1.5 [0 lua] \"MIGRATE\" \"h\" \"1\" \"\" \"0\" \"9\" \"KEYS\" \"a\" \"b\"")
                .unwrap(),
            ["a", "b"]
        );
    }

    #[test]
    fn clients_of_every_kind_and_the_greeting_are_known() {
        for line in [
            r#"1796007272.575654 [0 127.0.0.1:53770] "GET" "k""#,
            r#"+1796007272.575654 [0 127.0.0.1:53770] "GET" "k""#,
            r#"1.1 [15 [::1]:53770] "GET" "k""#,
            r#"1.1 [0 unix:/tmp/a ] b.sock] "GET" "k""#,
            r#"1.1 [0 lua] "GET" "k""#,
            r#"1.1 [0 ?:0] "GET" "\x6b""#,
        ] {
            assert_eq!(keys(line).unwrap(), ["k"], "{line}");
        }
        assert_eq!(keys("OK").unwrap(), [""; 0]);
        assert_eq!(keys("+OK").unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_line_of_monitor_says_why() {
        for (line, problem) in [
            ("GET a", "it does not begin with a time"),
            ("12 [0 lua] \"GET\" \"a\"", "it does not begin with a time"),
            (
                "1.2.3 [0 lua] \"GET\" \"a\"",
                "it does not begin with a time",
            ),
            (
                "1.2 0 lua \"GET\" \"a\"",
                "no database and client in brackets follow the time",
            ),
            (
                "1.2 [x lua] \"GET\" \"a\"",
                "no database and client in brackets follow the time",
            ),
            ("1.2 [0 lua] GET a", "no quoted command follows"),
            ("1.2 [0 lua] \"GET\" a", "an argument is not in quotes"),
            ("1.2 [0 lua] \"GET\" \"a", "a quote is never closed"),
            ("1.2 [0 lua] \"GET\" \"a\\", "a quote is never closed"),
            ("1.2 [0 lua] \"GET\" \"a\\\"", "a quote is never closed"),
            (
                "1.2 [0 lua] \"GET\" \"a\"b",
                "something follows a closing quote",
            ),
            ("1.2 [0 lua] \"GET\" \"a\" ", "an argument is not in quotes"),
            ("1.2 [0 lua] \"GET\" \"\\q\"", "an unknown escape"),
            (
                "1.2 [0 lua] \"GET\" \"\\x1g\"",
                "\\x is not followed by two hexadecimal digits",
            ),
            ("1.2 [0 lua] \"GET\" \"\\x1\"", "an unknown escape"),
        ] {
            let error = keys(line).unwrap_err();
            assert_eq!(error, format!("not a line of monitor: {problem}"), "{line}");
        }
    }

    /// As Redis writes an argument.
    fn quoted(bytes: &[u8]) -> String {
        let mut text = String::from("\"");
        for byte in bytes {
            match byte {
                b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
                b'\n' => text.push_str("\\n"),
                b'\r' => text.push_str("\\r"),
                b'\t' => text.push_str("\\t"),
                7 => text.push_str("\\a"),
                8 => text.push_str("\\b"),
                b' '..=b'~' => text.push(char::from(*byte)),
                _ => text.push_str(&format!("\\x{byte:02x}")),
            }
        }
        text.push('"');
        text
    }

    proptest! {
        #[test]
        fn any_key_comes_back_from_its_quotes(
            key in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), any::<u8>()], 0..60),
            value in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            let line = format!("1.5 [0 lua] \"SET\" {} {}", quoted(&key), quoted(&value));
            let mut merge = Merge::new();
            let taken = Monitor::default().take(line.as_bytes(), 1, &mut merge);
            prop_assert!(matches!(taken, Ok(Taken::Keys(1))));
            let mut found = Vec::new();
            merge.hand_over(&AtomicBool::new(false), &mut |record| found.push(record.key.to_vec()));
            prop_assert_eq!(found, [key]);
        }

        #[test]
        fn no_bytes_panic(line in proptest::collection::vec(
            prop_oneof![Just(b'"'), Just(b'\\'), Just(b' '), Just(b'x'), any::<u8>()], 0..60,
        ), command in 0_usize..6) {
            let command = ["GET", "EVAL", "XREAD", "MIGRATE", "SORT", "ZUNIONSTORE"][command];
            let head = format!("1.5 [0 lua] \"{command}\" ");
            let _ = Monitor::default().take(&[head.as_bytes(), &line].concat(), 1, &mut Merge::new());
            let _ = Monitor::default().take(&line, 1, &mut Merge::new());
        }
    }
}
