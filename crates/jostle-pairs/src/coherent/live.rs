//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that surely touch are listed once. Of the others, bands that bodies have moved far enough for are tested in each frame. Of
//! each is kept whether it touched when it was tested last: few change from frame to frame, and those alone are written.

use core::mem::swap;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::isa::Work;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::{BAND, BANDS, TOUCHES, last_band, scale_of, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::{Ranks, Test};
use crate::coherent::packed::{Packed, are_far, measure4, prefetch_bodies};
use crate::join::hits::PairList;

/// Candidates of a block: the bodies of so many stay in a first-level cache, and of blocks of a quarter of that, processors would not
/// foresee often enough where the next one begins.
const BLOCK: usize = 1 << 13;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// So many words ahead bodies are asked for.
const AHEAD: usize = 2;

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
    /// By band, then those that surely touch. The former by rank where bodies stand so.
    candidates: [[u32; 2]; BLOCK],
    /// How many there are up to each band.
    ends: [usize; BANDS],
    sure: usize,
    changes: usize,
    /// A bit for each that is in a band: it touches.
    touching: [u64; BLOCK / WORD],
    /// Those that have changed in this frame.
    changed: [u16; BLOCK],
    /// While they are sorted, what is known of each.
    known: [u8; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            candidates: [[0; 2]; BLOCK],
            known: [0; BLOCK],
            touching: [0; BLOCK / WORD],
            changed: [0; BLOCK],
            changes: 0,
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
        (test, ranks): (&Test<'_, D>, Ranks<'_>),
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
            block[0].sort(candidates, (test, ranks), (scale, isa), number * BLOCK);
        });
        self.list(list, ranks, workers);
    }

    /// Lists new candidates that touch.
    fn list(&mut self, list: &mut PairList, ranks: Ranks<'_>, workers: Workers<'_>) {
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
                out.copy_from_slice(&block.candidates[block.len()..][..out.len()]);
                return;
            }
            let places = out.iter_mut().zip(owners).zip(starts[part]..);
            for (((slot, owner), place), at) in places.zip(block.each_touching()) {
                let candidate = number * BLOCK + at;
                (*slot, *owner) = (ranks.pair(block.candidates[at]), candidate as u32);
                slots[candidate].store(place as u32, Ordering::Relaxed);
            }
        });
    }

    /// Brings the list up to date, bodies having used up so much of a margin: candidate by candidate, one that has begun to touch goes
    /// to the end, and the last of the list to the place of one that has ended.
    pub(super) fn update<const D: usize>(
        &mut self,
        (candidates, list): (&mut Candidates<D>, &mut PairList),
        (test, ranks): (&Test<'_, D>, Ranks<'_>),
        (used_of_margin, isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        if core::mem::take(&mut self.is_aside) {
            swap(&mut candidates.pairs, list);
        }
        // What has been tested in one frame may have changed, and is tested until candidates are listed anew.
        self.band = self.band.max(last_band(used_of_margin));
        let (sets, last) = (candidates.meetings[0], self.band);
        let bodies = if ranks.is_empty() { test.direct_in_open_space(sets) } else { Some([test.ranked; 2]) };
        workers.fill_blocks("sift", &mut self.blocks[..self.count], 1, |_, block| {
            let Block { candidates, touching, changed, changes, ends, .. } = &mut block[0];
            let (tested, len) = (ends[last].next_multiple_of(WORD).min(ends[BANDS - 1]), ends[BANDS - 1]);
            let changed = &mut changed[..];
            *changes = if let Some(bodies) = bodies {
                // The last four are filled up with others.
                let candidates = &candidates[..tested.next_multiple_of(4)];
                // By rank, those of a block lie together.
                let far = ranks.is_empty() && are_far(&bodies);
                isa.run(Sift::<D> { bodies, far, candidates, len, touching, changed })
            } else {
                let (words, mut noted) = (candidates[..tested].chunks(WORD).zip(touching), Noted { changed, len: 0 });
                for ((candidates, word), first) in words.zip((0..).step_by(WORD)) {
                    let touches = |&pair| u64::from(test.touches(sets, [0; D], pair));
                    let now = candidates.iter().rev().fold(0, |word, pair| word << 1 | touches(pair));
                    noted.note(word, now, (first, len));
                }
                noted.len
            };
        });
        self.change(list, ranks);
    }

    /// Puts the list, if one is kept, in place of the candidates that it was made of: pairs are some of it.
    pub(super) fn put_aside<const D: usize>(&mut self, candidates: &mut Candidates<D>, list: &mut PairList) {
        if self.holds {
            swap(&mut candidates.pairs, list);
            candidates.ends[0] = candidates.pairs.pairs().len();
            self.is_aside = true;
        }
    }

    fn change(&mut self, list: &mut PairList, ranks: Ranks<'_>) {
        let Self { blocks, count, slots, owners, .. } = self;
        let blocks = &blocks[..*count];
        let mut len = list.pairs().len();
        let room = len + blocks.iter().map(|block| block.changes).sum::<usize>();
        list.set_len(room);
        resize_with_headroom(owners, room);
        let pairs = list.pairs_mut();
        for (block, first) in blocks.iter().zip((0..).step_by(BLOCK)) {
            for &at in &block.changed[..block.changes] {
                let at = usize::from(at);
                let candidate = first + at;
                if block.touching[at / WORD] >> (at % WORD) & 1 == 1 {
                    (pairs[len], owners[len]) = (ranks.pair(block.candidates[at]), candidate as u32);
                    *slots[candidate].get_mut() = len as u32;
                    len += 1;
                } else {
                    len -= 1;
                    let (slot, owner) = (*slots[candidate].get_mut(), owners[len]);
                    (pairs[slot as usize], owners[slot as usize]) = (pairs[len], owner);
                    *slots[owner as usize].get_mut() = slot;
                }
            }
        }
        list.set_len(len);
    }
}

impl Block {
    /// Takes candidates from number `first` on, by their bands.
    fn sort<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        (test, ranks): (&Test<'_, D>, Ranks<'_>),
        scale: (f32, Isa),
        first: usize,
    ) {
        let pairs = candidates.pairs.pairs();
        let range = first..(first + BLOCK).min(pairs.len());
        let (known, mut done) = (&mut self.known[..range.len()], 0);
        sort_block(candidates, test, scale, range.clone(), |some| {
            known[done..][..some.len()].copy_from_slice(some);
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
        (self.sure, self.changes) = (counts.iter().map(|counts| counts[BANDS] as usize).sum(), 0);
        // Whether each touches, where changes are noted later.
        let touches = &mut bytemuck::cast_slice_mut::<_, u8>(&mut self.changed)[..BLOCK];
        let (pairs, sorted) = (&pairs[range.clone()], &mut self.candidates);
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
        ranks.name(&mut self.candidates[..len]);
    }

    /// How many may change.
    fn len(&self) -> usize {
        self.ends[BANDS - 1]
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

/// The changes of a block.
struct Noted<'a> {
    changed: &'a mut [u16],
    len: usize,
}

impl Noted<'_> {
    /// Notes which candidates from number `first` on, of `end` in all, do not touch now as a word says that they did.
    #[inline(always)]
    fn note(&mut self, word: &mut u64, now: u64, (first, end): (usize, usize)) {
        let some = if end - first < WORD { (1 << (end - first)) - 1 } else { u64::MAX };
        let mut changes = (*word ^ now) & some;
        *word ^= changes;
        while changes != 0 {
            self.changed[self.len] = (first + changes.trailing_zeros() as usize) as u16;
            self.len += 1;
            changes &= changes - 1;
        }
    }
}

/// Tests some candidates of a block, a multiple of four, `len` of which may change; how many have changed.
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
    type Output = usize;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { bodies, far, candidates, len, touching, changed } = self;
        let asked = if far { candidates.get(AHEAD * WORD..).unwrap_or_default() } else { &[] };
        let mut asked = asked.chunks(WORD);
        let mut noted = Noted { changed, len: 0 };
        for (number, (candidates, word)) in candidates.chunks(WORD).zip(touching).enumerate() {
            asked.next().into_iter().for_each(|ahead| prefetch_bodies(bodies, ahead));
            let mut now = 0;
            for (fours, four) in candidates.chunks_exact(4).enumerate() {
                let [distance2, radii] = measure4::<D>(bodies, [four[0], four[1], four[2], four[3]]);
                now |= u64::from(distance2.simd_le(radii * radii).to_bitmask()) << (4 * fours);
            }
            noted.note(word, now, (number * WORD, len));
        }
        noted.len
    }
}
