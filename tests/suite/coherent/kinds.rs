//! All kinds of input, each by itself and one after the other: sets in either precision, moving, in trees and with
//! layers, in open and repeating space, for pairs, rows and contacts.

use jostle::{
    ActivationTable, Boxes, Capsules64, Circles, Circles64, CoherentFinder, ContactTracker, Input, Isa, Layers,
    LinearTree, NeighborLists, PairFinder, Rows, Set, Space, Threads,
};
use jostle_testkit::pairs::{known, sort_known};
use jostle_testkit::random::Random;

use super::beside::{Beside, Only};

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

const DRIFTS: [f64; 4] = [0.0, 0.005, 0.02, 0.3];

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
            Some(kind) => beside.rows(input, only, kind),
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

/// Boxes and capsules come between frames of circles, alone and beside circles, at rest and moving.
#[test]
fn frames_with_boxes_and_capsules_are_searched_from_scratch() {
    let table = ActivationTable::none(3).with(0, 0).with(0, 1).with(1, 2);
    for case in 0..36_usize {
        let mut random = Random(case as u64);
        let mut world = World::new(90 + case % 2 * 200, &mut random);
        let mut beside = Beside::new();
        for frame in 0..12 {
            world.step(frame, 0.01, false);
            let World { columns: [x, y, z, w], velocities, radii, category, width, walls } = &world;
            let single = |column: &[f64]| column.iter().map(|&x| x as f32).collect::<Vec<f32>>();
            let [a, b] = [x, y].map(|column| single(column));
            let [c, d] = [x, y].map(|column| single(&column.iter().zip(radii).map(|(x, r)| x + r).collect::<Vec<_>>()));
            let boxes = Set::from(Boxes::new([&a, &b], [&c, &d])).layers(Layers::new(category, 5));
            let ends: [Vec<f64>; 2] = [0, 1].map(|axis| [z, w][axis].iter().map(|x| x + 0.7).collect());
            let capsules = Set::from(Capsules64::new([z, w], [&ends[0], &ends[1]], radii));
            let capsules = if case % 3 == 1 { capsules.moving([&velocities[0], &velocities[1]]) } else { capsules };
            let circles = Set::from(Circles64::new(x, y, radii));
            let sets = [boxes, circles, capsules];
            let (input, meetings) = match case / 2 % 6 {
                _ if frame % 6 > 2 => (Input::within(circles), vec![[0, 0]]),
                0 => (Input::within(boxes), vec![[0, 0]]),
                1 => (Input::within(capsules), vec![[0, 0]]),
                2 => (Input::between(circles, boxes), vec![[0, 1]]),
                3 => (Input::between(capsules, walls), vec![[0, 1]]),
                _ => (Input::among(&sets, &table), vec![[0, 0], [0, 1], [1, 2]]),
            };
            let input = if case % 4 < 2 { input } else { input.periodic([Some([0.0, *width]), None]) };
            let before = beside.finders[0].rebuilds();
            if case % 3 == 2 {
                beside.rows(input, None, if frame % 2 == 0 { Rows::Full } else { Rows::Half });
            } else {
                beside.pairs(input, None, &meetings);
            }
            let is_searched = beside.finders[0].rebuilds() > before;
            assert!(is_searched || frame % 6 > 2, "case {case}, frame {frame}");
        }
    }
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
