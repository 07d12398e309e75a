//! Positions in the token space, slot numbers and exact shares.
//!
//! Promises unsigned positions and fractions of integers. Does not know a scheme: how many bits a token uses is the
//! scheme's, [`crate::Scheme::token_bits`]. Cost: none. Source: the project's vocabulary.

use alloc::format;
use alloc::string::String;
use core::fmt;

/// The position of a key or of a vnode: the output of a hash. Schemes of fewer bits use the low ones.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Token(pub u64);

impl Token {
    /// Lower-case hex digits, as many as `bits` need: 16 for 64, 8 for 32.
    #[must_use]
    pub fn to_hex(self, bits: u32) -> String {
        format!("{:0width$x}", self.0, width = bits.div_ceil(4) as usize)
    }
}

/// An index in a fixed table of slots, counted from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Slot(pub u32);

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// An exact part of the token space: positions or slots that belong to a node, of all there are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Share {
    /// Positions or slots that belong to the node.
    pub part: u128,
    /// Positions or slots in all; never 0.
    pub whole: u128,
}

impl Share {
    /// The share as a number from 0 to 1, rounded once.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.part as f64 / self.whole as f64
    }
}
