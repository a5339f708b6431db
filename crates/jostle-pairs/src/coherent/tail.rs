//! Which candidate stands at each of the last places of a list, from some place on; or at all places, where pairs are
//! of many sets.
//!
//! Where fewer candidates begin to touch than end, the last pairs of the list go to the places that are left. Only of
//! these last pairs must it be known which candidates they are; for all others nothing is written when they begin.
//! Where a list gets shorter than the known part, the owners are found anew, from where each candidate stands.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::Workers;

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;

/// No candidate: the owner of a place that is left.
pub(super) const NOBODY: u32 = u32::MAX;

/// When owners are found anew, they are found for at least one in so many places of the list.
const SHARE: usize = 16;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Tail {
    first: usize,
    owners: Vec<AtomicU32>,
    /// How long the list was at first.
    len_at_first: usize,
}

impl Tail {
    pub(super) fn bytes(&self) -> usize {
        self.owners.capacity() * size_of::<AtomicU32>()
    }

    /// Begins with a new list of `len` pairs, whose owners are to be known from place `first` on.
    pub(super) fn begin(&mut self, first: usize, len: usize) {
        (self.first, self.len_at_first) = (first, len);
        self.owners.clear();
    }

    /// Makes room for the owners of places up to `end`.
    pub(super) fn extend(&mut self, end: usize) {
        let len = end.saturating_sub(self.first);
        if self.owners.len() < len {
            self.owners.resize_with(len, || AtomicU32::new(NOBODY));
        }
    }

    /// Notes that a candidate, or [`NOBODY`], stands at a place from now on.
    #[inline(always)]
    pub(super) fn set(&self, place: usize, candidate: u32) {
        if place >= self.first {
            self.owners[place - self.first].store(candidate, Ordering::Relaxed);
        }
    }

    /// Returns the candidate that stands at a known place.
    pub(super) fn owner(&self, place: usize) -> u32 {
        self.owners[place - self.first].load(Ordering::Relaxed)
    }

    /// Returns those of these places, all of them known, where a candidate stands, and which.
    pub(super) fn standing(&self, places: Range<usize>) -> impl Iterator<Item = [u32; 2]> {
        let owners = &self.owners[places.start - self.first..places.end - self.first];
        let all = places.map(|place| place as u32).zip(owners);
        all.map(|(place, owner)| [place, owner.load(Ordering::Relaxed)]).filter(|&[_, owner]| owner != NOBODY)
    }

    /// Prepares a list that ended at `end` to end at `new_end`. If the owners from there on are not known, finds them,
    /// from where each candidate that touches stands.
    pub(super) fn reach(
        &mut self,
        [new_end, end]: [usize; 2],
        (blocks, slots): (&[Box<Block>], &[AtomicU32]),
        workers: Workers<'_>,
    ) {
        if new_end >= self.first {
            return;
        }
        // As many places more as the list has become shorter by so far, so that this is seldom done.
        let more = (self.len_at_first - new_end).max(end / SHARE);
        self.first = new_end.saturating_sub(more);
        self.owners.clear();
        self.extend(end);
        workers.run("owners", blocks.len(), |number| {
            for at in blocks[number].touch_now() {
                let candidate = number * BLOCK + at;
                self.set(slots[candidate].load(Ordering::Relaxed) as usize, candidate as u32);
            }
        });
    }
}
