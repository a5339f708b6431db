//! A search as joins of trees, one after the other, each cut into blocks by the size of its trees alone.

use core::ops::Range;

use jostle_core::LinearTree;
use jostle_core::tree::Level;

use crate::pairing::Pairing;

/// Blocks that a join is cut into, at most; a function of the input alone, whatever the number of threads.
const JOIN_BLOCKS: usize = 2048;

/// The joins of a search, whose pairs come in this order.
#[derive(Clone, Copy)]
pub(crate) struct Jobs<'a, const D: usize> {
    pub(crate) count: usize,
    pub(crate) pairing: &'a (dyn Fn(usize) -> Pairing<'a, D> + Sync),
    /// Offsets at which rows see the tree of the first job; the zero first.
    pub(crate) images: &'a [[f32; D]],
}

impl<'a, const D: usize> Jobs<'a, D> {
    /// One join, of bodies seen where they are.
    pub(crate) fn one(pairing: &'a (dyn Fn(usize) -> Pairing<'a, D> + Sync)) -> Self {
        Self { count: 1, pairing, images: &[[0.0; D]] }
    }
}

/// How the groups of a join are cut into blocks.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    groups: usize,
    size: usize,
}

impl Blocks {
    fn of<const D: usize>(driver: &LinearTree<D>) -> Self {
        let groups = driver.levels().get(1).map_or(0, Level::len);
        Self { groups, size: groups.div_ceil(JOIN_BLOCKS).max(1) }
    }

    fn count(self) -> usize {
        self.groups.div_ceil(self.size)
    }

    fn range(self, block: usize) -> Range<usize> {
        block * self.size..((block + 1) * self.size).min(self.groups)
    }
}

impl<'a, const D: usize> Jobs<'a, D> {
    /// Those of one job; none where a tree is empty.
    fn blocks_of(&self, job: usize) -> Blocks {
        let [driver, walked] = (self.pairing)(job).trees;
        if walked.is_empty() { Blocks { groups: 0, size: 1 } } else { Blocks::of(driver) }
    }

    /// Whether a function of the caller's is asked about hits.
    pub(crate) fn ask_callers(&self) -> bool {
        (0..self.count).any(|job| (self.pairing)(job).filter.only.is_some())
    }

    /// Blocks of all jobs.
    pub(crate) fn blocks(&self) -> usize {
        (0..self.count).map(|job| self.blocks_of(job).count()).sum()
    }

    /// The first block of each job, and the number of blocks at the end.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        let ends = (0..self.count).scan(0, |end, job| {
            *end += self.blocks_of(job).count();
            Some(*end)
        });
        core::iter::once(0).chain(ends)
    }

    /// All groups of a job.
    pub(crate) fn groups(&self, job: usize) -> Range<usize> {
        0..self.blocks_of(job).groups
    }
}

/// Blocks in ascending order, with the job of each.
pub(crate) struct Walk<'a, 'j, const D: usize> {
    jobs: &'j Jobs<'a, D>,
    job: usize,
    /// The first block of the job.
    first: usize,
}

impl<'a, 'j, const D: usize> Walk<'a, 'j, D> {
    /// Of jobs of which there may be none.
    pub(crate) fn new(jobs: &'j Jobs<'a, D>) -> Self {
        Self { jobs, job: 0, first: 0 }
    }

    /// The job of the block gone to.
    pub(crate) fn job(&self) -> usize {
        self.job
    }

    /// The trees and the groups of a block, which does not lie before the last one asked for.
    pub(crate) fn go_to(&mut self, block: usize) -> (Pairing<'a, D>, Range<usize>) {
        loop {
            let blocks = self.jobs.blocks_of(self.job);
            if block < self.first + blocks.count() {
                return ((self.jobs.pairing)(self.job), blocks.range(block - self.first));
            }
            self.first += blocks.count();
            self.job += 1;
        }
    }
}
