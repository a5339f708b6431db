//! From boxes to cells: the world cut into 2^depth unit cells on each axis.

use jostle_core::Aabb;
use jostle_core::morton::encode;

use super::index::CellIndex;

/// A box of unit cells: on each axis the cells from `lo` to `hi`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span<const D: usize> {
    lo: [u16; D],
    hi: [u16; D],
}

impl<const D: usize> Span<D> {
    /// Whether two boxes share a unit cell.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        (0..D).all(|axis| self.lo[axis] <= other.hi[axis] && other.lo[axis] <= self.hi[axis])
    }

    /// Returns the levels between the unit cells and the smallest cell that holds the box: the number of bits, from the
    /// lowest to the highest in which the corners differ. It needs no descent.
    #[inline]
    fn levels_up(&self) -> u32 {
        let differ = (0..D).fold(0, |bits, axis| bits | (self.lo[axis] ^ self.hi[axis]));
        u16::BITS - differ.leading_zeros()
    }

    /// Returns child `k` of a box that is a cell: half of the box on each axis.
    fn child(mut self, k: u32) -> Self {
        for axis in 0..D {
            let middle = self.lo[axis] + (self.hi[axis] - self.lo[axis]) / 2;
            if k >> axis & 1 == 0 {
                self.hi[axis] = middle;
            } else {
                self.lo[axis] = middle + 1;
            }
        }
        self
    }
}

/// A cell with the unit cells that it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node<const D: usize> {
    pub(super) index: CellIndex<D>,
    pub(super) region: Span<D>,
}

impl<const D: usize> Node<D> {
    #[inline]
    pub(super) fn child(&self, k: u32) -> Self {
        Self { index: self.index.child(k), region: self.region.child(k) }
    }
}

/// Maps coordinates to unit cells. The map is monotone on each axis, and points outside the world count as on its
/// border. So boxes that share a point share a unit cell, wherever they are.
#[derive(Debug, Clone)]
pub(super) struct UnitCells<const D: usize> {
    lo: [f32; D],
    /// Unit cells a unit of length.
    scale: [f32; D],
    depth: u32,
}

impl<const D: usize> UnitCells<D> {
    /// `world` has a finite size above zero; `depth` is at most 15.
    pub(super) fn new(world: &Aabb<D>, depth: u32) -> Self {
        let cells = (1_u32 << depth) as f32;
        let scale = core::array::from_fn(|axis| cells / (world.hi[axis] - world.lo[axis]));
        Self { lo: world.lo, scale, depth }
    }

    /// The largest coordinate of a unit cell.
    fn last(&self) -> u16 {
        (1_u16 << self.depth) - 1
    }

    /// The whole world.
    pub(super) fn root(&self) -> Node<D> {
        Node { index: CellIndex::ROOT, region: Span { lo: [0; D], hi: [self.last(); D] } }
    }

    /// A region as a box in the world.
    pub(super) fn aabb(&self, region: &Span<D>) -> Aabb<D> {
        let border = |axis: usize, cell: u32| self.lo[axis] + cell as f32 / self.scale[axis];
        Aabb {
            lo: core::array::from_fn(|axis| border(axis, region.lo[axis].into())),
            hi: core::array::from_fn(|axis| border(axis, u32::from(region.hi[axis]) + 1)),
        }
    }

    /// Returns the unit cells that a box reaches. `as` saturates, and turns NaN into 0: at the lower border of a world
    /// too small for a finite scale, 0 * infinity is NaN.
    #[inline]
    pub(super) fn span(&self, aabb: &Aabb<D>) -> Span<D> {
        let last = self.last();
        let unit = |x: f32, axis: usize| (((x - self.lo[axis]) * self.scale[axis]) as u16).min(last);
        Span {
            lo: core::array::from_fn(|axis| unit(aabb.lo[axis], axis)),
            hi: core::array::from_fn(|axis| unit(aabb.hi[axis], axis)),
        }
    }

    /// The smallest cell that holds all of a box.
    #[inline]
    pub(super) fn smallest_cell(&self, span: &Span<D>) -> CellIndex<D> {
        let up = span.levels_up();
        CellIndex::new(self.depth - up, (encode(span.lo.map(u32::from)) >> (D as u32 * up)) as u32)
    }

    /// As [`UnitCells::smallest_cell`], with its unit cells.
    pub(super) fn smallest_node(&self, span: &Span<D>) -> Node<D> {
        let below = ((1_u32 << span.levels_up()) - 1) as u16;
        let region = Span { lo: span.lo.map(|x| x & !below), hi: span.lo.map(|x| x | below) };
        Node { index: self.smallest_cell(span), region }
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, UnitCells};
    use crate::cell_tree::index::CellIndex;
    use jostle_core::Aabb;
    use jostle_core::morton::{Cell, encode};
    use proptest::prelude::*;

    fn ordered<const D: usize>(a: [u16; D], b: [u16; D]) -> Span<D> {
        Span { lo: core::array::from_fn(|i| a[i].min(b[i])), hi: core::array::from_fn(|i| a[i].max(b[i])) }
    }

    fn unit_world<const D: usize>(depth: u32) -> UnitCells<D> {
        UnitCells::new(&Aabb { lo: [0.0; D], hi: [1.0; D] }, depth)
    }

    /// The cell of the core that holds both corners, at most at the level of the unit cells.
    fn of_the_core<const D: usize>(span: &Span<D>, depth: u32) -> Option<u64> {
        let below = D as u32 * (Cell::<D>::MAX_LEVEL - depth);
        // Shifted in two steps, since a shift by all 64 bits at once is too far.
        let code = |corner: [u16; D]| (encode(corner.map(u32::from)) << (below / 2)) << (below - below / 2);
        let cell = Cell::<D>::smallest_holding(code(span.lo), code(span.hi));
        let cell = if cell.level() > depth { Cell::of_code(code(span.lo), depth)? } else { cell };
        cell.linear_index()
    }

    proptest! {
        #[test]
        fn the_smallest_cell_is_that_of_the_core(a: [u16; 2], b: [u16; 2], depth in 0_u32..=15) {
            let span = ordered(a.map(|x| x & ((1 << depth) - 1)), b.map(|x| x & ((1 << depth) - 1)));
            let index = unit_world(depth).smallest_cell(&span);
            prop_assert_eq!(Some(index.position() as u64), of_the_core(&span, depth));
        }

        #[test]
        fn in_space_too(a: [u16; 3], b: [u16; 3], depth in 0_u32..=10) {
            let span = ordered(a.map(|x| x & ((1 << depth) - 1)), b.map(|x| x & ((1 << depth) - 1)));
            let index = unit_world(depth).smallest_cell(&span);
            prop_assert_eq!(Some(index.position() as u64), of_the_core(&span, depth));
        }

        #[test]
        fn a_way_down_ends_at_the_smallest_node(a: [u16; 3], b: [u16; 3]) {
            let cells = unit_world::<3>(10);
            let span = ordered(a.map(|x| x & 1023), b.map(|x| x & 1023));
            let node = cells.smallest_node(&span);
            let path: Vec<_> = core::iter::successors(node.index.up(), |(parent, _)| parent.up()).collect();
            let down = path.iter().rev().fold(cells.root(), |node, &(_, k)| node.child(k));
            prop_assert_eq!(down, node);
            prop_assert!(node.region.meets(&span));
        }
    }

    #[test]
    fn what_lies_outside_counts_as_the_border() {
        let cells = unit_world::<2>(15);
        let far = cells.span(&Aabb { lo: [-1e18, 0.5], hi: [1e18, 1e30] });
        assert_eq!(far, Span { lo: [0, 1 << 14], hi: [(1 << 15) - 1; 2] });
        assert_eq!(cells.smallest_cell(&far), CellIndex::ROOT);
        let corner = cells.span(&Aabb { lo: [1e18; 2], hi: [2e18; 2] });
        assert_eq!(cells.smallest_cell(&corner), CellIndex::new(15, (1 << 30) - 1));
    }

    #[test]
    fn a_world_of_no_width_to_speak_of_is_still_a_world() {
        let tiny = f32::from_bits(1);
        let cells = UnitCells::new(&Aabb { lo: [0.0; 2], hi: [tiny; 2] }, 4);
        assert_eq!(cells.span(&Aabb { lo: [-1.0, 0.0], hi: [0.0, tiny] }), Span { lo: [0, 0], hi: [0, 15] });
    }
}
