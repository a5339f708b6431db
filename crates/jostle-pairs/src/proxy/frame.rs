//! The frame that the proxies of a decided search share, and how much they grow so that no pair is lost.
//!
//! Centres are taken relative to the middle of their box and scaled by a power of two, so that none is more than 1 from it on
//! any axis, nor half the cell: |c| <= 1. The scale is 2^500 at most, so that differences whose squares `f64` takes for
//! nothing, below 2^-511, are less than what radii grow by.
//!
//! What a pair of proxies may lose, on each axis, u = 2^-24 being the unit roundoff of `f32` and S the sum of their radii:
//! - the rounding of the two centres: half an ulp below 1 each, u/2 + u/2;
//! - in a space that repeats, that of the difference of the centres, which is below 2: u; and that of the offset, which is
//!   below 2 + S where it matters: 2u + Su;
//! - roundings in `f64`, of the frame and of the predicate: some 2^-52, and, for bodies that have been moved into the cell
//!   by whole vectors, 2^-49 of all that was added on the way (`far`) at most.
//!
//! In length that is sqrt(3) of it, to be shared by two radii: 0.87u for each in open space, 0.87 * 4u in one that repeats.
//! So radii grow by u, or 4u, and `far * 2^-49`: the rest, an eighth, is a thousand times what `f64` rounds. The f32 predicate
//! rounds S by less than 8u in relative terms, that of the offset included, a path in `f64` by 2^-25 of its length (the root
//! of a difference): radii grow by 2^-20 = 16u of themselves as well, which of a moving body includes half of its path.
//!
//! The other way round, a hit that would be one with a sum of radii less by `R * 2^-17 + 8g` is one in `f64` as well, R being
//! the largest radius and g what each grew by in absolute terms: the radii grew by `S * 2^-20 + 2g` together, and what was
//! rounded in all is at most `S * 2^-21 + 2g`. Of moving bodies no hit is sure.

use crate::input::Cell;
use crate::proxy::survey::Extent;

/// Growth of a radius relative to itself: 2^-20.
const RELATIVE: f64 = 1.0 / 1_048_576.0;

/// Growth of a radius in the frame, in open space and in one that repeats: 2^-24 and 2^-22.
const ABSOLUTE: [f64; 2] = [1.0 / 16_777_216.0, 1.0 / 4_194_304.0];

/// Growth relative to what was added and taken off on the way into the cell: 2^-49.
const FAR: f64 = f64::from_bits((1023 - 49) << 52);

/// By how much less a sum of radii must do for a hit to be sure: relative to the largest radius, 2^-17, and as a multiple of
/// the absolute growth.
const SLACK: (f64, f64) = (1.0 / 131_072.0, 8.0);

/// The exponent of the scale, at most.
const MAX_EXPONENT: i64 = 500;

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<const D: usize> {
    pub(crate) origin: [f64; D],
    pub(crate) scale: f64,
    growth: f64,
    /// Of hits of bodies at rest.
    pub(crate) slack: f32,
}

impl<const D: usize> Default for Frame<D> {
    fn default() -> Self {
        Self { origin: [0.0; D], scale: 1.0, growth: 0.0, slack: 0.0 }
    }
}

impl<const D: usize> Frame<D> {
    /// Of all bodies of a search.
    pub(crate) fn new(all: Extent<D>, cell: Option<&Cell<D>>) -> Self {
        let mut half = all.radius;
        for axis in 0..D {
            half = half.max(all.hi[axis] / 2.0 - all.lo[axis] / 2.0);
            if let Some(cell) = cell {
                let vectors = cell.space.vectors.iter().zip(cell.space.repeats).filter(|(_, repeats)| *repeats);
                half = half.max(vectors.map(|(vector, _)| vector[axis].abs()).sum::<f64>() / 2.0);
            }
        }
        let scale = power_of_two_below_inverse(half);
        let growth = ABSOLUTE[usize::from(cell.is_some())] + all.far * scale * FAR;
        Self {
            origin: core::array::from_fn(|axis| all.lo[axis] / 2.0 + all.hi[axis] / 2.0),
            scale,
            growth,
            slack: (all.radius * scale * SLACK.0 + growth * SLACK.1) as f32,
        }
    }

    /// A coordinate in the frame.
    #[inline]
    pub(crate) fn coordinate(&self, axis: usize, x: f64) -> f32 {
        ((x - self.origin[axis]) * self.scale) as f32
    }

    /// A radius in the frame, grown.
    #[inline]
    pub(crate) fn radius(&self, radius: f64) -> f32 {
        let radius = radius * self.scale;
        (radius + radius * RELATIVE + self.growth) as f32
    }

    /// By how much two proxies may seem nearer to each other than their bodies are, in lengths of the caller.
    pub(crate) fn blur(&self) -> f64 {
        4.0 * self.growth / self.scale
    }
}

/// The greatest power of two by which `length` becomes at most 1, within bounds.
fn power_of_two_below_inverse(length: f64) -> f64 {
    if length.is_nan() || length <= 0.0 || length.is_infinite() {
        return 1.0;
    }
    let exponent = i64::from((length.to_bits() >> 52) as u32 & 0x7ff) - 1023;
    let inverse = (-(exponent + 1)).clamp(-1022, MAX_EXPONENT);
    f64::from_bits(((inverse + 1023) as u64) << 52)
}
