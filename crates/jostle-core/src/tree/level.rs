//! Levels of boxes: each box holds sixteen boxes of the level below; the last one may hold fewer.

use core::fmt;

use super::LEAF;
use crate::aabb::Aabb;
use crate::fours::Four;
use crate::parallel::disjoint::Disjoint;
use crate::parallel::scratch::{reserve, with_headroom};
use crate::prefetch::prefetch;
use crate::sixteen::Boxes16;

/// The boxes of one level, in nodes of sixteen, each as structure of arrays. The last node is filled up with boxes that
/// overlap nothing.
#[derive(Clone)]
pub struct Level<const D: usize> {
    nodes: Vec<Boxes16<D>>,
    len: usize,
}

impl<const D: usize> Default for Level<D> {
    fn default() -> Self {
        Self { nodes: Vec::new(), len: 0 }
    }
}

impl<const D: usize> fmt::Debug for Level<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Level").field("boxes", &self.len).finish_non_exhaustive()
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
        let (node, lane) = (&self.nodes[i / LEAF], i % LEAF);
        let mut aabb = Aabb { lo: [0.0; D], hi: [0.0; D] };
        for axis in 0..D {
            (aabb.lo[axis], aabb.hi[axis]) = (node.lo[axis].0[lane], node.hi[axis].0[lane]);
        }
        aabb
    }

    /// The boxes; each element is a node of sixteen.
    #[inline(always)]
    #[must_use]
    pub fn nodes(&self) -> &[Boxes16<D>] {
        &self.nodes[..self.len.div_ceil(LEAF)]
    }

    /// Makes room for `boxes` boxes.
    pub(super) fn reserve(&mut self, boxes: usize) {
        if self.nodes.len() < boxes.div_ceil(LEAF) {
            let len = with_headroom(boxes).div_ceil(LEAF);
            reserve(&mut self.nodes, len);
            self.nodes.resize(len, Boxes16::NONE);
        }
    }

    /// Sets the number of boxes, for which there is room, and fills the last node up.
    pub(super) fn set_len(&mut self, len: usize) {
        self.len = len;
        let (last, taken) = (len / LEAF, len % LEAF);
        if taken == 0 {
            return;
        }
        let last = &mut self.nodes[last];
        for axis in 0..D {
            let (lo, hi) = (&mut last.lo[axis].0, &mut last.hi[axis].0);
            for lane in 0..LEAF {
                lo[lane] = if lane < taken { lo[lane] } else { f32::INFINITY };
                hi[lane] = if lane < taken { hi[lane] } else { f32::NEG_INFINITY };
            }
        }
    }

    /// Asks for the memory of the first `boxes` boxes.
    pub(super) fn prefetch(&self, boxes: usize) {
        prefetch(&self.nodes[..boxes.div_ceil(LEAF).min(self.nodes.len())]);
    }

    /// Makes this level a copy of another.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.reserve(other.len);
        self.len = other.len;
        // Few nodes: a call that copies would take longer than the copy.
        self.nodes.iter_mut().zip(other.nodes()).for_each(|(to, from)| *to = *from);
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Boxes16<D>>()
    }
}

/// Shared access to the boxes of a level, for tasks that each write their own.
pub(super) struct LevelSlots<'a, const D: usize>(Disjoint<'a, Boxes16<D>>);

impl<'a, const D: usize> LevelSlots<'a, D> {
    pub(super) fn new(level: &'a mut Level<D>) -> Self {
        Self(Disjoint::new(&mut level.nodes))
    }

    /// The boxes of a node.
    ///
    /// # Safety
    /// The node is within the level, and no task writes its boxes as long as they are looked at.
    #[allow(unsafe_code, reason = "slot reads")]
    pub(super) unsafe fn node(&self, node: usize) -> &Boxes16<D> {
        // SAFETY: passed on to the caller.
        unsafe { &*self.0.at(node) }
    }

    /// # Safety
    /// `i` is within the level, and no other task touches box `i` meanwhile.
    #[allow(unsafe_code, reason = "slot writes")]
    #[inline(always)]
    pub(super) unsafe fn write(&self, i: usize, aabb: Aabb<D>) {
        // SAFETY: the node is within the level. No reference to it is made: other tasks may write its other boxes.
        unsafe {
            let node = self.0.at(i / LEAF);
            for axis in 0..D {
                (&raw mut (*node).lo[axis].0[i % LEAF]).write(aabb.lo[axis]);
                (&raw mut (*node).hi[axis].0[i % LEAF]).write(aabb.hi[axis]);
            }
        }
    }

    /// Sets the borders on an axis of `count` boxes of one node, of which the first is number `i`.
    ///
    /// # Safety
    /// The boxes are within the level and within four lanes of a node, and no other task touches them meanwhile.
    #[allow(unsafe_code, reason = "slot writes")]
    #[inline(always)]
    pub(super) unsafe fn write_some(&self, i: usize, count: usize, axis: usize, lo: Four, hi: Four) {
        // SAFETY: as in `write`; `count` lanes from this one on are within the node, too.
        unsafe {
            let node = self.0.at(i / LEAF);
            let lanes = [&raw mut (*node).lo[axis].0[i % LEAF], &raw mut (*node).hi[axis].0[i % LEAF]];
            for (lanes, borders) in lanes.into_iter().zip([lo.numbers(), hi.numbers()]) {
                if count == borders.len() {
                    lanes.cast::<[f32; 4]>().write(borders);
                } else {
                    for lane in 0..count {
                        lanes.add(lane).write(borders[lane]);
                    }
                }
            }
        }
    }
}
