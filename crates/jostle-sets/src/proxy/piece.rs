//! Bodies of any shape, some at a time, column by column.

use jostle_core::axes::{Both, from_axes};
use jostle_core::limits::REACH_F64;
use jostle_core::{BoxView, Column, Radii, Scalar};

use crate::input::shaped::Shaped;
use crate::input::{Set, Source, UnitCell};
use crate::proxy::boxed::Finite;
use crate::proxy::sorted::SortedSet;
use crate::proxy::survey::MAX_WRAPS;

/// Bodies that are looked at at a time.
pub(super) const PIECE: usize = 64;

/// A number of each body of a piece.
pub(super) type Each = [f64; PIECE];

/// Some bodies of a set, as the caller gave them.
#[derive(Debug)]
pub(super) struct Piece<const D: usize> {
    /// Both ends of capsules, both corners of boxes, or a centre twice.
    ends: [[Each; D]; 2],
    /// The radii with the margin; those of boxes are 0.
    radii: Each,
    len: usize,
    are_boxes: bool,
    /// Whether, the margin left aside, no radius is negative or NaN, and no box has its corners swapped.
    is_given_well: bool,
}

impl<const D: usize> Piece<D> {
    /// Reads `len` bodies of a set from number `first` on.
    #[inline(never)]
    pub(super) fn read((set, sorted): (&Set<'_, D>, &SortedSet<D>), first: usize, len: usize) -> Self {
        let (ends, radii) = ([[[0.0; PIECE]; D]; 2], [0.0; PIECE]);
        let mut piece = Self { ends, radii, len, are_boxes: false, is_given_well: true };
        match &set.source {
            Source::View(of) => piece.read_segments([of.centers(); 2], (of.radii(), of.margin()), first),
            Source::Double(of) => piece.read_segments([of.centers(); 2], (of.radii(), of.margin()), first),
            Source::Tree(_) => {
                let of = sorted.proxies.tree_view();
                piece.read_segments([of.centers(); 2], (of.radii(), of.margin()), first);
            }
            Source::Shaped(Shaped::Boxes(of)) => piece.read_boxes(of, first),
            Source::Shaped(Shaped::Boxes64(of)) => piece.read_boxes(of, first),
            Source::Shaped(Shaped::Capsules(of)) => piece.read_segments(of.columns(), (of.radii(), of.margin()), first),
            Source::Shaped(Shaped::Capsules64(of)) => {
                piece.read_segments(of.columns(), (of.radii(), of.margin()), first);
            }
        }
        piece
    }

    fn read_segments<T: Scalar>(
        &mut self,
        ends: [&[Column<'_, T>; D]; 2],
        (radii, margin): (Radii<'_, T>, T),
        first: usize,
    ) {
        radii.read_more_in_double(T::default(), first, &mut self.radii[..self.len]);
        self.is_given_well = self.radii[..self.len].iter().all(|&radius| radius >= 0.0);
        radii.read_more_in_double(margin, first, &mut self.radii[..self.len]);
        for side in 0..2 {
            for axis in 0..D {
                ends[side][axis].read_in_double(first, &mut self.ends[side][axis][..self.len]);
            }
        }
    }

    fn read_boxes<T: Scalar>(&mut self, boxes: &BoxView<'_, D, T>, first: usize) {
        let ([lower, upper], margin) = (boxes.corners(), boxes.margin());
        self.are_boxes = true;
        for axis in 0..D {
            let [lo, hi] = self.ends.each_mut().both(|ends| &mut ends[axis][..self.len]);
            if margin > T::default() {
                lower[axis].read_in_double(first, lo);
                upper[axis].read_in_double(first, hi);
                self.is_given_well &= lo.iter().zip(&*hi).all(|(lo, hi)| lo <= hi);
            }
            lower[axis].read_more_in_double(T::default() - margin, first, lo);
            upper[axis].read_more_in_double(margin, first, hi);
        }
    }

    /// Whether all bodies are sound. (Places behind the last body are 0.)
    #[inline(always)]
    fn is_sound(&self) -> bool {
        let mut unsound = [0; PIECE];
        for axis in 0..D {
            let [p, q] = self.ends.each_ref().both(|ends| &ends[axis]);
            for at in 0..PIECE {
                let radius = self.radii[at];
                let sound = if self.are_boxes {
                    (p[at] <= q[at]) & (p[at] < f64::INFINITY) & (q[at] > f64::NEG_INFINITY)
                } else {
                    (p[at].abs() + radius <= REACH_F64) & (q[at].abs() + radius <= REACH_F64)
                };
                unsound[at] |= u64::from(!sound);
            }
        }
        self.is_given_well && unsound.iter().fold(0, |all, unsound| all | unsound) == 0
    }

    /// Returns the ends of all bodies on an axis, less `taken` and relative to an origin, each rounded as
    /// [`Solid::extent`](super::Solid::extent) rounds.
    #[inline(always)]
    pub(super) fn extents(&self, axis: usize, taken: &Each, origin: f64) -> [Each; 2] {
        let mut extents = [[0.0; PIECE]; 2];
        for at in 0..PIECE {
            let [p, q] = self.ends.each_ref().both(|ends| ends[axis][at] - taken[at] - origin);
            (extents[0][at], extents[1][at]) = (p.min(q) - self.radii[at], p.max(q) + self.radii[at]);
        }
        extents
    }

    /// How far a body reaches from the origin of coordinates on an axis.
    fn far(&self, axis: usize, at: usize) -> f64 {
        let [p, q] = self.ends.each_ref().both(|ends| ends[axis][at]);
        (p.min(q) - self.radii[at]).abs().max((p.max(q) + self.radii[at]).abs())
    }

    /// By how many vectors of a cell each body is moved to lie in it.
    #[inline(always)]
    pub(super) fn wraps(&self, cell: &UnitCell<D>) -> [Each; D] {
        let (mut middles, mut wraps) = ([[0.0; PIECE]; D], [[0.0; PIECE]; D]);
        for axis in 0..D {
            for at in 0..PIECE {
                middles[axis][at] = self.ends[0][axis][at] / 2.0 + self.ends[1][axis][at] / 2.0;
            }
        }
        cell.wraps_side_by_side(&middles, &mut wraps);
        wraps
    }
}

/// How far bodies reach that were surveyed side by side.
#[derive(Debug)]
pub(super) struct Reached<const D: usize> {
    lo: [Each; D],
    hi: [Each; D],
    reach: [Each; D],
    least: Each,
    far: f64,
    outside: bool,
}

impl<const D: usize> Reached<D> {
    pub(super) const NONE: Self = Self {
        lo: [[f64::INFINITY; PIECE]; D],
        hi: [[f64::NEG_INFINITY; PIECE]; D],
        reach: [[0.0; PIECE]; D],
        least: [f64::INFINITY; PIECE],
        far: 0.0,
        outside: false,
    };

    /// Adds the bodies of a piece, or returns false if some of them are to be looked at one by one.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: &Piece<D>, cell: Option<&UnitCell<D>>) -> bool {
        let mut taken = [[0.0; PIECE]; D];
        if !piece.is_sound() || !cell.is_none_or(|cell| self.move_in(piece, cell, &mut taken)) {
            return false;
        }
        let mut longest = [0.0; PIECE];
        for axis in 0..D {
            let [low, high] = piece.extents(axis, &taken[axis], 0.0);
            for at in 0..piece.len {
                let (from, to) = (low[at], high[at]);
                // Of a box without an end, the other one counts; if it has none, neither counts.
                let lo = if from > f64::NEG_INFINITY { from } else { to };
                let hi = if to < f64::INFINITY { to } else { from };
                self.lo[axis][at] = self.lo[axis][at].min(lo);
                self.hi[axis][at] = self.hi[axis][at].max(hi);
                let half = to / 2.0 - from / 2.0;
                let half = if half < f64::INFINITY { half } else { 0.0 };
                self.reach[axis][at] = self.reach[axis][at].max(half);
                longest[at] = half.max(longest[at]);
            }
        }
        for at in 0..piece.len {
            self.least[at] = self.least[at].min(longest[at]);
        }
        true
    }

    /// Finds what moves the bodies of a piece into the cell; false where some of them are endless, or too far away.
    #[inline(always)]
    fn move_in(&mut self, piece: &Piece<D>, cell: &UnitCell<D>, taken: &mut [Each; D]) -> bool {
        let wraps = piece.wraps(cell);
        let (mut bad, mut outside) = ([0; PIECE], [0; PIECE]);
        for axis in 0..D {
            let [low, high] = piece.extents(axis, &[0.0; PIECE], 0.0);
            for at in 0..PIECE {
                let is_near = wraps[axis][at].abs() <= MAX_WRAPS;
                bad[at] |= u64::from(!(is_near & (low[at] > f64::NEG_INFINITY) & (high[at] < f64::INFINITY)));
                outside[at] |= u64::from(wraps[axis][at] != 0.0);
            }
        }
        let any = |marks: &[u64]| marks.iter().fold(0, |all, mark| all | mark) != 0;
        let [fine, outside] = [!any(&bad[..piece.len]), any(&outside[..piece.len])];
        if fine && outside {
            self.outside = true;
            for at in 0..piece.len {
                let wraps: [f64; D] = from_axes(|k| wraps[k][at]);
                if wraps != [0.0; D] {
                    let shift = cell.shift(wraps);
                    for axis in 0..D {
                        taken[axis][at] = shift[axis];
                        let by = cell.taken(wraps, axis);
                        self.far = self.far.max(if by > 0.0 { piece.far(axis, at) + by } else { 0.0 });
                    }
                }
            }
        }
        fine
    }

    #[inline(always)]
    pub(super) fn finish(&self) -> Finite<D> {
        Finite {
            lo: from_axes(|axis| self.lo[axis].iter().copied().fold(f64::INFINITY, f64::min)),
            hi: from_axes(|axis| self.hi[axis].iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            reach: from_axes(|axis| self.reach[axis].iter().copied().fold(0.0, f64::max)),
            least: self.least.iter().copied().fold(f64::INFINITY, f64::min),
            far: self.far,
            outside: self.outside,
            ..Finite::NONE
        }
    }
}
