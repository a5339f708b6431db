//! Scenes in `f64` far wider than bodies reach. The engine leaves their gaps out of its `f32` frame.

use core::array::from_fn;

use jostle_testkit::algebra::{Case, PlainMoves, PlainSet, PlainSpace, Relation};
use jostle_testkit::random::Random;

use super::bench::Bench;

/// Bodies, and the cell that they are in.
struct Wide<const D: usize> {
    name: String,
    bodies: Vec<([f64; D], f64)>,
    cell: [f64; 2],
}

impl<const D: usize> Wide<D> {
    fn new(name: impl Into<String>, bodies: impl IntoIterator<Item = ([f64; D], f64)>) -> Self {
        let bodies: Vec<_> = bodies.into_iter().collect();
        let all = || bodies.iter().flat_map(|body| body.0);
        let cell = [all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max)];
        Self { name: name.into(), bodies, cell }
    }

    fn set(&self) -> PlainSet<D> {
        let centers = from_fn(|axis| self.bodies.iter().map(|body| body.0[axis]).collect());
        PlainSet::doubles(centers, self.bodies.iter().map(|body| body.1).collect())
    }

    /// Every fifth body moves to the place of another body. The others move by up to a diameter, or not at all.
    fn moving(&self, random: &mut Random) -> PlainSet<D> {
        let mut steps: [Vec<f64>; D] = from_fn(|_| Vec::new());
        for (id, (center, radius)) in self.bodies.iter().enumerate() {
            let other = &self.bodies[random.below(self.bodies.len())].0;
            for axis in 0..D {
                let step = 2.0 * radius * (random.unit() - 0.5);
                steps[axis].push([other[axis] - center[axis], step, step, 0.0, 0.0][id % 5]);
            }
        }
        PlainSet { moves: Some(PlainMoves::Double(steps)), ..self.set() }
    }

    /// Returns open space, boxes with bodies on and next to their borders, and a box that leaves some bodies outside.
    fn spaces(&self) -> [PlainSpace<D>; 4] {
        let [lo, hi] = self.cell;
        let channel = from_fn(|axis| (axis == 0).then_some([lo - 0.25, hi + 0.5]));
        [
            PlainSpace::Open,
            PlainSpace::Periodic([Some([lo, hi]); D]),
            PlainSpace::Periodic(channel),
            PlainSpace::Periodic([Some([lo + (hi - lo) / 3.0, hi]); D]),
        ]
    }
}

/// Makes `count` clusters of bodies that touch a few others, anywhere in a square or cube.
fn clusters<const D: usize>(count: usize, bodies: usize, width: f64) -> Wide<D> {
    let (mut random, side) = (Random(count as u64), (bodies as f64).powf(1.0 / D as f64));
    let corners: Vec<[f64; D]> = (0..count).map(|_| from_fn(|_| (width * random.unit()).floor())).collect();
    let body =
        |id: usize| (from_fn(|axis| corners[id % count][axis] + side * random.unit()), 0.4 + 0.2 * random.unit());
    Wide::new(format!("{count} clusters of {bodies}, {width} wide"), (0..count * bodies).map(body))
}

/// Makes a row of bodies that touch exactly, so long that it goes through many buckets, and a few bodies far away.
fn row<const D: usize>(from: f64, spacing: f64, afar: f64) -> Wide<D> {
    let at = |x: f64| (from_fn(|axis| if axis == 0 { x } else { -3.0 }), 0.5);
    let places = (0..900).map(|i| from + spacing * f64::from(i)).chain((0..9).map(|i| afar + f64::from(i)));
    Wide::new(format!("a row from {from} by {spacing}, others at {afar}"), places.map(at))
}

/// Makes couples that touch, with gaps of all powers of two between couples, a hair more or a hair less.
fn gaps<const D: usize>(nudge: f64) -> Wide<D> {
    let (mut bodies, mut x) = (Vec::new(), 0.0);
    for gap in (0..90).map(|k| 2.0_f64.powi(k / 3 - 6) * (1.0 + nudge)) {
        bodies.extend([x, x + 1.0].map(|x| (from_fn(|axis| if axis == 0 { x } else { x / 2.0 }), 0.5)));
        x += 2.0 + gap;
    }
    Wide::new(format!("couples with gaps of powers of two and {nudge}"), bodies)
}

/// Makes a sheet of bodies that touch, and one body far away.
fn outlier<const D: usize>(off: f64) -> Wide<D> {
    let body = |id: usize| (from_fn(|axis| [(id % 17) as f64, (id / 17) as f64, 0.0][axis]), 0.5);
    Wide::new(format!("a sheet, one {off} off"), (0..17 * 17).map(body).chain([([off; D], 0.5)]))
}

/// Makes one body that reaches over all clusters, and one that bridges a gap.
fn giants<const D: usize>() -> Wide<D> {
    let Wide { mut bodies, .. } = clusters(7, 30, 1e7);
    bodies.extend([([5e6; D], 4e6), (bodies[0].0, 1e5)]);
    Wide::new("giants", bodies)
}

fn scenes<const D: usize>() -> Vec<Wide<D>> {
    let mut scenes = vec![
        clusters(2, 150, 1.5e6),
        clusters(8, 40, 1e6),
        clusters(60, 5, 1e9),
        clusters(12, 20, 1e14),
        row(0.0, 1.0, 4e4),
        row(1e9 + 0.25, 1.0_f64.next_up(), 2e9),
        giants(),
    ];
    scenes.extend([3e8, -3e8, 1e18, -1e18].map(outlier));
    scenes.extend([0.0, 1e-9, -1e-9].map(gaps));
    scenes
}

fn all_spaces<const D: usize>() {
    let (mut bench, mut random) = (Bench::new(), Random(3));
    for wide in scenes::<D>() {
        for (at, space) in wide.spaces().into_iter().enumerate() {
            bench.check(&format!("{}, {space:?}", wide.name), &Case::within(wide.set(), space));
            // Steps must be moderate relative to the period.
            if at % 2 == 0 && wide.bodies.len() < 400 {
                let set = wide.moving(&mut random);
                bench.check(&format!("{}, moving, {space:?}", wide.name), &Case::within(set, space));
            }
        }
    }
}

#[test]
fn wide_scenes_in_2d() {
    all_spaces::<2>();
}

#[test]
fn wide_scenes_in_3d() {
    all_spaces::<3>();
}

#[test]
fn a_thousand_clusters() {
    let wide = clusters::<3>(1_000, 3, 1e7);
    let mut bench = Bench::new();
    for space in &wide.spaces()[..2] {
        bench.check("a thousand clusters", &Case::within(wide.set(), *space));
    }
}

#[test]
fn one_set_bridges_a_gap_of_another() {
    let (mut bench, mut random) = (Bench::new(), Random(5));
    let ([near, far], bridge) = ([0.0, 3e6].map(|x| outlier::<2>(5e6 + x)), row::<2>(1e6, 1.0, 3.0));
    let wide = |sets: [&Wide<2>; 2]| sets.map(Wide::set).to_vec();
    for space in near.spaces() {
        for sets in [wide([&near, &bridge]), wide([&bridge, &far]), vec![near.set(), bridge.moving(&mut random)]] {
            bench.check("between", &Case { sets: sets.clone(), relation: Relation::Between, space });
            let relation = Relation::Among(vec![[0, 0], [0, 1], [1, 1]]);
            bench.check("among", &Case { sets, relation, space });
        }
    }
}

#[test]
fn wide_scenes_have_one_sequence() {
    let (mut bench, mut random) = (Bench::new(), Random(4));
    for wide in [clusters::<3>(8, 1_100, 1e6), clusters(1_000, 9, 1e8)] {
        for space in &wide.spaces()[..2] {
            bench.check_sequence(&wide.name, &Case::within(wide.set(), *space));
        }
        let near = Wide { bodies: wide.bodies[..500].to_vec(), ..clusters(1, 1, 1.0) };
        let sets = vec![wide.set(), near.moving(&mut random)];
        bench.check_sequence(&wide.name, &Case { sets, relation: Relation::Between, space: PlainSpace::Open });
    }
}

/// Tests places where half of a step is less than a coordinate can hold.
#[test]
fn steps_far_from_the_origin() {
    let mut bench = Bench::new();
    let (count, mut random) = (60, Random(6));
    let centers = from_fn(|_| (0..count).map(|_| 1e15 + random.below(60) as f64 / 8.0).collect());
    let steps: [Vec<f64>; 2] = from_fn(|_| (0..count).map(|_| 0.4 * (random.unit() - 0.5)).collect());
    let set = PlainSet::doubles(centers, (0..count).map(|_| 0.3 + 0.1 * random.unit()).collect());
    bench.check("far", &Case::within(PlainSet { moves: Some(PlainMoves::Double(steps)), ..set }, PlainSpace::Open));
}
