//! Bodies that touch a region: a box or a circle; a point is a circle of radius 0.
//!
//! A walk goes into a node when its box overlaps the region's span. Nothing that the predicates accept is lost: a box
//! of the tree reaches r(1 + 4u) + 2^-74 from each centre below it (u = 2^-24; proof in `jostle_core::aabb`).
//! - Circle: the predicate is that of pairs, so |x - q| <= (r + q_r)(1 + 4u) + 2^-74 on each axis. The span
//!   q +- GROWTH * q_r is rounded, but rounding is monotone and the box's border a float, so the span cannot fall short
//!   of that border.
//! - Box: on each axis the predicate's fl(d*d) <= fl(r*r), with d = fl(lo - x) or fl(x - hi): two roundings of products
//!   and one of a difference, so lo - x <= r(1 + 4u) + 2^-74. The tree's box reaches lo, and the comparison is exact.

use jostle_core::aabb::GROWTH;
use jostle_core::sixteen::Bodies16;
use jostle_core::tree::Level;
use jostle_core::{Aabb, LinearTree};

use super::Only;
use super::shape::Circle;
use super::walk::{Visitor, walk};
use crate::shape::circles16::Circles16;
use crate::shape::{Sixteen, boxes16_overlapping};
use crate::simd::{LANES, LaneWork, Lanes};

/// A region that bodies touch or do not.
pub(super) trait Region<const D: usize>: Copy {
    /// A box that the box of every touching body overlaps.
    fn span(&self) -> Aabb<D>;

    /// Which of the bodies of a leaf touch the region.
    fn touching<L: Lanes>(&self, bodies: &Bodies16<D>) -> u16;
}

impl<const D: usize> Region<D> for Circle<D> {
    #[inline(always)]
    fn span(&self) -> Aabb<D> {
        let mut span = Aabb { lo: self.center, hi: self.center };
        for axis in 0..D {
            span.lo[axis] -= self.radius * GROWTH;
            span.hi[axis] += self.radius * GROWTH;
        }
        span
    }

    #[inline(always)]
    fn touching<L: Lanes>(&self, bodies: &Bodies16<D>) -> u16 {
        Circles16::<L, D>::splat(self.center, self.radius).hits(Circles16::of(core::slice::from_ref(bodies), 0))
    }
}

impl<const D: usize> Region<D> for Aabb<D> {
    #[inline(always)]
    fn span(&self) -> Aabb<D> {
        *self
    }

    #[inline(always)]
    fn touching<L: Lanes>(&self, bodies: &Bodies16<D>) -> u16 {
        let bodies = Circles16::<L, D>::of(core::slice::from_ref(bodies), 0);
        let distance2 = distance2_of_boxes(self.lo, self.hi, bodies.center);
        // A place that no body takes is NaN, whose maximum may be anything.
        L::bits(L::both(
            distance2.le_mask(bodies.radius.mul(bodies.radius)),
            bodies.center[0].le_mask(bodies.center[0]),
        ))
    }
}

/// Squared distance of points to a box: on each axis `d = max(lo - x, 0, x - hi)`, then the sum of squares.
#[inline(always)]
fn distance2_of_boxes<L: Lanes, const D: usize>(lo: [f32; D], hi: [f32; D], x: [L; D]) -> L {
    let mut distance2 = L::splat(0.0);
    for axis in 0..D {
        let d = L::splat(lo[axis]).sub(x[axis]).max(x[axis].sub(L::splat(hi[axis]))).max(L::splat(0.0));
        distance2 = if axis == 0 { d.mul(d) } else { distance2.add(d.mul(d)) };
    }
    distance2
}

/// Takes the ids of bodies of a leaf, their number, and the leaf. The ids that follow are unspecified: sixteen are
/// copied faster than a few.
pub(super) type Take<'v> = dyn FnMut(&[u32; LANES], usize, usize) + 'v;

/// Adds some ids to a list.
#[inline(always)]
pub(super) fn append(list: &mut Vec<u32>, ids: &[u32; LANES], count: usize) {
    let len = list.len() + count;
    list.extend_from_slice(ids);
    list.truncate(len);
}

/// The greatest number of ids that are sorted by comparing them.
const COMPARED: usize = 256;

/// More ids are sorted by marks, a bit for each body, where the ids are at least one in so many of the bodies.
const MARKED: usize = 64;

/// Sorts the ids of a list from place `first` on: some of so many bodies, each once. O(n) where they are many of the
/// bodies.
pub(super) fn sort_ids(list: &mut Vec<u32>, first: usize, bodies: usize) {
    let end = list.len();
    let count = end - first;
    if count <= COMPARED || count < bodies / MARKED {
        return list[first..].sort_unstable();
    }
    // The marks take room that the list has anyway, or will have the next time.
    list.resize(end + bodies.div_ceil(32), 0);
    let (ids, marks) = list[first..].split_at_mut(count);
    for id in &*ids {
        marks[(id / 32) as usize] |= 1 << (id % 32);
    }
    let mut sorted = ids.iter_mut();
    for (word, mark) in marks.iter_mut().enumerate() {
        while *mark != 0 {
            if let Some(id) = sorted.next() {
                *id = word as u32 * 32 + mark.trailing_zeros();
            }
            *mark &= *mark - 1;
        }
    }
    list.truncate(end);
}

/// Visits the ids of all bodies that touch a region, those of a leaf at once.
pub(super) struct VisitRegion<'t, 'v, R, const D: usize> {
    pub(super) tree: &'t LinearTree<D>,
    pub(super) region: R,
    pub(super) only: Only<'t>,
    pub(super) visit: &'v mut Take<'v>,
}

impl<R: Region<D>, const D: usize> LaneWork for VisitRegion<'_, '_, R, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let span = self.region.span();
        walk::<L, D>(self.tree, &mut Touching { asked: self, span });
    }
}

struct Touching<'t, 'v, R, const D: usize> {
    asked: VisitRegion<'t, 'v, R, D>,
    span: Aabb<D>,
}

impl<R: Region<D>, const D: usize> Visitor<D> for Touching<'_, '_, R, D> {
    #[inline(always)]
    fn node<L: Lanes>(&self, level: &Level<D>, node: usize) -> u16 {
        boxes16_overlapping::<L, D>(&level.nodes()[node], self.span.lo, self.span.hi)
    }

    #[inline(always)]
    fn leaf<L: Lanes>(&mut self, leaf: usize) {
        let VisitRegion { tree, region, only, visit } = &mut self.asked;
        let ids = &tree.leaf_ids()[leaf].0;
        let mask = only.passing(ids, region.touching::<L>(&tree.bodies()[leaf]));
        if mask != 0 {
            let mut touching = [0; LANES];
            L::compress_ids(ids, mask, &mut touching);
            visit(&touching, mask.count_ones() as usize, leaf);
        }
    }
}
