//! Short rows sorted by counting, for each id, how many are less: sixteen at a time, and of those always all, since a loop
//! that ends sooner or later is mispredicted.

use super::{LANES, SHORT};

/// Sorts the first `len` ids of a row, which has room for [`SHORT`] at least; what follows them becomes anything.
#[inline(always)]
pub(crate) fn sort_row(row: &mut [u32], len: usize) {
    match row.first_chunk_mut() {
        Some(short) if len <= SHORT => sort_counted(&{ *short }, len, short, None),
        _ => row[..len].sort_unstable(),
    }
}

/// Sorts the first `len` ids of a row into `out`, and their distances with them; what follows them there is anything.
#[inline(always)]
pub(crate) fn sort_counted(
    row: &[u32; SHORT],
    len: usize,
    out: &mut [u32; SHORT],
    distances2: Option<(&[f32; SHORT], &mut [f32; SHORT])>,
) {
    if len <= LANES {
        count::<LANES>(row, len, out, distances2);
    } else {
        count::<SHORT>(row, len, out, distances2);
    }
}

/// As [`sort_counted`] for `len` up to `N`; what follows counts as the greatest of all.
#[inline(always)]
fn count<const N: usize>(
    row: &[u32; SHORT],
    len: usize,
    out: &mut [u32; SHORT],
    distances2: Option<(&[f32; SHORT], &mut [f32; SHORT])>,
) {
    // Ids with the highest bit turned, in which order signed numbers stand as unsigned ones do: those can be compared.
    let mut ids = [0; N];
    for lane in 0..N {
        ids[lane] = if lane < len { (row[lane] ^ 1 << 31) as i32 } else { i32::MAX };
    }
    let mut ranks = [0_u32; N];
    for at in 0..N {
        let id = ids[at];
        for lane in 0..N {
            ranks[lane] += u32::from(id < ids[lane]);
        }
    }
    for lane in 0..N {
        out[ranks[lane] as usize % N] = row[lane];
    }
    if let Some((from, to)) = distances2 {
        for lane in 0..N {
            to[ranks[lane] as usize % N] = from[lane];
        }
    }
}
