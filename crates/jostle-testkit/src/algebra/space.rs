//! Where bodies live: open, periodic on some axes, or in a lattice.

use jostle_core::axes::{Axes, from_axes};

/// The space of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlainSpace<const D: usize> {
    /// Without borders.
    Open,
    /// Periodic axes have a lower and an upper border.
    Periodic([Option<[f64; 2]>; D]),
    /// A cell spanned by vectors from an origin, which repeats along the periodic vectors.
    Lattice {
        /// A corner of the cell.
        origin: [f64; D],
        /// The vectors of the cell.
        vectors: [[f64; D]; D],
        /// Whether the cell repeats along each vector.
        periodic: [bool; D],
    },
}

/// Any space that has images.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice<const D: usize> {
    pub(super) origin: [f64; D],
    pub(super) vectors: [[f64; D]; D],
    pub(super) periodic: [bool; D],
    /// The scalar product of the k-th dual and a point is the point's coordinate along vector k.
    duals: [[f64; D]; D],
}

impl<const D: usize> PlainSpace<D> {
    /// Returns whether the space repeats in no direction.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.lattice().is_none_or(|lattice| lattice.periodic == [false; D])
    }

    pub(super) fn lattice(&self) -> Option<Lattice<D>> {
        let (origin, vectors, periodic) = match *self {
            Self::Open => return None,
            Self::Lattice { origin, vectors, periodic } => (origin, vectors, periodic),
            Self::Periodic(axes) => {
                let mut vectors = [[0.0; D]; D];
                for (axis, borders) in axes.iter().enumerate() {
                    vectors[axis][axis] = borders.map_or(1.0, |[lo, hi]| hi - lo);
                }
                let origin = axes.map(|borders| borders.map_or(0.0, |[lo, _]| lo));
                (origin, vectors, axes.map(|borders| borders.is_some()))
            }
        };
        Some(Lattice { origin, vectors, periodic, duals: duals(vectors) })
    }
}

impl<const D: usize> Lattice<D> {
    /// Returns the coordinates of a point along the vectors, in cells.
    pub(super) fn fractional(&self, point: [f64; D]) -> [f64; D] {
        let v = &self.vectors;
        if (0..D).all(|k| (0..D).all(|axis| axis == k || v[k][axis] == 0.0)) {
            return from_axes(|axis| point[axis] / v[axis][axis]);
        }
        self.duals.axes(|dual| (0..D).fold(0.0, |sum, axis| sum + point[axis] * dual[axis]))
    }

    /// Returns, along each vector, the least and the greatest shift at which a point could be within `reach` of the
    /// origin. The point is then `reach / height` cells away at most. The height of the cell over its other vectors is
    /// 1 over the length of the dual. Both ends are rounded outwards to whole cells, which is all but sure to be
    /// generous.
    pub(super) fn range(&self, point: [f64; D], reach: f64) -> [[f64; 2]; D] {
        let middle = self.fractional(point);
        from_axes(|k| {
            let height = 1.0 / self.duals[k].iter().map(|x| x * x).sum::<f64>().sqrt();
            let cells = reach / height;
            if self.periodic[k] { [(-middle[k] - cells).floor(), (-middle[k] + cells).ceil()] } else { [0.0; 2] }
        })
    }

    /// Calls `visit` with every shift of [`Lattice::range`].
    pub(super) fn each_shift(&self, point: [f64; D], reach: f64, mut visit: impl FnMut([i32; D])) {
        let range = self.range(point, reach).axes(|ends| ends.axes(|end| end as i32));
        let mut shift = range.axes(|[low, _]| low);
        loop {
            visit(shift);
            let Some(k) = (0..D).find(|&k| shift[k] < range[k][1]) else { return };
            (0..k).for_each(|k| shift[k] = range[k][0]);
            shift[k] += 1;
        }
    }
}

/// Returns whether a body and its own image are listed with this shift, and not with the opposite one: the last step
/// that is not zero is positive. False for the shift of zero.
pub(super) fn is_forward<const D: usize>(shift: [i32; D]) -> bool {
    shift.iter().rev().find(|&&steps| steps != 0).is_some_and(|&steps| steps > 0)
}

/// Returns the rows whose scalar product with their own vector is 1, and 0 with the others: cross products over the
/// volume, as `jostle::Space::duals` documents them.
fn duals<const D: usize>(v: [[f64; D]; D]) -> [[f64; D]; D] {
    if (0..D).all(|k| (0..D).all(|axis| axis == k || v[k][axis] == 0.0)) {
        return from_axes(|k| from_axes(|axis| if axis == k { 1.0 / v[k][k] } else { 0.0 }));
    }
    let row = |k: usize| -> [f64; D] {
        let across = match D {
            2 => [v[1 - k][1], -v[1 - k][0], 0.0].map(|x| if k == 0 { x } else { -x }),
            3 => {
                let (p, q) = (v[(k + 1) % 3], v[(k + 2) % 3]);
                [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
            }
            _ => panic!("lattices have 2 or 3 axes, not {D}"),
        };
        from_axes(|axis| across[axis])
    };
    let volume: f64 = (0..D).map(|axis| v[0][axis] * row(0)[axis]).sum();
    from_axes(|k| row(k).axes(|x| x / volume))
}
