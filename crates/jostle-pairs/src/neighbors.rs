//! Neighbour lists: the rows of all bodies, one after the other in order of id, found in rank order and then put there.

use core::fmt;
use core::ops::Range;
use core::sync::atomic::AtomicUsize;

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{ScratchPool, resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::arena::{Arena, Buckets, CHUNK, Chunks, ROW_OVERHEAD, RowPlace, note_rows, numbers_of};
use crate::kernels;
use crate::pairs::plan::{Blocks, RowPlan};
use crate::row_scratch::{Reached, RowScratch};
use crate::rows::{RowJoin, Rows};
use crate::simd::LANES;
use crate::stats::{Tests, counted};

/// Neighbours whose distances one task sets.
const BLOCK: usize = 1 << 14;

/// Neighbours a body that there is room for in the first search, which is run again when there are more.
const FIRST_GUESS: usize = 8;

/// The neighbours of each body, as compressed sparse rows (CSR): those of body `i` are
/// `neighbors()[offsets()[i]..offsets()[i + 1]]`, ascending.
///
/// Make one and keep it: it owns its memory. Filled by [`PairFinder::neighbors`](crate::PairFinder::neighbors).
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, NeighborLists, PairFinder, Rows};
///
/// let points = Circles::new(&[0.0, 1.0, 2.0], &[0.0, 0.0, 0.0], 0.0);
/// let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
/// finder.neighbors(points.within(1.5), Rows::Full, &mut lists)?;
/// assert_eq!(lists.of(1), [0, 2]);
/// assert_eq!(lists.distances2_of(1), [1.0, 1.0]);
/// assert_eq!(lists.offsets(), [0, 1, 3, 4]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Clone)]
pub struct NeighborLists {
    offsets: Vec<usize>,
    neighbors: Vec<u32>,
    distances2: Vec<f32>,
    wants_distances: bool,
}

impl fmt::Debug for NeighborLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NeighborLists")
            .field("bodies", &self.len())
            .field("neighbors", &self.neighbors.len())
            .field("distances", &self.wants_distances)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
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
        assert!(self.wants_distances, "no distances were asked for: make the lists by `NeighborLists::with_distances`");
        &self.distances2[self.row(id)]
    }

    /// Sets the squared distances, where they are wanted: `image` has the number of the image from which on body b of the row
    /// of body a is looked for, and returns the one after its own; 0 at the first of several b. It gives the distance as
    /// well.
    pub(crate) fn measure(&mut self, image: impl Fn(u32, u32, u32) -> (u32, f32) + Sync + Send, workers: Workers<'_>) {
        let Self { offsets, neighbors, distances2, .. } = self;
        workers.fill_blocks("distances", distances2, BLOCK, |first, block| {
            let mut id = offsets.partition_point(|&offset| offset <= first) - 1;
            // The images of a neighbour may begin in the block before.
            let mut at = first;
            while at > offsets[id] && neighbors[at - 1] == neighbors[first] {
                at -= 1;
            }
            let mut next = 0;
            for at in at..first + block.len() {
                while at >= offsets[id + 1] {
                    id += 1;
                }
                if at == offsets[id] || neighbors[at - 1] != neighbors[at] {
                    next = 0;
                }
                let (after, distance2) = image(id as u32, neighbors[at], next);
                next = after;
                if let Some(slot) = at.checked_sub(first) {
                    block[slot] = distance2;
                }
            }
        });
    }

    fn row(&self, id: usize) -> Range<usize> {
        assert!(id < self.len(), "no body {id}: the lists are of {} bodies", self.len());
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
    /// The bucket of each chunk of the arena.
    owners: Vec<u32>,
    chunks: Chunks,
    /// The first neighbour of each bucket.
    starts: Vec<usize>,
    scratch: ScratchPool<RowScratch<D>>,
    /// Half of what each piece of scratch has room for.
    room: Reached,
    /// Where the rows of a bucket lie.
    places: ScratchPool<Vec<RowPlace>>,
}

impl<const D: usize> RowEngine<D> {
    pub(crate) fn bytes(&self) -> usize {
        (self.arena.capacity() + self.owners.capacity()) * size_of::<u32>()
            + self.chunks.bytes()
            + self.starts.capacity() * size_of::<usize>()
            + self.scratch.bytes(RowScratch::bytes)
            + self.places.bytes(|places| places.capacity() * size_of::<RowPlace>())
    }

    /// Fills the lists.
    pub(crate) fn fill(
        &mut self,
        isa: Isa,
        (plan, ask_callers): (RowPlan<'_, D>, bool),
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Tests {
        let ids = plan.pairing.trees[0].len();
        let buckets = Buckets::of(ids);
        let spare = buckets.count() * workers.count();
        let with_distances = lists.wants_distances;
        let chunks_of =
            |neighbors| (numbers_of(neighbors, with_distances) + ROW_OVERHEAD * ids).div_ceil(CHUNK) + spare;
        self.make_chunks(chunks_of(FIRST_GUESS * ids));
        let (tests, taken) = loop {
            let (tests, taken) = self.deal_rows(isa, (plan, ask_callers), kind, (buckets, with_distances), workers);
            if taken <= self.owners.len() {
                // How many chunks end up half empty depends on who deals what: next time it may be more.
                self.make_chunks(taken + spare);
                break (tests, taken);
            }
            self.make_chunks(chunks_of(tests.pairs as usize).max(2 * self.owners.len()));
        };
        self.level_scratch();
        self.chunks.reserve(self.owners.len(), buckets.count());
        self.chunks.sort(&self.owners[..taken], buckets.count());
        self.scan_buckets(buckets);
        self.put_rows(buckets, lists, workers);
        tests
    }

    /// Makes sure that the arena has so many chunks at least.
    fn make_chunks(&mut self, chunks: usize) {
        if self.owners.len() < chunks {
            self.owners.resize(with_headroom(chunks), 0);
            self.arena.resize(self.owners.len() * CHUNK, 0);
        }
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

    /// Every row to the arena, in any order; the chunks that they took, or would have.
    fn deal_rows(
        &mut self,
        isa: Isa,
        (plan, ask_callers): (RowPlan<'_, D>, bool),
        kind: Rows,
        (buckets, with_distances): (Buckets, bool),
        workers: Workers<'_>,
    ) -> (Tests, usize) {
        self.scratch.prepare(workers.count(), |scratch| scratch.streams.begin(buckets.count()));
        let taken = AtomicUsize::new(0);
        let (numbers, owners) = (Disjoint::new(&mut self.arena), Disjoint::new(&mut self.owners));
        let arena = Arena { buckets, numbers: &numbers, with_distances, owners: &owners, taken: &taken };
        let all = Blocks::of(plan.pairing.trees);
        let tests = counted((workers, ask_callers), "rows", all.count(), |blocks| {
            self.scratch.with(|scratch| {
                scratch.streams.ready(buckets.count());
                let RowPlan { pairing, images } = plan;
                let half = images.len().div_ceil(2) as u32;
                let mut rows = RowJoin { pairing, images, half, kind, scratch, arena, tests: Tests::default() };
                for block in blocks {
                    kernels::list(isa, &mut rows, all.range(block));
                }
                rows.tests
            })
        });
        (tests, taken.into_inner())
    }

    /// Where the neighbours of each bucket begin.
    fn scan_buckets(&mut self, buckets: Buckets) {
        let Self { starts, scratch, .. } = self;
        starts.clear();
        starts.resize(buckets.count() + 1, 0);
        scratch.each(|scratch| {
            for (sum, more) in starts[1..].iter_mut().zip(&scratch.streams.sums) {
                *sum += more;
            }
        });
        for bucket in 0..buckets.count() {
            starts[bucket + 1] += starts[bucket];
        }
    }

    /// Rows from the arena to their places, bucket by bucket.
    #[allow(unsafe_code, reason = "each bucket has ids and rows of its own")]
    fn put_rows(&mut self, buckets: Buckets, lists: &mut NeighborLists, workers: Workers<'_>) {
        let NeighborLists { offsets, neighbors, distances2, wants_distances: with_distances } = lists;
        let total = self.starts[buckets.count()];
        resize_with_headroom(offsets, buckets.ids + 1, 0);
        resize_with_headroom(neighbors, total, 0);
        resize_with_headroom(distances2, if *with_distances { total } else { 0 }, 0.0);
        offsets[0] = 0;
        self.places.prepare(workers.count(), |places| {
            resize_with_headroom(places, buckets.ids_of(0).len(), RowPlace::default());
        });
        let (ends, neighbors, distances2) =
            (Disjoint::new(&mut offsets[1..]), Disjoint::new(neighbors), Disjoint::new(distances2));
        workers.run("put rows", buckets.count(), |bucket| {
            let (ids, range) = (buckets.ids_of(bucket), self.starts[bucket]..self.starts[bucket + 1]);
            self.places.with(|places| {
                places.clear();
                places.resize(ids.len(), RowPlace::default());
                for chunk in self.chunks.of(bucket) {
                    note_rows(&self.arena, chunk, *with_distances, ids.start, places);
                }
                // SAFETY: buckets have no id in common, and starts ascend: neither ends nor rows of two overlap.
                unsafe {
                    put_ends(places, range.start, ends.range(ids));
                    put_block(places, &self.arena, neighbors.range(range.clone()));
                    if *with_distances {
                        places.iter_mut().for_each(|place| place.start += place.len);
                        put_block(places, &self.arena, bytemuck::cast_slice_mut(distances2.range(range)));
                    }
                }
            });
        });
    }
}

/// Where each row ends, the first of which begins at `start`.
fn put_ends(places: &[RowPlace], start: usize, ends: &mut [usize]) {
    let mut end = start;
    for (slot, place) in ends.iter_mut().zip(places) {
        end += place.len;
        *slot = end;
    }
}

/// Puts rows side by side, sixteen values at a time where there is room: what is too much is written over by the next.
fn put_block(places: &[RowPlace], arena: &[u32], mut out: &mut [u32]) {
    for place in places {
        let row = &arena[place.start..];
        if let (true, Some(from), Some(to)) =
            (place.len <= 2 * LANES, row.first_chunk::<{ 2 * LANES }>(), out.first_chunk_mut::<{ 2 * LANES }>())
        {
            to[..LANES].copy_from_slice(&from[..LANES]);
            if place.len > LANES {
                to[LANES..].copy_from_slice(&from[LANES..]);
            }
        } else {
            out[..place.len].copy_from_slice(&row[..place.len]);
        }
        out = &mut out[place.len..];
    }
}
