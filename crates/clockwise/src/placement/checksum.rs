//! The checksum of a placement: with equal key rules, equal checksums mean equal owners.
//!
//! What it is: SHA-256 over the scheme's full text and a line feed, then for every member in ascending order of its
//! id: the id's length, the id's bytes, the weight in thousandths, the number of its places and the places. A place
//! is a slot (or entry), or a bucket of a numbered scheme; rings and races have none, since the rest decides their owners. All
//! numbers are unsigned 32-bit little-endian. What it does not: cover endpoints, failure domains or the key rule.
//! Cost: one pass. Source: this text; pinned by the golden vectors.

use alloc::vec::Vec;
use core::fmt;

use sha2::{Digest as _, Sha256};

use super::{Engine, Placement};

/// 32 bytes that two placements share if and only if they have the same scheme text, members, weights and tables. The key
/// rule is not in it: equal checksums and equal [key rules](Placement::key_rule) give equal owners. Prints as `sha256:` and
/// 64 hex digits.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PlacementChecksum(pub [u8; 32]);

impl fmt::Display for PlacementChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Placement {
    /// The checksum over scheme, members, weights and tables; not over the key rule, which has to be compared too.
    #[must_use]
    pub fn placement_checksum(&self) -> PlacementChecksum {
        let mut hasher = Sha256::new();
        hasher.update(alloc::format!("{}\n", self.scheme));
        let places = self.places();
        for (member, places) in self.members.iter().zip(&places) {
            let id = member.id().as_str().as_bytes();
            hasher.update((id.len() as u32).to_le_bytes());
            hasher.update(id);
            hasher.update(member.weight().milli().to_le_bytes());
            hasher.update((places.len() as u32).to_le_bytes());
            for place in places {
                hasher.update(place.to_le_bytes());
            }
        }
        PlacementChecksum(hasher.finalize().into())
    }

    /// The slots or the bucket of each member.
    fn places(&self) -> Vec<Vec<u32>> {
        let mut places = alloc::vec![Vec::new(); self.members.len()];
        let owners = match &self.engine {
            Engine::Slots { table, .. }
            | Engine::Maglev { table, .. }
            | Engine::RedisCluster { table, .. } => table.owners(),
            Engine::Numbered { by_bucket, .. } => by_bucket,
            Engine::Probed(slots) | Engine::Rank(slots) => slots.nodes(),
            Engine::Ring(_) | Engine::Rendezvous(_) | Engine::JoinedText(_) => &[],
        };
        for (place, &owner) in (0..).zip(owners) {
            places[owner as usize].push(place);
        }
        places
    }
}
