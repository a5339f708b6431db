//! Few bodies are one segment, which the calling thread sorts where they lie, in the caller's columns. There are no
//! records, and no scratch that tasks would have to borrow.
#![allow(unsafe_code, reason = "each task fills leaves of its own")]

use super::leaves::{FillLeaves, bound_leaves, expected_leaves};
use super::raise::LowLevels;
use super::shape::{Part, Shape};
use super::sort::SortSegment;
use super::{LEAF, LinearTree};
use crate::parallel::disjoint::Disjoint;
use crate::parallel::workers::Workers;

/// Leaves that one task fills, always whole nodes. Each worker fills the leaves that it will join: it would have to
/// wait for leaves that another core has in its cache.
const TASK_LEAVES: usize = 64;

const _: () = assert!(TASK_LEAVES.is_multiple_of(LEAF));

impl<const D: usize> LinearTree<D> {
    /// Puts all bodies in order and fills their leaves. Places and marks have room for them.
    pub(super) fn sort_whole<S: Shape<D>>(
        &mut self,
        part: &mut Part<S, D>,
        source: S::Columns<'_>,
        workers: Workers<'_>,
    ) {
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
        let task_leaves = if matches!(workers, Workers::Serial) { leaves.max(1) } else { TASK_LEAVES };
        let (all_bodies, all_ids) = (Disjoint::new(&mut part.leaves), Disjoint::new(&mut self.ids));
        let levels = LowLevels::new(&mut self.levels);
        workers.run("leaves", leaves.div_ceil(task_leaves), |task| {
            let own = task * task_leaves..((task + 1) * task_leaves).min(leaves);
            let places = &places[..marks.get(own.end).map_or(n, |&end| usize::from(end))];
            // SAFETY: each task has leaves of its own.
            let (bodies, ids) = unsafe { (all_bodies.range(own.clone()), all_ids.range(own.clone())) };
            isa.run(FillLeaves::<S, _, D> { source, places, marks: &marks[own.clone()], bodies, ids, ahead: 0 });
            // SAFETY: there is room for the boxes of all leaves, and each task writes its own.
            unsafe { bound_leaves::<S, D>(isa, bodies, &levels.leaves, own.start) };
            for node in own.start / LEAF..own.end / LEAF {
                // SAFETY: a task has whole nodes of leaves.
                unsafe { levels.raise(node) }
            }
        });
        self.end_leaves(leaves);
    }
}
