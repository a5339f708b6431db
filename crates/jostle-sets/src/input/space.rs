//! The space that bodies are in: open, periodic on some axes, or a lattice.
//!
//! A space that repeats has a cell, spanned from an origin by one vector for each axis, and directions in which the
//! cell repeats. Whole vectors move a body to a place in the cell. The body counts there, and at every image of that
//! place.

use jostle_core::axes::Axes;

use crate::{InputError, LatticeFault};

/// Lengths of lattice vectors lie above 2^-300 and below 2^300, coordinates of the origin below 2^300. Volumes and
/// their inverses then stay in the range of `f64`.
const RANGE: (f64, f64) = (f64::from_bits((1023 - 300) << 52), f64::from_bits((1023 + 300) << 52));

/// The least volume of a cell, relative to the product of its lengths: 2^-40. `f64` cannot tell a smaller one from
/// none.
const FLAT: f64 = f64::from_bits((1023 - 40) << 52);

/// The space of a search: open, periodic on some axes, or a lattice.
///
/// Where space repeats, a search first moves each body into the cell: to `x - (w0 v0 + w1 v1 ..)` in `f64`, with `w` of
/// [`Space::wraps`]. Two bodies then meet at every image of the second, at `x + (k0 v0 + k1 v1 ..)` for whole numbers
/// `k`, that touches the first. So a pair comes once for each image. A body may meet images of itself, once for each
/// two opposite images. Bodies may reach any distance.
///
/// - Bodies in `f32` at rest: `dx = (xb - xa) + offset` in `f32`. The coordinates in the cell and the offset
///   `k0 v0 + k1 v1 ..` are each computed in `f64` and rounded once. A body within the cell stays as it is.
/// - Bodies in `f64`, or moving: `dx = (xb - xa) + shift` in `f64`, with the coordinates as given. The shift
///   `S0 v0 + S1 v1 ..` is summed from left to right, with `S = k + w(a) - w(b)`.
///
/// `Found::image_shifts` has `S` of each pair.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, Input, PairFinder};
///
/// let circles = Circles::new(&[0.5, 9.5], &[0.0, 0.0], 0.5);
/// let mut finder = PairFinder::new();
/// let found = finder.find(Input::within(circles).periodic([Some([0.0, 10.0]), None]))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// assert_eq!(found.image_shift(0), Some([-1, 0])); // 9.5 - 10 is 1 to the left of 0.5
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space<const D: usize> {
    #[doc(hidden)]
    pub vectors: [[f64; D]; D],
    #[doc(hidden)]
    pub repeats: [bool; D],
    #[doc(hidden)]
    pub origin: [f64; D],
    /// Whether the space was given by borders, not by vectors. Errors then name the borders.
    borders: bool,
}

impl<const D: usize> Default for Space<D> {
    fn default() -> Self {
        Self::open()
    }
}

impl<const D: usize> Space<D> {
    /// Space that does not repeat.
    #[must_use]
    pub fn open() -> Self {
        let mut vectors = [[0.0; D]; D];
        for (axis, vector) in vectors.iter_mut().enumerate() {
            vector[axis] = 1.0;
        }
        Self { vectors, repeats: [false; D], origin: [0.0; D], borders: true }
    }

    /// A space that is periodic on some axes, each by its borders `[lo, hi]`: what leaves on one side comes in on the
    /// other.
    ///
    /// A search refuses borders that are not finite and ascending, and periods that are not between 2^-300 and 2^300
    /// ([`InputError::Parameter`]).
    #[must_use]
    pub fn periodic<T: Into<f64> + Copy>(axes: [Option<[T; 2]>; D]) -> Self {
        let mut space = Self::open();
        for (axis, [lo, hi]) in axes.into_iter().enumerate().filter_map(|(axis, borders)| Some((axis, borders?))) {
            let (lo, hi) = (lo.into(), hi.into());
            space.vectors[axis][axis] = hi - lo;
            space.origin[axis] = lo;
            space.repeats[axis] = true;
        }
        space
    }

    /// A triclinic box: a cell spanned by vectors from the origin on, and the directions in which it repeats. A
    /// direction that does not repeat needs a vector all the same: any that lies across the others.
    ///
    /// A search refuses vectors that are not finite, have length zero, span nothing, or are left-handed
    /// ([`InputError::Lattice`]).
    #[must_use]
    pub fn lattice(vectors: [[f64; D]; D], repeats: [bool; D]) -> Self {
        Self { vectors, repeats, origin: [0.0; D], borders: false }
    }

    /// The same space, with this origin of the cell.
    #[must_use]
    pub fn at(self, origin: [f64; D]) -> Self {
        Self { origin, ..self }
    }

    /// The vectors of the cell.
    #[must_use]
    pub fn vectors(&self) -> [[f64; D]; D] {
        self.vectors
    }

    /// In which directions the space repeats.
    #[must_use]
    pub fn repeats(&self) -> [bool; D] {
        self.repeats
    }

    /// The corner of the cell from which its vectors lead.
    #[must_use]
    pub fn origin(&self) -> [f64; D] {
        self.origin
    }

    /// True when the space does not repeat in any direction.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.repeats == [false; D]
    }

    /// Returns in which cell a point lies, counted along each vector from the cell at the origin. The count is the
    /// floor of the fractional coordinate. It is 0 where the fractional coordinate lies between 0 and 1, both included,
    /// and in directions that do not repeat.
    ///
    /// Where each vector lies in its own axis, the fractional coordinate is `(x - origin) / length`. Else it is the sum
    /// of `(x - origin) * dual` over the axes from left to right, with the vectors of [`Space::duals`].
    #[must_use]
    pub fn wraps(&self, center: [f64; D]) -> [i32; D] {
        UnitCell::of(self).wraps(center).axes(|wraps| wraps as i32)
    }

    /// The dual vectors, in `f64`: the scalar product of each with its own vector of the cell is 1, with the others 0.
    /// One over the length of a dual vector is the height of the cell in its direction.
    #[must_use]
    pub fn duals(&self) -> [[f64; D]; D] {
        let v = &self.vectors;
        let mut duals = [[0.0; D]; D];
        if self.is_straight() {
            for axis in 0..D {
                duals[axis][axis] = 1.0 / v[axis][axis];
            }
            return duals;
        }
        let volume = self.volume();
        for (k, dual) in duals.iter_mut().enumerate() {
            for (axis, slot) in dual.iter_mut().enumerate() {
                *slot = cofactor(v, k, axis) / volume;
            }
        }
        duals
    }

    /// Whether each vector lies in its own axis.
    #[doc(hidden)]
    pub fn is_straight(&self) -> bool {
        (0..D).all(|k| (0..D).all(|axis| axis == k || self.vectors[k][axis] == 0.0))
    }

    fn volume(&self) -> f64 {
        (0..D).map(|axis| self.vectors[0][axis] * cofactor(&self.vectors, 0, axis)).sum()
    }

    pub(crate) fn check(&self) -> Result<(), InputError> {
        if self.is_open() {
            return Ok(());
        }
        let within = |x: f64| x.abs() < RANGE.1;
        if self.borders {
            for axis in (0..D).filter(|&axis| self.repeats[axis]) {
                let period = self.vectors[axis][axis];
                if !(within(self.origin[axis]) && within(period) && period > RANGE.0) {
                    let wanted = "the borders must be finite, the upper one above the lower by 2^-300 to 2^300, and the \
                                  lower one below 2^300";
                    let name = ["the period on axis 0", "the period on axis 1", "the period on axis 2"][axis];
                    return Err(InputError::Parameter { name, value: period, wanted });
                }
            }
            return Ok(());
        }
        self.fault().map_or(Ok(()), |fault| Err(InputError::Lattice(fault)))
    }

    fn fault(&self) -> Option<LatticeFault> {
        if let Some(axis) = self.origin.iter().position(|x| x.is_nan() || x.abs() >= RANGE.1) {
            return Some(LatticeFault::Origin { axis: axis as u8 });
        }
        let mut product = 1.0;
        for (vector, v) in (0_u8..).zip(&self.vectors) {
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            if v.iter().all(|&x| x == 0.0) {
                return Some(LatticeFault::ZeroLength { vector });
            }
            if !(length < RANGE.1 && length > RANGE.0) {
                return Some(LatticeFault::OutOfRange { vector });
            }
            product *= length;
        }
        let volume = self.volume();
        if volume.abs() <= product * FLAT {
            return Some(LatticeFault::Flat);
        }
        (volume < 0.0).then_some(LatticeFault::LeftHanded)
    }
}

/// The cofactor: the determinant of a matrix without a row and a column, with its sign.
fn cofactor<const D: usize>(v: &[[f64; D]; D], row: usize, column: usize) -> f64 {
    match D {
        1 => 1.0,
        2 => {
            let minor = v[1 - row][1 - column];
            if row == column { minor } else { -minor }
        }
        _ => {
            // Of three rows or columns, taken in cyclic order, each minor has its sign.
            let ([r, s], [c, d]) = ([(row + 1) % 3, (row + 2) % 3], [(column + 1) % 3, (column + 2) % 3]);
            v[r][c] * v[s][d] - v[r][d] * v[s][c]
        }
    }
}

/// A space that repeats, with its dual vectors and whether it is straight, computed once.
#[derive(Debug, Clone, Copy)]
pub struct UnitCell<const D: usize> {
    pub space: Space<D>,
    pub duals: [[f64; D]; D],
    straight: bool,
}

impl<const D: usize> UnitCell<D> {
    pub fn of(space: &Space<D>) -> Self {
        Self { space: *space, duals: space.duals(), straight: space.is_straight() }
    }

    /// Whether each vector lies in its own axis.
    pub fn is_straight(&self) -> bool {
        self.straight
    }

    /// See [`Space::wraps`].
    #[inline]
    pub fn wraps(&self, center: [f64; D]) -> [f64; D] {
        let Space { vectors, repeats, origin, .. } = &self.space;
        let mut wraps = [0.0; D];
        for k in 0..D {
            if !repeats[k] {
                continue;
            }
            let fraction = if self.straight {
                (center[k] - origin[k]) / vectors[k][k]
            } else {
                (0..D).fold(0.0, |sum, axis| sum + (center[axis] - origin[axis]) * self.duals[k][axis])
            };
            if !(0.0..=1.0).contains(&fraction) {
                wraps[k] = fraction.floor();
            }
        }
        wraps
    }

    /// Returns how many vectors of the cell lead to a point from its image nearest to the origin of coordinates.
    #[inline]
    pub fn steps_to(&self, point: [f64; D]) -> [f64; D] {
        let mut steps = [0.0; D];
        for k in (0..D).filter(|&k| self.space.repeats[k]) {
            steps[k] = (0..D).map(|axis| point[axis] * self.duals[k][axis]).sum::<f64>().round();
        }
        steps
    }

    /// [`UnitCell::wraps`] of bodies side by side, in directions in which space repeats.
    #[inline(always)]
    pub(crate) fn wraps_side_by_side<const N: usize>(&self, centers: &[[f64; N]; D], wraps: &mut [[f64; N]; D]) {
        let Space { vectors, repeats, origin, .. } = &self.space;
        for k in (0..D).filter(|&k| repeats[k]) {
            for lane in 0..N {
                let fraction = if self.straight {
                    (centers[k][lane] - origin[k]) / vectors[k][k]
                } else {
                    let along = |sum, axis: usize| sum + (centers[axis][lane] - origin[axis]) * self.duals[k][axis];
                    (0..D).fold(0.0, along)
                };
                let within = (0.0..=1.0).contains(&fraction);
                wraps[k][lane] = if within { 0.0 } else { fraction.floor() };
            }
        }
    }

    /// Notes which of some bodies, side by side, may have wraps other than 0.
    #[inline(always)]
    pub(crate) fn note_outside<const N: usize>(&self, centers: &[[f64; N]; D], outside: &mut [u64; N]) {
        let Space { vectors, repeats, origin, .. } = &self.space;
        for k in (0..D).filter(|&k| repeats[k]) {
            for lane in 0..N {
                // If `0 <= along <= whole`, the rounded quotient that `wraps` looks at lies between 0 and 1.
                let (along, whole) = if self.straight {
                    (centers[k][lane] - origin[k], vectors[k][k])
                } else {
                    let along = |sum, axis: usize| sum + (centers[axis][lane] - origin[axis]) * self.duals[k][axis];
                    ((0..D).fold(0.0, along), 1.0)
                };
                outside[lane] |= u64::from(!(along >= 0.0 && along <= whole));
            }
        }
    }

    /// Whether bodies within these borders have no wraps, in a cell whose vectors lie in the axes.
    pub(crate) fn holds(&self, borders: &[[f64; 2]; D]) -> bool {
        let mut beyond = [0; 2];
        self.note_outside(borders, &mut beyond);
        beyond == [0; 2]
    }

    /// The sum of all that is added to a coordinate of a body to move it by so many of each vector, without signs.
    pub(crate) fn taken(&self, wraps: [f64; D], axis: usize) -> f64 {
        (0..D).map(|k| (wraps[k] * self.space.vectors[k][axis]).abs()).sum()
    }

    /// The sum of `steps` of each vector, from left to right.
    #[inline]
    pub fn shift(&self, steps: [f64; D]) -> [f64; D] {
        let vectors = &self.space.vectors;
        let mut shift = [0.0; D];
        for axis in 0..D {
            shift[axis] = steps[0] * vectors[0][axis];
            for k in 1..D {
                shift[axis] += steps[k] * vectors[k][axis];
            }
        }
        shift
    }
}

#[cfg(test)]
mod tests {
    use super::Space;

    use crate::{InputError, LatticeFault};

    #[test]
    fn lattices_that_are_none_are_refused_by_name() {
        let fault = |vectors: [[f64; 3]; 3]| match Space::lattice(vectors, [true; 3]).check() {
            Err(InputError::Lattice(fault)) => Some(fault),
            Err(other) => panic!("{other}"),
            Ok(()) => None,
        };
        let [x, y, z] = [[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, -0.5, 4.0]];
        assert_eq!(fault([x, y, z]), None);
        assert_eq!(fault([x, [0.0; 3], z]), Some(LatticeFault::ZeroLength { vector: 1 }));
        assert_eq!(fault([x, z, y]), Some(LatticeFault::LeftHanded));
        assert_eq!(fault([x, y, [3.0, 3.0, 0.0]]), Some(LatticeFault::Flat));
        assert_eq!(fault([x, y, [0.0, f64::NAN, 1.0]]), Some(LatticeFault::OutOfRange { vector: 2 }));
        assert_eq!(fault([[f64::INFINITY, 0.0, 0.0], y, z]), Some(LatticeFault::OutOfRange { vector: 0 }));
        let shifted = Space::lattice([[1.0, 0.0], [0.0, 1.0]], [true; 2]).at([0.0, f64::INFINITY]);
        assert_eq!(shifted.check(), Err(InputError::Lattice(LatticeFault::Origin { axis: 1 })));
        let left = Space::lattice([[0.0, 1.0], [1.0, 0.0]], [true, false]);
        assert_eq!(left.check(), Err(InputError::Lattice(LatticeFault::LeftHanded)));
    }

    #[test]
    fn wraps_count_cells() {
        let space = Space::lattice([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, -0.5, 4.0]], [true, true, false]);
        for (x, wraps) in [
            ([0.1, 0.1, 0.1], [0, 0, 0]),
            ([-0.1, 0.1, 0.0], [-1, 0, 0]),
            ([2.0 + 0.2, 3.1, 0.0], [0, 1, 0]),
            ([0.6, -0.4, 4.0], [0, 0, 0]),
            ([0.6 - 7.0, -0.4 - 9.0, 40.0], [-5, -2, 0]),
        ] {
            assert_eq!(space.wraps(x), wraps, "{x:?}");
        }
        assert_eq!(Space::periodic([Some([0.0, 10.0]), None]).wraps([10.0, 99.0]), [0, 0]);
        assert_eq!(Space::periodic([Some([1.0_f32, 11.0]), None]).wraps([0.5, 99.0]), [-1, 0]);
    }
}
