//! Down the levels of a tree: the leaves whose boxes overlap a box.

use jostle_core::sixteen::Boxes16;
use jostle_core::tree::{LEAF, Level};
use jostle_core::{Aabb, LinearTree};

use crate::shape::boxes16_overlapping;
use crate::simd::Lanes;

/// Levels that 2^32 leaves would need.
pub const MAX_LEVELS: usize = 9;

/// The box of all bodies of a tree.
pub fn root<const D: usize>(tree: &LinearTree<D>) -> Aabb<D> {
    let Some(top) = tree.levels().last() else { return Aabb::EMPTY };
    (0..top.len()).fold(Aabb::EMPTY, |all, node| all.union(top.aabb(node)))
}

/// A walk over the leaves, from number `first` on, whose boxes overlap `aabb`, in ascending order.
#[derive(Debug)]
pub struct Descent<'t, const D: usize> {
    levels: &'t [Level<D>],
    /// The boxes of leaves: most tests are of these.
    leaves: &'t [Boxes16<D>],
    aabb: Aabb<D>,
    first: usize,
    /// The nodes still to visit on each level: a run of sixteen, and a bit for each.
    open: [(usize, u16); MAX_LEVELS],
    level: usize,
    top: usize,
    /// The number of tests of sixteen boxes.
    pub tests: u64,
}

impl<'t, const D: usize> Descent<'t, D> {
    /// Begins a walk in a tree that is not empty.
    #[inline(always)]
    pub fn new<L: Lanes>(tree: &'t LinearTree<D>, aabb: Aabb<D>, first: usize) -> Self {
        let levels = tree.levels();
        let (leaves, top) = (levels[0].nodes(), levels.len() - 1);
        let mut descent = Self { levels, leaves, aabb, first, open: [(0, 0); MAX_LEVELS], level: top, top, tests: 0 };
        descent.open[top] = (0, descent.overlapping::<L>(top, (0, &levels[top].nodes()[0])));
        descent
    }

    /// The next run of sixteen leaves, their boxes, and which of them overlap the box, if any.
    #[inline(always)]
    pub fn next_overlapping<L: Lanes>(&mut self) -> Option<(usize, &'t Boxes16<D>, u16)> {
        let run = self.next_run::<L>()?;
        let boxes = &self.leaves[run];
        Some((run, boxes, self.overlapping::<L>(0, (run, boxes))))
    }

    /// The next run of sixteen leaves, one of which at least may overlap the box.
    #[inline(always)]
    pub fn next_run<L: Lanes>(&mut self) -> Option<usize> {
        loop {
            let (run, mask) = &mut self.open[self.level];
            if *mask == 0 {
                if self.level == self.top {
                    return None;
                }
                self.level += 1;
                continue;
            }
            let node = *run + mask.trailing_zeros() as usize;
            *mask &= *mask - 1;
            if self.level == 1 {
                return Some(node);
            }
            let below = self.level - 1;
            let mask = self.overlapping::<L>(below, (node, &self.levels[below].nodes()[node]));
            self.level = below;
            self.open[below] = (node * LEAF, mask);
        }
    }

    /// Which of the sixteen boxes of a node overlap the box and do not lie before the first leaf.
    #[inline(always)]
    fn overlapping<L: Lanes>(&mut self, level: usize, (node, boxes): (usize, &Boxes16<D>)) -> u16 {
        self.tests += 1;
        let first = self.first >> (4 * level);
        let later = u16::MAX.checked_shl(first.saturating_sub(node * LEAF) as u32).unwrap_or(0);
        boxes16_overlapping::<L, D>(boxes, self.aabb.lo, self.aabb.hi) & later
    }
}
