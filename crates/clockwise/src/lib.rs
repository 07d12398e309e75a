//! Consistent hashing for production: which node owns a key, by a written and versioned rule.
//!
//! **Members + scheme → placement**, and with it **bytes → key → token → owner**; nothing flows back.
//!
//! ```
//! use clockwise::{Member, Membership, Placement, Scheme};
//!
//! let scheme: Scheme = "slots".parse()?;
//! let ids = ["cache-1", "cache-2", "cache-3"];
//! let members = ids.map(|id| Member::new(id.parse().expect("a plain name is an id")));
//! let placement = Placement::build(&scheme, &Membership::new(members)?)?;
//!
//! // The owner, and the order in which the others would stand in for it.
//! let owner = placement.owner(b"user:1").expect("a member has weight");
//! assert_eq!(owner.id().as_str(), "cache-3");
//! let ranked: Vec<&str> = placement.replicas(b"user:1", 3).map(|m| m.id().as_str()).collect();
//! assert_eq!(ranked, ["cache-3", "cache-2", "cache-1"]);
//!
//! // A change is a new placement; what decides an owner is in the scheme's full text.
//! let larger = placement.with_member(Member::new("cache-4".parse()?))?;
//! assert_eq!(larger.owner(b"user:1"), Some(owner));
//! assert_eq!(larger.scheme().to_string(), "slots/xxh3-64/v1,count=16384");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without members, or with none that has weight, there is no owner:
//!
//! ```
//! # use clockwise::{Membership, Placement, Scheme};
//! let nobody = Placement::build(&"ring".parse::<Scheme>()?, &Membership::default())?;
//! assert_eq!(nobody.owner(b"user:1"), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate is pure: no I/O, clock, threads or randomness, and `no_std` with `alloc`. A [`Placement`] is immutable;
//! a change builds a new one. Looking a key up allocates nothing and never panics. It knows nothing of health, load or
//! the steps of a change: whoever does applies them to its ranked answer, [`Placement::replicas`].
//!
//! A ring does not copy data, detect failures or make replicas agree; it says where a key belongs.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod hash;

mod bounded;
mod common_ranges;
mod diff;
mod endpoint;
mod jump;
mod jumpback;
mod key_rule;
mod log2;
mod maglev;
mod member;
mod membership;
mod node;
mod numbered;
mod placement;
mod probed;
mod race;
mod rank;
mod redis_cluster;
mod rendezvous;
mod replication;
mod ring;
mod scheme;
mod slots;
mod token;
mod weight;

pub use bounded::{LoadBound, LoadBoundError};
pub use common_ranges::CommonRanges;
pub use diff::{Diff, DiffError, Moves, SlotMove, TokenMove};
pub use endpoint::{Endpoint, EndpointError};
pub use jump::{RenumberingCost, jump, stay_share};
pub use jumpback::jumpback;
pub use key_rule::{Delimiters, KeyRule, KeyRuleError};
pub use log2::neg_log2;
pub use member::{FailureDomains, Member};
pub use membership::{Membership, MembershipError};
pub use node::{NodeId, NodeIdError};
pub use placement::{BuildError, HashedKey, Placement, PlacementChecksum, Replicas};
pub use probed::ProbedSlots;
pub use rank::PermutationRank;
pub use redis_cluster::redis_slot;
pub use replication::{
    Deficit, DomainLevel, DomainRule, ReplicaSet, ReplicaSets, Replication, ReplicationError,
    SpreadMode,
};
pub use scheme::{Algorithm, Scheme, SchemeError, SecretKey, SecretKeyError};
pub use token::{Share, Slot, Token};
pub use weight::{Weight, WeightError};

/// The hash of a node's id that rankings draw from: SplitMix64's step over XXH3-64 of the id's bytes.
///
/// Source: the definition of the schemes `slots` and `rendezvous`, version 1.
#[must_use]
pub fn node_hash(id: &NodeId) -> u64 {
    hash::splitmix64(hash::xxh3_64(id.as_str().as_bytes()))
}

/// The README's example is a doctest of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
