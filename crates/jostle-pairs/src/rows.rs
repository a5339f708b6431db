//! The rows of neighbour lists: for each body of a tree, those that overlap it, a group of sixteen leaves after the other.
//!
//! Each pair is tested from both sides, so that a row is complete where it begins and nobody else writes to it: what that
//! costs in arithmetic is less than bringing the two halves of each pair to their rows would cost in memory traffic.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use jostle_core::aabb::GROWTH;
use jostle_core::disjoint::Disjoint;
use jostle_core::tree::LEAF;
use jostle_core::{Aabb, LinearTree};

use crate::candidates::Candidates;
use crate::circles16::{Circles16, boxes16_overlapping, first_lanes};
use crate::descent::Descent;
use crate::hits::Hit;
use crate::join::{OFFSET_MARGIN, Pairing, SPARSE, TestList};
use crate::lanes::{LANES, Lanes, sixteen_mut};
use crate::stats::Tests;

/// Bodies of a group.
const GROUP: usize = LEAF * LEAF;

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
    /// The place of each group's rows.
    pub(crate) starts: &'a Disjoint<'a, usize>,
    /// By leaf of the driving tree.
    pub(crate) degrees: &'a Disjoint<'a, [u32; LEAF]>,
}

/// Scratch of one task.
#[derive(Debug, Default)]
pub(crate) struct RowScratch<const D: usize> {
    candidates: Candidates<D>,
    tests: TestList,
    hits: Vec<Hit>,
    /// The hits in order of their circles.
    sorted: Vec<Hit>,
    /// A row as it is found, and the rows of a group.
    row: Vec<u32>,
    row_distances2: Vec<f32>,
    rows: Vec<u32>,
    rows_distances2: Vec<f32>,
}

impl<const D: usize> RowScratch<D> {
    pub(crate) fn bytes(&self) -> usize {
        Candidates::<D>::BYTES
            + (self.hits.capacity() + self.sorted.capacity()) * size_of::<Hit>()
            + (self.row.capacity() + self.rows.capacity()) * size_of::<u32>()
            + (self.row_distances2.capacity() + self.rows_distances2.capacity()) * size_of::<f32>()
    }
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
            self.scratch.hits.clear();
            for image in self.images {
                self.pairing.offset = *image;
                if sparse {
                    self.test_circles::<L>(leaves.clone());
                } else {
                    self.test_group::<L>(group, leaves.clone());
                }
                self.run_tests::<L>();
            }
            self.pairing.offset = [0.0; D];
            self.sort_hits(group);
            self.write_rows::<L>(group, leaves);
        }
    }

    /// How a box is moved to where the walked tree sees it: to its lower and its upper borders.
    #[inline(always)]
    fn movement(&self) -> ([f32; D], [f32; D]) {
        let offset = self.pairing.offset;
        let margin = offset.map(|offset| offset.abs() * OFFSET_MARGIN);
        let mut moved = ([0.0; D], [0.0; D]);
        for axis in 0..D {
            moved.0[axis] = -offset[axis] - margin[axis];
            moved.1[axis] = -offset[axis] + margin[axis];
        }
        moved
    }

    /// Tests of the circles of a group against the leaves that they may touch.
    #[inline(always)]
    fn test_group<L: Lanes>(&mut self, group: usize, leaves: Range<usize>) {
        let [driver, walked] = self.pairing.trees;
        let (to_lo, to_hi) = self.movement();
        let mut aabb = driver.levels()[1].aabb(group);
        for axis in 0..D {
            aabb.lo[axis] += to_lo[axis];
            aabb.hi[axis] += to_hi[axis];
        }
        self.scratch.candidates.len = 0;
        let mut descent = Descent::new::<L>(walked, aabb, 0);
        while let Some((node, mask)) = descent.next::<L>() {
            self.scratch.candidates.make_room();
            self.scratch.candidates.append::<L>(&walked.levels()[0], node, mask);
        }
        self.tests.node_tests += descent.tests;
        for leaf in leaves {
            self.test_leaf::<L>(leaf, to_lo, to_hi);
        }
    }

    /// Tests of the circles of a leaf against the candidates.
    #[inline(always)]
    fn test_leaf<L: Lanes>(&mut self, leaf: usize, to_lo: [f32; D], to_hi: [f32; D]) {
        let driver = self.pairing.trees[0];
        let mut aabb = driver.levels()[0].aabb(leaf);
        for axis in 0..D {
            aabb.lo[axis] += to_lo[axis];
            aabb.hi[axis] += to_hi[axis];
        }
        let circles = Circles16::<L, D>::of(driver.bodies(), leaf);
        let len = self.scratch.candidates.len;
        self.tests.node_tests += len.div_ceil(LANES) as u64;
        for run in (0..len).step_by(LANES) {
            let candidates = &self.scratch.candidates;
            let present = first_lanes((len - run).min(LANES));
            let mut near = present & boxes16_overlapping::<L, D>(candidates.boxes(), run / LANES, aabb.lo, aabb.hi);
            self.tests.leaf_tests += u64::from(near.count_ones());
            while near != 0 {
                let candidate = run + near.trailing_zeros() as usize;
                near &= near - 1;
                let RowScratch { candidates, tests, .. } = &mut *self.scratch;
                let (mut lo, mut hi) = candidates.aabb(candidate);
                for axis in 0..D {
                    lo[axis] -= to_hi[axis];
                    hi[axis] -= to_lo[axis];
                }
                tests.push::<L>(circles.touching(lo, hi), (leaf * LEAF) as u32, candidates.leaf[candidate]);
                if tests.is_full() {
                    self.run_tests::<L>();
                }
            }
        }
    }

    /// Tests of each circle of some leaves against what it may touch, found by a walk of its own.
    #[inline(always)]
    fn test_circles<L: Lanes>(&mut self, leaves: Range<usize>) {
        let [driver, walked] = self.pairing.trees;
        let (to_lo, to_hi) = self.movement();
        for place in leaves.flat_map(|leaf| driver.leaf_places(leaf)) {
            let (bodies, lane) = (&driver.bodies()[place / LEAF], place % LEAF);
            let reach = bodies.radii.0[lane] * GROWTH;
            let mut aabb = Aabb { lo: [0.0; D], hi: [0.0; D] };
            for axis in 0..D {
                let center = bodies.centers[axis].0[lane];
                aabb.lo[axis] = center - reach + to_lo[axis];
                aabb.hi[axis] = center + reach + to_hi[axis];
            }
            let mut descent = Descent::new::<L>(walked, aabb, 0);
            while let Some((node, mask)) = descent.next::<L>() {
                self.tests.leaf_tests += u64::from(mask.count_ones());
                self.scratch.tests.push_leaves::<L>(place as u32, mask, (node * LEAF) as u32);
                if self.scratch.tests.is_full() {
                    self.run_tests::<L>();
                }
            }
            self.tests.node_tests += descent.tests;
        }
    }

    /// The tests gathered; a body is not its own neighbour.
    #[inline(always)]
    fn run_tests<L: Lanes>(&mut self) {
        let [driver, walked] = self.pairing.trees.map(LinearTree::bodies);
        let RowScratch { tests, hits, .. } = &mut *self.scratch;
        let own = self.pairing.is_within();
        self.tests.circle_tests += (tests.len * LANES) as u64;
        hits.reserve(tests.len);
        for (&circle, &leaf) in tests.circle[..tests.len].iter().zip(&tests.leaf) {
            let single = Circles16::<L, D>::all(driver, circle as usize);
            let mask = single.hits_at(Circles16::of(walked, leaf as usize), self.pairing.offset);
            let itself = u16::from(own & (circle as usize / LEAF == leaf as usize)) << (circle as usize % LEAF);
            let hit = Hit::between(0, circle, leaf, mask & !itself);
            if hit.pairs() != 0 {
                hits.push(hit);
            }
        }
        tests.len = 0;
    }

    /// The hits of a group in order of their circles.
    #[inline(always)]
    fn sort_hits(&mut self, group: usize) {
        let RowScratch { hits, sorted, .. } = &mut *self.scratch;
        let mut starts = [0_u32; GROUP];
        let circle = |hit: &Hit| hit.circle() - group * GROUP;
        hits.iter().for_each(|hit| starts[circle(hit)] += 1);
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        sorted.resize(hits.len(), Hit::default());
        for hit in &*hits {
            let start = &mut starts[circle(hit)];
            sorted[*start as usize] = *hit;
            *start += 1;
        }
    }

    /// The rows of a group, each in ascending order, to the arena.
    #[inline(always)]
    fn write_rows<L: Lanes>(&mut self, group: usize, leaves: Range<usize>) {
        let driver = self.pairing.trees[0];
        let wants_distances = self.arena.distances2.is_some();
        self.scratch.rows.clear();
        self.scratch.rows_distances2.clear();
        let mut next = 0;
        for leaf in leaves {
            let mut degrees = [0; LEAF];
            for place in driver.leaf_places(leaf) {
                let first = next;
                while self.scratch.sorted.get(next).is_some_and(|hit| hit.circle() == place) {
                    next += 1;
                }
                let len = self.gather_row::<L>(first..next, wants_distances);
                let id = driver.leaf_ids()[leaf].0[place % LEAF];
                degrees[place % LEAF] = self.finish_row(len, id, wants_distances);
            }
            self.tests.pairs += degrees.iter().map(|&degree| u64::from(degree)).sum::<u64>();
            self.arena.set_degrees(leaf, degrees);
        }
        self.arena.store(group, &self.scratch.rows, &self.scratch.rows_distances2);
    }

    /// The ids of some hits of one circle, and squared distances; their number.
    #[inline(always)]
    fn gather_row<L: Lanes>(&mut self, hits: Range<usize>, wants_distances: bool) -> usize {
        let RowScratch { sorted, row, row_distances2, .. } = &mut *self.scratch;
        let [driver, walked] = self.pairing.trees;
        let names = self.pairing.names();
        let room = (hits.len() + 1) * LANES;
        if row.len() < room {
            row.resize(room, 0);
            row_distances2.resize(room, 0.0);
        }
        let mut len = 0;
        for hit in &sorted[hits] {
            let mask =
                if self.pairing.filter.keeps_all() { *hit } else { self.pairing.filter::<L>(*hit, names) }.mask();
            L::compress_ids(&walked.leaf_ids()[hit.leaf()].0, mask, sixteen_mut(row, len));
            if wants_distances {
                let circle = Circles16::<L, D>::all(driver.bodies(), hit.circle());
                let mut distances2 = [0.0; LANES];
                let others = Circles16::of(walked.bodies(), hit.leaf());
                circle.distance2_at(others, self.pairing.offset).store(&mut distances2);
                L::compress(&distances2, mask, sixteen_mut(row_distances2, len));
            }
            len += mask.count_ones() as usize;
        }
        len
    }

    /// Appends the row gathered, sorted, to those of the group; its length.
    #[inline(always)]
    fn finish_row(&mut self, len: usize, id: u32, wants_distances: bool) -> u32 {
        let RowScratch { row, row_distances2, rows, rows_distances2, .. } = &mut *self.scratch;
        let start = rows.len();
        rows.resize(start + len, 0);
        if wants_distances {
            rows_distances2.resize(start + len, 0.0);
        }
        let distances2 = wants_distances.then(|| (&mut row_distances2[..], &mut rows_distances2[start..]));
        sort_row(row, len, &mut rows[start..], distances2);
        if self.kind == Rows::Full || !self.pairing.is_within() {
            return len as u32;
        }
        let lesser = rows[start..].partition_point(|&other| other < id);
        rows.copy_within(start + lesser.., start);
        rows.truncate(start + len - lesser);
        if wants_distances {
            rows_distances2.copy_within(start + lesser.., start);
            rows_distances2.truncate(start + len - lesser);
        }
        (len - lesser) as u32
    }
}

/// Rows up to this length are sorted by counting, for each id, how many are less: sixteen ids at a time, no branch.
const COUNTED: usize = 2 * LANES;

/// Sorts the first `len` ids of a row, of which it may use the rest as well, into `out`, and their distances with them.
#[inline(always)]
fn sort_row(row: &mut [u32], len: usize, out: &mut [u32], distances2: Option<(&mut [f32], &mut [f32])>) {
    if len <= LANES {
        sort_counted::<LANES>(row, len, out, distances2);
    } else if len <= COUNTED {
        sort_counted::<COUNTED>(row, len, out, distances2);
    } else {
        sort_long(&row[..len], out, distances2);
    }
}

#[inline(always)]
fn sort_counted<const N: usize>(
    row: &[u32],
    len: usize,
    out: &mut [u32],
    distances2: Option<(&mut [f32], &mut [f32])>,
) {
    let mut ids = [u32::MAX; N];
    ids[..len].copy_from_slice(&row[..len]);
    let mut ranks = [0_u32; N];
    for &id in &row[..len] {
        for lane in 0..N {
            ranks[lane] += u32::from(id < ids[lane]);
        }
    }
    for (&id, &rank) in ids[..len].iter().zip(&ranks) {
        out[rank as usize] = id;
    }
    if let Some((from, to)) = distances2 {
        for (&distance2, &rank) in from[..len].iter().zip(&ranks) {
            to[rank as usize] = distance2;
        }
    }
}

#[cold]
#[inline(never)]
fn sort_long(row: &[u32], out: &mut [u32], distances2: Option<(&mut [f32], &mut [f32])>) {
    let Some((from, to)) = distances2 else {
        out.copy_from_slice(row);
        return out.sort_unstable();
    };
    // Where each comes from, in the room of the distances for as long as it takes.
    for (place, slot) in to.iter_mut().enumerate() {
        *slot = f32::from_bits(place as u32);
    }
    to.sort_unstable_by_key(|place| row[place.to_bits() as usize]);
    for (out, slot) in out.iter_mut().zip(to) {
        let place = slot.to_bits() as usize;
        (*out, *slot) = (row[place], from[place]);
    }
}

impl Arena<'_> {
    #[allow(unsafe_code, reason = "each leaf is in one group, and each group in one task")]
    fn set_degrees(&self, leaf: usize, degrees: [u32; LEAF]) {
        // SAFETY: as said; there is a slot for each leaf of the driving tree.
        unsafe { self.degrees.write(leaf, degrees) }
    }

    /// Puts the rows of a group where there is room, and notes where that is.
    #[allow(unsafe_code, reason = "each group has a part of the arena of its own")]
    fn store(&self, group: usize, rows: &[u32], distances2: &[f32]) {
        let start = self.taken.fetch_add(rows.len(), Ordering::Relaxed);
        if start + rows.len() > self.neighbors.len() {
            return;
        }
        let place = start..start + rows.len();
        // SAFETY: parts are disjoint, since each begins where what was taken before ends, and lie within the arena; each
        // group is in one task.
        unsafe {
            self.neighbors.range(place.clone()).copy_from_slice(rows);
            if let Some(all) = self.distances2 {
                all.range(place).copy_from_slice(distances2);
            }
            self.starts.write(group, start);
        }
    }
}
