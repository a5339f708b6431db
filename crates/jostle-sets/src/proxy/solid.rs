//! The predicates between bodies of several shapes, in `f64`, on the caller's own numbers.
//!
//! Every difference is of two given numbers, so its rounding is small beside it, however far the bodies lie from the
//! origin. All later roundings are relative to lengths of the bodies and the distance between them.

use crate::proxy::squared;
use jostle_core::axes::{Axes, Both};

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

impl<const D: usize> Solid<D> {
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
                box_to_segment2(seen(center, lo), seen(center, hi), [0.0; D]) <= radius * radius
            }
            (&Capsule { ends: [p, q], radius }, &Boxed { lo, hi }) => {
                box_to_segment2(seen(p, lo), seen(p, hi), between(p, q, [0.0; D])) <= radius * radius
            }
            (a, b) => {
                let (([p, p_end], p_radius), ([q, q_end], q_radius)) = (a.segment(), b.segment());
                let s = p_radius + q_radius;
                let along = |from, to| between(from, to, [0.0; D]);
                segments2(seen(p, q), along(p, p_end), along(q, q_end)) <= s * s
            }
        }
    }

    /// Returns the squared distance from a point to a box, or to the segment of a capsule, seen at a shift.
    pub(crate) fn distance2(&self, point: [f64; D], shift: [f64; D]) -> f64 {
        let ([p, q], _) = self.segment();
        let (seen, still) = ([p, q].both(|end| between(point, end, shift)), [0.0; D]);
        if matches!(self, Boxed { .. }) {
            return box_to_segment2(seen[0], seen[1], still);
        }
        segments2(seen[0], still, between(p, q, still))
    }

    /// Returns the squared distance of a box and the segment from the origin to `d`, and which part of the segment is
    /// nearest.
    pub fn nearest_to_box(lo: [f64; D], hi: [f64; D], d: [f64; D]) -> (f64, f64) {
        box_to_segment(lo, hi, d)
    }

    /// Returns which parts of two segments are nearest to each other: one from the origin to `d`, the other from `w` to
    /// `w + e`.
    pub fn nearest_parts(w: [f64; D], d: [f64; D], e: [f64; D]) -> [f64; 2] {
        segments(w, d, e).1
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

#[inline]
pub fn between<const D: usize>(from: [f64; D], to: [f64; D], shift: [f64; D]) -> [f64; D] {
    let mut difference = [0.0; D];
    for axis in 0..D {
        difference[axis] = (to[axis] - from[axis]) + shift[axis];
    }
    difference
}

#[inline]
fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).fold(0.0, |sum, axis| sum + a[axis] * b[axis])
}

fn box_to_segment2<const D: usize>(lo: [f64; D], hi: [f64; D], d: [f64; D]) -> f64 {
    box_to_segment(lo, hi, d).0
}

fn segments2<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> f64 {
    segments(w, d, e).0
}

/// The lesser of two distances, with its place.
#[inline]
fn lesser<T>(a: (f64, T), b: (f64, T)) -> (f64, T) {
    if b.0 < a.0 { b } else { a }
}

/// Sorts a few places, none of which is NaN.
fn sort_few<T: Copy>(places: &mut [(f64, T)]) {
    for end in 1..places.len() {
        let mut at = end;
        while at > 0 && places[at].0 < places[at - 1].0 {
            places.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Returns the squared distance of a box and the segment from the origin to `d`, and the part of the segment that is
/// nearest. Along the segment the squared distance is convex, and a parabola between the places where the segment
/// crosses a border.
fn box_to_segment<const D: usize>(lo: [f64; D], hi: [f64; D], d: [f64; D]) -> (f64, f64) {
    let outside = |axis: usize, x: f64| (lo[axis] - x).max(x - hi[axis]).max(0.0);
    let square = |axis: usize, t: f64| outside(axis, t * d[axis]) * outside(axis, t * d[axis]);
    // Where the segment crosses a border on an axis, whose place is rounded, it is not outside on that axis.
    let at_crossing = |t: f64, of: usize| {
        let square = |axis: usize| if axis == of { 0.0 } else { square(axis, t) };
        ((0..D).fold(0.0, |sum, axis| sum + square(axis)), t)
    };
    let at = |t: f64| at_crossing(t, D);
    let mut least = at(0.0);
    if d == [0.0; D] {
        return least;
    }
    least = lesser(least, at(1.0));
    // The segment crosses borders at two places an axis at most.
    let mut crossings = [[(0.0, D); 2]; 4];
    for axis in 0..D {
        crossings[axis] =
            [lo[axis] / d[axis], hi[axis] / d[axis]].both(|t| if t > 0.0 && t < 1.0 { (t, axis) } else { (0.0, D) });
    }
    sort_few(crossings[..D].as_flattened_mut());
    let mut from = 0.0;
    for &(to, of) in crossings[..D].as_flattened().iter().chain([&(1.0, D)]) {
        // Between two crossings the segment is on one side of the box on each axis, or in it, all the way.
        let (middle, mut slope, mut rest) = ((from + to) / 2.0, 0.0, 0.0);
        for axis in 0..D {
            let x = middle * d[axis];
            let border = if x < lo[axis] {
                lo[axis]
            } else if x > hi[axis] {
                hi[axis]
            } else {
                continue;
            };
            (slope, rest) = (slope + d[axis] * d[axis], rest + d[axis] * border);
        }
        let lowest = if slope > 0.0 { (rest / slope).clamp(from, to) } else { middle };
        least = lesser(lesser(least, at(lowest)), at_crossing(to, of));
        from = to;
    }
    least
}

/// Returns the squared distance of two segments, one from the origin to `d`, the other from `w` to `w + e`, and the
/// parts that are nearest.
fn segments<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> (f64, [f64; 2]) {
    // The squared distance between the point of the first at `s` and the point of the second at `t`.
    let at = |s: f64, t: f64| {
        let mut apart = w;
        for axis in 0..D {
            apart[axis] += t * e[axis] - s * d[axis];
        }
        (squared(apart), [s, t])
    };
    let (dd, ee, de, wd, we) = (dot(d, d), dot(e, e), dot(d, e), dot(w, d), dot(w, e));
    let along = |product: f64, length2: f64| if length2 > 0.0 { (product / length2).clamp(0.0, 1.0) } else { 0.0 };
    // From each end to the other segment.
    let mut least = lesser(at(along(wd, dd), 0.0), at(along(wd + de, dd), 1.0));
    least = lesser(lesser(least, at(0.0, along(-we, ee))), at(1.0, along(de - we, ee)));
    // Between inner points, unless the segments are parallel.
    if dd >= ee {
        if let Some(t) = nearest_to_line(w, d, e) {
            let s = along(wd + t * de, dd);
            least = lesser(least, at(s, along(s * de - we, ee)));
        }
    } else if let Some(s) = nearest_to_line(w.axes(|x| -x), e, d) {
        let t = along(s * de - we, ee);
        least = lesser(least, at(along(wd + t * de, dd), t));
    }
    let Some([s, t]) = crossing(w, d, e) else { return least };
    (0.0, lesser(least, at(s, t)).1)
}

/// Returns which part of the segment from `w` to `w + e` is nearest to the line through the origin along `d`, the longer
/// one; `None` where they are parallel. What of `w` and `e` is across the line is subtracted first: from products of the
/// whole vectors, that of an angle below 2^-26 would be lost.
fn nearest_to_line<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> Option<f64> {
    let dd = dot(d, d);
    let across = |of: [f64; D]| {
        let (mut rest, part) = (of, dot(of, d) / dd);
        for axis in 0..D {
            rest[axis] -= part * d[axis];
        }
        rest
    };
    let (apart, course) = (across(w), across(e));
    let length2 = squared(course);
    (dd > 0.0 && length2 > 0.0).then(|| (-dot(apart, course) / length2).clamp(0.0, 1.0))
}

/// Returns where two segments of the plane cross, if each has its ends on both sides of the other. Their distance there
/// is 0; the distance of the nearest points is not, once these are rounded.
fn crossing<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> Option<[f64; 2]> {
    if D != 2 {
        return None;
    }
    let side = |a: [f64; D], b: [f64; D]| a[0] * b[1] - a[1] * b[0];
    let (mut w_end, mut w_back) = (w, w);
    for axis in 0..D {
        (w_end[axis], w_back[axis]) = (w[axis] + e[axis], w[axis] - d[axis]);
    }
    let ends = [[side(w, e), side(w_back, e)], [side(w, d), side(w_end, d)]];
    let both_sides = |[a, b]: [f64; 2]| a < 0.0 && b > 0.0 || a > 0.0 && b < 0.0;
    // Of segments in line, signs are of rounding alone: their boxes tell whether they meet.
    let meet = (0..D).all(|k| {
        let (lo, hi) = (w[k].min(w_end[k]), w[k].max(w_end[k]));
        lo <= d[k].max(0.0) && d[k].min(0.0) <= hi
    });
    (meet && ends.into_iter().all(both_sides)).then(|| ends.both(|[a, b]| a / (a - b)))
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
