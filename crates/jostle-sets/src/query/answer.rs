//! Queries of a batch: each appends its answer to lists, found by the function that answers a single query.

use super::Queries;
use super::nearest::{FindNearest, Several};
use super::ray::{FindFirst, VisitHits};
use super::region::{Region, Take, VisitRegion, append, sort_ids};
use super::shape::{Ray, Reached};
use crate::simd::{LaneWork, Lanes};

/// The answers to queries, those to one query after those to the query before.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) ids: Vec<u32>,
    pub(super) distances: Vec<f32>,
    /// How many ids and distances the blocks before have, if these lists are of a block.
    pub(super) before: [usize; 2],
    /// The answer to the query at hand.
    reached: Vec<Reached>,
}

impl Lists {
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.distances.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u32>()
            + self.distances.capacity() * size_of::<f32>()
            + self.reached.capacity() * size_of::<Reached>()
    }

    fn append_reached(&mut self) {
        self.ids.extend(self.reached.iter().map(|body| body.id));
        self.distances.extend(self.reached.iter().map(|body| body.distance));
    }
}

/// A query of a batch.
pub(super) trait Answer<const D: usize>: Copy {
    /// `GAINS_BY_AVX512` of the work that answers the query.
    const GAINS_BY_AVX512: bool;

    /// Appends the answer, in order.
    fn answer<L: Lanes>(self, queries: Queries<'_, D>, lists: &mut Lists);
}

/// The bodies that touch a region, by id.
#[derive(Clone, Copy)]
pub(super) struct InRegion<R>(pub(super) R);

impl<R: Region<D>, const D: usize> Answer<D> for InRegion<R> {
    const GAINS_BY_AVX512: bool = VisitRegion::<'static, 'static, R, D>::GAINS_BY_AVX512;

    #[inline(always)]
    fn answer<L: Lanes>(self, queries: Queries<'_, D>, lists: &mut Lists) {
        let first = lists.ids.len();
        let Queries { tree, only, .. } = queries;
        let visit: &mut Take<'_> = &mut |ids, count, _| append(&mut lists.ids, ids, count);
        L::call(VisitRegion { tree, region: self.0, only, visit });
        sort_ids(&mut lists.ids, first, tree.len());
    }
}

/// The bodies that a ray hits, by distance, then id.
#[derive(Clone, Copy)]
pub(super) struct AllHits<const D: usize>(pub(super) Ray<D>);

impl<const D: usize> Answer<D> for AllHits<D> {
    const GAINS_BY_AVX512: bool = VisitHits::<'static, fn(Reached), D>::GAINS_BY_AVX512;

    #[inline(always)]
    fn answer<L: Lanes>(self, queries: Queries<'_, D>, lists: &mut Lists) {
        lists.reached.clear();
        let visit: &mut dyn FnMut(Reached) = &mut |hit| lists.reached.push(hit);
        L::call(VisitHits { tree: queries.tree, ray: self.0, only: queries.only, visit });
        lists.reached.sort_unstable();
        lists.append_reached();
    }
}

/// The first body that a ray hits.
#[derive(Clone, Copy)]
pub(super) struct FirstHit<const D: usize>(pub(super) Ray<D>);

impl<const D: usize> Answer<D> for FirstHit<D> {
    const GAINS_BY_AVX512: bool = FindFirst::<'static, D>::GAINS_BY_AVX512;

    #[inline(always)]
    fn answer<L: Lanes>(self, queries: Queries<'_, D>, lists: &mut Lists) {
        if let Some(hit) = L::call(FindFirst { tree: queries.tree, ray: self.0, only: queries.only }) {
            lists.ids.push(hit.id);
            lists.distances.push(hit.distance);
        }
    }
}

/// The bodies nearest to a point, by distance, then id.
#[derive(Clone, Copy)]
pub(super) struct NearestTo<const D: usize> {
    pub(super) point: [f32; D],
    pub(super) count: usize,
    pub(super) within: f32,
}

impl<const D: usize> NearestTo<D> {
    /// Finds the bodies, in this memory.
    #[inline(always)]
    pub(super) fn find<L: Lanes>(self, queries: Queries<'_, D>, memory: &mut Vec<Reached>) {
        memory.clear();
        if self.count == 0 {
            return;
        }
        let nearest = Several::new(core::mem::take(memory), self.count);
        let (Queries { tree, only, .. }, Self { point, within, .. }) = (queries, self);
        *memory = FindNearest { tree, point, within, only, nearest }.run::<L>().into_sorted();
    }
}

impl<const D: usize> Answer<D> for NearestTo<D> {
    const GAINS_BY_AVX512: bool = NearestInto::<'static, D>::GAINS_BY_AVX512;

    #[inline(always)]
    fn answer<L: Lanes>(self, queries: Queries<'_, D>, lists: &mut Lists) {
        L::call(NearestInto { queries, asked: self, nearest: &mut lists.reached });
        lists.append_reached();
    }
}

/// One search for nearest bodies, into a list of the caller.
pub(super) struct NearestInto<'t, const D: usize> {
    pub(super) queries: Queries<'t, D>,
    pub(super) asked: NearestTo<D>,
    pub(super) nearest: &'t mut Vec<Reached>,
}

impl<const D: usize> LaneWork for NearestInto<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.asked.find::<L>(self.queries, self.nearest);
    }
}
