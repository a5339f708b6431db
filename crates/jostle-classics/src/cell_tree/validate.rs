//! The invariants of the tree, spelt out.

use super::CellTree;
use super::cells::{Cell, Cells};
use super::group::Carried;
use super::unit_cells::Node;

/// An invariant of a [`CellTree`] that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenCells {
    /// A body in the list of a cell that is not the smallest to hold it.
    #[error("body {id} of group {group} is in a cell that is not its own")]
    Misplaced {
        /// 0 or 1.
        group: usize,
        /// The body.
        id: u32,
    },
    /// Bodies that a walk from the root does not meet, or meets twice.
    #[error("{reached} of the {bodies} bodies of group {group} are reached from the root")]
    Reached {
        /// 0 or 1.
        group: usize,
        /// Bodies met on a walk through all cells.
        reached: usize,
        /// Bodies in the group.
        bodies: usize,
    },
}

impl<const D: usize, C: Cells<D>> CellTree<D, C> {
    /// Checks that each body is in the list of its smallest cell, once, and that a walk from the root leads there. O(n
    /// + cells in use).
    ///
    /// # Errors
    /// The first invariant found broken.
    pub fn validate(&self) -> Result<(), BrokenCells> {
        for group in 0..self.groups.len() {
            let bodies = self.groups[group].bodies.len();
            let reached = self.count_below(group, &self.unit_cells.root())?;
            if reached != bodies {
                return Err(BrokenCells::Reached { group, reached, bodies });
            }
        }
        Ok(())
    }

    fn count_below(&self, group: usize, node: &Node<D>) -> Result<usize, BrokenCells> {
        let cell = self.cells.get(node.index);
        let mut count = self.count_in(group, node, cell)?;
        for k in cell.children() {
            count += self.count_below(group, &node.child(k))?;
        }
        Ok(count)
    }

    fn count_in(&self, group: usize, node: &Node<D>, cell: Cell) -> Result<usize, BrokenCells> {
        let is_at_home = |carried: &Carried<D>| self.unit_cells.smallest_node(&carried.span) == *node;
        // A list that runs in a circle would not end.
        let most = self.groups[group].bodies.len() + 1;
        let list = || self.groups[group].list(cell.first[group]).take(most);
        match list().find(|carried| !is_at_home(carried)) {
            Some(Carried { id, .. }) => Err(BrokenCells::Misplaced { group, id }),
            None => Ok(list().count()),
        }
    }
}
