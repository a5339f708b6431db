//! Filters hits before they are handed on: drops hits that the caller does not want, and decides hits that the tree's
//! `f32` cannot decide.

use jostle_sets::input::layers::LayersOfBoth;
use jostle_sets::proxy::Decide;
use jostle_sets::simd::LANES;

/// A test of the caller's.
#[derive(Clone, Copy)]
pub(crate) enum PairTest<'a> {
    /// Of two bodies by their ids, as they stand in a pair.
    Ids(&'a (dyn Fn(u32, u32) -> bool + Sync)),
    /// Of the numbers of two sets, and of a pair.
    Sets(&'a (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync)),
}

impl PairTest<'_> {
    #[inline(always)]
    pub(crate) fn keeps(self, sets: [u32; 2], [a, b]: [u32; 2]) -> bool {
        match self {
            Self::Ids(test) => test(a, b),
            Self::Sets(test) => test(sets, [a, b]),
        }
    }
}

/// Which hits are pairs. The filter asks its fields in their order.
#[derive(Clone, Copy, Default)]
pub(crate) struct Filter<'a> {
    pub(crate) layers: Option<LayersOfBoth<'a>>,
    pub(crate) decision: Option<Decision<'a>>,
    /// The caller's own test.
    pub(crate) only: Option<PairTest<'a>>,
}

/// The exact decision, for trees whose circles are larger than the bodies they stand for.
#[derive(Clone, Copy)]
pub(crate) struct Decision<'a> {
    /// Hits that remain hits when the sum of radii is less by this are certain: the exact test is skipped.
    pub(crate) slack: f32,
    pub(crate) by: &'a dyn Decide,
}

impl Filter<'_> {
    /// Whether every hit is a pair.
    #[inline(always)]
    pub(crate) fn keeps_all(&self) -> bool {
        self.decision.is_none() && !self.asks_of_all()
    }

    /// Whether sure hits may be dropped too.
    #[inline(always)]
    pub(crate) fn asks_of_all(&self) -> bool {
        self.layers.is_some() || self.only.is_some()
    }
}

/// Lanes of hits that are in doubt. They are gathered, as sixteen are decided at once in less time than one by one.
pub(crate) struct Doubts {
    sets: [u32; 2],
    image: u32,
    /// The bodies of each, in the order of the pair: the decision sees the second one at the image.
    bodies: [[u32; 2]; LANES],
    /// Each hit, and its lane.
    lanes: [[u32; 2]; LANES],
    len: usize,
}

impl Doubts {
    #[inline(always)]
    pub(crate) fn new(sets: [u32; 2], image: u32) -> Self {
        Self { sets, image, bodies: [[0; 2]; LANES], lanes: [[0; 2]; LANES], len: 0 }
    }

    #[inline(always)]
    pub(crate) fn are_full(&self) -> bool {
        self.len == LANES
    }

    /// Adds the bodies of a lane of hit number `hit`. There is room for them.
    #[inline(always)]
    pub(crate) fn add(&mut self, bodies: [u32; 2], hit: u32, lane: u32) {
        (self.bodies[self.len], self.lanes[self.len]) = (bodies, [hit, lane]);
        self.len += 1;
    }

    /// Decides all that has been gathered, and takes the lanes that are not pairs from the hits.
    #[inline(always)]
    pub(crate) fn settle(&mut self, by: &dyn Decide, hits: &mut [u32]) {
        if self.len > 0 {
            let pairs = by.are_pairs(self.sets, self.image, &self.bodies[..self.len]);
            for (at, &[hit, lane]) in self.lanes[..self.len].iter().enumerate() {
                hits[hit as usize] &= !(u32::from(pairs >> at & 1 == 0) << lane);
            }
            self.len = 0;
        }
    }
}

/// The lanes of a mask that pass `test`, which is not asked about other lanes.
#[inline(always)]
pub(crate) fn retain(mask: u16, mut test: impl FnMut(usize) -> bool) -> u16 {
    let (mut kept, mut left) = (mask, mask);
    while left != 0 {
        let lane = left.trailing_zeros();
        if !test(lane as usize) {
            kept &= !(1 << lane);
        }
        left &= left - 1;
    }
    kept
}
