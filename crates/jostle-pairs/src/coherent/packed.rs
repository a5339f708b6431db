//! Bodies in one line of memory each.

use jostle_core::axes::Both;
use jostle_core::prefetch::prefetch;
use jostle_sets::simd::{LANES, Lanes};

use crate::coherent::bands::ROUNDING_OFF;
use crate::coherent::names::Names;

/// More bodies than this, 2 MB of them, are too many for a cache near the core.
const NEAR: usize = 1 << 16;

/// Whether so many bodies, which pairs name in no particular order, are to be prefetched.
#[inline(always)]
pub(super) fn are_far(bodies: usize) -> bool {
    bodies > NEAR
}

/// The centre and, last, the radius of a body in `f32`. They lie in one line of memory, since candidates name bodies in
/// no particular order.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
pub(super) struct Packed(pub(super) [f32; 4]);

impl Packed {
    /// A body that touches none.
    pub(super) const NOWHERE: Self = Self([f32::NAN; 4]);

    #[inline(always)]
    pub(super) fn new<const D: usize>(center: [f32; D], radius: f32) -> Self {
        let mut packed = [radius; 4];
        packed[..D].copy_from_slice(&center);
        Self(packed)
    }

    #[inline(always)]
    pub(super) fn radius(&self) -> f32 {
        self.0[3]
    }

    /// Returns the body moved by a vector.
    #[inline(always)]
    pub(super) fn moved<const D: usize>(mut self, by: [f32; D]) -> Self {
        for axis in 0..D {
            self.0[axis] += by[axis];
        }
        self
    }

    /// Returns the square of the distance of two bodies, as [`Sixteen::hits_at`](jostle_sets::shape::Sixteen::hits_at)
    /// computes it, and the sum of their radii. The predicate is whether the former is no greater than the square of
    /// the latter.
    #[inline(always)]
    pub(super) fn measure<const D: usize>(&self, other: &Self) -> (f32, f32) {
        let mut distance2 = 0.0;
        for axis in 0..D {
            let d = other.0[axis] - self.0[axis];
            distance2 = if axis == 0 { d * d } else { distance2 + d * d };
        }
        (distance2, self.radius() + other.radius())
    }
}

/// A body as it is, and as it is kept, in one line of memory. In place of the kept radius stands its *share*: its
/// margin over the widest. Shares are multiples of [`SHARES`], so that sums of them are exact.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Moving(pub(super) [[f32; 4]; 2]);

pub(super) const SHARES: f32 = 1.0 / 1024.0;

/// Returns a share, which is up to 1, from its inverse.
#[inline(always)]
pub(super) fn share_of(weight: f32) -> f32 {
    ((1.0 / (weight * SHARES) + ROUNDING_OFF) - ROUNDING_OFF) * SHARES
}

/// Sums of two shares are below half of this. Multiples of it are added to shares to tell images: see [`Moving::mark`].
pub(super) const FULL: f32 = 4.0;

/// Adding this rounds a number off to a multiple of [`FULL`].
const FULL_OFF: f32 = 1.5 * FULL * ROUNDING_OFF;

impl Moving {
    /// Returns the body moved by a vector.
    pub(super) fn moved<const D: usize>(self, by: [f32; D]) -> Self {
        Self(self.0.both(|body| Packed(body).moved(by).0))
    }

    /// Adds a multiple of [`FULL`] to the share.
    #[inline(always)]
    pub(super) fn mark(&mut self, by: f32) {
        self.0[1][3] += by;
    }

    /// Returns sums of shares without what marks them.
    #[inline(always)]
    pub(super) fn shares_of<L: Lanes>(sums: L) -> L {
        let off = L::splat(FULL_OFF);
        sums.sub(sums.sub(L::splat(0.25 * FULL)).add(off).sub(off))
    }
}

/// Room for pairs that name only the first `ends` bodies of two sets.
#[derive(Debug, Clone)]
pub(super) struct Named<const N: usize> {
    /// Where the bodies begin, in halves of a body: processors can address these without a shift.
    halves: [[u32; 2]; N],
    ends: [u32; 2],
}

/// Bytes of half a body.
const HALF: usize = size_of::<[f32; 2]>();

/// The most bodies of a set that pairs in a [`Named`] can name.
pub(super) const MOST: usize = 1 << 31;

impl<const N: usize> Default for Named<N> {
    fn default() -> Self {
        Self { halves: [[0; 2]; N], ends: [1; 2] }
    }
}

impl<const N: usize> Named<N> {
    /// Begins anew, for pairs of bodies of two sets of such lengths. Pairs that are there stay, to fill up sixteens;
    /// where a set is shorter than before, all become pairs of the first bodies.
    pub(super) fn begin(&mut self, lens: [usize; 2]) {
        let ends = lens.both(|len| len.min(MOST) as u32);
        if ends[0] < self.ends[0] || ends[1] < self.ends[1] {
            self.halves.fill([0; 2]);
        }
        self.ends = ends;
    }

    /// Stores pairs, renamed to the ids of `names`, in this order of their numbers.
    ///
    /// # Panics
    /// If a pair names a body beyond the lengths that it was begun for, or a number has no pair.
    pub(super) fn put(&mut self, pairs: &[[u32; 2]], order: &[u16], names: Names<'_>) {
        for (slot, &number) in self.halves.iter_mut().zip(order) {
            *slot = names.ids(pairs[usize::from(number)]).both(|body| 2 * body);
        }
        let mut greatest = [0; 2];
        for &[a, b] in self.halves.iter().take(order.len()) {
            greatest = [a.max(greatest[0]), b.max(greatest[1])];
        }
        if greatest[0] / 2 >= self.ends[0] || greatest[1] / 2 >= self.ends[1] {
            self.halves.fill([0; 2]);
            panic!("a pair names another body");
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> [u32; 2] {
        self.halves[at].both(|half| half / 2)
    }

    /// Returns the first `len` pairs as they are stored.
    pub(super) fn names(&self, len: usize) -> &[[u32; 2]] {
        &self.halves[..len]
    }

    /// Returns how stored pairs name a body.
    pub(super) fn name_of(body: u32) -> u32 {
        2 * body
    }

    /// Prefetches a pair.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: usize) {
        prefetch(&self.halves[at]);
    }

    /// Returns the first `len` pairs, of these bodies, in sixteens; other pairs fill up the last sixteen.
    ///
    /// # Panics
    /// If there are fewer bodies than it was begun for.
    #[inline(always)]
    pub(super) fn sixteens<'a>(&'a self, bodies: [&'a [Packed]; 2], len: usize) -> Sixteens<'a, 1> {
        assert_are_there(bodies, self.ends);
        Sixteens { bodies, pairs: &self.halves.as_chunks().0[..len.div_ceil(LANES)] }
    }
}

#[inline(always)]
fn assert_are_there<B>([of_a, of_b]: [&[B]; 2], ends: [u32; 2]) {
    assert!(ends[0] as usize <= of_a.len() && ends[1] as usize <= of_b.len(), "a pair names no body");
}

/// Pairs of bodies of two sets, sixteen by sixteen. Each pair names bodies that are there; a name counts `UNIT` halves
/// of a [`Packed`]. To check each pair when it is tested would take a tenth of the time of tests.
#[derive(Clone, Copy)]
pub(super) struct Sixteens<'a, const UNIT: usize, B = Packed> {
    bodies: [&'a [B]; 2],
    pairs: &'a [[[u32; 2]; LANES]],
}

impl Sixteens<'_, 1> {
    /// Returns the pair of a number.
    pub(super) fn pair(self, at: usize) -> [u32; 2] {
        self.pairs.as_flattened()[at].both(|half| half / 2)
    }
}

impl<'a> Sixteens<'a, 4, Moving> {
    /// Takes pairs that name moving bodies.
    ///
    /// # Panics
    /// If a pair names no body.
    #[inline(always)]
    pub(super) fn of_moving(bodies: [&'a [Moving]; 2], pairs: &'a [[u32; 2]]) -> Self {
        Self::checked(bodies, pairs)
    }

    /// As [`Sixteens::apart`], of bodies as they are and as they are kept.
    #[inline(always)]
    pub(super) fn apart_both<L: Lanes>(self, sixteen: usize) -> [[L; 4]; 2] {
        let pairs = &self.pairs[sixteen];
        let mut rows = [[&[[0.0; 4]; 2]; LANES]; 2];
        for (lane, &pair) in pairs.iter().enumerate() {
            let [a, b] = self.bodies_of(pair);
            (rows[0][lane], rows[1][lane]) = (&a.0, &b.0);
        }
        L::apart_both(rows[0], rows[1])
    }
}

impl<'a, const UNIT: usize, B> Sixteens<'a, UNIT, B> {
    /// Takes pairs, which are checked at once, by the greatest names.
    #[inline(always)]
    fn checked(bodies: [&'a [B]; 2], pairs: &'a [[u32; 2]]) -> Self {
        const { assert!(UNIT > 1, "numbers of whole bodies") };
        let pairs = pairs.as_chunks().0;
        if !pairs.is_empty() {
            let (mut greatest_a, mut greatest_b) = (0, 0);
            for &[a, b] in pairs.as_flattened() {
                greatest_a = a.max(greatest_a);
                greatest_b = b.max(greatest_b);
            }
            assert_are_there(bodies, [greatest_a + 1, greatest_b + 1]);
        }
        Self { bodies, pairs }
    }

    #[inline(always)]
    #[allow(unsafe_code, reason = "all pairs have been checked")]
    fn bodies_of(self, [a, b]: [u32; 2]) -> [&'a B; 2] {
        const { assert!(size_of::<B>() == UNIT * HALF || (UNIT == 1 && size_of::<B>() == 2 * HALF)) };
        let [of_a, of_b] = self.bodies.map(|bodies| bodies.as_ptr().cast::<[f32; 2]>());
        // SAFETY: whoever made this has checked that there are more bodies than the greatest names. Where names are in
        // halves, `Named` has stored only those of whole bodies.
        unsafe { [&*of_a.add(a as usize * UNIT).cast::<B>(), &*of_b.add(b as usize * UNIT).cast::<B>()] }
    }
}

impl<'a, const UNIT: usize> Sixteens<'a, UNIT> {
    /// Prefetches sixteen pairs.
    #[inline(always)]
    pub(super) fn prefetch_pairs(self, sixteen: usize) {
        prefetch(&self.pairs[sixteen]);
    }

    /// Prefetches the bodies of sixteen pairs.
    #[inline(always)]
    pub(super) fn prefetch(self, sixteen: usize) {
        for &pair in &self.pairs[sixteen] {
            self.bodies_of(pair).into_iter().for_each(prefetch);
        }
    }

    /// As [`Packed::measure`], of sixteen pairs side by side, in the same bits.
    #[inline(always)]
    pub(super) fn measure<L: Lanes, const D: usize>(self, sixteen: usize) -> [L; 2] {
        let columns = self.apart::<L>(sixteen);
        [dot::<L, D>(&columns, &columns), columns[3]]
    }

    /// Returns the vectors from the second body to the first, axis by axis, and last the sums of the radii, of sixteen
    /// pairs side by side.
    #[inline(always)]
    pub(super) fn apart<L: Lanes>(self, sixteen: usize) -> [L; 4] {
        let pairs = &self.pairs[sixteen];
        let mut rows = [[&[0.0; 4]; LANES]; 2];
        // No `map` of arrays: it is not always inlined, and would then be compiled for what the target always has.
        for (lane, &pair) in pairs.iter().enumerate() {
            let [a, b] = self.bodies_of(pair);
            (rows[0][lane], rows[1][lane]) = (&a.0, &b.0);
        }
        L::apart(rows[0], rows[1])
    }
}

/// The sum of products, axis by axis.
#[inline(always)]
pub(super) fn dot<L: Lanes, const D: usize>(a: &[L; 4], b: &[L; 4]) -> L {
    let mut sum = a[0].mul(b[0]);
    for axis in 1..D {
        sum = sum.add(a[axis].mul(b[axis]));
    }
    sum
}
