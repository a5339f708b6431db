//! Who ends the last part of a group goes on with the group, at once: nobody waits until all groups have ended.
//!
//! So T. Karras raises boxes from the leaves of a tree, "Maximizing parallelism in the construction of BVHs, octrees, and k-d trees" (2012).

use core::mem;

use crate::parallel::sync::{AtomicUsize, Ordering};

/// How many parts of each group have ended.
#[derive(Debug, Default)]
pub(crate) struct Groups(Vec<AtomicUsize>);

impl Groups {
    /// Forgets all, for so many groups.
    pub(crate) fn reset(&mut self, groups: usize) {
        self.0.clear();
        self.grow(groups);
    }

    /// Makes it so many groups, of which those that there are go on.
    pub(crate) fn grow(&mut self, groups: usize) {
        if groups > self.0.len() {
            self.0.resize_with(groups, || AtomicUsize::new(0));
        }
    }

    /// Says that some parts of a group that has `all` parts have ended: whether all have now. Then what was done before each was said to have
    /// ended can be seen, and this is said once.
    pub(crate) fn end(&self, group: usize, parts: usize, all: usize) -> bool {
        self.0[group].fetch_add(parts, Ordering::AcqRel) + parts == all
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * mem::size_of::<AtomicUsize>()
    }
}
