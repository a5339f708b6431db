//! Boxes that lose no pair: what the user of a library of boxes must write to get exact circles out of it.
//!
//! A box of `x - r` to `x + r` loses pairs, since both numbers are rounded, and so is the predicate.
//! `jostle_core::aabb` derives how far a box must reach.

use jostle_core::aabb::{GROWTH, outward_hi, outward_lo};

/// The interval of a body on one axis.
#[inline(always)]
pub(crate) fn interval(center: f32, radius: f32) -> (f32, f32) {
    let reach = radius * GROWTH;
    (outward_lo(center - reach), outward_hi(center + reach))
}
