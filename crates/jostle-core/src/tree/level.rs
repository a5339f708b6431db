//! Levels of boxes: sixteen of one level under one of the next.

use super::{LEAF, LinearTree};
use crate::aabb::Aabb;
use crate::disjoint::Disjoint;
use crate::scratch::resize_with_headroom;
use crate::workers::Workers;

/// Nodes of a level that one task computes.
const NODES_PER_TASK: usize = 1024;

/// The boxes of one level, as structure of arrays padded to whole nodes with boxes that overlap nothing.
#[derive(Debug, Clone)]
pub struct Level<const D: usize> {
    lo: [Vec<f32>; D],
    hi: [Vec<f32>; D],
    len: usize,
}

impl<const D: usize> Default for Level<D> {
    fn default() -> Self {
        Self { lo: [const { Vec::new() }; D], hi: [const { Vec::new() }; D], len: 0 }
    }
}

impl<const D: usize> Level<D> {
    /// Number of boxes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when the level has no boxes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Box `i`.
    ///
    /// # Panics
    /// When `i` is out of bounds.
    #[inline]
    #[must_use]
    pub fn aabb(&self, i: usize) -> Aabb<D> {
        Aabb { lo: core::array::from_fn(|k| self.lo[k][i]), hi: core::array::from_fn(|k| self.hi[k][i]) }
    }

    /// The lower borders on each axis, padded to a multiple of [`LEAF`].
    #[inline(always)]
    #[must_use]
    pub fn lo(&self) -> &[Vec<f32>; D] {
        &self.lo
    }

    /// The upper borders on each axis, padded to a multiple of [`LEAF`].
    #[inline(always)]
    #[must_use]
    pub fn hi(&self) -> &[Vec<f32>; D] {
        &self.hi
    }

    pub(super) fn resize(&mut self, len: usize) {
        self.len = len;
        let padded = len.next_multiple_of(LEAF);
        for axis in 0..D {
            resize_with_headroom(&mut self.lo[axis], padded, 0.0);
            resize_with_headroom(&mut self.hi[axis], padded, 0.0);
            self.lo[axis][len..].fill(f32::INFINITY);
            self.hi[axis][len..].fill(f32::NEG_INFINITY);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.lo.iter().chain(&self.hi).map(|v| v.capacity() * size_of::<f32>()).sum()
    }
}

/// Shared access to the boxes of a level, for tasks that each write their own.
pub(super) struct LevelSlots<'a, const D: usize> {
    lo: [Disjoint<'a, f32>; D],
    hi: [Disjoint<'a, f32>; D],
}

impl<'a, const D: usize> LevelSlots<'a, D> {
    pub(super) fn new(level: &'a mut Level<D>) -> Self {
        let (lo, hi) = (&mut level.lo, &mut level.hi);
        Self { lo: lo.each_mut().map(|v| Disjoint::new(v)), hi: hi.each_mut().map(|v| Disjoint::new(v)) }
    }

    /// # Safety
    /// `i` is within the level, and no other task touches box `i` meanwhile.
    #[allow(unsafe_code, reason = "slot writes")]
    #[inline(always)]
    pub(super) unsafe fn write(&self, i: usize, aabb: Aabb<D>) {
        for axis in 0..D {
            // SAFETY: passed on to the caller.
            unsafe {
                self.lo[axis].write(i, aabb.lo[axis]);
                self.hi[axis].write(i, aabb.hi[axis]);
            }
        }
    }
}

impl<const D: usize> LinearTree<D> {
    /// The levels above the leaves, each from the one below, until one has at most 16 boxes.
    #[allow(unsafe_code, reason = "each task writes boxes of its own")]
    pub(super) fn raise_levels(&mut self, workers: Workers) {
        self.used_levels = 0;
        if self.len == 0 {
            return;
        }
        self.used_levels = 1;
        loop {
            if self.levels.len() == self.used_levels {
                self.levels.push(Level::default());
            }
            let (below, above) = self.levels.split_at_mut(self.used_levels);
            let (below, above) = (&below[self.used_levels - 1], &mut above[0]);
            let nodes = below.len.div_ceil(LEAF);
            above.resize(nodes);
            let slots = LevelSlots::new(above);
            workers.run("levels", nodes.div_ceil(NODES_PER_TASK), |task| {
                for node in task * NODES_PER_TASK..((task + 1) * NODES_PER_TASK).min(nodes) {
                    // SAFETY: `node` is below the level's length, and in this task alone.
                    unsafe { slots.write(node, node_box(below, node)) }
                }
            });
            self.used_levels += 1;
            if nodes <= LEAF {
                return;
            }
        }
    }
}

/// The box of the children of `node`.
fn node_box<const D: usize>(below: &Level<D>, node: usize) -> Aabb<D> {
    let children = node * LEAF..(node + 1) * LEAF;
    let mut aabb = Aabb::EMPTY;
    for axis in 0..D {
        aabb.lo[axis] = below.lo[axis][children.clone()].iter().copied().fold(f32::INFINITY, f32::min);
        aabb.hi[axis] = below.hi[axis][children.clone()].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    }
    aabb
}
