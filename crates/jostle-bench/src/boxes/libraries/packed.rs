//! More libraries that search boxes, most of them by a query for each box. Queries follow the order of the tree, and
//! tasks of them run side by side.

use cgmath::Point2;
use geo_index::rtree::sort::HilbertSort;
use geo_index::rtree::{RTreeBuilder, RTreeIndex};
use glam::Vec3A;
use jostle_testkit::shapes::BoxScene;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::ploc::PlocBuilder;
use zvxryb_broadphase::{Bounds, Index64_2D, Layer, LayerBuilder};

use super::{corners, overlap};
use crate::boxes::Rival;
use crate::rivals::hits::{Gather, Hits};
use crate::rivals::libraries::box2d::{EVERYWHERE, Tree, aabb_of};
use crate::rivals::libraries::obvhs as obvhs_queries;

/// Boxes whose queries make a task.
const TASK: usize = 1024;

/// A packed R-tree in Hilbert order.
#[derive(Default)]
pub(super) struct GeoIndex(Gather);

impl Rival for GeoIndex {
    fn name(&self) -> &'static str {
        "geo-index"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let n = scene.len();
        let mut builder = RTreeBuilder::<f32>::new(n as u32);
        for id in 0..n {
            let (lo, hi) = corners(scene, id);
            builder.add(lo[0], lo[1], hi[0], hi[1]);
        }
        let tree = builder.finish::<HilbertSort>();
        // The boxes of the lowest level, in the order of the tree, with their ids.
        let (boxes, ids) = (tree.boxes(), tree.indices());
        self.0.run(n.div_ceil(TASK), |task, hits| {
            for place in task * TASK..n.min((task + 1) * TASK) {
                let a = ids.get(place) as u32;
                let corners = &boxes[4 * place..4 * place + 4];
                for b in tree.search(corners[0], corners[1], corners[2], corners[3]) {
                    if a < b {
                        hits.push(a, b);
                    }
                }
            }
        })
    }
}

/// A binary tree of boxes by PLOC.
#[derive(Default)]
pub(super) struct Obvhs {
    boxes: Vec<Aabb>,
    builder: PlocBuilder,
    tree: Bvh2,
    gather: Gather,
}

impl Rival for Obvhs {
    fn name(&self) -> &'static str {
        "obvhs"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let Self { boxes, builder, tree, gather } = self;
        boxes.clear();
        boxes.extend((0..scene.len()).map(|id| {
            let (lo, hi) = corners(scene, id);
            Aabb::new(Vec3A::new(lo[0], lo[1], 0.0), Vec3A::new(hi[0], hi[1], 0.0))
        }));
        obvhs_queries::build(builder, tree, boxes);
        obvhs_queries::pairs(tree, boxes, gather, |a, b| overlap(scene, a, b))
    }
}

/// The dynamic tree of Box2D 3: proxies go in one by one, then all of it is rebuilt.
#[derive(Default)]
pub(super) struct Box2d {
    order: Vec<u32>,
    gather: Gather,
}

impl Rival for Box2d {
    fn name(&self) -> &'static str {
        "Box2D tree"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let mut tree = Tree::with_capacity(scene.len());
        for id in 0..scene.len() {
            tree.insert(aabb_of(corners(scene, id)), id as u32);
        }
        tree.rebuild(true);
        let Self { order, gather } = self;
        order.clear();
        tree.query(EVERYWHERE, |id| order.push(id));
        gather.run(order.len().div_ceil(TASK), |task, hits| {
            for &a in &order[task * TASK..order.len().min((task + 1) * TASK)] {
                tree.query(aabb_of(corners(scene, a as usize)), |b| {
                    if a < b && overlap(scene, a, b) {
                        hits.push(a, b);
                    }
                });
            }
        })
    }
}

/// Boxes cut into cells of a quadtree, sorted along the Morton curve, and one scan.
#[derive(Default)]
pub(super) struct Broadphase {
    layer: Option<Layer<Index64_2D, u32>>,
    hits: Hits,
}

impl Rival for Broadphase {
    fn name(&self) -> &'static str {
        "zvxryb-broadphase"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let bounds = |(lo, hi): ([f32; 2], [f32; 2])| Bounds::new(Point2::from(lo), Point2::from(hi));
        let extreme = |columns: &[Vec<f32>; 2], pick: fn(f32, f32) -> f32| {
            columns.each_ref().map(|column| column.iter().copied().reduce(pick).unwrap_or(0.0))
        };
        let world = (extreme(&scene.lo, f32::min), extreme(&scene.hi, f32::max));
        let alone = rayon::current_num_threads() == 1;
        // Depth as documented: 0 on one thread; on several, -log2(largest box / world), and never too high.
        let widest = (0..2).map(|axis| world.1[axis] - world.0[axis]).fold(0.0, f32::max);
        let sides = (0..2).flat_map(|axis| scene.lo[axis].iter().zip(&scene.hi[axis])).map(|(lo, hi)| hi - lo);
        let largest = sides.fold(f32::MIN_POSITIVE, f32::max);
        let depth = if alone { 0 } else { (widest / largest).log2().floor().clamp(0.0, 8.0) as u32 };
        let layer = self.layer.get_or_insert_with(|| LayerBuilder::new().with_min_depth(depth).build());
        layer.clear();
        layer.extend(bounds(world), (0..scene.len()).map(|id| (bounds(corners(scene, id)), id as u32)));
        let found = if alone {
            layer.scan_filtered(|a, b| overlap(scene, a, b))
        } else {
            layer.par_scan_filtered(|a, b| overlap(scene, a, b))
        };
        self.hits.clear();
        found.iter().for_each(|&(a, b)| self.hits.push(a, b));
        self.hits.pairs()
    }
}
