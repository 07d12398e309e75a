//! A scheme: algorithm, hash and parameters under one versioned name.
//!
//! What it is: the written contract that turns a key into an owner, such as `ring/xxh3-64/v1,tokens=160`. What it
//! promises: a parsed scheme can be built; its full text prints the same everywhere and parses back; a short text
//! takes the newest version and the documented defaults. What it does not: name members or hold a secret; a keyed
//! hash's secret is added with [`Scheme::with_secret`] and only its digest is ever printed. Cost: none at lookup.
//! Source: the table in `contract.rs`, one row a scheme.

mod contract;
mod parse;
mod secret;

use alloc::vec::Vec;
use core::fmt;

pub use contract::Algorithm;
use contract::Contract;
pub(crate) use contract::{Kind, PointLabel, RingForm};
pub(crate) use parse::MAX_TOKENS;
pub use parse::SchemeError;
pub use secret::{SecretKey, SecretKeyError};

use crate::KeyRule;
use crate::hash::{KeyHash, mix, splitmix64};

/// A scheme with all its parameters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scheme {
    contract: &'static Contract,
    hash: KeyHash,
    /// Tokens for a weight of 1; 0 where the algorithm is no ring.
    tokens: u32,
    /// Slots; 0 where the algorithm has none.
    count: u32,
    /// Which of several decisions on one key this is; 0 for the only one.
    layer: u32,
    secret_digest: Option<[u8; 32]>,
    secret: Option<SecretKey>,
}

impl Scheme {
    /// Names of all schemes, as the written form begins.
    pub fn names() -> impl Iterator<Item = &'static str> {
        contract::CONTRACTS.iter().map(|contract| contract.name)
    }

    /// Names of the parameters that the scheme takes, in alphabetical order.
    #[must_use]
    pub fn parameters(&self) -> Vec<&'static str> {
        let own_hash = !self.contract.is_hash_fixed();
        let all = [
            ("count", self.contract.kind == Kind::Slots),
            ("key_sha256", self.hash.is_keyed()),
            ("layer", own_hash),
            ("size", self.contract.kind == Kind::Maglev),
            ("tokens", self.tokens > 0),
        ];
        all.into_iter()
            .filter(|(_, takes)| *takes)
            .map(|(name, _)| name)
            .collect()
    }

    /// What the scheme is called, without hash, version or parameters.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.contract.name
    }

    /// The kind of placement.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.contract.algorithm()
    }

    /// The hash that turns a key into its token.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        self.hash
    }

    /// Width of tokens in bits: 16, 32 or 64.
    #[must_use]
    pub fn token_bits(&self) -> u32 {
        self.hash.bits()
    }

    /// The key rule that belongs to the scheme itself; `None` where the user of the scheme chooses it.
    #[must_use]
    pub fn own_key_rule(&self) -> Option<KeyRule> {
        self.contract.key_rule
    }

    /// Tokens of a node of weight 1; `None` unless the scheme is a ring.
    #[must_use]
    pub fn tokens(&self) -> Option<u32> {
        (self.tokens > 0).then_some(self.tokens)
    }

    /// The same scheme with another number of tokens for a weight of 1, from 1 to 2^24.
    ///
    /// # Errors
    /// [`SchemeError`] when the scheme is no ring or the number is out of range.
    pub fn with_tokens(&self, tokens: u32) -> Result<Self, SchemeError> {
        self.clone()
            .with_parameter("tokens", &alloc::format!("{tokens}"))
    }

    /// Slots of the scheme, or entries of a Maglev table; `None` where it has none.
    #[must_use]
    pub fn slot_count(&self) -> Option<u32> {
        (self.count > 0).then_some(self.count)
    }

    /// Which of several decisions on one key the scheme makes, 0 unless said otherwise.
    ///
    /// A key that is placed twice, first on a shard and then on a node within it, needs two layers: with one hash for
    /// both, all keys of a shard would look alike to the second decision.
    #[must_use]
    pub fn layer(&self) -> u32 {
        self.layer
    }

    /// Whether [`token`](Self::token) is XXH3-64 of the key and no more.
    #[inline]
    pub(crate) fn is_plain_xxh3(&self) -> bool {
        self.hash == KeyHash::Xxh3 && self.layer == 0
    }

    /// The token of a key under the scheme.
    #[inline]
    pub(crate) fn token(&self, secret: &[u8; 16], key: &[u8]) -> u64 {
        let hash = self.hash.hash(secret, key);
        match self.layer {
            0 => hash,
            layer => mix(hash ^ splitmix64(u64::from(layer))),
        }
    }

    /// Whether nodes are known by their place in the list, so that its order matters.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        matches!(
            self.algorithm(),
            Algorithm::Jump
                | Algorithm::JumpBack
                | Algorithm::Modulo
                | Algorithm::Probed
                | Algorithm::Rank
                | Algorithm::RedisCluster
        )
    }

    /// Whether the scheme names further nodes behind the owner. Redis Cluster does not: a lost master's slots wait
    /// for its own replica.
    #[must_use]
    pub fn has_ranking(&self) -> bool {
        self.algorithm() != Algorithm::RedisCluster
    }

    /// Whether the scheme has a hash that needs a secret which is still missing.
    #[must_use]
    pub fn lacks_secret(&self) -> bool {
        self.hash.is_keyed() && self.secret.is_none()
    }

    /// The same scheme with the secret of its keyed hash.
    ///
    /// # Errors
    /// [`SchemeError::SecretUnused`] when the hash has none; [`SchemeError::SecretDiffers`] when the text named the
    /// digest of another secret.
    pub fn with_secret(self, secret: SecretKey) -> Result<Self, SchemeError> {
        if !self.hash.is_keyed() {
            return Err(SchemeError::SecretUnused { hash: self.hash });
        }
        let digest = secret.digest();
        if self
            .secret_digest
            .is_some_and(|expected| expected != digest)
        {
            return Err(SchemeError::SecretDiffers {
                scheme: self.name(),
            });
        }
        Ok(Self {
            secret_digest: Some(digest),
            secret: Some(secret),
            ..self
        })
    }

    /// The secret; zeroes where there is none.
    pub(crate) fn secret(&self) -> SecretKey {
        self.secret.clone().unwrap_or(SecretKey::new([0; 16]))
    }

    pub(crate) fn kind(&self) -> Kind {
        self.contract.kind
    }
}

impl fmt::Display for Scheme {
    /// The full text: name, hash, version, then the parameters in alphabetical order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/v{}",
            self.contract.name, self.hash, self.contract.version
        )?;
        let digest = self.secret_digest.map(secret::hex);
        let table = match self.contract.kind {
            Kind::Slots => Some("count"),
            Kind::Maglev => Some("size"),
            _ => None,
        };
        let number = |name, value: u32| (name, alloc::format!("{value}"));
        let parameters: Vec<(&str, alloc::string::String)> = [
            table
                .filter(|name| *name == "count")
                .map(|name| number(name, self.count)),
            digest.map(|digest| ("key_sha256", digest)),
            (self.layer > 0).then(|| number("layer", self.layer)),
            table
                .filter(|name| *name == "size")
                .map(|name| number(name, self.count)),
            self.tokens().map(|tokens| number("tokens", tokens)),
        ]
        .into_iter()
        .flatten()
        .collect();
        parameters
            .iter()
            .try_for_each(|(name, value)| write!(f, ",{name}={value}"))
    }
}
