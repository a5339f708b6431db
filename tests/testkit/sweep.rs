//! The sweep against the double loop.

use jostle_testkit::shapes::{self, BoxKind};
use jostle_testkit::sweep::pairs;
use jostle_testkit::{Kind, box_pairs, oracle, scene, ugly};

fn equals_oracle<const D: usize>() {
    for (name, scene) in ugly::all::<D>() {
        assert!(pairs(scene.view()) == oracle::pairs(scene.view()), "{name}, {D} axes");
    }
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 4_000, 3);
        assert!(pairs(scene.view()) == oracle::pairs(scene.view()), "{kind}, {D} axes");
    }
}

#[test]
fn equals_the_oracle_in_f64() {
    // Neighbours in a row that touch or do not by rounding alone, at places of all magnitudes.
    for (at, pitch) in [(0.0, 0.1), (1e-290, 1e-300), (-4e8, 0.3), (1e100, 1e86), (0.0, 1e-161), (0.0, 1e140)] {
        let x: Vec<f64> = (0..300).map(|i| at + pitch * f64::from(i)).collect();
        let y: Vec<f64> = (0..300).map(|i| pitch * 1e-9 * f64::from(i % 7)).collect();
        let radii: Vec<f64> = (0..300).map(|i| 0.5 * pitch * (1.0 + 1e-16 * f64::from(i % 5))).collect();
        let circles = jostle_core::Circles64::new(&x, &y, &radii);
        assert!(pairs(circles) == oracle::pairs(circles), "{at} {pitch}");
    }
}

#[test]
fn equals_the_oracle_in_2d() {
    equals_oracle::<2>();
}

#[test]
fn equals_the_oracle_in_3d() {
    equals_oracle::<3>();
}

fn boxes_equal_the_double_loop<const D: usize>() {
    for kind in BoxKind::ALL {
        let boxes = shapes::boxes::<D>(kind, 1_500);
        let truth = shapes::box_pairs(&boxes);
        assert!(box_pairs::by_sweep(boxes.view()) == truth, "{kind:?}, {D} axes");
        assert!(box_pairs::in_parallel(boxes.view()) == truth, "{kind:?}, {D} axes");
    }
}

#[test]
fn boxes_equal_the_double_loop_in_2d_and_3d() {
    boxes_equal_the_double_loop::<2>();
    boxes_equal_the_double_loop::<3>();
}
