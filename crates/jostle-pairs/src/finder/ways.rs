//! Whether the calling thread alone or all threads search a few thousand bodies sooner.
//!
//! It depends on the machine, on where threads stand just now, and on whether they have to be woken: between cores that are near each other
//! a line of memory takes 30 to 70 ns, between others 200, and then a search of 10,000 bodies by two threads takes 1.3 times as long as by
//! one; sixteen threads search 20,000 in a third of the time, called from outside of their pool too (see docs/measurements/threads.md). So a
//! finder measures both.

use core::ops::Range;
use core::time::Duration;

use jostle_core::{SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Threads};

/// Numbers of bodies that either way is tried for: the worse one takes a tenth or two of a millisecond more. Of more bodies several threads
/// gain in any case, and one alone would hold up a frame.
const EITHER: Range<usize> = SERIAL_BELOW..SERIAL_BELOW_FROM_OUTSIDE;

/// As many for two threads where what the last search has found is kept, which takes a fifth or so of a search. The more threads there are, the
/// fewer bodies it takes for them to gain in any case.
const EITHER_IF_KEPT: Range<usize> = SERIAL_BELOW..1 << 18;

/// So many searches in a row try a way: the first one finds in other cores' caches what it reads.
const ROW: u64 = 4;

/// The worse way is tried once in so many searches, times as many as it takes as long: it costs a sixtieth of all time at most. Sooner at
/// first, and after twice as many each time: the first searches by all threads may find them asleep, and memory that nobody has touched.
const TRIED_EVERY: u64 = 256;
const FIRST_TRIED_AFTER: u64 = 16;
const MOST_TIMES: u64 = 64;

/// What the searches of one kind of a finder took.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// The numbers of bodies that are measured.
    either: Range<usize>,
    /// Seconds a body, of all threads, and of the calling one alone.
    cost: [f64; 2],
    searches: u64,
    /// How many searches are made before the worse way is tried next, and how many from then to the next time.
    next_try: u64,
    every: u64,
}

impl Default for Ways {
    fn default() -> Self {
        Self { either: EITHER, cost: [f64::INFINITY; 2], searches: 0, next_try: ROW, every: FIRST_TRIED_AFTER }
    }
}

impl Ways {
    /// Of searches that keep what was found before.
    pub(crate) fn if_kept() -> Self {
        Self { either: EITHER_IF_KEPT, ..Self::default() }
    }

    /// Of such searches, takes note of how many threads there are.
    pub(crate) fn fit(&mut self, threads: Threads<'_>) {
        let others = threads.workers().saturating_sub(1).max(1);
        self.either.end = (EITHER_IF_KEPT.end / others).max(EITHER.end);
    }

    /// Whether a search of so many bodies is to be measured.
    pub(crate) fn measures(&self, bodies: usize) -> bool {
        self.either.contains(&bodies)
    }

    /// Below how many bodies the calling thread does all, in a search of so many from within a pool, and from outside.
    pub(crate) fn limits(&self, bodies: usize) -> [usize; 2] {
        if !self.measures(bodies) {
            return [SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE];
        }
        // Of few bodies, from outside of a pool, whose threads have to be woken, a finder begins alone: it may be the only search.
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

    /// Notes what a search has taken from when it was called to its return, by the calling thread alone or by all. One that was held up,
    /// however long, counts a sixteenth at most: the next will most likely not be.
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

    /// Makes so many searches, which take these times by all threads and by one; tells how many were made by one.
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
        // After 16, 32, 64 and 128 searches at first.
        assert_eq!(search(&mut ways, TRIED_EVERY, [70, 100]), 4 * ROW);
        assert_eq!(search(&mut ways, 10 * TRIED_EVERY, [70, 100]), 10 * ROW);
        // Now threads are far from each other; a few searches on, that is known.
        let by_one = search(&mut ways, 10 * TRIED_EVERY, [140, 100]);
        assert!((9 * TRIED_EVERY..=10 * TRIED_EVERY - 10 * ROW).contains(&by_one), "{by_one}");
        let by_one = search(&mut ways, 10 * TRIED_EVERY, [70, 100]);
        assert!(by_one < 2 * TRIED_EVERY, "{by_one}");
        // Who takes ten times as long is tried a tenth as often.
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
