//! The invariants of the two grids, spelled out.

use super::LooseTightGrid;

/// An invariant of [`LooseTightGrid`] that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenLooseTightGrid {
    /// An element is in no list, in several lists, or in the list of another cell.
    #[error("element {id} is not in the list of its loose cell, and in no other, once")]
    List {
        /// The element.
        id: u32,
    },
    /// An id does not lead to its element, or is neither taken nor free.
    #[error("id {id} does not lead to its element, or is neither taken nor free")]
    Id {
        /// The id.
        id: u32,
    },
    /// The box of a loose cell does not hold an element of the cell.
    #[error("the box of loose cell {cell} does not hold element {id}")]
    Box {
        /// The place of the cell, counted row by row.
        cell: usize,
        /// The element.
        id: u32,
    },
    /// A loose cell is not listed in exactly the tight cells that its box touches.
    #[error("loose cell {cell} is not listed in exactly the tight cells that its box touches")]
    Listed {
        /// The place of the cell, counted row by row.
        cell: usize,
    },
}

impl LooseTightGrid {
    /// Checks every invariant. Each element is in the list of the loose cell of its centre and in no other. Ids lead to
    /// their elements, and ids that do not are free. Boxes hold the boxes of their elements. A loose cell with a box is
    /// listed in the tight cells that the box touches, once each, or among the giants. O(n + cells + listings).
    ///
    /// # Errors
    /// The first invariant found broken.
    pub fn validate(&self) -> Result<(), BrokenLooseTightGrid> {
        self.validate_lists()?;
        self.validate_ids()?;
        self.validate_tight()
    }

    fn validate_lists(&self) -> Result<(), BrokenLooseTightGrid> {
        let mut seen = vec![false; self.elements.len()];
        for (at, cell) in self.loose.iter().enumerate() {
            let mut link = cell.head;
            while let Some(slot) = link.index() {
                let element = &self.elements[slot];
                if self.cell_of(&element.body) != at || core::mem::replace(&mut seen[slot], true) {
                    return Err(BrokenLooseTightGrid::List { id: element.id });
                }
                if !cell.aabb.holds(&element.body.aabb()) {
                    return Err(BrokenLooseTightGrid::Box { cell: at, id: element.id });
                }
                link = element.next;
            }
        }
        let lost = seen.iter().position(|&seen| !seen);
        lost.map_or(Ok(()), |slot| Err(BrokenLooseTightGrid::List { id: self.elements[slot].id }))
    }

    fn validate_ids(&self) -> Result<(), BrokenLooseTightGrid> {
        let mut known = vec![false; self.slots.len()];
        let taken = self.elements.iter().enumerate().map(|(slot, element)| (Some(slot as u32), element.id));
        for (slot, id) in taken.chain(self.free_ids.iter().map(|&id| (None, id))) {
            let leads = slot.is_none_or(|slot| self.slots.get(id as usize) == Some(&slot));
            match known.get_mut(id as usize) {
                Some(known) if leads && !*known => *known = true,
                _ => return Err(BrokenLooseTightGrid::Id { id }),
            }
        }
        let unknown = known.iter().position(|&known| !known);
        unknown.map_or(Ok(()), |id| Err(BrokenLooseTightGrid::Id { id: id as u32 }))
    }

    /// If each listing is in the range of its cell and none comes twice, it is enough to count the listings.
    fn validate_tight(&self) -> Result<(), BrokenLooseTightGrid> {
        let ranges = self.loose.iter().map(|cell| {
            let listed = cell.aabb.lo[0] <= cell.aabb.hi[0];
            listed.then(|| self.tight.map().range(&cell.aabb))
        });
        let ranges: Vec<_> = ranges.collect();
        match self.tight.misplaced(&ranges) {
            None => Ok(()),
            Some(cell) => Err(BrokenLooseTightGrid::Listed { cell: cell as usize }),
        }
    }
}
