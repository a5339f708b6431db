//! The cells: in which one a body lies, and in which ones it may touch other bodies.

use core::array::from_fn;
use core::ops::Range;

use super::extent::{Extent, max, min};

/// About so many bodies lie in a band of cells. The bodies and their counters then stay in the second-level cache.
const BAND: usize = 8192;

/// Most bands, so that a pass over all bodies writes to few places at once.
const MOST_BANDS: usize = 256;

/// Cells for each body, at most, which bounds the memory where bodies are sparse. More cells separate clusters better,
/// and take longer to clear.
const CELLS_A_BODY: usize = 8;

/// Cells are this much wider than the largest diameter, for what the predicate may be wrong by.
const SLACK: f32 = 1.0 + 1.0 / 1_048_576.0;

/// Cells are wider by this part of their width for each cell on an axis, since the place of a cell is computed in
/// `f32`.
const SLACK_A_CELL: f32 = 1.0 / 2_097_152.0;

/// Below 2^-73 differences square to zero and count as hits.
const ABSOLUTE_SLACK: f32 = f32::from_bits((127 - 73) << 23);

/// The square or cubic cells over an extent, numbered row by row along the first axis. An empty cell ends each row, and
/// an empty row each layer. So the neighbours of a cell are at fixed distances from it; beyond the border they are
/// empty cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells<const D: usize> {
    lo: [f32; D],
    /// The largest radius.
    radius: f32,
    scale: f32,
    /// The last cell of each axis.
    last: [f32; D],
    /// Distance of neighbours along each axis.
    pub(super) strides: [usize; D],
    /// Number of the first cell. Before it stand as many empty cells as the strides add up to.
    pub(super) first: usize,
    /// Number of cells, empty ones included.
    pub(super) all: usize,
    /// A band has 2 to this power cells.
    pub(super) band_shift: u32,
}

impl<const D: usize> Cells<D> {
    pub(super) const NONE: Self = Self {
        lo: [0.0; D],
        radius: 0.0,
        scale: 1.0,
        last: [0.0; D],
        strides: [1; D],
        first: 0,
        all: 0,
        band_shift: 0,
    };

    pub(super) fn over(extent: &Extent<D>, n: usize) -> Self {
        let sides: [f64; D] = from_fn(|axis| (f64::from(extent.hi[axis]) - f64::from(extent.lo[axis])).max(0.0));
        let narrowest = f64::from(2.0 * extent.radius * SLACK + ABSOLUTE_SLACK);
        let most = (n * CELLS_A_BODY).max(64) as f64;
        let mut side = narrowest;
        let counts = loop {
            let counts = sides.map(|s| (s / side).floor() + 1.0);
            let longest = counts.into_iter().fold(1.0, f64::max);
            let excess = counts.iter().product::<f64>() / most;
            let narrowest = narrowest * (1.0 + longest * f64::from(SLACK_A_CELL));
            if excess <= 1.0 && side >= narrowest {
                break counts;
            }
            side = narrowest.min(side * 1e3).max(side * excess.powf(1.0 / D as f64)).max(side * 1.01);
        };
        let mut strides = [1; D];
        for axis in 1..D {
            strides[axis] = strides[axis - 1] * (counts[axis - 1] as usize + 1);
        }
        let around = strides.iter().sum::<usize>();
        let cells = strides[D - 1] * counts[D - 1] as usize;
        let all = cells + 2 * around + 2;
        let bands = (n / BAND).clamp(1, MOST_BANDS);
        let band_shift = all.div_ceil(bands).next_power_of_two().ilog2();
        let (lo, radius) = (extent.lo, extent.radius);
        Self {
            lo,
            radius,
            scale: (1.0 / side) as f32,
            last: counts.map(|c| (c - 1.0) as f32),
            strides,
            first: around,
            all,
            band_shift,
        }
    }

    /// Returns the cells on each axis in which a body of such a radius may touch bodies; `None` if it touches none.
    #[inline(always)]
    pub(super) fn within(&self, center: [f32; D], radius: f32) -> Option<[Range<usize>; D]> {
        let reach = ((radius + self.radius) * SLACK + ABSOLUTE_SLACK) * self.scale;
        let mut ranges = [const { 0..0 }; D];
        for axis in 0..D {
            let at = (center[axis] - self.lo[axis]) * self.scale;
            let reach = reach + (self.last[axis] + at.abs()) * SLACK_A_CELL;
            let (low, high) = (at - reach, at + reach);
            if high < 0.0 || low >= self.last[axis] + 1.0 {
                return None;
            }
            ranges[axis] = max(low, 0.0) as usize..min(high, self.last[axis]) as usize + 1;
        }
        Some(ranges)
    }

    pub(super) fn bands(&self) -> usize {
        self.all.div_ceil(1 << self.band_shift)
    }

    /// Returns the cell of a point; for a point outside, a cell of the border.
    #[inline(always)]
    #[allow(unsafe_code, reason = "a conversion that the compiler can vectorise")]
    pub(super) fn of(&self, center: [f32; D]) -> u32 {
        let mut cell = self.first as u32;
        for (axis, x) in center.into_iter().enumerate() {
            let at = (x - self.lo[axis]) * self.scale;
            let at = min(max(at, 0.0), self.last[axis]);
            // SAFETY: the number is at least 0, and at most the last cell, of which there are fewer than 2^31.
            let at = unsafe { at.to_int_unchecked::<i32>() };
            cell += at as u32 * self.strides[axis] as u32;
        }
        cell
    }
}
