//! Random bodies, ranks and distributions. A failure is shrunk to few bodies.

use jostle::Space;
use jostle_testkit::Scene;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::kit::{Deal, alone, together};

/// Draws coordinates on a coarse grid, so that bodies touch exactly, lie on cuts and coincide; some lie far out.
fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![8 => (0..24_u8).prop_map(|x| f32::from(x) * 0.5), 1 => Just(1e18), 1 => -1e3..1e3_f32]
}

fn radius() -> impl Strategy<Value = f32> {
    prop_oneof![6 => Just(0.25), 3 => 0.0..1.0_f32, 1 => Just(0.0), 1 => 1.0..3e3_f32]
}

fn bodies<const D: usize>() -> impl Strategy<Value = Scene<D>> {
    let body = (vec(coordinate(), D), radius());
    vec(body, 0..60).prop_map(|bodies| {
        bodies.into_iter().map(|(center, radius)| (core::array::from_fn(|axis| center[axis]), radius)).collect()
    })
}

fn case() -> impl Strategy<Value = (u32, Deal, bool)> {
    (1..=8_u32, 0..4_usize, any::<bool>()).prop_map(|(ranks, deal, in_place)| (ranks, Deal::ALL[deal], in_place))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bodies_in_the_plane(scene in bodies::<2>(), case in case()) {
        prop_assert_eq!(together(&scene, Space::open(), case), alone(scene.view(), Space::open()));
    }

    #[test]
    fn any_bodies_in_space(scene in bodies::<3>(), case in case()) {
        prop_assert_eq!(together(&scene, Space::open(), case), alone(scene.view(), Space::open()));
    }

    #[test]
    fn any_bodies_in_a_strip(mut scene in bodies::<2>(), case in case()) {
        // Bodies are neither far out nor wide where space repeats, since images are limited in number.
        scene.centers[0].iter_mut().for_each(|x| *x = x.clamp(-40.0, 40.0));
        scene.radii.iter_mut().for_each(|r| *r = r.min(8.0));
        let space = Space::periodic([Some([0.0, 12.0]), None]);
        prop_assert_eq!(together(&scene, space, case), alone(scene.view(), space));
    }
}
