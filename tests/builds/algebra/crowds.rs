//! Scenes in `f64` of which no `f32` frame tells the bodies apart, so that ordinals take the place of coordinates.

use core::array::from_fn;

use jostle_testkit::algebra::{Case, PlainMoves, PlainSet, PlainSpace, Relation};
use jostle_testkit::random::Random;

use super::bench::Bench;

/// The centres and radii of some bodies.
type Bodies<const D: usize> = Vec<([f64; D], f64)>;

/// Makes bodies that touch a few others in a square or cube of this width, with a corner at `at`.
fn crowd<const D: usize>(random: &mut Random, bodies: usize, width: f64, at: f64) -> Bodies<D> {
    let spacing = width / (bodies as f64).powf(1.0 / D as f64);
    let body = |_| (from_fn(|_| at + width * random.unit()), spacing * (0.1 + 0.5 * random.unit()));
    (0..bodies).map(body).collect()
}

/// A crowd within bodies that are spread out: no gap on any axis is wide.
fn crowd_within<const D: usize>(random: &mut Random, width: f64) -> Bodies<D> {
    let mut bodies = crowd(random, 60, 100.0, -30.0);
    bodies.extend(crowd::<D>(random, 420, width, 1.0));
    bodies
}

/// Pebbles on a planet, on the side of an axis.
fn planet<const D: usize>(random: &mut Random) -> Bodies<D> {
    let mut bodies: Bodies<D> = vec![([0.0; D], 6.4e6)];
    bodies.extend((0..450).map(|_| {
        let up = 0.001 * random.unit();
        (from_fn(|axis| if axis == 0 { 6.4e6 + up } else { 0.04 * random.unit() }), 0.001)
    }));
    bodies
}

/// Bodies ever denser towards a corner, over twelve powers of ten.
fn ever_denser<const D: usize>(random: &mut Random) -> Bodies<D> {
    let mut body = |_| {
        let scale = 10.0_f64.powf(-12.0 * random.unit());
        (from_fn(|_| 3.0 + scale * (random.unit() - 0.5)), scale * 0.03)
    };
    (0..480).map(&mut body).collect()
}

/// Neighbouring floats far from the origin, beside bodies a little off.
fn floats<const D: usize>(random: &mut Random) -> Bodies<D> {
    let float = |random: &mut Random| f64::from_bits(1e6_f64.to_bits() + random.below(40) as u64);
    let mut bodies: Bodies<D> =
        (0..400).map(|_| (from_fn(|_| float(random)), 1e-10 * random.below(4) as f64)).collect();
    bodies.extend(crowd::<D>(random, 40, 80.0, 1e6 - 40.0));
    bodies
}

fn scenes<const D: usize>() -> Vec<(&'static str, Bodies<D>)> {
    let mut random = Random(7);
    vec![
        ("a crowd", crowd_within(&mut random, 1e-7)),
        ("a crowd of points", crowd_within(&mut random, 1e-12).into_iter().map(|(at, _)| (at, 0.0)).collect()),
        ("a planet", planet(&mut random)),
        ("ever denser", ever_denser(&mut random)),
        ("floats", floats(&mut random)),
    ]
}

fn set<const D: usize>(bodies: &Bodies<D>) -> PlainSet<D> {
    let centers = from_fn(|axis| bodies.iter().map(|body| body.0[axis]).collect());
    PlainSet::doubles(centers, bodies.iter().map(|body| body.1).collect())
}

/// Every fifth body moves to the place of another body. The others move by up to a diameter, or not at all.
fn moving<const D: usize>(bodies: &Bodies<D>, random: &mut Random) -> PlainSet<D> {
    let mut steps: [Vec<f64>; D] = from_fn(|_| Vec::new());
    for (id, (center, radius)) in bodies.iter().enumerate() {
        let other = &bodies[random.below(bodies.len())].0;
        for axis in 0..D {
            let step = 2.0 * radius * (random.unit() - 0.5);
            steps[axis].push([other[axis] - center[axis], step, step, 0.0, 0.0][id % 5]);
        }
    }
    PlainSet { moves: Some(PlainMoves::Double(steps)), ..set(bodies) }
}

/// Open space, a cell with bodies at its borders, one that repeats along one axis, and one that leaves bodies outside.
fn spaces<const D: usize>(bodies: &Bodies<D>) -> [PlainSpace<D>; 4] {
    let all = || bodies.iter().flat_map(|body| body.0);
    let [lo, hi] = [all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max)];
    let middle = bodies[bodies.len() - 1].0[0];
    [
        PlainSpace::Open,
        PlainSpace::Periodic([Some([lo, hi]); D]),
        PlainSpace::Periodic(from_fn(|axis| (axis == 0).then_some([lo - 0.25, hi + 0.5]))),
        // The border goes through the crowd.
        PlainSpace::Periodic([Some([middle, middle + (hi - lo)]); D]),
    ]
}

fn all_spaces<const D: usize>() {
    let (mut bench, mut random) = (Bench::new(), Random(8));
    for (name, bodies) in scenes::<D>() {
        let is_giant = bodies.iter().any(|(_, radius)| *radius > 1e6);
        for (at, space) in spaces(&bodies).into_iter().enumerate().filter(|(at, _)| !is_giant || *at == 0) {
            bench.check(&format!("{name}, {space:?}"), &Case::within(set(&bodies), space));
            if at % 2 == 0 {
                let moving = moving(&bodies, &mut random);
                bench.check(&format!("{name}, moving, {space:?}"), &Case::within(moving, space));
            }
        }
    }
}

#[test]
fn crowds_in_2d() {
    all_spaces::<2>();
}

#[test]
fn crowds_in_3d() {
    all_spaces::<3>();
}

#[test]
fn crowds_of_several_sets() {
    let (mut bench, mut random) = (Bench::new(), Random(9));
    for (name, bodies) in scenes::<2>() {
        let [some, others] = [0, 1].map(|half| bodies.iter().copied().skip(half).step_by(2).collect::<Bodies<2>>());
        let sets = vec![set(&some), moving(&others, &mut random), set(&bodies)];
        let space = spaces(&bodies)[if name == "a planet" { 0 } else { 3 }];
        let relations = [Relation::Between, Relation::Among(vec![[0, 0], [0, 2], [1, 1]])];
        for relation in relations {
            bench.check(&format!("{name}, {relation:?}"), &Case { sets: sets.clone(), relation, space });
        }
    }
}

#[test]
fn crowds_that_were_sorted_before() {
    let mut bench = Bench::new();
    for (name, bodies) in scenes::<2>() {
        for space in spaces(&bodies).into_iter().take(if name == "a planet" { 1 } else { 4 }) {
            let (plain, few) = (set(&bodies), set(&bodies[..30].to_vec()));
            let sorted = plain.clone().prepared(space.space()).expect("sound bodies");
            let case = |sets, relation| Case { sets, relation, space };
            bench.check(&format!("{name}, sorted, {space:?}"), &case(vec![sorted.clone()], Relation::Within));
            bench.check(&format!("{name}, one sorted, {space:?}"), &case(vec![few, sorted], Relation::Between));
        }
    }
}

/// More bodies than ends that are counted.
#[test]
fn large_crowds_have_one_sequence() {
    let (mut bench, mut random) = (Bench::new(), Random(10));
    let mut bodies = crowd::<2>(&mut random, 3_000, 100.0, -30.0);
    bodies.extend(crowd::<2>(&mut random, 17_000, 1e-6, 1.0));
    for space in &spaces(&bodies)[..2] {
        bench.check_sequence("a large crowd", &Case::within(set(&bodies), *space));
    }
}
