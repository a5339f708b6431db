//! The parts of the tree, twenty bytes each.

use jostle_core::Aabb;

use crate::body::Body;
use crate::free_list::{Slot, SlotIndex};
use crate::quads;

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

/// Set in the link of a branch, whose other bits are the index of its children. In a leaf, the other bits are the index
/// of its first element.
const BRANCH: u32 = 1 << 31;
/// The link of an empty leaf.
const NO_ELEMENT: u32 = BRANCH - 1;
/// The link of a vacant quad.
const VACANT: u32 = u32::MAX;

/// The most elements, and quads, that a link can tell apart.
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
}

impl quads::Node for Node {
    const EMPTY: Self = Self { aabb: Aabb::EMPTY, link: NO_ELEMENT };

    fn is_empty_leaf(self) -> bool {
        self.link == NO_ELEMENT
    }

    fn vacant(next: Option<SlotIndex<Quad>>) -> [Self; 4] {
        let link = next.map_or(VACANT, |index| index.get() as u32);
        [VACANT, link, NO_ELEMENT, NO_ELEMENT].map(|link| Self { link, ..Self::EMPTY })
    }

    fn is_vacant(first: &Self) -> bool {
        first.link == VACANT
    }

    fn next_vacant([_, second, ..]: &[Self; 4]) -> Option<SlotIndex<Quad>> {
        SlotIndex::new(second.link as usize)
    }
}

/// The four children of a branch.
pub(super) type Quad = quads::Quad<Node>;

/// The place of a node.
pub(super) type Place = quads::Place<Node>;

impl Place {
    /// Returns the index of the node among all nodes.
    #[inline]
    pub(super) fn index(self) -> usize {
        4 * self.quad.get() + self.child
    }
}
