//! Limits: how many bodies there may be, and how far they may reach.

/// The largest number of bodies a view may hold: ids are `u32`, and one value is kept free.
pub const MAX_BODIES: usize = u32::MAX as usize - 1;

/// The most leaves of a tree: places have 32-bit numbers, sixteen to a leaf.
pub(crate) const LEAVES_MAX: usize = 1 << 28;

/// The largest |coordinate| + radius in `f32`, 2^60: squares of distances then stay below 2^124.
pub const REACH: f32 = f32::from_bits((127 + 60) << 23);

/// The largest |coordinate| + radius in `f64`, 2^500: squares of distances stay finite.
pub const REACH_F64: f64 = f64::from_bits((1023 + 500) << 52);
