//! Where one leaf ends and the next begins.

use core::ops::Range;

use super::record::Record;
use super::{GAP_LEVELS, LEAF};
use crate::morton::{Grid, encode};

/// The codes of sorted ranks. Not a closure, which would be compiled without the instructions of its caller.
pub(super) trait Codes<const D: usize> {
    /// The Morton code of the body at a rank, or the coordinates that it consists of.
    type Code: Copy;

    fn get(&self, rank: usize) -> Self::Code;

    /// Number of bits up to the highest in which two codes differ.
    fn length(a: Self::Code, b: Self::Code) -> u32;

    /// The code itself.
    fn whole(code: Self::Code) -> u64;
}

/// Codes by rank that are there.
pub(super) struct Known<F>(pub(super) F);

impl<F: Fn(usize) -> u64, const D: usize> Codes<D> for Known<F> {
    type Code = u64;

    #[inline(always)]
    fn get(&self, rank: usize) -> u64 {
        self.0(rank)
    }

    #[inline(always)]
    fn length(a: u64, b: u64) -> u32 {
        length(a ^ b)
    }

    #[inline(always)]
    fn whole(code: u64) -> u64 {
        code
    }
}

/// Codes by a grid. Of most bodies, where their coordinates differ is all that is asked for: nothing is interleaved.
pub(super) struct InGrid<'a, const D: usize> {
    pub(super) grid: &'a Grid<D>,
    pub(super) records: &'a [Record<D>],
    /// The place of each rank.
    pub(super) places: &'a [u16],
}

impl<const D: usize> Codes<D> for InGrid<'_, D> {
    type Code = [u32; D];

    #[inline(always)]
    fn get(&self, rank: usize) -> [u32; D] {
        self.grid.coordinates(self.records[usize::from(self.places[rank])].center.0)
    }

    #[inline(always)]
    fn length(a: [u32; D], b: [u32; D]) -> u32 {
        let mut longest = 0;
        for axis in 0..D {
            // A bit of a coordinate is followed by those of lesser axes, and by what is below it of all.
            let length = u32::BITS - (a[axis] ^ b[axis]).leading_zeros();
            longest = longest.max((length * D as u32 + axis as u32 + 1).saturating_sub(D as u32));
        }
        longest
    }

    #[inline(always)]
    fn whole(code: [u32; D]) -> u64 {
        encode(code)
    }
}

/// Cuts `len` sorted ranks into leaves, marks their starts, and returns how many there are. Codes on both sides of a
/// border are not to be compared.
#[inline(always)]
pub(super) fn cut_leaves<const D: usize>(
    len: usize,
    borders: &[u32],
    marks: &mut [u16],
    codes: impl Codes<D>,
) -> usize {
    let mut borders = borders.iter().map(|&b| b as usize).peekable();
    let (mut leaves, mut start) = (0, 0);
    while start < len {
        while borders.next_if(|&border| border <= start).is_some() {}
        let end = (start + LEAF).min(len).min(borders.peek().copied().unwrap_or(usize::MAX));
        marks[leaves] = start as u16;
        leaves += 1;
        start = leaf_end::<D, _>(start..end, &codes);
    }
    leaves
}

/// The end of the leaf that starts with `ranks`: before the widest gap, as long as that is wide.
#[inline(always)]
pub(super) fn leaf_end<const D: usize, C: Codes<D>>(ranks: Range<usize>, codes: &C) -> usize {
    let (first, last) = (codes.get(ranks.start), codes.get(ranks.end - 1));
    let middle = codes.get(ranks.start + ranks.len() / 2);
    // The middle rank lies in one of the two parts, whose extent is thus at least the lesser of these.
    let within = C::length(first, middle).min(C::length(middle, last));
    if C::length(first, last) <= within + GAP_LEVELS * D as u32 {
        return ranks.end;
    }
    let mut all = [0; LEAF];
    for (code, rank) in all.iter_mut().zip(ranks.clone()) {
        *code = C::whole(codes.get(rank));
    }
    ranks.start + gap(&all[..ranks.len()], D as u32)
}

/// Number of bits up to the highest that is set.
#[inline(always)]
fn length(bits: u64) -> u32 {
    u64::BITS - bits.leading_zeros()
}

/// As [`leaf_end`], looking at every code: neighbours need not be in order within a cell.
#[cold]
fn gap(codes: &[u64], axes: u32) -> usize {
    let extent = |codes: &[u64]| length(codes.iter().fold(0, |bits, code| bits | (code ^ codes[0])));
    let mut end = codes.len();
    while end > 1 {
        let top = extent(&codes[..end]);
        let upper = |code: u64| code.checked_shr(top.saturating_sub(1)).unwrap_or(0) & 1;
        let Some(gap) = codes[..end].iter().position(|&code| upper(code) != upper(codes[0])) else { break };
        if top <= extent(&codes[..gap]).max(extent(&codes[gap..end])) + GAP_LEVELS * axes {
            break;
        }
        end = gap;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::{Codes, InGrid, Known};
    use crate::morton::encode;

    fn lengths_agree<const D: usize>(mask: u32) {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32 >> (state >> 59) & mask
        };
        for _ in 0..1000 {
            let [a, b]: [[u32; D]; 2] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
            let whole = <Known<fn(usize) -> u64> as Codes<D>>::length(encode(a), encode(b));
            assert_eq!(InGrid::<D>::length(a, b), whole, "{a:?} {b:?}");
            assert_eq!(InGrid::<D>::length(a, a), 0);
        }
    }

    #[test]
    fn codes_differ_where_coordinates_do() {
        lengths_agree::<2>(u32::MAX);
        lengths_agree::<3>((1 << 21) - 1);
    }
}
