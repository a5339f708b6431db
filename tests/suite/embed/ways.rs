//! Every way to run a search, by instruction set and threads. All must come to the same result.

use jostle::{Isa, NeighborLists, PairFinder, Search, Threads};
use jostle_testkit::{pool, within};
use rayon::ThreadPool;

/// A finder and lists that serve search after search, by one instruction set on certain threads.
pub(crate) struct Way<const D: usize> {
    pub(crate) finder: PairFinder<D>,
    pub(crate) lists: NeighborLists,
    pub(crate) lists_with_distances: NeighborLists,
    /// The pool that the finder is called in, if any.
    pool: Option<usize>,
}

impl<const D: usize> Way<D> {
    fn new(isa: Isa, pool: Option<usize>) -> Self {
        let mut finder = PairFinder::new();
        finder.set_isa(isa);
        let (lists, lists_with_distances) = (NeighborLists::new(), NeighborLists::with_distances());
        Self { finder, lists, lists_with_distances, pool }
    }

    pub(crate) fn threads(&self) -> Threads<'static> {
        if self.pool.is_some() { Threads::Current } else { Threads::Serial }
    }

    pub(crate) fn search(&mut self) -> Search<'_, '_, D> {
        let threads = self.threads();
        self.finder.on(threads)
    }
}

pub(crate) struct Ways<const D: usize> {
    pools: [ThreadPool; 2],
    ways: Vec<Way<D>>,
    turn: usize,
}

impl<const D: usize> Ways<D> {
    /// Returns every instruction set on the calling thread, and within pools of 1 and of 3.
    pub(crate) fn all() -> Self {
        Self::of([None, Some(0), Some(1)].into_iter().flat_map(|pool| Isa::available().map(move |isa| (isa, pool))))
    }

    /// Returns ways for large scenes: the calling thread, and every instruction set within a pool of 3.
    pub(crate) fn few() -> Self {
        Self::of([(Isa::detect(), None)].into_iter().chain(Isa::available().map(|isa| (isa, Some(1)))))
    }

    fn of(ways: impl Iterator<Item = (Isa, Option<usize>)>) -> Self {
        Self { pools: [1, 3].map(pool), ways: ways.map(|(isa, pool)| Way::new(isa, pool)).collect(), turn: 0 }
    }

    /// Searches in every way, and returns the result, which must be the same for all.
    pub(crate) fn same<R: PartialEq + Send>(&mut self, name: &str, search: impl Fn(&mut Way<D>) -> R + Sync) -> R {
        let first = self.run(0, &search);
        for at in 1..self.ways.len() {
            let (other, way) = (self.run(at, &search), &self.ways[at]);
            assert!(other == first, "{name}, {D}D: another result by {} in pool {:?}", way.finder.isa(), way.pool);
        }
        first
    }

    /// Searches in one way, each time in another.
    pub(crate) fn by_turns<R: Send>(&mut self, search: impl Fn(&mut Way<D>) -> R + Sync) -> R {
        self.turn += 1;
        self.run(self.turn % self.ways.len(), &search)
    }

    fn run<R: Send>(&mut self, at: usize, search: &(impl Fn(&mut Way<D>) -> R + Sync)) -> R {
        let way = &mut self.ways[at];
        match way.pool {
            Some(pool) => within(&self.pools[pool], || search(way)),
            None => search(way),
        }
    }
}
