//! Which candidates of rows are neighbours now, block by block, and their rows.

use core::ops::Range;

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run, sixteen_mut};

use crate::coherent::bands::{BLOCK, WORD, last_band, range_of, scale_of};
use crate::coherent::block::{Block, more_blocks};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::neighbors::NeighborLists;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// A bit for each candidate of a block, as they were listed.
type Bits = [u64; BLOCK / WORD];

/// What is known of a block of candidates.
#[derive(Debug, Clone)]
struct Rows {
    block: Block,
    /// Which number each of them has, as they were listed.
    numbers: [u16; BLOCK],
    /// Those that touch, and, where layers or the caller may drop some, those that pass, too.
    touching: Bits,
    passing: Bits,
}

impl Default for Rows {
    fn default() -> Self {
        let (touching, passing) = ([0; BLOCK / WORD], [0; BLOCK / WORD]);
        Self { block: Block::default(), numbers: [0; BLOCK], touching, passing }
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct RowSieve {
    blocks: Vec<Rows>,
    /// How many blocks there are of those.
    count: usize,
    /// Where the pairs of each block begin, and their number at the end.
    starts: Vec<usize>,
    /// The last band that has been tested.
    band: usize,
    /// Whether pairs are those that pass.
    filtered: bool,
}

impl RowSieve {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Rows>() + self.starts.capacity() * size_of::<usize>()
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
        self.band = 0;
        self.count = candidates.pairs.pairs().len().div_ceil(BLOCK);
        more_blocks(&mut self.blocks, self.count);
        let (blocks, scale) = (&mut self.blocks[..self.count], scale_of(margin));
        workers.fill_blocks("bands", blocks, 1, |number, rows| {
            let Rows { block, numbers, touching, .. } = &mut rows[0];
            block.sort(candidates, test, (scale, isa), (number * BLOCK, |at, number| numbers[at] = number as u16));
            touching.fill(0);
            block.sure().for_each(|at| flip(touching, numbers[at]));
            block.each_touching(|at| flip(touching, numbers[at]));
        });
    }

    /// Finds out which candidates are neighbours, bodies having used up so much of a margin.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (used_of_margin, isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        // What was tested in the last frame may have changed then, and is tested once more.
        let band = last_band(used_of_margin);
        let last_band = core::mem::replace(&mut self.band, band).max(band);
        let Self { blocks, count, starts, filtered, .. } = self;
        let (blocks, sets) = (&mut blocks[..*count], candidates.meetings[0]);
        workers.fill_blocks("sift", blocks, 1, |number, rows| {
            let Rows { block, numbers, touching, .. } = &mut rows[0];
            block.sift((test, sets), (last_band, isa), |at, pair| {
                let shift = candidates.shift_now(test, sets, number * BLOCK + usize::from(numbers[at]));
                test.touches(sets, shift, pair)
            });
            block.begun().iter().chain(block.ended()).for_each(|&at| flip(touching, numbers[usize::from(at)]));
        });
        *filtered = test.drops_some();
        if *filtered {
            workers.run_callers(test.asks_callers(), || {
                workers.fill_blocks("filter", blocks, 1, |number, block| {
                    filter_block(candidates, test, number, &mut block[0]);
                });
            });
        }
        resize_with_headroom(starts, blocks.len() + 1);
        let mut end = 0;
        starts[0] = 0;
        for (slot, block) in starts[1..].iter_mut().zip(&*blocks) {
            end += count_of(if *filtered { &block.passing } else { &block.touching });
            *slot = end;
        }
    }

    /// Fills lists with the neighbours, and with what is known of them.
    pub(super) fn list<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (lists, isa): (&mut NeighborLists, Isa),
        workers: Workers<'_>,
    ) {
        let (pairs, offsets) = (candidates.pairs.pairs(), candidates.rows.offsets());
        let (ends, neighbors) = lists.room_for::<D>(candidates.rows.len(), self.count());
        let count = neighbors.len();
        workers.fill_parts("rows", &self.starts, (neighbors, &mut vec![(); count]), |number, out, _| {
            let neighbors = &candidates.rows.neighbors()[range_of(number, pairs.len())];
            run(isa, Chosen { neighbors, bits: self.bits(number), out });
        });
        workers.fill_blocks("row ends", ends, ROWS, |first, ends| {
            let mut end = self.before(offsets[first]);
            for (slot, row) in ends.iter_mut().zip(offsets[first..].windows(2)) {
                end += self.count_in(row[0]..row[1]);
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

    /// Which candidates of a block are pairs.
    fn bits(&self, block: usize) -> &Bits {
        let block = &self.blocks[block];
        if self.filtered { &block.passing } else { &block.touching }
    }

    /// Calls `visit` with the number within a block, the sets and the candidate of each pair.
    fn each_of<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        block: usize,
        visit: &mut dyn FnMut(usize, [u32; 2], usize),
    ) {
        let (mut number, bits) = (0, self.bits(block));
        candidates.each_meeting(range_of(block, candidates.pairs.pairs().len()), |range, sets| {
            for at in range {
                if bits[at % BLOCK / WORD] >> (at % WORD) & 1 == 1 {
                    visit(number, sets, at);
                    number += 1;
                }
            }
        });
    }

    /// How many pairs are among some candidates.
    fn count_in(&self, range: Range<usize>) -> usize {
        let (mut at, mut count) = (range.start, 0);
        while at < range.end {
            let len = (WORD - at % WORD).min(range.end - at);
            let word = self.bits(at / BLOCK)[at % BLOCK / WORD] >> (at % WORD);
            count += (word << (WORD - len)).count_ones() as usize;
            at += len;
        }
        count
    }

    /// How many pairs are among the candidates before one.
    fn before(&self, candidate: usize) -> usize {
        let block = candidate / BLOCK;
        if block + 1 >= self.starts.len() {
            return self.count();
        }
        self.starts[block] + self.count_in(block * BLOCK..candidate)
    }
}

fn count_of(bits: &Bits) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}

/// Notes that a candidate of a block touches if it did not, and the other way round.
#[inline(always)]
fn flip(touching: &mut Bits, number: u16) {
    let number = usize::from(number);
    touching[number / WORD % (BLOCK / WORD)] ^= 1 << (number % WORD);
}

/// Writes the neighbours of a block that bits choose.
struct Chosen<'a> {
    neighbors: &'a [u32],
    bits: &'a Bits,
    out: &'a mut [u32],
}

impl LaneWork for Chosen<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { neighbors, bits, out } = self;
        let mut len = 0;
        let (sixteens, rest) = neighbors.as_chunks::<LANES>();
        for (number, sixteen) in sixteens.iter().enumerate() {
            let mask = (bits[number / (WORD / LANES)] >> (number % (WORD / LANES) * LANES)) as u16;
            if len + LANES <= out.len() {
                L::compress_ids(sixteen, mask, sixteen_mut(out, len));
            } else {
                each_of_mask(mask, |lane, number| out[len + number] = sixteen[lane]);
            }
            len += mask.count_ones() as usize;
        }
        for (at, &neighbor) in (neighbors.len() - rest.len()..).zip(rest) {
            if bits[at / WORD] >> (at % WORD) & 1 == 1 {
                out[len] = neighbor;
                len += 1;
            }
        }
    }
}

/// Calls `visit` with each lane of a mask, and its number among them.
#[inline(always)]
fn each_of_mask(mask: u16, mut visit: impl FnMut(usize, usize)) {
    let (mut mask, mut number) = (mask, 0);
    while mask != 0 {
        visit(mask.trailing_zeros() as usize, number);
        mask &= mask - 1;
        number += 1;
    }
}

/// Notes which candidates of a block touch and pass.
fn filter_block<const D: usize>(candidates: &Candidates<D>, test: &Test<'_, D>, number: usize, rows: &mut Rows) {
    let (pairs, Rows { touching, passing, .. }) = (candidates.pairs.pairs(), rows);
    passing.fill(0);
    candidates.each_meeting(range_of(number, pairs.len()), |range, sets| {
        for at in range {
            let (word, bit) = (at % BLOCK / WORD, at % WORD);
            let passes = touching[word] >> bit & 1 == 1 && test.admits(sets, pairs[at]);
            passing[word] |= u64::from(passes) << bit;
        }
    });
}
