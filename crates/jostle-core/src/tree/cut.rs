//! Where one leaf ends and the next begins.

use super::record::Record;
use super::{GAP, LEAF};
use crate::aabb::Aabb;

/// Cuts sorted ranks into leaves, marks their starts, and returns how many there are.
#[inline(always)]
pub(super) fn cut_leaves<const D: usize>(records: &[Record<D>], places: &[u16], marks: &mut [u16]) -> usize {
    let (mut leaves, mut start) = (0, 0);
    while start < places.len() {
        let end = (start + LEAF).min(places.len());
        marks[leaves] = start as u16;
        leaves += 1;
        let center = |rank: usize| records[usize::from(places[rank])].center.0;
        let (first, middle, last) = (center(start), center((start + end) / 2), center(end - 1));
        // The middle rank lies in one of the two parts beside a gap, whose extent is at least the lesser of these; the first
        // and the last are as far apart as the whole but for both parts.
        let within = distance(first, middle).min(distance(middle, last));
        start = if distance(first, last) <= MAY_BE_GAP * within {
            end
        } else {
            let mut centers = [[0.0; D]; LEAF];
            centers.iter_mut().zip(start..end).for_each(|(to, rank)| *to = center(rank));
            start + leaf_end(&centers[..end - start])
        };
    }
    leaves
}

/// Less than [`GAP`] by the two parts, and by one more for rounding.
const MAY_BE_GAP: f32 = GAP - 3.0;

/// The distance of two points along the axis on which it is greatest.
#[inline(always)]
fn distance<const D: usize>(a: [f32; D], b: [f32; D]) -> f32 {
    let mut widest = 0.0;
    for axis in 0..D {
        let d = (a[axis] - b[axis]).abs();
        widest = if d > widest { d } else { widest };
    }
    widest
}

/// How many of some bodies belong in one leaf, that does not straddle a gap.
#[cold]
pub(super) fn leaf_end<const D: usize>(centers: &[[f32; D]]) -> usize {
    let mut end = centers.len();
    while let Some(gap) = gap(&centers[..end]) {
        end = gap;
    }
    end
}

/// Before which body the gap lies that is [`GAP`] times as wide as what lies on either side of it, if there is one.
fn gap<const D: usize>(centers: &[[f32; D]]) -> Option<usize> {
    let widest = |centers: &mut dyn Iterator<Item = &[f32; D]>, out: &mut [f32]| {
        let mut all = Aabb::EMPTY;
        for (out, &center) in out.iter_mut().zip(centers) {
            all = all.with_point(center);
            *out = all.widest();
        }
    };
    let (mut before, mut after) = ([0.0; LEAF], [0.0; LEAF]);
    widest(&mut centers.iter(), &mut before);
    widest(&mut centers.iter().rev(), &mut after);
    let whole = before[centers.len() - 1];
    let parts = |at: &usize| before[at - 1].max(after[centers.len() - 1 - at]);
    (1..centers.len()).find(|at| parts(at) * GAP < whole)
}
