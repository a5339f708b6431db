//! The parts of the finer levels: rows of cells, grids of rows, and lists of the bodies that live in a cell.

use super::level::FANOUT_BITS;
use crate::free_list::{Slot, SlotIndex};

/// Cells on a side of a region, and of a sub-region.
pub(super) const FANOUT: usize = 1 << FANOUT_BITS;

/// The bodies that live in a cell, and the finer grid inside it, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) bodies: Option<SlotIndex<Listing>>,
    pub(super) grid: Option<SlotIndex<Grid>>,
}

impl Cell {
    pub(super) const EMPTY: Self = Self { bodies: None, grid: None };
}

/// Eight cells side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) cells: [Cell; FANOUT],
}

impl Row {
    pub(super) const EMPTY: Self = Self { cells: [Cell::EMPTY; FANOUT] };
}

/// A region or sub-region: its rows, where there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) rows: [Option<SlotIndex<Row>>; FANOUT],
}

impl Grid {
    pub(super) const EMPTY: Self = Self { rows: [None; FANOUT] };
}

const _: () = assert!(size_of::<Row>() == 64 && size_of::<Grid>() == 32, "a row is one line of cache");

/// A body in the list of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listing {
    pub(super) next: Option<SlotIndex<Listing>>,
    pub(super) id: u32,
}

/// No body has this id.
const NO_ID: u32 = u32::MAX;

impl Slot for Listing {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        Self { next, id: NO_ID }
    }

    fn is_vacant(&self) -> bool {
        self.id == NO_ID
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        self.next
    }
}

/// In a vacant row, the first cell has a list that cannot be, and the next vacant row in place of its grid.
impl Slot for Row {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        let mut row = Self::EMPTY;
        row.cells[0] = Cell { bodies: Some(SlotIndex::LAST), grid: next.map(SlotIndex::cast) };
        row
    }

    fn is_vacant(&self) -> bool {
        self.cells[0].bodies == Some(SlotIndex::LAST)
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        self.cells[0].grid.map(SlotIndex::cast)
    }
}

/// In a vacant grid, the first row is one that cannot be, and the next vacant grid stands in place of the second.
impl Slot for Grid {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        let mut grid = Self::EMPTY;
        (grid.rows[0], grid.rows[1]) = (Some(SlotIndex::LAST), next.map(SlotIndex::cast));
        grid
    }

    fn is_vacant(&self) -> bool {
        self.rows[0] == Some(SlotIndex::LAST)
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        self.rows[1].map(SlotIndex::cast)
    }
}
