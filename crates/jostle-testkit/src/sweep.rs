//! Sort and sweep: the answer for scenes too large for the oracle, found in another way.
//!
//! The idea is Baraff's (1992): bodies become intervals on one axis, sorted by their lower ends; a body can only meet
//! those that begin before it ends.

use core::ops::Range;

use jostle_core::Bodies;
use rayon::prelude::*;

use crate::oracle::{Real, overlaps};

/// Bodies swept in one task, small enough that even a task of giants is not the last to finish.
const TASK: usize = 1024;

/// Relative widening of a radius, in units of [`Real::EPSILON`]; see [`Interval::new`].
const RELATIVE_MARGIN: f64 = 4.0;

/// A body and the interval it covers on the sweep axis.
#[derive(Clone, Copy)]
struct Interval<const D: usize, T> {
    low: f64,
    high: f64,
    center: [T; D],
    radius: T,
    id: u32,
}

impl<const D: usize, T: Real> Interval<D, T> {
    /// Two bodies that the predicate accepts have intervals that meet.
    ///
    /// With `u = 2^-24`, `fl` for rounding to `f32` (and alike in `f64` with `u = 2^-53`, 2^-1075 and 2^-1074 below, and a
    /// difference of 2^-537), `d = fl(xj - xi)` and `s = fl(ri + rj)`: the sum of squares is at
    /// least `fl(d*d)`, so a hit means `fl(d*d) <= fl(s*s)`. A product is rounded by at most a factor `1 ± u` and, below
    /// the normal range, by `2^-150`. Hence `d*d*(1 - u) <= s*s*(1 + u) + 2^-149`, and with the roundings of `d` and `s`
    /// `|xj - xi| <= (ri + rj)*(1 + 5u) + 2^-74.4`. Widening each radius by `8u` and `2^-74` covers that with room for
    /// the roundings to `f64` in the width. The last step, `x ± width`, needs none: rounding is monotone, so ends in order
    /// stay in order.
    fn new(view: Bodies<'_, D, T>, id: usize, axis: usize) -> Self {
        let (center, radius) = (view.center(id), view.radius(id));
        let width = radius.to_f64() * (1.0 + RELATIVE_MARGIN * T::EPSILON) + T::VANISHING;
        let x = center[axis].to_f64();
        Self { low: x - width, high: x + width, center, radius, id: id as u32 }
    }
}

/// Every overlapping pair `[a, b]`, `a < b`, in ascending order: equal to [`crate::oracle::pairs`].
///
/// Runs in the current rayon pool. O(n log n + meetings of intervals on the axis of widest spread).
#[must_use]
pub fn pairs<const D: usize>(view: Bodies<'_, D, impl Real>) -> Vec<[u32; 2]> {
    let axis = widest_axis(view);
    let mut intervals: Vec<_> = (0..view.len()).into_par_iter().map(|id| Interval::new(view, id, axis)).collect();
    intervals.par_sort_unstable_by(|p, q| p.low.total_cmp(&q.low));
    let tasks = (0..view.len()).into_par_iter().step_by(TASK);
    let mut pairs: Vec<_> =
        tasks.flat_map_iter(|first| sweep(&intervals, first..view.len().min(first + TASK))).collect();
    pairs.par_sort_unstable();
    pairs
}

/// The pairs of the bodies of `task` with those that begin later.
fn sweep<const D: usize>(intervals: &[Interval<D, impl Real>], task: Range<usize>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for i in task {
        let p = intervals[i];
        for q in intervals[i + 1..].iter().take_while(|q| q.low <= p.high) {
            if overlaps(p.center, p.radius, q.center, q.radius) {
                pairs.push([p.id.min(q.id), p.id.max(q.id)]);
            }
        }
    }
    pairs
}

fn widest_axis<const D: usize>(view: Bodies<'_, D, impl Real>) -> usize {
    let spread = |axis: usize| {
        let values = (0..view.len()).map(|id| view.center(id)[axis].to_f64());
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..D).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::pairs;
    use crate::{Kind, oracle, scene, ugly};

    fn equals_oracle<const D: usize>() {
        for (name, scene) in ugly::all::<D>() {
            assert!(pairs(scene.view()) == oracle::pairs(scene.view()), "{name}, {D} axes");
        }
        for kind in Kind::ALL {
            let scene = scene::scene::<D>(kind, 4_000, 3);
            assert!(pairs(scene.view()) == oracle::pairs(scene.view()), "{kind}, {D} axes");
        }
    }

    #[test]
    fn equals_the_oracle_in_f64() {
        // Rows that just touch or just do not, by roundings alone, at places of all magnitudes.
        for (at, pitch) in [(0.0, 0.1), (1e-290, 1e-300), (-4e8, 0.3), (1e100, 1e86), (0.0, 1e-161), (0.0, 1e140)] {
            let x: Vec<f64> = (0..300).map(|i| at + pitch * f64::from(i)).collect();
            let y: Vec<f64> = (0..300).map(|i| pitch * 1e-9 * f64::from(i % 7)).collect();
            let radii: Vec<f64> = (0..300).map(|i| 0.5 * pitch * (1.0 + 1e-16 * f64::from(i % 5))).collect();
            let circles = jostle_core::Circles64::new(&x, &y, &radii);
            assert!(pairs(circles) == oracle::pairs(circles), "{at} {pitch}");
        }
    }

    #[test]
    fn equals_the_oracle_in_2d() {
        equals_oracle::<2>();
    }

    #[test]
    fn equals_the_oracle_in_3d() {
        equals_oracle::<3>();
    }
}
