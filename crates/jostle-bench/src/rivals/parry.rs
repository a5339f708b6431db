//! parry: a binary tree of boxes built by binning, and its traversal against itself.

use jostle_testkit::Scene;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::hits::Hits;
use super::outward::corners;
use super::{Rival, center, overlap};

macro_rules! parry {
    ($name:ident, $parry:ident, $package:literal, $d:literal) => {
        /// The tree, rebuilt for each search: the library has no call to rebuild one in place from other boxes.
        #[derive(Default)]
        pub(crate) struct $name {
            boxes: Vec<$parry::bounding_volume::Aabb>,
            tree: $parry::partitioning::Bvh,
            workspace: $parry::partitioning::BvhWorkspace,
            hits: Hits,
        }

        impl $name {
            /// Collects the pairs of the tree that overlap.
            fn pairs(&mut self, scene: &Scene<$d>) -> &[[u32; 2]] {
                let hits = &mut self.hits;
                hits.clear();
                let mut take = |a, b| {
                    if overlap(scene, a, b) {
                        hits.push(a, b);
                    }
                };
                if rayon::current_num_threads() == 1 {
                    self.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut take);
                } else {
                    let candidates = self.tree.traverse_bvtt_single_tree_parallel::<false>();
                    let found: Vec<(u32, u32)> =
                        candidates.into_par_iter().filter(|&(a, b)| overlap(scene, a, b)).collect();
                    found.into_iter().for_each(|(a, b)| hits.push(a, b));
                }
                hits.pairs()
            }

            fn aabb(scene: &Scene<$d>, id: usize) -> $parry::bounding_volume::Aabb {
                let (lo, hi) = corners(center(scene, id), scene.radii[id]);
                $parry::bounding_volume::Aabb::new(lo.into(), hi.into())
            }
        }

        impl Rival<$d> for $name {
            fn name(&self) -> &'static str {
                "parry Bvh"
            }

            fn package(&self) -> &'static str {
                $package
            }

            fn find(&mut self, scene: &Scene<$d>) -> &[[u32; 2]] {
                self.boxes.resize(scene.len(), $parry::bounding_volume::Aabb::new_invalid());
                self.boxes.par_iter_mut().enumerate().for_each(|(id, slot)| *slot = Self::aabb(scene, id));
                let strategy = $parry::partitioning::BvhBuildStrategy::Binned;
                self.tree = $parry::partitioning::Bvh::from_leaves(strategy, &self.boxes);
                self.pairs(scene)
            }
        }
    };
}

parry!(Parry2, parry2d, "parry2d", 2);
parry!(Parry3, parry3d, "parry3d", 3);
