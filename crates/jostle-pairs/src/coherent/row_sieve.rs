//! Which candidates of rows are neighbours now, block by block, and their rows.

use core::sync::atomic::{AtomicU8, Ordering};

use jostle_core::scratch::{fill_with_headroom, resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::{BAND, BANDS, BLOCK, TOUCHES, last_band, range_of, scale_of, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::packed::{are_far, prefetch_bodies};
use crate::neighbors::NeighborLists;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// Bodies of doubts are asked for so many ahead.
const AHEAD: usize = 32;

/// It touches and is not dropped by layers, nor by the caller; looked at where there are such.
const PASSES: u32 = 6;

/// A candidate that is to be tested sooner or later.
#[derive(Debug, Clone, Copy, Default)]
struct Doubt {
    /// Its number within its block.
    candidate: u32,
    pair: [u32; 2],
}

/// What is known of a block of candidates.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// How many of its doubts there are up to each band.
    ends: [u32; BANDS],
    touching: u32,
    passing: u32,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct RowSieve {
    /// What is known of each candidate.
    known: Vec<AtomicU8>,
    /// One for each block, and more.
    blocks: Vec<Block>,
    /// Of each block, by band; behind them those that are never tested.
    doubts: Vec<Doubt>,
    /// Where the pairs of each block begin, and their number at the end.
    starts: Vec<usize>,
    /// Which bit says that a candidate is a pair.
    bit: u32,
}

impl RowSieve {
    pub(super) fn bytes(&self) -> usize {
        self.known.capacity()
            + self.blocks.capacity() * size_of::<Block>()
            + self.doubts.capacity() * size_of::<Doubt>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// How many candidates are neighbours.
    pub(super) fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Sorts new candidates by how far bodies must move before it can change whether they touch.
    pub(super) fn sort<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (margin, isa): (f64, Isa),
        workers: Workers<'_>,
    ) {
        let pairs = candidates.pairs.pairs();
        make_room(&mut self.known, pairs.len());
        fill_with_headroom(&mut self.blocks, pairs.len().div_ceil(BLOCK), Block::default());
        let Self { known, blocks, doubts, .. } = self;
        let scale = scale_of(margin);
        workers.fill_blocks("bands", blocks, 1, |number, block| {
            let (block, mut of_band) = (&mut block[0], [0; BANDS + 1]);
            block.touching = 0;
            let range = range_of(number, pairs.len());
            let mut slots = known[range.clone()].iter();
            sort_block(candidates, test, (scale, isa), range, |known| {
                for (&known, slot) in known.iter().zip(slots.by_ref()) {
                    slot.store(known, Ordering::Relaxed);
                    block.touching += u32::from(known >> TOUCHES);
                    of_band[usize::from(known & BAND).min(BANDS)] += 1;
                }
            });
            let mut end = 0;
            for (slot, count) in block.ends.iter_mut().zip(of_band) {
                end += count;
                *slot = end;
            }
        });
        fill_with_headroom(doubts, pairs.len(), Doubt::default());
        workers.fill_blocks("doubts", doubts, BLOCK, |first, out| {
            let mut next = [0; BANDS + 1];
            next[1..].copy_from_slice(&blocks[first / BLOCK].ends);
            for ((candidate, known), &pair) in (0..).zip(&known[first..]).zip(&pairs[first..first + out.len()]) {
                let next = &mut next[usize::from(known.load(Ordering::Relaxed) & BAND).min(BANDS)];
                out[*next as usize] = Doubt { candidate, pair };
                *next += 1;
            }
        });
    }

    /// Finds out which candidates are neighbours, bodies having used up so much of a margin.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        used_of_margin: [f64; 2],
        workers: Workers<'_>,
    ) {
        let Self { known, blocks, doubts, starts, bit } = self;
        let last_band = last_band(used_of_margin);
        workers.fill_blocks("sift", blocks, 1, |number, block| {
            let doubts = &doubts[number * BLOCK..][..block[0].ends[last_band] as usize];
            sift_block(candidates, test, (known, number * BLOCK, doubts), &mut block[0].touching);
        });
        if test.drops_some() {
            workers.run_callers(test.asks_callers(), || {
                workers.fill_blocks("filter", blocks, 1, |number, block| {
                    block[0].passing = filter_block(candidates, test, known, number);
                });
            });
            *bit = PASSES;
            scan(starts, blocks.iter().map(|block| block.passing));
        } else {
            *bit = TOUCHES;
            scan(starts, blocks.iter().map(|block| block.touching));
        }
    }

    /// Fills lists with the neighbours, and with what is known of them.
    pub(super) fn list<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) {
        let (pairs, candidate_offsets) = (candidates.pairs.pairs(), candidates.rows.offsets());
        let (ends, neighbors) = lists.room_for::<D>(candidates.rows.len(), self.count());
        self.write(pairs, neighbors, workers);
        workers.fill_blocks("row ends", ends, ROWS, |first, ends| {
            let range = candidate_offsets[first]..candidate_offsets[first + ends.len()];
            let mut end = self.before(range.start);
            let mut number = end;
            ends.fill(0);
            // Each row ends behind the last of its own, or with the row before.
            for (&[id, _], known) in pairs[range.clone()].iter().zip(&self.known[range]) {
                number += self.is_pair(known);
                ends[id as usize - first] = number;
            }
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

    /// 1 if what is known of a candidate is that it is a pair.
    #[inline(always)]
    fn is_pair(&self, known: &AtomicU8) -> usize {
        usize::from(known.load(Ordering::Relaxed) >> self.bit & 1)
    }

    /// Writes the neighbours, without a branch that depends on which candidates are.
    fn write(&self, pairs: &[[u32; 2]], out: &mut [u32], workers: Workers<'_>) {
        let count = out.len();
        workers.fill_parts("rows", &self.starts, (out, &mut vec![(); count]), |block, out, _| {
            let range = range_of(block, pairs.len());
            let mut number = 0;
            for (&[_, neighbor], known) in pairs[range.clone()].iter().zip(&self.known[range]) {
                let Some(slot) = out.get_mut(number) else { break };
                *slot = neighbor;
                number += self.is_pair(known);
            }
        });
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
            for at in range {
                if self.is_pair(&self.known[at]) == 1 {
                    visit(number, sets, at);
                    number += 1;
                }
            }
        });
    }

    /// How many pairs are among the candidates before one.
    fn before(&self, candidate: usize) -> usize {
        let block = candidate / BLOCK;
        if block + 1 >= self.starts.len() {
            return self.count();
        }
        let of_block = &self.known[block * BLOCK..candidate];
        self.starts[block] + of_block.iter().map(|known| self.is_pair(known)).sum::<usize>()
    }
}

/// Makes room for what is known of so many candidates.
fn make_room(known: &mut Vec<AtomicU8>, candidates: usize) {
    if known.len() < candidates {
        known.reserve_exact(with_headroom(candidates) - known.len());
        known.resize_with(known.capacity(), AtomicU8::default);
    }
}

/// Where parts of so many begin, and their number at the end.
fn scan(starts: &mut Vec<usize>, counts: impl ExactSizeIterator<Item = u32>) {
    resize_with_headroom(starts, counts.len() + 1);
    starts[0] = 0;
    let mut end = 0;
    for (slot, count) in starts[1..].iter_mut().zip(counts) {
        end += count as usize;
        *slot = end;
    }
}

/// Tests some doubts of the block that begins with candidate `first`, and notes which candidates have begun to touch, or ended.
fn sift_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    (known, first, doubts): (&[AtomicU8], usize, &[Doubt]),
    touching: &mut u32,
) {
    let mut note = |candidate: u32, touches: bool| {
        let known = &known[first + candidate as usize];
        let was = known.load(Ordering::Relaxed);
        // Few change in a frame.
        if was >> TOUCHES != u8::from(touches) {
            known.store(was ^ 1 << TOUCHES, Ordering::Relaxed);
            *touching = if touches { *touching + 1 } else { *touching - 1 };
        }
    };
    if let &[sets] = candidates.meetings.as_slice()
        && let Some([of_a, of_b]) = test.direct_in_open_space(sets)
    {
        let bodies = [of_a, of_b];
        let asked = if are_far(&bodies) { doubts } else { &[] };
        for (at, &Doubt { candidate, pair: [a, b] }) in (AHEAD..).zip(doubts) {
            prefetch_bodies(bodies, asked.get(at).map(|doubt| &doubt.pair));
            note(candidate, of_a[a as usize].touches::<D>(&of_b[b as usize], [0.0; D]));
        }
        return;
    }
    let (mut range, mut sets) = (0..0, [0; 2]);
    for &Doubt { candidate, pair } in doubts {
        let at = first + candidate as usize;
        if !range.contains(&at) {
            (range, sets) = candidates.meeting_of(at);
        }
        note(candidate, test.touches(sets, candidates.shift_now(test, sets, at), pair));
    }
}

/// Notes which candidates of a block touch and pass; how many.
fn filter_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    known: &[AtomicU8],
    block: usize,
) -> u32 {
    let (pairs, mut count) = (candidates.pairs.pairs(), 0);
    candidates.each_meeting(range_of(block, pairs.len()), |range, sets| {
        for (known, &pair) in known[range.clone()].iter().zip(&pairs[range]) {
            let was = known.load(Ordering::Relaxed);
            let passes = was >> TOUCHES == 1 && test.admits(sets, pair);
            known.store(was & !(1 << PASSES) | u8::from(passes) << PASSES, Ordering::Relaxed);
            count += u32::from(passes);
        }
    });
    count
}
