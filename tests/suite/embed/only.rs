//! Tests of the caller's own are asked once about each pair, as it stands in the list.

use jostle::{Input, Rows, between};
use jostle_testkit::lists::Lists;
use jostle_testkit::pairs::Calls;
use jostle_testkit::{Kind, Scene, oracle, scene};

use crate::embed::layers::{Layering, meet, set};
use crate::embed::oracle::{
    Pairs, across, ascending, assert_same, both_ways, dealt, large_scenes, small_scenes, tree_of,
};
use crate::embed::ways::{Way, Ways};

/// Accepts some pairs, and others if the two ids change places.
fn wanted(a: u32, b: u32) -> bool {
    (a.wrapping_mul(3) ^ b.wrapping_mul(7)) % 5 < 3
}

fn of_wanted(pairs: &[[u32; 2]]) -> Pairs {
    pairs.iter().copied().filter(|&[a, b]| wanted(a, b)).collect()
}

/// Returns what a search came to, and the pairs that its test was asked about, ascending.
fn asked<R, const D: usize>(way: &mut Way<D>, search: impl FnOnce(jostle::Search<'_, '_, D>) -> R) -> (R, Pairs) {
    let asked = Calls::default();
    let test = |a, b| {
        asked.push(a, b);
        wanted(a, b)
    };
    let result = search(way.search().only(&test));
    (result, ascending(&asked.into_pairs()))
}

/// Checks that the test is asked once about each of `expected` (ascending), and that the wanted pairs are found.
fn check<const D: usize>(ways: &mut Ways<D>, name: &str, among: Input<'_, D>, expected: &[[u32; 2]]) {
    let wanted = of_wanted(expected);
    let (found, all) = ways.same(name, |way| asked(way, |search| search.find(among).expect(name).pairs().to_vec()));
    assert_same(name, &all, expected);
    assert_same(name, &ascending(&found), &wanted);
    let (count, all) = ways.by_turns(|way| asked(way, |search| search.count(among).expect(name)));
    assert_same(name, &all, expected);
    assert_eq!(count, wanted.len() as u64, "{name}");
    let concat = |mut left: Pairs, right: Pairs| {
        left.extend(right);
        left
    };
    let push = |all: &mut Pairs, a, b| all.push([a, b]);
    let (folded, all) = ways.by_turns(|way| asked(way, |it| it.fold(among, Vec::new, push, concat).expect(name)));
    assert_same(name, &all, expected);
    assert!(folded == found, "{name}, {D}D: another order of a fold");
}

fn every_scene<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in small_scenes::<D>(350) {
        let pairs = oracle::pairs(scene.view());
        check(&mut ways, &name, scene.view().into(), &pairs);
        let layering = Layering::of(scene.len(), 1);
        let met: Pairs = pairs.into_iter().filter(|&pair| meet([Some(&layering); 2], pair)).collect();
        check(&mut ways, &name, set(scene.view(), Some(&layering)).into(), &met);
        let [a, b] = &dealt(&scene);
        let (layering, tree) = (Layering::of(a.len(), 2), tree_of(a.view()));
        let pairs = across(a.view(), b.view());
        check(&mut ways, &name, between(&tree, b.view()), &pairs);
        let met: Pairs = pairs.into_iter().filter(|&pair| meet([Some(&layering), None], pair)).collect();
        check(&mut ways, &name, between(set(a.view(), Some(&layering)), b.view()), &met);
        let turned: Pairs = ascending(&met.iter().map(|&[a, b]| [b, a]).collect::<Pairs>());
        check(&mut ways, &name, between(b.view(), set(&tree, Some(&layering))), &turned);
    }
}

#[test]
fn every_scene_in_2d() {
    every_scene::<2>();
}

#[test]
fn every_scene_in_3d() {
    every_scene::<3>();
}

/// Tests every other scene, in 3D those that 2D leaves out. Several threads find what they find without a test, in that
/// order, less what the test rejects.
fn large<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for (name, scene) in large_scenes::<D>().skip(D % 2).step_by(2) {
        let [a, b] = &dealt(&scene);
        for among in [scene.view().into(), between(a.view(), b.view())] {
            let all = ways.by_turns(|way| way.search().find(among).expect("sets").pairs().to_vec());
            let found = ways.same(&name, |way| asked(way, |it| it.find(among).expect("sets").pairs().to_vec()));
            assert!(found.0 == of_wanted(&all), "{name}, {D}D: other pairs, or another order");
            assert_same(&name, &found.1, &ascending(&all));
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

/// Rows ask about a pair as it stands in a list of pairs, whichever body the row is of, and maybe a second time.
fn rows<const D: usize>(scene: &Scene<D>) {
    let mut ways = Ways::<D>::all();
    let (view, pairs) = (scene.view(), oracle::pairs(scene.view()));
    let wanted = of_wanted(&pairs);
    for (kind, directed) in [(Rows::Half, wanted.clone()), (Rows::Full, both_ways(&wanted))] {
        let expected = Lists::of([view; 2], &directed);
        let found = ways.same("rows", |way| asked_for_rows(way, view.into(), kind));
        assert!(found == (expected, pairs.clone()), "{kind:?}");
    }
    let [a, b] = &dealt(scene);
    for [a, b] in [[a, b], [b, a]] {
        let pairs = across(a.view(), b.view());
        let expected = Lists::of([a.view(), b.view()], &of_wanted(&pairs));
        let found = ways.same("rows", |way| asked_for_rows(way, between(a.view(), b.view()), Rows::Full));
        assert!(found == (expected, pairs));
    }
}

fn asked_for_rows<const D: usize>(way: &mut Way<D>, among: Input<'_, D>, rows: Rows) -> (Lists, Pairs) {
    let mut lists = core::mem::take(&mut way.lists_with_distances);
    let (_, mut all) = asked(way, |search| search.neighbors(among, rows, &mut lists).expect("sets"));
    all.dedup();
    let found = Lists::found(&lists);
    way.lists_with_distances = lists;
    (found, all)
}

#[test]
fn rows_of_wanted_pairs() {
    rows(&scene::scene::<2>(Kind::Dense, 900, 7));
    rows(&scene::scene::<3>(Kind::PowerLaw, 900, 7));
}
