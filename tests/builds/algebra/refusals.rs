//! Bodies and spaces that have no answer are refused by name, and the last result stands.

use jostle::{Circles, Circles64, Input, InputError, PairFinder, RangeFault, Reason, Set, ViewError};

fn bodies(id: u32, reason: Reason) -> InputError {
    InputError::Bodies { count: 1, first: vec![(id, reason)] }
}

fn range(id: u32, fault: RangeFault) -> InputError {
    InputError::Range { count: 1, first: vec![(id, fault)] }
}

#[test]
fn in_boxes() {
    let mut finder = PairFinder::new();
    let view = Circles::new(&[0.0, 3.0, 3.0], &[0.0, 0.0, 0.0], &[0.5, 1.0, 1.0]);
    let before = finder.find(view).expect("three").pairs().to_vec();
    let mut refused = |view, borders: [f64; 2]| {
        let input = Input::within(view).periodic([Some(borders), None]);
        finder.find(input).map(|found| found.pairs().len()).unwrap_err()
    };
    let near = Circles::new(&[0.0; 3], &[0.0; 3], &[0.5, 1.0, 1.0]);
    let images = refused(near, [0.0, 1e-6]);
    assert!(matches!(images, InputError::Images { reach: 2.0, .. }), "{images}");
    for borders in [[0.0, 0.0], [1.0, 0.0], [0.0, f64::NAN], [f64::NEG_INFINITY, 0.0]] {
        assert!(matches!(refused(view, borders), InputError::Parameter { .. }), "{borders:?}");
    }
    let far = Circles::new(&[0.0, 1e15], &[0.0, 0.0], 0.1);
    assert_eq!(refused(far, [0.0, 1.0]), range(1, RangeFault::TooManyPeriods { axis: 0 }));
    let nan = Circles::new(&[0.0, f32::NAN], &[0.0, 0.0], 0.1);
    assert_eq!(refused(nan, [0.0, 1.0]), bodies(1, Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(finder.last().pairs(), before);
}

#[test]
fn on_their_way() {
    let mut finder = PairFinder::new();
    let view = Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.5);
    let before = finder.find(view).expect("two").pairs().to_vec();
    let mut refused = |view, moves: [&[f32]; 2]| {
        finder.find(Set::from(view).moving(moves)).map(|found| found.pairs().len()).unwrap_err()
    };
    let displacements = vec![2, 1];
    assert_eq!(refused(view, [&[0.0, 0.0], &[0.0]]), InputError::Displacements { bodies: 2, displacements });
    for bad in [f32::NAN, f32::INFINITY] {
        let moves: [&[f32]; 2] = [&[0.0, 0.0], &[0.0, bad]];
        assert_eq!(refused(view, moves), range(1, RangeFault::Displacement { axis: 1 }), "{bad}");
    }
    let bad = Circles::new(&[0.0, f32::NAN], &[0.0, 0.0], &[0.5, -1.0]);
    assert_eq!(refused(bad, [&[0.0; 2], &[0.0; 2]]), bodies(1, Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(finder.last().pairs(), before);
}

#[test]
fn in_f64() {
    let mut finder = PairFinder::new();
    let before = finder.find(Circles64::new(&[0.0, 1.0], &[0.0, 0.0], 0.5)).expect("two").pairs().to_vec();
    assert_eq!(before, [[0, 1]]);
    let mut refused = |x: [f64; 2], radii: [f64; 2]| {
        finder.find(Circles64::new(&x, &[0.0, 0.0], &radii)).map(|found| found.pairs().len()).unwrap_err()
    };
    assert_eq!(refused([0.0, f64::NAN], [0.0, 0.0]), bodies(1, Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(refused([f64::INFINITY, 0.0], [0.0, 0.0]), bodies(0, Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(refused([0.0, 0.0], [0.0, f64::NAN]), bodies(1, Reason::RadiusNotFinite));
    assert_eq!(refused([0.0, 0.0], [0.0, -1.0]), bodies(1, Reason::RadiusNegative));
    assert_eq!(refused([0.0, 1e200], [0.0, 0.0]), bodies(1, Reason::TooFar64 { axis: 0 }));
    assert_eq!(finder.last().pairs(), before);
    assert!(matches!(
        finder.find(Circles64::new(&[0.0], &[0.0, 1.0], 1.0)),
        Err(InputError::View(ViewError::Lengths { .. }))
    ));
}
