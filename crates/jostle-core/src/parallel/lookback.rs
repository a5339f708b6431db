//! Where the output of each block begins, known while blocks are still at work.
//!
//! Each block has a number of items that comes out only when it is done; its items stand after those of all blocks
//! before it. Blocks are begun in ascending order, so a worker seldom has to wait for the start of his. The idea is the
//! decoupled look-back of D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016).

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::parallel::scratch::with_headroom;

/// Not known yet.
const UNKNOWN: usize = usize::MAX;

/// An exclusive scan over the blocks of a stage that grows as they end.
#[derive(Debug, Default)]
pub struct Prefix {
    blocks: Vec<Block>,
    /// A worker has panicked, so that some starts will never be known.
    abandoned: AtomicBool,
}

#[derive(Debug)]
struct Block {
    start: AtomicUsize,
    count: AtomicUsize,
}

impl Prefix {
    /// Forgets all, for so many blocks.
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

    /// The number of items of all blocks, once all have ended.
    #[must_use]
    pub fn total(&self) -> usize {
        let end = |last: &Block| last.start.load(Ordering::SeqCst) + last.count.load(Ordering::SeqCst);
        self.blocks.last().map_or(0, end)
    }

    /// Where a block begins, as soon as all blocks before it have ended.
    ///
    /// # Panics
    /// When there is no such block.
    #[must_use]
    pub fn start_of(&self, block: usize) -> Option<usize> {
        Some(self.blocks[block].start.load(Ordering::SeqCst)).filter(|&start| start != UNKNOWN)
    }

    /// The items of a block, as soon as it and all blocks before it have ended.
    ///
    /// # Panics
    /// When there is no such block.
    #[must_use]
    pub fn range_of(&self, block: usize) -> Option<Range<usize>> {
        let start = self.start_of(block)?;
        let count = self.blocks[block].count.load(Ordering::SeqCst);
        (count != UNKNOWN).then(|| start..start + count)
    }

    /// Waits until it is known where a block begins. Whoever has the first block that has not ended waits for nobody,
    /// so this comes to an end.
    ///
    /// # Panics
    /// When there is no such block, or another worker has panicked.
    #[cold]
    #[must_use]
    pub fn wait_for(&self, block: usize) -> usize {
        loop {
            if let Some(start) = self.start_of(block) {
                return start;
            }
            assert!(!self.abandoned.load(Ordering::Relaxed), "another worker has panicked");
            std::thread::yield_now();
        }
    }

    /// Says how many items a block has, and where the blocks after it begin, as far as that is now known. Of two workers
    /// that end neighbouring blocks at once, at least one sees what the other has said; both would say the same.
    ///
    /// # Panics
    /// When there is no such block.
    pub fn end(&self, mut block: usize, count: usize) {
        self.blocks[block].count.store(count, Ordering::SeqCst);
        while let (Some(start), Some(next)) = (self.start_of(block), self.blocks.get(block + 1)) {
            let count = self.blocks[block].count.load(Ordering::SeqCst);
            if count == UNKNOWN {
                return;
            }
            next.start.store(start + count, Ordering::SeqCst);
            block += 1;
        }
    }

    /// To be held by a worker while it has blocks: should it panic, nobody waits for them.
    pub fn guard(&self) -> impl Drop {
        AbandonOnPanic(self)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
    }
}

struct AbandonOnPanic<'a>(&'a Prefix);

impl Drop for AbandonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandoned.store(true, Ordering::Relaxed);
        }
    }
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
    fn waiting_ends_when_a_worker_panics() {
        let mut prefix = Prefix::default();
        prefix.reset(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| prefix.wait_for(1));
            let failing = scope.spawn(|| {
                let _guard = prefix.guard();
                panic!("on purpose");
            });
            assert!(failing.join().is_err() && waiting.join().is_err());
        });
    }
}
