//! Sixteen values in a cache line of their own, so that one vector load takes them, and never touches two lines. A room
//! of `unsafe`: the types are declared plain bytes by hand, since the macro that derives it takes three seconds to
//! build.
#![allow(unsafe_code, reason = "two types are said to be plain bytes")]

use bytemuck::{Pod, Zeroable};

/// Number of values.
pub const SIXTEEN: usize = 16;

/// Sixteen floats.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Floats(pub [f32; SIXTEEN]);

/// Sixteen ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Ids(pub [u32; SIXTEEN]);

// SAFETY: floats may have any bits, zeros too, and sixteen of them leave no padding in 64 bytes.
unsafe impl Zeroable for Floats {}
// SAFETY: as above.
unsafe impl Pod for Floats {}
// SAFETY: numbers may have any bits, zeros too, and sixteen of them leave no padding in 64 bytes.
unsafe impl Zeroable for Ids {}
// SAFETY: as above.
unsafe impl Pod for Ids {}

const _: () = assert!(size_of::<Floats>() == 64 && size_of::<Ids>() == 64);

impl Floats {
    /// The same value sixteen times.
    #[must_use]
    pub const fn splat(value: f32) -> Self {
        Self([value; SIXTEEN])
    }
}

/// Sixteen bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Bodies16<const D: usize> {
    /// The centres on each axis.
    pub centers: [Floats; D],
    /// The radii.
    pub radii: Floats,
}

impl<const D: usize> Bodies16<D> {
    /// Bodies that touch nothing.
    pub const NONE: Self = Self { centers: [Floats::splat(f32::NAN); D], radii: Floats::splat(0.0) };
}

/// Sixteen boxes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Boxes16<const D: usize> {
    /// The lower corners on each axis.
    pub lo: [Floats; D],
    /// The upper corners on each axis.
    pub hi: [Floats; D],
}

impl<const D: usize> Boxes16<D> {
    /// Boxes that overlap no finite box: they stand for the children that a node lacks. Places of a leaf without a box
    /// are NaN.
    pub const NONE: Self = Self { lo: [Floats::splat(f32::INFINITY); D], hi: [Floats::splat(f32::NEG_INFINITY); D] };
}

// SAFETY: the type is made of floats alone, of one alignment, so that nothing lies between them.
unsafe impl<const D: usize> Zeroable for Boxes16<D> {}
// SAFETY: as above.
unsafe impl<const D: usize> Pod for Boxes16<D> {}

/// The floats of a column, one after the other.
#[inline(always)]
#[must_use]
pub fn floats(column: &[Floats]) -> &[f32] {
    bytemuck::cast_slice(column)
}

/// The floats of a column, one after the other.
#[inline(always)]
#[must_use]
pub fn floats_mut(column: &mut [Floats]) -> &mut [f32] {
    bytemuck::cast_slice_mut(column)
}

/// The ids of a column, one after the other.
#[inline(always)]
#[must_use]
pub fn ids(column: &[Ids]) -> &[u32] {
    bytemuck::cast_slice(column)
}

/// The ids of a column, one after the other.
#[inline(always)]
#[must_use]
pub fn ids_mut(column: &mut [Ids]) -> &mut [u32] {
    bytemuck::cast_slice_mut(column)
}
