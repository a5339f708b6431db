//! A quadtree or octree without pointers, filled anew every frame: each body in the smallest cell that holds it.
//!
//! The files follow the pipeline. `index` and `unit_cells` find the cell of a box in constant time. `cells`, `dense`
//! and `sparse` keep the cells. `group` and `stack` hold bodies, in lists and on the way down. `walk`, `between` and
//! `few` are the three searches.

mod between;
mod cells;
mod dense;
mod few;
mod group;
mod index;
mod sparse;
mod stack;
mod unit_cells;
mod validate;
mod walk;

use jostle_core::{Aabb, Bodies, ViewError};

use crate::body::Body;
use crate::broad_phase::BroadPhase;
use crate::check::check;
use crate::check::take;
use crate::error::SetupError;
use between::WalkBetween;
use cells::GROUPS;
use few::Search;
use group::Group;
use stack::Stack;
use unit_cells::{Node, UnitCells};
use walk::Walk;

pub use cells::Cells;
pub use dense::DenseCells;
pub use sparse::SparseCells;
pub use stack::Ancestors;
pub use validate::BrokenCells;

/// With 100,000 circles, this gives 8 levels. One level more or less changes a frame by less than a fifth when the
/// circles are evenly spread, dense or clustered. With a power law of radii, each level more makes a frame half as long
/// again, or worse.
const BODIES_A_UNIT_CELL: usize = 4;

/// The tree of cells behind [`LinearQuadtree`](crate::LinearQuadtree) and [`LinearOctree`](crate::LinearOctree). `D` is
/// 2 or 3, and `C` says how cells are kept: [`DenseCells`] or [`SparseCells`], each with either `D`.
///
/// The world is cut into 2^depth unit cells an axis. 2^D cells make one cell of the level above, up to the root. A body
/// belongs to the smallest cell that holds its box: the highest bit in which the unit cells of the box's corners differ
/// gives the level, their common bits the number ([`jostle_core::morton::Cell`] has the arithmetic). A frame empties
/// every list, pushes every body, and walks from the root with the bodies of the cells above on a stack. An update is
/// O(n), whatever the bodies did since the last one.
///
/// A cell has a bit for each child with something in it or below it, set as bodies are pushed. So the walk goes only
/// where there are bodies, and only cells that were used are emptied. (The write-ups visit, and empty, all cells.)
///
/// Bodies outside the world count as in the cells of its border. They are found all the same, but are close together in
/// the tree.
///
/// Known weakness: a small body that straddles a border of large cells belongs to a large cell, and is tested against
/// everything in it. There are some n^(1/2) such bodies in the plane and n^(2/3) in space, so that n bodies take about
/// n^1.5 or n^1.67 tests. [`Ancestors::Touching`] leaves such bodies behind where they do not reach, for a look at each
/// carried body at each child (at most half as many looks as tests, and not counted as such). What remains are the
/// tests of bodies on one border against each other: about n log n tests in the plane, n^1.33 in space. Tests of evenly
/// spread bodies:
///
/// | n                 |   1,000 |     3,000 |     10,000 |     30,000 |     100,000 | fitted |
/// |-------------------|--------:|----------:|-----------:|-----------:|------------:|-------:|
/// | circles, all      |  55,213 |   342,915 |  2,404,982 | 12,268,403 |  75,760,277 | n^1.57 |
/// | circles, touching |  10,451 |    38,171 |    163,492 |    550,663 |   2,171,015 | n^1.16 |
/// | spheres, all      | 229,867 | 1,534,571 | 12,195,537 | 79,408,725 | 623,526,128 | n^1.72 |
/// | spheres, touching |  65,242 |   320,327 |  1,819,028 |  8,622,413 |  47,362,244 | n^1.43 |
#[derive(Debug, Clone)]
pub struct CellTree<const D: usize, C> {
    unit_cells: UnitCells<D>,
    cells: C,
    ancestors: Ancestors,
    groups: [Group<D>; GROUPS],
    hits: [Vec<u32>; GROUPS],
    stacks: [Stack<D>; GROUPS],
    few: Vec<Body<D>>,
}

impl<const D: usize, C: Cells<D>> CellTree<D, C> {
    /// Makes a tree over `world`, with levels 0 (the world) to `depth`.
    ///
    /// # Errors
    /// [`SetupError::World`] when the world is empty or not finite, [`SetupError::Depth`] when there is no room for so
    /// many levels.
    pub fn new(world: Aabb<D>, depth: u32) -> Result<Self, SetupError> {
        SetupError::check_world(&world)?;
        Ok(Self {
            cells: C::new(depth)?,
            unit_cells: UnitCells::new(&world, depth),
            ancestors: Ancestors::All,
            groups: [Group::EMPTY; GROUPS],
            hits: [const { Vec::new() }; GROUPS],
            stacks: [Stack::EMPTY; GROUPS],
            few: Vec::new(),
        })
    }

    /// As [`CellTree::new`], with the depth that [`CellTree::depth_for`] gives.
    ///
    /// # Errors
    /// [`SetupError::World`] when the world is empty or not finite.
    pub fn for_bodies(world: Aabb<D>, n: usize) -> Result<Self, SetupError> {
        Self::new(world, Self::depth_for(n))
    }

    /// Returns the depth for `n` bodies spread over the world: the least with a unit cell for every four bodies, or the
    /// deepest that there is room for. Deeper trees make fewer tests where bodies cluster; where sizes differ widely,
    /// shallower trees are faster.
    #[must_use]
    pub fn depth_for(n: usize) -> u32 {
        let bits = usize::BITS - (n.saturating_sub(1) / BODIES_A_UNIT_CELL).leading_zeros();
        bits.div_ceil(D as u32).min(C::DEEPEST)
    }

    /// Sets which bodies of the cells above are tested.
    #[must_use]
    pub fn with_ancestors(mut self, ancestors: Ancestors) -> Self {
        self.ancestors = ancestors;
        self
    }

    /// Takes the bodies of a frame in two groups, for [`CellTree::for_each_pair_between`]. O(n).
    ///
    /// # Errors
    /// As [`BroadPhase::update`], for the second group first; the bodies taken before stay.
    pub fn update_two(&mut self, first: Bodies<'_, D>, second: Bodies<'_, D>) -> Result<(), ViewError> {
        check(second)?;
        take(first, &mut self.groups[0].bodies)?;
        take(second, &mut self.groups[1].bodies)?;
        self.push_all();
        Ok(())
    }

    /// Calls `hit` once with every overlapping pair `[a, b]` of body a of the first group and body b of the second, in
    /// an order that depends on the bodies alone. Returns the number of pairs that were tested.
    pub fn for_each_pair_between(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        self.forget_hits();
        let mut walk = WalkBetween {
            cells: &mut self.cells,
            groups: &self.groups,
            stacks: &mut self.stacks,
            ancestors: self.ancestors,
            hits: &mut self.hits,
            hit,
            tests: 0,
        };
        walk.visit(&self.unit_cells.root(), [0..0, 0..0]);
        let tests = walk.tests;
        self.end_walk();
        tests
    }

    /// Few against many: calls `hit` once with every overlapping pair `[a, b]` of body a of `few`, which are in no
    /// cell, and body b of the tree (of its first group, if it has two), a by a. Returns the number of pairs that were
    /// tested. For each of the few, the search visits the smallest cell that holds it, the cells above, and the cells
    /// below ([`Ancestors::Touching`]: as far as it touches them). Hit counts stay what they were.
    ///
    /// # Errors
    /// As [`BroadPhase::update`], for `few`.
    pub fn for_each_hit_of(&mut self, few: Bodies<'_, D>, hit: &mut dyn FnMut([u32; 2])) -> Result<u64, ViewError> {
        take(few, &mut self.few)?;
        let tests = self.few.iter().enumerate().map(|(a, &body)| self.search(body, &mut |b| hit([a as u32, b])));
        Ok(tests.sum())
    }

    fn search(&self, body: Body<D>, hit: &mut dyn FnMut(u32)) -> u64 {
        let span = self.unit_cells.span(&body.aabb());
        let (cells, group, ancestors) = (&self.cells, &self.groups[0], self.ancestors);
        let search = Search { cells, group, ancestors, body, span, hit, tests: 0 };
        search.run(&self.unit_cells.smallest_node(&span))
    }

    /// Returns for each body, by id, how many bodies it was found to overlap when pairs were last sought: 0 for all
    /// before that.
    #[must_use]
    pub fn hit_counts(&self) -> &[u32] {
        &self.hits[0]
    }

    /// As [`CellTree::hit_counts`], for both groups.
    #[must_use]
    pub fn hit_counts_of_two(&self) -> [&[u32]; 2] {
        self.hits.each_ref().map(Vec::as_slice)
    }

    /// Empties every list, then pushes every body: the last first, so that lists are in ascending order of id.
    fn push_all(&mut self) {
        self.cells.clear();
        for (g, group) in self.groups.iter_mut().enumerate() {
            group.measure(&self.unit_cells);
            for id in (0..group.bodies.len()).rev() {
                let index = self.unit_cells.smallest_cell(&group.spans()[id]);
                group.next[id] = self.cells.push(index, g, id as u32);
            }
        }
        self.forget_hits();
    }

    fn for_each_cell_below(&self, node: &Node<D>, give: &mut dyn FnMut(Aabb<D>)) {
        let cell = self.cells.get(node.index);
        if cell.has_bodies() {
            give(self.unit_cells.aabb(&node.region));
        }
        cell.children().for_each(|k| self.for_each_cell_below(&node.child(k), give));
    }

    fn forget_hits(&mut self) {
        for (hits, group) in self.hits.iter_mut().zip(&self.groups) {
            hits.clear();
            hits.resize(group.bodies.len(), 0);
        }
    }

    fn end_walk(&mut self) {
        self.cells.end_walk();
        self.stacks.iter_mut().for_each(|stack| stack.truncate(0));
    }
}

impl<const D: usize, C: Cells<D>> BroadPhase<D> for CellTree<D, C> {
    fn update(&mut self, bodies: Bodies<'_, D>) -> Result<(), ViewError> {
        take(bodies, &mut self.groups[0].bodies)?;
        self.groups[1].bodies.clear();
        self.push_all();
        Ok(())
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        self.forget_hits();
        let [stack, _] = &mut self.stacks;
        let [hits, _] = &mut self.hits;
        let (cells, group) = (&mut self.cells, &self.groups[0]);
        let mut walk = Walk { cells, group, stack, ancestors: self.ancestors, hits, hit, tests: 0 };
        walk.visit(&self.unit_cells.root(), 0..0);
        let tests = walk.tests;
        self.end_walk();
        tests
    }

    fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::bytes).sum();
        let stacks: usize = self.stacks.iter().map(Stack::bytes).sum();
        let hits: usize = self.hits.iter().map(|hits| hits.capacity() * size_of::<u32>()).sum();
        self.cells.bytes() + groups + stacks + hits + self.few.capacity() * size_of::<Body<D>>()
    }

    /// Gives cells of all levels, also cells with smaller cells in them.
    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<D>)) {
        self.for_each_cell_below(&self.unit_cells.root(), cell);
    }
}
