//! Keys made by rule instead of read: the founding articles' key sets and `gen:` patterns.
//!
//! Promises: the same text gives the same keys in the same order on every machine; [`Generated::len`] is
//! exact before a key is made; memory does not grow with the number of keys.
//! Does not: know request counts or sizes; every key counts once.
//! Cost: each key rewrites only the places that changed since the last one, in one buffer.
//!
//! # Patterns
//!
//! `gen:` is followed by text with any number of places in braces:
//!
//! - `{A..B}`, a range of whole numbers, both ends included, falling when A > B. If A or B is written with a
//!   leading zero, all numbers are padded with zeros to the longer of the two, as bash does: the unquoted
//!   form, which a shell expands, gives the same keys.
//! - `{a,b,c}`, a list; an item may be empty.
//!
//! Places combine like the wheels of an odometer: the last one turns fastest. `\{`, `\}`, `\,` and `\\` stand
//! for the character itself. Braces do not nest.

use std::sync::atomic::{AtomicBool, Ordering};

mod pattern;

use self::pattern::Pattern;
pub use self::pattern::PatternFault;

/// A set of keys that is computed, in order.
#[derive(Clone, Debug)]
pub struct Generated {
    /// One after the other, not combined.
    patterns: Vec<Pattern>,
    len: u64,
}

impl Generated {
    /// Most keys one set may have: 10^10, minutes of work. More is a slip of the pen.
    pub const MAX_KEYS: u64 = 10_000_000_000;

    /// Reads `articles/…` or `gen:…`; `None` when `text` starts with neither.
    ///
    /// # Errors
    ///
    /// [`GenerateError`] for an article that has no key set, a pattern that cannot be read, or too many keys.
    ///
    /// ```
    /// use clockwise_plan::keys::Generated;
    ///
    /// let keys = Generated::parse("gen:user:{0..999999}")?.unwrap();
    /// assert_eq!(keys.len(), 1_000_000);
    /// assert!(Generated::parse("keys.txt")?.is_none());
    /// # Ok::<(), clockwise_plan::keys::GenerateError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Option<Self>, GenerateError> {
        if let Some(article) = text.strip_prefix("articles/") {
            let (_, patterns) = ARTICLES
                .iter()
                .find(|(name, _)| *name == article)
                .ok_or_else(|| GenerateError::UnknownArticle {
                    given: text.to_owned(),
                })?;
            return Self::of(text, patterns).map(Some);
        }
        if text.starts_with(PREFIX) {
            return Self::of(text, &[text]).map(Some);
        }
        Ok(None)
    }

    /// How many keys there are.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a set has at least one key: every place has a value"
    )]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Calls `each` with every key in order; `false` when `stop` was set before the end.
    ///
    /// `stop` is looked at every 1024 keys.
    pub fn for_each(&self, stop: &AtomicBool, mut each: impl FnMut(&[u8])) -> bool {
        let mut until_look = 0_u32;
        self.patterns.iter().all(|pattern| {
            pattern.for_each(|key| {
                if until_look == 0 {
                    if stop.load(Ordering::Relaxed) {
                        return false;
                    }
                    until_look = KEYS_PER_LOOK;
                }
                until_look -= 1;
                each(key);
                true
            })
        })
    }

    fn of(text: &str, patterns: &[&str]) -> Result<Self, GenerateError> {
        let patterns: Vec<Pattern> = patterns
            .iter()
            .map(|pattern| {
                Pattern::parse(pattern, PREFIX.len()).map_err(|(position, fault)| {
                    GenerateError::BadPattern {
                        pattern: text.to_owned(),
                        position,
                        fault,
                    }
                })
            })
            .collect::<Result<_, _>>()?;
        let len = patterns
            .iter()
            .try_fold(0_u64, |sum, pattern| sum.checked_add(pattern.len()?))
            .filter(|len| *len <= Self::MAX_KEYS)
            .ok_or_else(|| GenerateError::TooManyKeys {
                pattern: text.to_owned(),
            })?;
        Ok(Self { patterns, len })
    }
}

/// Why a generated key set cannot be made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The article has no key set.
    #[error("unknown key set {given}: known are {}", known_articles())]
    UnknownArticle {
        /// What was asked for.
        given: String,
    },
    /// The pattern is malformed.
    #[error("character {position} of {pattern}: {fault}")]
    BadPattern {
        /// The whole pattern, with its `gen:`.
        pattern: String,
        /// The character at fault, counted from 1 at the start of `gen:`.
        position: usize,
        /// What is wrong there.
        fault: PatternFault,
    },
    /// The pattern stands for more than [`Generated::MAX_KEYS`] keys.
    #[error("{pattern} stands for more than {} keys", Generated::MAX_KEYS)]
    TooManyKeys {
        /// The whole pattern, with its `gen:`.
        pattern: String,
    },
}

impl GenerateError {
    /// What to do about it, when that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownArticle { given } => {
                let near = ARTICLES
                    .iter()
                    .map(|(name, _)| format!("articles/{name}"))
                    .min_by_key(|name| strsim::damerau_levenshtein(name, given))?;
                Some(format!("did you mean {near}? a file is ./{given}"))
            }
            Self::BadPattern { fault, .. } => fault.hint(),
            Self::TooManyKeys { .. } => {
                Some("shorten a range: a million keys are enough to see any share".to_owned())
            }
        }
    }
}

fn known_articles() -> String {
    let names: Vec<String> = ARTICLES
        .iter()
        .map(|(name, _)| format!("articles/{name}"))
        .collect();
    names.join(", ")
}

const PREFIX: &str = "gen:";

/// A key takes some 20 ns, so a look each 1024 costs nothing and answers within a millisecond.
const KEYS_PER_LOOK: u32 = 1024;

/// The key sets that the founding articles' published figures were computed on. The figures hold for exactly
/// these keys; changing one makes every table that rests on it wrong.
const ARTICLES: [(&str, &[&str]); 4] = [
    (
        "000",
        &["gen:san-pham:SP-{00001..05000}", "gen:gio-hang:{0..994999}"],
    ),
    (
        "000-alternatives",
        &["gen:san-pham:SP-{00001..05000}", "gen:gio-hang:{0..194999}"],
    ),
    ("003", &["gen:user:{0..999999}"]),
    ("004", &["gen:key:{0..99999}"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        let generated = Generated::parse(text).unwrap().unwrap();
        let mut keys = Vec::new();
        assert!(generated.for_each(&AtomicBool::new(false), |key| {
            keys.push(String::from_utf8(key.to_vec()).unwrap());
        }));
        assert_eq!(keys.len() as u64, generated.len());
        keys
    }

    #[test]
    fn the_articles_have_their_published_keys() {
        let first = keys("articles/000");
        assert_eq!(first.len(), 1_000_000);
        assert_eq!(first[0], "san-pham:SP-00001");
        assert_eq!(first[4_999], "san-pham:SP-05000");
        assert_eq!(first[5_000], "gio-hang:0");
        assert_eq!(first[999_999], "gio-hang:994999");
        let alternatives = keys("articles/000-alternatives");
        assert_eq!(alternatives.len(), 200_000);
        assert_eq!(alternatives[199_999], "gio-hang:194999");
        let users = keys("articles/003");
        assert_eq!(users.len(), 1_000_000);
        assert_eq!(
            (users[0].as_str(), users[999_999].as_str()),
            ("user:0", "user:999999")
        );
        let plain = keys("articles/004");
        assert_eq!(
            (plain.len(), plain[99_999].as_str()),
            (100_000, "key:99999")
        );
    }

    #[test]
    fn an_unknown_article_names_the_known_ones() {
        let error = Generated::parse("articles/03").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown key set articles/03: known are articles/000, articles/000-alternatives, articles/003, articles/004"
        );
        assert!(error.hint().unwrap().contains("articles/003?"));
    }

    #[test]
    fn other_text_is_left_to_the_readers() {
        for text in [
            "",
            "-",
            "keys.txt",
            "./articles/003",
            "Gen:x",
            "article/003",
        ] {
            assert!(Generated::parse(text).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn places_turn_like_an_odometer() {
        assert_eq!(
            keys("gen:{a,b}:{8..10}:{x,}!"),
            [
                "a:8:x!", "a:8:!", "a:9:x!", "a:9:!", "a:10:x!", "a:10:!", "b:8:x!", "b:8:!",
                "b:9:x!", "b:9:!", "b:10:x!", "b:10:!"
            ]
        );
        assert_eq!(keys("gen:plain"), ["plain"]);
        assert_eq!(keys("gen:{1..2}{3..4}"), ["13", "14", "23", "24"]);
    }

    #[test]
    fn ranges_pad_and_fall_as_a_shell_does() {
        assert_eq!(keys("gen:{08..11}"), ["08", "09", "10", "11"]);
        assert_eq!(keys("gen:{3..1}"), ["3", "2", "1"]);
        assert_eq!(keys("gen:{010..8}"), ["010", "009", "008"]);
        assert_eq!(keys("gen:{98..0101}"), ["0098", "0099", "0100", "0101"]);
        assert_eq!(keys("gen:{0..1}"), ["0", "1"]);
        assert_eq!(keys("gen:{00..1}"), ["00", "01"]);
        let top = u64::MAX;
        assert_eq!(keys(&format!("gen:{{{top}..{top}}}")), [top.to_string()]);
    }

    #[test]
    fn escaped_braces_and_commas_are_text() {
        assert_eq!(
            keys(r"gen:\{user\}:{a\,b,\},\\}"),
            ["{user}:a,b", "{user}:}", r"{user}:\"]
        );
        assert_eq!(keys("gen:a,b..c"), ["a,b..c"]);
        assert_eq!(keys("gen:{giỏ,hàng}"), ["giỏ", "hàng"]);
    }

    #[test]
    fn a_malformed_pattern_says_where() {
        for (text, says) in [
            ("gen:", "character 5 of gen:: the pattern is empty"),
            (
                "gen:a{0..9",
                "character 6 of gen:a{0..9: the brace is never closed",
            ),
            (
                "gen:giỏ}",
                "character 8 of gen:giỏ}: a closing brace without an opening one",
            ),
            (
                "gen:{a{b,c}}",
                "character 7 of gen:{a{b,c}}: braces do not nest",
            ),
            (
                "gen:{}",
                "character 5 of gen:{}: a place needs a range like {0..9} or a list like {a,b}",
            ),
            (
                "gen:{a}",
                "character 5 of gen:{a}: a place needs a range like {0..9} or a list like {a,b}",
            ),
            (
                "gen:{a..z}",
                "character 5 of gen:{a..z}: an end of the range is not a whole number up to 18446744073709551615",
            ),
            (
                "gen:{-1..3}",
                "character 5 of gen:{-1..3}: an end of the range is not a whole number up to 18446744073709551615",
            ),
            (
                "gen:{0..9..3}",
                "character 5 of gen:{0..9..3}: an end of the range is not a whole number up to 18446744073709551615",
            ),
            (
                "gen:{18446744073709551616..0}",
                "character 5 of gen:{18446744073709551616..0}: an end of the range is not a whole number up to 18446744073709551615",
            ),
            (
                "gen:{1..3,5}",
                "character 5 of gen:{1..3,5}: a range and a list in one place",
            ),
            (r"gen:a\n", r"character 6 of gen:a\n: unknown escape \n"),
            (
                r"gen:a\",
                r"character 6 of gen:a\: the escape is cut off by the end",
            ),
        ] {
            assert_eq!(Generated::parse(text).unwrap_err().to_string(), says);
        }
    }

    #[test]
    fn more_than_ten_thousand_million_keys_are_refused_before_any_is_made() {
        assert_eq!(
            Generated::parse("gen:{1..10000000000}")
                .unwrap()
                .unwrap()
                .len(),
            Generated::MAX_KEYS
        );
        for text in [
            "gen:{0..10000000000}",
            "gen:{0..18446744073709551615}",
            "gen:{1..100000}{1..100000}{1,2}",
            "gen:{0..18446744073709551615}{0..18446744073709551615}",
        ] {
            let error = Generated::parse(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("{text} stands for more than 10000000000 keys")
            );
        }
    }

    #[test]
    fn a_set_stop_ends_the_keys_soon() {
        let stop = AtomicBool::new(false);
        let mut seen = 0_u64;
        let users = Generated::parse("articles/003").unwrap().unwrap();
        let whole = users.for_each(&stop, |_| {
            seen += 1;
            if seen == 10 {
                stop.store(true, Ordering::Relaxed);
            }
        });
        assert!(!whole);
        assert_eq!(seen, u64::from(KEYS_PER_LOOK));
    }
}
