//! What the grids are made of: the map from coordinates to cells, and lists of what touches a cell.

mod cells;
mod lists;
mod sizes;

pub(crate) use cells::{CellMap, CellRange};
pub(crate) use lists::CellLists;
pub(crate) use sizes::{Ask, check_radius};

/// Cells of a grid at most, 2^26: 256 MiB of heads.
pub(crate) const MAX_CELLS: usize = 1 << 26;
