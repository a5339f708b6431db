//! Runs a search in every way there is, and checks all its answers against the oracle.

use std::sync::LazyLock;

use jostle::{Isa, NeighborLists, PairFinder, Rows, Search, Threads};
use jostle_testkit::algebra::engine::Ready;
use jostle_testkit::algebra::{Case, Hit, assert_rows, same_hits, same_lists};
use jostle_testkit::pairs::{Calls, ascending};
use jostle_testkit::{pool, within};
use rayon::ThreadPool;

use super::contacts::Frames;

/// Pools that searches run in.
static POOLS: LazyLock<[ThreadPool; 4]> = LazyLock::new(|| [1, 2, 3, 8].map(pool));

/// A finder for each instruction set.
pub(crate) struct Bench<const D: usize> {
    finders: Vec<PairFinder<D>>,
    lists: NeighborLists,
    turn: usize,
    searches: usize,
}

/// Which finder searches, and in which pool, if any.
type Way = (usize, Option<usize>);

impl<const D: usize> Bench<D> {
    pub(crate) fn new() -> Self {
        let finder = |isa| {
            let mut finder = PairFinder::new();
            finder.set_isa(isa);
            finder
        };
        Self {
            finders: Isa::available().map(finder).collect(),
            lists: NeighborLists::with_distances(),
            turn: 0,
            searches: 0,
        }
    }

    fn run<R: Send>(
        &mut self,
        (finder, pool): Way,
        search: impl FnOnce(Search<'_, '_, D>, &mut NeighborLists) -> R + Send,
    ) -> R {
        let Self { finders, lists, .. } = self;
        let finder = &mut finders[finder];
        match pool {
            Some(pool) => within(&POOLS[pool], || search(finder.on(Threads::Current), lists)),
            None => search(finder.on(Threads::Serial), lists),
        }
    }

    /// Returns every instruction set on the calling thread, and every pool, each by turns with another instruction set.
    fn all_ways(&mut self) -> Vec<Way> {
        self.turn += 1;
        let finder = |pool: usize| (self.turn + pool) % self.finders.len();
        self.serial_ways().chain((0..POOLS.len()).map(|pool| (finder(pool), Some(pool)))).collect()
    }

    /// Returns every instruction set on the calling thread, for searches of few bodies, which threads do not share.
    fn serial_ways(&self) -> impl Iterator<Item = Way> + use<D> {
        (0..self.finders.len()).map(|finder| (finder, None))
    }

    /// Checks all answers of a search.
    pub(crate) fn check(&mut self, name: &str, case: &Case<D>) {
        let ready = case.ready();
        let first = self.run((0, None), |search, _| ready.find(search));
        let first = first.unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = case.assert_hits(name, first.clone());
        for way in self.serial_ways().skip(1) {
            let other = self.run(way, |search, _| ready.find(search)).expect(name);
            assert!(same_hits(&other, &first), "{name}: another sequence in way {way:?}");
        }
        self.check_visits(name, &ready, &first);
        // One search in four, by turns, and no search with so many pairs that sets of keys are slow.
        self.searches += 1;
        if self.searches.is_multiple_of(4) && first.len() <= 1_000 {
            Frames::new(name, case).check(&mut self.finders[0], &ready, &first);
        }
        self.check_rows(name, case, &ready, &expected);
    }

    /// Checks that a large search, and its rows, give one sequence in every way there is.
    pub(crate) fn check_sequence(&mut self, name: &str, case: &Case<D>) {
        let ready = case.ready();
        let mut first = None;
        for way in self.all_ways() {
            let found = self.run(way, |search, _| ready.find(search)).expect(name);
            let lists = [Rows::Full, Rows::Half].map(|rows| {
                self.run(way, |search, lists| search.neighbors(ready.input(), rows, lists)).expect(name);
                self.lists.clone()
            });
            let (hits, first_lists) = first.get_or_insert_with(|| (found.clone(), lists.clone()));
            assert!(same_hits(hits, &found), "{name}: another sequence in way {way:?}");
            let alike = first_lists.iter().zip(&lists).all(|(first, lists)| same_lists::<D>(first, lists));
            assert!(alike, "{name}: other rows in way {way:?}");
        }
    }

    /// Checks that counts, visitors and folds give what the list gives.
    fn check_visits(&mut self, name: &str, ready: &Ready<'_, D>, hits: &[Hit<D>]) {
        let listed: Vec<_> = hits.iter().map(|hit| hit.pair).collect();
        for way in [(0, None), (self.finders.len() - 1, None)] {
            let count = self.run(way, |search, _| search.count(ready.input()));
            assert_eq!(count, Ok(hits.len() as u64), "{name}: the count");
            let pairs = self.run(way, |search, _| {
                let push = |mut list: Vec<[u32; 2]>, more: Vec<[u32; 2]>| {
                    list.extend(more);
                    list
                };
                search.fold(ready.input(), Vec::new, |list, a, b| list.push([a, b]), push)
            });
            assert!(pairs.as_ref() == Ok(&listed), "{name}: other pairs are folded");
            let visited = Calls::default();
            self.run(way, |search, _| search.for_each_pair(ready.input(), |a, b| visited.push(a, b))).expect(name);
            assert!(ascending(&visited.into_pairs()) == ascending(&listed), "{name}: other pairs are visited");
        }
        // One search in three, by turns.
        if self.searches.is_multiple_of(3) {
            let visited = self.run((0, None), |search, _| ready.visit(search)).expect(name);
            assert!(same_hits(&visited, &hits.to_vec()), "{name}: other hits are visited");
        }
    }

    fn check_rows(&mut self, name: &str, case: &Case<D>, ready: &Ready<'_, D>, hits: &[Hit<D>]) {
        for (rows, full) in [(Rows::Half, false), (Rows::Full, true)] {
            let expected = case.rows(hits, full);
            let mut first: Option<NeighborLists> = None;
            // Distances alone may come from the test of a pair.
            self.turn += 1;
            let has_all = !self.turn.is_multiple_of(3);
            let lists = NeighborLists::with_distances();
            let all = || lists.clone().and_distances_f64().and_image_shifts().and_vectors();
            self.lists = if has_all { all() } else { lists.clone() };
            for way in self.serial_ways() {
                self.run(way, |search, lists| search.neighbors(ready.input(), rows, lists)).expect(name);
                let first = first.get_or_insert_with(|| self.lists.clone());
                assert!(same_lists::<D>(first, &self.lists), "{name}: other rows in way {way:?}");
            }
            assert_rows(&name.to_owned(), &self.lists, &expected, &has_all);
        }
    }
}
