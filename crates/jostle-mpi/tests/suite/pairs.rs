//! The pairs are those of one process, each pair once.

use jostle::Space;
use jostle_testkit::scene::{scene, world};
use jostle_testkit::{Kind, Scene, ugly};

use crate::kit::{Deal, alone, together};

fn check<const D: usize>(name: &str, scene: &Scene<D>, space: Space<D>, ranks: u32, deal: Deal) {
    let expected = alone(scene.view(), space);
    let in_place = !ranks.is_multiple_of(3);
    let found = together(scene, space, (ranks, deal, in_place));
    let counts = (found.len(), expected.len());
    assert!(found == expected, "{name}: {counts:?} hits of {ranks} ranks and one, {deal:?}, in place: {in_place}");
}

fn every_scene<const D: usize>() {
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        let scene = scene::<D>(kind, 1500, number as u64);
        for ranks in 1..=8 {
            check(&kind.to_string(), &scene, Space::open(), ranks, Deal::ALL[(number + ranks as usize) % 4]);
        }
        check(&kind.to_string(), &scene, Space::open(), 64, Deal::ALL[number]);
    }
}

#[test]
fn scenes_in_the_plane() {
    every_scene::<2>();
}

#[test]
fn scenes_in_space() {
    every_scene::<3>();
}

fn every_scene_in_a_cell<const D: usize>() {
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        let scene = scene::<D>(kind, 900, number as u64);
        let space = Space::periodic([Some([0.0, f64::from(world::<D>(kind, 900))]); D]);
        for ranks in [1 + number as u32, 8 - number as u32, 64] {
            check(&format!("{kind} in a cell"), &scene, space, ranks, Deal::ALL[number]);
        }
    }
}

#[test]
fn scenes_in_cells_of_the_plane() {
    every_scene_in_a_cell::<2>();
}

#[test]
fn scenes_in_cells_of_space() {
    every_scene_in_a_cell::<3>();
}

fn every_ugly_scene<const D: usize>() {
    for (number, (name, scene)) in ugly::all::<D>().into_iter().enumerate() {
        check(name, &scene, Space::open(), 2 + number as u32 % 7, Deal::ALL[number % 4]);
        // Each of so many ranks is a thread.
        if number.is_multiple_of(3) {
            check(name, &scene, Space::open(), 64, Deal::ALL[number / 4 % 4]);
        }
    }
}

#[test]
fn ugly_scenes_in_the_plane() {
    every_ugly_scene::<2>();
}

#[test]
fn ugly_scenes_in_space() {
    every_ugly_scene::<3>();
}
