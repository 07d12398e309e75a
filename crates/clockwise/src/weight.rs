//! Relative capacity of a node, in integer thousandths.
//!
//! Promises a value from 0 to 1,000,000 with at most three decimals, so that no float ever decides an owner. 0 means
//! listed but without keys. Does not mean a number of requests or bytes. Cost: none. Source: the scheme definitions,
//! which count weights in thousandths.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A weight of 0 to 1,000,000, exact to a thousandth.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Weight(u32);

impl Weight {
    /// Listed, but takes no keys.
    pub const ZERO: Self = Self(0);
    /// The weight of a node for which none is given.
    pub const ONE: Self = Self(1000);
    /// The greatest weight, 1,000,000.
    pub const MAX: Self = Self(1_000_000_000);

    /// A weight from thousandths; `None` above [`Weight::MAX`].
    #[must_use]
    pub const fn from_milli(milli: u32) -> Option<Self> {
        if milli <= Self::MAX.0 {
            Some(Self(milli))
        } else {
            None
        }
    }

    /// The weight in thousandths, 0 to 1,000,000,000.
    #[must_use]
    pub const fn milli(self) -> u32 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

impl FromStr for Weight {
    type Err = WeightError;

    /// Parses a decimal with at most three places, such as `1`, `0.25` or `12.5`.
    fn from_str(text: &str) -> Result<Self, WeightError> {
        parse_milli(text)
            .and_then(Self::from_milli)
            .ok_or_else(|| WeightError {
                value: text.into(),
                node: None,
            })
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, milli) = (self.0 / 1000, self.0 % 1000);
        match (milli, milli % 10, milli % 100) {
            (0, ..) => write!(f, "{whole}"),
            (_, _, 0) => write!(f, "{whole}.{}", milli / 100),
            (_, 0, _) => write!(f, "{whole}.{:02}", milli / 10),
            _ => write!(f, "{whole}.{milli:03}"),
        }
    }
}

/// A value that is no weight.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WeightError {
    /// The value as it was given.
    pub value: String,
    /// The node that it was given for, when known.
    pub node: Option<String>,
}

impl WeightError {
    /// The same error with the node named.
    #[must_use]
    pub fn for_node(self, node: &str) -> Self {
        Self {
            node: Some(node.into()),
            ..self
        }
    }
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "weight {}",
            if self.value.is_empty() {
                "\"\""
            } else {
                &self.value
            }
        )?;
        if let Some(node) = &self.node {
            write!(f, " for node {node}")?;
        }
        f.write_str(": must be 0 to 1000000 with at most three decimals")
    }
}

impl core::error::Error for WeightError {}

fn parse_milli(text: &str) -> Option<u32> {
    let (whole, decimals) = text
        .split_once('.')
        .map_or((text, None), |(whole, decimals)| (whole, Some(decimals)));
    let decimals = match decimals {
        None => 0,
        Some(digits) if digits.len() > 3 => return None,
        Some(digits) => digits_only(digits)? * 10_u32.pow(3 - digits.len() as u32),
    };
    digits_only(whole)?.checked_mul(1000)?.checked_add(decimals)
}

fn digits_only(text: &str) -> Option<u32> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        None
    } else {
        text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn decimals_of_three_places_are_exact_and_print_as_short_as_they_can() {
        for (text, milli, printed) in [
            ("1", 1000, "1"),
            ("0", 0, "0"),
            ("0.25", 250, "0.25"),
            ("0.250", 250, "0.25"),
            ("12.5", 12_500, "12.5"),
            ("0.001", 1, "0.001"),
            ("3.040", 3040, "3.04"),
            ("1000000", 1_000_000_000, "1000000"),
        ] {
            let weight: Weight = text.parse().unwrap();
            assert_eq!(
                (weight.milli(), weight.to_string().as_str()),
                (milli, printed)
            );
        }
    }

    #[test]
    fn everything_else_is_refused_naming_node_and_value() {
        for text in [
            "-1",
            "-0.5",
            "NaN",
            "Infinity",
            "1e3",
            "1000000.001",
            "4294967296",
            "2147483648",
            "",
            "+1",
            ".5",
            "1.",
            "0.0001",
            "１",
            "1 ",
        ] {
            let error = text.parse::<Weight>().unwrap_err().for_node("cache-3");
            let message = format!("{error}");
            assert!(
                message.contains("for node cache-3: must be 0 to 1000000"),
                "{message}"
            );
            assert!(message.contains(text), "{message}");
        }
    }
}
