//! The hits of a body that is not in the tree.

use super::cells::{Cell, Cells};
use super::group::Group;
use super::stack::Ancestors;
use super::unit_cells::{Node, Span};
use crate::body::Body;

/// A search for the bodies of a tree that overlap a body from elsewhere.
pub(super) struct Search<'a, const D: usize, C> {
    pub(super) cells: &'a C,
    pub(super) group: &'a Group<D>,
    pub(super) ancestors: Ancestors,
    pub(super) body: Body<D>,
    pub(super) span: Span<D>,
    pub(super) hit: &'a mut dyn FnMut(u32),
    pub(super) tests: u64,
}

impl<const D: usize, C: Cells<D>> Search<'_, D, C> {
    /// Tests the bodies of the smallest cell that holds this body, of the cells above it and of the cells below it.
    pub(super) fn run(mut self, home: &Node<D>) -> u64 {
        let mut index = home.index;
        while let Some((parent, _)) = index.up() {
            self.test(self.cells.get(parent));
            index = parent;
        }
        self.descend(home);
        self.tests
    }

    fn descend(&mut self, node: &Node<D>) {
        let cell = self.cells.get(node.index);
        self.test(cell);
        for child in cell.children().map(|k| node.child(k)) {
            if self.ancestors == Ancestors::All || self.span.meets(&child.region) {
                self.descend(&child);
            }
        }
    }

    fn test(&mut self, cell: Cell) {
        for other in self.group.list(cell.first[0]) {
            self.tests += 1;
            if self.body.overlaps(&other.body) {
                (self.hit)(other.id);
            }
        }
    }
}
