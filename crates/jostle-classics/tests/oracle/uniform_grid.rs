use jostle_classics::UniformGrid;
use jostle_core::Aabb;
use jostle_testkit::Scene;

/// The mean radius of a scene.
pub(crate) fn typical_radius(scene: &Scene<2>) -> f32 {
    scene.radii.iter().sum::<f32>() / scene.len().max(1) as f32
}

#[test]
fn cells_for_the_bodies() {
    super::check::<2, _>(|world, scene| {
        UniformGrid::for_bodies(world, scene.len(), typical_radius(scene)).expect("a sound world")
    });
}

#[test]
fn cells_so_small_that_many_are_giants() {
    let side = |world: Aabb<2>| (world.hi[0] - world.lo[0]) / 100.0;
    super::check::<2, _>(|world, _| UniformGrid::new(world, side(world)).expect("a sound world"));
}
