//! The one place that reads the time: for progress, the pace of scans and the times that are a result, never for
//! another result.

use std::time::{Duration, Instant};

/// A moment to measure from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Instant);

impl Moment {
    #[expect(clippy::disallowed_methods, reason = "this is the clock module")]
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
