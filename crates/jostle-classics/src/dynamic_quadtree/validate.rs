//! The invariants, spelled out.

use super::DynamicQuadtree;
use super::nodes::{Element, Kind, Leaf, Place};
use crate::broken_tree::BrokenTree;
use crate::free_list::SlotIndex;
use crate::unit_cells::{Span, Square};

/// What a walk over the tree has met.
struct Met<'a> {
    tree: &'a DynamicQuadtree,
    quads: usize,
    element_nodes: usize,
    /// For each slot of an element, the number of the leaf that listed it last, and how many leaves did.
    listed: Vec<(usize, usize)>,
    leaves: usize,
}

impl DynamicQuadtree {
    /// Checks every invariant. Vacant slots are chained. Every occupied slot is reached from the root once. Counts are
    /// the lengths of lists. An element is listed once in each leaf that it touches, and in no other. Leaves above the
    /// greatest depth are not crowded. O(n times leaves an element).
    ///
    /// # Errors
    /// The first invariant found broken.
    pub fn validate(&self) -> Result<(), BrokenTree> {
        BrokenTree::unless_sound([
            ("elements", self.elements.is_sound()),
            ("element nodes", self.element_nodes.is_sound()),
            ("quads", self.quads.list.is_sound()),
        ])?;
        let slots = self.elements.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
        let mut met = Met { tree: self, quads: 1, element_nodes: 0, listed: vec![(0, 0); slots], leaves: 0 };
        met.visit(self.quads.root, self.cells.root())?;
        BrokenTree::unless_all("quads", met.quads, self.quads.list.len())?;
        BrokenTree::unless_all("element nodes", met.element_nodes, self.element_nodes.len())?;
        for (slot, element) in self.elements.iter() {
            let leaves = self.leaves_touched(self.quads.root, self.cells.root(), self.span(&element.body));
            if met.listed[slot].1 != leaves {
                return Err(BrokenTree::Placement { id: element.id });
            }
        }
        Ok(())
    }

    fn leaves_touched(&self, at: Place, square: Square, span: Span) -> usize {
        match self.quads[at].kind() {
            Kind::Leaf(_) => 1,
            Kind::Branch(quad) => {
                let touched = square.children_in(span);
                touched.map(|child| self.leaves_touched(Place { quad, child }, square.child(child), span)).sum()
            }
        }
    }
}

impl Met<'_> {
    fn visit(&mut self, at: Place, square: Square) -> Result<(), BrokenTree> {
        match self.tree.quads[at].kind() {
            Kind::Leaf(leaf) => self.visit_leaf(leaf, square),
            Kind::Branch(quad) => {
                self.quads += 1;
                if self.tree.quads.list.get(quad).is_none() || self.quads > self.tree.quads.list.len() {
                    return BrokenTree::unless_all("quads", self.quads, self.tree.quads.list.len());
                }
                (0..4).try_for_each(|child| self.visit(Place { quad, child }, square.child(child)))
            }
        }
    }

    fn visit_leaf(&mut self, leaf: Leaf, square: Square) -> Result<(), BrokenTree> {
        self.leaves += 1;
        let (tree, count) = (self.tree, leaf.count as usize);
        let listed = tree.list(leaf).take(count + 1).inspect(|&slot| self.list(slot)).count();
        self.element_nodes += listed;
        if listed != count {
            return Err(BrokenTree::Count { count, listed });
        }
        let stranger = |slot: &SlotIndex<Element>| match tree.elements.get(*slot) {
            Some(element) => !square.touches(tree.span(&element.body)),
            None => true,
        };
        if let Some(slot) = tree.list(leaf).find(stranger) {
            return Err(BrokenTree::Placement { id: tree.elements[slot].id });
        }
        if tree.is_crowded(leaf, square) {
            return Err(BrokenTree::Crowded { depth: tree.cells.depth_of(square), elements: count });
        }
        Ok(())
    }

    /// Counts a leaf once for an element, so that an element listed twice in one leaf, and not in another, is found
    /// out.
    fn list(&mut self, slot: SlotIndex<Element>) {
        if let Some((last, leaves)) = self.listed.get_mut(slot.get()) {
            *leaves += usize::from(*last != self.leaves);
            *last = self.leaves;
        }
    }
}
