//! The pair finder: owns trees, scratch and result, and drives the stages.

use core::fmt;
use std::time::{Duration, Instant};

use jostle_core::{BuildTimes, InputError, Isa, Threads, Workers};

use crate::among::{Plain, Sought, Source};
use crate::derived::Derived;
use crate::double::Frame;
use crate::engine::Engine;
use crate::filter::{Decision, Filter, PairTest};
use crate::found::{Found, FoundAmong};
use crate::input::{ActivationTable, Input, Relation, Set};
use crate::jobs::Jobs;
use crate::neighbors::{NeighborLists, RowEngine};
use crate::periodic::Cell;
use crate::rows::Rows;
use crate::search::Search;
use crate::side::{Side, sum};
use crate::skin::Skin;
use crate::stats::{StageTimes, Stats, Tests};
use crate::swept::Paths;

/// Finds every overlapping pair of circles (D = 2) or spheres (D = 3).
///
/// Make one and keep it: it owns all memory, and from the second search of a size on allocates nothing. Two bodies
/// overlap when `dx*dx + dy*dy (+ dz*dz) <= s*s`, with s the sum of their radii, in f32; touching counts.
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
    /// Of searches within one set.
    pub(crate) own: Side<D>,
    /// Of searches among several.
    sides: Vec<Side<D>>,
    pub(crate) engine: Engine<D>,
    pub(crate) rows: RowEngine<D>,
    pub(crate) skin: Skin<D>,
    /// Which sets the last search among many was of.
    pub(crate) meetings: ActivationTable,
    /// What stands in for bodies that are not as the tree wants them.
    derived: Derived<D>,
    pub(crate) cell: Cell<D>,
    frame: Frame<D>,
    pub(crate) paths: Paths,
    pub(crate) stats: Stats,
}

impl<const D: usize> fmt::Debug for PairFinder<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairFinder")
            .field("bodies", &self.own.tree.len())
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
        engine.ends.clone_from(&self.engine.ends);
        let mut own = Side::default();
        own.tree = self.own.tree.clone();
        Self {
            own,
            engine,
            skin: self.skin.clone(),
            meetings: self.meetings.clone(),
            cell: self.cell.clone(),
            paths: self.paths.clone(),
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
            own: Side::with_capacity(bodies),
            sides: Vec::new(),
            engine: Engine::with_capacity(bodies),
            rows: RowEngine::default(),
            skin: Skin::default(),
            meetings: ActivationTable::default(),
            derived: Derived::default(),
            cell: Cell::default(),
            frame: Frame::default(),
            paths: Paths::default(),
            stats: Stats::default(),
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
        core::iter::once(&mut self.own).chain(&mut self.sides).for_each(|side| side.set_isa(isa));
    }

    /// Chooses the threads for one call: `finder.on(Threads::Serial).find(view)`.
    pub fn on<'f>(&'f mut self, threads: Threads<'f>) -> Search<'f, D> {
        Search::new(self, threads)
    }

    /// Keeps only pairs that pass a test of the caller's in one call: [`Search::only`] on the current rayon pool.
    pub fn only<'f>(&'f mut self, test: &'f (dyn Fn(u32, u32) -> bool + Sync)) -> Search<'f, D> {
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

    /// [`Search::find_among`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn find_among(
        &mut self,
        sets: &[Set<'_, D>],
        meetings: &ActivationTable,
    ) -> Result<FoundAmong<'_, D>, InputError> {
        self.on(Threads::Current).find_among(sets, meetings)
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

    /// As [`PairFinder::still_valid`], of [`PairFinder::find_among`]: the table has to be the same.
    #[must_use]
    pub fn still_valid_among(&self, sets: &[Set<'_, D>], meetings: &ActivationTable) -> bool {
        self.skin.still_valid_among(sets, meetings)
    }

    /// Bytes held: trees, scratch and pair list.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let derived = self.derived.bytes() + self.cell.bytes() + self.frame.bytes() + self.paths.bytes();
        let sides = core::iter::once(&self.own).chain(&self.sides).map(Side::bytes).sum::<usize>();
        sides + self.engine.bytes() + self.rows.bytes() + self.skin.bytes() + derived
    }

    /// Makes ready what is sought, runs the joins, and says what was done.
    pub(crate) fn seek<R>(
        &mut self,
        sought: Sought<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
        join: impl FnOnce(Engines<'_, D>, Jobs<'_, D>) -> (R, Tests),
    ) -> Result<R, InputError> {
        let filter = Filter { only, ..Filter::default() };
        let Self { own, engine, rows, derived, cell, frame, paths, .. } = self;
        let isa = engine.isa;
        let engines = Engines { pairs: engine, rows };
        let (times, started, (result, tests)) = match sought {
            Sought::Within(set) => {
                let times = own.prepare(&set, workers)?;
                let pairing = own.ready(&set).within(filter);
                (times, Instant::now(), join(engines, Jobs::one(&|_| pairing)))
            }
            Sought::Between(a, b) => {
                let sides = sides(&mut self.sides, isa, 2);
                let times = sum(sides[0].prepare(&a, workers)?, sides[1].prepare(&b, workers)?);
                let pairing = sides[0].ready(&a).across(sides[1].ready(&b), filter);
                (times, Instant::now(), join(engines, Jobs::one(&|_| pairing)))
            }
            Sought::Periodic(periodic) => {
                cell.prepare(&periodic, derived, workers)?;
                let set = Plain { source: Source::View(derived.view()), layers: periodic.layers };
                let times = own.prepare(&set, workers)?;
                let ready = own.ready(&set);
                let pairing = |image: usize| ready.at(cell.offsets[image], filter);
                let jobs = Jobs { count: cell.half(), pairing: &pairing, images: &cell.offsets[..cell.images] };
                (times, Instant::now(), join(engines, jobs))
            }
            Sought::Double(doubles) => {
                let slack = frame.prepare(&doubles, derived, isa, workers)?;
                let set = Plain { source: Source::View(derived.view()), layers: doubles.layers };
                let times = own.prepare(&set, workers)?;
                let filter = Filter { decision: Some(Decision { slack, by: &doubles }), ..filter };
                let pairing = own.ready(&set).within(filter);
                (times, Instant::now(), join(engines, Jobs::one(&|_| pairing)))
            }
            Sought::Swept(swept) => {
                paths.prepare(&swept, derived, workers)?;
                let set = Plain { source: Source::View(derived.view()), layers: swept.layers };
                let times = own.prepare(&set, workers)?;
                let filter = Filter { decision: Some(Decision { slack: f32::INFINITY, by: &swept }), ..filter };
                let pairing = own.ready(&set).within(filter);
                (times, Instant::now(), join(engines, Jobs::one(&|_| pairing)))
            }
        };
        let joined = started.elapsed();
        self.finish(times, joined, tests);
        Ok(result)
    }

    /// As [`PairFinder::seek`], among many sets.
    pub(crate) fn seek_among(
        &mut self,
        sets: &[Plain<'_, D>],
        meetings: &ActivationTable,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        meetings.check(sets.len())?;
        let filter = Filter { only, ..Filter::default() };
        let sides = sides(&mut self.sides, self.engine.isa, sets.len());
        let mut times = BuildTimes::default();
        for (side, set) in sides.iter_mut().zip(sets) {
            times = sum(times, side.prepare(set, workers)?);
        }
        let start = Instant::now();
        let pairing = |meeting| {
            let (i, j) = meetings.number(meeting);
            let ready = sides[i].ready(&sets[i]);
            if i == j { ready.within(filter) } else { ready.across(sides[j].ready(&sets[j]), filter) }
        };
        let tests = self.engine.list(Jobs { count: meetings.iter().len(), ..Jobs::one(&pairing) }, workers);
        let joined = start.elapsed();
        self.cell.shifts.clear();
        self.paths.times.clear();
        self.meetings.copy_from(meetings);
        self.finish(times, joined, tests);
        Ok(())
    }

    /// Lists the pairs.
    pub(crate) fn list_input(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        match input.relation {
            Relation::Among(sets, table) if input.space.is_open() => {
                table.check(sets.len())?;
                let plain: Vec<_> = sets.iter().map(Plain::of).collect::<Result<_, _>>()?;
                self.seek_among(&plain, table, only, workers)?;
            }
            _ => self.list(Sought::of(input)?, only, workers)?,
        }
        self.keep(input, workers);
        Ok(())
    }

    /// Keeps the bodies, if lists of their pairs may be kept.
    pub(crate) fn keep(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        if input.has_margin() {
            self.skin.keep_on(input, workers);
        }
    }

    /// Lists the pairs.
    pub(crate) fn list(
        &mut self,
        sought: Sought<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.seek(sought, only, workers, |engines, jobs| ((), engines.pairs.list(jobs, workers)))?;
        self.tell_more(sought, workers);
        Ok(())
    }

    /// Fills neighbour lists, with distances as the caller's bodies have them.
    pub(crate) fn list_neighbors(
        &mut self,
        sought: Sought<'_, D>,
        only: Option<PairTest<'_>>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let isa = self.isa();
        self.seek(sought, only, workers, |engines, jobs| ((), engines.rows.fill(isa, jobs, kind, lists, workers)))?;
        match &sought {
            Sought::Double(doubles) => lists.measure(|a, b| doubles.distance2(a, b) as f32, workers),
            Sought::Swept(swept) => lists.measure(|a, b| swept.distance2(a, b), workers),
            Sought::Within(_) | Sought::Between(..) | Sought::Periodic(_) => {}
        }
        Ok(())
    }

    /// What is to be known of each pair of the list, beside the pair.
    fn tell_more(&mut self, sought: Sought<'_, D>, workers: Workers<'_>) {
        let pairs = self.engine.pairs.pairs();
        self.cell.shifts.clear();
        self.paths.times.clear();
        match &sought {
            Sought::Periodic(periodic) => {
                self.cell.find_shifts(periodic, &self.derived, pairs, &self.engine.ends, workers);
            }
            Sought::Swept(swept) => self.paths.find_times(swept, pairs, workers),
            Sought::Within(_) | Sought::Between(..) | Sought::Double(_) => {}
        }
    }

    fn finish(&mut self, built: BuildTimes, join: Duration, tests: Tests) {
        let BuildTimes { bounds, sort, tree } = built;
        self.stats = Stats {
            node_tests: tests.node_tests,
            leaf_tests: tests.leaf_tests,
            circle_tests: tests.circle_tests,
            pairs: tests.pairs,
            bytes: self.bytes(),
            list_bytes: self.engine.pairs.bytes(),
            time: StageTimes { bounds, sort, tree, join },
        };
    }
}

/// What makes lists of pairs, and of neighbours.
pub(crate) struct Engines<'f, const D: usize> {
    pub(crate) pairs: &'f mut Engine<D>,
    pub(crate) rows: &'f mut RowEngine<D>,
}

/// The first `count` sides, made where there are fewer.
fn sides<const D: usize>(sides: &mut Vec<Side<D>>, isa: Isa, count: usize) -> &mut [Side<D>] {
    while sides.len() < count {
        let mut side = Side::default();
        side.set_isa(isa);
        sides.push(side);
    }
    &mut sides[..count]
}
