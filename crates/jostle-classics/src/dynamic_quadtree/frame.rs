//! The tree as a broad phase: what has moved is moved.

use jostle_core::{Aabb, Bodies, InputError};

use super::DynamicQuadtree;
use super::nodes::Element;
use super::pairs::Pairs;
use crate::broad_phase::BroadPhase;
use crate::check::{body, check};
use crate::free_list::SlotIndex;

/// `update` moves what has moved and leaves alone what has not; more bodies than before are inserted, those that are no
/// longer there removed, and [`Self::cleanup`] is called once. A tree that was filled by other means is emptied first.
///
/// Pairs come along the Morton curve, whatever the tree looks like: the order depends on the bodies of the frame alone.
impl BroadPhase<2> for DynamicQuadtree {
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), InputError> {
        check(bodies)?;
        if !self.ids_are_slots() {
            self.clear();
        }
        let kept = self.len().min(bodies.len());
        self.keep(kept);
        for (slot, id) in slots(0..kept).zip(0..) {
            let body = body(bodies, id);
            if self.elements[slot].body != body {
                self.replace(slot, body);
            }
        }
        self.elements.reserve(bodies.len());
        for id in kept..bodies.len() {
            let body = body(bodies, id);
            let slot = self.elements.insert(Element { body, id: id as u32 });
            self.link(self.root, self.cells.root(), slot, self.span(&body), None);
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
        self.elements.bytes() + self.element_nodes.bytes() + self.quads.bytes() + self.crowd.bytes()
    }

    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        self.traverse(
            |_, _| (),
            |aabb, _, ids| {
                if ids.next().is_some() {
                    cell(aabb);
                }
            },
        );
    }
}

impl DynamicQuadtree {
    /// Whether the ids are 0, 1, 2, ... and each the index of its slot: what `update` leaves behind.
    fn ids_are_slots(&self) -> bool {
        self.elements.iter().zip(0..).all(|((slot, element), id)| slot == id && element.id as usize == id)
    }

    /// Removes all elements but the first so many, given that ids are slots.
    fn keep(&mut self, kept: usize) {
        for slot in slots(kept..self.len()) {
            let span = self.span(&self.elements[slot].body);
            self.unlink(self.root, self.cells.root(), slot, span, None);
        }
        self.elements.truncate(kept);
    }
}

fn slots(range: core::ops::Range<usize>) -> impl Iterator<Item = SlotIndex<Element>> {
    range.filter_map(SlotIndex::new)
}
