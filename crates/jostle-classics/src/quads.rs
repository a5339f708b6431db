//! The nodes of quadtrees that live on: the four children of a branch lie side by side.

use core::ops::{Index, IndexMut};

use crate::free_list::{FreeList, Slot, SlotIndex};

/// A branch or a leaf of such a quadtree.
pub(crate) trait Node: Copy {
    /// A leaf without elements.
    const EMPTY: Self;

    fn is_empty_leaf(self) -> bool;

    /// As the functions of [`Slot`], for the four nodes of a quad.
    fn vacant(next: Option<SlotIndex<Quad<Self>>>) -> [Self; 4];
    fn is_vacant(first: &Self) -> bool;
    fn next_vacant(nodes: &[Self; 4]) -> Option<SlotIndex<Quad<Self>>>;
}

/// The four children of a branch, along the Morton curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quad<N>([N; 4]);

impl<N: Node> Slot for Quad<N> {
    fn vacant(next: Option<SlotIndex<Self>>) -> Self {
        Self(N::vacant(next))
    }

    fn is_vacant(&self) -> bool {
        N::is_vacant(&self.0[0])
    }

    fn next_vacant(&self) -> Option<SlotIndex<Self>> {
        N::next_vacant(&self.0)
    }
}

/// The place of a node: its quad, and its number among the four children there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<N> {
    pub(crate) quad: SlotIndex<Quad<N>>,
    pub(crate) child: usize,
}

/// All nodes of a tree.
#[derive(Debug, Clone)]
pub(crate) struct Quads<N: Node> {
    /// The first quad holds the root alone.
    pub(crate) list: FreeList<Quad<N>>,
    pub(crate) root: Place<N>,
}

impl<N: Node> Quads<N> {
    /// Makes a tree that is one empty leaf.
    pub(crate) fn new() -> Self {
        let mut list = FreeList::new();
        let root = Place { quad: list.insert(Quad([N::EMPTY; 4])), child: 0 };
        Self { list, root }
    }

    /// Makes the tree one empty leaf again, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.root = Place { quad: self.add(), child: 0 };
    }

    /// Adds four empty leaves.
    pub(crate) fn add(&mut self) -> SlotIndex<Quad<N>> {
        self.list.insert(Quad([N::EMPTY; 4]))
    }

    /// Removes four children if all are empty leaves. Returns whether they were.
    pub(crate) fn remove_if_empty(&mut self, quad: SlotIndex<Quad<N>>) -> bool {
        self.list[quad].0.iter().all(|node| node.is_empty_leaf()) && self.list.remove(quad).is_some()
    }
}

impl<N: Node> Index<Place<N>> for Quads<N> {
    type Output = N;

    #[inline]
    fn index(&self, at: Place<N>) -> &N {
        &self.list[at.quad].0[at.child]
    }
}

impl<N: Node> IndexMut<Place<N>> for Quads<N> {
    #[inline]
    fn index_mut(&mut self, at: Place<N>) -> &mut N {
        &mut self.list[at.quad].0[at.child]
    }
}
