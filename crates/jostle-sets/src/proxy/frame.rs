//! The frame that the proxies of a decided search share, and how much they grow so that no pair is lost.
//!
//! Centres are taken relative to the middle of their box and scaled by a power of two, so that no centre is more than 1
//! from the middle on any axis, nor half the cell: |c| <= 1. The scale is 2^500 at most. So differences whose squares
//! vanish in `f64`, below 2^-511, are less than what radii grow by. Where bodies lie so far apart that radii would grow
//! by much of what they are, the frame leaves out the gaps between bodies, if it can ([`gaps`](crate::proxy::gaps)):
//! the box is then that of the coordinates that are left. A frame that is adopted, or that a prepared set makes, has
//! its gaps.
//!
//! What a pair of proxies may lose on each axis, where u = 2^-24 is the unit roundoff of `f32` and S the sum of their
//! radii:
//! - the rounding of the two centres: half an ulp below 1 each, u/2 + u/2;
//! - in a space that repeats, the rounding of the difference of the centres, which is below 2: u; and the rounding of
//!   the offset, which is below 2 + S where it matters: 2u + Su;
//! - roundings in `f64`, of the frame and of the predicate: some 2^-52, and, for bodies moved into the cell by whole
//!   vectors, at most 2^-49 of all that was added on the way (`far`). A frame without its gaps is so much narrower than
//!   a period that this rounding of 2^-49 is to be counted as well.
//!
//! In length the loss is sqrt(3) of that, shared by two radii: 0.87u for each in open space, 0.87 * 4u in a space that
//! repeats. So radii grow by u, or 4u, and by `far * 2^-49`: the rest, an eighth, is a thousand times what `f64`
//! rounds. The `f32` predicate rounds S by less than 8u in relative terms, the rounding of the offset included. A path
//! in `f64` is rounded by 2^-25 of its length (the root of a difference). So radii also grow by 2^-20 = 16u of
//! themselves; the radius of a moving body includes half of its path here.
//!
//! The other way round, a hit that survives subtracting `R * 2^-17 + 8g` from the sum of radii is a hit in `f64` as
//! well. R is the largest radius, and g what each radius grew by in absolute terms: the radii grew by `S * 2^-20 + 2g`
//! together, and all roundings are at most `S * 2^-21 + 2g`. Where bodies move, S includes half of both paths, and the
//! middles of the paths are where the bodies are at half the time. A hit that also survives subtracting half of the
//! longest path of each set is a hit at that time. That spares the predicate a millionth of the paths, of which it
//! rounds less than 2^-48, as long as fourth powers of lengths do not vanish in `f64`. So in a frame with a scale of
//! more than 2^200, no hit of bodies that move is sure.
//!
//! A prepared set brings its frame along, in which the other bodies may lie anywhere, |c| <= m with m >= 1. In a pair
//! of one of its bodies and another body, the centres are rounded by u/2 + um, their difference in a space that repeats
//! by u(1 + m), the offset by u(1 + m) + Su. That makes 5.5um on each axis and 9.6um in length; in open space it makes
//! 1.5um and 2.6um. The other body alone grows, by four times the above, of m: 16um, and 4um; and by 2^-49 of what
//! either was moved by. Two other bodies grow so too; their pair loses less than twice that. A prepared set in `f32` is
//! taken as it is: its frame is the caller's, m is at least its own greatest coordinate, and it has not grown. The
//! other bodies grow by 2^-20 of its largest radius as well, so that 8Su are covered, and by 2^-60, below which squares
//! vanish in `f32`. Two of its own bodies may not meet.

use crate::input::UnitCell;
use crate::proxy::scale::power_of_two_below_inverse;
use crate::proxy::survey::{Extent, RELATIVE};
use jostle_core::axes::from_axes;

/// Growth of a radius in the frame, in open space and in one that repeats: 2^-24 and 2^-22.
const ABSOLUTE: [f64; 2] = [1.0 / 16_777_216.0, 1.0 / 4_194_304.0];

/// Growth relative to what was added and taken off on the way into the cell: 2^-49.
pub(super) const FAR: f64 = f64::from_bits((1023 - 49) << 52);

/// A hit is sure if it survives subtracting this from the sum of radii: 2^-17 of the largest radius, and so many times
/// the absolute growth.
const SLACK: (f64, f64) = (1.0 / 131_072.0, 8.0);

/// The greatest scale at which hits of moving bodies may be sure: 2^200.
const FOURTH_POWERS: f64 = f64::from_bits((1023 + 200) << 52);

/// A slack at which no hit is sure. It is finite, so that its product with anything, even 0, is a number.
const NONE_IS_SURE: f32 = f32::MAX / 4.0;

/// How many times as much as elsewhere the other bodies grow where a frame is adopted.
const ADOPTED: f64 = 4.0;

/// The least growth in a frame adopted from bodies in `f32`: 2^-60.
const LEAST: f64 = 1.0 / (1_u64 << 60) as f64;

/// How far bodies may reach in an adopted frame: 2^58, a quarter of what a tree takes.
const WIDEST: f64 = (1_u64 << 58) as f64;

/// The frame of the proxies of a search. See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<const D: usize> {
    pub(crate) origin: [f64; D],
    pub(crate) scale: f64,
    /// The growth of every radius; in an adopted frame, the greatest growth.
    growth: f64,
    adopted: Option<Adopted>,
    /// Hits of bodies at rest that survive subtracting this from the sum of radii are certain.
    slack: f32,
}

/// The growth of bodies in a frame adopted from others: relative to their greatest coordinate (at least `unit`), plus a
/// constant.
#[derive(Debug, Clone, Copy)]
struct Adopted {
    unit: f64,
    relative: f64,
    absolute: f64,
}

impl Adopted {
    fn growth(self, widest: f64) -> f64 {
        self.relative * widest.max(self.unit) + self.absolute
    }
}

impl<const D: usize> Default for Frame<D> {
    fn default() -> Self {
        Self { origin: [0.0; D], scale: 1.0, growth: 0.0, adopted: None, slack: 0.0 }
    }
}

impl<const D: usize> Frame<D> {
    /// The frame of all bodies of a search.
    pub(crate) fn new(all: Extent<D>, cell: Option<&UnitCell<D>>) -> Self {
        let mut half = all.radius;
        for axis in 0..D {
            // The middle of a path is rounded, by no more than half of its length.
            let rounded =
                if all.reach > all.radius { all.lo[axis].abs().max(all.hi[axis].abs()) * f64::EPSILON } else { 0.0 };
            half = half.max(all.hi[axis] / 2.0 - all.lo[axis] / 2.0 + rounded.min(all.radius));
            half = half.max(cell.map_or(0.0, |cell| half_width(cell, axis)));
        }
        let origin = from_axes(|axis| all.lo[axis] / 2.0 + all.hi[axis] / 2.0);
        Self::centered(origin, half, all, cell)
    }

    /// The frame of the bodies of a prepared set. Where all directions repeat, it is that of the cell.
    pub(crate) fn prepared(all: Extent<D>, cell: Option<&UnitCell<D>>) -> Self {
        let Some(cell) = cell.filter(|cell| cell.space.repeats == [true; D]) else { return Self::new(all, cell) };
        let (mut origin, mut half) = (cell.space.origin, 0.0_f64);
        for axis in 0..D {
            origin[axis] += cell.space.vectors.iter().map(|vector| vector[axis] / 2.0).sum::<f64>();
            half = half.max(half_width(cell, axis));
        }
        Self::centered(origin, half, all, Some(cell))
    }

    /// The frame of bodies whose coordinates have been shortened by the gaps between them, to at most `half` about 0.
    pub(crate) fn without_gaps(half: f64, all: Extent<D>, cell: Option<&UnitCell<D>>) -> Self {
        Self::centered([0.0; D], half, all, cell)
    }

    fn centered(origin: [f64; D], half: f64, all: Extent<D>, cell: Option<&UnitCell<D>>) -> Self {
        let scale = power_of_two_below_inverse(half);
        let growth = ABSOLUTE[usize::from(cell.is_some())] + all.farthest() * scale * FAR;
        Self { origin, scale, growth, adopted: None, slack: slack(all, scale, growth) }
    }

    /// The frame of a prepared set, or the world of a set in `f32`, for all bodies of a search. None where these do not
    /// fit.
    pub(crate) fn adopted(
        of: Option<&Self>,
        own: Extent<D>,
        all: Extent<D>,
        cell: Option<&UnitCell<D>>,
    ) -> Option<Self> {
        let (origin, scale) = of.map_or(([0.0; D], 1.0), |frame| (frame.origin, frame.scale));
        let widest = |extent: Extent<D>| {
            let reach =
                |axis: usize| (extent.lo[axis] - origin[axis]).abs().max((extent.hi[axis] - origin[axis]).abs());
            (0..D).map(reach).fold(0.0, f64::max) * scale
        };
        let (unit, mut absolute) = (of.map_or_else(|| widest(own), |_| 1.0), ADOPTED * all.farthest() * scale * FAR);
        if of.is_none() {
            absolute += own.radius * RELATIVE + LEAST;
        }
        let adopted = Adopted { unit, relative: ADOPTED * ABSOLUTE[usize::from(cell.is_some())], absolute };
        let growth = adopted.growth(widest(all));
        let cell_width = cell.map_or(0.0, |cell| (0..D).map(|axis| half_width(cell, axis)).fold(0.0, f64::max));
        let fits = widest(all) + all.radius * scale + cell_width * scale + growth < WIDEST;
        let slack = slack(all, scale, growth);
        fits.then_some(Self { origin, scale, growth, adopted: Some(adopted), slack })
    }

    /// Whether bodies have the same places in another frame.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.origin == other.origin && self.scale == other.scale
    }

    /// Whether the growth of a radius depends on where its body is.
    pub(crate) fn is_adopted(&self) -> bool {
        self.adopted.is_some()
    }

    /// A coordinate in the frame, of a body that moves by twice `half`.
    #[inline]
    pub(crate) fn coordinate(&self, origin: f64, x: f64, half: f64) -> f32 {
        ((x - origin + half) * self.scale) as f32
    }

    /// A radius in the frame, grown, of a body whose greatest coordinate there is `widest`.
    #[inline]
    pub(crate) fn radius(&self, radius: f64, widest: f64) -> f32 {
        let (radius, growth) =
            (radius * self.scale, self.adopted.map_or(self.growth, |adopted| adopted.growth(widest)));
        (radius + radius * RELATIVE + growth) as f32
    }

    /// What radii grow by, in lengths of the caller.
    pub(crate) fn growth(&self) -> f64 {
        self.growth / self.scale
    }

    /// Returns the slack of two bodies that together move by at most `paths`: hits that survive subtracting it are
    /// sure.
    pub(crate) fn slack(&self, paths: f64) -> f32 {
        match paths {
            0.0 => self.slack,
            _ if self.scale > FOURTH_POWERS => NONE_IS_SURE,
            _ => self.slack + (paths / 2.0 * self.scale) as f32,
        }
    }
}

/// Returns the slack of bodies at rest: see [`SLACK`].
fn slack<const D: usize>(all: Extent<D>, scale: f64, growth: f64) -> f32 {
    (all.radius * scale * SLACK.0 + growth * SLACK.1) as f32
}

/// Half of the extent of a cell on an axis, in the directions in which it repeats.
pub(super) fn half_width<const D: usize>(cell: &UnitCell<D>, axis: usize) -> f64 {
    let vectors = cell.space.vectors.iter().zip(cell.space.repeats).filter(|(_, repeats)| *repeats);
    vectors.map(|(vector, _)| vector[axis].abs()).sum::<f64>() / 2.0
}
