//! How a caller names an element of a tree.

use crate::free_list::{FreeList, Slot, SlotIndex};

/// Where an element lies in its tree, as `insert` returned it.
///
/// The index holds the caller's id beside the slot. So an index kept for longer than its element is refused, unless an
/// element of the same id has come to the same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementIndex {
    slot: u32,
    id: u32,
}

impl ElementIndex {
    pub(crate) fn new<T>(slot: SlotIndex<T>, id: u32) -> Self {
        Self { slot: slot.get() as u32, id }
    }

    /// Returns the slot of the element, if the element is still there.
    pub(crate) fn slot_of<T: Slot>(self, elements: &FreeList<T>, id_of: impl Fn(&T) -> u32) -> Option<SlotIndex<T>> {
        let slot = SlotIndex::new(self.slot as usize)?;
        elements.get(slot).filter(|element| id_of(element) == self.id).map(|_| slot)
    }

    /// The id that the element was inserted with.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.id
    }
}
