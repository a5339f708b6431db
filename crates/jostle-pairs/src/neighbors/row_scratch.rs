//! Scratch of a task that lists rows. Its lists grow with the largest group of leaves, and any task may meet that one in
//! the next frame: so all pieces have room for the largest that one of them has met, and more.

use jostle_core::scratch::reserve;

use crate::join::buffers::TestList;
use crate::neighbors::arena::Streams;
use crate::neighbors::leaf_rows::{LeafRows, RowsReached};
use crate::traverse::candidates::Candidates;

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct RowScratch<const D: usize> {
    /// Leaves that those of a group may touch, where they are seen from there, and their images.
    pub(crate) candidates: Candidates<D>,
    pub(crate) images: Vec<u32>,
    pub(crate) tests: TestList,
    pub(crate) rows: LeafRows,
    pub(crate) streams: Streams,
    reached: Reached,
}

/// The greatest lengths that lists have had.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reached {
    candidates: usize,
    rows: RowsReached,
}

impl Reached {
    pub(crate) fn max(self, other: Self) -> Self {
        let rows =
            RowsReached { pieces: self.rows.pieces.max(other.rows.pieces), long: self.rows.long.max(other.rows.long) };
        Self { candidates: self.candidates.max(other.candidates), rows }
    }

    /// Whether lists of twice these lengths have room for the others, with some to spare.
    pub(crate) fn is_ample_for(self, other: Self) -> bool {
        let ample = |len: usize, other: usize| other <= len + len / 2;
        ample(self.candidates, other.candidates)
            && ample(self.rows.pieces, other.rows.pieces)
            && ample(self.rows.long, other.rows.long)
    }
}

impl<const D: usize> RowScratch<D> {
    pub(crate) fn reached(&self) -> Reached {
        self.reached
    }

    /// Notes what the lists have grown to.
    #[inline(always)]
    pub(crate) fn note(&mut self) {
        let reached = Reached { candidates: self.candidates.len, rows: self.rows.reached() };
        self.reached = self.reached.max(reached);
    }

    /// Makes room for lists of twice these lengths.
    pub(crate) fn make_room(&mut self, reached: Reached) {
        self.candidates.make_room_for(2 * reached.candidates);
        reserve(&mut self.images, 2 * reached.candidates);
        let RowsReached { pieces, long } = reached.rows;
        self.rows.make_room_for(RowsReached { pieces: 2 * pieces, long: 2 * long });
    }

    pub(crate) fn bytes(&self) -> usize {
        let images = self.images.capacity() * size_of::<u32>();
        self.candidates.bytes() + images + TestList::BYTES + self.rows.bytes() + self.streams.bytes()
    }
}
