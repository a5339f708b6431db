//! Elements come, move and go.

use jostle_core::{Aabb, Bodies, ViewError};

use super::LooseTightGrid;
use crate::body::Body;
use crate::check::{body, check_one};
use crate::link::Link;

/// A cell of the loose grid: a box that holds its elements' boxes, and their list.
#[derive(Debug, Clone, Copy)]
pub(super) struct LooseCell {
    pub(super) aabb: Aabb<2>,
    pub(super) head: Link,
}

const _: () = assert!(size_of::<LooseCell>() == 20, "what a loose cell costs is a promise");

impl LooseCell {
    pub(super) const EMPTY: Self = Self { aabb: Aabb::EMPTY, head: Link::NONE };
}

/// A circle in the list of its loose cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) body: Body<2>,
    pub(super) id: u32,
    pub(super) next: Link,
}

/// The elements of a list.
#[inline]
pub(super) fn list(elements: &[Element], head: Link) -> impl Iterator<Item = &Element> {
    let at = |link: Link| link.index().map(|slot| &elements[slot]);
    core::iter::successors(at(head), move |element| at(element.next))
}

impl LooseTightGrid {
    /// Adds an element, and returns its id, one that is free. O(1), and a listing for each tight cell that the loose
    /// cell's box is new to; O(loose cells) at worst where the box touches more than 1,024 tight cells.
    ///
    /// # Errors
    /// [`ViewError::Bodies`] when a value is outside the contract of the input.
    pub fn insert(&mut self, body: Body<2>) -> Result<u32, ViewError> {
        let id = self.free_ids.last().copied().unwrap_or(self.slots.len() as u32);
        check_one(id, &body)?;
        self.free_ids.pop();
        let cell = self.add(id, body);
        self.grow(cell, &body.aabb());
        Ok(id)
    }

    /// Takes an element out, and returns its body; `None` when there is no element of this id. Boxes stay as they are
    /// until they are shrunk. O(elements of its cell).
    pub fn remove(&mut self, id: u32) -> Option<Body<2>> {
        let slot = self.slot(id)?;
        let body = self.elements[slot].body;
        self.take_out(slot);
        self.free_ids.push(id);
        Some(body)
    }

    /// Changes the body of an element, and returns the former body; `None` when there is no element of this id. O(1)
    /// within a loose cell, otherwise O(elements of the cell that it leaves); and what [`insert`](Self::insert) takes
    /// where a box grows.
    ///
    /// # Errors
    /// [`ViewError::Bodies`] when a value is outside the contract of the input; the element stays where it is.
    pub fn move_to(&mut self, id: u32, body: Body<2>) -> Result<Option<Body<2>>, ViewError> {
        check_one(id, &body)?;
        let Some(slot) = self.slot(id) else { return Ok(None) };
        let before = self.elements[slot].body;
        let cell = self.put(slot, body);
        self.grow(cell, &body.aabb());
        Ok(Some(before))
    }

    /// Returns the body of the element of an id.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<Body<2>> {
        self.slot(id).map(|slot| self.elements[slot].body)
    }

    /// Makes elements 0..n the bodies of the frame, and leaves no others. Boxes and tight lists stay as they are, since
    /// shrinking makes them anew.
    ///
    /// Goes through the elements as they lie in memory, cell by cell, not by id. Then cells and lists are at hand, and
    /// only the view is read here and there.
    pub(super) fn replace_all(&mut self, bodies: Bodies<'_, 2>) {
        self.take_out_from(bodies.len());
        for slot in 0..self.elements.len() {
            self.put(slot, body(bodies, self.elements[slot].id as usize));
        }
        for id in 0..bodies.len() {
            if self.elements.len() == bodies.len() {
                break;
            }
            if self.slot(id as u32).is_none() {
                self.add(id as u32, body(bodies, id));
            }
        }
    }

    /// Removes the elements of ids from `n` on, and forgets which ids are free.
    fn take_out_from(&mut self, n: usize) {
        for id in n..self.slots.len() {
            if let Some(slot) = self.slot(id as u32) {
                self.take_out(slot);
            }
        }
        self.slots.truncate(n);
        self.free_ids.clear();
    }

    /// Returns where the element of an id is.
    #[inline]
    fn slot(&self, id: u32) -> Option<usize> {
        let slot = *self.slots.get(id as usize)? as usize;
        (self.elements.get(slot)?.id == id).then_some(slot)
    }

    /// The loose cell of a body.
    #[inline]
    pub(super) fn cell_of(&self, body: &Body<2>) -> usize {
        self.loose_map.index(self.loose_map.cell(body.center))
    }

    /// Adds an element to the list of its cell, and returns the cell.
    fn add(&mut self, id: u32, body: Body<2>) -> usize {
        let slot = self.elements.len();
        if id as usize == self.slots.len() {
            self.slots.push(slot as u32);
        }
        self.slots[id as usize] = slot as u32;
        self.elements.push(Element { body, id, next: Link::NONE });
        let cell = self.cell_of(&body);
        self.link(cell, slot);
        cell
    }

    /// Changes an element, moves it to another list if necessary, and returns its cell.
    #[inline]
    fn put(&mut self, slot: usize, body: Body<2>) -> usize {
        let (from, to) = (self.cell_of(&self.elements[slot].body), self.cell_of(&body));
        self.elements[slot].body = body;
        if from != to {
            self.unlink(from, slot);
            self.link(to, slot);
        }
        to
    }

    /// Removes an element; the last element fills the gap.
    fn take_out(&mut self, slot: usize) {
        self.unlink(self.cell_of(&self.elements[slot].body), slot);
        let last = self.elements.len() - 1;
        if slot != last {
            let moved = self.elements[last];
            let cell = self.cell_of(&moved.body);
            *self.link_to(cell, last) = Link::to(slot);
            self.slots[moved.id as usize] = slot as u32;
        }
        self.elements.swap_remove(slot);
    }

    fn link(&mut self, cell: usize, slot: usize) {
        let head = &mut self.loose[cell].head;
        self.elements[slot].next = core::mem::replace(head, Link::to(slot));
    }

    fn unlink(&mut self, cell: usize, slot: usize) {
        let next = self.elements[slot].next;
        *self.link_to(cell, slot) = next;
    }

    /// Returns the link of a cell's list that leads to an element.
    fn link_to(&mut self, cell: usize, slot: usize) -> &mut Link {
        let target = Link::to(slot);
        let head = self.loose[cell].head;
        let before = list_slots(&self.elements, head).find(|&before| self.elements[before].next == target);
        match before {
            Some(before) if head != target => &mut self.elements[before].next,
            _ => &mut self.loose[cell].head,
        }
    }

    /// Grows the box of a cell, and lists the cell in the tight cells that the box newly touches.
    fn grow(&mut self, cell: usize, aabb: &Aabb<2>) {
        let before = self.loose[cell].aabb;
        if before.holds(aabb) {
            return;
        }
        let now = before.union(*aabb);
        self.loose[cell].aabb = now;
        let range = self.tight.map().range(&now);
        if before == Aabb::EMPTY {
            self.tight.list(cell as u32, range);
        } else {
            self.tight.extend(cell as u32, self.tight.map().range(&before), range);
        }
    }
}

/// The slots of a list.
fn list_slots(elements: &[Element], head: Link) -> impl Iterator<Item = usize> {
    core::iter::successors(head.index(), |&slot| elements[slot].next.index())
}
