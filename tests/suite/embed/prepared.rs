//! Prepared sets: when they are sorted again, and what a refusal leaves of them.

use jostle::{
    Boxes, Boxes64, Capsules, Capsules64, Circles, Circles64, Input, PairFinder, PreparedSet, Set, Space, Threads,
};

const X: [f32; 3] = [0.0, 1.0, 7.0];
const X64: [f64; 3] = [0.0, 1.0, 7.0];

fn prepared<'a>(bodies: impl Into<Set<'a, 2>>, space: Space<2>) -> PreparedSet<2> {
    let mut prepared = PreparedSet::new();
    prepared.build(bodies, space, Threads::Serial).expect("bodies within the contract");
    prepared
}

#[test]
fn a_prepared_set_is_not_sorted_again() {
    let (single, double) = (Circles::new(&X, &[0.0; 3], 0.5), Circles64::new(&X64, &[0.0; 3], 0.5));
    let still: [&[f32]; 2] = [&[0.0; 3], &[0.0; 3]];
    for space in [Space::open(), Space::periodic([Some([0.0, 7.5]), Some([0.0, 9.0])])] {
        let (of_single, of_double) = (prepared(single, space), prepared(double, space));
        let another = prepared(Circles64::new(&X64[..2], &[0.0; 2], 0.25), space);
        let repeats = !space.is_open();
        let mut finder = PairFinder::new();
        let mut taken = |input: Input<'_, 2>| {
            finder.find(input.space(space)).expect("a search within the contract");
            finder.adopted(&input)
        };
        assert_eq!(taken((&of_single).into()), [true]);
        assert_eq!(taken((&of_double).into()), [true]);
        assert_eq!(taken(Input::between(single, &of_single)), [false, true]);
        assert_eq!(taken(Input::between(double, &of_double)), [false, true]);
        assert_eq!(taken(Input::between(&of_single, double)), [true, false]);
        assert_eq!(taken(Input::between(&of_single, Set::from(single).moving(still))), [true, false]);
        assert_eq!(taken(Input::between(&of_double, &another)), [true, repeats]);
        assert_eq!(taken(Input::between(Set::from(&of_double).moving(still), &another)), [false, true]);
        let elsewhere = prepared(double, Space::periodic([Some([0.0, 8.0]), None]));
        assert_eq!(taken((&elsewhere).into()), [false]);
    }
}

#[test]
fn what_does_not_fit_a_frame_is_sorted() {
    let walls = prepared(Circles::new(&X, &[0.0; 3], 0.5), Space::open());
    let far = Circles64::new(&[1e100, 1.0], &[0.0; 2], 0.5);
    let mut finder = PairFinder::new();
    let input = Input::between(far, &walls);
    assert_eq!(finder.find(input).expect("a search within the contract").pairs(), [[1, 0], [1, 1]]);
    assert_eq!(finder.adopted(&input), [false, false]);
}

#[test]
fn a_refused_build_leaves_nothing() {
    let mut walls = prepared(Circles::new(&X, &[0.0; 3], 0.5), Space::open());
    let refused = walls.build(Circles::new(&[f32::NAN], &[0.0], 0.5), Space::open(), Threads::Serial);
    assert!(refused.is_err() && walls.is_empty());
    let moving = Set::from(Circles::new(&[0.0], &[0.0], 0.5)).moving([&[1.0_f32], &[0.0]]);
    assert!(walls.build(moving, Space::open(), Threads::Serial).is_err());
    assert_eq!(PairFinder::new().count(Set::from(&walls)), Ok(0));
}

#[test]
fn a_prepared_set_of_any_shape_keeps_its_margin() {
    let (lo, hi) = ([[0.0_f32, 5.0], [0.0, 0.0]], [[1.0_f32, 6.0], [1.0, 1.0]]);
    let (lo64, hi64) = ([[0.0_f64, 5.0], [0.0, 0.0]], [[1.0_f64, 6.0], [1.0, 1.0]]);
    let walls: [Set<'_, 2>; 5] = [
        Circles::new(&X, &[0.0; 3], 0.5).with_margin(0.25).into(),
        Boxes::new(lo.each_ref(), hi.each_ref()).with_margin(0.25).into(),
        Boxes64::new(lo64.each_ref(), hi64.each_ref()).with_margin(0.25).into(),
        Capsules::new(lo.each_ref(), hi.each_ref(), 0.5).with_margin(0.25).into(),
        Capsules64::new(lo64.each_ref(), hi64.each_ref(), 0.5).with_margin(0.25).into(),
    ];
    for wall in walls {
        let (walls, mut finder) = (prepared(wall, Space::open()), PairFinder::new());
        for bodies in [wall, (&walls).into()] {
            let with = |x: &'static [f32; 1]| Input::between(Circles::new(x, &[0.0], 0.5), bodies);
            finder.find(with(&[2.0])).expect("a search within the contract");
            let still = [&[2.0], &[2.2], &[2.3]].map(|x| finder.still_valid(with(x)));
            assert_eq!(still, [true, true, false], "{wall:?}");
        }
    }
}
