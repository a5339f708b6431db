//! Boxes and capsules. Each answer is compared with the engine's own, and the pairs of boxes with plain loops.

use std::ffi::c_void;
use std::sync::Mutex;

use engine::{Boxes, Boxes64, Capsules, Capsules64, Circles, NeighborLists, PairFinder, Set};

use super::searches::numbers;
use super::*;
use crate::contacts::{RawKeys, jostle_contacts_free, jostle_contacts_new, jostle_contacts_update};
use crate::finder::jostle_finder_new_coherent;
use crate::geometry::jostle_find_contact_geometry;
use crate::lists::{
    JOSTLE_LISTS_DISTANCES2, JOSTLE_LISTS_VECTORS, Lists, Rows, jostle_lists_free, jostle_lists_new,
    jostle_neighbors_find,
};
use crate::prepared::{Prepared, jostle_prepared_build, jostle_prepared_free, jostle_prepared_new};
use crate::queries::{Answers, Query, Question, jostle_queries_free, jostle_queries_new, jostle_query_ask};
use crate::search::{jostle_count, jostle_for_each_pair, jostle_still_valid};
use crate::status::Reason;

const COUNT: usize = 600;

/// Corners or ends, in float and in double.
struct Bodies {
    from: [Vec<f32>; 3],
    to: [Vec<f32>; 3],
    from_double: [Vec<f64>; 3],
    to_double: [Vec<f64>; 3],
}

impl Bodies {
    fn new(seed: u32) -> Self {
        let from = [0, 1, 2].map(|axis| numbers(COUNT, seed + axis));
        let longer = |axis: usize| -> Vec<f32> {
            let lengths = numbers(COUNT, seed + 9 + axis as u32);
            from[axis].iter().zip(lengths).map(|(from, length)| from + length / 16.0).collect()
        };
        let to = [0, 1, 2].map(longer);
        let double = |of: &[Vec<f32>; 3]| of.each_ref().map(|of| of.iter().map(|&x| f64::from(x) + 1e-9).collect());
        let (from_double, to_double) = (double(&from), double(&to));
        Self { from, to, from_double, to_double }
    }

    fn float(&self, shape: Shape) -> RawSet {
        let [center, end] = [&self.from, &self.to].map(|columns| columns.each_ref().map(|values| column(values)));
        RawSet { count: COUNT, shape: shape as i32, center, end, ..no_set() }
    }

    fn double(&self, shape: Shape) -> RawSet {
        let [center, end] =
            [&self.from_double, &self.to_double].map(|columns| columns.each_ref().map(|values| column(values)));
        RawSet { number: Number::Double as i32, center, end, ..self.float(shape) }
    }
}

/// The same set in the plane.
fn flat(set: RawSet) -> RawSet {
    let flat = |[x, y, _]: [Column; 3]| [x, y, ABSENT];
    RawSet { center: flat(set.center), end: flat(set.end), ..set }
}

fn sorted(mut pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    pairs.sort_unstable();
    pairs
}

fn first_two<T>([x, y, _]: &[Vec<T>; 3]) -> [&[T]; 2] {
    [x, y]
}

#[test]
fn boxes_meet_when_they_do_on_each_axis() {
    let bodies = Bodies::new(31);
    let mut meet = Vec::new();
    for b in 0..COUNT {
        let meets = |&a: &usize| {
            (0..3).all(|axis| bodies.from[axis][a] <= bodies.to[axis][b] && bodies.from[axis][b] <= bodies.to[axis][a])
        };
        meet.extend((0..b).filter(meets).map(|a| [a as u32, b as u32]));
    }
    let meet = sorted(meet);
    assert!(meet.len() > 20);
    let finder = Own::new(3);
    for set in [bodies.float(Shape::Box), bodies.double(Shape::Box)] {
        assert_eq!(finder.find(&input(&[set])).map(sorted), Ok(meet.clone()));
    }
}

#[test]
fn all_shapes_in_both_precisions_and_all_relations_are_those_of_rust() {
    let (a, b, radius) = (Bodies::new(41), Bodies::new(51), 0.75_f32);
    let (lo, hi) = (first_two(&a.from), first_two(&a.to));
    let (lo64, hi64) = (first_two(&a.from_double), first_two(&a.to_double));
    let [x, y] = first_two(&b.from);
    let [from, to] = [first_two(&b.from), first_two(&b.to)];
    let (from64, to64) = (first_two(&b.from_double), first_two(&b.to_double));
    let thick = 0.75_f64;
    let of_c = [
        flat(a.float(Shape::Box)),
        RawSet { margin: 0.25, ..flat(a.double(Shape::Box)) },
        RawSet { radius: one(&radius), ..flat(b.float(Shape::Capsule)) },
        RawSet { radius: one(&thick), margin: 0.25, ..flat(b.double(Shape::Capsule)) },
        RawSet { radius: one(&radius), end: [ABSENT; 3], ..flat(b.float(Shape::Ball)) },
    ];
    let of_rust: [Set<'_, 2>; 5] = [
        Boxes::new(lo, hi).into(),
        Boxes64::new(lo64, hi64).with_margin(0.25).into(),
        Capsules::new(from, to, radius).into(),
        Capsules64::new(from64, to64, thick).with_margin(0.25).into(),
        Circles::new(x, y, radius).into(),
    ];
    let (finder, mut wanted) = (Own::new(2), PairFinder::new());
    let borders = [Some([0.0, 90.0]), None];
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [90.0; 3], ..open() };
    for (i, first) in of_rust.into_iter().enumerate() {
        for (j, second) in of_rust.into_iter().enumerate() {
            let (sets, between) = ([of_c[i], of_c[j]], engine::Input::between(first, second));
            let expected = wanted.find(between).unwrap().pairs().to_vec();
            assert!(!expected.is_empty(), "sets {i} and {j}");
            assert_eq!(finder.find(&input(&sets)), Ok(expected), "sets {i} and {j}");
            let expected = wanted.find(between.periodic(borders)).unwrap().pairs().to_vec();
            let periodic = Input { space: &raw const space, ..input(&sets) };
            assert_eq!(finder.find(&periodic), Ok(expected), "sets {i} and {j}, periodic");
        }
    }
    let cells = [1; 25];
    let among = Input { relation: Relation::Among as i32, table: cells.as_ptr(), ..input(&of_c) };
    let table = engine::ActivationTable::all(5);
    let expected = wanted.find(engine::Input::among(&of_rust, &table)).unwrap().pairs().to_vec();
    assert_eq!(finder.find(&among), Ok(expected));
    let mut rows = NeighborLists::new();
    wanted.neighbors(engine::Input::among(&of_rust, &table), engine::Rows::Full, &mut rows).unwrap();
    let (mut lists, mut out) = (null_mut::<Lists>(), no_neighbors());
    // SAFETY: the places are valid; all that the input leads to outlives the calls; so many numbers are lent.
    unsafe {
        assert_eq!(jostle_lists_new(0, &raw mut lists), Status::Ok);
        let full = Rows::Full as i32;
        assert_eq!(jostle_neighbors_find(finder.0, &raw const among, full, lists, &raw mut out), Status::Ok);
        assert_eq!(core::slice::from_raw_parts(out.offsets, out.rows + 1), rows.offsets());
        assert_eq!(core::slice::from_raw_parts(out.ids, out.count), rows.neighbors());
        jostle_lists_free(lists);
    }
}

#[test]
fn boxes_and_capsules_on_their_way_tell_when_they_touch() {
    let (lo, hi, up, down) = ([0.0_f32, 3.0], [1.0_f32, 4.0], [0.0_f32; 2], [1.0_f32; 2]);
    let (by, still, radius) = ([8.0_f64, 0.0], [0.0_f64; 2], 0.5_f32);
    let boxes = RawSet {
        count: 2,
        shape: Shape::Box as i32,
        center: [column(&lo), column(&up), ABSENT],
        end: [column(&hi), column(&down), ABSENT],
        displacement: [column(&by), column(&still), ABSENT],
        displacement_number: Number::Double as i32,
        ..no_set()
    };
    let capsules = RawSet { shape: Shape::Capsule as i32, radius: one(&radius), ..boxes };
    // The segments are 3 / sqrt(2) apart.
    for (set, time) in [(boxes, 0.25), (capsules, (3.0 - 2.0_f64.sqrt()) / 8.0)] {
        let (finder, mut pairs) = (Own::new(2), no_pairs());
        // SAFETY: all that the input leads to outlives the call; so many numbers are lent.
        unsafe {
            assert_eq!(jostle_find(finder.0, &input(&[set]), &raw mut pairs), Status::Ok);
            assert!(pairs.count == 1 && (*pairs.times_of_impact - time).abs() < 1e-15);
        }
    }
}

unsafe extern "C" fn keep(user: *mut c_void, a: u32, b: u32) {
    // SAFETY: `user` is what `jostle_for_each_pair` was given.
    unsafe { &*user.cast::<Mutex<Vec<[u32; 2]>>>() }.lock().unwrap().push([a, b]);
}

#[test]
fn counts_visitors_lists_and_layers_of_capsules() {
    let (bodies, radius) = (Bodies::new(61), 1.5_f32);
    let (category, finder) = ((0..COUNT).map(|id| 1 << (id % 3)).collect::<Vec<u32>>(), Own::new(3));
    let mask = category.clone();
    let capsules = RawSet { radius: one(&radius), ..bodies.float(Shape::Capsule) };
    let sets = [RawSet { category: column(&category), mask: column(&mask), ..capsules }];
    let (pairs, visited) = (finder.find(&input(&sets)).unwrap(), Mutex::new(Vec::<[u32; 2]>::new()));
    let of_rust = Capsules::new(bodies.from.each_ref(), bodies.to.each_ref(), radius);
    let layers = engine::Layers::new(&category, &mask);
    let mut wanted = PairFinder::new();
    assert_eq!(pairs, wanted.find(Set::from(of_rust).layers(layers)).unwrap().pairs());
    assert!(pairs.len() > 20 && pairs.iter().all(|[a, b]| a % 3 == b % 3));
    let (mut count, mut lists, mut out) = (0, null_mut(), no_neighbors());
    // SAFETY: all that the input and the visitor lead to outlives the calls; so many numbers are lent.
    unsafe {
        let user = (&raw const visited).cast_mut().cast();
        assert_eq!(jostle_count(finder.0, &input(&sets), &raw mut count), Status::Ok);
        assert_eq!(jostle_for_each_pair(finder.0, &input(&sets), Some(keep), user), Status::Ok);
        assert_eq!(jostle_lists_new(JOSTLE_LISTS_DISTANCES2 | JOSTLE_LISTS_VECTORS, &raw mut lists), Status::Ok);
        let rows = Rows::Full as i32;
        assert_eq!(jostle_neighbors_find(finder.0, &input(&[capsules]), rows, lists, &raw mut out), Status::Ok);
        let mut expected = NeighborLists::with_distances().and_vectors();
        wanted.neighbors(of_rust, engine::Rows::Full, &mut expected).unwrap();
        assert_eq!(core::slice::from_raw_parts(out.ids, out.count), expected.neighbors());
        assert_eq!(core::slice::from_raw_parts(out.distances2, out.count), expected.distances2());
        assert_eq!(core::slice::from_raw_parts(out.vectors.cast::<[f64; 3]>(), out.count), expected.vectors::<3>());
        jostle_lists_free(lists);
    }
    assert_eq!(count, pairs.len() as u64);
    assert_eq!(sorted(visited.into_inner().unwrap()), sorted(pairs));
}

#[test]
fn prepared_boxes_are_searched_and_asked() {
    let bodies = Bodies::new(71);
    let (mut prepared, mut queries, finder) = (null_mut::<Prepared>(), null_mut(), Own::new(3));
    let boxes = bodies.double(Shape::Box);
    let mut wanted = engine::PreparedSet::new();
    let of_rust = Boxes64::new(bodies.from_double.each_ref(), bodies.to_double.each_ref());
    wanted.build(of_rust, engine::Space::open(), engine::Threads::Serial).unwrap();
    let mut expected = Vec::new();
    let point = bodies.from_double.each_ref().map(|values| values[7]);
    wanted.queries().point(point, &mut expected).unwrap();
    let (size, offsets, ids, image_shifts) = (size_of::<Answers>(), null(), null(), null());
    let mut out = Answers { size, questions: 0, count: 0, offsets, ids, image_shifts, distances: null() };
    let query = Query {
        size: size_of::<Query>(),
        question: Question::Point as i32,
        reserved: 0,
        count: 1,
        numbers: point.as_ptr(),
        nearest: 0,
        reach: 0.0,
        only: None,
        only_user: null_mut(),
    };
    // SAFETY: the places are valid; all that the sets lead to outlives the calls; so many numbers are lent.
    unsafe {
        assert_eq!(jostle_prepared_new(3, &raw mut prepared), Status::Ok);
        assert_eq!(jostle_queries_new(3, &raw mut queries), Status::Ok);
        assert_eq!(jostle_prepared_build(prepared, &raw const boxes, null()), Status::Ok);
        assert_eq!(jostle_query_ask(queries, prepared, &raw const query, &raw mut out), Status::Ok);
        let ids = core::slice::from_raw_parts(out.ids, out.count);
        assert_eq!(ids, expected.iter().map(|seen| seen.id).collect::<Vec<_>>());
        assert!(ids.contains(&7));
        let stood = RawSet { prepared, ..no_set() };
        let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 1, 0], hi: [95.0; 3], ..open() };
        // In another space than they were prepared for, too.
        for space in [null(), &raw const space] {
            let sets = [[boxes], [stood]];
            let found = sets.each_ref().map(|sets| finder.find(&Input { space, ..input(sets) }).map(sorted));
            assert!(found[0].as_ref().is_ok_and(|pairs| !pairs.is_empty()));
            assert_eq!(found[0], found[1]);
        }
        jostle_queries_free(queries);
        jostle_prepared_free(prepared);
    }
}

#[test]
fn contacts_of_boxes_over_time_and_in_space() {
    let (lo, hi) = ([0.0_f32, 1.0, 9.0], [2.0_f32, 3.0, 10.0]);
    let corners = |values| [column::<f32>(values), column(values), ABSENT];
    let sets = [RawSet { count: 3, shape: Shape::Box as i32, center: corners(&lo), end: corners(&hi), ..no_set() }];
    let (finder, mut tracker, keys) = (Own::new(2), null_mut(), [8_u64, 7, 6]);
    assert_eq!(finder.find(&input(&sets)), Ok(vec![[0, 1]]));
    let mut changes = no_changes();
    let mut geometry = no_geometry();
    let of = RawKeys { size: size_of::<RawKeys>(), count: 3, keys: keys.as_ptr() };
    // SAFETY: the places are valid; all that is passed outlives the calls; so many numbers are lent.
    unsafe {
        assert_eq!(jostle_contacts_new(&raw mut tracker), Status::Ok);
        assert_eq!(jostle_contacts_update(tracker, finder.0, 0, &raw const of, 1, &raw mut changes), Status::Ok);
        assert_eq!((changes.begin.count, *changes.begin.keys), (1, [7, 8]));
        jostle_contacts_free(tracker);
        let number = Number::Double as i32;
        let told = jostle_find_contact_geometry(finder.0, &input(&sets), number, &raw mut geometry);
        assert_eq!((told, geometry.count, *geometry.depths_double), (Status::Ok, 1, 1.0));
        assert_eq!(*geometry.points_double.cast::<[f64; 2]>(), [1.5, 1.5]);
    }
}

#[test]
fn what_a_shape_does_not_have_is_refused() {
    let (bodies, radius) = (Bodies::new(81), 1.0_f32);
    let (boxes, capsules) = (bodies.float(Shape::Box), bodies.float(Shape::Capsule));
    let finder = Own::new(3);
    let refused = |set: RawSet, status: Status, message: &str| {
        assert_eq!(finder.find(&input(&[set])), Err(status));
        assert!(finder.message().starts_with(message), "{}", finder.message());
    };
    let ball = RawSet { shape: Shape::Ball as i32, ..boxes };
    refused(ball, Status::Combination, "set 0: end is given, but circles and spheres have none");
    refused(RawSet { radius: one(&radius), ..boxes }, Status::Combination, "set 0: radius is given, but boxes");
    for shaped in [boxes, capsules] {
        refused(
            RawSet { cutoff: 1.0, ..shaped },
            Status::Combination,
            "set 0: a cutoff is given, but boxes and capsules",
        );
        let blunt = RawSet { end: [shaped.end[0], ABSENT, shaped.end[2]], ..shaped };
        refused(blunt, Status::NullPointer, "set 0: y of end is null");
    }
    refused(RawSet { shape: 3, ..boxes }, Status::UnknownValue, "set 0: jostle_set.shape is 3");
    refused(RawSet { margin: -1.0, ..boxes }, Status::Parameter, "set 0: the margin is -1");
    let older = core::mem::offset_of!(RawSet, shape);
    refused(RawSet { size: older, ..boxes }, Status::StructSize, "jostle_set begins with the size");

    let swapped = RawSet { center: boxes.end, end: boxes.center, ..boxes };
    refused(swapped, Status::Bodies, "599 bodies refused: id 1: lower corner above the upper one");
    // SAFETY: so many offenders are lent.
    let first = unsafe { *finder.error().first };
    assert_eq!((first.reason, first.axis), (Reason::CornersSwapped as i32, 0));
    let far = vec![f32::INFINITY; COUNT];
    let endless = RawSet { end: [column(&far), boxes.end[1], boxes.end[2]], ..boxes };
    assert!(finder.find(&input(&[endless])).is_ok());
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [90.0; 3], ..open() };
    assert_eq!(finder.find(&Input { space: &raw const space, ..input(&[endless]) }), Err(Status::Bodies));
    // SAFETY: as above.
    assert_eq!(unsafe { *finder.error().first }.reason, Reason::Endless as i32);
}

#[test]
fn lists_of_all_shapes_are_kept_for_as_long_as_their_margins_last() {
    for shape in [Shape::Box, Shape::Capsule] {
        let (bodies, finder, mut valid) = (Bodies::new(91), Own::new(3), [7; 2]);
        let grown = [RawSet { margin: 1.0, ..bodies.float(shape) }];
        let other = [Bodies::new(90).float(shape)];
        assert!(finder.find(&input(&grown)).is_ok());
        // SAFETY: the places are valid; all that the inputs lead to outlives the calls.
        unsafe {
            assert_eq!(jostle_still_valid(finder.0, &input(&grown), &raw mut valid[0]), Status::Ok);
            assert_eq!(jostle_still_valid(finder.0, &input(&other), &raw mut valid[1]), Status::Ok);
        }
        assert_eq!(valid, [1, 0]);
    }
}

#[test]
fn coherent_frames_of_boxes_are_those_of_a_search() {
    let bodies = Bodies::new(91);
    let (sets, mut coherent) = ([bodies.float(Shape::Box)], null_mut());
    // SAFETY: the place is valid.
    unsafe { assert_eq!(jostle_finder_new_coherent(3, &raw mut coherent), Status::Ok) };
    let (finder, coherent) = (Own::new(3), Own(coherent));
    let expected = finder.find(&input(&sets)).expect("sound boxes");
    assert!(!expected.is_empty());
    for _ in 0..3 {
        assert_eq!(coherent.find(&input(&sets)).as_ref(), Ok(&expected));
    }
}
