//! One search: a finder, its threads, and a test of the caller's.

use core::fmt;

use jostle_core::clock::Instant;
use jostle_core::{Recording, Threads, Workers, record, threads::run};
use jostle_sets::input::Input;
use jostle_sets::prepare::job::Job;

use crate::InputError;
use crate::finder::found::{Found, Hit};
use crate::finder::seek::{Engines, list, list_neighbors};
use crate::finder::{Answer, PairFinder};
use crate::join::counts::Tests;
use crate::join::filter::PairTest;
use crate::join::hits::{Count, Fold};
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;
use crate::neighbors::skin::is_still_valid;
use crate::pairs::plan::Plan;
use crate::pairs::stats::Stats;

/// A finder, the threads that it uses for one call, and the test that says which pairs to keep.
///
/// The result borrows the finder alone: threads and test may be temporaries of the call.
pub struct Search<'f, 't, const D: usize> {
    finder: &'f mut PairFinder<D>,
    threads: Threads<'t>,
    only: Option<PairTest<'t>>,
}

impl<const D: usize> fmt::Debug for Search<'_, '_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("finder", &self.finder)
            .field("threads", &self.threads)
            .field("only", &self.only.is_some())
            .finish()
    }
}

impl<'f, 't, const D: usize> Search<'f, 't, D> {
    pub(crate) fn new(finder: &'f mut PairFinder<D>, threads: Threads<'t>) -> Self {
        Self { finder, threads, only: None }
    }

    /// Chooses the threads.
    #[must_use]
    pub fn on(self, threads: Threads<'t>) -> Self {
        Self { threads, ..self }
    }

    /// Keeps only pairs that pass `test`. The search calls `test` once for each pair that overlaps (and passes the
    /// layers), from the threads that find the pairs, with the ids in the order of the pair. ([`Search::neighbors`] may
    /// call it more than once.) In a search among many sets, [`Search::only_of_sets`] tells the sets too.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, PairFinder};
    ///
    /// let team = [0, 0, 1];
    /// let mut finder = PairFinder::new();
    /// let bodies = Circles::new(&[0.0; 3], &[0.0; 3], 1.0);
    /// let found = finder.only(&|a, b| team[a as usize] != team[b as usize]).find(bodies)?;
    /// assert!(found.pairs().contains(&[1, 2]) && !found.pairs().contains(&[0, 1]));
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn only(self, test: &'t (dyn Fn(u32, u32) -> bool + Sync)) -> Self {
        Self { only: Some(PairTest::Ids(test)), ..self }
    }

    /// As [`Search::only`], with a test of the numbers of the two sets and of the pair, both as in a [`Hit`]. A test of
    /// either kind takes the place of an earlier one.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; pub use jostle_sets::*; }
    /// use jostle::{ActivationTable, Circles, Input, PairFinder};
    ///
    /// const SHIPS: usize = 0;
    /// const SHOTS: usize = 1;
    /// let ships = Circles::new(&[0.0, 1.0], &[0.0; 2], 1.0);
    /// let shots = Circles::new(&[0.0, 1.0], &[0.0; 2], 0.1);
    /// let owner = [1, 0]; // the ship that fired each shot
    ///
    /// let test = |sets: [u32; 2], [a, b]: [u32; 2]| sets != [0, 1] || owner[b as usize] != a;
    /// let (sets, table) = ([ships.into(), shots.into()], ActivationTable::none(2).with(SHIPS, SHIPS).with(SHIPS, SHOTS));
    /// let mut finder = PairFinder::new();
    /// let found = finder.only_of_sets(&test).find(Input::among(&sets, &table))?;
    /// assert_eq!(found.pairs_between(SHIPS, SHIPS), [[0, 1]]);
    /// let mut hits = found.pairs_between(SHIPS, SHOTS).to_vec();
    /// hits.sort();
    /// assert_eq!(hits, [[0, 0], [1, 1]]); // not [1, 0] and [0, 1]
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn only_of_sets(self, test: &'t (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync)) -> Self {
        Self { only: Some(PairTest::Sets(test)), ..self }
    }

    /// Finds every overlapping pair: within a view of bodies, a tree or a [`Set`](crate::Set), or
    /// [`between`](crate::between) two sets. O(n + pairs) for spread-out bodies.
    ///
    /// # Errors
    /// [`InputError`] before any work; the finder stays usable and its last result stands. Only
    /// [`InputError::TooManyPairs`] comes once all pairs are counted, and leaves an empty list.
    pub fn find<'a>(self, input: impl Into<Input<'a, D>>) -> Result<Found<'f, D>, InputError> {
        let (Self { finder, threads, only }, input) = (self, input.into());
        search_on(threads, finder, (&input, Answer::Pairs), |finder, workers| list(finder, &input, only, workers))?;
        Ok(Found { finder })
    }

    /// As [`Search::find`] with several threads, whatever was chosen, but the tasks run one after the other on the
    /// calling thread. The recording tells how long each task took, and so what more threads than the machine has would
    /// gain.
    ///
    /// # Errors
    /// [`InputError`] before any work; the finder stays usable and its last result stands. Only
    /// [`InputError::TooManyPairs`] comes once all pairs are counted, and leaves an empty list.
    pub fn find_recorded<'a>(self, input: impl Into<Input<'a, D>>) -> Result<(Found<'f, D>, Recording), InputError> {
        let (finder, input) = (self.finder, input.into());
        let (found, recording) = record(|workers| list(finder, &input, self.only, workers));
        found?;
        Ok((Found { finder }, recording))
    }

    /// Counts the overlapping pairs without listing them.
    ///
    /// # Errors
    /// [`InputError`] before any work; the last result stands.
    pub fn count<'a>(self, input: impl Into<Input<'a, D>>) -> Result<u64, InputError> {
        let count = |engines: Engines<'_, D>, plan: Plan<'_, D>, workers: Workers| {
            let tests = engines.pairs.visit(plan, workers, || Count);
            (tests.pairs, tests)
        };
        self.search(input.into(), count)
    }

    /// Calls `visit(a, b)` once for each overlapping pair, with the ids as [`Search::find`] would list them, from the
    /// threads that find the pairs. The calls come in no fixed order, except that a single thread keeps the order of
    /// the list. No list is made.
    ///
    /// # Errors
    /// [`InputError`] before any work, and before any call.
    pub fn for_each_pair<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        visit: impl Fn(u32, u32) + Sync,
    ) -> Result<Stats, InputError> {
        let op = |(): &mut (), job: Job, a, b| {
            let [a, b] = job.pair(a, b);
            visit(a, b);
        };
        let Self { finder, threads, only } = self;
        let search = Search { finder: &mut *finder, threads, only };
        search.search(input.into(), |engines, plan, workers| {
            ((), engines.pairs.visit(plan, workers, || Fold::new((), plan.jobs, &op)))
        })?;
        Ok(*finder.stats())
    }

    /// As [`Search::for_each_pair`], and passes the sets, the image and the time of impact of each pair too.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use std::sync::Mutex;
    ///
    /// use jostle::{Circles, Hit, Input, PairFinder};
    ///
    /// let hits = Mutex::new(Vec::new());
    /// let atom = Circles::new(&[0.5], &[0.5], 0.5);
    /// let mut finder = PairFinder::new();
    /// // In a cell as wide as itself, it touches its own images.
    /// finder.for_each_hit(Input::within(atom).lattice([[1.0, 0.0], [0.0, 1.0]], [true, true]), |hit| {
    ///     hits.lock().unwrap().push(hit.image_shift);
    /// })?;
    /// assert_eq!(hits.into_inner().unwrap(), [[1, 0], [0, 1]]);
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError`] before any work, and before any call.
    pub fn for_each_hit<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        visit: impl Fn(Hit<D>) + Sync,
    ) -> Result<Stats, InputError> {
        let Self { finder, threads, only } = self;
        let search = Search { finder: &mut *finder, threads, only };
        search.search(input.into(), |engines, plan, workers| {
            let moves = plan.exact.any_move();
            let op = |(): &mut (), job: Job, a, b| {
                let (pair, mut image_shift) = (job.pair(a, b), plan.exact.steps(job.sets, job.image, a, b));
                if job.swaps(a, b) {
                    image_shift = image_shift.map(|step| -step);
                }
                let touch = || plan.exact.touch(job.sets, job.image, a, b).unwrap_or_default();
                visit(Hit { sets: job.sets, pair, image_shift, time_of_impact: moves.then(touch) });
            };
            ((), engines.pairs.visit(plan, workers, || Fold::new((), plan.jobs, &op)))
        })?;
        Ok(*finder.stats())
    }

    /// Folds over the overlapping pairs, in the order of [`Search::find`]. Each block of pairs is folded into an
    /// accumulator of its own, made by `init`. Then `merge` joins the accumulators of neighbouring blocks, left with
    /// right, in an order that depends on the input alone. So even a floating-point sum is the same on any threads.
    ///
    /// # Errors
    /// [`InputError`] before any work, and before any call.
    pub fn fold<'a, A: Send>(
        self,
        input: impl Into<Input<'a, D>>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<A, InputError> {
        let op = |all: &mut A, job: Job, a, b| {
            let [a, b] = job.pair(a, b);
            op(all, a, b);
        };
        self.search(input.into(), |engines, plan, workers| engines.pairs.fold(plan, workers, &init, op, &merge))
    }

    /// Fills neighbour lists. For each body of a view or a tree, a row holds the bodies that it overlaps;
    /// [`between`](crate::between) two sets, a row of each body of the first set holds bodies of the second. Rows stand
    /// in order of id, and each row is ascending. [`Input::among`] many sets, the bodies of all sets have rows, and are
    /// numbered one set after the other: see [`NeighborLists::set_starts`].
    ///
    /// The statistics count tests and pairs once for each row that they belong to. The caller's test gets the ids in
    /// the order of the pair. It is called for each row that the pair belongs to, or once where rows are made of pairs,
    /// and again where the rows are found again: in the first search, when there are more neighbours than there was
    /// room for.
    ///
    /// # Errors
    /// [`InputError`] before any work, but for [`InputError::TooManyPairs`], which comes once all neighbours are counted.
    /// The lists stay as they were, also after a panic of the caller's test. After a panic of a host they are as they were,
    /// empty, or those of this search.
    pub fn neighbors<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<Stats, InputError> {
        let (Self { finder, threads, only }, input) = (self, input.into());
        search_on(threads, finder, (&input, Answer::Rows), |finder, workers| {
            list_neighbors(finder, &input, only, rows, lists, workers)
        })?;
        Ok(*finder.stats())
    }

    /// As [`Search::neighbors`] with several threads, whatever was chosen, but the tasks run one after the other on the
    /// calling thread. The recording tells how long each task took.
    ///
    /// # Errors
    /// As [`Search::neighbors`].
    pub fn neighbors_recorded<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<(Stats, Recording), InputError> {
        let (Self { finder, only, .. }, input) = (self, input.into());
        let (listed, recording) = record(|workers| list_neighbors(finder, &input, only, rows, lists, workers));
        listed?;
        Ok((*finder.stats(), recording))
    }

    /// [`PairFinder::still_valid`] on these threads.
    #[must_use]
    pub fn still_valid<'a>(self, input: impl Into<Input<'a, D>>) -> bool {
        let (skin, input) = (&self.finder.skin, input.into());
        run(self.threads, input.movable(), |workers| is_still_valid(skin, &input, workers))
    }

    /// Prepares the input, and joins its trees by `join`.
    fn search<R: Send>(
        self,
        input: Input<'_, D>,
        join: impl FnOnce(Engines<'_, D>, Plan<'_, D>, Workers) -> (R, Tests) + Send,
    ) -> Result<R, InputError> {
        let Self { finder, threads, only } = self;
        search_on(threads, finder, (&input, Answer::Visits), |finder, workers| {
            finder.seek(&input, only, workers, |engines, plan| Ok(join(engines, plan, workers)))
        })
    }
}

/// Runs a search for a kind of answer on these threads, or on the calling thread alone: of few bodies in any case, of
/// more where the finder has measured that this is sooner done.
fn search_on<const D: usize, R: Send>(
    threads: Threads<'_>,
    finder: &mut PairFinder<D>,
    (input, answer): (&Input<'_, D>, Answer),
    search: impl FnOnce(&mut PairFinder<D>, Workers<'_>) -> Result<R, InputError> + Send,
) -> Result<R, InputError> {
    let (bodies, kind) = (input.weight(), answer as usize);
    let started = finder.ways[kind].measures(bodies).then(Instant::now);
    let (found, alone) = threads.run(finder.ways[kind].limits(bodies), bodies, |workers| {
        (workers.together(|| search(finder, workers)), matches!(workers, Workers::Serial))
    });
    let found = found?;
    if let Some(started) = started {
        finder.ways[kind].note(alone, bodies, started.elapsed());
    }
    Ok(found)
}
