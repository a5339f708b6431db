//! How bodies have changed since they were kept, and whether their lists still hold.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use jostle_core::Workers;
use jostle_sets::input::{Displacements, Space, UnitCell};

/// Bodies that one task looks at.
pub(super) const BLOCK: usize = 1 << 13;

/// The cost of rounding, in the list and now: a part of a body's grown radius, and a length, for squares that are
/// denormal or vanish.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounding {
    pub(super) relative: f64,
    pub(super) least: f64,
}

/// The predicate rounds a distance and a sum of radii by four times 2^-24 each; 2^-20 is ample. The length, 2^-73, is
/// that of `jostle_core::aabb`.
pub(super) const ROUNDING: Rounding =
    Rounding { relative: 1.0 / 1_048_576.0, least: f64::from_bits((1023 - 73) << 52) };

/// In `f64`, the numbers computed here are rounded as well: 2^-48, and 2^-530.
pub(super) const ROUNDING_64: Rounding =
    Rounding { relative: f64::from_bits((1023 - 48) << 52), least: f64::from_bits((1023 - 530) << 52) };

/// The corner of a cube is less than so many of its half edges away from its middle.
const CORNER: f64 = 1.733;

/// How a body has changed.
pub(super) struct Change {
    /// The square of how far the body has moved.
    pub(super) moved2: f64,
    /// How far the body may have moved.
    pub(super) allowed: f64,
    /// The body stands where it stood, and has not grown.
    pub(super) same: bool,
}

/// How the bodies of a set have changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// The most that a body has moved farther than it may; below zero when no body has.
    excess: f64,
    /// All bodies are the same as they were.
    same: bool,
    /// The bodies are boxes, whose corners are farther away than their sides.
    are_boxes: bool,
}

impl Outcome {
    pub(super) const NOTHING: Self = Self { excess: f64::NEG_INFINITY, same: true, are_boxes: false };
    pub(super) const LOST: Self = Self { excess: f64::INFINITY, same: false, are_boxes: false };

    /// Bodies that are the same as they were, with what rounding costs.
    pub(super) fn same(excess: f64) -> Self {
        Self { excess, ..Self::NOTHING }
    }

    pub(super) fn of_boxes(self, are_boxes: bool) -> Self {
        Self { are_boxes, ..self }
    }

    /// By how much too far a body of this set and a body of the other have moved, on average, at most. While that is
    /// not above 0, lists of their pairs hold all pairs. `None` if the bodies cannot be those of the list.
    pub(super) fn excess_with(self, other: Self) -> Option<f64> {
        if self.same && other.same {
            return Some(f64::NEG_INFINITY);
        }
        let excess = (self.excess_beside(other) + other.excess_beside(self)) / 2.0;
        (excess < f64::INFINITY).then_some(excess)
    }

    /// The excess as a body of the other set may see it: a round one sees that of a box at its corner.
    fn excess_beside(self, other: Self) -> f64 {
        let corner = self.are_boxes && !other.are_boxes && self.excess > 0.0;
        if corner { CORNER * self.excess } else { self.excess }
    }

    /// The numbers that [`Outcome::excess_with`] is made of: whether a body is another than it was, 0 or 1, and the
    /// excess of each set.
    pub(super) fn spent_with(self, other: Self) -> [f64; 3] {
        [f64::from(!(self.same && other.same)), self.excess_beside(other), other.excess_beside(self)]
    }

    /// The same, if besides this is so: all else about the bodies is the same.
    pub(super) fn and(self, same: bool) -> Self {
        Self { same: self.same & same, ..self }
    }

    pub(super) fn merge(self, other: Self) -> Self {
        Self { excess: self.excess.max(other.excess), same: self.same & other.same, ..self }
    }

    #[inline(always)]
    fn note(&mut self, Change { moved2, allowed, same }: Change) {
        self.same &= same;
        // A root is taken only where a body is worse off than all before it.
        let reach = allowed + self.excess;
        if !(reach >= 0.0 && moved2 <= reach * reach) {
            self.note_excess(moved2.sqrt() - allowed, same);
        }
    }

    /// Notes by how much farther than it may a body has moved.
    #[inline(always)]
    pub(super) fn note_excess(&mut self, excess: f64, same: bool) {
        self.same &= same;
        self.excess = if excess.is_nan() { f64::INFINITY } else { self.excess.max(excess) };
    }
}

/// Looks at the changes of `bodies` bodies, and returns the outcome.
pub(super) fn survey(bodies: usize, change: impl Fn(usize) -> Change + Sync + Send, workers: Workers<'_>) -> Outcome {
    let of_block = |ids: Range<usize>| {
        let mut outcome = Outcome::NOTHING;
        ids.for_each(|id| outcome.note(change(id)));
        outcome
    };
    survey_blocks(bodies, of_block, workers)
}

/// The same, of all bodies of a block at once.
pub(super) fn survey_blocks(
    bodies: usize,
    of_block: impl Fn(Range<usize>) -> Outcome + Sync + Send,
    workers: Workers<'_>,
) -> Outcome {
    let all = Mutex::new(Outcome::NOTHING);
    workers.run("still valid", bodies.div_ceil(BLOCK), |block| {
        let outcome = of_block(block * BLOCK..((block + 1) * BLOCK).min(bodies));
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.merge(outcome);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a space adds to the measure of a body's change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width<const D: usize> {
    /// Where space repeats, unless margins are so wide that a body which has gone half a cell far would seem to have
    /// come back.
    cell: Option<UnitCell<D>>,
    /// What differences may lose to rounding: a length, for coordinates in the cell, and a part of a body's own
    /// coordinates.
    pub(super) least: f64,
    pub(super) of_body: f64,
}

impl<const D: usize> Width<D> {
    /// Where space repeats, rounding of the offset that is added to a difference costs a part of the cell's width.
    ///
    /// Moving direct bodies into the cell rounds as well: on each axis by u = 2^-24 of the widest coordinate W for each
    /// body, by 2u of W for their difference, and by as much for the offset, in the list and now. That is 12u of W in
    /// all, in length 21u, and for one body half of that; 16u are taken off. In a cell that is not straight and leaves
    /// a direction open, coordinates may be wider than the cell. For decided bodies, the rounding is that of the
    /// coordinates as they were given.
    ///
    /// `margins` is how far a body may have moved at most, by its own margin and that of another.
    pub(super) fn of(space: &Space<D>, decided: bool, margins: f64) -> Self {
        if space.is_open() {
            return Self { cell: None, least: 0.0, of_body: 0.0 };
        }
        let relative = if decided { ROUNDING_64.relative } else { ROUNDING.relative };
        let width = (0..D).map(|axis| {
            let vectors = (0..D).filter(|&k| space.repeats[k]).map(|k| space.vectors[k][axis].abs());
            space.origin[axis].abs() + vectors.sum::<f64>()
        });
        let contained = space.is_straight() || space.repeats == [true; D];
        let of_body = if decided || !contained { relative } else { 0.0 };
        let cell = UnitCell::of(space);
        let inverse_height2 = |k: usize| cell.duals[k].iter().map(|x| x * x).sum::<f64>();
        let highest = (0..D).filter(|&k| space.repeats[k]).map(inverse_height2).fold(0.0, f64::max).sqrt();
        let tells_apart = margins * highest < 0.499;
        Self { cell: tells_apart.then_some(cell), least: relative * width.fold(0.0, f64::max), of_body }
    }

    /// Whether the space adds anything.
    pub(super) fn is_wider(&self) -> bool {
        self.cell.is_some() || self.least > 0.0
    }

    /// How far a body has moved, without whole vectors of the cell.
    #[inline(always)]
    pub(super) fn moved(&self, mut by: [f64; D]) -> [f64; D] {
        let Some(cell) = &self.cell else { return by };
        let steps = cell.steps_to(by);
        if steps != [0.0; D] {
            let shift = cell.shift(steps);
            for axis in 0..D {
                by[axis] -= shift[axis];
            }
        }
        by
    }
}

/// The displacements of bodies as they were, and as they are.
pub(super) type Paths<'a, const D: usize> = (&'a [[f64; D]], Displacements<'a, D>);

/// How a path has changed.
pub(super) struct Path {
    /// The square of how far the end that moved farther has moved.
    pub(super) moved2: f64,
    /// The length of the longer of the two paths.
    pub(super) length: f64,
}

impl Path {
    /// Two paths are at no time farther apart than at their beginnings or at their ends, whichever is more.
    ///
    /// The test whether two bodies touch on their way rounds by 2^-24.6 of what they move and reach, twice; 2^-20 of
    /// the length are taken off.
    #[inline(always)]
    pub(super) fn of<const D: usize>(begin: [f64; D], was: [f64; D], is: [f64; D]) -> Self {
        let (mut begin2, mut end2, mut path2) = (0.0, 0.0, 0.0);
        for axis in 0..D {
            let end = begin[axis] + (is[axis] - was[axis]);
            (begin2, end2) = (begin2 + begin[axis] * begin[axis], end2 + end * end);
            path2 += (is[axis] * is[axis]).max(was[axis] * was[axis]);
        }
        // Not `max`, which would take NaN for nothing.
        let moved2 = if begin2 <= end2 || end2.is_nan() { end2 } else { begin2 };
        Self { moved2, length: path2.sqrt() }
    }
}
