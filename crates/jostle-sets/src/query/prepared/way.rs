//! Geometry of questions in `f64`, and what is refused.

use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::limits::REACH_F64;

use crate::proxy::Solid;
use crate::query::error::{QueryError, QueryReason};

/// A ray.
pub(super) struct Way<const D: usize> {
    pub(super) origin: [f64; D],
    pub(super) direction: [f64; D],
    length2: f64,
    pub(super) length: f64,
}

impl<const D: usize> Way<D> {
    pub(super) fn new(origin: [f64; D], direction: [f64; D], reach: f64, repeats: bool) -> Result<Self, QueryError> {
        check_point(&origin, 0.0)?;
        if let Some(axis) = direction.iter().position(|x| !x.is_finite()) {
            return refuse(QueryReason::DirectionNotFinite { axis: axis as u8 });
        }
        if direction == [0.0; D] {
            return refuse(QueryReason::DirectionZero);
        }
        let direction = of_usual_length(direction);
        let length2 = squared(direction);
        check_distance(reach)?;
        if repeats && reach.is_infinite() {
            return refuse(QueryReason::EndlessRay);
        }
        Ok(Self { origin, direction, length2, length: length2.sqrt() })
    }

    /// Returns the distance to a circle, if the ray hits it. `m` leads from the origin of the ray to its centre.
    pub(super) fn hit(&self, mut m: [f64; D], radius: f64) -> Option<f64> {
        let radius2 = radius * radius;
        if squared(m) <= radius2 {
            return Some(0.0);
        }
        let along =
            (1..D).fold(m[0] * self.direction[0], |sum, axis| sum + m[axis] * self.direction[axis]) / self.length2;
        for axis in 0..D {
            m[axis] -= along * self.direction[axis];
        }
        let distance2 = squared(m);
        let hits = along >= 0.0 && distance2 <= radius2;
        hits.then(|| (along * self.length - (radius2 - distance2).sqrt()).max(0.0))
    }
}

/// Returns a direction whose squares neither vanish nor overflow: the same one, or a power of two times it.
fn of_usual_length<const D: usize>(mut direction: [f64; D]) -> [f64; D] {
    let times = f64::from_bits((1023 + 300) << 52);
    let widest = |direction: [f64; D]| direction.into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    while widest(direction) < 1.0 / times {
        direction = direction.axes(|x| x * times);
    }
    while widest(direction) > times {
        direction = direction.axes(|x| x / times);
    }
    direction
}

impl<const D: usize> Solid<D> {
    /// Returns the distance along a ray to a box or a capsule that is seen at a shift, if the ray hits it.
    pub(super) fn hit_by(&self, ray: &Way<D>, shift: [f64; D]) -> Option<f64> {
        let ([p, q], radius) = self.segment();
        let [p, q] = [p, q].both(|end| difference(end, ray.origin, shift));
        if matches!(self, Self::Boxed { .. }) { ray.hit_box(p, q) } else { ray.hit_capsule(p, q, radius) }
    }
}

impl<const D: usize> Way<D> {
    /// Returns the distance to a box, if the ray hits it. `lo` and `hi` lead from the origin to its corners.
    fn hit_box(&self, lo: [f64; D], hi: [f64; D]) -> Option<f64> {
        let (mut near, mut far) = (0.0_f64, f64::INFINITY);
        for axis in 0..D {
            let part = self.direction[axis];
            if part == 0.0 {
                if lo[axis] > 0.0 || hi[axis] < 0.0 {
                    return None;
                }
                continue;
            }
            let ends = [lo[axis] / part, hi[axis] / part];
            near = near.max(ends[0].min(ends[1]));
            far = far.min(ends[0].max(ends[1]));
        }
        (near <= far).then_some(near * self.length)
    }

    /// Returns the distance to a capsule, if the ray hits it: to the balls about its ends, or to its side. `p` and `q`
    /// lead from the origin to its ends.
    fn hit_capsule(&self, p: [f64; D], q: [f64; D], radius: f64) -> Option<f64> {
        let along = difference(q, p, [0.0; D]);
        let (length2, dot) = (squared(along), |a: [f64; D], b: [f64; D]| (0..D).fold(0.0, |sum, k| sum + a[k] * b[k]));
        let ends = [self.hit(p, radius), self.hit(q, radius)];
        let first = ends.into_iter().flatten().fold(f64::INFINITY, f64::min);
        let first = (first < f64::INFINITY).then_some(first);
        if length2 == 0.0 {
            return first;
        }
        let part = (-dot(p, along) / length2).clamp(0.0, 1.0);
        let mut nearest = p;
        for axis in 0..D {
            nearest[axis] += part * along[axis];
        }
        if squared(nearest) <= radius * radius {
            return Some(0.0);
        }
        // The part of the way, or of an end, that leads across the segment. In the plane there is only one direction
        // across: there, what rounding would leave of a vector along the segment must not count.
        let across = |mut of: [f64; D]| {
            if D == 2 {
                let part = (along[0] * of[1] - along[1] * of[0]) / length2.sqrt();
                return from_axes(|axis| if axis == 0 { part } else { 0.0 });
            }
            let part = dot(of, along) / length2;
            for axis in 0..D {
                of[axis] -= part * along[axis];
            }
            of
        };
        let (way, end) = (across(self.direction), across(p));
        let way2 = squared(way);
        if way2 == 0.0 {
            return first;
        }
        let at = dot(end, way) / way2;
        let mut off = end;
        for axis in 0..D {
            off[axis] -= at * way[axis];
        }
        let off2 = if D == 2 { 0.0 } else { squared(off) };
        if off2 > radius * radius {
            return first;
        }
        let enters = at - (radius * radius - off2).sqrt() / way2.sqrt();
        let beside = (enters * dot(self.direction, along) - dot(p, along)) / length2;
        let hits = enters >= 0.0 && (0.0..=1.0).contains(&beside);
        let side = hits.then_some(enters * self.length);
        side.into_iter().chain(first).reduce(f64::min)
    }
}

/// The difference from `from` to `to`, with `to` moved by `shift`.
pub(super) fn difference<const D: usize>(mut to: [f64; D], from: [f64; D], shift: [f64; D]) -> [f64; D] {
    for axis in 0..D {
        to[axis] = (to[axis] - from[axis]) + shift[axis];
    }
    to
}

/// The sum of squares, from left to right.
pub(super) fn squared<const D: usize>(apart: [f64; D]) -> f64 {
    apart.into_iter().fold(0.0, |sum, d| sum + d * d)
}

fn refuse<T>(reason: QueryReason) -> Result<T, QueryError> {
    Err(QueryError::Query(reason))
}

pub(super) fn check_point<const D: usize>(point: &[f64; D], radius: f64) -> Result<(), QueryError> {
    if let Some(axis) = point.iter().position(|x| !x.is_finite()) {
        return refuse(QueryReason::CoordinateNotFinite { axis: axis as u8 });
    }
    match point.iter().position(|x| x.abs() + radius > REACH_F64) {
        Some(axis) => refuse(QueryReason::TooFar64 { axis: axis as u8 }),
        None => Ok(()),
    }
}

fn check_radius(radius: f64) -> Result<f64, QueryError> {
    if !radius.is_finite() {
        return refuse(QueryReason::RadiusNotFinite);
    }
    if radius < 0.0 { refuse(QueryReason::RadiusNegative) } else { Ok(radius) }
}

pub(super) fn check_distance(distance: f64) -> Result<(), QueryError> {
    if distance.is_nan() || distance < 0.0 { refuse(QueryReason::NoDistance) } else { Ok(()) }
}

/// A region that bodies and images of a prepared set may touch.
#[derive(Clone, Copy)]
pub(super) enum Region64<const D: usize> {
    /// A circle or sphere.
    Round { center: [f64; D], radius: f64 },
    /// A box.
    Straight { lo: [f64; D], hi: [f64; D] },
}

impl<const D: usize> Region64<D> {
    /// Refuses the region when it has a fault.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        let (lo, hi) = match self {
            Self::Round { center, radius } => return check_point(center, check_radius(*radius)?),
            Self::Straight { lo, hi } => (lo, hi),
        };
        check_point(lo, 0.0)?;
        check_point(hi, 0.0)?;
        match (0..D).find(|&axis| lo[axis] > hi[axis]) {
            Some(axis) => refuse(QueryReason::LoAboveHi { axis: axis as u8 }),
            None => Ok(()),
        }
    }

    /// Two corners, and by how much the region reaches beyond them.
    pub(super) fn span(&self) -> ([f64; D], [f64; D], f64) {
        match *self {
            Self::Round { center, radius } => (center, center, radius),
            Self::Straight { lo, hi } => (lo, hi, 0.0),
        }
    }

    /// Whether a box or a capsule, once it is shifted, touches the region. For a box, a point is a box as well, so that
    /// borders are closed however small numbers are.
    #[inline]
    pub(super) fn touches_solid(&self, body: &Solid<D>, shift: [f64; D]) -> bool {
        let region = match *self {
            Self::Round { center, radius: 0.0 } if matches!(body, Solid::Boxed { .. }) => {
                Solid::Boxed { lo: center, hi: center }
            }
            Self::Round { center, radius } => Solid::Round { center, radius },
            Self::Straight { lo, hi } => Solid::Boxed { lo, hi },
        };
        region.touches(body, shift)
    }

    /// Whether a body, once it is shifted, touches the region.
    #[inline]
    pub(super) fn touches(&self, body: [f64; D], shift: [f64; D], radius: f64) -> bool {
        match self {
            Self::Round { center, radius: own } => {
                let s = own + radius;
                squared(difference(body, *center, shift)) <= s * s
            }
            Self::Straight { lo, hi } => {
                let mut outside = [0.0; D];
                for axis in 0..D {
                    let y = body[axis] + shift[axis];
                    outside[axis] = (lo[axis] - y).max(0.0).max(y - hi[axis]);
                }
                squared(outside) <= radius * radius
            }
        }
    }
}
