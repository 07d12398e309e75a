//! Keys that the key rule ties together: how much each tag carries, which no placement can split.
//!
//! Exact up to 2^17 different tags and 16 MiB of their texts. Beyond, the lighter half is let go now and then, so that what is told of a tag is
//! the least that it carries; the heavy ones are not missed. Memory at most 40 MiB. Source: lossy
//! counting, Manku and Motwani, 2002.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use clockwise::{NodeId, Placement};

use super::Amount;
use super::hashed::Hashed;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    tags: HashMap<Box<[u8]>, Amount, BuildHasherDefault<Hashed>>,
    /// Bytes of all texts.
    text_bytes: usize,
    all: Amount,
    /// Whether some tags were let go.
    is_cut: bool,
}

/// Tags as they are told.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagCounts {
    /// What all keys with a tag carry.
    pub(crate) all: Amount,
    /// How many different tags there are; `None` where some were let go.
    pub(crate) count: Option<u64>,
    /// The heaviest first, by requests and then by keys.
    pub(crate) heaviest: Vec<HeavyTag>,
}

/// One of the heaviest tags.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HeavyTag {
    pub(crate) tag: Vec<u8>,
    pub(crate) amount: Amount,
    /// The owner of its keys after the change.
    pub(crate) owner: Option<NodeId>,
}

impl Tags {
    /// Counts a key under its tag.
    pub(super) fn add(&mut self, tag: &[u8], amount: Amount) {
        self.all += amount;
        match self.tags.get_mut(tag) {
            Some(sum) => *sum += amount,
            None => {
                self.text_bytes += tag.len();
                self.tags.insert(tag.into(), amount);
                self.keep_to_bound();
            }
        }
    }

    /// The finished count, with the heaviest tags and their owners.
    pub(super) fn finish(self, placement: &Placement) -> TagCounts {
        let mut all: Vec<(Box<[u8]>, Amount)> = self.tags.into_iter().collect();
        let count = (!self.is_cut).then_some(all.len() as u64);
        all.sort_unstable_by(|a, b| weight(b.1).cmp(&weight(a.1)).then_with(|| a.0.cmp(&b.0)));
        all.truncate(MOST_TOLD);
        let told = |(tag, amount): (Box<[u8]>, Amount)| HeavyTag {
            // A tag may hold the delimiter that its keys open with: it is the key already.
            owner: placement
                .owner_of_key(&tag)
                .map(|member| member.id().clone()),
            tag: tag.into_vec(),
            amount,
        };
        TagCounts {
            all: self.all,
            count,
            heaviest: all.into_iter().map(told).collect(),
        }
    }

    fn keep_to_bound(&mut self) {
        while self.tags.len() > MOST || self.text_bytes > MOST_TEXT_BYTES {
            self.is_cut = true;
            let mut weights: Vec<(u64, u64)> = self.tags.values().map(|&sum| weight(sum)).collect();
            let middle = weights.len() / 2;
            let (_, &mut middle, _) = weights.select_nth_unstable(middle);
            self.tags.retain(|_, sum| weight(*sum) > middle);
            self.text_bytes = self.tags.keys().map(|tag| tag.len()).sum();
        }
    }
}

impl TagCounts {
    /// Puts names in the place of the tags.
    pub(super) fn rename(&mut self, name: impl Fn(&[u8]) -> Vec<u8>) {
        for heavy in &mut self.heaviest {
            heavy.tag = name(&heavy.tag);
        }
    }
}

fn weight(amount: Amount) -> (u64, u64) {
    (amount.requests, amount.keys)
}

/// Tags kept at a time.
const MOST: usize = 1 << 17;
/// Bytes of their texts.
const MOST_TEXT_BYTES: usize = 16 << 20;
/// Tags that are told.
const MOST_TOLD: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn one(requests: u64) -> Amount {
        Amount {
            keys: 1,
            requests,
            bytes: 0,
        }
    }

    fn placement() -> Placement {
        let ids = ["a", "b", "c"].map(|id| clockwise::Member::new(id.parse().unwrap()));
        let list = clockwise::Membership::new(ids).unwrap();
        Placement::build(&"ring".parse().unwrap(), &list).unwrap()
    }

    #[test]
    fn keys_add_up_under_their_tags() {
        let mut tags = Tags::default();
        for key in 0..1000_u64 {
            tags.add((key % 10).to_string().as_bytes(), one(key));
        }
        let told = tags.finish(&placement());
        assert_eq!(
            (told.count, told.all.keys, told.heaviest.len()),
            (Some(10), 1000, 10)
        );
        // Keys 9, 19, … 999 are asked for most: 100 keys of 504 on average.
        let heaviest = &told.heaviest[0];
        assert_eq!(
            (
                heaviest.tag.as_slice(),
                heaviest.amount.keys,
                heaviest.amount.requests
            ),
            (&b"9"[..], 100, 50_400)
        );
        assert_eq!(
            heaviest.owner.as_ref(),
            placement().owner(b"9").map(clockwise::Member::id)
        );
    }

    #[test]
    fn a_heavy_tag_is_not_missed_among_more_or_longer_tags_than_are_kept() {
        let filler = "x".repeat(2000);
        for (rounds, filler) in [(1_000_000_u64, ""), (60_000, filler.as_str())] {
            let mut tags = Tags::default();
            for key in 0..rounds {
                let tag = if key.is_multiple_of(10) {
                    "tenant".to_owned()
                } else {
                    format!("t{key}{filler}")
                };
                tags.add(tag.as_bytes(), one(1));
                assert!(tags.tags.len() <= MOST && tags.text_bytes <= MOST_TEXT_BYTES);
            }
            let told = tags.finish(&placement());
            assert_eq!(told.count, None);
            assert_eq!(told.heaviest[0].tag, b"tenant");
            assert_eq!(told.heaviest[0].amount.keys, rounds / 10);
        }
    }
}
