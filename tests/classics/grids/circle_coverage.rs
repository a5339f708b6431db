//! Bitmaps of circles against the plainest form of the same rule, and against the exact answer.

use jostle_classics::{Body, CircleCoverage, Hits, Misjudged};
use jostle_core::{Aabb, Circles};
use jostle_testkit::Scene;
use jostle_testkit::scene::{Kind, world};
use proptest::prelude::*;

use crate::grids::{bodies, scene};

const SEEN: Aabb<2> = Aabb { lo: [0.0; 2], hi: [40.0, 30.0] };

/// Returns how much of a pixel a circle covers: the share of samples inside, wherever the pixel is.
fn covered(body: &Body<2>, pixel: [u32; 2], samples: u32) -> f32 {
    let mut inside = 0;
    for i in 0..samples {
        for k in 0..samples {
            let x = (pixel[0] as f32 - body.center[0]) + (k as f32 + 0.5) / samples as f32;
            let y = (pixel[1] as f32 - body.center[1]) + (i as f32 + 0.5) / samples as f32;
            inside += u32::from(x * x + y * y <= body.radius * body.radius);
        }
    }
    inside as f32 / (samples * samples) as f32
}

/// Returns which bodies of `group` are hit by `others`: pixel by pixel, body by body.
fn plainly(group: &[Body<2>], others: &[Body<2>], samples: u32) -> Vec<bool> {
    let pixels = || (0..30).flat_map(|y| (0..40).map(move |x| [x, y]));
    let hit = |body: &Body<2>| {
        pixels().any(|pixel| {
            let own = covered(body, pixel, samples);
            let other: f32 = others.iter().map(|other| covered(other, pixel, samples)).sum();
            own > 0.0 && other > 0.0 && own + other >= 1.0
        })
    };
    group.iter().map(hit).collect()
}

fn near_bodies() -> impl Strategy<Value = Vec<Body<2>>> {
    prop::collection::vec(
        bodies().prop_filter("samples of far ones are all rounding", |b| b.center[0].abs() < 1e6),
        0..12,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn skipping_and_filling_change_nothing(a in near_bodies(), b in near_bodies(), samples in 0_u32..4) {
        let samples = 1 << samples;
        let mut coverage = CircleCoverage::new(SEEN, 1.0, samples).expect("a sound world");
        let hits = coverage.find(scene(&a).view(), scene(&b).view()).expect("sound bodies").clone();
        prop_assert_eq!(hits.a(), plainly(&a, &b, samples));
        prop_assert_eq!(hits.b(), plainly(&b, &a, samples));
        prop_assert_eq!(&hits, coverage.find(scene(&a).view(), scene(&b).view()).expect("sound bodies"));
    }
}

/// Makes circles of 3 to 9 pixels on a screen of 1280 x 720.
fn bullets(n: usize, seed: u64) -> Scene<2> {
    let (even, side) = (jostle_testkit::scene::scene::<2>(Kind::Uniform, n, seed), world::<2>(Kind::Uniform, n));
    let center = |id: usize| [even.centers[0][id] / side * 1280.0, even.centers[1][id] / side * 720.0];
    (0..n).map(|id| (center(id), even.radii[id] * 12.0 - 3.0)).collect()
}

/// Tests the rates that the documentation gives.
#[test]
fn errors_are_as_rare_as_said() {
    let screen = Aabb { lo: [0.0; 2], hi: [1280.0, 720.0] };
    let mut coverage = CircleCoverage::new(screen, 1.0, 4).expect("a sound world");
    let mut sum = Misjudged::default();
    for seed in 0..4 {
        let (a, b) = (bullets(500, 2 * seed), bullets(500, 2 * seed + 1));
        let said = coverage.find(a.view(), b.view()).expect("sound bodies");
        let now = said.misjudged(&Hits::of_circles(a.view(), b.view()).expect("sound bodies"));
        sum = Misjudged {
            objects: sum.objects + now.objects,
            hit: sum.hit + now.hit,
            false_hits: sum.false_hits + now.false_hits,
            misses: sum.misses + now.misses,
        };
    }
    let share = |part: usize, of: usize| part as f64 / of as f64;
    assert!((0.18..0.26).contains(&share(sum.hit, sum.objects)), "{sum:?}");
    assert!((0.000_5..0.02).contains(&share(sum.misses, sum.hit)), "{sum:?}");
    assert!((0.000_2..0.005).contains(&share(sum.false_hits, sum.objects)), "{sum:?}");
}

#[test]
fn what_lies_beside_the_screen_is_not_seen() {
    let mut coverage = CircleCoverage::new(SEEN, 1.0, 4).expect("a sound world");
    let beside = Circles::new(&[-9.0, 60.0, 1e17], &[5.0, 5.0, -1e17], &[2.0, 4.0, 1.0]);
    let hits = coverage.find(beside, beside).expect("sound bodies");
    assert_eq!((hits.a(), hits.b()), (&[false; 3][..], &[false; 3][..]));
    assert!(coverage.find(beside, Circles::new(&[f32::NAN], &[0.0], 1.0)).is_err());
}

#[test]
fn circles_whose_squares_overflow_cover_what_they_hold() {
    let seen = Aabb { lo: [0.0; 2], hi: [1.0; 2] };
    let mut coverage = CircleCoverage::new(seen, 1.0 / 64.0, 4).expect("a sound world");
    let (far, middle) = ([5e17], [0.5]);
    let small = Circles::new(&middle, &middle, 0.1);
    for radius in [5e17, 6e17, 6.5e17] {
        let large = Circles::new(&far, &far, radius);
        assert_eq!(coverage.find(large, small).expect("sound bodies").b(), [false], "{radius}");
    }
    let beside = Circles::new(&far, &middle, 5.5e17);
    assert_eq!(coverage.find(beside, small).expect("sound bodies").b(), [true]);
}

#[test]
fn pixels_tell_where_each_group_is() {
    let seen = Aabb { lo: [10.0, -20.0], hi: [74.0, 28.0] };
    let mut coverage = CircleCoverage::new(seen, 0.5, 8).expect("a sound world");
    let (a, b) = (Circles::new(&[30.0], &[0.0], 8.0), Circles::new(&[60.0], &[10.0], 5.0));
    coverage.find(a, b).expect("sound bodies");
    let mut areas = [0.0; 2];
    coverage.for_each_pixel(&mut |aabb, covered| {
        let nearer_a = aabb.lo[0] < 45.0;
        assert_eq!([covered[0] > 0.0, covered[1] > 0.0], [nearer_a, !nearer_a]);
        assert!(seen.holds(&aabb) && aabb.hi[0] - aabb.lo[0] == 0.5);
        areas = [areas[0] + covered[0] * 0.25, areas[1] + covered[1] * 0.25];
    });
    let expected = [64.0, 25.0].map(|r2| r2 * core::f32::consts::PI);
    assert!(
        (areas[0] - expected[0]).abs() < 1.0 && (areas[1] - expected[1]).abs() < 1.0,
        "{areas:?}, not {expected:?}"
    );
}
