//! How bodies are expected to move on: by steps that are alike.
//!
//! One step leads each body from where it stood when candidates were listed to where it is kept, and each further step
//! as far again. So it is known when two bodies that keep to their courses begin to touch, or end. In each frame it is
//! also known how far a body has strayed, at most, from where so many steps would have led it. The distance of two
//! bodies that move straight on is a convex function of time: how long it is in doubt whether they touch grows no
//! faster than how far they have strayed. A candidate that is not in doubt, and was not in the frame before, is not
//! tested if it has not been due in between.

use core::array::from_fn;
use core::ops::Range;

use jostle_sets::simd::Lanes;

use crate::coherent::bands::{BANDS, band_of, bands_of_one};
use crate::coherent::slack::ROUNDING;

/// Taken off a gap for steps whose squares are denormal or vanish: sixteen steps of 2^-74.
const LEAST: f32 = f32::from_bits((127 - 69) << 23);

/// The least square of a step, in squares of a margin: bodies that move less are taken to move as much. 2^-40.
const HARDLY_MOVES: f32 = f32::from_bits((127 - 40) << 23);

/// No step is taken to be a shorter part of the time than `SHORTEST`: the time has then far more steps than a course is
/// followed for (`MOST_STEPS` of `current/plain.rs`). No candidate is known to stay as it is if a squared distance
/// exceeds `FARTHEST`, in squares of a margin. So no number overflows.
const SHORTEST: f32 = f32::from_bits((127 - 20) << 23);
const FARTHEST: f32 = f32::from_bits((127 + 60) << 23);

/// Bands of candidates that are in doubt for no longer than `longest` if bodies stray as far as they may. The bands are
/// by when a candidate is due. Times are parts of the whole time for which the margin can last.
struct DoubtBands {
    first: usize,
    bands: usize,
    longest: f32,
}

const DOUBTS: [DoubtBands; 3] = [
    DoubtBands { first: 1, bands: 96, longest: 1.0 / 24.0 },
    DoubtBands { first: 97, bands: 20, longest: 1.0 / 6.0 },
    DoubtBands { first: 117, bands: 8, longest: 1.0 / 2.0 },
];
const _: () = assert!(DOUBTS[2].first + DOUBTS[2].bands == BANDS);

/// The band of candidates that are in doubt for longer, or twice. It is tested in each frame.
const ALWAYS: u8 = 0;

/// The bands that are tested in a frame lie in so many ranges.
pub(super) const RANGES: usize = 1 + DOUBTS.len();

/// What rounding may cost, relative to how far bodies may stray, at least and at most. Where rounding costs more, it is
/// not known for how long a candidate is in doubt.
const ROUNDED: [f32; 2] = [1.0 / 32.0, 0.125];

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    /// The longest step of any body, at most, from where it stood when candidates were listed to where it is kept.
    pub(super) reach: f32,
    /// How far bodies may stray from their course; infinite where no course is expected.
    pub(super) tolerance: f32,
    /// What rounding may cost of a distance that is compared with `tolerance`, relative to `tolerance`.
    rounded: f32,
}

/// How far bodies have come since candidates were sorted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Progress {
    /// Bodies have used up so much of a margin, each in its own direction.
    Anywhere(f64),
    /// Bodies are on their course. `course` is 0 at the beginning of the whole time for which the margin can last, and
    /// 1 at its end. A candidate would be in doubt for some time if bodies strayed as far as they may; it is in doubt
    /// for the part `doubt` of that time.
    On { course: f32, doubt: f32 },
}

impl Course {
    /// Returns a course for which no bodies have been noted yet.
    pub(super) fn new(reach: f32, tolerance: f32) -> Self {
        Self { reach, tolerance, rounded: ROUNDED[0] }
    }

    /// Notes bodies with steps up to this length and radii up to this one.
    pub(super) fn note(&mut self, [step, radius]: [f32; 2]) {
        let more = 1.0 + ROUNDING;
        self.reach = self.reach.max(step * more);
        self.rounded = self.rounded.max(more * rounding_of(2.0 * radius) / self.tolerance).min(ROUNDED[1]);
    }

    /// Returns how far bodies have come that are so many steps from where they are kept, none of which has strayed
    /// farther.
    pub(super) fn progress(self, (steps, strayed): (f64, f64), margin: f32) -> Progress {
        let strayed = (strayed / f64::from(self.tolerance)) as f32;
        let doubt = (1.0 + self.rounded) * strayed + self.rounded;
        Progress::On { course: 0.5 + steps as f32 * self.step(margin), doubt }
    }

    pub(super) fn is_expected(self) -> bool {
        self.tolerance < f32::INFINITY
    }

    /// Returns which part of the whole time for which a margin can last a step takes. Halfway through that time bodies
    /// are where they are kept.
    pub(super) fn step(self, margin: f32) -> f32 {
        self.reach / (2.0 * margin)
    }

    /// Returns for which of sixteen candidates it may change whether they touch while all bodies are on their course.
    /// Given are the squares of the distances and the sums of the radii where bodies are kept; and, for the steps by
    /// which two bodies move apart, their products with the distance vectors, and their squares.
    ///
    /// After some steps the square of a distance is distance2 + 2 along steps + step2 steps^2. Touching cannot change
    /// where that is greater all the time than the square of the sum of the radii plus what both bodies may have
    /// strayed, or less than the square of the sum of the radii minus that.
    #[inline(always)]
    pub(super) fn may_change<L: Lanes>(self, [distance2, radii, along, step2]: [L; 4], margin: f32) -> u16 {
        let splat = L::splat;
        // Lengths are in margins, so that products of four lengths are numbers in any unit. Steps lead from where
        // bodies are kept to the end of the time.
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
        // At the end of the time at which the bodies are nearer, and at the other end.
        let (ends, apart) = (distance2.add(step2), along.add(along));
        let (near, far) = (ends.sub(apart), ends.add(apart));
        let passes_by = L::both(outer.le_mask(distance2), along.mul(along).le_mask(step2.mul(distance2.sub(outer))));
        let stays_outside = L::both(step2.le_mask(along), outer.le_mask(near));
        let is_known = rounding.le_mask(splat(self.tolerance * self.rounded));
        let stays_inside = L::both(L::both(far.le_mask(inner), off.add(off).le_mask(radii)), is_known);
        let never = L::bits(passes_by) | L::bits(stays_outside) | L::bits(stays_inside);
        !(never & far.max(outer).le(splat(FARTHEST)))
    }

    /// Returns the band of a candidate that may change, by the same numbers as [`Course::may_change`].
    ///
    /// A candidate is in doubt while its distance is no farther from the sum of the radii than both bodies may have
    /// strayed: once when the bodies come, and once when they go.
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
        // Near the closest approach, and where rounding costs more, it is not known for how long the candidate is in
        // doubt.
        let lets_through = inner > 0.0 && radii >= 2.0 * off && rounding <= self.tolerance * self.rounded;
        let is_known =
            nearest.abs() + begins < f32::INFINITY && outer.abs() < f32::INFINITY && inner.abs() < f32::INFINITY;
        if is_known && lets_through && comes != goes { of_one } else { ALWAYS }
    }
}

/// Returns the last band that is to be tested once bodies have come so far: the last of all, if they are on their
/// course.
fn last_band(progress: Progress, margin: f64) -> usize {
    match progress {
        Progress::Anywhere(used) => {
            let used = used * (1.0 + f64::from(ROUNDING));
            band_of(used as f32 * bands_of_one(margin), BANDS).into()
        }
        Progress::On { .. } => BANDS - 1,
    }
}

/// Returns the bands that are to be tested once bodies have come as far as `now`, if all candidates were known when
/// they had come as far as `before`: ascending, none twice.
pub(super) fn bands_to_test(before: Progress, now: Progress, margin: f64) -> [Range<usize>; RANGES] {
    if let (Progress::On { course, doubt }, Progress::On { course: course_now, doubt: doubt_now }) = (before, now) {
        return due([(course, doubt), (course_now, doubt_now)]);
    }
    // A candidate that was tested in the last frame may have changed then, and is tested once more.
    let last = last_band(before, margin).max(last_band(now, margin));
    from_fn(|range| if range == 0 { 0..last + 1 } else { 0..0 })
}

/// Returns the bands of candidates that may have changed from one frame on a course to another, ascending.
fn due(frames: [(f32, f32); 2]) -> [Range<usize>; RANGES] {
    let of_doubt = |doubt: &DoubtBands| {
        let [before, now] = frames.map(|(at, part)| [at - part * doubt.longest, at + part * doubt.longest]);
        let band = |at: f32| doubt.first + usize::from(band_of(at * doubt.bands as f32, doubt.bands));
        band(before[0].min(now[0]))..band(before[1].max(now[1])) + 1
    };
    from_fn(|at| at.checked_sub(1).map_or(0..1, |number| of_doubt(&DOUBTS[number])))
}

/// Returns an area in squares of a margin.
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

    /// Returns the band for a margin of 1; one beyond the last if it cannot change whether the bodies touch.
    fn band(course: Course, (distance2, radii): (f32, f32), (along, step2): (f32, f32)) -> u8 {
        let may_change = course.may_change([distance2, radii, along, step2].map(Portable::splat), 1.0);
        assert!(may_change == 0 || may_change == u16::MAX, "all lanes are alike");
        let of_one = course.band((distance2, radii), (along, step2), [1.0, course.step(1.0)]);
        if may_change == 0 { BANDS as u8 } else { of_one }
    }

    /// Follows two bodies in the plane, with a margin of 1. In each frame they stray by up to a part of what they may;
    /// the part grows.
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
            let now = course.progress((steps, strayed * tolerance), 1.0);
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
        // Two bodies that do not move, and touch by far, or are far from touching.
        assert_eq!(band(course, (0.25, 1.0), (0.0, 0.0)), BANDS as u8);
        assert_eq!(band(course, (4.0, 1.0), (0.0, 0.0)), BANDS as u8);
        assert_eq!(band(course, (1.0, 1.0), (0.0, 0.0)), 0);
    }
}
