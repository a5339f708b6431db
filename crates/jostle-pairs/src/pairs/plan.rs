//! Plans a search as joins of trees, one after the other. The size of its trees alone decides how each join is cut into
//! blocks, unless the plan is for a number of blocks, or for workers.

use core::ops::Range;

use jostle_core::sixteen::Ids;
use jostle_core::tree::{LEAF, Level};
use jostle_core::{LinearTree, Workers};
use jostle_sets::input::Set;
use jostle_sets::prepare::Preparation;
use jostle_sets::prepare::job::Job;
use jostle_sets::proxy::Exact;

use crate::join::filter::{Decision, Filter, PairTest};
use crate::join::hits::Order;
use crate::join::tree_pair::TreePair;

/// The most blocks that a join is cut into. The cut depends on the input alone where the number of threads must not
/// show.
const JOIN_BLOCKS: usize = 2048;

/// Blocks in a share of a worker. To begin and end a block takes up to a seventh of the time of a group of sixteen
/// leaves. So a share has no more blocks than it takes for nobody to wait long for the last.
const BLOCKS_OF_SHARE: usize = 8;

/// A plan that is asked for a number of blocks has at least `LEAST_BLOCKS`, for many threads to share, if each block
/// then has `LEAST_GROUPS` groups.
const LEAST_BLOCKS: usize = 16;
const LEAST_GROUPS: usize = 8;

/// The joins of a search, in the order in which their pairs come, and the bodies that they join.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a, const D: usize> {
    pub(crate) jobs: &'a [Job],
    pub(crate) exact: &'a Exact<'a, D>,
    prepared: &'a Preparation<D>,
    /// The caller's own test.
    pub(crate) only: Option<PairTest<'a>>,
    /// Names of the bodies of the only set, leaf by leaf, that stand in pairs in place of ids.
    called: Option<&'a [Ids]>,
    /// Groups in a block, if not as many as [`Blocks::of`] says.
    size: Option<usize>,
}

/// The rows of a search: two trees, and the offsets at which bodies of the first see the second.
#[derive(Clone, Copy)]
pub(crate) struct RowPlan<'a, const D: usize> {
    pub(crate) pairing: TreePair<'a, D>,
    pub(crate) images: &'a [[f32; D]],
    /// A row may have several images of one body.
    pub(crate) repeats: bool,
}

/// How the groups of a join are cut into blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    groups: usize,
    size: usize,
}

impl Blocks {
    /// Cuts the groups of a join into blocks. There are none where a tree is empty. Within a tree, the groups of ghost
    /// images alone are left out: they come last, and would find pairs of two images.
    pub(crate) fn of<const D: usize>(pairing: &TreePair<'_, D>) -> Self {
        let [query, target] = pairing.trees;
        let all = if target.is_empty() { 0 } else { query.levels().get(1).map_or(0, Level::len) };
        let groups = if pairing.within { all.min(query.leaves_before_images().div_ceil(LEAF)) } else { all };
        Self { groups, size: groups.div_ceil(JOIN_BLOCKS).max(1) }
    }

    pub(crate) fn count(self) -> usize {
        self.groups.div_ceil(self.size)
    }

    /// All groups.
    pub(crate) fn groups(self) -> Range<usize> {
        0..self.groups
    }

    pub(crate) fn range(self, block: usize) -> Range<usize> {
        block * self.size..((block + 1) * self.size).min(self.groups)
    }
}

/// Groups in a block, for joins of `groups` groups and `bodies` bodies; `None` for as many as [`Blocks::of`] says. A
/// recording, which is for any number of workers, has the smallest blocks.
fn size_for(workers: Workers<'_>, groups: usize, bodies: usize) -> Option<usize> {
    match workers {
        Workers::Serial | Workers::Recorded => None,
        Workers::Rayon | Workers::Pool(_) | Workers::Host(_) => {
            Some((groups / (BLOCKS_OF_SHARE * workers.shares(groups.max(1), bodies))).max(1))
        }
    }
}

impl<'a, const D: usize> Plan<'a, D> {
    /// The plan of a prepared input.
    pub(crate) fn new(prepared: &'a Preparation<D>, exact: &'a Exact<'a, D>, only: Option<PairTest<'a>>) -> Self {
        Plan { jobs: &prepared.jobs, exact, prepared, only, called: None, size: None }
    }

    /// The same plan, with names in pairs in place of the ids of the only set, leaf by leaf.
    pub(crate) fn calling(self, called: &'a [Ids]) -> Self {
        Self { called: Some(called), ..self }
    }

    /// The same plan in about `blocks` blocks, if it is one join.
    pub(crate) fn in_blocks(self, blocks: usize) -> Self {
        let groups = self.groups();
        let least = (groups / LEAST_GROUPS).min(LEAST_BLOCKS);
        Self { size: Some((groups / blocks.max(least).max(1)).max(1)), ..self }
    }

    /// The same plan in blocks for these workers, if no other size was asked for. Where blocks end must not show in the
    /// result.
    pub(crate) fn shared(self, workers: Workers<'_>) -> Self {
        Self { size: self.size.or_else(|| size_for(workers, self.groups(), self.bodies())), ..self }
    }

    /// Groups of all jobs.
    fn groups(&self) -> usize {
        (0..self.jobs.len()).map(|job| Blocks::of(&self.tree_pair(job)).groups).sum()
    }

    /// The tree of the first set.
    pub(crate) fn first_tree(&self) -> &'a LinearTree<D> {
        self.exact.sorted[0].ready(self.set(0)).tree
    }

    fn set(&self, set: u32) -> &'a Set<'a, D> {
        &self.exact.sets[set as usize]
    }

    /// The trees of a job, the smaller one as the query tree, and how their hits become pairs.
    pub(crate) fn tree_pair(&self, job: usize) -> TreePair<'a, D> {
        let Job { sets, image } = self.jobs[job];
        self.pairing(sets, image)
    }

    fn pairing(&self, sets: [u32; 2], image: u32) -> TreePair<'a, D> {
        let sorted = self.exact.sorted;
        let decision = self.exact.decided.then(|| Decision { slack: self.prepared.slack(sets), by: self.exact });
        let filter = Filter { decision, only: self.only, layers: None };
        let ready = |set: u32| sorted[set as usize].ready(self.set(set));
        let one = ready(sets[0]);
        let pairing = if sets[0] == sets[1] {
            TreePair::within(one, filter)
        } else {
            TreePair::across(one, ready(sets[1]), filter)
        };
        let pairing = TreePair { sets, image, called: self.called, ..pairing };
        if image == 0 { pairing } else { pairing.seen_at(self.exact.images.offsets[image as usize]) }
    }

    /// The rows of the bodies of the first set.
    pub(crate) fn rows(&self) -> RowPlan<'a, D> {
        self.rows_between(if self.exact.sets.len() > 1 { [0, 1] } else { [0, 0] })
    }

    /// The rows of the bodies of one set in another, or in their own. Where space repeats, the other set is not before
    /// the first.
    pub(crate) fn rows_between(&self, [of, other]: [u32; 2]) -> RowPlan<'a, D> {
        let images = self.exact.images.offsets.as_slice();
        let mut pairing = self.pairing([of.min(other), of.max(other)], 0).query_tree_first();
        if of > other {
            pairing = pairing.swapped();
        }
        if images.len() > 1 {
            // The second body of a pair is the one that is seen at an image.
            pairing.order = Order::QueryFirst;
        }
        RowPlan { pairing, images, repeats: !self.exact.images.unique }
    }

    fn blocks_of(&self, pairing: &TreePair<'_, D>) -> Blocks {
        let blocks = Blocks::of(pairing);
        Blocks { size: self.size.unwrap_or(blocks.size), ..blocks }
    }

    /// Whether a function of the caller's is asked about hits.
    pub(crate) fn ask_callers(&self) -> bool {
        self.only.is_some()
    }

    /// Bodies of the query trees of all jobs.
    pub(crate) fn bodies(&self) -> usize {
        (0..self.jobs.len()).map(|job| self.tree_pair(job).trees[0].len()).sum()
    }

    /// Blocks of all jobs.
    pub(crate) fn blocks(&self) -> usize {
        (0..self.jobs.len()).map(|job| self.blocks_of(&self.tree_pair(job)).count()).sum()
    }

    /// The first block of each job, and the number of blocks at the end.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        let ends = (0..self.jobs.len()).scan(0, |end, job| {
            *end += self.blocks_of(&self.tree_pair(job)).count();
            Some(*end)
        });
        core::iter::once(0).chain(ends)
    }
}

/// Goes through blocks, mostly in ascending order, and finds the job of each.
pub(crate) struct Walk<'a, 'p, const D: usize> {
    plan: &'p Plan<'a, D>,
    job: usize,
    /// The first block of the job.
    first: usize,
}

impl<'a, 'p, const D: usize> Walk<'a, 'p, D> {
    /// Begins at the first job; there may be none.
    pub(crate) fn new(plan: &'p Plan<'a, D>) -> Self {
        Self { plan, job: 0, first: 0 }
    }

    /// The job of the current block.
    pub(crate) fn job(&self) -> usize {
        self.job
    }

    /// Goes to a block, and returns its trees and groups.
    pub(crate) fn go_to(&mut self, block: usize) -> (TreePair<'a, D>, Range<usize>) {
        if block < self.first {
            *self = Self::new(self.plan);
        }
        loop {
            let pairing = self.plan.tree_pair(self.job);
            let blocks = self.plan.blocks_of(&pairing);
            if block < self.first + blocks.count() {
                return (pairing, blocks.range(block - self.first));
            }
            self.first += blocks.count();
            self.job += 1;
        }
    }
}
