//! Boxes in `f32` that stand in for bodies of several shapes, or for boxes in `f64`; for the whole paths of bodies that
//! move. Their hits are decided ([`solid`](super::solid), [`impact`](super::impact)).
//!
//! All boxes lie in one frame: taken relative to the middle of all, and scaled by a power of two so that no corner with
//! an end is more than 1 from the middle. A corner is rounded by some 2^-52 in `f64`, and by 2^-25 to `f32`. The
//! predicates round by some 2^-50, as lengths of bodies that nearly touch. Each box grows by 2^-22 on every side, which
//! covers all of it eight times.
//!
//! In a space that repeats, half of the cell is within 1 as well, and two boxes can touch only at offsets of at most
//! little more than 2. Such an offset is rounded by 2^-23, its sum with a corner near 1 by 2^-24. Each box grows by
//! 2^-21, which covers all of it three times. Whole vectors move bodies into the cell, which rounds by at most 2^-49 of
//! all that was added on the way (`far`). Boxes grow by that as well.
//!
//! A prepared set brings its frame along, in which other boxes may lie anywhere. On an axis where two boxes nearly
//! touch, rounding then loses at most 2^-22 of how far the two corners lie from the middle. So a box of another set
//! grows by four times as much as elsewhere, relative to its own widest corner (which counts as 1 at least). A prepared
//! set of boxes in `f32` in open space is taken as it is: its frame is the caller's, and its boxes have neither grown
//! nor been rounded. The other boxes grow by 2^-20 of their widest corner, and by the least normal number, so that they
//! grow where corners vanish in `f32`.

use jostle_core::Boxes;
use jostle_core::axes::from_axes;
use jostle_core::scratch::resize_with_headroom;

use crate::input::UnitCell;
use crate::proxy::frame::{FAR, half_width};
use crate::proxy::scale::power_of_two_below_inverse;

/// What boxes grow by on every side, in the frame, in open space and in one that repeats: 2^-22 and 2^-21.
const GROWTH: [f64; 2] = [1.0 / 4_194_304.0, 1.0 / 2_097_152.0];

/// Where the boxes of a search lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxFrame<const D: usize> {
    pub(crate) origin: [f64; D],
    pub(crate) scale: f64,
    /// What boxes grow by: `relative` times their widest corner, which counts as `unit` at least, plus `absolute`.
    relative: f64,
    unit: f64,
    absolute: f64,
    /// The widest corner of all, if some lie beyond `unit`.
    beyond: Option<f64>,
}

/// How many times as much as elsewhere boxes grow in an adopted frame.
const ADOPTED: f64 = 4.0;

/// How far boxes may reach in an adopted frame: 2^100.
const WIDEST: f64 = f64::from_bits((1023 + 100) << 52);

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

/// How far some bodies reach where they end, once they have been moved into the cell, and whether the bodies are sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finite<const D: usize> {
    pub(crate) lo: [f64; D],
    pub(crate) hi: [f64; D],
    /// On each axis, the greatest reach of a body from its middle.
    pub(crate) reach: [f64; D],
    /// Half of the greatest length of the least body.
    pub(crate) least: f64,
    /// The greatest sum of |coordinate| and all that was taken off, of bodies moved into the cell.
    pub(crate) far: f64,
    /// Some bodies have been moved into the cell.
    pub(crate) outside: bool,
    pub(super) sound: bool,
}

impl<const D: usize> Finite<D> {
    pub(crate) const NONE: Self = Self {
        lo: [f64::INFINITY; D],
        hi: [f64::NEG_INFINITY; D],
        reach: [0.0; D],
        least: f64::INFINITY,
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
            least: self.least.min(other.least),
            far: self.far.max(other.far),
            outside: self.outside | other.outside,
            sound: self.sound & other.sound,
            ..self
        }
    }

    /// The largest number that coordinates of the bodies come from.
    pub(crate) fn largest(&self) -> [f64; D] {
        from_axes(|axis| {
            if self.lo[axis] <= self.hi[axis] {
                self.lo[axis].abs().max(self.hi[axis].abs()) + self.far
            } else {
                self.far
            }
        })
    }
}

impl<const D: usize> BoxFrame<D> {
    /// The frame of all bodies of a search.
    pub(crate) fn of(all: Finite<D>, cell: Option<&UnitCell<D>>) -> Self {
        let (mut origin, mut half) = ([0.0; D], 0.0_f64);
        for axis in 0..D {
            if all.lo[axis] <= all.hi[axis] {
                origin[axis] = all.lo[axis] / 2.0 + all.hi[axis] / 2.0;
                half = half.max(all.hi[axis] / 2.0 - all.lo[axis] / 2.0);
            }
            half = half.max(cell.map_or(0.0, |cell| half_width(cell, axis)));
        }
        Self::centered(origin, half, all, cell)
    }

    /// The frame of the bodies of a prepared set. Where all directions repeat, it is that of the cell.
    pub(crate) fn prepared(all: Finite<D>, cell: Option<&UnitCell<D>>) -> Self {
        let Some(cell) = cell.filter(|cell| cell.space.repeats == [true; D]) else { return Self::of(all, cell) };
        let (mut origin, mut half) = (cell.space.origin, 0.0_f64);
        for axis in 0..D {
            origin[axis] += cell.space.vectors.iter().map(|vector| vector[axis] / 2.0).sum::<f64>();
            half = half.max(half_width(cell, axis));
        }
        Self::centered(origin, half, all, Some(cell))
    }

    fn centered(origin: [f64; D], half: f64, all: Finite<D>, cell: Option<&UnitCell<D>>) -> Self {
        let scale = power_of_two_below_inverse(half);
        let (relative, absolute) = (GROWTH[usize::from(cell.is_some())], all.far * scale * FAR);
        Self { origin, scale, relative, unit: 1.0, absolute, beyond: None }.of_all(all)
    }

    /// The frame of a prepared set, or the world of a set in `f32`, for all bodies of a search. None where these do not
    /// fit.
    pub(crate) fn adopted(of: Option<&Self>, all: Finite<D>, cell: Option<&UnitCell<D>>) -> Option<Self> {
        let (origin, scale) = of.map_or(([0.0; D], 1.0), |frame| (frame.origin, frame.scale));
        let relative = ADOPTED * GROWTH[usize::from(cell.is_some())];
        let least = if of.is_some() { 0.0 } else { f32::MIN_POSITIVE.into() };
        let (unit, absolute) = (if of.is_some() { 1.0 } else { 0.0 }, ADOPTED * all.far * scale * FAR + least);
        let frame = Self { origin, scale, relative, unit, absolute, beyond: None }.of_all(all);
        (frame.beyond.unwrap_or(frame.unit) < WIDEST).then_some(frame)
    }

    /// Notes whether some bodies lie beyond the unit.
    fn of_all(mut self, all: Finite<D>) -> Self {
        let reach =
            |axis: usize| (all.lo[axis] - self.origin[axis]).abs().max((all.hi[axis] - self.origin[axis]).abs());
        let widest = (0..D).filter(|&axis| all.lo[axis] <= all.hi[axis]).map(reach).fold(0.0, f64::max) * self.scale;
        self.beyond = Some(widest).filter(|&widest| widest > self.unit);
        self
    }

    /// Whether bodies have the same places in another frame.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.origin == other.origin && self.scale == other.scale
    }

    /// Whether some bodies lie so far from the middle that what a box grows by depends on it.
    pub(super) fn reaches_beyond(&self) -> bool {
        self.beyond.is_some()
    }

    /// The border of a box that grows by `growth`. Its body ends there at `end`, relative to the origin.
    #[inline(always)]
    pub(super) fn border(&self, end: f64, growth: f64) -> f32 {
        (end * self.scale) as f32 + growth as f32
    }

    /// What a box grows by whose widest end is so far from the origin, in lengths of the caller.
    #[inline(always)]
    pub(super) fn growth_at(&self, widest: f64) -> f64 {
        self.growth(widest * self.scale)
    }

    #[inline(always)]
    fn growth(&self, widest: f64) -> f64 {
        self.relative * widest.max(self.unit) + self.absolute
    }

    /// What boxes grow by at most, in lengths of the caller.
    pub(crate) fn growth_of_all(&self) -> f64 {
        self.growth(self.beyond.unwrap_or(self.unit)) / self.scale
    }
}

impl<const D: usize> BoxColumns<D> {
    pub(super) fn make_room(&mut self, boxes: usize) {
        self.corners.iter_mut().flatten().for_each(|column| resize_with_headroom(column, boxes));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.corners.iter().flatten().map(|column| column.capacity() * size_of::<f32>()).sum::<usize>()
            + self.extents.capacity() * size_of::<Finite<D>>()
    }

    pub(crate) fn view(&self) -> Boxes<'_, D> {
        let [lo, hi] = &self.corners;
        Boxes::new(lo.each_ref(), hi.each_ref())
    }
}
