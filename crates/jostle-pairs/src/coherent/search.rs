//! What the caller asks of one frame: the threads, a test, and the answer.

use core::fmt;

use jostle_core::{Recording, Threads, record};
use jostle_sets::input::Input;

use crate::InputError;
use crate::coherent::frame::{By, find};
use crate::coherent::{Answer, CoherentFinder};
use crate::finder::found::Found;
use crate::join::filter::PairTest;
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;
use crate::pairs::stats::Stats;

/// A [`CoherentFinder`], the threads that it is to use for one call, and which pairs to keep.
pub struct CoherentSearch<'f, 't, const D: usize> {
    finder: &'f mut CoherentFinder<D>,
    threads: Threads<'t>,
    only: Option<PairTest<'t>>,
}

impl<const D: usize> fmt::Debug for CoherentSearch<'_, '_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoherentSearch")
            .field("finder", &self.finder)
            .field("threads", &self.threads)
            .field("only", &self.only.is_some())
            .finish()
    }
}

impl<'f, 't, const D: usize> CoherentSearch<'f, 't, D> {
    pub(super) fn new(finder: &'f mut CoherentFinder<D>, threads: Threads<'t>) -> Self {
        Self { finder, threads, only: None }
    }

    /// Uses these threads.
    #[must_use]
    pub fn on(self, threads: Threads<'t>) -> Self {
        Self { threads, ..self }
    }

    /// Keeps only pairs that pass a test: see [`Search::only`](crate::Search::only).
    #[must_use]
    pub fn only(self, test: &'t (dyn Fn(u32, u32) -> bool + Sync)) -> Self {
        Self { only: Some(PairTest::Ids(test)), ..self }
    }

    /// Keeps only pairs that pass a test of their sets and ids: see
    /// [`Search::only_of_sets`](crate::Search::only_of_sets).
    #[must_use]
    pub fn only_of_sets(self, test: &'t (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync)) -> Self {
        Self { only: Some(PairTest::Sets(test)), ..self }
    }

    /// Finds every overlapping pair of this frame, as [`Search::find`](crate::Search::find) does, but for their order.
    ///
    /// Takes O(n + candidates) while the kept pairs hold, else as long as a search. [`Found::tree`] and
    /// [`Found::rank_to_id`] are those of the last search from scratch: of bodies with a margin, where they were
    /// expected to be then. Where space repeats, that tree may also have ghost images of bodies, with ids from n on;
    /// neither `rank_to_id` nor [`Permutation::take`](jostle_core::Permutation::take) counts them.
    ///
    /// # Errors
    /// [`InputError`], also for bodies with a margin; the finder stays usable and its last result stands, but for
    /// [`InputError::TooManyPairs`], after which the list is empty. Where space repeats, a kept frame also accepts
    /// bodies that, since they were listed, have moved too far away for a search.
    pub fn find<'a>(self, input: impl Into<Input<'a, D>>) -> Result<Found<'f, D>, InputError> {
        let (Self { finder, threads, only }, input) = (self, input.into());
        find(finder, &input, only, Answer::Pairs, By::Threads(threads))?;
        Ok(finder.finder.last())
    }

    /// As [`CoherentSearch::find`] with several threads, whatever was chosen, but task after task on the calling
    /// thread. The recording tells how long each task took, and so what more threads than the machine has would gain.
    ///
    /// # Errors
    /// As [`CoherentSearch::find`].
    pub fn find_recorded<'a>(self, input: impl Into<Input<'a, D>>) -> Result<(Found<'f, D>, Recording), InputError> {
        let (Self { finder, only, .. }, input) = (self, input.into());
        let (found, recording) = record(|workers| find(finder, &input, only, Answer::Pairs, By::Recorded(workers)));
        found?;
        Ok((finder.finder.last(), recording))
    }

    /// Fills neighbour lists with the rows of this frame: the same as [`Search::neighbors`](crate::Search::neighbors)
    /// has, but for the order of several images of one neighbour. That order is a function of the frames, as that of
    /// pairs is.
    ///
    /// Takes O(n + candidates) while the kept rows hold, else as long as a search. A search for pairs, or for rows of
    /// another kind, keeps something else: where such searches alternate, each is from scratch.
    ///
    /// # Errors
    /// [`InputError`], also for bodies with a margin; the finder stays usable, and the lists stay as they were, but may be
    /// empty after [`InputError::TooManyPairs`]. After a panic of the caller's test, too, they are as they were.
    /// After a panic of a host they are as they were, empty, or those of this frame.
    pub fn neighbors<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<Stats, InputError> {
        let (Self { finder, threads, only }, input) = (self, input.into());
        find(finder, &input, only, Answer::Rows(rows, lists), By::Threads(threads))?;
        Ok(*finder.finder.stats())
    }

    /// As [`CoherentSearch::neighbors`] with several threads, whatever was chosen, but task after task on the calling
    /// thread. The recording tells how long each task took.
    ///
    /// # Errors
    /// As [`CoherentSearch::neighbors`].
    pub fn neighbors_recorded<'a>(
        self,
        input: impl Into<Input<'a, D>>,
        rows: Rows,
        lists: &mut NeighborLists,
    ) -> Result<(Stats, Recording), InputError> {
        let (Self { finder, only, .. }, input) = (self, input.into());
        let answer = Answer::Rows(rows, lists);
        let (listed, recording) = record(|workers| find(finder, &input, only, answer, By::Recorded(workers)));
        listed?;
        Ok((*finder.finder.stats(), recording))
    }
}
