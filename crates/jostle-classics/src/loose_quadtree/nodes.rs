//! What the tree is made of, in twenty bytes each.

use jostle_core::Aabb;

use crate::body::Body;
use crate::free_list::{Slot, SlotIndex};

/// A body, its id, and the next element of the leaf that it lies in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) body: Body<2>,
    pub(super) id: u32,
    pub(super) next: Option<SlotIndex<Element>>,
}

/// A radius that no body has.
const VACANT_RADIUS: f32 = -1.0;

impl Slot for Element {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        Self { body: Body { center: [0.0; 2], radius: VACANT_RADIUS }, id: 0, next }
    }

    fn is_vacant(&self) -> bool {
        self.body.radius < 0.0
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        self.next
    }
}

/// A branch or a leaf: a float box and an integer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Holds the rectangles of all elements below.
    pub(super) aabb: Aabb<2>,
    link: u32,
}

/// Set in the link of a branch, whose other bits are the index of its children; in a leaf they are the index of its
/// first element.
const BRANCH: u32 = 1 << 31;
/// The link of an empty leaf.
const NO_ELEMENT: u32 = BRANCH - 1;
/// The link of a vacant quad.
const VACANT: u32 = u32::MAX;

/// Elements, and quads, that a link can tell apart.
pub(super) const MOST: usize = NO_ELEMENT as usize;

const _: () = assert!(size_of::<Node>() == 20 && size_of::<Element>() == 20);

/// What a node is.
pub(super) enum Kind {
    /// Its four children.
    Branch(SlotIndex<Quad>),
    /// The first of its elements.
    Leaf(Option<SlotIndex<Element>>),
}

impl Node {
    /// An empty leaf.
    pub(super) const EMPTY: Self = Self { aabb: Aabb::EMPTY, link: NO_ELEMENT };

    #[inline]
    pub(super) fn kind(self) -> Kind {
        if self.link & BRANCH == 0 {
            return Kind::Leaf(self.first());
        }
        SlotIndex::new((self.link & !BRANCH) as usize).map_or(Kind::Leaf(None), Kind::Branch)
    }

    #[inline]
    fn first(self) -> Option<SlotIndex<Element>> {
        if self.link == NO_ELEMENT { None } else { SlotIndex::new(self.link as usize) }
    }

    #[inline]
    pub(super) fn set_branch(&mut self, children: SlotIndex<Quad>) {
        self.link = children.get() as u32 | BRANCH;
    }

    #[inline]
    pub(super) fn set_leaf(&mut self, first: Option<SlotIndex<Element>>) {
        self.link = first.map_or(NO_ELEMENT, |index| index.get() as u32);
    }

    pub(super) fn is_empty_leaf(self) -> bool {
        self.link == NO_ELEMENT
    }
}

/// The four children of a branch, along the Morton curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quad {
    pub(super) nodes: [Node; 4],
}

impl Quad {
    /// Four empty leaves.
    pub(super) const EMPTY: Self = Self { nodes: [Node::EMPTY; 4] };
}

impl Slot for Quad {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        let link = next.map_or(VACANT, |index| index.get() as u32);
        let [mut first, mut second] = [Node::EMPTY; 2];
        (first.link, second.link) = (VACANT, link);
        Self { nodes: [first, second, Node::EMPTY, Node::EMPTY] }
    }

    fn is_vacant(&self) -> bool {
        self.nodes[0].link == VACANT
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        SlotIndex::new(self.nodes[1].link as usize)
    }
}

/// The place of a node: which of which four children.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) quad: SlotIndex<Quad>,
    pub(super) child: usize,
}

impl Place {
    /// Its index among all nodes.
    #[inline]
    pub(super) fn index(self) -> usize {
        4 * self.quad.get() + self.child
    }
}
