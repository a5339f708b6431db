//! Filters hits before they are handed on: drops hits that the caller does not want, and decides hits that the tree's
//! `f32` cannot decide.

use jostle_sets::input::layers::LayersOfBoth;
use jostle_sets::proxy::Decide;

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
