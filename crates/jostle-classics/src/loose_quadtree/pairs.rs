//! All pairs, leaf by leaf: within each leaf, and with later leaves on the curve whose boxes overlap its own.
//!
//! The walk carries the *candidates* of the node that it is in, the nodes that this node may meet. They are the later
//! siblings and, one level down, the candidates of the parent, where the boxes still overlap. So a leaf finds its
//! neighbours without a search from the root.

use jostle_core::Aabb;

use super::LooseQuadtree;
use super::gathered::Member;
use super::nodes::{Kind, Place};
use crate::unit_cells::code;

/// Room for the candidates of one leaf, and for its pairs. Kept for its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Meeting {
    candidates: Vec<Place>,
    hits: Vec<Hit>,
}

/// Two elements, the earlier on the curve first; each has the code of its centre's cell, then its id.
///
/// Hits are given in this order, which does not depend on how the tree came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    first: (u32, u32),
    second: (u32, u32),
}

/// A walk over all leaves.
pub(super) struct Pairs<'a> {
    pub(super) tree: &'a LooseQuadtree,
    pub(super) meeting: &'a mut Meeting,
    pub(super) hit: &'a mut dyn FnMut([u32; 2]),
    pub(super) looked_at: u64,
}

impl Pairs<'_> {
    /// Gives all pairs, and returns how many were looked at.
    pub(super) fn all(mut self) -> u64 {
        self.visit(self.tree.quads.root, 0);
        self.looked_at
    }

    /// Visits the leaves at and below `at`, whose candidates are those from `begin` on.
    fn visit(&mut self, at: Place, begin: usize) {
        match self.tree.quads[at].kind() {
            Kind::Leaf(None) => {}
            Kind::Leaf(Some(_)) => self.visit_leaf(at, begin),
            Kind::Branch(quad) => {
                let end = self.meeting.candidates.len();
                for child in 0..4 {
                    let aabb = self.tree.quads[Place { quad, child }].aabb;
                    (child + 1..4).for_each(|sibling| self.admit(&aabb, Place { quad, child: sibling }));
                    (begin..end).for_each(|i| self.admit_below(&aabb, self.meeting.candidates[i]));
                    self.visit(Place { quad, child }, end);
                    self.meeting.candidates.truncate(end);
                }
            }
        }
    }

    /// Makes a node a candidate of a node with this box, if their boxes overlap.
    fn admit(&mut self, aabb: &Aabb<2>, candidate: Place) {
        if self.tree.quads[candidate].aabb.overlaps(aabb) {
            self.meeting.candidates.push(candidate);
        }
    }

    /// As [`Self::admit`], for the children of the candidate if it is a branch.
    fn admit_below(&mut self, aabb: &Aabb<2>, candidate: Place) {
        match self.tree.quads[candidate].kind() {
            Kind::Leaf(_) => self.admit(aabb, candidate),
            Kind::Branch(quad) => (0..4).for_each(|child| self.admit(aabb, Place { quad, child })),
        }
    }

    fn visit_leaf(&mut self, at: Place, begin: usize) {
        let own = self.tree.gathered.of(at);
        for (i, member) in own.iter().enumerate() {
            self.meet(&own[..i], member);
        }
        for i in begin..self.meeting.candidates.len() {
            self.meet_below(own, &self.tree.quads[at].aabb, self.meeting.candidates[i]);
        }
        self.meeting.hits.sort_unstable();
        for Hit { first: (_, a), second: (_, b) } in self.meeting.hits.drain(..) {
            (self.hit)([a.min(b), a.max(b)]);
        }
    }

    /// Tests the elements of a leaf with this box against all elements at and below a candidate that reach into the
    /// box.
    fn meet_below(&mut self, own: &[Member], aabb: &Aabb<2>, candidate: Place) {
        let tree = self.tree;
        if !tree.quads[candidate].aabb.overlaps(aabb) {
            return;
        }
        if let Kind::Branch(quad) = tree.quads[candidate].kind() {
            return (0..4).for_each(|child| self.meet_below(own, aabb, Place { quad, child }));
        }
        for other in tree.gathered.of(candidate).iter().filter(|other| other.body.aabb().overlaps(aabb)) {
            self.meet(own, other);
        }
    }

    fn meet(&mut self, members: &[Member], other: &Member) {
        let key = |member: &Member| (code(self.tree.cells.cell(member.body.center)), member.id);
        for member in members.iter().filter(|member| member.body.overlaps(&other.body)) {
            let (a, b) = (key(member), key(other));
            self.meeting.hits.push(Hit { first: a.min(b), second: a.max(b) });
        }
        self.looked_at += members.len() as u64;
    }
}

impl Meeting {
    pub(super) fn bytes(&self) -> usize {
        self.candidates.capacity() * size_of::<Place>() + self.hits.capacity() * size_of::<Hit>()
    }
}
