//! A quadtree whose boxes grow with their elements: an element lies in one leaf only.

mod cleanup;
mod frame;
mod gathered;
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
use crate::unit_cells::{Limits, UnitCells};
use gathered::Gathered;
use nodes::{Element, MOST, Node};
use pairs::Meeting;

/// A quadtree with elements that are inserted, moved and removed one by one, each in the one leaf where its centre is.
///
/// The squares of the nodes say only where a centre belongs. Every node also stores a box that holds all elements below
/// it. The box grows as elements are inserted, along the path from the root, and [`Self::cleanup`] shrinks it. A node
/// is this box and one integer, 20 bytes. An element takes 20 bytes as well, the link to the next element of its leaf
/// included. Moving is cheap and steady, for an element has one place however large it is. Queries are dearer than in
/// the [`DynamicQuadtree`](crate::DynamicQuadtree), since boxes of neighbours overlap. For the boxes and the pairs of a
/// frame, the elements are copied leaf by leaf, which takes 16 bytes each and less time than it saves.
///
/// A leaf is split when it has more than [`Limits::max_elements`] elements. Centres outside the world belong to the leaves
/// of its border.
///
/// Where it is weak: one large element makes the boxes above it large, and every search meets these boxes. Elements
/// outside the world end up in few leaves, and are compared all against all.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{Body, LooseQuadtree};
/// use jostle::Aabb;
///
/// let mut tree = LooseQuadtree::new(Aabb { lo: [0.0, 0.0], hi: [100.0, 100.0] })?;
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
pub struct LooseQuadtree {
    cells: UnitCells,
    max_elements: usize,
    elements: FreeList<Element>,
    quads: Quads<Node>,
    gathered: Gathered,
    meeting: Meeting,
}

impl LooseQuadtree {
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
        let (elements, gathered, meeting) = (FreeList::new(), Gathered::default(), Meeting::default());
        Ok(Self { cells, max_elements: limits.max_elements as usize, elements, quads: Quads::new(), gathered, meeting })
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

    /// Adds a body under an id of the caller's, which need not be unique. O(depth).
    ///
    /// # Errors
    /// [`ViewError::Bodies`] when the engine refuses such a body; [`ViewError::TooMany`] beyond 2^31 - 1 elements.
    pub fn insert(&mut self, id: u32, body: Body<2>) -> Result<ElementIndex, ViewError> {
        check_one(id, &body)?;
        fits(self.len() + 1)?;
        let element = self.elements.insert(Element { body, id, next: None });
        self.link(element);
        Ok(ElementIndex::new(element, id))
    }

    /// Returns the body of an element; `None` when the element is gone.
    #[must_use]
    pub fn get(&self, index: ElementIndex) -> Option<Body<2>> {
        Some(self.elements[self.find(index)?].body)
    }

    /// Takes an element out and returns its body; `None` when the element is gone already. Nodes and boxes stay until
    /// [`Self::cleanup`]. O(depth + elements of its leaf).
    pub fn remove(&mut self, index: ElementIndex) -> Option<Body<2>> {
        let element = self.find(index)?;
        self.unlink(element);
        self.elements.remove(element).map(|element| element.body)
    }

    /// Changes the body of an element, and returns the former body; `None` when the element is gone. The element is
    /// removed, changed and inserted. If its centre stays in the same cell of the greatest depth, only the boxes above
    /// it grow.
    ///
    /// # Errors
    /// As [`Self::insert`]; the element stays as it was.
    pub fn move_to(&mut self, index: ElementIndex, body: Body<2>) -> Result<Option<Body<2>>, ViewError> {
        check_one(index.id(), &body)?;
        let Some(element) = self.find(index) else { return Ok(None) };
        let before = self.elements[element].body;
        if self.replace(element, body) {
            self.grow(&body);
        }
        Ok(Some(before))
    }

    fn find(&self, index: ElementIndex) -> Option<SlotIndex<Element>> {
        index.slot_of(&self.elements, |element| element.id)
    }

    /// Replaces a body. Returns whether the element stays in its leaf: then the boxes above it are not yet large
    /// enough.
    fn replace(&mut self, element: SlotIndex<Element>, body: Body<2>) -> bool {
        let stays = self.cells.cell(self.elements[element].body.center) == self.cells.cell(body.center);
        if !stays {
            self.unlink(element);
        }
        self.elements[element].body = body;
        self.gathered.forget();
        if !stays {
            self.link(element);
        }
        stays
    }
}

fn fits(bodies: usize) -> Result<(), ViewError> {
    if bodies <= MOST { Ok(()) } else { Err(ViewError::TooMany { bodies }) }
}
