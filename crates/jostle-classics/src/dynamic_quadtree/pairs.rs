//! All pairs, leaf by leaf.
//!
//! The lists of leaves lead all over the memory, and a processor that waits for each step does little else. So the walk
//! follows the lists of many leaves side by side, then copies their elements, all at once as far as the processor is
//! concerned, and only then looks at pairs.

use super::DynamicQuadtree;
use super::nodes::{Element, ElementNode, Kind, Leaf, Place};
use crate::body::Body;
use crate::free_list::SlotIndex;
use crate::unit_cells::{Square, code};

/// Elements that are copied together; they fit the first-level cache.
const BATCH: usize = 512;

/// The elements of some leaves, side by side, and the pairs among them. Kept for its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Crowd {
    /// Each leaf with the end of its elements.
    leaves: Vec<(Square, usize)>,
    cursors: Vec<Cursor>,
    slots: Vec<SlotIndex<Element>>,
    members: Vec<Member>,
    /// The members of one leaf, by the axes along which they begin in it (see [`Square::begins`]).
    parts: [Vec<Member>; 4],
    hits: Vec<Hit>,
}

/// How far the list of a leaf has been followed.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    next: SlotIndex<ElementNode>,
    /// Where the next element of the list goes, and where its elements end.
    at: usize,
    end: usize,
}

/// An element in a leaf.
#[derive(Debug, Clone, Copy)]
struct Member {
    body: Body<2>,
    id: u32,
    /// The cell of the lower corner of its rectangle.
    lowest: [u32; 2],
}

/// A pair, in the order in which pairs are given: along the Morton curve of the lower corners of their intersections.
/// This order does not depend on how the tree came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    code: u32,
    pair: [u32; 2],
}

/// A walk over all leaves.
pub(super) struct Pairs<'a> {
    pub(super) tree: &'a DynamicQuadtree,
    pub(super) crowd: &'a mut Crowd,
    pub(super) hit: &'a mut dyn FnMut([u32; 2]),
    pub(super) looked_at: u64,
}

impl Pairs<'_> {
    /// Gives all pairs, and returns how many were looked at.
    pub(super) fn all(mut self) -> u64 {
        self.visit(self.tree.quads.root, self.tree.cells.root());
        self.meet();
        self.looked_at
    }

    fn visit(&mut self, at: Place, square: Square) {
        match self.tree.quads[at].kind() {
            Kind::Branch(quad) => (0..4).for_each(|child| self.visit(Place { quad, child }, square.child(child))),
            Kind::Leaf(leaf) if leaf.count < 2 => {}
            Kind::Leaf(leaf) => {
                if self.crowd.take(leaf, square) >= BATCH {
                    self.meet();
                }
            }
        }
    }

    fn meet(&mut self) {
        self.crowd.follow(self.tree);
        self.crowd.copy(self.tree);
        self.looked_at += self.crowd.meet(self.hit);
        self.crowd.empty();
    }
}

impl Crowd {
    /// Adds a leaf, and returns the number of elements so far.
    fn take(&mut self, leaf: Leaf, square: Square) -> usize {
        let at = self.leaves.last().map_or(0, |&(_, end)| end);
        let end = at + leaf.count as usize;
        self.leaves.push((square, end));
        self.cursors.extend(leaf.first.map(|next| Cursor { next, at, end }));
        end
    }

    /// Follows all lists, one step of each at a time.
    fn follow(&mut self, tree: &DynamicQuadtree) {
        self.slots.resize(self.leaves.last().map_or(0, |&(_, end)| end), SlotIndex::LAST);
        while !self.cursors.is_empty() {
            self.cursors.retain_mut(|cursor| {
                let ElementNode { next, element } = tree.element_nodes[cursor.next];
                self.slots[cursor.at] = element;
                cursor.at += 1;
                // The count tells where a list ends, before its contents are known.
                cursor.at < cursor.end && next.inspect(|&next| cursor.next = next).is_some()
            });
        }
    }

    fn copy(&mut self, tree: &DynamicQuadtree) {
        self.members.extend(self.slots.iter().map(|&slot| {
            let Element { body, id } = tree.elements[slot];
            Member { body, id, lowest: tree.cells.cell(body.aabb().lo) }
        }));
    }

    fn meet(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        let (mut begin, mut looked_at) = (0, 0);
        for &(square, end) in &self.leaves {
            self.parts.iter_mut().for_each(Vec::clear);
            for member in &self.members[begin..end] {
                self.parts[square.begins(member.lowest)].push(*member);
            }
            looked_at += meet_in_leaf(&self.parts, &mut self.hits);
            self.hits.sort_unstable();
            self.hits.drain(..).for_each(|found| hit(found.pair));
            begin = end;
        }
        looked_at
    }

    fn empty(&mut self) {
        self.leaves.clear();
        self.slots.clear();
        self.members.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        let members = self.members.capacity() + self.parts.iter().map(Vec::capacity).sum::<usize>();
        self.leaves.capacity() * size_of::<(Square, usize)>()
            + self.cursors.capacity() * size_of::<Cursor>()
            + self.slots.capacity() * size_of::<SlotIndex<Element>>()
            + members * size_of::<Member>()
            + self.hits.capacity() * size_of::<Hit>()
    }
}

/// Tests the pairs that are a leaf's own: along each axis, at least one of the two elements begins in the leaf.
fn meet_in_leaf([neither, along_x, along_y, both]: &[Vec<Member>; 4], hits: &mut Vec<Hit>) -> u64 {
    let mut looked_at = 0;
    for (i, a) in both.iter().enumerate() {
        for others in [&both[i + 1..], along_x, along_y, neither] {
            looked_at += meet_one(a, others, hits);
        }
    }
    for a in along_x {
        looked_at += meet_one(a, along_y, hits);
    }
    looked_at
}

fn meet_one(a: &Member, others: &[Member], hits: &mut Vec<Hit>) -> u64 {
    for b in others.iter().filter(|b| a.body.overlaps(&b.body)) {
        let corner = [a.lowest[0].max(b.lowest[0]), a.lowest[1].max(b.lowest[1])];
        hits.push(Hit { code: code(corner), pair: [a.id.min(b.id), a.id.max(b.id)] });
    }
    others.len() as u64
}
