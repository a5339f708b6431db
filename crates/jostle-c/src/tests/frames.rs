//! Coherent frames, contact geometry, tests of the host's, and visitors of hits.

use std::ffi::c_void;
use std::sync::Mutex;

use engine::{Circles, CoherentFinder, NeighborLists, PairFinder, contacts, contacts_f64};

use super::searches::numbers;
use super::*;
use crate::finder::{
    Frames, jostle_finder_bytes, jostle_finder_forget, jostle_finder_frames, jostle_finder_new_coherent,
};
use crate::geometry::{ContactGeometry, jostle_contact_geometry_of, jostle_find_contact_geometry};
use crate::lists::{Rows, jostle_lists_free, jostle_lists_new, jostle_neighbors_find};
use crate::search::{
    Hit, ImageShifts, jostle_count, jostle_find_image_shifts, jostle_for_each_hit, jostle_pairs_between,
    jostle_still_valid,
};

fn coherent() -> Own {
    let mut finder = null_mut();
    // SAFETY: the place is valid.
    assert_eq!(unsafe { jostle_finder_new_coherent(2, &raw mut finder) }, Status::Ok);
    Own(finder)
}

unsafe extern "C" fn odd_sum(user: *mut c_void, a: u32, b: u32) -> i32 {
    assert!(user.is_null());
    ((a + b) % 2).cast_signed()
}

fn is_odd(a: u32, b: u32) -> bool {
    !(a + b).is_multiple_of(2)
}

#[test]
fn frames_are_those_of_rust_and_seldom_from_scratch() {
    let (mut x, y, radius) = (numbers(3000, 11), numbers(3000, 12), vec![0.6; 3000]);
    let (pairs, rows) = (coherent(), coherent());
    let (mut wanted, mut wanted_rows) = (CoherentFinder::new(), CoherentFinder::new());
    let (mut lists, mut expected) = (null_mut(), NeighborLists::new());
    let mut frames = Frames { size: size_of::<Frames>(), rebuilds: 0, margin: 0.0 };
    // SAFETY: the place is valid.
    assert_eq!(unsafe { jostle_lists_new(0, &raw mut lists) }, Status::Ok);
    for frame in 0..6 {
        x.iter_mut().for_each(|x| *x += 0.001 * (frame as f32));
        let (sets, circles) = ([circles(&x, &y, &radius)], Circles::new(&x, &y, &radius));
        let input = input(&sets);
        assert_eq!(pairs.find(&input), Ok(wanted.find(circles).unwrap().pairs().to_vec()));
        wanted_rows.neighbors(circles, engine::Rows::Full, &mut expected).unwrap();
        let mut out = no_neighbors();
        // SAFETY: all that the input leads to outlives the calls; so many numbers are lent.
        unsafe {
            let found = jostle_neighbors_find(rows.0, &raw const input, Rows::Full as i32, lists, &raw mut out);
            assert_eq!(found, Status::Ok);
            assert_eq!(core::slice::from_raw_parts(out.ids, out.count), expected.neighbors());
            assert_eq!(jostle_finder_frames(pairs.0, &raw mut frames), Status::Ok);
        }
        assert_eq!((frames.rebuilds, frames.margin), (wanted.rebuilds(), wanted.margin()));
    }
    assert!(frames.rebuilds < 6);
    let (sets, before) = ([circles(&x, &y, &radius)], frames.rebuilds);
    // SAFETY: the handles are valid.
    unsafe {
        assert_eq!(jostle_finder_forget(pairs.0), Status::Ok);
        assert!(pairs.find(&input(&sets)).is_ok());
        assert_eq!(jostle_finder_frames(pairs.0, &raw mut frames), Status::Ok);
        jostle_lists_free(lists);
    }
    assert_eq!(frames.rebuilds, before + 1);
}

#[test]
fn frames_do_not_count_and_other_finders_have_none() {
    let (frames, finder, sets) = (coherent(), Own::new(2), [circles(&[0.0], &[0.0], &[1.0])]);
    let (input, mut count, mut valid) = (input(&sets), 0, 0);
    let mut out = Frames { size: size_of::<Frames>(), rebuilds: 0, margin: 0.0 };
    // SAFETY: the handles are valid, and all that the input leads to outlives the calls.
    unsafe {
        assert_eq!(jostle_count(frames.0, &raw const input, &raw mut count), Status::Combination);
        assert!(frames.message().contains("jostle_finder_new"), "{}", frames.message());
        assert_eq!(jostle_still_valid(frames.0, &raw const input, &raw mut valid), Status::Combination);
        assert_eq!(jostle_finder_frames(finder.0, &raw mut out), Status::Combination);
        assert_eq!(jostle_finder_forget(finder.0), Status::Combination);
        assert_eq!(jostle_finder_new_coherent(1, &mut null_mut()), Status::Dimensions);
    }
    let grown = [RawSet { margin: 1.0, ..sets[0] }];
    assert_eq!(frames.find(&super::input(&grown)), Err(Status::Combination));
    assert_eq!(frames.find(&input), Ok(vec![]));
}

#[test]
fn a_test_of_the_host_keeps_pairs_of_every_answer() {
    let (x, y, radius) = (numbers(3000, 13), numbers(3000, 14), vec![0.8; 3000]);
    let circles_of_rust = Circles::new(&x, &y, &radius);
    let wanted = PairFinder::new().only(&is_odd).find(circles_of_rust).unwrap().pairs().to_vec();
    let (sets, mut lists, mut out) = ([circles(&x, &y, &radius)], null_mut(), no_neighbors());
    let input = Input { only: Some(odd_sum), ..input(&sets) };
    for finder in [Own::new(2), coherent(), coherent()] {
        let mut found = finder.find(&input).unwrap();
        let mut wanted = wanted.clone();
        wanted.sort_unstable();
        found.sort_unstable();
        assert!(!wanted.is_empty() && found == wanted);
        // SAFETY: all that the input leads to outlives the calls.
        unsafe {
            assert_eq!(jostle_lists_new(0, &raw mut lists), Status::Ok);
            let rows = jostle_neighbors_find(finder.0, &raw const input, Rows::Half as i32, lists, &raw mut out);
            assert_eq!((rows, out.count), (Status::Ok, wanted.len()));
            jostle_lists_free(lists);
        }
    }
    let (finder, mut count) = (Own::new(2), 0);
    // SAFETY: all that the input leads to outlives the call.
    assert_eq!(unsafe { jostle_count(finder.0, &raw const input, &raw mut count) }, Status::Ok);
    assert_eq!(count, wanted.len() as u64);
}

unsafe extern "C" fn not_of_one(user: *mut c_void, i: u32, j: u32, a: u32, b: u32) -> i32 {
    assert!(user.is_null() && i < j);
    i32::from(i == 0 || (a + b) % 2 == 1)
}

#[test]
fn a_test_of_the_host_may_know_the_sets() {
    let drawn =
        [(1000, 21), (700, 22), (900, 23)].map(|(n, seed)| (numbers(n, seed), numbers(n, seed + 7), vec![0.8; n]));
    let sets = drawn.each_ref().map(|(x, y, radius)| circles(x, y, radius));
    let table = [0, 1, 1, 0, 0, 1, 0, 0, 0_u8];
    let among = Input { relation: Relation::Among as i32, table: table.as_ptr(), ..input(&sets) };
    let input = Input { only_of_sets: Some(not_of_one), ..among };
    for finder in [Own::new(2), coherent(), coherent()] {
        finder.find(&input).unwrap();
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let [a, b] = [i, j].map(|set| Circles::new(&drawn[set].0, &drawn[set].1, &drawn[set].2));
            let keeps = |a: u32, b: u32| i == 0 || is_odd(a, b);
            let mut wanted = PairFinder::new().only(&keeps).find(engine::between(a, b)).unwrap().pairs().to_vec();
            let mut of = no_pairs();
            // SAFETY: the place is valid, and so many pairs are lent.
            let mut found = unsafe {
                assert_eq!(jostle_pairs_between(finder.0, i, j, &raw mut of), Status::Ok);
                core::slice::from_raw_parts(of.pairs, of.count).to_vec()
            };
            wanted.sort_unstable();
            found.sort_unstable();
            assert!(!wanted.is_empty() && found == wanted, "{i} and {j}");
        }
        assert_eq!(finder.find(&Input { only: Some(odd_sum), ..input }), Err(Status::Combination));
        assert!(finder.message().starts_with("only and only_of_sets are given"));
    }
}

unsafe extern "C" fn keep_hit(user: *mut c_void, hit: *const Hit) {
    // SAFETY: `user` is what `jostle_for_each_hit` was given; `hit` lives during the call.
    let (hits, hit) = unsafe { (&*user.cast::<Mutex<Vec<Hit>>>(), *hit) };
    hits.lock().unwrap().push(hit);
}

#[test]
fn hits_know_their_sets_and_images() {
    let (a, b, y) = ([9.5_f32], [0.0_f32, 5.0], [0.0_f32; 2]);
    let sets = [circles(&a, &y[..1], &[0.5]), circles(&b, &y, &[0.5; 2])];
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [10.0; 3], ..open() };
    let input = Input { space: &raw const space, ..input(&sets) };
    let (finder, hits) = (Own::new(2), Mutex::new(Vec::<Hit>::new()));
    let user = (&raw const hits).cast_mut().cast();
    // SAFETY: all that the input and the visitor lead to outlives the calls.
    unsafe {
        assert_eq!(jostle_for_each_hit(finder.0, &raw const input, Some(keep_hit), user), Status::Ok);
        assert_eq!(jostle_for_each_hit(finder.0, &raw const input, None, user), Status::NullPointer);
    }
    let (from, way) = ([3.0_f32], [2.0_f32]);
    let moving = RawSet { displacement: [column(&way), column(&y[..1]), ABSENT], ..circles(&from, &y[..1], &[0.5]) };
    let sets = [moving, sets[1]];
    let input = Input { sets: sets.as_ptr(), ..input };
    // SAFETY: as above.
    assert_eq!(unsafe { jostle_for_each_hit(finder.0, &raw const input, Some(keep_hit), user) }, Status::Ok);
    let hits = hits.into_inner().unwrap();
    let known = hits.iter().map(|hit| (hit.sets, hit.pair, hit.image_shift, hit.time_of_impact));
    assert!(known.eq([([0, 1], [0, 0], [1, 0, 0], 0.0), ([0, 1], [0, 1], [0, 0, 0], 0.5)]), "{hits:?}");
}

#[test]
fn contact_geometry_is_that_of_rust() {
    let (x, y, radius) = (numbers(2000, 15), numbers(2000, 16), numbers(2000, 17));
    let radius: Vec<f32> = radius.iter().map(|r| r / 80.0).collect();
    let (mut engine_finder, mut wanted, mut wanted_double) = (PairFinder::new(), Vec::new(), Vec::new());
    let circles_of_rust = engine::Input::within(Circles::new(&x, &y, &radius)).periodic([Some([0.0, 85.0]), None]);
    let found = engine_finder.find(circles_of_rust).unwrap();
    contacts(found, circles_of_rust, engine::Threads::Serial, &mut wanted).unwrap();
    contacts_f64(found, circles_of_rust, engine::Threads::Serial, &mut wanted_double).unwrap();

    let (finder, sets, mut out) = (Own::new(2), [circles(&x, &y, &radius)], no_geometry());
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [85.0; 3], ..open() };
    let periodic = Input { space: &raw const space, ..input(&sets) };
    let pairs = finder.find(&periodic).unwrap();
    let geometry = |number: Number, out: &mut ContactGeometry| {
        // SAFETY: all that the input leads to outlives the call.
        unsafe { jostle_find_contact_geometry(finder.0, &raw const periodic, number as i32, out) }
    };
    assert_eq!(geometry(Number::Float, &mut out), Status::Ok);
    assert_eq!((out.count, pairs.len()), (wanted.len(), wanted.len()));
    assert!(out.depths_double.is_null() && wanted.len() > 100);
    for (i, contact) in wanted.iter().enumerate() {
        // SAFETY: so many numbers are lent, `step` apart.
        let told = unsafe {
            let at = |first: *const f32| first.add(i * out.step);
            (*at(out.depths), *at(out.normals).cast::<[f32; 2]>(), *at(out.points).cast::<[f32; 2]>())
        };
        assert_eq!(told, (contact.depth, contact.normal, contact.point));
    }
    assert_eq!(geometry(Number::Double, &mut out), Status::Ok);
    for (i, contact) in wanted_double.iter().enumerate() {
        // SAFETY: as above.
        let told = unsafe {
            let at = |first: *const f64| first.add(i * out.step);
            (*at(out.depths_double), *at(out.normals_double).cast::<[f64; 2]>())
        };
        assert_eq!(told, (contact.depth, contact.normal));
    }
}

#[test]
fn contact_geometry_of_pairs_of_the_host() {
    let (finder, sets) = (Own::new(2), [circles(&[0.0, 3.0], &[0.0; 2], &[2.0, 1.5])]);
    let (input, mut out, pairs) = (input(&sets), no_geometry(), [[0_u32, 1], [0, 9]]);
    let mut of = |count| {
        // SAFETY: all that is passed outlives the call.
        let status = unsafe {
            jostle_contact_geometry_of(finder.0, pairs.as_ptr().cast(), count, &raw const input, 1, &raw mut out)
        };
        (status, out)
    };
    let (status, out) = of(1);
    // SAFETY: so many numbers are lent.
    assert_eq!((status, out.count, unsafe { *out.depths_double }), (Status::Ok, 1, 0.5));
    assert_eq!(of(2).0, Status::Contacts);
    assert_eq!(finder.error().first_count, 1);
    // SAFETY: all that is passed outlives the call.
    let unknown = unsafe { jostle_find_contact_geometry(finder.0, &raw const input, 7, &mut no_geometry()) };
    assert_eq!(unknown, Status::UnknownValue);
}

/// What the header promises of what a finder lends.
#[test]
fn pairs_shifts_and_geometry_stand_beside_each_other() {
    let (x, y, radius) = (numbers(2000, 18), numbers(2000, 19), vec![0.8; 2000]);
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [85.0; 3], ..open() };
    let (sets, mut pairs) = ([circles(&x, &y, &radius)], no_pairs());
    let (open, hits) = (input(&sets), Mutex::new(Vec::<Hit>::new()));
    let periodic = Input { space: &raw const space, ..open };
    let mut shifts = ImageShifts { size: size_of::<ImageShifts>(), count: 0, shifts: null() };
    for finder in [Own::new(2), coherent()] {
        let (mut geometry, mut part) = (no_geometry(), no_pairs());
        let (finder, user) = (finder.0, (&raw const hits).cast_mut().cast());
        // SAFETY: the handle is valid, and all that is passed outlives the calls; the lists are lent as they say.
        unsafe {
            let list = |pairs: &Pairs| core::slice::from_raw_parts(pairs.pairs, pairs.count).to_vec();
            assert_eq!(jostle_find(finder, &raw const periodic, &raw mut pairs), Status::Ok);
            let before = list(&pairs);
            assert_eq!(jostle_find_image_shifts(finder, &raw mut shifts), Status::Ok);
            let of = |shifts: &ImageShifts| core::slice::from_raw_parts(shifts.shifts, 2 * shifts.count).to_vec();
            let shifts_before = of(&shifts);
            assert!(shifts_before.iter().any(|&shift| shift != 0) && shifts.count == before.len());
            let told = jostle_find_contact_geometry(finder, &raw const periodic, 0, &raw mut geometry);
            assert_eq!((told, geometry.count), (Status::Ok, before.len()));
            let depth = *geometry.depths.add(9 * geometry.step);
            // These calls may be refused; they leave what was lent in any case.
            _ = jostle_count(finder, &raw const open, &mut 0);
            _ = jostle_for_each_hit(finder, &raw const open, Some(keep_hit), user);
            _ = jostle_still_valid(finder, &raw const open, &mut 0);
            assert_eq!(jostle_finder_bytes(finder, &mut 0), Status::Ok);
            assert_eq!(jostle_pairs_between(finder, 0, 0, &raw mut part), Status::Ok);
            assert_eq!((part.pairs, list(&pairs)), (pairs.pairs, before));
            assert_eq!((of(&shifts), *geometry.depths.add(9 * geometry.step)), (shifts_before, depth));

            // Pairs that a finder has lent go back into its own calls.
            let own = pairs.pairs.add(5).cast();
            let in_space = jostle_contact_geometry_of(finder, own, 3, &raw const periodic, 0, &raw mut geometry);
            assert_eq!(in_space, Status::Combination);
            assert_eq!(jostle_find(finder, &raw const open, &raw mut pairs), Status::Ok);
            let own = pairs.pairs.add(5).cast();
            let told = jostle_contact_geometry_of(finder, own, 3, &raw const open, 0, &raw mut geometry);
            assert_eq!((told, geometry.count), (Status::Ok, 3));
        }
    }
}

#[test]
fn contact_geometry_of_bodies_that_do_not_overlap_and_of_a_cutoff() {
    let sets = [circles(&[0.0, 0.0, 9.0], &[0.0; 3], &[2.0, 1.0, 1.0])];
    let (finder, pairs, mut out) = (Own::new(2), [[2_u32, 0], [0, 1]], no_geometry());
    let of = |set: &RawSet, out: &mut ContactGeometry| {
        let (double, pairs) = (Number::Double as i32, pairs.as_ptr().cast());
        // SAFETY: all that is passed outlives the call; so many numbers are lent.
        unsafe {
            let input = input(core::slice::from_ref(set));
            assert_eq!(jostle_contact_geometry_of(finder.0, pairs, 2, &raw const input, double, out), Status::Ok);
            [0, 1].map(|pair| {
                let at = |first: *const f64| first.add(pair * out.step);
                let axes = |first: *const f64| *at(first).cast::<[f64; 2]>();
                (*at(out.depths_double), axes(out.normals_double), axes(out.points_double))
            })
        }
    };
    // The gap between 2 and 8; then coincident centres.
    let [apart, same] = of(&sets[0], &mut out);
    assert_eq!((apart, same.0, same.1), ((0.0, [-1.0, 0.0], [5.0, 0.0]), 3.0, [1.0, 0.0]));
    let near = RawSet { cutoff: 10.0, ..sets[0] };
    assert_eq!(of(&near, &mut out)[0].0, 1.0);
}
