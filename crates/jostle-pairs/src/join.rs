//! The self-join: every overlapping pair of a tree, a group of sixteen leaves after the other.
//!
//! In phases, each a loop without a branch that depends on the data, for it is mispredicted branches that such a join
//! spends its time on, not arithmetic:
//! 1. each leaf against itself, turned by 1 to 8 lanes;
//! 2. down the levels: the leaves, not before the group, whose boxes overlap the group's;
//! 3. each leaf of the group against those: pairs of leaves;
//! 4. each pair of leaves: which circles of either touch the other's box; the side that has fewer gives the tests, one
//!    circle against the touching ones of the other leaf;
//! 5. the tests; hits are kept, in order, and handed on.

use core::ops::Range;

use jostle_core::aabb::GROWTH;
use jostle_core::tree::{LEAF, Level};
use jostle_core::{Aabb, LinearTree};

use crate::hits::{Hit, Sink, emit};
use crate::lanes::{LANES, Lanes, sixteen, sixteen_mut};
use crate::stats::Tests;

/// Candidate leaves looked at together; more are taken in turns.
const CANDIDATES: usize = 256;

/// Tests gathered before they are run.
const TESTS: usize = 1024;

/// Hits kept before they are handed on.
const HITS: usize = 2 * TESTS;

/// Levels that 2^32 leaves would need.
const MAX_LEVELS: usize = 9;

/// Scratch of one task: lists of fixed size, so that it never grows.
#[derive(Debug)]
pub(crate) struct JoinScratch<const D: usize> {
    candidates: Candidates<D>,
    /// Leaf of the group << 16 | candidate.
    leaf_pairs: Vec<u32>,
    tests: TestList,
    hits: HitList,
}

/// Hits not yet handed on; the list has room for one more than [`HITS`].
#[derive(Debug)]
struct HitList {
    list: Vec<Hit>,
    len: usize,
}

impl<const D: usize> Default for JoinScratch<D> {
    fn default() -> Self {
        Self {
            candidates: Candidates::default(),
            leaf_pairs: vec![0; LEAF * CANDIDATES + LANES],
            tests: TestList { rank: vec![0; TESTS], start: vec![0; TESTS], lanes: vec![0; TESTS], len: 0 },
            hits: HitList { list: vec![Hit::default(); HITS + 1], len: 0 },
        }
    }
}

impl<const D: usize> JoinScratch<D> {
    pub(crate) fn bytes(&self) -> usize {
        let candidates = (CANDIDATES + LANES) * (2 * D + 1) * size_of::<f32>();
        candidates + self.leaf_pairs.len() * size_of::<u32>() + TESTS * 10 + HITS * size_of::<Hit>()
    }
}

/// Leaves that may overlap those of a group, ascending, with their boxes.
#[derive(Debug)]
struct Candidates<const D: usize> {
    leaf: Vec<u32>,
    lo: [Vec<f32>; D],
    hi: [Vec<f32>; D],
    len: usize,
}

impl<const D: usize> Default for Candidates<D> {
    fn default() -> Self {
        let column = || vec![0.0; CANDIDATES + LANES];
        let (lo, hi) = (core::array::from_fn(|_| column()), core::array::from_fn(|_| column()));
        Self { leaf: vec![0; CANDIDATES + LANES], lo, hi, len: 0 }
    }
}

/// One circle each against the lanes of a leaf, or some of them.
#[derive(Debug)]
struct TestList {
    rank: Vec<u32>,
    start: Vec<u32>,
    lanes: Vec<u16>,
    len: usize,
}

/// Everything a task needs to join some groups.
pub(crate) struct Join<'a, S, const D: usize> {
    pub(crate) tree: &'a LinearTree<D>,
    pub(crate) scratch: &'a mut JoinScratch<D>,
    pub(crate) sink: S,
    pub(crate) tests: Tests,
}

/// The lanes of a leaf turned by k that give each pair once, for a leaf of n ranks: `TURNED[n][k]`.
static TURNED: [[u16; LANES / 2 + 1]; LANES + 1] = {
    let mut table = [[0; LANES / 2 + 1]; LANES + 1];
    let mut n = 0;
    while n <= LANES {
        let mut k = 1;
        while k <= LANES / 2 {
            let mut lane = 0;
            while lane < n {
                if (lane + k) % LANES < n && (k < LANES / 2 || lane < LANES / 2) {
                    table[n][k] |= 1 << lane;
                }
                lane += 1;
            }
            k += 1;
        }
        n += 1;
    }
    table
};

#[inline(always)]
fn first_lanes(n: usize) -> u16 {
    (u32::from(u16::MAX) >> (LANES - n)) as u16
}

/// Centres and radii of sixteen circles.
///
/// Loops here, not `array::from_fn`: its closure is not sure to be inlined, and without that the instructions of `L`
/// are calls (measured: the join three times slower).
#[derive(Clone, Copy)]
struct Circles16<L, const D: usize> {
    center: [L; D],
    radius: L,
}

impl<L: Lanes, const D: usize> Circles16<L, D> {
    /// The sixteen ranks from `rank` on.
    #[inline(always)]
    fn at(tree: &LinearTree<D>, rank: usize) -> Self {
        let (centers, radii, _) = tree.padded();
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::load(sixteen(radii, rank)) };
        for axis in 0..D {
            circles.center[axis] = L::load(sixteen(&centers[axis], rank));
        }
        circles
    }

    /// One circle in all lanes.
    #[inline(always)]
    fn all(tree: &LinearTree<D>, rank: usize) -> Self {
        let (centers, radii, _) = tree.padded();
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::splat(radii[rank]) };
        for axis in 0..D {
            circles.center[axis] = L::splat(centers[axis][rank]);
        }
        circles
    }

    /// Every circle one lane down.
    #[inline(always)]
    fn turn(self) -> Self {
        let mut turned = Self { radius: self.radius.turn(), ..self };
        for axis in 0..D {
            turned.center[axis] = self.center[axis].turn();
        }
        turned
    }

    /// The predicate: `dx*dx + dy*dy (+ dz*dz) <= s*s` with `dx = xj - xi`, `s = ri + rj`, left to right, in f32.
    #[inline(always)]
    fn hits(self, other: Self) -> u16 {
        let s = self.radius.add(other.radius);
        let dx = other.center[0].sub(self.center[0]);
        let mut distance2 = dx.mul(dx);
        for axis in 1..D {
            let d = other.center[axis].sub(self.center[axis]);
            distance2 = distance2.add(d.mul(d));
        }
        distance2.le(s.mul(s))
    }

    /// Which of the sixteen may touch a circle of the leaf whose box this is.
    #[inline(always)]
    fn touching(self, lo: [f32; D], hi: [f32; D]) -> u16 {
        let reach = self.radius.mul(L::splat(GROWTH));
        let mut mask = u16::MAX;
        for axis in 0..D {
            mask &= L::splat(lo[axis]).le(self.center[axis].add(reach));
            mask &= self.center[axis].sub(reach).le(L::splat(hi[axis]));
        }
        mask
    }
}

/// Which of the sixteen boxes from `at` on overlap a box.
#[inline(always)]
fn boxes16_overlapping<L: Lanes, const D: usize>(
    boxes: (&[Vec<f32>; D], &[Vec<f32>; D]),
    at: usize,
    lo: [f32; D],
    hi: [f32; D],
) -> u16 {
    let mut mask = u16::MAX;
    for axis in 0..D {
        mask &= L::load(sixteen(&boxes.0[axis], at)).le(L::splat(hi[axis]));
        mask &= L::splat(lo[axis]).le(L::load(sixteen(&boxes.1[axis], at)));
    }
    mask
}

impl<S: Sink, const D: usize> Join<'_, S, D> {
    /// All pairs whose first leaf lies in `groups`, a group being a node of level 1.
    #[inline(always)]
    pub(crate) fn run<L: Lanes>(&mut self, groups: Range<usize>) {
        for group in groups {
            let leaves = group * LEAF..((group + 1) * LEAF).min(self.tree.leaves());
            for leaf in leaves.clone() {
                self.join_within::<L>(leaf);
            }
            self.join_group::<L>(group, leaves);
            self.run_tests::<L>();
        }
        self.hand_on::<L>();
    }

    /// Phase 1.
    #[inline(always)]
    fn join_within<L: Lanes>(&mut self, leaf: usize) {
        let ranks = self.tree.leaf(leaf);
        let (start, n) = (ranks.start, ranks.len());
        let circles = Circles16::<L, D>::at(self.tree, start);
        let mut turned = circles;
        self.make_room::<L>(LANES / 2);
        for turn in 1..=LANES / 2 {
            turned = turned.turn();
            let mask = circles.hits(turned) & TURNED[n][turn];
            self.keep(Hit { a: start as u32, b: start as u32, mask, step: 1, turn: turn as u8 });
        }
        self.tests.circle_tests += (n * (n - 1) / 2) as u64;
    }

    /// Phases 2 to 4. Walks down the levels, skipping what lies before the group.
    #[inline(always)]
    fn join_group<L: Lanes>(&mut self, group: usize, leaves: Range<usize>) {
        let tree = self.tree;
        let levels = tree.levels();
        let aabb = levels[1].aabb(group);
        let mut own = true;
        // The nodes still to visit on each level: a run of sixteen, and a bit for each.
        let mut open = [(0, 0_u16); MAX_LEVELS];
        let top = levels.len() - 1;
        let mut level = top;
        open[top] = (0, self.overlapping::<L>(&levels[top], 0, aabb, leaves.start >> (4 * top)));
        loop {
            let (run, mask) = &mut open[level];
            if *mask == 0 {
                if level == top {
                    break;
                }
                level += 1;
                continue;
            }
            let node = *run + mask.trailing_zeros() as usize;
            *mask &= *mask - 1;
            let below = level - 1;
            let mask = self.overlapping::<L>(&levels[below], node * LEAF, aabb, leaves.start >> (4 * below));
            if below > 0 {
                level = below;
                open[level] = (node * LEAF, mask);
                continue;
            }
            self.scratch.candidates.append::<L>(&levels[0], node * LEAF, mask);
            if self.scratch.candidates.len > CANDIDATES - LANES {
                self.join_candidates::<L>(leaves.clone(), own);
                own = false;
            }
        }
        self.join_candidates::<L>(leaves, own);
    }

    /// Which of the sixteen boxes from `run` on overlap `aabb` and are number `first` or later.
    #[inline(always)]
    fn overlapping<L: Lanes>(&mut self, level: &Level<D>, run: usize, aabb: Aabb<D>, first: usize) -> u16 {
        self.tests.node_tests += 1;
        let later = u16::MAX.checked_shl(first.saturating_sub(run) as u32).unwrap_or(0);
        boxes16_overlapping::<L, D>((level.lo(), level.hi()), run, aabb.lo, aabb.hi) & later
    }

    /// Phases 3 and 4. With `own`, the candidates begin with the leaves of the group themselves.
    #[inline(always)]
    fn join_candidates<L: Lanes>(&mut self, leaves: Range<usize>, own: bool) {
        let leaf_boxes = &self.tree.levels()[0];
        let JoinScratch { candidates, leaf_pairs, .. } = &mut *self.scratch;
        let boxes = (&candidates.lo, &candidates.hi);
        let mut pairs = 0;
        for (i, leaf) in leaves.clone().enumerate() {
            let aabb = leaf_boxes.aabb(leaf);
            let mut later = if own { u32::from(u16::MAX) << (i + 1) } else { u32::MAX } as u16;
            for run in (0..candidates.len).step_by(LANES) {
                let present = first_lanes((candidates.len - run).min(LANES));
                let mask = boxes16_overlapping::<L, D>(boxes, run, aabb.lo, aabb.hi) & present & later;
                pairs += L::expand(mask, (i << 16 | run) as u32, sixteen_mut(leaf_pairs, pairs));
                later = u16::MAX;
            }
            self.tests.node_tests += candidates.len.div_ceil(LANES) as u64;
        }
        self.tests.leaf_tests += pairs as u64;
        for at in 0..pairs {
            let pair = self.scratch.leaf_pairs[at] as usize;
            self.join_leaves::<L>(leaves.start + (pair >> 16), pair & 0xffff);
        }
        self.scratch.candidates.len = 0;
    }

    /// Phase 4 for one leaf of the group and one candidate.
    #[inline(always)]
    fn join_leaves<L: Lanes>(&mut self, leaf: usize, candidate: usize) {
        let tree = self.tree;
        let candidates = &self.scratch.candidates;
        let other = candidates.leaf[candidate] as usize;
        let (ranks, others) = (tree.leaf(leaf), tree.leaf(other));
        let (lo, hi) = candidates.aabb(candidate);
        let mine = Circles16::<L, D>::at(tree, ranks.start).touching(lo, hi) & first_lanes(ranks.len());
        let aabb = tree.levels()[0].aabb(leaf);
        let theirs = Circles16::<L, D>::at(tree, others.start).touching(aabb.lo, aabb.hi) & first_lanes(others.len());
        let (count, other_count) = (mine.count_ones(), theirs.count_ones());
        self.tests.circle_tests += u64::from(count * other_count);
        // Which side has fewer is a coin toss: selected by arithmetic, not by a branch.
        let fewer = u32::from(count <= other_count).wrapping_neg();
        let select = |a: u32, b: u32| b ^ ((a ^ b) & fewer);
        let (mine, theirs) = (u32::from(mine), u32::from(theirs));
        let none = u32::from((count == 0) | (other_count == 0)).wrapping_neg();
        let (singles, lanes) = (select(mine, theirs) & !none, select(theirs, mine));
        let (rank, other) = (ranks.start as u32, others.start as u32);
        let (base, start) = (select(rank, other), select(other, rank));
        self.scratch.tests.push::<L>(singles as u16, base, start, lanes as u16);
        if self.scratch.tests.len > TESTS - LANES {
            self.run_tests::<L>();
        }
    }

    /// Phase 5.
    #[inline(always)]
    fn run_tests<L: Lanes>(&mut self) {
        self.make_room::<L>(self.scratch.tests.len);
        for at in 0..self.scratch.tests.len {
            let tests = &self.scratch.tests;
            let (rank, start, lanes) = (tests.rank[at], tests.start[at], tests.lanes[at]);
            let single = Circles16::<L, D>::all(self.tree, rank as usize);
            let mask = single.hits(Circles16::at(self.tree, start as usize)) & lanes;
            self.keep(Hit { a: rank, b: start, mask, step: 0, turn: 0 });
        }
        self.scratch.tests.len = 0;
    }

    /// Keeps a hit, unless it is none: written in any case, counted if it is one.
    #[inline(always)]
    fn keep(&mut self, hit: Hit) {
        let hits = &mut self.scratch.hits;
        hits.list[hits.len] = hit;
        hits.len += usize::from(hit.mask != 0);
    }

    /// Makes room for `more` hits.
    #[inline(always)]
    fn make_room<L: Lanes>(&mut self, more: usize) {
        if self.scratch.hits.len + more > HITS {
            self.hand_on::<L>();
        }
    }

    #[inline(always)]
    fn hand_on<L: Lanes>(&mut self) {
        let hits = &mut self.scratch.hits;
        let list = &hits.list[..hits.len];
        self.tests.pairs += list.iter().map(|hit| u64::from(hit.mask.count_ones())).sum::<u64>();
        if S::WANTS_PAIRS {
            emit::<L>(list, self.tree.padded().2, &mut self.sink);
        }
        hits.len = 0;
    }
}

impl<const D: usize> Candidates<D> {
    /// Appends the leaves of a run of sixteen that are set in `mask`.
    #[inline(always)]
    fn append<L: Lanes>(&mut self, leaves: &Level<D>, run: usize, mask: u16) {
        for axis in 0..D {
            L::compress(sixteen(&leaves.lo()[axis], run), mask, sixteen_mut(&mut self.lo[axis], self.len));
            L::compress(sixteen(&leaves.hi()[axis], run), mask, sixteen_mut(&mut self.hi[axis], self.len));
        }
        self.len += L::expand(mask, run as u32, sixteen_mut(&mut self.leaf, self.len));
    }

    #[inline(always)]
    fn aabb(&self, i: usize) -> ([f32; D], [f32; D]) {
        (core::array::from_fn(|axis| self.lo[axis][i]), core::array::from_fn(|axis| self.hi[axis][i]))
    }
}

impl TestList {
    /// Appends a test for each bit of `singles`: rank `base + bit` against `lanes` of the leaf that begins at `start`.
    #[inline(always)]
    fn push<L: Lanes>(&mut self, singles: u16, base: u32, start: u32, lanes: u16) {
        let count = L::expand(singles, base, sixteen_mut(&mut self.rank, self.len));
        *sixteen_mut(&mut self.start, self.len) = [start; LANES];
        *sixteen_mut(&mut self.lanes, self.len) = [lanes; LANES];
        self.len += count;
    }
}
