use jostle::{Bodies, Circles, Input, InputError, Layers, PairFinder, Reason, Set};
use jostle_testkit::{Kind, scene};
use proptest::prelude::*;

use crate::frames::{Bench, pairs_where};

/// The definition: the shift of b that makes two bodies touch, if one does.
fn shift_of<const D: usize>(view: Bodies<'_, D>, axes: [Option<[f32; 2]>; D], a: usize, b: usize) -> Option<[i32; D]> {
    let wrapped = |id: usize, axis: usize| {
        let x = view.center(id)[axis];
        match axes[axis] {
            Some([lo, hi]) if !(lo..=hi).contains(&x) => {
                let period = f64::from(hi - lo);
                let wraps = ((f64::from(x) - f64::from(lo)) / period).floor();
                (((f64::from(x) - wraps * period) as f32).clamp(lo, hi), wraps as i32)
            }
            _ => (x, 0),
        }
    };
    let s = view.radius(a) + view.radius(b);
    let mut found = None;
    for number in 0..3_usize.pow(D as u32) {
        let steps: [i32; D] = core::array::from_fn(|axis| (number / 3_usize.pow(axis as u32) % 3) as i32 - 1);
        if (0..D).any(|axis| steps[axis] != 0 && axes[axis].is_none()) {
            continue;
        }
        let mut distance2 = 0.0;
        for axis in 0..D {
            let period = axes[axis].map_or(0.0, |[lo, hi]| hi - lo);
            let d = (wrapped(b, axis).0 - wrapped(a, axis).0) + steps[axis] as f32 * period;
            distance2 += d * d;
        }
        if distance2 <= s * s {
            assert!(found.is_none(), "two images of one pair");
            found = Some(core::array::from_fn(|axis| steps[axis] + wrapped(a, axis).1 - wrapped(b, axis).1));
        }
    }
    found
}

fn check<const D: usize>(bench: &mut Bench<D>, name: &str, view: Bodies<'_, D>, axes: [Option<[f32; 2]>; D]) {
    let expected = pairs_where(view.len(), |a, b| shift_of(view, axes, a, b).is_some());
    let answer = bench.check(name, Input::within(view).periodic(axes), &expected);
    let repeats = axes.iter().any(Option::is_some);
    assert_eq!(answer.shifts.len(), if repeats { answer.pairs.len() } else { 0 }, "{name}");
    for (&[a, b], &shift) in answer.pairs.iter().zip(&answer.shifts) {
        assert_eq!(shift_of(view, axes, a as usize, b as usize), Some(shift), "{name}: shift of {a} and {b}");
    }
}

/// Every combination of periodic axes, with borders of the scene, and narrower ones that leave bodies outside.
fn check_scenes<const D: usize>() {
    let mut bench = Bench::new();
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 700, 3);
        let radius = scene.radii.iter().copied().fold(0.0, f32::max);
        let view = scene.view();
        let bounds = jostle::bounds(view, jostle::Threads::Serial).expect("a scene");
        for axes in 0..1_u32 << D {
            for part in [1.0, 0.6] {
                let borders = core::array::from_fn(|axis| {
                    let (lo, hi) = (bounds.lo[axis], bounds.lo[axis] + part * (bounds.hi[axis] - bounds.lo[axis]));
                    (axes >> axis & 1 == 1 && hi - lo > 4.1 * radius).then_some([lo, hi])
                });
                check(&mut bench, &format!("{kind}, {borders:?}"), view, borders);
            }
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
fn many_bodies_on_several_threads() {
    let scene = scene::scene::<2>(Kind::Uniform, 20_000, 5);
    let view = scene.view();
    let hi = jostle::bounds(view, jostle::Threads::Serial).expect("a scene").hi;
    let axes = [Some([0.0, hi[0]]), Some([0.0, hi[1]])];
    // The same box nine times over, without periods: of each pair, the copies whose first body is in the middle one.
    let copies = |axis: usize| -> Vec<f32> {
        let shift = |copy: usize| if axis == 0 { copy % 3 } else { copy / 3 } as f32 - 1.0;
        let copied = |copy| scene.centers[axis].iter().map(move |x| x + shift(copy) * hi[axis]);
        (0..9).flat_map(copied).collect()
    };
    let (x, y) = (copies(0), copies(1));
    let radii: Vec<f32> = (0..9).flat_map(|_| scene.radii.iter().copied()).collect();
    let mut finder = PairFinder::new();
    let near: Vec<_> = finder.find(Circles::new(&x, &y, &radii)).expect("copies").pairs().to_vec();
    let n = view.len() as u32;
    let mut expected: Vec<_> = near
        .into_iter()
        .filter(|pair| pair.iter().any(|id| id / n == 4))
        .map(|[a, b]| [(a % n).min(b % n), (a % n).max(b % n)])
        .collect();
    expected.sort_unstable();
    expected.dedup();
    let mut bench = Bench::new();
    let answer = bench.check("many", Input::within(view).periodic(axes), &expected);
    assert!(answer.shifts.iter().any(|shift| *shift != [0, 0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bodies_in_any_box(
        bodies in prop::collection::vec((-40.0_f32..40.0, -40.0_f32..40.0, 0.0_f32..1.2), 0..60),
        (lo, width) in (-20.0_f32..20.0, 5.0_f32..30.0),
        which in 1_usize..4,
        snapped in any::<bool>(),
    ) {
        let snap = |x: f32| if snapped { x.round() } else { x };
        let x: Vec<f32> = bodies.iter().map(|body| snap(body.0)).collect();
        let y: Vec<f32> = bodies.iter().map(|body| snap(body.1)).collect();
        let radii: Vec<f32> = bodies.iter().map(|body| if snapped { 0.5 } else { body.2 }).collect();
        let (lo, width) = (snap(lo), snap(width));
        let axes = [0, 1].map(|axis| (which >> axis & 1 == 1).then_some([lo, lo + width]));
        check(&mut Bench::new(), "any", Circles::new(&x, &y, &radii), axes);
    }
}

#[test]
fn what_has_no_answer_is_refused() {
    let mut finder = PairFinder::new();
    let view = Circles::new(&[0.0, 3.0, 3.0], &[0.0, 0.0, 0.0], &[0.5, 1.0, 1.0]);
    let before = finder.find(view).expect("three").pairs().to_vec();
    let mut refused =
        |view, axes| finder.find(Input::within(view).periodic(axes)).map(|found| found.pairs().len()).unwrap_err();
    assert!(matches!(refused(view, [Some([0.0, 1e-4]); 2]), InputError::Images { reach: 2.0, .. }));
    for borders in [[0.0, 0.0], [1.0, 0.0], [0.0, f32::NAN], [f32::NEG_INFINITY, 0.0]] {
        assert!(matches!(refused(view, [Some(borders), None]), InputError::Parameter { .. }), "{borders:?}");
    }
    let far = Circles::new(&[0.0, 1e15], &[0.0, 0.0], 0.1);
    let first = vec![(1, Reason::TooManyPeriods { axis: 0 })];
    assert_eq!(refused(far, [Some([0.0, 1.0]), None]), InputError::Bodies { count: 1, first });
    let nan = Circles::new(&[0.0, f32::NAN], &[0.0, 0.0], 0.1);
    let first = vec![(1, Reason::CenterNotFinite { axis: 0 })];
    assert_eq!(refused(nan, [Some([0.0, 1.0]), None]), InputError::Bodies { count: 1, first });
    assert_eq!(finder.last().pairs(), before);
}

#[test]
fn layers_hold_across_borders() {
    let view = Circles::new(&[0.1, 9.9, 9.8], &[0.0; 3], 0.25);
    let axes = [Some([0.0, 10.0]), None];
    let mut finder = PairFinder::new();
    let found = finder
        .find(Input::within(Set::from(view).layers(Layers::new(&[1, 1, 2], &[1, 1, 3]))).periodic(axes))
        .expect("three");
    assert_eq!(found.pairs(), [[0, 1]]);
}
