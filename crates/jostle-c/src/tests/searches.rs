//! Searches. Each answer is compared with the engine's own.

use std::ffi::c_void;
use std::sync::Mutex;

use engine::{Circles, Layers, NeighborLists, PairFinder, Set};

use super::*;
use crate::lists::{
    JOSTLE_LISTS_DISTANCES2, JOSTLE_LISTS_VECTORS, Lists, Rows, jostle_lists_free, jostle_lists_new,
    jostle_neighbors_find,
};
use crate::search::{
    ImageShifts, jostle_count, jostle_find_image_shifts, jostle_for_each_pair, jostle_pairs_between, jostle_still_valid,
};
use crate::threads::{
    Host, Task, Threads, jostle_threads_free, jostle_threads_host, jostle_threads_pool, jostle_threads_serial,
};

/// Numbers from 0 to 84 of a linear congruential generator.
pub(super) fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let next = |at: &u32| Some(at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    core::iter::successors(Some(seed), next).map(|n| (n >> 8) as f32 / 2e5).take(count).collect()
}

fn expected(x: &[f32], y: &[f32], radius: &[f32]) -> Vec<[u32; 2]> {
    PairFinder::new().find(Circles::new(x, y, radius)).unwrap().pairs().to_vec()
}

#[test]
fn circles_of_separate_arrays_and_of_structs_give_the_pairs_of_rust() {
    let (x, y, radius) = (numbers(5000, 1), numbers(5000, 2), vec![0.9; 5000]);
    let expected = expected(&x, &y, &radius);
    assert!(expected.len() > 1000);
    let finder = Own::new(2);
    assert_eq!(finder.find(&input(&[circles(&x, &y, &radius)])), Ok(expected.clone()));

    let structs: Vec<[f32; 5]> = (0..5000).map(|i| [7.0, y[i], f32::NAN, x[i], radius[i]]).collect();
    let field = |at: usize| Column { stride: 20, ..column(&structs[0][at..]) };
    let set = RawSet { count: 5000, center: [field(3), field(1), ABSENT], radius: field(4), ..no_set() };
    assert_eq!(finder.find(&input(&[set])), Ok(expected.clone()));

    let set = RawSet { radius: one(&0.9_f32), ..circles(&x, &y, &[]) };
    assert_eq!(finder.find(&input(&[set])), Ok(expected.clone()));
    let set = RawSet { radius: ABSENT, cutoff: 1.8, ..circles(&x, &y, &[]) };
    assert_eq!(finder.find(&input(&[set])), Ok(expected));
}

#[test]
fn nothing_is_found_among_nothing() {
    let finder = Own::new(3);
    assert_eq!(finder.find(&input(&[no_set()])), Ok(vec![]));
    assert_eq!(finder.find(&input(&[no_set(), no_set()])), Ok(vec![]));
    let none: [f32; 0] = [];
    let (center, names) = ([column(&none); 3], Column { stride: 4, ..column(&[0_u8; 5][1..]) });
    let set = RawSet { center, radius: column(&none), displacement: center, category: names, group: names, ..no_set() };
    assert_eq!(finder.find(&input(&[set])), Ok(vec![]));
}

#[test]
fn periodic_doubles_tell_their_shifts() {
    let (x, y) = ([0.5_f64, 9.5, 4.0], [1.0_f64; 3]);
    let center = [column(&x), column(&y), ABSENT];
    let set = RawSet { count: 3, number: Number::Double as i32, center, radius: one(&0.5_f64), ..no_set() };
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [10.0; 3], ..open() };
    let lattice = RawSpace {
        kind: SpaceKind::Lattice as i32,
        repeats: [1, 0, 0],
        vectors: [[10.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]],
        ..open()
    };
    for space in [space, lattice] {
        let finder = Own::new(2);
        assert_eq!(finder.find(&Input { space: &raw const space, ..input(&[set]) }), Ok(vec![[0, 1]]));
        let mut shifts = ImageShifts { size: size_of::<ImageShifts>(), count: 0, shifts: null() };
        // SAFETY: handle and place are valid.
        assert_eq!(unsafe { jostle_find_image_shifts(finder.0, &raw mut shifts) }, Status::Ok);
        // SAFETY: so many numbers are lent.
        assert_eq!((shifts.count, unsafe { *shifts.shifts.cast::<[i32; 2]>() }), (1, [-1, 0]));
    }
}

#[test]
fn bodies_on_their_way_tell_when_they_touch() {
    let (x, y, dx) = ([0.0_f32, 10.0, 100.0], [0.0_f32; 3], [16.0_f64, 0.0, 0.0]);
    let displacement = [column(&dx), column(&[0.0_f64; 3]), ABSENT];
    let displacement_number = Number::Double as i32;
    let sets = [RawSet { displacement, displacement_number, ..circles(&x, &y, &[1.0; 3]) }];
    let (finder, mut pairs) = (Own::new(2), no_pairs());
    // SAFETY: all that the input leads to outlives the call.
    assert_eq!(unsafe { jostle_find(finder.0, &input(&sets), &raw mut pairs) }, Status::Ok);
    // SAFETY: so many numbers are lent.
    assert_eq!((pairs.count, unsafe { *pairs.times_of_impact }), (1, 0.5));
}

#[test]
fn layers_lie_side_by_side_or_apart() {
    let (x, y) = ([0.0_f32; 4], [0.0_f32; 4]);
    let (category, mask, group) = ([1, 2, 2, 1], [3, 1, 1, 3], [-1, -1, -2, -2]);
    let layers = Layers::new(&category, &mask).with_groups(&group);
    let mut finder = PairFinder::new();
    let expected = finder.find(Set::from(Circles::new(&x, &y, 1.0)).layers(layers)).unwrap().pairs().to_vec();
    assert_eq!(expected.len(), 3);

    let bodies = RawSet { radius: one(&1.0_f32), ..circles(&x, &y, &[]) };
    let set = RawSet { category: column(&category), mask: column(&mask), group: column(&group), ..bodies };
    assert_eq!(Own::new(2).find(&input(&[set])), Ok(expected.clone()));

    let structs: Vec<[i32; 3]> = (0..4).map(|i| [group[i], category[i] as i32, mask[i] as i32]).collect();
    let field = |at: usize| Column { stride: 12, ..column(&structs[0][at..]) };
    let set = RawSet { category: field(1), mask: field(2), group: field(0), ..bodies };
    assert_eq!(Own::new(2).find(&input(&[set])), Ok(expected));

    let nobody = RawSet { mask: one(&0_u32), ..bodies };
    assert_eq!(Own::new(2).find(&input(&[nobody])), Ok(vec![]));
}

#[test]
fn owned_atoms_and_ghosts_meet_as_a_table_says() {
    let (x, y, radius) = (numbers(3000, 3), numbers(3000, 4), vec![1.0; 3000]);
    let owned = 2000;
    let all = expected(&x, &y, &radius);
    let mut within = 0;
    let mut across = 0;
    for [a, b] in all {
        within += usize::from(a < owned && b < owned);
        across += usize::from(a < owned && b >= owned);
    }
    let part = |range: core::ops::Range<usize>| circles(&x[range.clone()], &y[range.clone()], &radius[range]);
    let (sets, table) = ([part(0..2000), part(2000..3000)], [1_u8, 1, 0, 0]);
    let among = Input { relation: Relation::Among as i32, table: table.as_ptr(), ..input(&sets) };
    let finder = Own::new(2);
    assert_eq!(finder.find(&among).map(|pairs| pairs.len()), Ok(within + across));
    for (i, j, wanted) in [(0, 0, within), (0, 1, across), (1, 1, 0), (7, 9, 0)] {
        let mut pairs = no_pairs();
        // SAFETY: handle and place are valid.
        assert_eq!(unsafe { jostle_pairs_between(finder.0, i, j, &raw mut pairs) }, Status::Ok);
        assert_eq!(pairs.count, wanted, "sets {i} and {j}");
    }
}

#[test]
fn lists_are_those_of_rust() {
    let (x, y) = (numbers(3000, 5), numbers(3000, 6));
    let mut wanted = NeighborLists::with_distances().and_vectors();
    let bodies = Circles::new(&x, &y, 0.0).within(2.0);
    PairFinder::new().neighbors(bodies, engine::Rows::Full, &mut wanted).unwrap();

    let (finder, mut lists, mut out) = (Own::new(2), null_mut::<Lists>(), no_neighbors());
    let sets = [RawSet { radius: ABSENT, cutoff: 2.0, ..circles(&x, &y, &[]) }];
    // SAFETY: the places are valid; all that the input leads to outlives the calls; so many numbers are lent.
    unsafe {
        assert_eq!(jostle_lists_new(JOSTLE_LISTS_DISTANCES2 | JOSTLE_LISTS_VECTORS, &raw mut lists), Status::Ok);
        let rows = Rows::Full as i32;
        assert_eq!(jostle_neighbors_find(finder.0, &input(&sets), rows, lists, &raw mut out), Status::Ok);
        assert_eq!((out.rows, out.count), (3000, wanted.neighbors().len()));
        assert_eq!(core::slice::from_raw_parts(out.offsets, 3001), wanted.offsets());
        assert_eq!(core::slice::from_raw_parts(out.ids, out.count), wanted.neighbors());
        assert_eq!(core::slice::from_raw_parts(out.distances2, out.count), wanted.distances2());
        assert_eq!(core::slice::from_raw_parts(out.vectors.cast::<[f64; 2]>(), out.count), wanted.vectors::<2>());
        assert!(out.distances2_double.is_null() && out.image_shifts.is_null());
        jostle_lists_free(lists);
    }
}

#[test]
fn lists_with_a_margin_hold_until_a_body_has_moved_too_far() {
    let (finder, y) = (Own::new(2), [0.0_f32; 2]);
    let of = |x: &[f32; 2], margin| RawSet { margin, ..circles(x, &y, &[0.5; 2]) };
    assert_eq!(finder.find(&input(&[of(&[0.0, 1.5], 0.5)])), Ok(vec![[0, 1]]));
    for (x, holds) in [(0.25, 1), (0.75, 0)] {
        let (x, mut valid) = ([x, 1.5], -1);
        // SAFETY: all that the input leads to outlives the call.
        assert_eq!(unsafe { jostle_still_valid(finder.0, &input(&[of(&x, 0.5)]), &raw mut valid) }, Status::Ok);
        assert_eq!(valid, holds);
    }
}

unsafe extern "C" fn keep_pair(user: *mut c_void, a: u32, b: u32) {
    // SAFETY: `user` is what `jostle_for_each_pair` was given.
    unsafe { &*user.cast::<Mutex<Vec<[u32; 2]>>>() }.lock().unwrap().push([a, b]);
}

unsafe extern "C" fn in_order(_host: *mut c_void, tasks: usize, task: Task, data: *mut c_void) {
    // More tasks than there are: a task beyond the last does nothing.
    for number in (0..tasks + 2).rev() {
        // SAFETY: task and data are what was passed.
        unsafe { task.unwrap()(data, number) }
    }
}

unsafe extern "C" fn on_threads(_host: *mut c_void, tasks: usize, task: Task, data: *mut c_void) {
    let (task, data) = (task.unwrap(), data.addr());
    std::thread::scope(|scope| {
        for number in 0..tasks {
            // SAFETY: task and data are what was passed; this function waits for all tasks.
            scope.spawn(move || unsafe { task(core::ptr::with_exposed_provenance_mut(data), number) });
        }
    });
}

#[test]
fn all_threads_find_the_same() {
    let (x, y, radius) = (numbers(60_000, 7), numbers(60_000, 8), vec![0.2; 60_000]);
    let (expected, sets) = (expected(&x, &y, &radius), [circles(&x, &y, &radius)]);
    let finder = Own::new(2);
    let host = |run| Host { size: size_of::<Host>(), workers: 3, run: Some(run), host: null_mut() };
    let (ordered, spread) = (host(in_order), host(on_threads));
    for kind in 0..5 {
        let mut threads = null_mut::<Threads>();
        // SAFETY: the places are valid; all that the input and the visitor lead to outlives the calls.
        unsafe {
            let made = match kind {
                0 => Status::Ok,
                1 => jostle_threads_serial(&raw mut threads),
                2 => jostle_threads_pool(3, &raw mut threads),
                3 => jostle_threads_host(&raw const ordered, &raw mut threads),
                _ => jostle_threads_host(&raw const spread, &raw mut threads),
            };
            assert_eq!(made, Status::Ok);
            assert_eq!(crate::finder::jostle_finder_set_threads(finder.0, threads), Status::Ok);
            jostle_threads_free(threads);
            assert_eq!(finder.find(&input(&sets)).as_ref(), Ok(&expected), "threads {kind}");
            let (mut count, visited) = (0, Mutex::new(Vec::<[u32; 2]>::new()));
            assert_eq!(jostle_count(finder.0, &input(&sets), &raw mut count), Status::Ok);
            assert_eq!(count, expected.len() as u64);
            let user = (&raw const visited).cast_mut().cast();
            assert_eq!(jostle_for_each_pair(finder.0, &input(&sets), Some(keep_pair), user), Status::Ok);
            let (mut visited, mut sorted) = (visited.into_inner().unwrap(), expected.clone());
            visited.sort_unstable();
            sorted.sort_unstable();
            assert!(visited == sorted, "visited on threads {kind}");
        }
    }
}
