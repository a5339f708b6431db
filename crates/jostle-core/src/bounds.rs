//! First stage: every body checked against the contract, and the box of all centres, in one pass.

use crate::aabb::Aabb;
use crate::error::{InputError, NAMED_OFFENDERS, Reason};
use crate::input::{Bodies, Radii};
use crate::workers::Workers;

/// Bodies that one task looks at.
const BLOCK: usize = 1 << 15;

/// |coordinate| + radius may reach 2^60: squares of distances then stay below 2^124.
const REACH: f32 = f32::from_bits((127 + 60) << 23);

/// What one block says: the box of its centres, and whether all of its bodies are sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockBounds<const D: usize> {
    pub(crate) bounds: Aabb<D>,
    sound: bool,
}

impl<const D: usize> BlockBounds<D> {
    pub(crate) const EMPTY: Self = Self::of(Aabb::EMPTY);

    pub(crate) const fn of(bounds: Aabb<D>) -> Self {
        Self { bounds, sound: true }
    }
}

/// The box of all centres ([`Aabb::EMPTY`] when there are none), once every body has been checked. O(n).
///
/// # Errors
/// Any [`InputError`] except [`InputError::Layout`].
pub fn bounds<const D: usize>(bodies: Bodies<'_, D>, workers: Workers) -> Result<Aabb<D>, InputError> {
    bounds_into(bodies, workers, &mut Vec::new())
}

/// As [`bounds`], with the caller's scratch.
pub(crate) fn bounds_into<const D: usize>(
    bodies: Bodies<'_, D>,
    workers: Workers,
    blocks: &mut Vec<BlockBounds<D>>,
) -> Result<Aabb<D>, InputError> {
    bodies.check_shape()?;
    blocks.clear();
    blocks.resize(bodies.len().div_ceil(BLOCK), BlockBounds::EMPTY);
    workers.fill(blocks, |block| block_bounds(bodies, block * BLOCK..((block + 1) * BLOCK).min(bodies.len())));
    if blocks.iter().any(|block| !block.sound) {
        return Err(offenders(bodies));
    }
    Ok(blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds)))
}

fn block_bounds<const D: usize>(bodies: Bodies<'_, D>, ids: core::ops::Range<usize>) -> BlockBounds<D> {
    let slices = bodies.centers().map(|column| column.as_slice());
    let radii = match bodies.radii() {
        Radii::All(radius) => Some(Err(radius)),
        Radii::Each(column) => column.as_slice().map(Ok),
    };
    let mut block = BlockBounds::EMPTY;
    match radii {
        Some(radii) if slices.iter().all(Option::is_some) => {
            for (axis, slice) in slices.into_iter().flatten().enumerate() {
                let slice = &slice[ids.clone()];
                let (lo, hi, sound) = match radii {
                    Ok(radii) => axis_bounds(slice, |i| radii[ids.start..ids.end][i]),
                    Err(radius) => axis_bounds(slice, |_| radius),
                };
                block.bounds.lo[axis] = lo;
                block.bounds.hi[axis] = hi;
                block.sound &= sound;
            }
        }
        _ => {
            for id in ids {
                let (center, radius) = (bodies.center(id), bodies.radius(id));
                block.sound &= fault(center, radius).is_none();
                block.bounds = block.bounds.with_point(center);
            }
        }
    }
    block
}

/// Least and greatest value of a slice, and whether each keeps to the contract. Lanes of 16 that the compiler can keep
/// in registers: min and max by comparison drop NaN, which `sound` has already caught.
#[inline(always)]
fn axis_bounds(values: &[f32], radius: impl Fn(usize) -> f32) -> (f32, f32, bool) {
    const LANES: usize = 16;
    let mut lo = [f32::INFINITY; LANES];
    let mut hi = [f32::NEG_INFINITY; LANES];
    let mut faults = [0_u32; LANES];
    let mut take = |lane: usize, value: f32, radius: f32| {
        lo[lane] = if value < lo[lane] { value } else { lo[lane] };
        hi[lane] = if value > hi[lane] { value } else { hi[lane] };
        faults[lane] |= u32::from(!((value.abs() + radius <= REACH) & (radius >= 0.0)));
    };
    let whole = values.len() / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        let chunk: &[f32; LANES] =
            values[start..start + LANES].try_into().expect("a chunk has as many values as lanes");
        for (lane, &value) in chunk.iter().enumerate() {
            take(lane, value, radius(start + lane));
        }
    }
    for (i, &value) in values.iter().enumerate().skip(whole) {
        take(i - whole, value, radius(i));
    }
    let least = lo.into_iter().fold(f32::INFINITY, f32::min);
    let greatest = hi.into_iter().fold(f32::NEG_INFINITY, f32::max);
    (least, greatest, faults.iter().all(|&f| f == 0))
}

/// The first fault of a body, or `None` when it keeps to the contract.
fn fault<const D: usize>(center: [f32; D], radius: f32) -> Option<Reason> {
    if let Some(axis) = center.iter().position(|c| !c.is_finite()) {
        return Some(Reason::CenterNotFinite { axis: axis as u8 });
    }
    if !radius.is_finite() {
        return Some(Reason::RadiusNotFinite);
    }
    if radius < 0.0 {
        return Some(Reason::RadiusNegative);
    }
    center.iter().position(|c| c.abs() + radius > REACH).map(|axis| Reason::TooFar { axis: axis as u8 })
}

#[cold]
fn offenders<const D: usize>(bodies: Bodies<'_, D>) -> InputError {
    let faults = (0..bodies.len()).filter_map(|id| Some((id as u32, fault(bodies.center(id), bodies.radius(id))?)));
    let (mut count, mut first) = (0, Vec::with_capacity(NAMED_OFFENDERS));
    for offender in faults {
        count += 1;
        if first.len() < NAMED_OFFENDERS {
            first.push(offender);
        }
    }
    InputError::Bodies { count, first }
}
