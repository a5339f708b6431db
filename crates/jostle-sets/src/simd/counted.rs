//! Short rows, sorted by counting for each id how many ids are less, sixteen at a time. All of the sixteen are always
//! counted: a loop that ends sooner or later is mispredicted.

use super::LANES;

/// Ids of a row that are sorted by counting, at most.
const SHORT: usize = 2 * LANES;

/// Sorts the first `len` ids of a row, which has room for [`SHORT`] at least. The ids that follow become unspecified.
///
/// Not inlined: one copy for each kind of row search took 40 KB of code.
#[inline(never)]
pub(super) fn sort_row(row: &mut [u32], len: usize) {
    match row.first_chunk_mut::<SHORT>() {
        Some(row) if len <= LANES => sort_counted::<LANES>(row, len),
        Some(row) if len <= SHORT => sort_counted::<SHORT>(row, len),
        _ => row[..len].sort_unstable(),
    }
}

/// As [`sort_row`], for `len` up to `N`. The ids that follow count as the greatest of all.
#[inline(always)]
fn sort_counted<const N: usize>(row: &mut [u32; SHORT], len: usize) {
    let unsorted = *row;
    // With the highest bit turned, signed numbers have the order of the unsigned ids, and signed numbers can be
    // compared.
    let mut ids = [0; N];
    for lane in 0..N {
        ids[lane] = if lane < len { (unsorted[lane] ^ 1 << 31) as i32 } else { i32::MAX };
    }
    let mut ranks = [0_u32; N];
    for at in 0..N {
        let id = ids[at];
        for lane in 0..N {
            ranks[lane] += u32::from(id < ids[lane]);
        }
    }
    for lane in 0..N {
        row[ranks[lane] as usize % N] = unsorted[lane];
    }
}
