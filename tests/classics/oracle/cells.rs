//! The cells that systems show.

use jostle_classics::{BroadPhase, System, SystemInSpace};
use jostle_core::Aabb;
use jostle_testkit::scene::{Kind, Scene, scene, world};

/// Returns the boxes of a system's cells with a scene in it, and with no bodies.
fn cells<const D: usize>(mut system: Box<dyn BroadPhase<D>>, scene: &Scene<D>) -> [Vec<Aabb<D>>; 2] {
    let none = Scene::from_iter([]);
    [scene, &none].map(|scene| {
        let mut cells = Vec::new();
        system.update(scene.view()).expect("sound bodies");
        system.for_each_cell(&mut |cell| cells.push(cell));
        cells
    })
}

/// Checks that every centre lies in a cell, that each cell is near the world, and that there is no cell without bodies.
fn hold_all<const D: usize>(name: &str, world: Aabb<D>, scene: &Scene<D>, [cells, none]: [Vec<Aabb<D>>; 2]) {
    assert!(none.is_empty(), "{name}");
    for id in 0..scene.len() {
        let point = Aabb::EMPTY.with_point(scene.view().center(id));
        assert!(cells.iter().any(|cell| cell.holds(&point)), "{name}: {point:?} is in no cell");
    }
    assert!(cells.iter().all(|cell| (0..D).all(|axis| cell.lo[axis] < cell.hi[axis])), "{name}");
    let reach = 0.5 * world.widest();
    let near = Aabb { lo: world.lo.map(|x| x - reach), hi: world.hi.map(|x| x + reach) };
    assert!(cells.iter().all(|cell| near.holds(cell)), "{name}");
}

#[test]
fn cells_hold_what_lies_in_them() {
    for kind in [Kind::Uniform, Kind::Clustered, Kind::Dense] {
        let (n, seed) = (2_000, 5);
        let (plane, space) = (scene::<2>(kind, n, seed), scene::<3>(kind, n, seed));
        let square = Aabb { lo: [0.0; 2], hi: [world::<2>(kind, n); 2] };
        let cube = Aabb { lo: [0.0; 3], hi: [world::<3>(kind, n); 3] };
        for system in System::ALL.into_iter().filter(|&system| system != System::BruteForce) {
            let cells = cells(system.in_world(square, plane.view()).expect("a sound world"), &plane);
            hold_all(&format!("{system}, {kind}"), square, &plane, cells);
        }
        let octree = SystemInSpace::LinearOctree.in_world(cube, space.view()).expect("a sound world");
        hold_all(&format!("octree, {kind}"), cube, &space, cells(octree, &space));
    }
}
