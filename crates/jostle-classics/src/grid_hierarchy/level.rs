//! Which level a body lives on.

use crate::grid::CellRange;

/// log2 of the number of cells on a side of a region, and of a sub-region, which is 2^3.
pub(super) const FANOUT_BITS: u32 = 3;

/// The number of levels: world, regions, sub-regions.
const LEVELS: u32 = 3;

/// 0 for cells of the world, 1 for cells of regions, 2 for cells of sub-regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level(u32);

impl Level {
    pub(super) const WORLD: Self = Self(0);
    pub(super) const FINEST: Self = Self(LEVELS - 1);

    /// Returns the cells of this level that hold these finest cells.
    #[inline]
    fn cells(self, range: CellRange) -> CellRange {
        range.coarser(self.bits_below())
    }

    /// Returns the cell of this level that holds a finest cell.
    #[inline]
    pub(super) fn cell(self, finest: [u16; 2]) -> [u16; 2] {
        finest.map(|i| i >> self.bits_below())
    }

    /// Returns the finest cells in a cell of this level.
    pub(super) fn finest(self, cell: [u16; 2]) -> CellRange {
        CellRange::of(cell).finer(self.bits_below())
    }

    /// Returns how much finer the finest cells are, in bits an axis.
    #[inline]
    fn bits_below(self) -> u32 {
        (Self::FINEST.0 - self.0) * FANOUT_BITS
    }

    /// The next finer level.
    pub(super) fn finer(self) -> Self {
        Self(self.0 + 1)
    }

    /// The next coarser level; `None` above the world's.
    pub(super) fn coarser(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }
}

/// Returns where a body that touches these finest cells lives: on the finest level on which it touches at most two
/// cells an axis (the world's when there is none), in the cells of that level that it touches.
#[inline]
pub(super) fn home(range: CellRange) -> (Level, CellRange) {
    let on = |level: Level| (level, level.cells(range));
    let fits = |(_, cells): &(Level, CellRange)| (0..2).all(|axis| cells.hi[axis] - cells.lo[axis] <= 1);
    [Level(2), Level(1)].map(on).into_iter().find(fits).unwrap_or_else(|| on(Level::WORLD))
}

#[cfg(test)]
mod tests {
    use super::{Level, home};
    use crate::grid::CellRange;

    #[test]
    fn a_body_lives_where_it_touches_two_cells_an_axis() {
        let level = |lo, hi| home(CellRange { lo, hi }).0;
        assert_eq!(level([7, 7], [8, 8]), Level::FINEST);
        assert_eq!(level([7, 7], [9, 8]), Level(1));
        assert_eq!(level([0, 0], [15, 15]), Level(1));
        assert_eq!(level([0, 0], [16, 0]), Level::WORLD);
        assert_eq!(level([63, 0], [64, 0]), Level::FINEST);
        assert_eq!(Level::WORLD.finer().cell([65, 7]), [8, 0]);
        assert_eq!(Level::WORLD.finest([1023, 0]), CellRange { lo: [65_472, 0], hi: [65_535, 63] });
    }
}
