//! The predicates between bodies of several shapes, in `f64`, on the caller's own numbers.
//!
//! Every difference is of two given numbers, so its rounding is small beside it, however far the bodies lie from the
//! origin. All later roundings are relative to lengths of the bodies and the distance between them.

use jostle_core::axes::{Axes, Both};
use jostle_core::{BoxView, CapsuleView, Scalar};

use crate::input::Shaped;
use crate::proxy::segments::{box_from_segment, box_to_segment, segment_from_segment, segments};

/// A body in the caller's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solid<const D: usize> {
    /// A circle or a sphere.
    Round { center: [f64; D], radius: f64 },
    /// A box.
    Boxed { lo: [f64; D], hi: [f64; D] },
    /// A capsule.
    Capsule { ends: [[f64; D]; 2], radius: f64 },
}

use Solid::{Boxed, Capsule, Round};

fn boxed<const D: usize, T: Scalar>(boxes: &BoxView<'_, D, T>, id: usize) -> Solid<D> {
    let [lo, hi] = boxes.grown(id).both(|corner| corner.axes(T::to_f64));
    Boxed { lo, hi }
}

fn core_of<const D: usize, T: Scalar>(boxes: &BoxView<'_, D, T>, id: usize) -> Solid<D> {
    let [lo, hi] = [boxes.lo(id), boxes.hi(id)].both(|corner| corner.axes(T::to_f64));
    Boxed { lo, hi }
}

fn capsule<const D: usize, T: Scalar>(capsules: &CapsuleView<'_, D, T>, id: usize) -> Solid<D> {
    Capsule { ends: capsules.ends(id).both(|end| end.axes(T::to_f64)), radius: capsules.radius(id).to_f64() }
}

impl<const D: usize> Solid<D> {
    /// A box or a capsule as the caller gave it, with the margin.
    #[inline]
    #[must_use]
    pub fn shaped(bodies: &Shaped<'_, D>, id: usize) -> Self {
        match bodies {
            Shaped::Boxes(boxes) => boxed(boxes, id),
            Shaped::Boxes64(boxes) => boxed(boxes, id),
            Shaped::Capsules(capsules) => capsule(capsules, id),
            Shaped::Capsules64(capsules) => capsule(capsules, id),
        }
    }

    /// The core of a box or a capsule as the caller gave it, without the margin.
    #[must_use]
    pub fn core(bodies: &Shaped<'_, D>, id: usize) -> Self {
        match bodies {
            Shaped::Boxes(boxes) => core_of(boxes, id),
            Shaped::Boxes64(boxes) => core_of(boxes, id),
            Shaped::Capsules(_) | Shaped::Capsules64(_) => Self::shaped(bodies, id),
        }
    }

    /// Returns the ends of the body on an axis, less `taken`, relative to an origin, rounded as `f64` is.
    #[inline]
    pub(crate) fn extent(&self, axis: usize, taken: f64, origin: f64) -> [f64; 2] {
        let at = |x: f64| x - taken - origin;
        match self {
            Round { center, radius } => [at(center[axis]) - radius, at(center[axis]) + radius],
            Boxed { lo, hi } => [at(lo[axis]), at(hi[axis])],
            Capsule { ends: [p, q], radius } => {
                let (p, q) = (at(p[axis]), at(q[axis]));
                [p.min(q) - radius, p.max(q) + radius]
            }
        }
    }

    /// The point that says in which cell the body lies: its centre, or the sum of the halves of its corners or ends.
    #[inline]
    pub(crate) fn middle(&self) -> [f64; D] {
        let ([p, q], _) = self.segment();
        let mut middle = [0.0; D];
        for axis in 0..D {
            middle[axis] = p[axis] / 2.0 + q[axis] / 2.0;
        }
        middle
    }

    /// Whether two bodies touch, the second seen at a shift:
    /// - two boxes touch when `(lo_b - hi_a) + shift <= 0` and `(hi_b - lo_a) + shift >= 0` on each axis;
    /// - other bodies touch when the squared distance of their cores (a centre, a segment, a box) is at most the square
    ///   of the sum of their radii. Differences of the two bodies' numbers are taken first, and the shift is added to
    ///   them.
    pub(crate) fn touches(&self, other: &Self, shift: [f64; D]) -> bool {
        let seen = |from, to| between(from, to, shift);
        match (self, other) {
            (&Boxed { lo, hi }, &Boxed { lo: other_lo, hi: other_hi }) => {
                let (below, above) = (seen(hi, other_lo), seen(lo, other_hi));
                (0..D).all(|axis| below[axis] <= 0.0 && above[axis] >= 0.0)
            }
            (Boxed { .. }, _) => other.touches(self, shift.axes(|shift| -shift)),
            (&Round { center, radius }, &Boxed { lo, hi }) => {
                box_to_segment(seen(center, lo), seen(center, hi), [0.0; D]).0 <= radius * radius
            }
            (&Capsule { ends: [p, q], radius }, &Boxed { lo, hi }) => {
                box_to_segment(seen(p, lo), seen(p, hi), between(p, q, [0.0; D])).0 <= radius * radius
            }
            (a, b) => {
                let (([p, p_end], p_radius), ([q, q_end], q_radius)) = (a.segment(), b.segment());
                let (s, along) = (p_radius + q_radius, |from, to| between(from, to, [0.0; D]));
                segments(seen(p, q), along(p, p_end), along(q, q_end)).0 <= s * s
            }
        }
    }

    /// Returns the squared distance from a point to a box, or to the segment of a capsule, seen at a shift.
    pub(crate) fn distance2(&self, point: [f64; D], shift: [f64; D]) -> f64 {
        let ([p, q], _) = self.segment();
        let (seen, still) = ([p, q].both(|end| between(point, end, shift)), [0.0; D]);
        if matches!(self, Boxed { .. }) {
            return box_to_segment(seen[0], seen[1], still).0;
        }
        segments(seen[0], still, between(p, q, still)).0
    }

    /// Returns the squared distance of a box and the segment from the origin to `d`, with what leads from the segment
    /// to the box, and which part of the segment is nearest.
    pub fn nearest_to_box(lo: [f64; D], hi: [f64; D], d: [f64; D]) -> ((f64, [f64; D]), f64) {
        box_from_segment(lo, hi, d)
    }

    /// Returns the squared distance of two segments, one from the origin to `d`, the other from `w` to `w + e`, with
    /// what leads from the first to the second, and which parts of them are nearest to each other.
    pub fn nearest_parts(w: [f64; D], d: [f64; D], e: [f64; D]) -> ((f64, [f64; D]), [f64; 2]) {
        segment_from_segment(w, d, e)
    }

    /// The segment at the core of a round body or a capsule, and its radius; of a box, the diagonal.
    pub fn segment(&self) -> ([[f64; D]; 2], f64) {
        match *self {
            Round { center, radius } => ([center; 2], radius),
            Capsule { ends, radius } => (ends, radius),
            Boxed { lo, hi } => ([lo, hi], 0.0),
        }
    }
}

/// Returns the ends of the path of a body that moves by `by` on an axis, from its own ends there.
#[inline(always)]
pub(crate) fn of_path([lo, hi]: [f64; 2], by: f64) -> [f64; 2] {
    [lo + by.min(0.0), hi + by.max(0.0)]
}

#[inline]
pub fn between<const D: usize>(from: [f64; D], to: [f64; D], shift: [f64; D]) -> [f64; D] {
    let mut difference = [0.0; D];
    for axis in 0..D {
        difference[axis] = (to[axis] - from[axis]) + shift[axis];
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::Solid::{self, Boxed, Capsule, Round};

    fn apart(a: Solid<2>, b: Solid<2>) -> [bool; 2] {
        [a.touches(&b, [0.0; 2]), b.touches(&a, [0.0; 2])]
    }

    #[test]
    fn a_thin_rod_through_a_box_touches_it_wherever_its_crossings_are_rounded_to() {
        let boxed = Boxed { lo: [2.857309023539225, 1.378612995147705], hi: [3.2661921183268228, 1.6983798344930012] };
        let p = [0.06093602627515793, 2.3669164180755615];
        for step in 0..1000 {
            let q = [5.455163955688477, 0.6 + f64::from(step) * 1e-4];
            let rod = Capsule { ends: [p, q], radius: 0.0 };
            assert_eq!(apart(boxed, rod), [true; 2], "{rod:?}");
        }
    }

    #[test]
    fn segments_that_cross_touch_wherever_their_crossing_is_rounded_to() {
        for step in 0..1000 {
            let (a, b) = (f64::from(step) * 1.7e-3, f64::from(step) * 0.9e-3);
            let one = Capsule { ends: [[0.1, 0.3 + a], [5.3, 1.1 - b]], radius: 0.0 };
            let other = Capsule { ends: [[1.7 - b, -4.0], [2.3, 7.7 + a]], radius: 0.0 };
            assert_eq!(apart(one, other), [true; 2], "{one:?}, {other:?}");
        }
    }

    #[test]
    fn segments_of_any_size_touch_where_they_pass_each_other() {
        for exponent in [-260, -1, 0, 1, 400] {
            let size = 2.0_f64.powi(exponent);
            let scaled = |ends: [[f64; 3]; 2], radius: f64| Capsule {
                ends: ends.map(|end| end.map(|x| x * size)),
                radius: radius * size,
            };
            let one = scaled([[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]], 0.5);
            for (height, touching) in [(1.0, true), (1.01, false)] {
                let other = scaled([[0.0, -4.0, height], [0.0, 4.0, height]], 0.5);
                assert_eq!(one.touches(&other, [0.0; 3]), touching, "{one:?}, {other:?}");
            }
        }
    }

    /// Rods far thinner than they are long, at angles so small that cosines do not tell them apart.
    #[test]
    fn thin_rods_nearly_in_line_touch_where_they_pass_each_other() {
        for angle in [1e-3, 1e-6, 1e-7, 3e-8, 1e-8, 3e-9] {
            for (bend, at) in (0..200).map(|step| (f64::from(step) * 0.031, f64::from(step % 20) / 20.0 + 0.02)) {
                let course = [bend.cos() * 0.6, bend.sin() * 0.6, 0.8];
                let side = [-bend.sin(), bend.cos(), 0.0];
                let up = [bend.cos() * 0.8, bend.sin() * 0.8, -0.6];
                // They pass each other `apart` along `up`, at a part of their lengths, and turn away to both sides.
                let rod = |turn: f64, rise: f64, length: f64, radius: f64| {
                    let end =
                        |along: f64| core::array::from_fn(|k| along * (course[k] + turn * side[k]) + rise * up[k]);
                    Capsule { ends: [end(-at * length), end((1.0 - at) * length)], radius }
                };
                let radius = 0.05 * angle;
                for (apart, touching) in [(1.8, true), (2.2, false)] {
                    let (one, other) = (rod(0.0, 0.0, 1.0, radius), rod(angle, apart * radius, 0.7, radius));
                    assert_eq!(one.touches(&other, [0.0; 3]), touching, "{angle:e}, {one:?}, {other:?}");
                    assert_eq!(other.touches(&one, [0.0; 3]), touching, "{angle:e}, {other:?}, {one:?}");
                }
            }
        }
    }

    #[test]
    fn what_touches_touches_from_both_sides() {
        let unit = Boxed { lo: [0.0; 2], hi: [1.0; 2] };
        let disc = |x, y, radius| Round { center: [x, y], radius };
        let rod = |p, q, radius| Capsule { ends: [p, q], radius };
        for (a, b) in [
            (unit, Boxed { lo: [1.0, 1.0], hi: [2.0, 1.0] }),
            (unit, disc(4.0, 5.0, 5.0)),
            (unit, disc(0.5, 0.5, 0.0)),
            (unit, disc(2.0, 0.5, 1.0)),
            (unit, rod([-1.0, 3.0], [3.0, -1.0], 0.0)),
            (unit, rod([-5.0, 0.5], [5.0, 0.5], 0.0)),
            (unit, rod([-1.0, 4.0], [4.0, -1.0], 0.75)),
            (disc(0.0, 0.0, 1.0), disc(3.0, 0.0, 2.0)),
            (disc(0.0, 2.0, 1.0), rod([-5.0, 0.0], [5.0, 0.0], 1.0)),
            (disc(8.0, 4.0, 4.0), rod([-5.0, 0.0], [5.0, 0.0], 1.0)),
            (rod([-1.0, -1.0], [1.0, 1.0], 0.0), rod([-1.0, 1.0], [1.0, -1.0], 0.0)),
            (rod([0.0, 0.0], [4.0, 0.0], 0.5), rod([1.0, 1.0], [9.0, 1.0], 0.5)),
            (rod([0.0, 0.0], [0.0, 0.0], 0.5), rod([0.5, 0.0], [0.5, 0.0], 0.0)),
        ] {
            assert_eq!(apart(a, b), [true; 2], "{a:?}, {b:?}");
        }
        for (a, b) in [
            (unit, Boxed { lo: [1.0, 1.5], hi: [2.0, 1.5] }),
            (unit, disc(4.0, 5.0, 4.99)),
            (unit, disc(2.0, 0.5, 0.99)),
            (unit, rod([-1.0, 4.0], [4.0, -1.0], 0.7)),
            (unit, rod([2.0, -9.0], [2.0, 9.0], 0.99)),
            (disc(8.0, 4.0, 3.99), rod([-5.0, 0.0], [5.0, 0.0], 1.0)),
            (rod([0.0, 0.0], [4.0, 0.0], 0.5), rod([5.1, 0.0], [9.0, 1.0], 0.5)),
        ] {
            assert_eq!(apart(a, b), [false; 2], "{a:?}, {b:?}");
        }
    }
}
