//! The founding articles' published figures, computed anew and compared.
//!
//! What it is: for every number of `vectors/articles.json`, a program that follows the contract beside it and gets the
//! number again, from keys and names alone; the file is read only to compare. What it promises: whole numbers, texts
//! and booleans are equal, ratios within [`TOLERANCE`]; the same rows in the same order on every machine. Numbers that
//! an article chose (keys, nodes, rates) are rows too: the value is what this program used. What it does not: time
//! anything, or recompute what the file does not determine. Those are the numbers of [`LEFT_OUT`], each with its
//! reason, and what lies under a name of [`LEFT_OUT_NAMES`]. Cost: a few processor seconds, about 100 MB; parts are
//! independent, so that the caller may give each its own thread. Source: the contracts in `vectors/articles.json`.

mod alternatives;
mod article_000;
mod article_002;
mod article_003;
mod article_004;
pub(crate) mod counting;
mod formulas;
mod random_rings;
mod row;

use serde_json::Value;

pub use row::{Row, TOLERANCE, compare};

/// A group of figures that are computed together because they share keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Article 000: rings and modulo on a million keys.
    FirstArticle,
    /// Article 000: rings of random tokens.
    RandomRings,
    /// Article 000: rendezvous and jump.
    Alternatives,
    /// Articles 000, 001 and 004: closed forms and single hashes.
    Formulas,
    /// Article 002: the printed ring and its defects.
    SecondArticle,
    /// Article 003: seven rows on a million keys.
    ThirdArticle,
    /// Article 004: rings and modulo in 32 bits.
    FourthArticle,
}

impl Part {
    /// All parts in the order of their rows.
    pub const ALL: [Self; 7] = [
        Self::FirstArticle,
        Self::RandomRings,
        Self::Alternatives,
        Self::Formulas,
        Self::SecondArticle,
        Self::ThirdArticle,
        Self::FourthArticle,
    ];

    /// What the part is about.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::FirstArticle => "article 000, rings and modulo",
            Self::RandomRings => "article 000, random rings",
            Self::Alternatives => "article 000, rendezvous and jump",
            Self::Formulas => "formulas and single hashes",
            Self::SecondArticle => "article 002",
            Self::ThirdArticle => "article 003",
            Self::FourthArticle => "article 004",
        }
    }

    /// Computes the part's figures and compares each with the published one.
    #[must_use]
    pub fn recompute(self) -> Vec<Row> {
        let computed = match self {
            Self::FirstArticle => article_000::figures(),
            Self::RandomRings => random_rings::figures(),
            Self::Alternatives => alternatives::figures(),
            Self::Formulas => formulas::figures(),
            Self::SecondArticle => article_002::figures(),
            Self::ThirdArticle => article_003::figures(),
            Self::FourthArticle => article_004::figures(),
        };
        compare(&published(), computed)
    }
}

/// The published figures.
#[must_use]
pub fn published() -> Value {
    // The file is part of the program, and a test reads it.
    serde_json::from_str(PUBLISHED).expect("vectors/articles.json is JSON")
}

/// Numbers that cannot be recomputed from what the file says: pointer, reason. The pointer stands for all below it.
pub const LEFT_OUT: [(&str, &str); 7] = [
    (
        "/seed_001/numbers/snapshot_example",
        "an example of a form: nothing follows from its numbers",
    ),
    (
        "/seed_002/measured_with_printed_code/allocations_per_lookup",
        "counts what another program allocates",
    ),
    (
        "/seed_002/defects/tiny_space_demo_64_slots_20_replicas",
        "neither the nodes' names nor the fold into 64 places is given",
    ),
    (
        "/seed_004/selftest/assertions",
        "counts the lines of another program",
    ),
    (
        "/seed_004/selftest/of_which_hashing",
        "counts the lines of another program",
    ),
    (
        "/seed_004/shard_lab/published",
        "measured on the author's machines",
    ),
    (
        "/seed_000/alternatives/jump_mean_iterations/*/measured",
        "the keys were drawn at random",
    ),
];

/// What lies under a name that begins with one of these is no row: quotations of an article's print, set-ups in words,
/// timings, and vectors that belong to the tests of the library.
pub const LEFT_OUT_NAMES: [&str; 6] = [
    "published_only",
    "printed",
    "contract",
    "cross_checked_in",
    "remeasured",
    "golden_vectors",
];

const PUBLISHED: &str = include_str!("../../../../vectors/articles.json");

#[cfg(test)]
mod tests {
    use super::*;

    /// Pointers of all numbers of a value.
    fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
        let below = |name: &str| format!("{at}/{}", row::escaped(name));
        match value {
            Value::Number(_) => found.push(at.to_owned()),
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    numbers(item, &below(&place.to_string()), found);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    numbers(member, &below(name), found);
                }
            }
            _ => {}
        }
    }

    fn is_left_out(pointer: &str) -> bool {
        let names = pointer.split('/').any(|name| {
            LEFT_OUT_NAMES
                .iter()
                .any(|beginning| name.starts_with(beginning))
        });
        names
            || LEFT_OUT
                .iter()
                .any(|(place, _)| match place.split_once('*') {
                    Some((before, after)) => {
                        pointer.starts_with(before) && pointer.ends_with(after)
                    }
                    None => pointer.starts_with(place),
                })
    }

    #[test]
    fn every_published_number_is_a_row_that_agrees_or_has_a_reason_not_to_be() {
        let rows: Vec<Row> = Part::ALL.iter().flat_map(|part| part.recompute()).collect();
        let differing: Vec<&Row> = rows.iter().filter(|row| !row.agrees).collect();
        assert!(differing.is_empty(), "{differing:#?}");

        let mut pointers: Vec<&str> = rows.iter().map(|row| row.pointer.as_str()).collect();
        pointers.sort_unstable();
        let count = pointers.len();
        pointers.dedup();
        assert_eq!(pointers.len(), count, "a pointer has two rows");

        let mut all = Vec::new();
        numbers(&published(), "", &mut all);
        let (left_out, wanted): (Vec<String>, Vec<String>) =
            all.into_iter().partition(|pointer| is_left_out(pointer));
        let missing: Vec<&String> = wanted
            .iter()
            .filter(|pointer| pointers.binary_search(&pointer.as_str()).is_err())
            .collect();
        assert!(missing.is_empty(), "{missing:#?}");
        let both: Vec<&String> = left_out
            .iter()
            .filter(|pointer| pointers.binary_search(&pointer.as_str()).is_ok())
            .collect();
        assert!(both.is_empty(), "{both:#?}");
    }

    #[test]
    fn every_reason_is_about_numbers_that_are_there() {
        let mut all = Vec::new();
        numbers(&published(), "", &mut all);
        for (place, _) in LEFT_OUT {
            let (before, after) = place.split_once('*').unwrap_or((place, ""));
            let found = all
                .iter()
                .any(|pointer| pointer.starts_with(before) && pointer.ends_with(after));
            assert!(found, "{place}");
        }
    }
}
