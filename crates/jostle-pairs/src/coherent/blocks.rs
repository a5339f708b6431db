//! Candidates block by block. Each two sets that meet have blocks of their own. Each frame tests the candidates that
//! may have changed.

use core::mem::replace;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use jostle_core::{Isa, Workers};

use crate::coherent::block::Block;
use crate::coherent::course::{Progress, bands_to_test};
use crate::coherent::current::Test;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The blocks of the candidates that were sorted last.
    blocks: Vec<Box<Block>>,
    meetings: Meetings,
    /// Memory for more blocks.
    stock: Stock,
    /// How far bodies had come in the last frame.
    progress: Progress,
}

/// Two sets that meet, their number among all meetings, and where their blocks end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub(super) sets: [u32; 2],
    pub(super) number: usize,
    pub(super) end: usize,
}

/// All meetings, in order.
#[derive(Debug, Default)]
pub(super) struct Meetings(Vec<Meeting>);

impl Meetings {
    pub(super) fn all(&self) -> &[Meeting] {
        &self.0
    }

    /// Returns the blocks of the same two sets as a block, and these sets.
    #[inline]
    pub(super) fn of_block(&self, block: usize) -> (Range<usize>, Meeting) {
        let number = self.0.partition_point(|meeting| meeting.end <= block);
        (self.range(number), self.0[number])
    }

    /// Returns the blocks of two sets.
    pub(super) fn range(&self, meeting: usize) -> Range<usize> {
        meeting.checked_sub(1).map_or(0, |before| self.0[before].end)..self.0[meeting].end
    }

    /// Returns the blocks of each two sets.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.0.len()).map(|meeting| self.range(meeting))
    }
}

/// More blocks than these, 4 MB of them, are in no cache near the core.
const NEAR: usize = 64;

/// Whether what is read of so many blocks is to be prefetched.
pub(super) fn are_far(blocks: &[Box<Block>]) -> bool {
    blocks.len() > NEAR
}

/// Blocks that workers take, in any order, and blocks that they have sorted.
#[derive(Debug, Default)]
pub(super) struct Stock {
    spare: Mutex<Vec<Box<Block>>>,
    sorted: Mutex<Vec<Sorted>>,
    /// How many candidates workers have taken blocks for, and the most for which they get any.
    candidates: AtomicUsize,
    max: usize,
}

/// A sorted block, its sets, and what it was made of: a block of a search, and which part of that.
#[derive(Debug)]
pub(super) struct Sorted {
    pub(super) sets: [u32; 2],
    pub(super) of: [usize; 2],
    pub(super) block: Box<Block>,
}

impl Stock {
    /// Takes a block for so many candidates, unless there are too many already.
    pub(super) fn take(&self, candidates: usize) -> Option<Box<Block>> {
        let before = self.candidates.fetch_add(candidates, Ordering::Relaxed);
        (before <= self.max).then(|| locked(&self.spare).pop().unwrap_or_default())
    }

    /// Whether some candidates may have got no block.
    pub(super) fn is_short(&self) -> bool {
        self.candidates.load(Ordering::Relaxed) > self.max
    }

    pub(super) fn put(&self, sorted: Sorted) {
        locked(&self.sorted).push(sorted);
    }
}

/// Locks a list, whether or not a thread has panicked with the lock: all blocks are sound.
fn locked<T>(of: &Mutex<Vec<T>>) -> std::sync::MutexGuard<'_, Vec<T>> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what a lock guards, where nobody else can lock it.
fn own<T>(of: &mut Mutex<Vec<T>>) -> &mut Vec<T> {
    of.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            meetings: Meetings::default(),
            stock: Stock::default(),
            progress: Progress::Anywhere(0.0),
        }
    }
}

impl Blocks {
    pub(super) fn bytes(&self) -> usize {
        let spare = locked(&self.stock.spare);
        (self.blocks.len() + spare.len()) * size_of::<Block>()
            + (self.blocks.capacity() + spare.capacity()) * size_of::<Box<Block>>()
            + locked(&self.stock.sorted).capacity() * size_of::<Sorted>()
            + self.meetings.0.capacity() * size_of::<Meeting>()
    }

    /// Returns the blocks of the candidates that were sorted last.
    pub(super) fn all(&self) -> &[Box<Block>] {
        &self.blocks
    }

    /// The sets that meet.
    pub(super) fn meetings(&self) -> &Meetings {
        &self.meetings
    }

    /// Gives all blocks to workers that sort new candidates, `max` of them and some more.
    pub(super) fn stock(&mut self, max: usize) -> &Stock {
        own(&mut self.stock.spare).append(&mut self.blocks);
        own(&mut self.stock.sorted).clear();
        (self.stock.candidates, self.stock.max) = (AtomicUsize::new(0), max);
        &self.stock
    }

    /// Takes the blocks that workers have sorted, of these meetings in order, bodies having come as far as `progress`.
    pub(super) fn take_sorted(&mut self, progress: Progress, meetings: &[[u32; 2]]) {
        self.progress = progress;
        let sorted = own(&mut self.stock.sorted);
        sorted.sort_unstable_by_key(|sorted| sorted.of);
        self.meetings.0.clear();
        let mut end = 0;
        self.meetings.0.extend(meetings.iter().enumerate().map(|(number, &sets)| {
            end += sorted[end..].iter().take_while(|sorted| sorted.sets == sets).count();
            Meeting { sets, number, end }
        }));
        self.blocks.extend(sorted.drain(..).map(|sorted| sorted.block));
    }

    /// Finds out which candidates touch, bodies having come as far as `progress`. Calls `then` with each block, its
    /// number and its sets once the block has been tested.
    pub(super) fn sift<const D: usize>(
        &mut self,
        test: &Test<'_, D>,
        (progress, margin, isa): (Progress, f64, Isa),
        workers: Workers<'_>,
        then: impl Fn(usize, &Block, [u32; 2]) + Sync + Send,
    ) {
        let bands = bands_to_test(replace(&mut self.progress, progress), progress, margin);
        let meetings = &self.meetings;
        workers.fill_blocks("sift", &mut self.blocks, 1, |number, block| {
            let (_, Meeting { sets, .. }) = meetings.of_block(number);
            block[0].sift((test, sets), (&bands, isa));
            then(number, &block[0], sets);
        });
    }
}
