use jostle::{Bodies, Circles64, InputError, Layers, NeighborLists, PairFinder, Reason, Rows, Set, Spheres64};
use jostle_testkit::{Kind, Scene, scene, ugly};
use proptest::prelude::*;

use crate::frames::{Bench, pairs_where};

/// The definition.
fn overlap<const D: usize>(view: Bodies<'_, D, f64>, a: usize, b: usize) -> bool {
    let (p, q) = (view.center(a), view.center(b));
    let mut distance2 = 0.0;
    for axis in 0..D {
        let d = q[axis] - p[axis];
        distance2 += d * d;
    }
    let s = view.radius(a) + view.radius(b);
    distance2 <= s * s
}

fn check<const D: usize>(bench: &mut Bench<D>, name: &str, view: Bodies<'_, D, f64>) {
    let expected = pairs_where(view.len(), |a, b| overlap(view, a, b));
    bench.check(name, view.into(), &expected);
}

/// A scene of f32 as it is, far from the origin, and so small that f32 could not hold it.
fn check_frames<const D: usize>(bench: &mut Bench<D>, name: &str, scene: &Scene<D>) {
    for (origin, scale) in [(0.0, 1.0), (1e9, 1e-4), (-1e300, 1e287), (3.0, 1e-200)] {
        let place = |x: &f32| origin + f64::from(*x) * scale;
        let centers = scene.centers.each_ref().map(|column| column.iter().map(place).collect::<Vec<f64>>());
        let radii: Vec<f64> = scene.radii.iter().map(|r| f64::from(*r) * scale).collect();
        let view = Bodies::from_slices(centers.each_ref().map(Vec::as_slice), &radii);
        if (0..view.len()).all(|id| view.center(id).iter().all(|x| x.abs() + view.radius(id) < 1e150)) {
            check(bench, &format!("{name} at {origin}, times {scale}"), view);
        }
    }
}

fn check_scenes<const D: usize>() {
    let mut bench = Bench::new();
    for kind in Kind::ALL {
        check_frames(&mut bench, &kind.to_string(), &scene::scene::<D>(kind, 500, 7));
    }
    for (name, scene) in ugly::all::<D>() {
        if scene.len() <= 2_000 {
            check_frames(&mut bench, name, &scene);
        }
    }
}

#[test]
fn scenes_in_2d() {
    check_scenes::<2>();
}

#[test]
fn scenes_in_3d() {
    check_scenes::<3>();
}

#[test]
fn lattices_that_exactly_touch_a_billion_away() {
    const SIDE: usize = 40;
    let step = 2.0_f64.powi(-12);
    for (nudge, name) in [(0.0, "touching"), (2.0_f64.powi(-23), "an ulp apart")] {
        let x: Vec<f64> = (0..SIDE * SIDE).map(|i| 1e9 + (step + nudge) * (i % SIDE) as f64).collect();
        let y: Vec<f64> = (0..SIDE * SIDE).map(|i| -1e9 + (step + nudge) * (i / SIDE) as f64).collect();
        let view = Circles64::new(&x, &y, step / 2.0);
        check(&mut Bench::new(), name, view);
        let pairs = PairFinder::new().find(view).expect("a lattice").pairs().len();
        assert_eq!(pairs > 0, nudge == 0.0, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bodies_at_any_scale(
        bodies in prop::collection::vec((-1.0_f64..1.0, -1.0_f64..1.0, -1.0_f64..1.0, 0.0_f64..0.3), 0..50),
        origin in prop_oneof![Just(0.0), -1e9_f64..1e9, -1e20_f64..1e20],
        scale in prop_oneof![Just(1.0), 1e-6_f64..1e6, 1e-30_f64..1e30],
        margin in prop_oneof![Just(0.0), 0.0_f64..0.1],
    ) {
        let column = |of: fn(&(f64, f64, f64, f64)) -> f64| -> Vec<f64> {
            bodies.iter().map(|body| origin + of(body) * scale).collect()
        };
        let (x, y, z) = (column(|b| b.0), column(|b| b.1), column(|b| b.2));
        let radii: Vec<f64> = bodies.iter().map(|body| body.3 * scale).collect();
        check(&mut Bench::new(), "any", Spheres64::new(&x, &y, &z, &radii).with_margin(margin * scale));
    }

    #[test]
    fn bodies_that_touch_up_to_an_ulp(
        places in prop::collection::vec((0_i32..6, 0_i32..6, -2_i64..3), 2..40),
        origin in -1e12_f64..1e12,
    ) {
        let nudged = |x: f64, ulps: i64| f64::from_bits((x.to_bits() as i64 + ulps) as u64);
        let x: Vec<f64> = places.iter().map(|p| nudged(origin + f64::from(p.0), p.2)).collect();
        let y: Vec<f64> = places.iter().map(|p| nudged(origin + f64::from(p.1), -p.2)).collect();
        check(&mut Bench::new(), "ulps", Circles64::new(&x, &y, 0.5));
    }
}

#[test]
fn what_has_no_answer_is_refused() {
    let mut finder = PairFinder::new();
    let before = finder.find(Circles64::new(&[0.0, 1.0], &[0.0, 0.0], 0.5)).expect("two").pairs().to_vec();
    assert_eq!(before, [[0, 1]]);
    let mut refused = |x: [f64; 2], radii: [f64; 2]| {
        let error = finder.find(Circles64::new(&x, &[0.0, 0.0], &radii)).map(|found| found.pairs().len());
        match error.unwrap_err() {
            InputError::Bodies { count: 1, first } => first[0],
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused([0.0, f64::NAN], [0.0, 0.0]), (1, Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(refused([f64::INFINITY, 0.0], [0.0, 0.0]), (0, Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(refused([0.0, 0.0], [0.0, f64::NAN]), (1, Reason::RadiusNotFinite));
    assert_eq!(refused([0.0, 0.0], [0.0, -1.0]), (1, Reason::RadiusNegative));
    assert_eq!(refused([0.0, 1e200], [0.0, 0.0]), (1, Reason::TooFar64 { axis: 0 }));
    assert_eq!(finder.last().pairs(), before);
    assert!(matches!(finder.find(Circles64::new(&[0.0], &[0.0, 1.0], 1.0)), Err(InputError::Lengths { .. })));
}

#[test]
fn distances_are_those_of_the_caller() {
    let x = [1e6, 1e6 + 3.0, 1e6 + 1000.0];
    let mut lists = NeighborLists::with_distances();
    let points = Circles64::new(&x, &[0.0; 3], 0.0).within(4.0);
    PairFinder::new().neighbors(points, Rows::Full, &mut lists).expect("three");
    assert_eq!((lists.neighbors(), lists.distances2()), (&[1, 0][..], &[9.0, 9.0][..]));
}

#[test]
fn layers_hold() {
    let view = Circles64::new(&[0.0; 3], &[0.0; 3], 1.0);
    let mut finder = PairFinder::new();
    let found = finder.find(Set::from(view).layers(Layers::new(&[1, 1, 2], &[1, 1, 3]))).expect("three");
    assert_eq!(found.pairs(), [[0, 1]]);
}
