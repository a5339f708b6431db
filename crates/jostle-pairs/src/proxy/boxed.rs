//! Boxes in `f32` that stand for bodies of several shapes, or for boxes in `f64`; what they hit is decided ([`solid`](super::solid)).
//!
//! All lie in one frame: taken relative to the middle of all, and scaled by a power of two so that none is more than 1 from
//! it, but for what has no end. A corner is rounded by some 2^-52 in `f64`, and by 2^-25 to `f32`; the predicates, as
//! lengths of bodies that nearly touch, by some 2^-50. Each box grows by 2^-22 on every side, which covers all of it eight times.
//!
//! In a space that repeats half of the cell is within 1 as well, and two boxes can touch at offsets of little more than 2 alone: such an
//! offset is rounded by 2^-23, its sum with a corner near 1 by 2^-24. Each box grows by 2^-21, which covers all of it three times.
//! Bodies are moved into the cell by whole vectors, which rounds by 2^-49 of all that was added on the way (`far`) at most:
//! boxes grow by that as well.

use jostle_core::Boxes;

use crate::input::UnitCell;
use crate::proxy::frame::{FAR, half_width};
use crate::proxy::scale::power_of_two_below_inverse;

/// What boxes grow by on every side, in the frame, in open space and in one that repeats: 2^-22 and 2^-21.
const GROWTH: [f64; 2] = [1.0 / 4_194_304.0, 1.0 / 2_097_152.0];

/// Where the boxes of a search lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxFrame<const D: usize> {
    pub(super) origin: [f64; D],
    pub(crate) scale: f64,
    /// What every box grows by.
    pub(super) growth: f32,
}

/// The corners of boxes, by id.
#[derive(Debug)]
pub(crate) struct BoxColumns<const D: usize> {
    pub(super) corners: [[Vec<f32>; D]; 2],
    pub(super) extents: Vec<Finite<D>>,
}

impl<const D: usize> Default for BoxColumns<D> {
    fn default() -> Self {
        Self { corners: [const { [const { Vec::new() }; D] }; 2], extents: Vec::new() }
    }
}

/// How far some bodies reach where they end, once they have been moved into the cell, and whether they are sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finite<const D: usize> {
    pub(super) lo: [f64; D],
    pub(super) hi: [f64; D],
    /// The most of what one of them reaches from its middle on each axis.
    pub(crate) reach: [f64; D],
    /// Of those moved into the cell, the greatest sum of |coordinate| and all that was taken off.
    pub(crate) far: f64,
    /// Some have been moved into the cell.
    pub(super) outside: bool,
    pub(super) sound: bool,
}

impl<const D: usize> Finite<D> {
    pub(crate) const NONE: Self = Self {
        lo: [f64::INFINITY; D],
        hi: [f64::NEG_INFINITY; D],
        reach: [0.0; D],
        far: 0.0,
        outside: false,
        sound: true,
    };

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
            self.reach[axis] = self.reach[axis].max(other.reach[axis]);
        }
        Self {
            far: self.far.max(other.far),
            outside: self.outside | other.outside,
            sound: self.sound & other.sound,
            ..self
        }
    }
}

impl<const D: usize> BoxFrame<D> {
    /// Of all bodies of a search.
    pub(crate) fn of(all: Finite<D>, cell: Option<&UnitCell<D>>) -> Self {
        let (mut origin, mut half) = ([0.0; D], 0.0_f64);
        for axis in 0..D {
            if all.lo[axis] <= all.hi[axis] {
                origin[axis] = all.lo[axis] / 2.0 + all.hi[axis] / 2.0;
                half = half.max(all.hi[axis] / 2.0 - all.lo[axis] / 2.0);
            }
            half = half.max(cell.map_or(0.0, |cell| half_width(cell, axis)));
        }
        let scale = power_of_two_below_inverse(half);
        let growth = GROWTH[usize::from(cell.is_some())] + all.far * scale * FAR;
        Self { origin, scale, growth: growth as f32 }
    }

    /// By how much two boxes may seem nearer to each other than their bodies are, in lengths of the caller.
    pub(crate) fn blur(&self) -> f64 {
        4.0 * f64::from(self.growth) / self.scale
    }
}

impl<const D: usize> BoxColumns<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.corners.iter().flatten().map(|column| column.capacity() * size_of::<f32>()).sum::<usize>()
            + self.extents.capacity() * size_of::<Finite<D>>()
    }

    pub(crate) fn view(&self) -> Boxes<'_, D> {
        let [lo, hi] = &self.corners;
        Boxes::new(lo.each_ref(), hi.each_ref())
    }
}
