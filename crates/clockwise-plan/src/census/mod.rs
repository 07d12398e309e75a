//! The count of all keys: who owns each before and after, and who would take it if its owner failed.
//!
//! What it is: one pass over keys, counting keys, requests and bytes. What it promises: integers, exact for the keys
//! that were read; memory bounded by members, tokens and slots, never by keys. What it does not: remember keys, except
//! the few with most requests. Cost: one hash, one search and one addition a key where the placements rank by ranges;
//! elsewhere a look-up a side and the next node behind the owner. Source: the four measures of the founding articles.

mod by_range;
mod change;
mod clumps;
mod distinct;
mod hashed;
mod pairs;
mod placed;
mod popular;
mod seconds;
mod stakes;
mod steps;
mod tags;
mod views;

use clockwise::hash::KeyHash;
use clockwise::{HashedKey, Slot};

use by_range::ByRange;
pub(crate) use change::ChangeNode;
pub use change::{Change, ChangeError, OutageKind, QuestionError, Questions};
pub(crate) use clumps::Clumps;
pub(crate) use distinct::Distinct;
pub(crate) use hashed::Hashed;
pub use pairs::Amount;
pub(crate) use pairs::Pairs;
use placed::Placed;
pub(crate) use popular::{Bucket, HotKey, Popular};
use seconds::Seconds;
use stakes::Draw;
pub(crate) use stakes::{Stake, Stakes};
pub(crate) use steps::{Edit, Step};
use tags::Tags;
pub(crate) use tags::{HeavyTag, TagCounts};
pub(crate) use views::Views;

/// What was counted.
#[derive(Clone, Debug)]
pub struct Counts {
    pub(crate) keys: u64,
    pub(crate) requests: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) placed: Placed,
    /// How many different keys there are, and whether that is exact.
    pub(crate) distinct: (u64, bool),
    pub(crate) clumps: Clumps,
    pub(crate) popular: Popular,
    /// Keys that the new key rule cuts out otherwise than the old one.
    pub(crate) recut: u64,
    pub(crate) tags: TagCounts,
    /// Slots with keys, where keys are counted by slot.
    pub(crate) slots: Vec<(Slot, Amount)>,
    /// Empty unless a question needs them.
    pub(crate) stakes: Stakes,
}

impl Counts {
    /// The same count, with the keys that it shows written as `name` says.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        self.popular.rename(&name);
        self.tags.rename(name);
        self
    }
}

/// Counts keys one by one.
#[derive(Debug)]
pub struct Census<'c> {
    change: &'c Change,
    way: Way,
    keys: u64,
    distinct: Distinct,
    /// A token is also the hash that tells different keys apart.
    token_is_distinct: bool,
    clumps: Clumps,
    popular: Popular,
    recut: u64,
    tags: Tags,
    any_requests: bool,
    any_bytes: bool,
}

#[derive(Debug)]
enum Way {
    ByRange(ByRange),
    ByKey(Box<ByKey>),
}

#[derive(Debug)]
struct ByKey {
    one_hash: bool,
    placed: Placed,
    seconds: Seconds,
    /// `None` where no question needs it.
    draw: Option<Draw>,
    /// Used again for each key.
    seen: Vec<u32>,
}

impl<'c> Census<'c> {
    /// A count that has seen nothing yet.
    #[must_use]
    pub fn new(change: &'c Change) -> Self {
        let way = match ByRange::new(change) {
            Some(ranges) => Way::ByRange(ranges),
            None => Way::ByKey(Box::new(ByKey::new(change))),
        };
        let scheme = change.to.scheme();
        Self {
            change,
            way,
            keys: 0,
            distinct: Distinct::default(),
            token_is_distinct: scheme.hash() == KeyHash::Xxh3 && scheme.layer() == 0,
            clumps: Clumps::new(scheme.token_bits()),
            popular: Popular::default(),
            recut: 0,
            tags: Tags::default(),
            any_requests: false,
            any_bytes: false,
        }
    }

    /// Counts one key, with its requests and bytes where they are known.
    #[inline]
    pub fn add(&mut self, key: &[u8], requests: Option<u64>, bytes: Option<u64>) {
        let change = self.change;
        let hashed = change.to.hash(key);
        let is_cut = hashed.key().len() < key.len();
        self.keys += 1;
        if requests.is_some() {
            self.any_requests = true;
            self.distinct.expect_requests();
        }
        self.any_bytes |= bytes.is_some();
        if self.token_is_distinct && !is_cut {
            self.distinct.add_hash(hashed.token().0);
        } else {
            self.distinct.add(key);
        }
        self.clumps.add(hashed.token());
        let amount = Amount {
            keys: 1,
            requests: requests.unwrap_or(0),
            bytes: bytes.unwrap_or(0),
        };
        if is_cut {
            self.tags.add(hashed.key(), amount);
        }
        let owners = match &mut self.way {
            Way::ByRange(ranges) => ranges.add(change, hashed.token(), requests, bytes),
            Way::ByKey(by_key) => {
                let old = if by_key.one_hash {
                    hashed
                } else {
                    let old = change.from.hash(key);
                    self.recut += u64::from(old.key() != hashed.key());
                    old
                };
                if let Some(draw) = &mut by_key.draw {
                    draw.add(old.token(), hashed.token(), amount);
                }
                let ByKey {
                    placed,
                    seconds,
                    seen,
                    ..
                } = &mut **by_key;
                Some(placed.add(change, seconds, (&old, &hashed), amount, seen))
            }
        };
        if let (Some(requests), Some(owners)) = (requests, owners) {
            self.popular
                .add(key, requests, owners.after, owners.before != owners.after);
        }
    }

    /// Keys counted so far.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The finished count.
    ///
    /// # Errors
    /// [`TotalError`] when requests or bytes add up to more than a JSON number holds exactly.
    pub fn finish(mut self) -> Result<Counts, TotalError> {
        let (placed, slots, stakes) = match self.way {
            Way::ByRange(ranges) => {
                let stakes = if self.change.needs_stakes() {
                    Stakes {
                        list: ranges
                            .filled()
                            .map(|(token, amount)| Stake::of_range(token, amount))
                            .collect(),
                        exact: true,
                    }
                } else {
                    Stakes::default()
                };
                (ranges.place(self.change), ranges.slots(), stakes)
            }
            Way::ByKey(by_key) => {
                let owner = |token| self.change.owner_after(&HashedKey::of_token(token)) as usize;
                let draw = by_key
                    .draw
                    .map(|draw| draw.finish(&by_key.placed.after, owner));
                (by_key.placed, Vec::new(), draw.unwrap_or_default())
            }
        };
        let total = placed
            .before
            .iter()
            .fold(Amount::default(), |sum, &amount| sum + amount);
        for (what, sum) in [("requests", total.requests), ("bytes", total.bytes)] {
            if sum > MOST {
                return Err(TotalError { what });
            }
        }
        Ok(Counts {
            keys: self.keys,
            requests: self.any_requests.then_some(total.requests),
            bytes: self.any_bytes.then_some(total.bytes),
            placed,
            distinct: self.distinct.count(),
            clumps: self.clumps,
            popular: self.popular,
            recut: self.recut,
            tags: self.tags.finish(&self.change.to),
            slots,
            stakes,
        })
    }
}

impl ByKey {
    fn new(change: &Change) -> Self {
        Self {
            one_hash: change.from.hashes_like(&change.to),
            placed: Placed::new(change),
            seconds: Seconds::new(&change.to),
            draw: change.needs_stakes().then(Draw::default),
            seen: Vec::new(),
        }
    }
}

/// Requests or bytes that add up to more than 2^53.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the {what} of all keys add up to more than 2^53, the most that is counted exactly")]
pub struct TotalError {
    what: &'static str,
}

/// The most that a JSON number holds exactly.
const MOST: u64 = 1 << 53;
