//! What a cell holds, and the two ways to keep all cells.

use core::fmt::Debug;

use super::index::CellIndex;
use crate::error::SetupError;
use crate::link::Link;

/// The most groups of bodies: one group whose pairs are sought, or two groups between which pairs are sought.
pub(crate) const GROUPS: usize = 2;

/// A cell: a list of bodies for each group, and which of its children have something in them or below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub(crate) first: [Link; GROUPS],
    children: u8,
}

impl Cell {
    /// Nothing in it and nothing below it.
    pub(crate) const BLANK: Self = Self { first: [Link::NONE; GROUPS], children: 0 };

    #[inline]
    pub(crate) fn has_bodies(&self) -> bool {
        self.first != Self::BLANK.first
    }

    #[inline]
    pub(crate) fn is_blank(&self) -> bool {
        *self == Self::BLANK
    }

    /// The children that have something in them, along the Morton curve.
    #[inline]
    pub(crate) fn children(&self) -> impl Iterator<Item = u32> + use<> {
        let from = |children: u8| (children != 0).then_some(children);
        core::iter::successors(from(self.children), move |rest| from(rest & (rest - 1))).map(u8::trailing_zeros)
    }

    pub(crate) const fn add_child(&mut self, k: u32) {
        self.children |= 1 << k;
    }

    pub(crate) const fn drop_child(&mut self, k: u32) {
        self.children &= !(1 << k);
    }
}

/// All cells of a tree, by number: [`DenseCells`](crate::DenseCells) or
/// [`SparseCells`](crate::SparseCells), and no others.
///
/// A cell that is not blank is known to its parent as a child, and so up to the root: this leads a walk past empty
/// subtrees.
pub trait Cells<const D: usize>: Debug + Clone + Send + sealed::Sealed {
    /// The deepest level that there is room for.
    const DEEPEST: u32;

    /// Makes cells that are all blank.
    ///
    /// # Errors
    /// [`SetupError::Depth`] when `depth` is more than [`Cells::DEEPEST`].
    #[doc(hidden)]
    fn new(depth: u32) -> Result<Self, SetupError>;

    /// Empties every list.
    #[doc(hidden)]
    fn clear(&mut self);

    /// Returns a copy of a cell; a blank cell where none is kept.
    #[doc(hidden)]
    fn get(&self, index: CellIndex<D>) -> Cell;

    /// Returns a cell that is about to be filled, and makes it if there is none yet.
    #[doc(hidden)]
    fn fill(&mut self, index: CellIndex<D>) -> &mut Cell;

    /// Is called when a walk has found nothing in a cell and nothing below it.
    #[doc(hidden)]
    fn drop_end(&mut self, _index: CellIndex<D>) {}

    /// Is called when a walk has been everywhere.
    #[doc(hidden)]
    fn end_walk(&mut self) {}

    /// Bytes of memory held.
    #[doc(hidden)]
    fn bytes(&self) -> usize;

    /// Puts a body at the head of a list. Returns the link to the body after it.
    #[doc(hidden)]
    #[inline]
    fn push(&mut self, index: CellIndex<D>, group: usize, id: u32) -> Link {
        let cell = self.fill(index);
        let was_blank = cell.is_blank();
        let next = core::mem::replace(&mut cell.first[group], Link::to(id as usize));
        if was_blank {
            self.tell_parents(index);
        }
        next
    }

    /// Makes a cell known to its parent, the parent to its own parent, and so on up to a cell that was known already.
    /// Over a frame that is one step for each cell on the way to a body, whatever the number of bodies.
    #[doc(hidden)]
    fn tell_parents(&mut self, mut index: CellIndex<D>) {
        while let Some((parent, k)) = index.up() {
            let cell = self.fill(parent);
            let was_known = !cell.is_blank();
            cell.add_child(k);
            if was_known {
                return;
            }
            index = parent;
        }
    }
}

pub(crate) mod sealed {
    pub trait Sealed {}
}
