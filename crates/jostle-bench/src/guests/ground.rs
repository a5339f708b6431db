//! What all rows share: the bodies, the pools and how much is measured.

use std::hint::black_box;
use std::time::Duration;

use jostle::{PairFinder, Threads};
use jostle_testkit::{Kind, Scene, sweep};
use rayon::{ThreadPool, ThreadPoolBuildError};

use crate::Common;
use crate::input::{self, Order};
use crate::numbers;
use crate::race::{Case, Plan, Timing, milliseconds};

/// Why a search of a scene cannot fail.
pub(super) const SOUND: &str = "scenes keep to the contract";

/// Rounds of a row whose percentiles are taken, for each round asked for.
const MORE_ROUNDS: u32 = 4;

/// Bodies and pools.
pub(super) struct Ground {
    /// Cores, at least two.
    pub(super) cores: usize,
    /// Pools of as many threads as cores, and of 2, 4 and 8 times as many.
    pub(super) pools: Vec<ThreadPool>,
    /// The bodies of most rows.
    pub(super) crowd: Crowd,
    pub(super) rounds: u32,
    quick: bool,
    seed: u64,
    order: Order,
}

/// Bodies, and how many pairs they have.
pub(super) struct Crowd {
    pub(super) scene: Scene<2>,
    pub(super) pairs: usize,
}

impl Crowd {
    /// # Panics
    /// When a search in a pool, or on one thread, lists other pairs than a sweep.
    fn of(scene: Scene<2>, pools: &[ThreadPool]) -> Self {
        let expected = sweep::pairs(scene.view());
        for threads in pools.iter().map(Threads::Pool).chain([Threads::Serial]) {
            let mut found = PairFinder::new().on(threads).find(scene.view()).expect(SOUND).pairs().to_vec();
            found.sort_unstable();
            assert!(found == expected, "{threads:?}: other pairs among {} bodies", scene.len());
        }
        Self { scene, pairs: expected.len() }
    }

    /// Searches once.
    ///
    /// # Panics
    /// When the search finds another number of pairs.
    pub(super) fn search(&self, finder: &mut PairFinder<2>, threads: Threads<'_>) {
        let found = finder.on(threads).find(self.scene.view()).expect(SOUND);
        assert_eq!(black_box(found.pairs()).len(), self.pairs, "another number of pairs");
    }

    /// Searches on these threads, with a finder of their own.
    pub(super) fn case<'a>(&'a self, threads: Threads<'a>) -> Case<'a> {
        let mut finder = PairFinder::new();
        Case::of(move || self.search(&mut finder, threads))
    }
}

impl Ground {
    pub(super) fn new(common: &Common, quick: bool) -> Result<Self, ThreadPoolBuildError> {
        let cores = numbers::all().max(2);
        let pools = numbers::pools(&[1, 2, 4, 8].map(|times| times * cores))?;
        let n = if quick { 20_000 } else { 1_000_000 };
        let crowd = Crowd::of(input::scene(Kind::Uniform, n, common.seed, common.order), &pools);
        Ok(Self { cores, pools, crowd, rounds: common.rounds, quick, seed: common.seed, order: common.order })
    }

    /// Returns `full` in a full run, and `quick` in a quick one.
    pub(super) fn of<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Makes so many uniform circles. Each `number` gives other circles.
    pub(super) fn crowd(&self, n: usize, number: u64) -> Crowd {
        Crowd::of(input::scene(Kind::Uniform, n, self.seed + number, self.order), &self.pools)
    }

    /// Returns the plan of rows whose percentiles are taken.
    pub(super) fn plan(&self) -> Plan {
        Plan { rounds: self.of(MORE_ROUNDS * self.rounds, self.rounds), ..Plan::default() }
    }
}

/// "pool of 4".
pub(super) fn name(pool: &ThreadPool) -> String {
    format!("pool of {}", pool.current_num_threads())
}

/// The median of times, in milliseconds.
pub(super) fn median(times: &[Duration]) -> f64 {
    Timing::of(times.iter().copied().map(milliseconds).collect(), 1).median
}
