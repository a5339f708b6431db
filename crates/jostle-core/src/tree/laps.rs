//! How long stages take that follow each other.

use std::time::{Duration, Instant};

/// When the last stage ended, if it is to be known.
pub(super) struct Laps(Option<Instant>);

impl Laps {
    /// The first stage begins. Where they are not timed, no clock is looked at, and each takes no time.
    pub(super) fn begin(timed: bool) -> Self {
        Self(timed.then(Instant::now))
    }

    /// The time of the stage that ends here, where the next one begins.
    pub(super) fn next(&mut self) -> Duration {
        let Some(last) = &mut self.0 else { return Duration::ZERO };
        let now = Instant::now();
        now - core::mem::replace(last, now)
    }
}
