//! The definition of the answer: which inputs are refused, and a double loop over all bodies.

use core::ops::{Mul, Sub};

use jostle_core::error::NAMED_OFFENDERS;
use jostle_core::{Bodies, Reason, Scalar, ViewError};

/// The largest |coordinate| + radius that is accepted, 2^60.
pub const LIMIT: f32 = (1_u64 << 60) as f32;

/// The precision of a predicate: `f32` or `f64`.
pub trait Real: Scalar + Sub<Output = Self> + Mul<Output = Self> {
    /// Twice the largest relative error of one operation: 2^-23 or 2^-52.
    const EPSILON: f64;

    /// More than the distance of two numbers whose squared difference vanishes: 2^-74 or 2^-536.
    const VANISHING: f64;
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const VANISHING: f64 = f64::from_bits((1023 - 74) << 52);
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const VANISHING: f64 = f64::from_bits((1023 - 536) << 52);
}

/// Whether two bodies overlap: squared distance of centres at most the squared sum of radii, in the precision of the
/// bodies, left to right, multiply and add rounded separately. Touching counts.
#[inline]
#[must_use]
pub fn overlaps<const D: usize, T: Real>(p: [T; D], p_radius: T, q: [T; D], q_radius: T) -> bool {
    let dx = q[0] - p[0];
    let mut distance2 = dx * dx;
    for axis in 1..D {
        let d = q[axis] - p[axis];
        distance2 = distance2 + d * d;
    }
    let s = p_radius + q_radius;
    distance2 <= s * s
}

/// Every overlapping pair `[a, b]`, `a < b`, in ascending order. O(n^2).
#[must_use]
pub fn pairs<const D: usize>(view: Bodies<'_, D, impl Real>) -> Vec<[u32; 2]> {
    let bodies: Vec<_> = (0..view.len()).map(|id| (view.center(id), view.radius(id))).collect();
    let mut pairs = Vec::new();
    for (a, &(p, p_radius)) in bodies.iter().enumerate() {
        for (b, &(q, q_radius)) in bodies.iter().enumerate().skip(a + 1) {
            if overlaps(p, p_radius, q, q_radius) {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    pairs
}

/// The error that a view must be refused with, if any.
///
/// # Errors
/// [`ViewError::Lengths`], [`ViewError::TooMany`], or [`ViewError::Bodies`] with the first offenders in order of id.
pub fn check<const D: usize>(view: Bodies<'_, D>) -> Result<(), ViewError> {
    view.check_shape()?;
    let faulty = |id: usize| Some((id as u32, fault(view.center(id), view.radius(id))?));
    let mut offenders: Vec<_> = (0..view.len()).filter_map(faulty).collect();
    let count = offenders.len();
    offenders.truncate(NAMED_OFFENDERS);
    if count == 0 { Ok(()) } else { Err(ViewError::Bodies { count, first: offenders }) }
}

/// The first fault of a body: centre, then radius, then both together.
fn fault<const D: usize>(center: [f32; D], radius: f32) -> Option<Reason> {
    let axis_where = |fails: &dyn Fn(f32) -> bool| center.iter().position(|&x| fails(x)).map(|axis| axis as u8);
    if let Some(axis) = axis_where(&|x| !x.is_finite()) {
        Some(Reason::CenterNotFinite { axis })
    } else if !radius.is_finite() {
        Some(Reason::RadiusNotFinite)
    } else if radius < 0.0 {
        Some(Reason::RadiusNegative)
    } else {
        axis_where(&|x| x.abs() + radius > LIMIT).map(|axis| Reason::TooFar { axis })
    }
}

#[cfg(test)]
mod tests {
    use super::pairs;
    use jostle_core::{Circles, Spheres};

    #[test]
    fn touching_counts_and_a_gap_of_one_ulp_does_not() {
        let x = [0.0, 1.0, 2.0_f32.next_up()];
        assert_eq!(pairs(Circles::new(&x, &[0.0; 3], 0.5)), [[0, 1]]);
    }

    #[test]
    fn concentric_points_overlap() {
        assert_eq!(pairs(Spheres::new(&[1.0; 3], &[2.0; 3], &[3.0; 3], 0.0)), [[0, 1], [0, 2], [1, 2]]);
    }

    #[test]
    fn differences_whose_squares_vanish_count() {
        let x = [0.0, 2.0_f32.powi(-76)];
        assert_eq!(pairs(Circles::new(&x, &[0.0; 2], 0.0)), [[0, 1]]);
    }
}
