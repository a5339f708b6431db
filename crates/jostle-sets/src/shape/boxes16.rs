//! Sixteen boxes against sixteen others, or against one.

use jostle_core::sixteen::Boxes16 as Leaf;
use jostle_core::tree::LEAF;
use jostle_core::{Aabb, LinearTree};

use crate::shape::{Shape, Sixteen};
use crate::simd::Lanes;

/// Axis-aligned boxes.
#[derive(Debug)]
pub enum Boxed {}

impl Shape for Boxed {
    type Leaf<const D: usize> = Leaf<D>;
    type Sixteen<L: Lanes, const D: usize> = Boxes16<L, D>;

    const KNOWS_SURE: bool = false;

    #[inline(always)]
    fn leaves<const D: usize>(tree: &LinearTree<D>) -> &[Leaf<D>] {
        tree.boxes()
    }

    /// The box of a body, made finite: see `jostle_core::tree`.
    #[inline(always)]
    fn aabb<const D: usize>(leaves: &[Leaf<D>], place: usize) -> Aabb<D> {
        let (leaf, lane) = (&leaves[place / LEAF], place % LEAF);
        let mut aabb = Aabb { lo: [0.0; D], hi: [0.0; D] };
        for axis in 0..D {
            aabb.lo[axis] = leaf.lo[axis].0[lane].max(f32::MIN);
            aabb.hi[axis] = leaf.hi[axis].0[lane].min(f32::MAX);
        }
        aabb
    }
}

/// Lower and upper corners of sixteen boxes. Lanes without a box are NaN, which overlaps nothing.
#[derive(Debug, Clone, Copy)]
pub struct Boxes16<L, const D: usize> {
    lo: [L; D],
    hi: [L; D],
}

impl<L: Lanes, const D: usize> Boxes16<L, D> {
    /// On each axis `lo_i <= hi_j` and `lo_j <= hi_i`.
    #[inline(always)]
    fn overlapping(self, other: Self) -> u16 {
        let mut mask = self.lo[0].le_mask(other.hi[0]);
        for axis in 0..D {
            if axis > 0 {
                mask = L::both(mask, self.lo[axis].le_mask(other.hi[axis]));
            }
            mask = L::both(mask, other.lo[axis].le_mask(self.hi[axis]));
        }
        L::bits(mask)
    }

    #[inline(always)]
    fn moved(mut self, offset: [f32; D]) -> Self {
        for axis in 0..D {
            let offset = L::splat(offset[axis]);
            (self.lo[axis], self.hi[axis]) = (self.lo[axis].add(offset), self.hi[axis].add(offset));
        }
        self
    }
}

impl<L: Lanes, const D: usize> Sixteen<L, D> for Boxes16<L, D> {
    type Leaf = Leaf<D>;

    #[inline(always)]
    fn of(leaves: &[Leaf<D>], leaf: usize) -> Self {
        let leaf = &leaves[leaf];
        let mut boxes = Self { lo: [L::splat(0.0); D], hi: [L::splat(0.0); D] };
        for axis in 0..D {
            (boxes.lo[axis], boxes.hi[axis]) = (L::load(&leaf.lo[axis].0), L::load(&leaf.hi[axis].0));
        }
        boxes
    }

    #[inline(always)]
    fn all(leaves: &[Leaf<D>], place: usize) -> Self {
        let (leaf, lane) = (&leaves[place / LEAF], place % LEAF);
        let mut boxes = Self { lo: [L::splat(0.0); D], hi: [L::splat(0.0); D] };
        for axis in 0..D {
            (boxes.lo[axis], boxes.hi[axis]) = (L::splat(leaf.lo[axis].0[lane]), L::splat(leaf.hi[axis].0[lane]));
        }
        boxes
    }

    #[inline(always)]
    fn rotate(mut self) -> Self {
        for axis in 0..D {
            (self.lo[axis], self.hi[axis]) = (self.lo[axis].rotate(), self.hi[axis].rotate());
        }
        self
    }

    /// The predicate: on each axis `lo_i <= hi_j` and `lo_j <= hi_i`.
    #[inline(always)]
    fn hits(self, other: Self) -> u16 {
        self.overlapping(other)
    }

    /// No hit is sure: boxes that stand in for other bodies are all decided.
    #[inline(always)]
    fn hits_and_sure(self, other: Self, _slack: f32) -> (u16, bool) {
        (self.overlapping(other), false)
    }

    /// The predicate with the other boxes seen at an offset: `lo_j + offset` and `hi_j + offset` take the place of
    /// their corners.
    #[inline(always)]
    fn hits_at(self, other: Self, offset: [f32; D]) -> u16 {
        self.overlapping(other.moved(offset))
    }

    #[inline(always)]
    fn touching(self, lo: [f32; D], hi: [f32; D]) -> u16 {
        let mut other = self;
        for axis in 0..D {
            (other.lo[axis], other.hi[axis]) = (L::splat(lo[axis]), L::splat(hi[axis]));
        }
        self.overlapping(other)
    }
}
