//! Lists of contacts chosen from the pairs of a frame, in the order of the pairs.

use core::fmt;

use jostle_core::Workers;
use jostle_core::scratch::resize_with_headroom;

use crate::frame::{KeyedPairs, PAIRS_A_BLOCK};

/// Contacts in a fixed order, borrowed from a tracker: slices of one length with the keys, the ids and the slot of each
/// contact.
#[derive(Clone, Copy)]
pub struct Contacts<'t> {
    list: &'t ContactList,
}

impl fmt::Debug for Contacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contacts").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'t> Contacts<'t> {
    /// The two keys of each contact: within one group the lesser key first, between two groups the key of the first
    /// group first.
    #[must_use]
    pub fn keys(&self) -> &'t [[u64; 2]] {
        &self.list.keys
    }

    /// The pair of ids of each contact, as it was given.
    #[must_use]
    pub fn pairs(&self) -> &'t [[u32; 2]] {
        &self.list.pairs
    }

    /// The slot of each contact: no other contact of this frame has the slot, and no contact that ended in this update
    /// had it. See [`ContactTracker::slots`](crate::ContactTracker::slots).
    #[must_use]
    pub fn slots(&self) -> &'t [u32] {
        &self.list.slots
    }

    /// The numbers of the two sets of each contact; empty unless keys were given as [`Keys::Among`](crate::Keys::Among).
    #[must_use]
    pub fn sets(&self) -> &'t [[u32; 2]] {
        &self.list.sets
    }

    /// The image shift of each contact, as it was given: from the first body of [`Contacts::pairs`] to the second, see
    /// [`Found::image_shifts`](jostle_pairs::Found::image_shifts). Empty where none were given.
    ///
    /// # Panics
    /// When image shifts were given in another number of dimensions.
    #[must_use]
    pub fn image_shifts<const D: usize>(&self) -> &'t [[i32; D]] {
        let axes = self.list.axes;
        assert!(axes == D || axes == 0, "the image shifts are in {axes} dimensions, not {D}");
        self.list.image_shifts.as_chunks().0
    }

    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.keys.len()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys and ids of each contact.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ([u64; 2], [u32; 2])> + use<'t> {
        self.keys().iter().copied().zip(self.pairs().iter().copied())
    }
}

/// The memory of [`Contacts`].
#[derive(Debug, Clone, Default)]
pub(crate) struct ContactList {
    keys: Vec<[u64; 2]>,
    pairs: Vec<[u32; 2]>,
    slots: Vec<u32>,
    /// The two sets of each contact; empty unless keys were given for many sets.
    sets: Vec<[u32; 2]>,
    /// Flat, `axes` numbers for each contact.
    image_shifts: Vec<i32>,
    axes: usize,
    /// Where the contacts of each block of pairs begin, and the end of the last.
    starts: Vec<usize>,
}

impl ContactList {
    pub(crate) fn view(&self) -> Contacts<'_> {
        Contacts { list: self }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Fills the list with the pairs of a frame that `takes` chooses, in their order. The caller has to set their
    /// slots.
    pub(crate) fn select(
        &mut self,
        frame: KeyedPairs<'_>,
        takes: impl Fn(usize) -> bool + Sync + Send,
        workers: Workers<'_>,
    ) {
        let len = self.count(frame, &takes, workers);
        resize_with_headroom(&mut self.keys, len);
        resize_with_headroom(&mut self.pairs, len);
        resize_with_headroom(&mut self.slots, len);
        let lists = (self.keys.as_mut_slice(), self.pairs.as_mut_slice());
        workers.fill_parts("list", &self.starts, lists, |block, keys, pairs| {
            let mut places = keys.iter_mut().zip(pairs);
            for part in frame.parts(frame.block(block)) {
                let chosen = part.range.clone().filter(|&at| takes(at));
                for (at, (key, pair)) in chosen.zip(places.by_ref()) {
                    *pair = frame.pairs[at];
                    *key = part.contact(*pair);
                }
            }
        });
        self.select_sets(frame, &takes, workers);
        self.axes = frame.images.axes;
        resize_with_headroom(&mut self.image_shifts, len * self.axes);
        match self.axes {
            2 => self.select_shifts::<2>(frame, &takes, workers),
            3 => self.select_shifts::<3>(frame, &takes, workers),
            _ => {}
        }
    }

    fn select_sets(
        &mut self,
        frame: KeyedPairs<'_>,
        takes: &(impl Fn(usize) -> bool + Sync + Send),
        workers: Workers<'_>,
    ) {
        if !frame.among {
            return self.sets.clear();
        }
        resize_with_headroom(&mut self.sets, self.keys.len());
        let lists = (self.sets.as_mut_slice(), self.pairs.as_mut_slice());
        workers.fill_parts("list sets", &self.starts, lists, |block, mut sets, _| {
            for part in frame.parts(frame.block(block)) {
                let count = part.range.filter(|&at| takes(at)).count();
                let (of_part, rest) = sets.split_at_mut(count);
                of_part.fill(part.sets);
                sets = rest;
            }
        });
    }

    fn select_shifts<const D: usize>(
        &mut self,
        frame: KeyedPairs<'_>,
        takes: &(impl Fn(usize) -> bool + Sync + Send),
        workers: Workers<'_>,
    ) {
        let of_frame = frame.images.shifts.as_chunks::<D>().0;
        let lists = (self.image_shifts.as_chunks_mut().0, self.pairs.as_mut_slice());
        workers.fill_parts("list shifts", &self.starts, lists, |block, shifts, _| {
            let chosen = frame.block(block).filter(|&at| takes(at));
            chosen.zip(shifts).for_each(|(at, shift)| *shift = of_frame[at]);
        });
    }

    /// As [`ContactList::select`], with the slot that each pair of the frame has already.
    pub(crate) fn select_with_slots(
        &mut self,
        frame: KeyedPairs<'_>,
        takes: impl Fn(usize) -> bool + Sync + Send,
        slots_of_frame: &[u32],
        workers: Workers<'_>,
    ) {
        self.select(frame, &takes, workers);
        let lists = (self.slots.as_mut_slice(), self.pairs.as_mut_slice());
        workers.fill_parts("list slots", &self.starts, lists, |block, slots, _| {
            let chosen = frame.block(block).filter(|&at| takes(at));
            chosen.zip(slots).for_each(|(at, slot)| *slot = slots_of_frame[at]);
        });
    }

    /// Sets the slot of each contact.
    pub(crate) fn set_slots(&mut self, slot: impl Fn(usize) -> u32 + Sync + Send, workers: Workers<'_>) {
        workers.fill_blocks("begin slots", &mut self.slots, PAIRS_A_BLOCK, |first, block| {
            for at in 0..block.len() {
                block[at] = slot(first + at);
            }
        });
    }

    /// Returns the slots of the contacts of a block of the frame and of all later blocks.
    pub(crate) fn slots_from(&self, block: usize) -> &[u32] {
        &self.slots[self.starts[block]..]
    }

    /// Finds where the contacts of each block begin, and returns the number of all contacts.
    fn count(&mut self, frame: KeyedPairs<'_>, takes: &(impl Fn(usize) -> bool + Sync), workers: Workers<'_>) -> usize {
        resize_with_headroom(&mut self.starts, frame.blocks() + 1);
        workers.fill_blocks("count", &mut self.starts, 1, |block, count| {
            count[0] = frame.block(block).filter(|&at| takes(at)).count();
        });
        let mut all = 0;
        for start in &mut self.starts {
            all += core::mem::replace(start, all);
        }
        all
    }

    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<[u64; 2]>()
            + self.pairs.capacity() * size_of::<[u32; 2]>()
            + self.slots.capacity() * size_of::<u32>()
            + self.sets.capacity() * size_of::<[u32; 2]>()
            + self.image_shifts.capacity() * size_of::<i32>()
            + self.starts.capacity() * size_of::<usize>()
    }
}
