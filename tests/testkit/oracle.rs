//! The double loop.

use jostle_core::{Circles, Spheres};
use jostle_testkit::oracle::{pairs, pairs_in_parallel};
use jostle_testkit::{Kind, scene::scene};

#[test]
fn touching_counts_and_a_gap_of_one_ulp_does_not() {
    let x = [0.0, 1.0, 2.0_f32.next_up()];
    assert_eq!(pairs(Circles::new(&x, &[0.0; 3], 0.5)), [[0, 1]]);
}

#[test]
fn concentric_points_overlap() {
    assert_eq!(pairs(Spheres::new(&[1.0; 3], &[2.0; 3], &[3.0; 3], 0.0)), [[0, 1], [0, 2], [1, 2]]);
}

#[test]
fn differences_whose_squares_vanish_count() {
    let x = [0.0, 2.0_f32.powi(-76)];
    assert_eq!(pairs(Circles::new(&x, &[0.0; 2], 0.0)), [[0, 1]]);
}

#[test]
fn rows_in_parallel_are_those_of_one_thread() {
    let circles = scene::<2>(Kind::Dense, 700, 3);
    assert_eq!(pairs_in_parallel(circles.view()), pairs(circles.view()));
}
