//! Limits that a plan must keep, for a pipeline that gates on it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// What a limit is set on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Measure {
    Moved,
    Imbalance,
    Origin,
    Failure,
    Hot,
}

impl Measure {
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("moved", Self::Moved),
        ("imbalance", Self::Imbalance),
        ("origin", Self::Origin),
        ("failure", Self::Failure),
        ("hot", Self::Hot),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, measure)| *measure == self)
            .map_or("", |(name, _)| name)
    }
}

/// A limit such as `moved=0.25`: the plan's value must not be above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    pub(crate) measure: Measure,
    pub(crate) most: f64,
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let malformed = || LimitError::Malformed {
            text: text.to_owned(),
        };
        let (name, value) = text.split_once('=').ok_or_else(malformed)?;
        let measure = Measure::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, measure)| *measure)
            .ok_or_else(|| LimitError::Unknown {
                name: name.to_owned(),
            })?;
        let most: f64 = value.parse().map_err(|_| malformed())?;
        let share = matches!(measure, Measure::Moved);
        if !most.is_finite() || most < 0.0 || (share && most > 1.0) {
            return Err(LimitError::OutOfRange {
                name: measure.name(),
                value: value.to_owned(),
                share,
            });
        }
        Ok(Self { measure, most })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.measure.name(), self.most)
    }
}

/// A text that is no limit, or a limit on what the plan does not know.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// Not `name=number`.
    #[error("limit {text:?}: must be name=number, such as moved=0.25")]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// No such limit.
    #[error("unknown limit {name:?}: moved, imbalance, origin, failure and hot are known")]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// A number that no plan could have.
    #[error("limit {name}={value}: must be {}", if *.share { "a share of 0 to 1" } else { "a number of 0 or more" })]
    OutOfRange {
        /// The limit's name.
        name: &'static str,
        /// The number as given.
        value: String,
        /// Whether it must be a share.
        share: bool,
    },
    /// The plan lacks what the limit is set on.
    #[error("limit {name} cannot be checked: {needs}")]
    Unknowable {
        /// The limit's name.
        name: &'static str,
        /// What is missing.
        needs: &'static str,
    },
}

/// A limit with the plan's value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitResult {
    /// The limit's name.
    pub name: String,
    /// The most that is allowed.
    pub limit: f64,
    /// What the plan found.
    pub value: f64,
    /// Whether the value is within the limit.
    pub ok: bool,
    /// How much the value is above the limit; `None` where it is not.
    pub over: Option<f64>,
    /// What would keep it; `None` where it is kept.
    pub advice: Option<String>,
}

impl LimitResult {
    pub(crate) fn new(limit: Limit, value: f64) -> Self {
        Self {
            name: limit.measure.name().to_owned(),
            limit: limit.most,
            value,
            ok: value <= limit.most,
            over: (value > limit.most).then_some(value - limit.most),
            advice: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_print_as_they_parse_and_bad_ones_say_why() {
        for text in [
            "moved=0.25",
            "imbalance=1.1",
            "origin=3",
            "failure=1.5",
            "hot=0.5",
            "moved=0",
        ] {
            assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
        }
        for (text, part) in [
            ("moved", "must be name=number"),
            ("moved=x", "must be name=number"),
            ("moved=1.5", "a share of 0 to 1"),
            ("moved=-1", "a share of 0 to 1"),
            ("moved=NaN", "a share of 0 to 1"),
            ("imbalance=inf", "0 or more"),
            ("move=1", "unknown limit \"move\""),
        ] {
            let message = text.parse::<Limit>().unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
