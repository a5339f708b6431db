//! What the machine itself gives to more threads: processors share clocks, and neighbours share processors.

use std::hint::black_box;
use std::time::Instant;

use rayon::ThreadPool;

use crate::race::Timing;

/// Rounds whose median counts.
const ROUNDS: usize = 5;

/// Turns of a loop: some milliseconds.
const TURNS: u64 = 2_000_000;

/// Returns how much more all threads of a pool get done at once than one thread alone, by loops that share nothing.
pub(crate) fn speed_up(pool: &ThreadPool) -> f64 {
    let threads = pool.current_num_threads();
    black_box(turn());
    let rounds = (0..ROUNDS).map(|_| {
        let alone = time(|| pool.install(turn));
        let together = time(|| drop(pool.broadcast(|_| turn())));
        threads as f64 * alone / together
    });
    Timing::of(rounds.collect(), 1).median
}

fn time<R>(work: impl FnOnce() -> R) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// Arithmetic on registers, wide enough to keep a core busy.
#[inline(never)]
fn turn() -> u64 {
    let mut sums = [1_u64, 2, 3, 4, 5, 6, 7, 8];
    for i in 0..TURNS {
        for sum in &mut sums {
            *sum = sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i);
        }
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}

#[cfg(test)]
mod tests {
    use super::speed_up;

    #[test]
    fn one_thread_is_as_fast_as_itself() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let speed_up = speed_up(&pool);
        assert!((0.3..3.0).contains(&speed_up), "{speed_up}");
    }
}
