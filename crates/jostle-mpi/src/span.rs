//! Boxes in `f64`.

/// An axis-aligned box; empty where `lo > hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span<const D: usize> {
    pub(crate) lo: [f64; D],
    pub(crate) hi: [f64; D],
}

impl<const D: usize> Span<D> {
    pub(crate) const EMPTY: Self = Self { lo: [f64::INFINITY; D], hi: [f64::NEG_INFINITY; D] };

    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
        }
    }

    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (0..D).all(|axis| (self.lo[axis] <= other.hi[axis]) & (other.lo[axis] <= self.hi[axis]))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lo[0] > self.hi[0]
    }

    pub(crate) fn widest(&self) -> f64 {
        (0..D).map(|axis| self.hi[axis] - self.lo[axis]).fold(0.0, f64::max)
    }

    /// Returns the box moved by `shift` and enlarged by `pad` on each side.
    pub(crate) fn moved(&self, shift: [f64; D], pad: [f64; D]) -> Self {
        let mut moved = *self;
        for axis in 0..D {
            moved.lo[axis] += shift[axis] - pad[axis];
            moved.hi[axis] += shift[axis] + pad[axis];
        }
        moved
    }

    /// Returns the numbers from which [`Transport::max`](crate::Transport::max) makes the box of all ranks.
    pub(crate) fn to_max(self) -> impl Iterator<Item = f64> {
        self.lo.into_iter().map(|x| -x).chain(self.hi)
    }

    pub(crate) fn from_max(values: &[f64]) -> Self {
        Self { lo: core::array::from_fn(|axis| -values[axis]), hi: core::array::from_fn(|axis| values[D + axis]) }
    }
}
