//! Rows merged one by one.

use super::ROW;

/// Merges ascending ids into those at the front of `out`: as many as fit there beside `ids`, ascending too.
pub fn merge(out: &mut [u32], ids: &[u32]) {
    let (mut left, mut more) = (out.len() - ids.len(), ids.len());
    for at in (0..out.len()).rev() {
        if more == 0 {
            return;
        }
        let id = ids[more - 1];
        let before = if left > 0 { out[left - 1] } else { 0 };
        let is_less = (left > 0) & (before > id);
        out[at] = if is_less { before } else { id };
        left -= usize::from(is_less);
        more -= usize::from(!is_less);
    }
}

/// As [`Lanes::merge_rows`](super::Lanes::merge_rows).
pub(super) fn merge_rows(rows: &mut [[u32; 2 * ROW]], lens: &[u32]) {
    for (row, &len) in rows.iter_mut().zip(lens).filter(|&(_, &len)| len as usize > ROW) {
        let others: [u32; ROW] = *row.last_chunk().expect("a half of them");
        merge(&mut row[..len as usize], &others[..len as usize - ROW]);
    }
}
