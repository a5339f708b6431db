//! rstar: an R*-tree loaded in bulk, and a query for each body.

use jostle_testkit::Scene;
use rstar::{AABB, RTree, RTreeObject};

use super::corners;
use crate::rivals::hits::Gather;
use crate::rivals::{Rival, center, touches};

/// Bodies whose queries make a task.
const TASK: usize = 1024;

/// A body with its box.
#[derive(Debug, Clone)]
struct Item<const D: usize> {
    aabb: AABB<[f32; D]>,
    center: [f32; D],
    radius: f32,
    id: u32,
}

impl<const D: usize> RTreeObject for Item<D> {
    type Envelope = AABB<[f32; D]>;

    fn envelope(&self) -> Self::Envelope {
        self.aabb
    }
}

/// The tree takes its elements by value, so nothing is kept from search to search.
#[derive(Debug, Default)]
pub(crate) struct RStar {
    gather: Gather,
}

impl<const D: usize> Rival<D> for RStar {
    fn name(&self) -> &'static str {
        "rstar"
    }

    fn package(&self) -> &'static str {
        "rstar"
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let item = |id: usize| {
            let (center, radius) = (center(scene, id), scene.radii[id]);
            let (lo, hi) = corners(center, radius);
            Item { aabb: AABB::from_corners(lo, hi), center, radius, id: id as u32 }
        };
        let tree = RTree::bulk_load((0..scene.len()).map(item).collect());
        // In the order of the tree, so that successive queries find what they share in the cache.
        let items: Vec<&Item<D>> = tree.iter().collect();
        self.gather.run(items.len().div_ceil(TASK), |task, hits| {
            for p in &items[task * TASK..items.len().min((task + 1) * TASK)] {
                for q in tree.locate_in_envelope_intersecting(p.aabb) {
                    if p.id < q.id && touches(p.center, p.radius, q.center, q.radius) {
                        hits.push(p.id, q.id);
                    }
                }
            }
        })
    }
}
