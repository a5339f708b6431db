//! Plain bodies, in `f32` at rest in open space, as they were or are expected to be. `measure` measures how far all
//! have moved from there, and `sample` how far some have; `ahead` tells where
//! they are expected.

pub(super) mod ahead;
pub(super) mod measure;
pub(super) mod sample;

use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Axes, Both, from_axes, slices_mut};
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Workers};
use jostle_sets::Circle;

use crate::coherent::bands::ROUNDING_OFF;
use crate::coherent::packed::SHARES;

/// Bodies that one task reads, at most, and tasks of a worker: with fewer tasks it would have to wait for the last one.
const BLOCK: usize = 1 << 13;
const TASKS: usize = 2;

/// Bodies that are read at a time.
pub(super) const PART: usize = 256;

/// Returns how many of `bodies` one task reads. In a recording, which holds for any number of workers, it reads the
/// fewest.
pub(super) fn block(bodies: usize, workers: Workers<'_>) -> usize {
    let tasks = if matches!(workers, Workers::Recorded) { usize::MAX } else { TASKS * workers.count() };
    bodies.div_ceil(tasks).next_multiple_of(PART).clamp(PART, BLOCK)
}

/// One body in so many may stray, come or go while what is kept of the others holds.
pub(super) const SHARE: usize = 64;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Reference<const D: usize> {
    /// Where the bodies stood, or are expected to be halfway through a list, and their radii; filled up to whole parts.
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
    /// Where the bodies stood, if they are not kept there.
    stood: [Vec<f32>; D],
    /// Their radii with margins, if each has one of its own. And, if bodies on no course have, the widest margin over
    /// that of each.
    grown: Vec<f32>,
    weights: Vec<f32>,
    is_ahead: bool,
    /// How many bodies are kept; none before any are.
    len: Option<usize>,
}

impl<const D: usize> Default for Reference<D> {
    fn default() -> Self {
        let [centers, stood] = [const { [const { Vec::new() }; D] }; 2];
        Self { centers, radii: Vec::new(), stood, grown: Vec::new(), weights: Vec::new(), is_ahead: false, len: None }
    }
}

impl<const D: usize> Reference<D> {
    pub(super) fn bytes(&self) -> usize {
        let columns = self.centers.iter().chain(&self.stood).chain([&self.radii, &self.grown, &self.weights]);
        columns.map(Vec::capacity).sum::<usize>() * size_of::<f32>()
    }

    /// Keeps these bodies where they stand.
    pub(super) fn keep(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        (self.len, self.is_ahead) = (Some(bodies.len()), false);
        for axis in 0..D {
            keep_column(&mut self.centers[axis], bodies.centers()[axis], workers);
        }
        self.keep_radii(bodies, workers);
    }

    fn keep_radii(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        keep(&mut self.radii, bodies.len(), &|first, out| bodies.radii().copy_into(first, out), workers);
        // A list of another kind may need these: later frames allocate nothing.
        fill_with_headroom(&mut self.weights, self.radii.len(), 1.0);
    }

    /// Whether bodies are kept where they are expected to be.
    pub(super) fn is_ahead(&self) -> bool {
        self.is_ahead && self.len.is_some()
    }

    /// Returns the centres of the bodies as they are kept.
    pub(super) fn centers(&self) -> [&[f32]; D] {
        let len = self.len.unwrap_or_default();
        self.centers.each_ref().each(|column| &column[..len])
    }

    /// Gives each body that is kept ahead a margin of its own: `times` as long as its step, plus `tolerance`, which is
    /// as far as any may stray, but no more than `most`. Returns how long the longest step is, and the largest radius.
    pub(super) fn grow(&mut self, (times, tolerance, most): (f32, f32, f32), workers: Workers<'_>) -> [f32; 2] {
        let Self { centers, radii, stood, grown, .. } = self;
        fill_with_headroom(grown, radii.len(), 0.0);
        let all = Mutex::new([0.0_f32; 2]);
        let block = block(radii.len(), workers);
        workers.fill_blocks("grow", grown, block, |first, block| {
            squared_steps(block, (centers, stood), first);
            let [mut longest, mut largest] = [0.0_f32; 2];
            for (slot, radius) in block.iter_mut().zip(&radii[first..]) {
                let step = slot.sqrt();
                longest = if step > longest { step } else { longest };
                largest = if *radius > largest { *radius } else { largest };
                *slot = radius + (step * times + tolerance).min(most);
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            *all = [all[0].max(longest), all[1].max(largest)];
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Reference::grow`], for bodies on no course. Each margin is a whole number of `SHARES` of `widest`, the widest.
    pub(super) fn grow_own(&mut self, (times, least, widest): (f32, f32, f32), workers: Workers<'_>) {
        let Self { centers, radii, stood, grown, weights, .. } = self;
        fill_with_headroom(grown, radii.len(), 0.0);
        let block = block(radii.len(), workers);
        let (most, shares_of_one) = (1.0 / SHARES, 1.0 / (widest * SHARES));
        let columns = [[grown.as_mut_slice()], [weights.as_mut_slice()]];
        workers.fill_columns("grow", columns, block, |first, [[grown], [weights]]| {
            squared_steps(weights, (centers, stood), first);
            for ((weight, grown), radius) in weights.iter_mut().zip(grown).zip(&radii[first..]) {
                // Rounded up.
                let shares = (weight.sqrt() * times + least) * shares_of_one + 0.5;
                let shares = (shares + ROUNDING_OFF) - ROUNDING_OFF;
                let shares = if shares < most { shares } else { most };
                // A body that is not sound is told by its radius, not by its margin.
                let shares = if shares > 1.0 { shares } else { 1.0 } * SHARES;
                (*grown, *weight) = (radius + shares * widest, 1.0 / shares);
            }
        });
    }

    /// Returns the bodies as they are kept: with their own margins, if `own`, or else with this one.
    pub(super) fn bodies(&self, margin: f32, own: bool) -> Option<Bodies<'_, D>> {
        let len = self.len?;
        let centers = self.centers();
        Some(if own {
            Bodies::from_slices(centers, &self.grown[..len])
        } else {
            Bodies::from_slices(centers, &self.radii[..len]).with_margin(margin)
        })
    }

    /// Returns the columns of where bodies are kept and where they stood, filled up to whole parts, to move both; none
    /// if there are not `len` bodies.
    pub(super) fn columns_mut(&mut self, len: usize) -> Option<[[&mut [f32]; D]; 2]> {
        self.len.filter(|&kept| kept == len)?;
        let Self { centers, stood, .. } = self;
        for (stood, centers) in stood.iter_mut().zip(&*centers) {
            fill_with_headroom(stood, centers.len(), 0.0);
        }
        Some([centers, stood].both(slices_mut))
    }

    /// Returns a body as it is kept, with its own margin, if `own`, or else with this one.
    pub(super) fn grown_body(&self, id: u32, margin: f32, own: bool) -> Option<Circle<D>> {
        let center = self.centers();
        if id as usize >= center[0].len() {
            return None;
        }
        let radius = if own { *self.grown.get(id as usize)? } else { self.radii.get(id as usize)? + margin };
        Some(Circle::new(from_axes(|axis| center[axis][id as usize]), radius))
    }

    /// Adapts to a few bodies that have come or gone, the last ones of the set. The others stay as they are kept; new
    /// bodies are kept where they stand now.
    pub(super) fn adapt(&mut self, bodies: Bodies<'_, D>) {
        let Some(kept) = self.len.filter(|&kept| kept != bodies.len()) else { return };
        if kept.abs_diff(bodies.len()) > kept / SHARE {
            return;
        }
        let adapt = |column: &mut Vec<f32>, now: &dyn Fn(usize) -> f32| {
            column.truncate(kept.min(bodies.len()));
            column.extend((kept..bodies.len()).map(now));
            column.resize(bodies.len().next_multiple_of(PART), 0.0);
        };
        for axis in 0..D {
            let now = |id| bodies.centers()[axis].get(id);
            adapt(&mut self.centers[axis], &now);
            if self.is_ahead {
                adapt(&mut self.stood[axis], &now);
            }
        }
        adapt(&mut self.radii, &|id| bodies.radius(id));
        self.len = Some(bodies.len());
    }

    /// Whether as many bodies are kept.
    pub(super) fn is_of(&self, bodies: Bodies<'_, D>) -> bool {
        self.len == Some(bodies.len())
    }

    /// Makes a body count as having come along each axis as far as `way` since all were kept; or, where that is more
    /// than `most`, as not having moved along that axis.
    pub(super) fn take_to_move(&mut self, id: u32, now: [f32; D], way: [f32; D], most: f32) {
        let stood = if self.is_ahead { &mut self.stood } else { &mut self.centers };
        for (axis, stood) in stood.iter_mut().enumerate() {
            stood[id as usize] = if way[axis].abs() <= most { now[axis] - way[axis] } else { now[axis] };
        }
    }
}

/// Fills in the squares of the steps from where bodies stood to where they are kept, of bodies from number `first` on.
#[inline(always)]
fn squared_steps<const D: usize>(out: &mut [f32], (centers, stood): (&[Vec<f32>; D], &[Vec<f32>; D]), first: usize) {
    out.fill(0.0);
    for (centers, stood) in centers.iter().zip(stood) {
        let steps = centers[first..].iter().zip(&stood[first..]).map(|(center, stood)| center - stood);
        out.iter_mut().zip(steps).for_each(|(slot, step)| *slot += step * step);
    }
}

/// Keeps a column, filled up to whole parts.
fn keep_column(out: &mut Vec<f32>, column: Column<'_, f32>, workers: Workers<'_>) {
    keep(out, column.len(), &|first, out| column.copy_into(first, out), workers);
}

/// Keeps `len` values, filled up to whole parts. `copy_into` gives those from a number on.
fn keep(out: &mut Vec<f32>, len: usize, copy_into: &(dyn Fn(usize, &mut [f32]) + Sync), workers: Workers<'_>) {
    fill_with_headroom(out, len.next_multiple_of(PART), 0.0);
    let block = block(out.len(), workers);
    workers.fill_blocks("keep", out, block, |first, block| {
        let there = block.len().min(len - first);
        copy_into(first, &mut block[..there]);
        block[there..].fill(0.0);
    });
}

#[cfg(test)]
mod tests {
    use jostle_core::{Bodies, Isa, Workers};

    use super::{Reference, SHARES};
    use crate::coherent::packed::share_of;

    /// Far from the origin, where coordinates are rounded by a third of a step.
    #[test]
    fn the_longest_step_is_as_long_as_any() {
        let at = |frame: f32| (0..600_u16).map(|id| 1e5 + f32::from(id) + frame * 0.02).collect::<Vec<f32>>();
        let (before, now, radii) = (at(0.0), at(1.0), [1.0; 600]);
        let mut reference = Reference::<2>::default();
        reference.keep(Bodies::from_slices([&before, &before], &radii), Workers::Serial);
        reference.keep_ahead(
            Bodies::from_slices([&now, &before], &radii),
            (0.85, 0.03),
            None,
            (Isa::detect(), Workers::Serial),
        );
        let [longest, largest] = reference.grow((1.2, 0.001, 0.5), Workers::Serial);
        assert!(longest > 0.0 && largest == 1.0);
        for id in 0..600 {
            let step = reference.centers[0][id] - reference.stood[0][id];
            assert!(step <= longest && reference.grown[id] >= 1.0 + step * 1.2, "{id}: {step}");
        }
    }

    #[test]
    fn margins_of_bodies_own_are_shares_of_the_widest() {
        let at = |frame: f32| (0..600_u16).map(|id| frame * f32::from(id) * 0.001).collect::<Vec<f32>>();
        let (before, now, y, mut radii) = (at(0.0), at(1.0), [0.0; 600], [0.0; 600]);
        radii[5] = f32::NAN;
        let mut reference = Reference::<2>::default();
        reference.keep(Bodies::from_slices([&before, &y], &radii), Workers::Serial);
        let on = (Isa::detect(), Workers::Serial);
        reference.keep_ahead(Bodies::from_slices([&now, &y], &radii), (1.0, 1.0), None, on);
        let (times, least, widest) = (1.5, 0.01, 0.3);
        reference.grow_own((times, least, widest), Workers::Serial);
        for id in 0..600_u16 {
            let margin = (f32::from(id) * 0.001 * times + least).min(widest);
            let (weight, grown) = (reference.weights[usize::from(id)], reference.grown[usize::from(id)]);
            let (share, shares) = (share_of(weight), share_of(weight) / SHARES);
            assert!(shares.fract() == 0.0 && (1.0..=1.0 / SHARES).contains(&shares), "{id}: {shares}");
            assert!(id == 5 || grown == share * widest, "{id}: {grown}");
            assert!(
                id == 5 || (margin * 0.999..margin * 1.001 + 2.0 * SHARES * widest).contains(&grown),
                "{id}: {grown}"
            );
        }
    }
}
