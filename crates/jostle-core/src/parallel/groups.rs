//! Groups of parts. The thread that ends the last part of a group goes on with the group at once: nobody waits until
//! all groups have ended.
//!
//! T. Karras raises boxes from the leaves of a tree in this way, "Maximizing parallelism in the construction of BVHs,
//! octrees, and k-d trees" (2012).

use core::mem;

use crate::parallel::sync::{AtomicUsize, Ordering};

/// How many parts of each group have ended.
#[derive(Debug, Default)]
pub(crate) struct Groups(Vec<AtomicUsize>);

impl Groups {
    /// Forgets all parts, and makes room for `groups` groups.
    pub(crate) fn reset(&mut self, groups: usize) {
        self.0.clear();
        self.grow(groups);
    }

    /// Makes room for `groups` groups; existing groups keep their counts.
    pub(crate) fn grow(&mut self, groups: usize) {
        if groups > self.0.len() {
            self.0.resize_with(groups, || AtomicUsize::new(0));
        }
    }

    /// Notes that `parts` of the `all` parts of a group have ended. Returns whether all have ended now: true once, to a
    /// thread that then sees what was done before each part was noted.
    pub(crate) fn end(&self, group: usize, parts: usize, all: usize) -> bool {
        self.0[group].fetch_add(parts, Ordering::AcqRel) + parts == all
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * mem::size_of::<AtomicUsize>()
    }
}
