//! The order within a segment: strips over its own box, up one and down the next.
//!
//! Leaves are cut from this order sixteen bodies at a time, so a strip is as wide as a leaf of sixteen is high: leaves
//! are nearly square, full, and lie side by side. Leaves that are cut along a curve begin anywhere in it, and their
//! boxes overlap more other boxes, by more (see docs/measurements/search.md). The tiles are those of S. Leutenegger, M.
//! Lopez and J. Edgington, "STR: a simple and efficient algorithm for R-tree packing" (1997).

use super::LEAF;
use crate::aabb::Aabb;
use crate::axes::{Axes, from_axes};
use crate::morton::{COINCIDENT, clamp, truncate};
use crate::radix::CellPass;

/// Cells in the order of strips. Each strip is cut into slabs across. A number of successive slabs of all strips make a
/// band, and the order passes through one band before the next, so that sixteen successive leaves lie together as well.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strips<const D: usize> {
    /// The order of axes in all fields that follow: strips run along the last one, which is the longest in 3D.
    pub(super) axes: [usize; D],
    lo: [f32; D],
    /// Cells for each unit of length.
    scale: [f32; D],
    /// The last cell on each axis.
    last: [f32; D],
    /// Strips on each axis but the last one.
    counts: [u32; 2],
    /// Bits of the number of a slab within its band.
    slab_bits: u32,
    /// Bits of a key.
    pub(super) key_bits: u32,
}

/// The height of a band, in leaves, so that a node of the next level, sixteen leaves, is about square as well.
const BAND: u32 = 3;

impl<const D: usize> Strips<D> {
    /// Returns strips over a box in which `bodies` bodies lie about evenly; `None` where the box is a point.
    pub(super) fn over(bounds: &Aabb<D>, bodies: usize) -> Option<Self> {
        if bounds.widest() < COINCIDENT {
            return None;
        }
        let axes = axes(bounds);
        let widths = axes.axes(|axis| width(bounds, axis));
        let key_bits = Self::key_bits(bodies);
        let cells = 1_u32 << key_bits;
        let leaves = bodies as f64 / LEAF as f64;
        let mut counts = [1; 2];
        let along = widths[D - 1];
        if D == 3 {
            let (mut cube, side) = (1.0, leaves * widths[1] * widths[1] / (widths[0] * along));
            while (cube + 0.5) * (cube + 0.5) * (cube + 0.5) <= side && cube < leaves {
                cube += 1.0;
            }
            counts[1] = cube as u32;
        }
        counts[0] = nearest((leaves / f64::from(counts[1]) * widths[0] / along).sqrt(), cells / counts[1]);
        let slabs = cells / (counts[0] * counts[1]);
        // With so few strips side by side, all slabs are one band.
        let one_band = counts[0] * counts[1] <= BAND + 1;
        let band = if one_band { slabs } else { (BAND * LEAF as u32 * cells / bodies as u32).min(slabs) };
        let slab_bits = band.ilog2();
        let slabs = slabs >> slab_bits << slab_bits;
        let lo = axes.axes(|axis| bounds.lo[axis]);
        let mut strips = Self { axes, lo, scale: [0.0; D], last: [0.0; D], counts, slab_bits, key_bits };
        for k in 0..D {
            let count = if k == D - 1 { slabs } else { counts[k] };
            strips.scale[k] = if widths[k] > 0.0 { (f64::from(count) / widths[k]) as f32 } else { 0.0 };
            strips.last[k] = (count - 1) as f32;
        }
        Some(strips)
    }

    /// Returns the bits of a key for `bodies` bodies.
    pub(super) fn key_bits(bodies: usize) -> u32 {
        (usize::BITS - bodies.saturating_sub(1).leading_zeros()).max(MIN_KEY_BITS)
    }

    /// Fills `slots` with those of the keys of these points ([`CellPass::slot`]): the numbers of the cells that hold
    /// them. The axes of the points are in the order of `axes`.
    #[inline(always)]
    pub(super) fn slots(&self, points: impl Iterator<Item = [f32; D]>, slots: &mut [u16]) {
        let Self { lo, scale, last, counts, slab_bits, key_bits, .. } = *self;
        let slab_mask = (1_u32 << slab_bits) - 1;
        for (slot, point) in slots.iter_mut().zip(points) {
            let cell = |k: usize| truncate(clamp((point[k] - lo[k]) * scale[k], last[k]));
            let along = cell(D - 1);
            let (band, slab) = (along >> slab_bits, along & slab_mask);
            // Odd bands and strips are passed the other way round, so that the next strip begins where the last one
            // ends.
            let turned = |odd: u32, at: u32, last: u32| if odd & 1 == 1 { last - at } else { at };
            let mut strip = turned(band, cell(0), counts[0] - 1) + band * counts[0];
            if D == 3 {
                strip = turned(strip, cell(1), counts[1] - 1) + strip * counts[1];
            }
            *slot = CellPass::slot(strip << slab_bits | turned(strip, slab, slab_mask), key_bits);
        }
    }
}

/// Returns the middle axis, the shortest and the longest one, in this order: where all bodies lie in a plane, leaves
/// are squares of it. In 2D any order will do.
fn axes<const D: usize>(bounds: &Aabb<D>) -> [usize; D] {
    let mut axes: [usize; D] = from_axes(|axis| axis);
    if D == 3 {
        let mut shorter_first = |a: usize, b: usize| {
            if width(bounds, axes[a]) > width(bounds, axes[b]) {
                axes.swap(a, b);
            }
        };
        shorter_first(0, 2);
        shorter_first(1, 2);
        shorter_first(1, 0);
    }
    axes
}

fn width<const D: usize>(bounds: &Aabb<D>, axis: usize) -> f64 {
    f64::from(bounds.hi[axis]) - f64::from(bounds.lo[axis])
}

/// Returns the nearest whole number from 1 to `most`.
fn nearest(value: f64, most: u32) -> u32 {
    ((value + 0.5) as u32).clamp(1, most.max(1))
}

/// The fewest bits of a key: fewer cells than 2^6 are not worth telling apart.
const MIN_KEY_BITS: u32 = 6;
const _: () = assert!(MIN_KEY_BITS >= CellPass::MIN_BITS);

#[cfg(test)]
mod tests {
    use super::{CellPass, Strips};
    use crate::aabb::Aabb;

    /// The cells in order, each once, by their numbers on each axis.
    fn cells<const D: usize>(widths: [f32; D], bodies: usize) -> Vec<[usize; D]> {
        let strips = Strips::over(&Aabb { lo: [0.0; D], hi: widths }, bodies).expect("a box");
        let counts = strips.last.map(|last| last as usize + 1);
        let all = (0..counts.iter().product()).map(|number: usize| {
            let mut rest = number;
            counts.map(|count| (rest % count, rest /= count).0)
        });
        let all: Vec<[usize; D]> = all.collect();
        let point = |cell: &[usize; D]| core::array::from_fn(|k| (cell[k] as f32 + 0.5) / strips.scale[k]);
        let mut slots = vec![0; all.len()];
        strips.slots(all.iter().map(point), &mut slots);
        let mut cells = vec![None; 1 << strips.key_bits];
        for (cell, &slot) in all.iter().zip(&slots) {
            assert_eq!(cells[usize::from(slot)].replace(*cell), None, "two cells are of slot {slot}");
        }
        let order = (0..1 << strips.key_bits).map(|key| cells[usize::from(CellPass::slot(key, strips.key_bits))]);
        order.flatten().collect()
    }

    #[test]
    fn each_cell_is_beside_the_one_before() {
        let beside = |a: &[usize], b: &[usize]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).sum::<usize>() == 1;
        for (widths, bodies) in [([1.0, 1.0], 1_000), ([5.0, 1.0], 700), ([1.0, 9.0], 2_000), ([3.0, 1.0], 17)] {
            let cells = cells(widths, bodies);
            assert!((bodies / 2..=4 * bodies.max(16)).contains(&cells.len()), "{} cells", cells.len());
            let apart = cells.windows(2).filter(|pair| !beside(&pair[0], &pair[1])).count();
            assert!(apart <= 4, "{widths:?}: {apart} of {} are apart", cells.len());
        }
        let cells = cells([1.0, 2.0, 1.5], 1_200);
        let apart = cells.windows(2).filter(|pair| !beside(&pair[0], &pair[1])).count();
        assert!(apart <= cells.len() / 100, "{apart} of {} are apart", cells.len());
    }

    #[test]
    fn flat_boxes_have_cells_for_all() {
        for widths in [[1.0, 0.0], [0.0, 1.0], [1e18, 1e-20]] {
            assert!(cells(widths, 1_000).len() > 500);
        }
        for widths in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]] {
            assert!(cells(widths, 1_000).len() > 500);
        }
        assert!(Strips::over(&Aabb { lo: [3.0; 2], hi: [3.0; 2] }, 99).is_none());
    }
}
