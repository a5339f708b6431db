//! All pairs between two groups: two lists in each cell, two stacks.

use core::ops::Range;

use super::cells::{Cells, GROUPS};
use super::group::Group;
use super::stack::{Ancestors, Stack};
use super::unit_cells::Node;

/// As [`Walk`](super::walk::Walk), for pairs of a body of the first group and a body of the second.
pub(super) struct WalkBetween<'a, const D: usize, C> {
    pub(super) cells: &'a mut C,
    pub(super) groups: &'a [Group<D>; GROUPS],
    pub(super) stacks: &'a mut [Stack<D>; GROUPS],
    pub(super) ancestors: Ancestors,
    pub(super) hits: &'a mut [Vec<u32>; GROUPS],
    pub(super) hit: &'a mut dyn FnMut([u32; 2]),
    pub(super) tests: u64,
}

impl<const D: usize, C: Cells<D>> WalkBetween<'_, D, C> {
    /// Tests the bodies of a cell, then visits its children. Returns whether there is anything in the cell or below it.
    /// `carried` are the ranges at the ends of the stacks that count for the cell.
    pub(super) fn visit(&mut self, node: &Node<D>, carried: [Range<usize>; GROUPS]) -> bool {
        let cell = self.cells.get(node.index);
        let own: [_; GROUPS] = core::array::from_fn(|g| self.stacks[g].push_list(&self.groups[g], cell.first[g]));
        let all: [_; GROUPS] = core::array::from_fn(|g| carried[g].start..own[g].end);
        self.test_first(&own[0], &all[1]);
        self.test_second(&own[1], &carried[0]);
        let mut used = cell.has_bodies();
        for k in cell.children() {
            let child = node.child(k);
            let carry = |g: usize| self.stacks[g].carry(all[g].clone(), &child.region, self.ancestors);
            let carried = [0, 1].map(carry);
            used |= self.visit(&child, carried);
            for (stack, own) in self.stacks.iter_mut().zip(&own) {
                stack.truncate(own.end);
            }
        }
        if !used {
            self.cells.drop_end(node.index);
        }
        used
    }

    /// Tests bodies of the first group in a cell against bodies of the second in the same cell or above.
    fn test_first(&mut self, own: &Range<usize>, others: &Range<usize>) {
        for me in own.clone().map(|at| self.stacks[0].get(at)) {
            for other in self.stacks[1].hits_of(me.body, others.clone()) {
                self.hits[0][me.id as usize] += 1;
                self.hits[1][other as usize] += 1;
                (self.hit)([me.id, other]);
            }
        }
        self.tests += own.len() as u64 * others.len() as u64;
    }

    /// Tests bodies of the second group in a cell against bodies of the first in the cells above.
    fn test_second(&mut self, own: &Range<usize>, others: &Range<usize>) {
        for me in own.clone().map(|at| self.stacks[1].get(at)) {
            for other in self.stacks[0].hits_of(me.body, others.clone()) {
                self.hits[0][other as usize] += 1;
                self.hits[1][me.id as usize] += 1;
                (self.hit)([other, me.id]);
            }
        }
        self.tests += own.len() as u64 * others.len() as u64;
    }
}
