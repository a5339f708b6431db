//! Points in cells, and a bound on what they reach: common bodies, giants and static bodies, each in its own place.

mod sorted_points;

use jostle_core::{Aabb, Bodies, ViewError};

use crate::body::Body;
use crate::broad_phase::BroadPhase;
use crate::check::take;
use crate::error::SetupError;
use crate::grid::{Ask, CellMap, CellRange, MAX_CELLS, check_radius};
use crate::uniform_grid::UniformGrid;
use sorted_points::SortedPoints;

/// Radii up to this many typical radii are common.
const COMMON: f32 = 4.0;

/// A grid of points, for sizes that are alike. A body is stored by its centre alone, in one cell, and a search reaches
/// as far as its own radius and the largest radius of all. Bodies that would spoil that bound are kept elsewhere, so
/// that content splits in three:
/// - *common* bodies, with a radius of at most [`largest_common`](Self::largest_common), are counted into cells that
///   lie row by row in one array, so that a row of cells that a search looks at is one slice. Each pair is found by the
///   first of the two in that order. The largest radius is that of the frame.
/// - *giants*, the other moving bodies, are swept along x among themselves. Each searches the cells for common bodies.
/// - *static* bodies, set once by [`set_static`](Self::set_static), are in a [`UniformGrid`]. Moving bodies find them;
///   static bodies do not find each other.
///
/// Known weakness: sizes over a wide range, where either all searches reach too far or too many bodies are giants; and
/// clusters, since all cells have one size.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{BroadPhase, PointGrid};
/// use jostle::{Aabb, Circles};
///
/// let mut grid = PointGrid::new(Aabb { lo: [0.0; 2], hi: [100.0; 2] }, 4.0, 2.0)?;
/// grid.set_static(Circles::new(&[50.0], &[0.0], 30.0))?;
/// grid.update(Circles::new(&[10.0, 12.0, 14.0], &[1.0; 3], &[1.5, 1.0, 20.0]))?;
/// let (mut pairs, mut walls) = (Vec::new(), Vec::new());
/// grid.for_each_pair(&mut |pair| pairs.push(pair));
/// grid.for_each_static_pair(&mut |[body, wall]| walls.push([body, wall]));
/// pairs.sort_unstable();
/// assert_eq!((pairs, walls), (vec![[0, 1], [0, 2], [1, 2]], vec![[2, 0]]));
/// assert_eq!(grid.giants().collect::<Vec<_>>(), [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PointGrid {
    map: CellMap,
    largest_common: f32,
    /// The moving bodies, by id.
    bodies: Vec<Body<2>>,
    common: SortedPoints,
    giants: Vec<Giant>,
    statics: UniformGrid,
}

/// A body with a radius above the bound, and the ends of its box on x.
#[derive(Debug, Clone, Copy)]
struct Giant {
    lo: f32,
    hi: f32,
    id: u32,
}

impl PointGrid {
    /// Makes a grid of cells of this side over a world. Bodies with a radius above `largest_common` are giants.
    ///
    /// # Errors
    /// A world that is empty or has no finite size; a side not from 2^-60 to 2^60, or a radius not from 0 to 2^60; more
    /// than 2^26 cells, or 2^16 a side.
    pub fn new(world: Aabb<2>, side: f32, largest_common: f32) -> Result<Self, SetupError> {
        check_radius("largest common radius", largest_common)?;
        let statics = UniformGrid::new(world, side)?;
        let map = CellMap::new(world, "side of a cell", side, MAX_CELLS)?;
        let (bodies, giants) = (Vec::new(), Vec::new());
        Ok(Self { map, largest_common, bodies, common: SortedPoints::new(&map), giants, statics })
    }

    /// Makes a grid for about `n` bodies of about this radius. Bodies up to four times as large are common. Cells are
    /// as wide as a diameter, but wide enough to have two bodies each, if bodies were spread evenly.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_bodies(world: Aabb<2>, n: usize, typical_radius: f32) -> Result<Self, SetupError> {
        let ask = Ask { diameters: 1.0, bodies: 2.0, cells: MAX_CELLS };
        let side = ask.side(world, n, typical_radius)?;
        Self::new(world, side, (typical_radius * COMMON).min(1e18))
    }

    /// The largest radius of a body that is not a giant.
    #[must_use]
    pub fn largest_common(&self) -> f32 {
        self.largest_common
    }

    /// The ids of the giants of this frame, from left to right.
    pub fn giants(&self) -> impl Iterator<Item = u32> {
        self.giants.iter().map(|giant| giant.id)
    }

    /// Takes the bodies that do not move. They stay until they are set again. Static ids are positions in `bodies`.
    ///
    /// # Errors
    /// As [`update`](BroadPhase::update).
    pub fn set_static(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        self.statics.update(bodies)
    }

    /// Calls `hit` once with every overlapping pair `[id, static id]` of a moving and a static body. Returns the number
    /// of pairs that were looked at as circles.
    pub fn for_each_static_pair(&self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let mut tests = 0;
        for (id, body) in (0..).zip(&self.bodies) {
            self.statics.query_bodies(&body.aabb(), &mut |static_id, wall| {
                tests += 1;
                if body.overlaps(wall) {
                    hit([id, static_id]);
                }
            });
        }
        tests
    }

    fn for_each_pair_of_giants(&self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let mut tests = 0;
        for (i, a) in self.giants.iter().enumerate() {
            for b in self.giants[i + 1..].iter().take_while(|b| b.lo <= a.hi) {
                tests += 1;
                if self.bodies[a.id as usize].overlaps(&self.bodies[b.id as usize]) {
                    hit([a.id.min(b.id), a.id.max(b.id)]);
                }
            }
        }
        tests
    }
}

impl BroadPhase<2> for PointGrid {
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        take(bodies, &mut self.bodies)?;
        self.common.fill(&self.map, &self.bodies, self.largest_common);
        self.giants.clear();
        for (id, body) in (0..).zip(&self.bodies).filter(|(_, body)| body.radius > self.largest_common) {
            let aabb = body.aabb();
            self.giants.push(Giant { lo: aabb.lo[0], hi: aabb.hi[0], id });
        }
        self.giants.sort_unstable_by(|a, b| a.lo.total_cmp(&b.lo).then(a.id.cmp(&b.id)));
        Ok(())
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let mut tests = self.common.for_each_pair(&self.map, hit);
        for giant in self.giants() {
            tests += self.common.for_each_hit(&self.map, giant, &self.bodies[giant as usize], hit);
        }
        tests + self.for_each_pair_of_giants(hit)
    }

    fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Body<2>>()
            + self.giants.capacity() * size_of::<Giant>()
            + self.common.bytes()
            + self.statics.bytes()
    }

    /// Gives the cells of common bodies.
    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        self.common.occupied(&self.map).for_each(|at| cell(self.map.aabb(CellRange::of(at))));
    }
}
