//! A sorting network for sixteen or 32 ids in registers of eight: Batcher's bitonic sort (1968), whose exchanges do not depend on
//! what is sorted, so that there is nothing to mispredict.
//!
//! Each exchange takes the lesser of two lanes to one of them and the greater to the other: which gets the greater is a
//! bit mask, for all eight lanes at once.
#![allow(unsafe_code, reason = "instructions beyond what the target always has")]

use core::arch::x86_64::*;

use super::super::{LANES, SHORT};

/// Masks of the lanes that get the greater one, where each half, quarter or pair of the eight shall ascend.
const HALVES: i32 = 0b1111_0000;
const QUARTERS: i32 = 0b1100_1100;
const PAIRS: i32 = 0b1010_1010;

/// As [`QUARTERS`] and [`PAIRS`], where the second half descends; and where every other pair descends.
const QUARTERS_TO_PEAK: i32 = 0b0011_1100;
const PAIRS_TO_PEAK: i32 = 0b0101_1010;
const PAIRS_TO_PEAKS: i32 = 0b0110_0110;

/// Exchanges lanes with their partners.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn exchange<const GREATER: i32>(ids: __m256i, partners: __m256i) -> __m256i {
    // SAFETY: as promised.
    unsafe { _mm256_blend_epi32::<GREATER>(_mm256_min_epu32(ids, partners), _mm256_max_epu32(ids, partners)) }
}

/// Exchanges across the halves of the eight, the quarters and the pairs.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn merge<const ACROSS_HALVES: i32, const ACROSS_QUARTERS: i32, const ACROSS_PAIRS: i32>(
    ids: __m256i,
) -> __m256i {
    // SAFETY: as promised.
    unsafe {
        let ids = exchange::<ACROSS_HALVES>(ids, _mm256_permute2x128_si256::<1>(ids, ids));
        let ids = exchange::<ACROSS_QUARTERS>(ids, _mm256_shuffle_epi32::<0b01_00_11_10>(ids));
        exchange::<ACROSS_PAIRS>(ids, _mm256_shuffle_epi32::<0b10_11_00_01>(ids))
    }
}

/// Eight ids of which each half is sorted, the second descending.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn to_peak(ids: __m256i) -> __m256i {
    // SAFETY: as promised.
    unsafe {
        let ids = exchange::<PAIRS_TO_PEAKS>(ids, _mm256_shuffle_epi32::<0b10_11_00_01>(ids));
        let ids = exchange::<QUARTERS_TO_PEAK>(ids, _mm256_shuffle_epi32::<0b01_00_11_10>(ids));
        exchange::<PAIRS_TO_PEAK>(ids, _mm256_shuffle_epi32::<0b10_11_00_01>(ids))
    }
}

/// Sixteen ids, ascending, of two lists of eight of which the second is the first one's peak: together they rise, then
/// fall.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn merge16(low: __m256i, high: __m256i) -> [__m256i; 2] {
    // SAFETY: as promised.
    unsafe {
        let (low, high) = (_mm256_min_epu32(low, high), _mm256_max_epu32(low, high));
        [merge::<HALVES, QUARTERS, PAIRS>(low), merge::<HALVES, QUARTERS, PAIRS>(high)]
    }
}

/// The sixteen ids from `ids` on, ascending, `u32::MAX` in place of those from number `len` on.
///
/// # Safety
/// AVX2 is there, and sixteen ids can be read.
#[inline(always)]
unsafe fn sorted16(ids: *const u32, len: i32) -> [__m256i; 2] {
    // SAFETY: as promised.
    unsafe {
        let (lanes, last) = (_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(len - 1));
        let low = _mm256_or_si256(_mm256_loadu_si256(ids.cast()), _mm256_cmpgt_epi32(lanes, last));
        let lanes = _mm256_add_epi32(lanes, _mm256_set1_epi32(8));
        let high = _mm256_or_si256(_mm256_loadu_si256(ids.add(8).cast()), _mm256_cmpgt_epi32(lanes, last));
        let low = merge::<HALVES, QUARTERS, PAIRS>(to_peak(low));
        let high = merge::<{ 0xff ^ HALVES }, { 0xff ^ QUARTERS }, { 0xff ^ PAIRS }>(to_peak(high));
        merge16(low, high)
    }
}

/// Writes the first `len` ids, ascending, to the front of `out`; what follows them there is anything.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
pub(in crate::lanes) unsafe fn sort_ids(ids: &[u32; SHORT], len: usize, out: &mut [u32; SHORT]) {
    let (ids, out, len) = (ids.as_ptr(), out.as_mut_ptr(), len as i32);
    // SAFETY: as promised; both are four times 32 bytes.
    unsafe {
        let [a, b] = sorted16(ids, len);
        if len <= LANES as i32 {
            _mm256_storeu_si256(out.cast(), a);
            _mm256_storeu_si256(out.add(8).cast(), b);
            return;
        }
        let [c, d] = sorted16(ids.add(LANES), len - LANES as i32);
        let falling = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        let (c, d) = (_mm256_permutevar8x32_epi32(c, falling), _mm256_permutevar8x32_epi32(d, falling));
        let lesser = merge16(_mm256_min_epu32(a, d), _mm256_min_epu32(b, c));
        let greater = merge16(_mm256_max_epu32(a, d), _mm256_max_epu32(b, c));
        for (at, eight) in [lesser[0], lesser[1], greater[0], greater[1]].into_iter().enumerate() {
            _mm256_storeu_si256(out.add(8 * at).cast(), eight);
        }
    }
}
