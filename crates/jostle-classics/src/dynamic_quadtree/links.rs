//! The lists of leaves: puts elements in, takes them out, and splits one list into four.

use super::DynamicQuadtree;
use super::nodes::{Element, ElementNode, Kind, Leaf, Node, Place};
use crate::free_list::SlotIndex;
use crate::unit_cells::{Span, Square};

type Slot = SlotIndex<Element>;

impl DynamicQuadtree {
    /// Lists an element in every leaf at and below `at` that its new span touches and its old span, if any, does not.
    pub(super) fn link(&mut self, at: Place, square: Square, element: Slot, new: Span, old: Option<Span>) {
        match self.quads[at].kind() {
            Kind::Branch(quad) => {
                for child in square.children_in(new) {
                    self.link(Place { quad, child }, square.child(child), element, new, old);
                }
            }
            Kind::Leaf(mut leaf) => {
                if !old.is_some_and(|old| square.touches(old)) {
                    let first = self.element_nodes.insert(ElementNode { next: leaf.first, element });
                    leaf = Leaf { first: Some(first), count: leaf.count + 1 };
                    self.quads[at] = Node::leaf(leaf);
                }
                if self.is_crowded(leaf, square) {
                    self.split(at, square, leaf);
                }
            }
        }
    }

    /// Takes an element off the list of every leaf at and below `at` that its old span touches and its new span, if
    /// any, does not.
    pub(super) fn unlink(&mut self, at: Place, square: Square, element: Slot, old: Span, new: Option<Span>) {
        match self.quads[at].kind() {
            Kind::Branch(quad) => {
                for child in square.children_in(old) {
                    self.unlink(Place { quad, child }, square.child(child), element, old, new);
                }
            }
            Kind::Leaf(_) if new.is_some_and(|new| square.touches(new)) => {}
            Kind::Leaf(leaf) => self.strike(at, leaf, element),
        }
    }

    fn strike(&mut self, at: Place, leaf: Leaf, element: Slot) {
        let (mut before, mut current) = (None, leaf.first);
        while let Some(index) = current {
            let ElementNode { next, element: listed } = self.element_nodes[index];
            if listed == element {
                let first = if before.is_none() { next } else { leaf.first };
                if let Some(before) = before {
                    self.element_nodes[before].next = next;
                }
                self.quads[at] = Node::leaf(Leaf { first, count: leaf.count - 1 });
                self.element_nodes.remove(index);
                return;
            }
            (before, current) = (current, next);
        }
        debug_assert!(false, "an element is listed in every leaf that it touches");
    }

    /// Returns whether a leaf is to be split: too many of its elements do not cover all of it, and it can be split.
    pub(super) fn is_crowded(&self, leaf: Leaf, square: Square) -> bool {
        if leaf.count as usize <= self.max_elements || square.is_unit() {
            return false;
        }
        let ends_here = |element: &Slot| !square.lies_in(self.span(&self.elements[*element].body));
        self.list(leaf).filter(ends_here).nth(self.max_elements).is_some()
    }

    fn split(&mut self, at: Place, square: Square, leaf: Leaf) {
        let children = self.quads.add();
        self.quads[at] = Node::branch(children);
        let mut current = leaf.first;
        while let Some(index) = current {
            let ElementNode { next, element } = self.element_nodes[index];
            self.element_nodes.remove(index);
            self.link(at, square, element, self.span(&self.elements[element].body), None);
            current = next;
        }
    }

    /// The elements of a leaf.
    #[inline]
    pub(super) fn list(&self, leaf: Leaf) -> impl Iterator<Item = Slot> {
        let next = |index: &SlotIndex<ElementNode>| self.element_nodes[*index].next;
        core::iter::successors(leaf.first, next).map(|index| self.element_nodes[index].element)
    }
}
