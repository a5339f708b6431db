//! Slots: a number for each contact while it lasts, by which the caller keeps the contact's data in an array.

use jostle_core::Workers;
use jostle_core::scratch::{fill_with_headroom, reserve, with_headroom};

use crate::frame::PAIRS_A_BLOCK;
use crate::list::ContactList;
use crate::table::NONE;

/// Which contact has which slot. The slots given depend on the pairs and their order alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    /// The slot of each pair of this frame; [`NONE`] where none is given yet.
    pub(crate) now: Vec<u32>,
    /// The slot of each pair of the last frame.
    pub(crate) last: Vec<u32>,
    /// Slots that no contact has; the last of them is given first.
    free: Vec<u32>,
    /// The number of slots, free or not.
    count: usize,
}

impl Slots {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Makes a place for the slot of each pair of this frame.
    pub(crate) fn clear(&mut self, pairs: usize) {
        fill_with_headroom(&mut self.now, pairs, NONE);
    }

    /// Gives a slot to each contact that begins, in the order of the contacts.
    pub(crate) fn give(&mut self, begin: &mut ContactList, workers: Workers<'_>) {
        let Self { now, free, count, .. } = self;
        let (len, rest) = (begin.len(), free.len().saturating_sub(begin.len()));
        let slot =
            |at: usize| if at < free.len() { free[free.len() - 1 - at] } else { (*count + at - free.len()) as u32 };
        begin.set_slots(slot, workers);
        let begin = &*begin;
        workers.fill_blocks("slots", now, PAIRS_A_BLOCK, |first, block| {
            let new = block.iter_mut().filter(|slot| **slot == NONE);
            new.zip(begin.slots_from(first / PAIRS_A_BLOCK)).for_each(|(slot, &new)| *slot = new);
        });
        *count += len.saturating_sub(free.len());
        free.truncate(rest);
        // All slots may come back without an allocation.
        if free.capacity() < *count {
            reserve(free, with_headroom(*count));
        }
    }

    /// Makes this frame the last frame, and takes back the slots of contacts that ended in it.
    pub(crate) fn remember(&mut self, ended: &[u32]) {
        core::mem::swap(&mut self.now, &mut self.last);
        self.free.extend_from_slice(ended);
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.now.capacity() + self.last.capacity() + self.free.capacity()) * size_of::<u32>()
    }
}
