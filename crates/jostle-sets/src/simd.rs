//! Sixteen floats at a time: the contract of the kernels, and its bodies for each instruction set.
//!
//! A body computes lane by lane what IEEE 754 says, multiply and add apart, so all bodies give the same bits. The type
//! of a body is private to the module whose functions have its instructions enabled, so code that is generic over
//! [`Lanes`] is reached by [`run`] alone.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod counted;
mod dispatch;
pub mod merged;
mod portable;
#[cfg(test)]
mod suite;

pub use dispatch::{outlined, run};
pub use portable::Portable;

/// Number of lanes, which is also the number of ranks in a leaf and of children of a node.
pub const LANES: usize = jostle_core::tree::LEAF;

/// Ids of a row that is kept and sorted side by side with other rows, at most.
pub const ROW: usize = 4 * LANES;

/// Work on sixteen lanes at a time.
pub trait LaneWork {
    /// The result.
    type Output;

    /// As [`Work::GAINS_BY_AVX512`](jostle_core::isa::Work::GAINS_BY_AVX512).
    const GAINS_BY_AVX512: bool = true;

    /// Does the work. Mark it `#[inline(always)]`, and all that it calls with `L`, unless by [`Lanes::call`]: a
    /// function of its own, or a closure, would be compiled for what the target always has.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// A vector of [`LANES`] floats. Bit i of a mask stands for lane i.
pub trait Lanes: Copy {
    /// Whether [`Lanes::keep_any`] keeps sixteen rows in less time than one after the other, as they come.
    const KEEPS_SIXTEEN: bool = true;
    /// The result of a comparison. Its bits are taken once for several comparisons: where that takes instructions, it
    /// costs more than a comparison.
    type Mask: Copy;
    /// Runs a piece of work in a function of its own that has the instructions enabled. No vector goes in or out.
    fn call<W: LaneWork>(work: W) -> W::Output;
    /// The values in order.
    fn load(values: &[f32; LANES]) -> Self;
    /// Writes the values in order.
    fn store(self, values: &mut [f32; LANES]);
    /// The same value in each lane.
    fn splat(value: f32) -> Self;
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// The lesser of both. Unspecified where either is NaN; of two zeros, either.
    fn min(self, other: Self) -> Self;
    /// The greater of both. Unspecified where either is NaN; of two zeros, either.
    fn max(self, other: Self) -> Self;
    /// Every value one lane down, the first value to the last lane.
    fn rotate(self) -> Self;
    /// Rows of `a` less rows of `b`, but the sums of their last floats, column by column.
    #[inline(always)]
    fn apart(of_a: [&[f32; 4]; LANES], of_b: [&[f32; 4]; LANES]) -> [Self; 4] {
        let mut columns = [[0.0; LANES]; 4];
        for lane in 0..LANES {
            let (a, b) = (of_a[lane], of_b[lane]);
            for axis in 0..3 {
                columns[axis][lane] = a[axis] - b[axis];
            }
            columns[3][lane] = a[3] + b[3];
        }
        let [x, y, z, last] = &columns;
        [Self::load(x), Self::load(y), Self::load(z), Self::load(last)]
    }
    /// As [`Lanes::apart`], for the first rows of pairs of rows, and for the second rows.
    #[inline(always)]
    fn apart_both(of_a: [&[[f32; 4]; 2]; LANES], of_b: [&[[f32; 4]; 2]; LANES]) -> [[Self; 4]; 2] {
        let mut rows = [[[&[0.0; 4]; LANES]; 2]; 2];
        for lane in 0..LANES {
            for half in 0..2 {
                (rows[half][0][lane], rows[half][1][lane]) = (&of_a[lane][half], &of_b[lane][half]);
            }
        }
        let [[first_a, first_b], [second_a, second_b]] = rows;
        [Self::apart(first_a, first_b), Self::apart(second_a, second_b)]
    }
    /// Where `self <= other`; never where either is NaN.
    fn le_mask(self, other: Self) -> Self::Mask;
    /// Where both are set.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// A mask as bits.
    fn bits(mask: Self::Mask) -> u16;
    /// [`Lanes::le_mask`] as bits.
    #[inline(always)]
    fn le(self, other: Self) -> u16 {
        Self::bits(self.le_mask(other))
    }
    /// Writes `base + i` for each set bit i, ascending, to the front of `out`. The rest of `out` is unspecified.
    /// Returns the number of set bits.
    fn expand(mask: u16, base: u32, out: &mut [u32; LANES]) -> usize;
    /// Writes `[a, b[i]]`, the lesser first, for each set bit i, ascending, to the front of `out`. The rest of `out` is
    /// unspecified.
    fn pairs(a: u32, b: &[u32; LANES], mask: u16, out: &mut [[u32; 2]; LANES]);
    /// As [`Lanes::pairs`], but writes `[a, b[i]]` as they are, or `[b[i], a]` where `swapped`.
    fn pairs_across(a: u32, b: &[u32; LANES], swapped: bool, mask: u16, out: &mut [[u32; 2]; LANES]);
    /// As [`Lanes::pairs`], with `[a[i], a[(i + rotation) % 16]]`; `rotation` is at most 8.
    fn pairs_within(a: &[u32; LANES], rotation: usize, mask: u16, out: &mut [[u32; 2]; LANES]);
    /// Sorts the first `lens[i]` ids of row i, at most [`ROW`]. The ids that follow become unspecified.
    #[inline(always)]
    fn sort_rows<const N: usize>(rows: &mut [[u32; N]; LANES], lens: &[u32; LANES]) {
        for (row, &len) in rows.iter_mut().zip(lens) {
            counted::sort_row(&mut row[..ROW], len as usize);
        }
    }
    /// Merges the first [`ROW`] ids of row i with the ids that follow, both ascending, `lens[i]` in all. Shorter rows
    /// become unspecified, and so do the ids after `lens[i]`.
    #[inline(always)]
    fn merge_rows(rows: &mut [[u32; 2 * ROW]; LANES], lens: &[u32; LANES]) {
        merged::merge_rows(rows, lens);
    }
    /// Writes the value of a row at each of sixteen places, modulo [`ROW`].
    #[inline(always)]
    fn pick(row: &[u32; ROW], places: &[u32; LANES], out: &mut [u32; LANES]) {
        for lane in 0..LANES {
            out[lane] = row[places[lane] as usize % ROW];
        }
    }
    /// Where an id is greater than `id`.
    #[inline(always)]
    fn greater_ids(ids: &[u32; LANES], id: u32) -> u16 {
        let mut mask = 0;
        for lane in 0..LANES {
            mask |= u16::from(ids[lane] > id) << lane;
        }
        mask
    }
    /// Where an id equals `id`.
    #[inline(always)]
    fn same_ids(ids: &[u32; LANES], id: u32) -> u16 {
        let mut mask = 0;
        for lane in 0..LANES {
            mask |= u16::from(ids[lane] == id) << lane;
        }
        mask
    }
    /// Writes the values of the lanes set in `mask`, in order, to the front of `out`. The rest of `out` is unspecified.
    fn compress(values: &[f32; LANES], mask: u16, out: &mut [f32; LANES]);
    /// As [`Lanes::compress`], for the values of `self`.
    #[inline(always)]
    fn compressed(self, mask: u16, out: &mut [f32; LANES]) {
        let mut values = [0.0; LANES];
        self.store(&mut values);
        Self::compress(&values, mask, out);
    }
    /// As [`Lanes::compress`], for ids.
    #[inline(always)]
    fn compress_ids(values: &[u32; LANES], mask: u16, out: &mut [u32; LANES]) {
        Self::compress(bytemuck::cast_ref(values), mask, bytemuck::cast_mut(out));
    }
    /// As [`Lanes::compress`], for pairs.
    #[inline(always)]
    fn compress_pairs(pairs: &[[u32; 2]; LANES], mask: u16, out: &mut [[u32; 2]; LANES]) {
        let mut len = 0;
        for lane in 0..LANES {
            out[len % LANES] = pairs[lane];
            len += usize::from(mask >> lane & 1);
        }
    }
    /// Where a value has any of these bits.
    #[inline(always)]
    fn with_any(values: &[u32; LANES], bits: u32) -> u16 {
        let mut mask = 0;
        for lane in 0..LANES {
            mask |= u16::from(values[lane] & bits != 0) << lane;
        }
        mask
    }
    /// Of the sixteen rows from number `from` on, moves the rows whose last value has any of `bits` to rows `to` and
    /// on, in order. The rest of the sixteen rows from `to` on is unspecified. Returns the number of rows moved. `to`
    /// is at most `from`.
    #[inline(always)]
    fn keep_any(columns: [&mut [u32]; 3], from: usize, to: usize, bits: u32) -> usize {
        let mask = Self::with_any(sixteen(columns[2], from), bits);
        for column in columns {
            let values = *sixteen(column, from);
            Self::compress_ids(&values, mask, sixteen_mut(column, to));
        }
        mask.count_ones() as usize
    }
}

/// The sixteen values from place `at` on.
#[inline(always)]
fn sixteen<T>(values: &[T], at: usize) -> &[T; LANES] {
    values[at..at + LANES].try_into().expect("a range of sixteen has sixteen values")
}

/// The sixteen places from `at` on.
#[inline(always)]
pub fn sixteen_mut<T>(values: &mut [T], at: usize) -> &mut [T; LANES] {
    (&mut values[at..at + LANES]).try_into().expect("a range of sixteen has sixteen values")
}
