//! Classes of bodies by size: radii within one are up to 4 times as large as each other. Of two bodies of unlike
//! classes, that of the higher one is seen at an image. So a body needs images only where they may touch bodies of its
//! own class and of lower ones, which reach no farther than it does itself, or nearly so.

use crate::coherent::packed::FULL;

/// The highest class. Bodies that are too small for the others are all in class 0.
const MOST_CLASS: u32 = 15;

/// Classes are powers of 4: the upper seven of the eight bits of an exponent.
const SHIFT: u32 = 24;

/// The largest radius has nearly this length, the greatest of its class, when classes are told; and the class that is
/// above all others by the upper bits of its exponent.
const LARGEST: f32 = 1.999;
const HIGHEST: u32 = 63;

/// Radii are taken to have at least this length: the least of class 0.
const LEAST: u32 = (HIGHEST - MOST_CLASS) << SHIFT;

/// What a body and an image are called by, in shares, if they are in class 0; for each class a body has one more
/// [`FULL`], and an image one less.
const IMAGE: f32 = (2 * MOST_CLASS + 1) as f32 * FULL;

/// A sum of two shares is greater than this if two bodies are no candidate: both are images, or the image of the other
/// one is to be seen.
pub(in crate::coherent) const ONE_IMAGE: f32 = IMAGE + 0.75 * FULL;

/// See the top of this file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Classes {
    /// What radii are multiplied by before their classes are told, and the inverse. 0 if all are of one class.
    scale: f32,
    unit: f32,
    /// The largest radius.
    largest: f32,
    /// The lowest class that a body has.
    lowest: u32,
}

impl Classes {
    /// One class of bodies with radii up to `largest`.
    pub(super) fn one(largest: f32) -> Self {
        Self { scale: 0.0, unit: 0.0, largest, lowest: 0 }
    }

    /// Classes of bodies with radii within these borders.
    pub(super) fn of([least, largest]: [f32; 2]) -> Self {
        let (scale, unit) = (LARGEST / largest, largest / LARGEST);
        if !(scale.is_finite() && scale > 0.0 && unit > 0.0) {
            return Self::one(largest);
        }
        let classes = Self { scale, unit, largest, lowest: 0 };
        let lowest = classes.class_of(least);
        if lowest == MOST_CLASS { Self::one(largest) } else { Self { lowest, ..classes } }
    }

    /// Whether there is more than one class.
    pub(super) fn are_many(self) -> bool {
        self.scale > 0.0
    }

    /// Returns the lower limit of the class of a radius, in multiples of `unit`.
    #[inline(always)]
    fn limit_of(self, radius: f32) -> u32 {
        let (scaled, least) = (radius * self.scale, f32::from_bits(LEAST));
        (if scaled > least { scaled } else { least }).to_bits() >> SHIFT << SHIFT
    }

    #[inline(always)]
    pub(super) fn class_of(self, radius: f32) -> u32 {
        (self.limit_of(radius) - LEAST) >> SHIFT
    }

    /// Returns up to which radius others have that may touch images of a body with this radius: those of its own class
    /// and of lower ones, and those of lower ones alone, which are far below 0 if there are none.
    #[inline(always)]
    pub(super) fn others(self, radius: f32) -> [f32; 2] {
        let limit = self.limit_of(radius);
        let lower = f32::from_bits(limit) * self.unit;
        let (own, is_lowest) = (4.0 * lower, limit == LEAST + (self.lowest << SHIFT));
        [
            if own < self.largest && self.scale > 0.0 { own } else { self.largest },
            if is_lowest { f32::NEG_INFINITY } else { lower },
        ]
    }

    /// Returns what is added to the share of a body. See [`ONE_IMAGE`].
    #[inline(always)]
    pub(super) fn mark_of_body(self, radius: f32) -> f32 {
        self.class_of(radius) as f32 * FULL
    }

    /// As [`Classes::mark_of_body`], for an image of a body. `for_equals` tells whether bodies of one class are
    /// seen there.
    #[inline(always)]
    pub(super) fn mark_of_image(self, radius: f32, for_equals: bool) -> f32 {
        IMAGE - self.mark_of_body(radius) + if for_equals { 0.0 } else { FULL }
    }
}

#[cfg(test)]
mod tests {
    use super::{Classes, MOST_CLASS, ONE_IMAGE};

    /// Radii within 40 powers of 2, limits of classes among them.
    fn radii(unit: f32) -> impl Iterator<Item = f32> + Clone {
        (0..40).flat_map(move |power| [1.0, 1.25, 1.999_999].map(|times| unit * times * 0.5_f32.powi(power)))
    }

    #[test]
    fn each_pair_is_seen_at_one_image() {
        for unit in [1.0, 0.7, 3e38 / 2.0, 1e-20] {
            let largest = unit * 1.999_999;
            let least = radii(unit).fold(largest, f32::min);
            for classes in [Classes::of([least, largest]), Classes::of([0.3 * largest, largest]), Classes::one(largest)]
            {
                let seen = |body: f32, image: f32, for_equals: bool| {
                    classes.mark_of_body(body) + classes.mark_of_image(image, for_equals) + 2.0 <= ONE_IMAGE
                };
                for a in radii(unit) {
                    for b in radii(unit) {
                        // Equals are seen at half of the images, so at one of two opposite images.
                        let ways = [seen(a, b, true), seen(a, b, false), seen(b, a, true), seen(b, a, false)];
                        assert_eq!(usize::from(ways[0]) + usize::from(ways[3]), 1, "{a} {b} {ways:?} {classes:?}");
                        assert_eq!(usize::from(ways[1]) + usize::from(ways[2]), 1, "{a} {b} {ways:?} {classes:?}");
                        // The one whose image is seen has images there.
                        let [equals, lower] = classes.others(b);
                        let more = 1.0 + 1e-5;
                        assert!(!ways[0] || a <= equals * more, "{a} {b} {equals} {classes:?}");
                        assert!(!ways[1] || a <= lower * more, "{a} {b} {lower} {classes:?}");
                        // Two bodies are a candidate; two images are none.
                        assert!(classes.mark_of_body(a) + classes.mark_of_body(b) + 2.0 <= ONE_IMAGE);
                        assert!(classes.mark_of_image(a, false) + classes.mark_of_image(b, false) > ONE_IMAGE);
                    }
                }
            }
        }
    }

    #[test]
    fn like_radii_are_of_one_class() {
        assert!(!Classes::of([0.26, 1.0]).are_many() && Classes::of([0.24, 1.0]).are_many());
        for largest in [0.0, f32::MIN_POSITIVE / 4.0] {
            assert!(!Classes::of([0.0, largest]).are_many());
        }
        let dust = Classes::of([0.0, 1.0]);
        assert_eq!([dust.class_of(0.0), dust.class_of(1e-30), dust.class_of(1.0)], [0, 0, MOST_CLASS]);
        assert!(dust.others(0.0)[1] < 0.0 && dust.others(1e-30)[0] > 1e-30);
    }
}
