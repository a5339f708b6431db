//! Makes boxes as small as they can be, and puts lists side by side in memory.

use jostle_core::Aabb;

use super::LooseTightGrid;
use super::elements::Element;
use crate::link::Link;

impl LooseTightGrid {
    /// Makes the boxes of the loose cells as small as their elements allow, and lists the cells anew in the tight
    /// cells. Puts the elements of a cell side by side in order of id, so that a walk along a list is a walk along
    /// memory. Meant for once a frame. O(n + cells).
    pub fn shrink(&mut self) {
        self.spare.clear();
        self.spare.reserve_exact(self.elements.len());
        self.tight.clear();
        for cell in 0..self.loose.len() {
            if let Some(aabb) = self.tidy(cell) {
                let range = self.tight.map().range(&aabb);
                self.tight.list(cell as u32, range);
            }
        }
        core::mem::swap(&mut self.elements, &mut self.spare);
    }

    /// Copies the elements of a cell in order of id, and returns their box; `None` when there are none.
    fn tidy(&mut self, cell: usize) -> Option<Aabb<2>> {
        let first = self.spare.len();
        let head = self.loose[cell].head;
        self.spare.extend(super::elements::list(&self.elements, head));
        let run = &mut self.spare[first..];
        if run.is_empty() {
            self.loose[cell].aabb = Aabb::EMPTY;
            return None;
        }
        run.sort_unstable_by_key(|element| element.id);
        let aabb = relink(run, first, &mut self.slots);
        self.loose[cell].aabb = aabb;
        self.loose[cell].head = Link::to(first);
        Some(aabb)
    }
}

/// Links the elements of a run, which begins at `first`, in their order. Returns the box of all elements.
fn relink(run: &mut [Element], first: usize, slots: &mut [u32]) -> Aabb<2> {
    let mut aabb = Aabb::EMPTY;
    for (slot, element) in (first..).zip(run.iter_mut()) {
        element.next = Link::to(slot + 1);
        slots[element.id as usize] = slot as u32;
        aabb = aabb.union(element.body.aabb());
    }
    if let Some(last) = run.last_mut() {
        last.next = Link::NONE;
    }
    aabb
}
