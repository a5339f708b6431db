//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that surely touch are listed once. Of the others, bands that bodies have moved far enough for are tested in each frame. Of
//! each is kept whether it touched when it was tested last: few change from frame to frame, and those alone are written.

use core::mem::swap;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::isa::Work;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::{BAND, BANDS, TOUCHES, WORD, last_band, scale_of, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::{Places, Test};
use crate::coherent::packed::{Packed, measure4, prefetch_bodies};
use crate::join::hits::PairList;

/// Candidates of a block: the bodies of so many stay in a first-level cache, and of blocks of a quarter of that, processors would not
/// foresee often enough where the next one begins.
const BLOCK: usize = 1 << 13;

/// So many words ahead bodies are asked for.
const AHEAD: usize = 2;

/// No candidate: that of a place which is left.
const NOBODY: u32 = u32::MAX;

/// Numbers that a byte without its bit [`TOUCHES`] may be taken for.
const CLASSES: usize = BAND as usize + 1;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Live {
    blocks: Vec<Block>,
    /// How many blocks there are of those.
    count: usize,
    /// Where in the list the sure pairs of each block begin, then the other pairs of each, and the end.
    starts: Vec<usize>,
    /// Where in the list a candidate stands that touches, block after block.
    slots: Vec<AtomicU32>,
    /// The candidate at each place of the list, behind the sure ones.
    owners: Vec<u32>,
    /// The last band that has been tested.
    band: usize,
    /// Whether candidates are kept here.
    holds: bool,
    /// Whether the list stands in place of the candidates that it was made of, and not where pairs are asked for.
    is_aside: bool,
}

/// Some candidates. What each frame reads lies together.
#[derive(Debug, Clone)]
#[repr(C)]
struct Block {
    /// By band, then those that surely touch; by place where bodies stand so.
    candidates: [[u32; 2]; BLOCK],
    /// How many there are up to each band.
    ends: [usize; BANDS],
    sure: usize,
    /// How many have begun to touch in this frame, and how many have ended.
    changes: [usize; 2],
    /// A bit for each that is in a band: it touches.
    touching: [u64; BLOCK / WORD],
    /// Those that have changed in this frame: the former from the front, the latter from the back.
    changed: [u16; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            candidates: [[0; 2]; BLOCK],
            touching: [0; BLOCK / WORD],
            changed: [0; BLOCK],
            changes: [0; 2],
            ends: [0; BANDS],
            sure: 0,
        }
    }
}

impl Live {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
            + self.starts.capacity() * size_of::<usize>()
            + self.slots.capacity() * size_of::<AtomicU32>()
            + self.owners.capacity() * size_of::<u32>()
    }

    /// Whether a list is kept.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Takes new candidates, if it may last how they touch, and they are all of the same two sets, and lists those that touch: block by
    /// block those that surely do, then block by block and band by band the others.
    pub(super) fn begin<const D: usize>(
        &mut self,
        (candidates, list): (&Candidates<D>, &mut PairList),
        (test, places): (&Test<'_, D>, Places<'_>),
        (margin, isa): (f64, Isa),
        workers: Workers<'_>,
    ) {
        let len = candidates.pairs.pairs().len();
        (self.holds, self.is_aside, self.band) = (false, false, 0);
        if candidates.meetings.len() != 1 || test.exact.cell.is_some() || test.moves() || u32::try_from(len).is_err() {
            return;
        }
        self.holds = true;
        self.count = len.div_ceil(BLOCK);
        if self.blocks.len() < self.count {
            self.blocks.reserve_exact(self.count + self.count / 8 + 1 - self.blocks.len());
            self.blocks.resize_with(self.blocks.capacity(), Block::default);
        }
        if self.slots.len() < self.count * BLOCK {
            self.slots.resize_with(with_headroom(self.count * BLOCK), AtomicU32::default);
        }
        let (blocks, scale) = (&mut self.blocks[..self.count], scale_of(margin));
        workers.fill_blocks("bands", blocks, 1, |number, block| {
            block[0].sort(candidates, test, (scale, isa), number * BLOCK);
        });
        self.list(list, places, workers);
    }

    /// Lists new candidates that touch.
    fn list(&mut self, list: &mut PairList, places: Places<'_>, workers: Workers<'_>) {
        let Self { blocks, count, starts, slots, owners, .. } = self;
        let blocks = &blocks[..*count];
        resize_with_headroom(starts, 2 * blocks.len() + 1);
        let lens = blocks.iter().map(|block| block.sure).chain(blocks.iter().map(Block::touching));
        let mut end = 0;
        for (slot, len) in starts[1..].iter_mut().zip(lens) {
            end += len;
            *slot = end;
        }
        list.set_len(end);
        resize_with_headroom(owners, end);
        let starts = &*starts;
        workers.fill_parts("list", starts, (list.pairs_mut(), owners), |part, out, owners| {
            let (number, block) = (part % blocks.len(), &blocks[part % blocks.len()]);
            if part < blocks.len() {
                let sure = block.candidates[block.len()..].iter();
                out.iter_mut().zip(sure).for_each(|(slot, &pair)| *slot = places.pair(pair));
                return;
            }
            let slots_of_list = out.iter_mut().zip(owners).zip(starts[part]..);
            for (((slot, owner), place), at) in slots_of_list.zip(block.each_touching()) {
                let candidate = number * BLOCK + at;
                (*slot, *owner) = (places.pair(block.candidates[at]), candidate as u32);
                slots[candidate].store(place as u32, Ordering::Relaxed);
            }
        });
    }

    /// Brings the list up to date, bodies having used up so much of a margin.
    pub(super) fn update<const D: usize>(
        &mut self,
        (candidates, list): (&mut Candidates<D>, &mut PairList),
        (test, places): (&Test<'_, D>, Places<'_>),
        (used_of_margin, isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        if core::mem::take(&mut self.is_aside) {
            swap(&mut candidates.pairs, list);
        }
        // What has been tested in one frame may have changed, and is tested until candidates are listed anew.
        self.band = self.band.max(last_band(used_of_margin));
        let (sets, last) = (candidates.meetings[0], self.band);
        let named = test.named(sets);
        workers.fill_blocks("sift", &mut self.blocks[..self.count], 1, |_, block| {
            let Block { candidates, touching, changed, changes, ends, .. } = &mut block[0];
            let (tested, len) = (ends[last].next_multiple_of(WORD).min(ends[BANDS - 1]), ends[BANDS - 1]);
            let changed = &mut changed[..];
            *changes = if let Some((bodies, far)) = named {
                // The last four are filled up with others.
                let candidates = &candidates[..tested.next_multiple_of(4)];
                isa.run(Sift::<D> { bodies, far, candidates, len, touching, changed })
            } else {
                let (words, mut noted) =
                    (candidates[..tested].chunks(WORD).zip(touching), Noted { changed, count: [0; 2] });
                for ((candidates, word), first) in words.zip((0..).step_by(WORD)) {
                    let touches = |&pair| u64::from(test.touches(sets, [0; D], pair));
                    let now = candidates.iter().rev().fold(0, |word, pair| word << 1 | touches(pair));
                    noted.note(word, now, (first, len));
                }
                noted.count
            };
        });
        self.change(list, places);
    }

    /// Puts the list, if one is kept, in place of the candidates that it was made of: pairs are some of it.
    pub(super) fn put_aside<const D: usize>(&mut self, candidates: &mut Candidates<D>, list: &mut PairList) {
        if self.holds {
            swap(&mut candidates.pairs, list);
            candidates.ends[0] = candidates.pairs.pairs().len();
            self.is_aside = true;
        }
    }

    /// Changes the list: candidates that have begun to touch, in their order, go to the places of those that have ended, and then to the
    /// end. Where fewer have begun, the last of the list go to the places that are left.
    fn change(&mut self, list: &mut PairList, places: Places<'_>) {
        let Self { blocks, count, slots, owners, .. } = self;
        let blocks = &blocks[..*count];
        let [begun, ended] = [0, 1].map(|kind| blocks.iter().map(|block| block.changes[kind]).sum::<usize>());
        let len = list.pairs().len();
        let new_len = len + begun - ended;
        list.set_len(len + begun);
        resize_with_headroom(owners, len + begun);
        let pairs = list.pairs_mut();
        let put = |candidate: usize, slot: usize, owners: &mut [u32]| {
            owners[slot] = candidate as u32;
            slots[candidate].store(slot as u32, Ordering::Relaxed);
        };
        let mut left = numbers(blocks, Block::ended).map(|candidate| slots[candidate].load(Ordering::Relaxed) as usize);
        let mut end = len;
        for candidate in numbers(blocks, Block::begun) {
            let slot = left.next().unwrap_or_else(|| {
                end += 1;
                end - 1
            });
            pairs[slot] = places.pair(blocks[candidate / BLOCK].candidates[candidate % BLOCK]);
            put(candidate, slot, owners);
        }
        left.clone().for_each(|slot| owners[slot] = NOBODY);
        let mut last = new_len;
        for slot in left.filter(|&slot| slot < new_len) {
            while owners[last] == NOBODY {
                last += 1;
            }
            pairs[slot] = pairs[last];
            put(owners[last] as usize, slot, owners);
            last += 1;
        }
        list.set_len(new_len);
    }
}

/// The candidates that blocks name.
fn numbers(blocks: &[Block], of_block: fn(&Block) -> &[u16]) -> impl Iterator<Item = usize> + Clone {
    let all = (0..).step_by(BLOCK).zip(blocks);
    all.flat_map(move |(first, block)| of_block(block).iter().map(move |&at| first + usize::from(at)))
}

impl Block {
    /// Takes candidates from number `first` on, by their bands.
    fn sort<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        scale: (f32, Isa),
        first: usize,
    ) {
        let pairs = candidates.pairs.pairs();
        let range = first..(first + BLOCK).min(pairs.len());
        let (mut known, mut done) = ([0; BLOCK], 0);
        let known = &mut known[..range.len()];
        let sorted = &mut self.candidates;
        sort_block(candidates, test, scale, range.clone(), |some| {
            known[done..][..some.len()].copy_from_slice(some);
            prefetch(&sorted[done..][..some.len()]);
            done += some.len();
        });
        let mut counts = [[0; CLASSES]; PARTS];
        side_by_side(known.len(), |part, at| counts[part][usize::from(known[at] & BAND)] += 1);
        let (mut next, mut end) = ([[0_u32; CLASSES]; PARTS], 0);
        for class in 0..CLASSES {
            if class > 0 && class <= BANDS {
                self.ends[class - 1] = end as usize;
            }
            for part in 0..PARTS {
                next[part][class] = end;
                end += counts[part][class];
            }
        }
        (self.sure, self.changes) = (counts.iter().map(|counts| counts[BANDS] as usize).sum(), [0; 2]);
        // Whether each touches.
        let mut touches = [0; BLOCK];
        let pairs = &pairs[range.clone()];
        side_by_side(known.len(), |part, at| {
            let known = known[at];
            let next = &mut next[part][usize::from(known & BAND)];
            let place = *next as usize % BLOCK;
            *next += 1;
            sorted[place] = pairs[at];
            touches[place] = known >> TOUCHES;
        });
        let pair = sorted[0];
        sorted[range.len()..range.len().next_multiple_of(4)].fill(pair);
        // Those that surely touch are no candidates any more.
        let len = self.ends[BANDS - 1];
        touches[len..].fill(0);
        for (word, touches) in self.touching.iter_mut().zip(touches.as_chunks::<WORD>().0) {
            *word = bits_of(touches);
        }
    }

    /// How many may change.
    fn len(&self) -> usize {
        self.ends[BANDS - 1]
    }

    fn begun(&self) -> &[u16] {
        &self.changed[..self.changes[0]]
    }

    fn ended(&self) -> &[u16] {
        &self.changed[BLOCK - self.changes[1]..]
    }

    fn touching(&self) -> usize {
        self.touching.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn each_touching(&self) -> impl Iterator<Item = usize> {
        (0..).step_by(WORD).zip(self.touching).flat_map(|(first, word)| {
            let words = core::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            words.take_while(|&word| word != 0).map(move |word| first + word.trailing_zeros() as usize)
        })
    }
}

/// Parts of a block that are gone through side by side: one that counts does not wait for what another has just counted.
const PARTS: usize = 4;

/// Visits each of so many candidates, with its part, ascending within each.
#[inline(always)]
fn side_by_side(len: usize, mut visit: impl FnMut(usize, usize)) {
    let of_part = len / PARTS;
    for at in 0..of_part {
        for part in 0..PARTS {
            visit(part, part * of_part + at);
        }
    }
    (PARTS * of_part..len).for_each(|at| visit(PARTS - 1, at));
}

/// A bit for each byte, which is 0 or 1.
#[inline(always)]
fn bits_of(bytes: &[u8; WORD]) -> u64 {
    // Multiplied so, the lowest bits of eight bytes come to stand side by side in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = bytes.as_chunks::<8>().0.iter().zip((0..).step_by(8));
    eights.fold(0, |bits, (&eight, first)| bits | u64::from_le_bytes(eight).wrapping_mul(GATHER) >> 56 << first)
}

/// The changes of a block: from the front those that have begun to touch, from the back those that have ended, and how many.
struct Noted<'a> {
    changed: &'a mut [u16],
    count: [usize; 2],
}

impl Noted<'_> {
    /// Notes which candidates from number `first` on, of `end` in all, do not touch now as a word says that they did.
    #[inline(always)]
    fn note(&mut self, word: &mut u64, now: u64, (first, end): (usize, usize)) {
        let some = if end - first < WORD { (1 << (end - first)) - 1 } else { u64::MAX };
        let changes = (*word ^ now) & some;
        *word ^= changes;
        each_bit(changes & now, |bit| {
            self.changed[self.count[0]] = (first + bit) as u16;
            self.count[0] += 1;
        });
        each_bit(changes & !now, |bit| {
            self.count[1] += 1;
            self.changed[BLOCK - self.count[1]] = (first + bit) as u16;
        });
    }
}

#[inline(always)]
fn each_bit(mut word: u64, mut visit: impl FnMut(usize)) {
    while word != 0 {
        visit(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

/// Tests some candidates of a block, a multiple of four, `len` of which may change; how many have begun to touch, and how many have ended.
struct Sift<'a, const D: usize> {
    bodies: [&'a [Packed]; 2],
    /// Whether to ask for bodies ahead.
    far: bool,
    candidates: &'a [[u32; 2]],
    len: usize,
    touching: &'a mut [u64],
    changed: &'a mut [u16],
}

impl<const D: usize> Work for Sift<'_, D> {
    type Output = [usize; 2];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> [usize; 2] {
        let Self { bodies, far, candidates, len, touching, changed } = self;
        let asked = if far { candidates.get(AHEAD * WORD..).unwrap_or_default() } else { &[] };
        let mut asked = asked.chunks(WORD);
        let mut noted = Noted { changed, count: [0; 2] };
        for (number, (candidates, word)) in candidates.chunks(WORD).zip(touching).enumerate() {
            asked.next().into_iter().for_each(|ahead| prefetch_bodies(bodies, ahead));
            let mut now = 0;
            for (fours, four) in candidates.chunks_exact(4).enumerate() {
                let [distance2, radii] = measure4::<D>(bodies, [four[0], four[1], four[2], four[3]]);
                now |= u64::from(distance2.simd_le(radii * radii).to_bitmask()) << (4 * fours);
            }
            noted.note(word, now, (number * WORD, len));
        }
        noted.count
    }
}
