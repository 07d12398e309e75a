//! Keys that the key rule ties together: how much each tag carries, which no placement can split.
//!
//! Exact up to 2^17 different tags. Beyond, the lighter half is let go now and then, so that what is told of a tag is
//! the least that it carries; the heavy ones are not missed. Memory: the texts of that many tags. Source: lossy
//! counting, Manku and Motwani, 2002.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::Amount;
use super::hashed::Hashed;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    tags: HashMap<Box<[u8]>, Amount, BuildHasherDefault<Hashed>>,
    /// What all keys with a tag carry.
    pub(crate) all: Amount,
    /// Whether no tag was let go.
    pub(crate) is_cut: bool,
}

impl Tags {
    /// Counts a key under its tag.
    pub(super) fn add(&mut self, tag: &[u8], amount: Amount) {
        self.all += amount;
        match self.tags.get_mut(tag) {
            Some(sum) => *sum += amount,
            None => {
                self.tags.insert(tag.into(), amount);
                self.keep_to_bound();
            }
        }
    }

    /// How many different tags there are; `None` where some were let go.
    pub(crate) fn count(&self) -> Option<u64> {
        (!self.is_cut).then_some(self.tags.len() as u64)
    }

    /// The heaviest tags first, by requests and then by keys.
    pub(crate) fn heaviest(&self, most: usize) -> Vec<(&[u8], Amount)> {
        let mut all: Vec<(&[u8], Amount)> =
            self.tags.iter().map(|(tag, &sum)| (&**tag, sum)).collect();
        all.sort_unstable_by(|a, b| weight(b.1).cmp(&weight(a.1)).then_with(|| a.0.cmp(b.0)));
        all.truncate(most);
        all
    }

    /// Puts names in the place of the tags.
    pub(super) fn rename(&mut self, name: impl Fn(&[u8]) -> Vec<u8>) {
        let tags = std::mem::take(&mut self.tags).into_iter();
        self.tags = tags
            .map(|(tag, sum)| (name(&tag).into_boxed_slice(), sum))
            .collect();
    }

    fn keep_to_bound(&mut self) {
        if self.tags.len() <= MOST {
            return;
        }
        self.is_cut = true;
        let mut weights: Vec<(u64, u64)> = self.tags.values().map(|&sum| weight(sum)).collect();
        let (_, &mut middle, _) = weights.select_nth_unstable(MOST / 2);
        self.tags.retain(|_, sum| weight(*sum) > middle);
    }
}

fn weight(amount: Amount) -> (u64, u64) {
    (amount.requests, amount.keys)
}

/// Tags kept at a time.
const MOST: usize = 1 << 17;

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

    #[test]
    fn keys_add_up_under_their_tags() {
        let mut whole = Tags::default();
        for key in 0..1000_u64 {
            let tag = (key % 10).to_string();
            whole.add(tag.as_bytes(), one(key));
        }
        assert_eq!((whole.count(), whole.all.keys), (Some(10), 1000));
        // Keys 9, 19, … 999 are asked for most: 100 keys of 504 on average.
        assert_eq!(
            whole.heaviest(1),
            [(
                &b"9"[..],
                Amount {
                    keys: 100,
                    requests: 50_400,
                    bytes: 0
                }
            )]
        );
    }

    #[test]
    fn a_heavy_tag_is_not_missed_among_more_tags_than_are_kept() {
        let mut tags = Tags::default();
        for key in 0..1_000_000_u64 {
            let tag = if key.is_multiple_of(10) {
                "tenant".to_owned()
            } else {
                format!("t{key}")
            };
            tags.add(tag.as_bytes(), one(1));
        }
        assert!(tags.is_cut && tags.count().is_none());
        assert_eq!(tags.heaviest(1)[0].0, b"tenant");
        assert_eq!(tags.heaviest(1)[0].1.keys, 100_000);
        assert!(tags.tags.len() <= MOST);
    }
}
