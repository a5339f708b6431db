//! Neighbour lists: the rows of all bodies, one after the other in order of id, found in rank order and then put there.

use core::ops::Range;
use core::sync::atomic::AtomicUsize;

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{ScratchPool, resize_with_headroom, with_headroom};
use jostle_core::{Isa, LinearTree, Workers};

use crate::jobs::{Jobs, Walk};
use crate::kernel;
use crate::lanes::LANES;
use crate::row_scratch::{Reached, RowScratch};
use crate::rows::{Arena, RowJoin, RowPlace, Rows};
use crate::stats::{Tests, counted};

/// Ids that one task looks at.
const ID_BLOCK: usize = 1 << 14;

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

    /// The squared distance of centres to each of [`NeighborLists::neighbors`], by the predicate's formula in `f32` (in `f64`
    /// and then rounded, for bodies in `f64`; at the beginning of the frame, for those on their way); empty unless made by
    /// [`NeighborLists::with_distances`].
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

    /// Sets the squared distances, where they are wanted, to what is said of each two bodies.
    pub(crate) fn measure(&mut self, distance2: impl Fn(usize, usize) -> f32 + Sync + Send, workers: Workers<'_>) {
        let Self { offsets, neighbors, distances2, .. } = self;
        workers.fill_blocks("distances", distances2, ID_BLOCK, |first, block| {
            let mut id = offsets.partition_point(|&offset| offset <= first) - 1;
            for (slot, at) in block.iter_mut().zip(first..) {
                while at >= offsets[id + 1] {
                    id += 1;
                }
                *slot = distance2(id, neighbors[at] as usize);
            }
        });
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
    /// By id.
    places: Vec<RowPlace>,
    /// Of each block of ids.
    sums: Vec<usize>,
    scratch: ScratchPool<RowScratch<D>>,
    /// Half of what each piece of scratch has room for.
    room: Reached,
}

impl<const D: usize> RowEngine<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.arena.capacity() * size_of::<u32>()
            + self.arena_distances2.capacity() * size_of::<f32>()
            + self.places.capacity() * size_of::<RowPlace>()
            + self.sums.capacity() * size_of::<usize>()
            + self.scratch.bytes(RowScratch::bytes)
    }

    /// Fills the lists for the first set of the first job.
    pub(crate) fn fill(
        &mut self,
        isa: Isa,
        jobs: Jobs<'_, D>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Tests {
        let of_first = |job| (jobs.pairing)(job).driven_by_first();
        let jobs = Jobs { count: 1, pairing: &of_first, images: jobs.images };
        let [tree, walked] = of_first(0).trees;
        self.prepare(tree, lists.wants_distances, workers);
        if walked.is_empty() {
            // Then there are no blocks, and nobody says that rows are empty.
            self.places.fill(RowPlace::default());
        }
        let tests = loop {
            let (tests, taken) = self.list_rows(isa, jobs, kind, workers);
            if taken <= self.arena.len() {
                break tests;
            }
            resize_arena(&mut self.arena, &mut self.arena_distances2, with_headroom(taken), lists.wants_distances);
        };
        self.level_scratch();
        self.scan_offsets(lists, workers);
        self.put_rows(lists, workers);
        tests
    }

    fn prepare(&mut self, tree: &LinearTree<D>, wants_distances: bool, workers: Workers<'_>) {
        self.scratch.prepare(workers.count(), |_| {});
        resize_with_headroom(&mut self.places, tree.len(), RowPlace::default());
        let room = self.arena.len().max(if self.arena.is_empty() { FIRST_GUESS * tree.len() } else { 0 });
        resize_arena(&mut self.arena, &mut self.arena_distances2, room, wants_distances);
    }

    /// Gives every piece of scratch room for the largest group that any has met.
    fn level_scratch(&mut self) {
        let mut reached = Reached::default();
        self.scratch.each(|scratch| reached = reached.max(scratch.reached()));
        if !self.room.is_ample_for(reached) {
            self.room = reached;
        }
        self.scratch.each(|scratch| scratch.make_room(self.room));
    }

    /// Every row to the arena, in any order; the room that they took, or would have.
    fn list_rows(&mut self, isa: Isa, jobs: Jobs<'_, D>, kind: Rows, workers: Workers<'_>) -> (Tests, usize) {
        let taken = AtomicUsize::new(0);
        let (neighbors, distances2) = (Disjoint::new(&mut self.arena), Disjoint::new(&mut self.arena_distances2));
        let places = Disjoint::new(&mut self.places);
        let distances2 = (distances2.len() > 0).then_some(&distances2);
        let arena = Arena { neighbors: &neighbors, distances2, taken: &taken, places: &places };
        let tests = counted(workers, "rows", jobs.blocks(), |blocks| {
            self.scratch.with(|scratch| {
                let (mut walk, tests) = (Walk::new(&jobs), Tests::default());
                let pairing = (jobs.pairing)(0);
                let mut rows = RowJoin { pairing, images: jobs.images, kind, scratch, arena, tests };
                for block in blocks {
                    kernel::list(isa, &mut rows, walk.go_to(block).1);
                }
                rows.tests
            })
        });
        (tests, taken.into_inner())
    }

    /// Where each row begins, from the lengths of all.
    fn scan_offsets(&mut self, lists: &mut NeighborLists, workers: Workers<'_>) {
        let places = &self.places;
        self.sums.clear();
        self.sums.resize(places.len().div_ceil(ID_BLOCK), 0);
        workers.fill_blocks("sums", &mut self.sums, 1, |block, sum| {
            let ids = block * ID_BLOCK..((block + 1) * ID_BLOCK).min(places.len());
            sum[0] = places[ids].iter().map(|place| place.len).sum();
        });
        let mut all = 0;
        for sum in &mut self.sums {
            (*sum, all) = (all, all + *sum);
        }
        resize_with_headroom(&mut lists.offsets, places.len() + 1, 0);
        lists.offsets[0] = 0;
        workers.fill_blocks("scan", &mut lists.offsets[1..], ID_BLOCK, |first, ends| {
            let mut sum = self.sums[first / ID_BLOCK];
            for (end, place) in ends.iter_mut().zip(&places[first..]) {
                sum += place.len;
                *end = sum;
            }
        });
    }

    /// Rows from the arena to their places: in order of id, so that what is written lies side by side.
    #[allow(unsafe_code, reason = "each block of ids has rows of its own")]
    fn put_rows(&self, lists: &mut NeighborLists, workers: Workers<'_>) {
        let NeighborLists { offsets, neighbors, distances2, wants_distances } = lists;
        let ids = self.places.len();
        let total = offsets[ids];
        resize_with_headroom(neighbors, total, 0);
        resize_with_headroom(distances2, if *wants_distances { total } else { 0 }, 0.0);
        let (neighbors, distances2) = (Disjoint::new(neighbors), Disjoint::new(distances2));
        workers.run("put rows", ids.div_ceil(ID_BLOCK), |block| {
            let ids = block * ID_BLOCK..((block + 1) * ID_BLOCK).min(ids);
            let range = offsets[ids.start]..offsets[ids.end];
            // SAFETY: offsets ascend, so that the rows of blocks of ids are disjoint.
            unsafe {
                put_block(&self.places[ids.clone()], &self.arena, neighbors.range(range.clone()));
                if *wants_distances {
                    put_block(&self.places[ids], &self.arena_distances2, distances2.range(range));
                }
            }
        });
    }
}

/// Rows whose first lines are asked for together: as many as wait for memory at once.
const ROWS_AHEAD: usize = 16;

/// Puts rows side by side, sixteen values at a time where there is room: what is too much is written over by the next.
fn put_block<T: Copy + Default>(places: &[RowPlace], arena: &[T], mut out: &mut [T]) {
    for places in places.chunks(ROWS_AHEAD) {
        let mut first = [T::default(); ROWS_AHEAD];
        for (first, place) in first.iter_mut().zip(places) {
            *first = arena.get(place.start).copied().unwrap_or_default();
        }
        core::hint::black_box(&first);
        for place in places {
            let row = &arena[place.start..];
            if let (true, Some(from), Some(to)) =
                (place.len <= LANES, row.first_chunk::<LANES>(), out.first_chunk_mut::<LANES>())
            {
                *to = *from;
            } else {
                out[..place.len].copy_from_slice(&row[..place.len]);
            }
            out = &mut out[place.len..];
        }
    }
}

fn resize_arena(arena: &mut Vec<u32>, distances2: &mut Vec<f32>, room: usize, wants_distances: bool) {
    if arena.len() < room {
        arena.resize(room, 0);
    }
    let room = if wants_distances { arena.len() } else { 0 };
    distances2.resize(room, 0.0);
}
