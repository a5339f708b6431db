//! The invariants, spelled out.

use super::LooseQuadtree;
use super::nodes::{Kind, Place};
use crate::broken_tree::BrokenTree;
use crate::unit_cells::Square;

/// What a walk over the tree has met.
struct Met<'a> {
    tree: &'a LooseQuadtree,
    quads: usize,
    elements: usize,
}

impl LooseQuadtree {
    /// Checks every invariant. Vacant slots are chained. Every occupied slot is reached from the root once. An element
    /// lies in the leaf where its centre belongs. Boxes hold what is below them. Leaves above the greatest depth are
    /// not crowded. O(n).
    ///
    /// # Errors
    /// The first invariant found broken.
    pub fn validate(&self) -> Result<(), BrokenTree> {
        BrokenTree::unless_sound([("elements", self.elements.is_sound()), ("quads", self.quads.list.is_sound())])?;
        let mut met = Met { tree: self, quads: 1, elements: 0 };
        met.visit(self.quads.root, self.cells.root())?;
        // Each element met is in the leaf where it belongs. If as many are met as there are, each is met once.
        BrokenTree::unless_all("elements", met.elements, self.len())?;
        BrokenTree::unless_all("quads", met.quads, self.quads.list.len())
    }
}

impl Met<'_> {
    fn visit(&mut self, at: Place, square: Square) -> Result<(), BrokenTree> {
        let Kind::Branch(quad) = self.tree.quads[at].kind() else { return self.visit_leaf(at, square) };
        self.quads += 1;
        if self.tree.quads.list.get(quad).is_none() || self.quads > self.tree.quads.list.len() {
            return BrokenTree::unless_all("quads", self.quads, self.tree.quads.list.len());
        }
        for child in 0..4 {
            let below = Place { quad, child };
            // The empty box, with infinite borders, lies in every other box.
            if !self.tree.quads[at].aabb.holds(&self.tree.quads[below].aabb) {
                return Err(BrokenTree::Box { depth: self.tree.cells.depth_of(square) });
            }
            self.visit(below, square.child(child))?;
        }
        Ok(())
    }

    fn visit_leaf(&mut self, at: Place, square: Square) -> Result<(), BrokenTree> {
        let (tree, depth) = (self.tree, self.tree.cells.depth_of(square));
        for slot in tree.list(at) {
            self.elements += 1;
            // A list with a loop has no end.
            if self.elements > tree.len() {
                return BrokenTree::unless_all("elements", self.elements, tree.len());
            }
            let element = &tree.elements[slot];
            if tree.elements.get(slot).is_none() || !square.holds(tree.cells.cell(element.body.center)) {
                return Err(BrokenTree::Placement { id: element.id });
            }
            if !tree.quads[at].aabb.holds(&element.body.aabb()) {
                return Err(BrokenTree::Box { depth });
            }
        }
        if tree.is_crowded(at, square) {
            return Err(BrokenTree::Crowded { depth, elements: tree.list(at).count() });
        }
        Ok(())
    }
}
