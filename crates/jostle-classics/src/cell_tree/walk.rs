//! All pairs of one group.

use core::ops::Range;

use super::cells::Cells;
use super::group::Group;
use super::stack::{Ancestors, Stack};
use super::unit_cells::Node;

/// A walk from the root, with the bodies of the cells above on a stack.
pub(super) struct Walk<'a, const D: usize, C> {
    pub(super) cells: &'a mut C,
    pub(super) group: &'a Group<D>,
    pub(super) stack: &'a mut Stack<D>,
    pub(super) ancestors: Ancestors,
    pub(super) hits: &'a mut [u32],
    pub(super) hit: &'a mut dyn FnMut([u32; 2]),
    pub(super) tests: u64,
}

impl<const D: usize, C: Cells<D>> Walk<'_, D, C> {
    /// Tests the bodies of a cell, then visits its children. Returns whether there is anything in the cell or below it.
    /// `carried` is the range at the end of the stack that counts for the cell.
    pub(super) fn visit(&mut self, node: &Node<D>, carried: Range<usize>) -> bool {
        let cell = self.cells.get(node.index);
        let own = self.stack.push_list(self.group, cell.first[0]);
        self.test(&carried, &own);
        let mut used = cell.has_bodies();
        for k in cell.children() {
            let child = node.child(k);
            let carried = self.stack.carry(carried.start..own.end, &child.region, self.ancestors);
            used |= self.visit(&child, carried);
            self.stack.truncate(own.end);
        }
        if !used {
            self.cells.drop_end(node.index);
        }
        used
    }

    /// Tests the cell's own bodies against bodies of the cells above and against each other.
    fn test(&mut self, carried: &Range<usize>, own: &Range<usize>) {
        for at in own.clone() {
            let me = self.stack.get(at);
            for other in self.stack.hits_of(me.body, carried.start..at) {
                self.hits[me.id as usize] += 1;
                self.hits[other as usize] += 1;
                (self.hit)([me.id.min(other), me.id.max(other)]);
            }
            self.tests += (at - carried.start) as u64;
        }
    }
}
