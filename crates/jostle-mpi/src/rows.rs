//! Neighbour lists: for each body of a rank all bodies that it touches, on any rank.

use core::ops::Range;

use jostle::{Input, InputError, NeighborLists, Rows, Space};

use crate::engine::{Engine, set_of};
use crate::number::Number;

/// The neighbours of each body of this rank: full rows, of bodies of this rank and ghosts.
///
/// Bodies of this rank (between two sets, of the second one) are numbered by their positions. Ghosts are numbered from
/// there on: with n bodies, number n is ghost 0. Rows are ascending.
#[derive(Debug, Clone, Default)]
pub struct DistributedRows<const D: usize> {
    offsets: Vec<usize>,
    neighbors: Vec<u32>,
    shifts: Vec<[i32; D]>,
    /// Lists of own bodies and of ghosts, kept from search to search.
    own: NeighborLists,
    near: NeighborLists,
}

impl<const D: usize> DistributedRows<D> {
    /// Returns lists without rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of bodies that have a row.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// True when there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where each row begins, and the number of all neighbours at the end; empty before the first search.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The neighbours of all bodies, row after row.
    #[must_use]
    pub fn neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// The neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body.
    #[must_use]
    pub fn of(&self, body: usize) -> &[u32] {
        &self.neighbors[self.row(body)]
    }

    /// For each neighbour of [`DistributedRows::of`], by how many vectors of the cell it is moved to where it touches;
    /// empty in open space.
    ///
    /// # Panics
    /// When there is no such body.
    #[must_use]
    pub fn image_shifts_of(&self, body: usize) -> &[[i32; D]] {
        if self.shifts.is_empty() { &[] } else { &self.shifts[self.row(body)] }
    }

    fn row(&self, body: usize) -> Range<usize> {
        self.offsets[body]..self.offsets[body + 1]
    }

    /// Prepares lists for rows with image shifts or without them.
    pub(crate) fn begin(&mut self, space: &Space<D>) -> &mut NeighborLists {
        let lists = || if space.is_open() { NeighborLists::new() } else { NeighborLists::new().and_image_shifts() };
        (self.own, self.near) = (lists(), lists());
        &mut self.own
    }

    /// Adds ghosts to the rows of own bodies. Ghosts are numbered from `bodies` on.
    pub(crate) fn complete<T: Number>(
        &mut self,
        engine: &mut Engine<D, T>,
        space: &Space<D>,
        bodies: usize,
    ) -> Result<(), InputError> {
        let Self { offsets, neighbors, shifts, own, near } = self;
        offsets.clear();
        neighbors.clear();
        shifts.clear();
        let threads = engine.threads();
        let (bunch, border) = &engine.border[0];
        let ghosts = &engine.ghosts[engine.ghosts.len() - 1];
        let meets_ghosts = !border.is_empty() && !ghosts.halo.is_empty();
        if meets_ghosts {
            let search = Input::between(set_of(&bunch.share()), set_of(&ghosts.bunch.share())).space(*space);
            engine.near.on(threads).neighbors(search, Rows::Full, near)?;
        }
        let mut next = 0;
        offsets.push(0);
        for body in 0..own.len() {
            neighbors.extend_from_slice(own.of(body));
            if !space.is_open() {
                shifts.extend_from_slice(own.image_shifts_of(body));
            }
            if meets_ghosts && border.get(next) == Some(&(body as u32)) {
                neighbors.extend(near.of(next).iter().map(|ghost| ghost + bodies as u32));
                if !space.is_open() {
                    shifts.extend_from_slice(near.image_shifts_of(next));
                }
                next += 1;
            }
            offsets.push(neighbors.len());
        }
        Ok(())
    }
}
