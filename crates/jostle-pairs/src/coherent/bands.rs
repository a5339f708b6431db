//! Candidates in bands, by how far bodies must move before it can change whether two of them touch.
//!
//! How far two bodies are from touching, or from not touching any more, tells that. In each frame those bands are tested that bodies
//! have moved far enough for: right after a search few are, and most of the pairs of a dense scene never. Of bodies on their course it is
//! known when that is (`course`).

use core::ops::Range;

/// Candidates of a block, which one task tests: the bodies of so many stay in a first-level cache, and of blocks of a quarter of that,
/// processors would not foresee often enough where the next one begins.
pub(super) const BLOCK: usize = 1 << 13;

/// Bits of a word, each of which says whether a candidate touches.
pub(super) const WORD: usize = u64::BITS as usize;

/// Candidates that are looked at together, in loops one after the other.
pub(super) const AT_A_TIME: usize = 512;

/// Bands of candidates that may be tested while the margin lasts.
pub(super) const BANDS: usize = 125;

/// 2^23: a number up to that, added to it, is rounded to a whole one, which then stands in the last bits.
const ROUNDING_OFF: f32 = 8_388_608.0;

/// Classes of candidates, two a band: those that touch, and those that do not.
pub(super) const CLASSES: usize = 2 * BANDS;

/// What one of so many is cut into.
pub(super) fn range_of(block: usize, candidates: usize) -> Range<usize> {
    block * BLOCK..((block + 1) * BLOCK).min(candidates)
}

/// The whole part of a number, in so many bands: the last one if there are no more.
#[inline(always)]
pub(super) fn band_of(number: f32, bands: usize) -> u8 {
    // Of NaN, 0. To a whole number by rounding: what is lost is less than a band.
    ((number - 0.5).max(0.0).min((bands - 1) as f32) + ROUNDING_OFF).to_bits() as u8
}

/// How many bands of a margin are as wide as 1.
pub(super) fn bands_of_one(margin: f64) -> f32 {
    ((BANDS - 1) as f64 / margin) as f32
}
