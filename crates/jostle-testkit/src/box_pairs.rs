//! The pairs of any number of boxes, of either precision: by a double loop, and by sort and sweep.
//!
//! Corners are compared as `f64`, which holds corners in `f32` exactly. Margins are left out.

use core::any::Any;

use jostle_core::{BoxView, Scalar};

use crate::oracle::later_hits;
use crate::pairs::{of_tasks, of_tasks_ascending};
use crate::sweep::{Interval, sorted};

/// Boxes that one task of the sweep takes.
const TASK: usize = 1024;

/// Lower and upper corners.
type Corners<const D: usize> = Vec<[[f64; D]; 2]>;

/// Returns every overlapping pair `[a, b]`, `a < b`, in ascending order, by a double loop. Its rows are shared out
/// among the threads of the current rayon pool. O(n^2).
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn in_parallel<const D: usize>(boxes: BoxView<'_, D, impl Scalar>) -> Vec<[u32; 2]> {
    all_rows(&gathered(boxes))
}

/// Returns the same pairs, by a sweep. Boxes are sorted by their lower corners on the axis of widest spread, and each
/// box meets the boxes that begin before it ends. Runs in the current rayon pool. O(n log n + meetings of intervals on
/// that axis).
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn by_sweep<const D: usize>(boxes: BoxView<'_, D, impl Scalar>) -> Vec<[u32; 2]> {
    all_swept(&gathered(boxes))
}

fn gathered<const D: usize>(boxes: BoxView<'_, D, impl Scalar>) -> Corners<D> {
    (0..boxes.len()).map(|id| [boxes.lo(id), boxes.hi(id)].map(|corner| corner.map(Scalar::to_f64))).collect()
}

/// Finds pairs of boxes of any number of axes: compiled with this crate.
fn all_rows(boxes: &dyn Any) -> Vec<[u32; 2]> {
    rows::<2>(boxes).or_else(|| rows::<3>(boxes)).expect("boxes have 2 or 3 axes")
}

/// As [`all_rows`], by the sweep.
fn all_swept(boxes: &dyn Any) -> Vec<[u32; 2]> {
    swept::<2>(boxes).or_else(|| swept::<3>(boxes)).expect("boxes have 2 or 3 axes")
}

fn overlap<const D: usize>([lo, hi]: &[[f64; D]; 2], [low, high]: &[[f64; D]; 2]) -> bool {
    // Without a branch: see `later_hits`.
    (0..D).fold(true, |overlap, axis| overlap & (lo[axis] <= high[axis]) & (low[axis] <= hi[axis]))
}

fn rows<const D: usize>(boxes: &dyn Any) -> Option<Vec<[u32; 2]>> {
    let boxes = boxes.downcast_ref::<Corners<D>>()?;
    Some(of_tasks(boxes.len(), &|a| later_hits(boxes, a, |other| overlap(&boxes[a], other))))
}

fn swept<const D: usize>(boxes: &dyn Any) -> Option<Vec<[u32; 2]>> {
    let boxes = boxes.downcast_ref::<Corners<D>>()?;
    let axis = widest_axis(boxes);
    let sides = boxes.iter().map(|[lo, hi]| [lo[axis], hi[axis]]);
    let order = sorted(sides.zip(0..).map(|([low, high], id)| Interval { low, high, id }).collect());
    let sorted: Vec<_> = order.iter().map(|interval| (boxes[interval.id as usize], interval.id)).collect();
    Some(of_tasks_ascending(sorted.len().div_ceil(TASK), &|task| {
        let mut pairs = Vec::new();
        for i in task * TASK..sorted.len().min((task + 1) * TASK) {
            let (one, a) = &sorted[i];
            for (other, b) in sorted[i + 1..].iter().take_while(|(other, _)| other[0][axis] <= one[1][axis]) {
                if overlap(one, other) {
                    pairs.push([*a.min(b), *a.max(b)]);
                }
            }
        }
        pairs
    }))
}

/// Returns the axis on which finite lower corners are spread most.
fn widest_axis<const D: usize>(boxes: &Corners<D>) -> usize {
    let spread = |axis: usize| {
        let begin = boxes.iter().map(|[lo, _]| lo[axis]).filter(|x| x.is_finite());
        let (low, high) = begin.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..D).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}
