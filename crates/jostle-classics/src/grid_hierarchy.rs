//! A coarse grid over the world, finer grids in its cells, and finest grids in the cells of the finer ones.

mod cells;
mod level;
mod pairs;
mod sparse;
mod validate;

pub use validate::BrokenGridHierarchy;

use jostle_core::{Aabb, Bodies, ViewError};

use crate::body::Body;
use crate::broad_phase::BroadPhase;
use crate::check::{body, check};
use crate::error::SetupError;
use crate::grid::{Ask, CellMap, CellRange};
use level::FANOUT_BITS;
use pairs::Occupant;
use sparse::SparseGrids;

/// The most cells of the world grid: a body larger than all of them costs 32 KiB.
const MAX_WORLD_CELLS: usize = 4096;

/// Finest cells in a cell of the world, on a side.
const FINEST_A_SIDE: f32 = (1_u32 << (2 * FANOUT_BITS)) as f32;

/// The greatest side of a finest cell, 2^54: the side of a cell of the world is then 2^60.
const GREATEST_SIDE: f32 = (1_u64 << 54) as f32;

/// The most cells of the finest level.
const MAX_FINEST_CELLS: usize = MAX_WORLD_CELLS << (4 * FANOUT_BITS);

/// Three grids, each in the cells of the one before. A coarse grid over the world is made once. Its cells have *region*
/// grids of 8 x 8 finer cells where they are wanted, and the cells of regions have *sub-region* grids of 8 x 8 finest
/// cells. A region or sub-region holds only those of its 8 rows that hold a body, 64 bytes each, and gives them back
/// when they are empty.
///
/// A body lives on the finest level on which it touches at most two cells an axis, in each cell that it touches (one to
/// four; on the world's level as many as it takes). Pairs are found on the way down: bodies that live in a cell meet
/// bodies that live in the cells that enclose it, level by level. Two bodies that share several cells are looked at in
/// the cell that holds the lower corner of what they share.
///
/// `update` changes only the lists of bodies that touch other cells than before. Bodies outside the world touch cells
/// of its border.
///
/// Known weakness: three levels are three levels. Bodies that are small for the finest cells crowd them, and the
/// largest bodies meet all bodies that live below them. A body that moves leaves lists and enters others more often
/// than in a loose grid.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{BroadPhase, GridHierarchy};
/// use jostle::{Aabb, Circles};
///
/// let mut grids = GridHierarchy::new(Aabb { lo: [0.0; 2], hi: [1000.0; 2] }, 2.0)?;
/// grids.update(Circles::new(&[100.0, 101.0, 180.0], &[100.0; 3], &[0.5, 0.75, 79.0]))?;
/// let mut pairs = Vec::new();
/// grids.for_each_pair(&mut |pair| pairs.push(pair));
/// pairs.sort_unstable();
/// assert_eq!(pairs, [[0, 1], [1, 2]]);
/// assert!(grids.rows() > 0);
/// grids.update(Circles::new(&[], &[], 0.5))?;
/// assert_eq!(grids.rows(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GridHierarchy {
    /// Maps coordinates to finest cells.
    map: CellMap,
    grids: SparseGrids,
    /// The bodies with their cells, by id.
    residents: Vec<Resident>,
    /// Scratch of the walk: the bodies of a cell and of the cells that enclose it.
    occupants: Vec<Occupant>,
}

/// A body with the finest cells that it touches.
#[derive(Debug, Clone, Copy)]
struct Resident {
    body: Body<2>,
    range: CellRange,
}

impl GridHierarchy {
    /// Makes grids over a world, with finest cells of this side. Cells of regions are 8 times as wide, and cells of the
    /// world 64 times.
    ///
    /// # Errors
    /// A world that is empty or has no finite size; a side not from 2^-60 to 2^54; more than
    /// 4,096 cells in the world's grid, or 1,024 a side.
    pub fn new(world: Aabb<2>, finest_side: f32) -> Result<Self, SetupError> {
        let map = CellMap::new(world, "side of a finest cell", finest_side, MAX_FINEST_CELLS)?;
        let coarse = CellMap::new(world, "side of a cell of the world", finest_side * FINEST_A_SIDE, MAX_WORLD_CELLS)?;
        Ok(Self { map, grids: SparseGrids::new(coarse), residents: Vec::new(), occupants: Vec::new() })
    }

    /// Makes grids for about `n` bodies of about this radius. Finest cells are as wide as two diameters, but wide
    /// enough to have two bodies each, if bodies were spread evenly.
    ///
    /// # Errors
    /// As [`new`](Self::new), or a radius not from 0 to 2^60.
    pub fn for_bodies(world: Aabb<2>, n: usize, typical_radius: f32) -> Result<Self, SetupError> {
        let ask = Ask { diameters: 2.0, bodies: 2.0, cells: MAX_FINEST_CELLS };
        let least = Ask { diameters: 0.0, bodies: 0.0, cells: MAX_WORLD_CELLS };
        let world_side = least.side(world, n, 0.0)?;
        let side = ask.side(world, n, typical_radius)?.max(world_side / FINEST_A_SIDE);
        Self::new(world, side.min(GREATEST_SIDE))
    }

    /// The number of rows of region and sub-region grids now in use.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.grids.rows()
    }

    /// Sets the body of an id, which may be new.
    fn put(&mut self, id: usize, body: Body<2>) {
        let range = self.map.range(&body.aabb());
        let Some(resident) = self.residents.get_mut(id) else {
            self.residents.push(Resident { body, range });
            return self.grids.link(id as u32, range);
        };
        let before = core::mem::replace(resident, Resident { body, range });
        if level::home(before.range) != level::home(range) {
            self.grids.unlink(id as u32, before.range);
            self.grids.link(id as u32, range);
        }
    }
}

impl BroadPhase<2> for GridHierarchy {
    /// Moves the bodies that touch other cells than before.
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        check(bodies)?;
        for id in (bodies.len()..self.residents.len()).rev() {
            self.grids.unlink(id as u32, self.residents[id].range);
        }
        self.residents.truncate(bodies.len());
        for id in 0..bodies.len() {
            self.put(id, body(bodies, id));
        }
        Ok(())
    }

    /// Counts every two bodies that meet in a cell, or in a cell and a cell that encloses it. They are looked at by
    /// their cells first, and as circles if they share cells.
    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        pairs::find(&self.grids, &self.residents, &mut self.occupants, hit)
    }

    fn bytes(&self) -> usize {
        self.grids.bytes()
            + self.residents.capacity() * size_of::<Resident>()
            + self.occupants.capacity() * size_of::<Occupant>()
    }

    /// Gives cells of all levels, also cells with smaller cells in them.
    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        self.grids.for_each_occupied(&mut |level, at| cell(self.map.aabb(level.finest(at))));
    }
}
