//! Rows of ids, sorted eight side by side, each in its own lane of all registers. An exchange of two registers takes
//! the lesser id of each row to one register and the greater id to the other. The order of exchanges does not depend on
//! the ids, so there is nothing to mispredict.
//!
//! Sixteen ids are sorted by Green's network (1969) of sixty exchanges; more, sixteen by sixteen, are merged by
//! Batcher's bitonic network (1968).
#![allow(unsafe_code, reason = "instructions beyond what the target always has")]

use core::arch::x86_64::*;

use super::super::{LANES, ROW, merged};
use super::sort_one::sort_rest;

/// Rows side by side.
const EIGHT: usize = 8;

/// Of eight rows, up to so many are finished one by one: rows of more than sixteen among shorter ones, and in a merge
/// those of more than [`ROW`].
const FEW: u32 = 3;

/// Sixteen ids of each of eight rows.
type Block = [__m256i; LANES];

/// Sorts the first `lens[i]` ids of row i. The ids that follow become unspecified.
///
/// # Safety
/// AVX2 is there.
///
/// # Panics
/// Where a row is longer than [`ROW`].
#[target_feature(enable = "avx2")]
pub(in crate::simd) unsafe fn sort_rows<const N: usize>(rows: &mut [[u32; N]; LANES], lens: &[u32; LANES]) {
    const { assert!(N >= ROW, "there is room for what is sorted") };
    for (rows, lens) in rows.as_chunks_mut().0.iter_mut().zip(lens.as_chunks().0) {
        let mut longest = 0;
        let mut long = 0_u32;
        for row in 0..EIGHT {
            longest = longest.max(lens[row] as usize);
            long |= u32::from(lens[row] > LANES as u32) << row;
        }
        if longest <= LANES || longest <= 2 * LANES && long.count_ones() <= FEW {
            sort_eight::<1, N>(rows, lens);
            while long != 0 {
                let row = long.trailing_zeros() as usize;
                long &= long - 1;
                sort_rest(rows[row].first_chunk_mut().expect("there is room for more"), lens[row] as usize);
            }
        } else if longest <= 2 * LANES {
            sort_eight::<2, N>(rows, lens);
        } else {
            assert!(longest <= ROW, "rows of {ROW} ids at most are sorted side by side, not of {longest}");
            sort_eight::<{ ROW / LANES }, N>(rows, lens);
        }
    }
}

/// Merges the first [`ROW`] ids of row i with the ids that follow, both ascending, `lens[i]` in all. Shorter rows
/// become unspecified, and so do the ids after `lens[i]`.
///
/// # Safety
/// AVX2 is there.
#[target_feature(enable = "avx2")]
pub(in crate::simd) unsafe fn merge_rows(rows: &mut [[u32; 2 * ROW]; LANES], lens: &[u32; LANES]) {
    for (rows, lens) in rows.as_chunks_mut().0.iter_mut().zip(lens.as_chunks().0) {
        if lens.iter().filter(|&&len| len as usize > ROW).count() <= FEW as usize {
            merged::merge_rows(rows, lens);
        } else {
            let lens = load_lens(lens);
            let mut blocks = [[_mm256_setzero_si256(); LANES]; 2 * ROW / LANES];
            for (at, block) in blocks.iter_mut().enumerate() {
                *block = load(rows, at * LANES, lens);
            }
            merge(&mut blocks);
            for (at, block) in blocks.iter().enumerate() {
                store(*block, rows, at * LANES);
            }
        }
    }
}

/// Sorts eight rows of up to sixteen ids for each of `BLOCKS`; of longer rows, the first so many ids.
#[target_feature(enable = "avx2")]
fn sort_eight<const BLOCKS: usize, const N: usize>(rows: &mut [[u32; N]; EIGHT], lens: &[u32; EIGHT]) {
    let lens = load_lens(lens);
    let mut blocks = [[_mm256_setzero_si256(); LANES]; BLOCKS];
    for (at, block) in blocks.iter_mut().enumerate() {
        *block = load(rows, at * LANES, lens);
        sort_block(block);
    }
    let mut run = 2;
    while run <= BLOCKS {
        for blocks in blocks.chunks_exact_mut(run) {
            merge(blocks);
        }
        run *= 2;
    }
    for (at, block) in blocks.iter().enumerate() {
        store(*block, rows, at * LANES);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_lens(lens: &[u32; EIGHT]) -> __m256i {
    // SAFETY: eight lengths are 32 readable bytes.
    unsafe { _mm256_loadu_si256(lens.as_ptr().cast()) }
}

/// Loads sixteen ids of each row, from number `first` on. Places after the end of a row get a value no less than any
/// id.
#[inline]
#[target_feature(enable = "avx2")]
fn load<const N: usize>(rows: &[[u32; N]; EIGHT], first: usize, lens: __m256i) -> Block {
    let mut block = [_mm256_setzero_si256(); LANES];
    for half in [0, EIGHT] {
        for row in 0..EIGHT {
            let eight = &rows[row][first + half..first + half + EIGHT];
            // SAFETY: eight ids are 32 readable bytes.
            block[half + row] = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        }
    }
    transpose(&mut block);
    for (id, register) in block.iter_mut().enumerate() {
        let ended = _mm256_cmpgt_epi32(_mm256_set1_epi32((first + id + 1) as i32), lens);
        *register = _mm256_or_si256(*register, ended);
    }
    block
}

/// Writes sixteen ids of each row, from number `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn store<const N: usize>(mut block: Block, rows: &mut [[u32; N]; EIGHT], first: usize) {
    transpose(&mut block);
    for half in [0, EIGHT] {
        for row in 0..EIGHT {
            let eight = &mut rows[row][first + half..first + half + EIGHT];
            // SAFETY: eight ids are 32 writable bytes.
            unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), block[half + row]) };
        }
    }
}

/// Transposes both squares of eight: row i goes from register i to lane i of each register, or back.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(block: &mut Block) {
    for half in [0, EIGHT] {
        let mut pairs = [_mm256_setzero_si256(); EIGHT];
        for row in (0..EIGHT).step_by(2) {
            pairs[row] = _mm256_unpacklo_epi32(block[half + row], block[half + row + 1]);
            pairs[row + 1] = _mm256_unpackhi_epi32(block[half + row], block[half + row + 1]);
        }
        let mut fours = pairs;
        for row in (0..EIGHT).step_by(4) {
            for high in 0..2 {
                fours[row + 2 * high] = _mm256_unpacklo_epi64(pairs[row + high], pairs[row + 2 + high]);
                fours[row + 2 * high + 1] = _mm256_unpackhi_epi64(pairs[row + high], pairs[row + 2 + high]);
            }
        }
        for row in 0..EIGHT / 2 {
            block[half + row] = _mm256_permute2x128_si256::<0x20>(fours[row], fours[row + 4]);
            block[half + row + 4] = _mm256_permute2x128_si256::<0x31>(fours[row], fours[row + 4]);
        }
    }
}

/// Takes the lesser ids to the first register, the greater ids to the second.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange(ids: &mut [__m256i], first: usize, second: usize) {
    let (a, b) = (ids[first], ids[second]);
    (ids[first], ids[second]) = (_mm256_min_epu32(a, b), _mm256_max_epu32(a, b));
}

/// Exchanges in turn, each written out: an array that is indexed by a variable is in no register.
macro_rules! exchange_all {
    ($ids:ident: $($first:literal $second:literal),*) => { $(exchange($ids, $first, $second);)* };
}

#[inline]
#[target_feature(enable = "avx2")]
fn sort_block(ids: &mut Block) {
    exchange_all!(ids: 0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15);
    exchange_all!(ids: 0 2, 4 6, 8 10, 12 14, 1 3, 5 7, 9 11, 13 15);
    exchange_all!(ids: 0 4, 8 12, 1 5, 9 13, 2 6, 10 14, 3 7, 11 15);
    exchange_all!(ids: 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15);
    exchange_all!(ids: 5 10, 6 9, 3 12, 13 14, 4 8, 7 11, 1 2);
    exchange_all!(ids: 1 4, 7 13, 2 8, 11 14);
    exchange_all!(ids: 2 4, 5 6, 9 10, 11 13, 3 8, 7 12);
    exchange_all!(ids: 6 8, 10 12, 3 5, 7 9);
    exchange_all!(ids: 3 4, 5 6, 7 8, 9 10, 11 12);
    exchange_all!(ids: 6 7, 8 9);
}

/// Merges two halves, each in order.
#[inline]
#[target_feature(enable = "avx2")]
fn merge(blocks: &mut [Block]) {
    let ids = blocks.as_flattened_mut();
    for at in 0..ids.len() / 2 {
        exchange(ids, at, ids.len() - 1 - at);
    }
    let mut distance = ids.len() / 4;
    while distance >= LANES {
        for run in ids.chunks_exact_mut(2 * distance) {
            for at in 0..distance {
                exchange(run, at, at + distance);
            }
        }
        distance /= 2;
    }
    for ids in blocks {
        exchange_all!(ids: 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15);
        exchange_all!(ids: 0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15);
        exchange_all!(ids: 0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15);
        exchange_all!(ids: 0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts all zeros and ones sorts everything (Knuth). The rows are all those of sixteen, and of
    /// longer ones those that may come out of sorted blocks.
    #[test]
    fn sorts_all_zeros_and_ones() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let check = |rows: &mut [[u32; ROW]; LANES], lens: &[u32; LANES]| {
            let mut expected = *rows;
            for (row, &len) in expected.iter_mut().zip(lens) {
                row[..len as usize].sort_unstable();
            }
            // SAFETY: AVX2 was detected.
            unsafe { sort_rows(rows, lens) };
            for row in 0..LANES {
                let len = lens[row] as usize;
                assert_eq!(rows[row][..len], expected[row][..len], "row {row} of lengths {lens:?}");
            }
        };
        let mut rows = [[7; ROW]; LANES];
        for base in (0..1_u32 << LANES).step_by(LANES) {
            for row in 0..LANES {
                for at in 0..LANES {
                    rows[row][at] = (base + row as u32) >> at & 1;
                }
            }
            check(&mut rows, &[LANES as u32; LANES]);
        }
        // Every number of ones in each of the four blocks.
        for ones in 0..17_u32.pow(4) / LANES as u32 + 1 {
            for row in 0..LANES {
                let mut counts = ones * LANES as u32 + row as u32;
                for block in 0..4 {
                    for at in 0..LANES {
                        rows[row][block * LANES + at] = u32::from((at as u32) < counts % 17);
                    }
                    counts /= 17;
                }
            }
            check(&mut rows, &[ROW as u32; LANES]);
        }
    }
}
