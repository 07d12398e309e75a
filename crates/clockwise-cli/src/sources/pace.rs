//! A token bucket that keeps a scan below a rate of keys.
//!
//! Pure: the caller says what time it is and does the waiting. Tokens that nobody takes pile up to the bucket's size,
//! and a debt is allowed, since a server tells only afterwards how many keys it gave.

use std::time::Duration;

/// What may be read now.
#[derive(Debug)]
pub(crate) struct Pace {
    per_s: f64,
    size: f64,
    tokens: f64,
    last: Duration,
}

impl Pace {
    /// At most `keys_per_s` for long, and `burst` more at once. The bucket starts full, at time zero.
    pub(crate) fn new(keys_per_s: u64, burst: u64) -> Self {
        Self {
            per_s: keys_per_s.max(1) as f64,
            size: burst as f64,
            tokens: burst as f64,
            last: Duration::ZERO,
        }
    }

    /// Takes `keys` at a time `now` and says how long to wait before the next ones.
    pub(crate) fn take(&mut self, keys: u64, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.last).as_secs_f64();
        self.last = self.last.max(now);
        self.tokens = (self.tokens + passed * self.per_s).min(self.size) - keys as f64;
        // A rate is at least one and keys are those of one answer, so this is far from what a duration holds.
        Duration::from_secs_f64((-self.tokens / self.per_s).clamp(0.0, LONGEST_S))
    }
}

/// Longer than any answer is worth at a key a second; keeps the division away from what a `Duration` cannot hold.
const LONGEST_S: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_as_told_keeps_to_the_rate() {
        let mut pace = Pace::new(1000, 100);
        let mut now = Duration::ZERO;
        for _ in 0..500 {
            now += pace.take(50, now);
        }
        // 25,000 keys, of which the first 100 are free.
        assert_eq!(now.as_millis(), 24_900);
    }

    #[test]
    fn idle_time_saves_no_more_than_the_bucket_holds() {
        let mut pace = Pace::new(1000, 100);
        let later = Duration::from_secs(3600);
        assert_eq!(pace.take(100, later), Duration::ZERO);
        assert_eq!(pace.take(100, later), Duration::from_millis(100));
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let mut pace = Pace::new(10, 0);
        let now = Duration::from_secs(10);
        assert_eq!(pace.take(10, now), Duration::from_secs(1));
        assert_eq!(pace.take(10, Duration::ZERO), Duration::from_secs(2));
    }
}
