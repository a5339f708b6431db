//! Every scene, ugly or not.

use jostle_testkit::{Kind, Scene, scene, ugly};

use crate::queries::asked::about;
use crate::queries::check::check;

fn scenes_of_every_kind<const D: usize>() {
    for kind in Kind::ALL {
        for n in [300, 5_000] {
            let scene = scene::scene::<D>(kind, n, n as u64 + 1);
            check(&format!("{kind}, n = {n}"), &scene, &about(&scene, 12, 1));
        }
    }
}

#[test]
fn scenes_of_every_kind_in_2d() {
    scenes_of_every_kind::<2>();
}

#[test]
fn scenes_of_every_kind_in_3d() {
    scenes_of_every_kind::<3>();
}

fn every_ugly<const D: usize>(scenes: Vec<(&'static str, Scene<D>)>, turns: usize) {
    for (name, scene) in scenes {
        check(name, &scene, &about(&scene, turns, 2));
    }
}

#[test]
fn ugly_scenes_in_2d() {
    every_ugly::<2>(ugly::all(), 12);
}

#[test]
fn ugly_scenes_in_3d() {
    every_ugly::<3>(ugly::all(), 12);
}

#[test]
fn large_ugly_scenes() {
    every_ugly::<2>(ugly::large(), 3);
    every_ugly::<3>(ugly::large(), 3);
}

#[test]
fn every_size_to_100() {
    for n in 0..100 {
        let scene = scene::scene::<2>(Kind::Dense, n, 100 + n as u64);
        check(&format!("n = {n}"), &scene, &about(&scene, 3, n as u64));
    }
}
