//! The sparse join, of few circles among many: each circle walks down the target tree alone.
//!
//! The target tree is in no cache, and what a walk reads next depends on what it has just read. So the circles of a
//! group walk together, in steps: all circles to the lowest nodes, then all to the leaves, then all tests. Each step
//! prefetches what the next step will read.

use core::ops::Range;

use jostle_core::Aabb;
use jostle_core::prefetch::prefetch;
use jostle_core::tree::LEAF;
use jostle_sets::shape::{Boxed, Round, Shape, boxes16_overlapping};
use jostle_sets::simd::Lanes;
use jostle_sets::traverse::descent::Descent;

use crate::join::Join;
use crate::join::tree_pair::prefetch_leaf;

impl<const D: usize> Join<'_, D> {
    /// Finds all pairs of the bodies of some leaves.
    #[inline(always)]
    pub(super) fn walk_each<L: Lanes>(&mut self, leaves: Range<usize>) {
        let [query, target] = self.pairing.trees;
        let boxes = &target.levels()[0];
        for place in leaves.flat_map(|leaf| query.leaf_places(leaf)) {
            let mut descent = Descent::new::<L>(target, self.seen_aabb(place), 0);
            while let Some(run) = descent.next_run::<L>() {
                prefetch(&boxes.nodes()[run]);
                self.scratch.visits.push_one(place as u32, run as u32);
                if self.scratch.visits.is_full() {
                    self.visit::<L>();
                }
            }
            self.tests.node_tests += descent.tests;
        }
        self.visit::<L>();
    }

    /// The box of a body of the query tree, as the target tree sees it.
    #[inline(always)]
    fn seen_aabb(&self, place: usize) -> Aabb<D> {
        let (shift, margin) = self.movement();
        let tree = self.pairing.trees[0];
        let mut aabb =
            if tree.is_of_boxes() { Boxed::aabb(tree.boxes(), place) } else { Round::aabb(tree.bodies(), place) };
        for axis in 0..D {
            aabb.lo[axis] += shift[axis] - margin[axis];
            aabb.hi[axis] += shift[axis] + margin[axis];
        }
        aabb
    }

    /// Gathers the tests of the leaves of all waiting visits.
    #[inline(always)]
    pub(super) fn visit_runs<L: Lanes>(&mut self) {
        let target = self.pairing.trees[1];
        let boxes = target.levels()[0].nodes();
        for at in 0..self.scratch.visits.len {
            let visits = &self.scratch.visits;
            let (place, run) = (visits.circle[at], visits.leaf[at] as usize);
            let Aabb { lo, hi } = self.seen_aabb(place as usize);
            let mask = boxes16_overlapping::<L, D>(&boxes[run], lo, hi);
            let mut left = mask;
            while left != 0 {
                let leaf = run * LEAF + left.trailing_zeros() as usize;
                prefetch_leaf(target, leaf);
                left &= left - 1;
            }
            self.scratch.tests.push_leaves::<L>(place, mask, (run * LEAF) as u32);
            self.tests.leaf_tests += u64::from(mask.count_ones());
            if self.scratch.tests.is_full() {
                self.run_tests::<L>(0);
            }
        }
        self.tests.node_tests += self.scratch.visits.len as u64;
        self.scratch.visits.len = 0;
    }
}
