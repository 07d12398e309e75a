//! The row of one candidate, worked out from what was counted.

use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::{Diff, Moves as Moved};

use super::entrant::{Entrant, Ground, Moves, Sample};
use super::form::{FailureSpread, Row};
use super::placed::{Numbers, as_operated};
use super::trials::Trials;
use crate::{Balance, Basis};

/// What all rows have in common.
pub(super) struct About<'c> {
    pub(super) trials: &'c Trials,
    pub(super) numbers: &'c Numbers,
    /// Keys counted.
    pub(super) keys: u64,
    pub(super) basis: Basis,
    pub(super) by_space: bool,
    pub(super) stop: &'c AtomicBool,
}

impl About<'_> {
    pub(super) fn row(&self, entrant: &Entrant, sample: &Sample) -> Row {
        let trials = self.trials;
        let (candidate, own) = (&entrant.candidate, trials.own);
        let moves = entrant.moves(self.numbers.len(), sample, || {
            self.stop.load(Ordering::Relaxed)
        });
        let of = |trial: usize| moves[trial].as_ref().map(|(moves, _)| moves);
        let basis = |on_sample: bool| match (self.basis, on_sample) {
            (Basis::Exact, true) => Basis::Sampled,
            (basis, _) => basis,
        };
        let (own_moves, own_sampled) = (
            of(own),
            moves[own].as_ref().is_some_and(|(_, sampled)| *sampled),
        );
        let counted_on = match (entrant.ground(), self.by_space) {
            (Ground::Space, _) => "space",
            (_, true) => "pseudo-random keys",
            _ => "keys",
        };
        let by_space = entrant.ground() == Ground::Space;
        let after = own_moves.map(|moves| self.balance(&moves.after, &trials.lists[own], by_space));
        let before = own_moves.map(|moves| self.balance(&moves.before, &trials.today, by_space));
        let placed = entrant.after[own].as_ref();
        let (ranges, ranges_moved) = ranges(entrant, own);
        let any = self.any(&moves);
        let last = trials.remove_last.and_then(of);
        Row {
            scheme: candidate.to_string(),
            label: candidate.label().to_owned(),
            today: candidate.is_todays(),
            rests_on: candidate.rests_on(),
            basis: basis(own_sampled),
            counted_on,
            keys: own_moves
                .filter(|_| !by_space)
                .map(|moves| moves.all as u64),
            reason: placed
                .err()
                .cloned()
                .or_else(|| entrant.against[own].clone()),
            notes: self.notes(entrant),
            moved_share: own_moves.map(Moves::share),
            moved_keys: own_moves
                .filter(|_| !self.by_space && !own_sampled)
                .map(|moves| moves.moved as u64),
            extra_moved_share: own_moves.map(Moves::extra_share),
            max_over_mean: after.map(|balance| balance.max_over_mean),
            sd_over_mean: after.map(|balance| balance.sd_over_mean),
            max_over_mean_before: before.map(|balance| balance.max_over_mean),
            add_moved_share: of(trials.add).map(Moves::share),
            add_extra_moved_share: of(trials.add).map(Moves::extra_share),
            remove_last_moved_share: last.map(Moves::share),
            remove_last_extra_moved_share: last.map(Moves::extra_share),
            remove_any_moved_share: any.as_ref().map(|any| any.mean),
            remove_any_extra_moved_share: any.as_ref().map(|any| any.extra),
            remove_any_worst_moved_share: any.as_ref().map(|any| any.worst),
            remove_any_worst_node: any.as_ref().map(|any| any.node.clone()),
            remove_any_basis: basis(any.is_some_and(|any| any.sampled)),
            failure: self.failure(entrant, sample, basis),
            bytes: placed.ok().map(|placed| placed.memory_bytes()),
            ranges,
            ranges_moved,
            build_us: None,
            build_us_range: None,
            lookup_ns: None,
            lookup_ns_range: None,
        }
    }

    fn balance(&self, amounts: &[f64], list: &clockwise::Membership, by_space: bool) -> Balance {
        let scale = if by_space { SPACE_SCALE } else { 1.0 };
        let load = |member: &clockwise::Member| {
            let amount = self
                .numbers
                .get(member.id())
                .map_or(0.0, |&node| amounts[node as usize]);
            ((amount * scale).round() as u64, member.weight().milli())
        };
        let loads: Vec<(u64, u32)> = list.members().iter().map(load).collect();
        Balance::new(&loads, 0.0, if by_space { 0 } else { self.keys })
    }

    fn any(&self, moves: &[Option<(Moves, bool)>]) -> Option<Any> {
        let all: Option<Vec<&(Moves, bool)>> = self
            .trials
            .remove_any
            .iter()
            .map(|&trial| moves[trial].as_ref())
            .collect();
        let all = all.filter(|all| !all.is_empty())?;
        let mean = |of: fn(&Moves) -> f64| {
            all.iter().map(|(moves, _)| of(moves)).sum::<f64>() / all.len() as f64
        };
        // The first of equals.
        let worst = (0..all.len())
            .rev()
            .max_by(|&a, &b| all[a].0.share().total_cmp(&all[b].0.share()))?;
        Some(Any {
            mean: mean(Moves::share),
            extra: mean(Moves::extra_share),
            worst: all[worst].0.share(),
            node: self.trials.removed_any[worst].to_string(),
            sampled: all.iter().any(|(_, sampled)| *sampled),
        })
    }

    /// What the figures hide.
    fn notes(&self, entrant: &Entrant) -> Vec<String> {
        let trials = self.trials;
        let mut notes = Vec::new();
        if entrant.before.is_err() {
            return notes;
        }
        let mut add = |change: &str, trial: usize| {
            let reason = entrant.after[trial]
                .as_ref()
                .err()
                .or(entrant.against[trial].as_ref());
            if let Some(reason) = reason.filter(|_| trial != trials.own) {
                notes.push(format!("{change}: {reason}"));
            }
        };
        add("one node more", trials.add);
        if let Some(last) = trials.remove_last {
            add("the last node less", last);
        }
        let against =
            |&&trial: &&usize| entrant.against[trial].is_some() || entrant.after[trial].is_err();
        if let Some(&trial) = trials.remove_any.iter().find(against) {
            add("any node less", trial);
        }
        let closes = |&trial: &usize| {
            let list = as_operated(&entrant.candidate, &trials.today, &trials.lists[trial]).0;
            list.members().len() > trials.lists[trial].members().len()
        };
        let removals = trials.remove_any.iter().copied().chain([trials.own]);
        if removals.into_iter().any(|trial| closes(&trial)) {
            notes.push("a node that leaves from the middle stays listed with weight 0, so that no other is renumbered".to_owned());
        }
        notes
    }

    fn failure(
        &self,
        entrant: &Entrant,
        sample: &Sample,
        basis: impl Fn(bool) -> Basis,
    ) -> Option<FailureSpread> {
        let (mut heirs, sampled) = entrant.heirs(self.trials.own, self.numbers.len(), sample)?;
        let nobody = self.numbers.len() as u32;
        heirs.retain(|&(owner, _, _)| owner != nobody);
        heirs.sort_unstable_by_key(|&(owner, next, _)| (owner, next));
        let list = &self.trials.lists[self.trials.own];
        let mut weights = vec![0.0; self.numbers.len()];
        let mut ids = vec![""; self.numbers.len()];
        for member in list.members() {
            if let Some(&node) = self.numbers.get(member.id()) {
                weights[node as usize] = f64::from(member.weight().milli());
                ids[node as usize] = member.id().as_str();
            }
        }
        let mut loads = vec![0.0; self.numbers.len()];
        heirs
            .iter()
            .for_each(|&(owner, _, amount)| loads[owner as usize] += amount);
        let (all, weight): (f64, f64) = (loads.iter().sum(), weights.iter().sum());
        let ratio = |node: usize| {
            if weights[node] > 0.0 {
                loads[node] / weights[node]
            } else {
                0.0
            }
        };
        let mut heaviest: Vec<usize> = (0..loads.len()).collect();
        heaviest.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
        let (mut nodes, mut receivers, mut fewest, mut largest) =
            (0_usize, 0_usize, usize::MAX, 0.0);
        let (mut worst_part, mut worst, mut at_least) = (0.0_f64, (0.0, ""), false);
        for keys in heirs.chunk_by(|a, b| a.0 == b.0) {
            let owner = keys[0].0 as usize;
            let taken: Vec<(usize, f64)> = keys
                .chunk_by(|a, b| a.1 == b.1)
                .filter(|keys| keys[0].1 != nobody)
                .map(|keys| (keys[0].1 as usize, keys.iter().map(|key| key.2).sum()))
                .collect();
            let Some(most) = taken.iter().map(|taken| taken.1).reduce(f64::max) else {
                continue;
            };
            nodes += 1;
            receivers += taken.len();
            fewest = fewest.min(taken.len());
            largest += most / loads[owner];
            worst_part = worst_part.max(most / loads[owner]);
            // With five keys a receiver one in 150 is missed.
            at_least |= sampled && keys.len() < 5 * taken.len();
            let unaffected = heaviest
                .iter()
                .find(|&&node| node != owner)
                .map_or(0.0, |&node| ratio(node));
            let heir = |&(node, amount): &(usize, f64)| (loads[node] + amount) / weights[node];
            let top =
                taken.iter().map(heir).fold(unaffected, f64::max) * (weight - weights[owner]) / all;
            if top > worst.0 {
                worst = (top, ids[owner]);
            }
        }
        (nodes > 0).then(|| FailureSpread {
            basis: basis(sampled),
            receivers_mean: receivers as f64 / nodes as f64,
            receivers_fewest: fewest,
            receivers_at_least: at_least,
            largest_receiver_share_mean: largest / nodes as f64,
            largest_receiver_share_worst: worst_part,
            max_over_mean_worst: worst.0,
            worst_node: worst.1.to_owned(),
        })
    }
}

struct Any {
    mean: f64,
    extra: f64,
    worst: f64,
    node: String,
    sampled: bool,
}

/// Ranges or slots, and how many of them the change moves.
fn ranges(entrant: &Entrant, own: usize) -> (Option<u64>, Option<u64>) {
    let (Ok(before), Ok(after)) = (&entrant.before, &entrant.after[own]) else {
        return (None, None);
    };
    let moved = match (before.placement(), after.placement()) {
        (Some(before), Some(after)) => {
            Diff::new(before, after)
                .ok()
                .map(|diff| match diff.moves() {
                    Moved::Tokens(ranges) => ranges.len() as u64,
                    Moved::Slots(slots) => slots.len() as u64,
                })
        }
        _ => Some(entrant.moved_ranges(own)),
    };
    (after.range_count(), moved)
}

/// Shares of the space as whole numbers, as exact as a float holds them.
const SPACE_SCALE: f64 = (1_u64 << 53) as f64;
