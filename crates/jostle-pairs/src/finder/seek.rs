//! How a search runs: it prepares the input, joins the trees, keeps what later calls need, and notes the statistics.

use core::mem::{forget, swap};
use std::sync::OnceLock;
use std::time::Duration;

use jostle_core::clock::Instant;
use jostle_core::prefetch::prefetch;
use jostle_core::{BuildTimes, Workers};
use jostle_sets::compiled::compiled_here;
use jostle_sets::input::{Input, Relation, Set};
use jostle_sets::prepare::job::JobsOf;
use jostle_sets::prepare::prepare;

use crate::InputError;
use crate::finder::PairFinder;
use crate::finder::thread_scratch::ThreadScratch;
use crate::join::counts::Tests;
use crate::join::filter::PairTest;
use crate::join::hits::PairList;
use crate::neighbors::numbers;
use crate::neighbors::rows::Rows;
use crate::neighbors::skin::Skin;
use crate::neighbors::{NeighborLists, RowEngine};
use crate::pairs::engine::{Engine, Through};
use crate::pairs::plan::Plan;
use crate::pairs::stats::{StageTimes, Stats};

impl<const D: usize> PairFinder<D> {
    /// Prepares an input, runs the joins, and notes the statistics.
    pub(crate) fn seek<R>(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
        join: impl FnOnce(Engines<'_, D>, Plan<'_, D>) -> Result<(R, Tests), InputError>,
    ) -> Result<R, InputError> {
        // The clock is read before the prefetches: reading it waits for memory that was asked for earlier.
        let started = Instant::now();
        let mut scratch = None;
        if ThreadScratch::serves(input, workers) {
            self.prefetch(input);
            scratch = ThreadScratch::take((self.isa(), self.engine.max_pairs));
        }
        let sought = self.seek_in((scratch.as_deref_mut(), started), (input, only), workers, join);
        if let Some(scratch) = scratch {
            scratch.give_back();
        }
        sought
    }

    /// Prefetches the memory of the finder that a search in scratch of its thread reads and changes, in the order in
    /// which the search needs it.
    fn prefetch(&self, input: &Input<'_, D>) {
        prefetch(&self.engine.isa);
        input.prefetch();
        prefetch(&self.engine.pairs);
        self.preparation.prefetch();
        prefetch(&self.listed);
        prefetch(&self.stats);
        prefetch(&self.counted);
    }

    /// As [`PairFinder::seek`], for a search that began at `started`, in `scratch` if there is any. The finder then
    /// takes over from scratch what a search leaves behind.
    fn seek_in<R>(
        &mut self,
        (scratch, mut started): (Option<&mut ThreadScratch<D>>, Instant),
        (input, only): (&Input<'_, D>, Option<PairTest<'_>>),
        workers: Workers<'_>,
        join: impl FnOnce(Engines<'_, D>, Plan<'_, D>) -> Result<(R, Tests), InputError>,
    ) -> Result<R, InputError> {
        let Self { preparation, engine, rows, skin, .. } = self;
        let (mut small, mut shared) =
            scratch.map(|own| (&mut own.preparation, (&mut own.engine, &mut own.rows))).unzip();
        let mut times = prepare(small.as_deref_mut().unwrap_or(preparation), input, engine.isa, workers)?;
        if small.is_some() {
            preparation.prefetch_levels();
        }
        if keeps_bodies(skin, input) {
            // From here on lists are written. If they are not finished, nothing is known of earlier ones.
            skin.forget();
        }
        let prepared = small.as_deref().unwrap_or(preparation);
        let exact = prepared.exact(input);
        if small.is_none() {
            // What is no building of trees is checks, and proxies.
            let prepared = Instant::now();
            times.bounds = (prepared - started).saturating_sub(times.sort + times.tree);
            started = prepared;
        }
        let engines = match &mut shared {
            Some((pairs, rows)) => Engines { pairs, rows, kept: Some(&mut engine.pairs) },
            None => Engines { pairs: &mut *engine, rows, kept: None },
        };
        let joined = join(engines, Plan::new(prepared, &exact, only));
        if let Some(small) = small {
            preparation.take_over(small);
        }
        let (result, tests) = joined?;
        finish(self, input, workers, &(times, started.elapsed(), tests));
        Ok(result)
    }

    pub(crate) fn list_here(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let keeps_bodies = keeps_bodies(&self.skin, input);
        let unfinished = Unfinished { finder: self, keeps_bodies };
        let listed = unfinished.finder.list_whole(input, only, workers);
        if !matches!(listed, Err(InputError::TooManyPairs { .. })) {
            forget(unfinished);
        }
        listed
    }

    fn list_whole(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.seek(input, only, workers, |mut engines, plan| Ok(((), engines.list(plan, workers)?)))?;
        let Self { preparation, engine, listed, .. } = self;
        if input.is_plain() {
            listed.note_plain(engine.pairs.pairs().len());
            return Ok(());
        }
        let exact = preparation.exact(input);
        let of = JobsOf { jobs: &preparation.jobs, ends: &engine.ends };
        listed.note_meetings(input.meetings(), of);
        listed.tell(&exact, of, engine.pairs.pairs_mut(), workers);
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
        let (isa, among) = (self.isa(), matches!(input.relation, Relation::Among(..)));
        if among {
            numbers::check(input.sets().iter().map(Set::len))?;
        }
        self.seek(input, only, workers, |engines, plan| {
            let Engines { pairs, rows, .. } = engines;
            Ok(((), rows.fill((pairs, isa), (plan, among), kind, lists, workers)?))
        })
    }

    /// Notes the statistics of a search that sieved `candidates` candidates and kept `pairs` pairs.
    pub(crate) fn note_sieve(&mut self, candidates: usize, pairs: usize, join: Duration) {
        let (circle_tests, pairs) = (candidates as u64, pairs as u64);
        self.note(BuildTimes::default(), join, Tests { circle_tests, pairs, ..Tests::default() });
    }

    /// Empties the list of pairs, and forgets its statistics.
    pub(crate) fn forget_pairs(&mut self) {
        let _ = self.take_pairs();
        (self.stats, self.counted) = (Stats::default(), OnceLock::from(Stats::default()));
    }

    fn note(&mut self, built: BuildTimes, join: Duration, tests: Tests) {
        let BuildTimes { bounds, sort, tree } = built;
        let Tests { node_tests, leaf_tests, circle_tests, pairs } = tests;
        let time = StageTimes { bounds, sort, tree, join };
        self.stats = Stats { node_tests, leaf_tests, circle_tests, pairs, time, ..Stats::default() };
        self.counted = OnceLock::new();
    }
}

/// A finder that lists pairs. If a function of the caller's or a host panics, this guard empties the list.
struct Unfinished<'a, const D: usize> {
    finder: &'a mut PairFinder<D>,
    /// Whether the search keeps its bodies: it may have kept them before it panicked.
    keeps_bodies: bool,
}

impl<const D: usize> Drop for Unfinished<'_, D> {
    fn drop(&mut self) {
        self.finder.forget_pairs();
        if self.keeps_bodies {
            self.finder.skin.forget();
        }
    }
}

/// Whether a search keeps its bodies, so that it can be told how long its lists hold.
fn keeps_bodies<const D: usize>(skin: &Skin<D>, input: &Input<'_, D>) -> bool {
    input.has_margin() && !skin.coherent
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

    /// Keeps the bodies of a search with a margin, and notes the statistics. These come by reference: a copy made at
    /// once would wait for all earlier writes, to memory that may be far.
    fn finish<const D: usize>(
        finder: &mut PairFinder<D>,
        input: &Input<'_, D>,
        workers: Workers<'_>,
        done: &(BuildTimes, Duration, Tests),
    ) {
        if keeps_bodies(&finder.skin, input) {
            finder.skin.keep_on(input, workers);
        }
        let &(built, join, tests) = done;
        finder.note(built, join, tests);
    }
}

/// The engines that list pairs and fill neighbour lists.
pub(crate) struct Engines<'f, const D: usize> {
    pub(crate) pairs: &'f mut Engine<D>,
    pub(crate) rows: &'f mut RowEngine<D>,
    /// The finder's pair list, where the engine is not the finder's own but scratch of its thread.
    kept: Option<&'f mut PairList>,
}

impl<const D: usize> Engines<'_, D> {
    /// Lists the pairs of all jobs, in the finder's list.
    fn list(&mut self, plan: Plan<'_, D>, workers: Workers<'_>) -> Result<Tests, InputError> {
        self.with_list(|engine| engine.list(plan, workers))
    }

    /// Lists some of the pairs of all jobs, in the finder's list: see [`Engine::list_some`].
    pub(crate) fn list_some(
        &mut self,
        plan: Plan<'_, D>,
        sink: &Through<'_>,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        self.with_list(|engine| engine.list_some(plan, sink, workers))
    }

    fn with_list(
        &mut self,
        list: impl FnOnce(&mut Engine<D>) -> Result<Tests, InputError>,
    ) -> Result<Tests, InputError> {
        let Self { pairs: engine, kept, .. } = self;
        let Some(kept) = kept.as_deref_mut() else { return list(engine) };
        kept.prefetch();
        swap(&mut engine.pairs, kept);
        let tests = list(engine);
        swap(&mut engine.pairs, kept);
        tests
    }
}
