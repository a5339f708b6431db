//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that surely touch are listed once. Of the others, bands that bodies have moved far enough for are tested in each frame. Of
//! each is kept whether it touched when it was tested last: few change from frame to frame, and those alone are written.

use core::array::from_fn;
use core::mem::swap;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::disjoint::Disjoint;
use jostle_core::isa::Work;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::{BANDS, CLASSES, WORD, last_band, scale_of, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::{Places, Test};
use crate::coherent::packed::{Fours, Named, Packed, prefetch_bodies};
use crate::join::hits::PairList;

/// Candidates of a block: the bodies of so many stay in a first-level cache, and of blocks of a quarter of that, processors would not
/// foresee often enough where the next one begins.
const BLOCK: usize = 1 << 13;

/// So many words ahead bodies are asked for.
const AHEAD: usize = 2;

/// No candidate: that of a place which is left.
const NOBODY: u32 = u32::MAX;

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
    /// By band, those first that touch where bodies are kept; then those that surely touch; by place where bodies stand so.
    candidates: Named<BLOCK>,
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
            candidates: Named::default(),
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

    /// Takes new candidates, if it may last how they touch, and they are all of the same two sets: block by block and band by band.
    pub(super) fn begin<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
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
        let named = test.named(candidates.meetings[0]);
        let lens = named.map_or([usize::MAX; 2], |(bodies, _)| bodies.map(<[Packed]>::len));
        workers.fill_blocks("bands", blocks, 1, |number, block| {
            block[0].candidates.begin(lens);
            block[0].sort(candidates, test, (scale, isa), number * BLOCK);
        });
    }

    /// Lists new candidates that touch: block by block those that surely do, then block by block and band by band the others.
    pub(super) fn list(&mut self, list: &mut PairList, places: Places<'_>, workers: Workers<'_>) {
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
                let sure = block.candidates.from(block.len());
                out.iter_mut().zip(sure).for_each(|(slot, pair)| *slot = places.pair(pair));
                return;
            }
            let slots_of_list = out.iter_mut().zip(owners).zip(starts[part]..);
            for (((slot, owner), place), at) in slots_of_list.zip(block.each_touching()) {
                let candidate = number * BLOCK + at;
                (*slot, *owner) = (places.pair(block.candidates.get(at)), candidate as u32);
                slots[candidate].store(place as u32, Ordering::Relaxed);
            }
        });
    }

    /// Finds out which candidates touch, bodies having used up so much of a margin.
    pub(super) fn sift<const D: usize>(
        &mut self,
        (candidates, list): (&mut Candidates<D>, &mut PairList),
        test: &Test<'_, D>,
        (used_of_margin, isa): ([f64; 2], Isa),
        workers: Workers<'_>,
    ) {
        if core::mem::take(&mut self.is_aside) {
            swap(&mut candidates.pairs, list);
        }
        // What was tested in the last frame may have changed then, and is tested once more.
        let band = last_band(used_of_margin);
        let (sets, last) = (candidates.meetings[0], core::mem::replace(&mut self.band, band).max(band));
        let named = test.named(sets);
        workers.fill_blocks("sift", &mut self.blocks[..self.count], 1, |_, block| {
            let Block { candidates, touching, changed, changes, ends, .. } = &mut block[0];
            let (tested, len) = (ends[last].next_multiple_of(WORD).min(ends[BANDS - 1]), ends[BANDS - 1]);
            let changed = &mut changed[..];
            *changes = if let Some((bodies, far)) = named {
                let asked = if far { AHEAD * WORD..tested } else { 0..0 };
                let asked = candidates.from(asked.start).take(asked.len());
                isa.run(Sift::<_, D> { fours: candidates.fours(bodies, tested), bodies, asked, len, touching, changed })
            } else {
                let mut noted = Noted { changed, count: [0; 2] };
                for (word, first) in touching.iter_mut().zip((0..tested).step_by(WORD)) {
                    let now = candidates.from(first).take(WORD.min(tested - first)).zip(0..);
                    let now =
                        now.fold(0, |word, (pair, bit)| word | u64::from(test.touches(sets, [0; D], pair)) << bit);
                    noted.note(word, now, (first, len));
                }
                noted.count
            };
        });
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
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    pub(super) fn change(&mut self, list: &mut PairList, places: Places<'_>, workers: Workers<'_>) {
        let Self { blocks, count, starts, slots, owners, .. } = self;
        let blocks = &blocks[..*count];
        // Where those of each block begin among all that have begun to touch, then among all that have ended, each with the end.
        resize_with_headroom(starts, 2 * (blocks.len() + 1));
        let (begin, end) = starts.split_at_mut(blocks.len() + 1);
        for (kind, starts) in [&mut *begin, &mut *end].into_iter().enumerate() {
            starts[0] = 0;
            for (number, block) in blocks.iter().enumerate() {
                starts[number + 1] = starts[number] + block.changes[kind];
            }
        }
        let (begin, end) = (&*begin, &*end);
        let (len, begun, ended) = (list.pairs().len(), begin[blocks.len()], end[blocks.len()]);
        let new_len = len + begun - ended;
        list.set_len(len + begun);
        resize_with_headroom(owners, len + begun);
        // The places of those that have ended, from one of them on.
        let left = |from: usize| {
            let block = end.partition_point(|&start| start <= from) - 1;
            let ended = numbers(blocks, block, Block::ended).skip(from - end[block]);
            ended.map(|candidate| slots[candidate].load(Ordering::Relaxed) as usize)
        };
        let (pairs, shared_owners) = (Disjoint::new(list.pairs_mut()), Disjoint::new(owners));
        workers.run("change", blocks.len(), |number| {
            let first = begin[number];
            let room = left(first.min(ended)).chain(len + first.saturating_sub(ended)..);
            for (&at, slot) in blocks[number].begun().iter().zip(room) {
                let candidate = number * BLOCK + usize::from(at);
                assert!(slot < pairs.len(), "a candidate stands beyond the list");
                let pair = places.pair(blocks[number].candidates.get(at.into()));
                // SAFETY: no two candidates stand at one place; those behind the end of the list are taken in turn.
                unsafe {
                    pairs.write(slot, pair);
                    shared_owners.write(slot, candidate as u32);
                }
                slots[candidate].store(slot as u32, Ordering::Relaxed);
            }
        });
        let (pairs, mut last) = (list.pairs_mut(), new_len);
        left(begun.min(ended)).for_each(|slot| owners[slot] = NOBODY);
        for slot in left(begun.min(ended)).filter(|&slot| slot < new_len) {
            while owners[last] == NOBODY {
                last += 1;
            }
            (pairs[slot], owners[slot]) = (pairs[last], owners[last]);
            slots[owners[last] as usize].store(slot as u32, Ordering::Relaxed);
            last += 1;
        }
        list.set_len(new_len);
    }
}

/// The candidates that blocks name, from one of them on.
fn numbers(blocks: &[Block], from: usize, of_block: fn(&Block) -> &[u16]) -> impl Iterator<Item = usize> {
    let all = (from * BLOCK..).step_by(BLOCK).zip(blocks.get(from..).unwrap_or_default());
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
        let (mut classes, mut done) = ([0; BLOCK], 0);
        let classes = &mut classes[..range.len()];
        let sorted = &mut self.candidates;
        sort_block(candidates, test, scale, range.clone(), |some| {
            classes[done..][..some.len()].copy_from_slice(some);
            sorted.prefetch(done..done + some.len());
            done += some.len();
        });
        let (classes, pairs) = (&*classes, &pairs[range]);
        let mut next = [[0_u32; SLOTS]; PARTS];
        side_by_side(classes, classes, |part, class, _| next[part][usize::from(class) % SLOTS] += 1);
        let (mut ends, mut end) = ([0; CLASSES], 0);
        for class in 0..CLASSES {
            for part in 0..PARTS {
                let count = core::mem::replace(&mut next[part][class], end);
                end += count;
            }
            ends[class] = end as usize;
        }
        side_by_side(classes, pairs, |part, class, pair| {
            let next = &mut next[part][usize::from(class) % SLOTS];
            sorted.put(*next as usize % BLOCK, pair);
            *next += 1;
        });
        (self.changes, self.touching) = ([0; 2], [0; BLOCK / WORD]);
        let mut begin = 0;
        for band in 0..BANDS {
            set_bits(&mut self.touching, begin..ends[2 * band]);
            self.ends[band] = ends[2 * band + 1];
            begin = self.ends[band];
        }
        self.sure = ends[2 * BANDS] - begin;
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

/// Room for the numbers of all classes.
const SLOTS: usize = CLASSES.next_power_of_two();

/// Visits all of two lists of one length, with their part, ascending within each.
#[inline(always)]
fn side_by_side<A: Copy, B: Copy>(of_a: &[A], of_b: &[B], mut visit: impl FnMut(usize, A, B)) {
    let len = of_a.len() / PARTS;
    let a: [_; PARTS] = from_fn(|part| &of_a[part * len..][..len]);
    let b: [_; PARTS] = from_fn(|part| &of_b[part * len..][..len]);
    for at in 0..len {
        for part in 0..PARTS {
            visit(part, a[part][at], b[part][at]);
        }
    }
    let rest = of_a[PARTS * len..].iter().zip(&of_b[PARTS * len..]);
    rest.for_each(|(&a, &b)| visit(PARTS - 1, a, b));
}

fn set_bits(words: &mut [u64], range: Range<usize>) {
    let mut at = range.start;
    while at < range.end {
        let (bit, len) = (at % WORD, (WORD - at % WORD).min(range.end - at));
        words[at / WORD] |= u64::MAX >> (WORD - len) << bit;
        at += len;
    }
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

/// Tests some candidates of a block, `len` of which may change; how many have begun to touch, and how many have ended.
struct Sift<'a, A, const D: usize> {
    fours: Fours<'a, 1>,
    bodies: [&'a [Packed]; 2],
    /// Candidates whose bodies to ask for ahead.
    asked: A,
    len: usize,
    touching: &'a mut [u64],
    changed: &'a mut [u16],
}

impl<A: Iterator<Item = [u32; 2]>, const D: usize> Work for Sift<'_, A, D> {
    type Output = [usize; 2];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> [usize; 2] {
        let Self { fours, bodies, asked, len, touching, changed } = self;
        let (mut asked, mut noted) = (asked, Noted { changed, count: [0; 2] });
        for (number, (first, word)) in (0..fours.len()).step_by(WORD / 4).zip(touching).enumerate() {
            prefetch_bodies(bodies, asked.by_ref().take(WORD));
            let mut now = 0;
            for four in first..(first + WORD / 4).min(fours.len()) {
                let [distance2, radii] = fours.measure::<D>(four);
                now |= u64::from(distance2.simd_le(radii * radii).to_bitmask()) << (4 * (four - first));
            }
            noted.note(word, now, (number * WORD, len));
        }
        noted.count
    }
}
