//! Where bodies live: open, periodic on some axes, or in a lattice.

/// The space of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlainSpace<const D: usize> {
    /// Without borders.
    Open,
    /// Axes that are periodic have a lower and an upper border.
    Periodic([Option<[f64; 2]>; D]),
    /// A cell spanned by vectors from an origin, which repeats along those that are periodic.
    Lattice {
        /// A corner of the cell.
        origin: [f64; D],
        /// The vectors of the cell.
        vectors: [[f64; D]; D],
        /// Along which of them it repeats.
        periodic: [bool; D],
    },
}

/// Any space that has images.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice<const D: usize> {
    pub(super) origin: [f64; D],
    pub(super) vectors: [[f64; D]; D],
    pub(super) periodic: [bool; D],
    /// Rows of the inverse: the k-th times a point is its coordinate along vector k.
    inverse: [[f64; D]; D],
}

impl<const D: usize> PlainSpace<D> {
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
        Some(Lattice { origin, vectors, periodic, inverse: inverse(vectors) })
    }
}

impl<const D: usize> Lattice<D> {
    /// The coordinates of a point along the vectors.
    pub(super) fn fractional(&self, point: [f64; D]) -> [f64; D] {
        self.inverse.map(|row| (0..D).map(|axis| row[axis] * point[axis]).sum())
    }

    /// Calls `visit` with every shift at which a point could be within `reach` of the origin, and with many more: where it is
    /// `1 + reach / height` cells away on either side, the height of the cell over its other vectors being 1 over the
    /// length of a row of the inverse.
    pub(super) fn each_shift(&self, point: [f64; D], reach: f64, mut visit: impl FnMut([i32; D])) {
        let middle = self.fractional(point);
        let (mut low, mut high) = ([0_i64; D], [0_i64; D]);
        for k in (0..D).filter(|&k| self.periodic[k]) {
            let height = 1.0 / self.inverse[k].iter().map(|x| x * x).sum::<f64>().sqrt();
            let cells = reach / height + 1.0;
            (low[k], high[k]) = ((-middle[k] - cells).floor() as i64, (-middle[k] + cells).ceil() as i64);
        }
        let mut shift = low;
        loop {
            visit(shift.map(|steps| steps as i32));
            let Some(k) = (0..D).find(|&k| shift[k] < high[k]) else { return };
            shift[..k].copy_from_slice(&low[..k]);
            shift[k] += 1;
        }
    }
}

/// Of a shift and its opposite, the one that a body and its own image are listed with: its last step that is not zero is
/// positive. Not the shift of zero.
pub(super) fn is_forward<const D: usize>(shift: [i32; D]) -> bool {
    shift.iter().rev().find(|&&steps| steps != 0).is_some_and(|&steps| steps > 0)
}

/// The inverse of the matrix whose columns are `vectors`, by elimination; not finite where there is none.
fn inverse<const D: usize>(vectors: [[f64; D]; D]) -> [[f64; D]; D] {
    let mut left: [[f64; D]; D] = core::array::from_fn(|row| core::array::from_fn(|column| vectors[column][row]));
    let mut right: [[f64; D]; D] = core::array::from_fn(|i| core::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    for column in 0..D {
        let size = |row: &usize| left[*row][column].abs();
        let pivot = (column..D).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(column);
        left.swap(column, pivot);
        right.swap(column, pivot);
        let divisor = left[column][column];
        for k in 0..D {
            left[column][k] /= divisor;
            right[column][k] /= divisor;
        }
        for row in (0..D).filter(|&row| row != column) {
            let factor = left[row][column];
            for k in 0..D {
                left[row][k] -= factor * left[column][k];
                right[row][k] -= factor * right[column][k];
            }
        }
    }
    right
}
