//! Four records read at once, and their words stored column by column. A room of `unsafe`: instructions that the target has.
#![allow(unsafe_code, reason = "instructions that are behind the compiler's own features")]

use bytemuck::{Pod, Zeroable};

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__m128, _mm_movehl_ps, _mm_movelh_ps, _mm_unpackhi_ps, _mm_unpacklo_ps};

/// Four words of four bytes, as the processor loads them: of an array of numbers the compiler makes four loads again.
#[cfg(target_arch = "x86_64")]
type Row = __m128;
#[cfg(not(target_arch = "x86_64"))]
type Row = [u32; 4];

/// Words `first` to `first + 3` of four records, a column a word.
///
/// # Panics
/// When a record has fewer words.
#[inline(always)]
pub(super) fn columns<R: Pod>(records: &[R; 4], first: usize) -> [[u32; 4]; 4] {
    let mut rows = [Row::zeroed(); 4];
    for (row, record) in rows.iter_mut().zip(records) {
        *row = bytemuck::pod_read_unaligned(&bytemuck::bytes_of(record)[4 * first..][..size_of::<Row>()]);
    }
    bytemuck::cast(transposed(rows))
}

/// Four numbers that will be stored by one instruction.
#[inline(always)]
pub(super) fn at_once([a, b, c, d]: [f32; 4]) -> [f32; 4] {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    return bytemuck::cast(unsafe { core::arch::x86_64::_mm_setr_ps(a, b, c, d) });
    #[cfg(not(target_arch = "x86_64"))]
    return [a, b, c, d];
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transposed([a, b, c, d]: [Row; 4]) -> [Row; 4] {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        let (first, second) = (_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
        [first, second, _mm_movelh_ps(ab_high, cd_high), _mm_movehl_ps(cd_high, ab_high)]
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn transposed(rows: [Row; 4]) -> [Row; 4] {
    core::array::from_fn(|column| core::array::from_fn(|row| rows[row][column]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_come_out_column_by_column() {
        let records: [[u32; 5]; 4] =
            core::array::from_fn(|record| core::array::from_fn(|word| (10 * record + word) as u32));
        assert_eq!(super::columns(&records, 0), [[0, 10, 20, 30], [1, 11, 21, 31], [2, 12, 22, 32], [3, 13, 23, 33]]);
        assert_eq!(super::columns(&records, 1)[3], [4, 14, 24, 34]);
    }
}
