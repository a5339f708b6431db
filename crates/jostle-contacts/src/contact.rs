//! Where and how deep two circles or spheres overlap.

use jostle_core::axes::{Axes, from_axes};
use jostle_sets::proxy::squared;

/// A squared length below 2^-960 is computed from a vector 2^700 times as long, so that it does not vanish, and one above
/// 2^960 from a vector 2^-700 times as long, so that it does not overflow.
const SHORT2: f64 = f64::from_bits((1023 - 960) << 52);
const LONG2: f64 = f64::from_bits((1023 + 960) << 52);
const LONGER: f64 = f64::from_bits((1023 + 700) << 52);

/// Where and how deep two bodies overlap, in `f32` or `f64`. The fields say what holds for circles and spheres;
/// [`contacts`](crate::contacts) says it for boxes and capsules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<const D: usize, T = f32> {
    /// The sum of the radii less the distance of the centres, but never below 0: a pair may touch by the rounding of
    /// the search's test alone.
    pub depth: T,
    /// The direction from the centre of a to that of b, of length 1; +x when there is no distance between them.
    pub normal: [T; D],
    /// The middle of the part of the line through both centres that lies in both bodies. Where the bodies touch by
    /// rounding alone, the middle of the gap.
    pub point: [T; D],
}

impl<const D: usize, T: Copy + Default> Default for Contact<D, T> {
    fn default() -> Self {
        Self { depth: T::default(), normal: [T::default(); D], point: [T::default(); D] }
    }
}

impl<const D: usize> Contact<D, f64> {
    /// Returns the contact of a body at `p` with a body that is `apart` from it.
    #[inline]
    pub(crate) fn of(p: [f64; D], apart: [f64; D], [p_radius, q_radius]: [f64; 2]) -> Self {
        let (mut normal, mut distance2, mut scale) = (apart, squared(apart), 1.0);
        if !(SHORT2..=LONG2).contains(&distance2) {
            scale = if distance2 < SHORT2 { LONGER } else { 1.0 / LONGER };
            normal = apart.axes(|d| d * scale);
            distance2 = squared(normal);
        }
        let mut distance = distance2.sqrt();
        if distance > 0.0 {
            normal = normal.axes(|d| d / distance);
            distance /= scale;
        } else {
            normal[0] = 1.0;
        }
        let from = (distance - q_radius).max(-p_radius);
        let to = (distance + q_radius).min(p_radius);
        let middle = (from + to) * 0.5;
        let point = from_axes(|axis| p[axis] + normal[axis] * middle);
        Self { depth: (p_radius + q_radius - distance).max(0.0), normal, point }
    }

    #[inline]
    pub(crate) fn rounded(self) -> Contact<D> {
        let Self { depth, normal, point } = self;
        Contact { depth: depth as f32, normal: normal.axes(|x| x as f32), point: point.axes(|x| x as f32) }
    }
}

/// Returns the contact of a body at `p` with a body at `q`.
///
/// Computed in f64 from left to right and rounded to f32 once, at the end. Each component is within half an ulp of the
/// true value, but for an error of some 2^-50 of the largest number that goes into it, and has the same bits on every
/// machine. No finite centres, however near, give a NaN. The length of the normal differs from 1 by less than 2^-23.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_contacts::*; pub use jostle_pairs::*; }
/// use jostle::contact;
/// let contact = contact([0.0, 0.0], 2.0, [3.0, 0.0], 1.5);
/// assert_eq!((contact.depth, contact.normal), (0.5, [1.0, 0.0]));
/// assert_eq!(contact.point, [1.75, 0.0]); // between 1.5, where b begins, and 2, where a ends
/// ```
#[must_use]
#[inline]
pub fn contact<const D: usize>(p: [f32; D], p_radius: f32, q: [f32; D], q_radius: f32) -> Contact<D> {
    contact_f64(p.axes(f64::from), p_radius.into(), q.axes(f64::from), q_radius.into()).rounded()
}

/// As [`contact`], in `f64` without rounding to `f32`: each component has an error of some 2^-50 of the largest number that goes
/// into it. Centres and radii may be as large as those of a search, 2^500, and larger, as long as no sum or difference of
/// them overflows.
#[must_use]
#[inline]
pub fn contact_f64<const D: usize>(p: [f64; D], p_radius: f64, q: [f64; D], q_radius: f64) -> Contact<D, f64> {
    Contact::of(p, from_axes(|axis| q[axis] - p[axis]), [p_radius, q_radius])
}
