use jostle::{Bodies, Circles, InputError, Layers, PairFinder, Reason, Set};
use jostle_testkit::{Kind, scene, ugly};
use proptest::prelude::*;

use crate::frames::{Bench, pairs_where};

/// The definition: when two bodies first touch.
fn touch<const D: usize>(view: Bodies<'_, D>, moves: &[Vec<f32>; D], a: usize, b: usize) -> Option<f64> {
    let (mut pp, mut pv, mut vv) = (0.0, 0.0, 0.0);
    for axis in 0..D {
        let p = f64::from(view.center(b)[axis]) - f64::from(view.center(a)[axis]);
        let v = f64::from(moves[axis][b]) - f64::from(moves[axis][a]);
        (pp, pv, vv) = (pp + p * p, pv + p * v, vv + v * v);
    }
    let s = f64::from(view.radius(a)) + f64::from(view.radius(b));
    let c = pp - s * s;
    if c <= 0.0 {
        return Some(0.0);
    }
    let discriminant = pv * pv - vv * c;
    let time = c / (discriminant.sqrt() - pv);
    (pv < 0.0 && discriminant >= 0.0 && time <= 1.0).then_some(time)
}

fn check<const D: usize>(bench: &mut Bench<D>, name: &str, view: Bodies<'_, D>, moves: &[Vec<f32>; D]) {
    let expected = pairs_where(view.len(), |a, b| touch(view, moves, a, b).is_some());
    let answer = bench.check(name, Set::from(view).moving(moves.each_ref().map(Vec::as_slice)).into(), &expected);
    for (&[a, b], time) in answer.pairs.iter().zip(answer.times) {
        assert_eq!(touch(view, moves, a as usize, b as usize), Some(time), "{name}: {a} and {b}");
    }
}

/// Displacements between -length and length, the same on every machine.
fn moves<const D: usize>(bodies: usize, length: f32) -> [Vec<f32>; D] {
    let value = |i: usize| (i * 7919 % 2001) as f32 / 1000.0 - 1.0;
    core::array::from_fn(|axis| (0..bodies).map(|id| length * value(id * D + axis)).collect())
}

fn check_scenes<const D: usize>() {
    let mut bench = Bench::new();
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 500, 11);
        for length in [0.0, 0.5, 20.0] {
            check(&mut bench, &format!("{kind}, {length}"), scene.view(), &moves(500, length));
        }
    }
    for (name, scene) in ugly::all::<D>() {
        let far = scene.centers.iter().flatten().chain(&scene.radii).any(|x| x.abs() > 1e17);
        if scene.len() <= 1_000 && !far {
            check(&mut bench, name, scene.view(), &moves(scene.len(), 1.0));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_paths(
        bodies in prop::collection::vec((-9.0_f32..9.0, -9.0_f32..9.0, 0.0_f32..1.0, -9.0_f32..9.0, -9.0_f32..9.0), 0..40),
        snapped in any::<bool>(),
        origin in prop_oneof![Just(0.0_f32), -1e6_f32..1e6],
    ) {
        let snap = |x: f32| if snapped { x.round() } else { x };
        let x: Vec<f32> = bodies.iter().map(|body| origin + snap(body.0)).collect();
        let y: Vec<f32> = bodies.iter().map(|body| origin + snap(body.1)).collect();
        let radii: Vec<f32> = bodies.iter().map(|body| if snapped { 0.5 } else { body.2 }).collect();
        let moves = [bodies.iter().map(|body| snap(body.3)).collect(), bodies.iter().map(|body| snap(body.4)).collect()];
        check(&mut Bench::new(), "any", Circles::new(&x, &y, &radii), &moves);
    }
}

#[test]
fn what_has_no_answer_is_refused() {
    let mut finder = PairFinder::new();
    let view = Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.5);
    let before = finder.find(view).expect("two").pairs().to_vec();
    let mut refused =
        |moves: [&[f32]; 2]| finder.find(Set::from(view).moving(moves)).map(|found| found.pairs().len()).unwrap_err();
    let displacements = vec![2, 1];
    assert_eq!(refused([&[0.0, 0.0], &[0.0]]), InputError::Displacements { bodies: 2, displacements });
    for bad in [f32::NAN, f32::INFINITY] {
        let first = vec![(1, Reason::Displacement { axis: 1 })];
        assert_eq!(refused([&[0.0, 0.0], &[0.0, bad]]), InputError::Bodies { count: 1, first }, "{bad}");
    }
    let bad = Circles::new(&[0.0, f32::NAN], &[0.0, 0.0], &[0.5, -1.0]);
    let first = vec![(1, Reason::CenterNotFinite { axis: 0 })];
    let error = finder.find(Set::from(bad).moving([&[0.0, 0.0], &[0.0, 0.0]])).map(|found| found.pairs().len());
    assert_eq!(error, Err(InputError::Bodies { count: 1, first }));
    assert_eq!(finder.last().pairs(), before);
}

#[test]
fn layers_hold() {
    let view = Circles::new(&[0.0, 5.0, 9.0], &[0.0; 3], 0.25);
    let swept = Set::from(view).moving([&[10.0, 0.0, 0.0], &[0.0; 3]]).layers(Layers::new(&[1, 1, 2], &[1, 1, 3]));
    let mut finder = PairFinder::new();
    assert_eq!(finder.find(swept).expect("three").pairs(), [[0, 1]]);
}
