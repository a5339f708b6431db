//! How far the cores of a machine lie apart, which in a virtual one may change from second to second: what a few threads do together
//! on ten thousand bodies takes twice as long where each line of memory comes from afar.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use crate::numbers;
use crate::race::Timing;

/// Rounds whose median counts.
const ROUNDS: usize = 9;

/// Times that each of two threads hands the line over, in a round.
const TURNS: u32 = 20_000;

/// Nanoseconds that a line of memory takes from one core to another, as two threads hand one over; nothing where there is one core.
pub(crate) fn nanoseconds() -> Option<f64> {
    if numbers::all() < 2 {
        return None;
    }
    let rounds = (0..ROUNDS).map(|_| {
        let turn = AtomicU32::new(0);
        let hand_over = |own: u32| {
            for at in 0..TURNS {
                while turn.load(Ordering::Acquire) != 2 * at + own {
                    hint::spin_loop();
                }
                turn.store(2 * at + own + 1, Ordering::Release);
            }
        };
        let start = thread::scope(|scope| {
            scope.spawn(|| hand_over(1));
            let start = Instant::now();
            hand_over(0);
            start
        });
        start.elapsed().as_secs_f64() * 1e9 / f64::from(2 * TURNS)
    });
    Some(Timing::of(rounds.collect(), 1).median)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn lines_take_time() {
        assert!(nanoseconds().is_none_or(|apart| apart > 0.0));
    }
}
