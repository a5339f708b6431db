//! The cells of three levels. Cells of the finer two exist only where they are used.

use super::cells::{Cell, FANOUT, Grid, Listing, Row};
use super::level::{FANOUT_BITS, Level, home};
use crate::free_list::{FreeList, SlotIndex};
use crate::grid::{CellMap, CellRange};

/// Where a cell is: in the world's grid, or in a row.
#[derive(Debug, Clone, Copy)]
enum Place {
    World(usize),
    Row(SlotIndex<Row>, usize),
}

/// The cells of all levels, and the bodies that live in them.
#[derive(Debug, Clone)]
pub(super) struct SparseGrids {
    world_map: CellMap,
    world: Vec<Cell>,
    grids: FreeList<Grid>,
    rows: FreeList<Row>,
    listings: FreeList<Listing>,
}

impl SparseGrids {
    pub(super) fn new(world_map: CellMap) -> Self {
        let world = vec![Cell::EMPTY; world_map.count()];
        Self { world_map, world, grids: FreeList::new(), rows: FreeList::new(), listings: FreeList::new() }
    }

    /// The number of rows in use.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of grids, of rows and of listings in use.
    pub(super) fn used(&self) -> [usize; 3] {
        [self.grids.len(), self.rows.len(), self.listings.len()]
    }

    /// Returns whether vacant slots are chained as they should be.
    pub(super) fn is_sound(&self) -> bool {
        self.grids.is_sound() && self.rows.is_sound() && self.listings.is_sound()
    }

    pub(super) fn bytes(&self) -> usize {
        self.world.capacity() * size_of::<Cell>() + self.grids.bytes() + self.rows.bytes() + self.listings.bytes()
    }

    /// Lists a body that touches these finest cells in the cells where it lives, and makes the cells that are missing.
    pub(super) fn link(&mut self, id: u32, range: CellRange) {
        let (level, cells) = home(range);
        for cell in cells.cells() {
            let place = self.make(level, cell);
            let next = self.cell(place).bodies;
            self.cell_mut(place).bodies = Some(self.listings.insert(Listing { next, id }));
        }
    }

    /// Takes a body out of its lists, and gives back rows and grids that are then empty.
    pub(super) fn unlink(&mut self, id: u32, range: CellRange) {
        let (level, cells) = home(range);
        for cell in cells.cells() {
            self.unlist(id, level, cell);
            self.give_back(level, cell);
        }
    }

    fn unlist(&mut self, id: u32, level: Level, cell: [u16; 2]) {
        let Some(place) = self.find(level, cell) else { return };
        let (mut before, mut current) = (None, self.cell(place).bodies);
        while let Some(at) = current {
            let Listing { next, id: listed } = self.listings[at];
            if listed == id {
                match before {
                    None => self.cell_mut(place).bodies = next,
                    Some(before) => self.listings[before].next = next,
                }
                self.listings.remove(at);
                return;
            }
            (before, current) = (current, next);
        }
    }

    /// Gives back the row of a cell if it is empty, then its grid, and so on upwards.
    fn give_back(&mut self, mut level: Level, mut cell: [u16; 2]) {
        while let Some(coarser) = level.coarser() {
            let (around, [_, y]) = split(cell);
            let Some(place) = self.find(coarser, around) else { return };
            let Some(grid) = self.cell(place).grid else { return };
            let Some(row) = self.grids[grid].rows[y].filter(|&row| self.rows[row] == Row::EMPTY) else { return };
            self.rows.remove(row);
            self.grids[grid].rows[y] = None;
            if self.grids[grid] != Grid::EMPTY {
                return;
            }
            self.grids.remove(grid);
            self.cell_mut(place).grid = None;
            (level, cell) = (coarser, around);
        }
    }

    /// Returns where a cell is; `None` when there is no such cell at present.
    fn find(&self, level: Level, cell: [u16; 2]) -> Option<Place> {
        let Some(coarser) = level.coarser() else { return Some(Place::World(self.world_map.index(cell))) };
        let (around, [x, y]) = split(cell);
        let grid = self.cell(self.find(coarser, around)?).grid?;
        self.grids[grid].rows[y].map(|row| Place::Row(row, x))
    }

    /// Returns where a cell is, and makes it if it is missing.
    fn make(&mut self, level: Level, cell: [u16; 2]) -> Place {
        let Some(coarser) = level.coarser() else { return Place::World(self.world_map.index(cell)) };
        let (around, [x, y]) = split(cell);
        let place = self.make(coarser, around);
        let grid = self.cell(place).grid.unwrap_or_else(|| self.grids.insert(Grid::EMPTY));
        self.cell_mut(place).grid = Some(grid);
        let row = self.grids[grid].rows[y].unwrap_or_else(|| self.rows.insert(Row::EMPTY));
        self.grids[grid].rows[y] = Some(row);
        Place::Row(row, x)
    }

    #[inline]
    fn cell(&self, place: Place) -> Cell {
        match place {
            Place::World(at) => self.world[at],
            Place::Row(row, x) => self.rows[row].cells[x],
        }
    }

    #[inline]
    fn cell_mut(&mut self, place: Place) -> &mut Cell {
        match place {
            Place::World(at) => &mut self.world[at],
            Place::Row(row, x) => &mut self.rows[row].cells[x],
        }
    }

    /// Calls `give` with each cell that a body lives in, and its level.
    pub(super) fn for_each_occupied(&self, give: &mut dyn FnMut(Level, [u16; 2])) {
        self.world_cells().for_each(|(at, cell)| self.for_each_occupied_in(Level::WORLD, at, cell, give));
    }

    fn for_each_occupied_in(&self, level: Level, at: [u16; 2], cell: Cell, give: &mut dyn FnMut(Level, [u16; 2])) {
        if cell.bodies.is_some() {
            give(level, at);
        }
        self.cells_inside(at, cell).for_each(|(at, cell)| self.for_each_occupied_in(level.finer(), at, cell, give));
    }

    /// The cells of the world, with their coordinates.
    pub(super) fn world_cells(&self) -> impl Iterator<Item = ([u16; 2], Cell)> {
        self.world_map.all().cells().zip(self.world.iter().copied())
    }

    /// The cells inside a cell that hold anything, with their coordinates.
    pub(super) fn cells_inside(&self, [x, y]: [u16; 2], cell: Cell) -> impl Iterator<Item = ([u16; 2], Cell)> {
        let rows = cell.grid.into_iter().flat_map(|grid| (0_u16..).zip(self.grids[grid].rows));
        let rows = rows.filter_map(|(row, index)| Some((row, &self.rows[index?].cells)));
        let cells =
            rows.flat_map(|(row, cells)| (0_u16..).zip(cells).map(move |(column, &cell)| ([column, row], cell)));
        cells
            .filter(|(_, cell)| *cell != Cell::EMPTY)
            .map(move |([column, row], cell)| ([(x << FANOUT_BITS) + column, (y << FANOUT_BITS) + row], cell))
    }

    /// The ids of the bodies that live in a cell.
    #[inline]
    pub(super) fn ids(&self, cell: Cell) -> impl Iterator<Item = u32> {
        let listing = |at: SlotIndex<Listing>| self.listings[at];
        core::iter::successors(cell.bodies.map(listing), move |last| last.next.map(listing)).map(|listing| listing.id)
    }
}

/// Returns the cell that encloses a cell, and the column and row in its grid.
#[inline]
fn split(cell: [u16; 2]) -> ([u16; 2], [usize; 2]) {
    (cell.map(|i| i >> FANOUT_BITS), cell.map(|i| usize::from(i) % FANOUT))
}
