//! What is compared in which case, with how many nodes.

use std::cell::Cell;

use super::own::{
    Blocks, Clockwise, Hash, JUMP, JUMPBACK, JUMPCH, MAGLEV, NaiveMaglev, NaiveRing, NaiveSlots,
    NextRing, OnNumbers, Owners, RENDEZVOUS, RING, SLOTS, WEIGHTED,
};
use super::rivals::{
    AnchorHash, ConHash, ConsistentHashRing, Grows, HashRing, HashRings, HashRingsJump,
    HashRingsMaglev, HashRingsRendezvous, HashRingsWeighted, HrwHash, JumpCh, JumpHash, Maglev,
    PingoraKetama, RendezvousHash, RendezvousHashWeighted, Rival,
};
use crate::keys::Keys;
use crate::rounds::{Clock, Phase, Work};

/// A candidate in a case.
pub(super) struct Entry {
    pub(super) case: &'static str,
    pub(super) candidate: &'static str,
    /// With how many nodes it takes part; others cost too much time or memory.
    pub(super) most_nodes: usize,
    pub(super) kind: Kind,
}

/// What is timed.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A chunk of keys: the look-ups to time, and to count over the first so many keys.
    LookUp {
        work: fn(&Course, usize) -> Work<'static>,
        once: fn(Keys, usize, usize) -> usize,
    },
    /// A build, and the same for who counts its memory.
    Build {
        work: fn(usize) -> Work<'static>,
        once: fn(usize) -> Box<dyn std::any::Any>,
    },
    Change(fn(usize) -> Work<'static>),
}

/// How look-ups go through the keys.
pub(super) struct Course {
    pub(super) keys: Keys,
    /// Where a candidate begins, so that no two read the same keys one after the other.
    pub(super) start: Cell<usize>,
    /// Chunks of other keys that come before each timed one.
    pub(super) warm_chunks: usize,
}

const NODES: [usize; 4] = [5, 100, 1000, 10_000];

impl Entry {
    pub(super) fn nodes(&self) -> impl Iterator<Item = usize> {
        NODES.into_iter().filter(|&nodes| nodes <= self.most_nodes)
    }
}

const fn look_up<R: Rival + 'static>(
    case: &'static str,
    candidate: &'static str,
    most_nodes: usize,
) -> Entry {
    Entry {
        case,
        candidate,
        most_nodes,
        kind: Kind::LookUp {
            work: look_ups::<R>,
            once: |keys, nodes, count| R::build(nodes).locate_all(keys.range(0..count)),
        },
    }
}

const fn build<R: Rival + 'static>(
    case: &'static str,
    candidate: &'static str,
    most_nodes: usize,
) -> Entry {
    Entry {
        case,
        candidate,
        most_nodes,
        kind: Kind::Build {
            work: builds::<R>,
            once: |nodes| Box::new(R::build(nodes)),
        },
    }
}

const fn change(
    case: &'static str,
    candidate: &'static str,
    most_nodes: usize,
    work: fn(usize) -> Work<'static>,
) -> Entry {
    Entry {
        case,
        candidate,
        most_nodes,
        kind: Kind::Change(work),
    }
}

/// Every candidate of every case.
pub(super) const ENTRIES: &[Entry] = &[
    look_up::<Hash>("ring/lookup", "hash", ALL),
    look_up::<Clockwise<RING>>("ring/lookup", "clockwise", ALL),
    look_up::<NaiveRing>("ring/lookup", "naive", ALL),
    look_up::<PingoraKetama>("ring/lookup", "pingora-ketama", ALL),
    look_up::<HashRing>("ring/lookup", "hashring", ALL),
    // Building it is quadratic.
    look_up::<ConsistentHashRing>("ring/lookup", "consistent_hash_ring", 100),
    look_up::<HashRings>("ring/lookup", "hash-rings", ALL),
    look_up::<ConHash>("ring/lookup", "conhash", ALL),
    look_up::<Hash>("jump/lookup", "hash", ALL),
    look_up::<Clockwise<JUMP>>("jump/lookup", "clockwise-jump", ALL),
    look_up::<Clockwise<JUMPBACK>>("jump/lookup", "clockwise-jumpback", ALL),
    look_up::<JumpHash>("jump/lookup", "jumphash", ALL),
    look_up::<JumpCh>("jump/lookup", "jumpch", ALL),
    look_up::<HashRingsJump>("jump/lookup", "hash-rings", ALL),
    look_up::<AnchorHash>("jump/lookup", "anchorhash", ALL),
    look_up::<OnNumbers<JUMP>>("jump/lookup-u64", "clockwise-jump", ALL),
    look_up::<OnNumbers<JUMPBACK>>("jump/lookup-u64", "clockwise-jumpback", ALL),
    look_up::<OnNumbers<JUMPCH>>("jump/lookup-u64", "jumpch", ALL),
    look_up::<Hash>("rendezvous-weighted/lookup", "hash", ALL),
    look_up::<Clockwise<WEIGHTED>>("rendezvous-weighted/lookup", "clockwise", ALL),
    look_up::<HashRingsWeighted>("rendezvous-weighted/lookup", "hash-rings", ALL),
    look_up::<HrwHash<false>>("rendezvous-weighted/lookup", "hrw-hash", ALL),
    look_up::<RendezvousHashWeighted>("rendezvous-weighted/lookup", "rendezvous_hash", ALL),
    look_up::<Hash>("slots/lookup", "hash", ALL),
    look_up::<Clockwise<SLOTS>>("slots/lookup", "clockwise", ALL),
    look_up::<NaiveSlots>("slots/lookup", "naive", ALL),
    look_up::<Hash>("ring/batch", "hash", ALL),
    look_up::<Owners>("ring/batch", "clockwise", ALL),
    look_up::<Blocks>("ring/batch", "clockwise-blocks", ALL),
    look_up::<Hash>("maglev/lookup", "hash", ALL),
    look_up::<Clockwise<MAGLEV>>("maglev/lookup", "clockwise", ALL),
    look_up::<NaiveMaglev>("maglev/lookup", "naive", ALL),
    // It stores nodes x entries.
    look_up::<Maglev>("maglev/lookup", "maglev", 100),
    look_up::<HashRingsMaglev>("maglev/lookup", "hash-rings", 100),
    look_up::<Hash>("rendezvous/lookup", "hash", ALL),
    look_up::<Clockwise<RENDEZVOUS>>("rendezvous/lookup", "clockwise", ALL),
    look_up::<HashRingsRendezvous>("rendezvous/lookup", "hash-rings", ALL),
    look_up::<HrwHash<true>>("rendezvous/lookup", "hrw-hash", ALL),
    look_up::<RendezvousHash>("rendezvous/lookup", "rendezvous_hash", ALL),
    build::<Clockwise<RING>>("ring/build", "clockwise", ALL),
    build::<NaiveRing>("ring/build", "naive", 1000),
    build::<PingoraKetama>("ring/build", "pingora-ketama", ALL),
    build::<HashRing>("ring/build", "hashring", 1000),
    build::<ConsistentHashRing>("ring/build", "consistent_hash_ring", 100),
    build::<HashRings>("ring/build", "hash-rings", 1000),
    build::<ConHash>("ring/build", "conhash", 1000),
    build::<Clockwise<SLOTS>>("slots/build", "clockwise", 1000),
    build::<Clockwise<MAGLEV>>("maglev/build", "clockwise", 1000),
    build::<Maglev>("maglev/build", "maglev", 100),
    build::<HashRingsMaglev>("maglev/build", "hash-rings", 100),
    change("ring/add-node", "clockwise", ALL, adds::<NextRing>),
    change("ring/add-node", "hashring", 1000, adds::<HashRing>),
    change(
        "ring/add-node",
        "consistent_hash_ring",
        100,
        adds::<ConsistentHashRing>,
    ),
    change("ring/add-node", "hash-rings", 1000, adds::<HashRings>),
    change("ring/add-node", "conhash", 1000, adds::<ConHash>),
    // It has no other way than to build the next ring.
    change("ring/add-node", "pingora-ketama", 1000, |nodes| {
        builds::<PingoraKetama>(nodes + 1)
    }),
    change("ring/remove-node", "clockwise", ALL, removes::<NextRing>),
    change("ring/remove-node", "hashring", 1000, removes::<HashRing>),
    change(
        "ring/remove-node",
        "consistent_hash_ring",
        100,
        removes::<ConsistentHashRing>,
    ),
    change("ring/remove-node", "hash-rings", 1000, removes::<HashRings>),
    change("ring/remove-node", "conhash", 1000, removes::<ConHash>),
    change(
        "ring/remove-node",
        "pingora-ketama",
        1000,
        builds::<PingoraKetama>,
    ),
];

const ALL: usize = usize::MAX;

/// Look-ups in chunks of about 1.5 ms.
fn look_ups<R: Rival + 'static>(course: &Course, nodes: usize) -> Work<'static> {
    let (keys, warm_chunks) = (course.keys, course.warm_chunks);
    let rival = R::build(nodes);
    let walk = move |start: usize, count: usize| {
        std::hint::black_box(rival.locate_all(keys.range(start..start + count)));
    };
    // A timed chunk and two before it are different keys.
    let most = keys.len() / 3;
    let mut chunk = 1;
    loop {
        let start = Clock::Core.now();
        walk(0, chunk);
        let nanos = (Clock::Core.now().saturating_sub(start).as_nanos() as u64).max(1);
        if nanos > CHUNK_NANOS / 4 || chunk == most {
            chunk = (chunk as u64 * CHUNK_NANOS / nanos).clamp(1, most as u64) as usize;
            break;
        }
        chunk = (chunk * 2).min(most);
    }
    let mut place = course.start.get() % keys.len();
    let mut next = move || {
        if place + chunk > keys.len() {
            place = 0;
        }
        walk(place, chunk);
        place += chunk;
    };
    Work {
        clock: Clock::Core,
        units: chunk as u64,
        run: Box::new(move |phase| {
            match phase {
                Phase::Before => (0..warm_chunks).for_each(|_| next()),
                Phase::Timed => next(),
            }
            Ok(())
        }),
    }
}

/// Whole builds. What was built goes before the next one, untimed.
fn builds<R: Rival + 'static>(nodes: usize) -> Work<'static> {
    let mut built = None;
    once_each(move |phase| {
        match phase {
            Phase::Before => drop(built.take()),
            Phase::Timed => built = Some(R::build(nodes)),
        }
        std::hint::black_box(&built);
    })
}

/// One more node, which is taken away again before the next time.
fn adds<R: Grows + 'static>(nodes: usize) -> Work<'static> {
    let mut rival = R::build(nodes);
    rival.add();
    once_each(move |phase| match phase {
        Phase::Before => rival.remove(),
        Phase::Timed => rival.add(),
    })
}

/// One node less, which is given back before the next time.
fn removes<R: Grows + 'static>(nodes: usize) -> Work<'static> {
    let mut rival = R::build(nodes);
    once_each(move |phase| match phase {
        Phase::Before => rival.add(),
        Phase::Timed => rival.remove(),
    })
}

fn once_each(mut each: impl FnMut(Phase) + 'static) -> Work<'static> {
    Work {
        clock: Clock::Core,
        units: 1,
        run: Box::new(move |phase| {
            each(phase);
            Ok(())
        }),
    }
}

/// Long enough for a clock, short enough for a round of all.
const CHUNK_NANOS: u64 = 1_500_000;
