//! Pools that others use at the same time: a second finder, and tasks that are none of ours.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use jostle::{PairFinder, Threads};
use rayon::ThreadPool;

use super::ground::{Crowd, Ground, median, name};
use super::line::Line;
use super::system::{spin, switches};
use crate::clock::Clock;
use crate::race::{Timing, milliseconds};

/// Measures two finders that share a pool, each called from a thread of its own.
pub(super) fn finders(ground: &Ground) -> Vec<Line> {
    let searches = ground.of(10, 3);
    ground.pools[..3].iter().flat_map(|pool| Shared::measure(ground, pool, searches).lines(pool)).collect()
}

/// Milliseconds of searches in one pool, and switches of threads a search.
#[derive(Default)]
struct Shared {
    alone: Vec<f64>,
    together: [Vec<f64>; 2],
    switches_alone: Vec<f64>,
    switches: Vec<f64>,
}

impl Shared {
    /// Measures searches alone and together, in turn.
    fn measure(ground: &Ground, pool: &ThreadPool, searches: usize) -> Self {
        let mut finders = [PairFinder::new(), PairFinder::new()];
        let mut shared = Self::default();
        for _ in 0..ground.rounds {
            shared.alone(&ground.crowd, pool, &mut finders[0], searches);
            shared.together(&ground.crowd, pool, &mut finders, searches);
        }
        shared
    }

    fn alone(&mut self, crowd: &Crowd, pool: &ThreadPool, finder: &mut PairFinder<2>, searches: usize) {
        crowd.search(finder, Threads::Pool(pool));
        let before = switches();
        self.alone.extend((0..searches).map(|_| milliseconds(timed(crowd, pool, finder))));
        self.switches_alone.extend(since(before, searches));
    }

    /// Runs both finders until each has made so many searches.
    fn together(&mut self, crowd: &Crowd, pool: &ThreadPool, finders: &mut [PairFinder<2>; 2], searches: usize) {
        let made = [const { AtomicUsize::new(0) }; 2];
        let (begin, end) = (Barrier::new(3), Barrier::new(3));
        let in_turn = |own: usize, finder: &mut PairFinder<2>, times: &mut Vec<f64>| {
            crowd.search(finder, Threads::Pool(pool));
            begin.wait();
            while made.iter().any(|made| made.load(Ordering::Relaxed) < searches) {
                times.push(milliseconds(timed(crowd, pool, finder)));
                made[own].fetch_add(1, Ordering::Relaxed);
            }
            end.wait();
            // The system forgets the switches of a thread that has ended, so they are read before.
            end.wait();
        };
        let (made, in_turn) = (&made, &in_turn);
        thread::scope(|scope| {
            for (own, (finder, times)) in finders.iter_mut().zip(&mut self.together).enumerate() {
                scope.spawn(move || in_turn(own, finder, times));
            }
            let before = switches();
            begin.wait();
            end.wait();
            let made = made.iter().map(|made| made.load(Ordering::Relaxed)).sum();
            self.switches.extend(since(before, made));
            end.wait();
        });
    }

    fn lines(self, pool: &ThreadPool) -> [Line; 3] {
        let of = |times| Timing::of(times, 1);
        let alone = of(self.alone);
        let both = self.together.map(of);
        let slower = if both[0].median > both[1].median { both[0] } else { both[1] };
        let [switches, switches_alone] = [self.switches, self.switches_alone].map(|samples| of(samples).median);
        let spread = both.map(|one| one.p90 / one.median);
        let case = |what: &str| format!("{}, {what}", name(pool));
        [
            Line::new(case("over alone"), slower.median / alone.median, "times").at_most(2.3).besides(format!(
                "{:.4} and {:.4} ms, alone {:.4}; {} and {} searches",
                both[0].median, both[1].median, alone.median, both[0].rounds, both[1].rounds
            )),
            Line::new(case("90th percentile over median"), spread[0].max(spread[1]), "times")
                .at_most(1.5)
                .besides(format!("worst {:.4} ms", both[0].worst.max(both[1].worst))),
            Line::new(case("switches"), switches, "a search").besides(format!("alone {switches_alone:.1}")),
        ]
    }
}

/// Returns the switches a search since the count `before`, where the system tells them.
fn since(before: Option<u64>, searches: usize) -> Option<f64> {
    Some(switches()?.checked_sub(before?)? as f64 / searches as f64)
}

/// Times a search that is called from outside.
fn timed(crowd: &Crowd, pool: &ThreadPool, finder: &mut PairFinder<2>) -> Duration {
    let start = Instant::now();
    pool.install(|| crowd.search(finder, Threads::Current));
    start.elapsed()
}

/// Processor time of a task.
const TASK: Duration = Duration::from_millis(1);

/// Times searches in a pool that is full of other tasks.
pub(super) fn tasks(ground: &Ground) -> Vec<Line> {
    let searches = 20;
    let mut finder = PairFinder::new();
    let mut one = || {
        let start = Clock::Cpu.start();
        ground.crowd.search(&mut finder, Threads::Serial);
        start.elapsed()
    };
    one();
    let mut ours: Vec<Duration> = (0..searches).map(|_| one()).collect();
    ours.sort_unstable();
    let work = ours[searches / 2] * searches as u32;
    let tasks = (work.as_secs_f64() / TASK.as_secs_f64()).round().max(1.0) as usize;
    let ideal = (work + TASK * tasks as u32) / ground.cores as u32;
    let cases: [(&str, Called); 2] = [("called from inside", inside), ("called from outside", outside)];
    let both = cases.into_iter().flat_map(|case| ground.pools[..2].iter().map(move |pool| (case, pool)));
    let lines = both.flat_map(|((case, run), pool)| {
        let runs: Vec<_> = (0..ground.of(5, 1)).map(|_| Job::run(&ground.crowd, pool, searches, tasks, run)).collect();
        let total = median(&runs.iter().map(|run| run.0).collect::<Vec<_>>());
        let progress = runs.iter().map(|run| run.1).fold(1.0, f64::min);
        let case = |what: &str| format!("{}, {case}, {what}", name(pool));
        let besides =
            format!("{total:.1} ms: {searches} searches and {tasks} tasks, at best {:.1}", milliseconds(ideal));
        [
            Line::new(case("in total"), total / milliseconds(ideal), "times").at_most(1.3).besides(besides),
            Line::new(case("progress of the other"), progress, "of all").at_least(0.05),
        ]
    });
    lines.collect()
}

/// A way to give a pool searches and tasks. All are done when it returns.
type Called = fn(&Job<'_>);

/// Searches and tasks that a pool is to work off at the same time.
struct Job<'a> {
    crowd: &'a Crowd,
    pool: &'a ThreadPool,
    searches: usize,
    tasks: usize,
    searched: AtomicUsize,
    worked: AtomicUsize,
    /// How much of the tasks was done when all searches had ended, or of the searches when all tasks had ended.
    progress: OnceLock<f64>,
}

impl<'a> Job<'a> {
    /// Returns how long all took, and how much of the tasks or searches was done when the others had ended.
    fn run(crowd: &'a Crowd, pool: &'a ThreadPool, searches: usize, tasks: usize, run: Called) -> (Duration, f64) {
        let (searched, worked) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let job = Job { crowd, pool, searches, tasks, searched, worked, progress: OnceLock::new() };
        let start = Instant::now();
        run(&job);
        (start.elapsed(), job.progress.get().copied().unwrap_or_default())
    }

    /// Makes all searches, one after the other.
    fn search(&self, call: impl Fn(&mut PairFinder<2>)) {
        let mut finder = PairFinder::new();
        for _ in 0..self.searches {
            call(&mut finder);
            self.searched.fetch_add(1, Ordering::Relaxed);
        }
        self.progress.get_or_init(|| self.worked.load(Ordering::Relaxed) as f64 / self.tasks as f64);
    }

    /// Does one task.
    fn work(&self) {
        spin(TASK);
        if self.worked.fetch_add(1, Ordering::Relaxed) + 1 == self.tasks {
            self.progress.get_or_init(|| self.searched.load(Ordering::Relaxed) as f64 / self.searches as f64);
        }
    }
}

/// Calls from inside: one scope of the pool spawns the tasks and the searches.
fn inside(job: &Job<'_>) {
    job.pool.scope(|scope| {
        (0..job.tasks).for_each(|_| scope.spawn(|_| job.work()));
        scope.spawn(|_| job.search(|finder| job.crowd.search(finder, Threads::Current)));
    });
}

/// Calls from outside: two threads call the pool. One searches, the other spawns batches of tasks.
fn outside(job: &Job<'_>) {
    let batch = 4 * job.pool.current_num_threads();
    thread::scope(|scope| {
        scope.spawn(|| job.search(|finder| job.crowd.search(finder, Threads::Pool(job.pool))));
        for begin in (0..job.tasks).step_by(batch) {
            let tasks = batch.min(job.tasks - begin);
            job.pool.scope(|scope| (0..tasks).for_each(|_| scope.spawn(|_| job.work())));
        }
    });
}
