//! The precisions of predicates.

use core::ops::{Mul, Sub};

use jostle_core::Scalar;

/// The precision of a predicate: `f32` or `f64`.
pub trait Real: Scalar + Sub<Output = Self> + Mul<Output = Self> {
    /// Twice the largest relative error of one operation: 2^-23 or 2^-52.
    const EPSILON: f64;

    /// More than the distance of two numbers whose squared difference vanishes: 2^-74 or 2^-536.
    const VANISHING: f64;
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const VANISHING: f64 = f64::from_bits((1023 - 74) << 52);
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const VANISHING: f64 = f64::from_bits((1023 - 536) << 52);
}
