//! Which candidates of rows are neighbours now, and their rows.
//!
//! A pair is tested once, where bodies that are tested together lie together, and noted in the rows of both bodies when it begins to touch, or
//! ends: few do from frame to frame.

use core::sync::atomic::{AtomicU64, Ordering};

use jostle_core::isa::Work;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run, sixteen_mut};

use crate::coherent::bands::{BLOCK, WORD, last_band, range_of, scale_of};
use crate::coherent::block::{Block, more_blocks};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::rows::CandidateRows;
use crate::neighbors::NeighborLists;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// Words of a part of the candidates, which one task tests or lists.
const WORDS: usize = BLOCK / WORD;

/// Changes are asked for so many ahead.
const AHEAD: usize = 12;

/// Pairs of candidates, and the number of each among those that were listed one after the other.
#[derive(Debug, Clone)]
struct Pairs {
    block: Block,
    numbers: [u16; BLOCK],
}

impl Default for Pairs {
    fn default() -> Self {
        Self { block: Block::default(), numbers: [0; BLOCK] }
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct RowSieve {
    blocks: Vec<Pairs>,
    /// How many blocks there are of those.
    count: usize,
    /// A bit for each candidate, row after row: it touches; and, where layers or the caller may drop some, it passes, too. None is set of
    /// those behind the last.
    touching: Vec<AtomicU64>,
    passing: Vec<AtomicU64>,
    /// How many neighbours a part has before each word.
    before: Vec<u16>,
    /// Where the neighbours of each part begin, and their number at the end.
    starts: Vec<usize>,
    /// The last band that has been tested.
    band: usize,
    /// Whether neighbours are those that pass.
    filtered: bool,
}

impl RowSieve {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Pairs>()
            + (self.touching.capacity() + self.passing.capacity()) * size_of::<AtomicU64>()
            + self.before.capacity() * size_of::<u16>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// How many candidates are neighbours.
    pub(super) fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Sorts new candidates by how far bodies must move before it can change whether they touch, if that lasts at all.
    pub(super) fn sort<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (margin, isa): (f64, Isa),
        workers: Workers<'_>,
    ) {
        self.band = 0;
        let parts = candidates.rows.len().div_ceil(BLOCK);
        // One more word, for a row that begins behind the last candidate.
        more_words(&mut self.touching, parts * WORDS + 1);
        resize_with_headroom(&mut self.before, parts * WORDS + 1);
        resize_with_headroom(&mut self.starts, parts + 1);
        if !candidates.rows.lasts() {
            return;
        }
        self.count = candidates.pairs.pairs().len().div_ceil(BLOCK);
        more_blocks(&mut self.blocks, self.count);
        let (blocks, scale) = (&mut self.blocks[..self.count], scale_of(margin));
        workers.fill_blocks("no neighbors yet", &mut self.touching, BLOCK, |_, words| {
            words.iter_mut().for_each(|word| *word.get_mut() = 0);
        });
        let (touching, rows, alone) = (&self.touching, &candidates.rows, workers.count() == 1);
        workers.fill_blocks("bands", blocks, 1, |number, pairs| {
            let (Pairs { block, numbers }, first) = (&mut pairs[0], number * BLOCK);
            block.sort(candidates, test, (scale, isa), (first, numbers));
            let mut touches = |at: usize| {
                rows.each_place(first + usize::from(numbers[at]), |place| flip(touching, place, alone));
            };
            block.sure().for_each(&mut touches);
            block.each_touching(touches);
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
        if candidates.rows.lasts() {
            self.test_some(candidates, test, (last_band(used_of_margin), isa), workers);
        } else {
            self.test_all(candidates, test, workers);
        }
        self.filtered = test.drops_some();
        if self.filtered {
            self.filter(candidates, test, workers);
        }
        let Self { touching, passing, before, starts, filtered, .. } = self;
        let bits = &(if *filtered { passing } else { touching })[..before.len()];
        workers
            .fill_blocks("neighbors", before, WORDS, |first, before| isa.run(Count { bits: &bits[first..], before }));
        starts[0] = 0;
        for part in 0..starts.len() - 1 {
            let last = part * WORDS + WORDS - 1;
            starts[part + 1] = starts[part] + usize::from(before[last]) + ones(&bits[last]);
        }
    }

    /// Tests all candidates, as they stand in their rows.
    fn test_all<const D: usize>(&mut self, candidates: &Candidates<D>, test: &Test<'_, D>, workers: Workers<'_>) {
        let (rows, words, sets) = (&candidates.rows, self.before.len(), candidates.meetings[0]);
        workers.fill_blocks("touching", &mut self.touching[..words], WORDS, |first, words| {
            words.iter_mut().for_each(|word| *word.get_mut() = 0);
            rows.each(range_of(first / WORDS, rows.len()), |at, pair| {
                let touches = test.touches(sets, candidates.shift_now(test, sets, (at, pair)), pair);
                *words[at % BLOCK / WORD].get_mut() |= u64::from(touches) << (at % WORD);
            });
        });
    }

    /// Tests pairs up to this band, and notes in rows what has changed.
    fn test_some<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (band, isa): (usize, Isa),
        workers: Workers<'_>,
    ) {
        // What was tested in the last frame may have changed then, and is tested once more.
        let last_band = core::mem::replace(&mut self.band, band).max(band);
        let Self { blocks, count, touching, .. } = self;
        let alone = workers.count() == 1;
        let (sets, rows) = (candidates.meetings[0], &candidates.rows);
        workers.fill_blocks("sift", &mut blocks[..*count], 1, |number, pairs| {
            let (Pairs { block, numbers }, first) = (&mut pairs[0], number * BLOCK);
            block.sift((test, sets), (last_band, isa), |pair| test.touches(sets, [0; D], pair));
            let pair = |at: u16| first + usize::from(numbers[usize::from(at)]);
            for changed in [block.begun(), block.ended()] {
                for (done, &at) in changed.iter().enumerate() {
                    if let Some(&far) = changed.get(done + 2 * AHEAD) {
                        prefetch(&numbers[usize::from(far)]);
                    }
                    if let Some(&near) = changed.get(done + AHEAD) {
                        rows.prefetch(pair(near));
                    }
                    rows.each_place(pair(at), |place| flip(touching, place, alone));
                }
            }
        });
    }

    /// Finds out which neighbours pass, too.
    fn filter<const D: usize>(&mut self, candidates: &Candidates<D>, test: &Test<'_, D>, workers: Workers<'_>) {
        let words = self.before.len();
        more_words(&mut self.passing, words);
        let (touching, sets, rows) = (&self.touching, candidates.meetings[0], &candidates.rows);
        workers.run_callers(test.asks_callers(), || {
            workers.fill_blocks("filter", &mut self.passing[..words], WORDS, |first, passing| {
                passing.iter_mut().for_each(|word| *word.get_mut() = 0);
                each_set(rows, first / WORDS, &touching[..words], &mut |at, pair| {
                    *passing[at % BLOCK / WORD].get_mut() |= u64::from(test.admits(sets, pair)) << (at % WORD);
                });
            });
        });
    }

    /// Fills lists with the neighbours, and with what is known of them.
    pub(super) fn list<const D: usize>(
        &self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (lists, isa): (&mut NeighborLists, Isa),
        workers: Workers<'_>,
    ) {
        let rows = &candidates.rows;
        let (ends, neighbors) = lists.room_for::<D>(rows.lists.len(), self.count());
        let (count, bits) = (neighbors.len(), self.bits());
        workers.fill_parts("rows", &self.starts, (neighbors, &mut vec![(); count]), |part, out, _| {
            let neighbors = &rows.lists.neighbors()[range_of(part, rows.len())];
            run(isa, Chosen { neighbors, bits: &bits[part * WORDS..][..WORDS], out });
        });
        workers.fill_blocks("row ends", ends, ROWS, |first, ends| {
            let offsets = &rows.lists.offsets()[first + 1..];
            isa.run(Ends { offsets, bits, before: &self.before, starts: &self.starts, ends });
        });
        if lists.has_extras() {
            let sets = candidates.meetings[0];
            lists.measure_parts::<D>(&self.starts, workers, |part, visit| {
                let mut number = 0;
                each_set(rows, part, bits, &mut |at, pair| {
                    let shift = candidates.shift_now(test, sets, (at, pair));
                    visit(number, shift, test.apart(sets, shift, pair));
                    number += 1;
                });
            });
        }
    }

    /// Which candidates are neighbours.
    fn bits(&self) -> &[AtomicU64] {
        &(if self.filtered { &self.passing } else { &self.touching })[..self.before.len()]
    }
}

fn more_words(words: &mut Vec<AtomicU64>, len: usize) {
    if words.len() < len {
        words.resize_with(with_headroom(len), AtomicU64::default);
    }
}

#[inline(always)]
fn ones(word: &AtomicU64) -> usize {
    word.load(Ordering::Relaxed).count_ones() as usize
}

/// Notes that a candidate touches if it did not, and the other way round; whether no other thread notes any.
#[inline(always)]
fn flip(touching: &[AtomicU64], place: usize, alone: bool) {
    let (word, bit) = (&touching[place / WORD], 1 << (place % WORD));
    if alone {
        word.store(word.load(Ordering::Relaxed) ^ bit, Ordering::Relaxed);
    } else {
        word.fetch_xor(bit, Ordering::Relaxed);
    }
}

/// Calls `visit` with each candidate of a part whose bit is set, and its bodies.
fn each_set(rows: &CandidateRows, part: usize, bits: &[AtomicU64], visit: &mut dyn FnMut(usize, [u32; 2])) {
    rows.each(range_of(part, rows.len()), |at, pair| {
        if bits[at / WORD].load(Ordering::Relaxed) >> (at % WORD) & 1 == 1 {
            visit(at, pair);
        }
    });
}

/// Counts the bits before each word of a part.
struct Count<'a> {
    bits: &'a [AtomicU64],
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
            count += ones(word) as u16;
        }
    }
}

/// Finds out where rows end among the neighbours.
struct Ends<'a> {
    /// Where they end among the candidates.
    offsets: &'a [usize],
    bits: &'a [AtomicU64],
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
            let of_word = self.bits[word].load(Ordering::Relaxed) & ((1 << bit) - 1);
            *slot = self.starts[offset / BLOCK] + usize::from(self.before[word]) + of_word.count_ones() as usize;
        }
    }
}

/// Writes the neighbours of a part that bits choose.
struct Chosen<'a> {
    neighbors: &'a [u32],
    bits: &'a [AtomicU64],
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
            let word = bits[number / (WORD / LANES)].load(Ordering::Relaxed);
            let mask = (word >> (number % (WORD / LANES) * LANES)) as u16;
            if len + LANES <= out.len() {
                L::compress_ids(sixteen, mask, sixteen_mut(out, len));
            } else {
                each_of_mask(mask, |lane, number| out[len + number] = sixteen[lane]);
            }
            len += mask.count_ones() as usize;
        }
        for (at, &neighbor) in (neighbors.len() - rest.len()..).zip(rest) {
            if bits[at / WORD].load(Ordering::Relaxed) >> (at % WORD) & 1 == 1 {
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
