//! Levels of boxes: sixteen of one level under one of the next.

use core::fmt;

use super::{LEAF, LinearTree};
use crate::aabb::Aabb;
use crate::parallel::disjoint::Disjoint;
use crate::parallel::scratch::{reserve, with_headroom};
use crate::parallel::workers::Workers;
use crate::sixteen::{Floats, floats_mut};

/// Nodes of a level that one task computes.
const NODES_PER_TASK: usize = 1024;

/// The boxes of one level, as structure of arrays, a node of sixteen an element; the last node is filled up with boxes
/// that overlap nothing.
#[derive(Clone)]
pub struct Level<const D: usize> {
    lo: [Vec<Floats>; D],
    hi: [Vec<Floats>; D],
    len: usize,
}

impl<const D: usize> Default for Level<D> {
    fn default() -> Self {
        Self { lo: [const { Vec::new() }; D], hi: [const { Vec::new() }; D], len: 0 }
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
        let at = |column: &[Floats]| column[i / LEAF].0[i % LEAF];
        Aabb { lo: core::array::from_fn(|k| at(&self.lo[k])), hi: core::array::from_fn(|k| at(&self.hi[k])) }
    }

    /// The lower borders on each axis, a node an element.
    #[inline(always)]
    #[must_use]
    pub fn lo(&self) -> [&[Floats]; D] {
        self.lo.each_ref().map(|column| &column[..self.len.div_ceil(LEAF)])
    }

    /// The upper borders on each axis, a node an element.
    #[inline(always)]
    #[must_use]
    pub fn hi(&self) -> [&[Floats]; D] {
        self.hi.each_ref().map(|column| &column[..self.len.div_ceil(LEAF)])
    }

    /// Makes room for so many boxes.
    pub(super) fn reserve(&mut self, boxes: usize) {
        for column in self.lo.iter_mut().chain(&mut self.hi) {
            if column.len() < boxes.div_ceil(LEAF) {
                let len = with_headroom(boxes).div_ceil(LEAF);
                reserve(column, len);
                column.resize(len, Floats::splat(0.0));
            }
        }
    }

    /// Sets the number of boxes, for which there is room, and fills the last node up.
    pub(super) fn set_len(&mut self, len: usize) {
        self.len = len;
        let (last, taken) = (len / LEAF, len % LEAF);
        if taken == 0 {
            return;
        }
        for axis in 0..D {
            let (lo, hi) = (&mut self.lo[axis][last].0, &mut self.hi[axis][last].0);
            for lane in 0..LEAF {
                lo[lane] = if lane < taken { lo[lane] } else { f32::INFINITY };
                hi[lane] = if lane < taken { hi[lane] } else { f32::NEG_INFINITY };
            }
        }
    }

    /// Makes it a copy of another.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.reserve(other.len);
        self.len = other.len;
        for axis in 0..D {
            // Few nodes each: a call that copies would take longer than the copy.
            self.lo[axis].iter_mut().zip(other.lo()[axis]).for_each(|(to, from)| *to = *from);
            self.hi[axis].iter_mut().zip(other.hi()[axis]).for_each(|(to, from)| *to = *from);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.lo.iter().chain(&self.hi).map(|v| v.capacity() * size_of::<Floats>()).sum()
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
        Self {
            lo: lo.each_mut().map(|v| Disjoint::new(floats_mut(v))),
            hi: hi.each_mut().map(|v| Disjoint::new(floats_mut(v))),
        }
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
    pub(super) fn raise_levels(&mut self, workers: Workers<'_>) {
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
            above.reserve(nodes);
            above.set_len(nodes);
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
    let mut aabb = Aabb::EMPTY;
    for axis in 0..D {
        let (lo, hi) = (&below.lo[axis][node].0, &below.hi[axis][node].0);
        aabb.lo[axis] = chosen(lo, |a, b| a < b);
        aabb.hi[axis] = chosen(hi, |a, b| a > b);
    }
    aabb
}

/// The one of sixteen values that goes before all others. Four lanes at a time, which the compiler keeps in registers.
#[inline(always)]
fn chosen(values: &[f32; LEAF], before: impl Fn(f32, f32) -> bool) -> f32 {
    let first = |a: f32, b: f32| if before(a, b) { a } else { b };
    let mut four = [values[0], values[1], values[2], values[3]];
    for run in 1..LEAF / 4 {
        for lane in 0..4 {
            four[lane] = first(values[4 * run + lane], four[lane]);
        }
    }
    first(first(four[0], four[2]), first(four[1], four[3]))
}
