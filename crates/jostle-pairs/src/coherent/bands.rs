//! Candidates in bands, by how far bodies must move before it can change whether two of them touch.
//!
//! The slack of a candidate tells that: how far two bodies are from touching, or from no longer touching. Each frame
//! tests the bands that bodies have moved far enough for: few of them right after a search, and most of the pairs of a
//! dense scene never. Of bodies on their course it is known when a candidate is due (`course`).

use core::ops::Range;

/// Candidates of a block, which one task tests. The bodies of so many candidates stay in a first-level cache; with
/// blocks of a quarter of that, processors would not foresee often enough where the next block begins.
pub(super) const BLOCK: usize = 1 << 13;

/// Bits of a word, each of which says whether a candidate touches.
pub(super) const WORD: usize = u64::BITS as usize;

/// Candidates that are looked at together, in loops one after the other.
pub(super) const AT_A_TIME: usize = 512;

/// Bands of candidates that may be tested while the margin lasts.
pub(super) const BANDS: usize = 125;

/// 2^23. A number up to that, added to it, is rounded to a whole number, which then stands in the last bits of the sum.
pub(super) const ROUNDING_OFF: f32 = 8_388_608.0;

/// Classes of candidates, two a band: candidates that touch, and candidates that do not.
pub(super) const CLASSES: usize = 2 * BANDS;

/// Returns the range of one block, where so many candidates are cut into blocks.
pub(super) fn range_of(block: usize, candidates: usize) -> Range<usize> {
    block * BLOCK..((block + 1) * BLOCK).min(candidates)
}

/// Returns the whole part of a number as a band, or the last of so many bands.
#[inline(always)]
pub(super) fn band_of(number: f32, bands: usize) -> u8 {
    // NaN gives 0. Rounding makes a whole number; what is lost is less than a band.
    ((number - 0.5).max(0.0).min((bands - 1) as f32) + ROUNDING_OFF).to_bits() as u8
}

/// Returns how many bands of a margin are as wide as 1.
pub(super) fn bands_of_one(margin: f64) -> f32 {
    ((BANDS - 1) as f64 / margin) as f32
}
