//! How far bodies must move before it can change whether two of them touch.

use jostle_sets::simd::Lanes;

/// Taken off how far bodies must move, for rounding, relative to their distance and to the sum of their radii: 2^-18.
/// The predicate rounds both by a few times 2^-24, when candidates are sorted and when they are tested; so do the
/// computations here.
pub(super) const ROUNDING: f32 = 1.0 / 262_144.0;

/// Taken off as well, for squares that are denormal or vanish: 2^-70.
pub(super) const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// Returns a radius a little greater, so that a query by it finds all that the predicate may accept.
#[inline(always)]
pub(super) fn reaching(radius: f32) -> f32 {
    radius * (1.0 + 2.0 * ROUNDING) + LEAST
}

/// Returns how much of the widest margin a body must use up before it can change whether two bodies touch, if each uses
/// up its own margin alike; from their distance, the sum of their radii, and that of their margins over the widest. If
/// that is no number, or below 0, it may change at any time.
#[inline(always)]
pub(super) fn slack_of(distance: f32, radii: f32, shares: f32) -> f32 {
    ((distance - radii).abs() - (distance + radii) * ROUNDING - LEAST) / shares
}

/// Returns for which of sixteen candidates it may change whether they touch while bodies use up their margins, the
/// widest of which is given; from the squares of their distances, the sums of their radii, and those of their margins
/// over the widest. For all others [`slack_of`] is greater than the widest margin.
#[inline(always)]
pub(super) fn may_change<L: Lanes>([distance2, radii, shares]: [L; 3], widest: f32) -> u16 {
    let (zero, margins) = (L::splat(0.0), shares.mul(L::splat(widest)));
    let off = radii.add(margins).mul(L::splat(4.0 * ROUNDING)).add(margins).add(L::splat(LEAST));
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
            let shares = 2.0 - (number % 60) as f32 / 32.0;
            let may = may_change([distance * distance, radii, shares].map(Portable::splat), margin);
            assert!(may == 0 || may == u16::MAX, "all lanes are alike");
            if may == 0 {
                never += 1;
                let slack = slack_of((distance * distance).sqrt(), radii, shares);
                assert!(slack > margin, "{distance} {radii} {margin} {shares}");
            }
        }
        assert!((50_000..150_000).contains(&never), "{never}");
        assert!(may_change([f32::NAN, 1.0, 2.0].map(Portable::splat), 0.1) == u16::MAX);
    }
}
