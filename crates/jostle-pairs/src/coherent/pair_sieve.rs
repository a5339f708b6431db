//! Lists the pairs among the candidates that touch, where layers or a function of the caller's drop some.

use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::{reserve, resize_with_headroom, with_headroom};

use crate::coherent::bands::BLOCK;
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::strays::Strays;
use crate::join::hits::PairList;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct PairSieve {
    /// For each block of candidates: the numbers, within it, of the candidates that are pairs; then unused room.
    kept: Vec<u16>,
    /// The number of pairs of each block, and unused room.
    counts: Vec<AtomicU32>,
    /// Where the pairs of each block begin, and their number at the end.
    starts: Vec<usize>,
}

impl PairSieve {
    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<usize>()
            + self.kept.capacity() * size_of::<u16>()
            + self.counts.capacity() * size_of::<AtomicU32>()
    }

    /// Finds out which candidates are pairs. All of them touch, except those of stray bodies, which are no pairs here.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates,
        (test, strays): (&Test<'_, D>, &Strays<D>),
        workers: Workers<'_>,
    ) {
        let len = candidates.pairs.pairs().len();
        let blocks = len.div_ceil(BLOCK);
        if self.kept.len() < len {
            resize_with_headroom(&mut self.kept, len);
        }
        if self.counts.len() < blocks {
            self.counts.resize_with(with_headroom(blocks), AtomicU32::default);
            reserve(&mut self.starts, self.counts.len() + 1);
        }
        let counts = &self.counts[..blocks];
        workers.run_callers(test.asks_callers(), || {
            workers.fill_blocks("sift", &mut self.kept[..len], BLOCK, |first, block| {
                let count = sift_block(candidates, (test, strays), first, block);
                counts[first / BLOCK].store(count as u32, Ordering::Relaxed);
            });
        });
        self.starts.clear();
        self.starts.push(0);
        self.starts.extend(counts.iter().scan(0, |end, count| {
            *end += count.load(Ordering::Relaxed) as usize;
            Some(*end)
        }));
    }

    /// Lists the pairs in the order of the candidates; returns where the pairs of each two sets end.
    pub(super) fn list<'c>(
        &'c self,
        candidates: &'c Candidates,
        list: &mut PairList,
        workers: Workers<'_>,
    ) -> impl Iterator<Item = usize> + use<'c> {
        let count = self.starts.last().copied().unwrap_or_default();
        list.set_len(count);
        let pairs = candidates.pairs.pairs();
        let out = (list.pairs_mut(), &mut vec![(); count][..]);
        workers.fill_parts("list", &self.starts, out, |block, out, _| {
            for (slot, &at) in out.iter_mut().zip(self.kept_of(block)) {
                *slot = pairs[block * BLOCK + usize::from(at)];
            }
        });
        candidates.ends.iter().map(|&end| self.before(end))
    }

    /// Returns the numbers, within a block, of the candidates that are pairs.
    fn kept_of(&self, block: usize) -> &[u16] {
        &self.kept[block * BLOCK..][..self.starts[block + 1] - self.starts[block]]
    }

    /// Returns how many pairs there are before a candidate.
    fn before(&self, candidate: usize) -> usize {
        let block = candidate / BLOCK;
        if block + 1 >= self.starts.len() {
            return self.starts.last().copied().unwrap_or_default();
        }
        let of_block = self.kept_of(block).partition_point(|&at| block * BLOCK + usize::from(at) < candidate);
        self.starts[block] + of_block
    }
}

/// Writes the numbers, counted from `first`, of the candidates that are pairs to the front of `out`; returns how many
/// there are.
fn sift_block<const D: usize>(
    candidates: &Candidates,
    (test, strays): (&Test<'_, D>, &Strays<D>),
    first: usize,
    out: &mut [u16],
) -> usize {
    let mut count = 0;
    candidates.each_meeting(first..first + out.len(), |range, sets| {
        let strays = strays.marks_of(sets);
        for (at, &pair) in range.clone().zip(&candidates.pairs.pairs()[range]) {
            out[count] = (at - first) as u16;
            count += usize::from(!strays.has_any(pair) && test.admits(sets, pair));
        }
    });
    count
}
