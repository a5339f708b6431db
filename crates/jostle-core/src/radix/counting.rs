//! One counting pass over many items, in parallel: one histogram per block, one scan, one scatter.

use core::mem;
use core::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::fours::write_by_fours;
use crate::parallel::disjoint::Disjoint;
use crate::parallel::groups::Groups;
use crate::parallel::task::Task;
use crate::parallel::workers::Workers;
use crate::sixteen::{Ids, SIXTEEN};

/// The most bits of a digit: 2^10 buckets are 2^10 write streams, about what the second-level TLB covers.
pub(crate) const MAX_DIGIT_BITS: u32 = 10;

/// The most items of a block of the counting pass: their digits stay in the first-level cache until they are counted.
const BLOCK_MAX: usize = 1 << 14;

/// The fewest items of a block, where a worker has several: with fewer, its row of counts would be the greater part of
/// the work.
const BLOCK_MIN: usize = 1 << 11;

/// The most blocks of all workers together, or of each ([`BLOCKS_OF_EACH`]) where that makes more, unless blocks would
/// exceed [`BLOCK_MAX`]. All workers have as many, so nobody waits long for the last. Where blocks end does not show in
/// the result.
const BLOCKS: usize = 64;
const BLOCKS_OF_EACH: usize = 8;

/// Returns the number of items of each block but the last.
fn block_items(items: usize, workers: Workers<'_>) -> usize {
    let workers = workers.count();
    let of_each = (items / (workers * BLOCK_MIN)).clamp(1, BLOCKS_OF_EACH.max(BLOCKS / workers));
    let blocks = (workers * of_each).max(items.div_ceil(BLOCK_MAX).next_multiple_of(workers));
    items.div_ceil(blocks).max(1)
}

/// The most groups of blocks; mostly each worker has one. The worker that counts the last block of a group scans the
/// counts of the group's blocks. From then on, a block's own row and the counts of earlier groups tell where its items
/// go, so that nobody writes what other cores have just written.
const GROUPS: usize = 16;

/// How many bytes ahead of the items that it writes the scatter asks for memory, by one thread and by several, where
/// memory farther on is mostly another thread's. Stores wait for one another. Where there are more write streams than
/// the processor follows by itself, each store would wait for its line, too (`docs/measurements/threads.md`).
const AHEAD: usize = 128;
const AHEAD_OF_SEVERAL: usize = 64;

/// A way to put an item in its place.
pub(crate) trait Put<T>: Copy + Sync + Send {
    /// Writes the item to the place.
    ///
    /// # Safety
    /// Nobody else touches the place meanwhile.
    #[allow(unsafe_code, reason = "a promise that is asked for")]
    unsafe fn put(self, place: *mut T, item: T);
}

/// Writes an item as the compiler does.
#[derive(Clone, Copy)]
pub(crate) struct AsItIs;

/// Writes a record whose words are at hand, four of them at once.
#[derive(Clone, Copy)]
pub(crate) struct ByFours;

#[allow(unsafe_code, reason = "a write to a place that is promised")]
impl<T> Put<T> for AsItIs {
    #[inline(always)]
    unsafe fn put(self, place: *mut T, item: T) {
        // SAFETY: passed on to the caller.
        unsafe { place.write(item) }
    }
}

#[allow(unsafe_code, reason = "a write to a place that is promised")]
impl<T: Pod> Put<T> for ByFours {
    #[inline(always)]
    unsafe fn put(self, place: *mut T, item: T) {
        // SAFETY: passed on to the caller.
        unsafe { write_by_fours(place, item) }
    }
}

/// Fills in the digits of a range of items.
pub(crate) type Digits<'a> = dyn for<'b> Task<(Range<usize>, &'b mut [u16])> + 'a;

/// Scratch of the counting pass.
#[derive(Debug, Default)]
pub(super) struct CountingPass {
    /// The digit of each item.
    digits: Vec<u16>,
    /// Items of each block but the last, and blocks of each group but the last.
    block: usize,
    group: usize,
    /// A row for each block, in cache lines of its own: for each digit, the number of items in the blocks before it in
    /// its group.
    counts: Vec<Ids>,
    /// A row of counts for each group, and how many of its blocks have been counted.
    totals: Vec<u32>,
    counted: Groups,
    /// Start of each bucket, and the end of the last.
    borders: Vec<u32>,
}

impl CountingPass {
    /// Deals items `0..items` out to `target` by digit, keeping the order within a digit. `digits(range, out)` fills in
    /// the digits, each below 2^bits, of a range of items.
    pub(super) fn deal<T: Copy + Send + Sync, I: Iterator<Item = T>>(
        &mut self,
        workers: Workers<'_>,
        items: usize,
        bits: u32,
        source: impl Fn(Range<usize>) -> I + Sync,
        digits: &Digits<'_>,
        (target, put): (&mut [T], impl Put<T>),
    ) {
        assert!(target.len() >= items, "the target holds fewer items than are dealt out");
        self.count(workers, items, 1 << bits, digits);
        self.scatter(workers, items, 1 << bits, source, (target, put));
    }

    /// Deals `items` out in place, by way of `spare`, which is as long.
    #[allow(unsafe_code, reason = "each block copies items of its own")]
    pub(super) fn deal_within<T: Copy + Send + Sync>(
        &mut self,
        workers: Workers<'_>,
        items: &mut [T],
        spare: &mut [T],
        bits: u32,
        digits: impl Fn(&[T], &mut [u16]) + Sync,
    ) {
        let copies = Disjoint::new(spare);
        let source = &*items;
        self.count(workers, source.len(), 1 << bits, &|(range, out): (Range<usize>, &mut [u16])| {
            // SAFETY: blocks are disjoint.
            unsafe { copies.range(range.clone()) }.copy_from_slice(&source[range.clone()]);
            digits(&source[range], out);
        });
        let source = &*spare;
        self.scatter(workers, source.len(), 1 << bits, |range| source[range].iter().copied(), (items, AsItIs));
    }

    /// Swaps the memory that holds digits for `other`.
    pub(super) fn exchange_digits(&mut self, other: &mut Vec<u16>) {
        mem::swap(&mut self.digits, other);
    }

    /// Where each bucket of the last pass ends, ascending.
    pub(super) fn bucket_ends(&self) -> &[u32] {
        &self.borders[1..]
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let Self { digits, block: _, group: _, counts, totals, counted, borders } = self;
        (totals.capacity() + borders.capacity()) * size_of::<u32>()
            + counts.capacity() * size_of::<Ids>()
            + digits.capacity() * size_of::<u16>()
            + counted.bytes()
    }

    /// Writes every item to its place.
    fn scatter<T: Copy + Send + Sync, I: Iterator<Item = T>>(
        &self,
        workers: Workers<'_>,
        items: usize,
        buckets: usize,
        source: impl Fn(Range<usize>) -> I + Sync,
        (target, put): (&mut [T], impl Put<T>),
    ) {
        let (size, group, target) = (self.block, self.group, Disjoint::new(target));
        let counts: &[u32] = cast_slice(&self.counts);
        let ahead = if workers.count() == 1 { AHEAD } else { AHEAD_OF_SEVERAL } / size_of::<T>().max(1);
        workers.run("scatter", items.div_ceil(size), |block| {
            let range = block_range(block, size, items);
            let mut next = [0; 1 << MAX_DIGIT_BITS];
            next[..buckets].copy_from_slice(&counts[row_of(block, buckets)]);
            add(&mut next, &self.borders[..buckets]);
            self.totals[..block / group * buckets].chunks_exact(buckets).for_each(|row| add(&mut next, row));
            scatter_block(source(range.clone()).zip(self.digits[range].iter().copied()), next, (&target, ahead), put);
        });
    }

    /// Computes the digits, one row of counts per block and one per group, and the borders of buckets.
    #[allow(unsafe_code, reason = "each block writes a row and digits of its own, and who ends a group its row")]
    fn count(&mut self, workers: Workers<'_>, items: usize, buckets: usize, digits: &Digits<'_>) {
        let size = block_items(items, workers);
        let blocks = items.div_ceil(size);
        let group = blocks.div_ceil(workers.count().min(GROUPS)).max(1);
        let groups = blocks.div_ceil(group);
        (self.block, self.group) = (size, group);
        let lines = blocks * buckets.div_ceil(SIXTEEN);
        if self.counts.len() < lines {
            self.counts.resize(lines, Ids([0; SIXTEEN]));
        }
        if self.totals.len() < groups * buckets {
            self.totals.resize(groups * buckets, 0);
        }
        if self.digits.len() < items {
            self.digits.resize(items, 0);
        }
        self.counted.reset(groups);
        let counts = Disjoint::new(cast_slice_mut::<_, u32>(&mut self.counts));
        let totals = Disjoint::new(&mut self.totals);
        let all_digits = Disjoint::new(&mut self.digits);
        workers.run("digits", blocks, |block| {
            let range = block_range(block, size, items);
            // SAFETY: each block has a row, and digits, of its own.
            let (row, out) = unsafe { (counts.range(row_of(block, buckets)), all_digits.range(range.clone())) };
            digits.run((range, out));
            row.fill(0);
            // By fours, as `CellPass` counts.
            let (fours, rest) = out.as_chunks::<4>();
            for four in fours {
                for at in 0..4 {
                    row[usize::from(four[at]) & (buckets - 1)] += 1;
                }
            }
            for &digit in rest {
                row[usize::from(digit) & (buckets - 1)] += 1;
            }
            let at = block / group;
            let of_group = block_range(at, group, blocks);
            if self.counted.end(at, 1, of_group.len()) {
                // SAFETY: the worker that ends the group has the group's row.
                let total = unsafe { totals.range(at * buckets..(at + 1) * buckets) };
                total.fill(0);
                for block in of_group {
                    // SAFETY: all blocks of the group have been counted, and this worker alone is told so.
                    let row = unsafe { counts.range(row_of(block, buckets)) };
                    for (before, total) in row.iter_mut().zip(&mut *total) {
                        (*before, *total) = (*total, *total + *before);
                    }
                }
            }
        });
        self.borders.clear();
        self.borders.resize(buckets + 1, 0);
        for row in self.totals[..groups * buckets].chunks_exact(buckets) {
            add(&mut self.borders[1..], row);
        }
        for bucket in 1..=buckets {
            self.borders[bucket] += self.borders[bucket - 1];
        }
    }
}

/// Returns where the row of a block lies among all counts.
fn row_of(block: usize, buckets: usize) -> Range<usize> {
    let start = block * buckets.next_multiple_of(SIXTEEN);
    start..start + buckets
}

/// Adds a row to another of the same length.
fn add(to: &mut [u32], row: &[u32]) {
    to.iter_mut().zip(row).for_each(|(to, count)| *to += count);
}

/// Writes the items of a block, each with its digit, to their places. For each digit, `next` says where the next item
/// goes. Memory is asked for `ahead` items ahead.
#[allow(unsafe_code, reason = "radix scatter: each block writes places of its own")]
fn scatter_block<T>(
    block: impl Iterator<Item = (T, u16)>,
    mut next: [u32; 1 << MAX_DIGIT_BITS],
    (target, ahead): (&Disjoint<'_, T>, usize),
    put: impl Put<T>,
) {
    for (item, digit) in block {
        let place = &mut next[usize::from(digit) & ((1 << MAX_DIGIT_BITS) - 1)];
        // SAFETY: the sums give this block, and no other, as many places within the target for this digit as the block
        // has counted.
        unsafe { put.put(target.at(*place as usize), item) };
        target.prefetch(*place as usize + ahead);
        *place += 1;
    }
}

/// Copies every item to the same place in `first`.
#[allow(unsafe_code, reason = "each block writes places of its own")]
pub(super) fn copy<T: Copy + Send, I: Iterator<Item = T>>(
    workers: Workers<'_>,
    items: usize,
    source: impl Fn(Range<usize>) -> I + Sync + Send,
    first: &mut [T],
) {
    let first = Disjoint::new(&mut first[..items]);
    let size = block_items(items, workers);
    workers.run("copy", items.div_ceil(size), |block| {
        let range = block_range(block, size, items);
        // SAFETY: blocks are disjoint.
        let places = unsafe { first.range(range.clone()) };
        for (place, item) in places.iter_mut().zip(source(range)) {
            *place = item;
        }
    });
}

fn block_range(block: usize, size: usize, items: usize) -> Range<usize> {
    block * size..((block + 1) * size).min(items)
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::{AsItIs, CountingPass};
    use crate::parallel::cores;
    use crate::parallel::workers::Workers;

    /// One pass is kept from size to size, and runs on few threads and on many, for which blocks end elsewhere.
    #[test]
    fn items_lie_in_order_of_digits_and_as_they_came_within_one() {
        cores::assume(512);
        for threads in [1, 2, 3, 16, 40] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut pass = CountingPass::default();
            for (items, bits) in [(50_000_u32, 3), (0, 3), (1, 1), (700, 10), (300_000, 6), (2_100, 4)] {
                let digit = |item: u32| (item.wrapping_mul(2_654_435_769) >> 20) as u16 & ((1 << bits) - 1);
                let mut expected: Vec<u32> = (0..items).collect();
                expected.sort_by_key(|&item| digit(item));
                let mut dealt = vec![u32::MAX; items as usize];
                pool.install(|| {
                    let digits = |(range, out): (core::ops::Range<usize>, &mut [u16])| {
                        out.iter_mut().zip(range).for_each(|(out, item)| *out = digit(item as u32));
                    };
                    let source = |range: core::ops::Range<usize>| range.map(|item| item as u32);
                    pass.deal(Workers::current(), items as usize, bits, source, &digits, (&mut dealt[..], AsItIs));
                });
                assert!(dealt == expected, "{items} items, {bits} bits, {threads} threads");
                assert_eq!(pass.bucket_ends().last(), Some(&items));
            }
        }
    }
}
