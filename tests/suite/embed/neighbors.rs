//! Neighbour lists: rows, their order, and squared distances, against rows made from the pairs of a plain loop.

use jostle::{Bodies, Circles, Input, InputError, NeighborLists, PairFinder, Rows, Set, Space, Threads, between};
use jostle_testkit::lists::Lists;
use jostle_testkit::{Kind, Scene, oracle, scene, sweep};

use crate::embed::oracle::{Random, across, across_large, bodies, both_ways, dealt, large_scenes, scenes, tree_of};
use crate::embed::ways::{Way, Ways};

/// Fills a way's lists with distances, and returns their contents.
pub(crate) fn fill<const D: usize>(way: &mut Way<D>, among: Input<'_, D>, rows: Rows, name: &str) -> Lists {
    let threads = way.threads();
    let stats = way.finder.on(threads).neighbors(among, rows, &mut way.lists_with_distances).expect(name);
    let lists = Lists::found(&way.lists_with_distances);
    assert_eq!(stats.pairs, lists.neighbors.len() as u64, "{name}");
    lists
}

/// Checks the lists without distances.
fn check_plain<const D: usize>(ways: &mut Ways<D>, name: &str, among: Input<'_, D>, rows: Rows, expected: &Lists) {
    let found = ways.by_turns(|way| {
        let threads = way.threads();
        way.finder.on(threads).neighbors(among, rows, &mut way.lists).expect(name);
        Lists::found(&way.lists)
    });
    assert!(found.distances2.is_empty(), "{name}: distances that nobody asked for");
    assert!(found.neighbors == expected.neighbors && found.offsets == expected.offsets, "{name}, {D}D: other rows");
}

/// Checks rows within a view and within its tree. `pairs` is ascending.
fn check_within<const D: usize>(ways: &mut Ways<D>, name: &str, view: Bodies<'_, D>, pairs: &[[u32; 2]]) {
    let (tree, half, full) = (tree_of(view), Lists::of([view; 2], pairs), Lists::of([view; 2], &both_ways(pairs)));
    let found = ways.same(name, |way| fill(way, view.into(), Rows::Full, name));
    assert!(found == full, "{name}, {D}D: other rows than expected");
    for (among, rows, expected) in
        [(view.into(), Rows::Half, &half), ((&tree).into(), Rows::Half, &half), ((&tree).into(), Rows::Full, &full)]
    {
        let found = ways.by_turns(|way| fill(way, among, rows, name));
        assert!(&found == expected, "{name}, {D}D, {rows:?}: other rows than expected");
    }
    check_plain(ways, name, view.into(), Rows::Full, &full);
    check_plain(ways, name, view.into(), Rows::Half, &half);
}

/// Checks rows of the first of two sets, which are the same whether half or full rows are asked for.
fn check_between<const D: usize>(ways: &mut Ways<D>, name: &str, [a, b]: [Bodies<'_, D>; 2], pairs: &[[u32; 2]]) {
    let (trees, expected) = ([a, b].map(tree_of), Lists::of([a, b], pairs));
    let found = ways.same(name, |way| fill(way, between(a, b), Rows::Full, name));
    assert!(found == expected, "{name}, {D}D: other rows than expected between views");
    for among in [between(&trees[0], b), between(a, &trees[1]), between(&trees[0], &trees[1])] {
        let found = ways.by_turns(|way| fill(way, among, Rows::Half, name));
        assert!(found == expected, "{name}, {D}D: other rows than expected with a tree");
    }
    check_plain(ways, name, between(a, b), Rows::Full, &expected);
}

fn small_scenes<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in scenes(700) {
        check_within(&mut ways, &name, scene.view(), &oracle::pairs(scene.view()));
        let [a, b] = dealt(&scene).map(|part| bodies(&part).skip(part.len().saturating_sub(800)).collect::<Scene<D>>());
        for [a, b] in [[&a, &b], [&b, &a]] {
            check_between(&mut ways, &name, [a.view(), b.view()], &across(a.view(), b.view()));
        }
    }
}

#[test]
fn small_scenes_in_2d() {
    small_scenes::<2>();
}

#[test]
fn small_scenes_in_3d() {
    small_scenes::<3>();
}

/// Tests rows within every other scene, in 3D those that 2D leaves out, and rows between the parts of the other scenes.
fn large<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for (turn, (name, scene)) in large_scenes().enumerate() {
        if turn % 2 == D % 2 {
            let pairs = sweep::pairs(scene.view());
            check_within(&mut ways, &name, scene.view(), &pairs);
        } else {
            let [a, b] = dealt(&scene);
            check_between(&mut ways, &name, [b.view(), a.view()], &across_large(&b, &a));
        }
    }
}

#[test]
fn large_scenes_in_2d() {
    large::<2>();
}

#[test]
fn large_scenes_in_3d() {
    large::<3>();
}

/// Tests rows of few bodies among many, where each body descends alone, and of many among few.
fn few_and_many<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for kind in [Kind::Uniform, Kind::PowerLaw] {
        let many = scene::scene::<D>(kind, 20_000, 8);
        for n in [1, 10, 300] {
            let few: Scene<D> = bodies(&many).step_by(20_000 / n).map(|(p, r)| (p, 2.0 * r)).collect();
            for [a, b] in [[&few, &many], [&many, &few]] {
                let name = format!("{} and {}, {kind}", a.len(), b.len());
                check_between(&mut ways, &name, [a.view(), b.view()], &across(a.view(), b.view()));
            }
        }
    }
}

#[test]
fn few_and_many_in_2d() {
    few_and_many::<2>();
}

#[test]
fn few_and_many_in_3d() {
    few_and_many::<3>();
}

/// The same finders and lists serve all sizes.
#[test]
fn growing_and_shrinking() {
    let mut ways = Ways::<2>::all();
    let empty = scene::scene(Kind::Dense, 0, 1);
    for n in [0, 2_000, 10, 0, 1, 3_000, 17, 256, 0, 9_000, 300] {
        let scene = scene::scene(Kind::Dense, n, 1);
        let pairs = crate::embed::oracle::ascending(PairFinder::new().find(scene.view()).expect("a scene").pairs());
        check_within(&mut ways, &format!("n = {n}"), scene.view(), &pairs);
        check_between(&mut ways, &format!("n = {n} and none"), [scene.view(), empty.view()], &[]);
        check_between(&mut ways, &format!("none and n = {n}"), [empty.view(), scene.view()], &[]);
    }
}

/// Tests rows about the lengths at which another way to sort begins, with ids in no order.
#[test]
fn rows_of_every_length() {
    let mut ways = Ways::<2>::all();
    let mut random = Random(1);
    for n in (1..70).chain([100, 400]) {
        let mut places: Vec<_> = (0..n).map(|id| (random.next(), [id as f32 * 1e-3, 0.0])).collect();
        places.sort_by_key(|&(key, _)| key);
        let scene: Scene<2> = places.into_iter().map(|(_, place)| (place, 1.0)).collect();
        check_within(&mut ways, &format!("{n} in a heap"), scene.view(), &oracle::pairs(scene.view()));
    }
}

/// Giants, whose rows take several chunks of memory, stand beside thousands of short rows.
#[test]
fn rows_of_thousands() {
    let dust = (0..9_000).map(|id| ([(id * 37 % 9_000) as f32, 0.0], 0.6));
    let giants = [([2_000.0, 1.0], 1_800.0), ([7_000.0, -1.0], 1_100.0), ([4_500.0, 0.0], 4_000.0)];
    let scene: Scene<2> = dust.chain(giants).collect();
    let pairs = oracle::pairs(scene.view());
    check_within(&mut Ways::few(), "giants over a line of dust", scene.view(), &pairs);
}

#[test]
fn a_refusal_leaves_the_lists_as_they_were() {
    let good = scene::scene::<2>(Kind::Dense, 500, 2);
    let bad: Scene<2> = bodies(&good).map(|(p, r)| (p, if r > 0.9 { -r } else { r })).collect();
    let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
    finder.neighbors(good.view(), Rows::Full, &mut lists).expect("a sound scene");
    let before = Lists::found(&lists);
    let short = Circles::new(&[0.0], &[], 1.0);
    for among in [bad.view().into(), between(good.view(), bad.view()), between(bad.view(), good.view()), short.into()] {
        let error = finder.on(Threads::Serial).neighbors(among, Rows::Half, &mut lists).expect_err("bad bodies");
        assert!(matches!(error.by_set().1, InputError::Bodies { .. } | InputError::View(_)));
        assert!(Lists::found(&lists) == before);
    }
}

#[test]
fn a_clone_of_lists_keeps_its_rows() {
    let scenes = [500, 300].map(|n| scene::scene::<2>(Kind::Dense, n, 2));
    let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
    finder.neighbors(scenes[0].view(), Rows::Full, &mut lists).expect("a sound scene");
    let (copy, before) = (lists.clone(), Lists::found(&lists));
    finder.neighbors(scenes[1].view(), Rows::Half, &mut lists).expect("a sound scene");
    assert!(Lists::found(&copy) == before && Lists::found(&lists) != before && !before.distances2.is_empty());
}

#[test]
fn lists_of_nothing() {
    let mut lists = NeighborLists::new();
    assert!(lists.is_empty() && lists.offsets() == [0]);
    PairFinder::new().neighbors(Circles::new(&[], &[], 1.0), Rows::Full, &mut lists).expect("no body is at fault");
    assert!(lists.is_empty() && lists.offsets() == [0] && lists.neighbors().is_empty());
}

/// To decide when two bodies first touch takes longer than all else. So no two are decided on from both sides, however
/// long rows are.
#[test]
fn rows_of_bodies_that_move_take_no_more_tests_than_their_pairs() {
    let crowd: Vec<f32> = (0..600_u32).map(|id| (id * 7_919 % 601) as f32 * 0.03).collect();
    let by: Vec<f32> = crowd.iter().rev().map(|x| x * 0.1).collect();
    let moving = Set::from(Circles::new(&crowd, &by, 1.0)).moving([&by, &crowd]);
    for space in [Space::open(), Space::periodic([Some([0.0, 19.0]), Some([0.0, 3.0])])] {
        let (input, mut finder) = (Input::within(moving).space(space), PairFinder::new());
        let pairs = *finder.on(Threads::Serial).find(input).expect("circles").stats();
        assert!(pairs.pairs > 20_000, "{pairs:?}");
        for kind in [Rows::Half, Rows::Full] {
            let rows = finder.on(Threads::Serial).neighbors(input, kind, &mut NeighborLists::new()).expect("circles");
            assert_eq!((rows.leaf_tests, rows.circle_tests), (pairs.leaf_tests, pairs.circle_tests), "{space:?}");
        }
    }
}
