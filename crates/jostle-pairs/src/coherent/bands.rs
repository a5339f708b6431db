//! Candidates in bands, by how far bodies must move before it can change whether two of them touch.
//!
//! How far two bodies are from touching, or from not touching any more, tells that. In each frame those bands are tested that bodies
//! have moved far enough for: right after a search few are, and most of the pairs of a dense scene never.

use core::ops::Range;

use jostle_core::Isa;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::candidates::Candidates;
use crate::coherent::current::Test;
use crate::coherent::packed::{Packed, Sixteens, prefetch_bodies};
use crate::coherent::slack::{ROUNDING, slack_of};

/// Candidates of a block, which one task tests: the bodies of so many stay in a first-level cache, and of blocks of a quarter of that,
/// processors would not foresee often enough where the next one begins.
pub(super) const BLOCK: usize = 1 << 13;

/// Bits of a word, each of which says whether a candidate touches.
pub(super) const WORD: usize = u64::BITS as usize;

/// Candidates whose bands are found one after the other, before they are noted.
const AT_A_TIME: usize = 512;

/// Bands of candidates that are tested sooner or later while the margin lasts, of the same width each.
pub(super) const BANDS: usize = 32;

/// 2^23: a number up to that, added to it, is rounded to a whole one, which then stands in the last bits.
const ROUNDING_OFF: f32 = 8_388_608.0;

/// Classes of candidates, two a band: those that touch, and those that do not. Behind the bands, those that surely touch, and those that
/// surely do not.
pub(super) const CLASSES: usize = 2 * BANDS + 2;

/// The candidates of a block.
pub(super) fn range_of(block: usize, candidates: usize) -> Range<usize> {
    block * BLOCK..((block + 1) * BLOCK).min(candidates)
}

/// The last band that is to be tested once bodies have used up so much of a margin.
pub(super) fn last_band([used, margin]: [f64; 2]) -> usize {
    let used = used * (1.0 + f64::from(ROUNDING));
    usize::from(band_of(used as f32, scale_of(margin))).min(BANDS - 1)
}

/// The band of candidates for which bodies must use up so much of a margin, of which a band is one part in `scale`; [`BANDS`] if
/// that is more than all of it.
#[inline(always)]
fn band_of(used: f32, scale: f32) -> u8 {
    // Of NaN, 0. To a whole number by rounding: what is lost is less than a band.
    ((used * scale - 0.5).max(0.0).min(BANDS as f32) + ROUNDING_OFF).to_bits() as u8
}

/// How many bands are as wide as 1.
pub(super) fn scale_of(margin: f64) -> f32 {
    (BANDS as f64 / margin) as f32
}

/// The class of a candidate that touches or not, by how much its bodies must use up before that can change.
#[inline(always)]
fn class_of((touches, slack): (bool, f32), scale: f32) -> u8 {
    2 * band_of(slack, scale) + u8::from(!touches)
}

/// Finds out the classes of some candidates, a band being one part in `scale` of a length; calls `note` with those of some after some.
pub(super) fn sort_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    (scale, isa): (f32, Isa),
    range: Range<usize>,
    mut note: impl FnMut(&[u8]),
) {
    let pairs = candidates.pairs.pairs();
    candidates.each_meeting(range, |range, sets| {
        let named = test.named(sets);
        let mut classes = [0; AT_A_TIME];
        for first in range.clone().step_by(AT_A_TIME) {
            let part = first..(first + AT_A_TIME).min(range.end);
            let classes = &mut classes[..part.len()];
            if let Some((bodies, far)) = named {
                if far {
                    prefetch_bodies(bodies, pairs[part.end..(part.end + AT_A_TIME).min(range.end)].iter().copied());
                }
                run(isa, Classify::<D> { bodies, pairs: &pairs[part], scale, classes });
            } else {
                for (slot, at) in classes.iter_mut().zip(part) {
                    *slot =
                        class_of(test.slack(sets, candidates.shift_now(test, sets, (at, pairs[at])), pairs[at]), scale);
                }
            }
            note(classes);
        }
    });
}

/// Finds out the classes of up to [`AT_A_TIME`] candidates, whose bodies alone tell.
struct Classify<'a, const D: usize> {
    bodies: [&'a [Packed]; 2],
    pairs: &'a [[u32; 2]],
    scale: f32,
    classes: &'a mut [u8],
}

impl<const D: usize> LaneWork for Classify<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    /// In loops of their own, the second of which is one that compilers do side by side.
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { bodies: [of_a, of_b], pairs, scale, classes } = self;
        let [mut distances2, mut radii] = [[0.0; AT_A_TIME]; 2];
        let slots = distances2.as_chunks_mut().0.iter_mut().zip(radii.as_chunks_mut().0);
        let tests = Sixteens::of([of_a, of_b], pairs);
        for (sixteen, (distances2, radii)) in (0..tests.len()).zip(slots) {
            let measured = tests.measure::<L, D>(sixteen);
            measured[0].store(distances2);
            measured[1].store(radii);
        }
        for at in pairs.len() / LANES * LANES..pairs.len() {
            let [a, b] = pairs[at];
            (distances2[at], radii[at]) = of_a[a as usize].measure::<D>(&of_b[b as usize], [0.0; D]);
        }
        for ((slot, &distance2), &radii) in classes.iter_mut().zip(&distances2).zip(&radii) {
            *slot = class_of((distance2 <= radii * radii, slack_of(distance2.sqrt(), radii)), scale);
        }
    }
}

impl<const D: usize> Candidates<D> {
    /// By how many of each vector the second body of a candidate is moved now to where it was seen.
    #[inline]
    pub(super) fn shift_now(&self, test: &Test<'_, D>, sets: [u32; 2], (at, pair): (usize, [u32; 2])) -> [i32; D] {
        self.shifts.get(at).map_or([0; D], |&shift| test.shift(sets, shift, pair))
    }

    /// The candidates of the same two sets as one, and these.
    pub(super) fn meeting_of(&self, candidate: usize) -> (Range<usize>, [u32; 2]) {
        let meeting = self.ends.partition_point(|&end| end <= candidate);
        let first = meeting.checked_sub(1).map_or(0, |before| self.ends[before]);
        (first..self.ends[meeting], self.meetings[meeting])
    }

    /// Calls `visit` with the candidates of each two sets among some, and the sets.
    pub(super) fn each_meeting(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, [u32; 2])) {
        let mut at = range.start;
        while at < range.end {
            let (of_meeting, sets) = self.meeting_of(at);
            let end = of_meeting.end.min(range.end);
            visit(at..end, sets);
            at = end;
        }
    }
}
