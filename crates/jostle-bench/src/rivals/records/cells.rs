//! The cells of a grid of records: an array with one place a cell, or, in a sparse world, a hash by the same formula.

use core::array::from_fn;
use core::ops::Range;

use super::super::grid::Extent;

/// Rows after a cell's own row that hold neighbours of it, at most: one in the plane, four in space.
pub(super) const MOST_ROWS: usize = 4;

/// Cells exceed the largest diameter by this factor: the reach of the rounded predicate.
const SLACK: f64 = 1.0 + 1e-6;

/// Below 2^-73 differences square to zero and count as hits.
pub(super) const LEAST: f64 = 1.0 / (1_u128 << 73) as f64;

/// The most cells of an array: so many for each body, plus a constant that matters where bodies are few.
const CELLS_A_BODY: (f64, f64) = (4.0, 4096.0);

/// Maps a centre to its cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells<const D: usize> {
    lo: [f64; D],
    side: f64,
    inverse: f64,
    counts: [usize; D],
    /// Distance of neighbours on each axis.
    strides: [u32; D],
    first: u32,
    /// For a hash, the number of places less one, where places are a power of two. For an array, all ones.
    mask: u32,
    pub(super) all: usize,
}

impl<const D: usize> Cells<D> {
    pub(super) const NONE: Self = Self {
        lo: [0.0; D],
        side: 1.0,
        inverse: 1.0,
        counts: [0; D],
        strides: [1; D],
        first: 0,
        mask: u32::MAX,
        all: 0,
    };

    /// Makes cells no narrower than `side` over the box of the centres of `n` bodies.
    pub(super) fn over(extent: &Extent<D>, side: f64, n: usize) -> Self {
        let widths: [f64; D] = from_fn(|axis| (f64::from(extent.hi[axis]) - f64::from(extent.lo[axis])).max(0.0));
        let widest = widths.into_iter().fold(0.0, f64::max);
        // The number of a cell on an axis is computed in f64, and kept in 32 bits.
        let side = (side * SLACK + LEAST).max(widest / f64::from(1_u32 << 30));
        let counts = widths.map(|width| (width / side).floor() + 1.0);
        let mut cells = Self { lo: extent.lo.map(f64::from), side, inverse: 1.0 / side, ..Self::NONE };
        let padded = counts.map(|count| count + 2.0);
        if padded.iter().product::<f64>() <= CELLS_A_BODY.0 * n as f64 + CELLS_A_BODY.1 {
            // An empty cell on either side of a row, an empty row on either side of a layer, an empty layer at the end.
            let mut stride = 1.0;
            for axis in 0..D {
                cells.strides[axis] = stride as u32;
                cells.first += stride as u32;
                stride *= padded[axis];
            }
            cells.counts = counts.map(|count| count as usize);
            cells.all = stride as usize + 1;
        } else {
            cells.all = (2 * n).next_power_of_two().max(1024);
            cells.mask = cells.all as u32 - 1;
            cells.strides = strides(cells.mask);
        }
        cells
    }

    #[inline(always)]
    pub(super) fn of(&self, center: &[f32; D]) -> u32 {
        let mut cell = self.first;
        for axis in 0..D {
            let at = ((f64::from(center[axis]) - self.lo[axis]) * self.inverse) as u32;
            cell = cell.wrapping_add(self.strides[axis].wrapping_mul(at));
        }
        cell & self.mask
    }

    /// Returns the place of a cell in the table.
    #[inline(always)]
    pub(super) fn wrapped(&self, cell: u32) -> usize {
        (cell & self.mask) as usize
    }

    /// Returns the middle cells of the rows of three that follow a cell's own row.
    #[inline(always)]
    pub(super) fn rows_after<'a>(&self, cell: u32, rows: &'a mut [u32; MOST_ROWS]) -> &'a [u32] {
        let s = self.strides;
        let above = cell.wrapping_add(s[1]);
        if D == 2 {
            rows[0] = above & self.mask;
            return &rows[..1];
        }
        let layer = cell.wrapping_add(s[D - 1]);
        *rows = [above, layer.wrapping_sub(s[1]), layer, layer.wrapping_add(s[1])].map(|row| row & self.mask);
        &rows[..]
    }

    /// Whether the runs around these cells lie within the table.
    #[inline(always)]
    pub(super) fn is_whole(&self, own: u32, rows: &[u32]) -> bool {
        own < self.mask && rows.iter().all(|&row| 0 < row && row < self.mask)
    }

    /// Visits the rows of an array, each a range of cells, whose bodies may touch a body of another size. No body of
    /// the array is wider than a cell.
    pub(super) fn each_row_near(&self, center: &[f32; D], radius: f32, mut visit: impl FnMut(Range<usize>)) {
        let reach = f64::from(radius) * SLACK + self.side / 2.0;
        let mut ranges = [(0, 0); D];
        for axis in 0..D {
            let at = f64::from(center[axis]) - self.lo[axis];
            let number = |at: f64| ((at * self.inverse) as usize).min(self.counts[axis] - 1);
            ranges[axis] = (number(at - reach), number(at + reach));
        }
        let outer = if D == 3 { ranges[D - 1] } else { (0, 0) };
        for layer in outer.0..=outer.1 {
            for row in ranges[1].0..=ranges[1].1 {
                let mut first = self.first as usize + row * self.strides[1] as usize;
                if D == 3 {
                    first += layer * self.strides[D - 1] as usize;
                }
                visit(first + ranges[0].0..first + ranges[0].1 + 1);
            }
        }
    }
}

/// Returns strides near the golden section by which no two neighbouring cells share a place. So no pair comes twice.
fn strides<const D: usize>(mask: u32) -> [u32; D] {
    let places = f64::from(mask) + 1.0;
    let mut strides = [1; D];
    for (axis, ratio) in (1..D).zip([0.618_033_988_75, 0.236_067_977_5]) {
        strides[axis] = (places * ratio) as u32 | 1;
    }
    while !apart(&strides, mask) {
        strides[D - 1] = strides[D - 1].wrapping_add(2);
    }
    strides
}

/// Returns whether cells at most two apart on each axis have places of their own.
fn apart<const D: usize>(strides: &[u32; D], mask: u32) -> bool {
    let steps = || -2_i32..=2;
    let place = |step: [i32; 3]| {
        let part = |(stride, step): (&u32, i32)| stride.wrapping_mul(step as u32);
        strides.iter().zip(step).map(part).fold(0, u32::wrapping_add) & mask
    };
    let all = steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| [x, y, z])));
    all.filter(|step| *step != [0; 3] && (D == 3 || step[2] == 0)).all(|step| place(step) != 0)
}

#[cfg(test)]
mod tests {
    use super::{apart, strides};

    #[test]
    fn neighbours_have_places_of_their_own() {
        for bits in 10..32 {
            let mask = u32::MAX >> (32 - bits);
            assert!(apart(&strides::<2>(mask), mask) && apart(&strides::<3>(mask), mask), "{bits}");
        }
    }
}
