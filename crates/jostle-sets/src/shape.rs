//! The shapes that are tested, sixteen at a time: the exact predicates, and what their rounding costs. A shape is a
//! file here, and one in the `tree` of `jostle-core`.

pub mod boxes16;
pub mod circles16;

use jostle_core::sixteen::Boxes16;
use jostle_core::{Aabb, LinearTree};

use crate::simd::{LANES, Lanes};

pub use boxes16::Boxed;
pub use circles16::Round;

/// What a join asks of the bodies of its trees.
pub trait Shape {
    /// The bodies of a leaf.
    type Leaf<const D: usize>;
    /// The bodies of a leaf, or one of them sixteen times.
    type Sixteen<L: Lanes, const D: usize>: Sixteen<L, D, Leaf = Self::Leaf<D>>;

    /// Whether a hit of proxies can be certain, and need not be decided.
    const KNOWS_SURE: bool;

    /// The leaves of a tree of this shape.
    fn leaves<const D: usize>(tree: &LinearTree<D>) -> &[Self::Leaf<D>];

    /// The box of a body by its place.
    fn aabb<const D: usize>(leaves: &[Self::Leaf<D>], place: usize) -> Aabb<D>;
}

/// Sixteen bodies.
pub trait Sixteen<L: Lanes, const D: usize>: Copy {
    /// See [`Shape::Leaf`].
    type Leaf;

    /// The bodies of a leaf.
    fn of(leaves: &[Self::Leaf], leaf: usize) -> Self;
    /// One body, by its place, in all lanes.
    fn all(leaves: &[Self::Leaf], place: usize) -> Self;
    /// Every body one lane down.
    fn rotate(self) -> Self;
    /// The predicate.
    fn hits(self, other: Self) -> u16;
    /// As [`Sixteen::hits`], and whether it is certain that all hits remain hits in `f64`: they survive subtracting the
    /// slack from the sum of radii.
    fn hits_and_sure(self, other: Self, slack: f32) -> (u16, bool);
    /// The predicate, with the other bodies seen at an offset.
    fn hits_at(self, other: Self, offset: [f32; D]) -> u16;
    /// Which of the sixteen may touch a body of a leaf with this box.
    fn touching(self, lo: [f32; D], hi: [f32; D]) -> u16;
}

/// Which of the sixteen boxes of a node overlap a box.
#[inline(always)]
pub fn boxes16_overlapping<L: Lanes, const D: usize>(node: &Boxes16<D>, lo: [f32; D], hi: [f32; D]) -> u16 {
    let mut mask = L::load(&node.lo[0].0).le_mask(L::splat(hi[0]));
    for axis in 0..D {
        if axis > 0 {
            mask = L::both(mask, L::load(&node.lo[axis].0).le_mask(L::splat(hi[axis])));
        }
        mask = L::both(mask, L::splat(lo[axis]).le_mask(L::load(&node.hi[axis].0)));
    }
    L::bits(mask)
}

/// A mask of the first `n` lanes, where `n` is at least 1.
#[inline(always)]
pub fn first_lanes(n: usize) -> u16 {
    (u32::from(u16::MAX) >> (LANES - n)) as u16
}
