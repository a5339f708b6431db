//! One look at each body of a rank: whether bodies are sound, and which boxes hold runs of them.

use crate::cell::Cell;
use crate::number::Number;
use crate::share::Share;
use crate::span::Span;

/// Bodies of a block. They are successive, so they lie close together once a decomposition has led bodies to their
/// owners.
pub(crate) const BLOCK: usize = 64;

/// Factor on a radius before it enters a box, 1 + 2^-20. It covers the rounding of the engine's predicate, as the
/// margin of a box in `jostle::Aabb` does. The sums below need no factor: rounding is monotone, so boxes that overlap
/// also overlap when rounded.
const GROWTH: f64 = 1.0 + 1.0 / (1 << 20) as f64;

/// A bound on differences of coordinates that square to zero in `f32`: 2^-73.
const TINY: f64 = f64::from_bits((1023 - 73) << 52);

/// Number of classes of size. Radii of a class lie within a factor of 2 of each other; class 0 has all smaller radii as
/// well. Class [`CLASSES`] - 1 has the greatest radius of all ranks.
pub(crate) const CLASSES: usize = 16;

/// A run of bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<const D: usize> {
    /// The box that holds all of its bodies, radii included.
    pub(crate) span: Span<D>,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
}

/// The result of one look at all bodies of a share.
#[derive(Debug, Clone)]
pub(crate) struct Survey<const D: usize> {
    pub(crate) blocks: Vec<Block<D>>,
    /// Whether any body is outside the contract.
    pub(crate) sound: bool,
    pub(crate) greatest: f64,
    /// The greatest |coordinate| on each axis, as given (`far`) and in the cell (`far_within`).
    pub(crate) far: [f64; D],
    pub(crate) far_within: [f64; D],
}

/// By how much the box of a path is enlarged, relative to the path's length: 2^-20. That is far more than 2^-26, the
/// gap (relative too) across which two bodies may touch by rounding (of squares in `f64`) alone.
const PATH_GROWTH: f64 = 1.0 / (1 << 20) as f64;

/// Centres, displacements and radii of a block, in `f64`, in the cell.
pub(crate) struct Copied<const D: usize> {
    moves: Option<[[f64; BLOCK]; D]>,
    centers: [[f64; BLOCK]; D],
    radii: [f64; BLOCK],
    count: usize,
}

impl<const D: usize> Copied<D> {
    pub(crate) const EMPTY: Self = Self { moves: None, centers: [[0.0; BLOCK]; D], radii: [0.0; BLOCK], count: 0 };

    fn read<T: Number>(&mut self, share: &Share<'_, D, T>, block: usize) {
        let first = block * BLOCK;
        let margin = share.bodies.margin();
        self.count = BLOCK.min(share.len() - first);
        for (values, column) in self.centers.iter_mut().zip(share.bodies.centers()) {
            column.map_into(first, &mut values[..self.count], T::to_f64);
        }
        share.bodies.radii().map_into(first, &mut self.radii[..self.count], |radius| (radius + margin).to_f64());
        self.moves = share.moving.map(|columns| {
            columns.map(|column| core::array::from_fn(|at| column.get(first + at).map_or(0.0, |x| x.to_f64())))
        });
    }

    /// Reads a block of sound bodies, and moves them into the cell if there is one.
    pub(crate) fn read_within<T: Number>(&mut self, share: &Share<'_, D, T>, cell: Option<&Cell<D>>, block: usize) {
        self.read(share, block);
        if let Some(cell) = cell {
            self.move_within(cell);
        }
    }

    fn move_within(&mut self, cell: &Cell<D>) {
        for at in 0..self.count {
            let moved = cell.within(core::array::from_fn(|axis| self.centers[axis][at]));
            (0..D).for_each(|axis| self.centers[axis][at] = moved[axis]);
        }
    }

    /// The box of each body of the block, and its radius.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Span<D>, f64)> {
        (0..self.count).map(|at| {
            // How far the body leads back and ahead of its centre. All of that is summed first: a sum with a coordinate
            // far out is rounded, which boxes of bodies that meet survive once, but not twice.
            let mut reach = [[self.radii[at] * GROWTH + TINY; 2]; D];
            if let Some(moves) = &self.moves {
                let path: f64 = moves.iter().map(|by| by[at].abs()).sum();
                for (reach, by) in reach.iter_mut().zip(moves) {
                    reach[0] += path * PATH_GROWTH - by[at].min(0.0);
                    reach[1] += path * PATH_GROWTH + by[at].max(0.0);
                }
            }
            let mut span = Span::EMPTY;
            for (axis, [back, ahead]) in reach.into_iter().enumerate() {
                (span.lo[axis], span.hi[axis]) = (self.centers[axis][at] - back, self.centers[axis][at] + ahead);
            }
            (span, self.radii[at])
        })
    }

    fn far(&self, axis: usize) -> f64 {
        let far = self.centers[axis][..self.count].iter().fold(0.0, |far: f64, x| far.max(x.abs()));
        let path = self.moves.iter().flat_map(|moves| &moves[axis]).fold(0.0, |far: f64, x| far.max(x.abs()));
        far + path
    }

    fn block(&self) -> Block<D> {
        let mut block = Block { span: Span::EMPTY, least: f64::INFINITY, greatest: 0.0 };
        let radii = &self.radii[..self.count];
        for &radius in radii {
            block.least = block.least.min(radius);
            block.greatest = block.greatest.max(radius);
        }
        for axis in 0..D {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            for (x, radius) in self.centers[axis][..self.count].iter().zip(radii) {
                let reach = radius * GROWTH + TINY;
                lo = lo.min(x - reach);
                hi = hi.max(x + reach);
            }
            (block.span.lo[axis], block.span.hi[axis]) = (lo, hi);
        }
        if self.moves.is_some() {
            self.each().for_each(|(span, _)| block.span.join(&span));
        }
        block
    }

    fn is_sound(&self, reach: f64) -> bool {
        let radii = &self.radii[..self.count];
        let mut unsound = 0_u32;
        for values in &self.centers {
            for (x, &radius) in values[..self.count].iter().zip(radii) {
                unsound |= u32::from(!((x.abs() + radius <= reach) & (radius >= 0.0)));
            }
        }
        unsound == 0
    }
}

impl<const D: usize> Survey<D> {
    /// Surveys a share in one pass, in O(n).
    pub(crate) fn new<T: Number>(share: &Share<'_, D, T>, cell: Option<&Cell<D>>) -> Self {
        let count = share.len().div_ceil(BLOCK);
        let mut survey =
            Self { blocks: Vec::with_capacity(count), sound: true, greatest: 0.0, far: [0.0; D], far_within: [0.0; D] };
        let mut copied = Copied::EMPTY;
        for block in 0..count {
            copied.read(share, block);
            survey.sound &= copied.is_sound(T::REACH);
            if let Some(cell) = cell {
                (0..D).for_each(|axis| survey.far[axis] = survey.far[axis].max(copied.far(axis)));
                copied.move_within(cell);
                (0..D).for_each(|axis| survey.far_within[axis] = survey.far_within[axis].max(copied.far(axis)));
            }
            let block = copied.block();
            survey.greatest = survey.greatest.max(block.greatest);
            survey.blocks.push(block);
        }
        // Adding the margin may hide a negative radius.
        survey.sound &= share.bodies.margin().to_f64() == 0.0 || (0..share.len()).all(|at| share.fault(at).is_none());
        survey
    }
}

/// Returns the class of a radius, given the greatest radius of all ranks.
#[inline]
pub(crate) fn class_of(radius: f64, greatest: f64) -> u8 {
    let exponent = |radius: f64| (radius.to_bits() >> 52) as usize;
    let below = exponent(greatest).saturating_sub(exponent(radius));
    (CLASSES - 1).saturating_sub(below) as u8
}
