//! Every body against every other.

use jostle_testkit::{Kind, Scene};

use super::hits::{Gather, Hits, ordered};
use super::{Rival, center, touches};

/// Rows of the triangle of pairs that make a task.
const TASK: usize = 64;

/// A double loop over the bodies, written without branching on hits.
#[derive(Debug, Default)]
pub(crate) struct Brute {
    gather: Gather,
}

impl<const D: usize> Rival<D> for Brute {
    fn name(&self) -> &'static str {
        "brute force"
    }

    fn hopeless(&self, _: Kind, n: usize) -> bool {
        n > 20_000
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let n = scene.len();
        self.gather.run(n.div_ceil(TASK), |task, hits| {
            for a in task * TASK..n.min((task + 1) * TASK) {
                row(scene, a, hits);
            }
        })
    }
}

/// Tests body `a` against all later bodies.
fn row<const D: usize>(scene: &Scene<D>, a: usize, hits: &mut Hits) {
    let (p, p_radius) = (center(scene, a), scene.radii[a]);
    let later = a + 1..scene.len();
    let centers = scene.centers.each_ref().map(|x| &x[later.clone()]);
    let radii = &scene.radii[later.clone()];
    let room = hits.room(later.len());
    let mut kept = 0;
    for (i, &radius) in radii.iter().enumerate() {
        room[kept] = ordered(a as u32, (a + 1 + i) as u32);
        kept += usize::from(touches(p, p_radius, centers.map(|x| x[i]), radius));
    }
    hits.keep(kept);
}
