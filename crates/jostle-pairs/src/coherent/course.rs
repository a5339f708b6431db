//! How bodies are expected to move on: by steps that are alike.
//!
//! From where they stood when candidates were listed, one step leads each to where it is kept, and as much more of it beyond. So it is known
//! when two begin to touch, or end, if they keep to that; and in each frame, how far one of them has strayed, at most, from where so many
//! steps would have led it. Candidates that neither so many steps nor straying as far as is allowed can have changed are not tested.

use crate::coherent::slack::ROUNDING;

/// What is taken off a gap for steps whose squares are denormal or vanish: sixteen of those of 2^-74.
const LEAST: f32 = f32::from_bits((127 - 69) << 23);

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    /// How long the longest step of a body is at most, from where it stood when they were listed to where it is kept.
    pub(super) reach: f32,
    /// How far they may stray from there and from the same way on; infinite where no course is expected.
    pub(super) tolerance: f32,
}

impl Course {
    pub(super) fn is_expected(self) -> bool {
        self.tolerance < f32::INFINITY
    }

    /// How much of a margin the body with the longest step must use up before it can change whether two touch, if none strays farther than it
    /// may: by the square of their distance and the sum of their radii where they are kept; and, of the step by which they move apart, by its
    /// product with how they lie apart, and its square.
    ///
    /// That is when their distance becomes that of the `border`: gap = 2 |along| steps +- step2 steps^2, the lesser of two solutions, of
    /// steps to or fro.
    #[inline(always)]
    pub(super) fn lasts(self, (distance2, radii): (f32, f32), (along, step2): (f32, f32), inverse_margin: f32) -> f32 {
        let touches = distance2 <= radii * radii;
        let border = border_of(touches, radii, self.tolerance);
        let gap = if touches { border * border - distance2 } else { distance2 - border * border };
        // In margins, so that products of four lengths are numbers in any unit.
        let gap = gap.max(0.0) * inverse_margin * inverse_margin;
        let along = along * inverse_margin * inverse_margin;
        let step2 = step2 * inverse_margin * inverse_margin;
        let under = along * along + if touches { gap * step2 } else { -(gap * step2) };
        let steps = gap / (along.abs() + under.max(0.0).sqrt());
        let steps = if under < 0.0 { f32::INFINITY } else { steps };
        // Of what is no number nothing is known.
        let steps = if under.abs() < f32::INFINITY { steps } else { 0.0 };
        steps * (self.reach * (1.0 - ROUNDING))
    }
}

/// The distance that two bodies of such radii must have, if they touch, or if they do not, so that they still do if either is elsewhere by so
/// much.
#[inline(always)]
pub(super) fn border_of(touches: bool, radii: f32, by: f32) -> f32 {
    // Rounding of numbers that are of the size of `by`, too: see `ROUNDING` of `slack.rs`.
    let off = by * (2.0 + 1024.0 * ROUNDING) + 2.0 * radii * ROUNDING + LEAST;
    if touches { (radii - off).max(0.0) } else { radii + off }
}
