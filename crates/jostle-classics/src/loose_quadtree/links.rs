//! The lists of leaves: puts elements in, takes them out, and splits one list into four.

use super::LooseQuadtree;
use super::nodes::{Element, Kind, Node, Place};
use crate::body::Body;
use crate::free_list::SlotIndex;
use crate::unit_cells::Square;

impl LooseQuadtree {
    /// Puts an element into the leaf where its centre belongs.
    pub(super) fn link(&mut self, element: SlotIndex<Element>) {
        self.gathered.forget();
        self.link_below(self.quads.root, self.cells.root(), element);
    }

    /// As [`Self::link`], from a node down. Boxes grow along the path.
    fn link_below(&mut self, at: Place, square: Square, element: SlotIndex<Element>) {
        let body = self.elements[element].body;
        let (at, square) = self.descend(at, square, &body, |node| node.aabb = node.aabb.union(body.aabb()));
        let Kind::Leaf(first) = self.quads[at].kind() else { return };
        self.elements[element].next = first;
        self.quads[at].set_leaf(Some(element));
        if self.is_crowded(at, square) {
            self.split(at, square);
        }
    }

    /// Takes an element out of its leaf. Boxes stay as they are.
    pub(super) fn unlink(&mut self, element: SlotIndex<Element>) {
        self.gathered.forget();
        let Element { body, next, .. } = self.elements[element];
        let (at, _) = self.descend(self.quads.root, self.cells.root(), &body, |_| {});
        let before = self.list(at).find(|&slot| self.elements[slot].next == Some(element));
        match before {
            Some(before) => self.elements[before].next = next,
            None => self.quads[at].set_leaf(next),
        }
    }

    /// Grows the boxes from the root to a body's leaf, so that they hold the body.
    pub(super) fn grow(&mut self, body: &Body<2>) {
        let aabb = body.aabb();
        self.descend(self.quads.root, self.cells.root(), body, |node| node.aabb = node.aabb.union(aabb));
    }

    /// Goes down to the leaf where a body's centre belongs, and visits each node of the path.
    fn descend(
        &mut self,
        mut at: Place,
        mut square: Square,
        body: &Body<2>,
        mut visit: impl FnMut(&mut Node),
    ) -> (Place, Square) {
        let cell = self.cells.cell(body.center);
        loop {
            let node = &mut self.quads[at];
            visit(node);
            let Kind::Branch(quad) = node.kind() else { return (at, square) };
            let child = square.child_with(cell);
            (at, square) = (Place { quad, child }, square.child(child));
        }
    }

    /// Returns whether a leaf is to be split: it has too many elements, and it can be split.
    pub(super) fn is_crowded(&self, at: Place, square: Square) -> bool {
        !square.is_unit() && self.list(at).nth(self.max_elements).is_some()
    }

    fn split(&mut self, at: Place, square: Square) {
        let Kind::Leaf(mut current) = self.quads[at].kind() else { return };
        let children = self.quads.add();
        self.quads[at].set_branch(children);
        while let Some(element) = current {
            current = self.elements[element].next;
            self.link_below(at, square, element);
        }
    }

    /// The elements of a leaf; none for a branch.
    #[inline]
    pub(super) fn list(&self, at: Place) -> impl Iterator<Item = SlotIndex<Element>> {
        let first = match self.quads[at].kind() {
            Kind::Leaf(first) => first,
            Kind::Branch(_) => None,
        };
        core::iter::successors(first, |&slot| self.elements[slot].next)
    }
}
