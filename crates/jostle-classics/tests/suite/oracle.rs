//! Every system against the double loop, on every scene, ugly or not, frame after frame.

mod cells;
mod dynamic_quadtree;
mod grid_hierarchy;
mod linear_octree;
mod linear_quadtree;
mod loose_quadtree;
mod loose_tight_grid;
mod point_grid;
mod systems;
mod uniform_grid;

use jostle_classics::BroadPhase;
use jostle_core::{Aabb, Bodies, ViewError};
use jostle_testkit::{Kind, Scene, oracle, scene, ugly};

/// Checks one system on every scene: made anew for each with the world that `scene::world` gives (for the ugly ones the
/// unit square or cube, so that most lie outside), and once more on other bodies without being made anew.
fn check<const D: usize, S: BroadPhase<D>>(make: impl Fn(Aabb<D>, &Scene<D>) -> S) {
    for (kind, n) in Kind::ALL.into_iter().flat_map(|kind| [1, 2, 50, 2_000].map(|n| (kind, n))) {
        let world = Aabb { lo: [0.0; D], hi: [scene::world::<D>(kind, n); D] };
        let first = scene::scene::<D>(kind, n, 1);
        let mut system = make(world, &first);
        check_frame(&mut system, &format!("{kind}, n = {n}"), &first);
        check_frame(&mut system, &format!("{kind}, n = {n}, again"), &scene::scene::<D>(kind, n, 2));
        check_frame(&mut system, &format!("{kind}, half of {n}"), &scene::scene::<D>(kind, n / 2, 3));
    }
    let unit = Aabb { lo: [0.0; D], hi: [1.0; D] };
    for (name, scene) in ugly::all::<D>() {
        check_frame(&mut make(unit, &scene), name, &scene);
    }
    refuses_bad_input(make);
}

fn pairs<const D: usize>(system: &mut impl BroadPhase<D>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    system.for_each_pair(&mut |pair| pairs.push(pair));
    pairs
}

fn check_frame<const D: usize>(system: &mut impl BroadPhase<D>, name: &str, scene: &Scene<D>) {
    system.update(scene.view()).expect(name);
    let found = pairs(system);
    assert!(pairs(system) == found, "{name}: another order the second time");
    let mut sorted = found;
    sorted.sort_unstable();
    let expected = oracle::pairs(scene.view());
    let differ = sorted.iter().zip(&expected).find(|(found, expected)| found != expected);
    assert!(sorted == expected, "{name}: {} pairs, not {}; {differ:?}", sorted.len(), expected.len());
}

/// Bad input is refused with the engine's error, and what was there stays.
fn refuses_bad_input<const D: usize, S: BroadPhase<D>>(make: impl Fn(Aabb<D>, &Scene<D>) -> S) {
    let good = scene::scene::<D>(Kind::Dense, 100, 4);
    let mut bad = good.clone();
    bad.centers[D - 1][7] = f32::NAN;
    bad.radii[9] = -1.0;
    let mut system = make(Aabb { lo: [0.0; D], hi: [scene::world::<D>(Kind::Dense, 100); D] }, &good);
    system.update(good.view()).expect("good bodies");
    let before = pairs(&mut system);
    assert_eq!(system.update(bad.view()), oracle::check(bad.view()));
    let columns = good.centers.each_ref().map(Vec::as_slice);
    let short = Bodies::from_slices(columns, &good.radii[1..]);
    assert!(matches!(system.update(short), Err(ViewError::Lengths { .. })));
    assert!(!before.is_empty() && pairs(&mut system) == before);
}
