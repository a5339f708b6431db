//! Which bodies have images near others: the borders of bodies, and the images that come near them.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use jostle_core::axes::from_axes;
use jostle_core::isa::Work;
use jostle_core::{Column, Isa, Workers};
use jostle_sets::simd::LANES;

use crate::coherent::ghosts::classes::Classes;
use crate::coherent::reference::measure::read;
use crate::coherent::reference::{PART, block};

/// Multiplies how far bodies reach, for rounding.
const REACHING: f32 = 1.0 + 1.0 / 1024.0;

/// More than what is lost of sums of coordinates, relative to these.
const ROUNDING: f32 = 1.0 / 1_048_576.0;

/// The borders of nothing.
pub(in crate::coherent) const NOWHERE: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

/// Returns the borders around both on each axis.
pub(in crate::coherent) fn around<const D: usize>(one: [[f32; 2]; D], other: [[f32; 2]; D]) -> [[f32; 2]; D] {
    from_axes(|axis| [one[axis][0].min(other[axis][0]), one[axis][1].max(other[axis][1])])
}

/// Returns the least and the greatest number of each column.
pub(in crate::coherent) fn borders_of<const D: usize>(
    columns: &[Column<'_, f32>; D],
    (isa, workers): (Isa, Workers<'_>),
) -> [[f32; 2]; D] {
    let (all, len) = (Mutex::new([NOWHERE; D]), columns[0].len());
    let block = block(len, workers);
    workers.run("borders", len.div_ceil(block), |task| {
        let range = task * block..((task + 1) * block).min(len);
        let of_task = isa.run(Borders { columns, range });
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = around(*all, of_task);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Borders<'a, const D: usize> {
    columns: &'a [Column<'a, f32>; D],
    range: Range<usize>,
}

impl<const D: usize> Work for Borders<'_, D> {
    type Output = [[f32; 2]; D];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> [[f32; 2]; D] {
        let Self { columns, range } = self;
        let mut borders = [NOWHERE; D];
        for first in range.clone().step_by(PART) {
            let count = PART.min(range.end - first);
            for axis in 0..D {
                let mut room = [0.0; PART];
                let part = read(&columns[axis], first, &mut room);
                let [mut lo, mut hi] = [[part[0]; LANES]; 2];
                for some in part[..count].as_chunks::<LANES>().0 {
                    for lane in 0..LANES {
                        lo[lane] = if some[lane] < lo[lane] { some[lane] } else { lo[lane] };
                        hi[lane] = if some[lane] > hi[lane] { some[lane] } else { hi[lane] };
                    }
                }
                for &x in part[..count].as_chunks::<LANES>().1 {
                    (lo[0], hi[0]) = (lo[0].min(x), hi[0].max(x));
                }
                let of_part =
                    [lo.into_iter().fold(f32::INFINITY, f32::min), hi.into_iter().fold(f32::NEG_INFINITY, f32::max)];
                borders[axis] = [borders[axis][0].min(of_part[0]), borders[axis][1].max(of_part[1])];
            }
        }
        borders
    }
}

/// Sets, for each body, a bit for each shift that brings it near others, which are within borders. At the first shifts
/// these are bodies of its own class and of lower ones, at the others those of lower ones.
pub(super) struct Mark<'a, const D: usize> {
    pub(super) centers: &'a [Column<'a, f32>; D],
    pub(super) radii: Column<'a, f32>,
    pub(super) first: usize,
    pub(super) borders: [[f32; 2]; D],
    pub(super) classes: Classes,
    /// Added to how far two bodies reach.
    pub(super) error: f32,
    pub(super) shifts: [&'a [[f32; D]]; 2],
    pub(super) marks: &'a mut [u32],
}

impl<const D: usize> Work for Mark<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { centers, radii, first, borders, classes, error, shifts, marks } = self;
        // Amply, since sums are rounded.
        let mut wide = borders;
        for [lo, hi] in &mut wide {
            let more = lo.abs().max(hi.abs()) * ROUNDING;
            (*lo, *hi) = (*lo - more, *hi + more);
        }
        for (first, marks) in (first..).step_by(PART).zip(marks.chunks_mut(PART)) {
            let (mut rooms, mut at, mut room) = ([[0.0; PART]; D], [&[0.0; PART]; D], [0.0; PART]);
            for (axis, room) in rooms.iter_mut().enumerate() {
                at[axis] = read(&centers[axis], first, room);
            }
            let radii = read(&radii, first, &mut room);
            let mut reach = [[0.0; PART]; 2];
            for lane in 0..PART {
                let [equals, lower] = classes.others(radii[lane]);
                reach[0][lane] = (radii[lane] + equals) * REACHING + error;
                reach[1][lane] = (radii[lane] + lower) * REACHING + error;
            }
            let (mut near, mut bit) = ([0_u32; PART], 1);
            for (reach, shifts) in reach.iter().zip(shifts) {
                for shift in shifts {
                    for lane in 0..PART {
                        let mut is_near = true;
                        for axis in 0..D {
                            let (x, [lo, hi]) = (at[axis][lane] + shift[axis], wide[axis]);
                            is_near &= (x >= lo - reach[lane]) & (x <= hi + reach[lane]);
                        }
                        near[lane] |= if is_near { bit } else { 0 };
                    }
                    bit <<= 1;
                }
            }
            marks.copy_from_slice(&near[..marks.len()]);
        }
    }
}
