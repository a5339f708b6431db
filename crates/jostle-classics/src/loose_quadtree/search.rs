//! Searches: elements in a rectangle, elements near a point, and a walk over all nodes.

use jostle_core::Aabb;

use super::LooseQuadtree;
use super::nodes::{Kind, Place};
use crate::element_index::ElementIndex;
use crate::neighbors::{Nearest, Neighbor};

impl LooseQuadtree {
    /// Finds the ids, in ascending order, of the elements whose rectangles share a point with `rect`, except `omit`.
    ///
    /// The rectangle of an element is its body's [`Body::aabb`](crate::Body::aabb). A `rect` that is empty, or not a
    /// number, finds nothing. O(nodes whose boxes are touched), and a sort of the ids found.
    pub fn query(&self, rect: &Aabb<2>, omit: Option<ElementIndex>, ids: &mut Vec<u32>) {
        ids.clear();
        if (0..2).all(|axis| rect.lo[axis] <= rect.hi[axis]) {
            let omit = omit.and_then(|index| self.find(index)).map(|slot| slot.get());
            self.query_below(self.quads.root, rect, omit, ids);
            ids.sort_unstable();
        }
    }

    fn query_below(&self, at: Place, rect: &Aabb<2>, omit: Option<usize>, ids: &mut Vec<u32>) {
        if !self.quads[at].aabb.overlaps(rect) {
            return;
        }
        if let Kind::Branch(quad) = self.quads[at].kind() {
            return (0..4).for_each(|child| self.query_below(Place { quad, child }, rect, omit, ids));
        }
        let others = self.list(at).filter(|slot| Some(slot.get()) != omit).map(|slot| &self.elements[slot]);
        ids.extend(others.filter(|element| element.body.aabb().overlaps(rect)).map(|element| element.id));
    }

    /// Finds the `k` elements whose centres are nearest to a point, by distance and then id. Nothing is near a point
    /// that is not a number. About O(log n + k) where elements are small.
    pub fn nearest(&self, point: [f32; 2], k: usize, found: &mut Vec<Neighbor>) {
        if let Some(mut nearest) = Nearest::new(point, k, found) {
            self.nearest_below(self.quads.root, &mut nearest);
        }
    }

    fn nearest_below(&self, at: Place, nearest: &mut Nearest<'_>) {
        let Kind::Branch(quad) = self.quads[at].kind() else {
            let elements = self.list(at).map(|slot| &self.elements[slot]);
            return elements.for_each(|element| nearest.offer(element.body.center, element.id));
        };
        for (bound, child) in nearest.nearest_first(|child| self.quads[Place { quad, child }].aabb) {
            if nearest.is_open_to(bound) {
                self.nearest_below(Place { quad, child }, nearest);
            }
        }
    }

    /// Calls `branch` or `leaf` with the box of every node, [`Aabb::EMPTY`] where there is nothing, and its depth.
    /// Branches come before the nodes below them; leaves come with the ids of their elements in no order.
    pub fn traverse(
        &self,
        mut branch: impl FnMut(Aabb<2>, u32),
        mut leaf: impl FnMut(Aabb<2>, u32, &mut dyn Iterator<Item = u32>),
    ) {
        self.traverse_below(self.quads.root, 0, &mut |at, depth| match self.quads[at].kind() {
            Kind::Branch(_) => branch(self.quads[at].aabb, depth),
            Kind::Leaf(_) => leaf(self.quads[at].aabb, depth, &mut self.list(at).map(|slot| self.elements[slot].id)),
        });
    }

    fn traverse_below(&self, at: Place, depth: u32, visit: &mut dyn FnMut(Place, u32)) {
        visit(at, depth);
        if let Kind::Branch(quad) = self.quads[at].kind() {
            (0..4).for_each(|child| self.traverse_below(Place { quad, child }, depth + 1, visit));
        }
    }
}
