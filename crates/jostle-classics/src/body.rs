//! A circle or sphere, and the predicate.

use jostle_core::Aabb;
use jostle_core::aabb::{GROWTH, outward_hi, outward_lo};

/// A circle (D = 2) or sphere (D = 3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body<const D: usize> {
    /// Its centre.
    pub center: [f32; D],
    /// Its radius, not negative.
    pub radius: f32,
}

impl<const D: usize> Body<D> {
    /// Whether two bodies overlap: squared distance of centres at most the squared sum of radii, in `f32`, left to
    /// right, multiply and add rounded separately. Touching counts.
    #[inline]
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let dx = other.center[0] - self.center[0];
        let mut distance2 = dx * dx;
        for axis in 1..D {
            let d = other.center[axis] - self.center[axis];
            distance2 += d * d;
        }
        let s = self.radius + other.radius;
        distance2 <= s * s
    }

    /// Returns a box around the body. It is rounded outwards so far that the boxes of two bodies share a point whenever
    /// the bodies overlap, rounding of the predicate included (`jostle_core::aabb` has the proof).
    #[inline]
    #[must_use]
    pub fn aabb(&self) -> Aabb<D> {
        let reach = self.radius * GROWTH;
        Aabb { lo: self.center.map(|x| outward_lo(x - reach)), hi: self.center.map(|x| outward_hi(x + reach)) }
    }
}
