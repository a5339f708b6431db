//! When bodies of any shape that move straight on first touch, in `f64`, on the caller's own numbers.
//!
//! The distance of two convex bodies is a convex function of the time then. So Newton's method comes nearer to the
//! first touch with every step and never passes it: conservative advancement (B. V. Mirtich, "Impulse-based dynamic
//! simulation", 1996) by the rate at which the nearest points approach each other. It begins when the boxes around the
//! bodies meet, which is the first touch itself where a round body comes to the face of a box.
//!
//! Two places need care. What leads to an inner point of a segment leads straight across it (`segments`): where thin
//! bodies slide along each other, what rounding leaves along it would count for more than what leads them nearer. And
//! of bodies without thickness, rounding may put a step beyond the place where they touch. So bodies that come no
//! nearer touch all the same if no more than rounding lies between them.
//!
//! Times are NaN where bodies do not touch. A time that a step leaves as it is has been settled. So sixteen pairs take
//! their steps side by side until all are settled, with the same bits as each alone.

use jostle_core::Isa;
use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::isa::Work;

use crate::compiled::compiled_here;
use crate::proxy::segments::{box_from_segment, dot, segment_from_segment};
use crate::proxy::sixteen_pairs::{Kind, PAIRS, SixteenPairs};
use crate::proxy::solid::Solid::{self, Boxed, Round};
use crate::proxy::solid::between;

/// Steps of Newton's method, at most. Of bodies that graze each other, each step halves the time that is left: after
/// 53, `f64` has nothing left to halve.
const STEPS: usize = 64;

/// Bodies that come no nearer touch if what is left between them is at most this part of the lengths that it is
/// computed from: 2^-50.
const ROUNDING: f64 = f64::from_bits((1023 - 50) << 52);

/// Returns when two circles or spheres first touch, if they do. `p` leads from the first to the second at the
/// beginning, both move by their displacements, and their radii come to `s`.
#[inline]
pub fn first_touch<const D: usize>(p: [f64; D], [from, to]: [[f64; D]; 2], s: f64) -> Option<f64> {
    let time = time_of_touch(p, from_axes(|axis| to[axis] - from[axis]), s);
    (!time.is_nan()).then_some(time)
}

/// The same of bodies the second of which moves by `v` as seen from the first; NaN if they do not touch. No branch, so
/// that sixteen pairs take it side by side.
#[inline(always)]
fn time_of_touch<const D: usize>(p: [f64; D], v: [f64; D], s: f64) -> f64 {
    let (mut pp, mut pv, mut vv) = (0.0, 0.0, 0.0);
    for axis in 0..D {
        (pp, pv, vv) = (pp + p[axis] * p[axis], pv + p[axis] * v[axis], vv + v[axis] * v[axis]);
    }
    let c = pp - s * s;
    let discriminant = pv * pv - vv * c;
    let time = c / (discriminant.sqrt() - pv);
    let comes = (pv < 0.0) & (discriminant >= 0.0) & (time <= 1.0);
    let later = if comes { time } else { f64::NAN };
    if c <= 0.0 { 0.0 } else { later }
}

/// Returns the time after a step of Newton's method for bodies whose cores are so far apart, by the square of their
/// distance and what leads from the first to the second, of which the second moves by `v`. On each axis, what they are
/// apart is rounded by less than `rounding`.
#[inline(always)]
fn step<const D: usize>(
    time: f64,
    (distance2, apart): (f64, [f64; D]),
    (v, rounding): ([f64; D], [f64; D]),
    reach: f64,
) -> f64 {
    let (apart2, nearer, reach2) = (dot(apart, apart), -dot(apart, v), reach * reach);
    let distance = apart2.sqrt();
    let next = time + (apart2 - reach2) / (distance + reach) * (distance / nearer);
    // Bodies that do not come nearer will never touch, unless they do now.
    let touch = (time > 0.0) & ((distance - reach) * distance <= dot(apart.axes(f64::abs), rounding));
    let last = if touch { time } else { f64::NAN };
    let next = if (nearer > 0.0) & (next <= 1.0) { next } else { last };
    if distance2 <= reach2 { time } else { next }
}

/// Returns when two boxes first meet from time 0 to 1. On each axis, the second begins `below` above the end of the
/// first, and ends `above` above its beginning. It moves by `v`.
#[inline(always)]
fn boxes_meet<const D: usize>(below: [f64; D], above: [f64; D], v: [f64; D]) -> f64 {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..D {
        let enters = if v[axis] > 0.0 { above[axis] } else { below[axis] };
        let leaves = if v[axis] > 0.0 { below[axis] } else { above[axis] };
        let (enters, leaves) = (-enters / v[axis], -leaves / v[axis]);
        let meets = (below[axis] <= 0.0) & (above[axis] >= 0.0);
        let (still_first, still_last) = (0.0, if meets { 1.0 } else { f64::NEG_INFINITY });
        first = first.max(if v[axis] == 0.0 { still_first } else { enters });
        last = last.min(if v[axis] == 0.0 { still_last } else { leaves });
    }
    // A time is 0, not -0.
    if first <= last { first + 0.0 } else { f64::NAN }
}

/// Returns when the boxes around two segments meet, grown by `reach`. The segments are given by what leads from both
/// ends of the first to both ends of the second.
#[inline(always)]
fn surroundings_meet<const D: usize>(ends: [[[f64; D]; 2]; 2], reach: f64, v: [f64; D]) -> f64 {
    let [[a, b], [c, d]] = ends;
    let least = from_axes(|axis| a[axis].min(b[axis]).min(c[axis].min(d[axis])) - reach);
    let most = from_axes(|axis| a[axis].max(b[axis]).max(c[axis].max(d[axis])) + reach);
    boxes_meet(least, most, v)
}

/// The squared distance of a point from a box, and what leads to it.
#[inline(always)]
fn box_from_point<const D: usize>(lo: [f64; D], hi: [f64; D]) -> (f64, [f64; D]) {
    let apart = from_axes(|axis| if lo[axis] > 0.0 { lo[axis] } else { hi[axis].min(0.0) });
    (dot(apart, apart), apart)
}

impl<const D: usize> Solid<D> {
    /// Returns when two bodies first touch, if they do from time 0 to 1. At time 0 the second is seen at a shift; it
    /// moves by `v` as seen from the first. See [`Set::moving`](crate::Set::moving).
    pub fn first_touch(&self, other: &Self, shift: [f64; D], v: [f64; D]) -> Option<f64> {
        first_touch_of_solids(self, other, shift, v)
    }

    /// As [`Solid::first_touch`], of a first body that is no box; NaN if they do not touch.
    fn approach(&self, other: &Self, shift: [f64; D], v: [f64; D]) -> f64 {
        let ((ends, radius), (others, reach)) = (self.segment(), other.segment());
        let reach = radius + reach;
        let all = ends.both(|from| others.both(|to| between(from, to, shift)));
        let length = |[p, q]: [[f64; D]; 2], axis: usize| (q[axis] - p[axis]).abs();
        let other_length = |axis| if matches!(other, Boxed { .. }) { 0.0 } else { length(others, axis) };
        let size = |axis: usize| v[axis].abs() + shift[axis].abs() + length(ends, axis) + other_length(axis);
        let rounding = from_axes(|axis| size(axis) * ROUNDING);
        let mut time = surroundings_meet(all, reach, v);
        for _ in 0..STEPS {
            let apart = self.apart(other, from_axes(|axis| shift[axis] + time * v[axis]));
            let next = step(time, apart, (v, rounding), reach);
            if next == time || next.is_nan() {
                return next;
            }
            time = next;
        }
        time
    }

    /// Returns the squared distance of the cores of two bodies, the second seen at a shift, as
    /// [`Solid::touches`](Self::touches) compares it, and what leads from the core of this body to that of the other
    /// where they are nearest.
    pub fn apart(&self, other: &Self, shift: [f64; D]) -> (f64, [f64; D]) {
        let along = |ends: [[f64; D]; 2]| between(ends[0], ends[1], [0.0; D]);
        let (ends, others) = (self.segment().0, other.segment().0);
        let seen = |from: [f64; D]| others.both(|to| between(from, to, shift));
        match (self, other) {
            (&Boxed { lo, hi }, &Boxed { lo: other_lo, hi: other_hi }) => {
                box_from_point(between(hi, other_lo, shift), between(lo, other_hi, shift))
            }
            (Boxed { .. }, _) => {
                let (distance2, apart) = other.apart(self, shift.axes(|x| -x));
                (distance2, apart.axes(|x| 0.0 - x))
            }
            (Round { .. }, Boxed { .. }) => {
                let [to_lo, to_hi] = seen(ends[0]);
                box_from_point(to_lo, to_hi)
            }
            (_, Boxed { .. }) => {
                let [to_lo, to_hi] = seen(ends[0]);
                box_from_segment(to_lo, to_hi, along(ends)).0
            }
            _ => segment_from_segment(between(ends[0], others[0], shift), along(ends), along(others)).0,
        }
    }
}

compiled_here! {
    fn first_touch_of_solids<const D: usize>(a: &Solid<D>, b: &Solid<D>, shift: [f64; D], v: [f64; D]) -> Option<f64> {
        let time = match (a, b) {
            (&Round { center, radius }, &Round { center: to, radius: reach }) => {
                time_of_touch(between(center, to, shift), v, radius + reach)
            }
            (&Boxed { lo, hi }, &Boxed { lo: other_lo, hi: other_hi }) => {
                boxes_meet(between(hi, other_lo, shift), between(lo, other_hi, shift), v)
            }
            (Boxed { .. }, _) => b.approach(a, shift.axes(|x| -x), v.axes(|x| -x)),
            _ => a.approach(b, shift, v),
        };
        (!time.is_nan()).then_some(time)
    }
}

/// Pairs of bodies that move, and by how much each second body does as seen from the first.
pub(super) struct SixteenPaths<const D: usize> {
    pub(super) pairs: SixteenPairs<D>,
    pub(super) by: [[f64; PAIRS]; D],
}

impl<const D: usize> SixteenPaths<D> {
    /// When each two bodies first touch.
    pub(super) fn first_touches(&self, kind: Kind, isa: Isa) -> [f64; PAIRS] {
        match kind {
            Kind::Boxes => isa.run(Boxes(self)),
            Kind::RoundAndBox => isa.run(RoundAndBox(self)),
            Kind::SegmentAndBox => isa.run(SegmentAndBox(self)),
            Kind::Segments => isa.run(Segments(self)),
            Kind::Rounds => isa.run(Rounds(self)),
        }
    }

    #[inline(always)]
    fn by(&self, pair: usize) -> [f64; D] {
        from_axes(|axis| self.by[axis][pair])
    }

    /// See [`step`]. Of the two bodies of a pair, so many have segments for cores: of one, the first.
    #[inline(always)]
    fn rounding(&self, segments: usize, pair: usize) -> [f64; D] {
        let ([first, second], shift) = ([0, 1].both(|side| self.pairs.along(side, pair)), self.pairs.shift_of(pair));
        let counted = |of: f64, side: usize| if side < segments { of.abs() } else { 0.0 };
        let path = |axis: usize| self.by[axis][pair].abs() + shift[axis].abs();
        let size = |axis: usize| path(axis) + counted(first[axis], 0) + counted(second[axis], 1);
        from_axes(|axis| size(axis) * ROUNDING)
    }

    /// What leads from an end of the first body of a pair to an end of the second one at this time.
    #[inline(always)]
    fn between_at(&self, time: f64, ends: [usize; 2], pair: usize) -> [f64; D] {
        let shift = self.pairs.shift_of(pair);
        self.pairs.between_at(from_axes(|axis| shift[axis] + time * self.by[axis][pair]), ends, pair)
    }
}

struct Boxes<'a, const D: usize>(&'a SixteenPaths<D>);

impl<const D: usize> Work for Boxes<'_, D> {
    type Output = [f64; PAIRS];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> [f64; PAIRS] {
        let (SixteenPaths { pairs, .. }, mut times) = (self.0, [0.0; PAIRS]);
        for pair in 0..PAIRS {
            times[pair] = boxes_meet(pairs.between([1, 0], pair), pairs.between([0, 1], pair), self.0.by(pair));
        }
        times
    }
}

/// Circles or spheres: see [`time_of_touch`].
struct Rounds<'a, const D: usize>(&'a SixteenPaths<D>);

impl<const D: usize> Work for Rounds<'_, D> {
    type Output = [f64; PAIRS];
    const GAINS_BY_AVX512: bool = true;

    #[inline(always)]
    fn run(self) -> [f64; PAIRS] {
        let (SixteenPaths { pairs, .. }, mut times) = (self.0, [0.0; PAIRS]);
        for pair in 0..PAIRS {
            times[pair] = time_of_touch(pairs.between([0; 2], pair), self.0.by(pair), pairs.reach(pair));
        }
        times
    }
}

/// Defines the work of pairs one body of which is round or a capsule: how many of the two have segments for cores, the
/// first one if only one has, and the distance of their cores at a time. (As in
/// [`sixteen_pairs`](super::sixteen_pairs), the loops stand here so that they become vector code.)
macro_rules! paths {
    ($($name:ident, $gains:literal, $segments:literal, |$paths:ident, $pair:ident, $time:ident| $apart:expr;)*) => {$(
        struct $name<'a, const D: usize>(&'a SixteenPaths<D>);

        impl<const D: usize> Work for $name<'_, D> {
            type Output = [f64; PAIRS];
            const GAINS_BY_AVX512: bool = $gains;

            #[inline(always)]
            fn run(self) -> [f64; PAIRS] {
                let ($paths, mut times) = (self.0, [0.0; PAIRS]);
                for $pair in 0..PAIRS {
                    let all = [0, 1].both(|from| [0, 1].both(|to| $paths.pairs.between([from, to], $pair)));
                    times[$pair] = surroundings_meet(all, $paths.pairs.reach($pair), $paths.by($pair));
                }
                let mut roundings = [[0.0; PAIRS]; D];
                for $pair in 0..PAIRS {
                    let rounding = $paths.rounding($segments, $pair);
                    (0..D).for_each(|axis| roundings[axis][$pair] = rounding[axis]);
                }
                for _ in 0..STEPS {
                    let (mut next, mut left) = ([0.0; PAIRS], 0);
                    for $pair in 0..PAIRS {
                        let $time = times[$pair];
                        let rounding = from_axes(|axis| roundings[axis][$pair]);
                        next[$pair] = step($time, $apart, ($paths.by($pair), rounding), $paths.pairs.reach($pair));
                    }
                    for pair in 0..PAIRS {
                        // A settled time is itself, or NaN.
                        left |= u64::from((next[pair] < times[pair]) | (next[pair] > times[pair]));
                    }
                    times = next;
                    if left == 0 {
                        break;
                    }
                }
                times
            }
        }
    )*};
}

paths! {
    RoundAndBox, false, 0, |paths, pair, time| {
        box_from_point(paths.between_at(time, [0, 0], pair), paths.between_at(time, [0, 1], pair))
    };
    SegmentAndBox, true, 1, |paths, pair, time| {
        let (lo, hi) = (paths.between_at(time, [0, 0], pair), paths.between_at(time, [0, 1], pair));
        box_from_segment(lo, hi, paths.pairs.along(0, pair)).0
    };
    Segments, true, 2, |paths, pair, time| {
        let [d, e] = [0, 1].both(|side| paths.pairs.along(side, pair));
        segment_from_segment(paths.between_at(time, [0, 0], pair), d, e).0
    };
}

#[cfg(test)]
mod tests {
    use super::Solid::{self, Boxed, Round};

    fn capsule(p: [f64; 3], q: [f64; 3], radius: f64) -> Solid<3> {
        Solid::Capsule { ends: [p, q], radius }
    }

    /// Powers of two scale without rounding, up to where paths may lead and down to where squares would vanish.
    #[test]
    fn times_are_the_same_at_any_scale() {
        let beam = capsule([-3.0, 0.1, 0.0], [3.0, 0.0, 0.2], 0.25);
        let others = [
            (capsule([0.3, -4.0, 5.0], [0.0, 4.0, 6.0], 0.5), [0.1, 0.2, -7.0]),
            (Boxed { lo: [1.0, 2.0, 3.0], hi: [2.0, 3.0, 5.0] }, [-0.5, -3.0, -4.0]),
            (Round { center: [0.3, 5.0, 7.0], radius: 1.0 }, [0.0, -6.0, -8.0]),
        ];
        for (other, v) in others {
            let time = beam.first_touch(&other, [0.0; 3], v).expect("they touch");
            assert!(0.3 < time && time < 0.9, "{time}");
            for exponent in [-240, -40, 70, 240] {
                let size = 2.0_f64.powi(exponent);
                let scaled = |solid: Solid<3>| match solid {
                    Round { center, radius } => Round { center: center.map(|x| x * size), radius: radius * size },
                    Boxed { lo, hi } => Boxed { lo: lo.map(|x| x * size), hi: hi.map(|x| x * size) },
                    Solid::Capsule { ends, radius } => {
                        Solid::Capsule { ends: ends.map(|end| end.map(|x| x * size)), radius: radius * size }
                    }
                };
                let found = scaled(beam).first_touch(&scaled(other), [0.0; 3], v.map(|x| x * size));
                assert_eq!(found, Some(time), "{other:?} at 2^{exponent}");
            }
        }
    }

    #[test]
    fn bodies_that_pass_at_the_sum_of_their_radii_graze_and_beyond_it_do_not() {
        let post = capsule([0.0, 0.0, -1.0], [0.0, 0.0, 1.0], 0.5);
        for (y, touches) in [(1.0 - 1e-12, true), (1.0 + 1e-12, false), (0.0, true), (1.5, false)] {
            for x in [-3.0, -7.3, -1e6] {
                let shot = Round { center: [x, y, 0.3], radius: 0.5 };
                let time = shot.first_touch(&post, [0.0; 3], [2.0 * x, 0.0, 0.0]);
                assert_eq!(time.is_some(), touches, "{x}, {y}: {time:?}");
                assert!(time.is_none_or(|time| time <= 0.5), "{x}, {y}: {time:?}");
                // Away from each other, and beside each other.
                for v in [[-x, 0.0, 0.0], [0.0, 0.0, 9.0]] {
                    assert_eq!(shot.first_touch(&post, [0.0; 3], v), None, "{x}, {y}");
                }
            }
        }
    }

    /// A coordinate from -1 to 1.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 32) as f64 / f64::from(1_u32 << 31) - 1.0
    }

    #[test]
    fn bodies_without_thickness_touch_walls_without_thickness_that_they_pass_through() {
        let state = &mut 1;
        for _ in 0..2000 {
            let (wall, side) = (random(state), random(state) / 4.0);
            let walls = [
                Boxed { lo: [wall, -9.0], hi: [wall, 9.0] },
                Solid::Capsule { ends: [[wall - side, -9.0 + side], [wall + side, 9.0]], radius: 0.0 },
            ];
            let p = [wall - 2.0 - random(state), random(state)];
            let shots = [
                Round { center: p, radius: 0.0 },
                Solid::Capsule { ends: [p, [p[0], p[1] + 1.0]], radius: 0.0 },
                Boxed { lo: p, hi: [p[0], p[1] + 1.0] },
            ];
            let v = [6.0 + random(state), random(state)];
            for (shot, wall) in shots.into_iter().flat_map(|shot| walls.map(|wall| (shot, wall))) {
                // As seen from the shot, the wall moves.
                let times = [shot.first_touch(&wall, [0.0; 2], v.map(|x| -x)), wall.first_touch(&shot, [0.0; 2], v)];
                assert!(
                    times.iter().flatten().filter(|time| (0.1..0.9).contains(*time)).count() == 2,
                    "{shot:?}, {wall:?}"
                );
            }
        }
    }

    /// What an image is moved by is rounded as well, and may be far longer than what leads across a wall.
    #[test]
    fn bodies_without_thickness_touch_images_of_walls_that_they_pass_through() {
        let state = &mut 3;
        for _ in 0..20_000 {
            let [lean, rise, from, up] = [random(state) / 8.0, 2.0 + random(state), random(state), random(state)];
            let ends = [[from + 4.0 - lean, up - 2.0], [from + 4.0 + lean, up + 2.0]];
            let wall = Solid::Capsule { ends, radius: 0.0 };
            let off = 0.2 + random(state) / 16.0;
            let shot = Round { center: [from - off, up - rise / 2.0], radius: 0.0 };
            let (shift, v) = ([-4.0, 0.0], [2.0 * off, rise]);
            let times = [shot.first_touch(&wall, shift, v.map(|x| -x)), wall.first_touch(&shot, [4.0, 0.0], v)];
            assert!(times.iter().flatten().count() == 2, "{shot:?}, {wall:?}, {v:?}: {times:?}");
        }
    }

    /// What a rod rounds by along itself is then far more than what leads a body nearer to it.
    #[test]
    fn bodies_that_slide_along_a_thin_rod_touch_it_where_they_come_down_to_it() {
        let state = &mut 2;
        for (power, rise) in [(20, 22), (20, 40), (26, 28), (26, 36), (30, 32), (40, 42)] {
            for _ in 0..200 {
                let [x, y] = [random(state), random(state)];
                let (length, p) = (x.hypot(y), [random(state), random(state)]);
                let (along, across) = ([x / length, y / length], [-y / length, x / length]);
                let (radius, height) = (0.5_f64.powi(power), 0.5_f64.powi(rise) * (1.5 + random(state) / 2.0));
                let at = |part: f64, off: f64| core::array::from_fn(|k| p[k] + part * along[k] + off * across[k]);
                let rod = Solid::Capsule { ends: [p, at(1.0, 0.0)], radius };
                let slider = Round { center: at(0.25, 2.0 * radius + height), radius };
                let v: [f64; 2] = core::array::from_fn(|k| along[k] / 2.0 - 2.0 * height * across[k]);
                let time = slider.first_touch(&rod, [0.0; 2], v.map(|x| -x)).expect("it comes down to the rod");
                // Places are rounded by 2^-53.
                assert!(
                    (time - 0.5).abs() * 2.0 * height < 1e-15,
                    "2^-{power}, {height:e}: {time}, {slider:?}, {rod:?}"
                );
            }
        }
    }
}
