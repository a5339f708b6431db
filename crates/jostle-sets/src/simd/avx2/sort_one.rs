//! One row of more than sixteen ids, sorted in registers of its own by Batcher's bitonic network (1968).
//!
//! Each exchange takes the lesser of two lanes to one of them and the greater to the other. A bit mask says which lanes
//! get the greater, for all eight lanes at once.
#![allow(unsafe_code, reason = "loads and stores of whole registers")]

use core::arch::x86_64::*;

use super::super::LANES;

/// Masks of the lanes that get the greater id, where each half, quarter or pair of the eight shall ascend.
const HALVES: i32 = 0b1111_0000;
const QUARTERS: i32 = 0b1100_1100;
const PAIRS: i32 = 0b1010_1010;

/// The same where they shall descend.
const HALVES_DOWN: i32 = 0xff ^ HALVES;
const QUARTERS_DOWN: i32 = 0xff ^ QUARTERS;
const PAIRS_DOWN: i32 = 0xff ^ PAIRS;

/// As [`QUARTERS`] and [`PAIRS`], where the second half descends; and where every other pair descends.
const QUARTERS_TO_PEAK: i32 = 0b0011_1100;
const PAIRS_TO_PEAK: i32 = 0b0101_1010;
const PAIRS_TO_PEAKS: i32 = 0b0110_0110;

/// Sorts the first `len` ids of a row: more than sixteen and up to twice as many, the first sixteen sorted already. The
/// ids that follow become unspecified.
#[target_feature(enable = "avx2")]
pub(super) fn sort_rest(row: &mut [u32; 2 * LANES], len: usize) {
    let [a, b, c, d] = core::array::from_fn(|eight| row.as_ptr().wrapping_add(eight * LANES / 2));
    // SAFETY: each begins eight ids that can be read.
    let [a, b, c, d] = unsafe { [load(a), load(b), load(c), load(d)] };
    // Places after the end of the row get a value no less than any id.
    let lanes = _mm256_setr_epi32(16, 17, 18, 19, 20, 21, 22, 23);
    let c = _mm256_or_si256(c, _mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(len as i32 - 1)));
    let d = _mm256_or_si256(d, _mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(len as i32 - 9)));
    let (c, d) = (rising8(to_peak(c)), falling8(to_peak(d)));
    // Together `c` and `d` rise, then fall. Split into halves, the greater ids first, they are made to fall.
    let (c, d) = (falling8(_mm256_max_epu32(c, d)), falling8(_mm256_min_epu32(c, d)));
    let lesser = rising16(_mm256_min_epu32(a, c), _mm256_min_epu32(b, d));
    let greater = rising16(_mm256_max_epu32(a, c), _mm256_max_epu32(b, d));
    for (eight, ids) in row.chunks_exact_mut(LANES / 2).zip([lesser[0], lesser[1], greater[0], greater[1]]) {
        // SAFETY: eight ids are 32 writable bytes.
        unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), ids) };
    }
}

/// # Safety
/// Eight ids can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(ids: *const u32) -> __m256i {
    // SAFETY: as promised.
    unsafe { _mm256_loadu_si256(ids.cast()) }
}

/// Puts sixteen ids that rise, then fall, in ascending order.
#[inline]
#[target_feature(enable = "avx2")]
fn rising16(low: __m256i, high: __m256i) -> [__m256i; 2] {
    [rising8(_mm256_min_epu32(low, high)), rising8(_mm256_max_epu32(low, high))]
}

/// Puts eight ids that rise, then fall, in ascending order.
#[inline]
#[target_feature(enable = "avx2")]
fn rising8(ids: __m256i) -> __m256i {
    exchange_pairs::<PAIRS>(exchange_quarters::<QUARTERS>(exchange_halves::<HALVES>(ids)))
}

/// Puts eight ids that rise, then fall, in descending order.
#[inline]
#[target_feature(enable = "avx2")]
fn falling8(ids: __m256i) -> __m256i {
    exchange_pairs::<PAIRS_DOWN>(exchange_quarters::<QUARTERS_DOWN>(exchange_halves::<HALVES_DOWN>(ids)))
}

/// Puts eight ids in an order that rises, then falls.
#[inline]
#[target_feature(enable = "avx2")]
fn to_peak(ids: __m256i) -> __m256i {
    let ids = exchange_pairs::<PAIRS_TO_PEAKS>(ids);
    exchange_pairs::<PAIRS_TO_PEAK>(exchange_quarters::<QUARTERS_TO_PEAK>(ids))
}

#[inline]
#[target_feature(enable = "avx2")]
fn exchange_halves<const GREATER: i32>(ids: __m256i) -> __m256i {
    exchange::<GREATER>(ids, _mm256_permute2x128_si256::<1>(ids, ids))
}

#[inline]
#[target_feature(enable = "avx2")]
fn exchange_quarters<const GREATER: i32>(ids: __m256i) -> __m256i {
    exchange::<GREATER>(ids, _mm256_shuffle_epi32::<0b01_00_11_10>(ids))
}

#[inline]
#[target_feature(enable = "avx2")]
fn exchange_pairs<const GREATER: i32>(ids: __m256i) -> __m256i {
    exchange::<GREATER>(ids, _mm256_shuffle_epi32::<0b10_11_00_01>(ids))
}

/// Exchanges lanes with their partners.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange<const GREATER: i32>(ids: __m256i, partners: __m256i) -> __m256i {
    _mm256_blend_epi32::<GREATER>(_mm256_min_epu32(ids, partners), _mm256_max_epu32(ids, partners))
}
