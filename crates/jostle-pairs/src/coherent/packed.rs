//! Bodies in one line of memory each.

use jostle_core::prefetch::prefetch;
use wide::f32x4;

/// Bodies that are more than this, 2 MB of them, are too many for a cache near the core.
const NEAR: usize = 1 << 16;

/// Whether to ask for bodies ahead that are named in no order of theirs.
#[inline]
pub(super) fn are_far(sets: &[&[Packed]]) -> bool {
    sets.iter().any(|bodies| bodies.len() > NEAR)
}

/// Centre, and last the radius, of a body in `f32`: in one line of memory, since candidates name bodies in no order of theirs.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
pub(super) struct Packed(pub(super) [f32; 4]);

impl Packed {
    #[inline(always)]
    pub(super) fn new<const D: usize>(center: [f32; D], radius: f32) -> Self {
        let mut packed = [radius; 4];
        packed[..D].copy_from_slice(&center);
        Self(packed)
    }

    #[inline(always)]
    pub(super) fn radius(&self) -> f32 {
        self.0[3]
    }

    /// From one to another that is seen at an offset, and the square of that: as
    /// [`Circles16::hits_at`](jostle_sets::shape::circles16::Circles16::hits_at) has them.
    #[inline(always)]
    pub(super) fn apart<const D: usize>(&self, other: &Self, offset: [f32; D]) -> ([f32; D], f32) {
        let (mut apart, mut distance2) = (offset, 0.0);
        for axis in 0..D {
            let d = (other.0[axis] - self.0[axis]) + offset[axis];
            apart[axis] = d;
            distance2 = if axis == 0 { d * d } else { distance2 + d * d };
        }
        (apart, distance2)
    }

    /// The predicate.
    #[inline(always)]
    pub(super) fn touches<const D: usize>(&self, other: &Self, offset: [f32; D]) -> bool {
        let (distance2, s) = self.measure(other, offset);
        distance2 <= s * s
    }

    /// The square of their distance, and the sum of their radii.
    #[inline(always)]
    pub(super) fn measure<const D: usize>(&self, other: &Self, offset: [f32; D]) -> (f32, f32) {
        let (_, distance2) = self.apart(other, offset);
        (distance2, self.radius() + other.radius())
    }
}

/// As [`Packed::measure`] of four pairs side by side, in the same bits.
#[inline(always)]
pub(super) fn measure4<const D: usize>([of_a, of_b]: [&[Packed]; 2], pairs: [[u32; 2]; 4]) -> [f32x4; 2] {
    // The difference of radii of which one has its sign turned is their sum.
    let turned = f32x4::new([0.0, 0.0, 0.0, -0.0]);
    let mut rows = [f32x4::ZERO; 4];
    // No `map` of arrays: it is not always inlined, and would be compiled for what the target always has.
    for (row, [a, b]) in rows.iter_mut().zip(pairs) {
        *row = f32x4::from(of_b[b as usize].0) - (f32x4::from(of_a[a as usize].0) ^ turned);
    }
    let columns = f32x4::transpose(rows);
    let mut distance2 = columns[0] * columns[0];
    for d in &columns[1..D] {
        distance2 += *d * *d;
    }
    [distance2, columns[3]]
}

/// Asks for the bodies of some pairs.
#[inline(always)]
pub(super) fn prefetch_bodies<'p>([of_a, of_b]: [&[Packed]; 2], pairs: impl IntoIterator<Item = &'p [u32; 2]>) {
    for &[a, b] in pairs {
        prefetch(&of_a[a as usize]);
        prefetch(&of_b[b as usize]);
    }
}
