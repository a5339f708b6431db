//! Makes rows of a list of pairs: for bodies for which no join of rows is compiled, and for short rows. Two bodies are
//! then tested once, not from both sides.
//!
//! Each pair gives one entry, or two: a body and a neighbour in its row. Blocks of pairs deal their entries to buckets
//! of successive ids, as one pass of a radix sort would. Then each bucket, which fits in a cache, puts its rows in
//! order.

use core::mem;
use core::ops::Range;

use jostle_core::Workers;
use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{reserve, resize_with_headroom, with_headroom};
use jostle_sets::prepare::job::JobsOf;

use crate::InputError;
use crate::join::counts::Tests;
use crate::join::hits::PairList;
use crate::neighbors::extras::Wanted;
use crate::neighbors::rows::Rows;
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
    /// Ids and their neighbours, bucket by bucket.
    dealt: Vec<[u32; 2]>,
    /// Where each block of pairs deals to in each bucket; before that is known, how many entries the block has for it.
    places: Vec<usize>,
    /// Where each bucket begins; then where the last one ends.
    starts: Vec<usize>,
}

impl PairRows {
    pub(super) fn bytes(&self) -> usize {
        self.dealt.capacity() * size_of::<[u32; 2]>()
            + (self.places.capacity() + self.starts.capacity()) * size_of::<usize>()
    }

    /// Fills the rows of `bodies` bodies: puts the second body of each pair in the row of the first and, where `both`,
    /// the first in the row of the second.
    #[allow(unsafe_code, reason = "each bucket has ids and rows of its own")]
    fn fill(
        &mut self,
        (bodies, pairs): (usize, &[[u32; 2]]),
        both: bool,
        (lists, axes): (&mut NeighborLists, usize),
        workers: Workers<'_>,
    ) {
        let bits = bodies.div_ceil(BUCKETS).next_power_of_two().trailing_zeros().max(LEAST_BITS);
        let buckets = bodies.div_ceil(1 << bits);
        let each = Each { pairs, both, bits };
        self.count(each, buckets, workers);
        self.deal(each, buckets, workers);
        let (ends, neighbors) = lists.room_for(bodies, self.dealt.len(), axes);
        let (ends, neighbors) = (Disjoint::new(ends), Disjoint::new(neighbors));
        let Self { dealt, starts, .. } = self;
        workers.run("put rows", buckets, |bucket| {
            let (first, range) = (bucket << bits, starts[bucket]..starts[bucket + 1]);
            // SAFETY: buckets have no id in common, and starts ascend: neither the ends nor the rows of two buckets
            // overlap.
            let (ends, rows) =
                unsafe { (ends.range(first..(first + (1 << bits)).min(bodies)), neighbors.range(range.clone())) };
            put_rows(&dealt[range.clone()], first, range.start, ends, rows);
        });
    }

    /// Counts the entries for each bucket, block by block, and finds out where they go.
    fn count(&mut self, each: Each<'_>, buckets: usize, workers: Workers<'_>) {
        let Self { places, starts, dealt } = self;
        let blocks = each.blocks();
        reserve(places, with_headroom(blocks * buckets));
        places.clear();
        places.resize(blocks * buckets, 0);
        workers.fill_blocks("count pairs", places, buckets.max(1), |first, counts| {
            each.of(first / buckets, |bucket, _| counts[bucket] += 1);
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
    fn deal(&mut self, each: Each<'_>, buckets: usize, workers: Workers<'_>) {
        let Self { places, dealt, .. } = self;
        let dealt = Disjoint::new(dealt);
        workers.fill_blocks("deal pairs", places, buckets.max(1), |first, places| {
            each.of(first / buckets, |bucket, entry| {
                // SAFETY: a block has as many places in each bucket as it has counted entries, and `places` says the
                // first of them. No other block has these places, and they all lie within the list.
                unsafe { dealt.write(places[bucket], entry) };
                places[bucket] += 1;
            });
        });
    }
}

/// How pairs are dealt out.
#[derive(Clone, Copy)]
struct Each<'a> {
    pairs: &'a [[u32; 2]],
    both: bool,
    bits: u32,
}

impl Each<'_> {
    fn block_len(&self) -> usize {
        self.pairs.len().div_ceil(BLOCKS).max(LEAST_PAIRS)
    }

    fn blocks(&self) -> usize {
        self.pairs.len().div_ceil(self.block_len())
    }

    /// For each row that a pair of a block belongs to, calls `visit` with the bucket of the row, and its id and the
    /// neighbour.
    #[inline(always)]
    fn of(&self, block: usize, mut visit: impl FnMut(usize, [u32; 2])) {
        let range: Range<usize> = block * self.block_len()..((block + 1) * self.block_len()).min(self.pairs.len());
        for &[a, b] in &self.pairs[range] {
            visit((a >> self.bits) as usize, [a, b]);
            if self.both {
                visit((b >> self.bits) as usize, [b, a]);
            }
        }
    }
}

/// Puts the rows of the ids from `first` on in order: writes where each row ends, and all neighbours. The first row
/// begins at `start` in the list.
fn put_rows(dealt: &[[u32; 2]], first: usize, start: usize, ends: &mut [usize], rows: &mut [u32]) {
    ends.fill(0);
    for &[id, _] in dealt {
        ends[id as usize - first] += 1;
    }
    // At first each end is where its row begins, counted from here; it then moves to where the row ends.
    let mut next = 0;
    for end in &mut *ends {
        next += mem::replace(end, next);
    }
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
        let tests = Swapped::new(engine, &mut self.pairs).engine.list(plan, workers)?;
        if plan.exact.sets.len() == 1 && plan.exact.cell.is_some() {
            put_in_order(JobsOf { jobs: plan.jobs, ends: &engine.ends }, self.pairs.pairs_mut(), workers);
        }
        Ok(tests)
    }

    /// Fills the lists, of ids alone, with the rows of the pairs just listed.
    pub(super) fn put_pairs(&mut self, plan: Plan<'_, D>, kind: Rows, lists: &mut NeighborLists, workers: Workers<'_>) {
        let of = (plan.exact.sets[0].len(), self.pairs.pairs());
        self.pair_rows.fill(of, plan.has_both_rows(kind), (lists, D), workers);
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

/// Puts the lesser id first in pairs within a set.
fn put_in_order(of: JobsOf<'_>, pairs: &mut [[u32; 2]], workers: Workers<'_>) {
    workers.fill_blocks("order", pairs, LEAST_PAIRS, |first, block| {
        of.each(first, block.len(), |range, job| {
            if job.turns() {
                // As `Job::pair`, without a branch that nothing predicts.
                block[range].iter_mut().for_each(|pair| *pair = [pair[0].min(pair[1]), pair[0].max(pair[1])]);
            }
        });
    });
}
