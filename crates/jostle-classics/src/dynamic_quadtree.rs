//! A quadtree that lives on from frame to frame: elements come, move and go, and nothing is built anew.

mod cleanup;
mod frame;
mod links;
mod nodes;
mod pairs;
mod search;
mod validate;

use jostle_core::{Aabb, ViewError};

use crate::body::Body;
use crate::check::check_one;
use crate::element_index::ElementIndex;
use crate::error::SetupError;
use crate::free_list::{FreeList, SlotIndex};
use crate::quads::Quads;
use crate::unit_cells::{Limits, Span, UnitCells};
use nodes::{Element, ElementNode, Node};
use pairs::Crowd;

/// A quadtree with elements that are inserted, moved and removed one by one.
///
/// A node takes 8 bytes: the four children of a branch lie side by side, a leaf has a linked list, and squares are not
/// stored but computed on the way down. An element is stored once, and listed in every leaf that its rectangle touches.
/// Vacant slots are chained, so that a running simulation does not touch the heap. All pairs are found leaf by leaf:
/// the few elements of a leaf are next to each other in cache. A pair that shares several leaves is looked at in the
/// leaf where the intersection of the two rectangles has its lower corner.
///
/// A leaf is split when more than [`Limits::max_elements`] of its elements end in it, that is, do not cover the whole
/// of it. Elements that cover all of it would only be listed four times. Elements outside the world are listed in the
/// leaves of its border.
///
/// Where it is weak: an element that is large beside the leaves is listed in very many of them, and is that much slower
/// to move. Elements outside the world end up in few leaves, and are compared all against all.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{Body, DynamicQuadtree};
/// use jostle::Aabb;
///
/// let mut tree = DynamicQuadtree::new(Aabb { lo: [0.0, 0.0], hi: [100.0, 100.0] })?;
/// let player = tree.insert(7, Body { center: [10.0, 10.0], radius: 1.0 })?;
/// tree.insert(8, Body { center: [12.0, 10.0], radius: 1.0 })?;
///
/// let (mut ids, mut near) = (Vec::new(), Vec::new());
/// tree.query(&Aabb { lo: [0.0, 0.0], hi: [20.0, 20.0] }, Some(player), &mut ids);
/// assert_eq!(ids, [8]);
///
/// tree.move_to(player, Body { center: [90.0, 90.0], radius: 1.0 })?;
/// tree.cleanup();
/// tree.nearest([80.0, 80.0], 1, &mut near);
/// assert_eq!(near[0].id, 7);
/// assert!(tree.remove(player).is_some() && tree.remove(player).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DynamicQuadtree {
    cells: UnitCells,
    max_elements: usize,
    elements: FreeList<Element>,
    element_nodes: FreeList<ElementNode>,
    quads: Quads<Node>,
    crowd: Crowd,
}

impl DynamicQuadtree {
    /// Makes an empty tree over a world, with the default limits.
    ///
    /// # Errors
    /// [`SetupError::World`].
    pub fn new(world: Aabb<2>) -> Result<Self, SetupError> {
        Self::with_limits(world, Limits::default())
    }

    /// Makes an empty tree over a world, whose leaves are split as `limits` say.
    ///
    /// # Errors
    /// [`SetupError`], when the world or the limits are out of range.
    pub fn with_limits(world: Aabb<2>, limits: Limits) -> Result<Self, SetupError> {
        let cells = UnitCells::new(world, limits)?;
        let (elements, element_nodes) = (FreeList::new(), FreeList::new());
        let max_elements = limits.max_elements as usize;
        Ok(Self { cells, max_elements, elements, element_nodes, quads: Quads::new(), crowd: Crowd::default() })
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True when there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a body under an id of the caller's, which need not be unique. O(depth) for a small body.
    ///
    /// # Errors
    /// [`ViewError::Bodies`] when the engine refuses such a body.
    pub fn insert(&mut self, id: u32, body: Body<2>) -> Result<ElementIndex, ViewError> {
        check_one(id, &body)?;
        let element = self.elements.insert(Element { body, id });
        self.link(self.quads.root, self.cells.root(), element, self.span(&body), None);
        Ok(ElementIndex::new(element, id))
    }

    /// Returns the body of an element; `None` when the element is gone.
    #[must_use]
    pub fn get(&self, index: ElementIndex) -> Option<Body<2>> {
        Some(self.elements[self.find(index)?].body)
    }

    /// Takes an element out and returns its body; `None` when the element is gone already. Nodes stay until
    /// [`Self::cleanup`]. O(depth + elements of its leaves) for a small element.
    pub fn remove(&mut self, index: ElementIndex) -> Option<Body<2>> {
        let element = self.find(index)?;
        let body = self.elements[element].body;
        self.unlink(self.quads.root, self.cells.root(), element, self.span(&body), None);
        self.elements.remove(element);
        Some(body)
    }

    /// Changes the body of an element, and returns the former body; `None` when the element is gone. This is remove,
    /// change and insert, but for the leaves that the element stays in. If it touches the same cells of the greatest
    /// depth, only the body changes.
    ///
    /// # Errors
    /// As [`Self::insert`]; the element stays as it was.
    pub fn move_to(&mut self, index: ElementIndex, body: Body<2>) -> Result<Option<Body<2>>, ViewError> {
        check_one(index.id(), &body)?;
        let Some(element) = self.find(index) else { return Ok(None) };
        let before = self.elements[element].body;
        self.replace(element, body);
        Ok(Some(before))
    }

    fn find(&self, index: ElementIndex) -> Option<SlotIndex<Element>> {
        index.slot_of(&self.elements, |element| element.id)
    }

    fn replace(&mut self, element: SlotIndex<Element>, body: Body<2>) {
        let (before, after) = (self.span(&self.elements[element].body), self.span(&body));
        self.elements[element].body = body;
        if before != after {
            self.unlink(self.quads.root, self.cells.root(), element, before, Some(after));
            self.link(self.quads.root, self.cells.root(), element, after, Some(before));
        }
    }

    /// Returns the cells that a body's rectangle touches.
    #[inline]
    fn span(&self, body: &Body<2>) -> Span {
        self.cells.span(&body.aabb())
    }
}
