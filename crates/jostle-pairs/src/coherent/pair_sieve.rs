//! Which candidates are pairs now, and their list.
//!
//! In open space, candidates are put in order of bands: those that surely touch, then those for which bodies must move far, then the
//! others. So what is not tested yet stands at the front of the list as it stood when it was made, and is neither read nor written;
//! pairs that are tested follow. A band that has been tested once is tested until candidates are listed anew, since its place in the
//! list is taken.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::{reserve, resize_with_headroom, with_headroom};

use crate::coherent::bands::{BAND, BANDS, BLOCK, TOUCHES, last_band, make_room, range_of, scale_of, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::packed::Packed;
use crate::join::hits::PairList;
use crate::pairs::listed::Listed;

/// Ranks of candidates: 0 for those that surely touch, `BANDS - b` for band b, and one more for those that surely do not.
const RANKS: usize = BANDS + 2;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct PairSieve {
    /// What is known of each candidate while they are sorted, how many of each rank a block has, the candidates of each block by rank,
    /// and where those of each rank and block go.
    known: Vec<AtomicU8>,
    blocks: Vec<[u32; RANKS]>,
    sorted: Vec<[u32; 2]>,
    places: Vec<usize>,
    /// Where the candidates of each rank begin, and their pairs.
    begins: [Begin; RANKS],
    /// The first rank that has been tested.
    rank: usize,
    /// The candidates, by where their bodies stand in an order in which they are near each other, if they stand so.
    near: Vec<[u32; 2]>,
    /// Of each block of candidates that are tested, the numbers, within it, of those that are pairs, then room.
    kept: Vec<u16>,
    /// One for each block, and more.
    counts: Vec<AtomicU32>,
    /// Where the pairs of each block begin, and their number at the end.
    starts: Vec<usize>,
}

/// Numbers of candidates and of pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Begin {
    candidate: usize,
    pair: usize,
}

impl PairSieve {
    pub(super) fn bytes(&self) -> usize {
        self.known.capacity()
            + self.blocks.capacity() * size_of::<[u32; RANKS]>()
            + (self.sorted.capacity() + self.near.capacity()) * size_of::<[u32; 2]>()
            + (self.places.capacity() + self.starts.capacity()) * size_of::<usize>()
            + self.kept.capacity() * size_of::<u16>()
            + self.counts.capacity() * size_of::<AtomicU32>()
    }

    /// Puts new candidates in order of bands, if it may last how they touch, and they are all of the same two sets.
    pub(super) fn sort<const D: usize>(
        &mut self,
        candidates: &mut Candidates<D>,
        test: &Test<'_, D>,
        margin: f64,
        workers: Workers<'_>,
    ) {
        (self.begins, self.rank) = ([Begin::default(); RANKS], 0);
        if candidates.meetings.len() != 1 || test.exact.cell.is_some() || test.moves() {
            return;
        }
        let pairs = candidates.pairs.pairs();
        let count = pairs.len().div_ceil(BLOCK);
        make_room(&mut self.known, pairs.len());
        resize_with_headroom(&mut self.blocks, count, [0; RANKS]);
        resize_with_headroom(&mut self.sorted, pairs.len(), [0; 2]);
        let Self { known, blocks, sorted, places, begins, .. } = self;
        let scale = scale_of(margin);
        workers.fill_blocks("bands", blocks, 1, |number, block| {
            block[0] = [0; RANKS];
            let note = |known| block[0][rank_of(known)] += 1;
            sort_block(candidates, test, (known, scale), number, note);
        });
        workers.fill_blocks("sort", sorted, BLOCK, |first, out| {
            let (mut next, mut end) = ([0; RANKS], 0);
            for (slot, count) in next.iter_mut().zip(&blocks[first / BLOCK]) {
                *slot = end as usize;
                end += count;
            }
            for (known, &pair) in known[first..].iter().zip(&pairs[first..first + out.len()]) {
                let next = &mut next[rank_of(known.load(Ordering::Relaxed))];
                out[*next] = pair;
                *next += 1;
            }
        });
        resize_with_headroom(places, (RANKS - 1) * count + 1, 0);
        let mut end = 0;
        for rank in 0..RANKS - 1 {
            begins[rank].candidate = end;
            for (slot, block) in places[rank * count..].iter_mut().zip(&*blocks) {
                *slot = end;
                end += block[rank] as usize;
            }
        }
        places[(RANKS - 1) * count] = end;
        candidates.pairs.set_len(end);
        candidates.ends[0] = end;
        let out = (candidates.pairs.pairs_mut(), &mut vec![(); end][..]);
        workers.fill_parts("ranks", places, out, |part, out, _| {
            let (rank, block) = (part / count, part % count);
            let before = blocks[block][..rank].iter().sum::<u32>() as usize;
            out.copy_from_slice(&sorted[block * BLOCK + before..][..out.len()]);
        });
    }

    /// Notes where the bodies of candidates stand in another order, if they do: by id.
    pub(super) fn note_near<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        places: &[u32],
        workers: Workers<'_>,
    ) {
        let pairs = candidates.pairs.pairs();
        resize_with_headroom(&mut self.near, if places.is_empty() { 0 } else { pairs.len() }, [0; 2]);
        workers.fill_blocks("near", &mut self.near, BLOCK, |first, block| {
            let slots = block.iter_mut().zip(&pairs[first..]);
            slots.for_each(|(slot, pair)| *slot = pair.map(|id| places[id as usize]));
        });
    }

    /// Finds out which candidates are pairs, bodies having used up so much of a margin; all of them are tested if they are new, or
    /// where something but the bodies may drop them.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (used_of_margin, new): ([f64; 2], bool),
        workers: Workers<'_>,
    ) {
        let drops = test.drops_some();
        let all = new || drops;
        self.rank = if all { 0 } else { self.rank.min(BANDS - last_band(used_of_margin)) };
        let tested = self.begins[self.rank].candidate;
        let len = candidates.pairs.pairs().len() - tested;
        let blocks = len.div_ceil(BLOCK);
        if self.kept.len() < len {
            resize_with_headroom(&mut self.kept, len, 0);
        }
        if self.counts.len() < blocks {
            self.counts.resize_with(with_headroom(blocks), AtomicU32::default);
            reserve(&mut self.starts, self.counts.len() + 1);
        }
        let (counts, near) = (&self.counts[..blocks], self.near.as_slice());
        workers.run_callers(test.asks_callers(), || {
            workers.fill_blocks("sift", &mut self.kept[..len], BLOCK, |first, block| {
                let count = sift_block(candidates, test, near, tested + first, block);
                counts[first / BLOCK].store(count as u32, Ordering::Relaxed);
            });
        });
        self.starts.clear();
        self.starts.push(0);
        self.starts.extend(counts.iter().scan(0, |end, count| {
            *end += count.load(Ordering::Relaxed) as usize;
            Some(*end)
        }));
        if new && !drops {
            for rank in 0..RANKS {
                self.begins[rank].pair = self.before(self.begins[rank].candidate);
            }
        }
    }

    /// Lists the pairs in the order of the candidates, with what is known of them; how many there are.
    pub(super) fn list<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        (list, listed): (&mut PairList, &mut Listed<D>),
        workers: Workers<'_>,
    ) -> usize {
        let Begin { candidate: tested, pair: first } = self.begins[self.rank];
        let found = self.starts.last().copied().unwrap_or_default();
        let count = first + found;
        list.set_len(count);
        let pairs = candidates.pairs.pairs();
        let (repeats, moves) = (test.exact.cell.is_some(), test.moves());
        let ends = candidates.ends.iter().map(|&end| self.before(end));
        let (shifts, times) =
            listed.room_for((count, &candidates.meetings), ends, (repeats, test.exact.images.unique, moves));
        let out = (&mut list.pairs_mut()[first..], &mut vec![(); found][..]);
        workers.fill_parts("list", &self.starts, out, |block, out, _| {
            for (slot, &at) in out.iter_mut().zip(self.kept_of(block)) {
                *slot = pairs[tested + block * BLOCK + usize::from(at)];
            }
        });
        // Where space repeats or bodies move, all candidates are tested.
        let shift_of = |sets, at| candidates.shift_now(test, sets, at);
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

    /// Notes that the list is that of new candidates, of which band 0 alone may change at once.
    pub(super) fn begin(&mut self, test_drops_some: bool) {
        self.rank = if test_drops_some { 0 } else { BANDS };
    }

    /// The numbers, within a block of candidates, of those that are pairs.
    fn kept_of(&self, block: usize) -> &[u16] {
        &self.kept[block * BLOCK..][..self.starts[block + 1] - self.starts[block]]
    }

    /// Calls `visit` with the number within a block, the sets and the candidate of each pair, where all candidates are tested.
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

    /// How many pairs the list has before a candidate that is tested, or is the last.
    fn before(&self, candidate: usize) -> usize {
        let Begin { candidate: tested, pair: first } = self.begins[self.rank];
        let candidate = candidate - tested;
        let block = candidate / BLOCK;
        if block + 1 >= self.starts.len() {
            return first + self.starts.last().copied().unwrap_or_default();
        }
        let of_block = self.kept_of(block).partition_point(|&at| block * BLOCK + usize::from(at) < candidate);
        first + self.starts[block] + of_block
    }
}

/// The rank of a candidate of which so much is known.
fn rank_of(known: u8) -> usize {
    let (touches, band) = (known >> TOUCHES, usize::from(known & BAND));
    // Without a branch: who touches nobody foretells.
    (BANDS - band.min(BANDS)) + (usize::from(band >= BANDS) & usize::from(touches == 0)) * (RANKS - 1)
}

/// Writes the numbers of those candidates from number `first` on that are pairs to the front of `out`; how many there are.
fn sift_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    near: &[[u32; 2]],
    first: usize,
    out: &mut [u16],
) -> usize {
    let mut count = 0;
    candidates.each_meeting(first..first + out.len(), |range, sets| {
        let begin = count;
        let pairs = &candidates.pairs.pairs()[range.clone()];
        if let Some(near) = near.get(range.clone()) {
            count = sift_direct::<D>([test.ranked; 2], near, (range.start - first) as u16, out, count);
        } else if let Some(bodies) = test.direct_in_open_space(sets) {
            count = sift_direct::<D>(bodies, pairs, (range.start - first) as u16, out, count);
        } else {
            for (at, &pair) in range.clone().zip(pairs) {
                out[count] = (at - first) as u16;
                count += usize::from(test.touches(sets, candidates.shift_now(test, sets, at), pair));
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
