//! Finds the rows of neighbour lists: for each body of a tree, the bodies that overlap it, one group of sixteen leaves
//! after the other.
//!
//! Each pair is tested from both sides, so that a row is complete where it begins, and no other task writes to it. All
//! rows of a leaf grow side by side, hit by hit, as the leaves near it are tested one after the other: no list of hits
//! stands between.

use core::ops::Range;

use jostle_core::prefetch::prefetch;
use jostle_core::tree::LEAF;
use jostle_core::{Aabb, Isa};
use jostle_sets::shape::circles16::Circles16;
use jostle_sets::shape::{Round, Shape, Sixteen};
use jostle_sets::simd::{self, LANES, LaneWork, Lanes, outlined, sixteen_mut};
use jostle_sets::traverse::descent::Descent;
use jostle_sets::traverse::{OFFSET_MARGIN, SPARSE};

use crate::join::counts::Tests;
use crate::join::filter::Filter;
use crate::join::hits::Hit;
use crate::join::tree_pair::TreePair;
use crate::neighbors::arena::{Arena, END, SPARE, Streams, numbers_of};
use crate::neighbors::leaf_rows::{KEYED_IDS, LeafRows, Sorting};
use crate::neighbors::row_scratch::RowScratch;
use crate::neighbors::rows::Rows;

/// Everything a task needs to list the rows of some groups of the query tree.
pub(crate) struct RowJoin<'a, const D: usize> {
    pub(crate) pairing: TreePair<'a, D>,
    /// The offsets at which the target tree is seen.
    pub(crate) images: &'a [[f32; D]],
    /// The box of the target tree: most groups touch it at few of its images.
    pub(crate) target: Aabb<D>,
    /// Each image after the first and before this one is the opposite of a later image.
    pub(crate) half: u32,
    /// A row may have several images of one body.
    pub(crate) repeats: bool,
    /// The image of the gathered tests.
    pub(crate) image: u32,
    pub(crate) kind: Rows,
    pub(crate) scratch: &'a mut RowScratch<D>,
    pub(crate) arena: Arena<'a>,
    pub(crate) tests: Tests,
}

/// Lists the rows of some groups, with the instructions of `isa`.
pub(crate) fn list_groups<const D: usize>(isa: Isa, rows: &mut RowJoin<'_, D>, groups: Range<usize>) {
    simd::run(isa, Groups(rows, groups));
}

struct Groups<'r, 'a, const D: usize>(&'r mut RowJoin<'a, D>, Range<usize>);

impl<const D: usize> LaneWork for Groups<'_, '_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.0.list::<L>(self.1);
    }
}

outlined! {
    impl RowJoin, gains_by_avx512: true {
        /// Tests the circles of a leaf against the circles of candidates whose boxes they touch.
        test_candidates = test_candidates_body::<false>(leaf: usize);
        test_candidates_of_one_image = test_candidates_body::<true>(leaf: usize);
        /// Runs the gathered tests, whose circles are lanes of a leaf, and appends the hits to the rows of the circles.
        run_tests = run_tests_body::<false, false, true>(leaf: usize);
        run_tests_plainly = run_tests_body::<true, false, false>(leaf: usize);
        run_tests_for_ids = run_tests_body::<true, true, false>(leaf: usize);
        run_tests_of_an_image_for_ids = run_tests_body::<true, true, true>(leaf: usize);
    }
}

outlined! {
    impl RowJoin, gains_by_avx512: false {
        /// Collects the leaves that the leaves of a group may touch.
        collect_candidates = collect_candidates_body(group: usize);
        /// Tests the circles of a leaf against the leaves that they may touch; each circle finds these by a walk of its
        /// own.
        walk = walk_each(leaf: usize);
    }
}

impl<const D: usize> RowJoin<'_, D> {
    #[inline(always)]
    fn list<L: Lanes>(&mut self, groups: Range<usize>) {
        let [query, target] = self.pairing.trees;
        let sparse = query.len().saturating_mul(SPARSE) < target.len();
        for group in groups {
            let leaves = group * LEAF..((group + 1) * LEAF).min(query.leaves());
            if !sparse {
                self.collect_candidates::<L>(group);
            }
            for leaf in leaves {
                self.scratch.rows.clear();
                self.image = 0;
                if sparse {
                    self.walk::<L>(leaf);
                } else if self.images.len() == 1 {
                    self.test_candidates_of_one_image::<L>(leaf);
                } else {
                    self.test_candidates::<L>(leaf);
                }
                self.run_gathered::<L>(leaf);
                if self.arena.with_distances {
                    self.deal_rows::<L, true>(leaf);
                } else {
                    self.deal_rows::<L, false>(leaf);
                }
                self.scratch.note();
            }
        }
    }

    /// Runs the gathered tests, which are all of one image. They run plainly where the predicate alone decides, and
    /// either the image is that of the bodies themselves or whole rows of ids are wanted.
    #[inline(always)]
    fn run_gathered<L: Lanes>(&mut self, leaf: usize) {
        let ids_alone = self.kind == Rows::Full && !self.arena.with_distances;
        match (self.pairing.filter.keeps_all(), self.image == 0) {
            (true, true) if ids_alone => self.run_tests_for_ids::<L>(leaf),
            (true, false) if ids_alone => self.run_tests_of_an_image_for_ids::<L>(leaf),
            (true, true) => self.run_tests_plainly::<L>(leaf),
            _ => self.run_tests::<L>(leaf),
        }
    }

    /// Switches to an image: the tests gathered from now on are of this image.
    #[inline(always)]
    fn go_to_image<L: Lanes>(&mut self, leaf: usize, image: u32) {
        if image != self.image {
            self.run_gathered::<L>(leaf);
            self.image = image;
        }
    }

    /// How far the lower and the upper borders of a box of the target tree are moved to where the box is seen.
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

    /// A box as the target tree sees it.
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
    fn collect_candidates_body<L: Lanes>(&mut self, group: usize) {
        let [query, target] = self.pairing.trees;
        let RowScratch { candidates, images, .. } = &mut *self.scratch;
        candidates.len = 0;
        images.clear();
        for (number, &image) in self.images.iter().enumerate() {
            let (to_lo, to_hi) = Self::movement(image);
            let before = candidates.len;
            let aabb = Self::seen_from(query.levels()[1].aabb(group), image);
            if number > 0 && !self.target.overlaps(&aabb) {
                continue;
            }
            let mut descent = Descent::new::<L>(target, aabb, 0);
            loop {
                let mut adding = candidates.add();
                while !adding.is_full()
                    && let Some((node, boxes, mask)) = descent.next_overlapping::<L>()
                {
                    adding.append::<L>((node, boxes), mask);
                }
                let (is_full, len) = (adding.is_full(), adding.len);
                adding.finish();
                if !is_full {
                    break;
                }
                candidates.make_room_for(len + LANES);
            }
            self.tests.node_tests += descent.tests;
            if number > 0 {
                candidates.move_from(before, to_lo, to_hi);
            }
            images.resize(candidates.len, number as u32);
        }
        candidates.fill_up();
        self.pairing.prefetch(&candidates.leaf[..candidates.len]);
        self.scratch.fit();
    }

    #[inline(always)]
    fn test_candidates_body<L: Lanes, const ONE_IMAGE: bool>(&mut self, leaf: usize) {
        let query = self.pairing.trees[0];
        let Aabb { lo, hi } = query.levels()[0].aabb(leaf);
        let circles = Circles16::<L, D>::of(query.bodies(), leaf);
        let RowScratch { candidates, near, .. } = &mut *self.scratch;
        let (boxes, runs, near) = (candidates.boxes(), candidates.len.div_ceil(LANES), &mut **near);
        let mut count = 0;
        for run in 0..runs {
            count += L::expand(boxes.overlapping::<L>(run, lo, hi), (run * LANES) as u32, sixteen_mut(near, count));
        }
        (self.tests.node_tests, self.tests.leaf_tests) =
            (self.tests.node_tests + runs as u64, self.tests.leaf_tests + count as u64);
        let mut at = 0;
        while at < count {
            if !ONE_IMAGE {
                self.go_to_image::<L>(leaf, self.scratch.images[self.scratch.near[at] as usize]);
            }
            let RowScratch { candidates, near, images, tests, .. } = &mut *self.scratch;
            let (boxes, leaves, near) = (candidates.boxes(), &*candidates.leaf, &near[..count]);
            let mut adding = tests.add();
            while at < count && !adding.is_full() && (ONE_IMAGE || images[near[at] as usize] == self.image) {
                let other = near[at] as usize;
                let (lo, hi) = boxes.aabb(other);
                adding.push::<L>(circles.touching(lo, hi), 0, leaves[other]);
                at += 1;
            }
            if adding.finish() {
                self.run_gathered::<L>(leaf);
            }
        }
    }

    #[inline(always)]
    fn walk_each<L: Lanes>(&mut self, leaf: usize) {
        let [query, target] = self.pairing.trees;
        for (number, &image) in self.images.iter().enumerate() {
            self.go_to_image::<L>(leaf, number as u32);
            for place in query.leaf_places(leaf) {
                let mut descent =
                    Descent::new::<L>(target, Self::seen_from(Round::aabb(query.bodies(), place), image), 0);
                while let Some((node, _, mut near)) = descent.next_overlapping::<L>() {
                    self.tests.leaf_tests += u64::from(near.count_ones());
                    while near != 0 {
                        let other = (node * LEAF) as u32 + near.trailing_zeros();
                        near &= near - 1;
                        self.push_tests::<L>(leaf, 1 << (place % LEAF), other);
                    }
                }
                self.tests.node_tests += descent.tests;
            }
        }
    }

    /// Gathers tests of some circles of a leaf against all circles of another leaf.
    #[inline(always)]
    fn push_tests<L: Lanes>(&mut self, leaf: usize, circles: u16, other: u32) {
        let mut adding = self.scratch.tests.add();
        adding.push::<L>(circles, 0, other);
        if adding.finish() {
            self.run_gathered::<L>(leaf);
        }
    }

    /// `PLAIN`: the predicate alone decides. `IDS`: whole rows are wanted, and of them ids alone. `MOVED`: the other
    /// bodies may be seen at an offset.
    #[inline(always)]
    fn run_tests_body<L: Lanes, const PLAIN: bool, const IDS: bool, const MOVED: bool>(&mut self, leaf: usize) {
        let [query, target] = self.pairing.trees;
        let (circles, own_ids) = (&query.bodies()[leaf], &query.leaf_ids()[leaf].0);
        let (leaves, names) = (target.bodies(), &target.leaf_ids()[..target.bodies().len()]);
        let half = !IDS && self.pairing.within && self.kind == Rows::Half;
        // A body is its own neighbour only at an image.
        let own = if self.pairing.within { leaf } else { usize::MAX };
        let image = self.image;
        let offset = if MOVED { self.images[image as usize] } else { [0.0; D] };
        let Filter { decision, .. } = self.pairing.filter;
        let (asks, slack) = (self.pairing.filter.asks_of_all(), decision.map_or(0.0, |decision| decision.slack));
        let RowScratch { tests, rows, .. } = &mut *self.scratch;
        self.tests.circle_tests += (tests.len * LANES) as u64;
        for (&lane, &other) in tests.circle[..tests.len].iter().zip(&*tests.leaf) {
            let (lane, other) = (lane as usize % LEAF, other as usize);
            let (circle, others) = (Circles16::<L, D>::all_of(circles, lane), Circles16::of(leaves, other));
            let (mut mask, sure) = match (PLAIN, MOVED) {
                (true, false) => (circle.hits(others), true),
                (true, true) => (circle.hits_at(others, offset), true),
                (false, _) => circle.hits_and_sure_at(others, offset, slack),
            };
            let ids = &names[other].0;
            let itself = u16::from(other == own) << lane;
            if half {
                // A body has one of each two opposite images of itself.
                let kept = if image > 0 && image < self.half { itself } else { 0 };
                mask &= L::greater_ids(ids, own_ids[lane]) | kept;
            } else if !MOVED || image == 0 {
                mask &= !itself;
            }
            if !PLAIN && (asks || decision.is_some() && !sure) {
                let lanes = Hit::lanes_between(0, mask) | Hit::sure(sure);
                let hit = Hit { circle: (leaf * LEAF + lane) as u32, leaf: other as u32, lanes };
                mask = self.pairing.filter::<L>(hit, self.pairing.names(), image, offset).mask();
            }
            if !IDS && self.arena.with_distances {
                rows.push_distances2::<L>(lane, circle.distance2_at(others, offset), mask);
            }
            rows.push::<L>(lane, ids, mask);
        }
        tests.len = 0;
    }

    /// Sorts the rows of a leaf, and deals them to the arena, with their distances if these are known.
    #[inline(always)]
    fn deal_rows<L: Lanes, const WITH_DISTANCES: bool>(&mut self, leaf: usize) {
        let [query, target] = self.pairing.trees;
        let RowScratch { rows, streams, .. } = &mut *self.scratch;
        let sorting = match WITH_DISTANCES {
            false if self.repeats => Sorting::EqualIds,
            false => Sorting::Ids,
            true if target.len() <= KEYED_IDS => Sorting::Keys,
            true => Sorting::Alone,
        };
        let ids = &query.leaf_ids()[leaf].0[..query.leaf(leaf).len()];
        self.tests.pairs += L::call(DealRows::<WITH_DISTANCES> { rows, streams, arena: self.arena, sorting, ids });
    }
}

/// Deals out the rows of these ids, and returns how many neighbours they have. Compiled once for any number of axes.
struct DealRows<'a, const WITH_DISTANCES: bool> {
    rows: &'a mut LeafRows,
    streams: &'a mut Streams,
    arena: Arena<'a>,
    sorting: Sorting,
    ids: &'a [u32],
}

impl<const WITH_DISTANCES: bool> LaneWork for DealRows<'_, WITH_DISTANCES> {
    type Output = u64;
    const GAINS_BY_AVX512: bool = WITH_DISTANCES;

    #[inline(always)]
    fn run<L: Lanes>(self) -> u64 {
        let Self { rows, streams, arena, sorting, ids } = self;
        rows.sort::<L>(sorting);
        let mut neighbors = 0;
        for (lane, &id) in ids.iter().enumerate() {
            let len = rows.len(lane);
            neighbors += len as u64;
            let Some(out) = streams.deal(arena, id, len) else { continue };
            rows.copy_into::<L>(lane, len, out);
            let end = numbers_of(len, WITH_DISTANCES);
            out[end] = END;
            // The next row of its bucket comes much later, to memory that no cache holds.
            prefetch(&out[end + LANES]);
            prefetch(&out[end + 2 * LANES - 1]);
            if WITH_DISTANCES {
                prefetch(&out[end + 3 * LANES - 1]);
                prefetch(&out[end + SPARE - 1]);
            }
        }
        neighbors
    }
}
