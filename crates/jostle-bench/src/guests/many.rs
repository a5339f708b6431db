//! Many searches at once: in a world each, or as tasks of one pool.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jostle::{PairFinder, Threads};
use rayon::prelude::*;

use super::ground::{Crowd, Ground, median, name};
use super::line::Line;
use crate::race::{Case, race};

/// Frames of all small worlds in one measurement. When a pool wakes, the system may leave its threads on one core for
/// ten milliseconds and more.
const FRAMES: usize = 100;

/// Nanoseconds a body that a search of a small world may take on one thread, and bytes that its finder may hold.
const BARS: (f64, f64) = (12.0, 60_000.0);

/// Searches small worlds in a parallel loop, each with a finder of its own; and by threads that share nothing, which
/// shows what the machine allows.
pub(super) fn worlds(ground: &Ground) -> Vec<Line> {
    let (count, n) = (ground.of(1_000, 100), 200);
    let worlds: Vec<Crowd> = (0..count).map(|number| ground.crowd(n, number)).collect();
    let [mut in_turn, mut at_once, mut apart] = [(); 3].map(|()| vec![PairFinder::new(); worlds.len()]);
    let pool = &ground.pools[0];
    let parallel = |finders: &mut [PairFinder<2>]| {
        let worlds = worlds.par_iter().zip(finders);
        worlds.for_each(|(world, finder)| world.search(finder, Threads::Current));
    };
    let mut cases = [
        Case::of(|| all_frames(&worlds, &mut in_turn)),
        Case::of(|| pool.install(|| (0..FRAMES).for_each(|_| parallel(&mut at_once)))),
        Case::of(|| all_frames_apart(&worlds, &mut apart, ground.cores)),
    ];
    let timings = race(&mut cases, &ground.plan());
    drop(cases);
    let [one, all, apart] = [0, 1, 2].map(|row: usize| timings[row].median);
    let case = |what: &str| format!("{what}, {count} worlds of {n}");
    let bytes = at_once.iter().map(PairFinder::bytes).max().unwrap_or(0);
    vec![
        Line::new(case("one thread"), one * 1e6 / (FRAMES * worlds.len() * n) as f64, "ns a body").at_most(BARS.0),
        Line::new(case(&name(pool)), one / all, "times")
            .at_least(0.95 * ground.cores as f64)
            .besides(format!("{FRAMES} frames {all:.4} ms, one thread {one:.4}; {:.2} of the next line", apart / all)),
        Line::new(case("threads that share nothing"), one / apart, "times").besides(format!("{apart:.4} ms")),
        Line::new(case("the largest finder"), bytes as f64, "bytes").at_most(BARS.1),
    ]
}

/// Searches all frames of these worlds on the calling thread.
fn all_frames(worlds: &[Crowd], finders: &mut [PairFinder<2>]) {
    for _ in 0..FRAMES {
        worlds.iter().zip(&mut *finders).for_each(|(world, finder)| world.search(finder, Threads::Serial));
    }
}

/// Searches all frames by threads of no pool, each with its part of the worlds.
fn all_frames_apart(worlds: &[Crowd], finders: &mut [PairFinder<2>], threads: usize) {
    let part = worlds.len().div_ceil(threads);
    thread::scope(|scope| {
        for (worlds, finders) in worlds.chunks(part).zip(finders.chunks_mut(part)) {
            scope.spawn(|| all_frames(worlds, finders));
        }
    });
}

/// The most searches within each other. Deeper ones are not begun, lest there be no room on the stack.
const DEEPEST: usize = 32;

thread_local! {
    /// Searches in progress on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Searches spawned as tasks in a pool of twice as many threads as cores.
pub(super) fn spawned(ground: &Ground) -> Vec<Line> {
    let (searches, n) = (ground.of(5_000, 100), ground.of(40_000, 9_000));
    let crowd = ground.crowd(n, 0);
    let pool = &ground.pools[1];
    let mut finder = PairFinder::new();
    let one: Vec<_> = (0..20).map(|_| timed(|| crowd.search(&mut finder, Threads::Serial))).collect();
    let tasks = Spawned {
        crowd: &crowd,
        finders: Mutex::default(),
        deepest: AtomicUsize::new(0),
        left_out: AtomicUsize::new(0),
    };
    let run = || pool.scope(|scope| (0..searches).for_each(|_| scope.spawn(|_| tasks.search())));
    let total = median(&(0..ground.of(3, 1)).map(|_| timed(run)).collect::<Vec<_>>());
    let ideal = median(&one) * searches as f64 / ground.cores as f64;
    let (deepest, left_out) = (tasks.deepest.into_inner(), tasks.left_out.into_inner());
    let case = |what: &str| format!("{}, {searches} searches, {what}", name(pool));
    let depth = Line::new(case("depth"), deepest as f64, "searches").at_most(1.0);
    if left_out > 0 {
        return vec![depth.besides(format!("{left_out} that would be deeper left out, in all runs: not timed"))];
    }
    let besides = format!("{total:.1} ms; on one thread, divided by the cores, {ideal:.1}");
    vec![depth, Line::new(case("in total"), total / ideal, "times").besides(besides)]
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Searches of the same bodies, as tasks.
struct Spawned<'a> {
    crowd: &'a Crowd,
    /// Finders that no search holds at the moment.
    finders: Mutex<Vec<PairFinder<2>>>,
    deepest: AtomicUsize,
    left_out: AtomicUsize,
}

impl Spawned<'_> {
    fn search(&self) {
        let depth = DEPTH.get() + 1;
        self.deepest.fetch_max(depth, Ordering::Relaxed);
        if depth > DEEPEST {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        DEPTH.set(depth);
        let finders = || self.finders.lock().unwrap_or_else(PoisonError::into_inner);
        let finder = finders().pop();
        let mut finder = finder.unwrap_or_default();
        self.crowd.search(&mut finder, Threads::Current);
        finders().push(finder);
        DEPTH.set(depth - 1);
    }
}
