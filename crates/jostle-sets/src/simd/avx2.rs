//! Lanes by AVX2: two registers of eight. A room of `unsafe`: see [`Avx2`].
#![allow(unsafe_code, reason = "instructions beyond what the target always has")]

use core::arch::asm;
use core::arch::x86_64::*;

use super::{LANES, LaneWork, Lanes, ROW};

pub(super) mod sort;
mod sort_one;

/// Sixteen lanes in two registers. The type is private to this module, so its methods are reached by [`run`] alone,
/// whose caller vouches for the instructions.
#[derive(Clone, Copy)]
struct Avx2(__m256, __m256);

/// Does the work with the instructions of AVX2, in a function of its own.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<W: LaneWork>(work: W) -> W::Output {
    work.run::<Avx2>()
}

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

/// For each mask of eight lanes, the lanes set in it, ascending, in the places from which [`store_eight`] unpacks them:
/// the first four are in the lower two places of both halves of a register.
static UNPACKED_LANES: [[u8; 8]; 256] = {
    const PLACES: [usize; 8] = [0, 1, 4, 5, 2, 3, 6, 7];
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut at = 0;
        while at < 8 {
            table[mask][PLACES[at]] = SET_LANES[mask][at];
            at += 1;
        }
        mask += 1;
    }
    table
};

/// For each mask of four pairs, both lanes of each pair set in it, ascending.
static SET_PAIRS: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut pair, mut count) = (0, 0);
        while pair < 4 {
            if mask >> pair & 1 == 1 {
                table[mask][count] = 2 * pair as u32;
                table[mask][count + 1] = 2 * pair as u32 + 1;
                count += 2;
            }
            pair += 1;
        }
        mask += 1;
    }
    table
};

/// Moves the values of the lanes set in `mask` to the front, ascending, in the order of [`UNPACKED_LANES`].
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn to_front(values: __m256i, mask: u8) -> __m256i {
    // SAFETY: as promised; the table has 256 rows of eight bytes.
    unsafe {
        let lanes = _mm_loadl_epi64(UNPACKED_LANES[usize::from(mask)].as_ptr().cast());
        _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(lanes))
    }
}

/// Writes eight pairs, whose ids are in the order of [`UNPACKED_LANES`].
///
/// # Safety
/// AVX2 is there, and `out` has room for eight pairs.
#[inline(always)]
unsafe fn store_eight(first: __m256i, second: __m256i, out: *mut [u32; 2]) {
    // SAFETY: as promised; the second store begins four pairs in.
    unsafe {
        _mm256_storeu_si256(out.cast(), _mm256_unpacklo_epi32(first, second));
        _mm256_storeu_si256(out.add(4).cast(), _mm256_unpackhi_epi32(first, second));
    }
}

/// As [`store_eight`], the lesser id of each first.
///
/// # Safety
/// As [`store_eight`].
#[inline(always)]
unsafe fn store_eight_sorted(a: __m256i, b: __m256i, out: *mut [u32; 2]) {
    // SAFETY: as promised.
    unsafe { store_eight(_mm256_min_epu32(a, b), _mm256_max_epu32(a, b), out) }
}

/// The highest bits of sixteen lanes.
///
/// # Safety
/// AVX is there.
#[inline(always)]
unsafe fn mask16(low: __m256, high: __m256) -> u16 {
    // SAFETY: as promised.
    unsafe { movemask(low) as u16 | (movemask(high) as u16) << 8 }
}

/// The highest bits of eight lanes, by the instruction itself. Two calls of the intrinsic, put together to sixteen
/// bits, may be compiled to a chain of seven instructions, which crosses the halves of a register.
#[inline]
#[target_feature(enable = "avx")]
fn movemask(lanes: __m256) -> u32 {
    let mask;
    // SAFETY: the instruction reads one register and writes another.
    unsafe {
        asm!("vmovmskps {0:e}, {1}", out(reg) mask, in(ymm_reg) lanes, options(pure, nomem, nostack, preserves_flags))
    };
    mask
}

/// Loads eight rows from number `first` on: rows i and i + 4 into register i.
///
/// # Safety
/// AVX is there.
#[inline(always)]
unsafe fn by_two(rows: [&[f32; 4]; LANES], first: usize) -> [__m256; 4] {
    // SAFETY: as promised; a row is 16 readable bytes.
    unsafe {
        let mut registers = [_mm256_setzero_ps(); 4];
        for (i, register) in registers.iter_mut().enumerate() {
            *register = _mm256_loadu2_m128(rows[first + i + 4].as_ptr(), rows[first + i].as_ptr());
        }
        registers
    }
}

/// As [`by_two`]: rows of `a` less rows of `b`, but the sums of their last floats.
///
/// # Safety
/// As [`by_two`].
#[inline(always)]
pub(super) unsafe fn apart(of_a: [&[f32; 4]; LANES], of_b: [&[f32; 4]; LANES], first: usize) -> [__m256; 4] {
    // SAFETY: as promised.
    unsafe {
        // With the sign of one radius turned, the difference of two radii is their sum.
        let turned = _mm256_setr_ps(0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, -0.0);
        let (mut rows, others) = (by_two(of_a, first), by_two(of_b, first));
        for (row, other) in rows.iter_mut().zip(others) {
            *row = _mm256_sub_ps(*row, _mm256_xor_ps(other, turned));
        }
        rows
    }
}

/// Four rows from number `first` on, each in a register with both its halves: rows of `a` less rows of `b`, but the
/// sums of the last floats of either half.
///
/// # Safety
/// AVX is there.
#[inline(always)]
unsafe fn apart_whole(of_a: [&[[f32; 4]; 2]; LANES], of_b: [&[[f32; 4]; 2]; LANES], first: usize) -> [__m256; 4] {
    // SAFETY: as promised; rows are 32 readable bytes.
    unsafe {
        let turned = _mm256_setr_ps(0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, -0.0);
        let mut rows = [_mm256_setzero_ps(); 4];
        for (i, row) in rows.iter_mut().enumerate() {
            let [a, b] = [of_a[first + i], of_b[first + i]];
            let turned = _mm256_xor_ps(turned, _mm256_loadu_ps(b.as_ptr().cast()));
            *row = _mm256_sub_ps(_mm256_loadu_ps(a.as_ptr().cast()), turned);
        }
        rows
    }
}

/// The columns of four registers, within each half.
///
/// # Safety
/// As [`by_two`].
#[inline(always)]
pub(super) unsafe fn transposed([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: as promised.
    unsafe {
        let (ab, cd) = (_mm256_castps_pd(_mm256_unpacklo_ps(a, b)), _mm256_castps_pd(_mm256_unpacklo_ps(c, d)));
        let (ab_high, cd_high) =
            (_mm256_castps_pd(_mm256_unpackhi_ps(a, b)), _mm256_castps_pd(_mm256_unpackhi_ps(c, d)));
        [
            _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)),
            _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high)),
        ]
    }
}

/// Joins eight lanes and the other eight, column by column.
#[inline(always)]
fn side_by_side(low: [__m256; 4], high: [__m256; 4]) -> [Avx2; 4] {
    let [a, b, c, d] = low;
    let [e, f, g, h] = high;
    [Avx2(a, e), Avx2(b, f), Avx2(c, g), Avx2(d, h)]
}

impl Lanes for Avx2 {
    type Mask = Self;

    #[inline(always)]
    fn call<W: LaneWork>(work: W) -> W::Output {
        // SAFETY: the features are there (see the type).
        unsafe { run(work) }
    }

    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        // SAFETY: the feature is there (see the type); sixteen floats are twice 32 readable bytes.
        unsafe { Self(_mm256_loadu_ps(values.as_ptr()), _mm256_loadu_ps(values.as_ptr().add(8))) }
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        // SAFETY: the feature is there (see the type); sixteen floats are twice 32 writable bytes.
        unsafe {
            _mm256_storeu_ps(values.as_mut_ptr(), self.0);
            _mm256_storeu_ps(values.as_mut_ptr().add(8), self.1);
        }
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
    fn min(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_min_ps(self.0, other.0), _mm256_min_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)) }
    }

    #[inline(always)]
    fn rotate(self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe {
            let (low, high) = (_mm256_castps_si256(self.0), _mm256_castps_si256(self.1));
            // The middle eight and the outer eight of the sixteen, taken as a ring.
            let (inner, outer) =
                (_mm256_permute2x128_si256::<0x21>(low, high), _mm256_permute2x128_si256::<0x21>(high, low));
            let (low, high) = (_mm256_alignr_epi8::<4>(inner, low), _mm256_alignr_epi8::<4>(outer, high));
            Self(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high))
        }
    }

    #[inline(always)]
    fn apart(of_a: [&[f32; 4]; LANES], of_b: [&[f32; 4]; LANES]) -> [Self; 4] {
        // SAFETY: the feature is there (see the type).
        unsafe { side_by_side(transposed(apart(of_a, of_b, 0)), transposed(apart(of_a, of_b, LANES / 2))) }
    }

    #[inline(always)]
    fn apart_both(of_a: [&[[f32; 4]; 2]; LANES], of_b: [&[[f32; 4]; 2]; LANES]) -> [[Self; 4]; 2] {
        // SAFETY: the feature is there (see the type).
        unsafe {
            let zero = _mm256_setzero_ps();
            let mut columns = [[Self(zero, zero); 4]; 2];
            let fours = |at: usize| transposed(apart_whole(of_a, of_b, 4 * at));
            let (a, b, c, d) = (fours(0), fours(1), fours(2), fours(3));
            for at in 0..4 {
                let firsts = |low, high| _mm256_permute2f128_ps::<0x20>(low, high);
                let seconds = |low, high| _mm256_permute2f128_ps::<0x31>(low, high);
                columns[0][at] = Self(firsts(a[at], b[at]), firsts(c[at], d[at]));
                columns[1][at] = Self(seconds(a[at], b[at]), seconds(c[at], d[at]));
            }
            columns
        }
    }

    #[inline(always)]
    fn le_mask(self, other: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0), _mm256_cmp_ps::<_CMP_LE_OQ>(self.1, other.1)) }
    }

    #[inline(always)]
    fn both(a: Self, b: Self) -> Self {
        // SAFETY: the feature is there (see the type).
        unsafe { Self(_mm256_and_ps(a.0, b.0), _mm256_and_ps(a.1, b.1)) }
    }

    #[inline(always)]
    fn bits(mask: Self) -> u16 {
        // SAFETY: the feature is there (see the type).
        unsafe { mask16(mask.0, mask.1) }
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
    fn pairs(a: u32, b: &[u32; LANES], mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); `b` is twice 32 readable bytes, and the second eight pairs begin
        // at most eight pairs into the sixteen.
        unsafe {
            let a = _mm256_set1_epi32(a as i32);
            let (b, out) = (b.as_ptr(), out.as_mut_ptr());
            store_eight_sorted(a, to_front(_mm256_loadu_si256(b.cast()), mask as u8), out);
            let out = out.add((mask as u8).count_ones() as usize);
            store_eight_sorted(a, to_front(_mm256_loadu_si256(b.add(8).cast()), (mask >> 8) as u8), out);
        }
    }

    #[inline(always)]
    fn pairs_across(a: u32, b: &[u32; LANES], swapped: bool, mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: as in `pairs`.
        unsafe {
            let a = _mm256_set1_epi32(a as i32);
            let (b, out) = (b.as_ptr(), out.as_mut_ptr());
            let low = to_front(_mm256_loadu_si256(b.cast()), mask as u8);
            let (first, second) = if swapped { (low, a) } else { (a, low) };
            store_eight(first, second, out);
            let out = out.add((mask as u8).count_ones() as usize);
            let high = to_front(_mm256_loadu_si256(b.add(8).cast()), (mask >> 8) as u8);
            let (first, second) = if swapped { (high, a) } else { (a, high) };
            store_eight(first, second, out);
        }
    }

    #[inline(always)]
    fn pairs_within(a: &[u32; LANES], rotation: usize, mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: as in `pairs`; the eight ids from lane `rotation` on, which is at most 8, lie within the sixteen.
        unsafe {
            let rotation = rotation.min(LANES / 2);
            let (a, out) = (a.as_ptr(), out.as_mut_ptr());
            let (low, high) = (_mm256_loadu_si256(a.cast()), _mm256_loadu_si256(a.add(8).cast()));
            let rotated_low = _mm256_loadu_si256(a.add(rotation).cast());
            // Lanes 8 to 15 meet the ids `rotation` lanes on: the upper half from lane `rotation` on, then the lower
            // half up to there.
            let (lanes, rotation) = (_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(rotation as i32));
            let all = _mm256_blendv_epi8(high, low, _mm256_cmpgt_epi32(rotation, lanes));
            let rotated_high = _mm256_permutevar8x32_epi32(all, _mm256_add_epi32(lanes, rotation));
            store_eight_sorted(to_front(low, mask as u8), to_front(rotated_low, mask as u8), out);
            let out = out.add((mask as u8).count_ones() as usize);
            store_eight_sorted(to_front(high, (mask >> 8) as u8), to_front(rotated_high, (mask >> 8) as u8), out);
        }
    }

    #[inline(always)]
    fn sort_rows<const N: usize>(rows: &mut [[u32; N]; LANES], lens: &[u32; LANES]) {
        // SAFETY: the feature is there (see the type).
        unsafe { sort::sort_rows(rows, lens) }
    }

    #[inline(always)]
    fn merge_rows(rows: &mut [[u32; 2 * ROW]; LANES], lens: &[u32; LANES]) {
        // SAFETY: the feature is there (see the type).
        unsafe { sort::merge_rows(rows, lens) }
    }

    #[inline(always)]
    fn greater_ids(ids: &[u32; LANES], id: u32) -> u16 {
        // SAFETY: the feature is there (see the type); `ids` is twice 32 readable bytes.
        unsafe {
            let id = _mm256_set1_epi32(id as i32);
            let (low, high) = (_mm256_loadu_si256(ids.as_ptr().cast()), _mm256_loadu_si256(ids.as_ptr().add(8).cast()));
            let low = _mm256_cmpeq_epi32(_mm256_max_epu32(low, id), id);
            let high = _mm256_cmpeq_epi32(_mm256_max_epu32(high, id), id);
            !mask16(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high))
        }
    }

    #[inline(always)]
    fn same_ids(ids: &[u32; LANES], id: u32) -> u16 {
        // SAFETY: the feature is there (see the type); `ids` is twice 32 readable bytes.
        unsafe {
            let (low, high) = (_mm256_loadu_si256(ids.as_ptr().cast()), _mm256_loadu_si256(ids.as_ptr().add(8).cast()));
            let [low, high] = [low, high].map(|ids| _mm256_cmpeq_epi32(ids, _mm256_set1_epi32(id as i32)));
            mask16(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high))
        }
    }

    #[inline(always)]
    fn with_any(values: &[u32; LANES], bits: u32) -> u16 {
        // SAFETY: the feature is there (see the type); `values` is twice 32 readable bytes.
        unsafe {
            let (bits, none, values) = (_mm256_set1_epi32(bits as i32), _mm256_setzero_si256(), values.as_ptr());
            let low = _mm256_and_si256(_mm256_loadu_si256(values.cast()), bits);
            let high = _mm256_and_si256(_mm256_loadu_si256(values.add(8).cast()), bits);
            let (low, high) = (_mm256_cmpeq_epi32(low, none), _mm256_cmpeq_epi32(high, none));
            !mask16(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high))
        }
    }

    #[inline(always)]
    fn compress(values: &[f32; LANES], mask: u16, out: &mut [f32; LANES]) {
        Self::load(values).compressed(mask, out);
    }

    #[inline(always)]
    fn compressed(self, mask: u16, out: &mut [f32; LANES]) {
        let (low, high) = ((mask & 0xff) as usize, (mask >> 8) as usize);
        // SAFETY: the feature is there (see the type); the second store begins at most eight values into the sixteen.
        unsafe {
            let out = out.as_mut_ptr();
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_LANES[low].as_ptr().cast()));
            _mm256_storeu_ps(out, _mm256_permutevar8x32_ps(self.0, lanes));
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(SET_LANES[high].as_ptr().cast()));
            _mm256_storeu_ps(out.add(low.count_ones() as usize), _mm256_permutevar8x32_ps(self.1, lanes));
        }
    }

    #[inline(always)]
    fn compress_pairs(pairs: &[[u32; 2]; LANES], mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); four pairs are 32 bytes to read and to write, and each four
        // begin no farther into the sixteen than they stood.
        unsafe {
            let (pairs, mut out) = (pairs.as_ptr(), out.as_mut_ptr());
            for first in (0..LANES).step_by(4) {
                let four = usize::from(mask >> first & 0b1111);
                let lanes = _mm256_loadu_si256(SET_PAIRS[four].as_ptr().cast());
                let values = _mm256_loadu_si256(pairs.add(first).cast());
                _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(values, lanes));
                out = out.add(four.count_ones() as usize);
            }
        }
    }
}
