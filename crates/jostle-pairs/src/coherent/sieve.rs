//! Which candidates are pairs now, block by block, and their list.
//!
//! How far two bodies are from touching, or from not touching any more, tells how far bodies must move before that can change.
//! So candidates are sorted into bands by that, and in each frame those bands are tested that bodies have moved far enough for: right
//! after a search few are, and most of the pairs of a dense scene never.

use core::ops::Range;
use core::sync::atomic::{AtomicU8, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::resize_with_headroom;

use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use crate::pairs::listed::Listed;

/// Candidates that one task tests.
const BLOCK: usize = 1 << 13;

/// Rows whose ends one task finds.
const ROWS: usize = 1 << 13;

/// Candidates whose bands are found one after the other, before they are noted.
const AT_A_TIME: usize = 64;

/// Bands of candidates that are tested sooner or later while the margin lasts, of the same width each.
const BANDS: usize = 16;

/// What is taken off how far bodies must move, relative to their distance and to the sum of their radii, for rounding: 2^-18. The
/// predicate rounds both by a few times 2^-24, when candidates are sorted and when they are tested, and so does what is computed here.
const ROUNDING: f32 = 1.0 / 262_144.0;

/// As much, for squares that are denormal or vanish: 2^-70.
const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// A bit of what is known of a candidate: it touches.
const TOUCHES: u32 = 7;

/// It touches and is not dropped by layers, nor by the caller; looked at where there are such.
const PASSES: u32 = 6;

/// The other bits: its band.
const BAND: u8 = (1 << PASSES) - 1;

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
pub(super) struct Sieve {
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

impl Sieve {
    pub(super) fn bytes(&self) -> usize {
        self.known.capacity()
            + self.blocks.capacity() * size_of::<Block>()
            + self.doubts.capacity() * size_of::<Doubt>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// How many candidates are pairs.
    pub(super) fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Sorts new candidates by how far bodies must move before it can change whether they touch.
    pub(super) fn sort<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        margin: f64,
        workers: Workers<'_>,
    ) {
        let pairs = candidates.pairs.pairs();
        if self.known.len() < pairs.len() {
            self.known.reserve_exact(pairs.len() + pairs.len() / 8 - self.known.len());
            self.known.resize_with(self.known.capacity(), AtomicU8::default);
        }
        resize_with_headroom(&mut self.blocks, pairs.len().div_ceil(BLOCK), Block::default());
        let Self { known, blocks, doubts, .. } = self;
        let scale = scale_of(margin);
        workers.fill_blocks("bands", blocks, 1, |number, block| {
            sort_block(candidates, test, (known, scale), number, &mut block[0]);
        });
        resize_with_headroom(doubts, pairs.len(), Doubt::default());
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

    /// Finds out which candidates are pairs, bodies having used up so much of a margin.
    pub(super) fn sift<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        [used, margin]: [f64; 2],
        workers: Workers<'_>,
    ) {
        let Self { known, blocks, doubts, starts, bit } = self;
        let last_band =
            usize::from(band_of((used * (1.0 + f64::from(ROUNDING))) as f32, scale_of(margin))).min(BANDS - 1);
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
        let (repeats, moves) = (test.exact.cell.is_some(), test.moves());
        let ends = candidates.ends.iter().map(|&end| self.before(end));
        let (shifts, times) =
            listed.room_for((count, &candidates.meetings), ends, (repeats, test.exact.images.unique, moves));
        self.write(pairs, list.pairs_mut(), |pair| pair, workers);
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
        self.write(pairs, neighbors, |pair| pair[1], workers);
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

    /// Writes something of each pair, without a branch that depends on which candidates are pairs.
    fn write<T: Send>(
        &self,
        pairs: &[[u32; 2]],
        out: &mut [T],
        of: impl Fn([u32; 2]) -> T + Sync + Send,
        workers: Workers<'_>,
    ) {
        let count = out.len();
        workers.fill_parts("list", &self.starts, (out, &mut vec![(); count]), |block, out, _| {
            let range = range_of(block, pairs.len());
            let mut number = 0;
            for (&pair, known) in pairs[range.clone()].iter().zip(&self.known[range]) {
                let Some(slot) = out.get_mut(number) else { break };
                *slot = of(pair);
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

/// The candidates of a block.
fn range_of(block: usize, candidates: usize) -> Range<usize> {
    block * BLOCK..((block + 1) * BLOCK).min(candidates)
}

/// The band of candidates for which bodies must use up so much of a margin, of which a band is one part in `scale`; [`BANDS`] if
/// that is more than all of it.
#[inline(always)]
fn band_of(used: f32, scale: f32) -> u8 {
    // Of NaN, 0.
    (used * scale).max(0.0).min(BANDS as f32) as i32 as u8
}

/// How many bands are as wide as 1.
fn scale_of(margin: f64) -> f32 {
    (BANDS as f64 / margin) as f32
}

/// What is known of a candidate that touches or not, by how much its bodies must use up before that can change.
#[inline(always)]
fn known_of((touches, slack): (bool, f32), scale: f32) -> u8 {
    u8::from(touches) << TOUCHES | band_of(slack, scale)
}

/// How much two bodies must use up on average, before it can change whether they touch: of their distance and the sum of their
/// radii. What is no number, or below 0, says that it may change at any time.
#[inline(always)]
pub(super) fn slack_of(distance: f32, radii: f32) -> f32 {
    ((distance - radii).abs() - (distance + radii) * ROUNDING - LEAST) * 0.5
}

/// Where parts of so many begin, and their number at the end.
fn scan(starts: &mut Vec<usize>, counts: impl ExactSizeIterator<Item = u32>) {
    resize_with_headroom(starts, counts.len() + 1, 0);
    starts[0] = 0;
    let mut end = 0;
    for (slot, count) in starts[1..].iter_mut().zip(counts) {
        end += count as usize;
        *slot = end;
    }
}

/// Finds out which candidates of a block touch, and their bands.
fn sort_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    (known, scale): (&[AtomicU8], f32),
    number: usize,
    block: &mut Block,
) {
    let (mut touching, mut of_band) = (0, [0; BANDS + 1]);
    let pairs = candidates.pairs.pairs();
    candidates.each_meeting(range_of(number, pairs.len()), |range, sets| {
        let direct = test.direct_in_open_space(sets);
        let mut some = [0; AT_A_TIME];
        for first in range.clone().step_by(AT_A_TIME) {
            let part = first..(first + AT_A_TIME).min(range.end);
            // In loops of their own, of which this one has nothing to wait for.
            if let Some([of_a, of_b]) = direct {
                for (slot, &[a, b]) in some.iter_mut().zip(&pairs[part.clone()]) {
                    *slot = known_of(of_a[a as usize].slack::<D>(&of_b[b as usize], [0.0; D]), scale);
                }
            } else {
                for (slot, at) in some.iter_mut().zip(part.clone()) {
                    *slot = known_of(test.slack(sets, candidates.shift_now(test, sets, at), pairs[at]), scale);
                }
            }
            for (known, &now) in known[part].iter().zip(&some) {
                known.store(now, Ordering::Relaxed);
                touching += u32::from(now >> TOUCHES);
                of_band[usize::from(now & BAND).min(BANDS)] += 1;
            }
        }
    });
    block.touching = touching;
    let mut end = 0;
    for (slot, count) in block.ends.iter_mut().zip(of_band) {
        end += count;
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
        for &Doubt { candidate, pair: [a, b] } in doubts {
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

impl<const D: usize> Candidates<D> {
    /// By how many of each vector the second body of a candidate is moved now to where it was seen.
    #[inline]
    fn shift_now(&self, test: &Test<'_, D>, sets: [u32; 2], at: usize) -> [i32; D] {
        self.shifts.get(at).map_or([0; D], |&shift| test.shift(sets, shift, self.pairs.pairs()[at]))
    }

    /// The candidates of the same two sets as one, and these.
    fn meeting_of(&self, candidate: usize) -> (Range<usize>, [u32; 2]) {
        let meeting = self.ends.partition_point(|&end| end <= candidate);
        let first = meeting.checked_sub(1).map_or(0, |before| self.ends[before]);
        (first..self.ends[meeting], self.meetings[meeting])
    }

    /// Calls `visit` with the candidates of each two sets among some, and the sets.
    fn each_meeting(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, [u32; 2])) {
        let mut at = range.start;
        while at < range.end {
            let (of_meeting, sets) = self.meeting_of(at);
            let end = of_meeting.end.min(range.end);
            visit(at..end, sets);
            at = end;
        }
    }
}
