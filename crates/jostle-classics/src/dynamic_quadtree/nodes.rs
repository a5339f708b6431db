//! The parts of the tree, eight or sixteen bytes each.

use crate::body::Body;
use crate::free_list::{Slot, SlotIndex};
use crate::quads;

/// A body and its id. The rectangle is computed from the circle, which takes four bytes less.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) body: Body<2>,
    pub(super) id: u32,
}

/// A radius that no body has.
const VACANT_RADIUS: f32 = -1.0;

impl Slot for Element {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        let link = next.map_or(NO_INDEX, |index| index.get() as u32);
        Self { body: Body { center: [0.0; 2], radius: VACANT_RADIUS }, id: link }
    }

    fn is_vacant(&self) -> bool {
        self.body.radius < 0.0
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        SlotIndex::new(self.id as usize)
    }
}

/// An element in the list of one leaf. An element has such a node in each leaf that it touches.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementNode {
    pub(super) next: Option<SlotIndex<ElementNode>>,
    pub(super) element: SlotIndex<Element>,
}

impl Slot for ElementNode {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        Self { next, element: SlotIndex::LAST }
    }

    fn is_vacant(&self) -> bool {
        self.element == SlotIndex::LAST
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        self.next
    }
}

/// A branch or a leaf. Its square is not stored: a walk from the root knows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The first child of a branch, as a quad; the first element node of a leaf, or `NO_INDEX`.
    first: u32,
    /// The number of elements of a leaf, or `BRANCH`, or `VACANT`.
    count: i32,
}

/// No slot has this index.
const NO_INDEX: u32 = u32::MAX;
const BRANCH: i32 = -1;
const VACANT: i32 = -2;

const _: () = assert!(size_of::<Node>() == 8 && size_of::<ElementNode>() == 8 && size_of::<Element>() == 16);

/// What a node is.
pub(super) enum Kind {
    /// Its four children.
    Branch(SlotIndex<Quad>),
    /// A list of elements.
    Leaf(Leaf),
}

/// The list of a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) first: Option<SlotIndex<ElementNode>>,
    pub(super) count: u32,
}

impl Node {
    #[inline]
    pub(super) fn branch(children: SlotIndex<Quad>) -> Self {
        Self { first: children.get() as u32, count: BRANCH }
    }

    #[inline]
    pub(super) fn leaf(leaf: Leaf) -> Self {
        Self { first: leaf.first.map_or(NO_INDEX, |index| index.get() as u32), count: leaf.count as i32 }
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        match SlotIndex::new(self.first as usize) {
            Some(children) if self.count == BRANCH => Kind::Branch(children),
            _ => Kind::Leaf(Leaf { first: SlotIndex::new(self.first as usize), count: self.count as u32 }),
        }
    }
}

impl quads::Node for Node {
    const EMPTY: Self = Self { first: NO_INDEX, count: 0 };

    fn is_empty_leaf(self) -> bool {
        self.count == 0
    }

    fn vacant(next: Option<SlotIndex<Quad>>) -> [Self; 4] {
        [Self { first: next.map_or(NO_INDEX, |index| index.get() as u32), count: VACANT }; 4]
    }

    fn is_vacant(first: &Self) -> bool {
        first.count == VACANT
    }

    fn next_vacant([first, ..]: &[Self; 4]) -> Option<SlotIndex<Quad>> {
        SlotIndex::new(first.first as usize)
    }
}

/// The four children of a branch.
pub(super) type Quad = quads::Quad<Node>;

/// The place of a node.
pub(super) type Place = quads::Place<Node>;
