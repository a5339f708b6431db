//! Cells of three levels, of which the finer two exist where they are used.

use super::level::{FANOUT_BITS, Level, home};
use super::pool::Pool;
use crate::grid::{CellMap, CellRange, Link};

/// Cells of a region, and of a sub-region, on a side.
const FANOUT: usize = 1 << FANOUT_BITS;

/// What lives in a cell, and the finer grid inside it, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    bodies: Link,
    grid: Link,
}

/// Eight cells side by side.
type Row = [Cell; FANOUT];

/// A region or sub-region: its rows, where there are any.
type Grid = [Link; FANOUT];

const _: () = assert!(size_of::<Row>() == 64 && size_of::<Grid>() == 32, "a row is one line of cache");

/// A body in the list of a cell.
#[derive(Debug, Clone, Copy)]
struct Listing {
    next: Link,
    id: u32,
}

impl Cell {
    const EMPTY: Self = Self { bodies: Link::NONE, grid: Link::NONE };
}

/// Where a cell is: in the world's grid, or in a row.
#[derive(Debug, Clone, Copy)]
enum Place {
    World(usize),
    Row(Link, usize),
}

/// The cells of all levels and what lives in them.
#[derive(Debug, Clone)]
pub(super) struct SparseGrids {
    world_map: CellMap,
    world: Vec<Cell>,
    grids: Pool<Grid>,
    rows: Pool<Row>,
    listings: Pool<Listing>,
}

impl SparseGrids {
    pub(super) fn new(world_map: CellMap) -> Self {
        let world = vec![Cell::EMPTY; world_map.count()];
        Self { world_map, world, grids: Pool::new(), rows: Pool::new(), listings: Pool::new() }
    }

    /// The number of rows in use.
    pub(super) fn rows(&self) -> usize {
        self.rows.used()
    }

    /// The number of grids, of rows and of listings in use.
    pub(super) fn used(&self) -> [usize; 3] {
        [self.grids.used(), self.rows.used(), self.listings.used()]
    }

    pub(super) fn bytes(&self) -> usize {
        self.world.capacity() * size_of::<Cell>() + self.grids.bytes() + self.rows.bytes() + self.listings.bytes()
    }

    /// Lists a body that touches these finest cells, where it lives; makes the cells that are missing.
    pub(super) fn link(&mut self, id: u32, range: CellRange) {
        let (level, cells) = home(range);
        for cell in cells.cells() {
            let place = self.make(level, cell);
            let next = self.cell(place).bodies;
            self.cell_mut(place).bodies = self.listings.add(Listing { next, id });
        }
    }

    /// Takes a body out of the lists it is in; gives back what is then empty.
    pub(super) fn unlink(&mut self, id: u32, range: CellRange) {
        let (level, cells) = home(range);
        for cell in cells.cells() {
            self.unlist(id, level, cell);
            self.give_back(level, cell);
        }
    }

    fn unlist(&mut self, id: u32, level: Level, cell: [u16; 2]) {
        let Some(place) = self.find(level, cell) else { return };
        let (mut before, mut at) = (Link::NONE, self.cell(place).bodies);
        while let Some(&Listing { next, id: listed }) = self.listings.get(at) {
            if listed == id {
                match before {
                    Link::NONE => self.cell_mut(place).bodies = next,
                    before => self.listings[before].next = next,
                }
                return self.listings.give_back(at);
            }
            (before, at) = (at, next);
        }
    }

    /// Gives back the row of a cell if it is empty, then its grid, and so on upwards.
    fn give_back(&mut self, mut level: Level, mut cell: [u16; 2]) {
        while let Some(coarser) = level.coarser() {
            let (around, [_, y]) = split(cell);
            let Some(place) = self.find(coarser, around) else { return };
            let grid = self.cell(place).grid;
            let row = self.grids[grid][y];
            if self.rows[row] != [Cell::EMPTY; FANOUT] {
                return;
            }
            self.rows.give_back(row);
            self.grids[grid][y] = Link::NONE;
            if self.grids[grid] != [Link::NONE; FANOUT] {
                return;
            }
            self.grids.give_back(grid);
            self.cell_mut(place).grid = Link::NONE;
            (level, cell) = (coarser, around);
        }
    }

    /// Where a cell is; `None` when there is no such cell at present.
    fn find(&self, level: Level, cell: [u16; 2]) -> Option<Place> {
        let Some(coarser) = level.coarser() else { return Some(Place::World(self.world_map.index(cell))) };
        let (around, [x, y]) = split(cell);
        let grid = self.cell(self.find(coarser, around)?).grid;
        let row = self.grids.get(grid)?[y];
        self.rows.get(row).map(|_| Place::Row(row, x))
    }

    /// Where a cell is, made if it was missing.
    fn make(&mut self, level: Level, cell: [u16; 2]) -> Place {
        let Some(coarser) = level.coarser() else { return Place::World(self.world_map.index(cell)) };
        let (around, [x, y]) = split(cell);
        let place = self.make(coarser, around);
        if self.cell(place).grid == Link::NONE {
            self.cell_mut(place).grid = self.grids.add([Link::NONE; FANOUT]);
        }
        let grid = self.cell(place).grid;
        if self.grids[grid][y] == Link::NONE {
            self.grids[grid][y] = self.rows.add([Cell::EMPTY; FANOUT]);
        }
        Place::Row(self.grids[grid][y], x)
    }

    #[inline]
    fn cell(&self, place: Place) -> Cell {
        match place {
            Place::World(at) => self.world[at],
            Place::Row(row, x) => self.rows[row][x],
        }
    }

    #[inline]
    fn cell_mut(&mut self, place: Place) -> &mut Cell {
        match place {
            Place::World(at) => &mut self.world[at],
            Place::Row(row, x) => &mut self.rows[row][x],
        }
    }

    /// The cells of the world, with their coordinates.
    pub(super) fn world_cells(&self) -> impl Iterator<Item = ([u16; 2], Cell)> {
        self.world_map.all().cells().zip(self.world.iter().copied())
    }

    /// The cells inside a cell that hold anything, with their coordinates.
    pub(super) fn cells_inside(&self, [x, y]: [u16; 2], cell: Cell) -> impl Iterator<Item = ([u16; 2], Cell)> {
        let rows = self.grids.get(cell.grid).into_iter().flat_map(|rows| (0_u16..).zip(rows));
        let rows = rows.filter_map(|(row, &link)| Some((row, self.rows.get(link)?)));
        let cells =
            rows.flat_map(|(row, cells)| (0_u16..).zip(cells).map(move |(column, &cell)| ([column, row], cell)));
        cells
            .filter(|(_, cell)| *cell != Cell::EMPTY)
            .map(move |([column, row], cell)| ([(x << FANOUT_BITS) + column, (y << FANOUT_BITS) + row], cell))
    }

    /// The ids of the bodies that live in a cell.
    #[inline]
    pub(super) fn ids(&self, cell: Cell) -> impl Iterator<Item = u32> {
        let first = self.listings.get(cell.bodies);
        core::iter::successors(first, |listing| self.listings.get(listing.next)).map(|listing| listing.id)
    }
}

/// The cell about a cell, and the column and row in its grid.
#[inline]
fn split(cell: [u16; 2]) -> ([u16; 2], [usize; 2]) {
    (cell.map(|i| i >> FANOUT_BITS), cell.map(|i| usize::from(i) % FANOUT))
}
