//! What a join gathers before it goes on with it: tests to run, and hits to hand on. Neither grows while it runs.

use jostle_sets::simd::{LANES, Lanes, sixteen_mut};

use crate::join::hits::Hit;

/// Tests gathered before they are run.
pub(crate) const TESTS: usize = 1024;

/// Hits not yet handed on. The list has room for one more than are kept.
#[derive(Debug)]
pub(crate) struct HitList {
    pub(crate) list: Vec<Hit>,
    pub(crate) len: usize,
}

/// Appends hits; it holds their number apart from the list, where the compiler may keep it in a register.
pub(crate) struct Appender<'a> {
    list: &'a mut [Hit],
    len: usize,
    total: &'a mut usize,
}

impl HitList {
    /// For those of so many tests, and twice.
    pub(crate) fn of_tests(tests: usize) -> Self {
        Self { list: vec![Hit::default(); 2 * tests + 1], len: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Hit>()
    }

    /// Whether so many more may not fit.
    #[inline(always)]
    pub(crate) fn lacks_room(&self, more: usize) -> bool {
        self.len + more >= self.list.len()
    }

    #[inline(always)]
    pub(crate) fn appender(&mut self) -> Appender<'_> {
        Appender { list: &mut self.list[self.len..], len: 0, total: &mut self.len }
    }
}

impl Appender<'_> {
    /// Keeps a hit, unless it is none: written in any case, counted if it is one.
    #[inline(always)]
    pub(crate) fn keep(&mut self, hit: Hit) {
        self.list[self.len] = hit;
        self.len += usize::from(hit.pairs() != 0);
    }

    #[inline(always)]
    pub(crate) fn finish(self) {
        *self.total += self.len;
    }
}

/// One circle each, by its place, against those of a leaf.
#[derive(Debug)]
pub(crate) struct TestList {
    pub(crate) circle: Vec<u32>,
    pub(crate) leaf: Vec<u32>,
    pub(crate) len: usize,
}

impl Default for TestList {
    fn default() -> Self {
        Self::with_room(TESTS)
    }
}

impl TestList {
    /// Room for so many tests.
    pub(crate) fn with_room(tests: usize) -> Self {
        Self { circle: vec![0; tests], leaf: vec![0; tests], len: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.circle.capacity() + self.leaf.capacity()) * size_of::<u32>()
    }

    /// Whether another sixteen may not fit.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.len + LANES > self.circle.len()
    }

    /// Appends a test for each bit of `circles`, which are those from place `base` on, against a leaf.
    #[inline(always)]
    pub(crate) fn push<L: Lanes>(&mut self, circles: u16, base: u32, leaf: u32) {
        let count = L::expand(circles, base, sixteen_mut(&mut self.circle, self.len));
        *sixteen_mut(&mut self.leaf, self.len) = [leaf; LANES];
        self.len += count;
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
