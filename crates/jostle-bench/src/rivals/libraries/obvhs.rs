//! obvhs: a binary tree of boxes by PLOC, and a query for each body, as in the library's own physics example.

use glam::Vec3A;
use jostle_testkit::Scene;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::{corners, overlap};
use crate::rivals::hits::Gather;
use crate::rivals::{Rival, center};

/// Bodies whose queries make a task.
const TASK: usize = 1024;

/// Builder and tree keep their memory. The library takes the list of indices by value.
#[derive(Default)]
pub(crate) struct Obvhs<const D: usize> {
    boxes: Vec<Aabb>,
    builder: PlocBuilder,
    tree: Bvh2,
    gather: Gather,
}

impl<const D: usize> Rival<D> for Obvhs<D> {
    fn name(&self) -> &'static str {
        "obvhs"
    }

    fn package(&self) -> &'static str {
        "obvhs"
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        self.box_bodies(scene);
        self.build();
        self.pairs(scene)
    }
}

impl<const D: usize> Obvhs<D> {
    /// The boxes of all bodies.
    fn box_bodies(&mut self, scene: &Scene<D>) {
        let vector = |x: [f32; D]| Vec3A::new(x[0], x[1], if D == 2 { 0.0 } else { x[D - 1] });
        self.boxes.resize(scene.len(), Aabb::empty());
        self.boxes.par_iter_mut().enumerate().for_each(|(id, slot)| {
            let (lo, hi) = corners(center(scene, id), scene.radii[id]);
            *slot = Aabb::new(vector(lo), vector(hi));
        });
    }

    /// Builds the tree over the boxes.
    fn build(&mut self) {
        build(&mut self.builder, &mut self.tree, &self.boxes);
    }

    /// Finds the pairs, by the tree over the boxes.
    fn pairs(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        pairs(&self.tree, &self.boxes, &mut self.gather, |a, b| overlap(scene, a, b))
    }
}

/// Builds a tree over boxes.
pub(crate) fn build(builder: &mut PlocBuilder, tree: &mut Bvh2, boxes: &[Aabb]) {
    let ids = (0..boxes.len() as u32).collect();
    builder.build_with_bvh(tree, PlocSearchDistance::Minimum, boxes, ids, SortPrecision::U64, 0);
    // At 100k circles this takes 3 to 5 ms, and saves the queries 34 of their 84 ms. Longer search distances save
    // nothing.
    tree.reorder_in_stack_traversal_order();
}

/// Finds the pairs that pass a test, by a query of the tree for each of its boxes.
pub(crate) fn pairs<'g>(
    tree: &Bvh2,
    boxes: &[Aabb],
    gather: &'g mut Gather,
    overlap: impl Fn(u32, u32) -> bool + Sync,
) -> &'g [[u32; 2]] {
    let n = boxes.len();
    gather.run(n.div_ceil(TASK), |task, hits| {
        // In the order of the tree, so that successive queries find what they share in the cache.
        for &a in &tree.primitive_indices[task * TASK..n.min((task + 1) * TASK)] {
            tree.aabb_traverse(boxes[a as usize], |tree, node| {
                let node = &tree.nodes[node as usize];
                let first = node.first_index as usize;
                for &b in &tree.primitive_indices[first..first + node.prim_count as usize] {
                    if a < b && overlap(a, b) {
                        hits.push(a, b);
                    }
                }
                true
            });
        }
    })
}

/// The tree, kept: its leaves get their new boxes, and all boxes above them are fitted anew, as documented.
#[derive(Default)]
pub(crate) struct ObvhsUpdated<const D: usize>(Obvhs<D>);

impl<const D: usize> Rival<D> for ObvhsUpdated<D> {
    fn name(&self) -> &'static str {
        "obvhs updated"
    }

    fn package(&self) -> &'static str {
        "obvhs"
    }

    fn prepare(&mut self, scene: &Scene<D>) {
        self.0.box_bodies(scene);
        self.0.build();
        self.0.tree.update_primitives_to_nodes();
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        if self.0.boxes.len() != scene.len() {
            self.prepare(scene);
        }
        self.0.box_bodies(scene);
        let Obvhs { boxes, tree, .. } = &mut self.0;
        for (aabb, &leaf) in boxes.iter().zip(&tree.primitives_to_nodes) {
            tree.nodes[leaf as usize].set_aabb(*aabb);
        }
        tree.refit_all();
        self.0.pairs(scene)
    }
}
