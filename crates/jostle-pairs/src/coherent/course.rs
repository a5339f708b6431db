//! How bodies are expected to move on: by steps that are alike.
//!
//! From where they stood when candidates were listed, one step leads each to where it is kept, and as much more of it beyond. So it is known
//! when two begin to touch, or end, if they keep to that; and in each frame, how far one of them has strayed, at most, from where so many
//! steps would have led it. The distance of two that move straight on is a convex function of time: how long it is in doubt whether they
//! touch grows no faster than how far they have strayed. Candidates that are not in doubt, and were not in the frame before, are not tested
//! if they have not been due in between.

use core::array::from_fn;
use core::ops::Range;

use jostle_sets::simd::Lanes;

use crate::coherent::bands::{BANDS, band_of, bands_of_one};
use crate::coherent::slack::ROUNDING;

/// What is taken off a gap for steps whose squares are denormal or vanish: sixteen of those of 2^-74.
const LEAST: f32 = f32::from_bits((127 - 69) << 23);

/// Bodies that move less than this of a margin in a step, squared, are taken to move as much: 2^-40.
const HARDLY_MOVES: f32 = f32::from_bits((127 - 40) << 23);

/// No step is taken to be a shorter part of the time than this, which is far more steps than a course is followed for (`MOST_STEPS` of
/// `current/plain.rs`), and nobody to be known who is farther away than so many margins, squared: so no number overflows.
const SHORTEST: f32 = f32::from_bits((127 - 20) << 23);
const FARTHEST: f32 = f32::from_bits((127 + 60) << 23);

/// Candidates that are in doubt for no longer than `longest` if bodies stray as far as they may, in bands by when they are due: times
/// are parts of all the time for which the margin can last.
struct Doubt {
    first: usize,
    bands: usize,
    longest: f32,
}

const DOUBTS: [Doubt; 3] = [
    Doubt { first: 1, bands: 96, longest: 1.0 / 24.0 },
    Doubt { first: 97, bands: 20, longest: 1.0 / 6.0 },
    Doubt { first: 117, bands: 8, longest: 1.0 / 2.0 },
];
const _: () = assert!(DOUBTS[2].first + DOUBTS[2].bands == BANDS);

/// The band of those that are in doubt for longer, or twice: they are tested in each frame.
const ALWAYS: u8 = 0;

/// Bands that are tested in a frame lie in so many ranges.
pub(super) const RANGES: usize = 1 + DOUBTS.len();

/// What rounding may cost, relative to how far bodies may stray, at least and at most: of what is rounded by more, it is not known for how long
/// it is in doubt.
const ROUNDED: [f32; 2] = [1.0 / 32.0, 0.125];

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    /// How long the longest step of a body is at most, from where it stood when they were listed to where it is kept.
    pub(super) reach: f32,
    /// How far they may stray from there and from the same way on; infinite where no course is expected.
    pub(super) tolerance: f32,
    /// What rounding may cost of what is compared with that, relative to it.
    rounded: f32,
}

/// How far bodies have come since candidates were sorted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Come {
    /// They have used up so much of a margin, each in its own direction.
    Anywhere(f64),
    /// They are on their course, so far: from 0, at the beginning of all the time for which the margin can last, to 1; and of who is in doubt
    /// for some time if bodies stray as far as they may, it is not known for such a part of that whether they touch.
    On { course: f32, doubt: f32 },
}

impl Course {
    /// A course that is expected of no body yet.
    pub(super) fn new(reach: f32, tolerance: f32) -> Self {
        Self { reach, tolerance, rounded: ROUNDED[0] }
    }

    /// Takes note of bodies of steps up to such a length and of radii up to this one.
    pub(super) fn note(&mut self, [step, radius]: [f32; 2]) {
        let more = 1.0 + ROUNDING;
        self.reach = self.reach.max(step * more);
        self.rounded = self.rounded.max(more * rounding_of(2.0 * radius) / self.tolerance).min(ROUNDED[1]);
    }

    /// How far bodies have come that are so many steps from where they are kept, of which none has strayed farther.
    pub(super) fn come(self, (steps, strayed): (f64, f64), margin: f32) -> Come {
        let strayed = (strayed / f64::from(self.tolerance)) as f32;
        let doubt = (1.0 + self.rounded) * strayed + self.rounded;
        Come::On { course: 0.5 + steps as f32 * self.step(margin), doubt }
    }

    pub(super) fn is_expected(self) -> bool {
        self.tolerance < f32::INFINITY
    }

    /// How much of all the time for which a margin can last a step takes; halfway bodies are where they are kept.
    pub(super) fn step(self, margin: f32) -> f32 {
        self.reach / (2.0 * margin)
    }

    /// Of which of sixteen candidates it may change whether they touch while all bodies are on their course: by the squares of their distances
    /// and the sums of their radii where they are kept; and, of the steps by which they move apart, by their products with how they lie
    /// apart, and their squares.
    ///
    /// The square of a distance is distance2 + 2 along steps + step2 steps^2. It cannot change where that is greater all the time than
    /// the square of the sum of the radii and of what both may have strayed, or less than that of the former without the latter.
    #[inline(always)]
    pub(super) fn may_change<L: Lanes>(self, [distance2, radii, along, step2]: [L; 4], margin: f32) -> u16 {
        let splat = L::splat;
        // In margins, so that products of four lengths are numbers in any unit; from where bodies are kept to the end of the time.
        let inverse_margin = splat(1.0 / margin);
        let half = 0.5 / self.step(margin).max(SHORTEST);
        let (distance2, along) =
            (in_margins(distance2, inverse_margin), in_margins(along, inverse_margin).mul(splat(half)));
        let (along, step2) =
            (along.max(splat(0.0).sub(along)), in_margins(step2, inverse_margin).mul(splat(half)).mul(splat(half)));
        let rounding = radii.mul(splat(2.0 * ROUNDING)).add(splat(LEAST));
        let off = rounding.add(splat(self.tolerance * (2.0 + self.rounded)));
        let (outer, inner) = (radii.add(off), radii.sub(off));
        let (outer, inner) =
            (in_margins(outer.mul(outer), inverse_margin), in_margins(inner.mul(inner), inverse_margin));
        // At the nearer end and at the farther one.
        let (ends, apart) = (distance2.add(step2), along.add(along));
        let (near, far) = (ends.sub(apart), ends.add(apart));
        let passes_by = L::both(outer.le_mask(distance2), along.mul(along).le_mask(step2.mul(distance2.sub(outer))));
        let stays_outside = L::both(step2.le_mask(along), outer.le_mask(near));
        let is_known = rounding.le_mask(splat(self.tolerance * self.rounded));
        let stays_inside = L::both(L::both(far.le_mask(inner), off.add(off).le_mask(radii)), is_known);
        let never = L::bits(passes_by) | L::bits(stays_outside) | L::bits(stays_inside);
        !(never & far.max(outer).le(splat(FARTHEST)))
    }

    /// The band of two bodies of which it may change whether they touch: by the same as [`Course::may_change`].
    ///
    /// It is in doubt whether they touch while their distance is not farther from the sum of their radii than both may have strayed, which is so
    /// once when they come, and once when they go.
    #[inline(always)]
    pub(super) fn band(
        self,
        (distance2, radii): (f32, f32),
        (along, step2): (f32, f32),
        [inverse_margin, step]: [f32; 2],
    ) -> u8 {
        let rounding = rounding_of(radii);
        let off = self.tolerance * (2.0 + self.rounded) + rounding;
        let along = along * inverse_margin * inverse_margin;
        let step2 = (step2 * inverse_margin * inverse_margin).max(HARDLY_MOVES);
        let under =
            |border: f32| along * along - step2 * ((distance2 - border * border) * inverse_margin * inverse_margin);
        let (outer, inner) = (under(radii + off), under((radii - off).max(0.0)));
        let in_time = step / step2;
        let nearest = 0.5 - along * in_time;
        let from_nearest = |under: f32| under.max(0.0).sqrt() * in_time;
        let [begins, due, ends] = [from_nearest(outer), from_nearest(under(radii)), from_nearest(inner)];
        let comes = nearest - begins <= 1.0 && nearest - ends >= 0.0;
        let goes = nearest + ends <= 1.0 && nearest + begins >= 0.0;
        let (at, long) = (if comes { nearest - due } else { nearest + due }, due - ends);
        let mut of_one = ALWAYS;
        for doubt in DOUBTS.iter().rev() {
            let band = doubt.first as u8 + band_of(at * doubt.bands as f32, doubt.bands);
            of_one = if long <= doubt.longest { band } else { of_one };
        }
        // Near the nearest, and of numbers that are rounded by more, it is not known for how long.
        let lets_through = inner > 0.0 && radii >= 2.0 * off && rounding <= self.tolerance * self.rounded;
        let is_known =
            nearest.abs() + begins < f32::INFINITY && outer.abs() < f32::INFINITY && inner.abs() < f32::INFINITY;
        if is_known && lets_through && comes != goes { of_one } else { ALWAYS }
    }
}

/// The last band that is to be tested once bodies have come so far: all, if that is along their course.
fn last_band(come: Come, margin: f64) -> usize {
    match come {
        Come::Anywhere(used) => {
            let used = used * (1.0 + f64::from(ROUNDING));
            band_of(used as f32 * bands_of_one(margin), BANDS).into()
        }
        Come::On { .. } => BANDS - 1,
    }
}

/// The bands that are to be tested once bodies have come so far, which had come as far as that when all candidates were known: ascending,
/// none twice.
pub(super) fn bands_to_test(before: Come, now: Come, margin: f64) -> [Range<usize>; RANGES] {
    if let (Come::On { course, doubt }, Come::On { course: course_now, doubt: doubt_now }) = (before, now) {
        return due([(course, doubt), (course_now, doubt_now)]);
    }
    // What was tested in the last frame may have changed then, and is tested once more.
    let last = last_band(before, margin).max(last_band(now, margin));
    from_fn(|range| if range == 0 { 0..last + 1 } else { 0..0 })
}

/// The bands of candidates that may have changed from one frame on their course to another, ascending.
fn due(frames: [(f32, f32); 2]) -> [Range<usize>; RANGES] {
    let of_doubt = |doubt: &Doubt| {
        let [before, now] = frames.map(|(at, part)| [at - part * doubt.longest, at + part * doubt.longest]);
        let band = |at: f32| doubt.first + usize::from(band_of(at * doubt.bands as f32, doubt.bands));
        band(before[0].min(now[0]))..band(before[1].max(now[1])) + 1
    };
    from_fn(|at| at.checked_sub(1).map_or(0..1, |number| of_doubt(&DOUBTS[number])))
}

/// An area, in those of a margin.
#[inline(always)]
fn in_margins<L: Lanes>(area: L, inverse_margin: L) -> L {
    area.mul(inverse_margin).mul(inverse_margin)
}

#[inline(always)]
fn rounding_of(radii: f32) -> f32 {
    2.0 * radii * ROUNDING + LEAST
}

#[cfg(test)]
mod tests {
    use jostle_sets::simd::{Lanes, Portable};

    use super::{BANDS, Course, bands_to_test};

    const FRAMES: usize = 24;

    /// Steele, Lea and Flood's SplitMix64.
    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((x ^ x >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Of margins of 1; beyond the last one if it cannot change whether they touch.
    fn band(course: Course, (distance2, radii): (f32, f32), (along, step2): (f32, f32)) -> u8 {
        let may_change = course.may_change([distance2, radii, along, step2].map(Portable::splat), 1.0);
        assert!(may_change == 0 || may_change == u16::MAX, "all lanes are alike");
        let of_one = course.band((distance2, radii), (along, step2), [1.0, course.step(1.0)]);
        if may_change == 0 { BANDS as u8 } else { of_one }
    }

    /// In the plane, where margins are 1: two bodies that stray in each frame by up to a part of what they may, which grows.
    fn follow(random: &mut Random) -> (u8, usize) {
        let mut number = |most: f64| (2.0 * random.unit() - 1.0) * most;
        let tolerance = 2.0_f64.powf(-1.0 - number(3.0).abs() * 2.0);
        let reach = 0.85 * number(1.0).abs().max(0.1);
        let mut course = Course::new(reach as f32, tolerance as f32);
        let radii = number(2.0).abs().powi(4) * if number(1.0) > 0.9 { 20.0 } else { 1.0 };
        course.note([0.0, radii as f32]);
        let (turn, far) = (number(7.0), radii + number(2.5));
        let apart = [far * turn.cos(), far * turn.sin()].map(|x| f64::from(x as f32));
        let slow = if number(1.0) > 0.8 { 0.01 } else { 1.4 };
        let step = [number(reach * slow), number(reach * slow)].map(|x| f64::from(x as f32));
        let dot = |a: [f64; 2], b: [f64; 2]| (a[0] * b[0] + a[1] * b[1]) as f32;
        let band = band(course, (dot(apart, apart), radii as f32), (dot(apart, step), dot(step, step)));
        let (mut last, mut changes) = (None, 0);
        for frame in 0..FRAMES {
            let on = frame as f64 / (FRAMES - 1) as f64;
            let strayed = (frame as f64 / FRAMES as f64).powi(2);
            let steps = (on - 0.5) / f64::from(course.step(1.0));
            let angle = number(7.0);
            let off = 2.0 * tolerance * strayed * if frame % 3 == 0 { 1.0 } else { number(1.0) };
            let [x, y] =
                [apart[0] + steps * step[0] + off * angle.cos(), apart[1] + steps * step[1] + off * angle.sin()];
            let touches = x.hypot(y) <= f64::from(radii as f32);
            let now = course.come((steps, strayed * tolerance), 1.0);
            if let Some((touched, before)) = last
                && touched != touches
            {
                let is_tested = bands_to_test(before, now, 1.0).iter().any(|bands| bands.contains(&usize::from(band)));
                assert!(
                    is_tested,
                    "band {band}, frame {frame}: {course:?} {radii} {apart:?} {step:?} from {before:?} to {now:?}"
                );
                changes += 1;
            }
            last = Some((touches, now));
        }
        (band, changes)
    }

    #[test]
    fn who_begins_or_ends_is_tested_then() {
        let (mut random, mut changed) = (Random(1), [0; BANDS + 1]);
        for _ in 0..200_000 {
            let (band, changes) = follow(&mut random);
            changed[usize::from(band)] += changes;
        }
        assert!(changed[BANDS] == 0 && changed[..BANDS].iter().all(|&changes| changes > 0), "{changed:?}");
    }

    #[test]
    fn what_is_no_number_is_always_tested() {
        let course = Course::new(0.8, 0.01);
        for value in [f32::NAN, f32::INFINITY] {
            assert_eq!(band(course, (value, 1.0), (0.1, 0.2)), 0);
            assert_eq!(band(course, (1.0, 1.0), (value, 0.2)), 0);
            assert_eq!(band(course, (1.0, 1.0), (value, value)), 0);
        }
        // Who does not move, and touches by far, or by far does not.
        assert_eq!(band(course, (0.25, 1.0), (0.0, 0.0)), BANDS as u8);
        assert_eq!(band(course, (4.0, 1.0), (0.0, 0.0)), BANDS as u8);
        assert_eq!(band(course, (1.0, 1.0), (0.0, 0.0)), 0);
    }
}
