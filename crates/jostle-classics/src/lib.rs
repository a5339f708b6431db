//! The broad phases that Jostle's users come from: each a real implementation to learn from, to race, or to pick.
//!
//! All systems that answer "which pairs overlap?" do so behind one trait, [`BroadPhase`], with the predicate of the
//! engine: `dx*dx + dy*dy (+ dz*dz) <= s*s` in `f32`, touching counts. They run on one thread, hold no `unsafe`, and
//! keep their memory from frame to frame. [`System`] makes each system by name, [`SystemInSpace`] each system for
//! spheres:
//!
//! - all against all, [`BruteForce`];
//! - trees filled anew every frame, with a body in the smallest cell that holds it: [`LinearQuadtree`],
//!   [`LinearOctree`];
//! - trees that live on, with `insert`, `move_to`, `remove`, `query`, `nearest`, `traverse`: [`DynamicQuadtree`], where
//!   a body is in every leaf that it touches, and [`LooseQuadtree`], where a body is in one leaf, with a box that
//!   grows;
//! - grids: [`UniformGrid`], [`LooseTightGrid`], [`PointGrid`] for sizes that are alike, [`GridHierarchy`].
//!
//! [`CircleCoverage`] and [`RectangleCoverage`] tell, approximately, which objects of two groups were hit at all.
//!
//! ```
//! # use jostle_core as jostle;
//! use jostle_classics::{BroadPhase, BruteForce};
//! use jostle::Circles;
//!
//! let mut brute = BruteForce::new();
//! brute.update(Circles::new(&[0.0, 1.0, 5.0], &[0.0; 3], 0.5))?;
//! let mut pairs = Vec::new();
//! let tests = brute.for_each_pair(&mut |pair| pairs.push(pair));
//! assert_eq!((pairs, tests), (vec![[0, 1]], 3));
//! # Ok::<(), jostle::ViewError>(())
//! ```
#![forbid(unsafe_code)]

mod body;
mod broad_phase;
mod broken_tree;
mod brute;
mod cell_tree;
mod check;
mod coverage;
mod dynamic_quadtree;
mod element_index;
mod error;
mod free_list;
mod grid;
mod grid_hierarchy;
mod linear_octree;
mod linear_quadtree;
mod link;
mod loose_quadtree;
mod loose_tight_grid;
mod neighbors;
mod point_grid;
mod quads;
mod system;
mod uniform_grid;
mod unit_cells;

pub use body::Body;
pub use broad_phase::BroadPhase;
pub use broken_tree::BrokenTree;
pub use brute::BruteForce;
pub use cell_tree::{Ancestors, BrokenCells, CellTree, Cells, DenseCells, SparseCells};
pub use coverage::{CircleCoverage, Hits, Misjudged, RectangleCoverage};
pub use dynamic_quadtree::DynamicQuadtree;
pub use element_index::ElementIndex;
pub use error::SetupError;
pub use grid_hierarchy::{BrokenGridHierarchy, GridHierarchy};
pub use linear_octree::LinearOctree;
pub use linear_quadtree::LinearQuadtree;
pub use loose_quadtree::LooseQuadtree;
pub use loose_tight_grid::{BrokenLooseTightGrid, LooseTightGrid};
pub use neighbors::Neighbor;
pub use point_grid::PointGrid;
pub use system::{System, SystemInSpace, TooManyBodies, UnknownSystem};
pub use uniform_grid::UniformGrid;
pub use unit_cells::Limits;
