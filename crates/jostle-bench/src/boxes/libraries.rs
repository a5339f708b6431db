//! Libraries that search boxes, each as it is documented.

use broccoli::Tree;
use broccoli::aabb::{BBox, ManySwappable};
use jostle_testkit::shapes::BoxScene;
use parry2d::bounding_volume::Aabb;
use parry2d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::Rival;
use crate::rivals::hits::Hits;

fn corners(scene: &BoxScene<2>, id: usize) -> ([f32; 2], [f32; 2]) {
    ([scene.lo[0][id], scene.lo[1][id]], [scene.hi[0][id], scene.hi[1][id]])
}

/// A tree of strips, and sweep and prune within.
#[derive(Default)]
pub(super) struct Broccoli {
    boxes: Vec<ManySwappable<BBox<f32, u32>>>,
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
        let Self { boxes, hits } = self;
        hits.clear();
        Tree::new(boxes).find_colliding_pairs(|p, q| hits.push(*p.unpack_inner(), *q.unpack_inner()));
        hits.pairs()
    }
}

/// An R*-tree loaded in bulk, and a search for each box.
#[derive(Default)]
pub(super) struct RStar {
    hits: Hits,
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
        self.hits.clear();
        for id in 0..scene.len() {
            let (lo, hi) = corners(scene, id);
            for other in tree.locate_in_envelope_intersecting(AABB::from_corners(lo, hi)) {
                if other.data > id as u32 {
                    self.hits.push(id as u32, other.data);
                }
            }
        }
        self.hits.pairs()
    }
}

/// A binary tree of boxes built by binning, and its traversal against itself.
#[derive(Default)]
pub(super) struct Parry {
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
