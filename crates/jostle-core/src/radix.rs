//! Stable radix sort by 64-bit code.
//!
//! The most significant digit comes first. One parallel counting pass deals the items out to up to 1,024 buckets by the
//! highest bits in which their codes differ, so that a common prefix costs nothing. Buckets that are still large are
//! dealt out again; small neighbours are merged to segments. Each segment is then sorted in cache on (key, place)
//! packed in 32 bits: 16 bits of the code at a time, least significant digit first, and ties again by the bits below.
//! The parallel pass is the counting sort of Zagha and Blelloch (1991): one histogram per block, one scan over (digit,
//! block), one scatter. So it is stable, and the same for any number of threads.

mod cells;
mod counting;
mod deal;
mod local;

pub(crate) use cells::CellPass;
pub(crate) use counting::{AsItIs, ByFours, Digits, MAX_DIGIT_BITS};
pub(crate) use deal::{Dealer, Segment, digit, digit_bits};
pub(crate) use local::LocalOrder;

use core::fmt;
use core::ops::Range;

use crate::parallel::disjoint::Disjoint;
use crate::parallel::scratch::ScratchPool;
use crate::parallel::threads::Threads;
use crate::parallel::workers::Workers;

/// The most items that are sorted in one cache-resident piece.
pub const LOCAL_MAX: usize = 1 << 14;

/// A radix sort that keeps its scratch from call to call.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::{Threads, radix::RadixSort};
/// let mut cells = vec![(7_u64, 'a'), (3, 'b'), (7, 'c'), (0, 'd')];
/// RadixSort::new().sort_by_code(&mut cells, Threads::Current, |cell| cell.0);
/// assert_eq!(cells, [(0, 'd'), (3, 'b'), (7, 'a'), (7, 'c')]);
/// ```
pub struct RadixSort<T> {
    second: Vec<T>,
    dealer: Dealer,
    locals: ScratchPool<LocalOrder>,
    /// The bits in which the codes of each block differ from the first code.
    blocks: Vec<u64>,
}

impl<T> fmt::Debug for RadixSort<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RadixSort").field("scratch", &self.second.len()).finish_non_exhaustive()
    }
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
        Self { second: Vec::new(), dealer: Dealer::default(), locals: ScratchPool::default(), blocks: Vec::new() }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.second.capacity() * size_of::<T>()
            + self.dealer.bytes()
            + self.locals.bytes(LocalOrder::bytes)
            + self.blocks.capacity() * size_of::<u64>()
    }

    /// Sorts `items` by their 64-bit code, and keeps the order of items with equal codes. `code` must be a function of
    /// the item alone.
    ///
    /// O(n) for spread-out codes, O(8 n) at worst; scratch of one more copy of the items. The result does not depend on
    /// the threads. From the second call of a size on, nothing is allocated. More than 2^32 - 2 items fall back to the
    /// standard library's sort, which takes 16 bytes more for each.
    pub fn sort_by_code(&mut self, items: &mut [T], threads: Threads<'_>, code: impl Fn(&T) -> u64 + Sync + Send) {
        // One cache-resident piece is no work for several threads.
        threads.run([LOCAL_MAX + 1; 2], items.len(), |workers| self.sort_by_code_on(items, workers, code));
    }

    /// As [`RadixSort::sort_by_code`], on these workers.
    #[doc(hidden)]
    pub fn sort_by_code_on(&mut self, items: &mut [T], workers: Workers<'_>, code: impl Fn(&T) -> u64 + Sync) {
        let Some(&any) = items.first() else { return };
        if items.len() >= u32::MAX as usize {
            return sort_by_place(items, &code);
        }
        if self.second.len() < items.len() {
            self.second.resize(items.len(), any);
        }
        let workers = if items.len() > LOCAL_MAX { workers } else { Workers::Serial };
        workers.together(|| self.sort_with(items, workers, &code));
    }

    fn sort_with(&mut self, items: &mut [T], workers: Workers<'_>, code: &(impl Fn(&T) -> u64 + Sync)) {
        let n = items.len();
        let Self { second, dealer, locals, blocks } = &mut *self;
        let second = &mut second[..n];
        if n <= LOCAL_MAX {
            locals.prepare(1, |local| local.reserve(n));
            locals.with(|local| gather(local, items, second, code));
            return items.copy_from_slice(second);
        }
        let mut top = |_, items: &[T]| top_of(workers, items, blocks, code);
        let digits = |_, items: &[T], bits_and_top: (u32, u32), out: &mut [u16]| {
            out.iter_mut().zip(items).for_each(|(out, item)| *out = digit(code(item), bits_and_top));
        };
        let all = top(0, items);
        if all == 0 {
            return;
        }
        dealer.start(n);
        let (source, bits_and_top) = (&*items, (digit_bits(n).min(all), all));
        let part = |range: Range<usize>| source[range].iter().copied();
        let digits_of_part = |(range, out): (Range<usize>, &mut [u16])| digits(0, &source[range], bits_and_top, out);
        dealer.deal_from(workers, n, bits_and_top, part, &digits_of_part, (&mut *second, AsItIs));
        while let Some(equal) = dealer.deal_large(workers, second, items, &mut top, digits) {
            dealer.push_equal(equal);
        }
        dealer.finish();
        locals.prepare(workers.count(), |local| local.reserve(n));
        self.sort_segments(items, workers, code);
    }

    /// Puts each segment in order, from the second buffer to its place in `items`.
    #[allow(unsafe_code, reason = "each segment is a range of its own")]
    fn sort_segments(&mut self, items: &mut [T], workers: Workers<'_>, code: &(impl Fn(&T) -> u64 + Sync)) {
        let (dealer, locals, second) = (&self.dealer, &self.locals, &self.second);
        let items = Disjoint::new(items);
        let sort_segment = |local: &mut LocalOrder, segment: &Segment| {
            let second = &second[segment.range()];
            // SAFETY: segments are disjoint ranges, and each is in one task.
            let items = unsafe { items.range(segment.range()) };
            if segment.equal { items.copy_from_slice(second) } else { gather(local, second, items, code) }
        };
        workers.run("segments", dealer.tasks(), |task| {
            let segments = &dealer.segments()[dealer.task(task)];
            locals.with(|local| segments.iter().for_each(|segment| sort_segment(local, segment)));
        });
    }
}

/// Sorts more items than 32 bits can number. It sorts pairs of code and place, so that the standard library's sort is
/// compiled once.
#[cold]
fn sort_by_place<T: Copy>(items: &mut [T], code: &impl Fn(&T) -> u64) {
    let mut order: Vec<(u64, usize)> = items.iter().map(code).zip(0..).collect();
    sort_places(&mut order);
    let before = items.to_vec();
    items.iter_mut().zip(order).for_each(|(item, (_, place))| *item = before[place]);
}

fn sort_places(order: &mut [(u64, usize)]) {
    order.sort_unstable();
}

/// Returns the number of low bits within which the codes of these items differ.
fn top_of<T: Sync>(
    workers: Workers<'_>,
    items: &[T],
    blocks: &mut Vec<u64>,
    code: &(impl Fn(&T) -> u64 + Sync),
) -> u32 {
    let Some(first) = items.first().map(code) else { return 0 };
    blocks.clear();
    blocks.resize(items.len().div_ceil(LOCAL_MAX), 0);
    workers.fill("differing bits", blocks, |block| {
        let items = &items[block * LOCAL_MAX..((block + 1) * LOCAL_MAX).min(items.len())];
        items.iter().fold(0, |bits, item| bits | (code(item) ^ first))
    });
    u64::BITS - blocks.iter().fold(0, |all, bits| all | bits).leading_zeros()
}

fn gather<T: Copy>(local: &mut LocalOrder, source: &[T], target: &mut [T], code: &impl Fn(&T) -> u64) {
    local.sort(source.iter().map(code));
    for (item, place) in target.iter_mut().zip(local.places()) {
        *item = source[place];
    }
}

#[cfg(test)]
mod tests {
    /// Tests the sort for more items than 32 bits can number, of which memory does not hold enough.
    #[test]
    fn items_are_sorted_by_code_and_place() {
        let mut items: Vec<[u64; 2]> = (0..1000).map(|at| [at * 7919 % 13, at]).collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item[0]);
        super::sort_by_place(&mut items, &|item| item[0]);
        assert_eq!(items, expected);
    }
}
