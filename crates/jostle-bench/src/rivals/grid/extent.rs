//! The box of the centres and the largest radius.

use core::array::from_fn;

use jostle_testkit::Scene;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use wide::f32x4;

use super::{Body, CHUNK, LANES, lanes};

/// What the cells are cut from: the box of the centres and the largest radius.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent<const D: usize> {
    pub(crate) lo: [f32; D],
    pub(crate) hi: [f32; D],
    pub(crate) radius: f32,
}

impl<const D: usize> Extent<D> {
    const EMPTY: Self = Self { lo: [f32::INFINITY; D], hi: [f32::NEG_INFINITY; D], radius: 0.0 };

    /// The extent of all bodies of a scene.
    pub(crate) fn of(scene: &Scene<D>) -> Self {
        let chunk = |chunk: usize| {
            let ids = chunk * CHUNK..scene.len().min((chunk + 1) * CHUNK);
            let ranges = scene.centers.each_ref().map(|column| range(&column[ids.clone()]));
            Self {
                lo: ranges.map(|range| range.0),
                hi: ranges.map(|range| range.1),
                radius: range(&scene.radii[ids]).1.max(0.0),
            }
        };
        let chunks = scene.len().div_ceil(CHUNK);
        if chunks <= 1 || rayon::current_num_threads() == 1 {
            return (0..chunks).map(chunk).fold(Self::EMPTY, Self::union);
        }
        (0..chunks).into_par_iter().map(chunk).reduce(|| Self::EMPTY, Self::union)
    }

    /// The extent of these bodies.
    pub(crate) fn of_bodies(bodies: &[Body<D>]) -> Self {
        let one = |body: &Body<D>| Self { lo: body.center, hi: body.center, radius: body.radius };
        bodies.iter().map(one).fold(Self::EMPTY, Self::union)
    }

    #[inline(always)]
    fn union(self, other: Self) -> Self {
        Self {
            lo: from_fn(|axis| min(self.lo[axis], other.lo[axis])),
            hi: from_fn(|axis| max(self.hi[axis], other.hi[axis])),
            radius: max(self.radius, other.radius),
        }
    }
}

#[inline(always)]
pub(super) fn min(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

#[inline(always)]
pub(super) fn max(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// The least and greatest value.
fn range(values: &[f32]) -> (f32, f32) {
    const VECTORS: usize = 4;
    let mut lo = [f32x4::splat(f32::INFINITY); VECTORS];
    let mut hi = [f32x4::splat(f32::NEG_INFINITY); VECTORS];
    let (chunks, rest) = values.as_chunks::<{ VECTORS * LANES }>();
    for chunk in chunks {
        for v in 0..VECTORS {
            let values = f32x4::new(*lanes(chunk, v * LANES));
            lo[v] = lo[v].fast_min(values);
            hi[v] = hi[v].fast_max(values);
        }
    }
    let lo = lo.into_iter().flat_map(f32x4::to_array).chain(rest.iter().copied());
    let hi = hi.into_iter().flat_map(f32x4::to_array).chain(rest.iter().copied());
    (lo.fold(f32::INFINITY, min), hi.fold(f32::NEG_INFINITY, max))
}
