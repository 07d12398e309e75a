//! Counting by range of tokens: where all placements of a change rank every token of a range alike, a key costs one
//! search and one addition, and everything else is worked out once a range.

use clockwise::{CommonRanges, HashedKey, Token};

use super::placed::{Owners, Placed};
use super::seconds::Seconds;
use super::{Amount, Change};

#[derive(Clone, Debug)]
pub(super) struct ByRange {
    ranges: CommonRanges,
    keys: Vec<u64>,
    /// Empty as long as no key came with requests, and with bytes.
    requests: Vec<u64>,
    bytes: Vec<u64>,
    /// Owners of each range, worked out when the first key comes with requests.
    owners: Vec<Owners>,
}

impl ByRange {
    /// `None` where the placements do not share their ranges.
    pub(super) fn new(change: &Change) -> Option<Self> {
        let placements: Vec<_> = change.placements().collect();
        let ranges = CommonRanges::of(&placements)?;
        Some(Self {
            keys: vec![0; ranges.count()],
            ranges,
            requests: Vec::new(),
            bytes: Vec::new(),
            owners: Vec::new(),
        })
    }

    /// Counts a key; who owns it, where it came with requests.
    #[inline]
    pub(super) fn add(
        &mut self,
        change: &Change,
        token: Token,
        requests: Option<u64>,
        bytes: Option<u64>,
    ) -> Option<Owners> {
        let range = self.ranges.range_of(token);
        self.keys[range] += 1;
        if let Some(bytes) = bytes {
            if self.bytes.is_empty() {
                self.bytes = vec![0; self.keys.len()];
            }
            self.bytes[range] = self.bytes[range].saturating_add(bytes);
        }
        let requests = requests?;
        if self.requests.is_empty() {
            self.requests = vec![0; self.keys.len()];
            self.owners = self.owners_by_range(change);
        }
        self.requests[range] = self.requests[range].saturating_add(requests);
        Some(self.owners[range])
    }

    fn owners_by_range(&self, change: &Change) -> Vec<Owners> {
        let owners = |range| {
            let key = HashedKey::of_token(self.ranges.token(range));
            Owners {
                before: change.owner_before(&key),
                after: change.owner_after(&key),
            }
        };
        (0..self.ranges.count()).map(owners).collect()
    }

    /// The ranges that have keys, each with a token that stands for it.
    pub(super) fn filled(&self) -> impl Iterator<Item = (Token, Amount)> {
        let at = |counts: &[u64], range: usize| counts.get(range).copied().unwrap_or(0);
        self.keys
            .iter()
            .enumerate()
            .filter(|(_, keys)| **keys > 0)
            .map(move |(range, &keys)| {
                let amount = Amount {
                    keys,
                    requests: at(&self.requests, range),
                    bytes: at(&self.bytes, range),
                };
                (self.ranges.token(range), amount)
            })
    }

    /// Places every range.
    pub(super) fn place(&self, change: &Change) -> Placed {
        let mut placed = Placed::new(change);
        let seconds = Seconds::new(&change.to);
        let mut seen = Vec::new();
        for (token, amount) in self.filled() {
            let key = HashedKey::of_token(token);
            placed.add(change, &seconds, (&key, &key), amount, &mut seen);
        }
        placed
    }

    /// The slots with keys, where ranges are slots.
    pub(super) fn slots(&self) -> Vec<(clockwise::Slot, Amount)> {
        let slot = |(token, amount)| Some((self.ranges.slot(self.ranges.range_of(token))?, amount));
        self.filled().filter_map(slot).collect()
    }
}
