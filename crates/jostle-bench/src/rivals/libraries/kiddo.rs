//! kiddo: a k-d tree of the centres. For each body, a query reaches as far as it and the largest body may reach.

use jostle_testkit::{Kind, Scene};
use kiddo::{ImmutableKdTree, SquaredEuclidean};

use super::overlap;
use crate::rivals::hits::Gather;
use crate::rivals::{Rival, center};

/// Bodies whose queries make a task.
const TASK: usize = 1024;

/// Queries reach farther than the radii by this factor, for what rounding may take from the distance.
const SLACK: f32 = 1.000_01;

/// Below this, squares of distances vanish.
const ABSOLUTE_SLACK: f32 = 1e-30;

/// The tree of centres is built anew for each search; the library has no call to reuse one.
#[derive(Debug, Default)]
pub(crate) struct Kiddo<const D: usize> {
    points: Vec<[f32; D]>,
    gather: Gather,
}

impl<const D: usize> Rival<D> for Kiddo<D> {
    fn name(&self) -> &'static str {
        "kiddo"
    }

    fn package(&self) -> &'static str {
        "kiddo"
    }

    fn hopeless(&self, kind: Kind, n: usize) -> bool {
        kind == Kind::PowerLaw && n > 100_000
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let n = scene.len();
        self.points.clear();
        self.points.extend((0..n).map(|id| center(scene, id)));
        let builder = ImmutableKdTree::<f32, D>::builder();
        let tree = if rayon::current_num_threads() == 1 {
            builder.with_serial_construction().build_from_slice(&self.points)
        } else {
            builder.with_parallel_construction().build_from_slice(&self.points)
        };
        let tree = tree.expect("scenes are small enough");
        let largest = scene.radii.iter().copied().fold(0.0, f32::max);
        self.gather.run(n.div_ceil(TASK), |task, hits| {
            let mut scratch = tree.create_scratch::<SquaredEuclidean<f32>>();
            for a in task * TASK..n.min((task + 1) * TASK) {
                let reach = (scene.radii[a] + largest) * SLACK;
                let a = a as u32;
                let query = tree.query(&self.points[a as usize]);
                let query = query.within::<SquaredEuclidean<f32>>(reach * reach + ABSOLUTE_SLACK).unsorted();
                query.without_distances().with_scratch(&mut scratch).visit(|found| {
                    if a < found.item && overlap(scene, a, found.item) {
                        hits.push(a, found.item);
                    }
                });
            }
        })
    }
}
