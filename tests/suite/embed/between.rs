//! Two sets: views, trees, and one of each; few against many, giants, and nothing at all.

use jostle::{Bodies, Input, InputError, PairFinder, Threads, between};
use jostle_testkit::pairs::Calls;
use jostle_testkit::{Kind, Scene, scene};

use crate::embed::oracle::{
    Pairs, across, across_large, ascending, assert_same, bodies, dealt, large_scenes, scenes, tree_of,
};
use crate::embed::ways::{Way, Ways};

/// From so many bodies of the large set for each body of the small one on, the small set's bodies descend alone.
const SPARSE: usize = 64;

/// Checks that views and trees give `expected` (ascending) in one order, and returns that order.
fn check<const D: usize>(ways: &mut Ways<D>, name: &str, [a, b]: [Bodies<'_, D>; 2], expected: &[[u32; 2]]) -> Pairs {
    let trees = [a, b].map(tree_of);
    let sequence = ways.same(name, |way| way.search().find(between(a, b)).expect(name).pairs().to_vec());
    assert_same(name, &ascending(&sequence), expected);
    for among in [between(&trees[0], b), between(a, &trees[1]), between(&trees[0], &trees[1])] {
        let again = ways.by_turns(|way| way.search().find(among).expect(name).pairs().to_vec());
        assert!(again == sequence, "{name}, {D}D: another order with a tree");
    }
    let turned = ways.by_turns(|way| way.finder.find_between(b, &trees[0]).expect(name).pairs().to_vec());
    let turned: Pairs = turned.into_iter().map(|[b, a]| [a, b]).collect();
    assert_same(name, &ascending(&turned), expected);
    check_without_list(ways, name, between(a, b), &sequence);
    sequence
}

/// Checks counts, visits and folds.
fn check_without_list<const D: usize>(ways: &mut Ways<D>, name: &str, among: Input<'_, D>, sequence: &[[u32; 2]]) {
    let count = ways.by_turns(|way| way.search().count(among).expect(name));
    assert_eq!(count, sequence.len() as u64, "{name}");
    let visited = ways.by_turns(|way| {
        let visited = Calls::default();
        let stats = way.search().for_each_pair(among, |a, b| visited.push(a, b)).expect(name);
        assert_eq!(stats.pairs, count, "{name}");
        visited.into_pairs()
    });
    assert_same(name, &ascending(&visited), &ascending(sequence));
    let folded = ways.by_turns(|way| {
        let merge = |mut left: Pairs, mut right: Pairs| {
            left.append(&mut right);
            left
        };
        way.search().fold(among, Vec::new, |all, a, b| all.push([a, b]), merge).expect(name)
    });
    assert!(folded == sequence, "{name}, {D}D: another order of a fold");
}

fn small_scenes<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in scenes(700) {
        let [a, b] = dealt(&scene);
        check(&mut ways, &name, [a.view(), b.view()], &across(a.view(), b.view()));
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

fn a_set_with_itself<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in scenes(300).filter(|(_, scene)| scene.len() <= 1_000) {
        let expected = across(scene.view(), scene.view());
        let sequence = check(&mut ways, &name, [scene.view(); 2], &expected);
        let tree = tree_of(scene.view());
        let once = ways.same(&name, |way| way.search().find(between(&tree, &tree)).expect("a tree").pairs().to_vec());
        assert!(once == sequence, "{name}: another order with the same tree twice");
        let within = ways.by_turns(|way| way.search().find(&tree).expect("a tree").pairs().to_vec());
        let ascending_within: Pairs = expected.iter().copied().filter(|[a, b]| a < b).collect();
        assert_same(&name, &ascending(&within), &ascending_within);
        let of_view = ways.same(&name, |way| way.search().find(scene.view()).expect("a view").pairs().to_vec());
        assert!(within == of_view, "{name}: another order within a tree");
    }
}

#[test]
fn a_set_with_itself_in_2d() {
    a_set_with_itself::<2>();
}

#[test]
fn a_set_with_itself_in_3d() {
    a_set_with_itself::<3>();
}

fn large<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for (name, scene) in large_scenes() {
        let [a, b] = dealt(&scene);
        check(&mut ways, &name, [a.view(), b.view()], &across_large(&a, &b));
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

#[test]
fn nothing_meets_nothing() {
    let mut ways = Ways::<2>::all();
    let (none, some) = (scene::scene(Kind::Dense, 0, 1), scene::scene(Kind::Dense, 300, 1));
    for [a, b] in [[&none, &none], [&some, &none], [&none, &some], [&some, &some], [&none, &some]] {
        check(&mut ways, "empty sets", [a.view(), b.view()], &across(a.view(), b.view()));
    }
}

/// Returns some bodies of a scene, with their radii in another order.
fn some_of<const D: usize>(scene: &Scene<D>, n: usize) -> Scene<D> {
    let step = scene.len() / n;
    (0..n).map(|at| (scene.view().center(at * step), scene.view().radius(scene.len() - 1 - at * step))).collect()
}

fn few_and_many<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for kind in [Kind::Uniform, Kind::PowerLaw] {
        let many = scene::scene::<D>(kind, 50_000, 4);
        let tree = tree_of(many.view());
        for n in [1, 10, 700] {
            let few = some_of(&many, n);
            let (name, expected) = (format!("{n} and many, {kind}"), across(few.view(), many.view()));
            let find = |among| move |way: &mut Way<D>| way.search().find(among).expect("sets").pairs().to_vec();
            let sequence = ways.same(&name, find(between(few.view(), &tree)));
            assert_same(&name, &ascending(&sequence), &expected);
            let turned = ways.same(&name, find(between(&tree, few.view())));
            assert!(turned.into_iter().map(|[a, b]| [b, a]).eq(sequence), "{name}: another order");
        }
        let few = some_of(&many, 10);
        let expected = across(few.view(), many.view());
        check(&mut ways, "ten and a view of many", [few.view(), many.view()], &expected);
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

/// Tests both sides of the limit from which on bodies descend alone.
fn sparse_and_not<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for kind in Kind::ALL {
        let many = scene::scene::<D>(kind, 100 * SPARSE, 5);
        for n in [99, 100, 101] {
            let few = some_of(&many, n);
            check(&mut ways, &format!("{n}, {kind}"), [few.view(), many.view()], &across(few.view(), many.view()));
        }
    }
}

#[test]
fn sparse_and_not_in_2d() {
    sparse_and_not::<2>();
}

#[test]
fn sparse_and_not_in_3d() {
    sparse_and_not::<3>();
}

/// Tests giants in either set, few and many, and sets out of each other's reach.
fn giants_and_distance<const D: usize>() {
    let mut ways = Ways::<D>::all();
    let crowd = scene::scene::<D>(Kind::Uniform, 3_000, 6);
    let side = scene::world::<D>(Kind::Uniform, 3_000);
    for n in [3, 40, 2_000] {
        let reach = side / (n as f32).sqrt();
        let some = some_of(&crowd, n);
        let giants = bodies(&some).enumerate();
        let giants: Scene<D> = giants.map(|(id, (p, r))| (p, if id % 3 == 0 { reach } else { r * 0.01 })).collect();
        let expected = across(giants.view(), crowd.view());
        check(&mut ways, &format!("{n} giants"), [giants.view(), crowd.view()], &expected);
        let far: Scene<D> = bodies(&giants).map(|(p, r)| (p.map(|x| x + 1e6), r)).collect();
        check(&mut ways, &format!("{n} far away"), [far.view(), crowd.view()], &[]);
    }
}

#[test]
fn giants_and_distance_in_2d() {
    giants_and_distance::<2>();
}

#[test]
fn giants_and_distance_in_3d() {
    giants_and_distance::<3>();
}

#[test]
fn bad_bodies_in_either_set_leave_the_last_result() {
    let good = scene::scene::<2>(Kind::Dense, 300, 7);
    let bad: Scene<2> = bodies(&good).map(|(p, r)| (p, if r > 0.9 { f32::NAN } else { r })).collect();
    let mut finder = PairFinder::new();
    let expected = finder.find_between(good.view(), good.view()).expect("good sets").pairs().to_vec();
    let fault = jostle_testkit::oracle::check(bad.view()).map_err(InputError::from).unwrap_err();
    assert!(matches!(fault, InputError::Bodies { .. }));
    let (good_set, bad_set) = (good.view(), bad.view());
    for (sets, first) in [([good_set, bad_set], 1), ([bad_set, good_set], 0), ([bad_set, bad_set], 0)] {
        let error = finder.on(Threads::Serial).find(between(sets[0], sets[1])).map(drop).unwrap_err();
        assert_eq!(error.by_set(), (Some(first), &fault));
        assert_eq!(error.to_string(), format!("set {first}: {fault}"));
        assert!(finder.last().pairs() == expected);
    }
    let again = finder.find_between(good.view(), good.view()).expect("good sets").pairs().to_vec();
    assert!(again == expected);
}
