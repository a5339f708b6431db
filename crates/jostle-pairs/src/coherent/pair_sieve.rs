//! Which candidates are pairs now, and their list, where all are tested in each frame: they may begin to touch, or end, at any time
//! where space repeats or bodies move, and be dropped at any time where layers or a function of the caller's are asked.

use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::{reserve, resize_with_headroom, with_headroom};

use crate::coherent::bands::{BLOCK, range_of};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::packed::Packed;
use crate::join::hits::PairList;
use crate::pairs::listed::Listed;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct PairSieve {
    /// Of each block of candidates, the numbers, within it, of those that are pairs, then room.
    kept: Vec<u16>,
    /// One for each block, and more.
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

    /// Finds out which candidates are pairs.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
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
                let count = sift_block(candidates, test, first, block);
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

    /// Lists the pairs in the order of the candidates, with what is known of them; how many there are.
    pub(super) fn list<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (list, listed): (&mut PairList, &mut Listed<D>),
        workers: Workers<'_>,
    ) -> usize {
        let count = self.starts.last().copied().unwrap_or_default();
        list.set_len(count);
        let pairs = candidates.pairs.pairs();
        let (repeats, moves) = (test.exact.cell.is_some(), test.moves());
        let ends = candidates.ends.iter().map(|&end| self.before(end));
        let (shifts, times) =
            listed.room_for((count, &candidates.meetings), ends, (repeats, test.exact.images.unique, moves));
        let out = (list.pairs_mut(), &mut vec![(); count][..]);
        workers.fill_parts("list", &self.starts, out, |block, out, _| {
            for (slot, &at) in out.iter_mut().zip(self.kept_of(block)) {
                *slot = pairs[block * BLOCK + usize::from(at)];
            }
        });
        let shift_of = |sets, at| candidates.shift_now(test, sets, (at, pairs[at]));
        if repeats {
            let out = (shifts, &mut vec![(); count][..]);
            workers.fill_parts("shifts", &self.starts, out, |block, out, _| {
                self.each_of(candidates, block, &mut |number, sets, at| out[number] = shift_of(sets, at));
            });
        }
        if moves {
            let out = (times, &mut vec![(); count][..]);
            workers.fill_parts("times", &self.starts, out, |block, out, _| {
                self.each_of(candidates, block, &mut |number, sets, at| {
                    out[number] = test.time(sets, shift_of(sets, at), pairs[at]);
                });
            });
        }
        count
    }

    /// The numbers, within a block of candidates, of those that are pairs.
    fn kept_of(&self, block: usize) -> &[u16] {
        &self.kept[block * BLOCK..][..self.starts[block + 1] - self.starts[block]]
    }

    /// Calls `visit` with the number within a block, the sets and the candidate of each pair.
    fn each_of<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        block: usize,
        visit: &mut dyn FnMut(usize, [u32; 2], usize),
    ) {
        let mut number = 0;
        candidates.each_meeting(range_of(block, candidates.pairs.pairs().len()), |range, sets| {
            let of_block = self.kept_of(block).iter().map(|&at| block * BLOCK + usize::from(at));
            for at in of_block.skip(number).take_while(|&at| at < range.end) {
                visit(number, sets, at);
                number += 1;
            }
        });
    }

    /// How many pairs there are before a candidate.
    fn before(&self, candidate: usize) -> usize {
        let block = candidate / BLOCK;
        if block + 1 >= self.starts.len() {
            return self.starts.last().copied().unwrap_or_default();
        }
        let of_block = self.kept_of(block).partition_point(|&at| block * BLOCK + usize::from(at) < candidate);
        self.starts[block] + of_block
    }
}

/// Writes the numbers of those candidates from number `first` on that are pairs to the front of `out`; how many there are.
fn sift_block<const D: usize>(candidates: &Candidates<D>, test: &Test<'_, D>, first: usize, out: &mut [u16]) -> usize {
    let mut count = 0;
    candidates.each_meeting(first..first + out.len(), |range, sets| {
        let begin = count;
        let pairs = &candidates.pairs.pairs()[range.clone()];
        if let Some(bodies) = test.direct_in_open_space(sets) {
            count = sift_direct::<D>(bodies, pairs, (range.start - first) as u16, out, count);
        } else {
            for (at, &pair) in range.clone().zip(pairs) {
                out[count] = (at - first) as u16;
                count += usize::from(test.touches(sets, candidates.shift_now(test, sets, (at, pair)), pair));
            }
        }
        if test.drops_some() {
            let end = core::mem::replace(&mut count, begin);
            for number in begin..end {
                let at = out[number];
                if test.admits(sets, candidates.pairs.pairs()[first + usize::from(at)]) {
                    out[count] = at;
                    count += 1;
                }
            }
        }
    });
    count
}

/// Without a branch that depends on who touches.
fn sift_direct<const D: usize>(
    [of_a, of_b]: [&[Packed]; 2],
    pairs: &[[u32; 2]],
    first: u16,
    out: &mut [u16],
    mut count: usize,
) -> usize {
    for (at, &[a, b]) in (first..).zip(pairs) {
        out[count] = at;
        count += usize::from(of_a[a as usize].touches::<D>(&of_b[b as usize], [0.0; D]));
    }
    count
}
