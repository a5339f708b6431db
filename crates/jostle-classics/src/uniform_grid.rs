//! One grid of square cells, with each body in every cell that it touches.

use jostle_core::{Aabb, Bodies, ViewError};

use crate::body::Body;
use crate::broad_phase::BroadPhase;
use crate::check::{body, check};
use crate::error::SetupError;
use crate::grid::{Ask, CellLists, CellMap, CellRange, MAX_CELLS};

/// A uniform grid, filled anew every frame. A cell is one 32-bit head of a list (1000 x 1000 cells take 4 MB), and a
/// body is listed in every cell that it touches, 8 bytes a cell.
///
/// Two bodies may share several cells. They are looked at in the lower corner of these cells alone. Bodies outside the
/// world touch cells of its border.
///
/// Known weakness: sizes that differ. A dragon fills 400 cells, and a large query visits as many. Where many bodies
/// share a cell, each meets each. A body that touches more than 1,024 cells is not listed: it walks its cells instead,
/// and such giants are swept among themselves, so that none costs more than 8 KiB.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{BroadPhase, UniformGrid};
/// use jostle::{Aabb, Circles};
///
/// let mut grid = UniformGrid::new(Aabb { lo: [0.0; 2], hi: [8.0; 2] }, 2.0)?;
/// grid.update(Circles::new(&[0.5, 1.5, 5.0], &[1.0; 3], 0.5))?;
/// let mut pairs = Vec::new();
/// grid.for_each_pair(&mut |pair| pairs.push(pair));
/// assert_eq!(pairs, [[0, 1]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct UniformGrid {
    lists: CellLists,
    /// The bodies with their cells, by id.
    placed: Vec<Placed>,
}

/// A body and the cells that it touches: one look in memory finds both.
#[derive(Debug, Clone, Copy)]
struct Placed {
    body: Body<2>,
    range: CellRange,
}

impl UniformGrid {
    /// Makes a grid of cells of this side over a world.
    ///
    /// # Errors
    /// A world that is empty or has no finite size; a side not from 2^-60 to 2^60; more than 2^26 cells, or 2^16 a
    /// side.
    pub fn new(world: Aabb<2>, side: f32) -> Result<Self, SetupError> {
        let map = CellMap::new(world, "side of a cell", side, MAX_CELLS)?;
        Ok(Self { lists: CellLists::new(map), placed: Vec::new() })
    }

    /// Makes a grid for about `n` bodies of about this radius. Cells are as wide as a diameter and a half, but wide
    /// enough to have one body each, if bodies were spread evenly.
    ///
    /// # Errors
    /// As [`new`](Self::new), or a radius not from 0 to 2^60.
    pub fn for_bodies(world: Aabb<2>, n: usize, typical_radius: f32) -> Result<Self, SetupError> {
        let ask = Ask { diameters: 1.5, bodies: 1.0, cells: MAX_CELLS };
        Self::new(world, ask.side(world, n, typical_radius)?)
    }

    /// Calls `hit` once with the id of each body whose box (rounded outwards by a few ulp) shares a point with a
    /// rectangle; with none when the rectangle is empty. O(cells that the rectangle touches + bodies in them).
    pub fn query(&self, rectangle: &Aabb<2>, hit: &mut dyn FnMut(u32)) {
        self.query_bodies(rectangle, &mut |id, _| hit(id));
    }

    /// As [`query`](Self::query), with the bodies themselves.
    #[inline]
    pub(crate) fn query_bodies(&self, rectangle: &Aabb<2>, hit: &mut impl FnMut(u32, &Body<2>)) {
        let range_of = |id: u32| self.placed[id as usize].range;
        self.lists.for_each_near(rectangle, range_of, |id| {
            let body = &self.placed[id as usize].body;
            if body.aabb().overlaps(rectangle) {
                hit(id, body);
            }
        });
    }
}

impl BroadPhase<2> for UniformGrid {
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        check(bodies)?;
        self.lists.clear();
        self.placed.clear();
        for id in 0..bodies.len() {
            let body = body(bodies, id);
            let range = self.lists.map().range(&body.aabb());
            self.placed.push(Placed { body, range });
            self.lists.list(id as u32, range);
        }
        Ok(())
    }

    /// Counts two bodies once for each cell that lists both.
    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let placed = &self.placed;
        let range_of = |id: u32| placed[id as usize].range;
        self.lists.for_each_pair(range_of, |a, b| {
            if placed[a as usize].body.overlaps(&placed[b as usize].body) {
                hit([a.min(b), a.max(b)]);
            }
        })
    }

    fn bytes(&self) -> usize {
        self.lists.bytes() + self.placed.capacity() * size_of::<Placed>()
    }

    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        let map = self.lists.map();
        let listed = map.all().cells().filter(|&at| self.lists.items(at).next().is_some());
        listed.for_each(|at| cell(map.aabb(CellRange::of(at))));
    }
}
