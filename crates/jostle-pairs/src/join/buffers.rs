//! What a join gathers before it goes on with it: tests to run, and then hits to hand on. It does not grow while it runs.

use core::ops::Range;

use jostle_core::pages::Paged;
use jostle_sets::simd::{LANES, Lanes, sixteen_mut};

use crate::join::hits::Hit;

/// Tests gathered before they are run: with room for sixteen more, a page of each list.
pub(crate) const TESTS: usize = 1024 - LANES;

/// Tests of a leaf against itself.
pub(crate) const ROTATIONS: usize = LANES / 2;

/// One circle each, by its place, against those of a leaf; then, what has come of it.
#[derive(Debug)]
pub(crate) struct TestList {
    pub(crate) circle: Paged<u32>,
    pub(crate) leaf: Paged<u32>,
    /// What is known of the lanes of each test that has been run, see [`Hit`]; none where it is not asked for.
    pub(crate) lanes: Paged<u32>,
    pub(crate) len: usize,
    /// So many at the front have been run, or were hits.
    tested: usize,
    /// So many at the front are hits.
    hits: usize,
}

/// Tests as they are gathered; apart from the list, so that the compiler may keep it in registers.
pub(crate) struct Adding<'t> {
    circle: &'t mut [u32],
    leaf: &'t mut [u32],
    len: usize,
    total: &'t mut usize,
}

impl Adding<'_> {
    /// Whether another sixteen may not fit.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len + 2 * LANES > self.circle.len()
    }

    /// Appends a test for each bit of `circles`, which are those from place `base` on, against a leaf.
    #[inline(always)]
    pub(crate) fn push<L: Lanes>(&mut self, circles: u16, base: u32, leaf: u32) {
        let count = L::expand(circles, base, sixteen_mut(self.circle, self.len));
        *sixteen_mut(self.leaf, self.len) = [leaf; LANES];
        self.len += count;
    }

    /// They are in the list: whether it is full.
    #[inline(always)]
    pub(crate) fn finish(self) -> bool {
        *self.total = self.len;
        self.is_full()
    }
}

/// Tests as they are run, one after the other; it holds numbers apart from the lists, where the compiler may keep them in registers.
pub(crate) struct Running<'t> {
    circle: &'t mut [u32],
    leaf: &'t mut [u32],
    lanes: &'t mut [u32],
    /// So many have been run, and so many kept: see [`Lanes::KEEPS_SIXTEEN`].
    at: usize,
    kept: usize,
    hits: &'t mut usize,
}

impl Running<'_> {
    /// The circle and the leaf of the next test.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<(u32, u32)> {
        (self.at < self.circle.len()).then(|| (self.circle[self.at], self.leaf[self.at]))
    }

    /// Notes what is known of its lanes.
    #[inline(always)]
    pub(crate) fn note<L: Lanes>(&mut self, lanes: u32) {
        let at = self.at;
        self.at += 1;
        if L::KEEPS_SIXTEEN {
            self.lanes[at] = lanes;
            return;
        }
        // Written in any case, counted if it is a hit.
        let hit = self.kept;
        (self.circle[hit], self.leaf[hit], self.lanes[hit]) = (self.circle[at], self.leaf[at], lanes);
        self.kept += usize::from(lanes & Hit::MASK != 0);
    }

    #[inline(always)]
    pub(crate) fn finish(self) {
        *self.hits = self.kept;
    }
}

impl Default for TestList {
    fn default() -> Self {
        Self::with_room(TESTS)
    }
}

impl TestList {
    /// Room for so many tests.
    pub(crate) fn with_room(tests: usize) -> Self {
        let list = || Paged::zeros(tests + LANES);
        Self { circle: list(), leaf: list(), lanes: Paged::default(), len: 0, tested: 0, hits: 0 }
    }

    /// Room for so many tests, and for what is known of them.
    pub(crate) fn with_lanes(tests: usize) -> Self {
        Self { lanes: Paged::zeros(tests + LANES), ..Self::with_room(tests) }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.circle.bytes() + self.leaf.bytes() + self.lanes.bytes()
    }

    /// For more tests.
    #[inline(always)]
    pub(crate) fn add(&mut self) -> Adding<'_> {
        Adding { circle: &mut self.circle, leaf: &mut self.leaf, len: self.len, total: &mut self.len }
    }

    /// How many are to be run.
    #[inline(always)]
    pub(crate) fn to_run(&self) -> usize {
        self.len - self.tested
    }

    /// Those that are to be run.
    #[inline(always)]
    pub(crate) fn run<L: Lanes>(&mut self) -> Running<'_> {
        self.running::<L>(self.tested..self.len)
    }

    /// The last tests, which are to be run.
    #[inline(always)]
    fn running<L: Lanes>(&mut self, tests: Range<usize>) -> Running<'_> {
        let Self { circle, leaf, lanes, tested, hits, .. } = self;
        *tested = tests.end;
        let (all, at) = if L::KEEPS_SIXTEEN { (tests, 0) } else { (0..tests.end, tests.start) };
        let (circle, leaf, lanes) = (&mut circle[all.clone()], &mut leaf[all.clone()], &mut lanes[all]);
        Running { circle, leaf, lanes, at, kept: *hits, hits }
    }

    /// Leaves the hits of tests that have been run, in order: sixteen at a time, since to keep them test by test takes half as long as to test.
    /// Returns whether it is time to hand them on.
    #[inline(always)]
    pub(crate) fn keep_hits<L: Lanes>(&mut self) -> bool {
        let Self { circle, leaf, lanes, len, tested, hits } = self;
        let (circle, leaf, lanes) = (&mut **circle, &mut **leaf, &mut **lanes);
        if L::KEEPS_SIXTEEN {
            *sixteen_mut(lanes, *tested) = [0; LANES];
            for at in (*hits..*tested).step_by(LANES) {
                *hits += L::keep_any([circle, leaf, lanes], at, *hits, Hit::MASK);
            }
        }
        (*len, *tested) = (*hits, *hits);
        2 * *hits > circle.len()
    }

    /// Nothing is left.
    pub(crate) fn clear(&mut self) {
        (self.len, self.tested, self.hits) = (0, 0, 0);
    }

    /// All in order, each of which is a hit.
    #[inline(always)]
    pub(crate) fn hits(&self) -> impl Iterator<Item = Hit> {
        let Self { circle, leaf, lanes, hits, .. } = self;
        let named = circle[..*hits].iter().zip(&leaf[..*hits]);
        named.zip(&lanes[..*hits]).map(|((&circle, &leaf), &lanes)| Hit { circle, leaf, lanes })
    }

    /// Hit number `at`.
    #[inline(always)]
    pub(crate) fn hit(&self, at: usize) -> Hit {
        Hit { circle: self.circle[at], leaf: self.leaf[at], lanes: self.lanes[at] }
    }

    /// Whether another sixteen may not fit.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len + 2 * LANES > self.circle.len()
    }

    /// Appends tests of a leaf against itself, of no circle, to be run at once: no others may wait.
    #[inline(always)]
    pub(crate) fn run_within<L: Lanes>(&mut self, leaf: u32) -> Running<'_> {
        let own = self.len..self.len + ROTATIONS;
        self.leaf[own.clone()].fill(leaf);
        self.len = own.end;
        self.running::<L>(own)
    }

    /// Appends one circle and a number.
    #[inline(always)]
    pub(crate) fn push_one(&mut self, circle: u32, number: u32) {
        (self.circle[self.len], self.leaf[self.len]) = (circle, number);
        self.len += 1;
    }

    /// Appends a test of one circle for each bit of `leaves`, which are those from number `base` on.
    #[inline(always)]
    pub(crate) fn push_leaves<L: Lanes>(&mut self, circle: u32, leaves: u16, base: u32) {
        let count = L::expand(leaves, base, sixteen_mut(&mut self.leaf, self.len));
        *sixteen_mut(&mut self.circle, self.len) = [circle; LANES];
        self.len += count;
    }
}
