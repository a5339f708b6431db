//! One counting pass over many items, in parallel: one histogram a block, one scan, one scatter.

use core::mem;
use core::ops::Range;

use crate::parallel::disjoint::Disjoint;
use crate::parallel::task::Task;
use crate::parallel::workers::Workers;

/// Buckets of one counting pass, as bits: 2^10 write streams are about what the second-level TLB covers.
pub(crate) const MAX_DIGIT_BITS: u32 = 10;

/// Items of a block of the counting pass: so many that its digits stay in the first-level cache until they are counted, and
/// that there are tasks enough.
fn block_items(items: usize) -> usize {
    items.div_ceil(64).clamp(1 << 11, 1 << 14)
}

/// Bytes ahead of where items of a digit are written that memory is asked for. Stores wait for one another, and where there are
/// more streams than the processor follows by itself, each would for its line, too (`docs/measurements.md`).
const AHEAD: usize = 256;

/// Fills in the digits of a range of items.
pub(crate) type Digits<'a> = dyn for<'b> Task<(Range<usize>, &'b mut [u16])> + 'a;

/// Scratch of the counting pass.
#[derive(Debug, Default)]
pub(super) struct CountingPass {
    /// The digit of each item.
    digits: Vec<u16>,
    /// One row of 2^bits counters a block.
    counts: Vec<u32>,
    /// For each counter, where the first of the items that it counts goes.
    places: Vec<u32>,
    /// Start of each bucket, and the end of the last.
    borders: Vec<u32>,
}

impl CountingPass {
    /// Deals items `0..items` out to `target` by digit, keeping the order within a digit.
    /// `digits(range, out)` gives the digits, each below 2^bits, of a range of items.
    pub(super) fn deal<T: Copy + Send + Sync, I: Iterator<Item = T>>(
        &mut self,
        workers: Workers<'_>,
        items: usize,
        bits: u32,
        source: impl Fn(Range<usize>) -> I + Sync,
        digits: &Digits<'_>,
        target: &mut [T],
    ) {
        assert!(target.len() >= items, "the target holds fewer items than are dealt out");
        self.count(workers, items, 1 << bits, digits);
        self.scatter(workers, items, 1 << bits, source, target);
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
        self.scatter(workers, source.len(), 1 << bits, |range| source[range].iter().copied(), items);
    }

    /// Exchanges the memory in which digits are noted for other.
    pub(super) fn exchange_digits(&mut self, other: &mut Vec<u16>) {
        mem::swap(&mut self.digits, other);
    }

    /// Where each bucket of the last pass ends, ascending.
    pub(super) fn bucket_ends(&self) -> &[u32] {
        &self.borders[1..]
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let Self { digits, counts, places, borders } = self;
        (counts.capacity() + places.capacity() + borders.capacity()) * size_of::<u32>()
            + digits.capacity() * size_of::<u16>()
    }

    /// Every item to its place.
    fn scatter<T: Copy + Send + Sync, I: Iterator<Item = T>>(
        &self,
        workers: Workers<'_>,
        items: usize,
        buckets: usize,
        source: impl Fn(Range<usize>) -> I + Sync,
        target: &mut [T],
    ) {
        let (size, target) = (block_items(items), Disjoint::new(target));
        workers.run("scatter", items.div_ceil(size), |block| {
            let range = block_range(block, size, items);
            let items = source(range.clone()).zip(self.digits[range].iter().copied());
            scatter_block(items, &self.places[block * buckets..(block + 1) * buckets], &target);
        });
    }

    /// Digits, one row of counts a block, and the places that follow from them.
    #[allow(unsafe_code, reason = "each block writes a row and digits of its own")]
    fn count(&mut self, workers: Workers<'_>, items: usize, buckets: usize, digits: &Digits<'_>) {
        let size = block_items(items);
        let blocks = items.div_ceil(size);
        self.counts.clear();
        self.counts.resize(blocks * buckets, 0);
        self.places.resize(blocks * buckets, 0);
        if self.digits.len() < items {
            self.digits.resize(items, 0);
        }
        let counts = Disjoint::new(&mut self.counts);
        let all_digits = Disjoint::new(&mut self.digits);
        workers.run("digits", blocks, |block| {
            let range = block_range(block, size, items);
            // SAFETY: each block has a row, and digits, of its own.
            let (row, out) =
                unsafe { (counts.range(block * buckets..(block + 1) * buckets), all_digits.range(range.clone())) };
            digits.run((range, out));
            for &digit in &*out {
                row[digit as usize & (buckets - 1)] += 1;
            }
        });
        self.scan(buckets);
    }

    /// Exclusive scan over (digit, block): from counts to places.
    fn scan(&mut self, buckets: usize) {
        self.borders.clear();
        self.borders.resize(buckets + 1, 0);
        for row in self.counts.chunks_exact(buckets) {
            for (total, &count) in self.borders[1..].iter_mut().zip(row) {
                *total += count;
            }
        }
        for bucket in 1..=buckets {
            self.borders[bucket] += self.borders[bucket - 1];
        }
        // Each row stands where the one before ends.
        let (counts, places) = (&self.counts, &mut self.places);
        let mut before: &[u32] = &self.borders[..buckets];
        let mut counts_before: Option<&[u32]> = None;
        for (row, counts) in places.chunks_exact_mut(buckets).zip(counts.chunks_exact(buckets)) {
            match counts_before {
                None => row.copy_from_slice(before),
                Some(counts) => {
                    for (place, (&before, &count)) in row.iter_mut().zip(before.iter().zip(counts)) {
                        *place = before + count;
                    }
                }
            }
            before = row;
            counts_before = Some(counts);
        }
    }
}

/// The items of a block, each with its digit, from the place for each digit on.
#[allow(unsafe_code, reason = "radix scatter: each block writes places of its own")]
fn scatter_block<T>(block: impl Iterator<Item = (T, u16)>, places: &[u32], target: &Disjoint<'_, T>) {
    let mut next = [0; 1 << MAX_DIGIT_BITS];
    next[..places.len()].copy_from_slice(places);
    for (item, digit) in block {
        let place = &mut next[usize::from(digit) & ((1 << MAX_DIGIT_BITS) - 1)];
        // SAFETY: the scan gave this block as many places within the target for this digit as it counted, and to no
        // other block.
        unsafe { target.write(*place as usize, item) };
        target.prefetch(*place as usize + AHEAD / size_of::<T>().max(1));
        *place += 1;
    }
}

/// Every item to the same place in `first`.
#[allow(unsafe_code, reason = "each block writes places of its own")]
pub(super) fn copy<T: Copy + Send, I: Iterator<Item = T>>(
    workers: Workers<'_>,
    items: usize,
    source: impl Fn(Range<usize>) -> I + Sync + Send,
    first: &mut [T],
) {
    let first = Disjoint::new(&mut first[..items]);
    let size = block_items(items);
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
