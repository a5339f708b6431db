//! Where one leaf ends and the next begins.

use core::ops::Range;

use super::{GAP_LEVELS, LEAF};

/// Cuts `len` sorted ranks into leaves, marks their starts, and returns how many there are. Codes on both sides of a
/// border are not to be compared.
#[inline(always)]
pub(super) fn cut_leaves<const D: usize>(
    len: usize,
    borders: &[u32],
    marks: &mut [u16],
    code: impl Fn(usize) -> u64,
) -> usize {
    let mut borders = borders.iter().map(|&b| b as usize).peekable();
    let (mut leaves, mut start) = (0, 0);
    while start < len {
        while borders.next_if(|&border| border <= start).is_some() {}
        let end = (start + LEAF).min(len).min(borders.peek().copied().unwrap_or(usize::MAX));
        marks[leaves] = start as u16;
        leaves += 1;
        start = leaf_end::<D>(start..end, &code);
    }
    leaves
}

/// The end of the leaf that starts with `ranks`: before the widest gap, as long as that is wide.
#[inline(always)]
pub(super) fn leaf_end<const D: usize>(ranks: Range<usize>, code: &impl Fn(usize) -> u64) -> usize {
    let (first, last) = (code(ranks.start), code(ranks.end - 1));
    let middle = code(ranks.start + ranks.len() / 2);
    // The middle rank lies in one of the two parts, whose extent is thus at least the lesser of these.
    let within = length(first ^ middle).min(length(middle ^ last));
    if length(first ^ last) <= within + GAP_LEVELS * D as u32 {
        return ranks.end;
    }
    gap::<D>(ranks, code)
}

/// Number of bits up to the highest that is set.
#[inline(always)]
fn length(bits: u64) -> u32 {
    u64::BITS - bits.leading_zeros()
}

/// As [`leaf_end`], looking at every rank: neighbours need not be in order within a cell.
#[cold]
fn gap<const D: usize>(ranks: Range<usize>, code: &impl Fn(usize) -> u64) -> usize {
    let extent = |ranks: Range<usize>| {
        let first = code(ranks.start);
        length(ranks.fold(0, |bits, rank| bits | (code(rank) ^ first)))
    };
    let (start, mut end) = (ranks.start, ranks.end);
    while end - start > 1 {
        let top = extent(start..end);
        let upper = |rank: usize| code(rank).checked_shr(top.saturating_sub(1)).unwrap_or(0) & 1;
        let side = upper(start);
        let Some(gap) = (start..end).find(|&rank| upper(rank) != side) else { break };
        if top <= extent(start..gap).max(extent(gap..end)) + GAP_LEVELS * D as u32 {
            break;
        }
        end = gap;
    }
    end
}
