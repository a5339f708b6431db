//! Bad input is refused as a whole, by name, and leaves the finder as it was.

use core::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck_derive::NoUninit;
use jostle::{
    ActivationTable, Bodies, Boxes, Circles, Circles64, Column, Input, InputError, Layers, NeighborLists, PairFinder,
    Radii, RadiusField, Reason, Set, Spheres, Threads, ViewError, field,
};
use jostle_testkit::{Kind, Scene, oracle, scene};

const LIMIT: f32 = oracle::LIMIT;

/// Runs the search serially and on three threads, and checks that both refuse for the same reason.
fn refusal<const D: usize>(view: Bodies<'_, D>) -> InputError {
    let pool = jostle_testkit::pool(3);
    let mut finder = PairFinder::new();
    let serial = finder.on(Threads::Serial).find(view).err();
    let parallel = finder.on(Threads::Pool(&pool)).find(view).err();
    assert_eq!(serial, parallel);
    serial.expect("a refusal")
}

/// Returns the fault of one bad circle among good circles.
fn fault([x, y]: [f32; 2], radius: f32) -> Option<Reason> {
    let (x, y, r) = ([1.0, 2.0, x, 3.0], [0.0, 0.0, y, 0.0], [0.5, 0.5, radius, 0.5]);
    match PairFinder::new().find(Circles::new(&x, &y, &r)) {
        Ok(_) => None,
        Err(InputError::Bodies { count, first }) => {
            assert_eq!((count, first.len(), first[0].0), (1, 1, 2));
            Some(first[0].1)
        }
        Err(error) => panic!("refused for another reason: {error}"),
    }
}

#[test]
fn centres_must_be_finite() {
    for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(fault([bad, 0.0], 0.5), Some(Reason::CenterNotFinite { axis: 0 }), "{bad}");
        assert_eq!(fault([0.0, bad], 0.5), Some(Reason::CenterNotFinite { axis: 1 }), "{bad}");
    }
}

#[test]
fn radii_must_be_finite_and_not_negative() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(fault([0.0, 0.0], bad), Some(Reason::RadiusNotFinite), "{bad}");
    }
    for bad in [-1.0, -f32::MIN_POSITIVE, -f32::from_bits(1), f32::MIN] {
        assert_eq!(fault([0.0, 0.0], bad), Some(Reason::RadiusNegative), "{bad}");
    }
    assert_eq!(fault([0.0, 0.0], -0.0), None);
}

#[test]
fn the_reach_of_a_circle_ends_at_the_limit() {
    let half = LIMIT / 2.0;
    for (center, radius) in [([LIMIT, 0.0], 0.0), ([0.0, -LIMIT], 0.0), ([half, -half], half), ([0.0, 0.0], LIMIT)] {
        assert_eq!(fault(center, radius), None, "{center:?} {radius}");
    }
    let beyond = [
        ([LIMIT.next_up(), 0.0], 0.0, 0),
        ([0.0, -LIMIT.next_up()], 0.0, 1),
        ([0.0, half.next_up()], half.next_up(), 1),
        ([-half.next_up(), half.next_up()], half.next_up(), 0),
        ([0.0, 0.0], LIMIT.next_up(), 0),
        ([f32::MAX, 0.0], f32::MAX, 0),
    ];
    for (center, radius, axis) in beyond {
        assert_eq!(fault(center, radius), Some(Reason::TooFar { axis }), "{center:?} {radius}");
    }
}

#[test]
fn the_first_fault_of_a_body_is_the_one_named() {
    assert_eq!(fault([f32::NAN, f32::INFINITY], f32::NAN), Some(Reason::CenterNotFinite { axis: 0 }));
    assert_eq!(fault([0.0, f32::NAN], -1.0), Some(Reason::CenterNotFinite { axis: 1 }));
    assert_eq!(fault([f32::MAX, 0.0], f32::NAN), Some(Reason::RadiusNotFinite));
    assert_eq!(fault([f32::MAX, 0.0], -1.0), Some(Reason::RadiusNegative));
}

#[test]
fn the_third_axis_is_looked_at() {
    let refused = |z: f32| match refusal(Spheres::new(&[0.0], &[0.0], &[z], 1.0)) {
        InputError::Bodies { first, .. } => first[0],
        error => panic!("refused for another reason: {error}"),
    };
    assert_eq!(refused(f32::NAN), (0, Reason::CenterNotFinite { axis: 2 }));
    assert_eq!(refused(-2.0 * LIMIT), (0, Reason::TooFar { axis: 2 }));
}

/// Spoils every `step`-th body of a scene from `start` on, in five ways by turns.
fn spoil<const D: usize>(scene: &mut Scene<D>, start: usize, step: usize) {
    for (turn, id) in (start..scene.len()).step_by(step).enumerate() {
        match turn % 5 {
            0 => scene.centers[turn % D][id] = f32::NAN,
            1 => scene.centers[turn % D][id] = f32::INFINITY,
            2 => scene.radii[id] = -1.0,
            3 => scene.radii[id] = f32::NAN,
            _ => scene.centers[turn % D][id] = -2.0 * LIMIT,
        }
    }
}

fn offenders_are_counted_and_named<const D: usize>() {
    for n in [1, 20, 300, 50_000] {
        for (start, step) in [(0, 1), (0, n), (n - 1, 1), (n / 2, 7), (n / 3, n / 5 + 1)] {
            let mut scene = scene::scene::<D>(Kind::Uniform, n, 1);
            spoil(&mut scene, start, step);
            let error = refusal(scene.view());
            assert_eq!(
                Some(error),
                oracle::check(scene.view()).err().map(Into::into),
                "n = {n}, every {step} from {start}"
            );
        }
    }
}

#[test]
fn offenders_are_counted_and_the_first_sixteen_named_in_2d() {
    offenders_are_counted_and_named::<2>();
}

#[test]
fn offenders_are_counted_and_the_first_sixteen_named_in_3d() {
    offenders_are_counted_and_named::<3>();
}

#[test]
fn one_radius_for_all_is_checked_for_all() {
    let x = [0.0; 40];
    let InputError::Bodies { count, first } = refusal(Circles::new(&x, &x, -1.0)) else { panic!("another reason") };
    assert_eq!(count, 40);
    assert!(first.into_iter().eq((0..16).map(|id| (id, Reason::RadiusNegative))));
    assert_eq!(
        PairFinder::new().find(Circles::new(&[], &[], f32::NAN)).expect("no body is at fault").pairs(),
        [[0; 2]; 0]
    );
}

#[test]
fn a_message_names_count_ids_and_reasons() {
    let (x, r) = ([0.0, f32::NAN, 0.0, 1.0], [1.0, 1.0, -1.0, 1.0]);
    let message = refusal(Circles::new(&x, &[0.0; 4], &r)).to_string();
    assert_eq!(message, "2 bodies refused: id 1: centre not finite on axis 0; id 2: radius negative");
}

#[test]
fn columns_must_agree_in_length() {
    let values = [0.0; 5];
    let lengths = |x: usize, y: usize, r: usize| {
        let view = Circles::new(&values[..x], &values[..y], &values[..r]);
        assert_eq!(refusal(view), InputError::View(ViewError::Lengths { centers: vec![x, y], radii: r }));
    };
    lengths(3, 2, 3);
    lengths(2, 3, 2);
    lengths(3, 3, 2);
    lengths(3, 3, 4);
    lengths(0, 1, 0);
    lengths(0, 0, 1);
    let spheres = Spheres::new(&values, &values, &values[..4], Radii::All(1.0));
    assert_eq!(refusal(spheres), InputError::View(ViewError::Lengths { centers: vec![5, 5, 4], radii: 5 }));
}

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Agent {
    position: [f32; 2],
    radius: f32,
}

#[test]
fn offsets_must_be_those_of_fields() {
    let agents = [Agent { position: [1.0, 2.0], radius: 0.5 }; 3];
    let view = |x, y, radius| Circles::from_structs(&agents, [x, y], radius);
    assert!(view(0, 4, RadiusField::At(offset_of!(Agent, radius))).is_ok());
    let layout = |offset| ViewError::Layout { scalar: 4, offset, size: 12 };
    for offset in [9, 10, 11, 12, 16, usize::MAX >> 24, usize::MAX, usize::MAX - 3] {
        assert_eq!(view(offset, 4, RadiusField::All(1.0)).err(), Some(layout(offset)));
        assert_eq!(view(0, offset, RadiusField::All(1.0)).err(), Some(layout(offset)));
        assert_eq!(view(0, 4, RadiusField::At(offset)).err(), Some(layout(offset)));
    }
    for n in [0, 4] {
        let error = Circles::from_structs(&[(); 4][..n], [0, 0], RadiusField::All(1.0)).err();
        assert_eq!(error, Some(ViewError::Layout { scalar: 4, offset: 0, size: 0 }));
        let error = Circles::from_structs(&[[0_u8; 3]; 4][..n], [0, 0], RadiusField::All(1.0)).err();
        assert_eq!(error, Some(ViewError::Layout { scalar: 4, offset: 0, size: 3 }));
    }
}

#[test]
fn strided_memory_must_hold_all_bodies() {
    let base = [0_u16; 20]; // 40 bytes
    let view =
        |count, stride, x, y, radius| Circles::from_strided(&base, count, stride, [x, y], radius).map(|it| it.len());
    let all = RadiusField::All(1.0);
    assert_eq!(view(3, 16, 0, 4, all), Ok(3));
    assert_eq!(view(3, 16, 4, 3, RadiusField::At(0)), Ok(3)); // unaligned, and one column over the other
    assert_eq!(view(5, 4, 0, 20, all), Ok(5)); // one axis behind the other
    for (count, stride, offset) in
        [(3, 16, 5), (3, 17, 4), (1, 0, 37), (2, usize::MAX, 4), (usize::MAX, 4, 4), (3, 16, usize::MAX)]
    {
        let error = ViewError::Base { count, stride, offset, scalar: 4, base: 40 };
        assert_eq!(view(count, stride, offset, 0, RadiusField::At(0)), Err(error.clone()));
        if count == 3 && stride == 16 {
            assert_eq!(view(count, stride, 0, offset, all), Err(error.clone()));
            assert_eq!(view(count, stride, 0, 0, RadiusField::At(offset)), Err(error));
        }
    }
    let message = view(usize::MAX, usize::MAX, 0, usize::MAX, all).expect_err("a refusal").to_string();
    assert!(message.contains("the base slice is of 40 bytes"), "{message}");
    let most = (u128::from(u64::MAX) - 1) * u128::from(u64::MAX) + 4;
    assert!(usize::BITS < 64 || message.contains(&format!("end at byte {most}")), "{message}");

    for stride in 0..4 {
        assert_eq!(view(2, stride, 0, 4, all), Err(ViewError::Stride { stride, scalar: 4 }));
        assert_eq!(view(1, stride, 32, 36, all), Ok(1)); // one body: numpy gives such arrays any stride
        assert_eq!(view(0, stride, usize::MAX, 0, all), Ok(0));
    }
    let short = Circles64::from_strided(&base, 2, 4, [0, 8], RadiusField::All(1.0)).expect_err("a refusal");
    assert!(short.to_string().contains("in bytes, not in values"), "{short}");
    let nothing = Circles::from_strided(&[(); 9], 9, 4, [0, 0], all).expect_err("a refusal");
    assert_eq!(nothing, ViewError::Base { count: 9, stride: 4, offset: 0, scalar: 4, base: 0 });
}

#[test]
fn a_finder_goes_on_after_a_refusal() {
    let good = scene::scene::<2>(Kind::Dense, 5_000, 1);
    let expected = PairFinder::new().find(good.view()).expect("a good scene").pairs().to_vec();
    let mut bad = good.clone();
    spoil(&mut bad, 17, 100);
    let mut finder = PairFinder::new();
    for _ in 0..3 {
        assert!(finder.find(good.view()).expect("a good scene").pairs() == expected);
        assert!(finder.find(bad.view()).is_err());
        assert!(finder.find(Circles::new(&[0.0], &[], 1.0)).is_err());
    }
    assert!(finder.find(good.view()).expect("a good scene").pairs() == expected);
}

/// Fields are read from structs of any layout, with padding, and with fields that are no plain numbers.
#[test]
fn bodies_that_reach_over_too_many_images_leave_the_last_result() {
    let cell = [Some([0.0, 1.0]); 2];
    let (x, y) = ([0.0, 1.0, 2.0], [0.0; 3]);
    let giants = [0.5; 5];
    let circles = Circles::new(&giants, &giants, 1e6);
    let boxes = Boxes::new([&[-1e6; 5], &[-1e6; 5]], [&[1e6; 5], &[1e6; 5]]);
    let mut finder = PairFinder::new();
    for refused in [Input::within(circles), Input::within(boxes)] {
        finder.find(Circles::new(&x, &y, 0.6)).unwrap();
        assert!(matches!(finder.find(refused.periodic(cell)), Err(InputError::Images { .. })));
        assert_eq!(finder.last().pairs(), [[0, 1], [1, 2]]);
        assert_eq!(finder.last().tree().len(), 3);
        assert!(finder.last().tree_of_boxes().is_none());
    }
}

#[test]
fn fields_of_any_struct_are_read_in_place() {
    #[derive(Clone, Copy)]
    struct Place<T> {
        up: T,
        along: [T; 2],
    }
    struct Mixed<T> {
        alive: bool,
        name: String,
        radius: T,
        rank: u16,
        place: (u8, Place<T>),
    }
    macro_rules! check {
        ($scalar:ty) => {
            let scene = scene::scene::<3>(Kind::Uniform, 900, 5);
            let [x, y, z] = scene.centers.each_ref().map(|column| column.iter().map(|&x| <$scalar>::from(x)));
            let mixed: Vec<Mixed<$scalar>> = x
                .zip(y)
                .zip(z)
                .zip(&scene.radii)
                .map(|(((x, y), z), &r)| Mixed {
                    alive: true,
                    name: format!("{r}"),
                    radius: r.into(),
                    rank: 7,
                    place: (1, Place { up: z, along: [x, y] }),
                })
                .collect();
            let radii: Vec<$scalar> = scene.radii.iter().map(|&r| r.into()).collect();
            let [x, y] = field!(Mixed<$scalar>, place.1.along).axes(&mixed);
            let z = field!(Mixed<$scalar>, place.1.up).of(&mixed);
            let radius = field!(Mixed<$scalar>, radius).of(&mixed);
            assert_eq!(
                field!(Mixed<$scalar>, place.1.along[1]).offset(),
                field!(Mixed<$scalar>, place.1.along).axis(1).offset()
            );
            let slices: [Vec<$scalar>; 3] = [x, y, z].map(|column| (0..mixed.len()).map(|id| column.get(id)).collect());
            let slices = Bodies::<3, $scalar>::from_slices(slices.each_ref().map(Vec::as_slice), &radii);
            let mut finder = PairFinder::new();
            let expected = finder.find(slices).expect("a sound scene").pairs().to_vec();
            assert!(
                expected
                    == finder
                        .find(Bodies::<3, $scalar>::from_columns([x, y, z], radius))
                        .expect("a sound scene")
                        .pairs()
            );
            assert!(!expected.is_empty() && mixed.iter().all(|it| it.alive && it.rank == 7 && !it.name.is_empty()));
            let none: [Mixed<$scalar>; 0] = [];
            assert!(field!(Mixed<$scalar>, radius).of(&none).as_slice() == Some(&[]) && x.as_slice().is_none());
        };
    }
    check!(f32);
    check!(f64);
    let points = [[1.0_f32, 2.0], [3.0, 4.0]];
    let circles = Circles::from_columns(Column::axes(&points), 1.0);
    assert_eq!([circles.center(0), circles.center(1)], points);
    let newtypes = [[1.0_f32], [2.0]];
    assert_eq!(Column::axes(&newtypes)[0].as_slice(), Some(&[1.0, 2.0][..]));
}

#[test]
fn errors_say_what_to_do() {
    let (two, three) = ([1.0_f32; 2], [1.0_f32; 3]);
    let mut finder = PairFinder::<2>::new();
    let view = Circles::new(&two, &two, 1.0);
    let mut says = |among: Input<'_, 2>, what: &str| {
        let message = finder.find(among).expect_err("a refusal").to_string();
        assert!(message.contains(what), "{message}");
    };
    says(Circles::new(&two, &three, 1.0).into(), "each needs one value for every body");
    says(Set::from(view).layers(Layers::new(&[1, 1, 1], 1)).into(), "or a number for all");
    says(Circles::new(&[1e19, 0.0], &two, 1.0).into(), "search in f64");
    says(Input::within(view).periodic([Some([0.0, 1e-4]); 2]), "several cells as one");
    says(Input::within(view).lattice([[1.0, 0.0], [2.0, 0.0]], [true; 2]), "has to lead out");
    says(Input::within(view).lattice([[0.0, 1.0], [1.0, 0.0]], [true; 2]), "swap two of them");
    says(Input::within(Circles::new(&[1e15, 0.0], &two, 0.1)).periodic([Some([0.0, 3.0]), None]), "move it back");
    says(Set::from(view).moving([&two[..], &three]).into(), "0 for those at rest");
    let message =
        finder.find(Input::among(&[view.into(); 2], &ActivationTable::none(3))).expect_err("a refusal").to_string();
    assert!(message.contains("ActivationTable::none(2)"), "{message}");
    let layout = Circles::from_structs(&[[0_u8; 3]; 2], [0, 1], RadiusField::All(1.0)).expect_err("a refusal");
    assert!(layout.to_string().contains("field!"), "{layout}");

    let panics = |what: &str, call: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("a panic");
        let message = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|&it| it.into()));
        assert!(message.as_ref().is_some_and(|message| message.contains(what)), "{message:?}");
    };
    panics("make it by `ActivationTable::none(4)`", &|| assert!(ActivationTable::none(2).with(1, 3).meet(1, 3)));
    panics("no set ", &|| assert!(ActivationTable::none(2).with(1, usize::MAX).meet(1, 1)));
    assert!(
        !ActivationTable::all(2).meet(0, usize::MAX)
            && !ActivationTable::all(2).meet(1, (u32::MAX as usize).saturating_add(1))
    );
    panics("no body 3: the lists are of 0 bodies", &|| assert!(NeighborLists::new().of(3).is_empty()));
    panics("NeighborLists::with_distances", &|| assert!(NeighborLists::new().distances2_of(0).is_empty()));
    panics("no body 2: the view is of 2 bodies", &|| assert_eq!(view.center(2), [1.0; 2]));
}
