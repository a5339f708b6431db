//! Two grids: a loose one that holds the bodies, and a tight one that finds the loose cells.

mod elements;
mod pairs;
mod search;
mod shrink;
mod validate;

pub use validate::BrokenLooseTightGrid;

use jostle_core::{Aabb, Bodies, ViewError};

use crate::broad_phase::BroadPhase;
use crate::check::check;
use crate::error::SetupError;
use crate::grid::{Ask, CellLists, CellMap, MAX_CELLS};
use crate::link::Link;
use elements::{Element, LooseCell};

/// A loose and a tight grid. An element (a circle with an id) is in exactly one loose cell, that of its centre. So a
/// move is rarely more than writing down the new body. A loose cell has a box that grows when an element comes;
/// [`shrink`](Self::shrink) shrinks it once a frame. A cell of the tight grid lists the loose cells whose boxes overlap
/// it. A search goes from its rectangle to tight cells, to loose cells, to elements.
///
/// A loose cell takes 20 bytes and a tight cell 4, whatever happens: the cells are made once. An element takes 20 bytes
/// in each of two arrays, and a listing of a loose cell in a tight cell takes 8.
///
/// Elements outside the world are in cells of its border. Ids are positions in the view given to
/// [`update`](BroadPhase::update). [`insert`](Self::insert) first uses ids that were freed, then new ids.
///
/// Known weakness: one giant makes its loose cell's box as large as itself, and all elements of the cell are looked at
/// wherever that box reaches. Where many bodies share a cell, each meets each.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{Body, LooseTightGrid};
/// use jostle::Aabb;
///
/// let mut grid = LooseTightGrid::new(Aabb { lo: [0.0; 2], hi: [100.0; 2] }, 4.0, 8.0)?;
/// let a = grid.insert(Body { center: [10.0, 10.0], radius: 1.0 })?;
/// let b = grid.insert(Body { center: [50.0, 50.0], radius: 1.0 })?;
/// grid.move_to(a, Body { center: [48.0, 50.0], radius: 1.0 })?;
/// let mut near = Vec::new();
/// grid.query(&Aabb { lo: [45.0; 2], hi: [55.0; 2] }, &mut |id| near.push(id));
/// near.sort_unstable();
/// assert_eq!((near, grid.nearest([0.0, 0.0])), (vec![a, b], Some(a)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LooseTightGrid {
    loose_map: CellMap,
    loose: Vec<LooseCell>,
    /// The lists of the tight grid; its items are loose cells.
    tight: CellLists,
    /// The elements, in no order, without gaps. After [`shrink`](Self::shrink) the elements of a cell lie side by side.
    elements: Vec<Element>,
    /// Scratch in which `elements` are put in order.
    spare: Vec<Element>,
    /// Where the element of an id is. There is such an element if the one found there has the id.
    slots: Vec<u32>,
    free_ids: Vec<u32>,
}

impl LooseTightGrid {
    /// Makes grids of square cells of these sides over a world. A tight cell as wide as one or two loose cells is about
    /// right.
    ///
    /// # Errors
    /// A world that is empty or has no finite size; a side not from 2^-60 to 2^60; more than 2^26 cells, or 2^16 a
    /// side.
    pub fn new(world: Aabb<2>, loose_side: f32, tight_side: f32) -> Result<Self, SetupError> {
        let loose_map = CellMap::new(world, "side of a loose cell", loose_side, MAX_CELLS)?;
        let tight_map = CellMap::new(world, "side of a tight cell", tight_side, MAX_CELLS)?;
        Ok(Self {
            loose_map,
            loose: vec![LooseCell::EMPTY; loose_map.count()],
            tight: CellLists::new(tight_map),
            elements: Vec::new(),
            spare: Vec::new(),
            slots: Vec::new(),
            free_ids: Vec::new(),
        })
    }

    /// Makes grids for about `n` bodies of about this radius. Loose cells are as wide as two diameters, but wide enough
    /// to have four bodies each, if bodies were spread evenly. Tight cells are twice as wide.
    ///
    /// # Errors
    /// As [`new`](Self::new), or a radius not from 0 to 2^60.
    pub fn for_bodies(world: Aabb<2>, n: usize, typical_radius: f32) -> Result<Self, SetupError> {
        let ask = Ask { diameters: 2.0, bodies: 4.0, cells: MAX_CELLS };
        let side = ask.side(world, n, typical_radius)?;
        Self::new(world, side, side * 2.0)
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True when there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The number of loose and of tight cells.
    #[must_use]
    pub fn cells(&self) -> [usize; 2] {
        [self.loose.len(), self.tight.map().count()]
    }

    /// The elements of a list.
    fn list(&self, head: Link) -> impl Iterator<Item = &Element> {
        elements::list(&self.elements, head)
    }
}

impl BroadPhase<2> for LooseTightGrid {
    /// Moves the bodies that have moved, then shrinks the boxes.
    fn update(&mut self, bodies: Bodies<'_, 2>) -> Result<(), ViewError> {
        check(bodies)?;
        self.replace_all(bodies);
        self.shrink();
        Ok(())
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        self.find_pairs(hit)
    }

    fn bytes(&self) -> usize {
        self.loose.capacity() * size_of::<LooseCell>()
            + self.tight.bytes()
            + (self.elements.capacity() + self.spare.capacity()) * size_of::<Element>()
            + (self.slots.capacity() + self.free_ids.capacity()) * size_of::<u32>()
    }

    /// Gives the boxes of loose cells, which overlap.
    fn for_each_cell(&self, cell: &mut dyn FnMut(Aabb<2>)) {
        self.loose.iter().filter(|loose| loose.head != Link::NONE).for_each(|loose| cell(loose.aabb));
    }
}
