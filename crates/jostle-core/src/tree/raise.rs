//! Boxes of nodes. The worker that fills the last leaf of a node finds the node's box, while leaves are filled. The
//! levels above follow one by one.

use core::ops::Range;

use super::level::LevelSlots;
use super::{LEAF, Level, LinearTree};
use crate::aabb::{Aabb, greatest_of_all, least_of_all};
use crate::parallel::groups::Groups;
use crate::parallel::workers::Workers;
use crate::sixteen::Boxes16;

/// Nodes of a level that one task computes: fewer take less time than several threads take to begin.
const NODES_PER_TASK: usize = 256;

/// The boxes of leaves and of their nodes, for tasks that fill leaves.
pub(super) struct LowLevels<'a, const D: usize> {
    pub(super) leaves: LevelSlots<'a, D>,
    nodes: LevelSlots<'a, D>,
}

impl<'a, const D: usize> LowLevels<'a, D> {
    /// Borrows the lowest two levels of a tree, which has two at least.
    pub(super) fn new(levels: &'a mut [Level<D>]) -> Self {
        let (leaves, above) = levels.split_at_mut(1);
        Self { leaves: LevelSlots::new(&mut leaves[0]), nodes: LevelSlots::new(&mut above[0]) }
    }

    /// Notes the box of a node.
    ///
    /// # Safety
    /// There is room for the node. No other task touches the node's box, or writes the boxes of its leaves, meanwhile.
    #[allow(unsafe_code, reason = "slot writes")]
    pub(super) unsafe fn raise(&self, node: usize) {
        // SAFETY: passed on to the caller.
        unsafe { self.nodes.write(node, node_box(self.leaves.node(node))) }
    }
}

/// Successive leaves that a worker has filled. The worker tells others of them only where it goes on elsewhere: it
/// would have to make all that it has written visible to them, which takes as long as filling a leaf.
pub(super) struct Run<'a, const D: usize> {
    levels: &'a LowLevels<'a, D>,
    /// How many leaves of each node have been filled, for nodes that several workers fill.
    filled: &'a Groups,
    leaves: Range<usize>,
}

impl<'a, const D: usize> Run<'a, D> {
    pub(super) fn new(levels: &'a LowLevels<'a, D>, filled: &'a Groups) -> Self {
        Self { levels, filled, leaves: 0..0 }
    }

    /// Adds leaves that the worker has filled, and notes the boxes of nodes whose last leaf is one of them.
    ///
    /// # Safety
    /// There is room for the nodes, each of these leaves has its box, and no leaf is added twice.
    #[allow(unsafe_code, reason = "a promise that is asked for, and passed on")]
    pub(super) unsafe fn add(&mut self, leaves: Range<usize>) {
        if leaves.start != self.leaves.end {
            // SAFETY: as promised of the leaves before.
            unsafe { self.end() }
            self.leaves = leaves.start..leaves.start;
        }
        let nodes = self.leaves.end / LEAF..leaves.end / LEAF;
        self.leaves.end = leaves.end;
        for node in nodes {
            // SAFETY: as promised.
            unsafe { self.note(node) }
        }
    }

    /// Ends the run: the worker goes on elsewhere.
    ///
    /// # Safety
    /// As for [`Run::add`].
    #[allow(unsafe_code, reason = "a promise that is asked for, and passed on")]
    pub(super) unsafe fn end(&mut self) {
        if !self.leaves.end.is_multiple_of(LEAF) && !self.leaves.is_empty() {
            // SAFETY: as promised.
            unsafe { self.note(self.leaves.end / LEAF) }
        }
    }

    /// Notes the box of a node if all of its leaves have been filled, the leaves of this run included.
    ///
    /// # Safety
    /// As for [`Run::add`].
    #[allow(unsafe_code, reason = "who fills the last leaf of a node has its box")]
    unsafe fn note(&self, node: usize) {
        let leaves = self.leaves.start.max(node * LEAF)..self.leaves.end.min((node + 1) * LEAF);
        if leaves.len() == LEAF || self.filled.end(node, leaves.len(), LEAF) {
            // SAFETY: there is room, as promised; all leaves of the node have their boxes, and this worker alone is
            // told so.
            unsafe { self.levels.raise(node) }
        }
    }
}

impl<const D: usize> LinearTree<D> {
    /// Builds the levels above the leaves and their nodes, each from the one below, until a level has at most 16 boxes.
    #[allow(unsafe_code, reason = "each task writes boxes of its own")]
    pub(super) fn raise_levels(&mut self, workers: Workers<'_>) {
        self.used_levels = 0;
        if self.len == 0 {
            return;
        }
        self.used_levels = 2;
        while self.levels[self.used_levels - 1].len() > LEAF {
            if self.levels.len() == self.used_levels {
                self.levels.push(Level::default());
            }
            let (below, above) = self.levels.split_at_mut(self.used_levels);
            let (below, above) = (&below[self.used_levels - 1], &mut above[0]);
            let nodes = below.len().div_ceil(LEAF);
            above.reserve(nodes);
            above.set_len(nodes);
            let slots = LevelSlots::new(above);
            workers.run("levels", nodes.div_ceil(NODES_PER_TASK), |task| {
                for node in task * NODES_PER_TASK..((task + 1) * NODES_PER_TASK).min(nodes) {
                    // SAFETY: `node` is below the level's length, and in this task alone.
                    unsafe { slots.write(node, node_box(&below.nodes()[node])) }
                }
            });
            self.used_levels += 1;
        }
    }
}

/// Returns the box that holds all boxes of a node.
fn node_box<const D: usize>(node: &Boxes16<D>) -> Aabb<D> {
    let mut aabb = Aabb::EMPTY;
    for axis in 0..D {
        let (lo, hi) = (&node.lo[axis].0, &node.hi[axis].0);
        aabb.lo[axis] = least_of_all(lo);
        aabb.hi[axis] = greatest_of_all(hi);
    }
    aabb
}
