//! Puts stand-ins in place, part by part: each at the image of its body nearest to where the stand-in was, and back into
//! the cell when a list is made.

use jostle_core::isa::Work;
use jostle_core::{Column, Scalar};
use jostle_sets::input::UnitCell;
use jostle_sets::simd::LANES;

use crate::coherent::reference::PART;
use crate::coherent::reference::measure::read;

/// A body that is farther than so many vectors of the cell from its stand-in is not followed.
pub(super) const FARTHEST: f64 = 4_194_304.0;

/// 1.5 * 2^52: adding it rounds a number of less than 2^51 to a whole one.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// An image of a body that is no farther away than this part of the cell's length is the nearest.
const SURELY_NEAR: f64 = 0.499;

/// Returns where a stand-in was; 0 if that is not finite.
#[inline(always)]
fn place(before: f32) -> f64 {
    if before.abs() < f32::INFINITY { before.into() } else { 0.0 }
}

/// Rounds to a whole number of vectors of the cell; NaN beyond [`FARTHEST`].
#[inline(always)]
fn whole(steps: f64) -> f64 {
    let whole = (steps + ROUNDING) - ROUNDING;
    if whole.abs() <= FARTHEST { whole } else { f64::NAN }
}

/// Returns how far stand-ins of a part are from the origin, at most. Only the first `there` have bodies; the others,
/// behind the last body, are put at the origin.
#[inline(always)]
fn reach_of(out: &mut [f32], there: usize) -> f32 {
    out[there..].fill(0.0);
    let mut reach = [0.0_f32; LANES];
    for some in out.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let far = some[lane].abs();
            reach[lane] = if reach[lane] >= far { reach[lane] } else { far };
        }
    }
    reach.into_iter().fold(0.0, |most: f32, far| if most >= far { most } else { far })
}

/// Whether sixteen stand-ins are all this near to where they were; not where one is not finite.
#[inline(always)]
fn are_within(out: &[f32], before: &[f32], near: f32) -> bool {
    let mut are_within = true;
    for lane in 0..LANES {
        are_within &= (out[lane] - before[lane]).abs() <= near;
    }
    are_within
}

/// Whether some numbers of a part are not 0.
#[inline(always)]
fn are_any(numbers: &[f32]) -> bool {
    numbers.iter().fold(0, |bits, number| bits | number.to_bits()) != 0
}

/// Along an axis: where stand-ins were, and how many lengths of the cell led to their bodies; how many do now; and the
/// inverse of that length and the length itself.
pub(super) type Images<'a> = ([&'a [f32]; 2], &'a mut [f32], [f64; 2]);

/// Puts whole parts of stand-ins in place along an axis. Where the cell is straight, each stays at the image of its body
/// at which it was, unless another may be nearer to where it was.
pub(super) struct FollowAlong<'a, T> {
    pub(super) column: Column<'a, T>,
    pub(super) first: usize,
    pub(super) origin: f64,
    pub(super) out: &'a mut [f32],
    pub(super) images: Option<Images<'a>>,
}

impl<T: Scalar> Work for FollowAlong<'_, T> {
    type Output = f32;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> f32 {
        let Self { column, first, origin, out, mut images } = self;
        let mut reach = 0.0_f32;
        // Bodies that are so near to where they were are nearer than any of their images.
        let near = images.as_ref().map_or(0.0, |(.., [inverse, _])| (SURELY_NEAR / inverse.abs()) as f32).min(f32::MAX);
        for begin in (0..out.len()).step_by(PART) {
            let mut room = [T::default(); PART];
            let at = read(&column, first + begin, &mut room);
            let out = &mut out[begin..][..PART];
            let of_part = images.as_mut().map(|(was, steps, lengths)| {
                (was.map(|column| &column[begin..][..PART]), &mut steps[begin..][..PART], *lengths)
            });
            // Whole parts are put in place before any is looked at: what has just been stored would be waited for.
            match &of_part {
                Some(([_, known], _, [_, length])) if are_any(known) => {
                    for lane in 0..PART {
                        out[lane] = ((at[lane].to_f64() - origin) - f64::from(known[lane]) * length) as f32;
                    }
                }
                _ => {
                    for lane in 0..PART {
                        out[lane] = (at[lane].to_f64() - origin) as f32;
                    }
                }
            }
            if let Some(([before, known], steps, [inverse, length])) = of_part {
                steps.copy_from_slice(known);
                for some in (0..PART).step_by(LANES) {
                    let (at, out) = (&at[some..][..LANES], &mut out[some..][..LANES]);
                    let (before, steps) = (&before[some..][..LANES], &mut steps[some..][..LANES]);
                    if are_within(out, before, near) {
                        continue;
                    }
                    for lane in 0..LANES {
                        let x = at[lane].to_f64() - origin;
                        let step = whole((x - place(before[lane])) * inverse);
                        (out[lane], steps[lane]) = ((x - step * length) as f32, step as f32);
                    }
                }
            }
            let far = reach_of(out, column.len().saturating_sub(first + begin).min(PART));
            reach = if reach >= far { reach } else { far };
        }
        reach
    }
}

/// As [`FollowAlong`], of one part, where the cell is not straight; `apart` is how far the bodies are from the origin.
pub(super) struct FollowInLattice<'a, const D: usize> {
    pub(super) cell: &'a UnitCell<D>,
    pub(super) apart: [[f64; PART]; D],
    pub(super) there: usize,
    pub(super) before: [&'a [f32]; D],
    pub(super) out: [&'a mut [f32]; D],
    pub(super) steps: [&'a mut [f32]; D],
}

impl<const D: usize> Work for FollowInLattice<'_, D> {
    type Output = f32;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> f32 {
        let Self { cell, apart, there, before, out, steps } = self;
        let (mut seen, mut reach) = (apart, 0.0_f32);
        for k in (0..D).filter(|&k| cell.space.repeats[k]) {
            let mut along = [0.0_f64; PART];
            for axis in 0..D {
                for lane in 0..PART {
                    along[lane] += (apart[axis][lane] - place(before[axis][lane])) * cell.duals[k][axis];
                }
            }
            for lane in 0..PART {
                along[lane] = whole(along[lane]);
                steps[k][lane] = along[lane] as f32;
            }
            for axis in 0..D {
                for lane in 0..PART {
                    seen[axis][lane] -= along[lane] * cell.space.vectors[k][axis];
                }
            }
        }
        for axis in 0..D {
            for lane in 0..PART {
                out[axis][lane] = seen[axis][lane] as f32;
            }
            let far = reach_of(out[axis], there);
            reach = if reach >= far { reach } else { far };
        }
        reach
    }
}

/// Moves whole parts of stand-ins back into the cell, and what is kept of their bodies as far.
pub(super) struct Settle<'a, const D: usize> {
    pub(super) cell: &'a UnitCell<D>,
    pub(super) centers: [&'a mut [f32]; D],
    pub(super) steps: [&'a mut [f32]; D],
    pub(super) kept: Option<[[&'a mut [f32]; D]; 2]>,
}

impl<const D: usize> Work for Settle<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { cell, centers, steps, mut kept } = self;
        for begin in (0..centers[0].len()).step_by(PART) {
            let mut shift = [[0.0_f64; PART]; D];
            for k in (0..D).filter(|&k| cell.space.repeats[k]) {
                let mut along = [0.0_f64; PART];
                for axis in 0..D {
                    for (slot, x) in along.iter_mut().zip(&centers[axis][begin..][..PART]) {
                        *slot += f64::from(*x) * cell.duals[k][axis];
                    }
                }
                for (along, step) in along.iter_mut().zip(&mut steps[k][begin..][..PART]) {
                    *along = whole(*along);
                    *step += *along as f32;
                }
                for axis in 0..D {
                    for (slot, along) in shift[axis].iter_mut().zip(along) {
                        *slot += along * cell.space.vectors[k][axis];
                    }
                }
            }
            for axis in 0..D {
                for (x, shift) in centers[axis][begin..][..PART].iter_mut().zip(shift[axis]) {
                    *x = (f64::from(*x) - shift) as f32;
                }
                for columns in kept.iter_mut().flatten() {
                    for (x, shift) in columns[axis][begin..][..PART].iter_mut().zip(shift[axis]) {
                        *x = (f64::from(*x) - shift) as f32;
                    }
                }
            }
        }
    }
}
