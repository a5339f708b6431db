//! Boxes in `f32` that stand for bodies of several shapes, or for boxes in `f64`; what they hit is decided ([`solid`](super::solid)).
//!
//! All lie in one frame: taken relative to the middle of all, and scaled by a power of two so that none is more than 1 from
//! it, but for what has no end. A corner is rounded by some 2^-52 in `f64`, and by 2^-25 to `f32`; the predicates, as
//! lengths of bodies that nearly touch, by some 2^-50. Each box grows by 2^-22 on every side, which covers all of it eight times.

use jostle_core::Boxes;

use crate::proxy::scale::power_of_two_below_inverse;

/// What boxes grow by on every side, in the frame: 2^-22.
pub(super) const GROWTH: f32 = 1.0 / 4_194_304.0;

/// Where the boxes of a search lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxFrame<const D: usize> {
    pub(super) origin: [f64; D],
    pub(super) scale: f64,
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

/// How far some bodies reach where they end, and whether they are sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finite<const D: usize> {
    pub(super) lo: [f64; D],
    pub(super) hi: [f64; D],
    pub(super) sound: bool,
}

impl<const D: usize> Finite<D> {
    pub(crate) const NONE: Self = Self { lo: [f64::INFINITY; D], hi: [f64::NEG_INFINITY; D], sound: true };

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
        }
        Self { sound: self.sound & other.sound, ..self }
    }
}

impl<const D: usize> BoxFrame<D> {
    pub(crate) fn of(all: Finite<D>) -> Self {
        let (mut origin, mut half) = ([0.0; D], 0.0_f64);
        for axis in 0..D {
            if all.lo[axis] <= all.hi[axis] {
                origin[axis] = all.lo[axis] / 2.0 + all.hi[axis] / 2.0;
                half = half.max(all.hi[axis] / 2.0 - all.lo[axis] / 2.0);
            }
        }
        Self { origin, scale: power_of_two_below_inverse(half) }
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
