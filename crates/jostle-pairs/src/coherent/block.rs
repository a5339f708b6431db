//! A block of candidates, sorted into bands, and which of them touch.
//!
//! In each frame those bands are tested that bodies have moved far enough for. Of each candidate is kept whether it touched when it was
//! tested last: few change from frame to frame, and those alone are noted.

use core::array::from_fn;
use core::ops::Range;

use jostle_core::Isa;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::{BANDS, BLOCK, CLASSES, Scale, WORD, sort_block};
use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::packed::{Named, Packed, Sixteens, prefetch_bodies};

/// Room between those that have begun to touch and those that have ended, for two of each that are none.
const GAP: usize = 4;

/// So many words ahead bodies are asked for.
const AHEAD: usize = 2;

/// Some candidates. What each frame reads lies together.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Block {
    /// By band, those first that touched when they were listed; then those that surely touch.
    candidates: Named<BLOCK>,
    /// How many there are up to each band.
    ends: [usize; BANDS],
    /// Where those of each band end that touched when they were listed.
    touching_ends: [usize; BANDS],
    sure: usize,
    /// How many have begun to touch in this frame, and how many have ended.
    changes: [usize; 2],
    /// A bit for each that is in a band: it touches.
    touching: [u64; BLOCK / WORD],
    /// Those that have changed in this frame: the former from the front, the latter from the back.
    changed: [u16; BLOCK + GAP],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            candidates: Named::default(),
            touching: [0; BLOCK / WORD],
            changed: [0; BLOCK + GAP],
            changes: [0; 2],
            ends: [0; BANDS],
            touching_ends: [0; BANDS],
            sure: 0,
        }
    }
}

impl Block {
    /// Takes some candidates of the same two sets by their bands.
    pub(super) fn sort<const D: usize>(
        &mut self,
        (candidates, range): (&Candidates<D>, Range<usize>),
        test: &Test<'_, D>,
        scale: (Scale, Isa),
    ) {
        let named = test.named(candidates.meetings[0]);
        self.candidates.begin(named.map_or([usize::MAX; 2], |(bodies, _)| bodies.map(<[Packed]>::len)));
        let pairs = candidates.pairs.pairs();
        let (mut classes, mut done, mut order) = ([0; BLOCK], 0, [0; BLOCK]);
        let classes = &mut classes[..range.len()];
        sort_block(candidates, test, scale, range.clone(), |some| {
            classes[done..][..some.len()].copy_from_slice(some);
            done += some.len();
        });
        let classes = &*classes;
        let mut next = [[0_u32; SLOTS]; PARTS];
        side_by_side(classes, |(part, _), class| next[part][usize::from(class) % SLOTS] += 1);
        let (mut ends, mut end) = ([0; CLASSES], 0);
        for class in 0..CLASSES {
            for part in 0..PARTS {
                let count = core::mem::replace(&mut next[part][class], end);
                end += count;
            }
            ends[class] = end as usize;
        }
        // Numbers stay in the nearest cache while they are dealt, where pairs would not.
        side_by_side(classes, |(part, number), class| {
            let next = &mut next[part][usize::from(class) % SLOTS];
            order[*next as usize % BLOCK] = number as u16;
            *next += 1;
        });
        self.candidates.put(&pairs[range], &order[..classes.len()]);
        (self.changes, self.touching) = ([0; 2], [0; BLOCK / WORD]);
        let mut begin = 0;
        for band in 0..BANDS {
            set_bits(&mut self.touching, begin..ends[2 * band]);
            (self.touching_ends[band], self.ends[band]) = (ends[2 * band], ends[2 * band + 1]);
            begin = self.ends[band];
        }
        self.sure = ends[2 * BANDS] - begin;
    }

    /// Finds out which candidates touch, up to this band: by their bodies, if those alone tell, else by `touches`.
    pub(super) fn sift<const D: usize>(
        &mut self,
        (test, sets): (&Test<'_, D>, [u32; 2]),
        (last_band, isa): (usize, Isa),
        touches: impl Fn([u32; 2]) -> bool,
    ) {
        let Self { candidates, touching, changed, changes, ends, .. } = self;
        let len = ends[BANDS - 1];
        let tested = ends[last_band].next_multiple_of(WORD).min(len);
        let changed = &mut changed[..];
        *changes = if let Some((bodies, far)) = test.named(sets) {
            let asked = if far { AHEAD * WORD..tested } else { 0..0 };
            let asked = candidates.from(asked.start).take(asked.len());
            let tests = candidates.sixteens(bodies, tested);
            run(isa, Sift::<_, D> { tests, bodies, asked, len, touching, changed })
        } else {
            let mut noted = Noted { changed, count: [0; 2] };
            for (word, first) in touching.iter_mut().zip((0..tested).step_by(WORD)) {
                let touches = |at| u64::from(touches(candidates.get(at)));
                let now = (first..tested.min(first + WORD)).rev().fold(0, |word, at| word << 1 | touches(at));
                noted.note(word, now, (first, len));
            }
            noted.count
        };
    }

    /// The candidate that stands there.
    #[inline(always)]
    pub(super) fn pair(&self, at: usize) -> [u32; 2] {
        self.candidates.get(at)
    }

    /// Where those stand that surely touch.
    pub(super) fn sure(&self) -> Range<usize> {
        let first = self.ends[BANDS - 1];
        first..first + self.sure
    }

    /// How many have begun to touch, or have ended.
    pub(super) fn changes(&self, kind: usize) -> usize {
        self.changes[kind]
    }

    pub(super) fn begun(&self) -> &[u16] {
        &self.changed[..self.changes[0]]
    }

    pub(super) fn ended(&self) -> &[u16] {
        &self.changed[BLOCK + GAP - self.changes[1]..]
    }

    /// Where those stand that touched when they were listed, but for those that surely do: as many ranges as there are bands.
    pub(super) fn touching(&self) -> impl Iterator<Item = Range<usize>> {
        let begins = core::iter::once(0).chain(self.ends);
        begins.zip(self.touching_ends).map(|(begin, end)| begin..end)
    }
}

/// Parts of a block that are gone through side by side: one that counts does not wait for what another has just counted.
const PARTS: usize = 4;

/// Room for the numbers of all classes.
const SLOTS: usize = CLASSES.next_power_of_two();

/// Visits all classes, with their part and number, ascending within each.
#[inline(always)]
fn side_by_side(classes: &[u8], mut visit: impl FnMut((usize, usize), u8)) {
    let len = classes.len() / PARTS;
    let parts: [_; PARTS] = from_fn(|part| &classes[part * len..][..len]);
    for at in 0..len {
        for part in 0..PARTS {
            visit((part, part * len + at), parts[part][at]);
        }
    }
    (PARTS * len..classes.len()).for_each(|at| visit((PARTS - 1, at), classes[at]));
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
        let [begun, ended] = &mut self.count;
        let end = self.changed.len() - 1;
        two_by_two(changes & now, |[one, two], count| {
            (self.changed[*begun], self.changed[*begun + 1]) = ((first + one) as u16, (first + two) as u16);
            *begun += count;
        });
        two_by_two(changes & !now, |[one, two], count| {
            (self.changed[end - *ended], self.changed[end - *ended - 1]) = ((first + one) as u16, (first + two) as u16);
            *ended += count;
        });
    }
}

/// Visits the bits that are set two by two, and says how many there are: a word has few, and whether it has one, two or none
/// could not be foreseen. So it visits two at least, whether they are there or not.
#[inline(always)]
fn two_by_two(mut word: u64, mut visit: impl FnMut([usize; 2], usize)) {
    loop {
        let rest = word & word.wrapping_sub(1);
        let bits = [word.trailing_zeros() as usize, rest.trailing_zeros() as usize];
        visit(bits, usize::from(word != 0) + usize::from(rest != 0));
        word = rest & rest.wrapping_sub(1);
        if word == 0 {
            return;
        }
    }
}

/// Tests some candidates of a block, `len` of which may change; how many have begun to touch, and how many have ended.
struct Sift<'a, A, const D: usize> {
    tests: Sixteens<'a, 1>,
    bodies: [&'a [Packed]; 2],
    /// Candidates whose bodies to ask for ahead.
    asked: A,
    len: usize,
    touching: &'a mut [u64],
    changed: &'a mut [u16],
}

impl<A: Iterator<Item = [u32; 2]>, const D: usize> LaneWork for Sift<'_, A, D> {
    type Output = [usize; 2];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> [usize; 2] {
        let Self { tests, bodies, asked, len, touching, changed } = self;
        let (mut asked, mut noted) = (asked, Noted { changed, count: [0; 2] });
        for (number, (first, word)) in (0..tests.len()).step_by(WORD / LANES).zip(touching).enumerate() {
            prefetch_bodies(bodies, asked.by_ref().take(WORD));
            let mut now = 0;
            for sixteen in first..(first + WORD / LANES).min(tests.len()) {
                let [distance2, radii] = tests.measure::<L, D>(sixteen);
                now |= u64::from(distance2.le(radii.mul(radii))) << (LANES * (sixteen - first));
            }
            noted.note(word, now, (number * WORD, len));
        }
        noted.count
    }
}
