//! Measures whether the calling thread alone or all threads search a few thousand bodies sooner.
//!
//! The answer depends on the machine, on the cores where the threads run at the moment, and on whether the threads have
//! to be woken. Between near cores a line of memory takes 30 to 70 ns, between others 200 ns; then a search of 10,000
//! bodies by two threads takes 1.3 times as long as by one. Sixteen threads search 20,000 bodies in a third of the
//! time, called from outside of their pool too (see docs/measurements/threads.md). So a finder measures both ways.

use core::ops::Range;
use core::time::Duration;

use jostle_core::{SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Threads};

/// Numbers of bodies for which both ways are tried: the worse one takes a tenth or two of a millisecond more. With more
/// bodies several threads gain in any case, and one thread alone would hold up a frame.
const EITHER: Range<usize> = SERIAL_BELOW..SERIAL_BELOW_FROM_OUTSIDE;

/// As [`EITHER`], for two threads, in searches that keep what the last search found: such a search takes a fifth or so
/// of a whole one. The more threads there are, the fewer bodies it takes for the threads to gain in any case.
const EITHER_IF_KEPT: Range<usize> = SERIAL_BELOW..1 << 18;

/// Searches in a row that try a way: the first of them finds its data in other cores' caches.
const ROW: u64 = 4;

/// The worse way is tried once in this many searches, times the ratio of the two costs: the trials take a sixtieth of
/// all time at most. The first trial comes sooner, and each later one after twice as many searches: the first searches
/// by all threads may find the threads asleep, and memory that nobody has touched.
const TRIED_EVERY: u64 = 256;
const FIRST_TRIED_AFTER: u64 = 16;
const MOST_TIMES: u64 = 64;

/// The measured costs of a finder's searches of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// The numbers of bodies that are measured.
    either: Range<usize>,
    /// Seconds a body, by all threads, and by the calling thread alone.
    cost: [f64; 2],
    searches: u64,
    /// The number of searches before the next trial of the worse way, and from that trial to the one after.
    next_try: u64,
    every: u64,
}

impl Default for Ways {
    fn default() -> Self {
        Self { either: EITHER, cost: [f64::INFINITY; 2], searches: 0, next_try: ROW, every: FIRST_TRIED_AFTER }
    }
}

impl Ways {
    /// For searches that keep what an earlier search found.
    pub(crate) fn if_kept() -> Self {
        Self { either: EITHER_IF_KEPT, ..Self::default() }
    }

    /// For such searches, fits the range of measured numbers of bodies to the number of threads.
    pub(crate) fn fit(&mut self, threads: Threads<'_>) {
        let others = threads.workers().saturating_sub(1).max(1);
        self.either.end = (EITHER_IF_KEPT.end / others).max(EITHER.end);
    }

    /// Whether a search of `bodies` bodies is measured.
    pub(crate) fn measures(&self, bodies: usize) -> bool {
        self.either.contains(&bodies)
    }

    /// Returns two numbers of bodies below which the calling thread works alone, in a search of `bodies` bodies: for a
    /// call from within a pool, and for one from outside.
    pub(crate) fn limits(&self, bodies: usize) -> [usize; 2] {
        if !self.measures(bodies) {
            return [SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE];
        }
        // Called from outside of a pool, whose threads have to be woken, a finder begins alone with few bodies: it may
        // be the only search.
        [false, bodies < SERIAL_BELOW_FROM_OUTSIDE]
            .map(|begins_alone| if self.next_is_alone(begins_alone) { self.either.end } else { SERIAL_BELOW })
    }

    fn next_is_alone(&self, begins_alone: bool) -> bool {
        if self.searches < 2 * ROW {
            return (self.searches < ROW) == begins_alone;
        }
        let [all, alone] = self.cost;
        (alone < all) != (self.searches >= self.next_try)
    }

    /// Notes how long a search took from its call to its return, by the calling thread alone or by all threads. A
    /// search that was held up, however long, raises the cost by a sixteenth at most: the next search will most likely
    /// not be held up.
    pub(crate) fn note(&mut self, alone: bool, bodies: usize, took: Duration) {
        self.searches += 1;
        let (cost, took) = (&mut self.cost[usize::from(alone)], took.as_secs_f64() / bodies as f64);
        *cost = if took < *cost { took } else { *cost + (took - *cost).min(*cost / 4.0) / 4.0 };
        if self.searches == self.next_try + ROW {
            let [all, alone] = self.cost;
            let times = (all / alone).max(alone / all) as u64;
            self.next_try += self.every * times.clamp(1, MOST_TIMES);
            self.every = TRIED_EVERY.min(2 * self.every);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{EITHER, ROW, TRIED_EVERY, Ways};

    /// Makes searches that take `all` microseconds by all threads and `alone` by one; returns how many were made by
    /// one.
    fn search(ways: &mut Ways, searches: u64, [all, alone]: [u64; 2]) -> u64 {
        let made = (0..searches).filter(|_| {
            let by_one = ways.limits(10_000)[0] > 10_000;
            ways.note(by_one, 10_000, Duration::from_micros(if by_one { alone } else { all }));
            by_one
        });
        made.count() as u64
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_one_tried_now_and_then() {
        let mut ways = Ways::default();
        assert_eq!(search(&mut ways, 2 * ROW, [70, 100]), ROW);
        // The first trials come after 16, 32, 64 and 128 searches.
        assert_eq!(search(&mut ways, TRIED_EVERY, [70, 100]), 4 * ROW);
        assert_eq!(search(&mut ways, 10 * TRIED_EVERY, [70, 100]), 10 * ROW);
        // Now the threads are far from each other; a few searches on, the finder knows.
        let by_one = search(&mut ways, 10 * TRIED_EVERY, [140, 100]);
        assert!((9 * TRIED_EVERY..=10 * TRIED_EVERY - 10 * ROW).contains(&by_one), "{by_one}");
        let by_one = search(&mut ways, 10 * TRIED_EVERY, [70, 100]);
        assert!(by_one < 2 * TRIED_EVERY, "{by_one}");
        // A way that takes ten times as long is tried a tenth as often.
        search(&mut ways, TRIED_EVERY, [10, 100]);
        assert_eq!(search(&mut ways, 100 * TRIED_EVERY, [10, 100]), 10 * ROW);
    }

    #[test]
    fn who_is_held_up_now_and_then_goes_on() {
        let mut ways = Ways::default();
        search(&mut ways, TRIED_EVERY + ROW, [70, 100]);
        for _ in 0..20 {
            assert_eq!(search(&mut ways, 2, [5_000, 100]) + search(&mut ways, 8, [70, 100]), 0);
        }
    }

    #[test]
    fn who_calls_from_outside_begins_alone() {
        let mut ways = Ways::default();
        for by_one in [true, false] {
            for _ in 0..ROW {
                assert_eq!(ways.limits(10_000)[1] > 10_000, by_one);
                ways.note(by_one, 10_000, Duration::from_micros(if by_one { 100 } else { 70 }));
            }
        }
        assert!(ways.limits(10_000)[1] < 10_000);
    }

    #[test]
    fn few_bodies_are_for_one_thread_and_many_for_all() {
        let mut ways = Ways::default();
        search(&mut ways, 100, [100, 10]);
        assert_eq!(ways.limits(EITHER.start - 1), Ways::default().limits(EITHER.start - 1));
        assert_eq!(ways.limits(EITHER.end), Ways::default().limits(EITHER.end));
        assert!(ways.limits(EITHER.end - 1)[0] > EITHER.end - 1);
        let mut ways = Ways::if_kept();
        search(&mut ways, 100, [100, 10]);
        assert!(ways.limits(EITHER.end).iter().all(|&limit| limit > EITHER.end));
    }
}
