//! Searches: elements in a rectangle, elements near a point, and a walk over all nodes.

use jostle_core::Aabb;

use super::DynamicQuadtree;
use super::nodes::{Kind, Leaf, Place};
use crate::element_index::ElementIndex;
use crate::neighbors::{Nearest, Neighbor};
use crate::unit_cells::{Span, Square};

/// A rectangle to be searched.
struct Query<'a> {
    rect: &'a Aabb<2>,
    span: Span,
    /// The slot of the element to leave out.
    omit: Option<usize>,
}

impl DynamicQuadtree {
    /// Finds the ids, in ascending order, of the elements whose rectangles share a point with `rect`, except `omit`.
    ///
    /// The rectangle of an element is its body's [`Body::aabb`](crate::Body::aabb). A `rect` that is empty, or not a
    /// number, finds nothing. O(leaves touched), and a sort of the ids found.
    pub fn query(&self, rect: &Aabb<2>, omit: Option<ElementIndex>, ids: &mut Vec<u32>) {
        ids.clear();
        if (0..2).all(|axis| rect.lo[axis] <= rect.hi[axis]) {
            let omit = omit.and_then(|index| self.find(index)).map(|slot| slot.get());
            let query = Query { rect, span: self.cells.span(rect), omit };
            self.query_below(self.quads.root, self.cells.root(), &query, ids);
            ids.sort_unstable();
        }
    }

    fn query_below(&self, at: Place, square: Square, query: &Query<'_>, ids: &mut Vec<u32>) {
        match self.quads[at].kind() {
            Kind::Branch(quad) => {
                for child in square.children_in(query.span) {
                    self.query_below(Place { quad, child }, square.child(child), query, ids);
                }
            }
            Kind::Leaf(leaf) => self.query_leaf(leaf, square, query, ids),
        }
    }

    /// Takes an element of several leaves from the leaf where its intersection with the rectangle has its lower corner.
    fn query_leaf(&self, leaf: Leaf, square: Square, query: &Query<'_>, ids: &mut Vec<u32>) {
        for slot in self.list(leaf).filter(|slot| Some(slot.get()) != query.omit) {
            let element = &self.elements[slot];
            let aabb = element.body.aabb();
            let is_first = square.begins(self.cells.cell(aabb.lo)) | square.begins(query.span.lo) == 3;
            if is_first && aabb.overlaps(query.rect) {
                ids.push(element.id);
            }
        }
    }

    /// Finds the `k` elements whose centres are nearest to a point, by distance and then id. Nothing is near a point
    /// that is not a number. About O(log n + k) where elements are small.
    pub fn nearest(&self, point: [f32; 2], k: usize, found: &mut Vec<Neighbor>) {
        if let Some(mut nearest) = Nearest::new(point, k, found) {
            self.nearest_below(self.quads.root, self.cells.root(), &mut nearest);
        }
    }

    fn nearest_below(&self, at: Place, square: Square, nearest: &mut Nearest<'_>) {
        match self.quads[at].kind() {
            Kind::Branch(quad) => {
                for (bound, child) in nearest.nearest_first(|child| self.cells.catchment(square.child(child))) {
                    if nearest.is_open_to(bound) {
                        self.nearest_below(Place { quad, child }, square.child(child), nearest);
                    }
                }
            }
            // Of the leaves that list an element, one has its centre.
            Kind::Leaf(leaf) => {
                for slot in self.list(leaf) {
                    let element = &self.elements[slot];
                    if square.holds(self.cells.cell(element.body.center)) {
                        nearest.offer(element.body.center, element.id);
                    }
                }
            }
        }
    }

    /// Calls `branch` or `leaf` with the square of every node, as a box in the world, and its depth. Branches come
    /// before the nodes below them; leaves come with the ids of their elements in no order.
    pub fn traverse(
        &self,
        mut branch: impl FnMut(Aabb<2>, u32),
        mut leaf: impl FnMut(Aabb<2>, u32, &mut dyn Iterator<Item = u32>),
    ) {
        self.traverse_below(self.quads.root, self.cells.root(), &mut |square, list| {
            let (aabb, depth) = (self.cells.aabb(square), self.cells.depth_of(square));
            match list {
                None => branch(aabb, depth),
                Some(list) => leaf(aabb, depth, &mut self.list(list).map(|slot| self.elements[slot].id)),
            }
        });
    }

    /// As [`Self::traverse`]; a node without a list is a branch.
    pub(super) fn traverse_below(&self, at: Place, square: Square, visit: &mut dyn FnMut(Square, Option<Leaf>)) {
        match self.quads[at].kind() {
            Kind::Branch(quad) => {
                visit(square, None);
                (0..4).for_each(|child| self.traverse_below(Place { quad, child }, square.child(child), visit));
            }
            Kind::Leaf(leaf) => visit(square, Some(leaf)),
        }
    }
}
