//! Lists in which a join gathers tests to run, and then hits to hand on. They do not grow while the join runs.

use core::ops::Range;

use jostle_core::pages::Paged;
use jostle_sets::simd::{LANES, Lanes, sixteen_mut};

use crate::join::hits::Hit;

/// Tests gathered before they are run: with room for sixteen more tests, each list is a page.
pub(crate) const TESTS: usize = 1024 - LANES;

/// Tests of a leaf against itself.
pub(crate) const ROTATIONS: usize = LANES / 2;

/// Tests of one circle each, by its place, against the circles of a leaf; then the results of the tests.
#[derive(Debug)]
pub(crate) struct TestList {
    pub(crate) circle: Paged<u32>,
    pub(crate) leaf: Paged<u32>,
    /// The results of the tests that have been run, see [`Hit::lanes`]; empty in a list that keeps no results.
    pub(crate) lanes: Paged<u32>,
    pub(crate) len: usize,
    /// The number of tests at the front that have been run, or were hits.
    tested: usize,
    /// The number of hits at the front.
    hits: usize,
}

/// Adds tests to a list. It is apart from the list, so that the compiler may keep its numbers in registers.
pub(crate) struct Adding<'t> {
    circle: &'t mut [u32],
    leaf: &'t mut [u32],
    len: usize,
    total: &'t mut usize,
}

impl Adding<'_> {
    /// Whether another sixteen tests may not fit.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len + 2 * LANES > self.circle.len()
    }

    /// Appends a test against `leaf` for each bit of `circles`, which stand for the circles from place `base` on.
    #[inline(always)]
    pub(crate) fn push<L: Lanes>(&mut self, circles: u16, base: u32, leaf: u32) {
        let count = L::expand(circles, base, sixteen_mut(self.circle, self.len));
        *sixteen_mut(self.leaf, self.len) = [leaf; LANES];
        self.len += count;
    }

    /// Puts the tests in the list, and returns whether it is full.
    #[inline(always)]
    pub(crate) fn finish(self) -> bool {
        *self.total = self.len;
        self.is_full()
    }
}

/// Runs tests one after the other. It holds numbers apart from the lists, so that the compiler may keep them in
/// registers.
pub(crate) struct Running<'t> {
    circle: &'t mut [u32],
    leaf: &'t mut [u32],
    lanes: &'t mut [u32],
    /// The numbers of tests that have been run, and that have been kept: see [`Lanes::KEEPS_SIXTEEN`].
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

    /// Notes the lanes of the next test.
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
    /// Makes a list with room for `tests` tests.
    pub(crate) fn with_room(tests: usize) -> Self {
        let list = || Paged::zeros(tests + LANES);
        Self { circle: list(), leaf: list(), lanes: Paged::default(), len: 0, tested: 0, hits: 0 }
    }

    /// Makes a list with room for `tests` tests and their lanes.
    pub(crate) fn with_lanes(tests: usize) -> Self {
        Self { lanes: Paged::zeros(tests + LANES), ..Self::with_room(tests) }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.circle.bytes() + self.leaf.bytes() + self.lanes.bytes()
    }

    /// Begins to add tests.
    #[inline(always)]
    pub(crate) fn add(&mut self) -> Adding<'_> {
        Adding { circle: &mut self.circle, leaf: &mut self.leaf, len: self.len, total: &mut self.len }
    }

    /// The number of tests that are still to be run.
    #[inline(always)]
    pub(crate) fn to_run(&self) -> usize {
        self.len - self.tested
    }

    /// Begins to run all tests that are still to be run.
    #[inline(always)]
    pub(crate) fn run<L: Lanes>(&mut self) -> Running<'_> {
        self.running::<L>(self.tested..self.len)
    }

    /// Begins to run `tests`, the last ones of the list.
    #[inline(always)]
    fn running<L: Lanes>(&mut self, tests: Range<usize>) -> Running<'_> {
        let Self { circle, leaf, lanes, tested, hits, .. } = self;
        *tested = tests.end;
        let (all, at) = if L::KEEPS_SIXTEEN { (tests, 0) } else { (0..tests.end, tests.start) };
        let (circle, leaf, lanes) = (&mut circle[all.clone()], &mut leaf[all.clone()], &mut lanes[all]);
        Running { circle, leaf, lanes, at, kept: *hits, hits }
    }

    /// Keeps only the hits of tests that have been run, in order: sixteen tests at a time, since keeping hits test by
    /// test takes half as long as testing. Returns whether it is time to hand the hits on.
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

    /// Empties the list.
    pub(crate) fn clear(&mut self) {
        (self.len, self.tested, self.hits) = (0, 0, 0);
    }

    /// All hits, in order.
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

    /// Whether another sixteen tests may not fit.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len + 2 * LANES > self.circle.len()
    }

    /// Appends the tests of a leaf against itself, which name no circle, and begins to run them at once. No other tests
    /// may wait.
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

    /// Appends a test of `circle` for each bit of `leaves`, which stand for the leaves from number `base` on.
    #[inline(always)]
    pub(crate) fn push_leaves<L: Lanes>(&mut self, circle: u32, leaves: u16, base: u32) {
        let count = L::expand(leaves, base, sixteen_mut(&mut self.leaf, self.len));
        *sixteen_mut(&mut self.circle, self.len) = [circle; LANES];
        self.len += count;
    }
}
