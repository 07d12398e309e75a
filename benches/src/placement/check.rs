//! That every fast path gives the answers of a plain search, before it is timed.

use anyhow::{Result, ensure};
use clockwise::{HashedKey, Placement, Token};
use xxhash_rust::xxh3::xxh3_64;

use super::own::{
    Clockwise, JUMP, MAGLEV, NaiveRing, NaiveSlots, RENDEZVOUS, RING, SLOTS, WEIGHTED, member,
};
use crate::keys::{Key, Keys};

/// Keys that are compared.
const CHECKED: usize = 100_000;

/// Compares every fast path with plain code.
pub(super) fn all(keys: Keys) -> Result<()> {
    let keys: Vec<Key> = keys.range(0..keys.len().min(CHECKED)).collect();
    for nodes in [5, 100, 1000, 10_000] {
        ring(&keys, nodes)?;
        let slots = Clockwise::<SLOTS>::placement(nodes)?;
        let plain = NaiveSlots::of(&slots);
        same(&keys, &slots, |token| plain.by_part(token))?;
        let maglev = Clockwise::<MAGLEV>::placement(nodes)?;
        let plain = NaiveSlots::of(&maglev);
        same(&keys, &maglev, |token| plain.by_remainder(token))?;
        // Members of numbered schemes are looked up by bucket, other crates' buckets are the answers to meet.
        let numbered = Clockwise::<JUMP>::placement(nodes)?;
        let buckets = numbered.buckets().unwrap_or_default();
        same(&keys, &numbered, |token| {
            buckets[jumpch::hash(token, nodes as u32) as usize] as usize
        })?;
        let some = &keys[..keys.len().min(2_000_000 / nodes)];
        for race in [
            Clockwise::<RENDEZVOUS>::placement(nodes)?,
            Clockwise::<WEIGHTED>::placement(nodes)?,
        ] {
            same(some, &race, |token| cheapest(&race, token))?;
        }
    }
    Ok(())
}

/// A ring by each of its ways, and the two that follow from it.
fn ring(keys: &[Key], nodes: usize) -> Result<()> {
    let ring = Clockwise::<RING>::placement(nodes)?;
    let plain = NaiveRing::of(&ring);
    same(keys, &ring, |token| plain.owner(token))?;
    let wanted: Vec<usize> = keys.iter().map(|key| plain.owner(xxh3_64(key))).collect();
    let hashed: Vec<HashedKey<'_>> = keys.iter().map(|key| ring.hash(key)).collect();
    let mut owners = vec![None; keys.len()];
    ring.owner_indices(&hashed, &mut owners);
    ensure!(
        owners
            .iter()
            .copied()
            .eq(wanted.iter().map(|&owner| Some(owner))),
        "blocks, {nodes} nodes"
    );
    let by_iterator = ring.owners(keys.iter().copied());
    let members = wanted.iter().map(|&owner| Some(&ring.members()[owner]));
    ensure!(by_iterator.eq(members), "the iterator, {nodes} nodes");

    let larger = ring.with_member(member(nodes, false)?)?;
    let built = Clockwise::<RING>::placement(nodes + 1)?;
    let plain = NaiveRing::of(&built);
    same(keys, &larger, |token| plain.owner(token))?;
    let smaller = built.without_member(member(nodes, false)?.id())?;
    let plain = NaiveRing::of(&ring);
    same(keys, &smaller, |token| plain.owner(token))
}

/// Compares single look-ups.
fn same(keys: &[Key], placement: &Placement, wanted: impl Fn(u64) -> usize) -> Result<()> {
    for &key in keys {
        let (owner, token) = (placement.owner(key), xxh3_64(key));
        let wanted = placement.members().get(wanted(token));
        let (scheme, text) = (placement.scheme(), String::from_utf8_lossy(key));
        ensure!(
            owner == wanted && placement.owner_of_token(Token(token)) == wanted,
            "{scheme}: {text} belongs to {owner:?}, by plain code to {wanted:?}"
        );
    }
    Ok(())
}

/// The winner of the race by computing every cost, without bounds.
fn cheapest(placement: &Placement, token: u64) -> usize {
    let cost = |index: usize| {
        let member = &placement.members()[index];
        let node_hash = clockwise::node_hash(member.id());
        let score = clockwise::hash::mix(token ^ node_hash);
        let log = u128::from(clockwise::neg_log2(score)) << 32;
        (log / u128::from(member.weight().milli()), node_hash)
    };
    (0..placement.members().len())
        .min_by_key(|&index| cost(index))
        .unwrap_or_default()
}
