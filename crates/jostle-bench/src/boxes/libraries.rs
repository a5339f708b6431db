//! Libraries that search boxes, each as it is documented.

mod packed;

use broccoli::Tree;
use broccoli::aabb::{BBox, ManySwappable};
use broccoli_rayon::prelude::{RayonBuildPar, RayonQueryPar};
use jostle_testkit::shapes::BoxScene;
use parry2d::bounding_volume::Aabb;
use parry2d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::Rival;
use crate::rivals::hits::{Gather, Hits, concatenate};

/// Boxes whose queries make a task.
const TASK: usize = 1024;

/// Returns all of them.
pub(super) fn rivals() -> Vec<Box<dyn Rival>> {
    vec![
        Box::new(Broccoli::default()),
        Box::new(RStar::default()),
        Box::new(Parry::default()),
        Box::new(packed::GeoIndex::default()),
        Box::new(packed::Obvhs::default()),
        Box::new(packed::Box2d::default()),
        Box::new(packed::Broadphase::default()),
    ]
}

fn corners(scene: &BoxScene<2>, id: usize) -> ([f32; 2], [f32; 2]) {
    ([scene.lo[0][id], scene.lo[1][id]], [scene.hi[0][id], scene.hi[1][id]])
}

fn overlap(scene: &BoxScene<2>, a: u32, b: u32) -> bool {
    let (a, b) = (a as usize, b as usize);
    (0..2).all(|axis| scene.lo[axis][a] <= scene.hi[axis][b] && scene.lo[axis][b] <= scene.hi[axis][a])
}

/// A tree of strips, and sweep and prune within.
#[derive(Default)]
struct Broccoli {
    boxes: Vec<ManySwappable<BBox<f32, u32>>>,
    lists: Vec<Hits>,
    hits: Hits,
}

impl Rival for Broccoli {
    fn name(&self) -> &'static str {
        "broccoli"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        self.boxes.clear();
        self.boxes.extend((0..scene.len()).map(|id| {
            let (lo, hi) = corners(scene, id);
            ManySwappable(broccoli::bbox(broccoli::rect(lo[0], hi[0], lo[1], hi[1]), id as u32))
        }));
        let Self { boxes, lists, hits } = self;
        hits.clear();
        if rayon::current_num_threads() == 1 {
            Tree::new(boxes).find_colliding_pairs(|p, q| hits.push(*p.unpack_inner(), *q.unpack_inner()));
        } else {
            let mut first = lists.pop().unwrap_or_default();
            first.clear();
            *lists = Tree::par_new(boxes).par_find_colliding_pairs_acc_closure(
                vec![first],
                |_| vec![Hits::default()],
                |lists, mut more| lists.append(&mut more),
                |lists, p, q| lists[0].push(*p.unpack_inner(), *q.unpack_inner()),
            );
            concatenate(lists, hits);
        }
        hits.pairs()
    }
}

/// An R*-tree loaded in bulk, and a search for each box.
#[derive(Default)]
struct RStar {
    gather: Gather,
}

impl Rival for RStar {
    fn name(&self) -> &'static str {
        "rstar"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let items = (0..scene.len()).map(|id| {
            let (lo, hi) = corners(scene, id);
            GeomWithData::new(Rectangle::from_corners(lo, hi), id as u32)
        });
        let tree = RTree::bulk_load(items.collect());
        // In the order of the tree, so that successive queries find what they share in the cache.
        let items: Vec<_> = tree.iter().collect();
        self.gather.run(items.len().div_ceil(TASK), |task, hits| {
            for item in &items[task * TASK..items.len().min((task + 1) * TASK)] {
                let (lo, hi) = corners(scene, item.data as usize);
                for other in tree.locate_in_envelope_intersecting(AABB::from_corners(lo, hi)) {
                    if other.data > item.data {
                        hits.push(item.data, other.data);
                    }
                }
            }
        })
    }
}

/// A binary tree of boxes built by binning, and its traversal against itself.
#[derive(Default)]
struct Parry {
    boxes: Vec<Aabb>,
    workspace: BvhWorkspace,
    hits: Hits,
}

impl Rival for Parry {
    fn name(&self) -> &'static str {
        "parry Bvh"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        self.boxes.clear();
        self.boxes.extend((0..scene.len()).map(|id| {
            let (lo, hi) = corners(scene, id);
            Aabb::new(lo.into(), hi.into())
        }));
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &self.boxes);
        let hits = &mut self.hits;
        hits.clear();
        tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |a, b| hits.push(a, b));
        hits.pairs()
    }
}
