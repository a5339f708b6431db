//! How a caller names an element of a tree.

/// Where an element lies in its tree, as `insert` gave it.
///
/// It holds the caller's id beside the slot, so an index kept for longer than its element is refused, unless an element of
/// the same id has come to the same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementIndex {
    pub(crate) slot: u32,
    pub(crate) id: u32,
}

impl ElementIndex {
    /// The id that the element was inserted with.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.id
    }
}
