//! A batch in blocks, side by side.
//!
//! Queries are cut into blocks by their number alone. A block's answers are kept apart until all are found, then copied
//! to their place. One thread alone puts its answers there at once.

use core::ops::Range;

use jostle_core::Workers;
use jostle_core::disjoint::Disjoint;

use super::Queries;
use super::answer::{Answer, Lists};
use crate::simd::{self, LaneWork, Lanes};

/// Queries in a block at least: some tens of microseconds.
const QUERIES_PER_BLOCK: usize = 128;

/// Blocks at most, each of which keeps memory of its own.
const MAX_BLOCKS: usize = 1024;

/// What the blocks of a batch share.
pub(super) struct Asked<'t, Q, const D: usize> {
    pub(super) queries: Queries<'t, D>,
    /// The query of a number.
    pub(super) query: &'t Q,
}

impl<A: Answer<D>, Q: Fn(usize) -> A, const D: usize> Asked<'_, Q, D> {
    /// See [`AnswerSome`].
    pub(super) fn answer(&self, first: usize, ends: &mut [usize], lists: &mut Lists) {
        lists.clear();
        let queries = first..first + ends.len();
        simd::run(self.queries.isa, Block { asked: self, queries, ends, lists });
    }
}

/// Answers the queries from a number on, one for each place of a slice. Writes into each place the number at which the
/// answers to its query end in the lists.
pub(super) type AnswerSome<'a> = dyn Fn(usize, &mut [usize], &mut Lists) + Sync + 'a;

/// Answers all queries, side by side, each block in memory of its own first.
#[allow(unsafe_code, reason = "each block has queries and answers of its own")]
pub(super) fn answer_in_blocks(
    answer: &AnswerSome<'_>,
    workers: Workers<'_>,
    ends: &mut [usize],
    lists: &mut Lists,
    blocks: &mut Vec<Lists>,
) {
    let queries = ends.len();
    let size = queries.div_ceil(MAX_BLOCKS).max(QUERIES_PER_BLOCK);
    let count = queries.div_ceil(size);
    if blocks.len() < count {
        blocks.resize_with(count, Lists::default);
    }
    let blocks = &mut blocks[..count];
    let range_of = |block: usize| block * size..((block + 1) * size).min(queries);
    let ends = Disjoint::new(ends);
    workers.fill_blocks("queries", blocks, 1, |block, lists| {
        let range = range_of(block);
        // SAFETY: blocks are disjoint ranges of queries.
        answer(range.start, unsafe { ends.range(range) }, &mut lists[0]);
    });
    let (mut ids, mut distances) = (0, 0);
    for block in &mut *blocks {
        block.before = [ids, distances];
        (ids, distances) = (ids + block.ids.len(), distances + block.distances.len());
    }
    lists.ids.resize(ids, 0);
    lists.distances.resize(distances, 0.0);
    let (ids, distances) = (Disjoint::new(&mut lists.ids), Disjoint::new(&mut lists.distances));
    workers.run("answers", count, |block| {
        let lists = &blocks[block];
        let [first_id, first_distance] = lists.before;
        // SAFETY: blocks are disjoint ranges of queries, and of answers by the sums above.
        unsafe {
            ids.range(first_id..first_id + lists.ids.len()).copy_from_slice(&lists.ids);
            let distances = distances.range(first_distance..first_distance + lists.distances.len());
            distances.copy_from_slice(&lists.distances);
            ends.range(range_of(block)).iter_mut().for_each(|end| *end += first_id);
        }
    });
}

struct Block<'a, 't, Q, const D: usize> {
    asked: &'a Asked<'t, Q, D>,
    queries: Range<usize>,
    ends: &'a mut [usize],
    lists: &'a mut Lists,
}

impl<A: Answer<D>, Q: Fn(usize) -> A, const D: usize> LaneWork for Block<'_, '_, Q, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = A::GAINS_BY_AVX512;

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (query, end) in self.queries.zip(self.ends) {
            let queries = Queries { only: self.asked.queries.only.numbered(query), ..self.asked.queries };
            (self.asked.query)(query).answer::<L>(queries, self.lists);
            *end = self.lists.ids.len();
        }
    }
}
