//! Sweep and prune by hand. Boxes are sorted by where they begin on one axis. Each box is tested against the boxes that
//! begin before it ends.

use jostle_testkit::shapes::BoxScene;
use rayon::slice::ParallelSliceMut;

use super::Rival;
use crate::rivals::hits::{Gather, ordered};

/// Boxes that one task sweeps from.
const TASK: usize = 2048;

/// Sweeps along the axis on which the sides of all boxes together cover less of the world.
#[derive(Default)]
pub(super) struct Sweep {
    /// Where each box begins and ends on the axis of the sweep and on the other axis, and its id.
    boxes: Vec<([f32; 4], u32)>,
    gather: Gather,
}

impl Rival for Sweep {
    fn name(&self) -> &'static str {
        "sweep and prune by hand"
    }

    fn hopeless(&self, _: super::BoxKind, n: usize) -> bool {
        n > 200_000
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let n = scene.len();
        let covered = |axis: usize| {
            let (lo, hi) = (&scene.lo[axis], &scene.hi[axis]);
            let sides = lo.iter().zip(hi).map(|(lo, hi)| f64::from(hi - lo)).sum::<f64>();
            let ends = lo.iter().fold((f32::MAX, f32::MIN), |(low, high), &x| (low.min(x), high.max(x)));
            sides / f64::from(ends.1 - ends.0)
        };
        let axis = usize::from(covered(1) < covered(0));
        let Self { boxes, gather } = self;
        boxes.clear();
        boxes.extend((0..n).map(|id| {
            let on = |axis: usize| [scene.lo[axis][id], scene.hi[axis][id]];
            let ([lo, hi], [low, high]) = (on(axis), on(1 - axis));
            ([lo, hi, low, high], id as u32)
        }));
        if rayon::current_num_threads() == 1 {
            boxes.sort_unstable_by(|p, q| p.0[0].total_cmp(&q.0[0]));
        } else {
            boxes.par_sort_unstable_by(|p, q| p.0[0].total_cmp(&q.0[0]));
        }
        gather.run(n.div_ceil(TASK), |task, hits| {
            for i in task * TASK..n.min((task + 1) * TASK) {
                let ([_, end, low, high], id) = boxes[i];
                let reach = boxes[i + 1..].iter().take_while(|other| other.0[0] <= end).count();
                let (room, mut kept) = (hits.room(reach), 0);
                for &([_, _, other_low, other_high], other) in &boxes[i + 1..i + 1 + reach] {
                    room[kept] = ordered(id, other);
                    kept += usize::from((low <= other_high) & (other_low <= high));
                }
                hits.keep(kept);
            }
        })
    }
}
