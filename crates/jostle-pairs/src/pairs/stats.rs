//! Statistics of a search: counts of its work, bytes, and the time of each stage.

use std::sync::Mutex;
use std::time::Duration;

use jostle_core::{Tasks, Workers};

use crate::join::counts::Tests;

/// Time of each stage of one search.
///
/// A search of 512 bodies or fewer, of one set in `f32` at rest in open space, on one thread, takes a microsecond or
/// two. Each look at the clock would be 2 % of that: so all of its time is noted as that of the join. A target without a
/// clock (`wasm32-unknown-unknown`) notes no time at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Validation, the box of all centres and, where a search needs them, proxies in `f32`.
    pub bounds: Duration,
    /// Codes, partition and sort, up to leaves of bodies in order, with the boxes of the leaves and of their nodes.
    pub sort: Duration,
    /// Levels of boxes above those nodes.
    pub tree: Duration,
    /// The join, which also puts the pairs in one list.
    pub join: Duration,
}

impl StageTimes {
    /// The stages with their names, in pipeline order.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Duration); 4] {
        [("bounds", self.bounds), ("sort", self.sort), ("tree", self.tree), ("join", self.join)]
    }

    /// The sum of all stages.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.named().iter().map(|stage| stage.1).sum()
    }
}

/// Statistics of one search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Tests of one box against sixteen.
    pub node_tests: u64,
    /// Pairs of leaves whose bodies were looked at.
    pub leaf_tests: u64,
    /// Tests of one body against another.
    pub circle_tests: u64,
    /// Pairs found.
    pub pairs: u64,
    /// Bytes that the finder holds after the search, the pair list included.
    pub bytes: usize,
    /// Bytes of the pair list, with its room to grow.
    pub list_bytes: usize,
    /// Time of each stage.
    pub time: StageTimes,
}

/// Runs `worker` on as many threads as there are, and returns the sum of their counts. [`Workers::run_in_shares`] hands
/// out to each worker blocks that are left of a join of `bodies` bodies. `callers`: functions of the caller's run in
/// the join.
pub(crate) fn counted(
    (workers, callers): (Workers<'_>, bool),
    name: &'static str,
    (blocks, bodies): (usize, Option<usize>),
    worker: impl Fn(&mut dyn Tasks) -> Tests + Sync,
) -> Tests {
    let all = Mutex::new(Tests::default());
    let count = |blocks: &mut dyn Tasks| {
        let tests = worker(blocks);
        if let Ok(mut all) = all.lock() {
            *all = all.plus(tests);
        }
    };
    workers.run_callers(callers, || workers.run_in_shares(name, (blocks, bodies), count));
    all.into_inner().unwrap_or_default()
}
