//! What the kernel finds, and who takes it.

use jostle_core::scratch::resize_with_headroom;
use jostle_core::sixteen::Ids;

use crate::lanes::{LANES, Lanes, sixteen_mut};

/// Up to sixteen pairs found by one vector test.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hit {
    /// Place of a circle.
    circle: u32,
    leaf: u32,
    /// Bits 0 to 15: lanes of the leaf that overlap. Bits from 16 on: how far the leaf was turned against itself, or 0
    /// when it was tested against the circle.
    lanes: u32,
}

impl Hit {
    /// The circle at a place against those of a leaf.
    #[inline(always)]
    pub(crate) fn between(circle: u32, leaf: u32, mask: u16) -> Self {
        Self { circle, leaf, lanes: u32::from(mask) }
    }

    /// The circles of a leaf, lane i against lane `(i + turn) % 16`.
    #[inline(always)]
    pub(crate) fn within(leaf: usize, turn: usize, mask: u16) -> Self {
        Self { circle: 0, leaf: leaf as u32, lanes: (turn as u32) << 16 | u32::from(mask) }
    }

    #[inline(always)]
    fn mask(self) -> u16 {
        self.lanes as u16
    }

    #[inline(always)]
    fn turn(self) -> usize {
        (self.lanes >> 16) as usize
    }

    /// Number of pairs.
    #[inline(always)]
    pub(crate) fn pairs(self) -> u32 {
        self.mask().count_ones()
    }
}

/// Gives the pairs of hits to a sink, in order: lanes ascending within each.
#[inline(always)]
pub(crate) fn emit<L: Lanes>(hits: &[Hit], ids: &[Ids], sink: &mut impl Sink) {
    let mut room = sink.room();
    let mut len = 0;
    for hit in hits {
        if len + LANES > room.len() {
            sink.took(len);
            (room, len) = (sink.room(), 0);
        }
        let others = &ids[hit.leaf as usize].0;
        if hit.turn() == 0 {
            let circle = ids[hit.circle as usize / LANES].0[hit.circle as usize % LANES];
            L::pairs(circle, others, hit.mask(), sixteen_mut(room, len));
        } else {
            L::pairs_within(others, hit.turn(), hit.mask(), sixteen_mut(room, len));
        }
        len += hit.pairs() as usize;
    }
    sink.took(len);
}

/// Takes the pairs of a block in their order.
pub(crate) trait Sink {
    /// Whether pairs are wanted at all; they are counted in any case.
    const WANTS_PAIRS: bool = true;

    /// Room for the next pairs: [`LANES`] of them at least.
    fn room(&mut self) -> &mut [[u32; 2]];

    /// Takes the first `len` pairs of the room.
    fn took(&mut self, len: usize);
}

/// Appends the pairs to a list, of which the first `len` are pairs and the others room: what was written once need
/// not be cleared.
#[derive(Debug, Default)]
pub(crate) struct PairList {
    list: Vec<[u32; 2]>,
    len: usize,
}

impl PairList {
    pub(crate) fn with_capacity(pairs: usize) -> Self {
        Self { list: vec![[0; 2]; pairs], len: 0 }
    }

    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        &self.list[..self.len]
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<[u32; 2]>()
    }

    /// Pairs and room.
    pub(crate) fn room_of_all(&mut self) -> &mut [[u32; 2]] {
        &mut self.list
    }

    /// Pairs and room, in number.
    pub(crate) fn capacity(&self) -> usize {
        self.list.len()
    }

    /// Makes it a list of so many pairs; those in its room stay as they are.
    pub(crate) fn set_len(&mut self, len: usize) {
        if self.list.len() < len {
            resize_with_headroom(&mut self.list, len, [0; 2]);
            self.list.resize(self.list.capacity(), [0; 2]);
        }
        self.len = len;
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.list.len() * 2).max(256);
        self.list.resize(len, [0; 2]);
    }
}

impl Sink for &mut PairList {
    #[inline(always)]
    fn room(&mut self) -> &mut [[u32; 2]] {
        if self.len + LANES > self.list.len() {
            self.grow();
        }
        &mut self.list[self.len..]
    }

    #[inline(always)]
    fn took(&mut self, len: usize) {
        self.len += len;
    }
}

/// Wants no more than the number of pairs.
pub(crate) struct Count;

impl Sink for Count {
    const WANTS_PAIRS: bool = false;

    #[inline(always)]
    fn room(&mut self) -> &mut [[u32; 2]] {
        &mut []
    }

    #[inline(always)]
    fn took(&mut self, _len: usize) {}
}

/// Pairs handed to a fold at a time, at most.
const BATCH: usize = 256;

/// Folds the pairs into an accumulator.
pub(crate) struct Fold<'a, A, F> {
    pub(crate) all: A,
    pub(crate) op: &'a F,
    batch: [[u32; 2]; BATCH],
}

impl<'a, A, F> Fold<'a, A, F> {
    pub(crate) fn new(all: A, op: &'a F) -> Self {
        Self { all, op, batch: [[0; 2]; BATCH] }
    }
}

impl<A, F: Fn(&mut A, u32, u32)> Sink for Fold<'_, A, F> {
    #[inline(always)]
    fn room(&mut self) -> &mut [[u32; 2]] {
        &mut self.batch
    }

    #[inline(always)]
    fn took(&mut self, len: usize) {
        for &[a, b] in &self.batch[..len] {
            (self.op)(&mut self.all, a, b);
        }
    }
}
