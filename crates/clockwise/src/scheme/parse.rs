//! Reading a scheme's written form, `NAME[/HASH][/vN][,param=value]…`.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::str::FromStr;

use super::contract::{CONTRACTS, Contract, DEFAULT_ENTRIES, DEFAULT_SLOTS, Kind};
use super::{Scheme, secret};
use crate::hash::KeyHash;
use crate::maglev::is_prime;

/// Most tokens that a node of weight 1 may have, and most that a ring may hold: 2^24.
pub(crate) const MAX_TOKENS: u32 = 1 << 24;
/// Most slots: 2^24.
const MAX_SLOTS: u32 = 1 << 24;

impl FromStr for Scheme {
    type Err = SchemeError;

    fn from_str(text: &str) -> Result<Self, SchemeError> {
        let mut pieces = text.split(',');
        let head = pieces.next().unwrap_or_default();
        let (contract, rest) = find_contract(head)?;
        let mut scheme = Self::with_defaults(contract);
        let mut seen = alloc::vec![];
        let mut parts = rest.into_iter().flat_map(|rest| rest.split('/')).peekable();
        if let Some(hash) = parts.next_if(|part| !is_version(part)) {
            scheme = scheme.with_hash(hash)?;
        }
        if let Some(version) = parts.next_if(|part| is_version(part)) {
            scheme.check_version(version)?;
        }
        if let Some(part) = parts.next() {
            return Err(SchemeError::ExtraPart {
                scheme: contract.name,
                text: part.to_owned(),
            });
        }
        for piece in pieces {
            let Some((name, value)) = piece.split_once('=') else {
                return Err(SchemeError::NotAParameter {
                    scheme: contract.name,
                    text: piece.to_owned(),
                });
            };
            if seen.contains(&name) {
                return Err(SchemeError::RepeatedParameter {
                    scheme: contract.name,
                    parameter: name.to_owned(),
                });
            }
            seen.push(name);
            scheme = scheme.with_parameter(name, value)?;
        }
        Ok(scheme)
    }
}

impl Scheme {
    /// The same scheme with a parameter as the written form spells it.
    ///
    /// # Errors
    /// [`SchemeError`] when the scheme has no such parameter, or not with that value.
    pub fn with_parameter(mut self, name: &str, value: &str) -> Result<Self, SchemeError> {
        let scheme = self.contract.name;
        let bad = |expected| SchemeError::BadParameter {
            scheme,
            parameter: name.to_owned(),
            // Whoever mistakes the digest for the secret must not find it in a log.
            value: if name == "key_sha256" {
                "…".to_owned()
            } else {
                value.to_owned()
            },
            expected,
        };
        match (name, &self.contract.kind) {
            ("tokens", Kind::Ring { .. }) => {
                self.tokens = parse_number(value)
                    .filter(|tokens| (1..=MAX_TOKENS).contains(tokens))
                    .ok_or_else(|| bad("a whole number from 1 to 16777216"))?;
            }
            ("count", Kind::Slots) => {
                self.count = parse_number(value)
                    .filter(|count| (1..=MAX_SLOTS).contains(count))
                    .ok_or_else(|| bad("a whole number from 1 to 16777216"))?;
            }
            ("size", Kind::Maglev) => {
                self.count = parse_number(value)
                    .filter(|&size| size <= MAX_SLOTS && is_prime(size))
                    .ok_or_else(|| bad("a prime up to 16777213"))?;
            }
            ("layer", _) if !self.contract.is_hash_fixed() => {
                self.layer = parse_number(value)
                    .ok_or_else(|| bad("a whole number from 0 to 4294967295"))?;
                if self.layer > 0 && self.hash.bits() < 64 {
                    return Err(bad("0 with a hash of fewer than 64 bits"));
                }
            }
            ("key_sha256", _) if self.hash.is_keyed() => {
                let digest = secret::from_hex(value).ok_or_else(|| bad("64 hexadecimal digits"))?;
                if self.secret.as_ref().is_some_and(|s| s.digest() != digest) {
                    return Err(SchemeError::SecretDiffers { scheme });
                }
                self.secret_digest = Some(digest);
            }
            _ => {
                return Err(SchemeError::UnknownParameter {
                    scheme,
                    parameter: name.to_owned(),
                });
            }
        }
        Ok(self)
    }

    fn with_defaults(contract: &'static Contract) -> Self {
        let (tokens, count) = match contract.kind {
            Kind::Ring { tokens, .. } => (tokens, 0),
            Kind::Slots => (0, DEFAULT_SLOTS),
            Kind::RedisCluster => (0, crate::redis_cluster::SLOTS),
            Kind::Maglev => (0, DEFAULT_ENTRIES),
            Kind::Rendezvous
            | Kind::RendezvousOverText
            | Kind::Jump
            | Kind::JumpBack
            | Kind::Modulo
            | Kind::Probed
            | Kind::Rank => (0, 0),
        };
        Self {
            contract,
            hash: contract.default_hash(),
            tokens,
            count,
            layer: 0,
            secret_digest: None,
            secret: None,
        }
    }

    fn check_version(&self, version: &str) -> Result<(), SchemeError> {
        if version[1..].parse() == Ok(self.contract.version) {
            return Ok(());
        }
        Err(SchemeError::UnknownVersion {
            scheme: self.contract.name,
            version: version.to_owned(),
            newest: self.contract.version,
        })
    }

    fn with_hash(mut self, name: &str) -> Result<Self, SchemeError> {
        let scheme = self.contract.name;
        let hash: KeyHash = name.parse().map_err(|_| SchemeError::UnknownHash {
            scheme,
            hash: name.to_owned(),
        })?;
        if !self.contract.allows(hash) {
            return Err(SchemeError::UnfitHash {
                scheme,
                hash,
                fixed: self.contract.default_hash(),
            });
        }
        self.hash = hash;
        Ok(self)
    }
}

/// Whether the text is `v` and digits, the first of them not 0.
fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|digits| {
        !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

/// The scheme whose name begins the text, and what follows its slash.
fn find_contract(head: &str) -> Result<(&'static Contract, Option<&str>), SchemeError> {
    CONTRACTS
        .iter()
        .find_map(|contract| match head.strip_prefix(contract.name)? {
            "" => Some((contract, None)),
            rest => rest.strip_prefix('/').map(|rest| (contract, Some(rest))),
        })
        .ok_or_else(|| SchemeError::UnknownScheme {
            name: head.to_owned(),
        })
}

fn parse_number(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

/// Why a text is no scheme, or a scheme cannot take a parameter.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// No scheme begins like this.
    #[error("unknown scheme {name:?}")]
    UnknownScheme {
        /// The text before the parameters.
        name: String,
    },
    /// No hash has this name.
    #[error("scheme {scheme}: unknown hash {hash:?}")]
    UnknownHash {
        /// The scheme's name.
        scheme: &'static str,
        /// The text in the hash's place.
        hash: String,
    },
    /// The scheme does not work with this hash.
    #[error(
        "scheme {scheme} cannot use the hash {hash} ({} bits): its own is {fixed}{}",
        hash.bits(),
        if hash.bits() == 64 { "" } else { ", and it needs 64 bits" }
    )]
    UnfitHash {
        /// The scheme's name.
        scheme: &'static str,
        /// The hash that was asked for.
        hash: KeyHash,
        /// The hash that the scheme takes by default.
        fixed: KeyHash,
    },
    /// The scheme has no such version.
    #[error("scheme {scheme} has no version {version}: the newest is v{newest}")]
    UnknownVersion {
        /// The scheme's name.
        scheme: &'static str,
        /// The version as written.
        version: String,
        /// The newest version.
        newest: u32,
    },
    /// More between slashes than a hash and a version, or in another order.
    #[error("scheme {scheme}: {text:?} stands where nothing may: write NAME/HASH/vN")]
    ExtraPart {
        /// The scheme's name.
        scheme: &'static str,
        /// The first part too many.
        text: String,
    },
    /// A piece between commas is not `name=value`.
    #[error("scheme {scheme}: {text:?} is not a parameter: write name=value")]
    NotAParameter {
        /// The scheme's name.
        scheme: &'static str,
        /// The piece.
        text: String,
    },
    /// A parameter stands twice.
    #[error("scheme {scheme}: parameter {parameter} is given twice")]
    RepeatedParameter {
        /// The scheme's name.
        scheme: &'static str,
        /// The parameter's name.
        parameter: String,
    },
    /// The scheme has no such parameter.
    #[error("scheme {scheme} has no parameter {parameter:?}")]
    UnknownParameter {
        /// The scheme's name.
        scheme: &'static str,
        /// The parameter's name.
        parameter: String,
    },
    /// The parameter cannot have this value.
    #[error("scheme {scheme}: {parameter} must be {expected}, not {value:?}")]
    BadParameter {
        /// The scheme's name.
        scheme: &'static str,
        /// The parameter's name.
        parameter: String,
        /// The value as written.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A secret was given to a hash that takes none.
    #[error("the hash {hash} takes no key")]
    SecretUnused {
        /// The scheme's hash.
        hash: KeyHash,
    },
    /// The secret is not the one whose digest the scheme's text names.
    #[error("scheme {scheme}: the hash key does not have the digest that key_sha256 names")]
    SecretDiffers {
        /// The scheme's name.
        scheme: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;
    use crate::SecretKey;

    #[test]
    fn short_texts_print_in_full() {
        for (short, full) in [
            ("slots", "slots/xxh3-64/v1,count=16384"),
            ("slots,count=1", "slots/xxh3-64/v1,count=1"),
            ("ring", "ring/xxh3-64/v1,tokens=160"),
            ("ring/v1,tokens=7", "ring/xxh3-64/v1,tokens=7"),
            ("ring/md5-be64", "ring/md5-be64/v1,tokens=160"),
            ("rendezvous/siphash-2-4/v1", "rendezvous/siphash-2-4/v1"),
            ("jump/crc-32", "jump/crc-32/v1"),
            ("modulo", "modulo/xxh3-64/v1"),
            ("redis-cluster", "redis-cluster/crc-16/v1"),
            (
                "articles/000-ring",
                "articles/000-ring/md5-be64/v1,tokens=100",
            ),
            (
                "articles/002-ring",
                "articles/002-ring/fnv-1a-32-fmix32/v1,tokens=160",
            ),
            (
                "articles/003-ring-raw,tokens=1",
                "articles/003-ring-raw/fnv-1a-64/v1,tokens=1",
            ),
            (
                "articles/004-ring",
                "articles/004-ring/fnv-1a-32-utf16-fmix32/v1,tokens=150",
            ),
        ] {
            let scheme: Scheme = short.parse().unwrap();
            assert_eq!(scheme.to_string(), full);
            assert_eq!(full.parse(), Ok(scheme));
        }
    }

    #[test]
    fn every_name_parses_to_itself() {
        for name in Scheme::names() {
            assert_eq!(name.parse::<Scheme>().unwrap().name(), name);
        }
    }

    #[test]
    fn bad_texts_say_what_is_wrong_with_which_part() {
        for (text, message) in [
            ("", "unknown scheme \"\""),
            ("rings", "unknown scheme \"rings\""),
            ("articles/000", "unknown scheme \"articles/000\""),
            ("ring/", "scheme ring: unknown hash \"\""),
            (
                "ring/DefaultHasher",
                "scheme ring: unknown hash \"DefaultHasher\"",
            ),
            (
                "ring/crc-32",
                "scheme ring cannot use the hash crc-32 (32 bits): its own is xxh3-64, and it needs 64 bits",
            ),
            (
                "articles/000-ring/xxh3-64",
                "scheme articles/000-ring cannot use the hash xxh3-64 (64 bits): its own is md5-be64",
            ),
            ("ring/v2", "scheme ring has no version v2: the newest is v1"),
            (
                "ring/v1/v1",
                "scheme ring: \"v1\" stands where nothing may: write NAME/HASH/vN",
            ),
            (
                "ring/v1/xxh3-64",
                "scheme ring: \"xxh3-64\" stands where nothing may: write NAME/HASH/vN",
            ),
            (
                "ring/xxh64/xxh3-64",
                "scheme ring: \"xxh3-64\" stands where nothing may: write NAME/HASH/vN",
            ),
            ("ring/v01", "scheme ring: unknown hash \"v01\""),
            (
                "ring/v4294967297",
                "scheme ring has no version v4294967297: the newest is v1",
            ),
            (
                "ring,tokens=0",
                "scheme ring: tokens must be a whole number from 1 to 16777216, not \"0\"",
            ),
            (
                "ring,tokens=-1",
                "scheme ring: tokens must be a whole number from 1 to 16777216, not \"-1\"",
            ),
            (
                "ring,tokens=16777217",
                "scheme ring: tokens must be a whole number from 1 to 16777216, not \"16777217\"",
            ),
            (
                "ring,tokens=1,tokens=2",
                "scheme ring: parameter tokens is given twice",
            ),
            ("ring,count=4", "scheme ring has no parameter \"count\""),
            (
                "ring,160",
                "scheme ring: \"160\" is not a parameter: write name=value",
            ),
            (
                "slots,count=0",
                "scheme slots: count must be a whole number from 1 to 16777216, not \"0\"",
            ),
            (
                "redis-cluster,count=4",
                "scheme redis-cluster has no parameter \"count\"",
            ),
        ] {
            assert_eq!(text.parse::<Scheme>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_secret_shows_as_its_digest_only_and_must_be_the_named_one() {
        let secret: SecretKey = "000102030405060708090a0b0c0d0e0f".parse().unwrap();
        let scheme: Scheme = "slots/siphash-2-4".parse().unwrap();
        assert!(scheme.lacks_secret());
        let keyed = scheme.with_secret(secret.clone()).unwrap();
        let text = keyed.to_string();
        let digest = "be45cb2605bf36bebde684841a28f0fd43c69850a3dce5fedba69928ee3a8991";
        assert_eq!(
            text,
            alloc::format!("slots/siphash-2-4/v1,count=16384,key_sha256={digest}")
        );
        assert!(!alloc::format!("{keyed:?}").contains("1, 2, 3"));

        let named: Scheme = text.parse().unwrap();
        assert!(named.lacks_secret());
        assert!(named.clone().with_secret(secret).is_ok());
        assert_eq!(
            named.with_secret(SecretKey::new([1; 16])),
            Err(SchemeError::SecretDiffers { scheme: "slots" })
        );
        assert_eq!(
            keyed.with_parameter("key_sha256", &"0".repeat(64)),
            Err(SchemeError::SecretDiffers { scheme: "slots" })
        );
    }
}
