//! The linear octree.

use crate::cell_tree::{CellTree, SparseCells};

/// An octree without pointers, filled anew every frame, of which only the cells in use are kept.
///
/// As the [`LinearQuadtree`](crate::LinearQuadtree), in space: cell n of level L has number (8^L - 1)/7 + n, the parent
/// of i is (i - 1) >> 3, its children 8i + 1 to 8i + 8. With all eight levels of 8-bit coordinates an array of all
/// cells would hold 19,173,961 of them, 365 MiB at 20 bytes each, nearly all empty. So cells are made when something
/// first comes to lie in them or below, kept in a hash map by number, and dropped when a search for pairs finds them
/// empty with nothing below. 100,000 spheres on eight levels then take 5 MB when evenly spread and 13 MB with a power
/// law of radii, bodies included.
///
/// `depth` is at most 10. [`CellTree::depth_for`] chooses one.
///
/// Known weakness: about n^1.67 tests, see [`CellTree`] and, against it, [`Ancestors::Touching`](crate::Ancestors).
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
