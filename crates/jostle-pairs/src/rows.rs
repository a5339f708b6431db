//! The rows of neighbour lists: for each body of a tree, those that overlap it, a group of sixteen leaves after the other.
//!
//! Each pair is tested from both sides, so that a row is complete where it begins and nobody else writes to it. A circle
//! tests the leaves near its own in turn, so that hits come row by row; nothing has to be sorted but the ids of a row.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use jostle_core::aabb::GROWTH;
use jostle_core::disjoint::Disjoint;
use jostle_core::tree::LEAF;
use jostle_core::{Aabb, LinearTree};

use crate::circles16::{Circles16, boxes16_overlapping, first_lanes};
use crate::descent::Descent;
use crate::hits::Hit;
use crate::lanes::{LANES, Lanes, sixteen_mut};
use crate::pairing::{OFFSET_MARGIN, Pairing, SPARSE};
use crate::row_scratch::RowScratch;
use crate::stats::Tests;

/// Which neighbours a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// Those with a greater id than its own: each pair once.
    Half,
    /// All: each pair twice.
    #[default]
    Full,
}

/// Where rows are put before it is known where they belong: those of a group side by side.
#[derive(Clone, Copy)]
pub(crate) struct Arena<'a> {
    pub(crate) neighbors: &'a Disjoint<'a, u32>,
    /// As many, or none when they are not asked for.
    pub(crate) distances2: Option<&'a Disjoint<'a, f32>>,
    /// How much of it is taken; more than there is, when it is too small.
    pub(crate) taken: &'a AtomicUsize,
    /// By id.
    pub(crate) places: &'a Disjoint<'a, RowPlace>,
}

/// Where a row lies in the arena.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPlace {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Everything a task needs to list the rows of some groups of the driving tree.
pub(crate) struct RowJoin<'a, const D: usize> {
    pub(crate) pairing: Pairing<'a, D>,
    /// The offsets at which the walked tree is seen.
    pub(crate) images: &'a [[f32; D]],
    pub(crate) kind: Rows,
    pub(crate) scratch: &'a mut RowScratch<D>,
    pub(crate) arena: Arena<'a>,
    pub(crate) tests: Tests,
}

impl<const D: usize> RowJoin<'_, D> {
    #[inline(always)]
    pub(crate) fn list<L: Lanes>(&mut self, groups: Range<usize>) {
        let [driver, walked] = self.pairing.trees;
        let sparse = driver.len().saturating_mul(SPARSE) < walked.len();
        for group in groups {
            let leaves = group * LEAF..((group + 1) * LEAF).min(driver.leaves());
            if !sparse {
                self.collect_candidates::<L>(group);
            }
            self.scratch.rows_len = 0;
            self.scratch.lens.clear();
            for leaf in leaves.clone() {
                self.scratch.hits.clear();
                if !sparse {
                    self.collect_near::<L>(leaf);
                }
                for place in driver.leaf_places(leaf) {
                    if sparse { self.walk::<L>(place) } else { self.test_near::<L>(place) }
                }
                self.run_tests::<L>();
                self.write_rows::<L>(leaf);
                self.scratch.note();
            }
            self.tests.pairs += self.scratch.rows_len as u64;
            self.store(leaves);
        }
    }

    /// How far a box of the walked tree is moved to where it is seen: its lower and its upper borders.
    #[inline(always)]
    fn movement(image: [f32; D]) -> ([f32; D], [f32; D]) {
        let (mut lo, mut hi) = (image, image);
        for axis in 0..D {
            let margin = image[axis].abs() * OFFSET_MARGIN;
            lo[axis] -= margin;
            hi[axis] += margin;
        }
        (lo, hi)
    }

    /// A box as the walked tree sees it.
    #[inline(always)]
    fn seen_from(aabb: Aabb<D>, image: [f32; D]) -> Aabb<D> {
        let (to_lo, to_hi) = Self::movement(image);
        let mut seen = aabb;
        for axis in 0..D {
            seen.lo[axis] -= to_hi[axis];
            seen.hi[axis] -= to_lo[axis];
        }
        seen
    }

    #[inline(always)]
    fn collect_candidates<L: Lanes>(&mut self, group: usize) {
        let [driver, walked] = self.pairing.trees;
        let RowScratch { candidates, images, .. } = &mut *self.scratch;
        candidates.len = 0;
        images.clear();
        for (number, &image) in self.images.iter().enumerate() {
            let (to_lo, to_hi) = Self::movement(image);
            let before = candidates.len;
            let aabb = Self::seen_from(driver.levels()[1].aabb(group), image);
            let mut descent = Descent::new::<L>(walked, aabb, 0);
            while let Some((node, mask)) = descent.next::<L>() {
                candidates.make_room();
                candidates.append::<L>(&walked.levels()[0], node, mask);
            }
            self.tests.node_tests += descent.tests;
            if number > 0 {
                candidates.move_from(before, to_lo, to_hi);
            }
            images.resize(candidates.len, number as u8);
        }
    }

    /// The candidates that a leaf may touch.
    #[inline(always)]
    fn collect_near<L: Lanes>(&mut self, leaf: usize) {
        let RowScratch { candidates, images, near, near_images, .. } = &mut *self.scratch;
        let Aabb { lo, hi } = self.pairing.trees[0].levels()[0].aabb(leaf);
        near.len = 0;
        near_images.clear();
        for run in 0..candidates.len.div_ceil(LANES) {
            let present = first_lanes((candidates.len - run * LANES).min(LANES));
            let mask = present & boxes16_overlapping::<L, D>(candidates.boxes(), run, lo, hi);
            near.make_room();
            near.take::<L>(candidates, run, mask);
            if self.images.len() > 1 {
                let mut left = mask;
                while left != 0 {
                    near_images.push(images[run * LANES + left.trailing_zeros() as usize]);
                    left &= left - 1;
                }
            }
        }
        self.tests.node_tests += candidates.len.div_ceil(LANES) as u64;
        self.tests.leaf_tests += near.len as u64;
    }

    /// The box of a circle by its place.
    #[inline(always)]
    fn circle_box(&self, place: usize) -> Aabb<D> {
        let (bodies, lane) = (&self.pairing.trees[0].bodies()[place / LEAF], place % LEAF);
        let reach = bodies.radii.0[lane] * GROWTH;
        let mut aabb = Aabb { lo: [0.0; D], hi: [0.0; D] };
        for axis in 0..D {
            let center = bodies.centers[axis].0[lane];
            aabb.lo[axis] = center - reach;
            aabb.hi[axis] = center + reach;
        }
        aabb
    }

    /// Tests of a circle against those of the near leaves whose boxes it touches.
    #[inline(always)]
    fn test_near<L: Lanes>(&mut self, place: usize) {
        let Aabb { lo, hi } = self.circle_box(place);
        for run in 0..self.scratch.near.len.div_ceil(LANES) {
            let RowScratch { near, near_images, tests, test_images, .. } = &mut *self.scratch;
            let present = first_lanes((near.len - run * LANES).min(LANES));
            let mask = present & boxes16_overlapping::<L, D>(near.boxes(), run, lo, hi);
            if self.images.len() > 1 {
                let mut left = mask;
                while left != 0 {
                    test_images.push(near_images[run * LANES + left.trailing_zeros() as usize]);
                    left &= left - 1;
                }
            }
            tests.push_some::<L>(place as u32, mask, near.run(run));
            if tests.is_full() {
                self.run_tests::<L>();
            }
        }
    }

    /// Tests of a circle against what it may touch, found by a walk of its own.
    #[inline(always)]
    fn walk<L: Lanes>(&mut self, place: usize) {
        let walked = self.pairing.trees[1];
        for (number, &image) in self.images.iter().enumerate() {
            let mut descent = Descent::new::<L>(walked, Self::seen_from(self.circle_box(place), image), 0);
            while let Some((node, mask)) = descent.next::<L>() {
                self.tests.leaf_tests += u64::from(mask.count_ones());
                let RowScratch { tests, test_images, .. } = &mut *self.scratch;
                tests.push_leaves::<L>(place as u32, mask, (node * LEAF) as u32);
                if self.images.len() > 1 {
                    test_images.resize(tests.len, number as u8);
                }
                if tests.is_full() {
                    self.run_tests::<L>();
                }
            }
            self.tests.node_tests += descent.tests;
        }
    }

    /// The tests gathered; a body is not its own neighbour. A hit is written in any case, and counted if it is one.
    #[inline(always)]
    fn run_tests<L: Lanes>(&mut self) {
        let [driver, walked] = self.pairing.trees.map(LinearTree::bodies);
        let RowScratch { tests, test_images, hits, .. } = &mut *self.scratch;
        let own = self.pairing.within;
        self.tests.circle_tests += (tests.len * LANES) as u64;
        let mut len = hits.len();
        hits.resize(len + tests.len, Hit::default());
        for (test, (&circle, &leaf)) in tests.circle[..tests.len].iter().zip(&tests.leaf).enumerate() {
            let image = if self.images.len() > 1 { test_images[test] } else { 0 };
            let single = Circles16::<L, D>::all(driver, circle as usize);
            let mask = single.hits_at(Circles16::of(walked, leaf as usize), self.images[image as usize]);
            let itself = u16::from(own & (circle as usize / LEAF == leaf as usize)) << (circle as usize % LEAF);
            let hit = Hit::of_image(image, circle, leaf, mask & !itself);
            hits[len] = hit;
            len += usize::from(hit.pairs() != 0);
        }
        hits.truncate(len);
        tests.len = 0;
        test_images.clear();
    }

    /// The rows of a leaf, each in ascending order, after those of the group.
    #[inline(always)]
    fn write_rows<L: Lanes>(&mut self, leaf: usize) {
        let driver = self.pairing.trees[0];
        let mut next = 0;
        for place in driver.leaf_places(leaf) {
            let first = next;
            while self.scratch.hits.get(next).is_some_and(|hit| hit.circle() == place) {
                next += 1;
            }
            let len = self.gather_row::<L>(first..next);
            let len = self.finish_row(len, driver.leaf_ids()[leaf].0[place % LEAF]);
            self.scratch.lens.push(len);
        }
    }

    /// The ids of some hits of one circle, and squared distances; their number.
    #[inline(always)]
    fn gather_row<L: Lanes>(&mut self, hits: Range<usize>) -> usize {
        let RowScratch { hits: all, row, row_distances2, row_len, .. } = &mut *self.scratch;
        let [driver, walked] = self.pairing.trees;
        let names = self.pairing.names();
        let room = hits.len() * LANES + COUNTED;
        *row_len = room.max(*row_len);
        if row.len() < room {
            row.resize(room, 0);
            row_distances2.resize(room, 0.0);
        }
        let mut len = 0;
        for &hit in &all[hits] {
            let hit = if self.pairing.filter.keeps_all() { hit } else { self.pairing.filter::<L>(hit, names) };
            L::compress_ids(&walked.leaf_ids()[hit.leaf()].0, hit.mask(), sixteen_mut(row, len));
            if self.arena.distances2.is_some() {
                let circle = Circles16::<L, D>::all(driver.bodies(), hit.circle());
                let mut distances2 = [0.0; LANES];
                let others = Circles16::of(walked.bodies(), hit.leaf());
                circle.distance2_at(others, self.images[hit.image()]).store(&mut distances2);
                L::compress(&distances2, hit.mask(), sixteen_mut(row_distances2, len));
            }
            len += hit.pairs() as usize;
        }
        len
    }

    /// Appends the row gathered, sorted, to those of the group; its length.
    #[inline(always)]
    fn finish_row(&mut self, len: usize, id: u32) -> u32 {
        let RowScratch { row, row_distances2, rows, rows_distances2, rows_len, .. } = &mut *self.scratch;
        let start = *rows_len;
        if rows.len() < start + len + COUNTED {
            rows.resize(2 * (start + len + COUNTED), 0);
            rows_distances2.resize(rows.len(), 0.0);
        }
        row[len..len + COUNTED].fill(u32::MAX);
        let distances2 = self.arena.distances2.map(|_| (&row_distances2[..], &mut rows_distances2[start..]));
        sort_row(row, len, &mut rows[start..], distances2);
        let mut lesser = 0;
        if self.kind == Rows::Half && self.pairing.within {
            lesser = rows[start..start + len].partition_point(|&other| other < id);
            rows.copy_within(start + lesser..start + len, start);
            rows_distances2.copy_within(start + lesser..start + len, start);
        }
        *rows_len += len - lesser;
        (len - lesser) as u32
    }

    /// The rows of a group to the arena.
    #[allow(unsafe_code, reason = "each group has a part of the arena of its own, and each id is in one group")]
    fn store(&mut self, leaves: Range<usize>) {
        let RowScratch { rows, rows_distances2, rows_len, lens, .. } = &*self.scratch;
        let rows = &rows[..*rows_len];
        let driver = self.pairing.trees[0];
        let mut start = self.arena.taken.fetch_add(rows.len(), Ordering::Relaxed);
        if start + rows.len() > self.arena.neighbors.len() {
            return;
        }
        let place = start..start + rows.len();
        // SAFETY: parts are disjoint, since each begins where what was taken before ends, and lie within the arena.
        unsafe {
            self.arena.neighbors.range(place.clone()).copy_from_slice(rows);
            if let Some(all) = self.arena.distances2 {
                all.range(place).copy_from_slice(&rows_distances2[..*rows_len]);
            }
        }
        let ids = leaves
            .flat_map(|leaf| driver.leaf_places(leaf))
            .map(|place| driver.leaf_ids()[place / LEAF].0[place % LEAF]);
        for (id, &len) in ids.zip(lens) {
            // SAFETY: ids are below the number of bodies, and each stands at one place of one group.
            unsafe { self.arena.places.write(id as usize, RowPlace { start, len: len as usize }) };
            start += len as usize;
        }
    }
}

/// Rows up to this length are sorted by counting, for each id, how many are less: sixteen at a time, and of those always
/// all, since a loop that ends sooner or later is mispredicted.
pub(crate) const COUNTED: usize = 2 * LANES;

/// Sorts the first `len` ids of a row, which greater ones follow, [`COUNTED`] of them, into `out`, and their distances
/// with them; what follows them in `out` is anything.
#[inline(always)]
fn sort_row(row: &[u32], len: usize, out: &mut [u32], distances2: Option<(&[f32], &mut [f32])>) {
    if len <= LANES {
        sort_counted::<LANES>(row, out, distances2);
    } else if len <= COUNTED {
        sort_counted::<COUNTED>(row, out, distances2);
    } else {
        sort_long(&row[..len], &mut out[..len], distances2);
    }
}

/// As [`sort_row`] for `N` ids, of which the last ones may be equal and greater than the others: those share a rank.
#[inline(always)]
fn sort_counted<const N: usize>(row: &[u32], out: &mut [u32], distances2: Option<(&[f32], &mut [f32])>) {
    let (row, out): (&[u32; N], &mut [u32; N]) = (first(row), first_mut(out));
    // Ids with the highest bit turned, in which order signed numbers stand as unsigned ones do: those can be compared.
    let mut ids = [0; N];
    for lane in 0..N {
        ids[lane] = (row[lane] ^ 1 << 31) as i32;
    }
    let mut ranks = [0_u32; N];
    for at in 0..N {
        let id = ids[at];
        for lane in 0..N {
            ranks[lane] += u32::from(id < ids[lane]);
        }
    }
    for lane in 0..N {
        out[ranks[lane] as usize % N] = row[lane];
    }
    if let Some((from, to)) = distances2 {
        let (from, to): (&[f32; N], &mut [f32; N]) = (first(from), first_mut(to));
        for lane in 0..N {
            to[ranks[lane] as usize % N] = from[lane];
        }
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

#[cold]
#[inline(never)]
fn sort_long(row: &[u32], out: &mut [u32], distances2: Option<(&[f32], &mut [f32])>) {
    let Some((from, to)) = distances2 else {
        out.copy_from_slice(row);
        return out.sort_unstable();
    };
    // Where each comes from, in the room of the distances for as long as it takes.
    let to = &mut to[..row.len()];
    for (place, slot) in to.iter_mut().enumerate() {
        *slot = f32::from_bits(place as u32);
    }
    to.sort_unstable_by_key(|place| row[place.to_bits() as usize]);
    for (out, slot) in out.iter_mut().zip(to) {
        let place = slot.to_bits() as usize;
        (*out, *slot) = (row[place], from[place]);
    }
}
