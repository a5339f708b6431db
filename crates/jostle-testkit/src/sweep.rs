//! Sort and sweep: the answer for scenes too large for the oracle, found in another way.
//!
//! The idea is Baraff's (1992): bodies become intervals on one axis, sorted by their lower ends, and a body can only
//! meet bodies that begin before it ends. The sweep is made in each of several strips across another axis, with all
//! bodies that reach into the strip. Of two bodies that meet there, the pair belongs to the strip where the later of
//! the two begins.

use core::any::Any;
use core::ops::Range;

use jostle_core::Bodies;
use jostle_core::axes::from_axes;
use rayon::prelude::*;

use crate::axes::{Gathered, gathered};
use crate::oracle::{Real, overlaps};
use crate::pairs::of_tasks_ascending;

/// Bodies swept in one task, small enough that even a task of giants is not the last to finish.
const TASK: usize = 1024;

/// The number of strips, unless bodies are few.
const STRIPS: usize = 32;

/// Relative widening of a radius, in units of [`Real::EPSILON`]; see [`Interval::new`].
const RELATIVE_MARGIN: f64 = 4.0;

/// The interval that a body covers on the sweep axis.
#[derive(Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) id: u32,
}

impl Interval {
    /// Makes the interval of a body. Two bodies that the predicate accepts have intervals that meet.
    ///
    /// Let `u = 2^-24`, `fl` be rounding to `f32`, `d = fl(xj - xi)` and `s = fl(ri + rj)`. (The same holds in `f64`
    /// with `u = 2^-53`, 2^-1075 and 2^-1074 below, and a difference of 2^-537.) The sum of squares is at least
    /// `fl(d*d)`, so a hit means `fl(d*d) <= fl(s*s)`. A product is rounded by at most a factor `1 ± u` and, below the
    /// normal range, by `2^-150`. Hence `d*d*(1 - u) <= s*s*(1 + u) + 2^-149`, and with the roundings of `d` and `s`
    /// `|xj - xi| <= (ri + rj)*(1 + 5u) + 2^-74.4`. Widening each radius by `8u` and `2^-74` covers that, with room for
    /// the roundings to `f64` in the width. The last step, `x ± width`, needs no room: rounding is monotone, so ends in
    /// order stay in order.
    fn new<const D: usize, T: Real>((center, radius): ([T; D], T), id: usize, axis: usize) -> Self {
        let width = radius.to_f64() * (1.0 + RELATIVE_MARGIN * T::EPSILON) + T::VANISHING;
        let x = center[axis].to_f64();
        Self { low: x - width, high: x + width, id: id as u32 }
    }
}

/// Returns every overlapping pair `[a, b]`, `a < b`, in ascending order: equal to [`crate::oracle::pairs`].
///
/// Runs in the current rayon pool. O(n log n + meetings of intervals on the axis of widest spread).
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn pairs<const D: usize>(view: Bodies<'_, D, impl Real>) -> Vec<[u32; 2]> {
    sweeps(&gathered(view))
}

/// Finds pairs of bodies of any type: compiled with this crate.
fn sweeps(bodies: &dyn Any) -> Vec<[u32; 2]> {
    let all = [swept::<2, f32>, swept::<3, f32>, swept::<2, f64>, swept::<3, f64>];
    all.into_iter().find_map(|swept| swept(bodies)).expect("bodies have 2 or 3 axes")
}

fn swept<const D: usize, T: Real>(bodies: &dyn Any) -> Option<Vec<[u32; 2]>> {
    let bodies = bodies.downcast_ref::<Gathered<D, T>>()?;
    let [axis, across] = widest_axes(bodies);
    let intervals = bodies.iter().enumerate().map(|(id, &body)| Interval::new(body, id, axis));
    let intervals = sorted(intervals.collect());
    let strips = in_strips(&intervals, bodies, across);
    let tasks: Vec<_> =
        (0..strips.len()).flat_map(|at| (0..strips[at].len()).step_by(TASK).map(move |first| (at, first))).collect();
    Some(of_tasks_ascending(tasks.len(), &|task| {
        let (at, first) = tasks[task];
        sweep(&strips[at], at, first..strips[at].len().min(first + TASK))
    }))
}

/// A body in a strip: its interval on the first axis, its numbers, and the strip where it begins.
type Entry<const D: usize, T> = (Interval, ([T; D], T), usize);

/// Returns the bodies of each strip across an axis, in the order of the intervals. A body stands in all strips that its
/// interval on that axis reaches into. Where two such intervals meet, the greater of their lower ends lies in both, and
/// so does its strip, since the strip of a number is no less than the strip of a lesser number.
fn in_strips<const D: usize, T: Real>(
    intervals: &[Interval],
    bodies: &[([T; D], T)],
    across: usize,
) -> Vec<Vec<Entry<D, T>>> {
    let [low, high] = span(bodies, across);
    let last = (bodies.len() / TASK).min(STRIPS - 1);
    let strip = |x: f64| (((x - low) / (high - low) * (last + 1) as f64) as usize).min(last);
    let mut strips = vec![Vec::new(); last + 1];
    for &interval in intervals {
        let body = bodies[interval.id as usize];
        let reach = Interval::new(body, interval.id as usize, across);
        let first = strip(reach.low);
        for entries in &mut strips[first..=strip(reach.high)] {
            entries.push((interval, body, first));
        }
    }
    strips
}

/// Sorts intervals by their lower ends.
pub(crate) fn sorted(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.par_sort_unstable_by(|p, q| p.low.total_cmp(&q.low));
    intervals
}

/// Returns the pairs of the bodies of `task` with bodies that begin later, as far as the pairs belong to this strip.
fn sweep<const D: usize, T: Real>(entries: &[Entry<D, T>], strip: usize, task: Range<usize>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for i in task {
        let (p, (center, radius), first) = entries[i];
        let later = entries[i + 1..].iter().take_while(|(q, ..)| q.low <= p.high);
        for &(q, (other, other_radius), other_first) in later {
            if overlaps(center, radius, other, other_radius) && first.max(other_first) == strip {
                pairs.push([p.id.min(q.id), p.id.max(q.id)]);
            }
        }
    }
    pairs
}

/// Returns the two axes on which centres are spread most.
fn widest_axes<const D: usize, T: Real>(bodies: &[([T; D], T)]) -> [usize; 2] {
    let spread = |axis: usize| {
        let [low, high] = span(bodies, axis);
        high - low
    };
    let spreads: [f64; D] = from_axes(spread);
    // Of equal axes the first.
    let widest = |but: usize| {
        let axes = (0..D).rev().filter(|&axis| axis != but);
        axes.max_by(|&a, &b| spreads[a].total_cmp(&spreads[b])).unwrap_or(0)
    };
    let first = widest(D);
    [first, widest(first)]
}

/// Returns the least and the greatest centre on an axis.
fn span<const D: usize, T: Real>(bodies: &[([T; D], T)], axis: usize) -> [f64; 2] {
    let values = bodies.iter().map(|(center, _)| center[axis].to_f64());
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
    [low, high]
}
