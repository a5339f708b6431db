//! Makes rows of a list of pairs: for bodies for which no join of rows is compiled, and for short rows. Two bodies are
//! then tested once, not from both sides.
//!
//! Each pair gives one entry, or two: a body and a neighbour in its row. Blocks of pairs deal their entries to buckets
//! of successive ids, as one pass of a radix sort would. Then each bucket, which fits in a cache, puts its rows in
//! order.

use core::mem;
use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::{fill_with_headroom, resize_with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::prepare::job::JobsOf;

use crate::InputError;
use crate::join::counts::Tests;
use crate::join::hits::PairList;
use crate::join::tree_pair::TreePair;
use crate::neighbors::extras::{Wanted, more_bytes};
use crate::neighbors::numbers::first_of;
use crate::neighbors::rows::Rows;
use crate::neighbors::told::{Told, ToldOf};
use crate::neighbors::{NeighborLists, RowEngine, TWICE_SHORT};
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

    /// Fills the rows of `bodies` bodies. If `tells`, `told` then says the job of each neighbour.
    #[allow(unsafe_code, reason = "each bucket has ids and rows of its own")]
    fn fill(
        &mut self,
        (bodies, tells): (usize, bool),
        (pairs, kind, of): (&[[u32; 2]], Kind, Numbering<'_>),
        (lists, axes): (&mut NeighborLists, usize),
        workers: Workers<'_>,
    ) {
        let bits = bodies.div_ceil(BUCKETS).next_power_of_two().trailing_zeros().max(LEAST_BITS);
        let buckets = bodies.div_ceil(1 << bits);
        let each = Each { pairs, kind, of, bits };
        self.count(each, buckets, workers);
        let told = if tells { self.dealt.len() } else { 0 };
        resize_with_headroom(&mut self.jobs, told);
        resize_with_headroom(&mut self.told, told);
        self.deal((each, tells), buckets, workers);
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
            if tells {
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
        places.clear();
        fill_with_headroom(places, blocks * buckets, 0);
        workers.fill_blocks("count pairs", places, buckets.max(1), |first, counts| {
            each.parts(each.block(first / buckets), |part, _, firsts| {
                each.of(part, firsts, |bucket, _, _| counts[bucket] += 1);
            });
        });
        starts.clear();
        fill_with_headroom(starts, buckets + 1, 0);
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
    fn deal(&mut self, (each, tells): (Each<'_>, bool), buckets: usize, workers: Workers<'_>) {
        let Self { places, dealt, jobs, .. } = self;
        let (dealt, jobs) = (Disjoint::new(dealt), Disjoint::new(jobs));
        workers.fill_blocks("deal pairs", places, buckets.max(1), |first, places| {
            let range = each.block(first / buckets);
            each.parts(range, |part, job, firsts| {
                if !tells {
                    return each.of(part, firsts, |bucket, entry, _| {
                        // SAFETY: a block has as many places in each bucket as it has counted entries, and `places`
                        // says the first of them. No other block has these places, and they all lie within the list.
                        unsafe { dealt.write(places[bucket], entry) };
                        places[bucket] += 1;
                    });
                }
                each.of(part, firsts, |bucket, entry, turns| {
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

/// The jobs of pairs, and how rows number the bodies of sets: see [`Numbers::starts`](super::numbers::Numbers::starts).
#[derive(Clone, Copy)]
struct Numbering<'a> {
    jobs: JobsOf<'a>,
    starts: &'a [u32],
}

/// How pairs are dealt out.
#[derive(Clone, Copy)]
struct Each<'a> {
    pairs: &'a [[u32; 2]],
    kind: Kind,
    of: Numbering<'a>,
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

    /// Calls `visit` with the pairs of each job among some pairs, the number of the job, and the number of the first
    /// body of each of its sets.
    fn parts(&self, pairs: Range<usize>, mut visit: impl FnMut(Range<usize>, usize, [u32; 2])) {
        let Numbering { jobs, starts } = self.of;
        jobs.each_number(pairs.start, pairs.len(), |part, job| {
            visit(pairs.start + part.start..pairs.start + part.end, job, first_of(starts, jobs.jobs[job].sets));
        });
    }

    /// For each row that one of some pairs of a job belongs to, calls `visit` with the bucket of the row, its number
    /// and that of the neighbour, and whether the row is that of the second body.
    #[inline(always)]
    fn of(&self, pairs: Range<usize>, firsts: [u32; 2], mut visit: impl FnMut(usize, [u32; 2], bool)) {
        for &[a, b] in &self.pairs[pairs] {
            let [a, b] = [a + firsts[0], b + firsts[1]];
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

    /// Fills the lists, of ids alone, with the rows of the pairs just listed, which these jobs have found; and notes
    /// the jobs of all, if it `tells`.
    pub(super) fn put_pairs(
        &mut self,
        plan: Plan<'_, D>,
        (kind, jobs, tells): (Rows, JobsOf<'_>, bool),
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) {
        let kind = match (self.are_of_both(&plan), kind) {
            (true, Rows::Full) => Kind::Both,
            (true, Rows::Half) => Kind::Lesser,
            (false, _) => Kind::First,
        };
        let of = (self.pairs.pairs(), kind, Numbering { jobs, starts: self.numbers.starts() });
        self.pair_rows.fill((self.numbers.rows(plan.exact), tells), of, (lists, D), workers);
        lists.note_sets(self.numbers.starts());
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
            lists.measure_solids(exact, (told, &self.numbers), workers);
        } else {
            lists.measure((exact, Some(told)), (&mut self.centers, &self.numbers), (isa, workers));
        }
    }
}

impl<const D: usize> RowEngine<D> {
    /// Whether both bodies of a pair have rows.
    fn are_of_both(&self, plan: &Plan<'_, D>) -> bool {
        plan.exact.sets.len() == 1 || self.numbers.are_of_all()
    }

    /// Whether a pair stands in the rows of both of its bodies.
    pub(super) fn has_both_rows(&self, plan: &Plan<'_, D>, kind: Rows) -> bool {
        kind == Rows::Full && self.are_of_both(plan)
    }
}

impl<const D: usize> Plan<'_, D> {
    /// Returns twice the most neighbours in a row for which rows are made of pairs. Where no two sets meet, all rows
    /// are empty.
    pub(super) fn twice_short(&self, among: bool) -> usize {
        let Some(job) = self.jobs.first() else { return 0 };
        let RowPlan { pairing: TreePair { filter, .. }, images, .. } = self.rows_between(job.sets);
        let relation = if among { 2 } else { usize::from(self.exact.sets.len() > 1) };
        let is_decided = filter.decision.is_some() || images.len() > 1;
        let test = if filter.asks_of_all() { 2 } else { usize::from(is_decided) };
        TWICE_SHORT[relation][test][usize::from(D > 2)]
    }
}

impl NeighborLists {
    /// Whether columns beside the ids are wanted.
    pub(crate) fn want_columns(&self) -> bool {
        self.extras.wanted != Wanted::default()
    }
}
