//! Lanes by AVX2: two registers of eight. A room of `unsafe`: see [`Avx2`].
#![allow(unsafe_code, reason = "instructions beyond what the target always has")]

use core::arch::x86_64::{
    __m256, _CMP_LE_OQ, _mm_loadl_epi64, _mm256_add_epi32, _mm256_add_ps, _mm256_cmp_ps, _mm256_cvtepu8_epi32,
    _mm256_loadu_ps, _mm256_movemask_ps, _mm256_mul_ps, _mm256_permutevar8x32_ps, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_storeu_ps, _mm256_storeu_si256, _mm256_sub_ps,
};

use super::{LANES, Lanes};

/// Sixteen lanes in two registers. Its methods are called from [`crate::kernel`] alone, within functions that have the
/// features enabled and are reached by an [`jostle_core::Isa`] that detection made.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256, __m256);

/// For each mask of eight lanes, the lanes set in it, ascending: AVX2 has no compress instruction.
static SET_LANES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                table[mask][count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

impl Lanes for Avx2 {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        // SAFETY: the feature is there (see the type); sixteen floats are twice 32 readable bytes.
        unsafe { Self(_mm256_loadu_ps(values.as_ptr()), _mm256_loadu_ps(values.as_ptr().add(8))) }
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: the feature is there (see the type).
        let lanes = unsafe { _mm256_set1_ps(value) };
        Self(lanes, lanes)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn le(self, other: Self) -> u16 {
        // SAFETY: the feature is there (see the type).
        let (low, high) = unsafe {
            (
                _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)),
                _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.1, other.1)),
            )
        };
        low as u16 | (high as u16) << 8
    }

    #[inline(always)]
    fn expand(mask: u16, base: u32, out: &mut [u32; LANES]) -> usize {
        let (low, high) = ((mask & 0xff) as usize, (mask >> 8) as usize);
        let count = low.count_ones() as usize;
        // SAFETY: the feature is there (see the type); the second store begins at most eight values into the sixteen.
        unsafe {
            let out = out.as_mut_ptr();
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_LANES[low].as_ptr().cast()));
            _mm256_storeu_si256(out.cast(), _mm256_add_epi32(lanes, _mm256_set1_epi32(base as i32)));
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_LANES[high].as_ptr().cast()));
            _mm256_storeu_si256(out.add(count).cast(), _mm256_add_epi32(lanes, _mm256_set1_epi32(base as i32 + 8)));
        }
        count + high.count_ones() as usize
    }

    #[inline(always)]
    fn compress(values: &[f32; LANES], mask: u16, out: &mut [f32; LANES]) {
        let (low, high) = ((mask & 0xff) as usize, (mask >> 8) as usize);
        // SAFETY: the feature is there (see the type); the second store begins at most eight values into the sixteen.
        unsafe {
            let (values, out) = (values.as_ptr(), out.as_mut_ptr());
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_LANES[low].as_ptr().cast()));
            _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(_mm256_loadu_ps(values), lanes));
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_LANES[high].as_ptr().cast()));
            let packed = _mm256_permutevar8x32_ps(_mm256_loadu_ps(values.add(8)), lanes);
            _mm256_storeu_ps(out.add(low.count_ones() as usize), packed);
        }
    }
}
