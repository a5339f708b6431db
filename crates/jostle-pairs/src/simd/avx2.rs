//! Lanes by AVX2: two registers of eight. A room of `unsafe`: see [`Avx2`].
#![allow(unsafe_code, reason = "instructions beyond what the target always has")]

use core::arch::asm;
use core::arch::x86_64::*;

use super::{LANES, LaneWork, Lanes};

pub(super) mod sort;
mod sort_one;

/// Sixteen lanes in two registers. It is known to this module alone, so that its methods are reached by [`run`] only, whose caller
/// vouches for the instructions.
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

/// For each mask of four lanes of 64 bits, the halves of those set in it, ascending.
static SET_HALVES: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let mut half = 0;
        while half < 8 {
            table[mask][half] = 2 * SET_LANES[mask][half / 2] as u32 + half as u32 % 2;
            half += 1;
        }
        mask += 1;
    }
    table
};

/// Writes the pairs of eight lanes that are set in `mask`, the lesser id of each first, and returns their number.
///
/// # Safety
/// AVX2 is there, and `out` has room for eight pairs.
#[inline(always)]
unsafe fn store_eight_sorted(a: __m256i, b: __m256i, mask: u8, out: *mut [u32; 2]) -> usize {
    // SAFETY: as promised.
    unsafe { store_eight(_mm256_min_epu32(a, b), _mm256_max_epu32(a, b), mask, out) }
}

/// As [`store_eight_sorted`], each pair as it is.
///
/// # Safety
/// AVX2 is there, and `out` has room for eight pairs.
#[inline(always)]
unsafe fn store_eight(first: __m256i, second: __m256i, mask: u8, out: *mut [u32; 2]) -> usize {
    // SAFETY: as promised; the second store begins at most four pairs in.
    unsafe {
        store_four(_mm256_castsi256_si128(first), _mm256_castsi256_si128(second), mask & 15, out);
        let out = out.add((mask & 15).count_ones() as usize);
        store_four(_mm256_extracti128_si256::<1>(first), _mm256_extracti128_si256::<1>(second), mask >> 4, out);
    }
    mask.count_ones() as usize
}

/// Writes the four pairs of (first, second) whose bits are set in `mask`, which is below 16, to `out`.
///
/// # Safety
/// AVX2 is there, and `out` has room for four pairs.
#[inline(always)]
unsafe fn store_four(first: __m128i, second: __m128i, mask: u8, out: *mut [u32; 2]) {
    // SAFETY: as promised; the table has sixteen rows of 32 bytes.
    unsafe {
        let second = _mm256_slli_epi64::<32>(_mm256_cvtepu32_epi64(second));
        let pairs = _mm256_or_si256(_mm256_cvtepu32_epi64(first), second);
        let halves = _mm256_loadu_si256(SET_HALVES[usize::from(mask & 15)].as_ptr().cast());
        _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(pairs, halves));
    }
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

/// The highest bits of eight lanes, by the instruction itself: two of the intrinsic, put together to sixteen bits, may be
/// compiled to seven instructions in a chain, which crosses the halves of a register.
#[inline]
#[target_feature(enable = "avx")]
fn movemask(lanes: __m256) -> u32 {
    let mask;
    // SAFETY: it reads a register and writes another one.
    unsafe {
        asm!("vmovmskps {0:e}, {1}", out(reg) mask, in(ymm_reg) lanes, options(pure, nomem, nostack, preserves_flags))
    };
    mask
}

/// Bytes that memory is fetched by.
const LINE: usize = 64;

/// Asks for all lines of a value.
#[inline(always)]
pub(super) fn prefetch<T: ?Sized>(value: &T) {
    for at in (0..size_of_val(value)).step_by(LINE) {
        prefetch_at(core::ptr::from_ref(value).cast::<u8>().wrapping_add(at));
    }
}

/// Asks for the line at an address.
#[inline(always)]
pub(super) fn prefetch_at(address: *const u8) {
    // SAFETY: a prefetch has no effect but on time, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

impl Lanes for Avx2 {
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
    fn le(self, other: Self) -> u16 {
        // SAFETY: the feature is there (see the type).
        unsafe {
            let low = _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0);
            mask16(low, _mm256_cmp_ps::<_CMP_LE_OQ>(self.1, other.1))
        }
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
        // SAFETY: the feature is there (see the type); `b` is twice 32 readable bytes.
        unsafe {
            let a = _mm256_set1_epi32(a as i32);
            let b = b.as_ptr();
            let count = store_eight_sorted(a, _mm256_loadu_si256(b.cast()), mask as u8, out.as_mut_ptr());
            let out = out.as_mut_ptr().add(count);
            store_eight_sorted(a, _mm256_loadu_si256(b.add(8).cast()), (mask >> 8) as u8, out);
        }
    }

    #[inline(always)]
    fn pairs_across(a: u32, b: &[u32; LANES], swapped: bool, mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); `b` is twice 32 readable bytes.
        unsafe {
            let a = _mm256_set1_epi32(a as i32);
            let b = b.as_ptr();
            let (low, high) = (_mm256_loadu_si256(b.cast()), _mm256_loadu_si256(b.add(8).cast()));
            let (first, second) = if swapped { (low, a) } else { (a, low) };
            let count = store_eight(first, second, mask as u8, out.as_mut_ptr());
            let (first, second) = if swapped { (high, a) } else { (a, high) };
            store_eight(first, second, (mask >> 8) as u8, out.as_mut_ptr().add(count));
        }
    }

    #[inline(always)]
    fn pairs_within(a: &[u32; LANES], rotation: usize, mask: u16, out: &mut [[u32; 2]; LANES]) {
        // SAFETY: the feature is there (see the type); lanes are below 16, and `a` is twice 32 readable bytes.
        unsafe {
            let a = a.as_ptr();
            let rotated =
                _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(rotation as i32));
            let (fifteen, eight) = (_mm256_set1_epi32(LANES as i32 - 1), _mm256_set1_epi32(8));
            let low = _mm256_i32gather_epi32::<4>(a.cast(), _mm256_and_si256(rotated, fifteen));
            let high =
                _mm256_i32gather_epi32::<4>(a.cast(), _mm256_and_si256(_mm256_add_epi32(rotated, eight), fifteen));
            let count = store_eight_sorted(_mm256_loadu_si256(a.cast()), low, mask as u8, out.as_mut_ptr());
            let out = out.as_mut_ptr().add(count);
            store_eight_sorted(_mm256_loadu_si256(a.add(8).cast()), high, (mask >> 8) as u8, out);
        }
    }

    #[inline(always)]
    fn prefetch<T>(value: &T) {
        prefetch(value);
    }

    #[inline(always)]
    fn sort_rows<const N: usize>(rows: &mut [[u32; N]; LANES], lens: &[u32; LANES]) {
        // SAFETY: the feature is there (see the type).
        unsafe { sort::sort_rows(rows, lens) }
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
}
