//! Two trees to be joined, or one with itself, and how a hit becomes pairs.

use jostle_core::LinearTree;
use jostle_core::axes::Axes;
use jostle_core::prefetch::prefetch;
use jostle_core::sixteen::Ids;
use jostle_sets::input::layers::LayersOfBoth;
use jostle_sets::shape::Sixteen;
use jostle_sets::shape::circles16::Circles16;
use jostle_sets::simd::Lanes;

use crate::join::SMALL;
use crate::join::filter::{Doubts, Filter, retain};
use crate::join::hits::{Hit, Names, Order};

/// The leaves of a tree of no more than this fit in a cache that a core has to itself.
const IN_CACHE: usize = 1 << 12;

/// Prefetches the memory of a leaf.
#[inline(always)]
pub(crate) fn prefetch_leaf<const D: usize>(tree: &LinearTree<D>, leaf: usize) {
    if tree.is_of_boxes() {
        prefetch(&tree.boxes()[leaf]);
    } else {
        prefetch(&tree.bodies()[leaf]);
    }
    prefetch(&tree.leaf_ids()[leaf]);
}

/// The trees that are joined, and how a hit becomes pairs.
#[derive(Clone, Copy)]
pub(crate) struct TreePair<'a, const D: usize> {
    /// The query tree, whose groups are joined, and the target tree, down which each group goes.
    pub(crate) trees: [&'a LinearTree<D>; 2],
    pub(crate) order: Order,
    /// The trees are the same, and each pair of bodies is to come once.
    pub(crate) within: bool,
    /// The offset at which the target tree is seen: it is added to the tree's centres.
    pub(crate) offset: [f32; D],
    /// The number of the image that is seen there; 0 where there is no offset.
    pub(crate) image: u32,
    /// The sets of the first and the second body of a pair.
    pub(crate) sets: [u32; 2],
    pub(crate) filter: Filter<'a>,
    /// Names of the bodies of a tree joined with itself, which stand in pairs in place of ids.
    pub(crate) called: Option<&'a [Ids]>,
}

impl<'a, const D: usize> TreePair<'a, D> {
    /// The same trees, but the tree whose bodies come second is seen at an offset. The join finds all pairs of the two
    /// that overlap there; the body of the tree that is not moved comes first.
    pub(crate) fn seen_at(self, offset: [f32; D]) -> Self {
        if self.order == Order::TargetFirst {
            return Self { offset: offset.axes(|offset| -offset), ..self };
        }
        Self { order: Order::QueryFirst, within: false, offset, ..self }
    }

    /// The same pairs, with the tree whose bodies come first in them as the query tree.
    pub(crate) fn query_tree_first(self) -> Self {
        if self.order == Order::TargetFirst { self.swapped() } else { self }
    }

    /// The same pairs, with the trees in each other's place.
    pub(crate) fn swapped(self) -> Self {
        let [query, target] = self.trees;
        let filter = Filter { layers: self.filter.layers.map(LayersOfBoth::swapped), ..self.filter };
        let offset = self.offset.axes(|offset| -offset);
        Self { trees: [target, query], order: self.order.swapped(), offset, filter, ..self }
    }

    /// Whether it is one small tree, joined with itself.
    pub(crate) fn is_small(&self) -> bool {
        self.within && self.trees[0].leaves() <= SMALL
    }

    /// Prefetches leaves of the target tree, which the join reads once it knows which bodies they may touch. Where no
    /// cache of a core holds all leaves, the join would wait for each.
    #[inline(always)]
    pub(crate) fn prefetch(&self, leaves: &[u32]) {
        let target = self.trees[1];
        if target.leaves() > IN_CACHE {
            leaves.iter().for_each(|&leaf| prefetch_leaf(target, leaf as usize));
        }
    }

    #[inline(always)]
    pub(crate) fn names(&self) -> Names<'a> {
        let ids = self.called.map_or_else(|| self.trees.map(LinearTree::leaf_ids), |called| [called; 2]);
        Names { ids, order: self.order }
    }

    /// Filters a hit; the target tree is seen at the offset of an image.
    #[inline(always)]
    pub(crate) fn filter<L: Lanes>(&self, hit: Hit, names: Names<'_>, image: u32, offset: [f32; D]) -> Hit {
        let mut doubts = Doubts::new(self.sets, image);
        let mut lanes = [hit.lanes];
        self.drop_lanes::<L>((&mut lanes, 0), hit, names, offset, &mut doubts);
        self.settle(&mut doubts, &mut lanes);
        self.kept(Hit { lanes: lanes[0], ..hit }, names)
    }

    /// Drops lanes of hit number `at` that do not pass the layers, and gathers those that are to be decided. Once
    /// sixteen are gathered, they are.
    #[inline(always)]
    pub(crate) fn drop_lanes<L: Lanes>(
        &self,
        (lanes, at): (&mut [u32], usize),
        hit: Hit,
        names: Names<'_>,
        offset: [f32; D],
        doubts: &mut Doubts,
    ) {
        let (mask, mut doubted) = self.in_doubt::<L>(hit, offset);
        lanes[at] = hit.with_mask(mask).lanes;
        while doubted != 0 {
            if doubts.are_full() {
                self.settle(doubts, lanes);
            }
            let lane = doubted.trailing_zeros();
            doubts.add(names.pair(hit, lane as usize), at as u32, lane);
            doubted &= doubted - 1;
        }
    }

    /// Decides what has been gathered, and drops the lanes that are not pairs.
    #[inline(always)]
    pub(crate) fn settle(&self, doubts: &mut Doubts, lanes: &mut [u32]) {
        if let Some(decision) = &self.filter.decision {
            doubts.settle(decision.by, lanes);
        }
    }

    /// Which lanes of a hit pass the layers, and which of these are to be decided.
    #[inline(always)]
    pub(crate) fn in_doubt<L: Lanes>(&self, hit: Hit, offset: [f32; D]) -> (u16, u16) {
        let mut mask = hit.mask();
        if let Some(layers) = &self.filter.layers {
            mask &= match hit.rotation() {
                0 => layers.meeting::<L>(hit.side(), hit.circle(), hit.leaf()),
                rotation => layers.meeting_within::<L>(hit.leaf(), rotation),
            };
        }
        match &self.filter.decision {
            Some(decision) if !hit.is_sure() => (mask, mask & !self.sure::<L>(hit, offset, decision.slack)),
            _ => (mask, 0),
        }
    }

    /// The lanes of a hit that pass the caller's test, which sees the lesser id first within a set.
    #[inline(always)]
    pub(crate) fn kept(&self, hit: Hit, names: Names<'_>) -> Hit {
        let Some(only) = self.filter.only else { return hit };
        hit.with_mask(retain(hit.mask(), |lane| {
            let [a, b] = names.pair(hit, lane);
            let turns = b < a && self.sets[0] == self.sets[1];
            only.keeps(self.sets, if turns { [b, a] } else { [a, b] })
        }))
    }

    /// Lanes of a hit that are hits even if the sum of radii were less by `slack`.
    #[inline(always)]
    fn sure<L: Lanes>(&self, hit: Hit, offset: [f32; D], slack: f32) -> u16 {
        if self.trees[0].is_of_boxes() {
            // Where boxes are decided, they are not the bodies that they stand for.
            return 0;
        }
        let bodies = self.trees[1 - hit.side()].bodies();
        let others = Circles16::<L, D>::of(bodies, hit.leaf());
        if hit.rotation() == 0 {
            let sign = if hit.side() == 0 { 1.0 } else { -1.0 };
            let circle = Circles16::all(self.trees[hit.side()].bodies(), hit.circle());
            return circle.hits_surely(others, offset.axes(|offset| offset * sign), slack);
        }
        let mut rotated = others;
        for _ in 0..hit.rotation() {
            rotated = rotated.rotate();
        }
        others.hits_surely(rotated, [0.0; D], slack)
    }
}
