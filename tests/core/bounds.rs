//! The first stage alone, about the borders of blocks: the box of all centres, and the bodies that are refused.

use jostle_core::bounds::bounds_on;
use jostle_core::{Aabb, Bodies, Circles, Reason, Spheres, ViewError, Workers};
use jostle_testkit::scene::interleaved;
use jostle_testkit::tree::bounds_of_all_ways;
use jostle_testkit::{Kind, Scene, oracle, scene, ugly};

/// A pass looks at blocks of 32,768 bodies, 16 at a time.
const SIZES: [usize; 13] = [0, 1, 2, 15, 16, 17, 31, 33, 32_767, 32_768, 32_769, 65_535, 65_537];

fn check<const D: usize>(name: &str, scene: &Scene<D>) {
    check_both(name, scene, &interleaved(scene));
}

/// Checks a scene that is also given in structs.
fn check_both<const D: usize>(name: &str, scene: &Scene<D>, bodies: &Vec<[f32; 4]>) {
    let expected = oracle::bounds(scene);
    for (way, found) in bounds_of_all_ways(scene, bodies) {
        assert_eq!(found, expected, "{name}, {D}D, {way}");
    }
}

fn boxes_about_block_borders<const D: usize>() {
    for n in SIZES {
        let scene = scene::scene::<D>(Kind::Uniform, n, 1);
        check(&format!("n = {n}"), &scene);
        let ViewError::Lengths { .. } =
            bounds_on(Bodies::from_slices(scene.centers.each_ref().map(Vec::as_slice), &[1.0; 7]), Workers::Serial)
                .expect_err("seven radii")
        else {
            panic!("refused for another reason");
        };
    }
}

#[test]
fn boxes_about_block_borders_in_2d() {
    boxes_about_block_borders::<2>();
}

#[test]
fn boxes_about_block_borders_in_3d() {
    boxes_about_block_borders::<3>();
}

/// The extreme body of each axis stands on either side of every border.
#[test]
fn the_extremes_are_found_wherever_they_stand() {
    for n in SIZES.into_iter().filter(|&n| n > 0) {
        for at in [0, n / 2, n - 1, 32_767, 32_768].into_iter().filter(|&at| at < n) {
            let mut scene = scene::scene::<2>(Kind::Uniform, n, 2);
            scene.centers[0][at] = 1e9;
            scene.centers[1][at] = -1e9;
            let found = bounds_on(scene.view(), Workers::Rayon).expect("a scene within the contract");
            assert_eq!((found.hi[0], found.lo[1]), (1e9, -1e9), "n = {n}, extreme body {at}");
            check(&format!("n = {n}, extreme body {at}"), &scene);
        }
    }
}

#[test]
fn ugly_scenes_have_their_boxes() {
    for (name, scene) in ugly::all::<2>() {
        check(name, &scene);
    }
    for (name, scene) in ugly::all::<3>() {
        check(name, &scene);
    }
}

/// Puts a number in a column of a body, in the scene and in its structs, and returns the number before.
fn put<const D: usize>(scene: &mut Scene<D>, bodies: &mut [[f32; 4]], [at, column]: [usize; 2], value: f32) -> f32 {
    bodies[at][if column < D { column } else { 3 }] = value;
    core::mem::replace(&mut scene.centers.get_mut(column).unwrap_or(&mut scene.radii)[at], value)
}

/// One bad body anywhere is found, and named as the oracle names it.
fn bad_bodies_are_found<const D: usize>() {
    let faults: [(usize, f32); 8] = [
        (0, f32::NAN),
        (D - 1, f32::INFINITY),
        (D - 1, f32::NEG_INFINITY),
        (0, oracle::LIMIT.next_up()),
        (D, f32::NAN),
        (D, f32::INFINITY),
        (D, -f32::from_bits(1)),
        (D, oracle::LIMIT.next_up()),
    ];
    for n in SIZES.into_iter().filter(|&n| n > 0) {
        let mut scene = scene::scene::<D>(Kind::Uniform, n, 3);
        let mut bodies = interleaved(&scene);
        for at in [0, n / 2, n - 1, 32_767, 32_768].into_iter().filter(|&at| at < n) {
            for (turn, (column, bad)) in faults.into_iter().enumerate() {
                if n > 20_000 && turn % 4 != at % 4 {
                    continue;
                }
                let good = put(&mut scene, &mut bodies, [at, column], bad);
                check_both(&format!("n = {n}, body {at}, column {column} is {bad}"), &scene, &bodies);
                put(&mut scene, &mut bodies, [at, column], good);
            }
        }
    }
}

#[test]
fn bad_bodies_are_found_in_2d() {
    bad_bodies_are_found::<2>();
}

#[test]
fn bad_bodies_are_found_in_3d() {
    bad_bodies_are_found::<3>();
}

/// Reasons are written out here, since the oracle shares their order with the stage.
#[test]
fn golden_refusals() {
    let view = Spheres::new(&[0.0, 1.0, f32::NAN], &[0.0, 1e30, 0.0], &[0.0; 3], &[-1.0, 1.0, 1.0]);
    let first =
        vec![(0, Reason::RadiusNegative), (1, Reason::TooFar { axis: 1 }), (2, Reason::CenterNotFinite { axis: 0 })];
    assert_eq!(bounds_on(view, Workers::Serial), Err(ViewError::Bodies { count: 3, first }));
    let view = Circles::new(&[0.0; 40], &[0.0; 40], f32::NAN);
    let first = (0..16).map(|id| (id, Reason::RadiusNotFinite)).collect();
    assert_eq!(bounds_on(view, Workers::Rayon), Err(ViewError::Bodies { count: 40, first }));
}

#[test]
fn golden_boxes() {
    let view = Circles::new(&[3.0, -1.0, 2.0], &[0.5, 7.0, -0.25], &[9.0, 0.0, 1.0]);
    let expected = Aabb { lo: [-1.0, -0.25], hi: [3.0, 7.0] };
    assert_eq!(bounds_on(view, Workers::Serial), Ok(expected));
    assert_eq!(bounds_on(Circles::new(&[], &[], 1.0), Workers::Serial), Ok(Aabb::EMPTY));
}
