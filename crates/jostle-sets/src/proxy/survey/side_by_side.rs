//! What a survey notes of bodies at rest, sixteen side by side, a few hundred at a time. Each kind of work is compiled
//! for each instruction set by itself, and not once more for each number of axes.

use jostle_core::isa::Work;
use jostle_core::limits::REACH_F64;
use jostle_core::{Isa, Scalar};

use super::MAX_WRAPS;
use crate::input::UnitCell;

/// Bodies copied at a time, to be read side by side whatever their distance in memory.
pub(super) const COPIED: usize = 512;

/// Bodies looked at side by side.
pub(super) const LANES: usize = 16;

/// The least and the greatest of some values, which are numbers, sixteen side by side.
#[derive(Clone, Copy)]
pub(super) struct Spread<T> {
    pub(super) least: [T; LANES],
    pub(super) greatest: [T; LANES],
}

impl<T: Scalar> Spread<T> {
    pub(super) fn of(value: T) -> Self {
        Self { least: [value; LANES], greatest: [value; LANES] }
    }

    pub(super) fn borders(&self) -> [f64; 2] {
        let lo = self.least.iter().fold(f64::INFINITY, |lo, x| lo.min(x.to_f64()));
        [lo, self.greatest.iter().fold(f64::NEG_INFINITY, |hi, x| hi.max(x.to_f64()))]
    }
}

/// Takes more values into a [`Spread`].
pub(super) struct Take<'a, T> {
    pub(super) spread: &'a mut Spread<T>,
    pub(super) rows: &'a [[T; LANES]],
}

impl<T: Scalar> Work for Take<'_, T> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Spread { mut least, mut greatest } = *self.spread;
        for row in self.rows {
            for lane in 0..LANES {
                least[lane] = if row[lane] < least[lane] { row[lane] } else { least[lane] };
                greatest[lane] = if row[lane] > greatest[lane] { row[lane] } else { greatest[lane] };
            }
        }
        *self.spread = Spread { least, greatest };
    }
}

/// Notes, on one axis, which bodies are not as the predicate in `f64` wants them.
pub(super) struct NoteFaults<'a, T> {
    pub(super) centers: &'a [[T; LANES]],
    pub(super) radii: &'a [[T; LANES]],
    pub(super) margin: T,
    pub(super) faults: &'a mut [u64; LANES],
}

impl<T: Scalar> Work for NoteFaults<'_, T> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { centers, radii, margin, faults } = self;
        let mut noted = *faults;
        for (centers, radii) in centers.iter().zip(radii) {
            for lane in 0..LANES {
                let reach = centers[lane].to_f64().abs() + (radii[lane] + margin).to_f64();
                noted[lane] |= u64::from(!((reach <= REACH_F64) & (radii[lane] >= T::default())));
            }
        }
        *faults = noted;
    }
}

/// Where bodies lie once they have been moved into a cell, sixteen side by side.
pub(super) struct MovedIn<const D: usize> {
    pub(super) lo: [[f64; LANES]; D],
    pub(super) hi: [[f64; LANES]; D],
    /// As `far` of an `Extent`.
    pub(super) far: [[f64; LANES]; D],
    pub(super) outside: [u64; LANES],
    /// The body lies more cells away than can be counted.
    pub(super) too_far: [u64; LANES],
}

impl<const D: usize> MovedIn<D> {
    pub(super) const NONE: Self = Self {
        lo: [[f64::INFINITY; LANES]; D],
        hi: [[f64::NEG_INFINITY; LANES]; D],
        far: [[0.0; LANES]; D],
        outside: [0; LANES],
        too_far: [0; LANES],
    };
}

/// Moves bodies into a cell, each as [`UnitCell::wraps`] and [`UnitCell::shift`] do, and counts by how many vectors.
pub(super) struct MoveIn<'a, const D: usize> {
    pub(super) cell: &'a UnitCell<D>,
    pub(super) centers: &'a [[f64; COPIED]; D],
    pub(super) wraps: &'a mut [[i32; D]],
    pub(super) moved: &'a mut MovedIn<D>,
}

impl<const D: usize> Work for MoveIn<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let (vectors, moved) = (&self.cell.space.vectors, self.moved);
        for (row, counts) in self.wraps.chunks_mut(LANES).enumerate() {
            let (at, mut beyond) = (row_of(self.centers, row), [0; LANES]);
            self.cell.note_outside(&at, &mut beyond);
            if beyond == [0; LANES] {
                counts.fill([0; D]);
                for axis in 0..D {
                    for lane in 0..LANES {
                        let (x, lo, hi) = (at[axis][lane], moved.lo[axis][lane], moved.hi[axis][lane]);
                        moved.lo[axis][lane] = if x < lo { x } else { lo };
                        moved.hi[axis][lane] = if x > hi { x } else { hi };
                    }
                }
                continue;
            }
            let (mut wraps, mut outside) = ([[0.0_f64; LANES]; D], [false; LANES]);
            self.cell.wraps_side_by_side(&at, &mut wraps);
            for k in 0..D {
                for lane in 0..LANES {
                    let wraps = wraps[k][lane];
                    outside[lane] |= wraps != 0.0;
                    moved.too_far[lane] |= u64::from(wraps.abs() > MAX_WRAPS);
                }
            }
            for axis in 0..D {
                for lane in 0..LANES {
                    let mut shift = wraps[0][lane] * vectors[0][axis];
                    let mut taken = shift.abs();
                    for k in 1..D {
                        let part = wraps[k][lane] * vectors[k][axis];
                        shift += part;
                        taken += part.abs();
                    }
                    let x = at[axis][lane];
                    // An axis on which nothing is taken off keeps its coordinate as it is, however far along it the
                    // body lies.
                    let (middle, far) = if taken != 0.0 { (x - shift, x.abs() + taken) } else { (x, 0.0) };
                    let (lo, hi, most) = (moved.lo[axis][lane], moved.hi[axis][lane], moved.far[axis][lane]);
                    moved.lo[axis][lane] = if middle < lo { middle } else { lo };
                    moved.hi[axis][lane] = if middle > hi { middle } else { hi };
                    moved.far[axis][lane] = if far > most { far } else { most };
                }
            }
            for lane in 0..LANES {
                moved.outside[lane] |= u64::from(outside[lane]);
            }
            let mut whole = [[0; D]; LANES];
            for k in 0..D {
                for lane in 0..LANES {
                    whole[lane][k] = wraps[k][lane] as i32;
                }
            }
            counts.copy_from_slice(&whole[..counts.len()]);
        }
    }
}

/// Moves bodies into a cell by such counts, on one axis.
pub(super) struct MoveBy<'a, const D: usize> {
    pub(super) cell: &'a UnitCell<D>,
    pub(super) axis: usize,
    pub(super) wraps: &'a [[i32; D]],
    pub(super) x: &'a mut [f64],
}

impl<const D: usize> Work for MoveBy<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { cell, axis, wraps, x } = self;
        let vectors = &cell.space.vectors;
        for (x, wraps) in x.chunks_mut(LANES).zip(wraps.chunks(LANES)) {
            if wraps.as_flattened().iter().fold(0, |any, wraps| any | wraps) == 0 {
                continue;
            }
            for (x, wraps) in x.iter_mut().zip(wraps) {
                let mut shift = f64::from(wraps[0]) * vectors[0][axis];
                for k in 1..D {
                    shift += f64::from(wraps[k]) * vectors[k][axis];
                }
                *x -= shift;
            }
        }
    }
}

/// One row of each column.
#[inline(always)]
fn row_of<const D: usize>(columns: &[[f64; COPIED]; D], row: usize) -> [[f64; LANES]; D] {
    let mut at = [[0.0; LANES]; D];
    for axis in 0..D {
        at[axis].copy_from_slice(&columns[axis][row * LANES..][..LANES]);
    }
    at
}

/// Does some work. Not inlined, so that each kind of work is one function, wherever it is done.
#[inline(never)]
pub(super) fn run<W: Work<Output = ()>>(isa: Isa, work: W) {
    isa.run(work);
}

/// The first `count` values of a buffer in rows. The first value fills up the last row.
#[inline(always)]
pub(super) fn in_rows<T: Copy>(buffer: &mut [T; COPIED], count: usize) -> &[[T; LANES]] {
    let (rows, first) = (count.div_ceil(LANES), buffer[0]);
    buffer[count..rows * LANES].fill(first);
    &buffer.as_chunks::<LANES>().0[..rows]
}
