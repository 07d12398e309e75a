//! Names of columns that are known without being told, and how a count is written.

use super::error::{BadLineReason, excerpt};

/// What the columns that are read are called; part of the summary.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub(super) key: Option<String>,
    pub(super) requests: Option<String>,
    pub(super) bytes: Option<String>,
}

impl Names {
    pub(super) fn of(key: &str, requests: &str, bytes: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            requests: Some(requests.to_owned()),
            bytes: Some(bytes.to_owned()),
        }
    }
}

/// In order of preference. Hexadecimal first: beside it, a text column may have lost bytes.
pub(super) const KEY: [&str; 6] = ["key_hex", "key", "cache_key", "path", "url", "uri"];
pub(super) const REQUESTS: [&str; 4] = ["requests", "hits", "count", "op_count"];
pub(super) const BYTES: [&str; 3] = ["bytes", "size", "value_size"];

/// Whether a table's column of this name is known to hold keys.
pub(super) fn is_key(name: &str) -> bool {
    is_one_of(&KEY, name)
}

pub(super) fn is_one_of(known: &[&str], name: &str) -> bool {
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a key column of this name holds hexadecimal digits.
pub(super) fn is_hex(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "hex" || name.ends_with("_hex")
}

/// Reads a whole number from 0 to 2^53: digits, with blanks around them at most.
pub(super) fn number(field: &[u8]) -> Option<u64> {
    let digits = field.trim_ascii();
    // 2^53 has 16 digits; no count fits a number with more, and none overflows with as many as 18.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0_u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    Some(value).filter(|value| *value <= MAX_COUNT)
}

pub(super) fn not_a_number(column: &str, field: &[u8]) -> BadLineReason {
    BadLineReason::NotANumber {
        column: excerpt(column.as_bytes()),
        value: excerpt(field),
    }
}

/// 2^53: every program that reads our reports holds whole numbers up to here exactly.
pub(super) const MAX_COUNT: u64 = 1 << 53;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_whole_number_up_to_two_to_the_53() {
        for (text, value) in [
            ("0", Some(0)),
            ("007", Some(7)),
            (" 12 ", Some(12)),
            ("9007199254740992", Some(MAX_COUNT)),
            ("9007199254740993", None),
            ("18446744073709551616", None),
            ("", None),
            (" ", None),
            ("-1", None),
            ("+1", None),
            ("1.0", None),
            ("1e3", None),
            ("1,000", None),
            ("NaN", None),
            ("١", None),
        ] {
            assert_eq!(number(text.as_bytes()), value, "{text:?}");
        }
    }

    #[test]
    fn hexadecimal_columns_are_told_by_their_name() {
        for name in ["hex", "key_hex", "HEX", "Id_Hex"] {
            assert!(is_hex(name), "{name}");
        }
        for name in ["key", "hexagon", "keyhex", "hex_key"] {
            assert!(!is_hex(name), "{name}");
        }
    }
}
