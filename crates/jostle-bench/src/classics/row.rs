//! One system with its frames. It is checked, then timed, with times for update and search apart.

use std::time::Duration;

use jostle::{Bodies, PairFinder, Threads};
use jostle_classics::BroadPhase;
use rayon::ThreadPool;

use crate::clock::Clock;
use crate::drift::Ring;
use crate::race::{Case, Timing, milliseconds};

/// Our name in the tables.
pub(super) const OURS: &str = "jostle";

/// A way to find the pairs of a frame.
pub(super) enum Way<'p> {
    Classic(Box<dyn BroadPhase<2>>),
    Engine(Box<PairFinder<2>>, Option<&'p ThreadPool>),
}

/// Returns Jostle on one thread, and on all threads where there are more.
pub(super) fn engines(pool: &ThreadPool) -> Vec<Way<'_>> {
    let many = (pool.current_num_threads() > 1).then_some(Some(pool));
    [None].into_iter().chain(many).map(|pool| Way::Engine(Box::default(), pool)).collect()
}

impl Way<'_> {
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Engine(_, Some(pool)) => pool.current_num_threads(),
            _ => 1,
        }
    }

    /// Takes the bodies of a frame, finds their pairs, and returns how long each took. Jostle's search is one piece.
    ///
    /// # Panics
    /// When the bodies are outside the contract of the input.
    pub(super) fn frame(&mut self, bodies: Bodies<'_, 2>, pairs: &mut Vec<[u32; 2]>, clock: Clock) -> Frame {
        const SOUND: &str = "scenes keep to the contract";
        let start = clock.start();
        match self {
            Self::Classic(system) => {
                system.update(bodies).expect(SOUND);
                let update = start.elapsed();
                pairs.clear();
                let tests = system.for_each_pair(&mut |pair| pairs.push(pair));
                Frame { update, find: start.elapsed().saturating_sub(update), tests }
            }
            Self::Engine(finder, pool) => {
                let found = finder.on(pool.map_or(Threads::Serial, Threads::Pool)).find(bodies).expect(SOUND);
                Frame { update: Duration::ZERO, find: start.elapsed(), tests: found.stats().circle_tests }
            }
        }
    }

    /// Returns the pairs of the last frame; `list` is the list that the frame filled.
    pub(super) fn pairs<'a>(&'a self, list: &'a [[u32; 2]]) -> &'a [[u32; 2]] {
        match self {
            Self::Classic(_) => list,
            Self::Engine(finder, _) => finder.last().pairs(),
        }
    }

    /// Bytes held beside the list of pairs.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Classic(system) => system.bytes(),
            Self::Engine(finder, _) => {
                let stats = finder.last().stats();
                stats.bytes - stats.list_bytes
            }
        }
    }
}

/// What a frame took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) update: Duration,
    pub(super) find: Duration,
    pub(super) tests: u64,
}

/// A system with its frames.
pub(super) struct Row<'a> {
    name: &'static str,
    way: Way<'a>,
    clock: Clock,
    ring: &'a Ring<2>,
    step: usize,
    pairs: Vec<[u32; 2]>,
    tests: u64,
    /// For each measurement, its number of runs, and the milliseconds of update and of find in one run.
    phases: Vec<(u32, [f64; 2])>,
    hopeless: bool,
}

impl<'a> Row<'a> {
    pub(super) fn new(name: &'static str, way: Way<'a>, ring: &'a Ring<2>, clock: Clock) -> Self {
        let clock = clock.of_threads(way.threads());
        let (pairs, phases) = (Vec::new(), Vec::new());
        Self { name, way, clock, ring, step: 0, pairs, tests: 0, phases, hopeless: false }
    }

    /// Sets whether a run would take too long.
    pub(super) fn skip(&mut self, hopeless: bool) {
        self.hopeless = hopeless;
    }

    pub(super) fn is_hopeless(&self) -> bool {
        self.hopeless
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn threads(&self) -> usize {
        self.way.threads()
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Tests of the first frame.
    pub(super) fn tests(&self) -> u64 {
        self.tests
    }

    pub(super) fn bytes(&self) -> usize {
        self.way.bytes()
    }

    /// Returns the medians of update and find, in milliseconds, over the measurements of so many runs; `None` where
    /// they are one piece.
    pub(super) fn phases(&self, runs: u32) -> Option<[f64; 2]> {
        if let Way::Engine(..) = self.way {
            return None;
        }
        let median = |phase: usize| {
            let samples = self.phases.iter().filter(|(count, _)| *count == runs).map(|(_, times)| times[phase]);
            Timing::of(samples.collect(), runs).median
        };
        Some([median(0), median(1)])
    }

    /// Checks a lap, then stands ready to be timed.
    pub(super) fn case(&mut self) -> Case<'_> {
        let first = self.check();
        Case { first, measure: Box::new(move |runs| self.measure(runs)) }
    }

    /// Checks one lap, and returns how long its last frame took.
    ///
    /// # Panics
    /// When the pairs are not those expected.
    fn check(&mut self) -> Duration {
        let mut took = Duration::ZERO;
        for (at, frame) in self.ring.frames().iter().enumerate() {
            let done = self.way.frame(frame.scene.view(), &mut self.pairs, self.clock);
            took = done.update + done.find;
            if at == 0 {
                self.tests = done.tests;
            }
            let mut found = self.way.pairs(&self.pairs).to_vec();
            found.sort_unstable();
            let (name, n, expected) = (self.name, frame.scene.len(), frame.expected.len());
            assert!(found == frame.expected, "{name} finds {} pairs among {n}, not the {expected}", found.len());
        }
        self.step = self.ring.frames().len() - 1;
        took
    }

    fn measure(&mut self, runs: u32) -> Duration {
        let mut sums = [Duration::ZERO; 2];
        for _ in 0..runs {
            self.step += 1;
            let done = self.way.frame(self.ring.at(self.step).scene.view(), &mut self.pairs, self.clock);
            sums[0] += done.update;
            sums[1] += done.find;
        }
        self.phases.push((runs, sums.map(|sum| milliseconds(sum) / f64::from(runs))));
        sums[0] + sums[1]
    }
}
