//! Measures how long successive stages take.

use core::time::Duration;

use crate::clock::Instant;

/// When the last stage ended; `None` where stages are not timed.
pub(super) struct Laps(Option<Instant>);

impl Laps {
    /// Begins the first stage. Where stages are not timed, no clock is looked at, and each stage takes no time.
    pub(super) fn begin(timed: bool) -> Self {
        Self(timed.then(Instant::now))
    }

    /// Ends a stage, begins the next one, and returns the time of the ended one.
    pub(super) fn next(&mut self) -> Duration {
        let Some(last) = &mut self.0 else { return Duration::ZERO };
        let now = Instant::now();
        now - core::mem::replace(last, now)
    }
}
