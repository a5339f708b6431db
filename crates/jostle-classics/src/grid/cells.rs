//! From coordinates to cells.

use jostle_core::Aabb;

use super::sizes::{MAX_SIDE, check_length};
use crate::error::SetupError;

/// A block of cells: columns `lo[0]..=hi[0]`, rows `lo[1]..=hi[1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellRange {
    pub(crate) lo: [u16; 2],
    pub(crate) hi: [u16; 2],
}

impl CellRange {
    /// A single cell.
    pub(crate) fn of(cell: [u16; 2]) -> Self {
        Self { lo: cell, hi: cell }
    }

    /// The number of cells.
    #[inline]
    pub(crate) fn count(self) -> u64 {
        (0..2).map(|axis| (u64::from(self.hi[axis]) + 1).saturating_sub(self.lo[axis].into())).product()
    }

    /// Returns the cell in which two blocks meet first: the lower corner of their intersection. A grid that lists two
    /// items in all cells that they touch finds the two together several times, but in this cell once.
    #[inline]
    pub(crate) fn first_shared(self, other: Self) -> Option<[u16; 2]> {
        let lo = [self.lo[0].max(other.lo[0]), self.lo[1].max(other.lo[1])];
        let shared = lo[0] <= self.hi[0].min(other.hi[0]) && lo[1] <= self.hi[1].min(other.hi[1]);
        shared.then_some(lo)
    }

    /// Returns whether a cell is in the block.
    pub(crate) fn holds(self, cell: [u16; 2]) -> bool {
        (0..2).all(|axis| (self.lo[axis]..=self.hi[axis]).contains(&cell[axis]))
    }

    /// The cells, row by row.
    pub(crate) fn cells(self) -> impl Iterator<Item = [u16; 2]> {
        (self.lo[1]..=self.hi[1]).flat_map(move |row| (self.lo[0]..=self.hi[0]).map(move |column| [column, row]))
    }

    /// Returns the block that reaches `by` cells farther on all sides, but not beyond `all`.
    pub(crate) fn grown(self, by: u16, all: Self) -> Self {
        let lo = |axis: usize| self.lo[axis].saturating_sub(by).max(all.lo[axis]);
        let hi = |axis: usize| self.hi[axis].saturating_add(by).min(all.hi[axis]);
        Self { lo: [lo(0), lo(1)], hi: [hi(0), hi(1)] }
    }

    /// Returns the cells of the block that are not in the block `inner` inside it, row by row.
    pub(crate) fn cells_around(self, inner: Self) -> impl Iterator<Item = [u16; 2]> {
        let columns = |range: Self| u32::from(range.lo[0])..u32::from(range.hi[0]) + 1;
        let (whole, gap) = (columns(self), columns(inner));
        (self.lo[1]..=self.hi[1]).flat_map(move |row| {
            let beside = (inner.lo[1]..=inner.hi[1]).contains(&row);
            let gap = if beside { gap.clone() } else { whole.start..whole.start };
            (whole.start..gap.start).chain(gap.end..whole.end).map(move |column| [column as u16, row])
        })
    }

    /// Returns the same block in cells that are 2^`bits` times as narrow.
    pub(crate) fn finer(self, bits: u32) -> Self {
        Self { lo: self.lo.map(|i| i << bits), hi: self.hi.map(|i| (i << bits) | ((1 << bits) - 1)) }
    }

    /// Returns the same block in cells that are 2^`bits` times as wide.
    pub(crate) fn coarser(self, bits: u32) -> Self {
        Self { lo: self.lo.map(|i| i >> bits), hi: self.hi.map(|i| i >> bits) }
    }
}

/// Maps points to square cells over a world.
///
/// The map is monotone on each axis, and a point outside the world counts as in the nearest cell of its border. So two
/// boxes that share a point share a cell, wherever they lie. The exactness of the grids rests on that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellMap {
    lo: [f32; 2],
    /// Cells a unit of length.
    scale: f32,
    /// The length of a side of a cell.
    side: f32,
    columns: u32,
    rows: u32,
}

impl CellMap {
    /// Makes square cells over a world, at most `most` of them.
    pub(crate) fn new(world: Aabb<2>, name: &'static str, side: f32, most: usize) -> Result<Self, SetupError> {
        SetupError::check_world(&world)?;
        check_length(name, side)?;
        let count = |axis: usize| ((f64::from(world.hi[axis]) - f64::from(world.lo[axis])) / f64::from(side)).ceil();
        let (columns, rows) = (count(0).max(1.0), count(1).max(1.0));
        if columns.max(rows) > f64::from(MAX_SIDE) || columns * rows > most as f64 {
            return Err(SetupError::TooManyCells { columns, rows, most });
        }
        Ok(Self { lo: world.lo, scale: 1.0 / side, side, columns: columns as u32, rows: rows as u32 })
    }

    pub(crate) fn columns(&self) -> u32 {
        self.columns
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// The number of cells.
    pub(crate) fn count(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Every cell.
    pub(crate) fn all(&self) -> CellRange {
        CellRange { lo: [0, 0], hi: [(self.columns - 1) as u16, (self.rows - 1) as u16] }
    }

    /// Returns the cell of a point; a NaN coordinate counts as in the first column or row.
    #[inline]
    pub(crate) fn cell(&self, point: [f32; 2]) -> [u16; 2] {
        let along = |axis: usize, count: u32| {
            let cell = (point[axis] - self.lo[axis]) * self.scale;
            // `max` turns NaN into 0. The result is in range.
            cell.max(0.0).min((count - 1) as f32) as u16
        };
        [along(0, self.columns), along(1, self.rows)]
    }

    /// The cells that a box touches.
    #[inline]
    pub(crate) fn range(&self, aabb: &Aabb<2>) -> CellRange {
        CellRange { lo: self.cell(aabb.lo), hi: self.cell(aabb.hi) }
    }

    /// A block of cells as a box in the world.
    pub(crate) fn aabb(&self, block: CellRange) -> Aabb<2> {
        let border = |axis: usize, cell: u32| self.lo[axis] + cell as f32 * self.side;
        let corner = |cell: [u16; 2], shift: u32| [0, 1].map(|axis| border(axis, u32::from(cell[axis]) + shift));
        Aabb { lo: corner(block.lo, 0), hi: corner(block.hi, 1) }
    }

    /// Returns the place of a cell in a row-major array.
    #[inline]
    pub(crate) fn index(&self, [column, row]: [u16; 2]) -> usize {
        row as usize * self.columns as usize + column as usize
    }

    /// Returns a lower bound of the distance from a point to all points of cells beyond a block about its own cell;
    /// infinite when there are no such cells. It is a trifle less than the truth, since coordinates were rounded when
    /// they were mapped.
    pub(crate) fn distance_beyond(&self, point: [f32; 2], block: CellRange) -> f64 {
        const LESS: f64 = 1.0 - 1e-6;
        let (all, side) = (self.all(), f64::from(self.side) * LESS);
        let mut least = f64::INFINITY;
        for axis in 0..2 {
            let x = f64::from(point[axis]) - f64::from(self.lo[axis]);
            if block.lo[axis] > 0 {
                least = least.min(x - f64::from(block.lo[axis]) * f64::from(self.side) / LESS);
            }
            if block.hi[axis] < all.hi[axis] {
                least = least.min((f64::from(block.hi[axis]) + 1.0) * side - x);
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::{CellMap, CellRange};
    use jostle_core::Aabb;

    const WORLD: Aabb<2> = Aabb { lo: [-2.0, 1.0], hi: [3.0, 2.5] };

    #[test]
    fn points_outside_the_world_are_in_cells_of_its_border() {
        let map = CellMap::new(WORLD, "cell", 0.5, 1000).expect("a sound world");
        assert_eq!(map.all().hi, [9, 2]);
        assert_eq!(map.cell([-1.4, 1.6]), [1, 1]);
        assert_eq!(map.cell([-1e18, 1e18]), [0, 2]);
        assert_eq!(map.cell([f32::INFINITY, f32::NAN]), [9, 0]);
        assert_eq!(map.range(&Aabb { lo: [-9.0, 1.0], hi: [9.0, 1.1] }).count(), 10);
    }

    #[test]
    fn blocks_meet_first_in_one_of_the_cells_they_share() {
        let block = |lo, hi| CellRange { lo, hi };
        let (a, b) = (block([1, 1], [4, 2]), block([3, 0], [9, 1]));
        assert_eq!(a.first_shared(b), Some([3, 1]));
        assert_eq!(b.first_shared(a), Some([3, 1]));
        assert_eq!(a.first_shared(block([5, 1], [5, 1])), None);
        assert_eq!(a.cells().filter(|&cell| b.holds(cell)).count(), 2);
    }

    #[test]
    fn nothing_beyond_a_block_is_nearer_than_said() {
        let map = CellMap::new(WORLD, "cell", 0.5, 1000).expect("a sound world");
        let (point, block) = ([-0.6, 1.7], CellRange { lo: [1, 1], hi: [3, 1] });
        let beyond = map.distance_beyond(point, block);
        assert!((0.19..0.2).contains(&beyond), "{beyond}");
        assert_eq!(map.distance_beyond(point, map.all()), f64::INFINITY);
    }
}
