//! Queries that nobody thought of, shrunk to the smallest that fails.

use core::array::from_fn;

use jostle::{Aabb, Circle, Ray};
use jostle_testkit::Scene;
use jostle_testkit::oracle::LIMIT;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::queries::asked::Asked;
use crate::queries::check::check;

/// Three coordinates, of which the plane ignores the last, and a radius.
type Body = ([f32; 3], f32);

/// Draws any magnitude from the smallest subnormal number to 2^57, of either sign.
fn magnitude() -> impl Strategy<Value = f32> {
    (any::<bool>(), 0..(127_u32 + 57) << 23).prop_map(|(negative, bits)| {
        let x = f32::from_bits(bits);
        if negative { -x } else { x }
    })
}

fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -1.0_f32..1.0,
        4 => (-4_i32..4).prop_map(|x| x as f32 * 0.5),
        2 => (-4_i32..4).prop_map(|x| x as f32 * 0.1),
        1 => Just(-0.0),
        1 => magnitude(),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    let radius = prop_oneof![3 => 0.0_f32..0.3, 3 => Just(0.5), 2 => Just(0.0), 1 => magnitude().prop_map(f32::abs)];
    ([coordinate(), coordinate(), coordinate()], radius)
}

/// Draws bodies and queries, scaled and moved together.
fn bodies_and_asked() -> impl Strategy<Value = (Vec<Body>, Vec<Body>)> {
    let place = prop_oneof![3 => Just(0.0), 1 => Just(1e7), 1 => -1e3_f32..1e3, 1 => magnitude()];
    let scale =
        prop_oneof![3 => Just(1.0), 1 => Just(1e-6), 1 => Just(1e5), 1 => (0..76).prop_map(|k| 0.5_f32.powi(k))];
    ([place.clone(), place.clone(), place], scale, vec(body(), 0..200), vec(body(), 2..12)).prop_map(
        |(place, scale, bodies, asked)| {
            let limited = |x: f32| x.clamp(-LIMIT / 2.0, LIMIT / 2.0);
            let moved = |(center, radius): &Body| {
                (from_fn(|axis| limited(place[axis] + scale * center[axis])), limited(scale * radius))
            };
            (bodies.iter().map(moved).collect(), asked.iter().map(moved).collect())
        },
    )
}

fn plane<const D: usize>(point: [f32; 3]) -> [f32; D] {
    from_fn(|axis| point[axis])
}

fn equals_oracle<const D: usize>(bodies: &[Body], with: &[Body], direction: [f32; 3]) {
    let scene: Scene<D> = bodies.iter().map(|&(center, radius)| (plane(center), radius)).collect();
    let mut asked = Asked::default();
    for pair in with.windows(2) {
        let ((a, radius), (b, reach)) = ((plane::<D>(pair[0].0), pair[0].1), (plane::<D>(pair[1].0), pair[1].1));
        asked.points.push(a);
        asked.circles.push(Circle::new(a, radius));
        asked.aabbs.push(Aabb::EMPTY.with_point(a).with_point(b));
        let directions = [from_fn(|axis| b[axis] - a[axis]), plane(direction), from_fn(|axis| direction[axis] * 1e-20)];
        for direction in directions.into_iter().filter(|direction| *direction != [0.0; D]) {
            asked.rays.extend([Ray::new(a, direction), Ray::new(a, direction).within(reach)]);
        }
    }
    check("free", &scene, &asked);
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases: 200, failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_are_those_of_the_oracle(
        (bodies, with) in bodies_and_asked(),
        direction in [coordinate(), coordinate(), coordinate()],
    ) {
        equals_oracle::<2>(&bodies, &with, direction);
        equals_oracle::<3>(&bodies, &with, direction);
    }
}
