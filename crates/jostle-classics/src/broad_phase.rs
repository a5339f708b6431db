//! What every system can do that answers "which pairs overlap?".

use core::fmt::Debug;

use jostle_core::{Aabb, Bodies, ViewError};

/// A way to find all overlapping pairs of bodies that move from frame to frame.
///
/// What depends on the scene (the world, the size of a cell) is said when a system is made; bodies may lie anywhere all
/// the same, and are found wherever they lie. Memory is kept from frame to frame.
pub trait BroadPhase<const D: usize>: Debug + Send {
    /// Takes the bodies of a frame: builds anew, or moves what has moved. Ids are positions in `bodies`.
    ///
    /// # Errors
    /// As the search of the engine does, before any work; what was taken before stays.
    fn update(&mut self, bodies: Bodies<'_, D>) -> Result<(), ViewError>;

    /// Gives every overlapping pair `[a, b]`, `a < b`, once, in an order that depends on the bodies given alone;
    /// returns the number of pairs of bodies that were looked at, be it by their boxes or as circles.
    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64;

    /// Bytes of memory held.
    fn bytes(&self) -> usize;

    /// Gives the box of each cell or leaf that a body is listed in, as something to look at: in no order, of any size,
    /// and within the world even where the bodies are not. None by default, for systems without cells.
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
