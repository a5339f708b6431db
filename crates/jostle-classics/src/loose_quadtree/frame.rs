//! The tree as a broad phase: an update moves the bodies that have moved.

use jostle_core::{Aabb, Bodies, ViewError};

use super::nodes::Element;
use super::pairs::Pairs;
use super::{LooseQuadtree, fits};
use crate::broad_phase::BroadPhase;
use crate::check::{body, check};
use crate::free_list::SlotIndex;

/// `update` moves the bodies that have moved and leaves the others alone. It inserts bodies beyond the former number,
/// removes bodies that are gone, and calls [`Self::cleanup`] once. A tree that was filled by other means is emptied
/// first.
///
/// Pairs come along the Morton curve, whatever the tree looks like: the order depends on the bodies of the frame alone.
impl BroadPhase<2> for LooseQuadtree {
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        check(bodies)?;
        fits(bodies.len())?;
        if !self.elements.are_in_order(|element| element.id) {
            self.clear();
        }
        let kept = self.len().min(bodies.len());
        SlotIndex::range(kept..self.len()).for_each(|slot| self.unlink(slot));
        self.elements.truncate(kept);
        for (slot, id) in SlotIndex::range(0..kept).zip(0..) {
            let body = body(bodies, id);
            if self.elements[slot].body != body {
                // Boxes need not grow: `cleanup` makes them anew below.
                self.replace(slot, body);
            }
        }
        self.elements.reserve(bodies.len());
        for id in kept..bodies.len() {
            let slot = self.elements.insert(Element { body: body(bodies, id), id: id as u32, next: None });
            self.link(slot);
        }
        self.cleanup();
        Ok(())
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        self.gather();
        let mut meeting = core::mem::take(&mut self.meeting);
        let looked_at = Pairs { tree: self, meeting: &mut meeting, hit, looked_at: 0 }.all();
        self.meeting = meeting;
        looked_at
    }

    fn bytes(&self) -> usize {
        self.elements.bytes() + self.quads.list.bytes() + self.gathered.bytes() + self.meeting.bytes()
    }

    /// Gives the boxes of leaves, which overlap.
    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        self.traverse(|_, _| (), |aabb, _, ids| ids.take(1).for_each(|_| cell(aabb)));
    }
}
