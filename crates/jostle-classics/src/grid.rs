//! The parts of the grids: the map from coordinates to cells, and lists of the items that touch a cell.

mod cells;
mod lists;
mod sizes;

pub(crate) use cells::{CellMap, CellRange};
pub(crate) use lists::CellLists;
pub(crate) use sizes::{Ask, check_radius};

/// The most cells of a grid, 2^26: 256 MiB of heads.
pub(crate) const MAX_CELLS: usize = 1 << 26;
