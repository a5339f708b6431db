//! Only the cells that are in use, in a hash map.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;

use super::cells::{Cell, Cells, sealed::Sealed};
use super::index::CellIndex;
use crate::error::SetupError;

/// Only the cells that are in use, in a hash map by their number. A cell is made when something first lies in it or
/// below it, and dropped by the first walk that finds it empty, with nothing below.
///
/// A hash map rather than a sorted array: most cells stay in use from one frame to the next and need not be made again,
/// and any cell, its parent and its children are found by number in constant time. (M. S. Warren, J. K. Salmon, "A
/// parallel hashed oct-tree N-body algorithm", 1993.)
#[derive(Debug, Clone, Default)]
pub struct SparseCells<const D: usize> {
    cells: HashMap<CellIndex<D>, Cell, BuildHasherDefault<CellHasher>>,
    /// Whether a walk has dropped empty cells since the lists were last cleared.
    walked: bool,
    /// The most cells that there was room for. This is what is held, since a map does not give room back.
    room: usize,
}

impl<const D: usize> Sealed for SparseCells<D> {}

impl<const D: usize> SparseCells<D> {
    /// Bytes that the map takes for a place: key and cell, and a byte of its own.
    const PLACE: usize = size_of::<(CellIndex<D>, Cell)>() + 1;
}

impl<const D: usize> Cells<D> for SparseCells<D> {
    const DEEPEST: u32 = CellIndex::<D>::DEEPEST;

    fn new(depth: u32) -> Result<Self, SetupError> {
        let most = Self::DEEPEST;
        if depth > most { Err(SetupError::Depth { depth, most }) } else { Ok(Self::default()) }
    }

    /// Keeps the cells, for the bodies to come back to. If no walk has dropped the empty cells, they would pile up
    /// frame after frame: then all cells go.
    fn clear(&mut self) {
        if core::mem::take(&mut self.walked) {
            self.cells.values_mut().for_each(|cell| cell.first = Cell::BLANK.first);
        } else {
            self.cells.clear();
        }
    }

    #[inline]
    fn get(&self, index: CellIndex<D>) -> Cell {
        self.cells.get(&index).copied().unwrap_or(Cell::BLANK)
    }

    #[inline]
    fn fill(&mut self, index: CellIndex<D>) -> &mut Cell {
        self.cells.entry(index).or_insert(Cell::BLANK)
    }

    fn drop_end(&mut self, index: CellIndex<D>) {
        let dropped = self.cells.remove(&index);
        if let (Some(_), Some((parent, k))) = (dropped, index.up()) {
            self.fill(parent).drop_child(k);
        }
    }

    fn end_walk(&mut self) {
        self.walked = true;
        self.room = self.room.max(self.cells.capacity());
    }

    fn bytes(&self) -> usize {
        // The map fills seven of eight places, and the number of places is a power of two.
        let places = (self.room.max(self.cells.capacity()) * 8).div_ceil(7).next_power_of_two();
        places * Self::PLACE
    }
}

/// Sends eight cells in a row, nearly all of them siblings, to eight places in a row. A walk goes from one sibling to
/// the next, and walks 100,000 spheres in two thirds of the time that scattered siblings take. Rows are scattered by
/// 2^64 divided by the golden ratio. The map's own hash withstands keys chosen by an enemy; keys here are cells.
#[derive(Debug, Default)]
struct CellHasher(u64);

/// 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// log2 of the cells in a row.
const ROW: u32 = 3;

/// The map compares the topmost bits of hashes before keys. From this bit up, they tell the cells of a row apart.
const TAG: u32 = u64::BITS - 7;

impl Hasher for CellHasher {
    #[inline]
    fn write_u32(&mut self, index: u32) {
        let row = u64::from(index >> ROW).wrapping_mul(GOLDEN);
        let in_row = u64::from(index) & ((1 << ROW) - 1);
        // The upper half, into which all bits have gone, is mixed into the lower half.
        let scattered = (row ^ (row >> 32)) >> ROW << ROW;
        self.0 = (scattered | in_row) ^ (in_row << TAG);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(GOLDEN);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
