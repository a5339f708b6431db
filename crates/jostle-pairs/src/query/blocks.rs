//! A batch in blocks, side by side.
//!
//! Queries are cut into blocks by their number alone. A block's answers are kept apart until all are found, then copied
//! to their place; one thread alone puts them there at once.

use core::ops::Range;

use jostle_core::{Isa, LinearTree, Workers};

use super::answer::{Answer, Lists};
use super::kernel::{self, Work};
use crate::lanes::Lanes;

/// Queries in a block at least: some tens of microseconds.
const QUERIES_PER_BLOCK: usize = 128;

/// Blocks at most, each of which keeps memory of its own.
const MAX_BLOCKS: usize = 1024;

/// What the blocks of a batch share.
pub(super) struct Asked<'t, Q, const D: usize> {
    pub(super) tree: &'t LinearTree<D>,
    pub(super) isa: Isa,
    /// The query of each number.
    pub(super) query: &'t Q,
}

impl<A: Answer<D>, Q: Fn(usize) -> A, const D: usize> Asked<'_, Q, D> {
    /// Answers the queries from number `first` on, one for each of `ends`, where its answers end in `lists`.
    pub(super) fn answer(&self, first: usize, ends: &mut [usize], lists: &mut Lists) {
        lists.clear();
        let queries = first..first + ends.len();
        kernel::run(self.isa, Block { asked: self, queries, ends, lists });
    }
}

impl<A: Answer<D>, Q: Fn(usize) -> A + Sync, const D: usize> Asked<'_, Q, D> {
    /// As [`Asked::answer`] for all queries, side by side, in memory of each block first.
    pub(super) fn answer_in_blocks(
        &self,
        workers: Workers,
        ends: &mut [usize],
        lists: &mut Lists,
        blocks: &mut Vec<Lists>,
    ) {
        let size = ends.len().div_ceil(MAX_BLOCKS).max(QUERIES_PER_BLOCK);
        let count = ends.len().div_ceil(size);
        if blocks.len() < count {
            blocks.resize_with(count, Lists::default);
        }
        let blocks = &mut blocks[..count];
        answer_blocks(self, workers, size, 0, ends, blocks);
        let (ids, distances) = lens(blocks);
        lists.ids.resize(ids, 0);
        lists.distances.resize(distances, 0.0);
        let gathered = Gathered { ends, ids: &mut lists.ids, distances: &mut lists.distances };
        gather(workers, size, 0, gathered, blocks);
    }
}

struct Block<'a, 't, Q, const D: usize> {
    asked: &'a Asked<'t, Q, D>,
    queries: Range<usize>,
    ends: &'a mut [usize],
    lists: &'a mut Lists,
}

impl<A: Answer<D>, Q: Fn(usize) -> A, const D: usize> Work for Block<'_, '_, Q, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (query, end) in self.queries.zip(self.ends) {
            (self.asked.query)(query).answer::<L>(self.asked.tree, self.lists);
            *end = self.lists.ids.len();
        }
    }
}

/// Answers blocks of `size` queries each, by halves.
fn answer_blocks<A: Answer<D>, const D: usize>(
    asked: &Asked<'_, impl Fn(usize) -> A + Sync, D>,
    workers: Workers,
    size: usize,
    first: usize,
    ends: &mut [usize],
    blocks: &mut [Lists],
) {
    match blocks {
        [] => {}
        [lists] => asked.answer(first, ends, lists),
        _ => {
            let (left, right) = blocks.split_at_mut(blocks.len() / 2);
            let middle = left.len() * size;
            let (left_ends, right_ends) = ends.split_at_mut(middle);
            workers.join(
                || answer_blocks(asked, workers, size, first, left_ends, left),
                || answer_blocks(asked, workers, size, first + middle, right_ends, right),
            );
        }
    }
}

/// The number of ids and of distances in all of these.
fn lens(blocks: &[Lists]) -> (usize, usize) {
    blocks.iter().fold((0, 0), |(ids, distances), lists| (ids + lists.ids.len(), distances + lists.distances.len()))
}

/// Where the answers of some blocks go.
struct Gathered<'a> {
    ends: &'a mut [usize],
    ids: &'a mut [u32],
    distances: &'a mut [f32],
}

impl Gathered<'_> {
    fn split(self, queries: usize, ids: usize, distances: usize) -> [Self; 2] {
        let (left_ends, ends) = self.ends.split_at_mut(queries);
        let (left_ids, ids) = self.ids.split_at_mut(ids);
        let (left_distances, distances) = self.distances.split_at_mut(distances);
        [Self { ends: left_ends, ids: left_ids, distances: left_distances }, Self { ends, ids, distances }]
    }

    fn fill(self, before: usize, lists: &Lists) {
        self.ids.copy_from_slice(&lists.ids);
        self.distances.copy_from_slice(&lists.distances);
        self.ends.iter_mut().for_each(|end| *end += before);
    }
}

/// Copies the answers of blocks to their place, which begins after `before` others, by halves.
fn gather(workers: Workers, size: usize, before: usize, gathered: Gathered<'_>, blocks: &[Lists]) {
    match blocks {
        [] => {}
        [lists] => gathered.fill(before, lists),
        _ => {
            let (left, right) = blocks.split_at(blocks.len() / 2);
            let (ids, distances) = lens(left);
            let [first, second] = gathered.split(left.len() * size, ids, distances);
            workers.join(
                || gather(workers, size, before, first, left),
                || gather(workers, size, before + ids, second, right),
            );
        }
    }
}
