//! Where one leaf ends and the next begins.

use super::shape::Centers;
use super::{GAP, LEAF};
use crate::aabb::Aabb;

/// Cuts sorted ranks into leaves, marks their starts, and returns how many there are.
#[inline(always)]
pub(super) fn cut_leaves<const D: usize>(centers: Centers<'_, D>, places: &[u16], marks: &mut [u16]) -> usize {
    let (mut leaves, mut start) = (0, 0);
    while start < places.len() {
        let end = (start + LEAF).min(places.len());
        marks[leaves] = start as u16;
        leaves += 1;
        let center = |rank: usize| centers.at(places[rank]);
        // A gap, if there is one, lies between two successive ones of these four bodies. The bodies of the other
        // couples are then no farther apart than the parts are wide, and the first and the last at least as far apart
        // as the whole is wide, less both parts.
        let third = (end - start) / 3;
        let (first, second) = (center(start), center(start + third));
        let (before, last) = (center(end - 1 - third), center(end - 1));
        let (a, b, c) = (distance(first, second), distance(second, before), distance(before, last));
        let within = greater(lesser(a, b), lesser(greater(a, b), c));
        start = if distance(first, last) <= MAY_BE_GAP * within {
            end
        } else {
            let mut bodies = [[0.0; D]; LEAF];
            bodies.iter_mut().zip(start..end).for_each(|(to, rank)| *to = center(rank));
            start + leaf_end(&bodies[..end - start])
        };
    }
    leaves
}

/// [`GAP`], less 2 for the two parts, and less 1 for rounding.
const MAY_BE_GAP: f32 = GAP - 3.0;

/// Returns the distance of two points along the axis on which it is greatest.
#[inline(always)]
fn distance<const D: usize>(a: [f32; D], b: [f32; D]) -> f32 {
    let mut widest = 0.0;
    for axis in 0..D {
        let d = (a[axis] - b[axis]).abs();
        widest = greater(d, widest);
    }
    widest
}

#[inline(always)]
fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Returns how many of these bodies belong in one leaf that straddles no gap.
#[cold]
pub(super) fn leaf_end<const D: usize>(centers: &[[f32; D]]) -> usize {
    let mut end = centers.len();
    while let Some(gap) = gap(&centers[..end]) {
        end = gap;
    }
    end
}

/// Returns the body before which a gap lies that makes all bodies together more than [`GAP`] times as wide as the
/// wider part beside it, or `None`.
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
