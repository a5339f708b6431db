//! Sixteen circles against sixteen others, or against a box.

use jostle_core::aabb::GROWTH;
use jostle_core::sixteen::Bodies16;
use jostle_core::tree::LEAF;
use jostle_core::{Aabb, LinearTree};

use crate::shape::{Shape, Sixteen};
use crate::simd::Lanes;

/// Circles and spheres.
#[derive(Debug)]
pub enum Round {}

impl Shape for Round {
    type Leaf<const D: usize> = Bodies16<D>;
    type Sixteen<L: Lanes, const D: usize> = Circles16<L, D>;

    const KNOWS_SURE: bool = true;

    #[inline(always)]
    fn leaves<const D: usize>(tree: &LinearTree<D>) -> &[Bodies16<D>] {
        tree.bodies()
    }

    #[inline(always)]
    fn aabb<const D: usize>(bodies: &[Bodies16<D>], place: usize) -> Aabb<D> {
        let (bodies, lane) = (&bodies[place / LEAF], place % LEAF);
        let reach = bodies.radii.0[lane] * GROWTH;
        let mut aabb = Aabb { lo: [0.0; D], hi: [0.0; D] };
        for axis in 0..D {
            let center = bodies.centers[axis].0[lane];
            aabb.lo[axis] = center - reach;
            aabb.hi[axis] = center + reach;
        }
        aabb
    }
}

/// Centres and radii of sixteen circles.
///
/// Loops here, not `array::from_fn`: its closure is not sure to be inlined, and if it is not, the instructions of `L`
/// are calls (measured: the join three times slower).
#[derive(Debug, Clone, Copy)]
pub struct Circles16<L, const D: usize> {
    pub center: [L; D],
    pub radius: L,
}

impl<L: Lanes, const D: usize> Circles16<L, D> {
    /// One circle of a leaf in all lanes.
    #[inline(always)]
    pub fn all_of(bodies: &Bodies16<D>, lane: usize) -> Self {
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::splat(bodies.radii.0[lane]) };
        for axis in 0..D {
            circles.center[axis] = L::splat(bodies.centers[axis].0[lane]);
        }
        circles
    }

    /// A circle of no leaf, in all lanes.
    #[inline(always)]
    pub fn splat(center: [f32; D], radius: f32) -> Self {
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::splat(radius) };
        for axis in 0..D {
            circles.center[axis] = L::splat(center[axis]);
        }
        circles
    }

    /// As [`Circles16::hits_and_sure`], with the other circles seen at an offset.
    #[inline(always)]
    pub fn hits_and_sure_at(self, other: Self, offset: [f32; D], slack: f32) -> (u16, bool) {
        Self::hits_and_sure_of(self.distance2_at(other, offset), self.radius.add(other.radius), slack)
    }

    /// Returns the hits, and whether the squared distances of all of them are less than `s * (s - 2 * slack)`. That
    /// bound is less than the square of `s - slack`, and at most 0 where `s - slack` is. Half of a slack is spare, more
    /// than is rounded here.
    #[inline(always)]
    fn hits_and_sure_of(distance2: L, s: L, slack: f32) -> (u16, bool) {
        let hits = distance2.le(s.mul(s));
        let sure = s.mul(s.sub(L::splat(2.0 * slack)));
        (hits, hits & sure.le(distance2) == 0)
    }

    #[inline(always)]
    fn distance2(self, other: Self) -> L {
        let dx = other.center[0].sub(self.center[0]);
        let mut distance2 = dx.mul(dx);
        for axis in 1..D {
            let d = other.center[axis].sub(self.center[axis]);
            distance2 = distance2.add(d.mul(d));
        }
        distance2
    }

    /// The hits of [`Sixteen::hits_at`] that survive subtracting `slack` from the sum of radii.
    #[inline(always)]
    pub fn hits_surely(self, other: Self, offset: [f32; D], slack: f32) -> u16 {
        let s = self.radius.add(other.radius).sub(L::splat(slack));
        L::bits(L::both(self.distance2_at(other, offset).le_mask(s.mul(s)), L::splat(0.0).le_mask(s)))
    }

    /// The squared distances of centres, the other circles seen at an offset, rounded as in the predicate.
    #[inline(always)]
    pub fn distance2_at(self, other: Self, offset: [f32; D]) -> L {
        let dx = other.center[0].sub(self.center[0]).add(L::splat(offset[0]));
        let mut distance2 = dx.mul(dx);
        for axis in 1..D {
            let d = other.center[axis].sub(self.center[axis]).add(L::splat(offset[axis]));
            distance2 = distance2.add(d.mul(d));
        }
        distance2
    }
}

impl<L: Lanes, const D: usize> Sixteen<L, D> for Circles16<L, D> {
    type Leaf = Bodies16<D>;

    /// The circles of a leaf.
    #[inline(always)]
    fn of(bodies: &[Bodies16<D>], leaf: usize) -> Self {
        let bodies = &bodies[leaf];
        let mut circles = Self { center: [L::splat(0.0); D], radius: L::load(&bodies.radii.0) };
        for axis in 0..D {
            circles.center[axis] = L::load(&bodies.centers[axis].0);
        }
        circles
    }

    /// One circle, by its place, in all lanes.
    #[inline(always)]
    fn all(bodies: &[Bodies16<D>], place: usize) -> Self {
        Self::all_of(&bodies[place / LEAF], place % LEAF)
    }

    /// Every circle one lane down.
    #[inline(always)]
    fn rotate(self) -> Self {
        let mut rotated = Self { radius: self.radius.rotate(), ..self };
        for axis in 0..D {
            rotated.center[axis] = self.center[axis].rotate();
        }
        rotated
    }

    /// The predicate: `dx*dx + dy*dy (+ dz*dz) <= s*s` with `dx = xj - xi`, `s = ri + rj`, left to right, in f32.
    #[inline(always)]
    fn hits(self, other: Self) -> u16 {
        let s = self.radius.add(other.radius);
        self.distance2(other).le(s.mul(s))
    }

    /// As [`Sixteen::hits`], and whether all hits survive subtracting `slack` from the sum of radii.
    #[inline(always)]
    fn hits_and_sure(self, other: Self, slack: f32) -> (u16, bool) {
        Self::hits_and_sure_of(self.distance2(other), self.radius.add(other.radius), slack)
    }

    /// The predicate with the other circles seen at an offset: `dx = (xj - xi) + offset`. At offset 0 it gives the same
    /// bits as [`Sixteen::hits`], since a zero changes no square.
    #[inline(always)]
    fn hits_at(self, other: Self, offset: [f32; D]) -> u16 {
        let s = self.radius.add(other.radius);
        self.distance2_at(other, offset).le(s.mul(s))
    }

    /// Which of the sixteen may touch a circle of a leaf with this box.
    #[inline(always)]
    fn touching(self, lo: [f32; D], hi: [f32; D]) -> u16 {
        let reach = self.radius.mul(L::splat(GROWTH));
        let mut mask = L::splat(lo[0]).le_mask(self.center[0].add(reach));
        for axis in 0..D {
            if axis > 0 {
                mask = L::both(mask, L::splat(lo[axis]).le_mask(self.center[axis].add(reach)));
            }
            mask = L::both(mask, self.center[axis].sub(reach).le_mask(L::splat(hi[axis])));
        }
        L::bits(mask)
    }
}
