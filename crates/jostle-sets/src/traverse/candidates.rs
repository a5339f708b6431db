//! Leaves that may overlap those of a group, side by side.

use jostle_core::sixteen::{Floats, floats, floats_mut};
use jostle_core::tree::Level;

use crate::simd::{LANES, Lanes, sixteen_mut};

/// Candidate leaves looked at together; more are taken in turns.
pub const CANDIDATES: usize = 256;

/// Leaves that may overlap those of a group, with their boxes; the leaves of the group themselves come first.
#[derive(Debug)]
pub struct Candidates<const D: usize> {
    pub leaf: Vec<u32>,
    lo: [Vec<Floats>; D],
    hi: [Vec<Floats>; D],
    /// Area or volume of each box.
    pub size: Vec<Floats>,
    pub len: usize,
}

impl<const D: usize> Default for Candidates<D> {
    fn default() -> Self {
        let column = || vec![Floats::splat(0.0); CANDIDATES / LANES + 1];
        let (lo, hi) = (core::array::from_fn(|_| column()), core::array::from_fn(|_| column()));
        Self { leaf: vec![0; CANDIDATES + LANES], lo, hi, size: column(), len: 0 }
    }
}

impl<const D: usize> Candidates<D> {
    pub fn bytes(&self) -> usize {
        self.leaf.len() * (2 * D + 2) * size_of::<u32>()
    }

    /// Makes room for another run of leaves where there are to be more than [`CANDIDATES`].
    #[inline(always)]
    pub fn make_room(&mut self) {
        self.make_room_for(self.len + LANES);
    }

    /// Makes sure that so many fit, and a run after them.
    #[inline(always)]
    pub fn make_room_for(&mut self, len: usize) {
        while len + LANES > self.leaf.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let runs = 2 * self.leaf.len() / LANES;
        self.leaf.resize(runs * LANES, 0);
        for column in self.lo.iter_mut().chain(&mut self.hi).chain([&mut self.size]) {
            column.resize(runs, Floats::splat(0.0));
        }
    }

    /// Which boxes of a run of sixteen overlap a box.
    #[inline(always)]
    pub fn overlapping<L: Lanes>(&self, run: usize, lo: [f32; D], hi: [f32; D]) -> u16 {
        let mut mask = L::load(&self.lo[0][run].0).le_mask(L::splat(hi[0]));
        for axis in 0..D {
            if axis > 0 {
                mask = L::both(mask, L::load(&self.lo[axis][run].0).le_mask(L::splat(hi[axis])));
            }
            mask = L::both(mask, L::splat(lo[axis]).le_mask(L::load(&self.hi[axis][run].0)));
        }
        L::bits(mask)
    }

    /// Appends the leaves of a node that are set in `mask`.
    #[inline(always)]
    pub fn append<L: Lanes>(&mut self, leaves: &Level<D>, node: usize, mask: u16) {
        let boxes = &leaves.nodes()[node];
        for axis in 0..D {
            let (lo, hi) = (floats_mut(&mut self.lo[axis]), floats_mut(&mut self.hi[axis]));
            L::compress(&boxes.lo[axis].0, mask, sixteen_mut(lo, self.len));
            L::compress(&boxes.hi[axis].0, mask, sixteen_mut(hi, self.len));
        }
        self.len += L::expand(mask, (node * LANES) as u32, sixteen_mut(&mut self.leaf, self.len));
    }

    /// Moves the borders of the boxes from number `first` on.
    #[inline(always)]
    pub fn move_from(&mut self, first: usize, to_lo: [f32; D], to_hi: [f32; D]) {
        for axis in 0..D {
            floats_mut(&mut self.lo[axis])[first..self.len].iter_mut().for_each(|lo| *lo += to_lo[axis]);
            floats_mut(&mut self.hi[axis])[first..self.len].iter_mut().for_each(|hi| *hi += to_hi[axis]);
        }
    }

    /// Moves the boxes of the first sixteen candidates by `shift`, and lets them grow by `margin` to each side.
    #[inline(always)]
    pub fn move_first(&mut self, shift: [f32; D], margin: [f32; D]) {
        for axis in 0..D {
            for lane in 0..LANES {
                self.lo[axis][0].0[lane] += shift[axis] - margin[axis];
                self.hi[axis][0].0[lane] += shift[axis] + margin[axis];
            }
        }
    }

    /// The sizes.
    #[inline(always)]
    pub fn measure<L: Lanes>(&mut self) {
        for run in 0..self.len.div_ceil(LANES) {
            let mut size = L::splat(1.0);
            for axis in 0..D {
                size = size.mul(L::load(&self.hi[axis][run].0).sub(L::load(&self.lo[axis][run].0)));
            }
            size.store(&mut self.size[run].0);
        }
    }

    #[inline(always)]
    pub fn aabb(&self, i: usize) -> ([f32; D], [f32; D]) {
        let (mut lo, mut hi) = ([0.0; D], [0.0; D]);
        for axis in 0..D {
            (lo[axis], hi[axis]) = (floats(&self.lo[axis])[i], floats(&self.hi[axis])[i]);
        }
        (lo, hi)
    }
}
