//! When the next frame begins: pause, one step, slower, faster.

use std::thread;
use std::time::{Duration, Instant};

use jostle_view::{Command, Controls};

use crate::PAUSE;

/// A loop that lags behind by more than this does not catch up.
const LAG: Duration = Duration::from_millis(100);

/// Most seconds between two frames: the slowest pace is a frame an hour.
const SLOWEST: f32 = 3600.0;

/// When the next frame is to begin.
#[derive(Debug)]
pub(crate) struct Pace {
    due: Instant,
    step_once: bool,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { due: Instant::now(), step_once: false }
    }

    /// Does what a command asks, if it is about the pace; gives it back otherwise.
    pub(crate) fn obey(&mut self, command: Command, controls: &mut Controls) -> Option<Command> {
        match command {
            Command::Pause => controls.paused = true,
            Command::Run => controls.paused = false,
            Command::Step => (controls.paused, self.step_once) = (true, true),
            Command::Rate(rate) => (controls.rate, self.due) = (rate.min(1e6), Instant::now()),
            other => return Some(other),
        }
        None
    }

    /// Waits for the next frame, but not longer than commands can wait. Returns true when the frame begins.
    pub(crate) fn begins(&mut self, controls: &Controls) -> bool {
        if controls.paused {
            self.due = Instant::now();
            if !self.step_once {
                thread::sleep(PAUSE);
            }
            return std::mem::take(&mut self.step_once);
        }
        let left = self.due.saturating_duration_since(Instant::now());
        thread::sleep(left.min(PAUSE));
        if left > PAUSE {
            return false;
        }
        let now = Instant::now();
        if controls.rate > 0.0 {
            self.due += Duration::from_secs_f32((1.0 / controls.rate).min(SLOWEST));
        }
        if controls.rate <= 0.0 || self.due + LAG < now {
            self.due = now;
        }
        true
    }
}
