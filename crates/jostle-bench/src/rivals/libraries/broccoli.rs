//! broccoli: a tree of strips, halved in turn along each axis, and sweep and prune within.

use broccoli::Tree;
use broccoli::aabb::pin::AabbPin;
use broccoli::aabb::{BBox, ManySwappable};
use broccoli_rayon::prelude::{RayonBuildPar, RayonQueryPar};
use jostle_testkit::Scene;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::{corners, overlap};
use crate::rivals::hits::{Hits, concatenate};
use crate::rivals::{Rival, center};

type Boxed = ManySwappable<BBox<f32, u32>>;

/// Boxes that hold the id of their body, as documented for elements that are swapped often.
#[derive(Debug, Default)]
pub(crate) struct Broccoli {
    boxes: Vec<Boxed>,
    lists: Vec<Hits>,
    all: Hits,
}

impl Rival<2> for Broccoli {
    fn name(&self) -> &'static str {
        "broccoli"
    }

    fn package(&self) -> &'static str {
        "broccoli"
    }

    fn find(&mut self, scene: &Scene<2>) -> &[[u32; 2]] {
        self.boxes.resize_with(scene.len(), || ManySwappable(broccoli::bbox(broccoli::rect(0.0, 0.0, 0.0, 0.0), 0)));
        let fill = |(id, slot): (usize, &mut Boxed)| {
            let (lo, hi) = corners(center(scene, id), scene.radii[id]);
            *slot = ManySwappable(broccoli::bbox(broccoli::rect(lo[0], hi[0], lo[1], hi[1]), id as u32));
        };
        self.all.clear();
        if rayon::current_num_threads() == 1 {
            self.boxes.iter_mut().enumerate().for_each(fill);
            let hits = &mut self.all;
            Tree::new(&mut self.boxes).find_colliding_pairs(|p, q| take(scene, p, q, hits));
        } else {
            self.boxes.par_iter_mut().enumerate().for_each(fill);
            let mut first = self.lists.pop().unwrap_or_default();
            first.clear();
            self.lists = Tree::par_new(&mut self.boxes).par_find_colliding_pairs_acc_closure(
                vec![first],
                |_| vec![Hits::default()],
                |lists, mut more| lists.append(&mut more),
                |lists, p, q| take(scene, p, q, &mut lists[0]),
            );
            concatenate(&self.lists, &mut self.all);
        }
        self.all.pairs()
    }
}

/// Keeps two bodies, whose boxes overlap, if the bodies overlap as well.
#[inline(always)]
fn take(scene: &Scene<2>, p: AabbPin<&mut Boxed>, q: AabbPin<&mut Boxed>, hits: &mut Hits) {
    let (a, b) = (*p.unpack_inner(), *q.unpack_inner());
    if overlap(scene, a, b) {
        hits.push(a, b);
    }
}
