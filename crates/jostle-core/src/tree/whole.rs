//! Few bodies: all of them one segment, which the calling thread sorts where they lie, in the caller's columns, and whose leaves it
//! fills. No tasks, no records, no scratch that tasks would have to borrow.
#![allow(unsafe_code, reason = "boxes are written by what tasks write theirs by")]

use super::LinearTree;
use super::leaves::{FillLeaves, bound_leaves, expected_leaves};
use super::level::LevelSlots;
use super::shape::{Part, Shape};
use super::sort::SortSegment;

impl<const D: usize> LinearTree<D> {
    /// Puts all bodies in order and fills their leaves. Places and marks have room for them.
    pub(super) fn sort_whole<S: Shape<D>>(&mut self, part: &mut Part<S, D>, source: S::Columns<'_>) {
        let (n, isa) = (self.len, self.isa);
        self.reserve_leaves(part, expected_leaves(n));
        let centers = S::centers(source, &mut part.leaves);
        let s = &mut self.scratch;
        s.local.reserve::<D>(n, 0, false);
        let (places, marks) = (&mut s.places[..n], &mut s.marks[..n]);
        let leaves =
            isa.run(SortSegment { order: &mut s.local.order, centers, bounds: Some(self.bounds), places, marks });
        self.reserve_leaves(part, leaves);
        let (places, marks) = (&self.scratch.places[..n], &self.scratch.marks[..leaves]);
        for (start, &mark) in self.leaf_starts.iter_mut().zip(marks) {
            *start = mark.into();
        }
        let (bodies, ids) = (&mut part.leaves[..leaves], &mut self.ids[..leaves]);
        isa.run(FillLeaves::<S, _, D> { source, places, marks, bodies, ids });
        // SAFETY: there is room for the boxes of all leaves, and there are no tasks.
        unsafe { bound_leaves::<S, D>(isa, bodies, &LevelSlots::new(&mut self.levels[0]), 0) };
        self.end_leaves(leaves);
    }
}
