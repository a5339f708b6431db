//! The self-join: every overlapping pair of a tree, a group of sixteen leaves after the other.
//!
//! In phases, each a loop without a branch that depends on the data, for it is mispredicted branches that such a join
//! spends its time on, not arithmetic:
//! 1. each leaf against itself, turned by 1 to 8 lanes;
//! 2. down the levels: the leaves, not before the group, whose boxes overlap the group's;
//! 3. each leaf of the group against those: pairs of leaves;
//! 4. each pair of leaves: which circles of the one with the larger box touch the other's; so a giant is tested against
//!    its neighbours, not they against all in its leaf;
//! 5. the tests, one circle against sixteen of a leaf; hits are kept, in order, and handed on.

use core::ops::Range;

use jostle_core::aabb::GROWTH;
use jostle_core::sixteen::{Bodies16, Floats, floats, floats_mut};
use jostle_core::tree::{LEAF, Level};
use jostle_core::{Aabb, LinearTree};

use crate::hits::{Hit, Sink, emit};
use crate::lanes::{LANES, Lanes, sixteen_mut};
use crate::stats::Tests;

/// Candidate leaves looked at together; more are taken in turns.
const CANDIDATES: usize = 256;

/// Tests gathered before they are run.
const TESTS: usize = 1024;

/// Hits kept before they are handed on.
const HITS: usize = 2 * TESTS;

/// Levels that 2^32 leaves would need.
pub(crate) const MAX_LEVELS: usize = 9;

/// Scratch of one task: lists of fixed size, so that it never grows.
#[derive(Debug)]
pub(crate) struct JoinScratch<const D: usize> {
    candidates: Candidates<D>,
    /// Pairs of a leaf of the group and a candidate, as leaf << 16 | candidate: those whose leaf has the larger box, and
    /// those whose candidate has.
    leaf_pairs: [Vec<u32>; 2],
    tests: TestList,
    hits: HitList,
}

/// Hits not yet handed on; the list has room for one more than [`HITS`].
#[derive(Debug)]
struct HitList {
    list: Vec<Hit>,
    len: usize,
}

/// Appends hits; it holds their number apart from the list, where the compiler may keep it in a register.
struct Appender<'a> {
    list: &'a mut [Hit],
    len: usize,
    total: &'a mut usize,
}

impl HitList {
    #[inline(always)]
    fn appender(&mut self) -> Appender<'_> {
        Appender { list: &mut self.list[self.len..], len: 0, total: &mut self.len }
    }
}

impl Appender<'_> {
    /// Keeps a hit, unless it is none: written in any case, counted if it is one.
    #[inline(always)]
    fn keep(&mut self, hit: Hit) {
        self.list[self.len] = hit;
        self.len += usize::from(hit.pairs() != 0);
    }

    #[inline(always)]
    fn finish(self) {
        *self.total += self.len;
    }
}

impl<const D: usize> Default for JoinScratch<D> {
    fn default() -> Self {
        Self {
            candidates: Candidates::default(),
            leaf_pairs: [(); 2].map(|()| vec![0; LEAF * CANDIDATES + LANES]),
            tests: TestList { circle: vec![0; TESTS], leaf: vec![0; TESTS], len: 0 },
            hits: HitList { list: vec![Hit::default(); HITS + 1], len: 0 },
        }
    }
}

impl<const D: usize> JoinScratch<D> {
    pub(crate) fn bytes(&self) -> usize {
        let candidates = (CANDIDATES + LANES) * (2 * D + 2) * size_of::<u32>();
        let leaf_pairs = self.leaf_pairs.iter().map(Vec::len).sum::<usize>() * size_of::<u32>();
        candidates + leaf_pairs + TESTS * 8 + HITS * size_of::<Hit>()
    }
}

/// Leaves that may overlap those of a group, ascending, with their boxes; the leaves of the group themselves come first.
#[derive(Debug)]
struct Candidates<const D: usize> {
    leaf: Vec<u32>,
    lo: [Vec<Floats>; D],
    hi: [Vec<Floats>; D],
    /// Area or volume of each box.
    size: Vec<Floats>,
    len: usize,
}

impl<const D: usize> Default for Candidates<D> {
    fn default() -> Self {
        let column = || vec![Floats::splat(0.0); CANDIDATES / LANES + 1];
        let (lo, hi) = (core::array::from_fn(|_| column()), core::array::from_fn(|_| column()));
        Self { leaf: vec![0; CANDIDATES + LANES], lo, hi, size: column(), len: 0 }
    }
}

/// One circle each, by its place, against those of a leaf.
#[derive(Debug)]
struct TestList {
    circle: Vec<u32>,
    leaf: Vec<u32>,
    len: usize,
}

/// Everything a task needs to join some groups.
pub(crate) struct Join<'a, S, const D: usize> {
    tree: &'a LinearTree<D>,
    bodies: &'a [Bodies16<D>],
    pub(crate) scratch: &'a mut JoinScratch<D>,
    pub(crate) sink: S,
    pub(crate) tests: Tests,
}

#[inline(always)]
fn first_lanes(n: usize) -> u16 {
    (u32::from(u16::MAX) >> (LANES - n)) as u16
}

/// Centres and radii of sixteen circles.
///
/// Loops here, not `array::from_fn`: its closure is not sure to be inlined, and without that the instructions of `L`
/// are calls (measured: the join three times slower).
#[derive(Clone, Copy)]
pub(crate) struct Circles16<L, const D: usize> {
    pub(crate) center: [L; D],
    pub(crate) radius: L,
}

impl<L: Lanes, const D: usize> Circles16<L, D> {
    /// The circles of a leaf.
    #[inline(always)]
    pub(crate) fn of(bodies: &[Bodies16<D>], leaf: usize) -> Self {
        let bodies = &bodies[leaf];
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::load(&bodies.radii.0) };
        for axis in 0..D {
            circles.center[axis] = L::load(&bodies.centers[axis].0);
        }
        circles
    }

    /// One circle, by its place, in all lanes.
    #[inline(always)]
    fn all(bodies: &[Bodies16<D>], place: usize) -> Self {
        let (bodies, lane) = (&bodies[place / LEAF], place % LEAF);
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::splat(bodies.radii.0[lane]) };
        for axis in 0..D {
            circles.center[axis] = L::splat(bodies.centers[axis].0[lane]);
        }
        circles
    }

    /// A circle of no leaf, in all lanes.
    #[inline(always)]
    pub(crate) fn splat(center: [f32; D], radius: f32) -> Self {
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::splat(radius) };
        for axis in 0..D {
            circles.center[axis] = L::splat(center[axis]);
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
    pub(crate) fn hits(self, other: Self) -> u16 {
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

/// Which of the sixteen boxes of a node overlap a box.
#[inline(always)]
pub(crate) fn boxes16_overlapping<L: Lanes, const D: usize>(
    boxes: ([&[Floats]; D], [&[Floats]; D]),
    node: usize,
    lo: [f32; D],
    hi: [f32; D],
) -> u16 {
    let mut mask = u16::MAX;
    for axis in 0..D {
        mask &= L::load(&boxes.0[axis][node].0).le(L::splat(hi[axis]));
        mask &= L::splat(lo[axis]).le(L::load(&boxes.1[axis][node].0));
    }
    mask
}

impl<'a, S, const D: usize> Join<'a, S, D> {
    pub(crate) fn new(tree: &'a LinearTree<D>, scratch: &'a mut JoinScratch<D>, sink: S) -> Self {
        Self { tree, bodies: tree.bodies(), scratch, sink, tests: Tests::default() }
    }
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
        let circles = Circles16::<L, D>::of(self.bodies, leaf);
        let mut turned = circles;
        self.make_room::<L>(LANES / 2);
        let mut hits = self.scratch.hits.appender();
        for turn in 1..=LANES / 2 {
            turned = turned.turn();
            let once = if turn < LANES / 2 { u16::MAX } else { u16::MAX >> (LANES / 2) };
            hits.keep(Hit::within(leaf, turn, circles.hits(turned) & once));
        }
        hits.finish();
        let n = self.tree.leaf(leaf).len();
        self.tests.circle_tests += (n * (n - 1) / 2) as u64;
    }

    /// Phases 2 to 4. Walks down the levels, skipping what lies before the group.
    #[inline(always)]
    fn join_group<L: Lanes>(&mut self, group: usize, leaves: Range<usize>) {
        let tree = self.tree;
        let levels = tree.levels();
        let aabb = levels[1].aabb(group);
        let mut seen = 0;
        self.scratch.candidates.len = 0;
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
            let mask = self.overlapping::<L>(&levels[below], node, aabb, leaves.start >> (4 * below));
            if below > 0 {
                level = below;
                open[level] = (node * LEAF, mask);
                continue;
            }
            self.scratch.candidates.append::<L>(&levels[0], node, mask);
            if self.scratch.candidates.len > CANDIDATES - LANES {
                self.join_candidates::<L>(leaves.len(), seen);
                seen = leaves.len();
                self.scratch.candidates.len = seen;
            }
        }
        self.join_candidates::<L>(leaves.len(), seen);
    }

    /// Which of the sixteen boxes of a node overlap `aabb` and are number `first` or later of their level.
    #[inline(always)]
    fn overlapping<L: Lanes>(&mut self, level: &Level<D>, node: usize, aabb: Aabb<D>, first: usize) -> u16 {
        self.tests.node_tests += 1;
        let later = u16::MAX.checked_shl(first.saturating_sub(node * LEAF) as u32).unwrap_or(0);
        boxes16_overlapping::<L, D>((level.lo(), level.hi()), node, aabb.lo, aabb.hi) & later
    }

    /// Phases 3 and 4: the first `leaves` candidates, which are the leaves of the group, against the candidates after
    /// each, from number `seen` on.
    #[inline(always)]
    fn join_candidates<L: Lanes>(&mut self, leaves: usize, seen: usize) {
        self.scratch.candidates.measure::<L>();
        let JoinScratch { candidates, leaf_pairs: [larger, smaller], .. } = &mut *self.scratch;
        let boxes = (candidates.lo.each_ref().map(Vec::as_slice), candidates.hi.each_ref().map(Vec::as_slice));
        let mut count = [0; 2];
        for leaf in 0..leaves {
            let (lo, hi) = candidates.aabb(leaf);
            let size = L::splat(floats(&candidates.size)[leaf]);
            let first = seen.max(leaf + 1);
            for run in (first / LANES * LANES..candidates.len).step_by(LANES) {
                let present = first_lanes((candidates.len - run).min(LANES));
                let later = (u32::from(u16::MAX) << first.saturating_sub(run)) as u16;
                let mask = boxes16_overlapping::<L, D>(boxes, run / LANES, lo, hi) & present & later;
                let sizes = L::load(&candidates.size[run / LANES].0).le(size);
                let base = (leaf << 16 | run) as u32;
                count[0] += L::expand(mask & sizes, base, sixteen_mut(larger, count[0]));
                count[1] += L::expand(mask & !sizes, base, sixteen_mut(smaller, count[1]));
            }
        }
        self.tests.node_tests += (leaves * candidates.len.div_ceil(LANES)) as u64;
        self.tests.leaf_tests += (count[0] + count[1]) as u64;
        for at in 0..count[0] {
            let pair = self.scratch.leaf_pairs[0][at] as usize;
            self.join_leaves::<L>(pair >> 16, pair & 0xffff);
        }
        for at in 0..count[1] {
            let pair = self.scratch.leaf_pairs[1][at] as usize;
            self.join_leaves::<L>(pair & 0xffff, pair >> 16);
        }
    }

    /// Phase 4 for two candidates, of which the first has the larger box.
    #[inline(always)]
    fn join_leaves<L: Lanes>(&mut self, larger: usize, smaller: usize) {
        let JoinScratch { candidates, tests, .. } = &mut *self.scratch;
        let (lo, hi) = candidates.aabb(smaller);
        let (leaf, other) = (candidates.leaf[larger], candidates.leaf[smaller]);
        let circles = Circles16::<L, D>::of(self.bodies, leaf as usize).touching(lo, hi);
        tests.push::<L>(circles, leaf * LEAF as u32, other);
        if tests.len > TESTS - LANES {
            self.run_tests::<L>();
        }
    }

    /// Phase 5.
    #[inline(always)]
    fn run_tests<L: Lanes>(&mut self) {
        self.make_room::<L>(self.scratch.tests.len);
        let JoinScratch { tests, hits, .. } = &mut *self.scratch;
        self.tests.circle_tests += (tests.len * LANES) as u64;
        let mut hits = hits.appender();
        for (&circle, &leaf) in tests.circle[..tests.len].iter().zip(&tests.leaf) {
            let single = Circles16::<L, D>::all(self.bodies, circle as usize);
            hits.keep(Hit::between(circle, leaf, single.hits(Circles16::of(self.bodies, leaf as usize))));
        }
        hits.finish();
        tests.len = 0;
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
        self.tests.pairs += list.iter().map(|hit| u64::from(hit.pairs())).sum::<u64>();
        if S::WANTS_PAIRS {
            emit::<L>(list, self.tree.leaf_ids(), &mut self.sink);
        }
        hits.len = 0;
    }
}

impl<const D: usize> Candidates<D> {
    /// Appends the leaves of a node that are set in `mask`.
    #[inline(always)]
    fn append<L: Lanes>(&mut self, leaves: &Level<D>, node: usize, mask: u16) {
        for axis in 0..D {
            let (lo, hi) = (floats_mut(&mut self.lo[axis]), floats_mut(&mut self.hi[axis]));
            L::compress(&leaves.lo()[axis][node].0, mask, sixteen_mut(lo, self.len));
            L::compress(&leaves.hi()[axis][node].0, mask, sixteen_mut(hi, self.len));
        }
        self.len += L::expand(mask, (node * LEAF) as u32, sixteen_mut(&mut self.leaf, self.len));
    }

    /// The sizes.
    #[inline(always)]
    fn measure<L: Lanes>(&mut self) {
        for run in 0..self.len.div_ceil(LANES) {
            let mut size = L::splat(1.0);
            for axis in 0..D {
                size = size.mul(L::load(&self.hi[axis][run].0).sub(L::load(&self.lo[axis][run].0)));
            }
            size.store(&mut self.size[run].0);
        }
    }

    #[inline(always)]
    fn aabb(&self, i: usize) -> ([f32; D], [f32; D]) {
        let at = |column: &[Floats]| floats(column)[i];
        (core::array::from_fn(|axis| at(&self.lo[axis])), core::array::from_fn(|axis| at(&self.hi[axis])))
    }
}

impl TestList {
    /// Appends a test for each bit of `circles`, which are those from place `base` on, against a leaf.
    #[inline(always)]
    fn push<L: Lanes>(&mut self, circles: u16, base: u32, leaf: u32) {
        let count = L::expand(circles, base, sixteen_mut(&mut self.circle, self.len));
        *sixteen_mut(&mut self.leaf, self.len) = [leaf; LANES];
        self.len += count;
    }
}
