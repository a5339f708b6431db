//! Tells where the output of each block begins, while blocks are still at work.
//!
//! The number of items of a block is known only when the block is done, and its items stand after those of all blocks
//! before it. All blocks, or those of a share, are begun in ascending order, so a worker seldom has to wait for the
//! start of its block. The idea is the decoupled look-back of D. Merrill and M. Garland, "Single-pass parallel prefix
//! scan with decoupled look-back" (2016).

use core::mem;
use core::ops::Range;

use crate::parallel::bell::Bell;
use crate::parallel::scratch::with_headroom;
use crate::parallel::sync::{AtomicBool, AtomicUsize, Ordering, fence};

/// Not known yet.
const UNKNOWN: usize = usize::MAX;

/// Where blocks begin that begin here or later: no list is as long, but on machines of 32 bits items may be as many,
/// where they are counted and not kept.
const LAST: usize = isize::MAX as usize;

/// An exclusive scan over the blocks of a stage, which grows as blocks end.
#[derive(Debug, Default)]
pub struct Prefix {
    blocks: Vec<Block>,
    /// Whether a worker has panicked, so that some starts will never be known.
    abandoned: AtomicBool,
    /// Rung when a start is known, or never will be.
    bell: Bell,
}

#[derive(Debug)]
struct Block {
    start: AtomicUsize,
    count: AtomicUsize,
}

impl Prefix {
    /// Forgets all blocks, and makes room for `blocks` blocks.
    pub fn reset(&mut self, blocks: usize) {
        self.abandoned = AtomicBool::new(false);
        self.blocks.clear();
        if self.blocks.capacity() < blocks {
            self.blocks.reserve_exact(with_headroom(blocks));
        }
        self.blocks
            .resize_with(blocks, || Block { start: AtomicUsize::new(UNKNOWN), count: AtomicUsize::new(UNKNOWN) });
        if let Some(first) = self.blocks.first_mut() {
            first.start = AtomicUsize::new(0);
        }
    }

    /// The number of items of all blocks, once all have ended; [`isize::MAX`] where they are more.
    #[must_use]
    pub fn total(&self) -> usize {
        self.blocks.len().checked_sub(1).and_then(|last| self.range_of(last)).map_or(0, |last| last.end)
    }

    /// Where a block begins, as soon as all blocks before it have ended.
    ///
    /// # Panics
    /// When there is no such block.
    #[must_use]
    pub fn start_of(&self, block: usize) -> Option<usize> {
        known(&self.blocks[block].start)
    }

    /// The items of a block, as soon as it and all blocks before it have ended.
    ///
    /// # Panics
    /// When there is no such block.
    #[must_use]
    pub fn range_of(&self, block: usize) -> Option<Range<usize>> {
        let start = self.start_of(block)?;
        known(&self.blocks[block].count).map(|count| start..start.saturating_add(count).min(LAST))
    }

    /// Waits until it is known where a block begins; `None` when another worker has panicked, so that it never will be.
    ///
    /// The wait comes to an end if all blocks before this one have been begun, or will be by workers that have only
    /// earlier blocks to wait for: the worker that has the first block that has not ended waits for nobody.
    ///
    /// # Panics
    /// When there is no such block.
    #[must_use]
    pub fn wait_for(&self, block: usize) -> Option<usize> {
        if self.start_of(block).is_none() {
            self.bell.wait_until(|| self.start_of(block).is_some() || self.is_abandoned());
        }
        self.start_of(block)
    }

    /// Whether a worker has panicked.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Notes how many items a block has, and where the blocks after it begin, as far as that is now known.
    ///
    /// # Panics
    /// When there is no such block.
    pub fn end(&self, mut block: usize, count: usize) {
        self.blocks[block].count.store(count, Ordering::Release);
        // Of two workers that end neighbouring blocks at once, at least one sees what the other has noted; if both do,
        // they note the same.
        fence(Ordering::SeqCst);
        while let (Some(items), Some(next)) = (self.range_of(block), self.blocks.get(block + 1)) {
            next.start.store(items.end, Ordering::Release);
            fence(Ordering::SeqCst);
            block += 1;
        }
        self.bell.ring();
    }

    /// Runs a worker that has blocks to end. If it panics, nobody waits for them.
    pub fn worker<R>(&self, work: impl FnOnce() -> R) -> R {
        struct Abandon<'a>(&'a Prefix);
        impl Drop for Abandon<'_> {
            fn drop(&mut self) {
                self.0.abandoned.store(true, Ordering::Relaxed);
                self.0.bell.ring();
            }
        }
        let abandon = Abandon(self);
        let result = work();
        mem::forget(abandon);
        result
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
    }
}

fn known(number: &AtomicUsize) -> Option<usize> {
    Some(number.load(Ordering::Acquire)).filter(|&number| number != UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::Prefix;

    #[test]
    fn starts_are_known_once_all_before_have_ended() {
        let mut prefix = Prefix::default();
        assert_eq!(prefix.total(), 0);
        prefix.reset(4);
        prefix.end(2, 30);
        prefix.end(1, 20);
        assert_eq!([0, 1, 2, 3].map(|block| prefix.start_of(block)), [Some(0), None, None, None]);
        prefix.end(0, 10);
        assert_eq!([0, 1, 2, 3].map(|block| prefix.start_of(block)), [Some(0), Some(10), Some(30), Some(60)]);
        prefix.end(3, 0);
        assert_eq!(prefix.total(), 60);
        assert_eq!(prefix.range_of(2), Some(30..60));
    }

    #[test]
    fn more_items_than_numbers_have_an_end() {
        let mut prefix = Prefix::default();
        prefix.reset(3);
        (0..3).for_each(|block| prefix.end(block, usize::MAX / 2 + 1));
        assert_eq!((prefix.start_of(2), prefix.total()), (Some(isize::MAX as usize), isize::MAX as usize));
    }

    #[test]
    fn waiting_ends_when_a_worker_panics() {
        let mut prefix = Prefix::default();
        prefix.reset(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| prefix.wait_for(1));
            let failing = scope.spawn(|| prefix.worker(|| panic!("on purpose")));
            assert!(failing.join().is_err());
            assert!(matches!(waiting.join(), Ok(None)));
        });
        assert!(prefix.is_abandoned());
    }

    /// A panic of the worker itself counts, not that of the thread that runs it.
    #[test]
    fn a_worker_within_a_destructor_of_an_unwinding_thread_has_not_panicked() {
        struct Searches<'a>(&'a Prefix);
        impl Drop for Searches<'_> {
            fn drop(&mut self) {
                self.0.worker(|| self.0.end(0, 7));
            }
        }
        let mut prefix = Prefix::default();
        prefix.reset(1);
        let unwound = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            let _searches = Searches(&prefix);
            panic!("on purpose");
        }));
        assert!(unwound.is_err() && !prefix.is_abandoned());
        assert_eq!(prefix.total(), 7);
    }
}
