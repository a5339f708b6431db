//! Answers known beforehand, and cases that rounding, denormals and emptiness might spoil.

use jostle::{Aabb, Circle, LinearTree, Queries, Ray, Reached};
use jostle_testkit::Scene;

use crate::queries::asked::{Asked, Random};
use crate::queries::check::{check, tree_of};

fn line(radius: f32) -> Scene<2> {
    (0..100).map(|i| ([i as f32, 0.0], radius)).collect()
}

fn rays<const D: usize>(scene: &Scene<D>, ray: Ray<D>) -> Vec<Reached> {
    let mut hits = Vec::new();
    Queries::new(&tree_of(scene)).ray(ray, &mut hits).expect("a ray");
    hits
}

fn reached(id: u32, distance: f32) -> Reached {
    Reached { id, distance }
}

#[test]
fn nothing_is_found_in_an_empty_tree() {
    let (tree, mut ids, mut reached) = (LinearTree::<3>::new(), vec![1], vec![self::reached(1, 1.0)]);
    let queries = Queries::new(&tree);
    queries.point([0.0; 3], &mut ids).expect("a point");
    queries.nearest([0.0; 3], 3, 1.0, &mut reached).expect("a point");
    assert!(ids.is_empty() && reached.is_empty());
    assert_eq!(queries.first_hit(Ray::new([0.0; 3], [1.0; 3])), Ok(None));
    assert_eq!(queries.nearest_one([0.0; 3], f32::INFINITY), Ok(None));
}

#[test]
fn touching_counts_for_boxes_circles_and_points() {
    let (scene, mut ids) = (line(0.5), Vec::new());
    let tree = tree_of(&scene);
    let queries = Queries::new(&tree);
    queries.point([7.5, 0.0], &mut ids).expect("a point");
    assert_eq!(ids, [7, 8]);
    queries.circle(Circle::new([7.0, 0.0], 0.5), &mut ids).expect("a circle");
    assert_eq!(ids, [6, 7, 8]);
    queries.aabb(Aabb { lo: [6.5, 0.5], hi: [7.5, 9.0] }, &mut ids).expect("a box");
    assert_eq!(ids, [7]);
    queries.aabb(Aabb { lo: [6.5, 0.0], hi: [7.5, 0.0] }, &mut ids).expect("a box");
    assert_eq!(ids, [6, 7, 8]);
    queries.aabb(Aabb { lo: [6.0, 0.5_f32.next_up()], hi: [8.0, 1.0] }, &mut ids).expect("a box");
    assert!(ids.is_empty());
}

#[test]
fn rays_meet_bodies_in_order() {
    let hits = rays(&line(0.25), Ray::new([2.125, 0.0], [-8.0, 0.0]));
    assert_eq!(hits, [reached(2, 0.0), reached(1, 0.875), reached(0, 1.875)]);
    let hits = rays(&line(0.25), Ray::new([97.0, 5.0], [0.0, -1e-38]).within(4.75));
    assert_eq!(hits, [reached(97, 4.75)], "at the very reach, from aside");
    assert!(rays(&line(0.25), Ray::new([97.0, 5.0], [0.0, -1.0]).within(4.75_f32.next_down())).is_empty());
    let grazing = rays(&line(0.25), Ray::new([97.5, 0.25], [3.0, 0.0]));
    assert_eq!(grazing, [reached(98, 0.5), reached(99, 1.5)]);
    assert!(rays(&line(0.25), Ray::new([97.5, 0.25_f32.next_up()], [3.0, 0.0])).is_empty());
}

#[test]
fn ties_are_broken_by_id() {
    let scene: Scene<3> = (0..50).map(|i| ([if i % 2 == 0 { 1.0 } else { -1.0 }, 0.0, 0.0], 0.5)).collect();
    let tree = tree_of(&scene);
    let (queries, mut found) = (Queries::new(&tree), Vec::new());
    queries.nearest([0.0; 3], 3, f32::INFINITY, &mut found).expect("a point");
    assert_eq!(found, [reached(0, 1.0), reached(1, 1.0), reached(2, 1.0)]);
    assert_eq!(queries.nearest_one([-0.25, 0.0, 0.0], 0.75), Ok(Some(reached(1, 0.75))));
    let ray = Ray::new([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(queries.first_hit(ray), Ok(Some(reached(1, 1.5))));
    queries.ray(ray, &mut found).expect("a ray");
    assert!(found.is_sorted() && found.len() == 50);
}

/// Checks bodies on a grid of step `ulp` with queries on the same grid, so that rounding decides each.
fn check_grid<const D: usize>(name: &str, origin: f32, ulp: f32, seed: u64) {
    let mut random = Random(seed);
    let mut step = |upto: u64| (random.next() % upto) as f32 * ulp;
    let mut point = || core::array::from_fn::<f32, D, _>(|_| origin + step(40));
    let places: Vec<_> = (0..900).map(|_| point()).collect();
    let scene: Scene<D> = places[..600].iter().enumerate().map(|(i, &p)| (p, (i % 4) as f32 * ulp)).collect();
    let mut asked = Asked { points: places[600..].to_vec(), ..Asked::default() };
    for (at, pair) in places[600..].windows(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        asked.circles.push(Circle::new(a, (at % 5) as f32 * ulp));
        asked.aabbs.push(Aabb::EMPTY.with_point(a).with_point(b));
        let towards: [f32; D] = core::array::from_fn(|axis| b[axis] - a[axis]);
        asked.rays.push(Ray::new(a, towards));
        asked.rays.push(Ray::new(a, towards).within((at % 9) as f32 * ulp));
        asked.rays.push(Ray::new(a, core::array::from_fn(|axis| if axis == at % D { -1.0 } else { 0.0 })));
    }
    asked.rays.retain(|ray| ray.direction != [0.0; D]);
    check(name, &scene, &asked);
}

#[test]
fn a_few_ulps_near_ten_million() {
    check_grid::<2>("ulps near 1e7", 1e7, 1.0, 1);
    check_grid::<3>("ulps near 1e7", 1e7, 1.0, 2);
    check_grid::<2>("ulps below -2^24", -16_777_216.0, 1.0, 3);
    check_grid::<3>("ulps near 2^59", (1_u64 << 59) as f32, (1_u64 << 36) as f32, 4);
}

#[test]
fn denormals_and_squares_that_vanish() {
    let power = |exponent: i32| f32::from_bits(((127 + exponent) as u32) << 23);
    for (seed, exponent) in [-74, -75, -76, -77, -100].into_iter().enumerate() {
        check_grid::<2>(&format!("steps of 2^{exponent}"), 0.0, power(exponent), seed as u64);
        check_grid::<3>(&format!("steps of 2^{exponent} from one on"), 1.0, power(exponent), seed as u64);
    }
    check_grid::<2>("denormals", 0.0, f32::from_bits(1), 9);
    check_grid::<3>("denormals", -f32::MIN_POSITIVE, f32::from_bits(1), 10);
}

/// A sum that is rounded as the contract says may accept what is apart, and a ray from far away may touch what is not
/// near it. No such hit may be lost.
#[test]
fn rays_from_far_away_and_hardly_aslant() {
    let mut random = Random(11);
    let scene: Scene<2> = (0..2_000).map(|_| ([random.signed() * 50.0, random.signed() * 50.0], 1e-3)).collect();
    let mut asked = Asked::default();
    for id in 0..60 {
        let at = scene.view().center(id);
        for far in [1e6, 1e12, 1e18] {
            for [dx, dy] in
                [[1.0, 0.0], [1.0, 1e-7], [1.0, 1e-25], [1.0, 1e-38], [1e-30, 1.0], [0.6, -0.8], [-0.3, 0.2]]
            {
                asked.rays.push(Ray::new([at[0] - far * dx, at[1] - far * dy], [dx, dy]));
            }
        }
    }
    check("from far away", &scene, &asked);
}
