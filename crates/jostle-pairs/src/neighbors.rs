//! Neighbour lists: the rows of all bodies, one after the other in order of id. Rows are found in rank order, and then
//! put in their places.

pub(crate) mod arena;
mod extras;
mod from_pairs;
mod from_sets;
pub(crate) mod leaf_rows;
mod lists;
mod measure;
pub(crate) mod numbers;
pub(crate) mod row_join;
pub(crate) mod row_scratch;
pub(crate) mod rows;
pub(crate) mod skin;
mod solids;
mod told;

use core::sync::atomic::AtomicUsize;

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{ScratchPool, fill_with_headroom, with_headroom};
use jostle_core::{Aabb, Isa, Workers};
use jostle_sets::prepare::job::JobsOf;
use jostle_sets::proxy::Exact;
use jostle_sets::simd::LANES;
use jostle_sets::traverse::descent::root;

use crate::InputError;
use crate::join::counts::Tests;
use crate::join::hits::{PairList, has_memory_for};
use crate::neighbors::arena::{Arena, Buckets, CHUNK, Chunks, ROW_OVERHEAD, RowPlace, note_rows, numbers_of};
use crate::neighbors::extras::Wanted;
use crate::neighbors::from_pairs::PairRows;
use crate::neighbors::from_sets::Parts;
use crate::neighbors::measure::Centers;
use crate::neighbors::numbers::Numbers;
use crate::neighbors::row_join::{RowJoin, list_groups};
use crate::neighbors::row_scratch::{RowScratch, ScratchUsed};
use crate::neighbors::rows::Rows;
use crate::pairs::engine::{Engine, too_many};
use crate::pairs::plan::{Blocks, Plan, RowPlan};
use crate::pairs::stats::counted;

pub(crate) use lists::Unfinished;
pub use lists::{NeighborColumns, NeighborLists};

/// Neighbours a body that the first search has room for. The search is run again when there are more.
const FIRST_GUESS: usize = 8;

/// Twice the most neighbours in a row, in the plane and in space, for which rows are made of pairs sooner than by a
/// join of rows. The values are for rows within a set, whose pairs a join tests from both sides; for rows of one set in
/// another; and for rows of many sets, which are joined from each set in each that it meets. Of each, the first are
/// where the predicate alone decides, the second where the caller's numbers decide as well, or space repeats, and the
/// last where layers or a test of the caller's are asked.
const TWICE_SHORT: [[[usize; 2]; 3]; 3] =
    [[[4, 5], [5, 8], [9, 18]], [[3, 4], [3, 4], [6, 10]], [[12, 16], [11, 16], [18, 28]]];

/// The memory that it takes to fill neighbour lists.
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
    room: ScratchUsed,
    /// Where the rows of a bucket lie.
    places: ScratchPool<Vec<RowPlace>>,
    centers: Centers<D>,
    numbers: Numbers,
    /// The pairs that rows are made of.
    pairs: PairList,
    pair_rows: PairRows,
    parts: Parts,
    last: LastRows,
}

/// What is known of the rows made last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LastRows {
    #[default]
    Nothing,
    OfPairs,
    /// Too long to be made of pairs.
    Long,
}

impl<const D: usize> RowEngine<D> {
    pub(crate) fn bytes(&self) -> usize {
        (self.arena.capacity() + self.owners.capacity()) * size_of::<u32>()
            + self.chunks.bytes()
            + self.starts.capacity() * size_of::<usize>()
            + self.scratch.bytes(RowScratch::bytes)
            + self.places.bytes(|places| places.capacity() * size_of::<RowPlace>())
            + self.centers.bytes()
            + self.numbers.bytes()
            + self.pairs.bytes()
            + self.pair_rows.bytes()
            + self.parts.bytes()
    }

    /// Fills the lists. Rows are made of pairs where no join of rows is compiled for the bodies, where columns need to
    /// know by which job each neighbour was found, where rows are of many sets and space repeats, where bodies move, so
    /// that to decide on two of them takes longer than to put them in rows, or where rows will be short. They are
    /// expected to be short if the rows that the lists hold from before are, or, where the lists hold none, if the rows
    /// made last were. The result is the same.
    pub(crate) fn fill(
        &mut self,
        (engine, isa): (&mut Engine<D>, Isa),
        (plan, among): (Plan<'_, D>, bool),
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        self.numbers.begin(plan.exact, among);
        let bodies = self.numbers.rows(plan.exact);
        let twice_short = plan.twice_short(among);
        let short = |neighbors: usize| 2 * neighbors <= twice_short * bodies;
        // Once rows are made of pairs, an eighth of their neighbours is left out of the comparison. Else rows near the
        // limit would be made now in one way, now in the other.
        let more = usize::from(self.last == LastRows::OfPairs);
        let short_now = |neighbors: usize| short(neighbors - more * neighbors / 8);
        let were_short = match lists.neighbors.len() {
            0 => self.last != LastRows::Long,
            neighbors => short_now(neighbors),
        };
        let tells = lists.want_columns() && (plan.exact.has_solids() || !plan.exact.images.unique);
        let by_image = among && (plan.jobs.is_empty() || plan.exact.images.offsets.len() > 1);
        let of_pairs = plan.exact.boxed || tells || by_image || plan.exact.any_move();
        if of_pairs || were_short {
            let (both, max) = (u32::from(self.has_both_rows(&plan, kind)), engine.max_pairs);
            let tests = self.list_pairs(engine, plan, workers).map_err(|refused| match refused {
                InputError::TooManyPairs { pairs, .. } => too_many(pairs << both, max),
                refused => refused,
            })?;
            let entries = self.pairs.pairs().len() << both;
            if entries > max {
                return Err(too_many(entries as u64, max));
            }
            if of_pairs || short_now(entries) {
                let bytes = lists.more_bytes(entries, D).saturating_add(self.pair_rows.more_bytes(entries, tells));
                if !has_memory_for(bytes) {
                    return Err(too_many(entries as u64, max));
                }
                let unfinished = Unfinished(lists);
                let of = JobsOf { jobs: plan.jobs, ends: &engine.ends };
                self.put_pairs(plan, (kind, of, tells), unfinished.0, workers);
                if tells {
                    self.measure_told(plan, unfinished.0, (isa, workers));
                } else {
                    self.measure(plan.exact, unfinished.0, (isa, workers));
                }
                unfinished.finish();
                self.last = if plan.exact.boxed || short_now(entries) { LastRows::OfPairs } else { LastRows::Long };
                return Ok(Tests { pairs: lists.neighbors.len() as u64, ..tests });
            }
        }
        let fill = if among { Self::fill_sets } else { Self::fill_joined };
        let tests = fill(self, (isa, engine.max_pairs), plan, kind, lists, workers)?;
        self.last = if short(lists.neighbors.len()) { LastRows::Nothing } else { LastRows::Long };
        Ok(tests)
    }

    /// Sets all wanted columns of lists that hold rows of a finder of coherent frames, in which numbers are ids. What
    /// was searched last may have been of many sets: rows of few bodies are found in scratch of their thread.
    pub(crate) fn measure_kept(
        &mut self,
        exact: &Exact<'_, D>,
        lists: &mut NeighborLists,
        isa_and_workers: (Isa, Workers<'_>),
    ) {
        self.numbers.begin(exact, false);
        self.measure(exact, lists, isa_and_workers);
    }

    /// Sets all wanted columns of lists that hold the rows of a search.
    fn measure(&mut self, exact: &Exact<'_, D>, lists: &mut NeighborLists, isa_and_workers: (Isa, Workers<'_>)) {
        if lists.want_columns() {
            let unfinished = Unfinished(lists);
            unfinished.0.measure((exact, None), (&mut self.centers, &self.numbers), isa_and_workers);
            unfinished.finish();
        }
    }

    fn fill_joined(
        &mut self,
        (isa, max): (Isa, usize),
        plan: Plan<'_, D>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        // The test of a pair knows its distance already.
        let all_wanted = lists.extras.wanted;
        let tested = Wanted { distances2: true, ..Wanted::default() };
        let with_distances = all_wanted == tested && !plan.exact.decided;
        let of = (plan.rows(), plan.ask_callers());
        let tests = self.fill_rows((isa, max), of, kind, (lists, with_distances), workers)?;
        if !with_distances {
            self.measure(plan.exact, lists, (isa, workers));
        }
        Ok(tests)
    }

    fn fill_rows(
        &mut self,
        (isa, max): (Isa, usize),
        (plan, ask_callers): (RowPlan<'_, D>, bool),
        kind: Rows,
        (lists, with_distances): (&mut NeighborLists, bool),
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        let ids = plan.pairing.trees[0].len();
        let buckets = Buckets::of(ids);
        let spare = buckets.count() * workers.count();
        let chunks_of =
            |neighbors| (numbers_of(neighbors, with_distances) + ROW_OVERHEAD * ids).div_ceil(CHUNK) + spare;
        self.make_chunks(chunks_of(FIRST_GUESS * ids));
        let (tests, taken) = loop {
            let (tests, taken) = self.deal_rows(isa, (plan, ask_callers), kind, (buckets, with_distances), workers);
            // No memory holds so many numbers, and what follows reckons with them.
            let beyond = tests.pairs > (isize::MAX as usize / size_of::<u32>()) as u64;
            if beyond || tests.pairs > max as u64 {
                return Err(too_many(tests.pairs, max));
            }
            if taken <= self.owners.len() {
                // How many chunks end up half empty depends on which worker deals which rows: next time there may be
                // more.
                self.make_chunks(taken + spare);
                break (tests, taken);
            }
            let wanted = chunks_of(tests.pairs as usize).max(2 * self.owners.len());
            if self.arena.try_reserve(with_headroom(wanted) * CHUNK - self.arena.len()).is_err() {
                return Err(too_many(tests.pairs, max));
            }
            self.make_chunks(wanted);
        };
        if !has_memory_for(lists.more_bytes(tests.pairs as usize, D)) {
            return Err(too_many(tests.pairs, max));
        }
        self.level_scratch();
        self.chunks.reserve(self.owners.len(), buckets.count());
        self.chunks.sort(&self.owners[..taken], buckets.count());
        self.scan_buckets(buckets);
        let unfinished = Unfinished(lists);
        self.put_rows(buckets, (unfinished.0, with_distances), workers);
        unfinished.finish();
        Ok(tests)
    }

    /// Makes sure that the arena has at least `chunks` chunks.
    fn make_chunks(&mut self, chunks: usize) {
        if self.owners.len() < chunks {
            self.owners.resize(with_headroom(chunks), 0);
            self.arena.resize(self.owners.len() * CHUNK, 0);
        }
    }

    /// Gives every piece of scratch room for the largest group that any piece has met.
    fn level_scratch(&mut self) {
        let mut used = ScratchUsed::default();
        self.scratch.each(|scratch| used = used.max(scratch.used()));
        if !self.room.is_ample_for(used) {
            self.room = used;
        }
        self.scratch.each(|scratch| scratch.make_room(self.room));
    }

    /// Deals every row to the arena, in any order. Returns the tests, and the number of chunks that the rows took, or
    /// would have taken.
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
        let all = Blocks::of(&plan.pairing);
        let of_tree = (all.count(), Some(plan.pairing.trees[0].len()));
        let tests = counted((workers, ask_callers), "rows", of_tree, |blocks| {
            self.scratch.with(|scratch| {
                scratch.streams.ready(buckets.count());
                let RowPlan { pairing, images, repeats } = plan;
                let target = if images.len() > 1 { root(pairing.trees[1]) } else { Aabb::EMPTY };
                let half = images.len().div_ceil(2) as u32;
                let tests = Tests::default();
                let mut rows =
                    RowJoin { pairing, images, target, half, repeats, image: 0, kind, scratch, arena, tests };
                for block in blocks.in_turn() {
                    list_groups(isa, &mut rows, all.range(block));
                }
                rows.tests
            })
        });
        (tests, taken.into_inner())
    }

    /// Finds where the neighbours of each bucket begin.
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

    /// Copies rows from the arena to their places, bucket by bucket.
    #[allow(unsafe_code, reason = "each bucket has ids and rows of its own")]
    fn put_rows(
        &mut self,
        buckets: Buckets,
        (lists, with_distances): (&mut NeighborLists, bool),
        workers: Workers<'_>,
    ) {
        lists.room_for(buckets.ids, self.starts[buckets.count()], D);
        let NeighborLists { offsets, neighbors, extras, .. } = lists;
        self.places.prepare(workers.count(), |places| {
            fill_with_headroom(places, buckets.ids_of(0).len(), RowPlace::default());
        });
        let (ends, neighbors, distances2) =
            (Disjoint::new(&mut offsets[1..]), Disjoint::new(neighbors), Disjoint::new(&mut extras.distances2));
        workers.run("put rows", buckets.count(), |bucket| {
            let (ids, range) = (buckets.ids_of(bucket), self.starts[bucket]..self.starts[bucket + 1]);
            self.places.with(|places| {
                places.clear();
                places.resize(ids.len(), RowPlace::default());
                for chunk in self.chunks.of(bucket) {
                    note_rows(&self.arena, chunk, with_distances, ids.start, places);
                }
                // SAFETY: buckets have no id in common, and starts ascend: neither the ends nor the rows of two buckets
                // overlap.
                unsafe {
                    put_ends(places, range.start, ends.range(ids));
                    let neighbors = neighbors.range(range.clone());
                    if with_distances {
                        let distances2 = bytemuck::cast_slice_mut(distances2.range(range));
                        put_block(places, &self.arena, [neighbors, distances2]);
                    } else {
                        put_block(places, &self.arena, [neighbors]);
                    }
                }
            });
        });
    }
}

/// Writes where each row ends; the first row begins at `start`.
fn put_ends(places: &[RowPlace], start: usize, ends: &mut [usize]) {
    let mut end = start;
    for (slot, place) in ends.iter_mut().zip(places) {
        end += place.len;
        *slot = end;
    }
}

/// Longer rows are copied by the standard library.
const SHORT: usize = 4 * LANES;

/// Puts rows side by side in each of several columns; in the arena, the values of a row stand one column after the
/// other. Copies sixteen values at a time where there is room; the next row overwrites the surplus.
fn put_block<const N: usize>(places: &[RowPlace], arena: &[u32], mut columns: [&mut [u32]; N]) {
    for &RowPlace { mut start, len } in places {
        for column in &mut columns {
            let row = &arena[start..];
            if let (true, Some(from), Some(to)) =
                (len <= SHORT, row.first_chunk::<SHORT>(), column.first_chunk_mut::<SHORT>())
            {
                let (from, to) = (from.as_chunks::<LANES>().0, to.as_chunks_mut::<LANES>().0);
                // The compiler would turn a loop into a call of `memcpy`.
                to[0] = from[0];
                if len > LANES {
                    to[1] = from[1];
                }
                if len > 2 * LANES {
                    (to[2], to[3]) = (from[2], from[3]);
                }
            } else {
                column[..len].copy_from_slice(&row[..len]);
            }
            *column = &mut core::mem::take(column)[len..];
            start += len;
        }
    }
}
