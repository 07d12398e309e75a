//! How the database's load falls again as moved keys are asked for and cached anew.
//!
//! What it is: a key that is asked for at a rate r is still cold after t seconds with the chance exp(-r t), so the cold
//! part of the requests is the sum of p exp(-p R t) over the moved keys, for shares p of R reads per second. What it
//! promises: the exact expectation for keys asked for independently (Poisson), for the popularity it is given. What it
//! does not: know expiry, eviction, or requests that come in bursts. Cost: O(buckets) a point. Source: the independent
//! reference model (Coffman and Denning, 1973).

use serde::Serialize;

use crate::census::Bucket;

/// Queries per second at the database, so many seconds after the change; predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RefillPoint {
    /// Seconds after the change.
    pub seconds: f64,
    /// Queries per second if every key is asked for equally often.
    pub uniform: f64,
    /// Queries per second if the k-th key is asked for in proportion to 1 / k^0.99.
    pub zipf: f64,
    /// Queries per second for the requests that were counted; `None` where none were.
    pub measured: Option<f64>,
}

/// The traffic that the curve is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Traffic {
    /// Keys read per second.
    pub(crate) reads: f64,
    /// Share of reads that a warm cache answers.
    pub(crate) hit_rate: f64,
    /// Share of keys that moves.
    pub(crate) moved_keys: f64,
    /// Keys in all.
    pub(crate) keys: u64,
}

/// Seconds until a part of the extra load is gone, by how often keys are asked for; predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RefillTime {
    /// If every key is asked for equally often.
    pub uniform: f64,
    /// If the k-th key is asked for in proportion to 1 / k^0.99.
    pub zipf: f64,
    /// For the requests that were counted; `None` where none were, or none of them moves.
    pub measured: Option<f64>,
}

/// The curve at fixed times from the first moment to a day.
pub(crate) fn curve(traffic: Traffic, measured: &[Bucket]) -> Vec<RefillPoint> {
    let uniform = uniform_group(traffic);
    let zipf = zipf_groups(traffic.keys, traffic.moved_keys);
    let counted = counted_groups(measured);
    SECONDS
        .iter()
        .map(|&seconds| RefillPoint {
            seconds,
            uniform: queries(traffic, &uniform, seconds),
            zipf: queries(traffic, &zipf, seconds),
            measured: (!counted.is_empty()).then(|| queries(traffic, &counted, seconds)),
        })
        .collect()
}

/// When this share of the extra load is left; `None` where nothing moves.
pub(crate) fn time_to(left: f64, traffic: Traffic, measured: &[Bucket]) -> Option<RefillTime> {
    let uniform = uniform_group(traffic);
    let zipf = zipf_groups(traffic.keys, traffic.moved_keys);
    let counted = counted_groups(measured);
    Some(RefillTime {
        uniform: seconds_to(left, traffic, &uniform)?,
        zipf: seconds_to(left, traffic, &zipf)?,
        measured: seconds_to(left, traffic, &counted),
    })
}

/// Keys that are asked for about equally often.
#[derive(Clone, Copy, Debug)]
struct Group {
    keys: f64,
    /// Of all reads.
    share: f64,
    /// The part of them that goes to moved keys.
    moved: f64,
}

fn uniform_group(traffic: Traffic) -> [Group; 1] {
    [Group {
        keys: traffic.keys as f64,
        share: 1.0,
        moved: traffic.moved_keys,
    }]
}

/// Nothing where no requests were counted.
fn counted_groups(measured: &[Bucket]) -> Vec<Group> {
    let all: u64 = measured.iter().map(|bucket| bucket.requests).sum();
    measured
        .iter()
        .map(|bucket| Group {
            keys: bucket.keys as f64,
            share: bucket.requests as f64 / all as f64,
            moved: bucket.moved_requests as f64 / bucket.requests as f64,
        })
        .collect()
}

/// Reads of keys that are still cold miss for sure; the others miss as a warm cache does.
fn queries(traffic: Traffic, groups: &[Group], seconds: f64) -> f64 {
    let cold = cold(traffic, groups, seconds);
    traffic.reads * (cold + (1.0 - cold) * (1.0 - traffic.hit_rate))
}

/// Share of the reads that goes to keys that are still cold.
fn cold(traffic: Traffic, groups: &[Group], seconds: f64) -> f64 {
    groups
        .iter()
        .map(|group| {
            let rate = traffic.reads * group.share / group.keys.max(1.0);
            group.share * group.moved * (-rate * seconds).exp()
        })
        .sum()
}

/// The time at which the cold share has fallen to a part of what it was, to a millionth.
fn seconds_to(left: f64, traffic: Traffic, groups: &[Group]) -> Option<f64> {
    let first = cold(traffic, groups, 0.0);
    if first <= 0.0 {
        return None;
    }
    let is_later = |seconds: f64| cold(traffic, groups, seconds) > left * first;
    let mut late = 1.0;
    while is_later(late) {
        late *= 2.0;
    }
    let mut early = 0.0;
    while late - early > 1e-6 * late {
        let middle = (early + late) / 2.0;
        if is_later(middle) {
            early = middle;
        } else {
            late = middle;
        }
    }
    Some(late)
}

/// Ranks in groups that double in width; within one the keys' shares differ by at most a factor of two.
fn zipf_groups(keys: u64, moved: f64) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut first = 1_u64;
    while first <= keys {
        let last = (2 * first - 1).min(keys);
        // The sum of 1/k^s from `first` to `last`, by the integral from half a rank before to half a rank after.
        let power = 1.0 - SKEW;
        let sum = ((last as f64 + 0.5).powf(power) - (first as f64 - 0.5).powf(power)) / power;
        groups.push(Group {
            keys: (last - first + 1) as f64,
            share: sum,
            moved,
        });
        first = last + 1;
    }
    let total: f64 = groups.iter().map(|group| group.share).sum();
    groups.iter_mut().for_each(|group| group.share /= total);
    groups
}

/// The skew that load generators for caches use by default.
const SKEW: f64 = 0.99;
/// The first moment, then steps that a person thinks in.
const SECONDS: [f64; 21] = [
    0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0,
    3600.0, 7200.0, 14_400.0, 28_800.0, 86_400.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use clockwise::hash::Rng;

    const TRAFFIC: Traffic = Traffic {
        reads: 900.0,
        hit_rate: 0.95,
        moved_keys: 0.8,
        keys: 10_000,
    };

    #[test]
    fn it_starts_at_the_cold_load_and_falls_to_the_warm_one() {
        for points in [
            curve(TRAFFIC, &[]),
            curve(
                Traffic {
                    moved_keys: 0.0,
                    ..TRAFFIC
                },
                &[],
            ),
        ] {
            let (first, last) = (points[0], points[points.len() - 1]);
            for at in [|p: &RefillPoint| p.uniform, |p: &RefillPoint| p.zipf] {
                assert!(
                    points
                        .windows(2)
                        .all(|pair| at(&pair[1]) <= at(&pair[0]) + 1e-9)
                );
                assert!((at(&last) - 45.0).abs() < 0.5, "{last:?}");
            }
            assert!((first.uniform - first.zipf).abs() < 1e-9);
        }
        assert!((curve(TRAFFIC, &[])[0].uniform - 729.0).abs() < 1e-9);
    }

    #[test]
    fn it_is_the_mean_of_a_simulated_cache() {
        // 200 keys, 160 of them cold at first; 1,000 runs of the first second give a standard error of about 0.3 %.
        let traffic = Traffic {
            reads: 300.0,
            hit_rate: 1.0 - 1e-12,
            moved_keys: 0.8,
            keys: 200,
        };
        let points = curve(traffic, &[]);
        let second = points.iter().find(|point| point.seconds == 1.0);
        let expected = second.expect("a point at one second").uniform;
        let mut rng = Rng::new(5);
        let (mut misses, window) = (0_u64, 30);
        for _ in 0..1000 {
            let mut cold = [false; 200];
            cold[..160].fill(true);
            // Reads one by one: those right before and after the first second tell the rate there.
            for read in 0..300 + window / 2 {
                let key = rng.uniform(200) as usize;
                misses += u64::from(cold[key] && read >= 300 - window / 2);
                cold[key] = false;
            }
        }
        let seen = misses as f64 / (1000 * window) as f64 * traffic.reads;
        assert!(
            (seen / expected - 1.0).abs() < 0.04,
            "{seen} against {expected}"
        );
    }

    #[test]
    fn half_and_a_tenth_are_left_when_the_curve_says_so() {
        // Equally often: exp(-R t / K) is a half after ln 2 K / R, a tenth after ln 10 K / R.
        let half = time_to(0.5, TRAFFIC, &[]).unwrap();
        assert!((half.uniform / (2_f64.ln() * 10_000.0 / 900.0) - 1.0).abs() < 1e-5);
        let tenth = time_to(0.1, TRAFFIC, &[]).unwrap();
        assert!((tenth.uniform / (10_f64.ln() * 10_000.0 / 900.0) - 1.0).abs() < 1e-5);
        // Popular keys are back sooner, the rest later.
        assert!(half.zipf < half.uniform && tenth.zipf > tenth.uniform);
        let queries = queries(TRAFFIC, &zipf_groups(10_000, 0.8), half.zipf);
        assert!((queries - (729.0 + 45.0) / 2.0).abs() < 0.01, "{queries}");
        assert_eq!(half.measured, None);
        let still = Traffic {
            moved_keys: 0.0,
            ..TRAFFIC
        };
        assert_eq!(time_to(0.5, still, &[]), None);
    }

    #[test]
    fn hot_keys_refill_first() {
        let hot = Bucket {
            keys: 1,
            requests: 900,
            moved_keys: 1,
            moved_requests: 900,
        };
        let rest = Bucket {
            keys: 9999,
            requests: 100,
            moved_keys: 9999,
            moved_requests: 100,
        };
        let points = curve(
            Traffic {
                moved_keys: 1.0,
                ..TRAFFIC
            },
            &[rest, hot],
        );
        let second = points.iter().find(|point| point.seconds == 1.0).unwrap();
        let after_a_second = second.measured.unwrap();
        assert!(
            (after_a_second - (90.0 + 810.0 * 0.05)).abs() < 1.0,
            "{after_a_second}"
        );
        assert_eq!(points[0].measured, Some(900.0));
    }
}
