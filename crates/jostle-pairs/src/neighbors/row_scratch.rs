//! Scratch of a task that lists rows. Its lists grow with the largest group of leaves, and any task may meet that group
//! in the next frame. So all pieces of scratch have room for the largest group that any piece has met, and more.

use jostle_core::pages::Paged;
use jostle_core::scratch::reserve;
use jostle_sets::simd::LANES;
use jostle_sets::traverse::candidates::Candidates;

use crate::join::buffers::TestList;
use crate::neighbors::arena::Streams;
use crate::neighbors::leaf_rows::{LeafRows, RowsUsed};

/// Scratch of a task that lists rows.
#[derive(Debug, Default)]
pub(crate) struct RowScratch<const D: usize> {
    /// Leaves that the leaves of a group may touch, where the group sees them, and their images.
    pub(crate) candidates: Candidates<D>,
    pub(crate) images: Vec<u32>,
    /// Candidates whose boxes overlap the box of a leaf, and room for a run more.
    pub(crate) near: Paged<u32>,
    pub(crate) tests: TestList,
    pub(crate) rows: LeafRows,
    pub(crate) streams: Streams,
    used: ScratchUsed,
}

/// The greatest lengths that lists have had.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScratchUsed {
    candidates: usize,
    rows: RowsUsed,
}

impl ScratchUsed {
    pub(crate) fn max(self, other: Self) -> Self {
        let rows =
            RowsUsed { pieces: self.rows.pieces.max(other.rows.pieces), long: self.rows.long.max(other.rows.long) };
        Self { candidates: self.candidates.max(other.candidates), rows }
    }

    /// Whether lists of twice these lengths have room for the lengths of `other`, with some to spare.
    pub(crate) fn is_ample_for(self, other: Self) -> bool {
        let ample = |len: usize, other: usize| other <= len + len / 2;
        ample(self.candidates, other.candidates)
            && ample(self.rows.pieces, other.rows.pieces)
            && ample(self.rows.long, other.rows.long)
    }
}

impl<const D: usize> RowScratch<D> {
    pub(crate) fn used(&self) -> ScratchUsed {
        self.used
    }

    /// Notes what the lists have grown to.
    #[inline(always)]
    pub(crate) fn note(&mut self) {
        let used = ScratchUsed { candidates: self.candidates.len, rows: self.rows.used() };
        self.used = self.used.max(used);
    }

    /// Makes room for lists of twice these lengths.
    pub(crate) fn make_room(&mut self, used: ScratchUsed) {
        self.candidates.make_room_for(2 * used.candidates);
        reserve(&mut self.images, 2 * used.candidates);
        self.fit();
        let RowsUsed { pieces, long } = used.rows;
        self.rows.make_room_for(RowsUsed { pieces: 2 * pieces, long: 2 * long });
    }

    /// Makes room for all candidates: any number of them may be near a leaf.
    #[inline(always)]
    pub(crate) fn fit(&mut self) {
        let room = self.candidates.leaf.len() + LANES;
        if self.near.len() < room {
            self.near = Paged::zeros(room);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let images = self.images.capacity() * size_of::<u32>();
        self.candidates.bytes()
            + images
            + self.near.bytes()
            + self.tests.bytes()
            + self.rows.bytes()
            + self.streams.bytes()
    }
}
