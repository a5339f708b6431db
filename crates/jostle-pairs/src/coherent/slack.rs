//! How far bodies must move before it can change whether two of them touch.

/// What is taken off how far bodies must move, relative to their distance and to the sum of their radii, for rounding: 2^-18. The
/// predicate rounds both by a few times 2^-24, when candidates are sorted and when they are tested, and so does what is computed here.
pub(super) const ROUNDING: f32 = 1.0 / 262_144.0;

/// As much, for squares that are denormal or vanish: 2^-70.
const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// How much two bodies must use up on average, before it can change whether they touch: of their distance and the sum of their
/// radii. What is no number, or below 0, says that it may change at any time.
#[inline(always)]
pub(super) fn slack_of(distance: f32, radii: f32) -> f32 {
    ((distance - radii).abs() - (distance + radii) * ROUNDING - LEAST) * 0.5
}
