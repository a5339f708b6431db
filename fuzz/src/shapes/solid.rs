//! Plain formulas for whether two bodies touch, one of them at an image, and for how sure that is.

/// Steps of the search for the least distance. Each leaves two thirds of an interval, and all leave a part in 10^11 of
/// it.
const STEPS: usize = 64;

/// How far off formulas with capsules may be: relative to the lengths that go into them, as nearly parallel segments
/// lose half of the digits; and where squares vanish.
const RELATIVE: f64 = 1e-7;
const VANISHING: f64 = 1e-76;

/// A body.
#[derive(Debug, Clone, Copy)]
pub(super) enum Solid<const D: usize> {
    /// A box, by its corners.
    Boxed([[f64; D]; 2]),
    /// A capsule, by its ends and its radius. The ends of a circle or a sphere are the same point.
    Long([[f64; D]; 2], f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    Touching,
    Apart,
    /// Too close to tell.
    Close,
}

impl From<bool> for Verdict {
    fn from(touching: bool) -> Self {
        if touching { Self::Touching } else { Self::Apart }
    }
}

use Solid::{Boxed, Long};

impl<const D: usize> Solid<D> {
    /// Returns the interval that the body takes on each axis.
    pub(super) fn extent(&self) -> [[f64; 2]; D] {
        core::array::from_fn(|axis| match *self {
            Boxed([lo, hi]) => [lo[axis], hi[axis]],
            Long([p, q], radius) => [p[axis].min(q[axis]) - radius, p[axis].max(q[axis]) + radius],
        })
    }

    pub(super) fn radius(&self) -> f64 {
        if let Long(_, radius) = *self { radius } else { 0.0 }
    }

    /// Returns how long the segment of a capsule is.
    fn long(&self) -> f64 {
        if let Long([p, q], _) = *self { length(minus(q, p)) } else { 0.0 }
    }

    /// Returns how far a point is from the box, or from the segment of the capsule, at an image; and how long the
    /// segment is.
    pub(super) fn distance(&self, point: [f64; D], shift: [f64; D]) -> (f64, f64) {
        match *self {
            Boxed(corners) => (length(outside(seen(point, corners, shift), [0.0; D])), 0.0),
            Long(ends, _) => {
                let [p, q] = seen(point, ends, shift);
                let along = minus(ends[1], ends[0]);
                (to_segment(p, along).min(length(p)).min(length(q)), length(along))
            }
        }
    }

    /// Returns whether the bodies touch at some time, the second at an image and moving by `by` as seen from the first.
    pub(super) fn meets_on_its_way(&self, other: &Self, shift: [f64; D], by: [f64; D]) -> Verdict {
        let reach = self.radius() + other.radius();
        let at = |t: f64| self.apart(other, core::array::from_fn(|axis| shift[axis] + t * by[axis]));
        let (one, two) = (self.extent(), other.extent());
        let passes = |axis: usize| {
            let ([lo, hi], [low, high], x) = (one[axis], two[axis], shift[axis]);
            let (below, above) = (low - hi + x + by[axis].min(0.0), lo - high - x - by[axis].max(0.0));
            let doubt =
                [lo, hi, low, high, x, by[axis]].map(f64::abs).into_iter().filter(|x| x.is_finite()).sum::<f64>();
            below.max(above) > doubt * RELATIVE + VANISHING
        };
        match self.meets(other, shift) {
            Verdict::Apart if (0..D).any(passes) => Verdict::Apart,
            Verdict::Apart if by != [0.0; D] => verdict(at, reach, length(by) + self.long() + other.long()),
            verdict => verdict,
        }
    }

    /// Returns how far the cores of two bodies are apart, the second at an image: less than 0 of two boxes
    /// that overlap.
    fn apart(&self, other: &Self, shift: [f64; D]) -> f64 {
        match (*self, *other) {
            (Boxed([lo, hi]), Boxed([low, high])) => {
                let gap =
                    |axis: usize| ((low[axis] - hi[axis]) + shift[axis]).max((lo[axis] - high[axis]) - shift[axis]);
                (0..D).map(gap).fold(f64::NEG_INFINITY, f64::max)
            }
            (Long(..), Boxed(_)) => other.apart(self, shift.map(|shift| -shift)),
            (Boxed(corners), Long([p, q], _)) => {
                let (corners, d) = (seen(p, corners, shift.map(|shift| -shift)), minus(q, p));
                least(&|t| length(outside(corners, d.map(|x| t * x))))
            }
            (Long([p, p_end], _), Long([q, q_end], _)) => {
                let ([w], d, e) = (seen(p, [q], shift), minus(p_end, p), minus(q_end, q));
                least(&|t| to_segment(core::array::from_fn(|axis| w[axis] - t * d[axis]), e))
            }
        }
    }

    /// Returns whether the bodies touch, the second at an image.
    pub(super) fn meets(&self, other: &Self, shift: [f64; D]) -> Verdict {
        match (*self, *other) {
            (Boxed([lo, hi]), Boxed([low, high])) => {
                let touching = |axis: usize| {
                    (low[axis] - hi[axis]) + shift[axis] <= 0.0 && (high[axis] - lo[axis]) + shift[axis] >= 0.0
                };
                (0..D).all(touching).into()
            }
            (Long(..), Boxed(_)) => other.meets(self, shift.map(|shift| -shift)),
            (Boxed(corners), Long([p, q], radius)) if p == q => {
                (length2(outside(seen(p, corners, shift.map(|shift| -shift)), [0.0; D])) <= radius * radius).into()
            }
            (Boxed(corners), Long([p, q], radius)) => {
                let (corners, d) = (seen(p, corners, shift.map(|shift| -shift)), minus(q, p));
                let at = |t: f64| length(outside(corners, d.map(|x| t * x)));
                verdict(at, radius, length(d))
            }
            (Long([p, p_end], p_radius), Long([q, q_end], q_radius)) => {
                let ([w], d, e, s) = (seen(p, [q], shift), minus(p_end, p), minus(q_end, q), p_radius + q_radius);
                if d == [0.0; D] && e == [0.0; D] {
                    return (length2(w) <= s * s).into();
                }
                // The distance from a point of the first segment to the second segment.
                let at = |t: f64| to_segment(core::array::from_fn(|axis| w[axis] - t * d[axis]), e);
                verdict(at, s, length(d) + length(e))
            }
        }
    }
}

/// Returns the verdict on two bodies whose radii add up to `s` and whose segments are `long` together. From 0 to 1,
/// their distance `f` falls and then rises.
fn verdict(f: impl Fn(f64) -> f64, s: f64, long: f64) -> Verdict {
    let told = |distance: f64| {
        let doubt = (distance.abs() + s + long) * RELATIVE + VANISHING;
        if (distance - s).abs() <= doubt { Verdict::Close } else { (distance < s).into() }
    };
    let (mut from, mut to) = (0.0, 1.0);
    let mut least = f(0.0).min(f(1.0));
    for _ in 0..STEPS {
        // No place is further from one of the ends than the segments are long.
        if told(least) == Verdict::Touching || told(least - long) == Verdict::Apart {
            break;
        }
        let third = (to - from) / 3.0;
        let (left, right) = (f(from + third), f(to - third));
        least = least.min(left).min(right);
        if left <= right { to -= third } else { from += third }
    }
    told(least)
}

/// Returns the least value of a function that falls and then rises from 0 to 1.
fn least(f: &dyn Fn(f64) -> f64) -> f64 {
    let (mut from, mut to) = (0.0, 1.0);
    for _ in 0..STEPS * 2 / 3 {
        let third = (to - from) / 3.0;
        if f(from + third) <= f(to - third) { to -= third } else { from += third }
    }
    f(0.0).min(f(1.0)).min(f(from))
}

/// Returns the distance of the origin from a segment that begins at `w` and extends by `e`.
fn to_segment<const D: usize>(w: [f64; D], e: [f64; D]) -> f64 {
    let (away, long) = (length(w), length(e));
    // Seen from the origin, the segment is a point.
    if long <= away * f64::EPSILON * f64::EPSILON {
        return away;
    }
    let along: f64 = (0..D).map(|axis| -w[axis] / long * (e[axis] / long)).sum();
    let u = along.clamp(0.0, 1.0);
    length::<D>(core::array::from_fn(|axis| w[axis] + u * e[axis]))
}

/// Returns points relative to `p`, at an image.
fn seen<const D: usize, const N: usize>(p: [f64; D], points: [[f64; D]; N], shift: [f64; D]) -> [[f64; D]; N] {
    points.map(|point| core::array::from_fn(|axis| (point[axis] - p[axis]) + shift[axis]))
}

/// Returns how far a point is from the nearest point of a box, on each axis.
fn outside<const D: usize>([lo, hi]: [[f64; D]; 2], x: [f64; D]) -> [f64; D] {
    core::array::from_fn(|axis| (lo[axis] - x[axis]).max(x[axis] - hi[axis]).max(0.0))
}

fn minus<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    core::array::from_fn(|axis| a[axis] - b[axis])
}

fn length2<const D: usize>(x: [f64; D]) -> f64 {
    x.into_iter().fold(0.0, |sum, d| sum + d * d)
}

/// Returns the length of a vector, without squares that are too large or too small.
pub(super) fn length<const D: usize>(x: [f64; D]) -> f64 {
    let most = x.into_iter().fold(0.0, |most: f64, d| most.max(d.abs()));
    if most > 0.0 && most.is_finite() { most * length2(x.map(|d| d / most)).sqrt() } else { most }
}
