//! What both trees can do, so that one test serves both.

use jostle_classics::{Body, BroadPhase, BrokenTree, ElementIndex, Limits, Neighbor, SetupError};
use jostle_classics::{DynamicQuadtree, LooseQuadtree};
use jostle_core::{Aabb, ViewError};

pub(crate) trait Tree: BroadPhase<2> + Sized {
    fn make(world: Aabb<2>, limits: Limits) -> Result<Self, SetupError>;
    fn len(&self) -> usize;
    fn insert(&mut self, id: u32, body: Body<2>) -> Result<ElementIndex, ViewError>;
    fn get(&self, index: ElementIndex) -> Option<Body<2>>;
    fn remove(&mut self, index: ElementIndex) -> Option<Body<2>>;
    fn move_to(&mut self, index: ElementIndex, body: Body<2>) -> Result<Option<Body<2>>, ViewError>;
    fn query(&self, rect: &Aabb<2>, omit: Option<ElementIndex>, ids: &mut Vec<u32>);
    fn nearest(&self, point: [f32; 2], k: usize, found: &mut Vec<Neighbor>);
    fn cleanup(&mut self);
    fn clear(&mut self);
    fn validate(&self) -> Result<(), BrokenTree>;
    fn traverse(&self, branch: impl FnMut(Aabb<2>, u32), leaf: impl FnMut(Aabb<2>, u32, &mut dyn Iterator<Item = u32>));

    fn pairs(&mut self) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.for_each_pair(&mut |pair| pairs.push(pair));
        pairs
    }

    /// Returns depth and ids of each leaf, and the number of branches.
    fn leaves(&self) -> (Vec<(u32, Vec<u32>)>, usize) {
        let (mut leaves, mut branches) = (Vec::new(), 0);
        self.traverse(|_, _| branches += 1, |_, depth, ids| leaves.push((depth, ids.collect())));
        (leaves, branches)
    }
}

macro_rules! tree {
    ($type:ty) => {
        impl Tree for $type {
            fn make(world: Aabb<2>, limits: Limits) -> Result<Self, SetupError> {
                Self::with_limits(world, limits)
            }
            fn len(&self) -> usize {
                assert_eq!(<$type>::len(self) == 0, self.is_empty());
                <$type>::len(self)
            }
            fn insert(&mut self, id: u32, body: Body<2>) -> Result<ElementIndex, ViewError> {
                <$type>::insert(self, id, body)
            }
            fn get(&self, index: ElementIndex) -> Option<Body<2>> {
                <$type>::get(self, index)
            }
            fn remove(&mut self, index: ElementIndex) -> Option<Body<2>> {
                <$type>::remove(self, index)
            }
            fn move_to(&mut self, index: ElementIndex, body: Body<2>) -> Result<Option<Body<2>>, ViewError> {
                <$type>::move_to(self, index, body)
            }
            fn query(&self, rect: &Aabb<2>, omit: Option<ElementIndex>, ids: &mut Vec<u32>) {
                <$type>::query(self, rect, omit, ids);
            }
            fn nearest(&self, point: [f32; 2], k: usize, found: &mut Vec<Neighbor>) {
                <$type>::nearest(self, point, k, found);
            }
            fn cleanup(&mut self) {
                <$type>::cleanup(self);
            }
            fn clear(&mut self) {
                <$type>::clear(self);
            }
            fn validate(&self) -> Result<(), BrokenTree> {
                <$type>::validate(self)
            }
            fn traverse(
                &self,
                branch: impl FnMut(Aabb<2>, u32),
                leaf: impl FnMut(Aabb<2>, u32, &mut dyn Iterator<Item = u32>),
            ) {
                <$type>::traverse(self, branch, leaf);
            }
        }
    };
}

tree!(DynamicQuadtree);
tree!(LooseQuadtree);
