//! The trait of every system that answers "which pairs overlap?".

use core::fmt::Debug;

use jostle_core::{Aabb, Bodies, ViewError};

/// A way to find all overlapping pairs of bodies that move from frame to frame.
///
/// A system learns what depends on the scene (the world, the size of a cell) when it is made. Bodies may lie anywhere
/// all the same, and are found wherever they lie. Memory is kept from frame to frame.
pub trait BroadPhase<const D: usize>: Debug + Send {
    /// Takes the bodies of a frame: builds anew, or moves the bodies that have moved. Ids are positions in `bodies`.
    ///
    /// # Errors
    /// The errors of the engine's search, before any work; the bodies taken before stay.
    fn update(&mut self, bodies: Bodies<'_, D>) -> Result<(), ViewError>;

    /// Calls `hit` once with every overlapping pair `[a, b]`, `a < b`, in an order that depends on the given bodies
    /// alone. Returns the number of pairs of bodies that were looked at, by their boxes or as circles.
    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64;

    /// Bytes of memory held.
    fn bytes(&self) -> usize;

    /// Calls `cell` with the box of each cell or leaf that lists a body, as something to look at: in no order, and of
    /// any size. Bodies outside the world are in cells of its border; but boxes that grow with their bodies (of loose
    /// trees and grids) are where the bodies are. By default it gives none, for systems without cells.
    fn for_each_cell(&self, _cell: &mut dyn FnMut(Aabb<D>)) {}
}

impl<const D: usize, S: BroadPhase<D> + ?Sized> BroadPhase<D> for Box<S> {
    fn update(&mut self, bodies: Bodies<'_, D>) -> Result<(), ViewError> {
        (**self).update(bodies)
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        (**self).for_each_pair(hit)
    }

    fn bytes(&self) -> usize {
        (**self).bytes()
    }

    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<D>)) {
        (**self).for_each_cell(cell);
    }
}
