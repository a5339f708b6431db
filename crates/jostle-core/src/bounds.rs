//! First stage: checks every body against the contract, and finds the box of all centres, in one pass.

use core::ops::Range;

use crate::aabb::{Aabb, greatest_of_all, least_of_all};
use crate::axes::Axes;
use crate::error::{Reason, ViewError};
use crate::input::{Bodies, Radii};
use crate::isa::{Isa, Work};
use crate::limits::REACH;
use crate::parallel::threads::{Threads, run};
use crate::parallel::workers::Workers;

/// The most bodies that one task checks. Where there are several workers, a task may check fewer, so that nobody waits
/// long for the last.
const BLOCK: usize = 1 << 13;
const TASKS_OF_EACH: usize = 4;

/// The result of one block: the box of its centres, and whether all of its bodies are sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockBounds<const D: usize> {
    pub(crate) bounds: Aabb<D>,
    pub(crate) sound: bool,
}

impl<const D: usize> BlockBounds<D> {
    pub(crate) const EMPTY: Self = Self::of(Aabb::EMPTY);

    pub(crate) const fn of(bounds: Aabb<D>) -> Self {
        Self { bounds, sound: true }
    }

    fn union(self, other: Self) -> Self {
        Self { bounds: self.bounds.union(other.bounds), sound: self.sound & other.sound }
    }
}

/// Checks every body, and returns the box of all centres ([`Aabb::EMPTY`] when there are none). O(n).
///
/// # Errors
/// [`ViewError::Lengths`], [`ViewError::TooMany`], [`ViewError::Margin`] or [`ViewError::Bodies`].
pub fn bounds<const D: usize>(bodies: Bodies<'_, D>, threads: Threads<'_>) -> Result<Aabb<D>, ViewError> {
    run(threads, bodies.len(), |workers| bounds_on(bodies, workers))
}

/// As [`bounds`], on these workers, however few the bodies.
///
/// # Errors
/// As [`bounds`].
#[doc(hidden)]
pub fn bounds_on<const D: usize>(bodies: Bodies<'_, D>, workers: Workers<'_>) -> Result<Aabb<D>, ViewError> {
    bounds_into(bodies, workers, Isa::detect(), &mut Vec::new())
}

/// As [`bounds`], with the caller's scratch.
pub(crate) fn bounds_into<const D: usize>(
    bodies: Bodies<'_, D>,
    workers: Workers<'_>,
    isa: Isa,
    blocks: &mut Vec<BlockBounds<D>>,
) -> Result<Aabb<D>, ViewError> {
    bodies.check_shape()?;
    let size = match workers.count() {
        1 => BLOCK,
        workers => bodies.len().div_ceil(TASKS_OF_EACH * workers).clamp(BLOCK / 8, BLOCK),
    };
    let check = |block: usize| check_block(isa, bodies, block * size..((block + 1) * size).min(bodies.len()));
    let all = if bodies.len() <= size {
        check(0)
    } else {
        blocks.clear();
        blocks.resize(bodies.len().div_ceil(size), BlockBounds::EMPTY);
        workers.fill("bounds", blocks, check);
        blocks.iter().fold(BlockBounds::EMPTY, |all, block| all.union(*block))
    };
    if !all.sound {
        let radius = |id| (bodies.radii().get(id), bodies.margin());
        ViewError::of_bodies(bodies.len(), |id| fault(bodies.center(id), radius(id)))?;
    }
    Ok(all.bounds)
}

/// [`axis_bounds`] as a piece of [`Work`].
struct CheckAxis<'a> {
    values: &'a [f32],
    radii: Result<&'a [f32], f32>,
    margin: f32,
}

impl Work for CheckAxis<'_> {
    type Output = (f32, f32, bool);

    #[inline(always)]
    fn run(self) -> (f32, f32, bool) {
        axis_bounds(self.values, self.radii, self.margin)
    }
}

/// Runs [`axis_bounds`] by the instructions of `isa`. A function of its own, so that it is compiled once for all
/// dimensions.
#[inline(never)]
fn check_axis(isa: Isa, values: &[f32], radii: Result<&[f32], f32>, margin: f32) -> (f32, f32, bool) {
    isa.run(CheckAxis { values, radii, margin })
}

/// Checks one block of bodies.
fn check_block<const D: usize>(isa: Isa, bodies: Bodies<'_, D>, ids: Range<usize>) -> BlockBounds<D> {
    let slices = bodies.centers().each(|column| column.as_slice());
    let radii = match bodies.radii() {
        Radii::All(radius) => Some(Err(radius)),
        Radii::Each(column) => column.as_slice().map(Ok),
    };
    let mut block = BlockBounds::EMPTY;
    match radii {
        Some(radii) if slices.iter().all(Option::is_some) => {
            for (axis, slice) in slices.into_iter().flatten().enumerate() {
                let radii = radii.map(|radii| &radii[ids.clone()]);
                let (lo, hi, sound) = check_axis(isa, &slice[ids.clone()], radii, bodies.margin());
                block.bounds.lo[axis] = lo;
                block.bounds.hi[axis] = hi;
                block.sound &= sound;
            }
        }
        _ => {
            let (mut values, mut radii) = ([0.0; COPIED], [0.0; COPIED]);
            for first in ids.clone().step_by(COPIED) {
                let count = COPIED.min(ids.end - first);
                let (values, radii) = (&mut values[..count], &mut radii[..count]);
                bodies.radii().copy_into(first, radii);
                for (axis, column) in bodies.centers().iter().enumerate() {
                    column.copy_into(first, values);
                    let (lo, hi, sound) = check_axis(isa, values, Ok(radii), bodies.margin());
                    block.bounds.lo[axis] = block.bounds.lo[axis].min(lo);
                    block.bounds.hi[axis] = block.bounds.hi[axis].max(hi);
                    block.sound &= sound;
                }
            }
        }
    }
    block
}

/// Values of a column with a stride that are copied at a time, to lie side by side.
const COPIED: usize = 512;

/// Lanes that the compiler keeps in registers.
const LANES: usize = 16;

/// Least and greatest value, and faults, lane by lane. Min and max by comparison drop NaN, which is a fault in any
/// case.
struct LaneBounds {
    lo: [f32; LANES],
    hi: [f32; LANES],
    faults: [u32; LANES],
}

impl LaneBounds {
    #[inline(always)]
    fn take(&mut self, values: &[f32; LANES], radii: &[f32; LANES], margin: f32) {
        for lane in 0..LANES {
            let (value, radius) = (values[lane], radii[lane]);
            self.lo[lane] = if value < self.lo[lane] { value } else { self.lo[lane] };
            self.hi[lane] = if value > self.hi[lane] { value } else { self.hi[lane] };
            self.faults[lane] |= u32::from(!((value.abs() + (radius + margin) <= REACH) & (radius >= 0.0)));
        }
    }
}

/// Returns the least and the greatest value of a slice, and whether each value keeps to the contract. The last lanes
/// take the last sixteen bodies, some of them for the second time. Fewer than sixteen bodies are filled up with the
/// first one. Neither changes the result.
#[inline(always)]
fn axis_bounds(values: &[f32], radii: Result<&[f32], f32>, margin: f32) -> (f32, f32, bool) {
    let mut lanes = LaneBounds { lo: [f32::INFINITY; LANES], hi: [f32::NEG_INFINITY; LANES], faults: [0; LANES] };
    if values.is_empty() {
        return (f32::INFINITY, f32::NEG_INFINITY, true);
    }
    let last = |values: &[f32]| {
        values.last_chunk().copied().unwrap_or_else(|| {
            let mut filled = [values[0]; LANES];
            filled.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
            filled
        })
    };
    let (chunks, _) = values.as_chunks::<LANES>();
    match radii {
        Ok(radii) => {
            let radii = &radii[..values.len()];
            for (values, radii) in chunks.iter().zip(radii.as_chunks::<LANES>().0) {
                lanes.take(values, radii, margin);
            }
            lanes.take(&last(values), &last(radii), margin);
        }
        Err(radius) => {
            for values in chunks {
                lanes.take(values, &[radius; LANES], margin);
            }
            lanes.take(&last(values), &[radius; LANES], margin);
        }
    }
    let faults = lanes.faults.iter().fold(0, |all, faults| all | faults);
    (least_of_all(&lanes.lo), greatest_of_all(&lanes.hi), faults == 0)
}

/// Returns the least and the greatest of some values.
#[inline(always)]
pub(crate) fn range_of(values: &[f32]) -> (f32, f32) {
    let (lo, hi, _) = axis_bounds(values, Err(0.0), 0.0);
    (lo, hi)
}

/// Returns the first fault of a body with this centre, radius and margin, or `None` when the body keeps to the
/// contract.
fn fault<const D: usize>(center: [f32; D], (radius, margin): (f32, f32)) -> Option<Reason> {
    if let Some(axis) = center.iter().position(|c| !c.is_finite()) {
        return Some(Reason::CenterNotFinite { axis: axis as u8 });
    }
    if !radius.is_finite() {
        return Some(Reason::RadiusNotFinite);
    }
    if radius < 0.0 {
        return Some(Reason::RadiusNegative);
    }
    center.iter().position(|c| c.abs() + (radius + margin) > REACH).map(|axis| Reason::TooFar { axis: axis as u8 })
}
