//! Estimates, from some bodies, how far all have moved or strayed since they were kept.

use jostle_core::axes::from_axes;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, Workers};
use jostle_sets::proxy::squared;

use super::Reference;
use crate::coherent::packed::Packed;

/// So many bodies are sampled for how far all move on average.
pub(in crate::coherent) const MEAN_OF: usize = 256;

/// So many are sampled for how far all but a few have moved; one task takes `TASK` of them.
const QUANTILE_OF: usize = 4096;
const TASK: usize = 256;

/// One body in so many is sampled for how far all have moved on, but at least and at most so many.
const SAMPLED: usize = 256;
const SAMPLE: [usize; 2] = [4, 32];

/// Where a body is expected to be.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) enum Expected<'a> {
    /// Where it stood when it was kept.
    Stood,
    /// So many steps beyond where it is kept ahead.
    Ahead(f64),
    /// Where it would be had it moved, in each of so many frames, as from the first of two frames to the second.
    Straight(f64, [&'a [Packed]; 2]),
}

impl<const D: usize> Reference<D> {
    /// Returns how far sampled bodies have moved since they stood there, on average, and which part of that is apart
    /// from each other: 0 where all have moved alike.
    pub(in crate::coherent) fn mean_moved(&self, bodies: Bodies<'_, D>) -> [f64; 2] {
        let stood = if self.is_ahead { &self.stood } else { &self.centers };
        let (mut sum, mut together, mut of_all, len) =
            (0.0, [0.0; D], 0.0, if self.is_of(bodies) { bodies.len() } else { 0 });
        let every = len.div_ceil(MEAN_OF).max(1);
        for id in (0..len).step_by(every) {
            let of_axis = |axis: usize| f64::from(bodies.centers()[axis].get(id)) - f64::from(stood[axis][id]);
            let moved: [f64; D] = from_axes(of_axis);
            let moved2 = squared(moved);
            (sum, of_all) = (sum + moved2.sqrt(), of_all + moved2);
            together.iter_mut().zip(moved).for_each(|(sum, moved)| *sum += moved);
        }
        let count = len.div_ceil(every).max(1) as f64;
        let apart =
            if of_all > 0.0 { (1.0 - squared(together) / (count * of_all)).clamp(0.0, 1.0).sqrt() } else { 0.0 };
        [sum / count, apart]
    }

    /// Adds to `all` how far one in so many bodies is from where it is expected; nothing is added for rounding. Returns
    /// whether that is known.
    pub(in crate::coherent) fn sample(
        &self,
        bodies: Bodies<'_, D>,
        (expected, every): (Expected<'_>, usize),
        all: &mut Vec<f32>,
        workers: Workers<'_>,
    ) -> bool {
        let is_known = match expected {
            Expected::Stood => true,
            Expected::Ahead(_) => self.is_ahead(),
            Expected::Straight(_, steps) => steps.iter().all(|frame| frame.len() >= bodies.len()),
        };
        if !self.is_of(bodies) || !is_known {
            return false;
        }
        let stood = if self.is_ahead { &self.stood } else { &self.centers };
        let begin = all.len();
        resize_with_headroom(all, begin + bodies.len().div_ceil(every));
        workers.fill_blocks("sample", &mut all[begin..], TASK, |first, some| {
            for (slot, id) in some.iter_mut().zip((first * every..).step_by(every)) {
                let of_axis = |axis: usize| {
                    let [kept, stood] = [self.centers[axis][id], stood[axis][id]].map(f64::from);
                    let expected = match expected {
                        Expected::Stood => stood,
                        Expected::Ahead(steps) => kept + steps * (kept - stood),
                        Expected::Straight(frames, [before, now]) => {
                            stood + frames * f64::from(now[id].0[axis] - before[id].0[axis])
                        }
                    };
                    f64::from(bodies.centers()[axis].get(id)) - expected
                };
                let grown = f64::from(bodies.radius(id)) - f64::from(self.radii[id]);
                *slot = (squared::<D>(from_axes(of_axis)).sqrt() + grown.abs()) as f32;
            }
        });
        true
    }

    /// Samples bodies that are kept where they are expected to be. Visits how far each is from there along its step
    /// from where it stood, and the length of that step, both times that length.
    pub(in crate::coherent) fn along(&self, bodies: Bodies<'_, D>, mut visit: impl FnMut([f64; 2])) {
        if self.is_ahead() {
            let both = self.len.map_or(0, |len| len.min(bodies.len()));
            let sample = (both / SAMPLED).clamp(SAMPLE[0], SAMPLE[1]);
            for id in (0..both).step_by(both.div_ceil(sample).max(1)) {
                let mut of_body = [0.0; 2];
                for axis in 0..D {
                    let (now, kept) = (bodies.centers()[axis].get(id), self.centers[axis][id]);
                    let step = f64::from(kept) - f64::from(self.stood[axis][id]);
                    of_body = [of_body[0] + (f64::from(now) - f64::from(kept)) * step, of_body[1] + step * step];
                }
                visit(of_body);
            }
        }
    }
}

/// Returns one in how many of all bodies is sampled for how far all but a few have moved.
pub(in crate::coherent) fn every_for_quantile(bodies: usize) -> usize {
    bodies.div_ceil(QUANTILE_OF).max(1)
}

/// Leaves out the greatest values, one in `share`; returns the greatest of the others.
pub(in crate::coherent) fn most_of(all: &mut [f32], share: usize) -> f32 {
    let Some(last) = all.len().checked_sub(1) else { return 0.0 };
    let at = last - all.len() / share;
    *all.select_nth_unstable_by(at, f32::total_cmp).1
}
