//! Which bytes of what the client sent are the key.
//!
//! What it is: the key rule, applied before any hash. What it promises: a slice of the input, the same in every
//! language; bytes, never text, so no normalisation. What it does not: change a byte. Cost: one or two scans for a
//! byte. Source: the hash tags of the Redis Cluster specification, and twemproxy's `hash_tag`.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use memchr::memchr;

/// How the key is cut out of the bytes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyRule {
    /// All bytes.
    #[default]
    Whole,
    /// The bytes from behind the first `{` up to the next `}`, if both are there and not side by side; else all bytes.
    RedisTag,
    /// As `RedisTag` with two other bytes.
    Between(Delimiters),
}

/// The bytes that stand before and after the key: printable ASCII, so that the rule can be written down.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Delimiters {
    open: u8,
    close: u8,
}

impl Delimiters {
    /// Two delimiters; `None` unless both are printable ASCII and no space.
    #[must_use]
    pub const fn new(open: u8, close: u8) -> Option<Self> {
        if open.is_ascii_graphic() && close.is_ascii_graphic() {
            Some(Self { open, close })
        } else {
            None
        }
    }
}

impl KeyRule {
    /// The key within `bytes`.
    #[inline]
    #[must_use]
    pub fn key(self, bytes: &[u8]) -> &[u8] {
        match self {
            Self::Whole => bytes,
            Self::RedisTag => between(bytes, b'{', b'}'),
            Self::Between(Delimiters { open, close }) => between(bytes, open, close),
        }
    }
}

impl fmt::Display for KeyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Whole => f.write_str("whole"),
            Self::RedisTag => f.write_str("redis-tag"),
            Self::Between(Delimiters { open, close }) => {
                write!(f, "between:{}{}", char::from(open), char::from(close))
            }
        }
    }
}

impl FromStr for KeyRule {
    type Err = KeyRuleError;

    fn from_str(text: &str) -> Result<Self, KeyRuleError> {
        let delimiters = || match text.strip_prefix("between:")?.as_bytes() {
            &[open, close] => Delimiters::new(open, close),
            _ => None,
        };
        match text {
            "whole" => Ok(Self::Whole),
            "redis-tag" => Ok(Self::RedisTag),
            _ => delimiters()
                .map(Self::Between)
                .ok_or_else(|| KeyRuleError { rule: text.into() }),
        }
    }
}

/// A text that names no key rule.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "key rule {rule:?}: must be whole, redis-tag or between:XY with two printable ASCII characters"
)]
pub struct KeyRuleError {
    /// The text as given.
    pub rule: String,
}

fn between(bytes: &[u8], open: u8, close: u8) -> &[u8] {
    let Some(start) = memchr(open, bytes) else {
        return bytes;
    };
    let after = &bytes[start + 1..];
    match memchr(close, after) {
        Some(length) if length > 0 => &after[..length],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn only_the_first_tag_counts_and_an_empty_one_means_the_whole() {
        for (bytes, key) in [
            (&b"{user1000}.following"[..], &b"user1000"[..]),
            (b"foo{}{bar}", b"foo{}{bar}"),
            (b"foo{{bar}}zap", b"{bar"),
            (b"foo{bar}{zap}", b"bar"),
            (b"a}{b}", b"b"),
            (b"a}{b", b"a}{b"),
            (b"{", b"{"),
            (b"", b""),
            (b"{\xff\x00}x", b"\xff\x00"),
        ] {
            assert_eq!(KeyRule::RedisTag.key(bytes), key);
            assert_eq!(KeyRule::Whole.key(bytes), bytes);
            assert_eq!(
                KeyRule::Between(Delimiters::new(b'{', b'}').unwrap()).key(bytes),
                key
            );
        }
        assert_eq!("between:$$".parse::<KeyRule>().unwrap().key(b"a$b$c"), b"b");
    }

    #[test]
    fn rules_print_as_they_parse() {
        for text in ["whole", "redis-tag", "between:<>", "between:::"] {
            assert_eq!(text.parse::<KeyRule>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "tag",
            "between:",
            "between:x",
            "between:xyz",
            "between: }",
            "between:é",
        ] {
            assert!(text.parse::<KeyRule>().is_err(), "{text}");
        }
    }
}
