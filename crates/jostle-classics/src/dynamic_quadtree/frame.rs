//! The tree as a broad phase: an update moves the bodies that have moved.

use jostle_core::{Aabb, Bodies, ViewError};

use super::DynamicQuadtree;
use super::nodes::Element;
use super::pairs::Pairs;
use crate::broad_phase::BroadPhase;
use crate::check::{body, check};
use crate::free_list::SlotIndex;

/// `update` moves the bodies that have moved and leaves the others alone. It inserts bodies beyond the former number,
/// removes bodies that are gone, and calls [`Self::cleanup`] once. A tree that was filled by other means is emptied
/// first.
///
/// Pairs come along the Morton curve, whatever the tree looks like: the order depends on the bodies of the frame alone.
impl BroadPhase<2> for DynamicQuadtree {
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        check(bodies)?;
        if !self.elements.are_in_order(|element| element.id) {
            self.clear();
        }
        let kept = self.len().min(bodies.len());
        self.keep(kept);
        for (slot, id) in SlotIndex::range(0..kept).zip(0..) {
            let body = body(bodies, id);
            if self.elements[slot].body != body {
                self.replace(slot, body);
            }
        }
        self.elements.reserve(bodies.len());
        for id in kept..bodies.len() {
            let body = body(bodies, id);
            let slot = self.elements.insert(Element { body, id: id as u32 });
            self.link(self.quads.root, self.cells.root(), slot, self.span(&body), None);
        }
        self.cleanup();
        Ok(())
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let mut crowd = core::mem::take(&mut self.crowd);
        let looked_at = Pairs { tree: self, crowd: &mut crowd, hit, looked_at: 0 }.all();
        self.crowd = crowd;
        looked_at
    }

    fn bytes(&self) -> usize {
        self.elements.bytes() + self.element_nodes.bytes() + self.quads.list.bytes() + self.crowd.bytes()
    }

    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        self.traverse(|_, _| (), |aabb, _, ids| ids.take(1).for_each(|_| cell(aabb)));
    }
}

impl DynamicQuadtree {
    /// Removes all elements but the first `kept`, given that ids are slots.
    fn keep(&mut self, kept: usize) {
        for slot in SlotIndex::range(kept..self.len()) {
            let span = self.span(&self.elements[slot].body);
            self.unlink(self.quads.root, self.cells.root(), slot, span, None);
        }
        self.elements.truncate(kept);
    }
}
