//! A copy of all elements, leaf by leaf.
//!
//! The lists of leaves lead all over the memory, and a processor that waits for each step does little else. So once a
//! frame the lists of many leaves are followed side by side, into a copy. The boxes are made from this copy, and the
//! pairs are found in it.

use super::LooseQuadtree;
use super::nodes::{Element, Kind, Place};
use crate::body::Body;
use crate::free_list::SlotIndex;

/// Lists that are followed side by side: many more than the loads that a processor keeps going, and so few that their
/// elements fit the first-level cache.
const LISTS: usize = 128;

/// The elements of all leaves, side by side. Kept for its memory, and for as long as the tree stays as it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered {
    fresh: bool,
    members: Vec<Member>,
    /// Where the members of each node begin and end, by place; empty but for leaves with members.
    ranges: Vec<[u32; 2]>,
    batch: Batch,
}

/// An element without its link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) body: Body<2>,
    pub(super) id: u32,
}

/// Some leaves whose lists are followed side by side.
#[derive(Debug, Clone, Default)]
struct Batch {
    /// The place of each leaf among all nodes, and its number of members.
    leaves: Vec<(usize, u32)>,
    /// The next element of each leaf that has one left, with the number of the leaf in the batch.
    next: Vec<(SlotIndex<Element>, usize)>,
    /// The members that were met, each with the number of its leaf.
    met: Vec<(Member, usize)>,
}

impl Gathered {
    /// Notes that the tree has changed since it was copied.
    pub(super) fn forget(&mut self) {
        self.fresh = false;
    }

    /// Returns the elements of a leaf; none for a branch.
    #[inline]
    pub(super) fn of(&self, at: Place) -> &[Member] {
        let [begin, end] = self.ranges[at.index()];
        &self.members[begin as usize..end as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        self.members.capacity() * size_of::<Member>()
            + self.ranges.capacity() * size_of::<[u32; 2]>()
            + self.batch.leaves.capacity() * size_of::<(usize, u32)>()
            + self.batch.next.capacity() * size_of::<(SlotIndex<Element>, usize)>()
            + self.batch.met.capacity() * size_of::<(Member, usize)>()
    }

    fn gather(&mut self, tree: &LooseQuadtree) {
        self.members.clear();
        self.members.reserve_exact(tree.len());
        self.ranges.clear();
        self.ranges.resize(4 * tree.quads.list.slots(), [0, 0]);
        self.visit(tree, tree.quads.root);
        self.follow(tree);
        self.fresh = true;
    }

    fn visit(&mut self, tree: &LooseQuadtree, at: Place) {
        match tree.quads[at].kind() {
            Kind::Branch(quad) => (0..4).for_each(|child| self.visit(tree, Place { quad, child })),
            Kind::Leaf(None) => {}
            Kind::Leaf(Some(first)) => {
                self.batch.next.push((first, self.batch.leaves.len()));
                self.batch.leaves.push((at.index(), 0));
                if self.batch.leaves.len() == LISTS {
                    self.follow(tree);
                }
            }
        }
    }

    /// Follows the lists of a batch, one step of each at a time, and puts their elements in the order of leaves.
    fn follow(&mut self, tree: &LooseQuadtree) {
        let Batch { leaves, next, met } = &mut self.batch;
        while !next.is_empty() {
            next.retain_mut(|(slot, leaf)| {
                let Element { body, id, next } = tree.elements[*slot];
                met.push((Member { body, id }, *leaf));
                leaves[*leaf].1 += 1;
                next.inspect(|&next| *slot = next).is_some()
            });
        }
        let Some(&(first, _)) = met.first() else { return };
        let mut end = self.members.len() as u32;
        self.members.resize(self.members.len() + met.len(), first);
        for &(place, count) in &*leaves {
            self.ranges[place] = [end, end];
            end += count;
        }
        for (member, leaf) in met.drain(..) {
            let [_, end] = &mut self.ranges[leaves[leaf].0];
            self.members[*end as usize] = member;
            *end += 1;
        }
        leaves.clear();
    }
}

impl LooseQuadtree {
    /// Copies the elements, unless the copy is still up to date.
    pub(super) fn gather(&mut self) {
        if !self.gathered.fresh {
            let mut gathered = core::mem::take(&mut self.gathered);
            gathered.gather(self);
            self.gathered = gathered;
        }
    }
}
