//! The two families of predicates.

use jostle_core::axes::{Axes, from_axes};

use super::sets::PlainSet;
use super::space::{Lattice, PlainSpace};

/// The numbers of a body that a predicate reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<const D: usize> {
    /// The centre as given, widened.
    pub(super) center: [f64; D],
    pub(super) radius: f64,
    pub(super) displacement: [f64; D],
    /// The centre in `f32`, moved into the cell.
    within: [f32; D],
    /// How many cells the centre was moved by along each vector.
    wraps: [i64; D],
}

impl<const D: usize> Body<D> {
    pub(super) fn of(set: &PlainSet<D>, id: usize, lattice: Option<&Lattice<D>>) -> Self {
        let center = set.center(id);
        let wraps = lattice.map_or([0; D], |lattice| lattice.wraps(center));
        let within = lattice.map_or(center.axes(|x| x as f32), |lattice| lattice.moved(center, wraps));
        Self { center, radius: set.radius(id), displacement: set.displacement(id), within, wraps }
    }

    fn apart(p: &Self, q: &Self) -> [f64; D] {
        from_axes(|axis| q.center[axis] - p.center[axis])
    }

    /// Returns from how far apart two bodies can come to touch, or seem to where coordinates in `f32` are coarse.
    fn reach(p: &Self, q: &Self, decided: bool) -> f64 {
        let coarse = |body: &Self| {
            let rounded = !decided && body.wraps != [0; D];
            let widest = body.within.iter().fold(0.0, |widest: f32, x| widest.max(x.abs()));
            if rounded { f64::from(widest) / f64::from(1 << 23) } else { 0.0 }
        };
        p.radius + q.radius + p.path() + q.path() + coarse(p) + coarse(q)
    }

    fn path(&self) -> f64 {
        self.displacement.iter().map(|d| d * d).sum::<f64>().sqrt()
    }
}

impl<const D: usize> Lattice<D> {
    /// Returns how many cells a point is from the cell at the origin; 0 within that cell, borders included.
    fn wraps(&self, point: [f64; D]) -> [i64; D] {
        let fractional = self.fractional(from_axes(|axis| point[axis] - self.origin[axis]));
        from_axes(|k| {
            let inside = (0.0..=1.0).contains(&fractional[k]) || !self.periodic[k];
            if inside { 0 } else { fractional[k].floor() as i64 }
        })
    }

    /// Returns a point less whole cells, rounded once to `f32`.
    fn moved(&self, point: [f64; D], wraps: [i64; D]) -> [f32; D] {
        if wraps == [0; D] {
            return point.axes(|x| x as f32);
        }
        let sum = self.combined(wraps);
        from_axes(|axis| (point[axis] - sum[axis]) as f32)
    }

    /// Returns the sum of `steps[k] * vectors[k]`, from left to right.
    pub(super) fn combined(&self, steps: [i64; D]) -> [f64; D] {
        from_axes(|axis| {
            (0..D).filter(|&k| self.periodic[k]).fold(0.0, |sum, k| sum + steps[k] as f64 * self.vectors[k][axis])
        })
    }
}

/// The predicates of one search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family<const D: usize> {
    pub(super) lattice: Option<Lattice<D>>,
    /// Whether predicates are in `f64` on the numbers as given, and not in `f32` on bodies within the cell.
    pub(super) decided: bool,
}

impl<const D: usize> Family<D> {
    pub(super) fn new(space: &PlainSpace<D>, decided: bool) -> Self {
        Self { lattice: space.lattice(), decided }
    }

    /// Calls `visit` with every shift at which `q` could touch `p`, and with more shifts.
    pub(super) fn each_shift(&self, p: &Body<D>, q: &Body<D>, mut visit: impl FnMut([i32; D])) {
        match &self.lattice {
            None => visit([0; D]),
            Some(lattice) => lattice.each_shift(Body::apart(p, q), Body::reach(p, q, self.decided), visit),
        }
    }

    /// Returns the number of shifts that [`Family::each_shift`] visits.
    pub(super) fn shifts(&self, p: &Body<D>, q: &Body<D>) -> f64 {
        let range = |lattice: &Lattice<D>| lattice.range(Body::apart(p, q), Body::reach(p, q, self.decided));
        self.lattice.as_ref().map_or(1.0, |lattice| range(lattice).map(|[low, high]| high - low + 1.0).iter().product())
    }

    /// Returns when two bodies first touch, the second at a shift; 0 if they touch from the beginning.
    pub(super) fn touch(&self, p: &Body<D>, q: &Body<D>, shift: [i32; D]) -> Option<f64> {
        if !self.decided {
            let (distance2, s) = (squared(self.difference32(p, q, shift)), p.radius as f32 + q.radius as f32);
            return (distance2 <= s * s).then_some(0.0);
        }
        let apart = self.difference64(p, q, shift);
        let (mut pp, mut pv, mut vv) = (0.0, 0.0, 0.0);
        for axis in 0..D {
            let v = q.displacement[axis] - p.displacement[axis];
            (pp, pv, vv) = (pp + apart[axis] * apart[axis], pv + apart[axis] * v, vv + v * v);
        }
        let s = p.radius + q.radius;
        let c = pp - s * s;
        if c <= 0.0 {
            return Some(0.0);
        }
        let discriminant = pv * pv - vv * c;
        let time = c / (discriminant.sqrt() - pv);
        (pv < 0.0 && discriminant >= 0.0 && time <= 1.0).then_some(time)
    }

    /// Returns the vector from the first body to the second at a shift, as the predicate has it, and the square of its
    /// length.
    pub(super) fn vector(&self, p: &Body<D>, q: &Body<D>, shift: [i32; D]) -> ([f64; D], f64) {
        if self.decided {
            let apart = self.difference64(p, q, shift);
            (apart, apart.iter().fold(0.0, |sum, d| sum + d * d))
        } else {
            let apart = self.difference32(p, q, shift);
            (apart.axes(f64::from), squared(apart).into())
        }
    }

    /// Returns the difference in `f32`, of bodies within the cell: `(xb' - xa') + offset`.
    fn difference32(&self, p: &Body<D>, q: &Body<D>, shift: [i32; D]) -> [f32; D] {
        let steps = from_axes(|k| i64::from(shift[k]) - p.wraps[k] + q.wraps[k]);
        let offset = self.lattice.map_or([0.0; D], |lattice| lattice.combined(steps).axes(|x| x as f32));
        from_axes(|axis| (q.within[axis] - p.within[axis]) + offset[axis])
    }

    /// Returns the difference in `f64`, of the numbers as given: `(xb - xa) + shift`.
    pub(super) fn difference64(&self, p: &Body<D>, q: &Body<D>, shift: [i32; D]) -> [f64; D] {
        let shift = self.lattice.map_or([0.0; D], |lattice| lattice.combined(shift.axes(i64::from)));
        from_axes(|axis| (q.center[axis] - p.center[axis]) + shift[axis])
    }
}

fn squared<const D: usize>(apart: [f32; D]) -> f32 {
    apart.iter().fold(0.0, |sum, d| sum + d * d)
}
