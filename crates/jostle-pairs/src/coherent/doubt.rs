//! Where it is in doubt whether two bodies touch, as far as what stands in for them tells.

use jostle_sets::simd::Lanes;

/// What the predicate and a few sums may lose, relative to the sum of two radii: 2^-19.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// The distances within which two stand-ins touch for sure, none if that is below 0, and beyond which they do not, where it is in doubt as far from
/// the sum of their radii as this.
#[inline(always)]
fn borders(within: f32, radii: f32) -> [f32; 2] {
    let more = radii * ROUNDING + within;
    [radii - more, radii + more]
}

/// Which of sixteen touch for sure, and of which that is in doubt, by the squares of their distances and the sums of their radii.
#[inline(always)]
pub(super) fn sure_or_in_doubt<L: Lanes>([distance2, radii]: [L; 2], within: f32) -> [u16; 2] {
    let zero = L::splat(0.0);
    let more = radii.mul(L::splat(ROUNDING)).add(L::splat(within));
    let (inner, outer) = (radii.sub(more).max(zero), radii.add(more));
    // Within 0 nobody touches for sure.
    let sure = distance2.le(inner.mul(inner)) & !inner.le(zero);
    [sure, distance2.le(outer.mul(outer)) & !sure]
}

/// What decides about bodies of two sets, by their ids, whose stand-ins are as far from touching as these may be wrong, the second being seen so
/// many vectors of the cell from where it is.
#[derive(Clone, Copy)]
pub(super) struct Decide<'a, const D: usize> {
    pub(super) within: f32,
    pub(super) by: &'a (dyn Fn([u32; 2], [u32; 2], [i32; D]) -> bool + Sync),
}

impl<const D: usize> Decide<'_, D> {
    /// Whether two touch, by the square of the distance of their stand-ins and the sum of the radii, if those tell it.
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
