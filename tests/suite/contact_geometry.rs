//! Depth, normal and point of contacts against plain formulas in `f64`.

use jostle::{
    ActivationTable, BadPair, Circles, Circles64, Contact, ContactError, ContactPairs, Input, InputError, PairFault,
    PairFinder, Set, Space, Threads, contact, contact_f64, contacts, contacts_between, contacts_f64,
};
use jostle_testkit::contacts::assert_contacts;
use jostle_testkit::{Kind, Scene, pool, scene, ugly, within};
use rayon::ThreadPool;

fn geometry_of<const D: usize>(name: &str, scene: &Scene<D>, pool: &ThreadPool) {
    let mut finder = PairFinder::new();
    let pairs = finder.find(scene.view()).expect(name).pairs();
    let (mut serial, mut parallel) = (Vec::new(), vec![Contact::default(); 3]);
    contacts(pairs, scene.view(), Threads::Serial, &mut serial).expect(name);
    within(pool, || contacts(pairs, scene.view(), Threads::Current, &mut parallel)).expect(name);
    assert!(serial == parallel, "{name}: another list on three threads");
    assert_eq!(serial.len(), pairs.len());
    assert_contacts(name, scene, pairs, &serial);
}

fn geometry<const D: usize>() {
    let pool = pool(3);
    for (name, scene) in ugly::all::<D>().into_iter().chain(ugly::large()) {
        geometry_of(name, &scene, &pool);
    }
    for kind in Kind::ALL {
        geometry_of(&kind.to_string(), &scene::scene::<D>(kind, 10_000, 1), &pool);
    }
}

#[test]
fn geometry_in_2d() {
    geometry::<2>();
}

#[test]
fn geometry_in_3d() {
    geometry::<3>();
}

#[test]
fn concentric_bodies_are_pushed_along_x() {
    let found = contact([1.0, 2.0, 3.0], 2.0, [1.0, 2.0, 3.0], 0.5);
    assert_eq!(found, Contact { depth: 2.5, normal: [1.0, 0.0, 0.0], point: [1.0, 2.0, 3.0] });
    assert_eq!(contact([0.0; 2], 0.0, [-0.0; 2], 0.0).normal, [1.0, 0.0]);
}

#[test]
fn the_least_distance_has_a_direction() {
    let least = f32::from_bits(1);
    for sign in [1.0, -1.0] {
        let found = contact([0.0, 0.0], 1.0, [0.0, sign * least], 1.0);
        assert_eq!((found.depth, found.normal), (2.0, [0.0, sign]));
    }
    let diagonal = contact([least, least], 0.0, [0.0, 0.0], 0.0);
    assert_eq!(diagonal, Contact { depth: 0.0, normal: [-core::f32::consts::FRAC_1_SQRT_2; 2], point: diagonal.point });
}

#[test]
fn the_point_lies_in_both_bodies_when_one_holds_the_other() {
    // Both reach from 3 to 5 on the x axis, all of it within the giant.
    assert_eq!(contact([0.0, 0.0], 10.0, [4.0, 0.0], 1.0).point, [4.0, 0.0]);
    assert_eq!(contact([4.0, 0.0], 1.0, [0.0, 0.0], 10.0).point, [4.0, 0.0]);
}

#[test]
fn geometry_between_two_groups_names_strangers_and_bad_bodies() {
    let (x, y) = ([0.0, 1.0, f32::NAN], [0.0; 3]);
    let (all, two) = (Circles::new(&x, &y, 1.0), Circles::new(&x[..2], &y[..2], 1.0));
    let mut list = Vec::new();
    contacts_between(&[[1, 0]], two, all, Threads::Current, &mut list).expect("sound bodies");
    let kept = list.clone();
    assert_eq!(list, [contact([1.0, 0.0], 1.0, [0.0, 0.0], 1.0)]);
    let strangers = contacts_between(&[[1, 2], [2, 1]], two, all, Threads::Current, &mut list);
    let first = vec![BadPair { at: 1, pair: [2, 1], fault: PairFault::NoSuchId { id: 2, ids: 2 } }];
    assert_eq!(strangers, Err(ContactError::Pairs { count: 1, first }));
    let unsound = contacts_between(&[[1, 2]], two, all, Threads::Current, &mut list);
    let Err(ContactError::Bodies(unsound)) = unsound else { panic!("{unsound:?}") };
    assert!(matches!(unsound.by_set(), (Some(1), InputError::Bodies { count: 1, .. })), "{unsound}");
    let lengths = contacts(&[], Circles::new(&x, &y[..1], 1.0), Threads::Current, &mut list);
    assert!(matches!(lengths, Err(ContactError::Bodies(InputError::View(_)))), "{lengths:?}");
    assert_eq!(list, kept);
}

#[test]
fn geometry_of_images_needs_their_shifts_and_their_space() {
    let circles = Circles64::new(&[0.5, 9.75], &[0.0; 2], 0.5);
    let (mut finder, mut list) = (PairFinder::new(), Vec::new());
    let cell = Input::within(circles).periodic([Some([0.0, 10.0]), None]);
    let found = finder.find(cell).expect("circles");
    contacts_f64(found, cell, Threads::Serial, &mut list).expect("a pair across the border");
    let across = Contact { depth: 0.25, normal: [-1.0, 0.0], point: [0.125, 0.0] };
    assert_eq!(list, [across]);
    let mut refused = |pairs: ContactPairs<'_>, input| contacts_f64(pairs, input, Threads::Serial, &mut list);
    let no_shifts = ContactError::ImageShifts { pairs: 1, image_shifts: 0 };
    assert_eq!(refused(found.pairs().into(), cell), Err(no_shifts));
    assert_eq!(refused(found.into(), circles.into()), Err(ContactError::OpenSpace));
    let sets = [circles.into(), circles.into()];
    let table = ActivationTable::all(2);
    let among = Input::among(&sets, &table);
    assert_eq!(refused((&[[0, 1]]).into(), among), Err(ContactError::Sets { sets: None, given: 2 }));
    let space = Space::periodic([Some([1.0, 1.0]), None]);
    assert!(matches!(refused(found.into(), cell.space(space)), Err(ContactError::Bodies(_))));
    assert_eq!(list, [across]);
}

/// Tests distances whose squares vanish or overflow, and bodies on their way.
#[test]
fn geometry_in_f64_has_a_direction_at_any_distance() {
    let least = f64::from_bits(1);
    for (x, radius) in [(1e-300, 2e150), (least, 2e150), (1e150, 2e150), (1e160, 6e160), (1e300, 6e300)] {
        let found = contact_f64([0.0, 0.0], radius, [3.0 * x, -4.0 * x], 0.0);
        assert!(found.normal.iter().zip([0.6, -0.8]).all(|(n, e)| (n - e).abs() < 1e-15), "{found:?}");
        let depth = (radius - 5.0 * x).max(0.0);
        assert!((found.depth - depth).abs() <= 1e-14 * radius, "{found:?}");
    }
    let (x, by) = ([0.0_f32, 10.0], [[16.0_f32, 0.0], [0.0; 2]]);
    let moving = Set::from(Circles::new(&x, &[0.0; 2], 1.0)).moving(by.each_ref());
    let (mut finder, mut list) = (PairFinder::new(), Vec::new());
    let found = finder.find(moving).expect("circles");
    contacts(found, moving, Threads::Serial, &mut list).expect("a pair");
    assert_eq!(list, [Contact { depth: 0.0, normal: [1.0, 0.0], point: [9.0, 0.0] }]);
}
