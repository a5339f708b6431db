//! Coherent frames, for all kinds of input. Each frame has the pairs that a search from scratch finds, in an order that
//! no thread and no instruction set changes.

mod course;
mod crowded;
mod drift;
mod many_sets;
mod panics;
mod stand_ins;
mod strays;

use jostle::{
    ActivationTable, Circles, Circles64, CoherentFinder, ContactTracker, Input, InputError, Isa, Layers, LinearTree,
    NeighborLists, PairFinder, Rows, Set, Space, Spheres, Threads,
};
use jostle_testkit::lists::neighbors_known;
use jostle_testkit::pairs::{ascending, assert_same, known, sort_known};
use jostle_testkit::random::Random;
use jostle_testkit::tree::validate;
use jostle_testkit::{Kind, Scene, pool, scene};

fn all_columns() -> NeighborLists {
    NeighborLists::new().and_distances().and_distances_f64().and_image_shifts().and_vectors()
}

/// Columns of bodies that drift, and the other parts of an input.
struct World {
    columns: [Vec<f64>; 4],
    velocities: [Vec<f64>; 4],
    radii: Vec<f64>,
    category: Vec<u32>,
    width: f64,
    walls: LinearTree<2>,
}

impl World {
    fn new(bodies: usize, random: &mut Random) -> Self {
        let width = 1.5 * (bodies as f64).sqrt();
        let mut column = |scale: f64, least: f64| (0..bodies).map(|_| least + scale * random.unit()).collect();
        let columns: [Vec<f64>; 4] = [(); 4].map(|()| column(width, 0.0));
        let velocities = [(); 4].map(|()| column(1.0, -0.5));
        let radii = column(0.6, 0.2);
        let category = (0..bodies).map(|id| 1 << (id % 3)).collect();
        let [x, y] = [2, 3].map(|axis: usize| columns[axis].iter().map(|&x| x as f32).collect::<Vec<_>>());
        let mut walls = LinearTree::new();
        walls.build(Circles::new(&x, &y, 0.4), Threads::Serial).expect("sound bodies");
        Self { columns, velocities, radii, category, width, walls }
    }

    /// Moves all bodies. With `wraps`, bodies that leave the world are put back by its width, as hosts of periodic
    /// worlds do. In some frames a body grows, or two exchange a coordinate.
    fn step(&mut self, frame: usize, speed: f64, wraps: bool) {
        let width = self.width;
        for (column, velocities) in self.columns.iter_mut().zip(&self.velocities) {
            for (x, v) in column.iter_mut().zip(velocities) {
                *x += v * speed;
                if wraps {
                    *x -= (*x / width).floor() * width;
                }
            }
        }
        match frame {
            6 => self.radii[5] *= 1.0 + speed,
            9 => self.columns[0].swap(0, 1),
            _ => {}
        }
    }
}

/// A test of the caller's.
type Only<'a> = &'a (dyn Fn(u32, u32) -> bool + Sync);

const DRIFTS: [f64; 4] = [0.0, 0.005, 0.02, 0.3];

/// Finders on various threads and instruction sets, beside searches from scratch.
struct Beside<const D: usize> {
    finders: [CoherentFinder<D>; 3],
    scratch: PairFinder<D>,
    pool: rayon::ThreadPool,
    lists: [NeighborLists; 2],
}

impl<const D: usize> Beside<D> {
    fn new() -> Self {
        let mut finders = [(); 3].map(|()| CoherentFinder::new());
        finders[2].set_isa(Isa::PORTABLE);
        Self { finders, scratch: PairFinder::new(), pool: pool(3), lists: [(); 2].map(|()| all_columns()) }
    }

    fn threads(&self, finder: usize) -> Threads<'_> {
        if finder == 1 { Threads::Pool(&self.pool) } else { Threads::Serial }
    }

    /// Checks one frame that has these pairs: all finders list them in one sequence.
    fn assert_one_sequence(&mut self, scene: &Scene<D>, only: Option<Only<'_>>, expected: &[[u32; 2]], case: &str) {
        let mut finders = core::mem::take(&mut self.finders);
        let sequences = [0, 1, 2].map(|number| {
            let finder = finders[number].on(self.threads(number));
            let found = match only {
                Some(only) => finder.only(only).find(scene.view()),
                None => finder.find(scene.view()),
            };
            found.expect("sound bodies").pairs().to_vec()
        });
        assert_same(case, &ascending(&sequences[0]), expected);
        assert!(sequences[1] == sequences[0] && sequences[2] == sequences[0], "{case}");
        self.finders = finders;
    }
}

impl Beside<2> {
    /// Checks one frame of pairs.
    fn pairs(&mut self, input: Input<'_, 2>, only: Option<Only<'_>>, meetings: &[[usize; 2]]) {
        let scratch = self.scratch.on(Threads::Serial);
        let found = match only {
            Some(only) => scratch.only(only).find(input),
            None => scratch.find(input),
        }
        .expect("sound bodies");
        let mut expected = known(found, meetings);
        sort_known(&mut expected);
        let mut finders = core::mem::take(&mut self.finders);
        let mut first = Vec::new();
        for (number, finder) in finders.iter_mut().enumerate() {
            let finder = finder.on(self.threads(number));
            let found = match only {
                Some(only) => finder.only(only).find(input),
                None => finder.find(input),
            }
            .expect("sound bodies");
            let sequence = known(found, meetings);
            if number == 0 {
                first = sequence;
            } else {
                assert!(sequence == first, "the order of finder {number}");
            }
        }
        sort_known(&mut first);
        assert!(first == expected, "a frame of other pairs");
        self.finders = finders;
    }

    /// Checks one frame of rows.
    fn rows(&mut self, input: Input<'_, 2>, only: Option<Only<'_>>, kind: Rows) {
        let only = only.unwrap_or(&|_, _| true);
        let [mut expected, mut lists] = core::mem::take(&mut self.lists);
        self.scratch.on(Threads::Serial).only(only).neighbors(input, kind, &mut expected).expect("sound bodies");
        let mut finders = core::mem::take(&mut self.finders);
        for (number, finder) in finders.iter_mut().enumerate() {
            let stats = finder.on(self.threads(number)).only(only).neighbors(input, kind, &mut lists);
            assert_eq!(stats.expect("sound bodies").pairs, expected.neighbors().len() as u64);
            assert!(lists.offsets() == expected.offsets() && lists.neighbors() == expected.neighbors());
            assert!(neighbors_known(&lists) == neighbors_known(&expected), "finder {number}");
        }
        (self.finders, self.lists) = (finders, [expected, lists]);
    }
}

/// Runs frames of one kind of input beside searches from scratch, for pairs or for rows. Returns the number of frames
/// that were not searched from scratch.
fn run(case: usize, rows: Option<Rows>, bodies: usize, frames: usize) -> u64 {
    let mut random = Random(case as u64);
    // In the small cell each body meets images of all other bodies.
    let bodies = if case % 5 == 4 { bodies / 4 } else { bodies };
    let mut world = World::new(bodies, &mut random);
    let mut beside = Beside::new();
    let table = ActivationTable::none(3).with(0, 0).with(0, 1).with(1, 2);
    let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
    for frame in 0..frames {
        world.step(frame, DRIFTS[case % 4], case.is_multiple_of(3));
        let World { columns, velocities, radii, category, width, walls } = &world;
        let single: Vec<Vec<f32>> = columns.iter().map(|column| column.iter().map(|&x| x as f32).collect()).collect();
        let radii_single: Vec<f32> = radii.iter().map(|&radius| radius as f32).collect();
        let paths = velocities.each_ref().map(|column| column.iter().map(|v| v * 0.3).collect::<Vec<_>>());
        let one = match case / 4 % 2 {
            0 => Set::from(Circles::new(&single[0], &single[1], &radii_single)),
            _ => Set::from(Circles64::new(&columns[0], &columns[1], radii)),
        };
        let one = if case / 8 % 2 == 1 { one.moving([&paths[0], &paths[1]]) } else { one };
        let one = if case % 7 == 3 { one.layers(Layers::new(category, 5)) } else { one };
        let sets = [one, Circles::new(&single[2], &single[3], &radii_single).into(), walls.into()];
        let (input, meetings) = match case / 16 % 4 {
            0 => (Input::within(one), vec![[0, 0]]),
            1 => (Input::between(one, sets[1]), vec![[0, 1]]),
            2 => (Input::between(sets[2], one), vec![[0, 1]]),
            _ => (Input::among(&sets, &table), vec![[0, 0], [0, 1], [1, 2]]),
        };
        let input = input.space(match case % 5 {
            0 | 1 => Space::open(),
            2 => Space::periodic([Some([0.0, *width]), None]),
            3 => Space::lattice([[*width, 0.0], [width * 0.4, width * 0.8]], [true, true]),
            _ => Space::lattice([[2.5, 0.0], [1.0, 2.0]], [true, true]),
        });
        // The test is asked in all frames, or in some: pairs that it drops come back in the next frame.
        let only: Option<Only<'_>> = (case % 11 == 5 || case % 3 == 1 && frame % 3 == 1).then_some(&test);
        match rows {
            Some(kind) if meetings.len() == 1 => beside.rows(input, only, kind),
            Some(kind) => {
                let refused = beside.finders[0].neighbors(input, kind, &mut NeighborLists::new());
                assert!(matches!(refused, Err(InputError::Combination { .. })));
                return 0;
            }
            None => beside.pairs(input, only, &meetings),
        }
    }
    let [first, others @ ..] = &beside.finders;
    others.iter().for_each(|other| assert_eq!(other.rebuilds(), first.rebuilds()));
    frames as u64 - first.rebuilds()
}

#[test]
fn every_frame_has_the_pairs_of_a_search_from_scratch() {
    let kept: u64 = (0..128).map(|case| run(case, None, 80 + case % 3 * 40, 14)).sum();
    assert!(kept > 240, "{kept} frames were not searched from scratch");
}

#[test]
fn every_frame_has_the_rows_of_a_search_from_scratch() {
    let kind = |case: usize| if (case / 3).is_multiple_of(2) { Rows::Full } else { Rows::Half };
    let kept: u64 = (0..128).map(|case| run(case, Some(kind(case)), 80 + case % 3 * 40, 14)).sum();
    assert!(kept > 200, "{kept} frames were not searched from scratch");
}

#[test]
fn large_frames_are_the_same_on_any_threads() {
    let kept: u64 = [1, 5, 17].into_iter().map(|case| run(case, None, 12_000, 6)).sum();
    let kept = kept + run(2, Some(Rows::Full), 12_000, 6);
    assert!(kept > 6, "{kept} frames were not searched from scratch");
}

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

/// One finder is asked for anything in any order, for crowded bodies that drift, jump and come back.
#[test]
fn frames_of_any_kinds_in_any_turn() {
    let mut kept = 0;
    for case in 0..200_usize {
        let mut random = Random(case as u64);
        let bodies = 60 + case % 4 * 40;
        let width = [0.7, 1.2][case % 2] * (bodies as f64).sqrt();
        let mut column =
            |scale: f64, least: f64| (0..bodies).map(|_| least + scale * random.unit()).collect::<Vec<_>>();
        let ([x, y], [vx, vy]) = ([(); 2].map(|()| column(width, 0.0)), [(); 2].map(|()| column(1.0, -0.5)));
        let radii = column(0.3, 0.4);
        let category: Vec<u32> = (0..bodies).map(|id| 1 << (id % 3)).collect();
        let (mut finders, mut scratch) = ([(); 2].map(|()| CoherentFinder::new()), PairFinder::new());
        finders[1].set_isa(Isa::PORTABLE);
        let [mut lists, mut expected_lists] = [(); 2].map(|()| NeighborLists::new());
        let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
        let (mut kind, mut time) = (0, 0.0);
        for frame in 0..25 {
            if random.unit() < 0.12 {
                kind = (random.unit() * 8.0) as usize;
            }
            time = if random.unit() < 0.06 { (random.unit() * 3.0).floor() } else { time + DRIFTS[case % 3] };
            let moved = |x: &[f64], v: &[f64]| x.iter().zip(v).map(|(x, v)| x + v * time).collect::<Vec<_>>();
            let double = [moved(&x, &vx), moved(&y, &vy)];
            let [a, b, r] = [&double[0], &double[1], &radii].map(|c| c.iter().map(|&x| x as f32).collect::<Vec<_>>());
            let (half, one) = (bodies / 2, Set::from(Circles::new(&a, &b, &r)));
            let (input, meetings) = match kind {
                0 => (Input::within(one), [0, 0]),
                1 => (Input::within(Circles64::new(&double[0], &double[1], &radii)), [0, 0]),
                2 => (Input::between(one, Circles::new(&b, &a, &r)), [0, 1]),
                3 => (Input::within(one).periodic([Some([0.0, width]), None]), [0, 0]),
                4 => (Input::within(one.moving([&vx, &vy])), [0, 0]),
                5 => (Input::within(one.layers(Layers::new(&category, 5))), [0, 0]),
                6 => (Circles::new(&a[..half], &b[..half], &r[..half]).into(), [0, 0]),
                _ => (Circles::new(&[], &[], 1.0).into(), [0, 0]),
            };
            let only: Option<Only<'_>> = (random.unit() < 0.2).then_some(&test);
            let rows = case % 3 == 2 || random.unit() < 0.1;
            if rows {
                let search = scratch.on(Threads::Serial);
                let search = if let Some(only) = only { search.only(only) } else { search };
                search.neighbors(input, Rows::Full, &mut expected_lists).expect("sound bodies");
            }
            let search = scratch.on(Threads::Serial);
            let search = if let Some(only) = only { search.only(only) } else { search };
            let mut expected = known(search.find(input).expect("sound bodies"), &[meetings]);
            sort_known(&mut expected);
            for finder in &mut finders {
                let asked = finder.on(Threads::Serial);
                let asked = if let Some(only) = only { asked.only(only) } else { asked };
                if rows {
                    asked.neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
                    assert!(
                        lists.neighbors() == expected_lists.neighbors(),
                        "rows, case {case}, frame {frame}, kind {kind}"
                    );
                } else {
                    let found = asked.find(input).expect("sound bodies");
                    let mut found = known(found, &[meetings]);
                    sort_known(&mut found);
                    assert!(found == expected, "case {case}, frame {frame}, kind {kind}");
                }
            }
            let [first, other] = &finders;
            assert!(rows || first.last().pairs() == other.last().pairs(), "case {case}, frame {frame}, kind {kind}");
        }
        kept += 25 - finders[0].rebuilds();
    }
    assert!(kept > 240, "{kept} frames were not searched from scratch");
}

/// The same contacts begin, persist and end, even if the finder is asked for rows in between.
#[test]
fn contacts_are_those_of_searches_from_scratch() {
    let mut random = Random(9);
    let mut world = World::new(300, &mut random);
    let keys: Vec<u64> = (0..300).map(|id| 1_000 - id).collect();
    let (mut coherent, mut scratch, mut lists) = (CoherentFinder::new(), PairFinder::new(), NeighborLists::new());
    let mut trackers = [(); 2].map(|()| ContactTracker::new());
    let mut begun = 0;
    for frame in 0..40 {
        world.step(frame, 0.01, false);
        let [x, y, _, _] = world.columns.each_ref().map(Vec::as_slice);
        let bodies = Input::within(Circles64::new(x, y, &world.radii)).periodic([Some([0.0, world.width]), None]);
        let found = coherent.find(bodies).expect("sound bodies");
        let expected = scratch.find(bodies).expect("sound bodies");
        trackers[0].update(found, &keys).expect("a key each");
        trackers[1].update(expected, &keys).expect("a key each");
        let changes = trackers.each_ref().map(ContactTracker::last);
        begun += changes[0].begin().len();
        let seen = changes.map(|changes| {
            [changes.begin(), changes.persist(), changes.end()].map(|contacts| {
                let mut keys = contacts.keys().to_vec();
                keys.sort_unstable();
                keys
            })
        });
        assert!(seen[0] == seen[1], "frame {frame}");
        if frame % 13 == 12 {
            coherent.neighbors(bodies, Rows::Half, &mut lists).expect("sound bodies");
            assert_eq!(lists.neighbors().len(), coherent.last().pairs().len());
        }
    }
    assert!(begun > 200 && coherent.rebuilds() < 30, "{begun} begun, {} rebuilds", coherent.rebuilds());
}

/// A dense crowd drifts while all radii shrink and grow again. Pairs that surely touched cease to touch, in `f32` and
/// in `f64`.
#[test]
fn radii_that_shrink_end_pairs() {
    let mut random = Random(4);
    let mut world = World::new(400, &mut random);
    let (mut single, mut double, mut rows) = (CoherentFinder::new(), CoherentFinder::new(), CoherentFinder::new());
    let (mut scratch, mut lists, mut expected_lists) = (PairFinder::new(), NeighborLists::new(), NeighborLists::new());
    let sorted = |pairs: &[[u32; 2]]| {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        pairs
    };
    for frame in 0..90 {
        world.step(0, 0.004, false);
        let scale = 1.5 + 0.4 * (f64::from(frame) * 0.05).cos();
        let radii: Vec<f64> = world.radii.iter().map(|radius| radius * scale).collect();
        let [x, y, _, _] = world.columns.each_ref().map(|column| column.iter().map(|&x| x as f32).collect::<Vec<_>>());
        let radii_single: Vec<f32> = radii.iter().map(|&radius| radius as f32).collect();
        let bodies = Circles::new(&x, &y, &radii_single);
        let expected = sorted(scratch.find(bodies).expect("sound bodies").pairs());
        assert!(sorted(single.find(bodies).expect("sound bodies").pairs()) == expected, "frame {frame}");
        scratch.neighbors(bodies, Rows::Full, &mut expected_lists).expect("sound bodies");
        rows.neighbors(bodies, Rows::Full, &mut lists).expect("sound bodies");
        assert!(lists.neighbors() == expected_lists.neighbors() && lists.offsets() == expected_lists.offsets());
        let bodies = Circles64::new(&world.columns[0], &world.columns[1], &radii);
        let expected = sorted(scratch.find(bodies).expect("sound bodies").pairs());
        assert!(sorted(double.find(bodies).expect("sound bodies").pairs()) == expected, "frame {frame} in f64");
    }
    let rebuilds = [single.rebuilds(), double.rebuilds(), rows.rebuilds()];
    assert!(rebuilds.iter().all(|rebuilds| (3..60).contains(rebuilds)), "{rebuilds:?} rebuilds of 90 frames");
}
