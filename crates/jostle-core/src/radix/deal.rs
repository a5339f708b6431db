//! Deals many items out to segments, pass by pass, until each segment fits the cache.

use core::ops::Range;

use super::LOCAL_MAX;
use super::counting::{CountingPass, Digits, MAX_DIGIT_BITS, Put, copy};
use crate::parallel::workers::Workers;

/// Returns how many items a bucket should hold on average: the items and their sort then fit the first-level cache.
/// From 2^17 items on there are buckets enough for many threads, and a bucket holds twice as many: the second-level
/// cache no longer holds all, and half as many streams are worth more (at 200,000, a search by one thread takes 0.91 to
/// 1.0 of the time).
fn bucket_items(items: usize) -> usize {
    if items < 1 << 17 { 1 << 10 } else { 1 << 11 }
}

/// Neighbouring buckets are merged to a segment while it holds fewer items than this.
const SEGMENT_MIN: usize = 512;

/// Segments are handed out in tasks of at least this many items.
const TASK_ITEMS: usize = 1024;

/// The most items that are one segment, not dealt out at all. For one thread that is faster as long as the second-level
/// cache holds all (measured up to 16,000: 0.75 of the time of a search). Of two threads, one alone sorts the segment
/// (at 10,000 no slower, at 16,000 1.2 of the time).
const WHOLE_MAX: usize = 12_288;

/// Returns the digit bits that leave about [`bucket_items`] items per bucket; 0 where all items are one segment.
pub(crate) fn digit_bits(items: usize) -> u32 {
    if items <= WHOLE_MAX {
        return 0;
    }
    (items / bucket_items(items)).max(1).ilog2().min(MAX_DIGIT_BITS)
}

/// The highest `bits` of a code's lowest `top` bits.
#[inline(always)]
pub(crate) fn digit(code: u64, (bits, top): (u32, u32)) -> u16 {
    (code >> (top - bits)) as u16 & ((1 << bits) - 1)
}

/// A run of items to be sorted in one piece: a range of ranks, and the frame in which the codes of the items are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First rank.
    pub(crate) start: u32,
    /// One past the last rank.
    pub(crate) end: u32,
    /// Whether all codes are equal.
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

    fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Deals items out to segments that are small enough to be sorted in cache. Keeps its scratch.
#[derive(Debug, Default)]
pub(crate) struct Dealer {
    pass: CountingPass,
    large: Vec<Segment>,
    segments: Vec<Segment>,
    tasks: Vec<u32>,
    /// The first digit of the next pass whose items share no segment with those before.
    apart_from: Option<u32>,
}

impl Dealer {
    /// Starts over, with memory for as many segments and tasks as `items` items make in general.
    pub(crate) fn start(&mut self, items: usize) {
        self.large.clear();
        self.apart_from = None;
        self.segments.clear();
        self.segments.reserve(2 * items / SEGMENT_MIN + 16);
        self.tasks.clear();
        self.tasks.reserve(items / TASK_ITEMS + 2);
    }

    /// In the next pass, no segment has items both of lesser digits and of this one or greater ones.
    pub(crate) fn keep_apart(&mut self, digit: u32) {
        self.apart_from = Some(digit);
    }

    /// Swaps the memory that holds digits for `other`, whose owner needs it only before and after items are dealt out.
    pub(crate) fn exchange_digits(&mut self, other: &mut Vec<u16>) {
        self.pass.exchange_digits(other);
    }

    /// Takes `segment` as it is; if it is large, [`Dealer::deal_large`] deals it out.
    pub(crate) fn push(&mut self, segment: Segment) {
        if segment.len() > LOCAL_MAX { self.large.push(segment) } else { self.segments.push(segment) }
    }

    /// First pass: deals items from their source to a buffer by a digit of `bits` bits, of codes of `top` bits. With no
    /// bits, items are copied as they come.
    #[allow(clippy::too_many_arguments, reason = "a pass has this many sides")]
    pub(crate) fn deal_from<T: Copy + Send + Sync, I: Iterator<Item = T>>(
        &mut self,
        workers: Workers<'_>,
        items: usize,
        (bits, top): (u32, u32),
        source: impl Fn(Range<usize>) -> I + Sync + Send,
        digits: &Digits<'_>,
        (buffer, put): (&mut [T], impl Put<T>),
    ) {
        let whole = Segment { start: 0, end: items as u32, equal: false, frame: 0, top };
        if bits == 0 {
            copy(workers, items, source, buffer);
            return self.push(whole);
        }
        self.pass.deal(workers, items, bits, source, digits, (buffer, put));
        self.push_buckets(Segment { top: top - bits, ..whole });
    }

    /// Returns the number of items of the longest segment that waits to be dealt out again.
    pub(crate) fn longest(&self) -> usize {
        self.large.iter().map(Segment::len).max().unwrap_or(0)
    }

    /// Deals large segments out again within the buffer, until no large segment with differing codes is left. Returns a
    /// segment whose codes are all equal as soon as one is found; the caller may push it back with another frame.
    ///
    /// `top(frame, items)` returns the number of low bits within which the items' codes differ.
    /// `digits(frame, items, (bits, top), out)` fills in the highest `bits` of the lowest `top` bits of each code. A
    /// segment waits in `spare` meanwhile. `spare` is at least as long as the longest segment, and stays in cache from
    /// one segment to the next.
    pub(crate) fn deal_large<T: Copy + Send + Sync>(
        &mut self,
        workers: Workers<'_>,
        buffer: &mut [T],
        spare: &mut [T],
        mut top: impl FnMut(u32, &[T]) -> u32,
        digits: impl Fn(u32, &[T], (u32, u32), &mut [u16]) + Sync,
    ) -> Option<Segment> {
        while let Some(segment) = self.large.pop() {
            let items = &mut buffer[segment.range()];
            let top = top(segment.frame, items);
            if top == 0 {
                return Some(segment);
            }
            let bits = digit_bits(items.len()).min(top);
            let digits = |items: &[T], out: &mut [u16]| digits(segment.frame, items, (bits, top), out);
            self.pass.deal_within(workers, items, &mut spare[..segment.len()], bits, digits);
            self.push_buckets(Segment { top: top - bits, ..segment });
        }
        None
    }

    /// Takes a segment whose codes are all equal and stay so: its order is final.
    pub(crate) fn push_equal(&mut self, segment: Segment) {
        for start in segment.range().step_by(LOCAL_MAX) {
            // Near the end of `u32`, `start + LOCAL_MAX` does not fit in it.
            let end = (start + LOCAL_MAX).min(segment.end as usize);
            self.segments.push(Segment { start: start as u32, end: end as u32, equal: true, ..segment });
        }
    }

    /// Merges the buckets of the last pass to segments; large buckets are put aside. `whole.top` is the `top` of each
    /// bucket.
    fn push_buckets(&mut self, whole: Segment) {
        let mut open = Segment { end: whole.start, ..whole };
        let (mut first_digit, apart_from) = (0, self.apart_from.take());
        for (digit, border) in (0_u32..).zip(self.pass.bucket_ends()) {
            let bucket = Segment { start: open.end, end: whole.start + border, ..whole };
            let is_apart = apart_from == Some(digit);
            if is_apart
                || bucket.len() > LOCAL_MAX
                || open.len() >= SEGMENT_MIN
                || open.len() + bucket.len() > LOCAL_MAX
            {
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
        self.pass.bytes() + (self.segments.capacity() + self.large.capacity()) * size_of::<Segment>()
    }
}
