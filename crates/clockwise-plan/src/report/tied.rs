//! What placement cannot split: keys that share a tag, and slots.

use serde::Serialize;

use super::share;
use crate::census::{Amount, Change, Counts, HeavyTag};
use crate::keys::Escaped;

/// Keys that the key rule ties together by a tag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tags {
    /// Keys with a tag.
    pub keys: u64,
    /// Their share of all keys, 0 to 1.
    pub share: f64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Different tags; `None` beyond 2^17, where the light ones were let go.
    pub tags: Option<u64>,
    /// The heaviest tags, at most ten: in requests where they are told, else in keys.
    pub heaviest: Vec<Tied>,
}

/// A tag or a slot with what it carries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tied {
    /// The tag, escaped, or the number of the slot.
    pub name: String,
    /// Keys in it.
    pub keys: u64,
    /// Requests to them, if told.
    pub requests: Option<u64>,
    /// Bytes stored under them, if told.
    pub bytes: Option<u64>,
    /// Its share of all requests where they are told, else of all keys, 0 to 1.
    pub share: f64,
    /// That share over a node's fair share.
    pub share_of_fair: f64,
    /// The node that owns it after the change; `None` where nobody does.
    pub owner: Option<String>,
}

/// `None` where no key has a tag.
pub(super) fn tags(change: &Change, counts: &Counts) -> Option<Tags> {
    let all = counts.tags.all;
    let tied = |heavy: &HeavyTag| {
        let name = Escaped(&heavy.tag).to_string();
        tied(change, counts, name, heavy.amount, heavy.owner.as_ref())
    };
    (all.keys > 0).then(|| Tags {
        keys: all.keys,
        share: share(all.keys, counts.keys),
        requests: counts.requests.map(|_| all.requests),
        tags: counts.tags.count,
        heaviest: counts.tags.heaviest.iter().map(tied).collect(),
    })
}

/// The heaviest slots, at most ten; nothing where keys were not counted by slot.
pub(super) fn slots(change: &Change, counts: &Counts) -> Vec<Tied> {
    let mut slots = counts.slots.clone();
    slots.sort_by_key(|(slot, amount)| (std::cmp::Reverse((amount.requests, amount.keys)), *slot));
    slots.truncate(MOST_LISTED);
    let tied = |(slot, amount): (clockwise::Slot, Amount)| {
        tied(
            change,
            counts,
            slot.0.to_string(),
            amount,
            change.to.owner_of_slot(slot).map(clockwise::Member::id),
        )
    };
    slots.into_iter().map(tied).collect()
}

fn tied(
    change: &Change,
    counts: &Counts,
    name: String,
    amount: Amount,
    owner: Option<&clockwise::NodeId>,
) -> Tied {
    let of_all = match counts.requests {
        Some(all) => share(amount.requests, all),
        None => share(amount.keys, counts.keys),
    };
    let members = change.to.members().iter();
    let nodes = members.filter(|member| member.weight().milli() > 0).count();
    Tied {
        name,
        keys: amount.keys,
        requests: counts.requests.map(|_| amount.requests),
        bytes: counts.bytes.map(|_| amount.bytes),
        share: of_all,
        share_of_fair: of_all * nodes as f64,
        owner: owner.map(ToString::to_string),
    }
}

/// Tags and slots listed.
const MOST_LISTED: usize = 10;
