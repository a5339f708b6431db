//! Sort and sweep: the answer for scenes too large for the oracle, found in another way.
//!
//! The idea is Baraff's (1992): bodies become intervals on one axis, sorted by their lower ends; a body can only meet
//! those that begin before it ends.

use core::any::Any;
use core::ops::Range;

use jostle_core::Bodies;
use rayon::prelude::*;

use crate::axes::{Gathered, gathered};
use crate::oracle::{Real, overlaps};
use crate::pairs::{key, pair};

/// Bodies swept in one task, small enough that even a task of giants is not the last to finish.
const TASK: usize = 1024;

/// Relative widening of a radius, in units of [`Real::EPSILON`]; see [`Interval::new`].
const RELATIVE_MARGIN: f64 = 4.0;

/// The interval that a body covers on the sweep axis.
#[derive(Clone, Copy)]
struct Interval {
    low: f64,
    high: f64,
    id: u32,
}

impl Interval {
    /// Two bodies that the predicate accepts have intervals that meet.
    ///
    /// With `u = 2^-24`, `fl` for rounding to `f32` (and alike in `f64` with `u = 2^-53`, 2^-1075 and 2^-1074 below, and a
    /// difference of 2^-537), `d = fl(xj - xi)` and `s = fl(ri + rj)`: the sum of squares is at
    /// least `fl(d*d)`, so a hit means `fl(d*d) <= fl(s*s)`. A product is rounded by at most a factor `1 ± u` and, below
    /// the normal range, by `2^-150`. Hence `d*d*(1 - u) <= s*s*(1 + u) + 2^-149`, and with the roundings of `d` and `s`
    /// `|xj - xi| <= (ri + rj)*(1 + 5u) + 2^-74.4`. Widening each radius by `8u` and `2^-74` covers that with room for
    /// the roundings to `f64` in the width. The last step, `x ± width`, needs none: rounding is monotone, so ends in order
    /// stay in order.
    fn new<const D: usize, T: Real>((center, radius): ([T; D], T), id: usize, axis: usize) -> Self {
        let width = radius.to_f64() * (1.0 + RELATIVE_MARGIN * T::EPSILON) + T::VANISHING;
        let x = center[axis].to_f64();
        Self { low: x - width, high: x + width, id: id as u32 }
    }
}

/// Every overlapping pair `[a, b]`, `a < b`, in ascending order: equal to [`crate::oracle::pairs`].
///
/// Runs in the current rayon pool. O(n log n + meetings of intervals on the axis of widest spread).
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn pairs<const D: usize>(view: Bodies<'_, D, impl Real>) -> Vec<[u32; 2]> {
    sweeps(&gathered(view))
}

/// Of bodies of any type: compiled with this crate.
fn sweeps(bodies: &dyn Any) -> Vec<[u32; 2]> {
    let all = [swept::<2, f32>, swept::<3, f32>, swept::<2, f64>, swept::<3, f64>];
    all.into_iter().find_map(|swept| swept(bodies)).expect("bodies have 2 or 3 axes")
}

fn swept<const D: usize, T: Real>(bodies: &dyn Any) -> Option<Vec<[u32; 2]>> {
    let bodies = bodies.downcast_ref::<Gathered<D, T>>()?;
    let axis = widest_axis(bodies);
    let intervals = bodies.iter().enumerate().map(|(id, &body)| Interval::new(body, id, axis));
    let intervals = sorted(intervals.collect());
    let bodies: Gathered<D, T> = intervals.iter().map(|interval| bodies[interval.id as usize]).collect();
    Some(in_tasks(bodies.len(), &|task| sweep(&intervals, &bodies, task)))
}

/// By lower ends.
fn sorted(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.par_sort_unstable_by(|p, q| p.low.total_cmp(&q.low));
    intervals
}

/// What the tasks find, in ascending order.
fn in_tasks(n: usize, sweep: &(dyn Fn(Range<usize>) -> Vec<[u32; 2]> + Sync)) -> Vec<[u32; 2]> {
    let tasks = (0..n).into_par_iter().step_by(TASK);
    let mut keys: Vec<_> = tasks.flat_map_iter(|first| sweep(first..n.min(first + TASK))).map(key).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(pair).collect()
}

/// The pairs of the bodies of `task` with those that begin later.
fn sweep<const D: usize, T: Real>(intervals: &[Interval], bodies: &[([T; D], T)], task: Range<usize>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for i in task {
        let (p, (center, radius)) = (intervals[i], bodies[i]);
        let later = intervals[i + 1..].iter().zip(&bodies[i + 1..]);
        for (q, &(other, other_radius)) in later.take_while(|(q, _)| q.low <= p.high) {
            if overlaps(center, radius, other, other_radius) {
                pairs.push([p.id.min(q.id), p.id.max(q.id)]);
            }
        }
    }
    pairs
}

fn widest_axis<const D: usize, T: Real>(bodies: &[([T; D], T)]) -> usize {
    let spread = |axis: usize| {
        let values = bodies.iter().map(|(center, _)| center[axis].to_f64());
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..D).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}
