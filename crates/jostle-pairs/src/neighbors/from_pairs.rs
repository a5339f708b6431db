//! Makes rows of a list of pairs: for bodies for which no join of rows is compiled, and for short rows. Two bodies are
//! then tested once, not from both sides.
//!
//! Each pair gives one entry, or two: a body and a neighbour in its row. Blocks of pairs deal their entries to buckets
//! of successive ids, as one pass of a radix sort would. Then each bucket, which fits in a cache, puts its rows in
//! order.

use core::mem;
use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{reserve, resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::prepare::job::JobsOf;

use crate::InputError;
use crate::join::counts::Tests;
use crate::join::hits::PairList;
use crate::neighbors::extras::{Wanted, more_bytes};
use crate::neighbors::rows::Rows;
use crate::neighbors::told::{Told, ToldOf};
use crate::neighbors::{NeighborLists, RowEngine};
use crate::pairs::engine::Engine;
use crate::pairs::plan::{Plan, RowPlan};

/// The most buckets that ids are dealt to. Few ids have fewer buckets: each bucket has at least 2^[`LEAST_BITS`] ids.
const BUCKETS: usize = 1 << 8;

/// The least number of ids of a bucket, as a power of two.
const LEAST_BITS: u32 = 6;

/// The most blocks that pairs are cut into, and the fewest pairs of a block.
const BLOCKS: usize = 1 << 8;
const LEAST_PAIRS: usize = 1 << 12;

/// The memory that it takes to make rows of pairs.
#[derive(Debug, Default)]
pub(super) struct PairRows {
    /// Ids and their neighbours, bucket by bucket; and the job of each, if that is to be told: see [`Told`].
    dealt: Vec<[u32; 2]>,
    jobs: Vec<u32>,
    /// The job of each neighbour in the rows.
    told: Vec<u64>,
    /// Where each block of pairs deals to in each bucket; before that is known, how many entries the block has for it.
    places: Vec<usize>,
    /// Where each bucket begins; then where the last one ends.
    starts: Vec<usize>,
}

impl PairRows {
    pub(super) fn bytes(&self) -> usize {
        self.dealt.capacity() * size_of::<[u32; 2]>()
            + self.jobs.capacity() * size_of::<u32>()
            + self.told.capacity() * size_of::<u64>()
            + (self.places.capacity() + self.starts.capacity()) * size_of::<usize>()
    }

    /// Bytes that it takes anew to deal out so many entries, with their jobs if these are to be told.
    pub(super) fn more_bytes(&self, entries: usize, tells: bool) -> usize {
        let told =
            if tells { more_bytes(&self.jobs, entries).saturating_add(more_bytes(&self.told, entries)) } else { 0 };
        more_bytes(&self.dealt, entries).saturating_add(told)
    }

    /// Fills the rows of `bodies` bodies. Where jobs are to be told, `told` then says the job of each neighbour.
    #[allow(unsafe_code, reason = "each bucket has ids and rows of its own")]
    fn fill(
        &mut self,
        (bodies, pairs): (usize, &[[u32; 2]]),
        (kind, of): (Kind, Option<JobsOf<'_>>),
        (lists, axes): (&mut NeighborLists, usize),
        workers: Workers<'_>,
    ) {
        let bits = bodies.div_ceil(BUCKETS).next_power_of_two().trailing_zeros().max(LEAST_BITS);
        let buckets = bodies.div_ceil(1 << bits);
        let each = Each { pairs, kind, bits };
        self.count(each, buckets, workers);
        let told = of.map_or(0, |_| self.dealt.len());
        resize_with_headroom(&mut self.jobs, told);
        resize_with_headroom(&mut self.told, told);
        self.deal((each, of), buckets, workers);
        let (ends, neighbors) = lists.room_for(bodies, self.dealt.len(), axes);
        let Self { dealt, jobs, told, starts, .. } = self;
        let (ends, neighbors, told) = (Disjoint::new(ends), Disjoint::new(neighbors), Disjoint::new(told));
        workers.run("put rows", buckets, |bucket| {
            let (first, range) = (bucket << bits, starts[bucket]..starts[bucket + 1]);
            let ids = first..(first + (1 << bits)).min(bodies);
            // SAFETY: buckets have no id in common, and starts ascend: neither the ends nor the rows of two buckets
            // overlap.
            let (ends, rows) = unsafe { (ends.range(ids), neighbors.range(range.clone())) };
            let dealt = &dealt[range.clone()];
            if of.is_some() {
                // SAFETY: as for the rows.
                let told = unsafe { told.range(range.clone()) };
                put_told_rows((dealt, &jobs[range.clone()]), first, range.start, ends, (rows, told));
            } else {
                put_rows(dealt, first, range.start, ends, rows);
            }
        });
    }

    /// Counts the entries for each bucket, block by block, and finds out where they go.
    fn count(&mut self, each: Each<'_>, buckets: usize, workers: Workers<'_>) {
        let Self { places, starts, dealt, .. } = self;
        let blocks = each.blocks();
        reserve(places, with_headroom(blocks * buckets));
        places.clear();
        places.resize(blocks * buckets, 0);
        workers.fill_blocks("count pairs", places, buckets.max(1), |first, counts| {
            each.of(each.block(first / buckets), |bucket, _, _| counts[bucket] += 1);
        });
        reserve(starts, with_headroom(buckets + 1));
        starts.clear();
        starts.resize(buckets + 1, 0);
        // Where the next block deals to in each bucket; at last, where the bucket ends and the next one begins. Goes by
        // blocks, as counts lie in memory: no thread has anything else to do meanwhile.
        let next = &mut starts[1..];
        for counts in places.chunks_exact(buckets.max(1)) {
            next.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
        let mut place = 0;
        next.iter_mut().for_each(|start| place += mem::replace(start, place));
        for counts in places.chunks_exact_mut(buckets.max(1)) {
            next.iter_mut().zip(counts).for_each(|(next, slot)| *next += mem::replace(slot, *next));
        }
        resize_with_headroom(dealt, place);
    }

    #[allow(unsafe_code, reason = "each block deals to places of its own")]
    fn deal(&mut self, (each, of): (Each<'_>, Option<JobsOf<'_>>), buckets: usize, workers: Workers<'_>) {
        let Self { places, dealt, jobs, .. } = self;
        let (dealt, jobs) = (Disjoint::new(dealt), Disjoint::new(jobs));
        workers.fill_blocks("deal pairs", places, buckets.max(1), |first, places| {
            let range = each.block(first / buckets);
            let Some(of) = of else {
                return each.of(range, |bucket, entry, _| {
                    // SAFETY: a block has as many places in each bucket as it has counted entries, and `places` says
                    // the first of them. No other block has these places, and they all lie within the list.
                    unsafe { dealt.write(places[bucket], entry) };
                    places[bucket] += 1;
                });
            };
            of.each_number(range.start, range.len(), |part, job| {
                each.of(range.start + part.start..range.start + part.end, |bucket, entry, turns| {
                    // SAFETY: the same, and there are as many jobs.
                    unsafe {
                        dealt.write(places[bucket], entry);
                        jobs.write(places[bucket], Told::new(job, turns).number());
                    }
                    places[bucket] += 1;
                });
            });
        });
    }
}

/// In which row a pair stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Both,
    First,
    Lesser,
}

/// How pairs are dealt out.
#[derive(Clone, Copy)]
struct Each<'a> {
    pairs: &'a [[u32; 2]],
    kind: Kind,
    bits: u32,
}

impl Each<'_> {
    fn block_len(&self) -> usize {
        self.pairs.len().div_ceil(BLOCKS).max(LEAST_PAIRS)
    }

    fn blocks(&self) -> usize {
        self.pairs.len().div_ceil(self.block_len())
    }

    /// The pairs of a block.
    fn block(&self, block: usize) -> Range<usize> {
        block * self.block_len()..((block + 1) * self.block_len()).min(self.pairs.len())
    }

    /// For each row that one of some pairs belongs to, calls `visit` with the bucket of the row, its id and the
    /// neighbour, and whether the row is that of the second body.
    #[inline(always)]
    fn of(&self, pairs: Range<usize>, mut visit: impl FnMut(usize, [u32; 2], bool)) {
        for &[a, b] in &self.pairs[pairs] {
            let turns = self.kind == Kind::Lesser && b < a;
            let [id, other] = if turns { [b, a] } else { [a, b] };
            visit((id >> self.bits) as usize, [id, other], turns);
            if self.kind == Kind::Both {
                visit((b >> self.bits) as usize, [b, a], true);
            }
        }
    }
}

/// Puts the rows of the ids from `first` on in order: writes where each row ends, and all neighbours. The first row
/// begins at `start` in the list.
fn put_rows(dealt: &[[u32; 2]], first: usize, start: usize, ends: &mut [usize], rows: &mut [u32]) {
    begin_rows(dealt, first, ends);
    for &[id, neighbor] in dealt {
        let end = &mut ends[id as usize - first];
        rows[*end] = neighbor;
        *end += 1;
    }
    let mut from = 0;
    for end in ends {
        rows[from..*end].sort_unstable();
        from = *end;
        *end += start;
    }
}

/// The same, with the job of each neighbour beside it. One neighbour's stand in order of their jobs.
fn put_told_rows(
    (dealt, jobs): (&[[u32; 2]], &[u32]),
    first: usize,
    start: usize,
    ends: &mut [usize],
    (rows, told): (&mut [u32], &mut [u64]),
) {
    begin_rows(dealt, first, ends);
    for (&[id, neighbor], &job) in dealt.iter().zip(jobs) {
        let end = &mut ends[id as usize - first];
        told[*end] = u64::from(neighbor) << 32 | u64::from(job);
        *end += 1;
    }
    let mut from = 0;
    for end in ends {
        told[from..*end].sort_unstable();
        from = *end;
        *end += start;
    }
    for (neighbor, told) in rows.iter_mut().zip(told) {
        *neighbor = (*told >> 32) as u32;
    }
}

/// Finds where the rows of the ids from `first` on begin, counted from the first of them: each end is moved from there
/// to where the row ends.
fn begin_rows(dealt: &[[u32; 2]], first: usize, ends: &mut [usize]) {
    ends.fill(0);
    for &[id, _] in dealt {
        ends[id as usize - first] += 1;
    }
    let mut next = 0;
    for end in ends {
        next += mem::replace(end, next);
    }
}

/// An engine that lists pairs in another list than its own. When this ends, even by a panic, it has its own list again.
struct Swapped<'a, const D: usize> {
    engine: &'a mut Engine<D>,
    other: &'a mut PairList,
}

impl<'a, const D: usize> Swapped<'a, D> {
    fn new(engine: &'a mut Engine<D>, other: &'a mut PairList) -> Self {
        mem::swap(&mut engine.pairs, other);
        Self { engine, other }
    }
}

impl<const D: usize> Drop for Swapped<'_, D> {
    fn drop(&mut self) {
        mem::swap(&mut self.engine.pairs, self.other);
    }
}

impl<const D: usize> RowEngine<D> {
    /// Lists the pairs that rows are made of. The engine's own list stays as it is.
    pub(super) fn list_pairs(
        &mut self,
        engine: &mut Engine<D>,
        plan: Plan<'_, D>,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        Swapped::new(engine, &mut self.pairs).engine.list(plan, workers)
    }

    /// Fills the lists, of ids alone, with the rows of the pairs just listed; and notes the jobs of all, if these are to
    /// be `told`.
    pub(super) fn put_pairs(
        &mut self,
        plan: Plan<'_, D>,
        (kind, told): (Rows, Option<JobsOf<'_>>),
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) {
        let of = (plan.exact.sets[0].len(), self.pairs.pairs());
        let kind = match (plan.exact.sets.len(), kind) {
            (1, Rows::Full) => Kind::Both,
            (1, Rows::Half) => Kind::Lesser,
            _ => Kind::First,
        };
        self.pair_rows.fill(of, (kind, told), (lists, D), workers);
    }

    /// Sets all wanted columns of rows whose jobs have been told.
    pub(super) fn measure_told(
        &mut self,
        plan: Plan<'_, D>,
        lists: &mut NeighborLists,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let (exact, told) = (plan.exact, ToldOf { jobs: plan.jobs, numbers: &self.pair_rows.told });
        if exact.has_solids() {
            lists.measure_solids(exact, told, workers);
        } else {
            lists.measure((exact, Some(told)), &mut self.centers, (isa, workers));
        }
    }
}

impl<const D: usize> Plan<'_, D> {
    /// Whether a pair stands in the rows of both of its bodies.
    pub(super) fn has_both_rows(&self, kind: Rows) -> bool {
        kind == Rows::Full && self.exact.sets.len() == 1
    }

    /// Whether the predicate alone decides, on bodies where they are.
    pub(super) fn is_plain(&self) -> bool {
        let RowPlan { pairing, images, .. } = self.rows();
        images.len() == 1 && pairing.filter.keeps_all()
    }
}

impl NeighborLists {
    /// Whether columns beside the ids are wanted.
    pub(crate) fn want_columns(&self) -> bool {
        self.extras.wanted != Wanted::default()
    }
}
