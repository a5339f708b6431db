//! The images of a cell that a query has to look at.
//!
//! A body in the cell has fractional coordinates of 0 to 1. Take a question that lies between `lo` and `hi` along
//! vector i, as fractions, and reaches `reach` further in length. A body seen k cells on touches it only where
//! `lo - c - 1 <= k <= hi + c`, with c = `reach` times the length of the dual vector. Fractions are rounded by some
//! 2^-51 of the numbers that they are computed from. So 2^-48 of these numbers is added to c, and 2^-16 of c, as in
//! searches for pairs.

use crate::input::error::MAX_IMAGES;
use jostle_core::axes::Both;

use crate::input::UnitCell;
use crate::query::error::{QueryError, QueryReason};

/// What is added to the reach in fractions, relative to the numbers that they are computed from: 2^-48.
const BLUR: f64 = 1.0 / (1_u64 << 48) as f64;

/// What is added to the reach, relative to itself: 2^-16.
const RELATIVE: f64 = 1.0 / 65_536.0;

/// 2^-30: the part of a way that is added at its ends. A slope that changes a fraction by no more along the way is
/// none.
const PART: f64 = 1.0 / (1_u64 << 30) as f64;

/// Cells that a query may be away, at most. Sums of its steps and a body's then fit an `i32`.
const FARTHEST: f64 = (1_u32 << 29) as f64;

/// A straight way from a point or a box on, which may have no length, widened by how far a query looks around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep<const D: usize> {
    /// The least and the greatest fractions at the beginning, widened by c, and how fractions change with the length
    /// gone.
    lo: [f64; D],
    hi: [f64; D],
    slope: [f64; D],
    length: f64,
    repeats: [bool; D],
}

impl<const D: usize> Sweep<D> {
    /// The sweep around a box.
    pub(super) fn around(cell: &UnitCell<D>, lo: [f64; D], hi: [f64; D], reach: f64, far: [f64; D]) -> Self {
        Self::along(cell, (lo, hi), [0.0; D], 0.0, reach, far)
    }

    /// The sweep around the way of a box that moves by `length` in a direction of length 1.
    pub(super) fn along(
        cell: &UnitCell<D>,
        (lo, hi): ([f64; D], [f64; D]),
        direction: [f64; D],
        length: f64,
        reach: f64,
        far: [f64; D],
    ) -> Self {
        let origin = cell.space.origin;
        let zero = [0.0; D];
        let mut sweep = Self { lo: zero, hi: zero, slope: zero, length, repeats: cell.space.repeats };
        for (k, dual) in cell.duals.iter().enumerate() {
            let mut numbers = 1.0;
            for axis in 0..D {
                let ends = [(lo[axis] - origin[axis]) * dual[axis], (hi[axis] - origin[axis]) * dual[axis]];
                sweep.lo[k] += ends[0].min(ends[1]);
                sweep.hi[k] += ends[0].max(ends[1]);
                sweep.slope[k] += direction[axis] * dual[axis];
                let widest = lo[axis].abs().max(hi[axis].abs()) + origin[axis].abs() + far[axis] + length;
                numbers += widest * dual[axis].abs();
            }
            let c = reach * dual.iter().map(|x| x * x).sum::<f64>().sqrt() * (1.0 + RELATIVE) + numbers * BLUR;
            sweep.lo[k] -= c;
            sweep.hi[k] += c;
        }
        sweep
    }

    /// Whether a sweep without length has an image.
    pub(super) fn has(&self, step: [i32; D]) -> bool {
        (0..D).all(|k| {
            let step = f64::from(step[k]);
            !self.repeats[k] || (self.lo[k] - 1.0 <= step && step <= self.hi[k])
        })
    }

    /// Refuses a sweep that looks at too many images, or lies too many cells away.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        for k in (0..D).filter(|&k| self.repeats[k]) {
            let ends = [self.lo[k], self.hi[k], self.lo[k] + self.slope[k] * self.length];
            if ends.iter().any(|end| end.is_nan() || end.abs() > FARTHEST) {
                return Err(QueryError::Query(QueryReason::TooManyPeriods { vector: k as u8 }));
            }
        }
        let mut images = 0;
        let few = self.each_from(0, [0.0, self.length], &mut [0; D], &mut |_| {
            images += 1;
            images <= MAX_IMAGES
        });
        if few { Ok(()) } else { Err(QueryError::Query(QueryReason::TooManyImages)) }
    }

    /// Calls `visit` with each image of a sweep that [`Sweep::check`] accepts.
    pub(super) fn each(&self, mut visit: impl FnMut([i32; D])) {
        self.each_from(0, [0.0, self.length], &mut [0; D], &mut |step| {
            visit(step);
            true
        });
    }

    /// Visits the images with the first `k` steps of `step`, seen from a part of the way, until `visit` says no more.
    /// Returns whether it never did.
    fn each_from(&self, k: usize, way: [f64; 2], step: &mut [i32; D], visit: &mut dyn FnMut([i32; D]) -> bool) -> bool {
        if k == D {
            return visit(*step);
        }
        if !self.repeats[k] {
            step[k] = 0;
            return self.each_from(k + 1, way, step, visit);
        }
        let along = way.both(|length| length * self.slope[k]);
        let lo = (self.lo[k] + along[0].min(along[1]) - 1.0).ceil();
        let hi = (self.hi[k] + along[0].max(along[1])).floor();
        let mut at = lo;
        while at <= hi {
            step[k] = at as i32;
            let part = self.part(k, at, way);
            if part[0] <= part[1] && !self.each_from(k + 1, part, step, visit) {
                return false;
            }
            at += 1.0;
        }
        true
    }

    /// The part of the way, and somewhat more, from which an image so many steps on along vector `k` may be touched.
    fn part(&self, k: usize, step: f64, way: [f64; 2]) -> [f64; 2] {
        let slope = self.slope[k];
        if slope.abs() * self.length <= PART {
            return way;
        }
        let ends = [(step - self.hi[k]) / slope, (step + 1.0 - self.lo[k]) / slope];
        let more = self.length * PART;
        [way[0].max(ends[0].min(ends[1]) - more), way[1].min(ends[0].max(ends[1]) + more)]
    }
}
