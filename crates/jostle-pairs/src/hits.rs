//! What the kernel finds, and who takes it.

use crate::lanes::LANES;

/// Up to sixteen pairs of ranks found by one vector test: for each set bit i of `mask`, rank `a + i * step` overlaps
/// rank `b + (i + turn) % 16`. One circle against a leaf has step 0 and turn 0; a leaf against itself turned by k lanes
/// has step 1 and turn k.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hit {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) mask: u16,
    pub(crate) step: u8,
    pub(crate) turn: u8,
}

impl Hit {
    /// Calls `visit(a, b)` with a < b, the ids of each pair, lanes ascending.
    #[inline(always)]
    pub(crate) fn for_each(self, ids: &[u32], mut visit: impl FnMut(u32, u32)) {
        let mut mask = self.mask;
        while mask != 0 {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            let a = ids[(self.a + lane * u32::from(self.step)) as usize];
            let b = ids[(self.b + ((lane + u32::from(self.turn)) & (LANES as u32 - 1))) as usize];
            visit(a.min(b), a.max(b));
        }
    }
}

/// Takes the pairs of a block in their order.
pub(crate) trait Sink {
    /// Takes the pairs of some hits, `pairs` in all; no hit has an empty mask.
    fn take(&mut self, hits: &[Hit], pairs: usize, ids: &[u32]);
}

/// Appends the pairs to a list.
pub(crate) struct Collect<'a>(pub(crate) &'a mut Vec<[u32; 2]>);

impl Sink for Collect<'_> {
    #[inline(always)]
    fn take(&mut self, hits: &[Hit], pairs: usize, ids: &[u32]) {
        let start = self.0.len();
        self.0.resize(start + pairs, [0; 2]);
        let mut places = self.0[start..].iter_mut();
        for hit in hits {
            hit.for_each(ids, |a, b| {
                if let Some(place) = places.next() {
                    *place = [a, b];
                }
            });
        }
    }
}

/// Wants no more than the number of pairs, which is counted in any case.
pub(crate) struct Count;

impl Sink for Count {
    #[inline(always)]
    fn take(&mut self, _hits: &[Hit], _pairs: usize, _ids: &[u32]) {}
}

/// Folds the pairs into an accumulator.
pub(crate) struct Fold<'a, A, F> {
    pub(crate) all: A,
    pub(crate) op: &'a F,
}

impl<A, F: Fn(&mut A, u32, u32)> Sink for Fold<'_, A, F> {
    #[inline(always)]
    fn take(&mut self, hits: &[Hit], _pairs: usize, ids: &[u32]) {
        for hit in hits {
            hit.for_each(ids, |a, b| (self.op)(&mut self.all, a, b));
        }
    }
}
