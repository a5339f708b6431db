//! Which candidates of rows are neighbours now, block by block, and their rows.

use core::ops::Range;

use jostle_core::isa::Work;
use jostle_core::scratch::{fill_with_headroom, resize_with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run, sixteen_mut};

use crate::coherent::bands::{BANDS, BLOCK, WORD, last_band, range_of, scale_of, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::packed::{Fours, Packed, are_far, prefetch_bodies};
use crate::neighbors::NeighborLists;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// Bodies of doubts are asked for so many fours ahead.
const AHEAD: usize = 8;

/// A bit for each candidate of a block.
type Bits = [u64; BLOCK / WORD];

/// A candidate that is to be tested sooner or later.
#[derive(Debug, Clone, Copy, Default)]
struct Doubt {
    /// Its number within its block.
    candidate: u32,
    pair: [u32; 2],
}

/// What is known of a block of candidates.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// How many of its doubts there are up to each band.
    ends: [u32; BANDS],
    /// Those that touch, and, where layers or the caller may drop some, those that pass, too.
    touching: Bits,
    passing: Bits,
}

impl Default for Block {
    fn default() -> Self {
        Self { ends: [0; BANDS], touching: [0; BLOCK / WORD], passing: [0; BLOCK / WORD] }
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct RowSieve {
    /// While they are sorted, the class of each candidate.
    classes: Vec<u8>,
    blocks: Vec<Block>,
    /// Of each block, by band; behind them those that are never tested.
    doubts: Vec<Doubt>,
    /// Where the pairs of each block begin, and their number at the end.
    starts: Vec<usize>,
    /// The last band that has been tested.
    band: usize,
    /// Whether pairs are those that pass.
    filtered: bool,
}

impl RowSieve {
    pub(super) fn bytes(&self) -> usize {
        self.classes.capacity()
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
        let Self { classes, blocks, doubts, band, .. } = self;
        *band = 0;
        fill_with_headroom(classes, pairs.len(), 0);
        fill_with_headroom(blocks, pairs.len().div_ceil(BLOCK), Block::default());
        fill_with_headroom(doubts, pairs.len(), Doubt::default());
        let scale = scale_of(margin);
        workers.fill_blocks("bands", classes, BLOCK, |first, classes| {
            let mut done = 0;
            sort_block(candidates, test, (scale, isa), first..first + classes.len(), |some| {
                classes[done..][..some.len()].copy_from_slice(some);
                done += some.len();
            });
        });
        let classes = classes.as_slice();
        workers.fill_blocks("counts", blocks, 1, |number, block| {
            let Block { ends, touching, .. } = &mut block[0];
            let (mut of_band, classes) = ([0; BANDS + 1], &classes[range_of(number, classes.len())]);
            touching.fill(0);
            for (word, classes) in touching.iter_mut().zip(classes.chunks(WORD)) {
                for (bit, &class) in classes.iter().enumerate() {
                    *word |= u64::from(class % 2 == 0) << bit;
                    of_band[usize::from(class / 2).min(BANDS)] += 1;
                }
            }
            let mut end = 0;
            for (slot, count) in ends.iter_mut().zip(of_band) {
                end += count;
                *slot = end;
            }
        });
        workers.fill_blocks("doubts", doubts, BLOCK, |first, out| {
            let mut next = [0; BANDS + 1];
            next[1..].copy_from_slice(&blocks[first / BLOCK].ends);
            for ((candidate, class), &pair) in (0..).zip(&classes[first..]).zip(&pairs[first..first + out.len()]) {
                let next = &mut next[usize::from(class / 2).min(BANDS)];
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
        (used_of_margin, isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        let Self { blocks, doubts, starts, filtered, .. } = self;
        // What was tested in the last frame may have changed then, and is tested once more.
        let band = last_band(used_of_margin);
        let last_band = core::mem::replace(&mut self.band, band).max(band);
        workers.fill_blocks("sift", blocks, 1, |number, block| {
            let doubts = &doubts[number * BLOCK..][..block[0].ends[last_band] as usize];
            sift_block(candidates, test, (number * BLOCK, doubts), &mut block[0].touching, isa);
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

/// Notes whether a candidate of a block touches.
#[inline(always)]
fn note(touching: &mut Bits, candidate: u32, touches: bool) {
    let (word, bit) = (&mut touching[candidate as usize / WORD % (BLOCK / WORD)], candidate as usize % WORD);
    *word = *word & !(1 << bit) | u64::from(touches) << bit;
}

/// Tests some doubts of the block that begins with candidate `first`, and notes which candidates touch.
fn sift_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    (first, doubts): (usize, &[Doubt]),
    touching: &mut Bits,
    isa: Isa,
) {
    if let &[sets] = candidates.meetings.as_slice()
        && let Some(bodies) = test.direct_in_open_space(sets)
    {
        isa.run(Sift::<D> { bodies, doubts, touching });
        return;
    }
    let (mut range, mut sets) = (0..0, [0; 2]);
    for &Doubt { candidate, pair } in doubts {
        let at = first + candidate as usize;
        if !range.contains(&at) {
            (range, sets) = candidates.meeting_of(at);
        }
        note(touching, candidate, test.touches(sets, candidates.shift_now(test, sets, at), pair));
    }
}

/// Doubts of which nothing but the bodies tells whether they touch.
struct Sift<'a, const D: usize> {
    bodies: [&'a [Packed]; 2],
    doubts: &'a [Doubt],
    touching: &'a mut Bits,
}

impl<const D: usize> Work for Sift<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { bodies, doubts, touching } = self;
        let (fours, rest) = doubts.as_chunks::<4>();
        let mut asked = if are_far(&bodies) { fours.iter() } else { [].iter() };
        asked.by_ref().take(AHEAD).for_each(|_| ());
        for four in fours {
            prefetch_bodies(bodies, asked.next().into_iter().flatten().map(|doubt| doubt.pair));
            let pairs = [four[0].pair, four[1].pair, four[2].pair, four[3].pair];
            let [distance2, radii] = Fours::of(bodies, &pairs).measure::<D>(0);
            let touches = distance2.simd_le(radii * radii).to_bitmask();
            for lane in 0..4 {
                note(touching, four[lane].candidate, touches >> lane & 1 == 1);
            }
        }
        for &Doubt { candidate, pair: [a, b] } in rest {
            note(touching, candidate, bodies[0][a as usize].touches::<D>(&bodies[1][b as usize], [0.0; D]));
        }
    }
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
fn filter_block<const D: usize>(candidates: &Candidates<D>, test: &Test<'_, D>, number: usize, block: &mut Block) {
    let (pairs, Block { touching, passing, .. }) = (candidates.pairs.pairs(), block);
    passing.fill(0);
    candidates.each_meeting(range_of(number, pairs.len()), |range, sets| {
        for at in range {
            let (word, bit) = (at % BLOCK / WORD, at % WORD);
            let passes = touching[word] >> bit & 1 == 1 && test.admits(sets, pairs[at]);
            passing[word] |= u64::from(passes) << bit;
        }
    });
}
