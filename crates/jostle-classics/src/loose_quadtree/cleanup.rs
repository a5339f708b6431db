//! Boxes shrink, and branches that have become empty turn back into leaves.

use jostle_core::Aabb;

use super::LooseQuadtree;
use super::nodes::{Kind, Node, Place};
use crate::quads::Node as _;

impl LooseQuadtree {
    /// Shrinks every box to the elements below it, and turns every branch whose four children are empty leaves back
    /// into an empty leaf. A call removes one layer, on purpose, so that it does not give back nodes that the next
    /// frame asks for again. Once a frame is often enough. O(n).
    pub fn cleanup(&mut self) {
        self.gather();
        self.cleanup_below(self.quads.root);
    }

    fn cleanup_below(&mut self, at: Place) -> Aabb<2> {
        let aabb = match self.quads[at].kind() {
            Kind::Leaf(_) => {
                let boxes = self.gathered.of(at).iter().map(|member| member.body.aabb());
                boxes.fold(Aabb::EMPTY, Aabb::union)
            }
            // The children are checked before their own are cleaned up: branches that get empty below wait for the next
            // call.
            Kind::Branch(quad) if self.quads.remove_if_empty(quad) => {
                self.quads[at] = Node::EMPTY;
                Aabb::EMPTY
            }
            Kind::Branch(quad) => {
                let boxes = (0..4).map(|child| self.cleanup_below(Place { quad, child }));
                boxes.fold(Aabb::EMPTY, Aabb::union)
            }
        };
        self.quads[at].aabb = aabb;
        aabb
    }

    /// Removes everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.gathered.forget();
        self.elements.clear();
        self.quads.clear();
    }
}
