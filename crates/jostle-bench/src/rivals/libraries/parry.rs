//! parry: a binary tree of boxes built by binning, and its traversal against itself.

use jostle_testkit::Scene;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::{corners, overlap};
use crate::rivals::hits::Hits;
use crate::rivals::{Rival, center};

macro_rules! parry {
    ($name:ident, $updated:ident, $parry:ident, $package:literal, $d:literal) => {
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

            fn build(&mut self, scene: &Scene<$d>) {
                self.boxes.resize(scene.len(), $parry::bounding_volume::Aabb::new_invalid());
                self.boxes.par_iter_mut().enumerate().for_each(|(id, slot)| *slot = Self::aabb(scene, id));
                let strategy = $parry::partitioning::BvhBuildStrategy::Binned;
                self.tree = $parry::partitioning::Bvh::from_leaves(strategy, &self.boxes);
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
                self.build(scene);
                self.pairs(scene)
            }
        }

        /// The tree, kept: leaves get their new boxes, all boxes above them are fitted anew, and a part of the tree is
        /// rebuilt in turn, as documented for the broad phase of a physics engine.
        #[derive(Default)]
        pub(crate) struct $updated {
            kept: $name,
            updates: Vec<($parry::bounding_volume::Aabb, u32, f32)>,
            statuses: Vec<$parry::partitioning::BvhLeafUpdateStatus>,
        }

        impl $updated {
            fn update(&mut self, scene: &Scene<$d>) {
                let $name { tree, workspace, .. } = &mut self.kept;
                if rayon::current_num_threads() == 1 {
                    for id in 0..scene.len() {
                        tree.insert_or_update_partially($name::aabb(scene, id), id as u32, 0.0);
                    }
                    tree.refit(workspace);
                } else {
                    let update = |id| ($name::aabb(scene, id), id as u32, 0.0);
                    (0..scene.len()).into_par_iter().map(update).collect_into_vec(&mut self.updates);
                    tree.insert_or_update_batch_partially_parallel(&self.updates, &mut self.statuses);
                    tree.refit_parallel(workspace);
                }
                tree.optimize_incremental(workspace);
            }
        }

        impl Rival<$d> for $updated {
            fn name(&self) -> &'static str {
                "parry Bvh updated"
            }

            fn package(&self) -> &'static str {
                $package
            }

            fn prepare(&mut self, scene: &Scene<$d>) {
                self.kept.build(scene);
            }

            fn find(&mut self, scene: &Scene<$d>) -> &[[u32; 2]] {
                if self.kept.boxes.len() != scene.len() {
                    self.prepare(scene);
                }
                self.update(scene);
                self.kept.pairs(scene)
            }
        }
    };
}

parry!(Parry2, Parry2Updated, parry2d, "parry2d", 2);
parry!(Parry3, Parry3Updated, parry3d, "parry3d", 3);
