//! One candidate with all its placements, and what counting keys over them adds up to.
//!
//! Where one owner holds for a whole range or slot, keys are counted by it once for all changes; elsewhere each key is
//! looked up for the changes at hand, and a sample of keys for the many others. Cost: one search a key, or four look-ups.

use clockwise::{Algorithm, HashedKey, Placement, Scheme, Token};

use super::candidate::Candidate;
use super::placed::{Cells, Numbers, Placed, Reason, as_operated};
use super::trials::Trials;

/// The owner of a part of the keys, who is next, and how many keys it is.
pub(super) type Heir = (u32, u32, f64);

/// A candidate that takes part.
#[derive(Debug)]
pub(super) struct Entrant {
    pub(super) candidate: Candidate,
    /// The placement of today, or why there is none.
    pub(super) before: Result<Placed, Reason>,
    /// The placement after each of the trials' changes.
    pub(super) after: Vec<Result<Placed, Reason>>,
    /// Why the scheme would rather not make the change, along the trials.
    pub(super) against: Vec<Option<Reason>>,
    /// Gives keys their tokens; `None` where it could not be built.
    pub(super) hasher: Option<Box<Placement>>,
    count: Count,
}

#[derive(Debug)]
enum Count {
    /// Not built, so not counted.
    Nothing,
    /// Keys by cell. Empty where the cells' sizes are taken instead.
    Cells {
        cells: Cells,
        keys: Vec<u64>,
        by_space: bool,
    },
    /// Keys by node.
    Keys(ByKey),
    /// Only the sample.
    Sample,
}

#[derive(Debug)]
struct ByKey {
    before: Vec<u64>,
    /// The trials that every key goes through.
    trials: Vec<usize>,
    after: Vec<Vec<u64>>,
    moved: Vec<u64>,
}

/// What moves at a change, in keys or in parts of the space.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moves {
    pub(super) all: f64,
    pub(super) moved: f64,
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
}

impl Moves {
    fn new(nodes: usize) -> Self {
        Self {
            all: 0.0,
            moved: 0.0,
            before: vec![0.0; nodes + 1],
            after: vec![0.0; nodes + 1],
        }
    }

    #[inline]
    fn add(&mut self, old: u32, new: u32, amount: f64) {
        self.all += amount;
        self.before[old as usize] += amount;
        self.after[new as usize] += amount;
        if old != new {
            self.moved += amount;
        }
    }

    /// The share that moves, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        part(self.moved, self.all)
    }

    /// The share that moves beyond what takes every node from what it held to what it holds.
    pub(super) fn extra_share(&self) -> f64 {
        let lost = self
            .before
            .iter()
            .zip(&self.after)
            .map(|(before, after)| (before - after).max(0.0));
        let extra = part(self.moved - lost.sum::<f64>(), self.all);
        // Below this it is rounding: sums of shares are exact to about 10^-12.
        if extra < 1e-9 { 0.0 } else { extra }
    }
}

/// On what the figures of an entrant rest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ground {
    Space,
    AllKeys,
    Sample,
}

impl Entrant {
    /// Builds all placements of a candidate. By space, where `by_space` and the scheme has ranges or slots.
    pub(super) fn new(
        candidate: Candidate,
        trials: &Trials,
        numbers: &Numbers,
        by_space: bool,
        stopped: impl Fn() -> bool,
    ) -> Self {
        let stop = || "stopped before it was built".to_owned();
        let before = if stopped() {
            Err(stop())
        } else {
            Placed::new(&candidate, &trials.today, None, numbers)
        };
        let (mut after, mut against) = (Vec::new(), Vec::new());
        for list in &trials.lists {
            let (list, reason) = as_operated(&candidate, &trials.today, list);
            against.push(reason);
            after.push(match &before {
                _ if stopped() => Err(stop()),
                Ok(before) => Placed::new(&candidate, &list, Some(before), numbers),
                Err(reason) => Err(reason.clone()),
            });
        }
        let hasher = hasher(&candidate, &before, trials);
        let mut entrant = Self {
            candidate,
            before,
            after,
            against,
            hasher,
            count: Count::Nothing,
        };
        entrant.count = entrant.way_to_count(trials, numbers.len(), by_space);
        entrant
    }

    fn way_to_count(&self, trials: &Trials, nodes: usize, by_space: bool) -> Count {
        let Ok(before) = &self.before else {
            return Count::Nothing;
        };
        let all: Vec<&Placed> = std::iter::once(before)
            .chain(self.after.iter().flatten())
            .collect();
        if let Some(cells) = Cells::of(&all) {
            let keys = if by_space {
                Vec::new()
            } else {
                vec![0; cells.count()]
            };
            return Count::Cells {
                cells,
                keys,
                by_space,
            };
        }
        if races(self.candidate.scheme()) && nodes > MOST_RACED_NODES {
            return Count::Sample;
        }
        let mut counted = vec![trials.own, trials.add];
        counted.extend(trials.remove_last);
        counted.sort_unstable();
        counted.dedup();
        counted.retain(|&trial| self.after[trial].is_ok());
        Count::Keys(ByKey {
            before: vec![0; nodes + 1],
            after: vec![vec![0; nodes + 1]; counted.len()],
            moved: vec![0; counted.len()],
            trials: counted,
        })
    }

    /// Counts keys.
    pub(super) fn count(&mut self, hashed: &[HashedKey<'_>]) {
        match &mut self.count {
            Count::Cells {
                cells,
                keys,
                by_space: false,
            } => {
                for key in hashed {
                    keys[cells.of_token(key.token())] += 1;
                }
            }
            Count::Keys(by_key) => {
                let Ok(before) = &self.before else {
                    return;
                };
                let owners: Vec<u32> = hashed.iter().map(|key| before.owner(key)).collect();
                owners
                    .iter()
                    .for_each(|&old| by_key.before[old as usize] += 1);
                for (place, &trial) in by_key.trials.iter().enumerate() {
                    let Ok(placed) = &self.after[trial] else {
                        continue;
                    };
                    let (after, mut moved) = (&mut by_key.after[place], 0);
                    for (key, &old) in hashed.iter().zip(&owners) {
                        let new = placed.owner(key);
                        after[new as usize] += 1;
                        moved += u64::from(old != new);
                    }
                    by_key.moved[place] += moved;
                }
            }
            Count::Cells { .. } | Count::Nothing | Count::Sample => {}
        }
    }

    /// On what the figures of the change at hand rest.
    pub(super) fn ground(&self) -> Ground {
        match &self.count {
            Count::Cells { by_space: true, .. } => Ground::Space,
            Count::Cells { .. } | Count::Keys(_) => Ground::AllKeys,
            Count::Nothing | Count::Sample => Ground::Sample,
        }
    }

    /// The cells with keys in them and how many, or all cells with their part of the space.
    fn cells(&self) -> Option<Vec<(Token, f64)>> {
        let Count::Cells {
            cells,
            keys,
            by_space,
        } = &self.count
        else {
            return None;
        };
        let amounts: Vec<f64> = if *by_space {
            cells.sizes(self.candidate.scheme().token_bits())
        } else {
            keys.iter().map(|&keys| keys as f64).collect()
        };
        let filled = amounts
            .into_iter()
            .enumerate()
            .filter(|(_, amount)| *amount > 0.0);
        Some(
            filled
                .map(|(cell, amount)| (cells.token(cell), amount))
                .collect(),
        )
    }

    /// What moves at each trial, and whether it was counted on the sample only; `None` where it cannot be told.
    pub(super) fn moves(
        &self,
        nodes: usize,
        sample: &Sample,
        stopped: impl Fn() -> bool,
    ) -> Vec<Option<(Moves, bool)>> {
        let Ok(before) = &self.before else {
            return vec![None; self.after.len()];
        };
        let (parts, on_sample) = match self.cells() {
            Some(cells) => (cells, false),
            None => self.thinned(sample, nodes),
        };
        let keys = || {
            parts
                .iter()
                .map(|&(token, amount)| (HashedKey::of_token(token), amount))
        };
        let owners: Vec<u32> = keys().map(|(key, _)| before.owner(&key)).collect();
        let trial = |(trial, after): (usize, &Result<Placed, Reason>)| {
            let after = after.as_ref().ok()?;
            if let Some(moves) = self.counted(trial, nodes) {
                return Some((moves, false));
            }
            let by_token = !needs_bytes(self.candidate.scheme());
            if stopped() || !by_token {
                return None;
            }
            let mut moves = Moves::new(nodes);
            for ((key, amount), &old) in keys().zip(&owners) {
                moves.add(old, after.owner(&key), amount);
            }
            Some((moves, on_sample))
        };
        self.after.iter().enumerate().map(trial).collect()
    }

    /// Keys of each node and whoever takes them if it fails, after the change `trial`; whether on the sample only.
    pub(super) fn heirs(
        &self,
        trial: usize,
        nodes: usize,
        sample: &Sample,
    ) -> Option<(Vec<Heir>, bool)> {
        let after = self.after[trial].as_ref().ok()?;
        let settled = matches!(&self.count, Count::Cells { cells, .. } if cells.settle_next());
        let (parts, on_sample) = match self.cells().filter(|_| settled) {
            Some(cells) => (cells, false),
            None if needs_bytes(self.candidate.scheme()) => return None,
            None => self.thinned(sample, nodes),
        };
        let heirs = parts.into_iter().map(|(token, amount)| {
            let (owner, next) = after.owner_and_next(&HashedKey::of_token(token));
            (owner, next, amount)
        });
        Some((heirs.collect(), on_sample))
    }

    /// Ranges with one old and one new owner that the change `trial` moves, where owners are settled by ranges.
    pub(super) fn moved_ranges(&self, trial: usize) -> u64 {
        let (Count::Cells { cells, .. }, Ok(before), Ok(after)) =
            (&self.count, &self.before, &self.after[trial])
        else {
            return 0;
        };
        let mut last = None;
        let mut ranges = 0;
        for cell in 0..cells.count() {
            let key = HashedKey::of_token(cells.token(cell));
            let owners = (before.owner(&key), after.owner(&key));
            ranges += u64::from(owners.0 != owners.1 && last != Some(owners));
            last = Some(owners);
        }
        ranges
    }

    fn counted(&self, trial: usize, nodes: usize) -> Option<Moves> {
        let Count::Keys(by_key) = &self.count else {
            return None;
        };
        let place = by_key.trials.iter().position(|&counted| counted == trial)?;
        let floats = |counts: &[u64]| counts.iter().map(|&keys| keys as f64).collect::<Vec<f64>>();
        debug_assert_eq!(by_key.before.len(), nodes + 1);
        let before = floats(&by_key.before);
        Some(Moves {
            all: before.iter().sum(),
            moved: by_key.moved[place] as f64,
            after: floats(&by_key.after[place]),
            before,
        })
    }

    /// The sample, or as much of it as a race over so many nodes is worth; whether that is less than all keys.
    fn thinned(&self, sample: &Sample, nodes: usize) -> (Vec<(Token, f64)>, bool) {
        let tokens = sample.tokens();
        let work = tokens.len() as u64 * nodes as u64 * (self.after.len() as u64 + 1);
        let step = if races(self.candidate.scheme()) {
            work.div_ceil(MOST_RACES).max(1)
        } else {
            1
        };
        let step = usize::try_from(step)
            .unwrap_or(usize::MAX)
            .min((tokens.len() / LEAST_KEYS).max(1));
        let parts = tokens
            .iter()
            .step_by(step)
            .map(|&token| (token, 1.0))
            .collect();
        (parts, step > 1 || !sample.is_whole())
    }
}

/// Every n-th key's token, n growing with the number of keys.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    tokens: Vec<Token>,
    stride: u64,
    seen: u64,
}

impl Sample {
    pub(super) fn new() -> Self {
        Self {
            tokens: Vec::new(),
            stride: 1,
            seen: 0,
        }
    }

    pub(super) fn add(&mut self, token: Token) {
        if self.seen.is_multiple_of(self.stride) {
            if self.tokens.len() == MOST_SAMPLED {
                let mut place = 0;
                self.tokens.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                self.stride *= 2;
            }
            // The key at hand may fall out of the wider stride.
            if self.seen.is_multiple_of(self.stride) {
                self.tokens.push(token);
            }
        }
        self.seen += 1;
    }

    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Whether all keys are in it.
    pub(super) fn is_whole(&self) -> bool {
        self.stride == 1
    }
}

/// A placement of the scheme, which is asked for tokens and not for owners.
fn hasher(
    candidate: &Candidate,
    before: &Result<Placed, Reason>,
    trials: &Trials,
) -> Option<Box<Placement>> {
    let before = before.as_ref().ok()?;
    match before.placement() {
        Some(placement) => Some(Box::new(placement.clone())),
        None => {
            let placement = Placement::build(candidate.scheme(), &trials.today).ok()?;
            placement
                .with_key_rule(candidate.key_rule())
                .ok()
                .map(Box::new)
        }
    }
}

/// Whether each look-up asks every node.
fn races(scheme: &Scheme) -> bool {
    scheme.algorithm() == Algorithm::Rendezvous
}

/// Whether owners depend on more of a key than its token.
pub(super) fn needs_bytes(scheme: &Scheme) -> bool {
    scheme.name() == "articles/000-rendezvous"
}

fn part(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Up to here every key is raced between all nodes: a few tenths of a microsecond.
const MOST_RACED_NODES: usize = 64;
/// Scores that the sample may cost: about a second.
const MOST_RACES: u64 = 500_000_000;
/// Fewer keys say little about a thousand nodes.
const LEAST_KEYS: usize = 8192;
/// Tokens kept, half of them or more once there are so many: a share of them is within 0.2 % (one standard deviation).
const MOST_SAMPLED: usize = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_every_nth_key() {
        let mut sample = Sample::new();
        for key in 0..5 * MOST_SAMPLED as u64 {
            sample.add(Token(key));
        }
        assert_eq!(sample.stride, 8);
        assert!(
            sample
                .tokens
                .iter()
                .enumerate()
                .all(|(place, token)| token.0 == 8 * place as u64)
        );
        assert_eq!(sample.tokens.len(), 5 * MOST_SAMPLED / 8);
        assert!(!sample.is_whole());
    }

    #[test]
    fn extra_movement_is_what_changes_no_nodes_total() {
        let mut moves = Moves::new(3);
        // A swap of one key each between two nodes, and one that the third node lacks.
        for (old, new) in [(0, 1), (1, 0), (0, 2), (0, 0), (1, 1)] {
            moves.add(old, new, 1.0);
        }
        assert_eq!(moves.share(), 0.6);
        assert!((moves.extra_share() - 0.4).abs() < 1e-12);
    }
}
