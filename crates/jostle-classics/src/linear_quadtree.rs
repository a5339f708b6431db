//! The linear quadtree.

use crate::cell_tree::{CellTree, DenseCells};

/// A quadtree in one array, filled anew every frame.
///
/// The world is cut into 2^depth by 2^depth unit cells, and the cells of all levels stand in one array, cell n of level
/// L at (4^L - 1)/3 + n; the parent of i is (i - 1) >> 2, its first child 4i + 1. Each body is pushed to the list of
/// the smallest cell that holds all of it, found in constant time; [`CellTree`] says how. The tree is filled anew,
/// rather than changed where bodies moved, because a move is a removal from the middle of a list and an insertion, and
/// nearly everything moves.
///
/// `depth` is at most 12: 22 million cells, 270 MB. (The write-ups count 15 levels, whose cells of 16-bit coordinates
/// also fit the arithmetic here: `CellTree<2, SparseCells<2>>` has them.) [`CellTree::depth_for`] chooses one.
///
/// Known weakness: about n^1.5 tests, see [`CellTree`]; [`Ancestors::Touching`](crate::Ancestors) avoids most of them.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{BroadPhase, LinearQuadtree};
/// use jostle::{Aabb, Circles};
///
/// let screen = Aabb { lo: [0.0, 0.0], hi: [1280.0, 720.0] };
/// let mut tree = LinearQuadtree::for_bodies(screen, 4)?;
/// tree.update(Circles::new(&[100.0, 101.0, 640.0, 3000.0], &[100.0, 100.0, 360.0, -50.0], 2.0))?;
/// let mut pairs = Vec::new();
/// tree.for_each_pair(&mut |pair| pairs.push(pair));
/// assert_eq!(pairs, [[0, 1]]);
/// assert_eq!(tree.hit_counts(), [1, 1, 0, 0]);
///
/// // Two groups, of which only pairs between them count.
/// let players = Circles::new(&[10.0], &[10.0], 5.0);
/// let bullets = Circles::new(&[12.0, 13.0, 500.0], &[10.0, 11.0, 500.0], 1.0);
/// tree.update_two(players, bullets)?;
/// tree.for_each_pair_between(&mut |[player, bullet]| assert!(player == 0 && bullet < 2));
///
/// // Few against many: only the many are in the tree.
/// tree.update(bullets)?;
/// let mut hits = Vec::new();
/// tree.for_each_hit_of(players, &mut |pair| hits.push(pair))?;
/// assert_eq!(hits, [[0, 0], [0, 1]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LinearQuadtree = CellTree<2, DenseCells<2>>;
