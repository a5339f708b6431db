//! The bodies whose centres are nearest to a point.
//!
//! The distance of a box from the point is computed like that of a centre. Boxes hold the centres below them and every
//! rounding is monotone, so the distance of a box is never above that of a centre in it: no margin is needed.

use std::collections::BinaryHeap;

use jostle_core::LinearTree;
use jostle_core::tree::Level;

use super::Only;
use super::shape::Reached;
use super::walk::{NearestFirst, walk_nearest_first};
use crate::shape::Sixteen;
use crate::shape::circles16::Circles16;
use crate::simd::{LANES, LaneWork, Lanes};

/// A list of the nearest bodies so far, at squared distances.
pub(super) trait Nearest {
    /// Takes a body, if it is nearer than one kept, or there is room.
    fn offer(&mut self, body: Reached);

    /// The squared distance beyond which nothing is taken any more.
    fn bound(&self) -> f32;
}

/// Keeps as many as asked for: a max-heap, so that the farthest one is on top.
#[derive(Debug)]
pub(super) struct Several {
    heap: BinaryHeap<Reached>,
    count: usize,
}

impl Several {
    /// An empty list with room for `count` bodies, at least one, in memory of the caller.
    pub(super) fn new(mut memory: Vec<Reached>, count: usize) -> Self {
        memory.clear();
        Self { heap: BinaryHeap::from(memory), count }
    }

    /// The bodies in order, at their distances.
    pub(super) fn into_sorted(self) -> Vec<Reached> {
        let mut nearest = self.heap.into_sorted_vec();
        nearest.iter_mut().for_each(|body| body.distance = body.distance.sqrt());
        nearest
    }
}

impl Nearest for Several {
    #[inline]
    fn offer(&mut self, body: Reached) {
        if self.heap.len() < self.count {
            self.heap.push(body);
        } else if let Some(mut farthest) = self.heap.peek_mut().filter(|farthest| body < **farthest) {
            *farthest = body;
        }
    }

    #[inline(always)]
    fn bound(&self) -> f32 {
        let full = self.heap.len() >= self.count;
        self.heap.peek().filter(|_| full).map_or(f32::MAX, |farthest| farthest.distance)
    }
}

/// Keeps one.
impl Nearest for Option<Reached> {
    #[inline(always)]
    fn offer(&mut self, body: Reached) {
        if self.is_none_or(|nearest| body < nearest) {
            *self = Some(body);
        }
    }

    #[inline(always)]
    fn bound(&self) -> f32 {
        self.map_or(f32::MAX, |nearest| nearest.distance)
    }
}

/// Offers the bodies nearest to a point.
pub(super) struct FindNearest<'t, N, const D: usize> {
    pub(super) tree: &'t LinearTree<D>,
    pub(super) point: [f32; D],
    /// The greatest distance.
    pub(super) within: f32,
    pub(super) only: Only<'t>,
    pub(super) nearest: N,
}

impl<N: Nearest, const D: usize> LaneWork for FindNearest<'_, N, D> {
    type Output = N;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(mut self) -> N {
        walk_nearest_first::<L, D>(self.tree, &mut self);
        self.nearest
    }
}

impl<N: Nearest, const D: usize> NearestFirst<D> for FindNearest<'_, N, D> {
    #[inline(always)]
    fn node<L: Lanes>(&self, level: &Level<D>, node: usize, nearness: &mut [f32; LANES]) -> u16 {
        let (mut distance2, boxes) = (L::splat(0.0), &level.nodes()[node]);
        for axis in 0..D {
            let point = L::splat(self.point[axis]);
            let (lo, hi) = (L::load(&boxes.lo[axis].0), L::load(&boxes.hi[axis].0));
            let d = lo.sub(point).max(point.sub(hi)).max(L::splat(0.0));
            distance2 = if axis == 0 { d.mul(d) } else { distance2.add(d.mul(d)) };
        }
        distance2.store(nearness);
        distance2.le(L::splat(self.bound()))
    }

    #[inline(always)]
    fn leaf<L: Lanes>(&mut self, leaf: usize) {
        let bodies = Circles16::<L, D>::of(self.tree.bodies(), leaf);
        let mut distances2 = [0.0; LANES];
        let distance2 = bodies.distance2_from(self.point);
        distance2.store(&mut distances2);
        let ids = &self.tree.leaf_ids()[leaf].0;
        let mut mask = self.only.passing(ids, distance2.le(L::splat(self.bound())));
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            self.nearest.offer(Reached { id: ids[lane], distance: distances2[lane] });
            mask &= mask - 1;
        }
    }

    /// The bound is finite, so that boxes which fill up a node, at an infinite distance, are left out.
    #[inline(always)]
    fn bound(&self) -> f32 {
        self.nearest.bound().min(self.within * self.within)
    }
}

impl<L: Lanes, const D: usize> Circles16<L, D> {
    /// Squared distances of the centres from a point: dx*dx + dy*dy (+ dz*dz), left to right.
    #[inline(always)]
    fn distance2_from(self, point: [f32; D]) -> L {
        let dx = self.center[0].sub(L::splat(point[0]));
        let mut distance2 = dx.mul(dx);
        for axis in 1..D {
            let d = self.center[axis].sub(L::splat(point[axis]));
            distance2 = distance2.add(d.mul(d));
        }
        distance2
    }
}
