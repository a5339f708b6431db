//! Coherent frames: in each of them the pairs that a search from scratch finds, of all kinds of input, and an order that no
//! thread and no instruction set changes.

use jostle::{
    ActivationTable, Circles, Circles64, CoherentFinder, Found, Input, InputError, Isa, Layers, LinearTree, PairFinder,
    Set, Space, Spheres, Threads,
};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, Scene, pool, scene};

/// A pair with its sets, its image shift, and its time of impact in bits.
type Known = ([usize; 2], [u32; 2], [i32; 2], u64);

/// All that is known of the pairs, in an order of their own. Of a body and its own image, one of two opposite shifts.
fn known(found: Found<'_, 2>, meetings: &[[usize; 2]]) -> Vec<Known> {
    let (shifts, times) = (found.image_shifts().collect::<Vec<_>>(), found.times_of_impact());
    let mut number = 0;
    let mut all = Vec::new();
    for &[i, j] in meetings {
        for &[a, b] in found.pairs_between(i, j) {
            let mut shift = shifts.get(number).copied().unwrap_or_default();
            if i == j && a == b && shift.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step < 0) {
                shift = shift.map(|step| -step);
            }
            all.push(([i, j], [a, b], shift, times.get(number).map_or(0, |time| time.to_bits())));
            number += 1;
        }
    }
    assert_eq!(number, found.pairs().len());
    all.sort_unstable();
    all
}

/// Columns of bodies that drift, and what else a search may be of.
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

    /// Moves all; some are put back by the width of the world, as hosts of periodic worlds do; a few do what they like.
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

/// Runs some frames of one kind of input beside searches from scratch; the number of frames that were not searched.
fn run(case: usize, bodies: usize, frames: usize) -> u64 {
    let mut random = Random(case as u64);
    // In the small cell each body meets images of all others.
    let bodies = if case % 5 == 4 { bodies / 4 } else { bodies };
    let mut world = World::new(bodies, &mut random);
    let [mut finder, mut parallel, mut portable] = [(); 3].map(|()| CoherentFinder::new());
    portable.set_isa(Isa::PORTABLE);
    let (mut scratch, pool) = (PairFinder::new(), pool(3));
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
        let only: &(dyn Fn(u32, u32) -> bool + Sync) = if case % 11 == 5 { &test } else { &|_, _| true };
        let expected = known(scratch.on(Threads::Serial).only(only).find(input).expect("sound bodies"), &meetings);
        let found = finder.on(Threads::Serial).only(only).find(input).expect("sound bodies");
        assert!(known(found, &meetings) == expected, "case {case}, frame {frame}");
        let found = found.pairs();
        assert!(parallel.on(Threads::Pool(&pool)).only(only).find(input).expect("sound bodies").pairs() == found);
        assert!(portable.on(Threads::Serial).only(only).find(input).expect("sound bodies").pairs() == found);
    }
    assert_eq!(parallel.rebuilds(), finder.rebuilds());
    frames as u64 - finder.rebuilds()
}

#[test]
fn every_frame_has_the_pairs_of_a_search_from_scratch() {
    let kept: u64 = (0..128).map(|case| run(case, 80 + case % 3 * 40, 8)).sum();
    assert!(kept > 300, "{kept} frames were not searched from scratch");
}

#[test]
fn large_frames_are_the_same_on_any_threads() {
    let kept: u64 = [1, 5, 17].into_iter().map(|case| run(case, 12_000, 6)).sum();
    assert!(kept > 6, "{kept} frames were not searched from scratch");
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
    finder.last().tree().validate().expect("a tree as it was");
    for radius in [-1.0, f32::NAN] {
        assert!(finder.find(Circles::new(&x, &y, &[1.0, 1.0, radius])).is_err(), "a radius of {radius}");
    }
    let spheres = Spheres::new(&x, &y, &y, 1.0).with_margin(0.5);
    assert!(matches!(CoherentFinder::new().find(spheres), Err(InputError::Combination { .. })));
    assert_eq!(finder.find(Circles::new(&x, &y, 1.0)).expect("sound bodies").pairs(), [[0, 1]]);
}
