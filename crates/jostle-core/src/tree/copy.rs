//! Copies of a tree: clones, and copies into the memory of another tree.

use super::level::Level;
use super::shape::Part;
use super::{LinearTree, Scratch};
use crate::prefetch::prefetch;

/// A clone is of the same build, and has scratch memory of its own, which is still empty.
impl<const D: usize> Clone for LinearTree<D> {
    fn clone(&self) -> Self {
        Self {
            len: self.len,
            bounds: self.bounds,
            margin: self.margin,
            build_number: self.build_number,
            stands_in: self.stands_in,
            first_image: self.first_image,
            first_image_leaf: self.first_image_leaf,
            leaves: self.leaves,
            round_leaves: self.round_leaves,
            box_leaves: self.box_leaves,
            round: Part { leaves: self.bodies().to_vec(), ..Part::default() },
            boxed: Part { leaves: self.boxes().to_vec(), ..Part::default() },
            ids: self.leaf_ids().to_vec(),
            leaf_starts: self.leaf_starts().to_vec(),
            levels: self.levels().to_vec(),
            used_levels: self.used_levels,
            isa: self.isa,
            untimed: self.untimed,
            leaves_max: self.leaves_max,
            scratch: Scratch::default(),
        }
    }
}

impl<const D: usize> LinearTree<D> {
    /// Asks for the fields of the tree that tell where its leaves and levels lie.
    #[doc(hidden)]
    pub fn prefetch_places(&self) {
        let Self { round, ids, leaf_starts, levels, len, bounds, .. } = self;
        prefetch(&round.leaves);
        prefetch(ids);
        prefetch(leaf_starts);
        prefetch(levels);
        prefetch(len);
        prefetch(bounds);
    }

    /// Asks for the list of levels, which tells where their boxes lie. Of use once the fields of the tree are in cache.
    #[doc(hidden)]
    pub fn prefetch_levels(&self) {
        prefetch(&*self.levels);
    }

    /// Makes this tree a copy of a tree of circles or spheres, as a clone is, in its own memory.
    #[doc(hidden)]
    pub fn copy_from(&mut self, other: &Self) {
        self.levels.iter().zip(other.levels()).for_each(|(level, other)| level.prefetch(other.len()));
        let mut round = core::mem::take(&mut self.round);
        self.reserve_leaves(&mut round, other.leaves);
        round.leaves[..other.leaves].copy_from_slice(other.bodies());
        self.round = round;
        self.ids[..other.leaves].copy_from_slice(other.leaf_ids());
        self.leaf_starts[..=other.leaves].copy_from_slice(other.leaf_starts());
        if self.levels.len() < other.used_levels {
            self.levels.resize_with(other.used_levels, Level::default);
        }
        self.levels.iter_mut().zip(other.levels()).for_each(|(level, other)| level.copy_from(other));
        self.used_levels = other.used_levels;
        (self.len, self.leaves, self.round_leaves, self.box_leaves) = (other.len, other.leaves, other.leaves, 0);
        (self.bounds, self.margin) = (other.bounds, other.margin);
        (self.build_number, self.first_image) = (other.build_number, other.first_image);
        self.first_image_leaf = other.first_image_leaf;
        self.stands_in = other.stands_in;
    }
}
