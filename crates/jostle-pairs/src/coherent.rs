//! Coherent frames: bodies that move little from frame to frame are not searched from scratch in each.
//!
//! Pairs are listed with a margin, and kept as candidates. In the frames that follow, as long as no body has used up its
//! margin, the pairs are those candidates that touch now, by the same predicate as that of a search.

mod candidates;
mod current;
mod pace;
mod sieve;

use core::fmt;
use std::time::Instant;

use jostle_core::{Isa, Threads, Workers, threads::run};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::finder::PairFinder;
use crate::finder::found::Found;
use crate::input::{Input, Source};
use crate::join::filter::PairTest;
use crate::join::recorded::Recorded;
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;
use crate::pairs::stats::Stats;
use candidates::Candidates;
use current::Current;
use pace::Pace;
use sieve::Sieve;

/// Finds every overlapping pair of bodies that move little from frame to frame, for less than a search from scratch.
///
/// Its answers are those of a [`PairFinder`]: exactly the pairs of each frame, each once, in the same terms, of any [`Input`],
/// with layers and tests of the caller's. Only their order is another: it is a function of the frames given so far, whatever
/// the threads and the instruction set. Make one for each input that is searched frame by frame, and, where frames are asked for
/// both pairs and rows, one for each.
///
/// Pairs are kept with a margin, which follows how far bodies move: it is chosen anew whenever it has been used up. Where they
/// move too far for that to pay, each frame is searched from scratch. So a margin of the caller's own is refused
/// ([`Bodies::with_margin`](jostle_core::Bodies::with_margin)).
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, CoherentFinder};
///
/// let mut finder = CoherentFinder::new();
/// let mut x = [0.0, 2.05, 9.0];
/// for frame in 0..10 {
///     let found = finder.find(Circles::new(&x, &[0.0; 3], 1.0))?;
///     assert_eq!(found.pairs().len(), usize::from(frame > 4));
///     x[1] -= 0.01;
/// }
/// assert!(finder.rebuilds() < 10);
/// # Ok::<(), jostle::InputError>(())
/// ```
pub struct CoherentFinder<const D: usize> {
    /// Searches, holds the result, and has in its skin the bodies that candidates are of.
    finder: PairFinder<D>,
    kept: Kept,
    recorded: Recorded,
    candidates: Candidates<D>,
    current: Current<D>,
    sieve: Sieve,
    pace: Pace,
}

/// What is kept of a search with a margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kept {
    /// Of pairs of bodies in `f32` at rest in open space: tests, of which each finds several pairs.
    #[default]
    Tests,
    /// Of pairs of others: candidates.
    Pairs,
    /// Of rows: candidates, row after row.
    Rows(Rows),
}

/// What is asked for.
enum Answer<'l> {
    Pairs,
    Rows(Rows, &'l mut NeighborLists),
}

impl<const D: usize> fmt::Debug for CoherentFinder<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoherentFinder")
            .field("pairs", &self.finder.last().pairs().len())
            .field("candidates", &self.candidates.pairs.pairs().len())
            .field("margin", &self.margin())
            .field("rebuilds", &self.rebuilds())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl<const D: usize> Default for CoherentFinder<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> CoherentFinder<D> {
    /// A finder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            finder: PairFinder::new(),
            kept: Kept::default(),
            recorded: Recorded::default(),
            candidates: Candidates::default(),
            current: Current::default(),
            sieve: Sieve::default(),
            pace: Pace::default(),
        }
    }

    /// Uses this instruction set from now on: see [`PairFinder::set_isa`].
    pub fn set_isa(&mut self, isa: Isa) {
        self.finder.set_isa(isa);
    }

    /// Chooses the threads for one call: `finder.on(Threads::Serial).find(view)`.
    pub fn on<'f>(&'f mut self, threads: Threads<'f>) -> CoherentSearch<'f, D> {
        CoherentSearch { finder: self, threads, only: None }
    }

    /// Keeps only pairs that pass a test of the caller's in one call: [`CoherentSearch::only`] on the current rayon pool.
    pub fn only<'f>(&'f mut self, test: &'f (dyn Fn(u32, u32) -> bool + Sync)) -> CoherentSearch<'f, D> {
        self.on(Threads::Current).only(test)
    }

    /// [`CoherentSearch::find`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn find<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<Found<'_, D>, InputError> {
        self.on(Threads::Current).find(input)
    }

    /// [`CoherentSearch::neighbors`] on the current rayon pool.
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

    /// The pairs of the last frame that was searched for them; none before the first.
    #[must_use]
    pub fn last(&self) -> Found<'_, D> {
        self.finder.last()
    }

    /// How far each body may move before the pairs are listed anew, in lengths of the caller; 0 while each frame is searched
    /// from scratch.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.pace.margin()
    }

    /// How many frames have been searched from scratch so far, of all that were given.
    #[must_use]
    pub fn rebuilds(&self) -> u64 {
        self.pace.rebuilds()
    }

    /// Searches the next frame from scratch, whatever has been kept.
    pub fn forget(&mut self) {
        self.pace.forget();
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.finder.bytes()
            + self.recorded.bytes()
            + self.candidates.bytes()
            + self.current.bytes()
            + self.sieve.bytes()
    }

    fn find_here(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        mut answer: Answer<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        if input.has_margin() {
            return Err(InputError::Combination {
                parts: "coherent frames and a margin",
                reason: "the finder chooses a margin of its own, and its pairs are those without",
            });
        }
        input.check_searchable()?;
        let kept = answer.keeps(input);
        if self.pace.keeps_list() && self.kept != kept {
            self.pace.forget();
        }
        let refits = self.pace.keeps_list() && kept == Kept::Tests;
        let excess = self.excess(input, workers);
        if self.pace.still_holds(excess) {
            self.list_kept(input, only, &mut answer, workers);
            return Ok(());
        }
        let searched = self.search(input, only, &mut answer, workers);
        if searched.is_err() && refits {
            self.finder.preparation.restore_leaves(input);
        }
        searched
    }

    /// By how much farther than its margin a body has moved; none of bodies that are not those that were kept.
    fn excess(&mut self, input: &Input<'_, D>, workers: Workers<'_>) -> Option<f64> {
        if !self.pace.keeps() {
            return None;
        }
        if !self.pace.keeps_list() || self.kept != Kept::Tests {
            return self.finder.skin.excess(input, workers);
        }
        if !is_recorded(input) || !self.finder.skin.is_of(input) {
            return None;
        }
        Some(self.finder.preparation.refit(input, workers).into()).filter(|excess| *excess < f64::INFINITY)
    }

    /// The answer of a frame, of what was kept with a margin that holds.
    fn list_kept(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        workers: Workers<'_>,
    ) {
        if self.kept == Kept::Tests {
            return self.finder.list_again(input, &self.recorded, only, workers);
        }
        let started = Instant::now();
        self.current.read(input, &self.finder.skin, workers);
        let found = self.sift(input, only, answer, workers);
        self.finder.note_sieve(self.candidates.pairs.pairs().len(), found, started.elapsed());
    }

    /// Searches from scratch, with a margin where that pays.
    fn search(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let Self { finder, candidates, .. } = self;
        let margin = self.pace.next_margin(input.typical_radius(), D);
        if margin == 0.0 {
            match answer {
                Answer::Pairs => finder.list_here(input, only, workers)?,
                Answer::Rows(kind, lists) => finder.list_neighbors_here(input, only, *kind, lists, workers)?,
            }
            self.pace.searched(0.0);
            if self.pace.probes() {
                finder.skin.keep_on(input, workers);
            }
            return Ok(());
        }
        let kept = answer.keeps(input);
        input.grown(margin, |grown| -> Result<(), InputError> {
            match kept {
                Kept::Tests => {
                    finder.record(grown, &mut self.recorded, workers)?;
                    finder.preparation.keep_leaves(grown);
                }
                Kept::Pairs => {
                    finder.list_here(grown, None, workers)?;
                    candidates.take(finder);
                }
                Kept::Rows(kind) => {
                    candidates.rows.want_image_shifts(!input.space.is_open());
                    finder.list_neighbors_here(grown, None, kind, &mut candidates.rows, workers)?;
                    candidates.take_rows(input, workers);
                }
            }
            Ok(())
        })?;
        self.kept = kept;
        self.pace.searched(margin);
        if kept == Kept::Tests {
            finder.preparation.refit(input, workers);
        }
        self.list_kept(input, only, answer, workers);
        Ok(())
    }

    /// Lists the candidates that touch now; how many there are.
    fn sift(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        workers: Workers<'_>,
    ) -> usize {
        let Self { finder, candidates, current, sieve, .. } = self;
        let exact = finder.preparation.exact(input);
        sieve.sift(candidates, &current.test(input, &exact, only), workers);
        let test = current.test(input, &exact, None);
        match answer {
            Answer::Pairs => {
                sieve.list(candidates, &test, (&mut finder.engine.pairs, &mut finder.listed), workers);
            }
            Answer::Rows(_, lists) => sieve.list_rows(candidates, &test, lists, workers),
        }
        sieve.count()
    }
}

impl Answer<'_> {
    /// What is kept for it.
    fn keeps<const D: usize>(&self, input: &Input<'_, D>) -> Kept {
        match self {
            Self::Rows(kind, _) => Kept::Rows(*kind),
            Self::Pairs if is_recorded(input) => Kept::Tests,
            Self::Pairs => Kept::Pairs,
        }
    }
}

/// A [`CoherentFinder`], the threads that it is to use for one call, and which pairs to keep.
pub struct CoherentSearch<'f, const D: usize> {
    finder: &'f mut CoherentFinder<D>,
    threads: Threads<'f>,
    only: Option<PairTest<'f>>,
}

impl<const D: usize> fmt::Debug for CoherentSearch<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoherentSearch")
            .field("finder", &self.finder)
            .field("threads", &self.threads)
            .field("only", &self.only.is_some())
            .finish()
    }
}

impl<'f, const D: usize> CoherentSearch<'f, D> {
    /// On these threads.
    #[must_use]
    pub fn on(self, threads: Threads<'f>) -> Self {
        Self { threads, ..self }
    }

    /// Keeps only pairs that pass a test: see [`Search::only`](crate::Search::only).
    #[must_use]
    pub fn only(self, test: &'f (dyn Fn(u32, u32) -> bool + Sync)) -> Self {
        Self { only: Some(test), ..self }
    }

    /// Finds every overlapping pair of this frame, as [`Search::find`](crate::Search::find) does, but for their order.
    ///
    /// O(n + candidates) while the kept pairs hold, else as a search. [`Found::tree`] and [`Found::rank_to_id`] are those of the
    /// last search from scratch.
    ///
    /// # Errors
    /// [`InputError`], also for bodies with a margin; the finder stays usable and its last result stands.
    pub fn find<'a>(self, input: impl Into<Input<'a, D>>) -> Result<Found<'f, D>, InputError> {
        let (Self { finder, threads, only }, input) = (self, input.into());
        run(threads, input.weight(), |workers| {
            workers.together(|| find(finder, &input, only, Answer::Pairs, workers))
        })?;
        Ok(finder.finder.last())
    }

    /// Fills neighbour lists with the rows of this frame: the same as [`Search::neighbors`](crate::Search::neighbors) has, but for
    /// the order of several images of one neighbour, which is a function of the frames as that of pairs is.
    ///
    /// O(n + candidates) while the kept rows hold, else as a search. A search for pairs, or for rows of another kind, keeps
    /// something else: where these come by turns, each is from scratch.
    ///
    /// # Errors
    /// [`InputError`], also for bodies with a margin; the finder stays usable, and the lists stay as they were.
    pub fn neighbors<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<Stats, InputError> {
        let (Self { finder, threads, only }, input) = (self, input.into());
        run(threads, input.weight(), |workers| {
            workers.together(|| find(finder, &input, only, Answer::Rows(rows, lists), workers))
        })?;
        Ok(finder.finder.stats)
    }
}

/// Whether tests are kept of an input, not pairs: all of its trees are built in each search, of the bodies as the predicate has
/// them.
fn is_recorded<const D: usize>(input: &Input<'_, D>) -> bool {
    input.space.is_open()
        && input
            .sets()
            .iter()
            .all(|set| set.moving.is_none() && matches!(set.source, Source::View(_)) && set.sorted_before.is_none())
}

compiled_here! {
    fn find<const D: usize>(
        finder: &mut CoherentFinder<D>,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: Answer<'_>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        finder.find_here(input, only, answer, workers)
    }
}
