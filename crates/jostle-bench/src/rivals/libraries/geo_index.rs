//! geo-index: a packed R-tree in Hilbert order, and a query for each body.

use geo_index::rtree::sort::HilbertSort;
use geo_index::rtree::{RTreeBuilder, RTreeIndex};
use jostle_testkit::Scene;

use super::{corners, overlap};
use crate::rivals::hits::Gather;
use crate::rivals::{Rival, center};

/// Bodies whose queries make a task.
const TASK: usize = 1024;

/// The builder takes its memory anew for each tree, and each query returns a list of its own.
#[derive(Debug, Default)]
pub(crate) struct GeoIndex {
    gather: Gather,
}

impl Rival<2> for GeoIndex {
    fn name(&self) -> &'static str {
        "geo-index"
    }

    fn package(&self) -> &'static str {
        "geo-index"
    }

    fn find(&mut self, scene: &Scene<2>) -> &[[u32; 2]] {
        let n = scene.len();
        let mut builder = RTreeBuilder::<f32>::new(n as u32);
        for id in 0..n {
            let (lo, hi) = corners(center(scene, id), scene.radii[id]);
            builder.add(lo[0], lo[1], hi[0], hi[1]);
        }
        let tree = builder.finish::<HilbertSort>();
        // The boxes of the lowest level, in the order of the tree, with their ids.
        let (boxes, ids) = (tree.boxes(), tree.indices());
        self.gather.run(n.div_ceil(TASK), |task, hits| {
            for place in task * TASK..n.min((task + 1) * TASK) {
                let a = ids.get(place) as u32;
                let corners = &boxes[4 * place..4 * place + 4];
                for b in tree.search(corners[0], corners[1], corners[2], corners[3]) {
                    if a < b && overlap(scene, a, b) {
                        hits.push(a, b);
                    }
                }
            }
        })
    }
}
