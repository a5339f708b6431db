//! Joins a tree with itself or with another: finds every overlapping pair, one group of sixteen leaves after the other.
//!
//! The join runs in phases. Each is a loop without a branch that depends on the data: such a join spends its time on
//! mispredicted branches, not on arithmetic. (The phases are loops, not `for_each`: in a closure, instructions of `L`
//! become calls.)
//! 1. each leaf against itself, rotated by 1 to 8 lanes;
//! 2. down the levels: the candidates, which are leaves whose boxes overlap the group's box; of the same tree, none
//!    before the group;
//! 3. each leaf of the group against the candidates: pairs of leaves;
//! 4. each pair of leaves: which circles of the leaf with the larger box touch the box of the other leaf. So a giant is
//!    tested against its neighbours, and its neighbours are not tested against all circles in its leaf;
//! 5. the tests, one circle against sixteen of a leaf; hits are kept, in order, filtered and handed on.
//!
//! Where the query tree is much sparser than the target tree, its leaves are as large as whole groups of the target
//! tree. Then each circle of the query tree walks down the levels alone.

pub(crate) mod buffers;
pub(crate) mod counts;
pub(crate) mod filter;
pub(crate) mod hits;
mod sparse_join;
pub(crate) mod tree_pair;

use core::ops::Range;

use jostle_core::axes::{Axes, Both};
use jostle_core::pages::Paged;
use jostle_core::sixteen::floats;
use jostle_core::tree::LEAF;
use jostle_core::{Aabb, Isa};
use jostle_sets::shape::{Boxed, Round, Shape, Sixteen, boxes16_overlapping, first_lanes};
use jostle_sets::simd::{self, LANES, LaneWork, Lanes, outlined, sixteen_mut};
use jostle_sets::traverse::candidates::{CANDIDATES, Candidates};
use jostle_sets::traverse::descent::{Descent, root};
use jostle_sets::traverse::{OFFSET_MARGIN, SPARSE};

use crate::join::buffers::{ROTATIONS, TESTS, TestList};
use crate::join::counts::Tests;
use crate::join::filter::Doubts;
use crate::join::hits::{Hit, Names, Sink, emit};
use crate::join::tree_pair::TreePair;

/// Scratch of one task: lists that do not grow while it runs.
#[derive(Debug)]
pub(crate) struct JoinScratch<const D: usize> {
    candidates: Candidates<D>,
    /// Pairs of a leaf of the group and a candidate, as leaf << 16 | candidate: first the pairs whose leaf has the
    /// larger box, then the pairs whose candidate has the larger box.
    leaf_pairs: [Paged<u32>; 2],
    pub(crate) tests: TestList,
    /// Circles that walk alone, each with a run of leaves that it may touch.
    pub(crate) visits: TestList,
}

/// A tree of no more leaves than this is small: its join with itself takes less scratch.
pub(crate) const SMALL: usize = 48;

/// Tests of the join of a small tree that are gathered before they are run.
const SMALL_TESTS: usize = TESTS / 2;

// Hits are handed on before they take half of the room; the tests of a group's leaves against themselves fit in the
// other half.
const _: () = assert!(LEAF * ROTATIONS + 2 * LANES <= SMALL_TESTS / 2);

impl<const D: usize> Default for JoinScratch<D> {
    /// Makes scratch for small trees.
    fn default() -> Self {
        Self {
            candidates: Candidates::default(),
            leaf_pairs: [(); 2].both(|()| Paged::zeros(LEAF * SMALL + LANES)),
            tests: TestList::with_lanes(SMALL_TESTS),
            visits: TestList::with_room(0),
        }
    }
}

impl<const D: usize> JoinScratch<D> {
    /// Makes room for trees that are not small, unless `is_small`.
    pub(crate) fn fit(&mut self, is_small: bool) {
        if !is_small && self.tests.circle.len() < TESTS {
            self.leaf_pairs = [(); 2].both(|()| Paged::zeros(LEAF * CANDIDATES + LANES));
            (self.tests, self.visits) = (TestList::with_lanes(TESTS), TestList::default());
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let leaf_pairs = self.leaf_pairs.iter().map(Paged::bytes).sum::<usize>();
        self.candidates.bytes() + leaf_pairs + self.tests.bytes() + self.visits.bytes()
    }
}

/// Everything a task needs to join some groups.
pub(crate) struct Join<'a, const D: usize> {
    pub(crate) pairing: TreePair<'a, D>,
    pub(crate) scratch: &'a mut JoinScratch<D>,
    sink: &'a mut dyn Sink,
    pub(crate) tests: Tests,
}

impl<'a, const D: usize> Join<'a, D> {
    /// Makes the scratch fit, and clears what an unfinished join has left in it.
    pub(crate) fn new(pairing: TreePair<'a, D>, scratch: &'a mut JoinScratch<D>, sink: &'a mut dyn Sink) -> Self {
        scratch.fit(pairing.is_small());
        scratch.tests.clear();
        scratch.visits.clear();
        Self { pairing, scratch, sink, tests: Tests::default() }
    }
}

/// Finds all pairs whose first leaf lies in `groups`, with the instructions of `isa`. A group is a node of level 1.
pub(crate) fn join_groups<const D: usize>(isa: Isa, join: &mut Join<'_, D>, groups: Range<usize>) {
    simd::run(isa, Groups(join, groups));
}

struct Groups<'j, 'a, const D: usize>(&'j mut Join<'a, D>, Range<usize>);

impl<const D: usize> LaneWork for Groups<'_, '_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.0.join::<L>(self.1);
    }
}

outlined! {
    impl Join, gains_by_avx512: true {
        join_circles_within = join_leaves_within::<Round>(leaves: Range<usize>);
        join_boxes_within = join_leaves_within::<Boxed>(leaves: Range<usize>);
        /// Phases 3 and 4: joins the first `leaves` candidates, which are the leaves of the group, each with the
        /// candidates after it, from number `seen` on.
        join_candidates = join_candidates_body(leaves: usize, seen: usize);
        join_circle_leaves = join_leaf_pairs::<Round>(side: usize, count: usize);
        join_box_leaves = join_leaf_pairs::<Boxed>(side: usize, count: usize);
        run_circle_tests = run_tests_body::<Round>(side: usize);
        run_box_tests = run_tests_body::<Boxed>(side: usize);
        /// Where the query tree is much sparser: finds all pairs of the bodies of some of its leaves.
        walk_alone = walk_each(leaves: Range<usize>);
        /// Gathers the tests of the leaves of all waiting visits.
        visit = visit_runs();
    }
}

outlined! {
    impl Join, gains_by_avx512: false {
        /// Drops the hits that the filter does not keep.
        filter_hits = filter_hits_body();
    }
}

/// For each line, makes a method that runs one of two others: the one for circles, or the one for boxes. Both trees of
/// a join have one shape, so the method asks for it once for hundreds of cycles of work.
macro_rules! by_shape {
    ($($(#[$doc:meta])* $name:ident = $round:ident | $boxed:ident ($($arg:ident: $type:ty),*);)*) => {
        impl<const D: usize> Join<'_, D> {
            $(
                $(#[$doc])*
                #[inline(always)]
                fn $name<L: Lanes>(&mut self, $($arg: $type),*) {
                    if self.pairing.trees[0].is_of_boxes() {
                        self.$boxed::<L>($($arg),*);
                    } else {
                        self.$round::<L>($($arg),*);
                    }
                }
            )*
        }
    };
}

by_shape! {
    /// Phase 1, of some leaves.
    join_within = join_circles_within | join_boxes_within(leaves: Range<usize>);
    /// Phase 4, of the first `count` pairs of leaves whose larger box is of side `side`.
    join_leaves = join_circle_leaves | join_box_leaves(side: usize, count: usize);
    /// Phase 5: tests circles of side `side` against leaves of the other side. Hits are kept, and handed on once they
    /// take more than half of the room.
    run_tests = run_circle_tests | run_box_tests(side: usize);
}

impl<const D: usize> Join<'_, D> {
    #[inline(always)]
    fn join<L: Lanes>(&mut self, groups: Range<usize>) {
        let [query, target] = self.pairing.trees;
        let sparse = self.across() && query.len().saturating_mul(SPARSE) < target.len();
        let reached = self.across().then(|| self.seen_root());
        for group in groups {
            // Most groups touch none of a cell's images.
            if reached.is_some_and(|reached| !reached.overlaps(&query.levels()[1].aabb(group))) {
                continue;
            }
            let leaves = group * LEAF..((group + 1) * LEAF).min(query.leaves());
            if sparse {
                self.walk_alone::<L>(leaves);
            } else {
                if !self.across() {
                    self.join_within::<L>(leaves.clone());
                }
                self.join_group::<L>(group, leaves, reached.as_ref());
            }
            self.run_tests::<L>(0);
        }
        self.hand_on::<L>();
    }

    /// Whether the join finds all pairs across two trees. Else it finds each pair of the bodies of one tree once.
    #[inline(always)]
    fn across(&self) -> bool {
        !self.pairing.within
    }

    /// How a box is moved from where the query tree sees it to where the target tree sees it, and the margin for that.
    #[inline(always)]
    pub(crate) fn movement(&self) -> ([f32; D], [f32; D]) {
        let offset = self.pairing.offset;
        (offset.axes(|offset| -offset), offset.axes(|offset| offset.abs() * OFFSET_MARGIN))
    }

    /// The box of the whole target tree, as the query tree sees it.
    #[inline(always)]
    fn seen_root(&self) -> Aabb<D> {
        let (shift, margin) = self.movement();
        let mut root = root(self.pairing.trees[1]);
        for axis in 0..D {
            root.lo[axis] -= shift[axis] + margin[axis];
            root.hi[axis] -= shift[axis] - margin[axis];
        }
        root
    }

    #[inline(always)]
    fn join_leaves_within<L: Lanes, S: Shape>(&mut self, leaves: Range<usize>) {
        for leaf in leaves {
            match self.pairing.filter.decision.filter(|_| S::KNOWS_SURE) {
                None => self.join_leaf::<L, S, false>(leaf, 0.0),
                Some(decision) => self.join_leaf::<L, S, true>(leaf, decision.slack),
            }
        }
    }

    /// Phase 1, of a leaf. Where hits are to be decided (`DECIDES`), notes which hits are sure.
    #[inline(always)]
    fn join_leaf<L: Lanes, S: Shape, const DECIDES: bool>(&mut self, leaf: usize, slack: f32) {
        let tree = self.pairing.trees[0];
        let circles = S::Sixteen::<L, D>::of(S::leaves(tree), leaf);
        let mut rotated = circles;
        let mut running = self.scratch.tests.run_within::<L>(leaf as u32);
        for rotation in 1..=ROTATIONS {
            rotated = rotated.rotate();
            let once = if rotation < LANES / 2 { u16::MAX } else { u16::MAX >> (LANES / 2) };
            running.note::<L>(if DECIDES {
                let (mask, sure) = circles.hits_and_sure(rotated, slack);
                Hit::lanes_within(rotation, mask & once) | Hit::sure(sure)
            } else {
                Hit::lanes_within(rotation, circles.hits(rotated) & once)
            });
        }
        running.finish();
        let n = tree.leaf(leaf).len();
        self.tests.circle_tests += (n * (n - 1) / 2) as u64;
    }

    /// Phases 2 to 4. In a join of two trees, the target tree lies within the box `reached`.
    #[inline(always)]
    fn join_group<L: Lanes>(&mut self, group: usize, leaves: Range<usize>, reached: Option<&Aabb<D>>) {
        let [query, target] = self.pairing.trees;
        let mut aabb = query.levels()[1].aabb(group);
        let (mut first, mut own, mut room) = (leaves.start, leaves.len(), CANDIDATES - LANES);
        self.scratch.candidates.len = 0;
        if let Some(reached) = reached {
            let (shift, margin) = self.movement();
            for axis in 0..D {
                aabb.lo[axis] += shift[axis] - margin[axis];
                aabb.hi[axis] += shift[axis] + margin[axis];
            }
            let boxes = &query.levels()[0];
            let near = boxes16_overlapping::<L, D>(&boxes.nodes()[group], reached.lo, reached.hi);
            let mut adding = self.scratch.candidates.add();
            adding.append::<L>((group, &boxes.nodes()[group]), near & first_lanes(leaves.len()));
            adding.finish();
            self.scratch.candidates.move_first(shift, margin);
            (first, own) = (0, self.scratch.candidates.len);
            if own == 0 {
                return;
            }
            // Candidates are looked at in rounds of the same length, however many leaves of the group are near.
            room -= leaves.len() - own;
        }
        let mut seen = self.scratch.candidates.len;
        let mut descent = Descent::new::<L>(target, aabb, first);
        loop {
            let mut adding = self.scratch.candidates.add();
            while adding.len <= room
                && let Some((node, boxes, mask)) = descent.next_overlapping::<L>()
            {
                adding.append::<L>((node, boxes), mask);
            }
            let is_last = adding.len <= room;
            adding.finish();
            if self.scratch.candidates.len > seen {
                self.join_candidates::<L>(own, seen);
            }
            if is_last {
                break;
            }
            seen = own;
            self.scratch.candidates.len = seen;
        }
        self.tests.node_tests += descent.tests;
    }

    #[inline(always)]
    fn join_candidates_body<L: Lanes>(&mut self, leaves: usize, seen: usize) {
        self.scratch.candidates.measure::<L>();
        self.scratch.candidates.fill_up();
        // The leaves of the group itself have been read a moment ago.
        let others = seen.max(leaves)..self.scratch.candidates.len;
        self.pairing.prefetch(&self.scratch.candidates.leaf[others]);
        let JoinScratch { candidates, leaf_pairs: [larger, smaller], .. } = &mut *self.scratch;
        // As slices, so that registers hold where they lie.
        let (boxes, larger, smaller) = (candidates.boxes(), &mut **larger, &mut **smaller);
        let mut count = [0; 2];
        for leaf in 0..leaves {
            let (lo, hi) = boxes.aabb(leaf);
            let size = L::splat(floats(boxes.sizes)[leaf]);
            let first = seen.max(leaf + 1);
            let mut later = (u32::from(u16::MAX) << (first % LANES)) as u16;
            for run in (first / LANES * LANES..candidates.len).step_by(LANES) {
                let mask = boxes.overlapping::<L>(run / LANES, lo, hi) & later;
                later = u16::MAX;
                let sizes = L::load(&boxes.sizes[run / LANES].0).le(size);
                let base = (leaf << 16 | run) as u32;
                count[0] += L::expand(mask & sizes, base, sixteen_mut(larger, count[0]));
                count[1] += L::expand(mask & !sizes, base, sixteen_mut(smaller, count[1]));
            }
        }
        self.tests.node_tests += (leaves * candidates.len.div_ceil(LANES)) as u64;
        self.tests.leaf_tests += (count[0] + count[1]) as u64;
        self.join_leaves::<L>(0, count[0]);
        if self.across() {
            // The next tests have their circles from the other tree.
            self.run_tests::<L>(0);
        }
        self.join_leaves::<L>(1, count[1]);
        if self.across() {
            self.run_tests::<L>(1);
        }
    }

    #[inline(always)]
    fn join_leaf_pairs<L: Lanes, S: Shape>(&mut self, side: usize, count: usize) {
        let (shift, margin) = if self.across() && side == 0 { self.movement() } else { ([0.0; D], [0.0; D]) };
        let bodies = S::leaves(self.pairing.trees[side]);
        let mut at = 0;
        while at < count {
            let JoinScratch { candidates, tests, leaf_pairs, .. } = &mut *self.scratch;
            let (boxes, leaves, pairs) = (candidates.boxes(), &*candidates.leaf, &leaf_pairs[side][..count]);
            let mut adding = tests.add();
            while at < count && !adding.is_full() {
                // In a pair, the leaf of the group is named first.
                let pair = pairs[at] as usize;
                let (larger, smaller) =
                    if side == 0 { (pair >> 16, pair & 0xffff) } else { (pair & 0xffff, pair >> 16) };
                let (mut lo, mut hi) = boxes.aabb(smaller);
                for axis in 0..D {
                    lo[axis] -= shift[axis] + margin[axis];
                    hi[axis] -= shift[axis] - margin[axis];
                }
                let (leaf, other) = (leaves[larger], leaves[smaller]);
                let circles = S::Sixteen::<L, D>::of(bodies, leaf as usize).touching(lo, hi);
                adding.push::<L>(circles, leaf * LEAF as u32, other);
                at += 1;
            }
            if adding.finish() {
                self.run_tests::<L>(side);
            }
        }
    }

    #[inline(always)]
    fn run_tests_body<L: Lanes, S: Shape>(&mut self, side: usize) {
        let tests = &mut self.scratch.tests;
        self.tests.circle_tests += (tests.to_run() * LANES) as u64;
        let mut running = tests.run::<L>();
        let [query, target] = self.pairing.trees.map(S::leaves);
        if !self.pairing.within {
            let (circles, leaves, sign) = if side == 0 { (query, target, 1.0) } else { (target, query, -1.0) };
            let offset = self.pairing.offset.axes(|offset| offset * sign);
            while let Some((circle, leaf)) = running.next() {
                let single = S::Sixteen::<L, D>::all(circles, circle as usize);
                let mask = single.hits_at(S::Sixteen::of(leaves, leaf as usize), offset);
                running.note::<L>(Hit::lanes_between(side, mask));
            }
        } else if let Some(decision) = self.pairing.filter.decision.filter(|_| S::KNOWS_SURE) {
            while let Some((circle, leaf)) = running.next() {
                let single = S::Sixteen::<L, D>::all(query, circle as usize);
                let (mask, sure) = single.hits_and_sure(S::Sixteen::of(query, leaf as usize), decision.slack);
                running.note::<L>(Hit::lanes_between(0, mask) | Hit::sure(sure));
            }
        } else {
            while let Some((circle, leaf)) = running.next() {
                let single = S::Sixteen::<L, D>::all(query, circle as usize);
                running.note::<L>(Hit::lanes_between(0, single.hits(S::Sixteen::of(query, leaf as usize))));
            }
        }
        running.finish();
        if tests.keep_hits::<L>() {
            self.hand_on::<L>();
        }
    }

    /// Filters the hits and hands them to the sink; no tests are left.
    #[inline(always)]
    fn hand_on<L: Lanes>(&mut self) {
        if !self.pairing.filter.keeps_all() {
            self.filter_hits::<L>();
        }
        let (hits, names) = (&mut self.scratch.tests, self.pairing.names());
        self.tests.pairs += L::call(HandOn { hits, names, sink: &mut *self.sink }) as u64;
    }

    #[inline(always)]
    fn filter_hits_body<L: Lanes>(&mut self) {
        let (pairing, hits) = (&self.pairing, &mut self.scratch.tests);
        let (names, all) = (pairing.names(), pairing.filter.asks_of_all());
        let mut doubts = Doubts::new(pairing.sets, pairing.image);
        for at in 0..hits.len {
            let hit = hits.hit(at);
            if all || !hit.is_sure() {
                pairing.drop_lanes::<L>((&mut hits.lanes, at), hit, names, pairing.offset, &mut doubts);
            }
        }
        pairing.settle(&mut doubts, &mut hits.lanes);
        if pairing.filter.only.is_some() {
            for at in 0..hits.len {
                hits.lanes[at] = pairing.kept(hits.hit(at), names).lanes;
            }
        }
    }
}

/// Hands hits to a sink, and returns how many pairs they are. Compiled once for any number of axes.
struct HandOn<'a> {
    hits: &'a mut TestList,
    names: Names<'a>,
    sink: &'a mut dyn Sink,
}

impl LaneWork for HandOn<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        let Self { hits, names, sink } = self;
        let pairs = if sink.wants_pairs() {
            emit::<L>(hits.hits(), names, sink)
        } else {
            hits.hits().map(|hit| hit.pairs() as usize).sum()
        };
        hits.clear();
        pairs
    }
}
