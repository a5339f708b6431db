//! What the examples share: numbers from the command line, random numbers, and a clock that separates the time of
//! searches from the time of own work.
#![allow(dead_code, reason = "each example uses a part of it")]

use std::env;
use std::fmt;
use std::num::ParseIntError;
use std::time::{Duration, Instant};

/// Reads the numbers on the command line; a number that is left out keeps its default.
pub(crate) fn arguments<const N: usize>(defaults: [usize; N]) -> Result<[usize; N], ParseIntError> {
    let mut numbers = defaults;
    for (number, argument) in numbers.iter_mut().zip(env::args().skip(1)) {
        *number = argument.parse()?;
    }
    Ok(numbers)
}

/// A generator of random numbers, the same in every run: a linear congruential generator, whose high bits are good
/// enough here.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number from `low` to `high`.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 40) as f32 / (1_u64 << 24) as f32)
    }

    /// Returns `n` numbers from `low` to `high`.
    pub(crate) fn column(&mut self, n: usize, low: f32, high: f32) -> Vec<f32> {
        (0..n).map(|_| self.between(low, high)).collect()
    }
}

/// Separates the time of searches from the time of an example's own work.
pub(crate) struct Clock {
    last: Instant,
    jostle: Duration,
    own: Duration,
    frames: u32,
}

impl Clock {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { last: Instant::now(), jostle: Duration::ZERO, own: Duration::ZERO, frames: 0 }
    }

    /// Counts the time since the last call as spent in jostle.
    pub(crate) fn jostle(&mut self) {
        let lap = self.lap();
        self.jostle += lap;
    }

    /// Counts the time since the last call as the example's own work, and ends a frame.
    pub(crate) fn own(&mut self) {
        let lap = self.lap();
        self.own += lap;
        self.frames += 1;
    }

    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.last, now)
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms_a_frame = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(self.frames.max(1));
        let (jostle, own) = (ms_a_frame(self.jostle), ms_a_frame(self.own));
        write!(f, "{:.2} ms a frame: jostle {jostle:.2}, own work {own:.2}", jostle + own)
    }
}
