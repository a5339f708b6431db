//! A space that repeats: moves bodies into its cell, and finds the images at which two boxes meet.

use jostle::Space;

use crate::span::Span;

/// The most images that are looked at one by one. With more, a rank is taken to meet all of another rank.
const MAX_IMAGES: f64 = 4096.0;

/// Half of the cells between a body and the origin that the engine allows. Far more than rounding lies between.
const FAR: f64 = (1 << 28) as f64;

/// The numbers of a [`Space`] that are needed for each body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<const D: usize> {
    vectors: [[f64; D]; D],
    duals: [[f64; D]; D],
    origin: [f64; D],
    repeats: [bool; D],
}

impl<const D: usize> Cell<D> {
    /// `None` for open space.
    pub(crate) fn of(space: &Space<D>) -> Option<Self> {
        let (vectors, repeats, origin) = (space.vectors(), space.repeats(), space.origin());
        (!space.is_open()).then(|| Self { vectors, duals: space.duals(), origin, repeats })
    }

    /// Returns a point moved into the cell, within rounding. Any image of the point may stand for all.
    #[inline]
    pub(crate) fn within(&self, point: [f64; D]) -> [f64; D] {
        let mut moved = point;
        for k in (0..D).filter(|&k| self.repeats[k]) {
            let fraction: f64 = (0..D).map(|axis| (point[axis] - self.origin[axis]) * self.duals[k][axis]).sum();
            let cells = fraction.floor();
            if cells != 0.0 {
                (0..D).for_each(|axis| moved[axis] -= cells * self.vectors[k][axis]);
            }
        }
        moved
    }

    /// Returns how far the repeating vectors together reach along each axis; 0 where moving by whole cells changes
    /// nothing.
    pub(crate) fn extents(&self) -> [f64; D] {
        let along = |axis: usize| (0..D).filter(|&k| self.repeats[k]).map(|k| self.vectors[k][axis].abs()).sum();
        core::array::from_fn(along)
    }

    /// Returns whether a point whose coordinates are at most `far` from 0 may be so many cells away that each is to be
    /// looked at.
    pub(crate) fn may_be_far(&self, far: &[f64; D]) -> bool {
        let most = |axis: usize| far[axis] + self.origin[axis].abs();
        let cells = |k: usize| (0..D).map(|axis| most(axis) * self.duals[k][axis].abs()).sum::<f64>();
        (0..D).any(|k| self.repeats[k] && cells(k) > FAR)
    }

    /// Calls `visit` with each shift by whole cells at which the second box may overlap the first. Returns whether
    /// there were few enough shifts to look at.
    pub(crate) fn each_shift(&self, first: &Span<D>, second: &Span<D>, mut visit: impl FnMut([f64; D])) -> bool {
        let (one, two) = (self.fractions(first), self.fractions(second));
        let range: [[f64; 2]; D] = core::array::from_fn(|k| {
            let few = [(one[k][0] - two[k][1]).floor(), (one[k][1] - two[k][0]).ceil()];
            if self.repeats[k] { few } else { [0.0; 2] }
        });
        let images: f64 = range.iter().map(|[low, high]| high - low + 1.0).product();
        if images.is_nan() || images > MAX_IMAGES {
            return false;
        }
        let mut steps = range.map(|[low, _]| low);
        loop {
            visit(core::array::from_fn(|axis| (0..D).map(|k| steps[k] * self.vectors[k][axis]).sum()));
            let Some(k) = (0..D).find(|&k| steps[k] < range[k][1]) else { return true };
            (0..k).for_each(|k| steps[k] = range[k][0]);
            steps[k] += 1.0;
        }
    }

    /// Returns the range of a box along each vector, in cells.
    fn fractions(&self, span: &Span<D>) -> [[f64; 2]; D] {
        self.duals.map(|dual| {
            (0..D).fold([0.0; 2], |[low, high], axis| {
                let [a, b] = [span.lo[axis] * dual[axis], span.hi[axis] * dual[axis]];
                [low + a.min(b), high + a.max(b)]
            })
        })
    }
}
