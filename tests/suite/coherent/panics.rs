//! Hosts that panic within a frame. Nothing of that frame is kept.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jostle::{CoherentFinder, NeighborLists, PairFinder, Rows, Threads};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::{Kind, Scene, scene};

use crate::panics::{Host, are_whole};

/// The host panics before or after the tasks of a call, while bodies that have moved far are searched from scratch.
/// When the bodies are back, the pairs are those of a search.
#[test]
fn nothing_is_kept_of_a_search_that_panics() {
    let near: Scene<2> = scene::scene(Kind::Dense, 31_000, 3);
    let mut far = near.clone();
    far.centers[0].iter_mut().zip(0..).for_each(|(x, id)| *x += (id % 7) as f32);
    let expected = ascending(PairFinder::new().find(near.view()).expect("sound bodies").pairs());
    for (call, late) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let mut finder = CoherentFinder::new();
        for _ in 0..3 {
            finder.find(near.view()).expect("sound bodies");
        }
        assert!(finder.margin() > 0.0);
        let host = Host::at(call - 1, late);
        let search = catch_unwind(AssertUnwindSafe(|| {
            finder.on(Threads::Host(&host)).find(far.view()).expect("sound bodies");
        }));
        assert_same("back", &ascending(finder.find(near.view()).expect("sound bodies").pairs()), &expected);
        if search.is_ok() {
            assert!(call > 4, "{call} calls");
            return;
        }
    }
}

/// The same while bodies that hardly move are listed anew, or while their list is kept, for pairs or for rows.
#[test]
fn nothing_is_kept_of_a_list_that_panics() {
    let start: Scene<2> = scene::scene(Kind::Uniform, 31_000, 3);
    let frames = [0.0_f32, 0.001, 0.002, 0.003].map(|step| {
        let mut scene = start.clone();
        scene.centers[0].iter_mut().zip(0..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * step);
        scene
    });
    let (mut scratch, mut expected) = (PairFinder::new(), NeighborLists::new());
    let mut lists = NeighborLists::with_distances();
    let expected_pairs = ascending(scratch.find(frames[3].view()).expect("sound bodies").pairs());
    scratch.neighbors(frames[3].view(), Rows::Full, &mut expected).expect("sound bodies");
    for (anew, of_rows) in [(true, false), (true, true), (false, false), (false, true)] {
        for call in 1.. {
            let late = call % 2 == 0;
            let mut finder = CoherentFinder::new();
            let ask = |finder: &mut CoherentFinder<2>, lists: &mut NeighborLists, threads, scene: &Scene<2>| {
                let search = finder.on(threads);
                if of_rows {
                    search.neighbors(scene.view(), Rows::Full, lists).expect("sound bodies");
                } else {
                    search.find(scene.view()).expect("sound bodies");
                }
            };
            frames[..3].iter().for_each(|scene| ask(&mut finder, &mut lists, Threads::Current, scene));
            assert!(finder.margin() > 0.0);
            if anew {
                finder.forget();
            }
            let host = Host::at(call - 1, late);
            let search =
                catch_unwind(AssertUnwindSafe(|| ask(&mut finder, &mut lists, Threads::Host(&host), &frames[3])));
            assert!(are_whole(&lists), "{call} {late}");
            ask(&mut finder, &mut lists, Threads::Current, &frames[3]);
            if of_rows {
                assert!(
                    lists.neighbors() == expected.neighbors() && lists.offsets() == expected.offsets(),
                    "{call} {late}"
                );
            } else {
                assert_same("back", &ascending(finder.last().pairs()), &expected_pairs);
            }
            if search.is_ok() {
                assert!(call > 3, "{call} calls");
                break;
            }
        }
    }
}

/// The caller's test panics in a frame of rows whose list is kept. The caller's lists are as they were, with the distances
/// that belong to their ids, and the next frame is right.
#[test]
fn lists_stand_when_the_test_panics() {
    let mut scene: Scene<2> = scene::scene(Kind::Dense, 2_000, 3);
    let (mut finder, mut lists) = (CoherentFinder::new(), NeighborLists::with_distances());
    let mut go_on = || {
        scene.centers[0].iter_mut().zip(0..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.003);
        scene.clone()
    };
    for _ in 0..8 {
        finder.neighbors(go_on().view(), Rows::Full, &mut lists).expect("sound bodies");
    }
    let (scene, before) = (go_on(), lists.clone());
    assert!(finder.margin() > 0.0);
    let search = catch_unwind(AssertUnwindSafe(|| {
        let search = finder.only(&|_, _| panic!("of the caller"));
        search.neighbors(scene.view(), Rows::Full, &mut lists).map(drop)
    }));
    assert!(search.is_err());
    assert!(lists.offsets() == before.offsets() && lists.neighbors() == before.neighbors());
    assert!(lists.distances2() == before.distances2());
    let mut expected = NeighborLists::with_distances();
    PairFinder::new().neighbors(scene.view(), Rows::Full, &mut expected).expect("sound bodies");
    finder.neighbors(scene.view(), Rows::Full, &mut lists).expect("sound bodies");
    assert!(lists.neighbors() == expected.neighbors() && lists.distances2() == expected.distances2());
}
