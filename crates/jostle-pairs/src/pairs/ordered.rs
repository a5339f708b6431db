//! Puts pairs in one list, in the order of their blocks, while several threads join the blocks and find the pairs.
//!
//! A worker keeps the pairs of its block until it is known where the block begins. Then it copies them to the list,
//! from cache, and writes the next pairs to the list itself. Where nobody has begun some of the earlier blocks, the
//! worker must not wait for them: it joins them first.

use core::sync::atomic::{AtomicUsize, Ordering};

use jostle_core::disjoint::Disjoint;
use jostle_core::lookback::Prefix;
use jostle_core::scratch::with_headroom;
use jostle_sets::simd::LANES;

use crate::join::hits::{PairList, Sink, lengthen};

/// Pairs that an outbox has room for at least: those of some blocks of a short list, 16 KiB.
const OUTBOX_MIN: usize = 1 << 11;

/// Pairs that a worker has found and not yet put in the list.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Room; the first `len` are pairs.
    pairs: Vec<[u32; 2]>,
    len: usize,
    /// A block mostly has no more pairs than `most`. The largest block since [`Outbox::prepare`] has `largest`.
    most: usize,
    largest: usize,
    /// Whether pairs have been dropped since [`Outbox::prepare`].
    has_dropped: bool,
    parcels: Vec<Parcel>,
}

/// Successive pairs of one block.
#[derive(Debug, Clone, Copy)]
struct Parcel {
    block: usize,
    /// Pairs of the block before these.
    before: usize,
    len: usize,
}

impl Outbox {
    /// Whether pairs have been dropped since [`Outbox::prepare`].
    pub(crate) fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    /// Empties the outbox, and makes room for `pairs` pairs, `most` more of a block, and `blocks` blocks. Gives back
    /// memory that a list that was too short once asked for.
    pub(crate) fn prepare(&mut self, (pairs, most): (usize, usize), blocks: usize) {
        self.drop_all();
        (self.most, self.largest, self.has_dropped) = (most, 0, false);
        let room = pairs.max(OUTBOX_MIN) + most;
        if self.pairs.len() > 2 * room {
            self.pairs = Vec::new();
        }
        if self.pairs.len() < room {
            self.pairs.resize(room, [0; 2]);
        }
        self.parcels.reserve(with_headroom(blocks));
    }

    /// The pairs of the largest block that the worker has joined since [`Outbox::prepare`].
    pub(crate) fn largest_block(&self) -> usize {
        self.largest
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<[u32; 2]>() + self.parcels.capacity() * size_of::<Parcel>()
    }

    /// Puts parcels in the list, from the first on, as long as `start` tells where they go and the list is long enough.
    /// Then moves the other parcels up.
    fn send(&mut self, list: &Disjoint<'_, [u32; 2]>, start: impl Fn(usize) -> Option<usize>) {
        let (mut sent, mut pairs_sent) = (0, 0);
        for parcel in &self.parcels {
            let pairs = &self.pairs[pairs_sent..pairs_sent + parcel.len];
            if !start(parcel.block).is_some_and(|start| put(list, start + parcel.before, pairs)) {
                break;
            }
            sent += 1;
            pairs_sent += parcel.len;
        }
        if sent > 0 {
            self.parcels.drain(..sent);
            self.pairs.copy_within(pairs_sent..self.len, 0);
            self.len -= pairs_sent;
        }
    }

    fn drop_all(&mut self) {
        self.parcels.clear();
        self.len = 0;
    }

    /// Puts the parcels that are left in the list, once all blocks have ended and the list is long enough.
    pub(crate) fn send_rest(&mut self, list: &mut PairList, starts: &Prefix) {
        self.send(&Disjoint::new(list.room_of_all()), |block| starts.start_of(block));
    }
}

/// Puts successive pairs of a block in the list; false where the list is too short.
#[allow(unsafe_code, reason = "each parcel has a part of the list of its own")]
fn put(list: &Disjoint<'_, [u32; 2]>, at: usize, pairs: &[[u32; 2]]) -> bool {
    let place = at..at + pairs.len();
    let fits = place.end <= list.len();
    if fits {
        // SAFETY: starts are a scan of the counts, so the parts of the list for different blocks are disjoint. A worker
        // puts each pair of its own block once.
        unsafe { list.range(place) }.copy_from_slice(pairs);
    }
    fits
}

/// A worker's end of the list.
pub(crate) struct Ordered<'a> {
    list: &'a Disjoint<'a, [u32; 2]>,
    starts: &'a Prefix,
    /// How many pairs all workers have found in the blocks that have ended. Once there are more than `max`, or memory
    /// is short, pairs that the list has no room for are dropped.
    total: &'a AtomicUsize,
    max: usize,
    outbox: &'a mut Outbox,
    block: usize,
    /// Pairs of the block found so far; the last `kept` of them are at the end of the outbox.
    found: usize,
    kept: usize,
    /// The room that was given last lies in the list.
    is_direct: bool,
    /// All blocks before this one have been begun, so that the worker may wait for them.
    may_wait: bool,
}

impl<'a> Ordered<'a> {
    pub(crate) fn new(
        (list, starts): (&'a Disjoint<'a, [u32; 2]>, &'a Prefix),
        (total, max): (&'a AtomicUsize, usize),
        outbox: &'a mut Outbox,
    ) -> Self {
        Self { list, starts, total, max, outbox, block: 0, found: 0, kept: 0, is_direct: false, may_wait: false }
    }

    /// Where in the list the next pairs of the block go, if that is known and there is room. All earlier pairs of the
    /// block are then in the list.
    fn place(&mut self) -> Option<usize> {
        let start = self.starts.start_of(self.block)?;
        if self.kept > 0 {
            let waiting = self.outbox.len - self.kept..self.outbox.len;
            if !put(self.list, start + self.found - self.kept, &self.outbox.pairs[waiting]) {
                return None;
            }
            self.outbox.len -= core::mem::take(&mut self.kept);
        }
        let place = start + self.found;
        (place + LANES <= self.list.len()).then_some(place)
    }

    /// Puts all waiting pairs in the list, once there is no block left to begin.
    pub(crate) fn finish(&mut self) {
        self.outbox.send(self.list, |block| self.starts.wait_for(block));
    }

    fn lacks_room(&self) -> bool {
        self.outbox.len + LANES > self.outbox.pairs.len()
    }

    #[cold]
    fn make_room(&mut self) {
        self.outbox.send(self.list, |block| self.starts.start_of(block));
        if self.lacks_room() && self.may_wait && self.starts.wait_for(self.block).is_none() {
            // Another worker has panicked: nobody will see the list.
            self.outbox.drop_all();
            self.kept = 0;
        }
        if self.lacks_room() && self.place().is_none() {
            let found = self.total.load(Ordering::Relaxed).saturating_add(self.found);
            let len = (2 * self.outbox.pairs.len()).max(OUTBOX_MIN);
            if found > self.max && len > OUTBOX_MIN || !lengthen(&mut self.outbox.pairs, len) {
                self.outbox.drop_all();
                self.outbox.has_dropped = true;
                self.kept = 0;
            }
        }
    }
}

impl Sink for Ordered<'_> {
    fn begin(&mut self, block: usize, _job: usize, all_before: bool) {
        (self.block, self.may_wait, self.found, self.kept) = (block, all_before, 0, 0);
    }

    fn is_full(&self) -> bool {
        self.outbox.len + self.outbox.most + LANES > self.outbox.pairs.len()
    }

    fn end(&mut self) {
        self.place();
        if self.kept > 0 {
            let (before, len) = (self.found - self.kept, self.kept);
            self.outbox.parcels.push(Parcel { block: self.block, before, len });
        }
        self.outbox.largest = self.outbox.largest.max(self.found);
        // More than a list can hold are not counted on: on machines of 32 bits, they may be too many for the number.
        if self.total.load(Ordering::Relaxed) <= isize::MAX as usize {
            self.total.fetch_add(self.found, Ordering::Relaxed);
        }
        self.starts.end(self.block, self.found);
        self.outbox.send(self.list, |block| self.starts.start_of(block));
    }

    #[allow(unsafe_code, reason = "the list belongs to the first block that has not ended")]
    fn room(&mut self) -> &mut [[u32; 2]] {
        let mut place = self.place();
        if place.is_none() && self.lacks_room() {
            self.make_room();
            place = self.place();
        }
        self.is_direct = place.is_some();
        let Some(place) = place else { return &mut self.outbox.pairs[self.outbox.len..] };
        // SAFETY: all blocks before this one have ended. All that other workers have put in the list, or put there
        // until this block ends, lies before the start of this block: the list from here on is this worker's.
        unsafe { self.list.range(place..self.list.len()) }
    }

    #[inline(always)]
    fn took(&mut self, len: usize) {
        self.found += len;
        if !self.is_direct {
            self.outbox.len += len;
            self.kept += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ordered, Outbox};
    use crate::join::hits::{PairList, Sink};
    use core::sync::atomic::AtomicUsize;
    use jostle_core::disjoint::Disjoint;
    use jostle_core::lookback::Prefix;

    /// Blocks of 0 to 30,000 pairs.
    fn count(block: usize) -> usize {
        block * 7919 % 13 * 2_500
    }

    fn fill(sink: &mut Ordered<'_>, block: usize) {
        let mut at = 0;
        while at < count(block) {
            let room = sink.room();
            let len = room.len().min(count(block) - at);
            for (i, pair) in room[..len].iter_mut().enumerate() {
                *pair = [block as u32, (at + i) as u32];
            }
            sink.took(len);
            at += len;
        }
    }

    #[test]
    fn order_is_that_of_blocks_for_lists_too_short_and_any_number_of_workers() {
        const BLOCKS: usize = 40;
        let expected: Vec<[u32; 2]> =
            (0..BLOCKS).flat_map(|block| (0..count(block)).map(move |i| [block as u32, i as u32])).collect();
        for capacity in [0, 100, expected.len() / 2, expected.len()] {
            for workers in [1, 2, 5] {
                let (mut list, mut starts) = (PairList::with_capacity(capacity), Prefix::default());
                let mut outboxes: Vec<Outbox> = (0..workers).map(|_| Outbox::default()).collect();
                starts.reset(BLOCKS);
                let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let shared = Disjoint::new(list.room_of_all());
                std::thread::scope(|scope| {
                    for outbox in &mut outboxes {
                        outbox.prepare((capacity / 8, 100), BLOCKS);
                        let mut sink = Ordered::new((&shared, &starts), (&total, usize::MAX), outbox);
                        let next = &next;
                        scope.spawn(move || {
                            loop {
                                let block = next.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
                                if block >= BLOCKS {
                                    return sink.finish();
                                }
                                sink.begin(block, 0, true);
                                fill(&mut sink, block);
                                sink.end();
                            }
                        });
                    }
                });
                list.set_len(starts.total());
                outboxes.iter_mut().for_each(|outbox| outbox.send_rest(&mut list, &starts));
                assert_eq!(list.pairs(), expected, "{capacity} pairs of room, {workers} workers");
            }
        }
    }
}
