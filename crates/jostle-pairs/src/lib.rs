//! Stub of the pair finder: the final API over a double loop.
use std::time::Duration;

use jostle_core::{Bodies, InputError};

/// Which threads do the work.
#[derive(Debug, Clone, Copy, Default)]
pub enum Threads<'a> {
    /// The rayon pool that the call is made in (the global one outside any pool).
    #[default]
    Current,
    /// This pool.
    Pool(&'a rayon::ThreadPool),
    /// The calling thread alone.
    Serial,
}

/// Finds every overlapping pair; keep it from frame to frame, it owns all scratch memory.
#[derive(Debug, Default)]
pub struct PairFinder<const D: usize> {
    pairs: Vec<[u32; 2]>,
    rank_to_id: Vec<u32>,
    stats: Stats,
}

/// Time of each stage of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Validation and the box of all centres.
    pub bounds: Duration,
    /// Codes, partition and sort.
    pub sort: Duration,
    /// Leaves and levels of boxes.
    pub tree: Duration,
    /// The self-join.
    pub join: Duration,
    /// Putting the pairs in one list.
    pub emit: Duration,
}

impl StageTimes {
    /// The stages with their names, in pipeline order.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Duration); 5] {
        [("bounds", self.bounds), ("sort", self.sort), ("tree", self.tree), ("join", self.join), ("emit", self.emit)]
    }
}

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Tests of a box against the 16 children of a node.
    pub node_tests: u64,
    /// Pairs of leaves whose circles were looked at.
    pub leaf_tests: u64,
    /// Tests of one circle against another.
    pub circle_tests: u64,
    /// Pairs found.
    pub pairs: u64,
    /// Bytes held by the finder after the call, the pair list included.
    pub bytes: usize,
    /// Time of each stage.
    pub time: StageTimes,
}

/// The result of a search, borrowed from the finder.
#[derive(Debug, Clone, Copy)]
pub struct Found<'f> {
    pairs: &'f [[u32; 2]],
    rank_to_id: &'f [u32],
    stats: &'f Stats,
}

impl<'f> Found<'f> {
    /// Every overlapping pair once, `[a, b]` with `a < b`.
    #[must_use]
    pub fn pairs(&self) -> &'f [[u32; 2]] {
        self.pairs
    }
    /// The id of the body at each rank.
    #[must_use]
    pub fn rank_to_id(&self) -> &'f [u32] {
        self.rank_to_id
    }
    /// What the search did.
    #[must_use]
    pub fn stats(&self) -> &'f Stats {
        self.stats
    }
}

impl<const D: usize> PairFinder<D> {
    /// A finder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds every overlapping pair on the current pool.
    pub fn find(&mut self, bodies: Bodies<'_, D>) -> Result<Found<'_>, InputError> {
        self.on(Threads::Current).find(bodies)
    }

    /// Chooses the threads for the next call.
    pub fn on<'f>(&'f mut self, threads: Threads<'f>) -> Search<'f, D> {
        let _ = threads;
        Search { finder: self }
    }
}

/// A finder and the threads it is to use for one call.
#[derive(Debug)]
pub struct Search<'f, const D: usize> {
    finder: &'f mut PairFinder<D>,
}

impl<'f, const D: usize> Search<'f, D> {
    /// Finds every overlapping pair.
    pub fn find(self, bodies: Bodies<'_, D>) -> Result<Found<'f>, InputError> {
        bodies.check_shape()?;
        let f = self.finder;
        f.pairs.clear();
        f.rank_to_id = (0..bodies.len() as u32).collect();
        for a in 0..bodies.len() {
            for b in a + 1..bodies.len() {
                let s = bodies.radius(a) + bodies.radius(b);
                let (p, q) = (bodies.center(a), bodies.center(b));
                let mut d2 = 0.0;
                for k in 0..D {
                    d2 += (q[k] - p[k]) * (q[k] - p[k]);
                }
                if d2 <= s * s {
                    f.pairs.push([a as u32, b as u32]);
                }
            }
        }
        f.stats.pairs = f.pairs.len() as u64;
        Ok(Found { pairs: &f.pairs, rank_to_id: &f.rank_to_id, stats: &f.stats })
    }
}
