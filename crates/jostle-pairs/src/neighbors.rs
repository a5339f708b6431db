//! Neighbour lists: the rows of all bodies, one after the other in order of id, found in rank order and then put there.

use core::ops::Range;
use core::sync::atomic::AtomicUsize;
use std::sync::Mutex;

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{ScratchPool, resize_with_headroom, with_headroom};
use jostle_core::tree::LEAF;
use jostle_core::{Isa, LinearTree, Workers};

use crate::jobs::{Jobs, Walk};
use crate::kernel;
use crate::rows::{Arena, RowJoin, RowScratch, Rows};
use crate::stats::Tests;

/// Ids that one task of the scan looks at.
const SCAN_BLOCK: usize = 1 << 14;

/// Neighbours a body that there is room for in the first search, which is run again when there are more.
const FIRST_GUESS: usize = 8;

/// The neighbours of each body, as compressed sparse rows (CSR): those of body `i` are
/// `neighbors()[offsets()[i]..offsets()[i + 1]]`, ascending.
///
/// Make one and keep it: it owns its memory. Filled by [`PairFinder::neighbors`](crate::PairFinder::neighbors).
///
/// ```
/// use jostle_pairs::{NeighborLists, PairFinder, Rows};
/// use jostle_core::Circles;
///
/// let points = Circles::new(&[0.0, 1.0, 2.0], &[0.0, 0.0, 0.0], 0.0);
/// let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
/// finder.neighbors(points.within(1.5), Rows::Full, &mut lists)?;
/// assert_eq!(lists.of(1), [0, 2]);
/// assert_eq!(lists.distances2_of(1), [1.0, 1.0]);
/// assert_eq!(lists.offsets(), [0, 1, 3, 4]);
/// # Ok::<(), jostle_core::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NeighborLists {
    offsets: Vec<usize>,
    neighbors: Vec<u32>,
    distances2: Vec<f32>,
    wants_distances: bool,
}

impl Default for NeighborLists {
    fn default() -> Self {
        Self { offsets: vec![0], neighbors: Vec::new(), distances2: Vec::new(), wants_distances: false }
    }
}

impl NeighborLists {
    /// Lists of nothing, that hold no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`NeighborLists::new`]; searches will fill in squared distances as well.
    #[must_use]
    pub fn with_distances() -> Self {
        Self { wants_distances: true, ..Self::default() }
    }

    /// Number of bodies that have a row.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where each row begins, and the number of neighbours in all at the end.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The neighbours of all bodies, row after row.
    #[must_use]
    pub fn neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// The squared distance of centres to each of [`NeighborLists::neighbors`], by the predicate's formula in `f32`; empty
    /// unless made by [`NeighborLists::with_distances`].
    #[must_use]
    pub fn distances2(&self) -> &[f32] {
        &self.distances2
    }

    /// The neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body.
    #[must_use]
    pub fn of(&self, id: usize) -> &[u32] {
        &self.neighbors[self.row(id)]
    }

    /// The squared distances to the neighbours of a body; of lists that were made for them.
    ///
    /// # Panics
    /// When there is no such body, or distances were not asked for.
    #[must_use]
    pub fn distances2_of(&self, id: usize) -> &[f32] {
        &self.distances2[self.row(id)]
    }

    fn row(&self, id: usize) -> Range<usize> {
        self.offsets[id]..self.offsets[id + 1]
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<usize>()
            + self.neighbors.capacity() * size_of::<u32>()
            + self.distances2.capacity() * size_of::<f32>()
    }
}

/// What it takes to fill neighbour lists.
#[derive(Debug, Default)]
pub(crate) struct RowEngine<const D: usize> {
    arena: Vec<u32>,
    arena_distances2: Vec<f32>,
    /// Where the rows of each group begin.
    starts: Vec<usize>,
    /// By leaf.
    degrees: Vec<[u32; LEAF]>,
    /// Of each block of ids.
    sums: Vec<usize>,
    scratch: ScratchPool<RowScratch<D>>,
}

impl<const D: usize> RowEngine<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.arena.capacity() * size_of::<u32>()
            + self.arena_distances2.capacity() * size_of::<f32>()
            + (self.starts.capacity() + self.sums.capacity()) * size_of::<usize>()
            + self.degrees.capacity() * size_of::<[u32; LEAF]>()
            + self.scratch.bytes(RowScratch::bytes)
    }

    /// Fills the lists for the driving tree of the one job there is.
    pub(crate) fn fill(
        &mut self,
        isa: Isa,
        jobs: Jobs<'_, D>,
        images: &[[f32; D]],
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Tests {
        let tree = (jobs.pairing)(0).trees[0];
        self.prepare(tree, lists.wants_distances, workers);
        let tests = loop {
            let (tests, taken) = self.list_rows(isa, jobs, images, kind, workers);
            if taken <= self.arena.len() {
                break tests;
            }
            resize_arena(&mut self.arena, &mut self.arena_distances2, with_headroom(taken), lists.wants_distances);
        };
        self.scan_offsets(tree, lists, workers);
        self.put_rows(tree, lists, workers);
        tests
    }

    fn prepare(&mut self, tree: &LinearTree<D>, wants_distances: bool, workers: Workers<'_>) {
        self.scratch.prepare(workers.count(), |_| {});
        let groups = tree.leaves().div_ceil(LEAF);
        resize_with_headroom(&mut self.starts, groups, 0);
        resize_with_headroom(&mut self.degrees, tree.leaves(), [0; LEAF]);
        let room = self.arena.len().max(if self.arena.is_empty() { FIRST_GUESS * tree.len() } else { 0 });
        resize_arena(&mut self.arena, &mut self.arena_distances2, room, wants_distances);
    }

    /// Every row to the arena, in any order; the room that they took, or would have.
    fn list_rows(
        &mut self,
        isa: Isa,
        jobs: Jobs<'_, D>,
        images: &[[f32; D]],
        kind: Rows,
        workers: Workers<'_>,
    ) -> (Tests, usize) {
        let taken = AtomicUsize::new(0);
        let (neighbors, distances2) = (Disjoint::new(&mut self.arena), Disjoint::new(&mut self.arena_distances2));
        let (starts, degrees) = (Disjoint::new(&mut self.starts), Disjoint::new(&mut self.degrees));
        let distances2 = (distances2.len() > 0).then_some(&distances2);
        let arena = Arena { neighbors: &neighbors, distances2, taken: &taken, starts: &starts, degrees: &degrees };
        let all_tests = Mutex::new(Tests::default());
        workers.run_in_order("rows", jobs.blocks(), |blocks| {
            let tests = self.scratch.with(|scratch| {
                let (mut walk, tests) = (Walk::new(&jobs), Tests::default());
                let mut rows = RowJoin { pairing: (jobs.pairing)(0), images, kind, scratch, arena, tests };
                for block in blocks {
                    kernel::list(isa, &mut rows, walk.go_to(block).1);
                }
                rows.tests
            });
            if let Ok(mut all) = all_tests.lock() {
                *all = all.plus(tests);
            }
        });
        (all_tests.into_inner().unwrap_or_default(), taken.into_inner())
    }

    /// Where each row begins, from the lengths of all.
    #[allow(unsafe_code, reason = "each id stands at one place of the tree")]
    fn scan_offsets(&mut self, tree: &LinearTree<D>, lists: &mut NeighborLists, workers: Workers<'_>) {
        let offsets = &mut lists.offsets;
        resize_with_headroom(offsets, tree.len() + 1, 0);
        offsets[0] = 0;
        let ends = &mut offsets[1..];
        let slots = Disjoint::new(ends);
        workers.run("degrees", tree.leaves().div_ceil(GROUPS_OF_LEAVES), |task| {
            for leaf in leaves_of(task, tree) {
                for place in tree.leaf_places(leaf) {
                    let (id, degree) = (tree.leaf_ids()[leaf].0[place % LEAF], self.degrees[leaf][place % LEAF]);
                    // SAFETY: ids are below the number of bodies, and each is at one place.
                    unsafe { slots.write(id as usize, degree as usize) };
                }
            }
        });
        self.sums.clear();
        self.sums.resize(tree.len().div_ceil(SCAN_BLOCK), 0);
        workers.chunks("sums", &mut self.sums, 1, |block, sum| {
            let ids = block * SCAN_BLOCK..((block + 1) * SCAN_BLOCK).min(tree.len());
            sum[0] = ends_of(&lists.offsets)[ids].iter().sum();
        });
        let mut all = 0;
        for sum in &mut self.sums {
            (*sum, all) = (all, all + *sum);
        }
        workers.chunks("scan", &mut lists.offsets[1..], SCAN_BLOCK, |first, ends| {
            let mut sum = self.sums[first / SCAN_BLOCK];
            for end in ends {
                sum += *end;
                *end = sum;
            }
        });
    }

    /// Rows from the arena to their places.
    #[allow(unsafe_code, reason = "each row has a place of its own")]
    fn put_rows(&self, tree: &LinearTree<D>, lists: &mut NeighborLists, workers: Workers<'_>) {
        let total = lists.offsets[tree.len()];
        resize_with_headroom(&mut lists.neighbors, total, 0);
        let distances = if lists.wants_distances { total } else { 0 };
        resize_with_headroom(&mut lists.distances2, distances, 0.0);
        let (neighbors, distances2) = (Disjoint::new(&mut lists.neighbors), Disjoint::new(&mut lists.distances2));
        let offsets = &lists.offsets;
        workers.run("put rows", self.starts.len(), |group| {
            let mut from = self.starts[group];
            for leaf in group * LEAF..((group + 1) * LEAF).min(tree.leaves()) {
                for place in tree.leaf_places(leaf) {
                    let degree = self.degrees[leaf][place % LEAF] as usize;
                    let start = offsets[tree.leaf_ids()[leaf].0[place % LEAF] as usize];
                    let (row, to) = (from..from + degree, start..start + degree);
                    // SAFETY: rows are disjoint, since offsets are a scan of their lengths, and each is in one group.
                    unsafe {
                        neighbors.range(to.clone()).copy_from_slice(&self.arena[row.clone()]);
                        if lists.wants_distances {
                            distances2.range(to).copy_from_slice(&self.arena_distances2[row.clone()]);
                        }
                    }
                    from = row.end;
                }
            }
        });
    }
}

/// Leaves that one task looks at when lengths are noted.
const GROUPS_OF_LEAVES: usize = 256;

fn leaves_of<const D: usize>(task: usize, tree: &LinearTree<D>) -> Range<usize> {
    task * GROUPS_OF_LEAVES..((task + 1) * GROUPS_OF_LEAVES).min(tree.leaves())
}

fn ends_of(offsets: &[usize]) -> &[usize] {
    &offsets[1..]
}

fn resize_arena(arena: &mut Vec<u32>, distances2: &mut Vec<f32>, room: usize, wants_distances: bool) {
    if arena.len() < room {
        arena.resize(room, 0);
    }
    let room = if wants_distances { arena.len() } else { 0 };
    distances2.resize(room, 0.0);
}
