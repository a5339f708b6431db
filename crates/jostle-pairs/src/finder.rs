//! The pair finder: owns trees, scratch and result, and runs the stages.

pub(crate) mod found;
pub(crate) mod search;
mod thread_scratch;

use core::fmt;
use core::mem::swap;
use std::time::{Duration, Instant};

use jostle_core::{BuildTimes, Isa, Threads, Workers};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::finder::found::{Found, Hit};
use crate::finder::search::Search;
use crate::finder::thread_scratch::ThreadScratch;
use crate::input::{Input, Relation, Set};
use crate::join::counts::Tests;
use crate::join::filter::PairTest;
use crate::join::hits::PairList;
use crate::join::job::JobsOf;
use crate::neighbors::rows::Rows;
use crate::neighbors::skin::Skin;
use crate::neighbors::{NeighborLists, RowEngine};
use crate::pairs::engine::Engine;
use crate::pairs::listed::{Listed, put_in_order};
use crate::pairs::plan::Plan;
use crate::pairs::prepare::Preparation;
use crate::pairs::stats::{StageTimes, Stats};
use crate::simd::prefetch;

/// Finds every overlapping pair of circles (D = 2) or spheres (D = 3).
///
/// Make one and keep it: it owns all memory, but for scratch that small searches of a thread share, and from the second search
/// of a size on a thread on allocates nothing. Two bodies overlap when `dx*dx + dy*dy (+ dz*dz) <= s*s`, with s the sum of their
/// radii, in f32; touching counts.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, PairFinder};
///
/// let mut finder = PairFinder::new();
/// let found = finder.find(Circles::new(&[0.0, 1.5, 9.0], &[0.0, 0.0, 0.0], 1.0))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// # Ok::<(), jostle::InputError>(())
/// ```
pub struct PairFinder<const D: usize> {
    pub(crate) preparation: Preparation<D>,
    pub(crate) engine: Engine<D>,
    pub(crate) rows: RowEngine<D>,
    pub(crate) skin: Skin<D>,
    pub(crate) listed: Listed<D>,
    pub(crate) stats: Stats,
    /// What the last search has worked with, and bytes of all that such searches leave as it is, once counted.
    last_used: Used,
    bytes_beside: Option<usize>,
}

/// Memory of a finder that a search may make grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Used {
    /// Any.
    All,
    /// Its own tree, what makes lists, and their scratch.
    Plain,
    /// Its own tree and list, but no scratch.
    Kept,
}

impl<const D: usize> fmt::Debug for PairFinder<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairFinder")
            .field("bodies", &self.preparation.own_tree().len())
            .field("pairs", &self.engine.pairs.pairs().len())
            .field("isa", &self.isa())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// A clone has the last result, its tree, and what [`PairFinder::still_valid`] compares with; its scratch memory is its own,
/// empty as yet.
impl<const D: usize> Clone for PairFinder<D> {
    fn clone(&self) -> Self {
        let mut engine = Engine::with_capacity(0);
        engine.isa = self.engine.isa;
        engine.pairs = self.engine.pairs.clone();
        let mut preparation = Preparation::with_capacity(0);
        preparation.set_own_tree(self.preparation.own_tree().clone());
        Self {
            preparation,
            engine,
            skin: self.skin.clone(),
            listed: self.listed.clone(),
            stats: self.stats,
            ..Self::new()
        }
    }
}

impl<const D: usize> Default for PairFinder<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> PairFinder<D> {
    /// A finder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A finder with memory for `bodies` bodies and as many pairs.
    #[must_use]
    pub fn with_capacity(bodies: usize) -> Self {
        Self {
            preparation: Preparation::with_capacity(bodies),
            engine: Engine::with_capacity(bodies),
            rows: RowEngine::default(),
            skin: Skin::default(),
            listed: Listed::default(),
            stats: Stats::default(),
            last_used: Used::All,
            bytes_beside: None,
        }
    }

    /// The instruction set in use: the best of this machine, unless the environment variable `JOSTLE_ISA` or
    /// [`PairFinder::set_isa`] says otherwise.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.engine.isa
    }

    /// Uses this instruction set from now on. The result does not depend on it.
    pub fn set_isa(&mut self, isa: Isa) {
        self.engine.isa = isa;
        self.preparation.set_isa(isa);
    }

    /// Chooses the threads for one call: `finder.on(Threads::Serial).find(view)`.
    pub fn on<'t>(&mut self, threads: Threads<'t>) -> Search<'_, 't, D> {
        Search::new(self, threads)
    }

    /// Keeps only pairs that pass a test of the caller's in one call: [`Search::only`] on the current rayon pool.
    pub fn only<'t>(&mut self, test: &'t (dyn Fn(u32, u32) -> bool + Sync)) -> Search<'_, 't, D> {
        self.on(Threads::Current).only(test)
    }

    /// [`Search::find`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn find<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<Found<'_, D>, InputError> {
        self.on(Threads::Current).find(input)
    }

    /// The pairs `[a, b]` of a body a of the first set and a body b of the second: [`PairFinder::find`] of [`Input::between`].
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn find_between<'a>(
        &mut self,
        a: impl Into<Set<'a, D>>,
        b: impl Into<Set<'a, D>>,
    ) -> Result<Found<'_, D>, InputError> {
        self.find(Input::between(a, b))
    }

    /// [`Search::count`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn count<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<u64, InputError> {
        self.on(Threads::Current).count(input)
    }

    /// [`Search::for_each_pair`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn for_each_pair<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        visit: impl Fn(u32, u32) + Sync,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).for_each_pair(input, visit)
    }

    /// [`Search::for_each_hit`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn for_each_hit<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        visit: impl Fn(Hit<D>) + Sync,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).for_each_hit(input, visit)
    }

    /// [`Search::fold`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn fold<'a, A: Send>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<A, InputError> {
        self.on(Threads::Current).fold(input, init, op, merge)
    }

    /// The result of the last [`find`](PairFinder::find); empty before the first. A search that makes no list leaves
    /// this one as it was; tree and statistics are those of the last search of any kind.
    #[must_use]
    pub fn last(&self) -> Found<'_, D> {
        Found { finder: self }
    }

    /// Takes the list of the last [`find`](PairFinder::find) out of the finder, without a copy: [`PairFinder::last`] is then
    /// empty, and the next list is made in memory of its own.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, PairFinder};
    ///
    /// let mut finder = PairFinder::new();
    /// finder.find(Circles::new(&[0.0, 1.5], &[0.0, 0.0], 1.0))?;
    /// assert_eq!(finder.take_pairs(), [[0, 1]]);
    /// assert!(finder.last().pairs().is_empty());
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn take_pairs(&mut self) -> Vec<[u32; 2]> {
        self.replace_pairs(Vec::new())
    }

    /// As [`PairFinder::take_pairs`], and makes the next list in the memory of another one, whatever that holds: for a host that gets
    /// back what it has handed out.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, PairFinder};
    ///
    /// let (mut finder, mut memory) = (PairFinder::new(), Vec::new());
    /// for (x, expected) in [(1.0, vec![[0, 1]]), (9.0, vec![])] {
    ///     finder.find(Circles::new(&[0.0, x], &[0.0; 2], 1.0))?;
    ///     let pairs = finder.replace_pairs(memory);
    ///     assert_eq!(pairs, expected);
    ///     memory = pairs; // which the host hands out, and gets back
    /// }
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    pub fn replace_pairs(&mut self, memory: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
        self.listed = Listed::default();
        self.engine.pairs.replace(memory)
    }

    /// [`Search::neighbors`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the lists stay as they were.
    pub fn neighbors<'a>(
        &mut self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).neighbors(input, rows, lists)
    }

    /// True while every list that the last search with a margin has made, and that the caller has kept, holds all pairs
    /// of these bodies, which are to be given as they were searched: see [`Skin::still_valid`]. Searches of bodies
    /// none of which has a margin change nothing of that.
    #[must_use]
    pub fn still_valid<'a>(&self, input: impl Into<Input<'a, D>>) -> bool {
        self.skin.still_valid(input)
    }

    /// Bytes held: trees, scratch and pair list.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.preparation.bytes() + self.engine.bytes() + self.rows.bytes() + self.skin.bytes() + self.listed.bytes()
    }

    /// Which sets of an input whose search was the last one had been sorted before, and were not sorted for it.
    #[doc(hidden)]
    #[must_use]
    pub fn adopted(&self, input: &Input<'_, D>) -> Vec<bool> {
        self.preparation.adopted(input)
    }

    /// Makes ready what an input names, runs the joins, and says what was done.
    pub(crate) fn seek<R>(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
        join: impl FnOnce(Engines<'_, D>, Plan<'_, D>) -> (R, Tests),
    ) -> Result<R, InputError> {
        let mut scratch = ThreadScratch::take(input, self.isa(), workers);
        if scratch.is_some() {
            prefetch(self);
        }
        let sought = self.seek_in(scratch.as_deref_mut(), (input, only), workers, join);
        if let Some(scratch) = scratch {
            scratch.give_back();
        }
        sought
    }

    /// As [`PairFinder::seek`], in this scratch, if there is one; then the finder takes over what a search leaves behind.
    fn seek_in<R>(
        &mut self,
        scratch: Option<&mut ThreadScratch<D>>,
        (input, only): (&Input<'_, D>, Option<PairTest<'_>>),
        workers: Workers<'_>,
        join: impl FnOnce(Engines<'_, D>, Plan<'_, D>) -> (R, Tests),
    ) -> Result<R, InputError> {
        let Self { preparation, engine, rows, .. } = self;
        let (mut small, mut shared) =
            scratch.map(|own| (&mut own.preparation, (&mut own.engine, &mut own.rows))).unzip();
        let times = prepare(small.as_deref_mut().unwrap_or(preparation), input, engine.isa, workers)?;
        if small.is_some() {
            preparation.prefetch_own();
        }
        let prepared = small.as_deref().unwrap_or(preparation);
        let exact = prepared.exact(input);
        let started = Instant::now();
        let engines = match &mut shared {
            Some((pairs, rows)) => Engines { pairs, rows, kept: Some(&mut engine.pairs) },
            None => Engines { pairs: &mut *engine, rows, kept: None },
        };
        let (result, tests) = join(engines, prepared.plan(&exact, only));
        let joined = started.elapsed();
        let mut used = if input.is_plain() { Used::Plain } else { Used::All };
        if let (Some(small), Some((shared, _))) = (small, shared) {
            engine.ends.clone_from(&shared.ends);
            preparation.take_over(small);
            used = Used::Kept;
        }
        finish(self, input, workers, (times, joined, tests, used));
        Ok(result)
    }

    pub(crate) fn list_here(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.seek(input, only, workers, |engines, plan| ((), engines.list(plan, workers)))?;
        let Self { preparation, engine, listed, .. } = self;
        let exact = preparation.exact(input);
        let of = JobsOf { jobs: &preparation.jobs, ends: &engine.ends };
        listed.note_meetings(input.meetings(), of);
        listed.tell(&exact, of, engine.pairs.pairs(), workers);
        if exact.cell.is_some() {
            put_in_order(of, engine.pairs.pairs_mut(), workers);
        }
        Ok(())
    }

    pub(crate) fn list_neighbors_here(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        if matches!(input.relation, Relation::Among(..)) {
            return Err(InputError::Combination {
                parts: "neighbour lists and an activation table",
                reason: "a row would not say of which set its neighbours are; ask for the lists of each two sets",
            });
        }
        if lists.want_columns() {
            input.check_round(
                "boxes or capsules and distances, shifts or vectors of neighbours",
                "only circles and spheres have centres that these could be of; ask for lists of ids",
            )?;
        }
        let isa = self.isa();
        // Rows may have grown.
        self.last_used = Used::All;
        self.seek(input, only, workers, |engines, plan| {
            let Engines { pairs, rows, .. } = engines;
            let tests = match plan.exact.shaped {
                true => rows.fill_from_pairs(pairs, plan, kind, lists, workers),
                false => rows.fill(isa, plan, kind, lists, workers),
            };
            ((), tests)
        })
    }

    /// Bytes of what a search may have made grow.
    fn bytes_used(&self, used: Used) -> usize {
        match used {
            Used::All => self.bytes(),
            Used::Plain => self.preparation.own_tree().bytes() + self.engine.bytes(),
            Used::Kept => self.preparation.own_tree().kept_bytes() + self.engine.pairs.bytes(),
        }
    }

    /// Notes that so many pairs are what is left of so many candidates.
    pub(crate) fn note_sieve(&mut self, candidates: usize, pairs: usize, join: Duration) {
        let (circle_tests, pairs) = (candidates as u64, pairs as u64);
        self.note(BuildTimes::default(), join, Tests { circle_tests, pairs, ..Tests::default() }, Used::All);
    }

    fn note(&mut self, built: BuildTimes, join: Duration, tests: Tests, used: Used) {
        let BuildTimes { bounds, sort, tree } = built;
        let bytes = self.bytes_used(used);
        let again = used == self.last_used;
        let beside = self.bytes_beside.filter(|_| again).unwrap_or_else(|| self.bytes() - bytes);
        self.bytes_beside = again.then_some(beside);
        self.last_used = used;
        self.stats = Stats {
            node_tests: tests.node_tests,
            leaf_tests: tests.leaf_tests,
            circle_tests: tests.circle_tests,
            pairs: tests.pairs,
            bytes: bytes + beside,
            list_bytes: self.engine.pairs.bytes(),
            time: StageTimes { bounds, sort, tree, join },
        };
    }
}

compiled_here! {
    /// Lists the pairs.
    pub(crate) fn list<const D: usize>(
        finder: &mut PairFinder<D>,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        finder.list_here(input, only, workers)
    }

    /// Fills neighbour lists.
    pub(crate) fn list_neighbors<const D: usize>(
        finder: &mut PairFinder<D>,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        finder.list_neighbors_here(input, only, kind, lists, workers)
    }

    fn prepare<const D: usize>(
        preparation: &mut Preparation<D>,
        input: &Input<'_, D>,
        isa: Isa,
        workers: Workers<'_>,
    ) -> Result<BuildTimes, InputError> {
        preparation.prepare(input, isa, workers)
    }

    /// Keeps what a search with a margin was of, and notes what was done.
    fn finish<const D: usize>(
        finder: &mut PairFinder<D>,
        input: &Input<'_, D>,
        workers: Workers<'_>,
        done: (BuildTimes, Duration, Tests, Used),
    ) {
        if input.has_margin() && !finder.skin.coherent {
            finder.skin.keep_on(input, workers);
        }
        let (built, join, tests, used) = done;
        finder.note(built, join, tests, used);
    }
}

/// What makes lists of pairs, and of neighbours.
pub(crate) struct Engines<'f, const D: usize> {
    pub(crate) pairs: &'f mut Engine<D>,
    pub(crate) rows: &'f mut RowEngine<D>,
    /// The list of the finder, where the engine is not the finder's own.
    kept: Option<&'f mut PairList>,
}

impl<const D: usize> Engines<'_, D> {
    /// Lists the pairs of all jobs, in the finder's list.
    fn list(self, plan: Plan<'_, D>, workers: Workers<'_>) -> Tests {
        let Self { pairs: engine, kept, .. } = self;
        let Some(kept) = kept else { return engine.list(plan, workers) };
        kept.prefetch();
        swap(&mut engine.pairs, kept);
        let tests = engine.list(plan, workers);
        swap(&mut engine.pairs, kept);
        tests
    }
}
