//! Scales of frames: powers of two, which round nothing.

/// The greatest exponent of a scale.
const MAX_EXPONENT: i64 = 500;

/// Returns the greatest power of two by which `length` becomes less than 1, within bounds.
pub(super) fn power_of_two_below_inverse(length: f64) -> f64 {
    if length.is_nan() || length <= 0.0 || length.is_infinite() {
        return 1.0;
    }
    let exponent = i64::from((length.to_bits() >> 52) as u32 & 0x7ff) - 1023;
    let inverse = (-(exponent + 1)).clamp(-1022, MAX_EXPONENT);
    f64::from_bits(((inverse + 1023) as u64) << 52)
}
