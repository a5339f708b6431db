//! The rows of the sixteen circles of a leaf while they are found: the hits of each circle are appended to its own row.

use jostle_core::axes::Axes;
use jostle_core::scratch::reserve;
use jostle_sets::simd::merged::merge;
use jostle_sets::simd::{LANES, Lanes, ROW, sixteen_mut};

/// A row, and what one more test may add.
const STRIDE: usize = ROW + LANES;

/// Bits of a place in a row of [`ROW`] ids.
const PLACE_BITS: u32 = ROW.trailing_zeros();

/// Rows of fewer than this many times [`ROW`] ids are merged from pieces: the first two pieces of each row side by
/// side, then the other pieces one by one, each of which takes time for all pieces before it.
const MERGED: usize = 6;

/// Ids up to this many fit in a number together with a place in a row.
pub(crate) const KEYED_IDS: usize = 1 << (u32::BITS - PLACE_BITS);

/// How rows are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Sorting {
    /// Side by side, ids alone.
    #[default]
    Ids,
    /// Ids alone, some of which are equal: not every instruction set sorts those side by side.
    EqualIds,
    /// Side by side, ids with the places of their distances; there are [`KEYED_IDS`] at most.
    Keys,
    /// One by one, ids with their distances.
    Alone,
}

/// The rows of the sixteen circles of a leaf.
#[derive(Debug)]
pub(crate) struct LeafRows {
    tables: Box<Tables>,
    /// The length of each row, without what was put aside.
    lens: [u32; LANES],
    aside: Aside,
    sorting: Sorting,
    /// A row that is sorted alone.
    long: Vec<(u32, f32)>,
}

/// Sixteen rows in each table. Each row begins a line of memory, and the first row a page (see `jostle_core::pages`):
/// the row that reaches into the next page has its [`ROW`] ids before that page begins.
#[derive(Debug)]
struct Tables {
    ids: Table<u32>,
    distances2: Table<f32>,
}

#[derive(Debug)]
#[repr(align(4096))]
struct Table<T>([[T; STRIDE]; LANES]);

const _: () = assert!(4096 % (STRIDE * 4) == ROW * 4);

/// Pieces of rows, of [`ROW`] ids each, and the lanes that they belong to.
#[derive(Debug, Default)]
struct Aside {
    lanes: Vec<u8>,
    ids: Vec<u32>,
    distances2: Vec<f32>,
    /// For each row that has a piece: the first piece and the ids that were not put aside, together in order. One
    /// entry, if there are pieces.
    merged: Vec<[[u32; 2 * ROW]; LANES]>,
}

/// Lengths of the lists of pieces put aside and of rows that are sorted alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowsUsed {
    pub(crate) pieces: usize,
    pub(crate) long: usize,
}

impl Default for LeafRows {
    fn default() -> Self {
        let tables = Tables { ids: Table([[0; STRIDE]; LANES]), distances2: Table([[0.0; STRIDE]; LANES]) };
        Self {
            tables: Box::new(tables),
            lens: [0; LANES],
            aside: Aside::default(),
            sorting: Sorting::Ids,
            long: Vec::new(),
        }
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

    /// The lengths that the rows of this leaf need beyond the tables.
    #[inline(always)]
    pub(crate) fn used(&self) -> RowsUsed {
        RowsUsed { pieces: self.aside.lanes.len(), long: self.long.len() }
    }

    pub(crate) fn make_room_for(&mut self, used: RowsUsed) {
        let Aside { lanes, ids, distances2, merged } = &mut self.aside;
        reserve(merged, used.pieces.min(1));
        reserve(lanes, used.pieces);
        reserve(ids, used.pieces.next_multiple_of(LANES) * ROW);
        reserve(distances2, used.pieces * ROW);
        reserve(&mut self.long, used.long);
    }

    pub(crate) fn bytes(&self) -> usize {
        let Aside { lanes, ids, distances2, merged } = &self.aside;
        size_of::<Tables>()
            + lanes.capacity()
            + ids.capacity() * size_of::<u32>()
            + distances2.capacity() * size_of::<f32>()
            + merged.capacity() * size_of::<[[u32; 2 * ROW]; LANES]>()
            + self.long.capacity() * size_of::<(u32, f32)>()
    }

    /// Appends the ids set in `mask` to the row of a lane.
    #[inline(always)]
    pub(crate) fn push<L: Lanes>(&mut self, lane: usize, ids: &[u32; LANES], mask: u16) {
        // Always less than ROW; the modulo removes bounds checks.
        let len = self.lens[lane] as usize % ROW;
        L::compress_ids(ids, mask, sixteen_mut(&mut self.tables.ids.0[lane], len));
        self.lens[lane] = len as u32 + mask.count_ones();
        if self.lens[lane] >= ROW as u32 {
            self.put_aside(lane);
        }
    }

    /// Writes the squared distances of the ids that are pushed next.
    #[inline(always)]
    pub(crate) fn push_distances2<L: Lanes>(&mut self, lane: usize, distances2: L, mask: u16) {
        distances2.compressed(mask, sixteen_mut(&mut self.tables.distances2.0[lane], self.lens[lane] as usize % ROW));
    }

    #[cold]
    #[inline(never)]
    fn put_aside(&mut self, lane: usize) {
        let (ids, distances2) = (&mut self.tables.ids.0[lane], &mut self.tables.distances2.0[lane]);
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
    pub(crate) fn sort<L: Lanes>(&mut self, sorting: Sorting) {
        self.sorting = sorting;
        if sorting == Sorting::Keys {
            for (row, &len) in self.tables.ids.0.iter_mut().zip(&self.lens) {
                for first in (0..len as usize).step_by(LANES) {
                    for (place, id) in (first as u32..).zip(sixteen_mut(row, first)) {
                        *id = *id << PLACE_BITS | place;
                    }
                }
            }
        }
        match sorting {
            Sorting::Ids | Sorting::Keys => L::sort_rows(&mut self.tables.ids.0, &self.lens),
            Sorting::EqualIds => {
                let rows = self.tables.ids.0.iter_mut().zip(&self.lens);
                rows.for_each(|(row, &len)| row[..len as usize].sort_unstable());
            }
            Sorting::Alone => {}
        }
        if sorting == Sorting::Ids && !self.aside.lanes.is_empty() {
            self.sort_aside::<L>();
        }
    }

    /// Sorts each piece that was put aside, and merges the first piece of each row with the ids that were not put
    /// aside.
    #[inline(always)]
    fn sort_aside<L: Lanes>(&mut self) {
        let Aside { lanes, ids, merged, .. } = &mut self.aside;
        ids.resize(lanes.len().next_multiple_of(LANES) * ROW, 0);
        for (number, pieces) in ids.as_chunks_mut::<ROW>().0.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut lens = [0; LANES];
            let some = (lanes.len() - number * LANES).min(LANES);
            lens[..some].fill(ROW as u32);
            L::sort_rows(pieces, &lens);
        }
        if merged.is_empty() {
            merged.push([[0; 2 * ROW]; LANES]);
        }
        let (rows, mut lens) = (&mut merged[0], [0; LANES]);
        for (&lane, piece) in lanes.iter().zip(ids.as_chunks::<ROW>().0) {
            let lane = usize::from(lane);
            if lens[lane] == 0 {
                lens[lane] = ROW as u32 + self.lens[lane];
                rows[lane][..ROW].copy_from_slice(piece);
                rows[lane][ROW..].copy_from_slice(&self.tables.ids.0[lane][..ROW]);
            }
        }
        L::merge_rows(rows, &lens);
    }

    /// Writes the row of a lane, of `len` ids, in ascending order; the rows have been sorted. If they were sorted with
    /// their squared distances, writes the bits of the distances behind the ids. `out` has room for [`LANES`] more
    /// numbers, which may become anything.
    #[inline(always)]
    pub(crate) fn copy_into<L: Lanes>(&mut self, lane: usize, len: usize, out: &mut [u32]) {
        if len >= ROW || self.sorting == Sorting::Alone {
            return self.sort_long_into(lane, len, out);
        }
        let (steps, ids) = ((0..len).step_by(LANES), self.tables.ids.0[lane].as_chunks().0);
        if self.sorting != Sorting::Keys {
            for (at, ids) in steps.zip(ids) {
                *sixteen_mut(out, at) = *ids;
            }
            return;
        }
        for (at, keys) in steps.clone().zip(ids) {
            *sixteen_mut(out, at) = keys.axes(|key| key >> PLACE_BITS);
        }
        // The distances overwrite the surplus ids.
        let distances2: &[f32; ROW] =
            self.tables.distances2.0[lane].first_chunk().expect("a table holds a row and more");
        for (at, keys) in steps.zip(ids) {
            L::pick(bytemuck::cast_ref(distances2), keys, sixteen_mut(out, len + at));
        }
    }

    #[cold]
    #[inline(never)]
    fn sort_long_into(&mut self, lane: usize, len: usize, out: &mut [u32]) {
        if self.sorting == Sorting::Ids && len < MERGED * ROW {
            let mut merged = ROW + self.lens[lane] as usize;
            out[..merged].copy_from_slice(&self.aside.merged[0][lane][..merged]);
            for piece in self.pieces_of(lane).skip(1) {
                merge(&mut out[..merged + ROW], &self.aside.ids[piece * ROW..][..ROW]);
                merged += ROW;
            }
            return;
        }
        let mut long = core::mem::take(&mut self.long);
        long.clear();
        let (ids, distances2) = (&self.tables.ids.0[lane], &self.tables.distances2.0[lane]);
        long.extend((0..self.lens[lane] as usize).map(|at| match self.sorting {
            Sorting::Keys => (ids[at] >> PLACE_BITS, distances2[ids[at] as usize % ROW]),
            Sorting::Ids | Sorting::EqualIds | Sorting::Alone => (ids[at], distances2[at]),
        }));
        for piece in self.pieces_of(lane).map(|piece| piece * ROW..(piece + 1) * ROW) {
            let Aside { ids, distances2, .. } = &self.aside;
            long.extend(ids[piece.clone()].iter().copied().zip(distances2[piece].iter().copied()));
        }
        long.sort_unstable_by_key(|&(id, _)| id);
        for (out, &(id, _)) in out.iter_mut().zip(&long) {
            *out = id;
        }
        if matches!(self.sorting, Sorting::Keys | Sorting::Alone) {
            for (out, &(_, distance2)) in out[len..].iter_mut().zip(&long) {
                *out = distance2.to_bits();
            }
        }
        self.long = long;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_sets::simd::Portable;

    /// A neighbour stands in a row once for each of its images.
    #[test]
    fn equal_ids_stay() {
        for count in [3, 16, 20, 32, 40, 100] {
            let mut rows = LeafRows::default();
            let ids: Vec<u32> = (0..count).map(|at| at * 7 % 5).collect();
            ids.chunks(LANES).for_each(|chunk| {
                let mut sixteen = [9; LANES];
                sixteen[..chunk.len()].copy_from_slice(chunk);
                rows.push::<Portable>(3, &sixteen, ((1_u32 << chunk.len()) - 1) as u16);
            });
            rows.sort::<Portable>(Sorting::EqualIds);
            let (len, mut expected) = (ids.len(), ids);
            let mut out = vec![0; len + LANES];
            expected.sort_unstable();
            rows.copy_into::<Portable>(3, len, &mut out);
            assert_eq!(out[..len], expected[..]);
        }
    }

    /// Rows of all lengths, sorted in every way.
    #[test]
    fn rows_keep_their_distances() {
        let sortings = [Sorting::Ids, Sorting::Keys, Sorting::Alone];
        for (sorting, tests) in sortings.into_iter().flat_map(|sorting| [200, 400, 800].map(|tests| (sorting, tests))) {
            let (mut rows, mut expected) = (LeafRows::default(), vec![Vec::new(); LANES]);
            for test in 0..tests {
                let lane = (test % 13) as usize;
                let ids: [u32; LANES] = core::array::from_fn(|i| (test * 16 + i as u32).wrapping_mul(7919) % 1_000_003);
                let distances2 = ids.map(|id| id as f32);
                let mask = (test.wrapping_mul(40_503) >> lane) as u16;
                rows.push_distances2::<Portable>(lane, Portable::load(&distances2), mask);
                rows.push::<Portable>(lane, &ids, mask);
                expected[lane].extend(ids.iter().enumerate().filter(|&(i, _)| mask >> i & 1 == 1).map(|(_, &id)| id));
            }
            rows.sort::<Portable>(sorting);
            for (lane, expected) in expected.iter_mut().enumerate() {
                expected.sort_unstable();
                let len = rows.len(lane);
                let mut out = vec![0; 2 * len + LANES];
                rows.copy_into::<Portable>(lane, len, &mut out);
                assert_eq!(out[..len], expected[..], "lane {lane}, {sorting:?}");
                if sorting != Sorting::Ids {
                    let distances2: Vec<u32> = expected.iter().map(|&id| (id as f32).to_bits()).collect();
                    assert_eq!(out[len..2 * len], distances2[..], "lane {lane}, {sorting:?}");
                }
            }
        }
    }
}
