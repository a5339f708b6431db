//! Many questions to a prepared set at once, side by side, their answers one after the other in one list.
//!
//! Questions are cut into blocks by their number alone. Each block keeps its answers in memory of its own until all are
//! found, so that a refusal leaves the last answers as they were.

use core::{fmt, mem};

use jostle_core::scratch::{fill_with_headroom, resize_with_headroom};
use jostle_core::{Threads, Workers, threads::run};

use super::PreparedQueries;
use super::seen::{Seen, SeenAt};
use super::way::Region64;
use crate::compiled::compiled_here;
use crate::query::error::{QueryError, QueryReason, check_all};

/// A question takes about as long as a search does for so many bodies; it decides when a pool is worth calling.
const BODIES_PER_QUERY: usize = 64;

/// Questions in a block at least, and blocks at most, each of which keeps memory of its own.
const QUERIES_PER_BLOCK: usize = 64;
const MAX_BLOCKS: usize = 1024;

/// Answers many questions to a [`PreparedSet`](crate::PreparedSet) at once, in parallel, and keeps all memory for the
/// next time.
///
/// The answers are the same bytes on any threads: those to question 0, then those to question 1, and so on, each in the
/// order that its kind of question has. From the second batch of a size on, nothing is allocated.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles64, PreparedBatch, PreparedSet, Seen, Space, Threads};
///
/// let mut atoms = PreparedSet::new();
/// let space = Space::periodic([Some([0.0, 10.0]), None]);
/// atoms.build(Circles64::new(&[0.5, 5.0], &[0.0, 0.0], 0.5), space, Threads::Serial)?;
///
/// let mut batch = PreparedBatch::new();
/// let answers = batch.circles(atoms.queries(), &[([9.5, 0.0], 0.5), ([2.5, 0.0], 1.0)], Threads::Current)?;
/// assert_eq!(answers.offsets(), [0, 1, 1]);
/// assert_eq!(answers.of(0), [Seen { id: 0, image_shift: [1, 0] }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PreparedBatch<const D: usize> {
    offsets: Vec<usize>,
    found: Vec<Seen<D>>,
    distances: Vec<f64>,
    blocks: Vec<Block<D>>,
    /// Where the answers of each block begin, and the end of the last.
    starts: Vec<usize>,
}

/// The answers to some questions.
struct Block<const D: usize> {
    /// Where the answers to each question end.
    ends: Vec<usize>,
    found: Vec<Seen<D>>,
    reached: Vec<SeenAt<D>>,
    /// The answers to the question at hand.
    one: Vec<SeenAt<D>>,
    refused: bool,
}

impl<const D: usize> Default for Block<D> {
    fn default() -> Self {
        Self { ends: Vec::new(), found: Vec::new(), reached: Vec::new(), one: Vec::new(), refused: false }
    }
}

/// The answers to a batch, borrowed from it: those to question q stand at `offsets()[q]..offsets()[q + 1]`.
#[derive(Clone, Copy)]
pub struct PreparedAnswers<'b, const D: usize> {
    offsets: &'b [usize],
    found: &'b [Seen<D>],
    distances: &'b [f64],
}

impl<const D: usize> fmt::Debug for PreparedAnswers<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedAnswers")
            .field("queries", &self.len())
            .field("found", &self.found.len())
            .finish_non_exhaustive()
    }
}

impl<'b, const D: usize> PreparedAnswers<'b, D> {
    /// Number of questions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when nothing was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the answers to each question begin, and the number of all answers at the end.
    #[must_use]
    pub fn offsets(&self) -> &'b [usize] {
        self.offsets
    }

    /// The bodies and images found.
    #[must_use]
    pub fn found(&self) -> &'b [Seen<D>] {
        self.found
    }

    /// The distance of each answer, for rays and nearest bodies; empty for points, boxes and circles.
    #[must_use]
    pub fn distances(&self) -> &'b [f64] {
        self.distances
    }

    /// The bodies and images found by one question.
    ///
    /// # Panics
    /// When there is no such question.
    #[must_use]
    pub fn of(&self, query: usize) -> &'b [Seen<D>] {
        assert!(query < self.len(), "no query {query}: the batch was of {}", self.len());
        &self.found[self.offsets[query]..self.offsets[query + 1]]
    }
}

impl<const D: usize> fmt::Debug for PreparedBatch<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBatch")
            .field("last", &self.last())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl<const D: usize> Default for PreparedBatch<D> {
    fn default() -> Self {
        Self { offsets: vec![0], found: Vec::new(), distances: Vec::new(), blocks: Vec::new(), starts: Vec::new() }
    }
}

impl<const D: usize> PreparedBatch<D> {
    /// A batch that holds next to no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The answers of the last batch; no answers before the first. After a panic within a batch, there are none, or those
    /// before it.
    #[must_use]
    pub fn last(&self) -> PreparedAnswers<'_, D> {
        PreparedAnswers { offsets: &self.offsets, found: &self.found, distances: &self.distances }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let numbers = self.offsets.capacity() + self.starts.capacity();
        numbers * size_of::<usize>()
            + self.found.capacity() * size_of::<Seen<D>>()
            + self.distances.capacity() * size_of::<f64>()
            + self.blocks.capacity() * size_of::<Block<D>>()
            + self.blocks.iter().map(Block::bytes).sum::<usize>()
    }

    /// For each point the bodies that hold it, as [`PreparedQueries::point`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`]; the last answers stand.
    pub fn points(
        &mut self,
        queries: PreparedQueries<'_, D>,
        points: &[[f64; D]],
        threads: Threads<'_>,
    ) -> Result<PreparedAnswers<'_, D>, QueryError> {
        answer_points(self, queries, points, threads)?;
        Ok(self.last())
    }

    /// For each circle, a centre and a radius, the bodies that overlap it, as [`PreparedQueries::circle`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`]; the last answers stand.
    pub fn circles(
        &mut self,
        queries: PreparedQueries<'_, D>,
        circles: &[([f64; D], f64)],
        threads: Threads<'_>,
    ) -> Result<PreparedAnswers<'_, D>, QueryError> {
        answer_circles(self, queries, circles, threads)?;
        Ok(self.last())
    }

    /// For each box, its lower and its upper corner, the bodies that touch it, as [`PreparedQueries::aabb`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`]; the last answers stand.
    pub fn aabbs(
        &mut self,
        queries: PreparedQueries<'_, D>,
        aabbs: &[([f64; D], [f64; D])],
        threads: Threads<'_>,
    ) -> Result<PreparedAnswers<'_, D>, QueryError> {
        answer_aabbs(self, queries, aabbs, threads)?;
        Ok(self.last())
    }

    /// For each ray, its origin, direction and reach, all bodies that it hits, as [`PreparedQueries::ray`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`]; the last answers stand.
    pub fn rays(
        &mut self,
        queries: PreparedQueries<'_, D>,
        rays: &[([f64; D], [f64; D], f64)],
        threads: Threads<'_>,
    ) -> Result<PreparedAnswers<'_, D>, QueryError> {
        answer_rays(self, queries, rays, threads)?;
        Ok(self.last())
    }

    /// For each ray, its origin, direction and reach, the first body that it hits, if any, as
    /// [`PreparedQueries::first_hit`] finds it.
    ///
    /// # Errors
    /// [`QueryError::Queries`]; the last answers stand.
    pub fn first_hits(
        &mut self,
        queries: PreparedQueries<'_, D>,
        rays: &[([f64; D], [f64; D], f64)],
        threads: Threads<'_>,
    ) -> Result<PreparedAnswers<'_, D>, QueryError> {
        answer_first_hits(self, queries, rays, threads)?;
        Ok(self.last())
    }

    /// For each point the `count` images of bodies nearest to it and not beyond `within`, as
    /// [`PreparedQueries::nearest`] finds them.
    ///
    /// # Errors
    /// [`QueryError::Queries`]; the last answers stand.
    pub fn nearest(
        &mut self,
        queries: PreparedQueries<'_, D>,
        points: &[[f64; D]],
        count: usize,
        within: f64,
        threads: Threads<'_>,
    ) -> Result<PreparedAnswers<'_, D>, QueryError> {
        answer_nearest(self, queries, points, (count, within), threads)?;
        Ok(self.last())
    }

    /// Answers so many questions by `answer`, which appends what it finds to a block.
    fn answer(&mut self, queries: usize, answer: &Answer<'_, D>, threads: Threads<'_>) -> Result<(), QueryError> {
        let size = queries.div_ceil(MAX_BLOCKS).max(QUERIES_PER_BLOCK);
        let count = queries.div_ceil(size);
        if self.blocks.len() < count {
            self.blocks.resize_with(count, Block::default);
        }
        run(threads, queries.saturating_mul(BODIES_PER_QUERY), |workers| {
            workers.fill_blocks("queries", &mut self.blocks[..count], 1, |block, one| {
                one[0].answer(block * size..((block + 1) * size).min(queries), answer);
            });
            if self.blocks[..count].iter().any(|block| block.refused) {
                let again = |at| reason(answer(at, &mut Block::default()));
                return check_all(queries, again);
            }
            self.put_together((queries, size, count), workers);
            Ok(())
        })
    }

    /// Puts the answers of all blocks one after the other.
    fn put_together(&mut self, (queries, size, count): (usize, usize, usize), workers: Workers<'_>) {
        let unfinished = Unfinished(self);
        let Self { offsets, found, distances, blocks, starts } = &mut *unfinished.0;
        let blocks = &blocks[..count];
        starts.clear();
        starts.push(0);
        for block in blocks {
            starts.push(starts[starts.len() - 1] + block.len());
        }
        let (starts, all) = (&*starts, starts[count]);
        let has_distances = blocks.iter().any(|block| !block.reached.is_empty());
        resize_with_headroom(offsets, queries + 1);
        offsets[0] = 0;
        workers.fill_blocks("offsets", &mut offsets[1..], size, |first, ends| {
            let block = first / size;
            ends.iter_mut().zip(&blocks[block].ends).for_each(|(end, own)| *end = starts[block] + own);
        });
        fill_with_headroom(found, all, Seen { id: 0, image_shift: [0; D] });
        resize_with_headroom(distances, if has_distances { all } else { 0 });
        if has_distances {
            workers.fill_parts("answers", starts, (found, distances), |block, found, distances| {
                for ((seen, distance), reached) in found.iter_mut().zip(distances).zip(&blocks[block].reached) {
                    (*seen, *distance) = (reached.body, reached.distance);
                }
            });
        } else {
            // Units take no memory.
            let mut nothing = vec![(); all];
            workers.fill_parts("answers", starts, (found, &mut nothing), |block, found, _| {
                found.copy_from_slice(&blocks[block].found);
            });
        }
        mem::forget(unfinished);
    }
}

/// A batch whose answers are being put together. Where that does not come to its end, since a host panics, say, it has no
/// answers.
struct Unfinished<'a, const D: usize>(&'a mut PreparedBatch<D>);

impl<const D: usize> Drop for Unfinished<'_, D> {
    fn drop(&mut self) {
        self.0.offsets.truncate(1);
        self.0.found.clear();
        self.0.distances.clear();
    }
}

/// Appends the answers to a question, by its number, to a block.
type Answer<'a, const D: usize> = dyn Fn(usize, &mut Block<D>) -> Result<(), QueryError> + Sync + 'a;

/// Why a question is refused, if it is.
fn reason(answered: Result<(), QueryError>) -> Option<QueryReason> {
    match answered {
        Err(QueryError::Query(reason)) => Some(reason),
        Err(QueryError::Queries { first, .. }) => first.first().map(|&(_, reason)| reason),
        Ok(()) => None,
    }
}

impl<const D: usize> Block<D> {
    /// Answers some questions, until one is refused.
    fn answer(&mut self, queries: core::ops::Range<usize>, answer: &Answer<'_, D>) {
        self.ends.clear();
        self.found.clear();
        self.reached.clear();
        self.refused = false;
        for query in queries {
            if answer(query, self).is_err() {
                self.refused = true;
                return;
            }
            self.ends.push(self.len());
        }
    }

    /// The number of answers. Those to regions stand in one list, all others in the other.
    fn len(&self) -> usize {
        self.found.len() + self.reached.len()
    }

    fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<usize>()
            + self.found.capacity() * size_of::<Seen<D>>()
            + (self.reached.capacity() + self.one.capacity()) * size_of::<SeenAt<D>>()
    }

    fn add_region(&mut self, queries: PreparedQueries<'_, D>, region: Region64<D>) -> Result<(), QueryError> {
        let (sweep, first) = (queries.check_region(region)?, self.found.len());
        queries.visit(region, sweep.as_ref(), &mut |seen| self.found.push(seen));
        self.found[first..].sort_unstable();
        Ok(())
    }
}

compiled_here! {
    fn answer_points<const D: usize>(
        batch: &mut PreparedBatch<D>,
        queries: PreparedQueries<'_, D>,
        points: &[[f64; D]],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let answer = |at: usize, block: &mut Block<D>| block.add_region(queries.numbered(at), Region64::Round { center: points[at], radius: 0.0 });
        batch.answer(points.len(), &answer, threads)
    }

    fn answer_circles<const D: usize>(
        batch: &mut PreparedBatch<D>,
        queries: PreparedQueries<'_, D>,
        circles: &[([f64; D], f64)],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let answer = |at: usize, block: &mut Block<D>| {
            let (center, radius) = circles[at];
            block.add_region(queries.numbered(at), Region64::Round { center, radius })
        };
        batch.answer(circles.len(), &answer, threads)
    }

    fn answer_aabbs<const D: usize>(
        batch: &mut PreparedBatch<D>,
        queries: PreparedQueries<'_, D>,
        aabbs: &[([f64; D], [f64; D])],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let answer = |at: usize, block: &mut Block<D>| {
            let (lo, hi) = aabbs[at];
            block.add_region(queries.numbered(at), Region64::Straight { lo, hi })
        };
        batch.answer(aabbs.len(), &answer, threads)
    }

    fn answer_rays<const D: usize>(
        batch: &mut PreparedBatch<D>,
        queries: PreparedQueries<'_, D>,
        rays: &[([f64; D], [f64; D], f64)],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let answer = |at: usize, block: &mut Block<D>| {
            let ((origin, direction, reach), first) = (rays[at], block.reached.len());
            queries.numbered(at).visit_ray(origin, direction, reach, |hit| block.reached.push(hit))?;
            block.reached[first..].sort_unstable();
            Ok(())
        };
        batch.answer(rays.len(), &answer, threads)
    }

    fn answer_first_hits<const D: usize>(
        batch: &mut PreparedBatch<D>,
        queries: PreparedQueries<'_, D>,
        rays: &[([f64; D], [f64; D], f64)],
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let answer = |at: usize, block: &mut Block<D>| {
            let (origin, direction, reach) = rays[at];
            block.reached.extend(queries.numbered(at).first_hit(origin, direction, reach)?);
            Ok(())
        };
        batch.answer(rays.len(), &answer, threads)
    }

    fn answer_nearest<const D: usize>(
        batch: &mut PreparedBatch<D>,
        queries: PreparedQueries<'_, D>,
        points: &[[f64; D]],
        asked: (usize, f64),
        threads: Threads<'_>,
    ) -> Result<(), QueryError> {
        let (count, within) = asked;
        let answer = |at: usize, block: &mut Block<D>| {
            let Block { one, reached, .. } = block;
            queries.numbered(at).nearest(points[at], count, within, one)?;
            reached.extend_from_slice(one);
            Ok(())
        };
        batch.answer(points.len(), &answer, threads)
    }
}
