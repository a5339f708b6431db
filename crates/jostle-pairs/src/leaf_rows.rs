//! The rows of the sixteen circles of a leaf while they are found: hits of any of them are appended to its own.

use jostle_core::scratch::reserve;

use crate::lanes::counted::sort_counted;
use crate::lanes::{LANES, Lanes, ROW, SHORT, sixteen_mut};

/// A row, and what one more test may add.
const STRIDE: usize = ROW + LANES;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct LeafRows {
    ids: Box<Table<u32>>,
    distances2: Box<Table<f32>>,
    /// Of each row, without what was put aside.
    lens: [u32; LANES],
    aside: Aside,
    /// A row that is sorted alone.
    long: Vec<(u32, f32)>,
}

/// Sixteen rows, each of which begins a line of memory.
#[derive(Debug)]
#[repr(align(64))]
struct Table<T>([[T; STRIDE]; LANES]);

/// Pieces of rows, of [`ROW`] ids each, and the lanes that they belong to.
#[derive(Debug, Default)]
struct Aside {
    lanes: Vec<u8>,
    ids: Vec<u32>,
    distances2: Vec<f32>,
}

/// Lengths of what is put aside and of rows that are sorted alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowsReached {
    pub(crate) pieces: usize,
    pub(crate) long: usize,
}

impl Default for LeafRows {
    fn default() -> Self {
        let (ids, distances2) = (Box::new(Table([[0; STRIDE]; LANES])), Box::new(Table([[0.0; STRIDE]; LANES])));
        Self { ids, distances2, lens: [0; LANES], aside: Aside::default(), long: Vec::new() }
    }
}

impl LeafRows {
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.lens = [0; LANES];
        self.aside.lanes.clear();
        self.aside.ids.clear();
        self.aside.distances2.clear();
    }

    /// What the rows of this leaf need beyond what is always there.
    #[inline(always)]
    pub(crate) fn reached(&self) -> RowsReached {
        RowsReached { pieces: self.aside.lanes.len(), long: self.long.len() }
    }

    pub(crate) fn make_room_for(&mut self, reached: RowsReached) {
        let Aside { lanes, ids, distances2 } = &mut self.aside;
        reserve(lanes, reached.pieces);
        reserve(ids, reached.pieces * ROW);
        reserve(distances2, reached.pieces * ROW);
        reserve(&mut self.long, reached.long);
    }

    pub(crate) fn bytes(&self) -> usize {
        let Aside { lanes, ids, distances2 } = &self.aside;
        2 * LANES * STRIDE * size_of::<u32>()
            + lanes.capacity()
            + ids.capacity() * size_of::<u32>()
            + distances2.capacity() * size_of::<f32>()
            + self.long.capacity() * size_of::<(u32, f32)>()
    }

    /// Appends the ids set in `mask` to the row of a lane.
    #[inline(always)]
    pub(crate) fn push<L: Lanes>(&mut self, lane: usize, ids: &[u32; LANES], mask: u16) {
        // It is less than a row: said so that no border has to be looked at.
        let len = self.lens[lane] as usize % ROW;
        L::compress_ids(ids, mask, sixteen_mut(&mut self.ids.0[lane], len));
        self.lens[lane] = len as u32 + mask.count_ones();
        if self.lens[lane] >= ROW as u32 {
            self.put_aside(lane);
        }
    }

    /// The squared distances of the ids that are pushed next.
    #[inline(always)]
    pub(crate) fn push_distances2<L: Lanes>(&mut self, lane: usize, distances2: L, mask: u16) {
        let mut values = [0.0; LANES];
        distances2.store(&mut values);
        L::compress(&values, mask, sixteen_mut(&mut self.distances2.0[lane], self.lens[lane] as usize % ROW));
    }

    #[cold]
    #[inline(never)]
    fn put_aside(&mut self, lane: usize) {
        let (ids, distances2) = (&mut self.ids.0[lane], &mut self.distances2.0[lane]);
        self.aside.lanes.push(lane as u8);
        self.aside.ids.extend_from_slice(&ids[..ROW]);
        self.aside.distances2.extend_from_slice(&distances2[..ROW]);
        ids.copy_within(ROW.., 0);
        distances2.copy_within(ROW.., 0);
        self.lens[lane] -= ROW as u32;
    }

    /// The length of the row of a lane.
    #[inline(always)]
    pub(crate) fn len(&self, lane: usize) -> usize {
        let pieces = if self.aside.lanes.is_empty() { 0 } else { self.pieces_of(lane).count() };
        self.lens[lane] as usize + pieces * ROW
    }

    fn pieces_of(&self, lane: usize) -> impl Iterator<Item = usize> {
        let lanes = self.aside.lanes.iter().enumerate();
        lanes.filter(move |&(_, &of)| usize::from(of) == lane).map(|(piece, _)| piece)
    }

    /// Sorts the rows, as far as that is done side by side.
    #[inline(always)]
    pub(crate) fn sort<L: Lanes>(&mut self) {
        L::sort_rows(&mut self.ids.0, &self.lens);
    }

    /// Writes the row of a lane, which is `len` long, in ascending order; the rows have been sorted. `out` has room for
    /// [`LANES`] more, which become anything.
    #[inline(always)]
    pub(crate) fn copy_into(&mut self, lane: usize, len: usize, out: &mut [u32]) {
        if len >= ROW {
            return self.sort_long_into(lane, len, out, None);
        }
        let ids = &self.ids.0[lane];
        out[..LANES].copy_from_slice(&ids[..LANES]);
        let mut at = LANES;
        while at < len {
            out[at..at + LANES].copy_from_slice(&ids[at..at + LANES]);
            at += LANES;
        }
    }

    /// As [`LeafRows::copy_into`], of rows that have not been sorted, and their squared distances with them. Both have room
    /// for [`SHORT`] more.
    #[inline(always)]
    pub(crate) fn sort_into(&mut self, lane: usize, len: usize, out: &mut [u32], out2: &mut [f32]) {
        if len > SHORT {
            return self.sort_long_into(lane, len, out, Some(out2));
        }
        let (ids, distances2) = (first(&self.ids.0[lane]), first(&self.distances2.0[lane]));
        sort_counted(ids, len, first_mut(out), Some((distances2, first_mut(out2))));
    }

    #[cold]
    #[inline(never)]
    fn sort_long_into(&mut self, lane: usize, len: usize, out: &mut [u32], out2: Option<&mut [f32]>) {
        let mut long = core::mem::take(&mut self.long);
        long.clear();
        let own = 0..self.lens[lane] as usize;
        long.extend(self.ids.0[lane][own.clone()].iter().copied().zip(self.distances2.0[lane][own].iter().copied()));
        for piece in self.pieces_of(lane).map(|piece| piece * ROW..(piece + 1) * ROW) {
            let Aside { ids, distances2, .. } = &self.aside;
            long.extend(ids[piece.clone()].iter().copied().zip(distances2[piece].iter().copied()));
        }
        debug_assert_eq!(long.len(), len);
        long.sort_unstable_by_key(|&(id, _)| id);
        for (out, &(id, _)) in out.iter_mut().zip(&long) {
            *out = id;
        }
        for (out, &(_, distance2)) in out2.into_iter().flatten().zip(&long) {
            *out = distance2;
        }
        self.long = long;
    }
}

#[inline(always)]
fn first<T, const N: usize>(values: &[T]) -> &[T; N] {
    values.first_chunk().expect("there is room for so many")
}

#[inline(always)]
fn first_mut<T, const N: usize>(values: &mut [T]) -> &mut [T; N] {
    values.first_chunk_mut().expect("there is room for so many")
}
