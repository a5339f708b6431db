//! Bitmaps of rectangles against the plainest form of the same rule, and against the exact answer.

use jostle_classics::{Hits, RectangleCoverage};
use jostle_core::{Aabb, Reason, ViewError};
use proptest::prelude::*;

const SEEN: Aabb<2> = Aabb { lo: [0.0; 2], hi: [40.0, 30.0] };

/// Returns how much of a pixel a rectangle covers.
fn covered(rectangle: &Aabb<2>, pixel: [u32; 2]) -> f64 {
    let along = |axis: usize| {
        let (lo, hi) = (f64::from(rectangle.lo[axis]), f64::from(rectangle.hi[axis]));
        let begin = f64::from(pixel[axis]);
        (hi.min(begin + 1.0) - lo.max(begin)).max(0.0)
    };
    along(0) * along(1)
}

fn plainly(group: &[Aabb<2>], others: &[Aabb<2>]) -> Vec<bool> {
    let pixels = || (0..30).flat_map(|y| (0..40).map(move |x| [x, y]));
    let hit = |rectangle: &Aabb<2>| {
        pixels().any(|pixel| {
            let own = covered(rectangle, pixel);
            let other: f64 = others.iter().map(|other| covered(other, pixel)).sum();
            own > 0.0 && other > 0.0 && own + other >= 1.0
        })
    };
    group.iter().map(hit).collect()
}

/// Draws rectangles at multiples of an eighth of a pixel, so that sums and products are exact.
fn rectangles() -> impl Strategy<Value = Vec<Aabb<2>>> {
    let eighth = |range: core::ops::Range<i32>| range.prop_map(|i| i as f32 / 8.0);
    let rectangle = (eighth(-80..400), eighth(-80..320), eighth(0..90), eighth(0..90));
    prop::collection::vec(
        rectangle.prop_map(|(x, y, width, height)| Aabb { lo: [x, y], hi: [x + width, y + height] }),
        0..12,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spans_are_the_plain_areas(a in rectangles(), b in rectangles()) {
        let mut coverage = RectangleCoverage::new(SEEN, 1.0).expect("a sound world");
        let hits = coverage.find(&a, &b).expect("sound rectangles").clone();
        prop_assert_eq!(hits.a(), plainly(&a, &b));
        prop_assert_eq!(hits.b(), plainly(&b, &a));
        prop_assert_eq!(&hits, coverage.find(&a, &b).expect("sound rectangles"));
    }

    /// A rectangle that overlaps another by two pixels each way holds a whole pixel of the overlap, and is never
    /// missed.
    #[test]
    fn overlaps_of_two_pixels_are_never_missed(a in rectangles(), b in rectangles()) {
        let mut coverage = RectangleCoverage::new(SEEN, 1.0).expect("a sound world");
        let hits = coverage.find(&a, &b).expect("sound rectangles");
        let wide = |a: &Aabb<2>, b: &Aabb<2>| (0..2).all(|axis| {
            a.hi[axis].min(b.hi[axis]).min(SEEN.hi[axis]) - a.lo[axis].max(b.lo[axis]).max(0.0) >= 2.0
        });
        for (a, &hit) in a.iter().zip(hits.a()) {
            prop_assert!(hit || !b.iter().any(|b| wide(a, b)));
        }
        let exact = Hits::of_rectangles(&a, &b).expect("sound rectangles");
        prop_assert_eq!(hits.misjudged(&exact).objects, a.len() + b.len());
    }
}

#[test]
fn faulty_rectangles_are_named() {
    let mut coverage = RectangleCoverage::new(SEEN, 1.0).expect("a sound world");
    let sound = Aabb { lo: [0.0; 2], hi: [1.0; 2] };
    let faulty = [
        sound,
        Aabb { lo: [0.0, f32::NAN], ..sound },
        Aabb { lo: [2.0, 0.0], ..sound },
        Aabb { hi: [1.0, 1e30], ..sound },
    ];
    let reasons = [Reason::CenterNotFinite { axis: 1 }, Reason::RadiusNegative, Reason::TooFar { axis: 1 }];
    let expected = ViewError::Bodies { count: 3, first: (1..).zip(reasons).collect() };
    assert_eq!(coverage.find(&[sound], &faulty), Err(expected.clone()));
    assert_eq!(Hits::of_rectangles(&faulty, &[]), Err(expected));
    assert_eq!(coverage.find(&[sound], &[sound]).map(|hits| (hits.a()[0], hits.b()[0])), Ok((true, true)));
}
