//! Lanes by AVX-512: one register. A room of `unsafe`: see [`Avx512`].
#![allow(unsafe_code, reason = "instructions beyond what the target always has")]

use core::arch::x86_64::*;

use super::{LANES, LaneWork, Lanes, ROW, avx2};

/// Sixteen lanes in one register. The type is private to this module, so its methods are reached by [`run`] alone,
/// whose caller vouches for the instructions.
#[derive(Clone, Copy)]
struct Avx512(__m512);

/// Does the work with the instructions of AVX-512, in a function of its own.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
pub(super) fn run<W: LaneWork>(work: W) -> W::Output {
    work.run::<Avx512>()
}

impl Lanes for Avx512 {
    type Mask = u16;

    #[inline(always)]
    fn call<W: LaneWork>(work: W) -> W::Output {
        // SAFETY: the features are there (see the type), those of AVX2 among them.
        unsafe { if W::GAINS_BY_AVX512 { run(work) } else { avx2::run(work) } }
    }

    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        // SAFETY: the feature is there (see the type); sixteen floats are 64 readable bytes.
        Self(unsafe { _mm512_loadu_ps(values.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        // SAFETY: the feature is there (see the type); sixteen floats are 64 writable bytes.
        unsafe { _mm512_storeu_ps(values.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: the feature is there (see the type).
        Self(unsafe { _mm512_set1_ps(value) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        Self(unsafe { _mm512_mul_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        Self(unsafe { _mm512_min_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        Self(unsafe { _mm512_max_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate(self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe {
            let bits = _mm512_castps_si512(self.0);
            Self(_mm512_castsi512_ps(_mm512_alignr_epi32::<1>(bits, bits)))
        }
    }

    #[inline(always)]
    fn apart(of_a: [&[f32; 4]; LANES], of_b: [&[f32; 4]; LANES]) -> [Self; 4] {
        // SAFETY: the features are there (see the type), AVX among them.
        unsafe {
            let low = avx2::transposed(avx2::apart(of_a, of_b, 0));
            let high = avx2::transposed(avx2::apart(of_a, of_b, 8));
            let both = |low, high| Self(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high));
            [both(low[0], high[0]), both(low[1], high[1]), both(low[2], high[2]), both(low[3], high[3])]
        }
    }

    #[inline(always)]
    fn apart_both(of_a: [&[[f32; 4]; 2]; LANES], of_b: [&[[f32; 4]; 2]; LANES]) -> [[Self; 4]; 2] {
        // SAFETY: the features are there (see the type).
        unsafe {
            let low = transposed(apart_by_two(of_a, of_b, 0));
            let high = transposed(apart_by_two(of_a, of_b, LANES / 2));
            let mut columns = [[Self(low[0]); 4]; 2];
            for column in 0..4 {
                columns[0][column] = Self(_mm512_shuffle_f32x4::<0b1000_1000>(low[column], high[column]));
                columns[1][column] = Self(_mm512_shuffle_f32x4::<0b1101_1101>(low[column], high[column]));
            }
            columns
        }
    }

    #[inline(always)]
    fn le_mask(self, other: Self) -> u16 {
        // SAFETY: the feature is there (see the type).
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }

    #[inline(always)]
    fn both(a: u16, b: u16) -> u16 {
        a & b
    }

    #[inline(always)]
    fn bits(mask: u16) -> u16 {
        mask
    }

    #[inline(always)]
    fn expand(mask: u16, base: u32, out: &mut [u32; LANES]) -> usize {
        // SAFETY: the feature is there (see the type); `out` is 64 writable bytes.
        unsafe {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let lanes = _mm512_add_epi32(lanes, _mm512_set1_epi32(base as i32));
            _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(mask, lanes));
        }
        mask.count_ones() as usize
    }

    #[inline(always)]
    fn pairs(a: u32, b: &[u32; LANES], mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); `b` is 64 readable bytes.
        unsafe {
            store_sorted(_mm512_set1_epi32(a as i32), set_lanes(_mm512_loadu_si512(b.as_ptr().cast()), mask), mask, out)
        }
    }

    #[inline(always)]
    fn pairs_across(a: u32, b: &[u32; LANES], swapped: bool, mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); `b` is 64 readable bytes.
        unsafe {
            let (a, b) = (_mm512_set1_epi32(a as i32), set_lanes(_mm512_loadu_si512(b.as_ptr().cast()), mask));
            if swapped { store_pairs(b, a, mask, out) } else { store_pairs(a, b, mask, out) }
        }
    }

    #[inline(always)]
    fn pairs_within(a: &[u32; LANES], rotation: usize, mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); `a` is 64 readable bytes.
        unsafe {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            // The permutation takes the low four bits of an index: modulo sixteen for free.
            let rotated = _mm512_add_epi32(lanes, _mm512_set1_epi32(rotation as i32));
            let a = _mm512_loadu_si512(a.as_ptr().cast());
            store_sorted(set_lanes(a, mask), set_lanes(_mm512_permutexvar_epi32(rotated, a), mask), mask, out);
        }
    }

    #[inline(always)]
    fn sort_rows<const N: usize>(rows: &mut [[u32; N]; LANES], lens: &[u32; LANES]) {
        // SAFETY: the feature is there (see the type).
        unsafe { super::avx2::sort::sort_rows(rows, lens) }
    }

    #[inline(always)]
    fn merge_rows(rows: &mut [[u32; 2 * ROW]; LANES], lens: &[u32; LANES]) {
        // SAFETY: the feature is there (see the type).
        unsafe { super::avx2::sort::merge_rows(rows, lens) }
    }

    #[inline(always)]
    fn pick(row: &[u32; ROW], places: &[u32; LANES], out: &mut [u32; LANES]) {
        // SAFETY: the feature is there (see the type); `row` is four times 64 readable bytes, `places` 64, and `out` 64
        // writable ones.
        unsafe {
            let row = row.as_ptr();
            let sixteen = |at| _mm512_loadu_si512(row.add(at * LANES).cast());
            let places = _mm512_loadu_si512(places.as_ptr().cast());
            // A permutation of two registers takes the low five bits of an index.
            let low = _mm512_permutex2var_epi32(sixteen(0), places, sixteen(1));
            let high = _mm512_permutex2var_epi32(sixteen(2), places, sixteen(3));
            let is_high = _mm512_test_epi32_mask(places, _mm512_set1_epi32(2 * LANES as i32));
            _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_mask_blend_epi32(is_high, low, high));
        }
    }

    #[inline(always)]
    fn greater_ids(ids: &[u32; LANES], id: u32) -> u16 {
        // SAFETY: the feature is there (see the type); `ids` is 64 readable bytes.
        unsafe { _mm512_cmpgt_epu32_mask(_mm512_loadu_si512(ids.as_ptr().cast()), _mm512_set1_epi32(id as i32)) }
    }

    #[inline(always)]
    fn same_ids(ids: &[u32; LANES], id: u32) -> u16 {
        // SAFETY: the feature is there (see the type); `ids` is 64 readable bytes.
        unsafe { _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(ids.as_ptr().cast()), _mm512_set1_epi32(id as i32)) }
    }

    #[inline(always)]
    fn with_any(values: &[u32; LANES], bits: u32) -> u16 {
        // SAFETY: the feature is there (see the type); `values` is 64 readable bytes.
        unsafe { _mm512_test_epi32_mask(_mm512_loadu_si512(values.as_ptr().cast()), _mm512_set1_epi32(bits as i32)) }
    }

    #[inline(always)]
    fn compress(values: &[f32; LANES], mask: u16, out: &mut [f32; LANES]) {
        Self::load(values).compressed(mask, out);
    }

    #[inline(always)]
    fn compressed(self, mask: u16, out: &mut [f32; LANES]) {
        // SAFETY: the feature is there (see the type); sixteen floats are 64 writable bytes.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), _mm512_maskz_compress_ps(mask, self.0)) }
    }

    #[inline(always)]
    fn compress_pairs(pairs: &[[u32; 2]; LANES], mask: u16, out: &mut [[u32; 2]; LANES]) {
        let (low, high) = (mask as u8, (mask >> 8) as u8);
        // SAFETY: the feature is there (see the type); sixteen pairs are twice 64 bytes to read and to write, and the
        // second eight begin at most eight pairs into the sixteen.
        unsafe {
            let (pairs, out) = (pairs.as_ptr(), out.as_mut_ptr());
            let some = _mm512_maskz_compress_epi64(low, _mm512_loadu_si512(pairs.cast()));
            _mm512_storeu_si512(out.cast(), some);
            let some = _mm512_maskz_compress_epi64(high, _mm512_loadu_si512(pairs.add(8).cast()));
            _mm512_storeu_si512(out.add(low.count_ones() as usize).cast(), some);
        }
    }
}

/// Eight rows from number `first` on, rows of `a` less rows of `b`, but the sums of their last values, with both halves
/// of each row. Each register holds a row and the row four after it.
///
/// # Safety
/// The features are there.
#[inline(always)]
unsafe fn apart_by_two(of_a: [&[[f32; 4]; 2]; LANES], of_b: [&[[f32; 4]; 2]; LANES], first: usize) -> [__m512; 4] {
    // SAFETY: as promised; rows are 32 readable bytes.
    unsafe {
        let mut rows = [_mm512_setzero_ps(); 4];
        for (at, row) in rows.iter_mut().enumerate() {
            let (a, b) = (by_two(of_a, first + at), by_two(of_b, first + at));
            *row = _mm512_mask_add_ps(_mm512_sub_ps(a, b), 0b1000_1000_1000_1000, a, b);
        }
        rows
    }
}

/// Loads both halves of a row and of the row four after it.
///
/// # Safety
/// The features are there.
#[inline(always)]
unsafe fn by_two(rows: [&[[f32; 4]; 2]; LANES], at: usize) -> __m512 {
    // SAFETY: as promised; rows are 32 readable bytes.
    unsafe {
        let first = _mm512_castps256_ps512(_mm256_loadu_ps(rows[at].as_ptr().cast()));
        _mm512_insertf32x8::<1>(first, _mm256_loadu_ps(rows[at + 4].as_ptr().cast()))
    }
}

/// The columns of four rows in each quarter of four registers.
///
/// # Safety
/// The features are there.
#[inline(always)]
unsafe fn transposed([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    // SAFETY: as promised.
    unsafe {
        let (ab, cd) = (_mm512_castps_pd(_mm512_unpacklo_ps(a, b)), _mm512_castps_pd(_mm512_unpacklo_ps(c, d)));
        let (ab_high, cd_high) =
            (_mm512_castps_pd(_mm512_unpackhi_ps(a, b)), _mm512_castps_pd(_mm512_unpackhi_ps(c, d)));
        [
            _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
            _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)),
            _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high)),
            _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high)),
        ]
    }
}

/// The ids of the lanes set in `mask`, in order.
///
/// # Safety
/// The features are there.
#[inline(always)]
unsafe fn set_lanes(ids: __m512i, mask: u16) -> __m512i {
    // SAFETY: as promised.
    unsafe { _mm512_maskz_compress_epi32(mask, ids) }
}

/// As [`store_pairs`], the lesser id of each first.
///
/// # Safety
/// The features are there.
#[inline(always)]
unsafe fn store_sorted(a: __m512i, b: __m512i, mask: u16, out: &mut [[u32; 2]; LANES]) {
    // SAFETY: as promised.
    unsafe { store_pairs(_mm512_min_epu32(a, b), _mm512_max_epu32(a, b), mask, out) }
}

/// Writes the pairs of the lanes in `mask`. The caller has put their ids to the front: before they are paired, ids fill
/// half as many registers. Eight places are written in any case, and sixteen only where there are more than eight pairs,
/// which are few hits: no processor could foresee a lower limit.
///
/// # Safety
/// The features are there.
#[inline(always)]
unsafe fn store_pairs(first: __m512i, second: __m512i, mask: u16, out: &mut [[u32; 2]; LANES]) {
    // SAFETY: the features are there; `out` is 128 writable bytes.
    unsafe {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let out = out.as_mut_ptr();
        _mm512_storeu_si512(out.cast(), _mm512_permutex2var_epi32(first, low, second));
        if mask.count_ones() > 8 {
            let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            _mm512_storeu_si512(out.add(8).cast(), _mm512_permutex2var_epi32(first, high, second));
        }
    }
}
