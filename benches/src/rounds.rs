//! Timing in rounds: each round runs every candidate once.
//!
//! What it promises: a drift of the machine's speed reaches all candidates alike, and a ratio compares runs of the same
//! round. What it does not: remove noise; the spread is part of the result. Cost: the work of the candidates.

use std::time::Duration;

use anyhow::Result;
use rustix::time::{ClockId, clock_gettime};

/// What is timed: a whole run of a candidate.
pub(crate) struct Work<'w> {
    pub(crate) clock: Clock,
    /// How much work a run does.
    pub(crate) units: u64,
    pub(crate) run: Box<dyn FnMut(Phase) -> Result<()> + 'w>,
}

/// What a candidate is asked to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// What has to be done before each run and is not timed.
    Before,
    /// The run.
    Timed,
}

/// How a run is timed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Clock {
    /// By the time that the threads of this process had a core: on one core, what passes if nobody else wants it.
    Core,
    /// By the time that passes.
    Wall,
}

/// The durations of one candidate, round by round, in nanoseconds for each unit of its work.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    by_round: Vec<f64>,
}

/// Times all candidates over `rounds` rounds, after one round that is not timed.
pub(crate) fn interleave(rounds: usize, candidates: &mut [Work<'_>]) -> Result<Vec<Times>> {
    let mut times = vec![
        Times {
            by_round: Vec::new()
        };
        candidates.len()
    ];
    for candidate in &mut *candidates {
        time(candidate)?;
    }
    for _ in 0..rounds {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            let time = time(candidate)?;
            times
                .by_round
                .push(time.as_nanos() as f64 / candidate.units as f64);
        }
    }
    Ok(times)
}

impl Times {
    pub(crate) fn median(&self) -> f64 {
        median(self.by_round.clone())
    }

    pub(crate) fn min(&self) -> f64 {
        self.by_round.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.by_round.iter().copied().fold(0.0, f64::max)
    }

    /// How many times as long as `other` this takes: the median over rounds.
    pub(crate) fn ratio_to(&self, other: &Self) -> f64 {
        let both = self.by_round.iter().zip(&other.by_round);
        median(both.map(|(own, other)| own / other).collect())
    }
}

fn time(work: &mut Work<'_>) -> Result<Duration> {
    (work.run)(Phase::Before)?;
    let start = work.clock.now();
    (work.run)(Phase::Timed)?;
    Ok(work.clock.now().saturating_sub(start))
}

impl Clock {
    /// The time since a moment that stays the same.
    pub(crate) fn now(self) -> Duration {
        let time = clock_gettime(match self {
            Self::Core => ClockId::ProcessCPUTime,
            Self::Wall => ClockId::Monotonic,
        });
        // Neither is negative, and the nanoseconds are fewer than 10^9.
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// The middle value; the mean of the two in the middle of an even number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_compare_runs_of_the_same_round() {
        let times = |by_round: &[f64]| Times {
            by_round: by_round.to_vec(),
        };
        // The machine is half as fast in the last two rounds.
        let bare = times(&[1.0, 1.0, 2.0, 2.0]);
        let other = times(&[3.0, 3.1, 6.0, 6.4]);
        assert_eq!(other.median(), 4.55);
        assert_eq!(other.ratio_to(&bare), f64::midpoint(3.0, 3.1));
        assert_eq!((other.min(), other.max()), (3.0, 6.4));
    }

    #[test]
    fn every_candidate_runs_once_a_round_and_in_a_round_before() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut candidates: Vec<Work<'_>> = (0..3)
            .map(|number| {
                let order = &order;
                Work {
                    clock: Clock::Wall,
                    units: 1,
                    run: Box::new(move |phase| {
                        order.borrow_mut().push((phase, number));
                        Ok(())
                    }),
                }
            })
            .collect();
        interleave(2, &mut candidates).unwrap();
        let round = [0, 1, 2].map(|number| [(Phase::Before, number), (Phase::Timed, number)]);
        assert_eq!(*order.borrow(), [round; 3].concat().concat());
    }
}
