//! Many queries at once, side by side, their answers one after the other in one list.

use core::{fmt, mem};

use jostle_core::{Aabb, Threads, Workers, threads::run};

use super::Queries;
use super::answer::{AllHits, Answer, FirstHit, InRegion, Lists, NearestTo};
use super::blocks::{AnswerSome, Asked, answer_in_blocks};
use super::error::{QueryError, check_all};
use super::shape::{Checked, Circle, Ray, check_distance};
use crate::compiled::compiled_here;

/// A query takes about as long as a search does for so many bodies; it decides when a pool is worth calling.
const BODIES_PER_QUERY: usize = 16;

/// Answers many queries at once, in parallel, and keeps all memory for the next time.
///
/// The answers are the same bytes on any threads: those to query 0, then those to query 1, and so on, each in the order
/// that its kind of query has. From the second batch of a size on, nothing is allocated.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circle, Circles, LinearTree, Queries, QueryBatch, Threads};
///
/// let mut tree = LinearTree::new();
/// tree.build(Circles::new(&[0.0, 1.5, 9.0], &[0.0, 0.0, 0.0], 1.0), Threads::Serial)?;
/// let asked = [Circle::new([0.5, 0.0], 0.25), Circle::new([5.0, 0.0], 1.0), Circle::new([9.0, 9.0], 8.0)];
///
/// let mut batch = QueryBatch::new();
/// let answers = batch.circles(Queries::new(&tree), &asked, Threads::Current)?;
/// assert_eq!(answers.offsets(), [0, 2, 2, 3]);
/// assert_eq!(answers.ids(), [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct QueryBatch {
    offsets: Vec<usize>,
    lists: Lists,
    blocks: Vec<Lists>,
}

/// The answers to a batch, borrowed from it: those to query q stand at `offsets()[q]..offsets()[q + 1]`.
#[derive(Clone, Copy)]
pub struct Answers<'b> {
    offsets: &'b [usize],
    ids: &'b [u32],
    distances: &'b [f32],
}

impl fmt::Debug for Answers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("queries", &self.len()).field("found", &self.ids.len()).finish_non_exhaustive()
    }
}

impl<'b> Answers<'b> {
    /// Number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when nothing was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the answers to each query begin, and the number of all answers at the end.
    #[must_use]
    pub fn offsets(&self) -> &'b [usize] {
        self.offsets
    }

    /// The ids of the bodies found.
    #[must_use]
    pub fn ids(&self) -> &'b [u32] {
        self.ids
    }

    /// The distance of each body found, for rays and nearest bodies; empty for points, boxes and circles.
    #[must_use]
    pub fn distances(&self) -> &'b [f32] {
        self.distances
    }

    /// The ids found by one query.
    ///
    /// # Panics
    /// When there is no such query.
    #[must_use]
    pub fn of(&self, query: usize) -> &'b [u32] {
        assert!(query < self.len(), "no query {query}: the batch was of {}", self.len());
        &self.ids[self.offsets[query]..self.offsets[query + 1]]
    }
}

impl fmt::Debug for QueryBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryBatch").field("last", &self.last()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Default for QueryBatch {
    fn default() -> Self {
        Self { offsets: vec![0], lists: Lists::default(), blocks: Vec::new() }
    }
}

impl QueryBatch {
    /// A batch that holds next to no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The answers of the last batch; no answers before the first, or after a panic within a batch.
    #[must_use]
    pub fn last(&self) -> Answers<'_> {
        Answers { offsets: &self.offsets, ids: &self.lists.ids, distances: &self.lists.distances }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = self.blocks.capacity() * size_of::<Lists>() + self.offsets.capacity() * size_of::<usize>();
        lists + self.lists.bytes() + self.blocks.iter().map(Lists::bytes).sum::<usize>()
    }

    /// For each point the bodies that hold it, as [`Queries::point`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`] before any work; the last answers stand.
    pub fn points<const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        points: &[[f32; D]],
        threads: Threads<'_>,
    ) -> Result<Answers<'_>, QueryError> {
        answer_points(self, queries, points, threads)?;
        Ok(self.last())
    }

    /// For each box the bodies that touch it, as [`Queries::aabb`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`] before any work; the last answers stand.
    pub fn aabbs<const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        aabbs: &[Aabb<D>],
        threads: Threads<'_>,
    ) -> Result<Answers<'_>, QueryError> {
        answer_aabbs(self, queries, aabbs, threads)?;
        Ok(self.last())
    }

    /// For each circle the bodies that overlap it, as [`Queries::circle`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`] before any work; the last answers stand.
    pub fn circles<const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        circles: &[Circle<D>],
        threads: Threads<'_>,
    ) -> Result<Answers<'_>, QueryError> {
        answer_circles(self, queries, circles, threads)?;
        Ok(self.last())
    }

    /// For each ray all bodies that it hits, as [`Queries::ray`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`] before any work; the last answers stand.
    pub fn rays<const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        rays: &[Ray<D>],
        threads: Threads<'_>,
    ) -> Result<Answers<'_>, QueryError> {
        answer_rays(self, queries, rays, threads)?;
        Ok(self.last())
    }

    /// For each ray the first body that it hits, if any, as [`Queries::first_hit`] finds it.
    ///
    /// # Errors
    /// [`QueryError::Queries`] before any work; the last answers stand.
    pub fn first_hits<const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        rays: &[Ray<D>],
        threads: Threads<'_>,
    ) -> Result<Answers<'_>, QueryError> {
        answer_first_hits(self, queries, rays, threads)?;
        Ok(self.last())
    }

    /// For each point the `count` bodies nearest to it and not beyond `within`, as [`Queries::nearest`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`], or [`QueryError::Query`] for `within`, before any work; the last answers stand.
    pub fn nearest<const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        points: &[[f32; D]],
        count: usize,
        within: f32,
        threads: Threads<'_>,
    ) -> Result<Answers<'_>, QueryError> {
        check_distance(within)?;
        answer_nearest(self, queries, points, (count, within), threads)?;
        Ok(self.last())
    }

    /// Checks all queries, and answers each by the [`Answer`] that `answer` makes of it.
    fn answer<Q: Checked + Copy + Sync, A: Answer<D>, const D: usize>(
        &mut self,
        queries: Queries<'_, D>,
        asked: &[Q],
        answer: impl Fn(Q) -> A + Sync,
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let count = asked.len();
        queries.check_tree()?;
        check_all(count, |at| asked[at].fault())?;
        let asked = Asked { queries, query: &|at: usize| answer(asked[at]) };
        self.answer_all(count, &|first, ends, lists| asked.answer(first, ends, lists), threads);
        Ok(())
    }

    /// Answers so many queries of any kind, so that this code is compiled once.
    fn answer_all(&mut self, queries: usize, answer: &AnswerSome<'_>, threads: Threads<'_>) {
        let unfinished = Unfinished(self);
        let Self { offsets, lists, blocks } = &mut *unfinished.0;
        offsets.resize(queries + 1, 0);
        let ends = &mut offsets[1..];
        run(threads, queries.saturating_mul(BODIES_PER_QUERY), |workers| match workers {
            Workers::Serial => answer(0, ends, lists),
            Workers::Rayon | Workers::Pool(_) | Workers::Host(_) | Workers::Recorded => {
                answer_in_blocks(answer, workers, ends, lists, blocks);
            }
        });
        mem::forget(unfinished);
    }
}

/// A batch that is being answered. Where that does not come to its end, since the test of the queries panics, say, it has
/// no answers.
struct Unfinished<'a>(&'a mut QueryBatch);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.offsets.truncate(1);
        self.0.lists.clear();
    }
}

compiled_here! {
    fn answer_points<const D: usize>(
        batch: &mut QueryBatch,
        queries: Queries<'_, D>,
        points: &[[f32; D]],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        batch.answer(queries, points, |point| InRegion(Circle::new(point, 0.0)), threads)
    }

    fn answer_aabbs<const D: usize>(
        batch: &mut QueryBatch,
        queries: Queries<'_, D>,
        aabbs: &[Aabb<D>],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        batch.answer(queries, aabbs, InRegion, threads)
    }

    fn answer_circles<const D: usize>(
        batch: &mut QueryBatch,
        queries: Queries<'_, D>,
        circles: &[Circle<D>],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        batch.answer(queries, circles, InRegion, threads)
    }

    fn answer_rays<const D: usize>(
        batch: &mut QueryBatch,
        queries: Queries<'_, D>,
        rays: &[Ray<D>],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        batch.answer(queries, rays, AllHits, threads)
    }

    fn answer_first_hits<const D: usize>(
        batch: &mut QueryBatch,
        queries: Queries<'_, D>,
        rays: &[Ray<D>],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        batch.answer(queries, rays, FirstHit, threads)
    }

    fn answer_nearest<const D: usize>(
        batch: &mut QueryBatch,
        queries: Queries<'_, D>,
        points: &[[f32; D]],
        asked: (usize, f32),
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let (count, within) = asked;
        batch.answer(queries, points, |point| NearestTo { point, count, within }, threads)
    }
}
