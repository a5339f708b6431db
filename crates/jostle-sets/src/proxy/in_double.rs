//! Reads bodies of a set in `f64`, some at a time, so that the code that uses them is compiled once for both
//! precisions.

use core::ops::Range;

use jostle_core::Scalar;
use jostle_core::limits::REACH_F64;

use crate::input::{Displacements, Set, UnitCell};
use crate::proxy::Span;
use crate::proxy::frame::Frame;
use crate::proxy::gaps::SPANS;
use crate::proxy::survey::{Extent, Given, MAX_WRAPS, RELATIVE, STEP_REACH};

/// A set, its bodies in `f64`, and by how many vectors of the cell each body is moved, if that is known.
pub(super) type InDouble<'a, const D: usize> = (&'a Set<'a, D>, &'a dyn ReadInDouble<D>, Option<&'a [[i32; D]]>);

/// Bodies of either precision, read in `f64`.
pub(super) trait ReadInDouble<const D: usize>: Sync {
    /// Reads where the bodies from number `first` on begin on an axis, moved into the cell if there is one: by `wraps`,
    /// if these are known.
    fn starts(&self, wraps: Option<&[[i32; D]]>, axis: usize, first: usize, out: &mut [f64]);

    /// Reads the same coordinates without moving them into the cell.
    fn centers(&self, axis: usize, first: usize, out: &mut [f64]);

    /// Reads the centres where they are, in coordinates of a frame.
    fn centers_in(&self, frame: &Frame<D>, axis: usize, first: usize, out: &mut [f32]);

    /// Reads the radii, with the margin.
    fn radii(&self, first: usize, out: &mut [f64]);

    /// Reads the radii, grown, in a frame that is not adopted.
    fn radii_in(&self, frame: &Frame<D>, first: usize, out: &mut [f32]);

    /// Whether no radius is negative or NaN, the margin left aside.
    fn are_radii(&self, ids: Range<usize>) -> bool;
}

impl<const D: usize, T: Scalar> ReadInDouble<D> for Given<'_, D, T> {
    fn centers(&self, axis: usize, first: usize, out: &mut [f64]) {
        self.read_centers(axis, first, out);
    }

    fn starts(&self, wraps: Option<&[[i32; D]]>, axis: usize, first: usize, out: &mut [f64]) {
        self.centers(axis, first, out);
        if self.cell.is_none() {
            return;
        }
        if let Some(wraps) = wraps {
            return self.move_by(&wraps[first..][..out.len()], axis, out);
        }
        let mut wraps = [[0; D]; SPANS];
        for (first, out) in (first..).step_by(SPANS).zip(out.chunks_mut(SPANS)) {
            let wraps = &mut wraps[..out.len()];
            self.move_in(first, wraps);
            self.move_by(wraps, axis, out);
        }
    }

    fn centers_in(&self, frame: &Frame<D>, axis: usize, first: usize, out: &mut [f32]) {
        let origin = frame.origin[axis];
        self.bodies.centers()[axis].map_into(first, out, |x| frame.coordinate(origin, x.to_f64(), 0.0));
    }

    fn radii(&self, first: usize, out: &mut [f64]) {
        self.bodies.radii().read_more_in_double(self.bodies.margin(), first, out);
    }

    fn radii_in(&self, frame: &Frame<D>, first: usize, out: &mut [f32]) {
        let margin = self.bodies.margin();
        self.bodies.radii().map_into(first, out, |radius| frame.radius((radius + margin).to_f64(), 0.0));
    }

    fn are_radii(&self, mut ids: Range<usize>) -> bool {
        ids.all(|id| self.bodies.radii().get(id) >= T::default())
    }
}

/// The extent of some bodies with displacements, once they have been moved into the cell.
pub(super) fn survey_moving<const D: usize>(
    given: &dyn ReadInDouble<D>,
    moving: &Displacements<'_, D>,
    cell: Option<&UnitCell<D>>,
    ids: Range<usize>,
) -> Extent<D> {
    let mut all = Extent { sound: given.are_radii(ids.clone()), ..Extent::EMPTY };
    for first in ids.clone().step_by(SPANS) {
        let (mut centers, mut moves, mut radii) = ([[0.0; SPANS]; D], [[0.0; SPANS]; D], [0.0; SPANS]);
        let count = SPANS.min(ids.end - first);
        given.radii(first, &mut radii[..count]);
        for axis in 0..D {
            given.centers(axis, first, &mut centers[axis][..count]);
            moving.read(axis, first, &mut moves[axis][..count]);
        }
        for at in 0..count {
            let (mut middle, mut by, mut path, radius) = ([0.0_f64; D], [0.0_f64; D], 0.0_f64, radii[at]);
            for axis in 0..D {
                (middle[axis], by[axis]) = (centers[axis][at], moves[axis][at]);
                all.sound &= middle[axis].abs() + radius <= REACH_F64;
            }
            if let Some(cell) = cell {
                move_in(cell, &mut middle, &mut all);
            }
            for axis in 0..D {
                all.sound &= middle[axis].abs() + by[axis].abs() + radius <= STEP_REACH;
                middle[axis] += by[axis] / 2.0;
                path += by[axis] * by[axis];
                all.lo[axis] = all.lo[axis].min(middle[axis]);
                all.hi[axis] = all.hi[axis].max(middle[axis]);
            }
            path = path.sqrt();
            all.radius = all.radius.max(radius + path / 2.0);
            all.reach = all.reach.max(radius + path);
            all.least = all.least.min(radius);
            all.path = all.path.max(path);
        }
    }
    all
}

/// Moves a body into the cell, and notes how far.
fn move_in<const D: usize>(cell: &UnitCell<D>, center: &mut [f64; D], all: &mut Extent<D>) {
    let wraps = cell.wraps(*center);
    if wraps == [0.0; D] {
        return;
    }
    let shift = cell.shift(wraps);
    for axis in 0..D {
        let taken: f64 = (0..D).map(|k| (wraps[k] * cell.space.vectors[k][axis]).abs()).sum();
        if taken != 0.0 {
            all.far[axis] = all.far[axis].max(center[axis].abs() + taken);
        }
        center[axis] -= shift[axis];
    }
    all.outside = true;
    all.sound &= wraps.iter().all(|wraps| wraps.is_nan() || wraps.abs() <= MAX_WRAPS);
}

/// A body on one axis, in the cell.
pub(super) fn span<const D: usize, T: Scalar>(given: &Given<'_, D, T>, axis: usize, id: usize) -> Span {
    let center = given.center(id);
    let shift = given.cell.map_or(0.0, |cell| cell.shift(given.wraps(center))[axis]);
    let by = given.moving.map_or([0.0; D], |moving| moving.get(id));
    span_of(center[axis] - shift, by[axis], given.bodies.radius(id).to_f64(), by.iter().map(|by| by.abs()).sum())
}

/// The span of a body that moves by `by` on the axis, and by `path` on all axes together.
#[inline(always)]
fn span_of(x: f64, by: f64, radius: f64, path: f64) -> Span {
    let half = by / 2.0;
    [x, half, radius + half.abs() + (radius + path / 2.0) * RELATIVE]
}

/// Reads the bodies from number `first` on, on one axis: where each begins, how far half of its path leads, and how far
/// it reaches.
pub(super) fn read_spans<const D: usize>(
    (set, given, wraps): InDouble<'_, D>,
    axis: usize,
    first: usize,
    spans: &mut [Span],
) {
    let mut columns = [[0.0; SPANS]; 4];
    let [x, radii, by, path] = columns.each_mut().map(|column| &mut column[..spans.len()]);
    given.starts(wraps, axis, first, x);
    given.radii(first, radii);
    if let Some(moving) = &set.moving {
        for k in 0..D {
            moving.read(k, first, by);
            path.iter_mut().zip(&*by).for_each(|(path, by)| *path += by.abs());
        }
        moving.read(axis, first, by);
    }
    for at in 0..spans.len() {
        spans[at] = span_of(x[at], by[at], radii[at], path[at]);
    }
}
