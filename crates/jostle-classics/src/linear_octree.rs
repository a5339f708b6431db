//! The linear octree.

use crate::cell_tree::{CellTree, SparseCells};

/// An octree without pointers, filled anew every frame, that keeps only the cells in use.
///
/// It works as the [`LinearQuadtree`](crate::LinearQuadtree) does, in space: cell n of level L has number (8^L - 1)/7 +
/// n, the parent of i is (i - 1) >> 3, its children 8i + 1 to 8i + 8. With all eight levels of 8-bit coordinates an
/// array of all cells would hold 19,173,961 of them, 365 MiB at 20 bytes each, nearly all empty. So cells are kept in a
/// hash map by number. A cell is made when something first lies in it or below it, and dropped when a search for pairs
/// finds it empty with nothing below. 100,000 spheres on eight levels then take 5 MB when evenly spread and 13 MB with
/// a power law of radii, bodies included.
///
/// `depth` is at most 10. [`CellTree::depth_for`] chooses one.
///
/// Known weakness: about n^1.67 tests, see [`CellTree`]; [`Ancestors::Touching`](crate::Ancestors) avoids most of them.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{BroadPhase, LinearOctree};
/// use jostle::{Aabb, Spheres};
///
/// let mut tree = LinearOctree::new(Aabb { lo: [0.0; 3], hi: [256.0; 3] }, 8)?;
/// tree.update(Spheres::new(&[5.5, 6.0, 200.0], &[3.5, 3.5, 3.5], &[4.5, 4.5, 4.5], 0.3))?;
/// let mut pairs = Vec::new();
/// let tests = tree.for_each_pair(&mut |pair| pairs.push(pair));
/// assert_eq!((pairs, tests), (vec![[0, 1]], 1));
/// assert!(tree.bytes() < 2_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LinearOctree = CellTree<3, SparseCells<3>>;
