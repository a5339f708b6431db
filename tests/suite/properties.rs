//! Scenes that nobody thought of, shrunk to the smallest that fails.

use jostle::{InputError, PairFinder, Threads};
use jostle_testkit::pairs::ascending;
use jostle_testkit::{Scene, oracle};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use rayon::ThreadPool;

/// A body in the plane or in space. The plane ignores the third axis.
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
        4 => (-4_i32..4).prop_map(|x| x as f32),
        2 => (-4_i32..4).prop_map(|x| x as f32 * 0.1),
        1 => Just(-0.0),
        1 => magnitude(),
    ]
}

fn radius() -> impl Strategy<Value = f32> {
    prop_oneof![
        3 => 0.0_f32..0.3,
        3 => Just(0.5),
        2 => Just(0.0),
        1 => Just(-0.0),
        1 => Just(0.05),
        1 => magnitude().prop_map(f32::abs),
    ]
}

/// Draws bodies near each other, whose coordinates and radii are scaled and moved together.
fn cluster() -> impl Strategy<Value = Vec<Body>> {
    let place = prop_oneof![Just(0.0), Just(1e7), -1e3_f32..1e3, magnitude()];
    let scale =
        prop_oneof![3 => Just(1.0), 1 => Just(1e-6), 1 => Just(1e5), 1 => (0..76).prop_map(|k| 0.5_f32.powi(k))];
    let bodies = vec(([coordinate(), coordinate(), coordinate()], radius()), 0..120);
    ([place.clone(), place.clone(), place], scale, bodies).prop_map(|(place, scale, bodies)| {
        let moved = |(center, radius): Body| {
            let center = core::array::from_fn(|axis| within_limit(place[axis] + scale * center[axis]));
            (center, within_limit(scale * radius))
        };
        bodies.into_iter().map(moved).collect()
    })
}

/// Clamps to half of the reach that the contract allows, so that a coordinate and a radius fit together.
fn within_limit(x: f32) -> f32 {
    x.clamp(-oracle::LIMIT / 2.0, oracle::LIMIT / 2.0)
}

/// Draws clusters in which some bodies stand several times.
fn bodies() -> impl Strategy<Value = Vec<Body>> {
    let clusters = vec(cluster(), 1..8).prop_map(|clusters| clusters.concat());
    (clusters, vec((any::<prop::sample::Index>(), 1..20_usize), 0..4)).prop_map(|(mut bodies, copies)| {
        for (which, times) in copies {
            if let Some(&body) = (!bodies.is_empty()).then(|| which.get(&bodies)) {
                bodies.extend(core::iter::repeat_n(body, times));
            }
        }
        bodies
    })
}

/// Draws bodies, a few of which have any bits at all: NaN, infinite, negative, too far.
fn spoilt_bodies() -> impl Strategy<Value = Vec<Body>> {
    let bad = prop_oneof![
        any::<u32>().prop_map(f32::from_bits),
        Just(f32::NAN),
        Just(f32::INFINITY),
        Just(-1.0),
        Just(oracle::LIMIT)
    ];
    (bodies(), vec((any::<prop::sample::Index>(), 0..4_usize, bad), 0..30)).prop_map(|(mut bodies, faults)| {
        for (which, field, bad) in faults {
            if !bodies.is_empty() {
                let (center, radius) = which.get_mut(&mut bodies);
                *center.get_mut(field).unwrap_or(radius) = bad;
            }
        }
        bodies
    })
}

fn scene<const D: usize>(bodies: &[Body]) -> Scene<D> {
    bodies.iter().map(|&(center, radius)| (core::array::from_fn(|axis| center[axis]), radius)).collect()
}

fn three_threads() -> ThreadPool {
    jostle_testkit::pool(3)
}

/// Returns the pairs in ascending order, after a check that three threads give the same sequence as one.
fn find<const D: usize>(scene: &Scene<D>, pool: &ThreadPool) -> Result<Vec<[u32; 2]>, InputError> {
    let mut finder = PairFinder::new();
    let serial = finder.on(Threads::Serial).find(scene.view()).map(|found| found.pairs().to_vec());
    let parallel = finder.on(Threads::Pool(pool)).find(scene.view()).map(|found| found.pairs().to_vec());
    assert_eq!(serial, parallel);
    Ok(ascending(&serial?))
}

fn equals_oracle<const D: usize>(bodies: &[Body], pool: &ThreadPool) {
    let scene = scene::<D>(bodies);
    assert_eq!(find(&scene, pool), Ok(oracle::pairs(scene.view())));
}

fn survives_new_ids<const D: usize>(bodies: &[Body], pool: &ThreadPool) {
    let there = find(&scene::<D>(bodies), pool).expect("bodies within the contract");
    let reversed: Vec<_> = bodies.iter().rev().copied().collect();
    let last = bodies.len() as u32;
    let mut back = find(&scene::<D>(&reversed), pool).expect("bodies within the contract");
    back.iter_mut().for_each(|[a, b]| (*a, *b) = (last - 1 - *b, last - 1 - *a));
    assert_eq!(there, ascending(&back));
}

fn is_refused_as_it_should<const D: usize>(bodies: &[Body], pool: &ThreadPool) {
    let scene = scene::<D>(bodies);
    let expected = oracle::check(scene.view()).map(|()| oracle::pairs(scene.view())).map_err(InputError::from);
    assert_eq!(find(&scene, pool), expected);
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases: 300, failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn pairs_are_those_of_the_oracle(bodies in bodies()) {
        let pool = three_threads();
        equals_oracle::<2>(&bodies, &pool);
        equals_oracle::<3>(&bodies, &pool);
    }

    #[test]
    fn pairs_do_not_depend_on_ids(bodies in bodies()) {
        let pool = three_threads();
        survives_new_ids::<2>(&bodies, &pool);
        survives_new_ids::<3>(&bodies, &pool);
    }

    #[test]
    fn exactly_the_bad_bodies_are_refused(bodies in spoilt_bodies()) {
        let pool = three_threads();
        is_refused_as_it_should::<2>(&bodies, &pool);
        is_refused_as_it_should::<3>(&bodies, &pool);
    }
}
