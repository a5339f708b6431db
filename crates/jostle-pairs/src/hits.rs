//! What the kernel finds, and who takes it.

use crate::lanes::{LANES, Lanes, sixteen, sixteen_mut};

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

/// Pairs handed to a sink at a time, at most.
const BATCH: usize = 512;

/// Gives the pairs of hits to a sink, in order: lanes ascending within each.
#[inline(always)]
pub(crate) fn emit<L: Lanes>(hits: &[Hit], ids: &[u32], sink: &mut impl Sink) {
    let mut batch = [[0; 2]; BATCH + LANES];
    let mut len = 0;
    for hit in hits {
        let (a, b) = (sixteen(ids, hit.a as usize), sixteen(ids, hit.b as usize));
        L::pairs((a, hit.step), (b, hit.turn), hit.mask, sixteen_mut(&mut batch, len));
        len += hit.mask.count_ones() as usize;
        if len >= BATCH {
            sink.take(&batch[..len]);
            len = 0;
        }
    }
    sink.take(&batch[..len]);
}

/// Takes the pairs of a block in their order.
pub(crate) trait Sink {
    /// Whether pairs are wanted at all; they are counted in any case.
    const WANTS_PAIRS: bool = true;

    /// Takes some pairs.
    fn take(&mut self, pairs: &[[u32; 2]]);
}

/// Appends the pairs to a list.
pub(crate) struct Collect<'a>(pub(crate) &'a mut Vec<[u32; 2]>);

impl Sink for Collect<'_> {
    #[inline(always)]
    fn take(&mut self, pairs: &[[u32; 2]]) {
        self.0.extend_from_slice(pairs);
    }
}

/// Wants no more than the number of pairs.
pub(crate) struct Count;

impl Sink for Count {
    const WANTS_PAIRS: bool = false;

    #[inline(always)]
    fn take(&mut self, _pairs: &[[u32; 2]]) {}
}

/// Folds the pairs into an accumulator.
pub(crate) struct Fold<'a, A, F> {
    pub(crate) all: A,
    pub(crate) op: &'a F,
}

impl<A, F: Fn(&mut A, u32, u32)> Sink for Fold<'_, A, F> {
    #[inline(always)]
    fn take(&mut self, pairs: &[[u32; 2]]) {
        for &[a, b] in pairs {
            (self.op)(&mut self.all, a, b);
        }
    }
}
