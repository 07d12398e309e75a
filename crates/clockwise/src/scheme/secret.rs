//! The secret of a keyed hash.
//!
//! Promises that the bytes appear in no `Debug` or `Display` output; only their SHA-256 does, so that two processes
//! can tell whether they hold the same one. Does not store or fetch secrets. Cost: one SHA-256 a check.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

/// 16 secret bytes for SipHash. Printed nowhere.
#[derive(Clone, Eq, PartialEq)]
pub struct SecretKey([u8; 16]);

impl SecretKey {
    /// A secret of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The SHA-256 of the 16 bytes: what a scheme's text and a snapshot show of the secret.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// The secret itself, to key another hash with; it belongs in no output.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl FromStr for SecretKey {
    type Err = SecretKeyError;

    /// Parses 32 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, SecretKeyError> {
        from_hex(text)
            .map(Self)
            .ok_or(SecretKeyError { digits: text.len() })
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// A text that is no secret. The text itself is not repeated.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the hash key must be 32 hexadecimal digits, it has {digits} characters")]
pub struct SecretKeyError {
    /// Length of the text in bytes.
    pub digits: usize,
}

/// `N` bytes from exactly twice as many lower- or upper-case digits.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(bytes)
}

/// Lower-case digits, two a byte.
pub(crate) fn hex(bytes: [u8; 32]) -> String {
    bytes
        .iter()
        .map(|byte| alloc::format!("{byte:02x}"))
        .collect()
}
