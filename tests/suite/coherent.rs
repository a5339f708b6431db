//! Coherent frames, for all kinds of input. Each frame has the pairs that a search from scratch finds, in an order that
//! no thread and no instruction set changes.

mod beside;
mod course;
mod crowded;
mod drift;
mod kinds;
mod many_sets;
mod panics;
mod stand_ins;
mod strays;
mod transitions;

use std::panic::{AssertUnwindSafe, catch_unwind};

use jostle::{
    Circles, Circles64, CoherentFinder, Input, InputError, Layers, NeighborLists, PairFinder, Rows, Set, Spheres,
    Threads,
};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::tree::validate;
use jostle_testkit::{Kind, Scene, scene};

/// So many bodies that no cache near a core holds them. They are read by id where few meet, by rank where many do.
#[test]
fn bodies_that_no_cache_holds_have_the_same_pairs() {
    for kind in [Kind::PowerLaw, Kind::Dense] {
        let mut scene: Scene<2> = scene::scene(kind, 80_000, 3);
        let (mut finder, mut rows, mut scratch) = (CoherentFinder::new(), CoherentFinder::new(), PairFinder::new());
        let (mut lists, mut expected_lists) = (NeighborLists::new(), NeighborLists::new());
        for _ in 0..4 {
            scene.centers[0].iter_mut().zip(0..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.001);
            let expected = ascending(scratch.find(scene.view()).expect("sound bodies").pairs());
            assert_same("frame", &ascending(finder.find(scene.view()).expect("sound bodies").pairs()), &expected);
            let rows_of = if kind == Kind::PowerLaw { Rows::Half } else { Rows::Full };
            rows.neighbors(scene.view(), rows_of, &mut lists).expect("sound bodies");
            scratch.neighbors(scene.view(), rows_of, &mut expected_lists).expect("sound bodies");
            assert!(lists.neighbors() == expected_lists.neighbors() && lists.offsets() == expected_lists.offsets());
        }
        assert!(finder.rebuilds() < 4 && rows.rebuilds() < 4);
    }
}

/// Rows of each frame are those of a search from scratch, whatever lists they are asked for in: in the lists of the
/// last frame, filled by nobody since or by somebody else, copied or taken apart; in two lists by turns; or in new
/// lists.
#[test]
fn rows_may_be_asked_for_in_any_lists() {
    for way in 0..6 {
        let mut scene: Scene<2> = scene::scene(Kind::Dense, 2_000, 9);
        let (mut finder, mut other, mut expected) = (CoherentFinder::new(), PairFinder::new(), NeighborLists::new());
        let mut lists = [(); 2].map(|()| NeighborLists::new());
        for frame in 0..20 {
            for (axis, column) in scene.centers.iter_mut().enumerate() {
                column.iter_mut().zip(axis..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.004);
            }
            match way {
                1 => lists.reverse(),
                2 => lists[0] = NeighborLists::new(),
                3 if frame % 3 == 1 => {
                    let _ = other.neighbors(scene.view().within(0.1), Rows::Full, &mut lists[0]).expect("sound bodies");
                }
                4 => lists[0] = NeighborLists::from(core::mem::take(&mut lists[0]).into_columns()),
                5 => lists[0] = lists[0].clone(),
                _ => {}
            }
            other.neighbors(scene.view(), Rows::Full, &mut expected).expect("sound bodies");
            finder.neighbors(scene.view(), Rows::Full, &mut lists[0]).expect("sound bodies");
            assert!(lists[0].offsets() == expected.offsets(), "way {way}, frame {frame}");
            assert!(lists[0].neighbors() == expected.neighbors(), "way {way}, frame {frame}");
        }
        assert!(finder.rebuilds() < 8, "{} rebuilds, way {way}", finder.rebuilds());
    }
}

/// A list of pairs does not serve for rows, nor one of rows for pairs, so lists of a finder that is asked for both by
/// turns never pay.
#[test]
fn lists_that_never_serve_are_made_seldom() {
    let (scene, mut finder, mut rows) =
        (scene::scene::<2>(Kind::Dense, 700, 3), CoherentFinder::new(), NeighborLists::new());
    let mut lists = 0;
    for _ in 0..100 {
        finder.find(scene.view()).expect("sound bodies");
        lists += u32::from(finder.margin() > 0.0);
        finder.neighbors(scene.view(), Rows::Full, &mut rows).expect("sound bodies");
        lists += u32::from(finder.margin() > 0.0);
    }
    assert!((1..20).contains(&lists), "{lists} lists in 200 frames");
}

/// Whatever ends a list in every other frame: the caller, a limit, or a panic of the caller's test.
#[test]
fn lists_that_are_dropped_before_they_pay_are_made_seldom() {
    let scene = scene::scene::<2>(Kind::Dense, 700, 3);
    for way in 0..3 {
        let (mut finder, mut lists) = (CoherentFinder::new(), 0);
        for frame in 0..200 {
            let is_dropped = frame % 2 == 1;
            if way == 0 && is_dropped {
                finder.forget();
            }
            finder.set_max_pairs(if way == 1 && is_dropped { 5 } else { usize::MAX });
            let test = |_, _| if way == 2 && is_dropped { panic!("of the caller") } else { true };
            let search = if way == 2 { finder.only(&test) } else { finder.on(Threads::Serial) };
            let found = catch_unwind(AssertUnwindSafe(|| search.find(scene.view()).map(drop)));
            assert_eq!(matches!(found, Ok(Ok(()))), way == 0 || !is_dropped);
            lists += u32::from(finder.margin() > 0.0);
        }
        assert!((1..20).contains(&lists), "{lists} lists in 200 frames, way {way}");
    }
}

/// A list may keep eight times as many candidates as the finder may list pairs. Where the caller's test drops so many
/// that no list can be made, few frames try.
#[test]
fn lists_that_cannot_be_made_are_tried_seldom() {
    let scene = scene::scene::<2>(Kind::Dense, 2_000, 3);
    let test = |a: u32, b: u32| (a ^ b).is_multiple_of(64);
    let expected = ascending(PairFinder::new().only(&test).find(scene.view()).expect("sound bodies").pairs());
    let (mut finder, mut tried) = (CoherentFinder::new(), 0);
    finder.set_max_pairs(expected.len());
    for _ in 0..200 {
        let found = finder.only(&test).find_recorded(scene.view());
        let (found, recording) = found.expect("so many pairs as it may list");
        assert!(ascending(found.pairs()) == expected);
        tried += u32::from(recording.regions.iter().filter(|region| region.name == "join").count() > 1);
        assert_eq!(finder.margin(), 0.0);
    }
    assert!((1..20).contains(&tried), "{tried} of 200 frames");
}

/// No list can be made of bodies so small that rounding leaves nothing of a margin. Rows that a test of the caller's
/// has passed are counted without the neighbours that it has dropped, as ever.
#[test]
fn rows_are_counted_where_no_list_can_be_made() {
    let test = |a: u32, b: u32| (a ^ b).is_multiple_of(3);
    let (mut x, radii) = (core::array::from_fn::<f32, 16, _>(|id| id as f32 * 1e-30), [1e-30; 16]);
    let (mut finder, mut lists) = (CoherentFinder::<2>::new(), NeighborLists::new());
    for frame in 0..20 {
        for kind in [Rows::Full, Rows::Half] {
            let circles = Circles::new(&x, &radii, &radii);
            let stats = finder.only(&test).neighbors(circles, kind, &mut lists).expect("sound bodies");
            assert_eq!(stats.pairs, lists.neighbors().len() as u64, "frame {frame}, {kind:?}");
        }
        x.iter_mut().for_each(|x| *x += 1e-32);
    }
}

#[test]
fn in_space_bodies_may_come_and_go() {
    let mut scene: Scene<3> = scene::scene(Kind::Uniform, 3_000, 5);
    let (mut finder, mut scratch) = (CoherentFinder::new(), PairFinder::new());
    for frame in 0..30 {
        for column in &mut scene.centers {
            column.iter_mut().zip(0..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.002);
            column.truncate(if frame > 20 { 2_900 } else { 3_000 });
        }
        scene.radii.truncate(scene.centers[0].len());
        let mut found = finder.find(scene.view()).expect("sound bodies").pairs().to_vec();
        let mut expected = scratch.find(scene.view()).expect("sound bodies").pairs().to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected, "frame {frame}");
    }
    assert!(finder.rebuilds() < 10, "{} of 30 frames were searched from scratch", finder.rebuilds());
}

#[test]
fn a_frame_that_is_not_sound_is_refused_and_the_last_one_stands() {
    let (mut x, y) = ([0.0, 1.0, 5.0], [0.0; 3]);
    let mut finder = CoherentFinder::new();
    for _ in 0..4 {
        x[0] += 0.001;
        finder.find(Circles::new(&x, &y, 1.0)).expect("sound bodies");
    }
    assert!(finder.margin() > 0.0);
    let refused = finder.find(Circles::new(&[0.0, f32::NAN, 5.0], &y, 1.0)).map(|found| found.pairs().len());
    assert!(matches!(refused, Err(InputError::Bodies { count: 1, ref first }) if first[0].0 == 1), "{refused:?}");
    assert_eq!(finder.last().pairs(), [[0, 1]]);
    validate(finder.last().tree()).expect("a tree as it was");
    for radius in [-1.0, f32::NAN] {
        assert!(finder.find(Circles::new(&x, &y, &[1.0, 1.0, radius])).is_err(), "a radius of {radius}");
    }
    let spheres = Spheres::new(&x, &y, &y, 1.0).with_margin(0.5);
    assert!(matches!(CoherentFinder::new().find(spheres), Err(InputError::Combination { .. })));
    assert_eq!(finder.find(Circles::new(&x, &y, 1.0)).expect("sound bodies").pairs(), [[0, 1]]);
}

/// One body as large as the sky does not widen the margin of all others so far that each may meet each.
#[test]
fn a_giant_among_bodies_at_rest_widens_no_margin() {
    let category = vec![1_u32; 8_200];
    for (giant, others) in [(1e18, 0.0), (1e18, 0.6), (1e9, 0.6), (1e6, 0.6)] {
        let at = |divisor: u32| (0..8_200).map(|id| (id / divisor % 64) as f32).collect();
        let mut scene = Scene::<2> { centers: [at(1), at(64)], radii: vec![others; 8_200] };
        scene.radii[0] = giant;
        let (mut finder, mut scratch) = (CoherentFinder::<2>::new(), PairFinder::<2>::new());
        for frame in 0..4 {
            let set = Set::from(scene.view()).layers(Layers::new(&category, 1));
            let expected = ascending(scratch.find(scene.view()).expect("sound bodies").pairs());
            let found = finder.find(set).expect("sound bodies");
            assert_eq!(ascending(found.pairs()), expected, "frame {frame}");
            let [bytes, beside] = [found.stats().bytes, scratch.last().stats().bytes];
            assert!(bytes < 16 * beside, "{bytes} held, frame {frame}; {beside} from scratch");
        }
    }
}

/// Frames in `f32` and in `f64` come by turns, a few of each in succession. Candidates of the one kind tell nothing of
/// bodies of the other.
#[test]
fn frames_of_another_kind_are_searched() {
    let near: Scene<2> = scene::scene(Kind::Dense, 600, 5);
    let mut far = near.clone();
    far.centers[0].iter_mut().zip(0..).for_each(|(x, id)| *x += (id % 7) as f32);
    let doubled = |column: &[f32]| column.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let [x, y] = far.centers.each_ref().map(|column| doubled(column));
    let (radii, mut finder, mut scratch) = (doubled(&far.radii), CoherentFinder::new(), PairFinder::new());
    let none = Circles::new(&[], &[], 1.0);
    for frame in 0..20 {
        let (single, double) = (Input::from(near.view()), Input::from(Circles64::new(&x, &y, &radii)));
        let input = if frame == 17 { none.into() } else { [single, double][frame / 4 % 2] };
        let expected = ascending(scratch.find(input).expect("sound bodies").pairs());
        let found = ascending(finder.find(input).expect("sound bodies").pairs());
        assert_same(&format!("frame {frame}"), &found, &expected);
    }
    assert!(finder.rebuilds() < 17, "{} rebuilds", finder.rebuilds());
}

/// Bodies as large as allowed, to which no margin can be added, are searched in each frame.
#[test]
fn bodies_that_a_margin_would_make_too_large_are_searched() {
    let (x, y) = ([0.0, 1.0, 2.0], [0.0; 3]);
    let bodies = Circles::new(&x, &y, 1.15e18);
    let (mut pairs, mut rows, mut lists) = (CoherentFinder::new(), CoherentFinder::new(), NeighborLists::new());
    for _ in 0..5 {
        assert_eq!(pairs.find(bodies).expect("sound bodies").pairs().len(), 3);
        assert_eq!(rows.neighbors(bodies, Rows::Full, &mut lists).expect("sound bodies").pairs, 6);
        assert_eq!(lists.of(1), [0, 2]);
    }
    assert_eq!([pairs.rebuilds(), rows.rebuilds()], [5; 2]);
}
