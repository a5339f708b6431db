//! How far bodies must move before it can change whether two of them touch.

use jostle_sets::simd::Lanes;

/// Taken off how far bodies must move, for rounding, relative to their distance and to the sum of their radii: 2^-18.
/// The predicate rounds both by a few times 2^-24, when candidates are sorted and when they are tested; so do the
/// computations here.
pub(super) const ROUNDING: f32 = 1.0 / 262_144.0;

/// Taken off as well, for squares that are denormal or vanish: 2^-70.
const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// Returns a radius a little greater, so that a query by it finds all that the predicate may accept.
#[inline(always)]
pub(super) fn reaching(radius: f32) -> f32 {
    radius * (1.0 + 2.0 * ROUNDING) + LEAST
}

/// Returns how much of their margins two bodies must use up on average before it can change whether they touch, from
/// their distance and the sum of their radii. If that is no number, or below 0, it may change at any time.
#[inline(always)]
pub(super) fn slack_of(distance: f32, radii: f32) -> f32 {
    ((distance - radii).abs() - (distance + radii) * ROUNDING - LEAST) * 0.5
}

/// Returns for which of sixteen candidates it may change whether they touch while bodies use up such a margin, from the
/// squares of their distances and the sums of their radii. For all others [`slack_of`] is greater than the margin.
#[inline(always)]
pub(super) fn may_change<L: Lanes>([distance2, radii]: [L; 2], margin: f32) -> u16 {
    let zero = L::splat(0.0);
    let off = radii.add(L::splat(2.0 * margin)).mul(L::splat(4.0 * ROUNDING)).add(L::splat(2.0 * margin + LEAST));
    let (outer, inner) = (radii.add(off), radii.sub(off));
    let stays_inside = distance2.le(inner.mul(inner)) & !inner.le(zero);
    !(outer.mul(outer).le(distance2) | stays_inside)
}

#[cfg(test)]
mod tests {
    use jostle_sets::simd::{Lanes, Portable};

    use super::{may_change, slack_of};

    #[test]
    fn who_cannot_change_has_more_slack_than_the_margin() {
        let mut never = 0;
        for number in 0..200_000_u32 {
            let part = |by: f32| (number as f32 * by).fract();
            let unit = 2.0_f32.powi((number % 90) as i32 - 60);
            let (radii, margin) = (part(0.618_034) * unit, (part(0.414_214) * 0.3 + 1e-4) * unit);
            let distance = (radii + (part(0.732_051) - 0.5) * 6.0 * margin).max(0.0);
            let may = may_change([distance * distance, radii].map(Portable::splat), margin);
            assert!(may == 0 || may == u16::MAX, "all lanes are alike");
            if may == 0 {
                never += 1;
                assert!(slack_of((distance * distance).sqrt(), radii) > margin, "{distance} {radii} {margin}");
            }
        }
        assert!((50_000..150_000).contains(&never), "{never}");
        assert!(may_change([f32::NAN, 1.0].map(Portable::splat), 0.1) == u16::MAX);
    }
}
