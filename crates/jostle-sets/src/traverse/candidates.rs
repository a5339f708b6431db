//! Leaves that may overlap those of a group, side by side.

use jostle_core::pages::Paged;
use jostle_core::sixteen::{Boxes16, Floats, floats, floats_mut};

use crate::simd::{LANES, Lanes, sixteen_mut};

/// Candidate leaves looked at together; more are taken in turns.
pub const CANDIDATES: usize = 256;

/// Leaves that may overlap those of a group, with their boxes; the leaves of the group themselves come first.
#[derive(Debug)]
pub struct Candidates<const D: usize> {
    pub leaf: Paged<u32>,
    /// Columns of `runs` runs each: the lower borders of the boxes on each axis, the upper borders, and areas or
    /// volumes.
    columns: Paged<Floats>,
    runs: usize,
    pub len: usize,
}

/// The list while candidates are gathered. It is apart from the list itself, so that the compiler may keep it in
/// registers.
#[derive(Debug)]
pub struct AddingCandidates<'c, const D: usize> {
    leaf: &'c mut [u32],
    lo: [&'c mut [f32]; D],
    hi: [&'c mut [f32]; D],
    pub len: usize,
    total: &'c mut usize,
}

/// The boxes of candidates. Lanes beyond the last candidate are NaN, as [`Candidates::fill_up`] makes them.
#[derive(Debug, Clone, Copy)]
pub struct CandidateBoxes<'a, const D: usize> {
    lo: [&'a [Floats]; D],
    hi: [&'a [Floats]; D],
    /// Area or volume of each box, as [`Candidates::measure`] has found it.
    pub sizes: &'a [Floats],
}

impl<const D: usize> Default for Candidates<D> {
    fn default() -> Self {
        Self::with_runs(CANDIDATES / LANES + 1)
    }
}

impl<const D: usize> Candidates<D> {
    fn with_runs(runs: usize) -> Self {
        Self { leaf: Paged::zeros(runs * LANES), columns: Paged::zeros((2 * D + 1) * runs), runs, len: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.leaf.bytes() + self.columns.bytes()
    }

    /// Makes sure that `len` candidates fit, and a run after them.
    #[inline(always)]
    pub fn make_room_for(&mut self, len: usize) {
        while len + LANES > self.leaf.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self { len: self.len, ..Self::with_runs(2 * self.runs) };
        larger.leaf[..self.leaf.len()].copy_from_slice(&self.leaf);
        for (to, from) in larger.columns.chunks_exact_mut(2 * self.runs).zip(self.columns.chunks_exact(self.runs)) {
            to[..self.runs].copy_from_slice(from);
        }
        *self = larger;
    }

    /// The boxes, up to the end of the last run.
    #[inline(always)]
    pub fn boxes(&self) -> CandidateBoxes<'_, D> {
        let (columns, used) = (&*self.columns, self.len.div_ceil(LANES));
        let column = |number: usize| &columns[number * self.runs..][..used];
        let mut boxes = CandidateBoxes { lo: [&[][..]; D], hi: [&[][..]; D], sizes: column(2 * D) };
        for axis in 0..D {
            (boxes.lo[axis], boxes.hi[axis]) = (column(axis), column(D + axis));
        }
        boxes
    }

    #[inline(always)]
    fn column(&mut self, number: usize) -> &mut [Floats] {
        &mut self.columns[number * self.runs..][..self.runs]
    }

    /// Begins to add candidates.
    #[inline(always)]
    pub fn add(&mut self) -> AddingCandidates<'_, D> {
        let mut columns = self.columns.chunks_exact_mut(self.runs).map(floats_mut);
        let mut axes = || core::array::from_fn(|_| columns.next().expect("two columns an axis"));
        let (lo, hi) = (axes(), axes());
        AddingCandidates { leaf: &mut self.leaf, lo, hi, len: self.len, total: &mut self.len }
    }

    /// Makes the lanes beyond the last candidate overlap nothing.
    #[inline(always)]
    pub fn fill_up(&mut self) {
        let rest = self.len..self.len.next_multiple_of(LANES);
        floats_mut(self.column(0))[rest].fill(f32::NAN);
    }

    /// Moves the boxes from number `first` on: lower borders by `to_lo`, upper borders by `to_hi`.
    #[inline(always)]
    pub fn move_from(&mut self, first: usize, to_lo: [f32; D], to_hi: [f32; D]) {
        let moved = first..self.len;
        for axis in 0..D {
            floats_mut(self.column(axis))[moved.clone()].iter_mut().for_each(|lo| *lo += to_lo[axis]);
            floats_mut(self.column(D + axis))[moved.clone()].iter_mut().for_each(|hi| *hi += to_hi[axis]);
        }
    }

    /// Moves the boxes of the first sixteen candidates by `shift`, and lets them grow by `margin` to each side.
    #[inline(always)]
    pub fn move_first(&mut self, shift: [f32; D], margin: [f32; D]) {
        for axis in 0..D {
            for lane in 0..LANES {
                self.column(axis)[0].0[lane] += shift[axis] - margin[axis];
                self.column(D + axis)[0].0[lane] += shift[axis] + margin[axis];
            }
        }
    }

    /// Finds the sizes of all boxes. The caller then calls [`Candidates::fill_up`].
    #[inline(always)]
    pub fn measure<L: Lanes>(&mut self) {
        for run in 0..self.len.div_ceil(LANES) {
            let mut size = L::splat(1.0);
            for axis in 0..D {
                let (lo, hi) = (&self.columns[axis * self.runs + run], &self.columns[(D + axis) * self.runs + run]);
                size = size.mul(L::load(&hi.0).sub(L::load(&lo.0)));
            }
            size.store(&mut self.column(2 * D)[run].0);
        }
    }
}

impl<const D: usize> AddingCandidates<'_, D> {
    /// Whether another sixteen may not fit.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len + LANES > self.leaf.len()
    }

    /// Appends the leaves of a node that are set in `mask`.
    #[inline(always)]
    pub fn append<L: Lanes>(&mut self, (node, boxes): (usize, &Boxes16<D>), mask: u16) {
        for axis in 0..D {
            L::compress(&boxes.lo[axis].0, mask, sixteen_mut(self.lo[axis], self.len));
            L::compress(&boxes.hi[axis].0, mask, sixteen_mut(self.hi[axis], self.len));
        }
        self.len += L::expand(mask, (node * LANES) as u32, sixteen_mut(self.leaf, self.len));
    }

    /// Puts the appended candidates into the list.
    #[inline(always)]
    pub fn finish(self) {
        *self.total = self.len;
    }
}

impl<const D: usize> CandidateBoxes<'_, D> {
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

    #[inline(always)]
    pub fn aabb(&self, i: usize) -> ([f32; D], [f32; D]) {
        let (mut lo, mut hi) = ([0.0; D], [0.0; D]);
        for axis in 0..D {
            (lo[axis], hi[axis]) = (floats(self.lo[axis])[i], floats(self.hi[axis])[i]);
        }
        (lo, hi)
    }
}
