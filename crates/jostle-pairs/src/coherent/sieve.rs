//! Which candidates are pairs now, block by block, and their list.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::{reserve, resize_with_headroom, with_headroom};

use crate::coherent::candidates::Candidates;
use crate::coherent::current::{Packed, Test};
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use crate::pairs::listed::Listed;

/// Candidates that one task tests, numbered by 16 bits.
const BLOCK: usize = 1 << 13;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    /// Of each block of candidates, the numbers, within it, of those that are pairs, then room.
    kept: Vec<u16>,
    /// One for each block, and more.
    counts: Vec<AtomicU32>,
    /// Where the pairs of each block begin, and their number at the end.
    starts: Vec<usize>,
}

impl Sieve {
    pub(super) fn bytes(&self) -> usize {
        self.kept.capacity() * size_of::<u16>()
            + self.counts.capacity() * size_of::<AtomicU32>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// How many candidates are pairs.
    pub(super) fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Finds out which candidates are pairs.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        workers: Workers<'_>,
    ) {
        let pairs = candidates.pairs.pairs();
        resize_with_headroom(&mut self.kept, pairs.len(), 0);
        let blocks = pairs.len().div_ceil(BLOCK);
        if self.counts.len() < blocks {
            self.counts.resize_with(with_headroom(blocks), AtomicU32::default);
            reserve(&mut self.starts, self.counts.len() + 1);
        }
        let counts = &self.counts[..blocks];
        workers.run_callers(test.asks_callers(), || {
            workers.fill_blocks("sift", &mut self.kept, BLOCK, |first, block| {
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

    /// Lists the pairs in the order of the candidates, with what is known of them.
    pub(super) fn list<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (list, listed): (&mut PairList, &mut Listed<D>),
        workers: Workers<'_>,
    ) {
        let count = self.count();
        list.set_len(count);
        let pairs = candidates.pairs.pairs();
        let (repeats, moves) = (test.exact.cell.is_some(), test.exact.sets.iter().any(|set| set.moving.is_some()));
        let ends = candidates.ends.iter().map(|&end| self.before(end));
        let (shifts, times) =
            listed.room_for((count, &candidates.meetings), ends, (repeats, test.exact.images.unique, moves));
        workers.fill_parts("list", &self.starts, (list.pairs_mut(), &mut vec![(); count]), |block, out, _| {
            for (slot, &at) in out.iter_mut().zip(self.kept_of(block)) {
                *slot = pairs[block * BLOCK + usize::from(at)];
            }
        });
        let shift_of = |sets, at| candidates.shift_now(test, sets, at);
        let each_of = |block, visit: &mut dyn FnMut(usize, [u32; 2], usize)| self.each_of(candidates, block, visit);
        if repeats {
            let out = (shifts, &mut vec![(); count][..]);
            workers.fill_parts("shifts", &self.starts, out, |block, out, _| {
                each_of(block, &mut |number, sets, at| out[number] = shift_of(sets, at));
            });
        }
        if moves {
            let out = (times, &mut vec![(); count][..]);
            workers.fill_parts("times", &self.starts, out, |block, out, _| {
                each_of(block, &mut |number, sets, at| {
                    out[number] = test.time(sets, shift_of(sets, at), pairs[at]);
                });
            });
        }
    }

    /// Fills lists with those candidates of rows that are neighbours, and with what is known of them.
    pub(super) fn list_rows<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) {
        let (pairs, candidate_offsets) = (candidates.pairs.pairs(), candidates.rows.offsets());
        let (ends, neighbors) = lists.room_for::<D>(candidates.rows.len(), self.count());
        workers.fill_parts("rows", &self.starts, (neighbors, &mut vec![(); self.count()]), |block, out, _| {
            for (slot, &at) in out.iter_mut().zip(self.kept_of(block)) {
                *slot = pairs[block * BLOCK + usize::from(at)][1];
            }
        });
        workers.fill_blocks("row ends", ends, ROWS, |first, ends| {
            let range = candidate_offsets[first]..candidate_offsets[first + ends.len()];
            let mut end = self.before(range.start);
            ends.fill(0);
            // Each row ends behind the last of its own, or with the row before.
            self.each_kept(range, |number, at| ends[pairs[at][0] as usize - first] = number + 1);
            for slot in ends {
                end = end.max(*slot);
                *slot = end;
            }
        });
        if lists.has_extras() {
            lists.measure_parts::<D>(&self.starts, workers, |block, visit| {
                self.each_of(candidates, block, &mut |number, sets, at| {
                    let shift = candidates.shift_now(test, sets, at);
                    visit(number, shift, test.apart(sets, shift, pairs[at]));
                });
            });
        }
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
        let range = block * BLOCK..((block + 1) * BLOCK).min(candidates.pairs.pairs().len());
        candidates.each_meeting(range, |range, sets| {
            let of_block = self.kept_of(block).iter().map(|&at| block * BLOCK + usize::from(at));
            for at in of_block.skip(number).take_while(|&at| at < range.end) {
                visit(number, sets, at);
                number += 1;
            }
        });
    }

    /// Calls `visit` with the number and the candidate of each pair among some candidates.
    fn each_kept(&self, range: Range<usize>, mut visit: impl FnMut(usize, usize)) {
        let mut number = self.before(range.start);
        for block in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            let kept = &self.kept_of(block)[number - self.starts[block]..];
            let in_range = (range.end - block * BLOCK).min(BLOCK);
            for &at in kept.iter().take_while(|&&at| usize::from(at) < in_range) {
                visit(number, block * BLOCK + usize::from(at));
                number += 1;
            }
        }
    }

    /// How many pairs are among the candidates before one.
    fn before(&self, candidate: usize) -> usize {
        let block = candidate / BLOCK;
        if block + 1 >= self.starts.len() {
            return self.count();
        }
        self.starts[block] + self.kept_of(block).partition_point(|&at| block * BLOCK + usize::from(at) < candidate)
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
                let shift = candidates.shift_now(test, sets, at);
                out[count] = (at - first) as u16;
                count += usize::from(test.touches(sets, shift, pair));
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

impl<const D: usize> Candidates<D> {
    /// By how many of each vector the second body of a candidate is moved now to where it was seen.
    #[inline]
    fn shift_now(&self, test: &Test<'_, D>, sets: [u32; 2], at: usize) -> [i32; D] {
        self.shifts.get(at).map_or([0; D], |&shift| test.shift(sets, shift, self.pairs.pairs()[at]))
    }

    /// Calls `visit` with the candidates of each two sets among some, and the sets.
    fn each_meeting(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, [u32; 2])) {
        let (mut meeting, mut at) = (self.ends.partition_point(|&end| end <= range.start), range.start);
        while at < range.end {
            let end = self.ends[meeting].min(range.end);
            if at < end {
                visit(at..end, self.meetings[meeting]);
            }
            (meeting, at) = (meeting + 1, end);
        }
    }
}
