//! What follows what: refused frames, other sets and other kinds of input. Nothing of the frames before is taken for
//! what is there now.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use jostle::{
    ActivationTable, Circles, Circles64, CoherentFinder, Input, InputError, Layers, LinearTree, NeighborLists,
    PairFinder, Permutation, Rows, Set, Threads,
};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, Scene, scene};

use super::beside::Only;
use super::drift::{Drift, Host, spaces};

/// Returns a scene in `f64`.
fn doubled(scene: &Scene<2>) -> ([Vec<f64>; 2], Vec<f64>) {
    let wide = |column: &Vec<f32>| column.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    (scene.centers.each_ref().map(wide), wide(&scene.radii))
}

/// Checks that a frame has the pairs of a search.
fn assert_frame(finder: &mut CoherentFinder<2>, input: Input<'_, 2>, case: &str) {
    let expected = ascending(PairFinder::new().find(input).expect("sound bodies").pairs());
    assert_same(case, &ascending(finder.find(input).expect("sound bodies").pairs()), &expected);
}

/// In a refused frame, bodies are farther on than they will be, and one of them is missing, so that the frame tells
/// nothing of how far they have moved.
#[test]
fn nothing_is_kept_of_a_refused_frame() {
    let start: Scene<2> = scene::scene(Kind::Dense, 200, 3);
    let radius = start.radii.iter().sum::<f32>() / 200.0;
    let at = |way: f32| {
        let mut scene = start.clone();
        for (axis, column) in scene.centers.iter_mut().enumerate() {
            let course = |id: usize| (id as f32 * 2.4 + axis as f32 * 1.570_796_4).cos();
            column.iter_mut().enumerate().for_each(|(id, x)| *x += course(id) * way * radius);
        }
        scene
    };
    for (speed, frames) in [0.02, 0.05, 0.1, 0.2, 0.4].into_iter().flat_map(|speed| [2_u8, 4, 6].map(|of| (speed, of)))
    {
        for beyond in [2.0, 4.0, 8.0, 12.0, 15.0] {
            let mut finder = CoherentFinder::new();
            for frame in 0..frames {
                finder.find(at(f32::from(frame) * speed).view()).expect("sound bodies");
            }
            let mut refused = at((f32::from(frames - 1) + beyond) * speed);
            refused.centers.iter_mut().for_each(|column| column.truncate(199));
            refused.radii.truncate(199);
            refused.centers[0][7] = 2e18;
            assert!(matches!(finder.find(refused.view()), Err(InputError::Bodies { count: 1, .. })));
            for frame in frames..frames + 3 {
                let case = format!("{speed} radii a frame, {frames} frames, {beyond} beyond, then frame {frame}");
                assert_frame(&mut finder, at(f32::from(frame) * speed).view().into(), &case);
            }
        }
    }
}

/// Two sets in open space have stand-ins; then one set has, where space repeats.
#[test]
fn fewer_sets_may_follow_where_space_repeats() {
    let ([mut x, y], radii) = doubled(&scene::scene(Kind::Dense, 300, 3));
    let mut finder = CoherentFinder::new();
    for frame in 0..12 {
        x.iter_mut().for_each(|x| *x += 0.001);
        let set = Set::from(Circles64::new(&x, &y, &radii));
        let within = Input::within(set).periodic([Some([0.0, 1e4]), None]);
        let input = if frame < 4 { Input::between(set, set) } else { within };
        assert_frame(&mut finder, input, &format!("frame {frame}"));
    }
    assert!(finder.rebuilds() < 12);
}

/// Two sets follow where one did whose stand-ins are counted from another place: after two sets in open space, and one
/// where space repeats.
#[test]
fn more_sets_may_follow_where_fewer_were_followed_elsewhere() {
    let (x, y) = ([0.5, 1.2, 5.0], [0.5, 0.5, 5.0]);
    let (set, cell) = (Set::from(Circles64::new(&x, &y, 0.5)), [Some([0.0, 10.0]); 2]);
    for frames in 1..20 {
        let mut finder = CoherentFinder::new();
        assert_frame(&mut finder, Input::between(set, set), "two sets");
        for frame in 0..frames {
            assert_frame(&mut finder, Input::within(set).periodic(cell), &format!("frame {frame} of one set"));
        }
        assert_frame(&mut finder, Input::between(set, set).periodic(cell), &format!("after {frames} frames of one"));
    }
}

/// A tree that was beside a set before is still what it was, but the set has been counted from elsewhere meanwhile.
#[test]
fn a_tree_may_come_back() {
    let ([mut x, y], radii) = doubled(&scene::scene(Kind::Dense, 300, 3));
    let (other, mut tree) = (scene::scene::<2>(Kind::Dense, 300, 4), LinearTree::new());
    tree.build(other.view(), Threads::Serial).expect("sound bodies");
    let width = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let mut finder = CoherentFinder::new();
    for frame in 0..100 {
        x.iter_mut().zip(0..).for_each(|(x, id)| *x += f64::from(id % 7 - 3) * 1e-3);
        let aside: Vec<f64> = x.iter().map(|x| x + 0.7 * width).collect();
        let set = Circles64::new(&x, &y, &radii);
        let input = match frame / 25 {
            1 => Input::within(set).periodic([Some([-4.0 * width, 4.0 * width]), None]),
            2 => Input::within(Circles64::new(&aside, &y, &radii)),
            _ => Input::between(set, &tree),
        };
        assert_frame(&mut finder, input, &format!("frame {frame}"));
    }
    assert!(finder.rebuilds() < 60, "{} rebuilds", finder.rebuilds());
}

/// A table of one set alone says what one set says without a table. A body strays when the one follows the other.
#[test]
fn a_table_may_follow_one_set() {
    let table = ActivationTable::all(1);
    for is_table_first in [false, true] {
        let mut scene: Scene<2> = scene::scene(Kind::Dense, 300, 3);
        let mut finder = CoherentFinder::new();
        for frame in 0..8 {
            if frame > 5 {
                scene.centers[0][5] += 3.0 * scene.radii[0];
            }
            let sets = [Set::from(scene.view())];
            let is_table = (frame < 6) == is_table_first;
            let input = if is_table { Input::among(&sets, &table) } else { Input::within(sets[0]) };
            assert_frame(&mut finder, input, &format!("frame {frame}, table first: {is_table_first}"));
        }
    }
}

/// Rows of many sets are searched for in each frame, even if the rows of the same bodies are kept.
#[test]
fn a_table_gets_rows_of_its_own() {
    let (scene, table): (Scene<2>, _) = (scene::scene(Kind::Dense, 300, 3), ActivationTable::all(1));
    let (mut finder, mut lists) = (CoherentFinder::new(), NeighborLists::new());
    for _ in 0..5 {
        finder.neighbors(scene.view(), Rows::Full, &mut lists).expect("sound bodies");
    }
    assert!(finder.margin() > 0.0);
    let expected = lists.clone();
    for frame in 0..5 {
        finder.neighbors(Input::among(&[scene.view().into()], &table), Rows::Full, &mut lists).expect("sound bodies");
        assert_eq!((lists.offsets(), lists.neighbors()), (expected.offsets(), expected.neighbors()), "frame {frame}");
        assert_eq!((lists.set_starts(), finder.margin()), (&[0, 300][..], 0.0));
    }
    finder.neighbors(scene.view(), Rows::Full, &mut lists).expect("sound bodies");
    assert!(lists.set_starts().is_empty() && lists.neighbors() == expected.neighbors());
    // Pairs of the same table are kept meanwhile.
    for frame in 0..9 {
        let sets = [scene.view().into()];
        assert_frame(&mut finder, Input::among(&sets, &table), &format!("frame {frame}"));
        if frame > 5 {
            finder.neighbors(Input::among(&sets, &table), Rows::Full, &mut lists).expect("sound bodies");
            assert_eq!((lists.offsets(), lists.neighbors()), (expected.offsets(), expected.neighbors()), "{frame}");
        }
    }
}

/// The rows of so few bodies are found in scratch of their thread, and measured in memory of the finder, which has
/// numbered fewer bodies of many sets before.
#[test]
fn kept_rows_are_measured_by_ids() {
    let (scene, few): (Scene<2>, Scene<2>) = (scene::scene(Kind::Dense, 300, 3), scene::scene(Kind::Dense, 20, 3));
    let (mut finder, mut lists) = (CoherentFinder::new(), NeighborLists::with_distances());
    let (sets, table) = ([few.view().into()], ActivationTable::all(1));
    finder.neighbors(Input::among(&sets, &table), Rows::Full, &mut lists).expect("sound bodies");
    let mut expected = NeighborLists::with_distances();
    PairFinder::new().neighbors(scene.view(), Rows::Full, &mut expected).expect("sound bodies");
    while finder.margin() == 0.0 && finder.rebuilds() < 100 {
        finder.neighbors(scene.view(), Rows::Full, &mut lists).expect("sound bodies");
    }
    for has_test in [false, true] {
        let asked = finder.on(Threads::Serial);
        let asked = if has_test { asked.only(&|_, _| true) } else { asked };
        asked.neighbors(scene.view(), Rows::Full, &mut lists).expect("sound bodies");
        assert_eq!((lists.neighbors(), lists.distances2()), (expected.neighbors(), expected.distances2()));
    }
    assert!(finder.rebuilds() < 100);
}

/// In the first frame, a body in `f64` is so far away that the frame is refused, or that all others seem to be in one
/// place. Lists last once it is among the others.
#[test]
fn lists_last_once_a_body_far_away_is_back() {
    let scene = scene::scene(Kind::Uniform, 500, 3);
    for far in [f64::NAN, f64::INFINITY, 1e200, 1e6, 1e9, 1e12, 1e15] {
        let ([mut x, y], radii) = doubled(&scene);
        let (mut finder, near) = (CoherentFinder::new(), x[5]);
        x[5] = far;
        assert_eq!(finder.find(Circles64::new(&x, &y, &radii)).is_ok(), far < 1e17, "{far}");
        x[5] = near;
        for frame in 0..60 {
            x.iter_mut().for_each(|x| *x += 1e-3);
            assert_frame(&mut finder, Circles64::new(&x, &y, &radii).into(), &format!("frame {frame} after {far}"));
        }
        assert!(finder.rebuilds() < 30, "{} rebuilds after {far}", finder.rebuilds());
    }
}

/// Where space repeats, the tree has ghost images. The caller's arrays are sorted without them.
#[test]
fn ranks_are_those_of_bodies_alone() {
    let mut drift = Drift::<2>::new(Kind::Dense, 500, 0.04);
    for (number, space) in spaces(drift.box_).into_iter().enumerate() {
        let (mut finder, mut order, mut images) = (CoherentFinder::new(), Permutation::new(), 0);
        for frame in 0..8 {
            drift.step(&space, Host::LetsGo, frame);
            let found = finder.find(Input::within(drift.set(false)).space(space)).expect("sound bodies");
            let ids: Vec<u32> = found.rank_to_id().collect();
            let mut all = ids.clone();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..500), "space {number}, frame {frame}");
            assert!(found.tree().clone().ids_without_images().eq(ids.iter().copied()));
            order.take(found.tree());
            let mut names: Vec<u32> = (0..500).collect();
            order.sort_by_rank(&mut names).expect("one for each body");
            assert!(names == ids && order.rank_to_id() == ids, "space {number}, frame {frame}");
            images += found.tree().len() - 500;
        }
        assert_eq!(images > 0, number > 0, "space {number}");
    }
}

/// Rounds of 72 frames each.
const ROUNDS: u64 = 200;

/// The angle by which bodies that swing do so in a frame.
const SWING: f32 = 0.1;

/// How many kinds of input [`with_input`] knows.
const KINDS: usize = 9;

/// Calls `then` with an input of these bodies, of this kind, which may have layers, and may repeat in such a cell.
fn with_input(
    scene: &Scene<2>,
    (kind, has_layers): (usize, bool),
    cell: [[f64; 2]; 2],
    then: impl FnOnce(Input<'_, 2>),
) {
    let ([x, y], radii) = doubled(scene);
    let category: Vec<u32> = (0..scene.len()).map(|id| 1 << (id % 3)).collect();
    let layers = Layers::new(&category, 3);
    let sets = [scene.view().into(), Set::from(Circles64::new(&x, &y, &radii))];
    let [single, double] = if has_layers { sets.map(|set| set.layers(layers)) } else { sets };
    let three = [single, double, single];
    let (some, one) = (ActivationTable::none(3).with(0, 0).with(0, 2).with(1, 2), ActivationTable::all(1));
    let along_x = [Some(cell[0]), None];
    then(match kind {
        0 => Input::within(single),
        1 => Input::within(double),
        2 => Input::within(single).periodic(along_x),
        3 => Input::between(single, double),
        4 => Input::within(double).periodic(cell.map(Some)),
        5 => Input::between(single, double).periodic(along_x),
        6 => Input::among(&three, &some),
        7 => Input::among(&three, &some).periodic(along_x),
        _ => Input::among(&three[..1], &one),
    });
}

/// A finder whose frames change in kind, beside searches from scratch.
struct Turns {
    random: Random,
    scene: Scene<2>,
    speed: f32,
    /// The angle by which bodies have swung, if they do; else they go straight on.
    swung: Option<f32>,
    /// Bodies that have gone.
    gone: Vec<([f32; 2], f32)>,
    kind: usize,
    has_layers: bool,
    asks_rows: bool,
    finder: CoherentFinder<2>,
    scratch: PairFinder<2>,
    lists: [NeighborLists; 2],
}

impl Turns {
    fn new(round: u64) -> Self {
        let mut random = Random(round);
        let scene: Scene<2> = scene::scene(Kind::Dense, [40, 150, 400][random.below(3)], round);
        Self {
            speed: [0.003, 0.02, 0.1][random.below(3)] * scene.radii[0],
            scene,
            swung: (round % 2 == 1).then_some(0.0),
            gone: Vec::new(),
            kind: random.below(KINDS),
            has_layers: false,
            asks_rows: random.below(3) == 0,
            finder: CoherentFinder::new(),
            scratch: PairFinder::new(),
            lists: [(); 2].map(|()| NeighborLists::with_distances().and_image_shifts().and_vectors()),
            random,
        }
    }

    /// Moves all bodies on, and changes something else in most frames.
    fn step(&mut self) {
        let Self { random, scene, speed, swung, gone, .. } = self;
        *swung = swung.map(|swung| swung + SWING);
        for (axis, column) in scene.centers.iter_mut().enumerate() {
            let step = |id: usize| ((id * 7 + axis * 3) % 11) as f32 * 0.2 - 1.0;
            let on = |id: usize| swung.map_or(1.0, |swung| (swung + id as f32).cos());
            column.iter_mut().enumerate().for_each(|(id, x)| *x += step(id) * on(id) * *speed);
        }
        match random.below(11) {
            0 => {
                let (axis, id) = (random.below(2), random.below(scene.len()));
                scene.centers[axis][id] += (random.unit() as f32 - 0.5) * 10.0 * scene.radii[0];
            }
            1 if scene.len() > 4 => {
                let mut last = |axis: usize| scene.centers[axis].pop().expect("a body");
                gone.push(([last(0), last(1)], scene.radii.pop().expect("a body")));
            }
            2 => {
                if let Some((center, radius)) = gone.pop() {
                    scene.centers.iter_mut().zip(center).for_each(|(column, x)| column.push(x + 0.2 * radius));
                    scene.radii.push(radius);
                }
            }
            3 if random.below(2) == 0 => self.kind = random.below(KINDS),
            4 if random.below(2) == 0 => self.asks_rows = !self.asks_rows,
            5 if random.below(2) == 0 => self.has_layers = !self.has_layers,
            6 if random.below(3) == 0 => self.finder.forget(),
            7 => scene.radii.iter_mut().for_each(|radius| *radius *= 1.0003),
            _ => {}
        }
    }

    /// Returns the bodies of this frame farther on, one of them unsound; the last one may be missing.
    fn spoiled(&mut self) -> Scene<2> {
        let (random, mut scene) = (&mut self.random, self.scene.clone());
        let (id, far) = (random.below(scene.len()), random.below(20) as f32 * self.speed);
        scene.centers[0][id] = [f32::NAN, 3e18, f32::INFINITY][random.below(3)];
        scene.centers[1].iter_mut().for_each(|y| *y += far);
        let left = scene.len() - random.below(2);
        scene.centers.iter_mut().for_each(|column| column.truncate(left));
        scene.radii.truncate(left);
        scene
    }

    /// Asks for a frame with a test that panics at one of its calls.
    fn panic(&mut self, input: Input<'_, 2>) {
        let Self { random, finder, lists: [lists, _], asks_rows, .. } = self;
        let left = AtomicUsize::new(random.below(30));
        let test = |_: u32, _: u32| {
            let go_on = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            go_on.is_ok() || resume_unwind(Box::new("of the caller"))
        };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let asked = finder.on(Threads::Serial).only(&test);
            if *asks_rows { asked.neighbors(input, Rows::Full, lists).is_ok() } else { asked.find(input).is_ok() }
        }));
    }

    /// Checks a frame: it is refused where a search refuses it, or has the same answer. Returns whether a list answered
    /// it.
    fn check(&mut self, input: Input<'_, 2>, case: &str) -> bool {
        let Self { random, finder, scratch, lists: [lists, expected_lists], asks_rows, .. } = self;
        let test: Only<'_> = &|a, b| (a ^ b) & 1 == 1;
        let of_sets = |[i, j]: [u32; 2], [a, b]: [u32; 2]| (a ^ b ^ i ^ (j << 1)) & 1 == 1;
        let (has_test, rebuilds, last) = (random.below(8), finder.rebuilds(), finder.last().pairs().to_vec());
        let max = if random.below(16) == 0 { random.below(600) } else { usize::MAX };
        finder.set_max_pairs(max);
        scratch.set_max_pairs(max);
        let (mut asked, mut searched) = (finder.on(Threads::Serial), scratch.on(Threads::Serial));
        if has_test == 0 {
            (asked, searched) = (asked.only(test), searched.only(test));
        } else if has_test == 1 {
            (asked, searched) = (asked.only_of_sets(&of_sets), searched.only_of_sets(&of_sets));
        }
        let found = if *asks_rows {
            let listed = asked.neighbors(input, Rows::Full, lists).map(|_| ());
            assert_eq!(listed, searched.neighbors(input, Rows::Full, expected_lists).map(|_| ()), "{case}");
            assert!(listed.is_err() || lists.offsets() == expected_lists.offsets(), "{case}");
            assert!(listed.is_err() || lists.neighbors() == expected_lists.neighbors(), "{case}");
            assert!(listed.is_err() || lists.distances2() == expected_lists.distances2(), "{case}");
            assert!(listed.is_err() || lists.image_shifts::<2>() == expected_lists.image_shifts::<2>(), "{case}");
            assert!(listed.is_err() || lists.vectors::<2>() == expected_lists.vectors::<2>(), "{case}");
            listed
        } else {
            let found = asked.find(input).map(|found| ascending(found.pairs()));
            let expected = searched.find(input).map(|found| ascending(found.pairs()));
            assert_eq!(found, expected, "{case}");
            found.map(|_| ())
        };
        match found {
            Err(InputError::TooManyPairs { .. }) if !*asks_rows => assert!(finder.last().pairs().is_empty(), "{case}"),
            Ok(()) if !*asks_rows => {}
            _ => assert!(finder.last().pairs() == last, "{case}: the last pairs stand"),
        }
        found.is_ok() && finder.rebuilds() == rebuilds
    }
}

/// Bodies go straight on or swing, jump, come, go and grow; layers, tests, rows and pairs come by turns, in any space
/// and precision, for one set, two, or some of a table. Some frames are refused, some panic.
#[test]
fn anything_may_follow_anything() {
    let mut kept = 0;
    for round in 0..ROUNDS {
        let mut turns = Turns::new(round);
        let cell = turns.scene.centers.each_ref().map(|column| {
            let [lo, hi] =
                [column.iter().copied().fold(f32::MAX, f32::min), column.iter().copied().fold(f32::MIN, f32::max)];
            [lo.into(), hi.max(lo + 8.0 * turns.scene.radii[0]).into()]
        });
        for frame in 0..72 {
            turns.step();
            let scene = if turns.random.below(12) == 0 { turns.spoiled() } else { turns.scene.clone() };
            let (kind, has_layers) = (turns.kind, turns.has_layers);
            with_input(&scene, (kind, has_layers), cell, |input| {
                if turns.random.below(40) == 0 {
                    turns.panic(input);
                }
                let case = format!("round {round}, frame {frame}, kind {kind}, rows {}", turns.asks_rows);
                kept += u32::from(turns.check(input, &case));
            });
        }
    }
    assert!(kept > 5 * ROUNDS as u32, "{kept} frames were not searched from scratch");
}

/// Discs in `f64` so small that squares of their sizes are denormal in `f32`, and beside them two specks whose squares
/// vanish there: as far from each other as does not touch, and as does.
#[test]
fn specks_are_told_apart_by_their_own_numbers() {
    const SIDE: usize = 20;
    for (radius, apart) in [(1e-24, [5e-24, 0.0]), (5.09e-23, [7.152e-23, 7.152e-23])] {
        let at = |number: usize| (number as f64 - 10.0) * 2.2e-20;
        let mut x: Vec<f64> = (0..SIDE * SIDE).map(|id| at(id / SIDE)).chain([1.1e-20, 1.1e-20 + apart[0]]).collect();
        let y: Vec<f64> = (0..SIDE * SIDE).map(|id| at(id % SIDE)).chain([1.1e-20, 1.1e-20 + apart[1]]).collect();
        let radii: Vec<f64> = (0..x.len()).map(|id| if id < SIDE * SIDE { 1e-20 } else { radius }).collect();
        let mut finder = CoherentFinder::new();
        for frame in 0..20 {
            assert_frame(&mut finder, Circles64::new(&x, &y, &radii).into(), &format!("{radius:e}, frame {frame}"));
            x[..SIDE * SIDE].iter_mut().zip(0..).for_each(|(x, id)| *x += f64::from(id % 3 - 1) * 3e-22);
        }
        assert!(finder.rebuilds() < 20, "{radius:e}: {} rebuilds", finder.rebuilds());
    }
}

/// Rows with distances in open space, after a frame in a cell so small that bodies touch at several images. The caller's
/// test is given the lesser id first, in each of the two rows that a pair stands in.
#[test]
fn rows_may_follow_those_of_a_small_cell() {
    let (mut x, y) = ((0..40).map(|id| id as f32 * 0.9).collect::<Vec<_>>(), [0.0; 40]);
    let (mut finder, mut lists) = (CoherentFinder::<2>::new(), NeighborLists::with_distances());
    let few = Input::within(Circles::new(&x[..3], &y[..3], 0.5)).periodic([Some([0.0, 1.5]); 2]);
    finder.neighbors(few, Rows::Full, &mut lists).expect("sound bodies");
    let (mut scratch, mut expected) = (PairFinder::new(), NeighborLists::with_distances());
    for frame in 0..40 {
        let circles = Circles::new(&x, &y, 0.5);
        let in_order = |a: u32, b: u32| a < b && a + b != 21;
        finder.only(&in_order).neighbors(circles, Rows::Full, &mut lists).expect("sound bodies");
        scratch.only(&in_order).neighbors(circles, Rows::Full, &mut expected).expect("sound bodies");
        assert!(lists.neighbors() == expected.neighbors(), "frame {frame}");
        assert!(lists.distances2() == expected.distances2(), "frame {frame}");
        assert_eq!(lists.neighbors().len(), 76, "frame {frame}");
        x.iter_mut().for_each(|x| *x += 0.001);
    }
    assert!(finder.rebuilds() < 30);
}

#[test]
fn refused_layers_are_told_with_their_set() {
    let (x, one) = ([0.0_f32; 2], [1]);
    let circles = Circles::new(&x, &x, 1.0);
    let input = Input::between(circles, Set::from(circles).layers(Layers::new(&one[..], &one[..])));
    let refused = CoherentFinder::new().find(input).map(drop).unwrap_err();
    assert_eq!(refused.by_set().0, Some(1), "{refused}");
    assert_eq!(refused, PairFinder::new().find(input).map(drop).unwrap_err());
}
