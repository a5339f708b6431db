//! Stable radix sort by 64-bit code.
//!
//! Most significant digit first: one parallel counting pass deals the items out to up to 2^[`MAX_DIGIT_BITS`] buckets by
//! the highest bits in which their codes differ, so that a common prefix costs nothing; buckets that are still large
//! are dealt out again; small neighbours are merged to segments. Each segment is then sorted in cache on (key, place)
//! packed in 32 bits: 16 bits of the code at a time, least significant digit first, ties looked at again with the bits
//! below. The parallel pass is the counting sort of Zagha and Blelloch (1991): one histogram a block, one scan over
//! (digit, block), one scatter; hence stable, and the same for any number of threads.

use core::ops::Range;

use crate::disjoint::Disjoint;
use crate::scratch::ScratchPool;
use crate::workers::Workers;

/// Buckets of one counting pass, as bits: 2^10 write streams are about what the second-level TLB covers.
pub const MAX_DIGIT_BITS: u32 = 10;

/// Items that a bucket should hold on average: they and their sort then fit the first-level cache.
const BUCKET_ITEMS: usize = 1024;

/// The most items that are sorted in one cache-resident piece.
pub const LOCAL_MAX: usize = 1 << 14;

/// Neighbouring buckets are merged to a segment while it holds fewer items than this.
const SEGMENT_MIN: usize = 512;

/// Segments are handed out in tasks of at least this many items.
const TASK_ITEMS: usize = 4096;

/// Items of a block of the counting pass, at least; larger for large inputs so that there are at most 256 blocks.
const BLOCK_MIN: usize = 1 << 14;

/// Digit bits that leave about [`BUCKET_ITEMS`] items a bucket.
#[must_use]
pub fn digit_bits(items: usize) -> u32 {
    (items / BUCKET_ITEMS).max(1).ilog2().min(MAX_DIGIT_BITS)
}

/// A run of items that belongs together, to be sorted in one piece: a range of ranks, the buffer that holds it, and the
/// frame that its codes are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First rank.
    pub start: u32,
    /// One past the last rank.
    pub end: u32,
    /// The items lie in the second buffer.
    pub in_second: bool,
    /// All codes are equal.
    pub equal: bool,
    /// Number of the frame that the codes are taken in.
    pub frame: u32,
}

impl Segment {
    /// The ranks as a range.
    #[inline]
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Scratch of the counting pass.
#[derive(Debug, Default)]
struct Histograms {
    /// The digit of each item.
    digits: Vec<u16>,
    /// One row of 2^bits counters a block, turned into write positions by the scan.
    rows: Vec<u32>,
    /// Start of each bucket, and the end of the last.
    borders: Vec<u32>,
    /// Differing bits found by each block.
    differing: Vec<u64>,
}

fn block_len(items: usize) -> usize {
    items.div_ceil(256).max(BLOCK_MIN)
}

fn block_range(block: usize, items: usize) -> Range<usize> {
    let len = block_len(items);
    block * len..((block + 1) * len).min(items)
}

impl Histograms {
    /// Deals items `0..items` out to `target` by digit, keeping the order within a digit; fills `borders`.
    /// `digits(range, out)` gives the digits, each below 2^bits, of a range of items.
    #[allow(unsafe_code, reason = "radix scatter: each block writes positions of its own")]
    fn deal<T: Copy + Send, S: Fn(usize) -> T + Sync>(
        &mut self,
        workers: Workers,
        items: usize,
        bits: u32,
        source: S,
        digits: impl Fn(Range<usize>, &mut [u16]) + Sync,
        target: &mut [T],
    ) {
        assert!(target.len() >= items, "the target holds fewer items than are dealt out");
        let buckets = 1 << bits;
        let mask = buckets - 1;
        let blocks = items.div_ceil(block_len(items));
        self.rows.clear();
        self.rows.resize(blocks * buckets, 0);
        if self.digits.len() < items {
            self.digits.resize(items, 0);
        }
        let rows = Disjoint::new(&mut self.rows);
        let all_digits = Disjoint::new(&mut self.digits);
        workers.run(blocks, |block| {
            let range = block_range(block, items);
            // SAFETY: each block has a row, and digits, of its own.
            let (row, out) =
                unsafe { (rows.range(block * buckets..(block + 1) * buckets), all_digits.range(range.clone())) };
            digits(range, out);
            for &digit in &*out {
                row[digit as usize & mask] += 1;
            }
        });
        self.scan(buckets);
        let rows = Disjoint::new(&mut self.rows);
        let target = Disjoint::new(target);
        let digits = &self.digits;
        workers.run(blocks, |block| {
            // SAFETY: each block has a row of its own.
            let row = unsafe { rows.range(block * buckets..(block + 1) * buckets) };
            let range = block_range(block, items);
            for (i, &digit) in range.clone().zip(&digits[range]) {
                let place = &mut row[digit as usize & mask];
                // SAFETY: the scan gave this block as many positions below `items` for this digit as it counted, and
                // to no other block.
                unsafe { target.write(*place as usize, source(i)) };
                *place += 1;
            }
        });
    }

    /// Exclusive scan over (digit, block): rows of counts become rows of write positions.
    fn scan(&mut self, buckets: usize) {
        self.borders.clear();
        self.borders.resize(buckets + 1, 0);
        for row in self.rows.chunks_exact(buckets) {
            for (total, &count) in self.borders[1..].iter_mut().zip(row) {
                *total += count;
            }
        }
        for bucket in 1..=buckets {
            self.borders[bucket] += self.borders[bucket - 1];
        }
        // Borders serve as the running position of each bucket and are moved back by one row at the end.
        for row in self.rows.chunks_exact_mut(buckets) {
            for (next, place) in self.borders.iter_mut().zip(row) {
                let count = *place;
                *place = *next;
                *next += count;
            }
        }
        for bucket in (1..=buckets).rev() {
            self.borders[bucket] = self.borders[bucket - 1];
        }
        self.borders[0] = 0;
    }

    /// The bits in which the codes of `items` differ from the first.
    fn differing_bits<T: Sync>(&mut self, workers: Workers, items: &[T], code: impl Fn(&T) -> u64 + Sync) -> u64 {
        let Some(first) = items.first().map(&code) else { return 0 };
        self.differing.clear();
        self.differing.resize(items.len().div_ceil(block_len(items.len())), 0);
        workers.fill(&mut self.differing, |block| {
            items[block_range(block, items.len())].iter().fold(0, |bits, item| bits | (code(item) ^ first))
        });
        self.differing.iter().fold(0, |all, bits| all | bits)
    }
}

/// Deals items out to segments that are small enough to be sorted in cache. Keeps its scratch.
#[derive(Debug, Default)]
pub struct Dealer {
    histograms: Histograms,
    large: Vec<Segment>,
    segments: Vec<Segment>,
    tasks: Vec<u32>,
}

impl Dealer {
    /// Starts over, with memory for as many segments and tasks as `items` items make in general.
    pub fn start(&mut self, items: usize) {
        self.large.clear();
        self.segments.clear();
        self.segments.reserve(2 * items / SEGMENT_MIN + 16);
        self.tasks.clear();
        self.tasks.reserve(items / TASK_ITEMS + 2);
    }

    /// Takes `segment` as it is, large or not, to be dealt out by [`Dealer::deal_large`] if it is large.
    pub fn push(&mut self, segment: Segment) {
        if segment.len() > LOCAL_MAX { self.large.push(segment) } else { self.segments.push(segment) }
    }

    /// First pass: deals items from their source to the first buffer by a digit of `bits` bits.
    pub fn deal_from<T: Copy + Send, S: Fn(usize) -> T + Sync>(
        &mut self,
        workers: Workers,
        items: usize,
        bits: u32,
        source: S,
        digits: impl Fn(Range<usize>, &mut [u16]) + Sync,
        first: &mut [T],
    ) {
        self.histograms.deal(workers, items, bits, source, digits, first);
        self.push_buckets(Segment { start: 0, end: items as u32, in_second: false, equal: false, frame: 0 });
    }

    /// True when a segment waits to be dealt out again.
    #[must_use]
    pub fn has_large(&self) -> bool {
        !self.large.is_empty()
    }

    /// Deals large segments out again until none is left that holds differing codes; those whose codes are all equal
    /// are handed to `equal`, which may push them back with another frame. `code(frame, item)`.
    pub fn deal_large<T: Copy + Send + Sync>(
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
            let differing = self.histograms.differing_bits(workers, source, code);
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
            self.histograms.deal(workers, source.len(), bits, |i| source[i], digits, target);
            self.push_buckets(Segment { in_second: !segment.in_second, ..segment });
        }
        None
    }

    /// Takes a segment whose codes are all equal, and are to stay so: its order stands.
    pub fn push_equal(&mut self, segment: Segment) {
        for start in segment.range().step_by(LOCAL_MAX) {
            let end = segment.end.min((start + LOCAL_MAX) as u32);
            self.segments.push(Segment { start: start as u32, end, equal: true, ..segment });
        }
    }

    /// Merges the buckets just dealt to segments; large buckets are put aside.
    fn push_buckets(&mut self, whole: Segment) {
        let mut open = Segment { end: whole.start, ..whole };
        for border in &self.histograms.borders[1..] {
            let bucket = Segment { start: open.end, end: whole.start + border, ..whole };
            if bucket.len() > LOCAL_MAX || open.len() >= SEGMENT_MIN || open.len() + bucket.len() > LOCAL_MAX {
                if open.len() > LOCAL_MAX {
                    self.large.push(open);
                } else if open.len() > 0 {
                    self.segments.push(open);
                }
                open = bucket;
            } else {
                open.end = bucket.end;
            }
        }
        if open.len() > 0 {
            self.push(open);
        }
    }

    /// Puts the segments in order of rank and groups them to tasks.
    pub fn finish(&mut self) {
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
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Number of tasks.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.tasks.len().saturating_sub(1)
    }

    /// The segments of a task, as positions in [`Dealer::segments`].
    #[must_use]
    pub fn task(&self, task: usize) -> Range<usize> {
        self.tasks[task] as usize..self.tasks[task + 1] as usize
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.histograms.rows)
            + size_of_val(&*self.histograms.digits)
            + size_of_val(&*self.histograms.borders)
            + (self.segments.capacity() + self.large.capacity()) * size_of::<Segment>()
    }
}

/// Bits of the code that one look at a piece sorts by; the other half of the packed word is the item's place.
const KEY_BITS: u32 = 16;

/// Pieces up to this size are left to the standard library's sort.
const COMPARISON_MAX: usize = 96;

/// Runs of equal keys up to this size are sorted by insertion.
const INSERTION_MAX: usize = 16;

/// Sorts a cache-resident piece of at most [`LOCAL_MAX`] items by code, as an order of places.
#[derive(Debug, Default)]
pub struct LocalOrder {
    codes: Vec<u64>,
    packed: Vec<u32>,
    spare: Vec<u32>,
    borders: Vec<u32>,
}

impl LocalOrder {
    /// Makes room for pieces of `items` items.
    pub fn reserve(&mut self, items: usize) {
        let items = items.min(LOCAL_MAX);
        self.codes.reserve(items.saturating_sub(self.codes.len()));
        self.packed.reserve(items.saturating_sub(self.packed.len()));
        self.spare.reserve(items.saturating_sub(self.spare.len()));
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.codes.capacity() * size_of::<u64>() + (self.packed.capacity() + self.spare.capacity()) * size_of::<u32>()
    }

    /// Sorts by the codes given: afterwards [`LocalOrder::place`] lists the places in stable order.
    ///
    /// # Panics
    /// When there are more than [`LOCAL_MAX`] codes.
    #[inline(always)]
    pub fn sort(&mut self, codes: impl ExactSizeIterator<Item = u64>) {
        let items = codes.len();
        assert!(items <= LOCAL_MAX, "a piece of {items} items is too large");
        self.borders.clear();
        self.codes.resize(items, 0);
        self.packed.resize(items, 0);
        self.spare.resize(items, 0);
        for (slot, code) in self.codes.iter_mut().zip(codes) {
            *slot = code;
        }
        let Some(&first) = self.codes.first() else { return };
        let differing = self.codes.iter().fold(0, |bits, &code| bits | (code ^ first));
        let top = u64::BITS - differing.leading_zeros();
        let shift = top.saturating_sub(KEY_BITS);
        for (at, (word, &code)) in self.packed.iter_mut().zip(&self.codes).enumerate() {
            *word = ((code >> shift) as u32) << KEY_BITS | at as u32;
        }
        if top > 0 {
            sort_packed(&mut self.packed, &mut self.spare, &self.codes, shift);
        }
    }

    /// The places without sorting: as they came.
    pub fn keep(&mut self, items: usize) {
        self.borders.clear();
        self.codes.clear();
        self.codes.resize(items, 0);
        self.packed.clear();
        self.packed.extend(0..items as u32);
    }

    /// Gives the items at `ranks` other codes, and sorts that run by them.
    pub fn sort_again(&mut self, ranks: Range<usize>, code: impl Fn(usize) -> u64) {
        for rank in ranks.clone() {
            let place = self.place(rank);
            self.codes[place] = code(place);
        }
        self.spare.resize(self.codes.len(), 0);
        sort_places(&mut self.packed[ranks.clone()], &mut self.spare[ranks], &self.codes);
    }

    /// Marks that codes before and after `rank` are not to be compared.
    pub fn mark_border(&mut self, rank: usize) {
        self.borders.push(rank as u32);
    }

    /// The ranks marked since the last sort.
    #[must_use]
    pub fn borders(&self) -> &[u32] {
        &self.borders
    }

    /// Number of items.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// True when there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// The place, before the sort, of the item at `rank`.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, rank: usize) -> usize {
        place(self.packed[rank])
    }

    /// The places, before the sort, of the items by rank.
    #[inline(always)]
    pub fn places(&self) -> impl ExactSizeIterator<Item = usize> {
        self.packed.iter().map(|&word| place(word))
    }

    /// The code of the item at `rank`.
    #[inline(always)]
    #[must_use]
    pub fn code(&self, rank: usize) -> u64 {
        self.codes[self.place(rank)]
    }
}

#[inline(always)]
fn place(packed: u32) -> usize {
    (packed & (u32::MAX >> KEY_BITS)) as usize
}

/// Sorts a run of places by code, stable; `packed` holds ascending places, its keys are ignored.
fn sort_places(packed: &mut [u32], spare: &mut [u32], codes: &[u64]) {
    let Some(&first) = packed.first() else { return };
    let first = codes[place(first)];
    let differing = packed.iter().fold(0, |bits, &p| bits | (codes[place(p)] ^ first));
    let top = u64::BITS - differing.leading_zeros();
    if top == 0 {
        return;
    }
    let shift = top.saturating_sub(KEY_BITS);
    for word in packed.iter_mut() {
        let at = place(*word);
        *word = ((codes[at] >> shift) as u32) << KEY_BITS | at as u32;
    }
    sort_packed(packed, spare, codes, shift);
}

/// Sorts packed keys and places, then ties by the `shift` bits of the codes below the keys.
#[inline(always)]
fn sort_packed(packed: &mut [u32], spare: &mut [u32], codes: &[u64], shift: u32) {
    if packed.len() <= COMPARISON_MAX {
        packed.sort_unstable();
    } else {
        sort_by_key_bytes(packed, spare);
    }
    if shift > 0 {
        sort_ties(packed, spare, codes);
    }
}

/// Two counting passes over the two bytes of the key.
#[inline(always)]
fn sort_by_key_bytes(packed: &mut [u32], spare: &mut [u32]) {
    let mut places = [[0_u32; 256]; 2];
    for &word in packed.iter() {
        places[0][(word >> 16 & 0xff) as usize] += 1;
        places[1][(word >> 24) as usize] += 1;
    }
    for digit in &mut places {
        let mut next = 0;
        for place in digit {
            (next, *place) = (next + *place, next);
        }
    }
    for &word in packed.iter() {
        let next = &mut places[0][(word >> 16 & 0xff) as usize];
        spare[*next as usize] = word;
        *next += 1;
    }
    for &word in spare.iter() {
        let next = &mut places[1][(word >> 24) as usize];
        packed[*next as usize] = word;
        *next += 1;
    }
}

/// Sorts each run of equal keys by the bits below the key.
#[inline(always)]
fn sort_ties(packed: &mut [u32], spare: &mut [u32], codes: &[u64]) {
    let same_key = |a: u32, b: u32| (a ^ b) >> KEY_BITS == 0;
    let mut at = 1;
    while at < packed.len() {
        if !same_key(packed[at - 1], packed[at]) {
            at += 1;
            continue;
        }
        let start = at - 1;
        let end = (at..packed.len()).find(|&i| !same_key(packed[start], packed[i])).unwrap_or(packed.len());
        if end - start > INSERTION_MAX {
            sort_places(&mut packed[start..end], &mut spare[start..end], codes);
        } else {
            insertion_sort(&mut packed[start..end], codes);
        }
        at = end + 1;
    }
}

fn insertion_sort(packed: &mut [u32], codes: &[u64]) {
    for i in 1..packed.len() {
        let word = packed[i];
        let code = codes[place(word)];
        let mut at = i;
        while at > 0 && codes[place(packed[at - 1])] > code {
            packed[at] = packed[at - 1];
            at -= 1;
        }
        packed[at] = word;
    }
}

/// A radix sort that keeps its scratch from call to call.
///
/// ```
/// use jostle_core::{radix::RadixSort, Workers};
/// let mut cells = vec![(7_u64, 'a'), (3, 'b'), (7, 'c'), (0, 'd')];
/// RadixSort::new().sort_by_code(&mut cells, Workers::current(), |cell| cell.0);
/// assert_eq!(cells, [(0, 'd'), (3, 'b'), (7, 'a'), (7, 'c')]);
/// ```
#[derive(Debug)]
pub struct RadixSort<T> {
    second: Vec<T>,
    dealer: Dealer,
    locals: ScratchPool<LocalOrder>,
}

impl<T: Copy + Send + Sync> Default for RadixSort<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Send + Sync> RadixSort<T> {
    /// A sort that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self { second: Vec::new(), dealer: Dealer::default(), locals: ScratchPool::default() }
    }

    /// Sorts `items` by their 64-bit code, keeping the order of those with equal codes. `code` must be a function of the
    /// item alone.
    ///
    /// O(n) for spread-out codes, O(8 n) at worst; scratch of one more copy of the items. The result does not depend
    /// on the workers. From the second call of a size on, nothing is allocated. More than 2^32 - 2 items fall back to
    /// the standard library's stable sort.
    pub fn sort_by_code(&mut self, items: &mut [T], workers: Workers, code: impl Fn(&T) -> u64 + Sync) {
        let Some(&any) = items.first() else { return };
        if items.len() >= u32::MAX as usize {
            return items.sort_by_key(code);
        }
        if self.second.len() < items.len() {
            self.second.resize(items.len(), any);
        }
        self.dealer.start(items.len());
        self.dealer.push(Segment { start: 0, end: items.len() as u32, in_second: false, equal: false, frame: 0 });
        let second = &mut self.second[..items.len()];
        while let Some(equal) = self.dealer.deal_large(workers, items, second, |_, item| code(item)) {
            self.dealer.push_equal(equal);
        }
        self.dealer.finish();
        self.locals.prepare(workers.count(), |local| local.reserve(items.len()));
        self.sort_segments(items, workers, code);
    }

    #[allow(unsafe_code, reason = "each segment is a range of its own")]
    fn sort_segments(&mut self, items: &mut [T], workers: Workers, code: impl Fn(&T) -> u64 + Sync) {
        let (dealer, locals) = (&self.dealer, &self.locals);
        let items = Disjoint::new(items);
        let second = Disjoint::new(&mut self.second);
        let sort_segment = |local: &mut LocalOrder, segment: &Segment| {
            // SAFETY: segments are disjoint ranges of both buffers, and each is in one task.
            let (first, second) = unsafe { (items.range(segment.range()), second.range(segment.range())) };
            match (segment.in_second, segment.equal) {
                (true, true) => first.copy_from_slice(second),
                (false, true) => {}
                (true, false) => gather(local, second, first, &code),
                (false, false) => {
                    gather(local, first, second, &code);
                    first.copy_from_slice(second);
                }
            }
        };
        workers.run(dealer.tasks(), |task| {
            let segments = &dealer.segments()[dealer.task(task)];
            locals.with(|local| segments.iter().for_each(|segment| sort_segment(local, segment)));
        });
    }
}

fn gather<T: Copy>(local: &mut LocalOrder, source: &[T], target: &mut [T], code: impl Fn(&T) -> u64) {
    local.sort(source.iter().map(code));
    for (item, place) in target.iter_mut().zip(local.places()) {
        *item = source[place];
    }
}
