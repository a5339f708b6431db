//! Where stand-ins leave it in doubt whether two bodies touch.

use jostle_sets::simd::Lanes;

use crate::coherent::slack::LEAST;

/// What the predicate and a few sums may lose, relative to the sum of two radii: 2^-19.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// Returns the distance within which two stand-ins touch for sure (none do unless it is above 0), and the distance
/// beyond which they do not. Between, they are in doubt: as far as `within` from the sum of their radii, and what
/// rounding may lose, squares that are denormal or vanish among it.
#[inline(always)]
fn borders(within: f32, radii: f32) -> [f32; 2] {
    let more = radii * ROUNDING + (within + LEAST);
    [radii - more, radii + more]
}

/// Returns which of sixteen candidates touch for sure, and which are in doubt, by the squares of the distances and the
/// sums of the radii.
#[inline(always)]
pub(super) fn sure_or_in_doubt<L: Lanes>([distance2, radii]: [L; 2], within: f32) -> [u16; 2] {
    let zero = L::splat(0.0);
    let more = radii.mul(L::splat(ROUNDING)).add(L::splat(within + LEAST));
    let (inner, outer) = (radii.sub(more).max(zero), radii.add(more));
    // Where the inner border is 0, no two bodies touch for sure.
    let sure = distance2.le(inner.mul(inner)) & !inner.le(zero);
    [sure, distance2.le(outer.mul(outer)) & !sure]
}

/// Decides about bodies of two sets, by their ids, whose stand-ins are no farther from touching than they may be wrong.
/// The second body is seen so many vectors of the cell from where it is.
#[derive(Clone, Copy)]
pub(super) struct Decide<'a, const D: usize> {
    pub(super) within: f32,
    pub(super) by: &'a (dyn Fn([u32; 2], [u32; 2], [i32; D]) -> bool + Sync),
}

impl<const D: usize> Decide<'_, D> {
    /// Whether two bodies touch, by the square of the distance of their stand-ins and the sum of the radii, or, if
    /// those do not tell, by `by`.
    pub(super) fn touches(
        self,
        (sets, pair, image): ([u32; 2], [u32; 2], [i32; D]),
        (distance2, radii): (f32, f32),
    ) -> bool {
        let [inner, outer] = borders(self.within, radii);
        let is_sure = inner > 0.0 && distance2 <= inner * inner;
        is_sure || distance2 <= outer * outer && (self.by)(sets, pair, image)
    }
}
