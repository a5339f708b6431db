//! Margins and fixed distances: the radii that they make, and for how long a list with a margin holds all pairs.

use core::array::from_fn;

use jostle::{
    Bodies, Circles, InputError, LinearTree, NeighborLists, PairFinder, Rows, Skin, Threads, ViewError, between,
};
use jostle_testkit::lists::Lists;
use jostle_testkit::{Kind, Scene, oracle, pool, scene, within};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::embed::neighbors::fill;
use crate::embed::oracle::{Pairs, across, ascending, assert_same, bodies, both_ways, small_scenes, tree_of};
use crate::embed::ways::Ways;

/// Checks pairs and rows of a view, or its refusal. `expected` is ascending.
fn check<const D: usize>(ways: &mut Ways<D>, name: &str, view: Bodies<'_, D>, expected: Result<Pairs, ViewError>) {
    let found = ways.same(name, |way| way.search().find(view).map(|found| found.pairs().to_vec()));
    match expected {
        Err(error) => assert_eq!(found, Err(error.into()), "{name}"),
        Ok(expected) => {
            assert_same(name, &ascending(&found.expect(name)), &expected);
            let rows = Lists::of([view; 2], &both_ways(&expected));
            assert!(ways.by_turns(|way| fill(way, view.into(), Rows::Full, name)) == rows, "{name}, {D}D");
        }
    }
}

/// Returns the pairs of a scene whose radii are changed by a function.
fn pairs_by<const D: usize>(scene: &Scene<D>, radius: impl Fn(f32) -> f32) -> Pairs {
    let changed: Scene<D> = bodies(scene).map(|(p, r)| (p, radius(r))).collect();
    oracle::pairs(changed.view())
}

/// Returns a length that adds a few pairs, for scenes of any scale.
fn typical<const D: usize>(scene: &Scene<D>) -> f32 {
    let widest = scene.radii.iter().copied().fold(0.0, f32::max);
    let gap = bodies(scene).zip(bodies(scene).skip(1)).map(|((p, _), (q, _))| oracle::distance2(p, q).sqrt());
    if widest > 0.0 { widest } else { gap.fold(1.0, f32::min) }
}

fn margins<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in small_scenes(300) {
        for part in [0.1, 1.0] {
            let margin = part * typical(&scene);
            let view = scene.view().with_margin(margin);
            let expected = oracle::check(view).map(|()| pairs_by(&scene, |r| r + margin));
            check(&mut ways, &format!("{name}, margin {margin}"), view, expected);
        }
    }
}

#[test]
fn margins_in_2d() {
    margins::<2>();
}

#[test]
fn margins_in_3d() {
    margins::<3>();
}

fn distances<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in small_scenes(300) {
        for part in [0.0, 0.3, 1.7] {
            let distance = part * typical(&scene);
            let view = scene.view().with_margin(3.0).within(distance);
            // Twice the half is the whole, except where squares vanish.
            let expected = oracle::check(view).map(|()| pairs_by(&scene, |_| 0.5 * distance));
            check(&mut ways, &format!("{name}, within {distance}"), view, expected);
        }
    }
}

#[test]
fn distances_in_2d() {
    distances::<2>();
}

#[test]
fn distances_in_3d() {
    distances::<3>();
}

#[test]
fn margins_between_sets() {
    let [a, b] = [1, 2].map(|seed| scene::scene::<3>(Kind::Uniform, 600, seed));
    let mut ways = Ways::<3>::all();
    for margins in [[0.3, 0.0], [0.0, 0.4], [0.2, 0.1]] {
        let [a, b] = [a.view().with_margin(margins[0]), b.view().with_margin(margins[1])];
        let tree = tree_of(b);
        for among in [between(a, b), between(a, &tree)] {
            let found = ways.same("margins", |way| ascending(way.search().find(among).expect("sets").pairs()));
            assert_same("margins", &found, &across(a, b));
        }
    }
}

#[test]
fn bad_margins_and_distances_are_refused() {
    let scene = scene::scene::<2>(Kind::Dense, 300, 1);
    let mut finder = PairFinder::new();
    let last = finder.find(scene.view()).expect("a sound scene").pairs().to_vec();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -f32::MIN_POSITIVE] {
        let view = scene.view().with_margin(bad);
        let refused = |error: Option<InputError>| match error.as_ref().map(|error| error.by_set().1) {
            Some(InputError::View(ViewError::Margin { margin })) => margin.to_bits() == f64::from(bad).to_bits(),
            _ => false,
        };
        assert!(refused(finder.on(Threads::Serial).find(view).err()), "{bad}");
        assert!(refused(finder.count(between(scene.view(), view)).err()), "{bad}");
        assert!(refused(finder.neighbors(view, Rows::Full, &mut NeighborLists::new()).err()), "{bad}");
        assert!(refused(LinearTree::new().build(view, Threads::Serial).err().map(Into::into)), "{bad}");
        assert!(matches!(finder.find(scene.view().within(bad)), Err(InputError::Bodies { count: 300, .. })), "{bad}");
        assert!(finder.last().pairs() == last);
    }
    assert!(finder.find(scene.view().with_margin(-0.0)).is_ok_and(|found| found.pairs() == last));
}

/// Returns the bodies moved and grown.
fn moved<const D: usize>(scene: &Scene<D>, changed: impl Fn(usize, [f32; D], f32) -> ([f32; D], f32)) -> Scene<D> {
    bodies(scene).enumerate().map(|(id, (p, r))| changed(id, p, r)).collect()
}

fn validity<const D: usize>() {
    let scene = scene::scene::<D>(Kind::Uniform, 20_000, 1);
    let pool = pool(3);
    let (mut finder, mut skin) = (PairFinder::new(), Skin::default());
    assert!(!finder.still_valid(scene.view()), "nothing was kept");
    finder.find(scene.view().with_margin(0.5)).expect("a sound scene");
    within(&pool, || skin.keep(scene.view().with_margin(0.5))).expect("a sound scene");
    let valid = |changed: &dyn Fn(usize, [f32; D], f32) -> ([f32; D], f32)| {
        let scene = moved(&scene, changed);
        let valid = finder.still_valid(scene.view());
        assert_eq!(within(&pool, || finder.still_valid(scene.view())), valid);
        assert_eq!(skin.still_valid(scene.view()), valid);
        valid
    };
    let along = |axis: usize, by: f32, p: [f32; D]| from_fn(|k| if k == axis { p[k] + by } else { p[k] });
    assert!(valid(&|_, p, r| (p, r)) && valid(&|_, p, r| (p, r * 0.5)));
    assert!(valid(&|id, p, r| (along(id % D, if id % 2 == 0 { 0.499 } else { -0.499 }, p), r)));
    assert!(valid(&|_, p, r| (p, r + 0.499)) && valid(&|_, p, r| (along(0, 0.2, p), r + 0.2)));
    for one in [0, 7_777, 19_999] {
        let only = |by: f32, grown: f32| {
            valid(&move |id, p, r| if id == one { (along(one % D, by, p), r + grown) } else { (p, r) })
        };
        assert!(only(0.499, 0.0) && only(0.0, 0.499) && only(-0.25, 0.249), "{one}");
        assert!(!only(0.501, 0.0) && !only(-0.501, 0.0) && !only(0.0, 0.501) && !only(0.4, 0.2) && !only(-9.0, 0.0));
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!only(bad, 0.0), "{bad}");
        }
        assert!(!only(0.0, f32::NAN) && !only(0.0, f32::INFINITY));
    }
    let fewer: Scene<D> = bodies(&scene).skip(1).collect();
    assert!(!finder.still_valid(fewer.view()));
    let columns = scene.centers.each_ref().map(Vec::as_slice);
    assert!(!finder.still_valid(Bodies::from_slices(columns, &scene.radii[1..])));
    assert!(!finder.still_valid(scene.view().with_margin(f32::NAN)));
    for threads in [Threads::Serial, Threads::Pool(&pool)] {
        assert!(finder.on(threads).still_valid(scene.view()) && !finder.on(threads).still_valid(fewer.view()));
    }
    assert!(finder.find(fewer.view()).is_ok() && finder.still_valid(scene.view()), "no margin, no list to keep");
}

#[test]
fn validity_in_2d() {
    validity::<2>();
}

#[test]
fn validity_in_3d() {
    validity::<3>();
}

#[test]
fn a_margin_lost_in_rounding_is_valid_while_nothing_moves() {
    let (x, y) = ([1e7, 1e7 + 1.0], [0.0; 2]);
    let mut skin = Skin::default();
    skin.keep(Circles::new(&x, &y, 1e7).with_margin(0.25)).expect("a sound scene");
    assert!(
        skin.keep(Circles::new(&x, &[], 1.0)).is_err()
            && skin.keep(Circles::new(&x, &y, 1.0).with_margin(-1.0)).is_err()
    );
    assert!(skin.still_valid(Circles::new(&x, &y, 1e7)) && skin.still_valid(Circles::new(&x, &y, 1e6)));
    assert!(!skin.still_valid(Circles::new(&x, &[0.0, 0.01], 1e7)));
}

/// A body, and how it moves and grows, in parts of the margin.
type Moving = (([f32; 3], f32), ([f32; 3], f32));

fn moving() -> impl Strategy<Value = (Vec<Moving>, f32)> {
    let scale = prop_oneof![Just(1.0), Just(1e-6), Just(1e5), (60..90).prop_map(|k| 0.5_f32.powi(k))];
    let place = prop_oneof![3 => Just(0.0), 1 => Just(1e3_f32)];
    let coordinate = || prop_oneof![-2.0_f32..2.0, (-3_i32..4).prop_map(|x| x as f32)];
    let radius = prop_oneof![Just(0.0_f32), Just(0.5), 0.0_f32..0.5];
    let step = || prop_oneof![2 => Just(0.0_f32), 1 => Just(1.0), 1 => Just(-1.0), 1 => Just(0.5), 2 => -1.0_f32..1.0];
    let body = ([coordinate(), coordinate(), coordinate()], radius);
    let change = ([step(), step(), step()], prop_oneof![3 => Just(0.0_f32), 1 => -1.0_f32..0.4]);
    let margin = prop_oneof![0.0_f32..1.0, Just(1.0), Just(0.01)];
    let reach = prop_oneof![Just(1.0_f32), Just(0.57), 0.0_f32..1.0];
    (vec((body, change), 2..30), margin, scale, place, reach).prop_map(|(bodies, margin, scale, place, reach)| {
        let margin = margin * scale;
        let scaled = |((p, r), (by, grown)): Moving| {
            let change = (by.map(|x| x * reach * margin), grown * reach * margin);
            ((p.map(|x: f32| (x + place) * scale), r * scale), change)
        };
        (bodies.into_iter().map(scaled).collect(), margin)
    })
}

/// As long as a list is said to be valid, it misses no pair.
fn lists_hold_all_pairs<const D: usize>(bodies: &[Moving], margin: f32) {
    let axes = |p: [f32; 3]| from_fn::<f32, D, _>(|axis| p[axis]);
    let before: Scene<D> = bodies.iter().map(|&((p, r), _)| (axes(p), r)).collect();
    let change = |id: usize| bodies[id].1;
    let after = moved(&before, |id, p, r| (from_fn(|axis| p[axis] + change(id).0[axis]), (r + change(id).1).max(0.0)));
    let mut finder = PairFinder::new();
    let list = ascending(finder.find(before.view().with_margin(margin)).expect("a sound scene").pairs());
    let missing = |pair: &&[u32; 2]| list.binary_search(*pair).is_err();
    if margin > 0.0 && finder.still_valid(after.view()) {
        let now = oracle::pairs(after.view());
        assert_eq!(now.iter().find(missing), None, "{D}D, {before:?} to {after:?}, margin {margin}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn valid_lists_hold_all_pairs((bodies, margin) in moving()) {
        lists_hold_all_pairs::<2>(&bodies, margin);
        lists_hold_all_pairs::<3>(&bodies, margin);
    }
}
