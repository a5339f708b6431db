//! Counting passes over many items, in parallel, until what is left fits the cache.

use core::ops::Range;

use super::LOCAL_MAX;
use crate::disjoint::Disjoint;
use crate::scratch::ScratchPool;
use crate::workers::Workers;

/// Buckets of one counting pass, as bits: 2^10 write streams are about what the second-level TLB covers.
pub(crate) const MAX_DIGIT_BITS: u32 = 10;

/// Items that a bucket should hold on average: they and their sort then fit the first-level cache. Of many items twice as
/// many, for the second-level cache no longer holds all, and half as many streams are worth more (measured at 100,000:
/// 0.9 of the time of the sort).
fn bucket_items(items: usize) -> usize {
    if items < 1 << 16 { 1 << 10 } else { 1 << 11 }
}

/// Neighbouring buckets are merged to a segment while it holds fewer items than this.
const SEGMENT_MIN: usize = 512;

/// Segments are handed out in tasks of at least this many items.
const TASK_ITEMS: usize = 2048;

/// Items of a block of the counting pass: at most so many that records of 16 bytes, staged, take 256 KiB of the
/// second-level cache; fewer where there are fewer buckets, so that there are blocks for all workers.
fn block_items(buckets: usize) -> usize {
    (16 * buckets).clamp(1 << 11, 1 << 14)
}

/// A block with more digits than this is dealt out in a staging buffer first, and its runs then copied to their places:
/// written one by one to 1,024 far places, each item costs a miss of the first-level cache and of the TLB.
const DIRECT_STREAMS: usize = 64;

/// Digit bits that leave about [`bucket_items`] items a bucket.
pub(crate) fn digit_bits(items: usize) -> u32 {
    (items / bucket_items(items)).max(1).ilog2().min(MAX_DIGIT_BITS)
}

/// A run of items that belongs together, to be sorted in one piece: a range of ranks, the buffer that holds it, and the
/// frame that its codes are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First rank.
    pub(crate) start: u32,
    /// One past the last rank.
    pub(crate) end: u32,
    /// The items lie in the second buffer.
    pub(crate) in_second: bool,
    /// All codes are equal.
    pub(crate) equal: bool,
    /// Number of the frame that the codes are taken in.
    pub(crate) frame: u32,
    /// The codes differ only in bits below this one.
    pub(crate) top: u32,
}

impl Segment {
    /// The ranks as a range.
    #[inline]
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The items, in the buffer that holds them.
    #[inline]
    pub(crate) fn items<'a, T>(&self, (first, second): (&'a [T], &'a [T])) -> &'a [T] {
        if self.in_second { &second[self.range()] } else { &first[self.range()] }
    }

    fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Scratch of the counting pass.
#[derive(Debug)]
struct CountingPass<T> {
    /// The digit of each item.
    digits: Vec<u16>,
    /// One row of 2^bits counters a block.
    counts: Vec<u32>,
    /// For each counter, where the first of the items that it counts goes.
    places: Vec<u32>,
    /// Start of each bucket, and the end of the last.
    borders: Vec<u32>,
    /// Differing bits found by each block.
    differing: Vec<u64>,
    staging: ScratchPool<Vec<T>>,
}

impl<T> Default for CountingPass<T> {
    fn default() -> Self {
        Self {
            digits: Vec::new(),
            counts: Vec::new(),
            places: Vec::new(),
            borders: Vec::new(),
            differing: Vec::new(),
            staging: ScratchPool::default(),
        }
    }
}

/// The items of a block, each with its digit, from the place for each digit on.
#[allow(unsafe_code, reason = "radix scatter: each block writes places of its own")]
fn scatter_straight<T>(block: impl Iterator<Item = (T, u16)>, places: &[u32], target: &Disjoint<'_, T>) {
    let mut next = [0; 1 << MAX_DIGIT_BITS];
    next[..places.len()].copy_from_slice(places);
    for (item, digit) in block {
        let place = &mut next[usize::from(digit) & ((1 << MAX_DIGIT_BITS) - 1)];
        // SAFETY: the scan gave this block as many places within the target for this digit as it counted, and to no
        // other block.
        unsafe { target.write(*place as usize, item) };
        *place += 1;
    }
}

/// As [`scatter_straight`], by digit to a buffer first; then runs of equal digit to their places.
#[allow(unsafe_code, reason = "radix scatter: each block writes places of its own")]
fn scatter_staged<T: Copy>(
    block: impl Iterator<Item = (T, u16)>,
    counts: &[u32],
    places: &[u32],
    buffer: &mut [T],
    target: &Disjoint<'_, T>,
) {
    let mut next = [0_u32; 1 << MAX_DIGIT_BITS];
    let mut sum = 0;
    for (next, &count) in next.iter_mut().zip(counts) {
        *next = sum;
        sum += count;
    }
    for (item, digit) in block {
        let next = &mut next[usize::from(digit) & ((1 << MAX_DIGIT_BITS) - 1)];
        buffer[*next as usize] = item;
        *next += 1;
    }
    let mut rest = &buffer[..];
    for (&count, &place) in counts.iter().zip(places) {
        let (run, later) = rest.split_at(count as usize);
        // SAFETY: the scan gave this block these places, within the target, for this digit, and no other block.
        unsafe { target.range(place as usize..place as usize + run.len()) }.copy_from_slice(run);
        rest = later;
    }
}

/// Every item to the same place in `first`.
#[allow(unsafe_code, reason = "each block writes places of its own")]
fn copy<T: Copy + Send, I: Iterator<Item = T>>(
    workers: Workers,
    items: usize,
    source: impl Fn(Range<usize>) -> I + Sync + Send,
    first: &mut [T],
) {
    let first = Disjoint::new(&mut first[..items]);
    let size = block_items(1);
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

impl<T: Copy + Send + Sync> CountingPass<T> {
    /// Deals items `0..items` out to `target` by digit, keeping the order within a digit; fills `borders`.
    /// `digits(range, out)` gives the digits, each below 2^bits, of a range of items.
    fn deal<I: Iterator<Item = T>>(
        &mut self,
        workers: Workers,
        items: usize,
        bits: u32,
        source: impl Fn(Range<usize>) -> I + Sync,
        digits: impl Fn(Range<usize>, &mut [u16]) + Sync,
        target: &mut [T],
    ) {
        assert!(target.len() >= items, "the target holds fewer items than are dealt out");
        self.count(workers, items, 1 << bits, digits);
        self.scan(1 << bits);
        self.scatter(workers, items, 1 << bits, source, target);
    }

    /// Digits, and one row of counts a block.
    #[allow(unsafe_code, reason = "each block writes a row and digits of its own")]
    fn count(
        &mut self,
        workers: Workers,
        items: usize,
        buckets: usize,
        digits: impl Fn(Range<usize>, &mut [u16]) + Sync,
    ) {
        let size = block_items(buckets);
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
            digits(range, out);
            for &digit in &*out {
                row[digit as usize & (buckets - 1)] += 1;
            }
        });
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

    /// Every item to its place: straight there from a block with few digits, in a staging buffer first from others.
    fn scatter<I: Iterator<Item = T>>(
        &mut self,
        workers: Workers,
        items: usize,
        buckets: usize,
        source: impl Fn(Range<usize>) -> I + Sync,
        target: &mut [T],
    ) {
        let Some(any) = source(0..items).next() else { return };
        let size = block_items(buckets);
        if buckets > DIRECT_STREAMS {
            self.staging.prepare(workers.count(), |buffer| buffer.resize(items.min(size), any));
        }
        let (digits, counts, places, staging) = (&self.digits, &self.counts, &self.places, &self.staging);
        let target = Disjoint::new(target);
        workers.run("scatter", items.div_ceil(size), |block| {
            let row = block * buckets..(block + 1) * buckets;
            let (counts, places) = (&counts[row.clone()], &places[row]);
            let range = block_range(block, size, items);
            let block = source(range.clone()).zip(digits[range.clone()].iter().copied());
            if counts.iter().filter(|&&count| count > 0).count() <= DIRECT_STREAMS {
                scatter_straight(block, places, &target);
            } else {
                staging.with(|buffer| {
                    buffer.resize(range.len(), any);
                    scatter_staged(block, counts, places, buffer, &target);
                });
            }
        });
    }

    /// The bits in which the codes of `items` differ from the first.
    fn differing_bits(&mut self, workers: Workers, items: &[T], code: impl Fn(&T) -> u64 + Sync) -> u64 {
        let Some(first) = items.first().map(&code) else { return 0 };
        self.differing.clear();
        let size = block_items(1);
        self.differing.resize(items.len().div_ceil(size), 0);
        workers.fill("differing bits", &mut self.differing, |block| {
            items[block_range(block, size, items.len())].iter().fold(0, |bits, item| bits | (code(item) ^ first))
        });
        self.differing.iter().fold(0, |all, bits| all | bits)
    }
}

/// Deals items out to segments that are small enough to be sorted in cache. Keeps its scratch.
#[derive(Debug)]
pub(crate) struct Dealer<T> {
    pass: CountingPass<T>,
    large: Vec<Segment>,
    segments: Vec<Segment>,
    tasks: Vec<u32>,
}

impl<T> Default for Dealer<T> {
    fn default() -> Self {
        Self { pass: CountingPass::default(), large: Vec::new(), segments: Vec::new(), tasks: Vec::new() }
    }
}

impl<T: Copy + Send + Sync> Dealer<T> {
    /// Starts over, with memory for as many segments and tasks as `items` items make in general.
    pub(crate) fn start(&mut self, items: usize) {
        self.large.clear();
        self.segments.clear();
        self.segments.reserve(2 * items / SEGMENT_MIN + 16);
        self.tasks.clear();
        self.tasks.reserve(items / TASK_ITEMS + 2);
    }

    /// Takes `segment` as it is, large or not, to be dealt out by [`Dealer::deal_large`] if it is large.
    pub(crate) fn push(&mut self, segment: Segment) {
        if segment.len() > LOCAL_MAX { self.large.push(segment) } else { self.segments.push(segment) }
    }

    /// First pass: deals items from their source to the first buffer by a digit of `bits` bits, of codes of `top` bits.
    /// With no bits they are copied as they come.
    #[allow(clippy::too_many_arguments, reason = "a pass has this many sides")]
    pub(crate) fn deal_from<I: Iterator<Item = T>>(
        &mut self,
        workers: Workers,
        items: usize,
        (bits, top): (u32, u32),
        source: impl Fn(Range<usize>) -> I + Sync + Send,
        digits: impl Fn(Range<usize>, &mut [u16]) + Sync + Send,
        first: &mut [T],
    ) {
        let whole = Segment { start: 0, end: items as u32, in_second: false, equal: false, frame: 0, top };
        if bits == 0 {
            copy(workers, items, source, first);
            return self.push(whole);
        }
        self.pass.deal(workers, items, bits, source, digits, first);
        self.push_buckets(Segment { top: top - bits, ..whole });
    }

    /// True when a segment waits to be dealt out again.
    pub(crate) fn has_large(&self) -> bool {
        !self.large.is_empty()
    }

    /// Deals large segments out again until none is left that holds differing codes; those whose codes are all equal
    /// are handed to `equal`, which may push them back with another frame. `code(frame, item)`.
    pub(crate) fn deal_large(
        &mut self,
        workers: Workers,
        first: &mut [T],
        second: &mut [T],
        code: impl Fn(u32, &T) -> u64 + Sync,
    ) -> Option<Segment> {
        while let Some(segment) = self.large.pop() {
            let (source, target) = if segment.in_second { (&*second, &mut *first) } else { (&*first, &mut *second) };
            let (source, target) = (&source[segment.range()], &mut target[segment.range()]);
            let code = |item: &T| code(segment.frame, item);
            let differing = self.pass.differing_bits(workers, source, code);
            if differing == 0 {
                return Some(segment);
            }
            let top = u64::BITS - differing.leading_zeros();
            let bits = digit_bits(source.len()).min(top);
            let mask = (1 << bits) - 1;
            let digits = |range: Range<usize>, out: &mut [u16]| {
                for (out, item) in out.iter_mut().zip(&source[range]) {
                    *out = (code(item) >> (top - bits)) as u16 & mask;
                }
            };
            self.pass.deal(workers, source.len(), bits, |range| source[range].iter().copied(), digits, target);
            self.push_buckets(Segment { in_second: !segment.in_second, top: top - bits, ..segment });
        }
        None
    }

    /// Takes a segment whose codes are all equal, and are to stay so: its order stands.
    pub(crate) fn push_equal(&mut self, segment: Segment) {
        for start in segment.range().step_by(LOCAL_MAX) {
            let end = segment.end.min((start + LOCAL_MAX) as u32);
            self.segments.push(Segment { start: start as u32, end, equal: true, ..segment });
        }
    }

    /// Merges the buckets just dealt to segments; large buckets are put aside. `whole.top` is that of each bucket.
    fn push_buckets(&mut self, whole: Segment) {
        let mut open = Segment { end: whole.start, ..whole };
        let mut first_digit = 0;
        for (digit, border) in (0_u32..).zip(&self.pass.borders[1..]) {
            let bucket = Segment { start: open.end, end: whole.start + border, ..whole };
            if bucket.len() > LOCAL_MAX || open.len() >= SEGMENT_MIN || open.len() + bucket.len() > LOCAL_MAX {
                if open.len() > LOCAL_MAX {
                    self.large.push(open);
                } else if open.len() > 0 {
                    self.segments.push(open);
                }
                (open, first_digit) = (bucket, digit);
            } else if bucket.len() > 0 {
                if open.len() == 0 {
                    first_digit = digit;
                }
                open.end = bucket.end;
                open.top = whole.top + u32::BITS - (first_digit ^ digit).leading_zeros();
            }
        }
        if open.len() > 0 {
            self.push(open);
        }
    }

    /// Puts the segments in order of rank and groups them to tasks.
    pub(crate) fn finish(&mut self) {
        if !self.segments.is_sorted_by_key(|s| s.start) {
            self.segments.sort_unstable_by_key(|s| s.start);
        }
        self.tasks.clear();
        let mut items = TASK_ITEMS;
        for (i, segment) in self.segments.iter().enumerate() {
            if items >= TASK_ITEMS {
                self.tasks.push(i as u32);
                items = 0;
            }
            items += segment.len();
        }
        self.tasks.push(self.segments.len() as u32);
    }

    /// The segments in order of rank, once [`Dealer::finish`] has been called.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Number of tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.len().saturating_sub(1)
    }

    /// The segments of a task, as positions in [`Dealer::segments`].
    pub(crate) fn task(&self, task: usize) -> Range<usize> {
        self.tasks[task] as usize..self.tasks[task + 1] as usize
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.pass.counts.capacity() + self.pass.places.capacity() + self.pass.borders.capacity()) * size_of::<u32>()
            + self.pass.digits.capacity() * size_of::<u16>()
            + self.pass.staging.bytes(|buffer| buffer.capacity() * size_of::<T>())
            + (self.segments.capacity() + self.large.capacity()) * size_of::<Segment>()
    }
}
