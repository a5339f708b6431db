//! Rows without the neighbours that a function of the caller's drops.

use jostle_core::isa::Work;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run, sixteen_mut};

use crate::coherent::bands::{BLOCK, WORD, range_of};
use crate::neighbors::NeighborLists;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// Words of a part of the neighbours; one task tests or lists a part.
const WORDS: usize = BLOCK / WORD;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct RowSieve {
    /// A bit for each neighbour, row after row: whether it stays. No bit behind the last neighbour is set.
    stays: Vec<u64>,
    /// How many neighbours of a part stay before each word.
    before: Vec<u16>,
    /// Where the staying neighbours of each part begin, and their number at the end.
    starts: Vec<usize>,
}

impl RowSieve {
    pub(super) fn bytes(&self) -> usize {
        self.stays.capacity() * size_of::<u64>()
            + self.before.capacity() * size_of::<u16>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// Finds out which neighbours stay: `stays` judges the body of a row and its neighbour.
    pub(super) fn sift(
        &mut self,
        rows: &NeighborLists,
        (isa, workers): (Isa, Workers<'_>),
        stays: impl Fn([u32; 2]) -> bool + Sync + Send,
    ) {
        let parts = rows.neighbors().len().div_ceil(BLOCK);
        // One more word, for a row that begins behind the last neighbour.
        resize_with_headroom(&mut self.stays, parts * WORDS + 1);
        resize_with_headroom(&mut self.before, parts * WORDS + 1);
        resize_with_headroom(&mut self.starts, parts + 1);
        workers.fill_blocks("sift", &mut self.stays, WORDS, |first, words| {
            words.fill(0);
            each(rows, first / WORDS, |at, pair| {
                words[at % BLOCK / WORD] |= u64::from(stays(pair)) << (at % WORD);
            });
        });
        let Self { stays, before, starts } = self;
        workers.fill_blocks("neighbors", before, WORDS, |first, before| {
            isa.run(Count { bits: &stays[first..], before });
        });
        starts[0] = 0;
        for part in 0..parts {
            let last = part * WORDS + WORDS - 1;
            starts[part + 1] = starts[part] + usize::from(before[last]) + stays[last].count_ones() as usize;
        }
    }

    /// Fills lists with the neighbours that stay.
    pub(super) fn list(
        &self,
        rows: &NeighborLists,
        (lists, axes): (&mut NeighborLists, usize),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Self { stays, before, starts } = self;
        let (ends, neighbors) = lists.room_for(rows.len(), starts[starts.len() - 1], axes);
        let count = neighbors.len();
        workers.fill_parts("rows", starts, (neighbors, &mut vec![(); count]), |part, out, _| {
            let neighbors = &rows.neighbors()[range_of(part, rows.neighbors().len())];
            run(isa, Chosen { neighbors, bits: &stays[part * WORDS..][..WORDS], out });
        });
        workers.fill_blocks("row ends", ends, ROWS, |first, ends| {
            isa.run(Ends { offsets: &rows.offsets()[first + 1..], bits: stays, before, starts, ends });
        });
    }
}

/// Calls `visit` with each neighbour of a part: with its number, and with the body of its row and the neighbour.
#[inline(always)]
fn each(rows: &NeighborLists, part: usize, mut visit: impl FnMut(usize, [u32; 2])) {
    let (offsets, neighbors) = (rows.offsets(), rows.neighbors());
    let range = range_of(part, neighbors.len());
    let mut id = offsets.partition_point(|&offset| offset <= range.start).saturating_sub(1);
    let mut at = range.start;
    while at < range.end {
        let end = offsets[id + 1].min(range.end);
        (at..end).zip(&neighbors[at..end]).for_each(|(at, &neighbor)| visit(at, [id as u32, neighbor]));
        (id, at) = (id + 1, end);
    }
}

/// Counts the bits before each word of a part.
struct Count<'a> {
    bits: &'a [u64],
    before: &'a mut [u16],
}

impl Work for Count<'_> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let mut count = 0;
        for (slot, word) in self.before.iter_mut().zip(self.bits) {
            *slot = count;
            count += word.count_ones() as u16;
        }
    }
}

/// Finds out where rows end among the neighbours that stay.
struct Ends<'a> {
    /// Where the rows end among all neighbours.
    offsets: &'a [usize],
    bits: &'a [u64],
    before: &'a [u16],
    starts: &'a [usize],
    ends: &'a mut [usize],
}

impl Work for Ends<'_> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        for (slot, &offset) in self.ends.iter_mut().zip(self.offsets) {
            let (word, bit) = (offset / WORD, offset % WORD);
            let of_word = self.bits[word] & ((1 << bit) - 1);
            *slot = self.starts[offset / BLOCK] + usize::from(self.before[word]) + of_word.count_ones() as usize;
        }
    }
}

/// Writes the neighbours of a part that bits choose.
struct Chosen<'a> {
    neighbors: &'a [u32],
    bits: &'a [u64],
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

/// Calls `visit` with each lane that a mask sets, and its number among these lanes.
#[inline(always)]
fn each_of_mask(mask: u16, mut visit: impl FnMut(usize, usize)) {
    let (mut mask, mut number) = (mask, 0);
    while mask != 0 {
        visit(mask.trailing_zeros() as usize, number);
        mask &= mask - 1;
        number += 1;
    }
}
