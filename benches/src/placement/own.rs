//! clockwise's schemes, and plain code for the same work.

use anyhow::{Context as _, Result};
use clockwise::{Member, Membership, NodeId, Placement, Scheme, Weight, jump, jumpback};
use xxhash_rust::xxh3::xxh3_64;

use super::rivals::{Grows, Rival, weight};
use super::{TOKENS, node};
use crate::keys::Key;

/// A placement, looked up one key after the other.
pub(super) struct Clockwise<const SCHEME: char>(pub(super) Placement);

/// The same, many keys at once by [`Placement::owners`].
pub(super) struct Owners(Placement);

/// The same by [`Placement::owner_indices`] over blocks of hashed keys.
pub(super) struct Blocks(Placement);

/// The scheme by its letter in the list of cases.
fn scheme(letter: char) -> &'static str {
    match letter {
        RING => "ring,tokens=160",
        SLOTS => "slots",
        MAGLEV => "maglev",
        JUMP => "jump",
        JUMPBACK => "jumpback",
        _ => "rendezvous",
    }
}

pub(super) const RING: char = 'r';
pub(super) const SLOTS: char = 's';
pub(super) const MAGLEV: char = 'm';
pub(super) const JUMP: char = 'j';
pub(super) const JUMPBACK: char = 'b';
pub(super) const RENDEZVOUS: char = 'e';
pub(super) const WEIGHTED: char = 'w';

impl<const SCHEME: char> Clockwise<SCHEME> {
    /// The placement of so many nodes.
    pub(super) fn placement(nodes: usize) -> Result<Placement> {
        let members = (0..nodes).map(|number| member(number, SCHEME == WEIGHTED));
        let list = Membership::new(members.collect::<Result<Vec<_>>>()?)?;
        let scheme: Scheme = scheme(SCHEME).parse()?;
        Placement::build(&scheme, &list).with_context(|| format!("{scheme} of {nodes} nodes"))
    }
}

/// A member of weight 1, or of its weight among weighted ones.
pub(super) fn member(number: usize, weighted: bool) -> Result<Member> {
    let member = Member::new(NodeId::new(&node(number))?);
    let milli = if weighted {
        1000 * weight(number)
    } else {
        1000
    };
    Ok(member.with_weight(Weight::from_milli(milli).context("a weight of 1 to 4")?))
}

impl<const SCHEME: char> Rival for Clockwise<SCHEME> {
    fn build(nodes: usize) -> Self {
        // Every number of nodes in the list of cases can be built; `check` has done it.
        Self(Self::placement(nodes).expect("a placement that was built before"))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.owner_index(&self.0.hash(key)).unwrap_or_default()
    }
}

impl Rival for Blocks {
    fn build(nodes: usize) -> Self {
        Self(Clockwise::<RING>::build(nodes).0)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.owner_index(&self.0.hash(key)).unwrap_or_default()
    }

    #[inline]
    fn locate_all(&self, mut keys: impl Iterator<Item = Key>) -> usize {
        let mut sum = 0_usize;
        let mut hashed = [self.0.hash(b""); BLOCK];
        let mut owners = [None; BLOCK];
        loop {
            let mut count = 0;
            for (hashed, key) in hashed.iter_mut().zip(&mut keys) {
                *hashed = self.0.hash(key);
                count += 1;
            }
            self.0.owner_indices(&hashed[..count], &mut owners);
            for owner in &owners[..count] {
                sum = sum.wrapping_add(owner.unwrap_or_default());
            }
            if count < BLOCK {
                return sum;
            }
        }
    }
}

impl Rival for Owners {
    fn build(nodes: usize) -> Self {
        Self(Clockwise::<RING>::build(nodes).0)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.owner_index(&self.0.hash(key)).unwrap_or_default()
    }

    #[inline]
    fn locate_all(&self, keys: impl Iterator<Item = Key>) -> usize {
        let address =
            |member: Option<&Member>| member.map_or(0, |it| std::ptr::from_ref(it).addr());
        self.0
            .owners(keys)
            .fold(0, |sum, owner| sum.wrapping_add(address(owner)))
    }
}

/// A ring that another follows, as a snapshot of its own.
pub(super) struct NextRing {
    ring: Placement,
    larger: Placement,
    extra: Member,
    next: Option<Placement>,
}

impl Rival for NextRing {
    fn build(nodes: usize) -> Self {
        Self {
            ring: Clockwise::<RING>::build(nodes).0,
            larger: Clockwise::<RING>::build(nodes + 1).0,
            extra: member(nodes, false).expect("a member like those before"),
            next: None,
        }
    }

    fn locate(&self, key: Key) -> usize {
        Clockwise::<RING>(self.ring.clone()).locate(key)
    }
}

impl Grows for NextRing {
    fn add(&mut self) {
        self.next = self.ring.with_member(self.extra.clone()).ok();
    }

    fn remove(&mut self) {
        self.next = self.larger.without_member(self.extra.id()).ok();
    }
}

/// Nothing but the hash of the key.
pub(super) struct Hash;

impl Rival for Hash {
    fn build(_: usize) -> Self {
        Self
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        xxh3_64(key) as usize
    }
}

/// A sorted array of tokens with their nodes and the binary search of the standard library.
pub(super) struct NaiveRing(Vec<(u64, u32)>);

impl NaiveRing {
    /// The same ring as a placement's.
    pub(super) fn of(placement: &Placement) -> Self {
        let members = placement.members();
        let number = |member: &Member| members.partition_point(|other| other.id() < member.id());
        let tokens = placement.tokens();
        Self(
            tokens
                .map(|(token, member)| (token.0, number(member) as u32))
                .collect(),
        )
    }

    #[inline]
    pub(super) fn owner(&self, token: u64) -> usize {
        let place = self.0.partition_point(|&(other, _)| other < token);
        let place = if place == self.0.len() { 0 } else { place };
        self.0[place].1 as usize
    }
}

impl Rival for NaiveRing {
    fn build(nodes: usize) -> Self {
        let tokens = (0..nodes).flat_map(|number| {
            let name = node(number);
            (0..TOKENS).map(move |token| {
                let label = format!("{name}-{token}");
                (xxh3_64(label.as_bytes()), number as u32)
            })
        });
        let mut tokens: Vec<(u64, u32)> = tokens.collect();
        tokens.sort_unstable();
        Self(tokens)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        let token = xxh3_64(key);
        let (Ok(place) | Err(place)) = self.0.binary_search_by_key(&token, |&(other, _)| other);
        self.0[if place == self.0.len() { 0 } else { place }].1 as usize
    }
}

/// A table of slots as plain code reads it.
pub(super) struct NaiveSlots(Vec<u32>);

impl NaiveSlots {
    pub(super) fn of(placement: &Placement) -> Self {
        Self(placement.slot_owners().unwrap_or_default().to_vec())
    }

    #[inline]
    pub(super) fn by_part(&self, token: u64) -> usize {
        self.0[((u128::from(token) * self.0.len() as u128) >> 64) as usize] as usize
    }

    #[inline]
    pub(super) fn by_remainder(&self, token: u64) -> usize {
        self.0[(token % self.0.len() as u64) as usize] as usize
    }
}

impl Rival for NaiveSlots {
    fn build(nodes: usize) -> Self {
        Self::of(&Clockwise::<SLOTS>::build(nodes).0)
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.by_part(xxh3_64(key))
    }
}

/// The same for Maglev.
pub(super) struct NaiveMaglev(NaiveSlots);

impl Rival for NaiveMaglev {
    fn build(nodes: usize) -> Self {
        Self(NaiveSlots::of(&Clockwise::<MAGLEV>::build(nodes).0))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        self.0.by_remainder(xxh3_64(key))
    }
}

/// jump, jumpback or another crate's jump on keys that are 64-bit numbers already: the first eight bytes.
pub(super) struct OnNumbers<const WHICH: char>(std::num::NonZeroU32);

/// The letter of jumpch among them.
pub(super) const JUMPCH: char = 'c';

impl<const WHICH: char> Rival for OnNumbers<WHICH> {
    fn build(nodes: usize) -> Self {
        Self(std::num::NonZeroU32::new(nodes as u32).expect("at least one node"))
    }

    #[inline]
    fn locate(&self, key: Key) -> usize {
        // The digits that differ, in the middle of a key.
        let bytes = key.last_chunk().copied().unwrap_or_default();
        let digits = key.first_chunk::<15>().and_then(|start| start.last_chunk());
        let number = u64::from_le_bytes(digits.copied().unwrap_or(bytes));
        let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bucket = match WHICH {
            JUMP => jump(number, self.0),
            JUMPBACK => jumpback(number, self.0),
            _ => jumpch::hash(number, self.0.get()),
        };
        bucket as usize
    }
}

/// Keys of a block.
const BLOCK: usize = 32;
