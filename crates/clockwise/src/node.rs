//! The identity of a node: a name that an operator gives and never reuses.
//!
//! Promises that a [`NodeId`] holds 1 to 255 bytes of UTF-8 that a person can read back: nothing invisible, no
//! control or format characters, no space first or last. Does not say where the node is reached; that is its endpoint.
//! Compared as exact bytes: case and Unicode form matter. Cost: one pass over the text. Source: the general
//! categories and default-ignorable characters of Unicode 16.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// A node's stable name, 1 to 255 bytes. Placement reads its bytes and nothing else about where the node is.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(Box<str>);

impl NodeId {
    /// The longest id, in bytes: a length fits one byte in every binding and file.
    pub const MAX_BYTES: usize = 255;

    /// Parses an id.
    ///
    /// # Errors
    /// [`NodeIdError`] names the rule that the text breaks.
    pub fn new(text: &str) -> Result<Self, NodeIdError> {
        let refuse = |why| {
            Err(NodeIdError {
                id: text.to_owned(),
                why,
            })
        };
        if text.is_empty() {
            return refuse(WhyNot::Empty);
        }
        if text.len() > Self::MAX_BYTES {
            return refuse(WhyNot::TooLong(text.len()));
        }
        if let Some(hidden) = text.chars().find(|&c| is_hidden(c)) {
            return refuse(WhyNot::Hidden(hidden));
        }
        if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
            return refuse(WhyNot::OuterSpace);
        }
        Ok(Self(text.into()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether no reader can tell the ids apart: they are equal under Unicode NFC.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        // Some letters beyond ASCII compose to one of ASCII, so both have to be ASCII for their bytes to tell.
        if self.0.is_ascii() && other.0.is_ascii() {
            self == other
        } else {
            self.0.nfc().eq(other.0.nfc())
        }
    }
}

impl FromStr for NodeId {
    type Err = NodeIdError;

    fn from_str(text: &str) -> Result<Self, NodeIdError> {
        Self::new(text)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that cannot be a node's id.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("node id {id:?}: {why}")]
pub struct NodeIdError {
    id: String,
    why: WhyNot,
}

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum WhyNot {
    #[error("must not be empty")]
    Empty,
    #[error("has {0} bytes, at most 255 are allowed")]
    TooLong(usize),
    #[error("holds U+{:04X}, a control or invisible character", u32::from(*.0))]
    Hidden(char),
    #[error("must not begin or end with a space")]
    OuterSpace,
}

/// Whether a reader cannot see the character, so that two ids could look the same.
fn is_hidden(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    matches!(
        c.general_category(),
        Control | Format | LineSeparator | ParagraphSeparator
    ) || IGNORABLE_WITHOUT_FORMAT_CATEGORY
        .iter()
        .any(|&(first, last)| (first..=last).contains(&c))
}

/// Default-ignorable characters that are letters, marks or unassigned (Unicode 16, DerivedCoreProperties): what their
/// category alone does not show. A later Unicode that assigns one keeps it ignorable.
const IGNORABLE_WITHOUT_FORMAT_CATEGORY: [(char, char); 10] = [
    ('\u{034f}', '\u{034f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2065}', '\u{2065}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{e0000}', '\u{e0fff}'),
];

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn readable_names_are_ids_as_they_stand() {
        for text in [
            "cache-1",
            "giỏ-1",
            "10.0.0.1:6379",
            "a b",
            "a#1",
            "日本",
            "N1",
            &"x".repeat(255),
        ] {
            assert_eq!(
                NodeId::new(text).map(|id| id.as_str().to_owned()),
                Ok(text.to_owned())
            );
        }
        assert_ne!(NodeId::new("N1"), NodeId::new("n1"));
    }

    #[test]
    fn names_that_cannot_be_read_back_are_refused_with_their_reason() {
        for (text, part) in [
            ("", "must not be empty"),
            (" n1", "begin or end with a space"),
            ("n1\u{a0}", "begin or end with a space"),
            ("n\u{200b}1", "U+200B"),
            ("n\u{feff}1", "U+FEFF"),
            ("n\n1", "U+000A"),
            ("n\u{3164}", "U+3164"),
            ("n\u{fe0f}", "U+FE0F"),
            ("n\u{2065}1", "U+2065"),
            ("n\u{fff0}1", "U+FFF0"),
            ("n\u{e0fff}1", "U+E0FFF"),
            (&"x".repeat(256), "has 256 bytes"),
        ] {
            let message = format!("{}", NodeId::new(text).unwrap_err());
            assert!(message.contains(part), "{message}");
        }
    }
}
