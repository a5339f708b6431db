//! Where bodies begin and end on each axis, in `f64`, grown by all that is rounded on the way.
//!
//! Bodies in the cell have been moved by whole vectors, which rounds by at most 2^-49 of the largest number that
//! coordinates come from. Where space repeats, intervals grow by twice that. In open space, the end of a path is the
//! sum of a few numbers, which are rounded by less than 2^-49 of the body's own: intervals of bodies that move grow by
//! twice that. The end of a body at rest is rounded once, and rounding keeps the order of numbers. What the predicate
//! rounds by is covered as it is in frames: intervals grow by 2^-20 of their bodies. They also grow by [`VANISHING`].

use jostle_core::axes::{Axes, from_axes};

use crate::input::{Input, Set, UnitCell};
use crate::proxy::solid::of_path;
use crate::proxy::sorted::SortedSet;
use crate::proxy::survey::RELATIVE;

/// Intervals grow by this, of bodies at rest and of others: 2^-500 and 2^-240. Squares of lengths, or fourth powers,
/// vanish far below.
const VANISHING: [f64; 2] = [f64::from_bits((1023 - 500) << 52), f64::from_bits((1023 - 240) << 52)];

/// What intervals grow by where bodies are moved into the cell or along their paths, relative to the numbers that they
/// come from: 2^-48.
const ROUNDED: f64 = f64::from_bits((1023 - 48) << 52);

/// A frame tells bodies apart of which each reaches at least so many times what it grows by.
const FINE: f64 = 16.0;

/// What bodies grow by in a frame, and what one of them reaches at least.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Framed {
    pub(crate) growth: f64,
    pub(crate) least: f64,
}

impl Framed {
    /// Whether the frame tells the bodies apart, without a look at them.
    pub(crate) fn is_fine(self) -> bool {
        self.growth * FINE <= self.least
    }
}

/// The set of a body, and where it begins and ends on each axis.
pub(super) type Numbered<const D: usize> = (usize, [[f64; 2]; D]);

/// The bodies of a search, surveyed.
#[derive(Clone, Copy)]
pub(crate) struct AllBodies<'a, const D: usize> {
    pub(super) input: &'a Input<'a, D>,
    sorted: &'a [SortedSet<D>],
    pub(super) cell: Option<&'a UnitCell<D>>,
    /// Whether the search is of bodies of several shapes. Then it is known by how many vectors each is moved.
    shaped: bool,
    /// The largest number that coordinates come from, on each axis.
    largest: [f64; D],
}

impl<'a, const D: usize> AllBodies<'a, D> {
    /// The bodies of a search, whose own coordinates are at most `largest`.
    pub(crate) fn new(
        (input, sorted): (&'a Input<'a, D>, &'a [SortedSet<D>]),
        cell: Option<&'a UnitCell<D>>,
        mut largest: [f64; D],
    ) -> Self {
        for (axis, largest) in largest.iter_mut().enumerate() {
            *largest += cell.map_or(0.0, |cell| cell.space.origin[axis].abs() + cell.space.vectors[axis][axis].abs());
        }
        Self { input, sorted, cell, shaped: input.is_shaped(), largest }
    }

    pub(super) fn len(&self) -> usize {
        self.input.sets().iter().map(Set::len).sum()
    }

    /// Returns where a body begins and ends on each axis, moved into the cell and grown.
    pub(super) fn ends(&self, set: usize, id: usize) -> [[f64; 2]; D] {
        let (kept, of) = (&self.sorted[set], &self.input.sets()[set]);
        let moves = of.moving.is_some();
        let grown = |axis: usize, [lo, hi]: [f64; 2], by: f64| {
            let largest = match self.cell {
                Some(_) => self.largest[axis],
                None if moves => [lo, hi].map(f64::abs).into_iter().filter(|x| x.is_finite()).fold(0.0, f64::max),
                None => 0.0,
            };
            let by = by + largest * ROUNDED + VANISHING[usize::from(moves)];
            [lo - by, hi + by]
        };
        if !self.shaped {
            let spans = kept.proxies.spans(of, self.cell, id);
            return from_axes(|axis| {
                let [x, half, reach] = spans[axis];
                grown(axis, [x + half - reach, x + half + reach], 0.0)
            });
        }
        let wraps = kept.proxies.wraps_of(id as u32).axes(f64::from);
        let taken = self.cell.map_or([0.0; D], |cell| cell.shift(wraps));
        let solid = kept.solid(of, id);
        let by = of.by(id).unwrap_or([0.0; D]);
        let ends: [[f64; 2]; D] = from_axes(|axis| of_path(solid.extent(axis, taken[axis], 0.0), by[axis]));
        let lengths = ends.iter().map(|[lo, hi]| hi - lo).filter(|length| length.is_finite());
        let longest = lengths.fold(0.0, f64::max);
        from_axes(|axis| grown(axis, ends[axis], longest * RELATIVE))
    }

    /// The set of the body of this number, counted from the first set to the last, and the ends of the body.
    pub(super) fn numbered(&self, number: usize) -> Numbered<D> {
        let (mut set, mut id) = (0, number);
        while id >= self.input.sets()[set].len() {
            id -= self.input.sets()[set].len();
            set += 1;
        }
        (set, self.ends(set, id))
    }

    /// Whether bodies of two sets are sought.
    pub(super) fn meet(&self, one: usize, other: usize) -> bool {
        self.input.meetings().any(|meeting| meeting == (one.min(other), one.max(other)))
    }
}
