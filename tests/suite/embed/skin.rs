//! How long a list with a margin is said to hold, for every kind of search: up to the margin, not beyond, and never for
//! another search.

use core::array::from_fn;

use jostle::{ActivationTable, Bodies, Circles, Input, LinearTree, PairFinder, Set, Skin, Space, Threads, between};
use jostle_testkit::{Kind, Scene, scene};

use crate::embed::oracle::{Random, ascending, bodies, tree_of};

const WIDTH: f32 = 40.0;

const MARGIN: f32 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    View,
    Double,
    Periodic,
    Swept,
    Sets,
    WithTree,
    DoublePeriodic,
    Lattice,
    DoubleLattice,
    SweptInLattice,
}

const ALL: [Asked; 10] = [
    Asked::View,
    Asked::Double,
    Asked::Periodic,
    Asked::Swept,
    Asked::Sets,
    Asked::WithTree,
    Asked::DoublePeriodic,
    Asked::Lattice,
    Asked::DoubleLattice,
    Asked::SweptInLattice,
];

/// Returns a skewed cell, outside of which many bodies lie.
pub(super) fn lattice<const D: usize>(width: f64) -> Space<D> {
    let mut vectors = [[0.0; D]; D];
    (0..D).for_each(|k| (vectors[k][k], vectors[k][(k + D - 1) % D]) = (width, if k > 0 { -0.4 * width } else { 0.0 }));
    Space::lattice(vectors, [true; D])
}

/// Returns walls, which do not move.
fn walls<const D: usize>() -> LinearTree<D> {
    tree_of(scene::scene::<D>(Kind::Uniform, 300, 9).view())
}

/// Hands over the input of a scene, made in one way.
fn ask<R, const D: usize>(
    asked: Asked,
    scene: &Scene<D>,
    walls: &LinearTree<D>,
    margin: f32,
    with: impl FnOnce(Input<'_, D>) -> R,
) -> R {
    let view = scene.view().with_margin(margin);
    let columns = scene.centers.each_ref().map(Vec::as_slice);
    let half = scene.radii.len() / 2;
    match asked {
        Asked::View => with(view.into()),
        Asked::Double | Asked::DoublePeriodic | Asked::DoubleLattice => {
            let columns = columns.map(|column| column.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
            let radii: Vec<_> = scene.radii.iter().map(|&r| f64::from(r)).collect();
            let columns = columns.each_ref().map(Vec::as_slice);
            let bodies = Input::within(Bodies::from_slices(columns, &radii).with_margin(f64::from(margin)));
            with(match asked {
                Asked::DoublePeriodic => bodies.periodic([Some([0.0, WIDTH]); D]),
                Asked::DoubleLattice => bodies.space(lattice(WIDTH.into())),
                _ => bodies,
            })
        }
        Asked::Lattice => with(Input::within(view).space(lattice(WIDTH.into()))),
        Asked::Periodic => with(Input::within(view).periodic([Some([0.0, WIDTH]); D])),
        Asked::Swept | Asked::SweptInLattice => {
            let paths: [Vec<f32>; D] =
                from_fn(|axis| (0..view.len()).map(|id| ((id + axis) % 7) as f32 * 0.1).collect());
            let moving = Input::within(Set::from(view).moving(paths.each_ref().map(Vec::as_slice)));
            with(if asked == Asked::Swept { moving } else { moving.space(lattice(WIDTH.into())) })
        }
        Asked::Sets => {
            let part = |ids: core::ops::Range<usize>| {
                Bodies::from_slices(columns.map(|column| &column[ids.clone()]), &scene.radii[ids.clone()])
            };
            with(between(part(0..half).with_margin(margin), part(half..view.len()).with_margin(margin)))
        }
        Asked::WithTree => with(between(view, walls)),
    }
}

/// Returns bodies in a box that is small enough to be periodic.
fn start<const D: usize>(bodies: usize, seed: u64) -> Scene<D> {
    let mut random = Random(seed);
    let mut unit = move || random.below(1 << 20) as f32 / (1 << 20) as f32;
    (0..bodies).map(|_| (from_fn(|_| unit() * WIDTH), 0.2 + unit())).collect()
}

/// Returns the same bodies, each moved by so much in a direction of its own, and grown.
fn moved<const D: usize>(scene: &Scene<D>, by: impl Fn(usize) -> f32, grown: f32) -> Scene<D> {
    let direction = |id: usize| -> [f32; D] {
        let vector: [f32; D] = from_fn(|axis| ((id * 37 + axis * 11) % 19) as f32 - 9.0);
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
        vector.map(|x| x / length)
    };
    let step = |(id, (p, r)): (usize, ([f32; D], f32))| (from_fn(|k| p[k] + by(id) * direction(id)[k]), r + grown);
    bodies(scene).enumerate().map(step).collect()
}

fn thresholds<const D: usize>() {
    let (scene, walls) = (start::<D>(400, 1), walls::<D>());
    for asked in ALL {
        let (mut finder, mut skin) = (PairFinder::<D>::new(), Skin::<D>::default());
        ask(asked, &scene, &walls, MARGIN, |among| {
            finder.find(among).expect("a sound scene");
            skin.keep(among).expect("a sound scene");
        });
        let valid = |by: &dyn Fn(usize) -> f32, grown: f32| {
            ask(asked, &moved(&scene, by, grown), &walls, 0.0, |now| {
                assert_eq!(finder.still_valid(now), skin.still_valid(now), "{asked:?}");
                assert_eq!(finder.clone().still_valid(now), skin.still_valid(now), "{asked:?}");
                finder.still_valid(now)
            })
        };
        let (less, more) = (0.999 * MARGIN, 1.001 * MARGIN);
        assert!(valid(&|_| 0.0, 0.0) && valid(&|_| 0.0, -0.1), "{asked:?}, {D}D");
        assert!(
            valid(&|_| less, 0.0) && valid(&|_| 0.0, less) && valid(&|_| less / 2.0, less / 2.0),
            "{asked:?}, {D}D"
        );
        assert!(!valid(&|_| more, 0.0) && !valid(&|_| 0.0, more) && !valid(&|_| more / 2.0, more / 2.0), "{asked:?}");
        let one = |by: f32| valid(&move |id| if id == 77 { by } else { 0.0 }, 0.0);
        assert!(one(less) && !one(f32::NAN) && !one(f32::INFINITY), "{asked:?}, {D}D");
        // The other set may use the margin that one set does not.
        assert_eq!(one(more), asked == Asked::Sets, "{asked:?}, {D}D");
        assert!(!one(2.0 * more), "{asked:?}, {D}D");
    }
}

#[test]
fn every_list_holds_up_to_its_margin() {
    thresholds::<2>();
    thresholds::<3>();
}

#[test]
fn no_search_answers_for_another() {
    let (scene, walls) = (start::<2>(200, 2), walls::<2>());
    for kept in ALL {
        let mut finder = PairFinder::<2>::new();
        ask(kept, &scene, &walls, MARGIN, |among| finder.count(among).expect("a sound scene"));
        for asked in ALL {
            assert_eq!(
                ask(asked, &scene, &walls, 0.0, |now| finder.still_valid(now)),
                asked == kept,
                "{kept:?} {asked:?}"
            );
        }
        let narrower = Input::within(scene.view()).periodic([Some([0.0, WIDTH]), Some([0.0, 0.9 * WIDTH])]);
        let other_walls = tree_of(start::<2>(300, 9).view());
        assert!(!finder.still_valid(narrower) && !finder.still_valid(between(scene.view(), &other_walls)));
    }
}

#[test]
fn a_tree_is_the_same_until_it_is_built_again() {
    let scene = start::<2>(200, 3);
    let mut tree = tree_of(scene.view().with_margin(MARGIN));
    let mut finder = PairFinder::<2>::new();
    finder.find(&tree).expect("a tree");
    assert!(finder.still_valid(&tree) && !finder.still_valid(scene.view()));
    tree.build(scene.view().with_margin(MARGIN), Threads::Serial).expect("a sound scene");
    assert!(!finder.still_valid(&tree));
}

/// Bodies that meet a tree may use up the margin of the tree beside their own, and no more.
#[test]
fn a_tree_shares_its_margin() {
    let (x, y) = ([0.0, 10.0], [0.0, 0.0]);
    let mut tree = LinearTree::new();
    tree.build(Circles::new(&x, &y, 1.0).with_margin(MARGIN), Threads::Serial).expect("walls");
    for (own, space) in
        [0.0, 0.25, 1.0].into_iter().flat_map(|own| [Space::open(), lattice(20.0)].map(|in_| (own, in_)))
    {
        let both = MARGIN + own;
        let bodies = |at: f32, margin: f32, ask: &mut dyn FnMut(Input<'_, 2>)| {
            let x = [at];
            let bodies = Circles::new(&x, &[0.0], 1.0).with_margin(margin);
            ask(between(bodies, &tree).space(space));
            let (sets, table) = ([Set::from(&tree), bodies.into()], ActivationTable::none(2).with(0, 1).with(0, 0));
            ask(Input::among(&sets, &table).space(space));
        };
        bodies(2.01 + both, own, &mut |listed| {
            let mut finder = PairFinder::new();
            assert_eq!(finder.find(listed).expect("sound bodies").pairs(), [[0; 2]; 0]);
            let valid = |at: f32| {
                let mut answers = Vec::new();
                bodies(at, 0.0, &mut |now| answers.push(finder.still_valid(now)));
                answers.contains(&true)
            };
            assert!(valid(2.01 + both) && valid(2.01 + 0.001 * both) && valid(2.01 + 1.999 * both), "{own}, {space:?}");
            assert!(!valid(2.01 - 0.001 * both) && !valid(2.01 + 2.001 * both), "{own}, {space:?}");
        });
    }
}

/// Bodies of a tree stay where they are, but their displacements may change: by the margin, not by more.
#[test]
fn displacements_of_a_tree_may_change_by_its_margin() {
    let scene = start::<2>(300, 8);
    let tree = tree_of(scene.view().with_margin(MARGIN));
    let paths = |by: f32, of_one: f32| -> [Vec<f32>; 2] {
        let length = |id: usize| if id == 77 { of_one } else { by };
        // Along both axes at once, by 3 and 4 fifths.
        [0.6, 0.8].map(|part| (0..300).map(|id| (id % 5) as f32 * 0.25 + part * length(id)).collect())
    };
    for space in [Space::open(), Space::periodic([Some([0.0, WIDTH]), None]), lattice(WIDTH.into())] {
        let mut finder = PairFinder::<2>::new();
        let start = paths(0.0, 0.0);
        finder.find(Input::within(Set::from(&tree).moving(start.each_ref())).space(space)).expect("a tree");
        let valid = |by, of_one| {
            let now = paths(by, of_one);
            finder.still_valid(Input::within(Set::from(&tree).moving(now.each_ref())).space(space))
        };
        let (less, more) = (0.999 * MARGIN, 1.001 * MARGIN);
        assert!(valid(0.0, 0.0) && valid(less, 0.0) && valid(0.0, less) && valid(-less, less), "{space:?}");
        assert!(!valid(more, 0.0) && !valid(0.0, more) && !valid(0.0, f32::NAN), "{space:?}");
        assert!(!finder.still_valid(Input::within(&tree).space(space)));
    }
}

#[test]
fn what_leaves_on_one_side_comes_in_on_the_other() {
    let axes = [Some([0.0, 10.0]), None];
    let mut finder = PairFinder::new();
    let kept = Circles::new(&[9.9, 5.0], &[3.0; 2], 0.5).with_margin(MARGIN);
    finder.find(Input::within(kept).periodic(axes)).expect("a sound box");
    for (x, valid) in [(0.3, true), (10.3, true), (0.5, false), (9.5, true), (9.3, false), (-9.7, true)] {
        assert_eq!(
            finder.still_valid(Input::within(Circles::new(&[x, 5.0], &[3.0; 2], 0.5)).periodic(axes)),
            valid,
            "{x}"
        );
    }
}

/// Where half a cell is no wider than the margin, a body that has gone so far must not seem to have come back.
#[test]
fn a_body_that_drifts_uses_up_its_margin_in_a_small_cell() {
    let axes = [Some([0.0, 0.4_f32]), None];
    let mut skin = Skin::default();
    let places: Vec<f32> = (0..200).map(|step| 0.1 + step as f32 * 0.01).collect();
    let at =
        |step: usize| Input::within(Circles::new(&places[step..=step], &[0.0], 0.5).with_margin(0.25)).periodic(axes);
    skin.keep(at(0)).expect("a sound cell");
    for step in 0..200 {
        assert_eq!(skin.still_valid(at(step)), step < 25, "{step}");
    }
}

#[test]
fn sets_share_their_margins() {
    let scenes = [4, 5, 6].map(|seed| start::<2>(150, seed));
    let [a, b, c] = scenes.each_ref().map(Scene::view);
    let meetings = || ActivationTable::none(3).with(0, 0).with(0, 1).with(1, 2);
    let sets: [Set<'_, 2>; 3] = [a.with_margin(MARGIN).into(), b.into(), c.with_margin(0.2).into()];
    let (mut finder, mut skin) = (PairFinder::new(), Skin::default());
    finder.find(Input::among(&sets, &meetings())).expect("sound sets");
    skin.keep(Input::among(&sets, &meetings())).expect("sound sets");
    for (parts, valid) in [
        ([0.0, 0.0, 0.0], true),
        ([0.499, 0.0, 0.199], true),
        ([0.499, 0.01, 0.18], false), // the first two have used up more than their margins
        ([0.3, 0.19, 0.0], true),
        ([0.3, 0.1, 0.11], false), // the last two
        ([0.6, 0.0, 0.0], false),
    ] {
        let now: [Scene<2>; 3] = from_fn(|set| moved(&scenes[set], |_| parts[set], 0.0));
        let now = now.each_ref().map(|scene| scene.view().into());
        assert_eq!(finder.still_valid(Input::among(&now, &meetings())), valid, "{parts:?}");
        assert_eq!(skin.still_valid(Input::among(&now, &meetings())), valid, "{parts:?}");
    }
    assert!(
        !finder.still_valid(Input::among(&sets, &ActivationTable::all(3)))
            && !finder.still_valid(Input::among(&sets[..2], &meetings()))
    );
    assert!(!finder.still_valid(sets[0]) && skin.keep(Input::among(&sets[..2], &meetings())).is_err());
}

/// As long as a list is said to be valid, it misses no pair.
fn lists_hold_all_pairs<const D: usize>() {
    let (walls, mut held) = (walls::<D>(), 0);
    for turn in 0..300 {
        let (mut random, asked) = (Random(turn), ALL[turn as usize % ALL.len()]);
        let scene = start::<D>(if D == 2 { 60 } else { 200 }, turn);
        let margin = [0.05, 0.5, 1.0][random.below(3)];
        let mut finder = PairFinder::<D>::new();
        let listed =
            ask(asked, &scene, &walls, margin, |among| ascending(finder.find(among).expect("a sound scene").pairs()));
        let part = [0.5, 0.9, 0.9999][random.below(3)];
        let steps: Vec<f32> =
            (0..scene.radii.len()).map(|_| part * margin * [1.0, 1.0, 0.3][random.below(3)]).collect();
        let now = moved(&scene, |id| steps[id], 0.0);
        ask(asked, &now, &walls, 0.0, |now| {
            if finder.still_valid(now) {
                held += 1;
                let mut other = PairFinder::<D>::new();
                let missing = |pair: &&[u32; 2]| listed.binary_search(*pair).is_err();
                let found = other.find(now).expect("a sound scene");
                assert_eq!(found.pairs().iter().find(missing), None, "{asked:?}, {turn}");
            }
        });
    }
    assert!(held > 250, "{held}");
}

#[test]
fn valid_lists_of_every_kind_hold_all_pairs() {
    lists_hold_all_pairs::<2>();
    lists_hold_all_pairs::<3>();
}
