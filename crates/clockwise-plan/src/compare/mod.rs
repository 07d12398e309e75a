//! One change under every scheme, side by side: what moves, what is even, what a failure does, what it costs.
//!
//! What it is: each candidate's placements before and after the same changes, and keys counted over all of them at once.
//! What it promises: the same keys for every candidate; the figures of one candidate are those of its plan; equal input
//! gives equal figures, whatever the number of threads. What it does not: measure time, which takes a clock: it hands out
//! what is to be timed. Cost: a search or a few look-ups a key and candidate; memory does not grow with the keys. Source:
//! the comparison of the founding articles.

mod allocated;
mod candidate;
mod entrant;
mod form;
mod placed;
mod row;
mod sections;
mod trials;
mod verdict;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use clockwise::{HashedKey, Member, Membership, NodeId, Placement, Token, Weight};

pub use candidate::{Candidate, Manner, MannerError};
use entrant::{Entrant, Sample};
pub use form::{Compared, FailureSpread, Row, Timing};
use placed::{Numbers, Placed};
pub use sections::document;
use trials::Trials;

use crate::theory::weight_shares;
use crate::{Basis, Source, Warning};

/// What is to be compared.
#[derive(Debug)]
pub struct CompareInput {
    /// The schemes.
    pub candidates: Vec<Candidate>,
    /// The membership of today.
    pub today: Membership,
    /// The membership after the change at hand; `None` for one node more.
    pub after: Option<Membership>,
    /// Whether no keys are given: the space is measured where a scheme has ranges or slots.
    pub by_space: bool,
    /// Threads to work with.
    pub threads: usize,
    /// Set it, from any thread, to do without what is not worked out yet.
    pub stop: Arc<AtomicBool>,
}

/// A comparison that counts keys.
#[derive(Debug)]
pub struct Comparison {
    trials: Trials,
    numbers: Numbers,
    groups: Vec<Group>,
    block: Block,
    keys: u64,
    by_space: bool,
    threads: usize,
    stop: Arc<AtomicBool>,
}

/// Candidates that give keys the same tokens.
#[derive(Debug)]
struct Group {
    /// `None` for those that could not be built.
    hasher: Option<Box<Placement>>,
    sample: Sample,
    /// With their places in the order asked for.
    entrants: Vec<(usize, Entrant)>,
}

/// Keys that wait to be counted together: each candidate's tables then stay in the caches.
#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Comparison {
    /// Builds every placement; `progress` hears how many candidates are done.
    #[must_use]
    pub fn new(input: CompareInput, progress: impl Fn(usize) + Sync) -> Self {
        let CompareInput {
            candidates,
            today,
            after,
            by_space,
            threads,
            stop,
        } = input;
        let nodes = today.members().len();
        let most = if nodes <= FEW_NODES {
            FEW_NODES
        } else if nodes <= MANY_NODES {
            TRIED_OF_MANY
        } else {
            TRIED_OF_MORE
        };
        let trials = Trials::new(&today, after.as_ref(), most);
        let numbers: Numbers = trials.ids().into_iter().zip(0..).collect();
        let stopped = || stop.load(Ordering::Relaxed);
        let done = AtomicUsize::new(0);
        let built = in_parallel(candidates, threads, |candidate| {
            let entrant = Entrant::new(candidate, &trials, &numbers, by_space, stopped);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            entrant
        });
        let mut groups: Vec<Group> = Vec::new();
        for (place, mut entrant) in built.into_iter().enumerate() {
            let hasher = entrant.hasher.take();
            let alike = |group: &&mut Group| match (&group.hasher, &hasher) {
                (Some(first), Some(hasher)) => first.hashes_like(hasher),
                (None, None) => true,
                _ => false,
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.entrants.push((place, entrant)),
                None => groups.push(Group {
                    hasher,
                    sample: Sample::new(),
                    entrants: vec![(place, entrant)],
                }),
            }
        }
        Self {
            trials,
            numbers,
            groups,
            block: Block::default(),
            keys: 0,
            by_space,
            threads,
            stop,
        }
    }

    /// Counts one key.
    pub fn add(&mut self, key: &[u8]) {
        self.block.bytes.extend_from_slice(key);
        self.block.ends.push(self.block.bytes.len());
        self.keys += 1;
        if self.block.ends.len() == BLOCK_KEYS || self.block.bytes.len() >= BLOCK_BYTES {
            self.flush();
        }
    }

    /// Keys counted so far.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    fn flush(&mut self) {
        let block = std::mem::take(&mut self.block);
        for group in &mut self.groups {
            let Some(hasher) = &group.hasher else {
                continue;
            };
            let hashed: Vec<HashedKey<'_>> = block.keys().map(|key| hasher.hash(key)).collect();
            hashed.iter().for_each(|key| group.sample.add(key.token()));
            let entrants: Vec<&mut Entrant> = group
                .entrants
                .iter_mut()
                .map(|(_, entrant)| entrant)
                .collect();
            in_parallel(entrants, self.threads, |entrant| entrant.count(&hashed));
        }
        self.block = block.emptied();
    }

    /// The finished comparison, without times; `progress` hears how many candidates are done.
    #[must_use]
    pub fn finish(
        &mut self,
        source: Source,
        warnings: Vec<Warning>,
        progress: impl Fn(usize) + Sync,
    ) -> Compared {
        self.flush();
        let own = &self.trials.lists[self.trials.own];
        let work: Vec<(usize, &Entrant, &Sample)> = self
            .groups
            .iter()
            .flat_map(|group| {
                group
                    .entrants
                    .iter()
                    .map(|(place, entrant)| (*place, entrant, &group.sample))
            })
            .collect();
        let about = row::About {
            trials: &self.trials,
            numbers: &self.numbers,
            keys: self.keys,
            basis: if self.by_space {
                Basis::Predicted
            } else {
                source.basis
            },
            by_space: self.by_space,
            stop: &self.stop,
        };
        let done = AtomicUsize::new(0);
        let mut rows = in_parallel(work, self.threads, |(place, entrant, sample)| {
            let row = about.row(entrant, sample);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            (place, row)
        });
        rows.sort_by_key(|(place, _)| *place);
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        let basis = rows
            .iter()
            .flat_map(|row| [row.basis, row.remove_any_basis])
            .chain([about.basis]);
        let basis = basis
            .max_by_key(|basis| *basis as u8)
            .unwrap_or(about.basis);
        let with_weight = |list: &Membership| {
            list.members()
                .iter()
                .filter(|m| m.weight().milli() > 0)
                .count()
        };
        let mut compared = Compared {
            kind: "clockwise.compare/1",
            basis,
            partial: source.partial || self.stop.load(Ordering::Relaxed),
            source: source.text,
            keys: if self.by_space { 0 } else { self.keys },
            bad_lines: source.bad_lines,
            change: change_words(&self.trials.today, own),
            nodes_before: with_weight(&self.trials.today),
            nodes_after: with_weight(own),
            least_moved_share: least_moved_share(&self.trials.today, own),
            add_node: self.trials.added.to_string(),
            remove_last_node: self.trials.removed_last.as_ref().map(ToString::to_string),
            remove_any_tried: self.trials.removed_any.len(),
            remove_any_of: self.trials.removable,
            rows,
            timing: None,
            warnings,
        };
        verdict::warn(&mut compared);
        compared
    }

    /// What can be timed: every candidate that makes the change at hand, with the place of its row.
    pub fn timed(&self) -> impl Iterator<Item = (usize, Timed<'_>)> {
        let own = self.trials.own;
        let entrants = self.groups.iter().flat_map(|group| &group.entrants);
        entrants.filter_map(move |(place, entrant)| {
            let (before, after) = (
                entrant.before.as_ref().ok()?,
                entrant.after[own].as_ref().ok()?,
            );
            let list = placed::as_operated(
                &entrant.candidate,
                &self.trials.today,
                &self.trials.lists[own],
            )
            .0;
            Some((
                *place,
                Timed {
                    candidate: &entrant.candidate,
                    list,
                    before,
                    after,
                },
            ))
        })
    }
}

/// A candidate whose speed can be measured.
#[derive(Debug)]
pub struct Timed<'c> {
    candidate: &'c Candidate,
    list: Membership,
    before: &'c Placed,
    after: &'c Placed,
}

impl Timed<'_> {
    /// Builds the placement after the change once more; the bytes of its tables.
    #[must_use]
    pub fn build(&self) -> usize {
        Placed::build_again(self.candidate, &self.list, self.before).unwrap_or(0)
    }

    /// Looks all tokens up; a sum that depends on every answer.
    #[must_use]
    pub fn look_up(&self, tokens: &[Token]) -> u64 {
        tokens
            .iter()
            .map(|&token| u64::from(self.after.owner(&HashedKey::of_token(token))))
            .sum()
    }

    /// Width of the scheme's tokens in bits.
    #[must_use]
    pub fn token_bits(&self) -> u32 {
        self.candidate.scheme().token_bits()
    }

    /// Whether tokens are enough to look owners up.
    #[must_use]
    pub fn looks_up_tokens(&self) -> bool {
        !entrant::needs_bytes(self.candidate.scheme())
    }
}

impl Block {
    fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts
            .zip(&self.ends)
            .map(|(&start, &end)| &self.bytes[start..end])
    }

    /// The same memory without keys.
    fn emptied(mut self) -> Self {
        self.bytes.clear();
        self.ends.clear();
        self
    }
}

/// What `work` makes of each item, in their order, by so many threads.
fn in_parallel<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.into_iter().map(work).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let run = || {
        loop {
            // A thread that panics ends the command, so that nobody meets its lock.
            let next = queue.lock().expect("no thread has panicked").next();
            let Some((place, item)) = next else {
                return;
            };
            let result = work(item);
            done.lock()
                .expect("no thread has panicked")
                .push((place, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    // The scope has ended, and with it every thread; it would have passed a panic on.
    let mut done = done.into_inner().expect("no thread has panicked");
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The least share that any placement of these weights could move.
fn least_moved_share(today: &Membership, after: &Membership) -> f64 {
    let share_of = |list: &Membership| -> BTreeMap<NodeId, f64> {
        let ids = list.members().iter().map(|member| member.id().clone());
        ids.zip(weight_shares(list)).collect()
    };
    let (old, new) = (share_of(today), share_of(after));
    let lost =
        |(id, share): (&NodeId, &f64)| (share - new.get(id).copied().unwrap_or(0.0)).max(0.0);
    old.iter().map(lost).sum()
}

/// What changes, as edits.
fn change_words(today: &Membership, after: &Membership) -> String {
    let list = |verb: &str, members: Vec<String>| -> Option<String> {
        let shown = members
            .iter()
            .take(SHOWN_NODES)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        match members.len() {
            0 => None,
            n if n > SHOWN_NODES => Some(format!("{verb} {shown} and {} more", n - SHOWN_NODES)),
            _ => Some(format!("{verb} {shown}")),
        }
    };
    let named = |member: &Member| match member.weight().milli() {
        1000 => member.id().to_string(),
        _ => format!("{}={}", member.id(), member.weight()),
    };
    let by_id = |list: &Membership| -> BTreeMap<NodeId, Weight> {
        let members = list.members().iter();
        members
            .map(|member| (member.id().clone(), member.weight()))
            .collect()
    };
    let (old, new) = (by_id(today), by_id(after));
    let added = after
        .members()
        .iter()
        .filter(|member| !old.contains_key(member.id()));
    let removed = today
        .members()
        .iter()
        .filter(|member| !new.contains_key(member.id()));
    let weighed = after.members().iter().filter(|member| {
        old.get(member.id())
            .is_some_and(|weight| *weight != member.weight())
    });
    let parts = [
        list("add", added.map(named).collect()),
        list(
            "remove",
            removed.map(|member| member.id().to_string()).collect(),
        ),
        list(
            "weight",
            weighed
                .map(|member| format!("{}={}", member.id(), member.weight()))
                .collect(),
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true if today == after => "nothing".to_owned(),
        true => "another order of the same nodes".to_owned(),
        false => parts.join(", "),
    }
}

/// Up to here each node is tried for the removal of any.
const FEW_NODES: usize = 64;
/// Up to here a few are, spread over the list, since each takes a placement of its own.
const MANY_NODES: usize = 2000;
const TRIED_OF_MANY: usize = 8;
/// Of still more nodes the first, the middle and the last.
const TRIED_OF_MORE: usize = 3;
/// Keys counted together: their tokens fit the nearest cache but one.
const BLOCK_KEYS: usize = 1 << 14;
/// Bytes of keys after which a block is counted even if it is short.
const BLOCK_BYTES: usize = 1 << 22;
/// Names in a sentence.
const SHOWN_NODES: usize = 4;
