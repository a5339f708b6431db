//! Bodies that a ray hits, and where.
//!
//! [`Line::hit`] decides, in f64 and for one body at a time. The tests before it, sixteen lanes in f32, only have to
//! keep all that it accepts. The distance of the centre from the line is that of the centre from its foot on the line.
//! A difference of squares would lose all digits of small circles far away: after E. Haines et al., "Precision
//! improvements for ray/sphere intersection" (2019).
//!
//! The margin. Let u = 2^-24, n the unit direction, t >= 0 the distance of an accepted hit. The f64 arithmetic has errors
//! of some 2^-50 of what it adds, so on each axis the point o + t n lies within r(1 + 3u) + 2^-30 t|n_k| of the centre:
//! - the vector from the foot to the centre is wrong by at most 2^-49 (t|n_k| + r), but may not be quite square to n;
//! - where |n_k| < 2^-13, that and the half chord's part along the axis make at most r * sqrt(1 + n_k^2), within r(1 + 2u);
//! - elsewhere its length is wrong by at most 2^-48 (t + r), of which the part with t is below 2^-30 t|n_k|.
//!
//! So t lies between `near` and `far` on each axis: exact where a border is divided by n_k, but for a factor within
//! 1 +- 2^-29. In f32, difference, inverse and product are three roundings on top. [`WIDENING`] = 1 + 16u on `far`
//! covers both ends, and [`GROWTH`] (1 + 8u) the radius; the tree's boxes have that margin and more. Where |n_k| is
//! below 2^-64, its inverse would overflow. There `near` is divided by 2^-64, which only lessens it. A ray stays below
//! t = 2^62 (origin and centres are within 2^60), so `far` may be anything above that, when o_k has not passed the
//! border.

use jostle_core::LinearTree;
use jostle_core::aabb::GROWTH;
use jostle_core::axes::Axes;
use jostle_core::sixteen::Bodies16;
use jostle_core::tree::Level;

use super::Only;
use super::shape::{Ray, Reached};
use super::walk::{NearestFirst, Visitor, walk, walk_nearest_first};
use crate::shape::Sixteen;
use crate::shape::circles16::Circles16;
use crate::simd::{LANES, LaneWork, Lanes};

/// Factor on the far end of an interval: 1 + 2^-20, sixteen times the unit roundoff of f32.
const WIDENING: f32 = 1.0 + 1.0 / 1_048_576.0;

/// Added to the far end of an interval, 2^-73: what denormal factors of a product may lose.
const SLACK: f32 = power_of_two(-73);

/// The least part of a unit direction that is divided by.
const LEAST_PART: f64 = 1.0 / (1_u128 << 64) as f64;

const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

/// The line of a ray in f64, which holds every f32 exactly.
#[derive(Debug, Clone, Copy)]
struct Line<const D: usize> {
    origin: [f64; D],
    direction: [f64; D],
    /// The squared length of the direction.
    length2: f64,
    length: f64,
}

#[inline(always)]
fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    let mut sum = a[0] * b[0];
    for axis in 1..D {
        sum += a[axis] * b[axis];
    }
    sum
}

impl<const D: usize> Line<D> {
    #[inline(always)]
    fn of(ray: &Ray<D>) -> Self {
        let direction = ray.direction.axes(f64::from);
        let length2 = dot(direction, direction);
        Self { origin: ray.origin.axes(f64::from), direction, length2, length: length2.sqrt() }
    }

    /// Returns the distance to the circle if the predicate accepts it; see [`Queries::ray`](super::Queries::ray).
    #[inline(always)]
    fn hit(&self, center: [f32; D], radius: f32) -> Option<f32> {
        let (mut m, radius) = ([0.0; D], f64::from(radius));
        for axis in 0..D {
            m[axis] = f64::from(center[axis]) - self.origin[axis];
        }
        let radius2 = radius * radius;
        if dot(m, m) <= radius2 {
            return Some(0.0);
        }
        let along = dot(m, self.direction) / self.length2;
        for axis in 0..D {
            m[axis] -= along * self.direction[axis];
        }
        let distance2 = dot(m, m);
        if along < 0.0 || distance2 > radius2 {
            return None;
        }
        Some((along * self.length - (radius2 - distance2).sqrt()).max(0.0) as f32)
    }
}

/// A ray made ready for tests of sixteen at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cast<const D: usize> {
    line: Line<D>,
    reach: f32,
    origin: [f32; D],
    /// True where the lower border of a box is the nearer one.
    forward: [bool; D],
    /// Inverses of the unit direction for the nearer and the farther border, and what is added at the farther one.
    near: [f32; D],
    far: [f32; D],
    slack: [f32; D],
}

impl<const D: usize> Cast<D> {
    #[inline(always)]
    pub(super) fn new(ray: &Ray<D>) -> Self {
        let (line, parallel) = (Line::of(ray), [power_of_two(64); D]);
        let (origin, forward, far) = (ray.origin, [true; D], [power_of_two(126); D]);
        let mut cast = Self { line, reach: ray.reach, origin, forward, near: parallel, far, slack: parallel };
        for axis in 0..D {
            let part = line.direction[axis] / line.length;
            cast.forward[axis] = part >= 0.0;
            if part.abs() >= LEAST_PART {
                let inverse = (1.0 / part) as f32;
                (cast.near[axis], cast.far[axis], cast.slack[axis]) = (inverse, inverse, SLACK);
            } else if part < 0.0 {
                (cast.near[axis], cast.far[axis]) = (-cast.near[axis], -cast.far[axis]);
            }
        }
        cast
    }

    /// The greatest `near` of a body that is hit at this distance.
    #[inline(always)]
    fn bound(distance: f32) -> f32 {
        distance * WIDENING + SLACK
    }

    /// Where the ray enters and leaves boxes, given by their borders as seen from the origin.
    #[inline(always)]
    fn interval<L: Lanes>(&self, (near, far): (L, L), lo: L, hi: L, axis: usize) -> (L, L) {
        let (first, last) = if self.forward[axis] { (lo, hi) } else { (hi, lo) };
        let last = last.mul(L::splat(self.far[axis])).add(L::splat(self.slack[axis]));
        (near.max(first.mul(L::splat(self.near[axis]))), far.min(last))
    }

    /// Which of the sixteen boxes of a node the ray may meet, and from where on.
    #[inline(always)]
    fn boxes16<L: Lanes>(&self, level: &Level<D>, node: usize) -> (u16, L) {
        let (mut interval, boxes) = ((L::splat(0.0), L::splat(f32::INFINITY)), &level.nodes()[node]);
        for axis in 0..D {
            let origin = L::splat(self.origin[axis]);
            let (lo, hi) = (L::load(&boxes.lo[axis].0), L::load(&boxes.hi[axis].0));
            interval = self.interval(interval, lo.sub(origin), hi.sub(origin), axis);
        }
        (interval.0.le(interval.1.mul(L::splat(WIDENING))), interval.0)
    }

    /// Which of the bodies of a leaf the ray may hit no later than at `near == bound`.
    #[inline(always)]
    fn bodies16<L: Lanes>(&self, bodies: &Bodies16<D>, bound: f32) -> u16 {
        let bodies = Circles16::<L, D>::of(core::slice::from_ref(bodies), 0);
        let radius = bodies.radius.mul(L::splat(GROWTH));
        let mut interval = (L::splat(0.0), L::splat(f32::INFINITY));
        for axis in 0..D {
            let center = bodies.center[axis].sub(L::splat(self.origin[axis]));
            interval = self.interval(interval, center.sub(radius), center.add(radius), axis);
        }
        // A place that no body takes is NaN, whose maximum and minimum may be anything.
        let taken = bodies.center[0].le(bodies.center[0]);
        taken & interval.0.le(interval.1.mul(L::splat(WIDENING))) & interval.0.le(L::splat(bound))
    }

    /// Returns the distance to the body in a lane, if the ray hits it within its reach.
    #[inline(always)]
    fn hit(&self, bodies: &Bodies16<D>, lane: usize) -> Option<f32> {
        let mut center = [0.0; D];
        for axis in 0..D {
            center[axis] = bodies.centers[axis].0[lane];
        }
        self.line.hit(center, bodies.radii.0[lane]).filter(|&distance| distance <= self.reach)
    }

    /// Takes the bodies of a leaf that the ray hits, but for bodies that are certain to be beyond `bound`.
    #[inline(always)]
    fn hits<L: Lanes>(&self, tree: &LinearTree<D>, leaf: usize, bound: f32, mut take: impl FnMut(Reached)) {
        let bodies = &tree.bodies()[leaf];
        let mut mask = self.bodies16::<L>(bodies, bound);
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            if let Some(distance) = self.hit(bodies, lane) {
                take(Reached { id: tree.leaf_ids()[leaf].0[lane], distance });
            }
            mask &= mask - 1;
        }
    }
}

/// Visits all bodies that a ray hits.
pub(super) struct VisitHits<'t, V, const D: usize> {
    pub(super) tree: &'t LinearTree<D>,
    pub(super) ray: Ray<D>,
    pub(super) only: Only<'t>,
    pub(super) visit: V,
}

impl<V: FnMut(Reached), const D: usize> LaneWork for VisitHits<'_, V, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (cast, bound) = (Cast::new(&self.ray), Cast::<D>::bound(self.ray.reach));
        walk::<L, D>(self.tree, &mut Hits { asked: self, cast, bound });
    }
}

struct Hits<'t, V, const D: usize> {
    asked: VisitHits<'t, V, D>,
    cast: Cast<D>,
    bound: f32,
}

impl<V: FnMut(Reached), const D: usize> Visitor<D> for Hits<'_, V, D> {
    #[inline(always)]
    fn node<L: Lanes>(&self, level: &Level<D>, node: usize) -> u16 {
        let (mask, near) = self.cast.boxes16::<L>(level, node);
        mask & near.le(L::splat(self.bound))
    }

    #[inline(always)]
    fn leaf<L: Lanes>(&mut self, leaf: usize) {
        let VisitHits { tree, only, visit, .. } = &mut self.asked;
        self.cast.hits::<L>(tree, leaf, self.bound, |hit| {
            if only.passes(hit.id) {
                visit(hit);
            }
        });
    }
}

/// Finds the first body that a ray hits; of several at one distance, the body of the least id.
pub(super) struct FindFirst<'t, const D: usize> {
    pub(super) tree: &'t LinearTree<D>,
    pub(super) ray: Ray<D>,
    pub(super) only: Only<'t>,
}

impl<const D: usize> LaneWork for FindFirst<'_, D> {
    type Output = Option<Reached>;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Option<Reached> {
        let mut first = First { tree: self.tree, only: self.only, cast: Cast::new(&self.ray), best: None };
        walk_nearest_first::<L, D>(self.tree, &mut first);
        first.best
    }
}

struct First<'t, const D: usize> {
    tree: &'t LinearTree<D>,
    only: Only<'t>,
    cast: Cast<D>,
    best: Option<Reached>,
}

impl<const D: usize> NearestFirst<D> for First<'_, D> {
    #[inline(always)]
    fn node<L: Lanes>(&self, level: &Level<D>, node: usize, nearness: &mut [f32; LANES]) -> u16 {
        let (mask, near) = self.cast.boxes16::<L>(level, node);
        near.store(nearness);
        mask & near.le(L::splat(self.bound()))
    }

    #[inline(always)]
    fn leaf<L: Lanes>(&mut self, leaf: usize) {
        let (bound, best, only) = (self.bound(), &mut self.best, self.only);
        self.cast.hits::<L>(self.tree, leaf, bound, |hit| {
            if best.is_none_or(|best| hit < best) && only.passes(hit.id) {
                *best = Some(hit);
            }
        });
    }

    #[inline(always)]
    fn bound(&self) -> f32 {
        Cast::<D>::bound(self.best.map_or(self.cast.reach, |best| best.distance))
    }
}
