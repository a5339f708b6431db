//! Every cell of every level in one array.

use super::cells::{Cell, Cells, sealed::Sealed};
use super::index::CellIndex;
use crate::error::SetupError;

/// The most cells of an array, 2^25: at 12 bytes each they take 400 MB, and give 12 levels below the root in the plane,
/// 8 in space. A level more takes four or eight times as much.
const MOST_CELLS: u64 = 1 << 25;

/// Every cell of every level in one array, in use or not: the fastest to reach, at 12 bytes a cell (depth 8: 1 MB in
/// the plane, 230 MB in space).
#[derive(Debug, Clone)]
pub struct DenseCells<const D: usize> {
    cells: Vec<Cell>,
    /// The cells that are not blank, so that clearing need not look at all cells.
    used: Vec<CellIndex<D>>,
}

impl<const D: usize> Sealed for DenseCells<D> {}

impl<const D: usize> DenseCells<D> {
    const fn deepest() -> u32 {
        let mut depth = 0;
        while CellIndex::<D>::cells_above(depth + 2) <= MOST_CELLS {
            depth += 1;
        }
        depth
    }
}

impl<const D: usize> Cells<D> for DenseCells<D> {
    const DEEPEST: u32 = Self::deepest();

    fn new(depth: u32) -> Result<Self, SetupError> {
        if depth > Self::DEEPEST {
            return Err(SetupError::Depth { depth, most: Self::DEEPEST });
        }
        let cells = CellIndex::<D>::cells_above(depth + 1) as usize;
        Ok(Self { cells: vec![Cell::BLANK; cells], used: Vec::new() })
    }

    fn clear(&mut self) {
        for index in self.used.drain(..) {
            self.cells[index.position()] = Cell::BLANK;
        }
    }

    #[inline]
    fn get(&self, index: CellIndex<D>) -> Cell {
        self.cells[index.position()]
    }

    #[inline]
    fn fill(&mut self, index: CellIndex<D>) -> &mut Cell {
        let cell = &mut self.cells[index.position()];
        if cell.is_blank() {
            self.used.push(index);
        }
        cell
    }

    fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>() + self.used.capacity() * size_of::<CellIndex<D>>()
    }
}

#[cfg(test)]
mod tests {
    use super::DenseCells;
    use crate::cell_tree::cells::{Cell, Cells};

    #[test]
    fn cells_and_levels_are_as_documented() {
        assert_eq!(size_of::<Cell>(), 12);
        assert_eq!((<DenseCells<2> as Cells<2>>::DEEPEST, <DenseCells<3> as Cells<3>>::DEEPEST), (12, 8));
    }
}
