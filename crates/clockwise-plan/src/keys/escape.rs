//! The one way a key is written for people: text where it is text, escapes where an eye could be fooled.
//!
//! Promises: every byte string has exactly one escaped form, the form is printable UTF-8 on a single line,
//! and [`unescape`] gives back the same bytes. Two keys that differ in any byte differ in their escaped form,
//! unless the difference is one that only shows in the code points (composed against decomposed letters):
//! combining marks are printed as they are.
//! Does not: quote, or protect blanks at either end; whoever prints a key next to other text does that.
//! Cost: one pass, no allocation.

use std::fmt::{self, Write as _};

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Shows a key as text: printable UTF-8 as it is, everything else as `\n`, `\r`, `\t`, `\\` or `\xHH`.
///
/// Escaped are the backslash, control characters, bytes that are not UTF-8, and every character that leaves
/// no mark on a screen or changes the order of others (zero-width and direction marks, byte-order mark,
/// blanks other than U+0020, fillers, unassigned code points). Such a character is escaped byte by byte.
///
/// ```
/// use clockwise_plan::keys::Escaped;
///
/// assert_eq!(Escaped("giỏ-hàng:1".as_bytes()).to_string(), "giỏ-hàng:1");
/// assert_eq!(Escaped(b"a\r\n\xff\\").to_string(), r"a\r\n\xff\\");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Escaped<'a>(
    /// The key's bytes.
    pub &'a [u8],
);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            write_text(f, chunk.valid())?;
            write_hex(f, chunk.invalid())?;
        }
        Ok(())
    }
}

/// An escape sequence that [`unescape`] does not know.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadEscape {
    /// A backslash is followed by a byte that starts no escape.
    #[error("byte {position}: unknown escape \\{}", Escaped(&[*found]))]
    Unknown {
        /// Offset of the backslash in bytes, from 0.
        position: usize,
        /// The byte after the backslash.
        found: u8,
    },
    /// The text ends inside an escape.
    #[error("byte {position}: the escape is cut off by the end")]
    CutOff {
        /// Offset of the backslash in bytes, from 0.
        position: usize,
    },
    /// `\x` is not followed by two hexadecimal digits.
    #[error("byte {position}: \\x needs two hexadecimal digits")]
    NotHex {
        /// Offset of the backslash in bytes, from 0.
        position: usize,
    },
}

/// Appends the bytes that `text` stands for to `out`.
///
/// Knows `\n`, `\r`, `\t`, `\\` and `\xHH` (digits in either case); all other bytes stand for themselves.
///
/// # Errors
///
/// [`BadEscape`] for anything else after a backslash. `out` then holds the part before it.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) -> Result<(), BadEscape> {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let position = text.len() - rest.len() + at;
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (byte, length) = match escape {
            [_, b'n', ..] => (b'\n', 2),
            [_, b'r', ..] => (b'\r', 2),
            [_, b't', ..] => (b'\t', 2),
            [_, b'\\', ..] => (b'\\', 2),
            [_, b'x', high, low, ..] => match (hex_digit(*high), hex_digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => return Err(BadEscape::NotHex { position }),
            },
            [_, b'x', ..] | [_] => return Err(BadEscape::CutOff { position }),
            [_, found, ..] => {
                return Err(BadEscape::Unknown {
                    position,
                    found: *found,
                });
            }
            // `escape` starts at the backslash that memchr found.
            [] => break,
        };
        out.push(byte);
        rest = &escape[length..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Appends the bytes written as pairs of hexadecimal digits; `None` when `text` is anything else.
pub(super) fn decode_hex(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let pairs = text.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    for pair in pairs {
        out.push(hex_digit(pair[0])? << 4 | hex_digit(pair[1])?);
    }
    Some(())
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        if is_plain(c) {
            continue;
        }
        f.write_str(&text[plain..at])?;
        plain = at + c.len_utf8();
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            _ => write_hex(f, &text.as_bytes()[at..plain])?,
        }
    }
    f.write_str(&text[plain..])
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for byte in bytes {
        f.write_str("\\x")?;
        for digit in [byte >> 4, byte & 15] {
            f.write_char(char::from(b"0123456789abcdef"[usize::from(digit)]))?;
        }
    }
    Ok(())
}

fn is_plain(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~') && c != '\\';
    }
    let invisible = matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
    );
    !invisible && !is_blank_letter_or_mark(c)
}

/// Characters that Unicode calls letters, marks or symbols though they show nothing: grapheme joiner,
/// Hangul fillers, Khmer inherent vowels, Mongolian and other variation selectors, the blank Braille cell.
fn is_blank_letter_or_mark(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vietnamese_text_is_shown_as_it_is_in_either_normal_form() {
        for text in [
            "phiên:giỏ-hàng:42",
            "gio\u{309}-ha\u{300}ng",
            "hòa:1",
            "日本",
        ] {
            assert_eq!(Escaped(text.as_bytes()).to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_escaped_byte_by_byte() {
        for (key, shown) in [
            ("a\u{200b}b".as_bytes(), r"a\xe2\x80\x8bb"),
            ("\u{feff}k".as_bytes(), r"\xef\xbb\xbfk"),
            ("a\u{a0}b".as_bytes(), r"a\xc2\xa0b"),
            ("\u{202e}x".as_bytes(), r"\xe2\x80\xaex"),
            ("\u{fe0f}".as_bytes(), r"\xef\xb8\x8f"),
            ("\u{85}".as_bytes(), r"\xc2\x85"),
            (b"\0\x7f\x1b[0m", r"\x00\x7f\x1b[0m"),
            (b"caf\xe9", r"caf\xe9"),
            (b"\n\r\t\\", r"\n\r\t\\"),
            (b"", ""),
        ] {
            assert_eq!(Escaped(key).to_string(), shown);
        }
    }

    #[test]
    fn a_wrong_escape_is_named_with_its_place() {
        let fails = |text: &[u8]| unescape(text, &mut Vec::new()).map_err(|e| e.to_string());
        let says = |text: &str| Err(text.to_owned());
        assert_eq!(fails(br"ab\q"), says(r"byte 2: unknown escape \q"));
        assert_eq!(fails(b"\\\xff"), says(r"byte 0: unknown escape \\xff"));
        assert_eq!(
            fails(br"\\\"),
            says("byte 2: the escape is cut off by the end")
        );
        assert_eq!(
            fails(br"\x4"),
            says("byte 0: the escape is cut off by the end")
        );
        assert_eq!(
            fails(br"\xg0"),
            says(r"byte 0: \x needs two hexadecimal digits")
        );
    }

    #[test]
    fn hexadecimal_digits_may_be_in_either_case() {
        let mut out = Vec::new();
        assert_eq!(unescape(br"\xAb", &mut out), Ok(()));
        assert_eq!(decode_hex(b"aBFf", &mut out), Some(()));
        assert_eq!(out, [0xab, 0xab, 0xff]);
        assert_eq!(decode_hex(b"abc", &mut out), None);
        assert_eq!(decode_hex(b"g0", &mut out), None);
    }

    proptest! {
        #[test]
        fn unescape_gives_back_any_bytes(key in proptest::collection::vec(any::<u8>(), 0..200)) {
            let shown = Escaped(&key).to_string();
            let mut out = Vec::new();
            prop_assert_eq!(unescape(shown.as_bytes(), &mut out), Ok(()));
            prop_assert_eq!(out, key);
        }

        #[test]
        fn any_text_is_shown_on_one_line_without_control_characters(key in "\\PC*|[\\x00-\\x{10ffff}]*") {
            let shown = Escaped(key.as_bytes()).to_string();
            prop_assert!(!shown.chars().any(char::is_control));
            let mut out = Vec::new();
            prop_assert_eq!(unescape(shown.as_bytes(), &mut out), Ok(()));
            prop_assert_eq!(out, key.into_bytes());
        }

        #[test]
        fn unescape_never_panics(text in proptest::collection::vec(prop_oneof![Just(b'\\'), Just(b'x'), any::<u8>()], 0..40)) {
            let _ = unescape(&text, &mut Vec::new());
        }
    }
}
