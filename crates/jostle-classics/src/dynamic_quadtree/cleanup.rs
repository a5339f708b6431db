//! Branches that have become empty turn back into leaves.

use super::DynamicQuadtree;
use super::nodes::{Kind, Leaf, Node, Place};

impl DynamicQuadtree {
    /// Turns every branch whose four children are empty leaves back into an empty leaf. A call removes one layer, on
    /// purpose, so that it does not give back nodes that the next frame asks for again. Once a frame is often enough.
    /// O(branches).
    pub fn cleanup(&mut self) {
        self.cleanup_below(self.quads.root);
    }

    fn cleanup_below(&mut self, at: Place) {
        let Kind::Branch(quad) = self.quads[at].kind() else { return };
        // The children are checked before their own children are cleaned up: branches that get empty below wait for the
        // next call.
        if self.quads.remove_if_empty(quad) {
            self.quads[at] = Node::leaf(Leaf { first: None, count: 0 });
            return;
        }
        for child in 0..4 {
            self.cleanup_below(Place { quad, child });
        }
    }

    /// Removes everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.elements.clear();
        self.element_nodes.clear();
        self.quads.clear();
    }
}
