//! The distance of a segment from another, and from a box, and what leads from one to the other. That leads straight
//! across a segment to an inner point of it; what rounding leaves along the segment is taken off. The formulas have no
//! branches, so that the compiler makes vector code of a loop over pairs (`sixteen_pairs`), with the same bits.

use jostle_core::axes::{Axes, from_axes};

use crate::proxy::squared;

/// The least square of the sine of the angle between segments that tells what leads across both: 2^-20.
const SKEW: f64 = f64::from_bits((1023 - 20) << 52);

#[inline(always)]
pub(super) fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    let mut sum = 0.0;
    for axis in 0..D {
        sum += a[axis] * b[axis];
    }
    sum
}

/// The lesser of two distances, with its place.
#[inline(always)]
fn lesser<T>(a: (f64, T), b: (f64, T)) -> (f64, T) {
    if b.0 < a.0 { b } else { a }
}

/// Returns the squared distance of two segments, one from the origin to `d`, the other from `w` to `w + e`, and the
/// parts that are nearest.
#[inline(always)]
pub(super) fn segments<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> (f64, [f64; 2]) {
    // The squared distance between the point of the first at `s` and the point of the second at `t`.
    let at = |s: f64, t: f64| {
        let mut apart = w;
        for axis in 0..D {
            apart[axis] += t * e[axis] - s * d[axis];
        }
        (squared(apart), [s, t])
    };
    let (dd, ee, de, wd, we) = (dot(d, d), dot(e, e), dot(d, e), dot(w, d), dot(w, e));
    let along = |product: f64, length2: f64| {
        let part = (product / length2).clamp(0.0, 1.0);
        if length2 > 0.0 { part } else { 0.0 }
    };
    // From each end to the other segment.
    let mut least = lesser(at(along(wd, dd), 0.0), at(along(wd + de, dd), 1.0));
    least = lesser(lesser(least, at(0.0, along(-we, ee))), at(1.0, along(de - we, ee)));
    // Between inner points: from the part of the shorter one that is nearest to the line of the longer one.
    let turns = dd < ee;
    let either = |a: f64, b: f64| if turns { b } else { a };
    let each = |a: [f64; D], b: [f64; D]| from_axes(|axis| either(a[axis], b[axis]));
    let part = nearest_to_line::<D>(each(w, w.axes(|x| -x)), each(d, e), each(e, d));
    let long = along(either(wd, -we) + part * de, either(dd, ee));
    let short = along(long * de - either(we, -wd), either(ee, dd));
    least = lesser(least, at(either(long, short), either(short, long)));
    let (crosses, [s, t]) = crossing(w, d, e);
    let crossed = (0.0, lesser(least, at(s, t)).1);
    if crosses { crossed } else { least }
}

/// Returns which part of the segment from `w` to `w + e` is nearest to the line through the origin along `d`, the longer
/// one; NaN where they are parallel. What of `w` and `e` is across the line is subtracted first: from products of the
/// whole vectors, that of an angle below 2^-26 would be lost.
#[inline(always)]
fn nearest_to_line<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> f64 {
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
    let part = (-dot(apart, course) / length2).clamp(0.0, 1.0);
    if (dd > 0.0) & (length2 > 0.0) { part } else { f64::NAN }
}

/// Returns whether two segments of the plane cross, each with its ends on both sides of the other, and where. Their
/// distance there is 0; the distance of the nearest points is not, once these are rounded.
#[inline(always)]
fn crossing<const D: usize>(w: [f64; D], d: [f64; D], e: [f64; D]) -> (bool, [f64; 2]) {
    if D != 2 {
        return (false, [0.0; 2]);
    }
    let side = |a: [f64; D], b: [f64; D]| a[0] * b[1] - a[1] * b[0];
    let (mut w_end, mut w_back) = (w, w);
    for axis in 0..D {
        (w_end[axis], w_back[axis]) = (w[axis] + e[axis], w[axis] - d[axis]);
    }
    let [[a, a_end], [b, b_end]] = [[side(w, e), side(w_back, e)], [side(w, d), side(w_end, d)]];
    let both_sides = |a: f64, b: f64| (a < 0.0) & (b > 0.0) | (a > 0.0) & (b < 0.0);
    // Of segments in line, signs are of rounding alone: their boxes tell whether they meet.
    let mut meet = both_sides(a, a_end) & both_sides(b, b_end);
    for axis in 0..D {
        let (lo, hi) = (w[axis].min(w_end[axis]), w[axis].max(w_end[axis]));
        meet &= (lo <= d[axis].max(0.0)) & (d[axis].min(0.0) <= hi);
    }
    (meet, [a / (a - a_end), b / (b - b_end)])
}

/// Returns the squared distance of a box and the segment from the origin to `d`, and the part of the segment that is
/// nearest. Along the segment the squared distance is convex, and a parabola between the places where the segment
/// crosses a border.
#[inline(always)]
pub(super) fn box_to_segment<const D: usize>(lo: [f64; D], hi: [f64; D], d: [f64; D]) -> (f64, f64) {
    // Where the segment crosses a border on an axis, whose place is rounded, it is not outside on that axis. Also tells
    // half of the slope of the squared distance.
    let at_crossing = |t: f64, of: usize| {
        let (mut distance2, mut slope) = (0.0, 0.0);
        for axis in 0..D {
            let x = t * d[axis];
            let outside = (x - hi[axis]).max(0.0) - (lo[axis] - x).max(0.0);
            distance2 += if axis == of { 0.0 } else { outside * outside };
            slope += if axis == of { 0.0 } else { outside * d[axis] };
        }
        (distance2, slope)
    };
    let at = |t: f64| (at_crossing(t, D).0, t);
    // The nearest crossing, the first of several; and the crossings before and after what is nearest of all. Slopes
    // tell these: of crossings side by side, rounding may make any the nearest.
    let (borders, mut nearest) = ([lo, hi], (f64::INFINITY, 1.0));
    let (mut before, mut after) = (0.0_f64, 1.0_f64);
    for side in 0..2 {
        for axis in 0..D {
            let t = borders[side][axis] / d[axis];
            let crosses = (t > 0.0) & (t < 1.0);
            let t = if crosses { t } else { 0.0 };
            let (distance2, slope) = at_crossing(t, axis);
            let is_nearer = (distance2 < nearest.0) | (distance2 == nearest.0) & (t < nearest.1);
            nearest.0 = if crosses & is_nearer { distance2 } else { nearest.0 };
            nearest.1 = if crosses & is_nearer { t } else { nearest.1 };
            let (falls, rises) = (crosses & (slope <= 0.0), crosses & (slope > 0.0));
            before = before.max(if falls { t } else { 0.0 });
            after = after.min(if rises { t } else { 1.0 });
        }
    }
    let least = lesser(lesser(at(0.0), at(1.0)), nearest);
    // Between these two, the segment is on one side of the box on each axis, or in it, all the way.
    let (from, to) = (before.min(after), after.max(before));
    let (middle, mut slope, mut rest) = ((from + to) / 2.0, 0.0, 0.0);
    for axis in 0..D {
        let x = middle * d[axis];
        let (below, above) = (x < lo[axis], x > hi[axis]);
        let border = if below { lo[axis] } else { hi[axis] };
        slope += if below | above { d[axis] * d[axis] } else { 0.0 };
        rest += if below | above { d[axis] * border } else { 0.0 };
    }
    let lowest = if slope > 0.0 { (rest / slope).max(from).min(to) } else { middle };
    lesser(least, at(lowest))
}

/// Returns a vector without its part along another one, if `taken` says so.
#[inline(always)]
fn across<const D: usize>(vector: [f64; D], along: [f64; D], taken: bool) -> [f64; D] {
    let length2 = dot(along, along);
    let part = if taken & (length2 > 0.0) { dot(vector, along) / length2 } else { 0.0 };
    from_axes(|axis| vector[axis] - part * along[axis])
}

/// Whether a part of a segment is an inner one.
#[inline(always)]
fn is_inner(part: f64) -> bool {
    (part > 0.0) & (part < 1.0)
}

/// Returns the squared distance of a box from the segment from the origin to `d`, with what leads from the segment to
/// the box; and the part of the segment that is nearest: see [`box_to_segment`].
#[inline(always)]
pub(super) fn box_from_segment<const D: usize>(lo: [f64; D], hi: [f64; D], d: [f64; D]) -> ((f64, [f64; D]), f64) {
    let (distance2, part) = box_to_segment(lo, hi, d);
    let apart = from_axes(|axis| {
        let x = part * d[axis];
        x.max(lo[axis]).min(hi[axis]) - x
    });
    ((distance2, across(apart, d, is_inner(part))), part)
}

/// Returns the squared distance of two segments, with what leads from the first to the second, and the parts that are
/// nearest: see [`segments`].
#[inline(always)]
pub(super) fn segment_from_segment<const D: usize>(
    w: [f64; D],
    d: [f64; D],
    e: [f64; D],
) -> ((f64, [f64; D]), [f64; 2]) {
    let (distance2, [s, t]) = segments(w, d, e);
    let apart = from_axes(|axis| w[axis] + (t * e[axis] - s * d[axis]));
    // Straight across the longer one, else the shorter one; in space across both, unless they are nearly parallel.
    let turns = dot(d, d) < dot(e, e);
    let either = |choose_b: bool, a: [f64; D], b: [f64; D]| from_axes(|axis| if choose_b { b[axis] } else { a[axis] });
    let (long, short) = (either(turns, d, e), either(turns, e, d));
    let [of_long, of_short] = if turns { [t, s] } else { [s, t] }.map(is_inner);
    let straight = across(apart, either(of_long, short, long), of_long | of_short);
    if D == 2 {
        return ((distance2, straight), [s, t]);
    }
    let rest = across(short, long, true);
    let is_skew = dot(rest, rest) > dot(short, short) * SKEW;
    ((distance2, across(straight, rest, of_long & of_short & is_skew)), [s, t])
}
