//! How far the cores of a machine lie apart. In a virtual machine this may change from second to second: a few threads
//! that work together on ten thousand bodies take twice as long where each line of memory comes from afar.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::numbers;
use crate::race::Timing;

/// Rounds whose median counts.
const ROUNDS: usize = 9;

/// How often each of two threads hands the line over in a round.
const TURNS: u32 = 20_000;

/// The longest time of a round, however few turns it had: where other threads want the same cores, a turn can take
/// milliseconds.
const ROUND: Duration = Duration::from_millis(20);

/// Looks at the line between two checks whether the round is over.
const LOOKS: u32 = 1000;

/// Returns the nanoseconds that a line of memory takes from one core to another, as two threads hand it over. Returns
/// `None` where there is one core.
pub(crate) fn nanoseconds() -> Option<f64> {
    if numbers::all() < 2 {
        return None;
    }
    Some(Timing::of((0..ROUNDS).map(|_| round()).collect(), 1).median)
}

fn round() -> f64 {
    let turn = AtomicU32::new(0);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for own in (1..).step_by(2) {
                if !comes(&turn, own, || over.load(Ordering::Relaxed)) {
                    break;
                }
                turn.store(own + 1, Ordering::Release);
            }
        });
        let start = Instant::now();
        let mut done = 0;
        while done < 2 * TURNS {
            turn.store(done + 1, Ordering::Release);
            if !comes(&turn, done + 2, || start.elapsed() >= ROUND) {
                break;
            }
            done += 2;
        }
        let taken = start.elapsed();
        over.store(true, Ordering::Relaxed);
        taken.as_secs_f64() * 1e9 / f64::from(done.max(1))
    })
}

/// Waits until the line holds `own`, then returns true; or until the round is over, then returns false.
fn comes(turn: &AtomicU32, own: u32, over: impl Fn() -> bool) -> bool {
    loop {
        for _ in 0..LOOKS {
            if turn.load(Ordering::Acquire) == own {
                return true;
            }
            hint::spin_loop();
        }
        if over() {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn lines_take_time() {
        assert!(nanoseconds().is_none_or(|apart| apart > 0.0));
    }
}
