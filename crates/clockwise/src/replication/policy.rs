//! The replication policy: how many replicas, and how many of them a failure domain may hold.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;

use crate::{FailureDomains, NodeId};

/// A level of failure domains, coarsest first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DomainLevel {
    /// Region.
    Region,
    /// Zone within its region.
    Zone,
    /// Rack within its zone.
    Rack,
    /// Machine within its rack; a node without this label is a machine of its own.
    Host,
}

impl DomainLevel {
    /// All levels, coarsest first.
    pub const ALL: [Self; 4] = [Self::Region, Self::Zone, Self::Rack, Self::Host];

    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Rack => "rack",
            Self::Host => "host",
        }
    }

    /// A node's label of this level.
    #[must_use]
    pub fn label(self, domains: &FailureDomains) -> Option<&str> {
        match self {
            Self::Region => domains.region.as_deref(),
            Self::Zone => domains.zone.as_deref(),
            Self::Rack => domains.rack.as_deref(),
            Self::Host => domains.host.as_deref(),
        }
    }
}

impl fmt::Display for DomainLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a cap may give way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpreadMode {
    /// Never: rather fewer replicas.
    Required,
    /// When replicas cannot be placed otherwise, and it is reported.
    Preferred,
}

/// A cap on how many replicas of one key a domain of a level may hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DomainRule {
    level: DomainLevel,
    max_per_domain: NonZeroU32,
    mode: SpreadMode,
}

impl DomainRule {
    /// A rule.
    #[must_use]
    pub const fn new(level: DomainLevel, max_per_domain: NonZeroU32, mode: SpreadMode) -> Self {
        Self {
            level,
            max_per_domain,
            mode,
        }
    }

    /// The level.
    #[must_use]
    pub const fn level(&self) -> DomainLevel {
        self.level
    }

    /// The most replicas of one key in one domain.
    #[must_use]
    pub const fn max_per_domain(&self) -> u32 {
        self.max_per_domain.get()
    }

    /// Whether the cap may give way.
    #[must_use]
    pub const fn mode(&self) -> SpreadMode {
        self.mode
    }
}

impl fmt::Display for DomainRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.level, self.max_per_domain)?;
        match self.mode {
            SpreadMode::Required => Ok(()),
            SpreadMode::Preferred => f.write_str(":preferred"),
        }
    }
}

/// How many replicas a key has and how they spread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Replication {
    factor: NonZeroU32,
    /// Coarsest level first, each level once.
    rules: Vec<DomainRule>,
    keeps_positions: bool,
}

impl Replication {
    /// This many replicas on distinct nodes, without further rules; positions shift when a node is down.
    #[must_use]
    pub const fn new(factor: NonZeroU32) -> Self {
        Self {
            factor,
            rules: Vec::new(),
            keeps_positions: false,
        }
    }

    /// The same policy with one rule more.
    ///
    /// # Errors
    /// [`ReplicationError::RepeatedLevel`] when the level has a rule already.
    pub fn with_rule(mut self, rule: DomainRule) -> Result<Self, ReplicationError> {
        if self.rules.iter().any(|other| other.level == rule.level) {
            return Err(ReplicationError::RepeatedLevel { level: rule.level });
        }
        self.rules.push(rule);
        self.rules.sort_by_key(|rule| rule.level);
        Ok(self)
    }

    /// The same policy with rules as they are written: `zone=1,rack=2:preferred`.
    ///
    /// # Errors
    /// [`ReplicationError`] names the piece that is no rule.
    pub fn with_rules(self, text: &str) -> Result<Self, ReplicationError> {
        text.split(',')
            .try_fold(self, |policy, rule| policy.with_rule(rule.parse()?))
    }

    /// The same policy, in which the position of a node that is down stays empty (`indep`).
    #[must_use]
    pub fn with_kept_positions(self) -> Self {
        Self {
            keeps_positions: true,
            ..self
        }
    }

    /// Replicas of each key.
    #[must_use]
    pub const fn factor(&self) -> NonZeroU32 {
        self.factor
    }

    /// The rules, coarsest level first.
    #[must_use]
    pub fn rules(&self) -> &[DomainRule] {
        &self.rules
    }

    /// Whether the position of a node that is down stays empty.
    #[must_use]
    pub const fn keeps_positions(&self) -> bool {
        self.keeps_positions
    }
}

impl FromStr for DomainRule {
    type Err = ReplicationError;

    fn from_str(text: &str) -> Result<Self, ReplicationError> {
        let malformed = || ReplicationError::NotARule {
            text: text.to_owned(),
        };
        let (rule, mode) = match text.split_once(':') {
            None => (text, SpreadMode::Required),
            Some((rule, "required")) => (rule, SpreadMode::Required),
            Some((rule, "preferred")) => (rule, SpreadMode::Preferred),
            Some(_) => return Err(malformed()),
        };
        let (name, cap) = rule.split_once('=').ok_or_else(malformed)?;
        let level = DomainLevel::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(malformed)?;
        let plain = cap.bytes().all(|b| b.is_ascii_digit());
        let cap = cap.parse().ok().filter(|_| plain).ok_or_else(malformed)?;
        Ok(Self::new(level, cap, mode))
    }
}

/// Why a policy is refused, or does not fit a placement.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicationError {
    /// A text that is no rule.
    #[error(
        "domain rule {text:?}: must be region, zone, rack or host, = and a number from 1, then :preferred if it may give way"
    )]
    NotARule {
        /// The text as given.
        text: String,
    },
    /// Two rules for one level.
    #[error("two domain rules for {level}")]
    RepeatedLevel {
        /// The level.
        level: DomainLevel,
    },
    /// A required level that is not known for a node.
    #[error("node {id} has no {level}, which the rule for it requires")]
    Unlabelled {
        /// The node.
        id: NodeId,
        /// The level without a label.
        level: DomainLevel,
    },
    /// The scheme names no node behind the owner.
    #[error("scheme {scheme} names no node behind the owner, so it cannot place replicas")]
    NoRanking {
        /// The scheme's name.
        scheme: &'static str,
    },
}
