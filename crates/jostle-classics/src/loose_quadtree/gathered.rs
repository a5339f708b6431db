//! A copy of all elements, leaf by leaf.
//!
//! Lists lead all over the memory, and a processor that waits for each step does little else. So the lists of many leaves
//! are followed side by side, once a frame, into a copy that the boxes are made of and the pairs are found in.

use super::LooseQuadtree;
use super::nodes::{Element, Kind, Place};
use crate::body::Body;
use crate::free_list::SlotIndex;

/// Lists that are followed side by side: many more than loads that a processor keeps going, and their elements fit the
/// first-level cache.
const LISTS: usize = 128;

/// The elements of all leaves, side by side. Kept for its memory, and for as long as the tree stays as it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered {
    fresh: bool,
    members: Vec<Member>,
    /// Where the members of each node begin and end, by place: nowhere, but for leaves that have some.
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
    /// Where each leaf lies among all nodes, and how many members it has.
    leaves: Vec<(usize, u32)>,
    /// The next element of those leaves that have one left, each with the number of its leaf in the batch.
    next: Vec<(SlotIndex<Element>, usize)>,
    /// What was met, with the number of its leaf.
    met: Vec<(Member, usize)>,
}

impl Gathered {
    /// Says that the tree is no longer what was copied.
    pub(super) fn forget(&mut self) {
        self.fresh = false;
    }

    /// The elements of a leaf; none for a branch.
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

    /// Follows the lists of a batch, one step of each at a time, and puts what they have in the order of leaves.
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
    /// Copies the elements, unless the copy is still what the tree is.
    pub(super) fn gather(&mut self) {
        if !self.gathered.fresh {
            let mut gathered = core::mem::take(&mut self.gathered);
            gathered.gather(self);
            self.gathered = gathered;
        }
    }
}
