//! A block of candidates, sorted into bands, and which of them touch.
//!
//! Each frame tests the bands in which a candidate may have changed. A block keeps of each candidate whether it touched
//! when it was tested last: few change from frame to frame, and only these are noted.

use core::array::from_fn;
use core::ops::Range;

use jostle_core::Isa;
use jostle_core::axes::Both;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::{BANDS, BLOCK, CLASSES, WORD};
use crate::coherent::current::{Doubt, Test};
use crate::coherent::doubt::sure_or_in_doubt;
use crate::coherent::names::Names;
use crate::coherent::packed::{Named, Sixteens};

/// Room between the candidates that have begun to touch and those that have ended: two entries of each may be written
/// that do not count.
const GAP: usize = 4;

/// The bodies of so many words are prefetched before the first of these words is tested.
const AHEAD: usize = 3;

/// The candidates of so many words, which name the bodies, are prefetched likewise.
const NAMES_AHEAD: usize = 12;

/// A block of candidates. What each frame reads lies together.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct Block {
    /// The candidates by band. In each band those that touched when they were listed come first.
    candidates: Named<BLOCK>,
    /// How many candidates there are up to the end of each band.
    ends: [u16; BANDS],
    /// Where in each band the candidates end that touched when they were listed.
    touching_ends: [u16; BANDS],
    /// How many candidates touched when they were listed.
    touched: usize,
    /// The candidate that was found first.
    first: [u32; 2],
    /// How many candidates have begun to touch in this frame, and how many have ended.
    changes: [usize; 2],
    /// A bit for each candidate that is in a band: it touches.
    touching: [u64; BLOCK / WORD],
    /// The candidates that have changed in this frame: from the front those that have begun, from the back those that
    /// have ended.
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
            touched: 0,
            first: [0; 2],
        }
    }
}

impl Block {
    /// Takes candidates of two sets of such lengths, sorts them by class, and renames them to the ids of `names`.
    pub(super) fn take(&mut self, (pairs, classes): (&[[u32; 2]], &[u8]), lens: [usize; 2], names: Names<'_>) {
        self.candidates.begin(lens);
        self.first = pairs.first().map_or([0; 2], |&first| names.ids(first));
        let mut order = [0; BLOCK];
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
        // The numbers of candidates stay in the nearest cache while they are dealt; pairs would not.
        side_by_side(classes, |(part, number), class| {
            let next = &mut next[part][usize::from(class) % SLOTS];
            order[*next as usize % BLOCK] = number as u16;
            *next += 1;
        });
        self.candidates.put(pairs, &order[..classes.len()], names);
        (self.changes, self.touching) = ([0; 2], [0; BLOCK / WORD]);
        self.touched = 0;
        let mut begin = 0;
        for band in 0..BANDS {
            self.touched += ends[2 * band] - begin;
            set_bits(&mut self.touching, begin..ends[2 * band]);
            (self.touching_ends[band], self.ends[band]) = (ends[2 * band] as u16, ends[2 * band + 1] as u16);
            begin = ends[2 * band + 1];
        }
    }

    /// Finds out which candidates of some bands touch.
    pub(super) fn sift<const D: usize>(
        &mut self,
        (test, sets): (&Test<'_, D>, [u32; 2]),
        (bands, isa): (&[Range<usize>], Isa),
    ) {
        let Self { candidates, touching, changed, changes, ends, .. } = self;
        let len = usize::from(ends[BANDS - 1]);
        let begin_of = |band: usize| band.checked_sub(1).map_or(0, |before| usize::from(ends[before]));
        // Ranges are widened to whole sixteens.
        let ranges =
            bands.iter().map(|bands| begin_of(bands.start)..begin_of(bands.end)).filter(|range| !range.is_empty());
        let ranges = ranges.map(|range| range.start / LANES * LANES..range.end.next_multiple_of(LANES).min(len));
        let changed = &mut changed[..];
        let (bodies, far) = test.named(sets);
        let tests = candidates.sixteens(bodies, len);
        *changes = match test.doubt(sets) {
            None => run(isa, Sift::<_, D> { tests, ranges, far, touching, changed }),
            Some(doubt) => run(isa, SiftInDoubt { doubt, of: Sift::<_, D> { tests, ranges, far, touching, changed } }),
        };
    }

    /// Returns the candidate at a place.
    #[inline(always)]
    pub(super) fn pair(&self, at: usize) -> [u32; 2] {
        self.candidates.get(at)
    }

    /// Returns the candidate that was found first, by the names that candidates use.
    pub(super) fn first(&self) -> [u32; 2] {
        self.first
    }

    /// Returns how many candidates there are.
    pub(super) fn len(&self) -> usize {
        usize::from(self.ends[BANDS - 1])
    }

    /// Returns all candidates as they are stored: see [`Block::name_of`].
    pub(super) fn names(&self) -> &[[u32; 2]] {
        self.candidates.names(self.len())
    }

    /// Returns how a stored candidate names a body.
    pub(super) fn name_of(body: u32) -> u32 {
        Named::<BLOCK>::name_of(body)
    }

    /// Whether a candidate touches.
    pub(super) fn touches_now(&self, at: usize) -> bool {
        self.touching[at / WORD] >> (at % WORD) & 1 == 1
    }

    /// Prefetches some candidates.
    #[inline(always)]
    pub(super) fn prefetch(&self, some: &[u16]) {
        some.iter().for_each(|&at| self.candidates.prefetch(at.into()));
    }

    /// Returns how many candidates have begun to touch, or have ended.
    pub(super) fn changes(&self, kind: usize) -> usize {
        self.changes[kind]
    }

    /// Returns how many candidates have begun that can take the place of one that has ended.
    pub(super) fn exchanges(&self) -> usize {
        self.changes[0].min(self.changes[1])
    }

    pub(super) fn begun(&self) -> &[u16] {
        &self.changed[..self.changes[0]]
    }

    pub(super) fn ended(&self) -> &[u16] {
        &self.changed[BLOCK + GAP - self.changes[1]..]
    }

    /// Returns where the candidates stand that touch.
    pub(super) fn touch_now(&self) -> impl Iterator<Item = usize> {
        let words = self.touching.iter().zip((0..).step_by(WORD));
        words.flat_map(|(&word, first)| {
            let rests = core::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
            rests.take_while(|&rest| rest != 0).map(move |rest| first + rest.trailing_zeros() as usize)
        })
    }

    /// Returns how many candidates touched when they were listed.
    pub(super) fn touched(&self) -> usize {
        self.touched
    }

    /// Returns where the candidates stand that touched when they were listed: one range for each band.
    pub(super) fn touching(&self) -> impl Iterator<Item = Range<usize>> {
        let begins = core::iter::once(0).chain(self.ends);
        begins.zip(self.touching_ends).map(|(begin, end)| begin.into()..end.into())
    }
}

/// Parts of a block that are gone through side by side: to count in one part does not wait for what another part has
/// just counted.
const PARTS: usize = 4;

/// Room for the numbers of all classes.
const SLOTS: usize = CLASSES.next_power_of_two();

/// Visits all classes, with their part and number; numbers ascend within each part.
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

/// The changes of a block: from the front the candidates that have begun to touch, from the back those that have ended;
/// and how many.
struct Noted<'a> {
    changed: &'a mut [u16],
    count: [usize; 2],
}

impl Noted<'_> {
    /// Notes the tested candidates of a word that have changed: `word` says whether they touched, and `now` whether
    /// they do.
    #[inline(always)]
    fn note(&mut self, word: &mut u64, now: u64, tested: Range<usize>) {
        let (first, begin) = (tested.start / WORD * WORD, tested.start % WORD);
        let some = u64::MAX >> (WORD - tested.len()) << begin;
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

/// Visits the set bits two by two, and says how many of the two there are. A word has few, and no processor could
/// foresee whether it has one, two or none. So two bits are visited at least, whether they are set or not.
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

/// Tests some candidates of a block, sixteen by sixteen. Returns how many have begun to touch, and how many have ended.
struct Sift<'a, R, const D: usize> {
    tests: Sixteens<'a, 1>,
    /// The candidates that are tested.
    ranges: R,
    /// Whether to prefetch their bodies.
    far: bool,
    touching: &'a mut [u64],
    changed: &'a mut [u16],
}

impl<R: Iterator<Item = Range<usize>> + Clone, const D: usize> LaneWork for Sift<'_, R, D> {
    type Output = [usize; 2];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> [usize; 2] {
        self.each_word(
            #[inline(always)]
            |tests, sixteens, _| {
                let mut now = 0;
                for sixteen in sixteens {
                    let [distance2, radii] = tests.measure::<L, D>(sixteen);
                    now |= u64::from(distance2.le(radii.mul(radii))) << (LANES * sixteen % WORD);
                }
                now
            },
        )
    }
}

impl<'a, R: Iterator<Item = Range<usize>> + Clone, const D: usize> Sift<'a, R, D> {
    /// Tests word by word. `touching_now` tells which candidates of some sixteens touch; those in the tested range
    /// count.
    #[inline(always)]
    fn each_word(self, mut touching_now: impl FnMut(Sixteens<'a, 1>, Range<usize>, Range<usize>) -> u64) -> [usize; 2] {
        let Self { tests, ranges, far, touching, changed } = self;
        let mut noted = Noted { changed, count: [0; 2] };
        let ask = |range: &Range<usize>, first: usize, words: usize| {
            let (first, end) = (first * WORD, (first + words) * WORD);
            let [first, end] = [first.max(range.start), end.min(range.end)];
            (first / LANES..end.div_ceil(LANES)).for_each(|sixteen| tests.prefetch_pairs(sixteen));
        };
        if far {
            ranges.clone().for_each(|range| ask(&range, range.start / WORD, NAMES_AHEAD));
        }
        for range in ranges {
            let mut asked = range.start / LANES;
            for word in range.start / WORD..range.end.div_ceil(WORD) {
                let tested = range.start.max(word * WORD)..range.end.min((word + 1) * WORD);
                if far {
                    ask(&range, word + NAMES_AHEAD, 1);
                    let end = (range.end.min((word + AHEAD) * WORD)).div_ceil(LANES);
                    (asked..end).for_each(|sixteen| tests.prefetch(sixteen));
                    asked = end;
                }
                let now = touching_now(tests, tested.start / LANES..tested.end.div_ceil(LANES), tested.clone());
                noted.note(&mut touching[word], now, tested);
            }
        }
        noted.count
    }
}

/// As [`Sift`], for bodies with stand-ins: candidates whose stand-ins are in doubt are decided.
struct SiftInDoubt<'a, R, const D: usize> {
    doubt: Doubt<'a, D>,
    of: Sift<'a, R, D>,
}

impl<R: Iterator<Item = Range<usize>> + Clone, const D: usize> LaneWork for SiftInDoubt<'_, R, D> {
    type Output = [usize; 2];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> [usize; 2] {
        let doubt = self.doubt;
        self.of.each_word(
            #[inline(always)]
            |tests, sixteens, tested| {
                let (mut now, mut unknown) = (0, 0);
                for sixteen in sixteens {
                    let tested = sure_or_in_doubt(tests.measure::<L, D>(sixteen), doubt.within);
                    let [sure, in_doubt] = tested.both(|mask| u64::from(mask) << (LANES * sixteen % WORD));
                    (now, unknown) = (now | sure, unknown | in_doubt);
                }
                unknown &= u64::MAX >> (WORD - tested.len()) << (tested.start % WORD);
                while unknown != 0 {
                    let bit = unknown.trailing_zeros() as usize;
                    let names = tests.pair(tested.start / WORD * WORD + bit);
                    now |= u64::from(doubt.decide(names)) << bit;
                    unknown &= unknown - 1;
                }
                now
            },
        )
    }
}
