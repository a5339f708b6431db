//! Scratch of a task that lists rows. Its lists grow with the largest group of leaves, and any task may meet that one in
//! the next frame: so all pieces have room for the largest that one of them has met, and more.

use crate::candidates::Candidates;
use crate::hits::Hit;
use crate::lists::{TESTS, TestList};
use crate::rows::COUNTED;
use jostle_core::tree::LEAF;

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct RowScratch<const D: usize> {
    /// Leaves that those of a group may touch, where they are seen from there, and their images.
    pub(crate) candidates: Candidates<D>,
    pub(crate) images: Vec<u8>,
    /// Those of them that one leaf may touch.
    pub(crate) near: Candidates<D>,
    pub(crate) near_images: Vec<u8>,
    pub(crate) tests: TestList,
    pub(crate) test_images: Vec<u8>,
    /// Of a leaf, in order of their circles.
    pub(crate) hits: Vec<Hit>,
    /// A row as it is found, and room.
    pub(crate) row: Vec<u32>,
    pub(crate) row_distances2: Vec<f32>,
    /// The most room that a row of the leaf has asked for.
    pub(crate) row_len: usize,
    /// The rows of a group, and room; and the length of each.
    pub(crate) rows: Vec<u32>,
    pub(crate) rows_distances2: Vec<f32>,
    pub(crate) rows_len: usize,
    pub(crate) lens: Vec<u32>,
    reached: Reached,
}

/// The greatest lengths that lists have had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reached {
    candidates: usize,
    hits: usize,
    row: usize,
    rows: usize,
}

impl Default for Reached {
    /// Little: some 50 KiB a piece.
    fn default() -> Self {
        Self { candidates: 0, hits: 1 << 10, row: 1 << 8, rows: 1 << 10 }
    }
}

impl Reached {
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            candidates: self.candidates.max(other.candidates),
            hits: self.hits.max(other.hits),
            row: self.row.max(other.row),
            rows: self.rows.max(other.rows),
        }
    }

    /// Whether lists of twice these lengths have room for the others, with some to spare.
    pub(crate) fn is_ample_for(self, other: Self) -> bool {
        let ample = |len: usize, other: usize| other <= len + len / 2;
        ample(self.candidates, other.candidates)
            && ample(self.hits, other.hits)
            && ample(self.row, other.row)
            && ample(self.rows, other.rows)
    }
}

impl<const D: usize> RowScratch<D> {
    pub(crate) fn reached(&self) -> Reached {
        self.reached
    }

    /// Notes what the lists have grown to.
    #[inline(always)]
    pub(crate) fn note(&mut self) {
        let (candidates, hits) = (self.candidates.len, self.hits.len());
        self.reached = self.reached.max(Reached { candidates, hits, row: self.row_len, rows: self.rows_len });
    }

    /// Makes room for lists of twice these lengths.
    pub(crate) fn make_room(&mut self, reached: Reached) {
        self.candidates.make_room_for(2 * reached.candidates);
        self.near.make_room_for(2 * reached.candidates);
        for images in [&mut self.images, &mut self.near_images, &mut self.test_images] {
            reserve(images, (2 * reached.candidates).max(TESTS));
        }
        reserve(&mut self.hits, 2 * reached.hits);
        grow(&mut self.row, 2 * reached.row);
        grow(&mut self.row_distances2, 2 * reached.row);
        grow(&mut self.rows, 2 * reached.rows + COUNTED);
        grow(&mut self.rows_distances2, 2 * reached.rows + COUNTED);
        reserve(&mut self.lens, LEAF * LEAF);
    }

    pub(crate) fn bytes(&self) -> usize {
        let images = [&self.images, &self.near_images, &self.test_images].map(Vec::capacity);
        self.candidates.bytes()
            + self.near.bytes()
            + images.iter().sum::<usize>()
            + TestList::BYTES
            + self.hits.capacity() * size_of::<Hit>()
            + (self.row.capacity() + self.rows.capacity() + self.lens.capacity()) * size_of::<u32>()
            + (self.row_distances2.capacity() + self.rows_distances2.capacity()) * size_of::<f32>()
    }
}

fn reserve<T>(list: &mut Vec<T>, len: usize) {
    if list.capacity() < len {
        list.reserve_exact(len - list.len());
    }
}

fn grow<T: Copy + Default>(list: &mut Vec<T>, len: usize) {
    if list.len() < len {
        list.resize(len, T::default());
    }
}
