//! What is compared: a scheme, and whether its table is made anew, kept or chosen.

use std::fmt;

use clockwise::{Algorithm, KeyRule, Scheme};

/// One way to place keys.
#[derive(Clone, Debug)]
pub struct Candidate {
    label: String,
    scheme: Scheme,
    manner: Manner,
    key_rule: KeyRule,
    is_todays: bool,
}

/// Where a table comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// From the members alone, each time.
    Anew,
    /// From the table before, with the fewest moves.
    Kept,
    /// Tokens chosen for each node that joins, and kept.
    Allocated,
}

/// A manner that a scheme does not have.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{scheme} cannot be {manner}: only {able} can")]
pub struct MannerError {
    scheme: &'static str,
    manner: Manner,
    able: &'static str,
}

impl Candidate {
    /// Schemes that are compared where none are named, as [`split`](Self::split) takes them.
    pub const DEFAULT: [&'static str; 12] = [
        "slots",
        "slots,kept",
        "ring",
        "ring,tokens=16",
        "ring,tokens=16,allocated",
        "rendezvous",
        "maglev",
        "jumpback",
        "jump",
        "probed",
        "rank",
        "modulo",
    ];

    /// The scheme's text and the manner of a written candidate: a scheme, then `,kept` or `,allocated` or nothing.
    #[must_use]
    pub fn split(text: &str) -> (&str, Manner) {
        for manner in [Manner::Kept, Manner::Allocated] {
            let rest = text.strip_suffix(manner.name());
            if let Some(scheme) = rest.and_then(|rest| rest.strip_suffix(',')) {
                return (scheme, manner);
            }
        }
        (text, Manner::Anew)
    }

    /// A scheme made in this manner. `label` is what a person calls it.
    ///
    /// # Errors
    /// [`MannerError`] unless slots are kept, or tokens of `ring` allocated.
    pub fn new(
        label: impl Into<String>,
        scheme: Scheme,
        manner: Manner,
        key_rule: KeyRule,
    ) -> Result<Self, MannerError> {
        let able = match manner {
            Manner::Anew => true,
            Manner::Kept => matches!(
                scheme.algorithm(),
                Algorithm::Slots | Algorithm::RedisCluster
            ),
            Manner::Allocated => scheme.name() == "ring",
        };
        if !able {
            return Err(MannerError {
                scheme: scheme.name(),
                manner,
                able: if manner == Manner::Kept {
                    "slots"
                } else {
                    "ring"
                },
            });
        }
        // A running Redis Cluster keeps its table whatever it is called.
        let keeps = scheme.algorithm() == Algorithm::RedisCluster;
        Ok(Self {
            label: label.into(),
            scheme,
            manner: if keeps { Manner::Kept } else { manner },
            key_rule,
            is_todays: false,
        })
    }

    /// The same candidate as the scheme that is in use.
    #[must_use]
    pub fn of_today(self) -> Self {
        Self {
            is_todays: true,
            ..self
        }
    }

    /// The scheme with all parameters.
    #[must_use]
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Where its table comes from.
    #[must_use]
    pub fn manner(&self) -> Manner {
        self.manner
    }

    pub(super) fn label(&self) -> &str {
        &self.label
    }

    pub(super) fn key_rule(&self) -> KeyRule {
        self.key_rule
    }

    pub(super) fn is_todays(&self) -> bool {
        self.is_todays
    }

    /// What every client has to have in common for the same answers.
    pub(super) fn rests_on(&self) -> &'static str {
        match (self.manner, self.scheme.is_numbered()) {
            (Manner::Kept, _) => "a published table",
            (Manner::Allocated, _) => "published tokens",
            (Manner::Anew, true) => "a list in fixed order",
            (Manner::Anew, false) => "a list of ids",
        }
    }
}

impl fmt::Display for Candidate {
    /// The full text of the scheme, then the manner unless it is the scheme's only one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scheme)?;
        match self.manner {
            Manner::Anew => Ok(()),
            Manner::Kept if self.scheme.algorithm() == Algorithm::RedisCluster => Ok(()),
            manner => write!(f, ",{manner}"),
        }
    }
}

impl Manner {
    fn name(self) -> &'static str {
        match self {
            Self::Anew => "anew",
            Self::Kept => "kept",
            Self::Allocated => "allocated",
        }
    }
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(text: &str) -> Result<Candidate, MannerError> {
        let (scheme, manner) = Candidate::split(text);
        Candidate::new(text, scheme.parse().unwrap(), manner, KeyRule::Whole)
    }

    #[test]
    fn the_full_text_names_the_same_candidate() {
        for text in Candidate::DEFAULT
            .into_iter()
            .chain(["redis-cluster", "articles/003-ring"])
        {
            let first = candidate(text).unwrap();
            let again = candidate(&first.to_string()).unwrap();
            assert_eq!(
                (again.scheme(), again.manner()),
                (first.scheme(), first.manner()),
                "{text}"
            );
            assert_eq!(again.to_string(), first.to_string());
        }
    }

    #[test]
    fn a_manner_that_a_scheme_does_not_have_is_refused() {
        for (text, says) in [
            ("jump,kept", "jump cannot be kept: only slots can"),
            (
                "slots,allocated",
                "slots cannot be allocated: only ring can",
            ),
            (
                "articles/003-ring,allocated",
                "articles/003-ring cannot be allocated: only ring can",
            ),
        ] {
            assert_eq!(candidate(text).unwrap_err().to_string(), says);
        }
    }
}
