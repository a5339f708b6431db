//! Runs a search in every way there is, and holds all that it says against the oracle.

use std::collections::BTreeMap;
use std::sync::Mutex;

use jostle::{InputError, Isa, NeighborLists, PairFinder, Rows, Search, Threads};
use jostle_testkit::algebra::engine::Ready;
use jostle_testkit::algebra::{Case, Hit, Neighbor, Relation};
use jostle_testkit::pool;
use rayon::ThreadPool;

/// Threads of the pools that searches run in.
const POOLS: [usize; 4] = [1, 2, 3, 8];

/// A finder for each instruction set, pools, and what was refused.
pub(crate) struct Bench<const D: usize> {
    finders: Vec<PairFinder<D>>,
    pools: Vec<ThreadPool>,
    lists: NeighborLists,
    turn: usize,
    answered: usize,
    refused: BTreeMap<String, usize>,
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
            pools: POOLS.map(pool).into(),
            lists: NeighborLists::new(),
            turn: 0,
            answered: 0,
            refused: BTreeMap::new(),
        }
    }

    fn run<R: Send>(
        &mut self,
        (finder, pool): Way,
        search: impl FnOnce(Search<'_, D>, &mut NeighborLists) -> R + Send,
    ) -> R {
        let Self { finders, pools, lists, .. } = self;
        let finder = &mut finders[finder];
        match pool {
            Some(pool) => pools[pool].install(|| search(finder.on(Threads::Current), lists)),
            None => search(finder.on(Threads::Serial), lists),
        }
    }

    /// Every instruction set and pool.
    fn all_ways(&self) -> Vec<Way> {
        let pools = || core::iter::once(None).chain((0..POOLS.len()).map(Some));
        (0..self.finders.len()).flat_map(|finder| pools().map(move |pool| (finder, pool))).collect()
    }

    /// Every instruction set, each time in another pool.
    fn some_ways(&mut self) -> Vec<Way> {
        self.turn += 1;
        let turn = self.turn;
        (0..self.finders.len())
            .map(|finder| (finder, (turn + finder).checked_rem(POOLS.len() + 1).filter(|&pool| pool < POOLS.len())))
            .collect()
    }

    /// Checks all answers of a search; whether there were any.
    pub(crate) fn check(&mut self, name: &str, case: &Case<D>) -> bool {
        let ready = case.ready();
        let first = match self.run((0, None), |search, _| ready.find(search)) {
            Ok(first) => first,
            Err(error) => {
                self.note_refusal(name, &ready, &error);
                return false;
            }
        };
        self.answered += 1;
        let mut sorted = first.clone();
        sorted.sort_unstable_by_key(Hit::key);
        assert_same(name, &sorted, &case.hits());
        for way in self.some_ways() {
            let other = self.run(way, |search, _| ready.find(search)).expect(name);
            assert!(other == first, "{name}: another sequence in way {way:?}");
        }
        self.check_visits(name, &ready, &first);
        if !matches!(case.relation, Relation::Among(_)) {
            self.check_rows(name, case, &ready);
        }
        true
    }

    /// Prints what was answered, and what was refused why.
    pub(crate) fn report(&self) {
        eprintln!("{}D: {} answered; refused: {:#?}", D, self.answered, self.refused);
    }

    /// Holds the sequence of a large search against itself, in every way there is.
    pub(crate) fn check_sequence(&mut self, name: &str, case: &Case<D>) {
        let ready = case.ready();
        let Ok(first) = self.run((0, None), |search, _| ready.find(search)) else { return };
        for way in self.all_ways() {
            let other = self.run(way, |search, _| ready.find(search)).expect(name);
            assert!(other == first, "{name}: another sequence in way {way:?}");
        }
    }

    /// What is not built yet is refused as a whole.
    fn note_refusal(&mut self, name: &str, ready: &Ready<'_, D>, error: &InputError) {
        let named =
            matches!(error, InputError::Combination { .. } | InputError::Images { .. } | InputError::Parameter { .. });
        assert!(named, "{name}: {error}");
        let count = self.run((0, None), |search, _| search.count(ready.input()));
        assert!(count.is_err(), "{name}: counted, but not listed");
        *self.refused.entry(error.to_string()).or_default() += 1;
    }

    /// Counts, visitors and folds say the same as the list.
    fn check_visits(&mut self, name: &str, ready: &Ready<'_, D>, hits: &[Hit<D>]) {
        let listed: Vec<_> = hits.iter().map(|hit| hit.pair).collect();
        for way in [(0, None), (self.finders.len() - 1, Some(2))] {
            let count = self.run(way, |search, _| search.count(ready.input()));
            if matches!(count, Err(InputError::Combination { .. })) {
                return;
            }
            assert_eq!(count, Ok(hits.len() as u64), "{name}: the count");
            let pairs = self.run(way, |search, _| {
                let push = |mut list: Vec<[u32; 2]>, more: Vec<[u32; 2]>| {
                    list.extend(more);
                    list
                };
                search.fold(ready.input(), Vec::new, |list, a, b| list.push([a, b]), push)
            });
            assert!(pairs.as_ref() == Ok(&listed), "{name}: other pairs are folded");
            let visited = Mutex::new(Vec::new());
            let visit = |a, b| visited.lock().expect("no visit panics").push([a, b]);
            self.run(way, |search, _| search.for_each_pair(ready.input(), visit)).expect(name);
            let (mut visited, mut listed) = (visited.into_inner().expect("no visit panics"), listed.clone());
            visited.sort_unstable();
            listed.sort_unstable();
            assert!(visited == listed, "{name}: other pairs are visited");
        }
    }

    fn check_rows(&mut self, name: &str, case: &Case<D>, ready: &Ready<'_, D>) {
        for (rows, full) in [(Rows::Half, false), (Rows::Full, true)] {
            let expected = case.rows(full);
            let mut first: Option<NeighborLists> = None;
            let ways = self.some_ways();
            // Distances alone may come from the test of a pair.
            let lists = NeighborLists::with_distances();
            let all = lists.clone().and_distances_f64().and_image_shifts().and_vectors();
            let has_all = self.turn % 3 != 0;
            self.lists = if has_all { all } else { lists };
            for way in ways {
                self.run(way, |search, lists| search.neighbors(ready.input(), rows, lists)).expect(name);
                let first = first.get_or_insert_with(|| self.lists.clone());
                assert!(same_lists::<D>(first, &self.lists), "{name}: other rows in way {way:?}");
            }
            check_lists(name, &self.lists, &expected, has_all);
        }
    }
}

fn same_lists<const D: usize>(a: &NeighborLists, b: &NeighborLists) -> bool {
    let vectors = |lists: &NeighborLists| bits(lists.vectors::<D>().iter().flatten().copied());
    (a.offsets(), a.neighbors(), a.image_shifts::<D>()) == (b.offsets(), b.neighbors(), b.image_shifts())
        && a.distances2().iter().map(|d| d.to_bits()).eq(b.distances2().iter().map(|d| d.to_bits()))
        && bits(a.distances2_f64().iter().copied()) == bits(b.distances2_f64().iter().copied())
        && vectors(a) == vectors(b)
}

fn bits(values: impl Iterator<Item = f64>) -> Vec<u64> {
    values.map(f64::to_bits).collect()
}

/// Rows against those of the oracle: ids ascend, and what is told of each id is the same.
fn check_lists<const D: usize>(name: &str, lists: &NeighborLists, expected: &[Vec<Neighbor<D>>], has_all: bool) {
    assert_eq!(lists.len(), expected.len(), "{name}: rows");
    for (id, row) in expected.iter().enumerate() {
        assert!(lists.of(id).is_sorted(), "{name}: row {id} does not ascend");
        let sorted = |mut row: Vec<(u32, u32)>| {
            row.sort_unstable();
            row
        };
        let found = lists.of(id).iter().zip(lists.distances2_of(id)).map(|(&b, &distance2)| (b, distance2.to_bits()));
        let told = row.iter().map(|it| (it.id, (it.distance2 as f32).to_bits()));
        assert_eq!(sorted(found.collect()), sorted(told.collect()), "{name}: row {id}");
        if !has_all {
            continue;
        }
        let columns = (lists.image_shifts_of(id), lists.vectors_of(id), lists.distances2_f64_of(id));
        let neighbor = |(at, &id): (usize, &u32)| Neighbor {
            id,
            shift: columns.0[at],
            vector: columns.1[at],
            distance2: columns.2[at],
        };
        let mut found: Vec<_> = lists.of(id).iter().enumerate().map(neighbor).collect();
        found.sort_unstable_by_key(|neighbor| (neighbor.id, neighbor.shift));
        assert_eq!(&found, row, "{name}: row {id}");
    }
}

/// Compares two ascending lists and names the first difference.
fn assert_same<const D: usize>(name: &str, found: &[Hit<D>], expected: &[Hit<D>]) {
    if found == expected {
        return;
    }
    let at = found.iter().zip(expected).position(|(f, e)| f != e).unwrap_or(found.len().min(expected.len()));
    let counts = (found.len(), expected.len());
    panic!("{name}: (found, expected) {counts:?}; the first to differ\n{:?}\n{:?}", found.get(at), expected.get(at));
}
