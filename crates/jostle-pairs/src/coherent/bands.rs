//! Candidates in bands, by how far bodies must move before it can change whether two of them touch.
//!
//! How far two bodies are from touching, or from not touching any more, tells that. In each frame those bands are tested that bodies
//! have moved far enough for: right after a search few are, and most of the pairs of a dense scene never.

use core::ops::Range;

use jostle_core::Isa;
use jostle_core::axes::Both;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::candidates::Candidates;
use crate::coherent::course::{Course, border_of};
use crate::coherent::current::Test;
use crate::coherent::packed::{Packed, Sixteens, dot, prefetch_bodies};
use crate::coherent::slack::{ROUNDING, slack_of};

/// Candidates of a block, which one task tests: the bodies of so many stay in a first-level cache, and of blocks of a quarter of that,
/// processors would not foresee often enough where the next one begins.
pub(super) const BLOCK: usize = 1 << 13;

/// Bits of a word, each of which says whether a candidate touches.
pub(super) const WORD: usize = u64::BITS as usize;

/// Candidates whose bands are found one after the other, before they are noted.
const AT_A_TIME: usize = 512;

/// Bands of candidates that may be tested while the margin lasts, of the same width each; those of the last one only where bodies have
/// strayed from their course.
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
    band_of(used as f32, Scale::of(margin).bands).into()
}

/// The band of candidates for which bodies must use up so much of a margin, of which a band is one part in `scale`; the last one if
/// that is more than all of it.
#[inline(always)]
fn band_of(used: f32, scale: f32) -> u8 {
    // Of NaN, 0. To a whole number by rounding: what is lost is less than a band.
    ((used * scale - 0.5).max(0.0).min((BANDS - 1) as f32) + ROUNDING_OFF).to_bits() as u8
}

/// A margin in bands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    margin: f32,
    /// How many bands are as wide as 1.
    bands: f32,
}

impl Scale {
    pub(super) fn of(margin: f64) -> Self {
        Self { margin: margin as f32, bands: ((BANDS - 1) as f64 / margin) as f32 }
    }

    /// The class of a candidate that touches or not, by how much its bodies must use up before that can change.
    #[inline(always)]
    fn class_of(self, touches: bool, slack: f32) -> u8 {
        2 * (if slack > self.margin { BANDS as u8 } else { band_of(slack, self.bands) }) + u8::from(!touches)
    }
}

/// Finds out the classes of some candidates, a band being one part in `scale` of a length; calls `note` with those of some after some.
pub(super) fn sort_block<const D: usize>(
    candidates: &Candidates<D>,
    test: &Test<'_, D>,
    (scale, isa): (Scale, Isa),
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
                let pairs = &pairs[part];
                match test.ahead(sets) {
                    None => run(isa, Classify::<D> { bodies, pairs, scale, classes }),
                    Some((ahead, course)) => {
                        run(isa, ClassifyAhead::<D> { bodies, ahead, pairs, scale, course, classes });
                    }
                }
            } else {
                for (slot, at) in classes.iter_mut().zip(part) {
                    let shift = candidates.shift_now(test, sets, (at, pairs[at]));
                    let (touches, slack) = test.slack(sets, shift, pairs[at]);
                    *slot = scale.class_of(touches, slack);
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
    scale: Scale,
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
            *slot = scale.class_of(distance2 <= radii * radii, slack_of(distance2.sqrt(), radii));
        }
    }
}

/// As [`Classify`], of bodies that are kept where they are to be: whether two touch where they stand, and when that can change.
struct ClassifyAhead<'a, const D: usize> {
    bodies: [&'a [Packed]; 2],
    ahead: [&'a [Packed]; 2],
    pairs: &'a [[u32; 2]],
    scale: Scale,
    course: Course,
    classes: &'a mut [u8],
}

impl<const D: usize> LaneWork for ClassifyAhead<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { bodies, ahead, pairs, scale, course, classes } = self;
        // The squares of distances now and ahead, the sums of radii; how pairs lie apart times how they move apart, and the square of that.
        let mut columns = [[0.0_f32; AT_A_TIME]; 5];
        let now = Sixteens::of(bodies, pairs);
        let then = now.among(ahead);
        for sixteen in 0..now.len() {
            let (now, then) = (now.apart::<L>(sixteen), then.apart::<L>(sixteen));
            let mut steps = then;
            for axis in 0..D {
                steps[axis] = then[axis].sub(now[axis]);
            }
            let of_sixteen = [
                dot::<L, D>(&now, &now),
                dot::<L, D>(&then, &then),
                now[3],
                dot::<L, D>(&then, &steps),
                dot::<L, D>(&steps, &steps),
            ];
            for (column, value) in columns.iter_mut().zip(of_sixteen) {
                value.store(&mut column.as_chunks_mut().0[sixteen]);
            }
        }
        for at in pairs.len() / LANES * LANES..pairs.len() {
            let [a, b] = pairs[at].both(|body| body as usize);
            let (now, now2) = bodies[0][a].apart::<D>(&bodies[1][b], [0.0; D]);
            let (then, then2) = ahead[0][a].apart::<D>(&ahead[1][b], [0.0; D]);
            let (mut along, mut step2) = (0.0, 0.0);
            for axis in 0..D {
                let step = then[axis] - now[axis];
                (along, step2) = (along + then[axis] * step, step2 + step * step);
            }
            let of_pair = [now2, then2, bodies[0][a].radius() + bodies[1][b].radius(), along, step2];
            columns.iter_mut().zip(of_pair).for_each(|(column, value)| column[at] = value);
        }
        let [now2, then2, radii, along, step2] = &columns;
        if !course.is_expected() {
            for (at, slot) in classes.iter_mut().enumerate() {
                let slack = slack_of(then2[at].sqrt(), radii[at]);
                *slot = scale.class_of(now2[at] <= radii[at] * radii[at], slack);
            }
            return;
        }
        let inverse_margin = 1.0 / scale.margin;
        for (at, slot) in classes.iter_mut().enumerate() {
            let (then2, radii) = (then2[at], radii[at]);
            let touches = then2 <= radii * radii;
            let border = border_of(touches, radii, scale.margin);
            let is_sure = if touches { then2 < border * border } else { then2 > border * border };
            let band = band_of(course.lasts((then2, radii), (along[at], step2[at]), inverse_margin), scale.bands);
            *slot = 2 * (if is_sure { BANDS as u8 } else { band }) + u8::from(now2[at] > radii * radii);
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
