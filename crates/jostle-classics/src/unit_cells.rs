//! A world cut into 2^depth x 2^depth unit cells, and the squares of them that the nodes of a quadtree stand for.
//!
//! Integers decide which leaves an element lies in. So the choice does not depend on how a border was rounded, and
//! elements outside the world lie in the cells of its border.

use jostle_core::Aabb;
use jostle_core::morton::encode2;

use crate::error::SetupError;

/// The greatest depth of a tree: coordinates of cells then have 16 bits, their Morton codes 32.
pub(crate) const DEEPEST: u32 = 16;

/// When a leaf of a quadtree is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A leaf with more elements than this is split; at least 1.
    pub max_elements: u32,
    /// Leaves at this depth are never split; the root has depth 0. At most 16.
    pub max_depth: u32,
}

impl Default for Limits {
    /// Leaves of at most 8 elements, down to depth 8.
    fn default() -> Self {
        Self { max_elements: 8, max_depth: 8 }
    }
}

/// Maps coordinates to unit cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnitCells {
    lo: [f32; 2],
    /// Cells a unit of length.
    scale: [f32; 2],
    depth: u32,
}

impl UnitCells {
    pub(crate) fn new(world: Aabb<2>, limits: Limits) -> Result<Self, SetupError> {
        if limits.max_depth > DEEPEST {
            return Err(SetupError::Depth { depth: limits.max_depth, most: DEEPEST });
        }
        if limits.max_elements == 0 {
            return Err(SetupError::EmptyLeaves);
        }
        SetupError::check_world(&world)?;
        let cells = (1_u32 << limits.max_depth) as f32;
        let scale = [0, 1].map(|axis| cells / (world.hi[axis] - world.lo[axis]));
        match scale.iter().position(|scale| !scale.is_finite()) {
            // A side of less than about 2^-120 has cells that no difference of coordinates tells apart.
            Some(axis) => Err(SetupError::World { axis: axis as u8, lo: world.lo[axis], hi: world.hi[axis] }),
            None => Ok(Self { lo: world.lo, scale, depth: limits.max_depth }),
        }
    }

    /// Returns the cell that a coordinate falls in: monotone, and clamped to the world.
    #[inline]
    fn coordinate(&self, axis: usize, x: f32) -> u32 {
        let last = (1_u32 << self.depth) - 1;
        (((x - self.lo[axis]) * self.scale[axis]) as u32).min(last)
    }

    #[inline]
    pub(crate) fn cell(&self, point: [f32; 2]) -> [u32; 2] {
        [self.coordinate(0, point[0]), self.coordinate(1, point[1])]
    }

    /// All cells that a box touches.
    #[inline]
    pub(crate) fn span(&self, aabb: &Aabb<2>) -> Span {
        Span { lo: self.cell(aabb.lo), hi: self.cell(aabb.hi) }
    }

    /// The square of all cells.
    pub(crate) fn root(&self) -> Square {
        Square { lo: [0, 0], size: 1 << self.depth }
    }

    /// Returns the depth of the nodes whose squares have this size.
    pub(crate) fn depth_of(&self, square: Square) -> u32 {
        self.depth - square.size.ilog2()
    }

    /// The square as a box in the world.
    pub(crate) fn aabb(&self, square: Square) -> Aabb<2> {
        let border = |axis: usize, cell: u32| self.lo[axis] + cell as f32 / self.scale[axis];
        let corner = |shift: u32| [border(0, square.lo[0] + shift), border(1, square.lo[1] + shift)];
        Aabb { lo: corner(0), hi: corner(square.size) }
    }

    /// Returns a box that holds every point, outside the world or not, whose cell is one of the square's.
    ///
    /// Where cell `i` begins, `(x - lo) * scale` has been rounded twice, by far less than the margin of 2^-20.
    pub(crate) fn catchment(&self, square: Square) -> Aabb<2> {
        const MARGIN: f64 = 1.0 / 1_048_576.0;
        let border = |axis: usize, cell: u32, factor: f64| {
            (f64::from(self.lo[axis]) + f64::from(cell) / f64::from(self.scale[axis]) * factor) as f32
        };
        let lo = |axis: usize| match square.lo[axis] {
            0 => f32::NEG_INFINITY,
            cell => border(axis, cell, 1.0 - MARGIN).next_down(),
        };
        let hi = |axis: usize| match square.lo[axis] + square.size {
            end if end == 1 << self.depth => f32::INFINITY,
            end => border(axis, end, 1.0 + MARGIN).next_up(),
        };
        Aabb { lo: [lo(0), lo(1)], hi: [hi(0), hi(1)] }
    }
}

/// The Morton code of a cell.
pub(crate) fn code([x, y]: [u32; 2]) -> u32 {
    encode2(x, y) as u32
}

/// The cells from `lo` to `hi`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lo: [u32; 2],
    pub(crate) hi: [u32; 2],
}

/// The cells of a node: `size` of them, a power of two, along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Square {
    lo: [u32; 2],
    size: u32,
}

impl Square {
    /// Returns whether the square is a single cell, which cannot be cut.
    #[inline]
    pub(crate) fn is_unit(self) -> bool {
        self.size == 1
    }

    /// Returns child `k` along the Morton curve.
    #[inline]
    pub(crate) fn child(self, k: usize) -> Self {
        let half = self.size / 2;
        Self { lo: [self.lo[0] + (k as u32 & 1) * half, self.lo[1] + (k as u32 >> 1) * half], size: half }
    }

    /// Returns the child that a cell of this square lies in.
    #[inline]
    pub(crate) fn child_with(self, cell: [u32; 2]) -> usize {
        let half = self.size / 2;
        usize::from(cell[0] - self.lo[0] >= half) | usize::from(cell[1] - self.lo[1] >= half) << 1
    }

    /// Returns the children that a span touches. The span must touch the square.
    #[inline]
    pub(crate) fn children_in(self, span: Span) -> impl Iterator<Item = usize> {
        let middle = |axis: usize| self.lo[axis] + self.size / 2;
        let part =
            |axis: usize| usize::from(span.lo[axis] >= middle(axis))..usize::from(span.hi[axis] >= middle(axis)) + 1;
        let columns = part(0);
        part(1).flat_map(move |row| columns.clone().map(move |column| column | row << 1))
    }

    #[inline]
    pub(crate) fn touches(self, span: Span) -> bool {
        let meets = |axis: usize| span.lo[axis] < self.lo[axis] + self.size && self.lo[axis] <= span.hi[axis];
        meets(0) && meets(1)
    }

    /// Returns whether all cells of the square are in the span.
    #[inline]
    pub(crate) fn lies_in(self, span: Span) -> bool {
        let within = |axis: usize| span.lo[axis] <= self.lo[axis] && self.lo[axis] + self.size - 1 <= span.hi[axis];
        within(0) && within(1)
    }

    #[inline]
    pub(crate) fn holds(self, cell: [u32; 2]) -> bool {
        self.touches(Span { lo: cell, hi: cell })
    }

    /// Returns the axes along which a span begins in this square: bit 0 for x, bit 1 for y. The span touches the
    /// square, and its lowest cell is `lowest`.
    ///
    /// Two spans that touch have a lowest shared cell. It lies in the square in which, axis by axis, at least one of
    /// the spans begins. So of all squares that both touch, exactly one has `begins(a) | begins(b) == 3`.
    #[inline]
    pub(crate) fn begins(self, lowest: [u32; 2]) -> usize {
        usize::from(lowest[0] >= self.lo[0]) | usize::from(lowest[1] >= self.lo[1]) << 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Span, Square, UnitCells};
    use crate::error::SetupError;
    use jostle_core::Aabb;
    use proptest::prelude::*;

    fn world(lo: f32, hi: f32) -> Aabb<2> {
        Aabb { lo: [lo; 2], hi: [hi; 2] }
    }

    #[test]
    fn worlds_and_limits_without_sense_are_refused() {
        let limits = Limits::default();
        let inf = f32::INFINITY;
        for (lo, hi) in [(0.0, 0.0), (1.0, 0.0), (f32::NAN, 1.0), (0.0, inf), (-inf, inf), (inf, inf), (0.0, 1e-44)] {
            assert!(matches!(UnitCells::new(world(lo, hi), limits), Err(SetupError::World { .. })), "{lo} to {hi}");
        }
        let deep = Limits { max_depth: 17, ..limits };
        assert_eq!(UnitCells::new(world(0.0, 1.0), deep).err(), Some(SetupError::Depth { depth: 17, most: 16 }));
        let empty = Limits { max_elements: 0, ..limits };
        assert_eq!(UnitCells::new(world(0.0, 1.0), empty).err(), Some(SetupError::EmptyLeaves));
    }

    #[test]
    fn what_lies_outside_counts_as_the_border() {
        let cells = UnitCells::new(world(-1.0, 1.0), Limits::default()).expect("a world");
        assert_eq!(cells.cell([-1e18, 1e18]), [0, 255]);
        assert_eq!(cells.cell([f32::NEG_INFINITY, f32::INFINITY]), [0, 255]);
        assert_eq!(cells.cell([-1.0, 1.0]), [0, 255]);
        assert_eq!(cells.cell([0.0, -0.5]), [128, 64]);
        assert_eq!(cells.aabb(cells.root()), world(-1.0, 1.0));
        assert_eq!(cells.depth_of(cells.root().child(3).child(2)), 2);
    }

    fn all_squares(square: Square) -> Vec<Square> {
        let below = |k| all_squares(square.child(k));
        if square.is_unit() { vec![square] } else { [square].into_iter().chain((0..4).flat_map(below)).collect() }
    }

    fn spans() -> impl Strategy<Value = Span> {
        let axis = || (0_u32..16, 0_u32..16).prop_map(|(a, b)| (a.min(b), a.max(b)));
        (axis(), axis()).prop_map(|(x, y)| Span { lo: [x.0, y.0], hi: [x.1, y.1] })
    }

    proptest! {
        #[test]
        fn children_in_a_span_are_those_that_it_touches(span in spans()) {
            let limits = Limits { max_depth: 4, ..Limits::default() };
            let root = UnitCells::new(world(0.0, 1.0), limits).expect("a world").root();
            for square in all_squares(root).into_iter().filter(|square| !square.is_unit() && square.touches(span)) {
                let touched: Vec<_> = (0..4).filter(|&child| square.child(child).touches(span)).collect();
                prop_assert_eq!(square.children_in(span).collect::<Vec<_>>(), touched);
            }
        }

        #[test]
        fn two_spans_begin_together_in_one_cell(a in spans(), b in spans()) {
            let limits = Limits { max_depth: 4, ..Limits::default() };
            let root = UnitCells::new(world(0.0, 1.0), limits).expect("a world").root();
            let units = all_squares(root).into_iter().filter(|square| square.is_unit());
            let shared: Vec<_> = units.filter(|square| square.touches(a) && square.touches(b)).collect();
            let first = shared.iter().filter(|square| square.begins(a.lo) | square.begins(b.lo) == 3).count();
            prop_assert_eq!(first, usize::from(!shared.is_empty()));
        }

        #[test]
        fn points_lie_in_the_catchment_of_their_cells(lo in -1e6_f32..1e6, side in 1e-3_f32..1e6, x in -0.1_f32..1.1) {
            let cells = UnitCells::new(world(lo, lo + side.max(lo.abs() * 1e-5)), Limits::default()).expect("a world");
            let point = [lo + x * side, lo + x * x * side];
            let mut square = cells.root();
            while !square.is_unit() {
                let catchment = cells.catchment(square);
                prop_assert!(catchment.holds(&Aabb { lo: point, hi: point }), "{catchment:?}");
                let cell = cells.cell(point);
                let span = Span { lo: cell, hi: cell };
                prop_assert_eq!(square.children_in(span).collect::<Vec<_>>(), [square.child_with(cell)]);
                square = square.child(square.child_with(cell));
                prop_assert!(square.holds(cell));
            }
        }
    }
}
